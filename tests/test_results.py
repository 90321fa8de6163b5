from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from streamcmp.analysis import Adjust, Alternative, Analysis, GainInterval, Test
from streamcmp.errors import DataError, InternalError, UsageError
from streamcmp.ledger import Ledger, SideLedger
from streamcmp.report.model import RESULT_FIELDS, Report
from streamcmp.results import finalize
from streamcmp.tally import COUNTERS, OVERALL, Tally
from tests.report.tallies import HOSTILE, hostile, of_counts, plain, rule, sst2, table, tally, troubled

LABEL = ("slice.label",)


def rows(report: Report, family: str) -> list[dict[str, Any]]:
    return report.results.filter(pl.col("family") == family).to_dicts()


def codes(report: Report) -> list[str]:
    return [warning.code for warning in report.warnings]


# --- the numbers of a real comparison


def test_real_classifiers() -> None:
    report = finalize(sst2(), names=("cnn", "lstm"))
    assert report.results.columns == ["family", *LABEL, *RESULT_FIELDS]
    overall, negative, positive = report.results.to_dicts()
    assert overall["n"] == 1821
    assert overall["p"] == overall["p_adjusted"] == pytest.approx(0.001122905196234038, rel=1e-14)
    assert overall["p_mid"] == pytest.approx(0.0008761261354923633, rel=1e-14)
    assert overall["accuracy_b"] - overall["accuracy_a"] == pytest.approx(overall["gain"])
    assert negative["p"] == pytest.approx(1.3328736909323258e-07, rel=1e-14)
    assert negative["p_adjusted"] == pytest.approx(2 * 1.3328736909323258e-07, rel=1e-14)
    assert positive["p_adjusted"] == pytest.approx(0.5665734423986847, rel=1e-14)
    assert [row["verdict"] for row in (overall, negative, positive)] == ["better", "better", "inconclusive"]
    assert report.warnings == ()
    overall_family, label = (family.to_dict() for family in report.families)
    assert overall_family["heterogeneity"] is None
    for family, name, columns, slices in ((overall_family, OVERALL, [], 1), (label, "label", ["label"], 2)):
        assert (family["family"], family["columns"]) == (name, columns)
        assert (family["slices"], family["tested"]) == (slices, slices)
        assert (family["adjust"], family["overlapping"]) == ("holm", False)
        assert family["micro_gain"] == pytest.approx(overall["gain"])
    assert label["macro_gain"] == pytest.approx((48 / 912 - 6 / 909) / 2)
    assert label["heterogeneity"]["chi2"] == pytest.approx(18.12626885)
    # The loss of one slice may well be chance: they differ, but are not shown to point both ways.
    assert label["heterogeneity"]["p_both_ways"] == pytest.approx(0.2456, abs=1e-4)


def test_underflow_keeps_the_truth_in_log10() -> None:
    row = finalize(of_counts(0, 0, 2000, 0)).overall
    assert row["p"] == row["p_exact"] == row["p_adjusted"] == 2.2250738585072014e-308
    assert row["log10_p"] == pytest.approx(-601.7589616, abs=1e-6)


def test_a_log_against_itself() -> None:
    row = finalize(of_counts(7, 0, 0, 3)).overall
    assert row["gain"] == 0
    assert row["tested"]
    assert row["verdict"] == "inconclusive"
    assert all(
        row[name] == 1 for name in ("p", "p_adjusted", "p_exact", "p_mid", "p_chi2", "p_chi2_corrected")
    )


@pytest.mark.parametrize("alternative", get_args(Alternative))
@pytest.mark.parametrize("test", get_args(Test))
def test_no_pair_is_untested_with_p_1(test: Test, alternative: Alternative) -> None:
    row = finalize(of_counts(0, 0, 0, 0, 0, 3), Analysis(test=test, alternative=alternative)).overall
    nothing = ("accuracy_a", "accuracy_b", "gain", "gain_low", "gain_high", "p_adjusted", "log10_p_adjusted")
    assert all(row[name] is None for name in nothing)
    assert (row["p"], row["log10_p"], row["tested"], row["verdict"]) == (1, 0, False, "untested")


# --- options


CHOICES = [
    (name, value)
    for name, choice in (
        ("test", Test),
        ("alternative", Alternative),
        ("ci", GainInterval),
        ("adjust", Adjust),
    )
    for value in get_args(choice)
]


@pytest.mark.parametrize(("option", "value"), CHOICES)
def test_every_choice_works(option: str, value: str) -> None:
    options: dict[str, Any] = {option: value}
    report = finalize(troubled(), Analysis(**options))
    assert report.results["p"].null_count() == 0
    assert report.comparison["analysis"][option] == value


def test_auto_names_the_test_of_each_row() -> None:
    report = finalize(troubled(), Analysis(test="auto"))
    used = {row["slice.domain"]: row["test"] for row in rows(report, "domain")}
    assert used == {"medicine": "chi2-corrected", "law": "exact", "physics": "exact", None: "exact"}


def test_one_sided_verdicts_answer_the_question_asked() -> None:
    asked: dict[Alternative, str] = {"two-sided": "better", "better": "better", "worse": "inconclusive"}
    for alternative, verdict in asked.items():
        assert (
            finalize(of_counts(10, 1, 20, 1), Analysis(alternative=alternative)).overall["verdict"] == verdict
        )
    # An absurd level does not turn a gain into "worse".
    strange = Analysis(alternative="worse", confidence=0.01, test="mid-p")
    assert finalize(of_counts(10, 5, 6, 1), strange).overall["verdict"] == "inconclusive"


def test_min_discordant_leaves_slices_untested_and_m_smaller() -> None:
    report = finalize(troubled(), Analysis(min_discordant=6))
    by_domain = {row["slice.domain"]: row for row in rows(report, "domain")}
    assert [name for name, row in by_domain.items() if row["tested"]] == ["medicine"]
    assert by_domain["law"]["p"] == 0.0625
    assert by_domain["law"]["p_adjusted"] is None
    assert by_domain["law"]["verdict"] == "untested"
    assert by_domain["medicine"]["p_adjusted"] == by_domain["medicine"]["p"]
    assert [family.tested for family in report.families] == [1, 1, 2, 1]


def test_overall_is_exempt_from_min_discordant() -> None:
    assert finalize(of_counts(10, 1, 2, 1), Analysis(min_discordant=100)).overall["tested"]


def test_confidence_sets_interval_and_alpha() -> None:
    wide, narrow = (finalize(sst2(), Analysis(confidence=level)).overall for level in (0.999, 0.5))
    assert wide["gain_low"] < narrow["gain_low"] < narrow["gain_high"] < wide["gain_high"]
    assert (wide["verdict"], narrow["verdict"]) == ("inconclusive", "better")


# --- laws

cells = st.integers(0, 30) | st.integers(0, 3_000)
slices = st.lists(st.tuples(cells, cells, cells, cells), min_size=1, max_size=12)
analyses = st.builds(
    Analysis,
    test=st.sampled_from(get_args(Test)),
    alternative=st.sampled_from(get_args(Alternative)),
    ci=st.sampled_from(get_args(GainInterval)),
    confidence=st.sampled_from((0.5, 0.9, 0.95, 0.999)),
    adjust=st.sampled_from(get_args(Adjust)),
    min_discordant=st.integers(0, 30),
)


def by_number(counts: Sequence[tuple[int, ...]]) -> Tally:
    return tally({"k": table(["k"], [(at, *row) for at, row in enumerate(counts)], {"k": pl.Int64})})


@given(slices, analyses)
def test_results_obey_their_laws(counts: Sequence[tuple[int, ...]], analysis: Analysis) -> None:
    report = finalize(by_number(counts), analysis)
    results = report.results
    floats = results.select(pl.col(pl.Float64))
    assert not floats.select(pl.any_horizontal(pl.all().is_nan() | pl.all().is_infinite())).to_series().any()
    for row in results.iter_rows(named=True):
        assert 0 < row["p"] <= 1
        assert row["p"] == pytest.approx(10 ** row["log10_p"], rel=1e-9) or row["p"] <= 2.3e-308
        if not row["tested"]:
            assert row["p_adjusted"] is None
            assert row["log10_p_adjusted"] is None
            assert row["verdict"] == "untested"
            continue
        assert row["p_adjusted"] >= row["p"]
        assert row["log10_p_adjusted"] >= row["log10_p"]
        significant = row["p_adjusted"] <= analysis.alpha
        expected = "better" if row["gain"] > 0 else "worse" if row["gain"] < 0 else "inconclusive"
        asked = analysis.alternative in ("two-sided", expected)
        assert row["verdict"] == (expected if significant and asked else "inconclusive")
    found = rows(report, "k")
    keys = [
        (row["log10_p"], -abs(row["gain"]) if row["gain"] is not None else math.inf, row["slice.k"])
        for row in found
    ]
    assert keys == sorted(keys)
    assert report.families[1].tested == sum(row["tested"] for row in found)


@given(slices, st.sampled_from(get_args(Test)), st.sampled_from(get_args(GainInterval)))
def test_swapping_sides_mirrors_the_report(
    counts: list[tuple[int, int, int, int]], test: Test, ci: GainInterval
) -> None:
    analysis = Analysis(test=test, ci=ci)
    swapped = [(both, won, lost, neither) for both, lost, won, neither in counts]
    one, two = (finalize(by_number(given_counts), analysis).results for given_counts in (counts, swapped))
    mirrored = two.with_columns(
        pl.col("n_ba").alias("n_ab"),
        pl.col("n_ab").alias("n_ba"),
        pl.col("accuracy_b").alias("accuracy_a"),
        pl.col("accuracy_a").alias("accuracy_b"),
        *(
            pl.col(f"accuracy_{other}_{limit}").alias(f"accuracy_{side}_{limit}")
            for side, other in ("ab", "ba")
            for limit in ("low", "high")
        ),
        -pl.col("gain"),
        (-pl.col("gain_high")).alias("gain_low"),
        (-pl.col("gain_low")).alias("gain_high"),
        pl.col("verdict").replace({"better": "worse", "worse": "better"}),
    )
    assert_frame_equal(one, mirrored, abs_tol=1e-12, rel_tol=1e-12)


HOSTILE_ONCE = (hostile(), finalize(hostile()).results)


@given(st.permutations(range(len(HOSTILE))))
def test_the_order_of_rows_in_a_tally_does_not_matter(order: list[int]) -> None:
    given_tally, expected = HOSTILE_ONCE
    shuffled = {**given_tally.families, "name": given_tally.families["name"][order]}
    assert finalize(replace(given_tally, families=shuffled)).results.equals(expected)


def test_full_ties_are_in_order_of_slice_values_with_null_last() -> None:
    tied = tally({"label": table(["label"], [(name, 1, 2, 2, 1) for name in ("b", None, "a", "")])})
    assert finalize(tied).results["slice.label"].to_list() == [None, "", "a", "b", None]


# --- the checks of every run


def broken(counter: str, **changes: Any) -> Tally:
    whole = tally(
        {"label": table(["label"], [("x", 1, 2, 3, 4, 5, 6, 7), ("y", 1, 2, 3, 4, 5, 6, 7)])}, **changes
    )
    label = whole.families["label"].with_columns(pl.col(counter) + pl.Series([0, 1]))
    return replace(whole, families={**whole.families, "label": label})


@pytest.mark.parametrize("counter", COUNTERS)
def test_a_family_that_does_not_add_up_is_an_internal_error(counter: str) -> None:
    with pytest.raises(InternalError, match=counter):
        finalize(broken(counter))


@pytest.mark.parametrize("counter", COUNTERS)
def test_in_a_table_from_outside_it_is_the_data(counter: str) -> None:
    with pytest.raises(DataError, match=f"do not add up: {counter}"):
        finalize(broken(counter, rule=None))


def test_a_pair_that_differs_in_two_families_counts_once_overall() -> None:
    families = {name: table([name], [("x", 5, 1, 1, 5, 0, 0, 2)]) for name in ("label", "domain")}
    for overall, fine in ((1, False), (2, True), (4, True), (5, False)):
        whole = table([], [(5, 1, 1, 5, 0, 0, overall)])
        given_tally = tally({OVERALL: whole, **families})
        if fine:
            assert codes(finalize(given_tally)) == ["slice_differs", "slice_differs"]
        else:
            with pytest.raises(InternalError, match="slice_differs"):
                finalize(given_tally)


@pytest.mark.parametrize("bucket", ["paired", "unscored", "guard_mismatch"])
def test_a_ledger_that_tells_of_other_pairs_is_an_internal_error(bucket: str) -> None:
    whole = of_counts(1, 2, 3, 4, 5, 6)
    assert whole.ledger is not None
    extra = SideLedger(**{"rows": 1, bucket: 1})
    with pytest.raises(InternalError, match=bucket):
        finalize(replace(whole, ledger=whole.ledger + Ledger(extra, extra)))


def test_a_ledger_that_does_not_balance_is_an_internal_error() -> None:
    whole = of_counts(1, 2, 3, 4)
    assert whole.ledger is not None
    with pytest.raises(InternalError, match="11 rows were read but 10"):
        finalize(replace(whole, ledger=whole.ledger + Ledger(SideLedger(rows=1))))


def test_an_empty_tally_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing was counted"):
        finalize(Tally.zero())


# --- counts without agreement cells


def test_plain_counts_have_a_gain_but_no_accuracies() -> None:
    report = finalize(plain([("x", 50, 4, 14), ("y", 20, 3, 3)], ["s"]))
    overall = report.overall
    assert (overall["n"], overall["both_correct"], overall["accuracy_a"]) == (70, None, None)
    assert overall["gain"] == pytest.approx(10 / 70)
    assert overall["gain_low"] < overall["gain"] < overall["gain_high"]
    assert codes(report) == ["no_ledger", "interval_and_test_disagree"]
    assert report.ledger is None


def test_without_n_there_is_still_a_test() -> None:
    overall = finalize(plain([(None, 4, 14)])).overall
    assert overall["p"] == 0.0308837890625
    assert overall["verdict"] == "better"
    assert (overall["n"], overall["gain"], overall["gain_low"]) == (None, None, None)


def test_an_interval_that_needs_agreement_cells_is_null_and_says_so() -> None:
    report = finalize(plain([(50, 4, 14)]), Analysis(ci="newcombe"))
    assert report.overall["gain_low"] is None
    assert codes(report) == ["no_ledger", "interval_unknown"]


# --- warnings


def test_every_kind_of_row_is_warned_of() -> None:
    report = finalize(troubled())
    assert codes(report) == [
        "duplicates", "guard_mismatch", "unmatched", "unscored", "null_ids", "slice_differs",
        "interval_and_test_disagree",
    ]  # fmt: skip
    details = {warning.code: warning.details for warning in report.warnings}
    assert details["duplicates"] == {"a": 4, "b": 3}
    assert details["guard_mismatch"] == {"pairs": 1, "treatment": "dropped", "guards": ["label"]}
    assert details["unmatched"] == {"a": 12, "b": 0}
    assert details["unscored"] == {"pairs": 6, "missing_a": 5, "missing_b": 2}
    assert details["slice_differs"] == {"family": "domain", "pairs": 3}
    assert details["interval_and_test_disagree"] == {
        "results": 1, "first": [{"family": "domain", "slice": {"domain": "law"}}],
    }  # fmt: skip


def test_what_acts_while_counting_is_told_as_such() -> None:
    lenient = rule(missing="wrong", mismatch="ignore")
    report = finalize(of_counts(5, 1, 2, 3, 4, rule=lenient, a=SideLedger(missing=2)))
    assert codes(report) == ["guard_mismatch", "missing_counted_as_wrong"]
    assert report.warnings[0].details["treatment"] == "counted"
    assert "left log: 2, right log: 0" in report.warnings[1].message


def test_one_sided_tests_are_not_held_against_two_sided_intervals() -> None:
    swe_bench = of_counts(200, 16, 30, 54)
    assert codes(finalize(swe_bench)) == ["interval_and_test_disagree"]
    assert codes(finalize(swe_bench, Analysis(alternative="better"))) == []


def test_names_that_are_no_text_are_made_writable() -> None:
    assert finalize(sst2(), names=("a\udcff", "b")).names == ("a\\udcff", "b")
