"""Tally x analysis -> Report: p-values, intervals, verdicts, warnings. Pure, vectorised over slices.

Before a number is computed the tally must obey its laws: the ledger balances, every family adds up to
overall, and what the ledger calls paired was counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from streamcmp import stats
from streamcmp.analysis import Analysis
from streamcmp.checks import check
from streamcmp.notices import notices
from streamcmp.report.model import RESULT_FIELDS, RESULT_SCHEMA, Family, Report
from streamcmp.report.values import json_ready
from streamcmp.stats.counts import Bools, Floats, Ints
from streamcmp.tally import OVERALL, SLICE_PREFIX, Tally, slice_columns


def finalize(
    tally: Tally, analysis: Analysis | None = None, names: tuple[str, str] = ("left", "right")
) -> Report:
    """The report of a tally.

    Args:
        tally: counts per family and slice; `overall` is the first family.
        analysis: test, interval, level and adjustment; None is `Analysis()`.
        names: what to call a and b.

    Returns:
        Report. Its results depend on the tally's counts and the analysis only. With `alternative` "better" no
        verdict is "worse", and the other way round: that question was not asked.

    Raises:
        InternalError: a law of the tally is broken.
        DataError: a table of counts that was not made by streamcmp does not add up.
    """
    analysis = analysis or Analysis()
    names = (_writable(names[0]), _writable(names[1]))
    check(tally)
    parts = [_results(name, table, analysis) for name, table in tally.families.items()]
    families = tuple(_summary(name, part, analysis) for name, part in zip(tally.families, parts, strict=True))
    joined = pl.concat(parts, how="diagonal")
    results = joined.select("family", *slice_columns(joined), *RESULT_FIELDS)
    comparison = {
        "names": dict(zip(("a", "b"), names, strict=True)),
        "rule": None if tally.rule is None else json_ready(tally.rule.to_dict()),
        "analysis": {**analysis.to_dict(), "alpha": analysis.alpha},
    }
    return Report(
        names, comparison, tally.ledger, results, families, notices(tally, analysis, families, results)
    )


def _summary(name: str, results: pl.DataFrame, analysis: Analysis) -> Family:
    columns = tuple(column.removeprefix(SLICE_PREFIX) for column in slice_columns(results))
    return Family(name, columns, results.height, int(results["tested"].sum()), analysis.adjust)


def _results(family: str, table: pl.DataFrame, analysis: Analysis) -> pl.DataFrame:
    """One family's results in reading order: `family`, its slice columns, RESULT_FIELDS."""
    counts = table.select(*slice_columns(table), **_counts(table))
    lost, won = counts["n_ab"].to_numpy(), counts["n_ba"].to_numpy()
    enough = np.full(len(lost), family == OVERALL) | (lost + won >= analysis.min_discordant)
    numbers = counts.with_columns(
        **_shares(), **_interval(counts, analysis), **_tests(counts, enough, analysis)
    )
    judged = numbers.with_columns(family=pl.lit(family), verdict=_verdict(analysis))
    typed = judged.select(
        "family", *slice_columns(table), *(pl.col(name).cast(dtype) for name, dtype in RESULT_SCHEMA.items())
    )
    return _ordered(typed)


def _counts(table: pl.DataFrame) -> dict[str, pl.Expr]:
    """The count fields. A plain table may know n without the agreement cells, or not even n."""
    cells = pl.col("both_correct") + pl.col("n_ab") + pl.col("n_ba") + pl.col("both_wrong")
    return {
        "n": pl.coalesce(cells, pl.col("n")) if "n" in table.columns else cells,
        "n_discordant": pl.col("n_ab") + pl.col("n_ba"),
        **{name: pl.col(name).cast(pl.Int64) for name in ("both_correct", "n_ab", "n_ba", "both_wrong")},
    }


def _shares() -> dict[str, pl.Expr]:
    n = pl.when(pl.col("n") > 0).then(pl.col("n"))  # null where there is nothing to divide by
    return {
        "accuracy_a": (pl.col("both_correct") + pl.col("n_ab")) / n,
        "accuracy_b": (pl.col("both_correct") + pl.col("n_ba")) / n,
        "gain": (pl.col("n_ba") - pl.col("n_ab")) / n,
    }


def _interval(counts: pl.DataFrame, analysis: Analysis) -> dict[str, pl.Series]:
    """The gain's limits; null where n is 0 or unknown, or the interval needs agreement cells and has none."""
    known = counts["n"].is_not_null()
    if analysis.ci in stats.NEED_AGREEMENT:
        known &= counts["both_correct"].is_not_null()

    def column(name: str) -> Ints:
        # Slices without an interval take part as n = 0, whose interval does not exist.
        return (
            counts[name].fill_null(0).zip_with(known, pl.zeros(len(known), pl.Int64, eager=True)).to_numpy()
        )

    cells = stats.Cells(column("n_ab"), column("n_ba"), column("n"), column("both_correct"))
    limits = stats.INTERVALS[analysis.ci](cells, analysis.confidence)
    return {"gain_low": _nullable(limits.low), "gain_high": _nullable(limits.high)}


def _tests(counts: pl.DataFrame, enough: Bools, analysis: Analysis) -> dict[str, Any]:
    """All p-values. Those named after a test are two-sided; `p` is the chosen test's and alternative's."""
    lost, won = counts["n_ab"].to_numpy(), counts["n_ba"].to_numpy()
    exact, mid = stats.exact_and_mid_p(lost, won)
    test, tail = stats.chosen(analysis.test, lost, won, analysis.alternative)
    empty = (counts["n"] == 0).fill_null(value=False).to_numpy()
    # One-sided mid-p of no pairs at all would be 1/2 by its formula: nothing was seen, so 1.
    p, log10_p = np.where(empty, 1.0, tail.p), np.where(empty, 0.0, tail.log10_p)
    tested = enough & ~empty
    adjusted = stats.adjust_tails(stats.TailP(p, np.where(tested, log10_p, np.nan)), analysis.adjust)
    return {
        "p_exact": _nullable(exact.p),
        "p_mid": _nullable(mid.p),
        "p_chi2": _nullable(stats.chi2(lost, won).p),
        "p_chi2_corrected": _nullable(stats.chi2_corrected(lost, won).p),
        "log10_p_exact": _nullable(exact.log10_p),
        "log10_p_mid": _nullable(mid.log10_p),
        "test": pl.lit(analysis.test)
        if analysis.test != "auto"
        else pl.Series(test.tolist(), dtype=pl.String),
        "tested": pl.Series(tested),
        "p": _nullable(p),
        "log10_p": _nullable(log10_p),
        "p_adjusted": _nullable(adjusted.p),
        "log10_p_adjusted": _nullable(adjusted.log10_p),
    }


def _verdict(analysis: Analysis) -> pl.Expr:
    """From p_adjusted and the sign of the gain (of n_ba - n_ab, which is known where n is not)."""
    significant = pl.col("p_adjusted") <= analysis.alpha
    better = pl.col("n_ba") > pl.col("n_ab") if analysis.alternative != "worse" else pl.lit(value=False)
    worse = pl.col("n_ba") < pl.col("n_ab") if analysis.alternative != "better" else pl.lit(value=False)
    return (
        pl.when(~pl.col("tested"))
        .then(pl.lit("untested"))
        .when(significant & better)
        .then(pl.lit("better"))
        .when(significant & worse)
        .then(pl.lit("worse"))
        .otherwise(pl.lit("inconclusive"))
    )


def _ordered(results: pl.DataFrame) -> pl.DataFrame:
    """log10_p ascending, |gain| descending, slice values ascending; null last everywhere."""
    keys = slice_columns(results)
    by = ["log10_p", "|gain|", *keys]
    return (
        results.with_columns(pl.col("gain").abs().alias("|gain|"))
        .sort(by, descending=[name == "|gain|" for name in by], nulls_last=True, maintain_order=True)
        .drop("|gain|")
    )


def _nullable(values: Floats) -> pl.Series:
    """What does not exist is null, never NaN; and 0 has no sign."""
    return pl.Series(values + 0.0, dtype=pl.Float64).fill_nan(None)


def _writable(name: str) -> str:
    """A name made of a path may hold bytes that are no text; every format must be able to write it."""
    return name.encode("utf-8", "backslashreplace").decode()
