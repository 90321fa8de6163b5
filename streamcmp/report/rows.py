"""Results as rows of text: what the terminal's and Markdown's tables share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from streamcmp.report.extras import extras
from streamcmp.report.model import Family, Report, slice_dicts
from streamcmp.report.numbers import NOTHING, decimals, p_value, percent, points, whole
from streamcmp.report.values import shown
from streamcmp.tally import OVERALL


@dataclass(frozen=True, slots=True)
class Row:
    """One result, formatted. `cut`: one text per slice column; the rest are columns of the table."""

    cut: tuple[str, ...]
    n: str
    accuracy_a: str
    accuracy_b: str
    won: str
    lost: str
    gain: str
    p: str
    p_adjusted: str
    verdict: str
    extras: tuple[str, ...] = ()
    limits: tuple[float | None, float | None, float | None] = (None, None, None)  # low, gain, high


@dataclass(frozen=True, slots=True)
class Table:
    """The first rows of a family, and the overall row to compare them with (None in the family `overall`)."""

    family: Family
    rows: tuple[Row, ...]
    overall: Row | None


def table(report: Report, family: Family, rows: pl.DataFrame, top: int, width: int) -> Table:
    """The first `top` rows of a family as text; slice values are at most `width` cells wide."""
    first = rows.head(min(top, rows.height) if family.columns else 1)
    analysis = report.comparison["analysis"]
    cuts = [
        tuple(shown(value, width) for value in cut.values()) or (OVERALL,)
        for cut in slice_dicts(family, first)
    ]
    results = list(first.select(report.fields).iter_rows(named=True))
    if not family.columns:
        return Table(family, tuple(_formatted(cuts, results, analysis)), None)
    blank = ("",) * (len(family.columns) - 1)
    formatted = _formatted([*cuts, (OVERALL, *blank)], [*results, report.overall], analysis)
    return Table(family, tuple(formatted[:-1]), formatted[-1])


def _formatted(
    cuts: Iterable[tuple[str, ...]], results: list[dict[str, Any]], analysis: Mapping[str, Any]
) -> list[Row]:
    alpha, further = analysis["alpha"], extras(analysis)
    places = [decimals(row) for row in results]
    shared = list(zip(results, places, strict=True))
    limits = _aligned(
        ", ", [[percent(row[name], at) for name in ("gain_low", "gain_high")] for row, at in shared]
    )
    gains = _aligned(
        " ",
        [[points(row["gain"], at), f"[{limit}]"] for (row, at), limit in zip(shared, limits, strict=True)],
    )
    return [
        Row(
            cut=cut,
            n=whole(row["n"]),
            accuracy_a=percent(row["accuracy_a"], at),
            accuracy_b=percent(row["accuracy_b"], at),
            won=whole(row["n_ba"]),
            lost=whole(row["n_ab"]),
            gain=NOTHING if row["gain"] is None else gain,
            p=p_value(row["p"], row["log10_p"], alpha),
            p_adjusted=p_value(row["p_adjusted"], row["log10_p_adjusted"], alpha),
            verdict=row["verdict"],
            extras=tuple(column.text(row) for column in further),
            limits=(row["gain_low"], row["gain"], row["gain_high"]),
        )
        for cut, (row, at), gain in zip(cuts, shared, gains, strict=True)
    ]


def _aligned(separator: str, rows: list[list[str]]) -> list[str]:
    """Each row's numbers joined, padded so that they stand below one another."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        separator.join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in rows
    ]
