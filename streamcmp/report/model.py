"""The report: results per slice with their ledger, families and warnings. A value; renderers only read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from streamcmp.ledger import Ledger

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class ReportWarning:
    """Something a reader must know before believing the numbers. `details` holds the counts that `message` tells."""

    code: str
    message: str
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Family:
    """One family's summary: the columns that cut it, its slices, how many were tested (m) and the adjustment."""

    family: str
    columns: tuple[str, ...]
    slices: int
    tested: int
    adjust: str
    overlapping: bool = False


@dataclass(frozen=True, eq=False)
class Report:
    """What `finalize` returns.

    `results`: one row per slice in reading order: `family`, the `slice.<column>` columns of all families (a column
    that is not the family's own is null), then the fields of RESULT_FIELDS. Values that do not exist are null.
    `names`: the models' names, (a, b). `ledger` is None where only counts were given.
    `comparison`: the rule and the analysis, JSON-ready.
    """

    names: tuple[str, str]
    comparison: dict[str, Any]
    ledger: Ledger | None
    results: pl.DataFrame
    families: tuple[Family, ...]
    warnings: tuple[ReportWarning, ...]
