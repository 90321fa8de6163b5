"""What `streamcmp.flips` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from streamcmp.report.model import ReportWarning
    from streamcmp.tally import Tally


@dataclass(frozen=True)
class Flips:
    """The flips of a comparison: pairs that one model only got right, or that both got wrong differently.

    Attributes:
        kinds: how many pairs there are of each kind asked for ("lost", "won", "churn"), sampled or not.
        rows: how many are given, after `sample` and `limit`; available: after `sample`.
        columns: of the result, in order.
        table: the rows, by the left log's order; None where they went to a file.
        tally: the counts of all pairs, of the same pass.
        names: what to call the models.
        head: columns of ids and slices.
        warnings: on rows that were not simply counted.
    """

    kinds: Mapping[str, int]
    rows: int
    available: int
    columns: tuple[str, ...]
    table: pl.DataFrame | None
    tally: Tally
    names: tuple[str, str]
    head: tuple[str, ...]
    warnings: tuple[ReportWarning, ...]

    @property
    def pairs(self) -> int:
        """All pairs that were counted."""
        return self.tally.ledger.a.paired if self.tally.ledger is not None else 0
