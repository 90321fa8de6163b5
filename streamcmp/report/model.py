"""The report: results per slice with their ledger, families and warnings. A value; renderers only read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from streamcmp import __version__
from streamcmp.ledger import Ledger
from streamcmp.report.values import json_ready, json_ready_values
from streamcmp.tally import SLICE_PREFIX

SCHEMA_VERSION = 1

# The fields of one result after `family` and its slice, in the order of every format.
RESULT_SCHEMA: dict[str, Any] = {
    "n": pl.Int64,
    "n_discordant": pl.Int64,
    "both_correct": pl.Int64,
    "n_ab": pl.Int64,
    "n_ba": pl.Int64,
    "both_wrong": pl.Int64,
    "accuracy_a": pl.Float64,
    "accuracy_b": pl.Float64,
    "gain": pl.Float64,
    "gain_low": pl.Float64,
    "gain_high": pl.Float64,
    "p_exact": pl.Float64,
    "p_mid": pl.Float64,
    "p_chi2": pl.Float64,
    "p_chi2_corrected": pl.Float64,
    "log10_p_exact": pl.Float64,
    "log10_p_mid": pl.Float64,
    "test": pl.String,
    "tested": pl.Boolean,
    "p": pl.Float64,
    "log10_p": pl.Float64,
    "p_adjusted": pl.Float64,
    "log10_p_adjusted": pl.Float64,
    "verdict": pl.String,
}
RESULT_FIELDS: tuple[str, ...] = tuple(RESULT_SCHEMA)
VERDICTS = ("better", "worse", "inconclusive", "untested")


@dataclass(frozen=True, slots=True)
class ReportWarning:
    """What a reader must know before believing the numbers. `details` holds the counts in `message`."""

    code: str
    message: str
    details: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """code, message, then the details beside them; JSON-ready."""
        return {"code": self.code, "message": self.message, **self.details}


@dataclass(frozen=True, slots=True)
class Family:
    """One family: the columns that cut it, its slices, how many were tested (m) and the adjustment."""

    family: str
    columns: tuple[str, ...]
    slices: int
    tested: int
    adjust: str
    overlapping: bool = False

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        return {**asdict(self), "columns": list(self.columns)}


@dataclass(frozen=True, eq=False)
class Report:
    """What `finalize` returns.

    `results`: one row per slice in reading order: `family`, the `slice.<column>` columns of all families (a
    column that is not the family's own is null), then the fields of RESULT_FIELDS. Values that do not exist
    are null.
    `names`: the models' names, (a, b). `ledger` is None where only counts were given.
    `comparison`: names, rule and analysis, JSON-ready.
    """

    names: tuple[str, str]
    comparison: dict[str, Any]
    ledger: Ledger | None
    results: pl.DataFrame
    families: tuple[Family, ...]
    warnings: tuple[ReportWarning, ...]

    @property
    def overall(self) -> dict[str, Any]:
        """The result of all pairs together: field -> value."""
        return self.results.select(RESULT_FIELDS).row(0, named=True)

    def by_family(self) -> Iterator[tuple[Family, pl.DataFrame]]:
        """Each family with its own rows of `results`, in reading order."""
        start = 0
        for family in self.families:
            yield family, self.results.slice(start, family.slices)
            start += family.slices

    def to_polars(self) -> pl.DataFrame:
        """The results as a table; see `results`."""
        return self.results

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, as `json.loads` of the JSON report gives it.

        Slice values keep their type where JSON has it; dates and times are ISO text; what JSON lacks (NaN,
        decimals, bytes) is text. Raises nothing.
        """
        return {**self.frame_dict(), "results": list(self.result_dicts())}

    def frame_dict(self) -> dict[str, Any]:
        """`to_dict` without results: for the formats that write these their own way."""
        return {
            "schema_version": SCHEMA_VERSION,
            "streamcmp": __version__,
            "comparison": self.comparison,
            "ledger": None if self.ledger is None else self.ledger.to_dict(),
            "results": [],
            "families": [family.to_dict() for family in self.families],
            "warnings": [json_ready(warning.to_dict()) for warning in self.warnings],
        }

    def result_dicts(self) -> Iterator[dict[str, Any]]:
        """One JSON-ready dictionary per result, in reading order: family, slice, then RESULT_FIELDS."""
        for family, rows in self.by_family():
            slices = slice_dicts(family, rows)
            for cut, fields in zip(slices, rows.select(RESULT_FIELDS).iter_rows(named=True), strict=True):
                yield {"family": family.family, "slice": cut, **fields}


def slice_dicts(family: Family, rows: pl.DataFrame) -> list[dict[str, Any]]:
    """The slice of each row, column -> JSON-ready value."""
    values = [json_ready_values(rows[SLICE_PREFIX + column]) for column in family.columns]
    if not values:
        return [{} for _ in range(rows.height)]
    return [dict(zip(family.columns, row, strict=True)) for row in zip(*values, strict=True)]
