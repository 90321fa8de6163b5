"""The tally: all that finalizing needs. Per family a table of slices with what was added up, plus the ledger.

A tally is a value. `+` means "the tally of both sets of examples together"; `Tally.zero(rule, schemas)` changes
nothing; nothing is mutated. Derived numbers (n, accuracies, p-values) are never stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from streamcmp.errors import InternalError, UsageError
from streamcmp.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from streamcmp.comparison import Rule

CELLS = ("both_correct", "n_ab", "n_ba", "both_wrong")
NOTED = ("guard_mismatch", "unscored", "slice_differs")
COUNTERS = (*CELLS, *NOTED)
SLICE_PREFIX = "slice."
OVERALL = "overall"


def family_name(columns: Sequence[str]) -> str:
    """`domain`, or `domain,class` where the columns are crossed; `overall` for none."""
    return ",".join(columns) or OVERALL


@dataclass(frozen=True, slots=True)
class Counts:
    """The counters of one slice: a view of one row of a family's table."""

    both_correct: int | None
    n_ab: int
    n_ba: int
    both_wrong: int | None
    guard_mismatch: int = 0
    unscored: int = 0
    slice_differs: int = 0


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts per family and slice, and the ledger.

    `families`: family name -> table with one row per slice, sorted by slice values (null last): the family's
    `slice.<column>` columns, then COUNTERS as Int64. The first is `overall`, with one row and no slice columns.
    A table of plain counts may hold nulls in both_correct and both_wrong and then carries a column `n`.
    `rule` is None for such tables, `ledger` too where nothing is known of it.
    `inputs`: per side what was read (paths, sizes, rows). `covers`: which shards or parts; ("1/1",) is everything.
    """

    families: Mapping[str, pl.DataFrame]
    ledger: Ledger | None
    rule: Rule | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    covers: tuple[str, ...] = ("1/1",)
