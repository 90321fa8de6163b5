"""Gates on reports: what fires, which slices it is about, and what it says."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

import streamcmp
from streamcmp.analysis import Analysis
from streamcmp.errors import UsageError
from streamcmp.report.model import Report
from streamcmp.report.outcomes import GateOutcome
from streamcmp.results import finalize
from tests.report.tallies import HOSTILE, hostile, of_counts, plain, sst2, table, tally, troubled


def gate(report: Report, expression: str) -> GateOutcome:
    return streamcmp.gate(report, expression).gates[0]


@pytest.fixture(scope="module")
def report() -> Report:
    return finalize(troubled(), Analysis(min_discordant=1))


@pytest.mark.parametrize(
    ("expression", "fires"),
    [
        ("overall.verdict == 'better'", True),
        ("overall.verdict != 'better'", False),
        ("overall.tested", True),
        ("not overall.tested", False),
        ("overall.tested == true and overall.n > 43000", True),
        ("1 < 2 and not 2 < 1", True),
        ("1 + 2 * 3 == 7", True),
        ("7 / 2 == 3.5 and (1 - 2) - 3 == -4", True),
        ("-overall.n_ab < -5000", True),
        ("overall.n == 43037", False),
        ("any(domain, verdict == 'better')", True),
        ("any(overall, verdict == 'better')", True),
        ("any(domain, p_adjusted < 0.05 and gain < -0.005)", False),
        ("any(domain, gain > 20%)", True),
        ("all(domain, gain > -90%)", False),  # physics has no pair
        ("not all(domain, n > 0)", True),
        ("all(flag, n > 0)", True),
        ("all(*, slice_number > 0)", None),
        ("all(*, n >= 0)", True),
        ("count(domain) == 4", True),
        ("count(*) == 7", True),
        ("count(domain, gain > 0) == 2", True),
        ("count(domain, gain > 0) > 49% and 51% > count(domain, gain > 0)", True),
        ("count(domain, gain > 0) / count(domain) == 50%", True),
        ("any(domain, domain == 'law' and n == 17)", True),
        ("any(domain, slice.domain != 'law')", True),
        ("any('year,day', year == 2024 and day == '2024-02-29')", True),
        ("any('year,day', day == '2023-01-01')", False),
        ("any(flag, flag)", False),
        ("any(flag, flag == false)", True),
        ("any(domain, n_ab / n > 5%)", True),
        ("any(domain, gain > overall.gain + 20%)", True),
        ("any(domain, overall.n > 3)", True),
        ("any(domain, 2 < 1)", False),
        ("all(domain, 1 < 2)", True),
        ("ledger.a.unmatched == 12 and ledger.b.unmatched == 0", True),
        ("ledger.a.unmatched > 0.02%", True),
        ("0.03% > ledger.a.unmatched", True),
        ("ledger.a.unmatched > 0.03%", False),
        ("ledger.a.rows - ledger.a.paired > 22", True),
        ("families.domain.slices == 4 and families.domain.tested == 3", True),
        ("families.domain.macro_gain > 0 and not families.domain.overlapping", True),
        ("families.domain.heterogeneity.p > 0", True),
    ],
)
def test_what_fires(report: Report, expression: str, fires: bool | None) -> None:
    if fires is None:
        with pytest.raises(streamcmp.UsageError, match="a slice has no slice_number"):
            gate(report, expression)
    else:
        assert gate(report, expression).fired is fires


@pytest.mark.parametrize("sign", ["==", "!=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("other", ["0", "1%", "overall.gain", "overall.p_chi2", "1 / 0", "overall.n / 0"])
def test_a_comparison_with_what_does_not_exist_never_holds(sign: str, other: str) -> None:
    nothing = finalize(of_counts(0, 0, 0, 0, 0, 2))
    for expression in (f"overall.gain {sign} {other}", f"{other} {sign} overall.gain"):
        outcome = gate(nothing, expression)
        assert not outcome.fired
        assert "overall.gain" in outcome.absent
        assert "overall.gain does not exist" in outcome.says
        assert gate(nothing, f"not {expression}").fired
        assert not gate(nothing, f"any(overall, {expression.replace('overall.', '')})").fired


def test_a_ledger_that_is_not_there() -> None:
    counts = finalize(plain([("x", 50, 4, 14)], ["s"]))
    outcome = gate(counts, "ledger.b.unmatched > 1% or ledger.b.unmatched >= 0")
    assert (outcome.fired, outcome.absent) == (False, ("ledger.b.unmatched",))


def test_nan_as_a_slice_is_no_number() -> None:
    cut = tally({"x": table(["x"], [(math.nan, 5, 1, 1, 1), (2.0, 5, 1, 1, 1)], {"x": pl.Float64})})
    assert gate(finalize(cut), "count(x, x > 0) == 1").fired


def test_it_names_the_rows_it_is_about(report: Report) -> None:
    def named(expression: str) -> list[Any]:
        rows = list(gate(report, expression).named)
        return report.results[rows].select("family", "slice.domain").rows()

    assert set(named("any(domain, n < 20)")) == {("domain", "law"), ("domain", None), ("domain", "physics")}
    assert named("not all(domain, n > 0)") == [("domain", "physics")]
    assert len(named("all(domain, n >= 0)")) == 4
    assert named("overall.gain > 0") == [("overall", None)]
    assert named("overall.gain < 0 or any(domain, n > 20)") == [("domain", "medicine")]
    assert named("not any(domain, n > 10%  * 1e9)") == []
    assert named("overall.gain < 0") == []


def test_it_says_the_numbers(report: Report) -> None:
    assert gate(report, "ledger.a.unmatched > 1").says == (
        "ledger.a.unmatched is 12 of 43,058 rows, 0.02787 %"
    )
    assert gate(report, "any(domain, n > 20 and gain > 1%)").says == (
        "1 of 4 slices of domain: domain=medicine (n 43,000, gain 0.04651)"
    )
    assert gate(report, "not all(domain, n > 0)").says == (
        "3 of 4 slices of domain: not for domain=physics (n 0)"
    )
    many = finalize(tally({"k": table(["k"], [(f"s{at}", 10, 1, 1 + at, 3) for at in range(9)])}))
    assert gate(many, "any(k, n > 0)").says.endswith(" and 4 more")


def test_a_number_is_never_rounded_across_the_one_it_is_compared_with() -> None:
    report = finalize(of_counts(99_999, 20_001, 0, 280_000))
    assert gate(report, "overall.gain < -5%").says == "overall.gain is -0.0500025"
    assert gate(report, "overall.gain < -1%").says == "overall.gain is -0.05"


def test_hostile_slices_are_inert_in_what_is_said() -> None:
    outcome = gate(finalize(hostile()), "any(name, n > 0)")
    assert outcome.fired
    assert len(outcome.named) == len(HOSTILE)
    assert outcome.says.isprintable()
    assert len(outcome.says) < 1_000


def test_several_gates_add_up() -> None:
    report = streamcmp.gate(finalize(sst2()), ["overall.gain < 0", "overall.gain > 0"])
    assert [one.fired for one in report.gates] == [False, True]
    assert len(streamcmp.gate(report, "overall.n > 1").gates) == 3
    assert report.to_dict()["gates"][1] == {
        "expression": "overall.gain > 0",
        "fired": True,
        "says": "overall.gain is 0.02306",
        "slices": 1,
        "absent": [],
    }
    assert "gates" not in finalize(sst2()).to_dict()


# --- beside an earlier report


def beside() -> Report:
    """`a` got worse, `b` stayed, `c` is new, `d` is gone; the family `flag` is new."""
    columns = ["k"]
    old = tally({"k": table(columns, [("a", 90, 5, 5, 0), ("b", 80, 19, 1, 0), ("d", 50, 0, 0, 0)])})
    rows = [("a", 70, 25, 5, 0), ("b", 80, 19, 1, 0), ("c", 80, 19, 1, 0)]
    cut = table(columns, rows)
    new = tally({"k": cut, "flag": cut.rename({"slice.k": "slice.flag"})})
    return streamcmp.changes(finalize(new), finalize(old))


@pytest.mark.parametrize(
    ("expression", "fires", "says"),
    [
        ("overall.gain < baseline.overall.gain - 0.5%", True, "baseline.overall.gain is -0.072"),
        ("baseline.overall.verdict == 'worse'", True, "baseline.overall.verdict is worse"),
        ("baseline.overall.n != 250", False, "baseline.overall.n is 250"),
        (
            "any(k, verdict == 'worse' and baseline.verdict == 'inconclusive')",
            True,
            "1 of 3 slices of k: k=a (verdict worse, baseline.verdict inconclusive)",
        ),
        (
            "count(k, gain == baseline.gain and n == baseline.n) == 1",
            True,
            "k=b (gain -0.18, baseline.gain -0.18",
        ),
        ("any(k, k == 'c' and baseline.gain < 1)", False, "0 of 3 slices of k"),
        ("count(k, not (baseline.gain < 1)) == 1", True, "k=c (baseline.gain does not exist)"),
        ("any(k, gain < baseline.overall.gain - 20%)", False, "0 of 3 slices of k"),
    ],
)
def test_a_baseline(expression: str, fires: bool, says: str) -> None:
    outcome = gate(beside(), expression)
    assert outcome.fired is fires
    assert says in outcome.says
    assert not outcome.absent


def test_a_family_that_is_new_has_no_baseline() -> None:
    outcome = gate(beside(), "any(flag, baseline.n > 0)")
    assert (outcome.fired, outcome.absent) == (False, ("baseline.n of flag",))


def test_slices_of_every_type_find_their_baseline() -> None:
    report = finalize(troubled())
    judged = streamcmp.changes(report, report.to_dict())
    for family in ("domain", "'year,day'", "flag"):
        assert gate(judged, f"count({family}, n == baseline.n) == count({family})").fired
    odd = finalize(hostile())
    assert gate(streamcmp.changes(odd, finalize(hostile())), "all(name, n == baseline.n)").fired


def test_without_an_earlier_report_there_is_no_baseline() -> None:
    with pytest.raises(UsageError, match="character 16: there is no earlier report; --baseline-report"):
        gate(finalize(sst2()), "overall.gain < baseline.overall.gain")
