"""What an analysis may be asked besides: margin, odds, detectable gain, e-value; and what families say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import streamcmp
from streamcmp import stats
from streamcmp.analysis import Alternative, Analysis, OddsInterval
from streamcmp.report import RENDERERS
from streamcmp.report.model import EXTRA_FIELDS, RESULT_FIELDS
from streamcmp.report.sentence import headline
from streamcmp.report.words import heterogeneity_line, unpaired_line
from streamcmp.results import finalize
from streamcmp.tally import Tally
from tests.report.tallies import of_counts, plain, sst2, table, tally, troubled

EVERYTHING: dict[str, Any] = {"margin": 0.02, "odds": "mid-p", "mde": True, "anytime": True}
NAMES = ("cnn", "lstm")


def by_number(counts: list[tuple[int, int, int, int]]) -> Tally:
    return tally({"k": table(["k"], [(f"{at:04d}", *cells) for at, cells in enumerate(counts)])})


@pytest.mark.parametrize("option", EXTRA_FIELDS)
def test_fields_are_there_where_they_were_asked_for(option: str) -> None:
    plain_fields = set(finalize(sst2()).results.columns)
    assert not plain_fields & {name for names in EXTRA_FIELDS.values() for name in names}
    report = finalize(sst2(), Analysis(**{option: EVERYTHING[option]}))
    assert report.fields == (*RESULT_FIELDS, *EXTRA_FIELDS[option])
    assert report.results.columns[-len(EXTRA_FIELDS[option]) :] == list(EXTRA_FIELDS[option])
    assert report.results[EXTRA_FIELDS[option][-1]].null_count() < report.results.height


def test_asking_more_changes_nothing_else() -> None:
    for counts in (sst2(), troubled()):
        less, more = finalize(counts), finalize(counts, Analysis(odds="wilson", mde=True, anytime=True))
        assert_frame_equal(less.results, more.results.select(less.results.columns))


def test_accuracies_have_wilson_intervals() -> None:
    row = finalize(of_counts(80, 3, 7, 10)).overall
    for side, hits in (("a", 83), ("b", 87)):
        low, high = stats.wilson(hits, 100)
        assert (row[f"accuracy_{side}_low"], row[f"accuracy_{side}_high"]) == (low[0], high[0])


# --- margin

BIG_TIE, WORSE_A_LITTLE, NEITHER = (9000, 100, 101, 800), (90_000, 1_300, 1_000, 7_700), (30, 4, 3, 12)


@pytest.mark.parametrize(
    ("counts", "alternative", "verdict", "words"),
    [
        (BIG_TIE, "two-sided", "equivalent", "cnn and lstm are equivalent within 1 point"),
        (WORSE_A_LITTLE, "two-sided", "worse", "lstm is worse than cnn, but by less than 1 point"),
        (WORSE_A_LITTLE, "better", "equivalent", "cnn and lstm are equivalent within 1 point"),
        (NEITHER, "two-sided", "inconclusive", "no clear difference between cnn and lstm"),
        (NEITHER, "better", "inconclusive", "lstm is not shown to be better than cnn"),
        (
            (9000, 100, 130, 770),
            "worse",
            "equivalent",
            "cnn and lstm are equivalent within 1 point",
        ),
        (
            (900, 20, 28, 52),
            "two-sided",
            "inconclusive",
            "no clear difference between cnn and lstm, but lstm is not worse by 1 point or more",
        ),
        ((900, 5, 60, 35), "two-sided", "better", "lstm is better than cnn"),
    ],
)
def test_verdicts_with_a_margin(
    counts: tuple[int, int, int, int], alternative: Alternative, verdict: str, words: str
) -> None:
    report = finalize(of_counts(*counts), Analysis(margin=0.01, alternative=alternative), NAMES)
    assert report.overall["verdict"] == verdict
    assert headline(report) == words


def test_superiority_goes_before_equivalence() -> None:
    row = finalize(of_counts(*WORSE_A_LITTLE), Analysis(margin=0.01)).overall
    assert row["verdict"] == "worse"
    assert row["p_equivalent_adjusted"] < 0.05
    assert row["p_noninferior_adjusted"] < 0.05


def test_without_a_margin_nothing_is_equivalent() -> None:
    assert finalize(of_counts(*BIG_TIE)).overall["verdict"] == "inconclusive"


def test_margins_are_adjusted_within_the_family_apart_from_superiority() -> None:
    counts = [(900, 20, 30, 50), (900, 30, 20, 50), (90, 3, 2, 5), (5, 0, 0, 0), (0, 0, 0, 0)]
    for adjust in stats.ADJUSTMENTS:
        report = finalize(by_number(counts), Analysis(margin=0.05, adjust=adjust, min_discordant=1))
        family = report.results.filter(pl.col("family") == "k")
        tested = family.filter("tested")
        assert tested.height == 3
        for name in ("p_noninferior", "p_equivalent"):
            expected = stats.adjust(tested[f"log10_{name}"].to_numpy(), adjust)
            np.testing.assert_allclose(tested[f"log10_{name}_adjusted"].to_numpy(), expected, rtol=1e-13)
            assert family.filter(~pl.col("tested"))[f"{name}_adjusted"].null_count() == 2


def test_a_margin_needs_n() -> None:
    row = finalize(plain([(None, 4, 14)]), Analysis(margin=0.01)).overall
    assert row["p_noninferior"] is None
    assert row["p_equivalent_adjusted"] is None
    assert row["verdict"] == "better"


# --- families


def test_slices_that_point_both_ways_are_warned_of() -> None:
    report = finalize(by_number([(100, 5, 40, 10), (100, 40, 5, 10)]))
    (warning,) = [one for one in report.warnings if one.code == "slices_point_both_ways"]
    assert warning.details["better"] == warning.details["worse"] == 1
    assert warning.details["p"] < 1e-6
    assert "1 better, 1 worse; 1 with a gain, 1 with a loss, more than chance explains" in warning.message


@pytest.mark.parametrize(
    "counts",
    [
        [(100, 5, 40, 10), (100, 8, 35, 10)],  # alike
        [(1000, 5, 400, 10), (1000, 35, 40, 10)],  # they differ, but both gain
        [(100, 5, 40, 10), (100, 6, 5, 10)],  # one loses, by chance
        [(100, 5, 40, 10)],
        [(0, 0, 0, 0), (3, 0, 0, 1)],
    ],
)
def test_other_slices_are_not(counts: list[tuple[int, int, int, int]]) -> None:
    report = finalize(by_number(counts))
    assert "slices_point_both_ways" not in [one.code for one in report.warnings]


def test_micro_and_macro_gain() -> None:
    family = finalize(by_number([(900, 0, 100, 0), (6, 2, 0, 2), (0, 0, 0, 0)])).families[1]
    assert family.micro_gain == pytest.approx(98 / 1010)
    assert family.macro_gain == pytest.approx((0.1 - 0.2) / 2)
    limits = (family.macro_gain_low, family.macro_gain_high)
    assert None not in limits
    assert stats.heterogeneity.macro_gain([0, 2, 0], [100, 0, 0], [1000, 10, 0])[2:] == limits


def test_sparse_families_go_by_tarone() -> None:
    rng = np.random.default_rng(3)
    sparse = [(5, int(lost), int(1 - lost), 0) for lost in rng.integers(0, 2, 400)]
    report = finalize(by_number(sparse))
    found = report.families[1].heterogeneity
    assert found is not None
    assert (found["test"], found["p"]) == ("tarone", found["p_tarone"])
    line = heterogeneity_line(report, report.families[1])
    assert line is not None
    assert "too sparse for chi2" in line


def test_overall_has_no_heterogeneity() -> None:
    report = finalize(sst2())
    assert report.families[0].heterogeneity is None
    assert heterogeneity_line(report, report.families[0]) is None


# --- the unpaired test


def test_the_unpaired_test_is_shown_once_and_told_apart() -> None:
    report = finalize(sst2(), names=NAMES)
    z, tail = stats.unpaired.two_proportions(1561, 1821, 1603, 1821)
    assert report.unpaired == {"z": z[0], "p": tail.p[0], "log10_p": tail.log10_p[0]}
    for form in ("table", "markdown"):
        text = " ".join(str(RENDERERS[form](report)).split())
        assert text.count("not to be used") == 1
        assert "z = 2.06, p = 0.039" in text


@pytest.mark.parametrize("counts", [of_counts(0, 0, 0, 0), plain([(None, 4, 14)]), plain([(50, 4, 14)])])
def test_no_unpaired_test_without_accuracies(counts: Tally) -> None:
    report = finalize(counts)
    assert report.unpaired is None
    assert unpaired_line(report) is None


# --- laws of the whole

cells = st.tuples(*[st.integers(0, 40).flatmap(lambda bits: st.integers(0, 2**bits))] * 4)
alternatives: st.SearchStrategy[Alternative] = st.sampled_from(["two-sided", "better", "worse"])
odds_methods: st.SearchStrategy[OddsInterval] = st.sampled_from(["clopper-pearson", "mid-p", "wilson"])


@given(st.lists(cells, min_size=1, max_size=6), alternatives, odds_methods)
def test_every_format_can_say_everything(
    counts: list[tuple[int, int, int, int]], alternative: Alternative, odds: OddsInterval
) -> None:
    analysis = Analysis(margin=0.01, odds=odds, mde=True, anytime=True, alternative=alternative)
    report = finalize(by_number(counts), analysis, NAMES)
    for form in RENDERERS:
        assert RENDERERS[form](report)
    for name in report.fields:
        column = report.results[name]
        if column.dtype != pl.Float64:
            continue
        assert column.is_finite().all()
        if name.startswith("p_") or name == "p":
            assert (column.drop_nulls() >= stats.SMALLEST_P).all()
            assert (column.drop_nulls() <= 1).all()
        if name.startswith("log10_p"):
            assert (column.drop_nulls() <= 0).all()


@given(st.lists(cells, min_size=1, max_size=6))
def test_swapping_sides(counts: list[tuple[int, int, int, int]]) -> None:
    swapped = [(both, won, lost, neither) for both, lost, won, neither in counts]
    analysis = Analysis(**{**EVERYTHING, "odds": "clopper-pearson"})
    one, two = (finalize(by_number(given_counts), analysis) for given_counts in (counts, swapped))
    mirrored = two.results.with_columns(
        (1 - pl.col("share_won")).alias("share_won"),
        (1 - pl.col("share_won_high")).alias("share_won_low"),
        (1 - pl.col("share_won_low")).alias("share_won_high"),
        (1 - pl.col("share_won_anytime_high")).alias("share_won_anytime_low"),
        (1 - pl.col("share_won_anytime_low")).alias("share_won_anytime_high"),
    )
    same = ["slice.k", "p_equivalent", "mde", "log10_e", "p_anytime"]
    shares = [name for name in mirrored.columns if name.startswith("share_won")]
    assert_frame_equal(
        one.results.select(same + shares), mirrored.select(same + shares), abs_tol=1e-11, rel_tol=1e-11
    )
    for ours, theirs in zip(one.families, two.families, strict=True):
        if ours.heterogeneity is not None and theirs.heterogeneity is not None:
            for name in ("chi2", "g2", "p_both_ways"):
                assert ours.heterogeneity[name] == pytest.approx(
                    theirs.heterogeneity[name], rel=1e-9, abs=1e-9
                )
    if one.unpaired is not None and two.unpaired is not None:
        assert one.unpaired["z"] == -two.unpaired["z"]


# --- counts in hand


def test_mcnemar_says_the_same_as_a_report() -> None:
    for counts in ((4, 22, 899), (0, 0, 10), (0, 0, 0), (3, 0, None), (10**12, 10**12 + 10**6, 10**13)):
        result = streamcmp.mcnemar(*counts, **EVERYTHING)
        row = result.to_report().overall
        for names in EXTRA_FIELDS.values():
            for name in names:
                if "adjusted" not in name:
                    assert getattr(result, name) == row[name], name


def test_mcnemar_leaves_out_what_was_not_asked() -> None:
    result = streamcmp.mcnemar(4, 22, 899)
    assert {result.margin, result.p_equivalent, result.odds_ci, result.odds, result.power, result.mde} == {
        None
    }
    assert {result.log10_e, result.p_anytime} == {None}
    assert "odds" not in result.to_report().results.columns


def test_detectable_gain_is_connors() -> None:
    row = finalize(of_counts(850, 40, 60, 50), Analysis(mde=True, power=0.9, alternative="better")).overall
    assert row["mde"] == stats.minimum_detectable_gain([1000], [0.1], 0.05, 0.9, sides=1)[0]
    half_power = stats.normal_power(1000, (0.1 - row["mde"]) / 2, (0.1 + row["mde"]) / 2, sides=1)
    assert half_power == pytest.approx(0.9, rel=1e-12)


def test_anytime_p_is_the_inverse_e_value() -> None:
    row = finalize(of_counts(0, 5, 30, 0), Analysis(anytime=True)).overall
    assert row["p_anytime"] == pytest.approx(min(1.0, 10 ** -row["log10_e"]), rel=1e-13)
    assert row["log10_e"] == pytest.approx(math.log10(2**35 / (36 * math.comb(35, 5))), rel=1e-13)
