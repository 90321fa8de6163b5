"""The numbers of one slice, from its own counts alone: shares, intervals, p-values. Vectorised over slices.

What a slice's numbers owe to the other slices of its family (adjusted p-values, verdicts) is in results.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
import polars as pl

from streamcmp import stats
from streamcmp.analysis import Analysis
from streamcmp.stats.counts import Bools, Floats, Ints

_COUNTS: Final = ("n_ab", "n_ba", "n", "both_correct")
# Families of slices no larger than this repeat their counts often enough for distinct ones to be worth
# finding.
_SMALL: Final = 1 << 10
_BITS: Final = 15
_WORTH_THREADS: Final = 50_000


def numbers(counts: pl.DataFrame, analysis: Analysis) -> pl.DataFrame:
    """The fields of docs/statistics.md that one slice's counts determine.

    Args:
        counts: n, n_discordant and the four cells, a row per slice; n and the agreement cells may be null.
        analysis: test, alternative, intervals, and which further fields to add.

    Returns:
        A column per field, in the order of the rows. What does not exist is null.
    """
    distinct = _distinct(counts)
    if distinct is None:
        return _numbers(counts, analysis)
    first, back = distinct
    return _numbers(counts[first], analysis)[back]


def _distinct(counts: pl.DataFrame) -> tuple[Ints, Ints] | None:
    """Rows that hold every combination of counts once, and where each row finds its own; None: not worth it.

    A million users with a few dozen pairs each have no more than some ten thousand different counts.
    """
    if counts.height < 2 * _SMALL or counts["n"].null_count() or counts["both_correct"].null_count():
        return None
    if (counts["n"].max() or 0) >= _SMALL:  # type: ignore[operator]  # of a whole-number column
        return None
    key = np.zeros(counts.height, np.int64)
    for name in _COUNTS:
        key = (key << _BITS) | counts[name].to_numpy()
    _, first, back = np.unique(key, return_index=True, return_inverse=True)
    return first, back


def _numbers(counts: pl.DataFrame, analysis: Analysis) -> pl.DataFrame:
    lost, won = counts["n_ab"].to_numpy(), counts["n_ba"].to_numpy()
    parts: list[Callable[[], dict[str, Any]]] = [
        lambda: _tests(counts, analysis),
        lambda: _interval(counts, analysis),
        lambda: _accuracies(counts, analysis),
    ]
    margin = analysis.margin
    if margin is not None:
        parts.append(lambda: _margin(counts, margin))
    if analysis.odds is not None:
        parts.append(lambda: _odds(lost, won, analysis))
    if analysis.mde:
        parts.append(lambda: _detectable(counts, analysis))
    if analysis.anytime:
        parts.append(lambda: _anytime(lost, won, analysis))
    columns: dict[str, Any] = {}
    if counts.height < _WORTH_THREADS:
        for part in parts:
            columns |= part()
    else:
        # numpy lets go of the interpreter while it computes: the parts run side by side.
        with ThreadPoolExecutor(min(len(parts), os.cpu_count() or 1)) as pool:
            for found in pool.map(lambda part: part(), parts):
                columns |= found
    return counts.select(**_shares()).with_columns(**columns)


def _shares() -> dict[str, pl.Expr]:
    n = pl.when(pl.col("n") > 0).then(pl.col("n"))  # null where there is nothing to divide by
    return {
        "accuracy_a": (pl.col("both_correct") + pl.col("n_ab")) / n,
        "accuracy_b": (pl.col("both_correct") + pl.col("n_ba")) / n,
        "gain": (pl.col("n_ba") - pl.col("n_ab")) / n,
    }


def _known(counts: pl.DataFrame, *, agreement: bool = False) -> tuple[Bools, Callable[[str], Ints]]:
    """Where n (and the agreement cells) are known; and columns as arrays, 0 where they are not.

    Of slices without pairs no interval exists, so that it comes out null.
    """
    known = np.ones(counts.height, np.bool_)
    for name in ("n", "both_correct") if agreement else ("n",):
        if counts[name].null_count():
            known &= counts[name].is_not_null().to_numpy()

    def column(name: str) -> Ints:
        values = _filled(counts[name], 0)
        return values if known.all() else np.where(known, values, 0)

    return known, column


def _filled(counts: pl.Series, blank: int) -> Ints:
    """As an array; of a few rows, asking Polars to fill where there is nothing to fill takes longest."""
    return (counts.fill_null(blank) if counts.null_count() else counts).to_numpy()


def _accuracies(counts: pl.DataFrame, analysis: Analysis) -> dict[str, pl.Series]:
    _, column = _known(counts, agreement=True)
    both, n = column("both_correct"), column("n")
    limits: dict[str, pl.Series] = {}
    for side, only in (("a", column("n_ab")), ("b", column("n_ba"))):
        low, high = stats.wilson(both + only, n, analysis.confidence)
        limits |= {f"accuracy_{side}_low": nullable(low), f"accuracy_{side}_high": nullable(high)}
    return limits


def _interval(counts: pl.DataFrame, analysis: Analysis) -> dict[str, pl.Series]:
    """The gain's limits; null where n is 0 or unknown, or the interval needs agreement cells and has none."""
    _, column = _known(counts, agreement=analysis.ci in stats.NEED_AGREEMENT)
    cells = stats.Cells(column("n_ab"), column("n_ba"), column("n"), column("both_correct"))
    limits = stats.INTERVALS[analysis.ci](cells, analysis.confidence)
    return {"gain_low": nullable(limits.low), "gain_high": nullable(limits.high)}


def _tests(counts: pl.DataFrame, analysis: Analysis) -> dict[str, Any]:
    """All p-values. Those named after a test are two-sided; `p` is the chosen test's and alternative's."""
    lost, won = counts["n_ab"].to_numpy(), counts["n_ba"].to_numpy()
    exact, mid = stats.exact_and_mid_p(lost, won)
    of_test = {
        "exact": exact,
        "mid-p": mid,
        "chi2": stats.chi2(lost, won),
        "chi2-corrected": stats.chi2_corrected(lost, won),
    }
    test: pl.Expr | pl.Series = pl.lit(analysis.test)
    if analysis.alternative == "two-sided" and analysis.test != "auto":
        tail = of_test[analysis.test]
    else:
        names, tail = stats.chosen(analysis.test, lost, won, analysis.alternative)
        if analysis.test == "auto":
            test = pl.Series(names.tolist(), dtype=pl.String)
    # One-sided mid-p of no pairs at all would be 1/2 by its formula: nothing was seen, so 1.
    empty = _filled(counts["n"], 1) == 0
    return {
        "p_exact": nullable(exact.p),
        "p_mid": nullable(mid.p),
        "p_chi2": nullable(of_test["chi2"].p),
        "p_chi2_corrected": nullable(of_test["chi2-corrected"].p),
        "log10_p_exact": nullable(exact.log10_p),
        "log10_p_mid": nullable(mid.log10_p),
        "test": test,
        "p": nullable(np.where(empty, 1.0, tail.p)),
        "log10_p": nullable(np.where(empty, 0.0, tail.log10_p)),
    }


def _margin(counts: pl.DataFrame, margin: float) -> dict[str, pl.Series]:
    """P-values of non-inferiority and equivalence; null where n is unknown, 1 where it is 0."""
    known, column = _known(counts)
    fields = {}
    for name, function in (("noninferior", stats.noninferior), ("equivalent", stats.equivalent)):
        tail = function(column("n_ab"), column("n_ba"), column("n"), margin)
        for field, values in ((f"p_{name}", tail.p), (f"log10_p_{name}", tail.log10_p)):
            fields[field] = nullable(np.where(known, values, np.nan))
    return fields


def _odds(lost: Ints, won: Ints, analysis: Analysis) -> dict[str, pl.Series]:
    assert analysis.odds is not None
    odds = stats.odds_interval(lost, won, analysis.confidence, analysis.odds)
    share = stats.share_interval(odds)
    return {
        "odds": nullable(stats.odds(lost, won)),
        "odds_low": nullable(odds.low),
        "odds_high": nullable(odds.high),
        "share_won": nullable(stats.share_won(lost, won)),
        "share_won_low": nullable(share.low),
        "share_won_high": nullable(share.high),
    }


def _detectable(counts: pl.DataFrame, analysis: Analysis) -> dict[str, pl.Series]:
    _, column = _known(counts)
    n = column("n")
    psi = np.where(n > 0, column("n_discordant") / np.maximum(n, 1), 0.0)
    sides = 2 if analysis.alternative == "two-sided" else 1
    gain = stats.minimum_detectable_gain(n, psi, analysis.alpha, analysis.power, sides=sides)
    return {"mde": nullable(gain)}


def _anytime(lost: Ints, won: Ints, analysis: Analysis) -> dict[str, pl.Series]:
    log10_e = stats.log10_e(lost, won, analysis.alternative)
    p, log10_p = stats.anytime_p(log10_e)
    low, high = stats.confidence_sequence(lost, won, analysis.confidence)
    return {
        "log10_e": nullable(log10_e),
        "p_anytime": nullable(p),
        "log10_p_anytime": nullable(log10_p),
        "share_won_anytime_low": nullable(low),
        "share_won_anytime_high": nullable(high),
    }


def nullable(values: Floats) -> pl.Series:
    """What does not exist, or is infinite, is null, never NaN; and 0 has no sign."""
    return pl.Series(np.where(np.isfinite(values), values + 0.0, np.nan), nan_to_null=True)
