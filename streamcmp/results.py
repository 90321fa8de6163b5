"""Tally x analysis -> Report: p-values, intervals, verdicts, warnings. Pure, vectorised over slices.

Before a number is computed the tally must obey its laws: the ledger balances, every family adds up to
overall, and what the ledger calls paired was counted.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from streamcmp import stats
from streamcmp.analysis import Analysis
from streamcmp.checks import check
from streamcmp.family_numbers import Gains, gains, heterogeneity
from streamcmp.folding import folded
from streamcmp.notices import notices
from streamcmp.report.model import Family, Report, result_schema
from streamcmp.report.values import json_ready
from streamcmp.slice_numbers import nullable, numbers
from streamcmp.tally import OVERALL, SLICE_PREFIX, Tally, slice_columns, sorted_table


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
    counted, tally = tally, folded(tally)
    parts = [_results(name, table, analysis) for name, table in tally.families.items()]
    families = tuple(
        _summary(name, part, analysis, overlapping=name in tally.overlapping)
        for name, part in zip(tally.families, parts, strict=True)
    )
    joined = pl.concat(parts, how="diagonal")
    fields = result_schema(analysis.to_dict())
    results = joined.select("family", *slice_columns(joined), *fields)
    comparison = {
        "names": dict(zip(("a", "b"), names, strict=True)),
        "rule": None if tally.rule is None else json_ready(tally.rule.to_dict()),
        "analysis": {**analysis.to_dict(), "alpha": analysis.alpha},
    }
    warnings = notices(counted, analysis, families, results)
    return Report(names, comparison, tally.ledger, results, families, warnings, unpaired=_unpaired(parts[0]))


def _summary(name: str, results: pl.DataFrame, analysis: Analysis, *, overlapping: bool) -> Family:
    """What holds of a family as a whole. Where slices overlap, what assumes that they do not is left out."""
    columns = tuple(column.removeprefix(SLICE_PREFIX) for column in slice_columns(results))
    return Family(
        name,
        columns,
        results.height,
        int(results["tested"].sum()),
        analysis.adjust,
        *(Gains() if overlapping else gains(results, analysis)),
        heterogeneity=heterogeneity(results) if columns and not overlapping else None,
        overlapping=overlapping,
    )


def _unpaired(overall: pl.DataFrame) -> dict[str, float] | None:
    """The two accuracies as if their examples were not the same."""
    right, n = overall["both_correct"].item(0), overall["n"].item(0)
    if right is None or not n:
        return None
    lost, won = overall["n_ab"].item(0), overall["n_ba"].item(0)
    z, tail = stats.unpaired.two_proportions(right + lost, n, right + won, n)
    return {"z": float(z[0]), "p": float(tail.p[0]), "log10_p": float(tail.log10_p[0])}


def _results(family: str, table: pl.DataFrame, analysis: Analysis) -> pl.DataFrame:
    """One family's results in reading order: `family`, its slice columns, the report's fields."""
    table = _by_slice(table)
    counts = table.select(*slice_columns(table), **_counts(table))
    found = pl.concat([counts, numbers(counts, analysis)], how="horizontal")
    enough = pl.lit(family == OVERALL) | (pl.col("n_discordant") >= analysis.min_discordant)
    found = found.with_columns(
        family=pl.lit(family), tested=enough & ~(pl.col("n") == 0).fill_null(value=False)
    )
    found = found.with_columns(_adjusted(found, analysis)).with_columns(verdict=_verdict(analysis))
    schema = result_schema(analysis.to_dict())
    typed = found.select(
        "family", *slice_columns(table), *(pl.col(name).cast(dtype) for name, dtype in schema.items())
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


def _adjusted(found: pl.DataFrame, analysis: Analysis) -> list[pl.Series]:
    """`p_adjusted` and its log10 of the tested slices, and of the further questions that were asked."""
    tested = found["tested"].to_numpy()
    asked = ["p"] if analysis.margin is None else ["p", "p_noninferior", "p_equivalent"]
    columns = []
    for name in asked:
        p, log10_p = found[name].to_numpy(), found[f"log10_{name}"].to_numpy()  # NaN where null
        tail = stats.TailP(np.where(np.isnan(p), 1.0, p), np.where(tested, log10_p, np.nan))
        adjusted = stats.adjust_tails(tail, analysis.adjust)
        columns += [
            nullable(adjusted.p).alias(f"{name}_adjusted"),
            nullable(adjusted.log10_p).alias(f"log10_{name}_adjusted"),
        ]
    return columns


def _verdict(analysis: Analysis) -> pl.Expr:
    """From p_adjusted and the sign of the gain (of n_ba - n_ab, which is known where n is not).

    Equivalent only where neither model is shown to be better.
    """
    significant = pl.col("p_adjusted") <= analysis.alpha
    better = pl.col("n_ba") > pl.col("n_ab") if analysis.alternative != "worse" else pl.lit(value=False)
    worse = pl.col("n_ba") < pl.col("n_ab") if analysis.alternative != "better" else pl.lit(value=False)
    equivalent = pl.lit(value=False)
    if analysis.margin is not None:
        equivalent = (pl.col("p_equivalent_adjusted") <= analysis.alpha).fill_null(value=False)
    return (
        pl.when(~pl.col("tested"))
        .then(pl.lit("untested"))
        .when(significant & better)
        .then(pl.lit("better"))
        .when(significant & worse)
        .then(pl.lit("worse"))
        .when(equivalent)
        .then(pl.lit("equivalent"))
        .otherwise(pl.lit("inconclusive"))
    )


def _by_slice(table: pl.DataFrame) -> pl.DataFrame:
    """A tally's table is in order of its slice values, unless somebody made it by hand."""
    keys = slice_columns(table)
    in_order = len(keys) == 1 and table[keys[0]].is_sorted(nulls_last=True)
    return table if in_order else sorted_table(table)


def _ordered(results: pl.DataFrame) -> pl.DataFrame:
    """log10_p ascending, |gain| descending, null last; ties stay in order of slices (`_by_slice`)."""
    by = [pl.col("log10_p"), pl.col("gain").abs()]
    order = results.select(
        pl.arg_sort_by(by, descending=[False, True], nulls_last=True, maintain_order=True)
    ).to_series()
    return results[order]


def _writable(name: str) -> str:
    """A name made of a path may hold bytes that are no text; every format must be able to write it."""
    return name.encode("utf-8", "backslashreplace").decode()
