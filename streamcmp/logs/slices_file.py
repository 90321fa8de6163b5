"""`--slices FILE`: columns that slice, from a third file, looked up by id.

What an id has there is kept as a code. An id that the file lacks is in a slice of its own, which is neither
null nor empty text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from streamcmp.comparison import SideName
from streamcmp.logs.derived import Source
from streamcmp.logs.slices import Coded
from streamcmp.logs.values import TEXTS, Check, Column
from streamcmp.tally import ABSENT, as_text

_ABSENT_CODE = 0
_NO_VALUE = (
    "that stands for ids that the slices file lacks, so that it cannot be a value there; store another text"
)


@dataclass(frozen=True)
class FiledSlice:
    """A column of the slices file as one that slices: its codes are one higher, 0 being what is absent.

    `source`: where in the file the values are.
    """

    inner: Coded
    source: Source

    @property
    def name(self) -> str:
        """What the report calls it."""
        return self.inner.name

    @property
    def overlapping(self) -> bool:
        """Whether one row may be in several slices."""
        return self.inner.overlapping

    @property
    def attached(self) -> str:
        """The column of codes beside a log's own columns."""
        return f"\0slice {self.name}"

    def encode(
        self,
        column: Column,
        side: SideName,  # noqa: ARG002 - one file for both sides
        *,
        where: str,  # noqa: ARG002 - was checked when it was looked up
    ) -> tuple[pl.Expr, list[Check]]:
        """The codes, which were looked up."""
        return column.expr, []

    def decode(self, codes: pl.Series, side: SideName) -> pl.Series:
        """The slice of each code: as text if one is absent; in an Enum, that is the last category."""
        return _with_absent(self.inner.decode(_inner(codes), side), codes == _ABSENT_CODE)

    def values(self, codes: pl.Series, side: SideName) -> pl.Series:
        """What stood in the file, likewise."""
        return _with_absent(self.inner.values(_inner(codes), side), codes == _ABSENT_CODE)


def _inner(codes: pl.Series) -> pl.Series:
    return codes.replace(_ABSENT_CODE, 1) - 1


def _with_absent(values: pl.Series, absent: pl.Series) -> pl.Series:
    if isinstance(values.dtype, pl.Enum):
        dtype = pl.Enum([*values.dtype.categories, ABSENT])
        return values.cast(pl.String).set(absent, ABSENT).cast(dtype)
    if not absent.any():
        return values
    if isinstance(values.dtype, pl.List):
        return as_text(values).zip_with(~absent, pl.Series([[ABSENT]]))
    return as_text(values).set(absent, ABSENT)


@dataclass(frozen=True)
class SliceColumns:
    """The columns of a slices file that slice, as codes."""

    slices: tuple[FiledSlice, ...]

    option = "--slices"
    kind = "slices file"
    nothing = _ABSENT_CODE

    @property
    def names(self) -> Sequence[str]:
        """The columns that are read."""
        return list(dict.fromkeys(name for one in self.slices for name in one.source.roots))

    @property
    def columns(self) -> Mapping[str, Column]:
        """The codes as they stand beside a log's columns."""
        return {one.attached: Column(one.attached, pl.UInt32()) for one in self.slices}

    def read(self, columns: Mapping[str, Column], where: str) -> tuple[list[pl.Expr], list[Check]]:
        """The codes of a batch."""
        exprs, checks = [], []
        for one in self.slices:
            column = one.source.column(columns, where)
            code, found = one.inner.encode(column, "a", where=where)
            exprs.append((code + 1).cast(pl.UInt32).alias(one.attached))
            checks += found
            if column.kind in TEXTS:
                checks.append(Check(column.expr.cast(pl.String) == ABSENT, column.read, _NO_VALUE))
            elif isinstance(column.dtype, pl.List) and column.dtype.inner == pl.String:
                checks.append(Check(column.expr.list.contains(ABSENT), column.read, _NO_VALUE))
        return exprs, checks
