"""The canonical log: what every format becomes before rows are paired."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from streamcmp.comparison import IdShard

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from streamcmp.comparison import Rule, SideName
    from streamcmp.logs.slices import FamilyCodec

# Column names of a canonical batch. Named once, used everywhere.
ID = "id"
OUTCOME = "outcome"
FILTERED = "filtered"
NUMBER = "number"


def guard_column(index: int) -> str:
    """Column of the index-th guard: a UInt32 fingerprint of its value, equal exactly when the values are."""
    return f"guard{index}"


def family_column(index: int) -> str:
    """Column of the index-th family's slice: a UInt32 code, the same on both sides (FamilyCodec)."""
    return f"family{index}"


# Codes of OUTCOME (UInt8).
WRONG, CORRECT, MISSING = 0, 1, 2


class Shard(Protocol):
    """One file (or frame) of a log, as it stands. Metadata without reading rows; rows as often as asked."""

    label: str  # what messages call it: the path, or "frame"
    size: int | None  # bytes on disk
    rows: int | None  # from metadata; None where the format does not tell
    untyped: bool  # True for text formats without types (CSV, lines): every column is String

    def schema(self, *, complete: bool = False) -> Mapping[str, pl.DataType]:
        """Columns and types. NDJSON looks at the first rows only unless `complete` (then at all of them).

        An NDJSON column whose values have all been null so far is `pl.Null()`.
        """
        ...

    def lazy(self) -> pl.LazyFrame | None:
        """A lazy scan of all columns (Parquet, IPC files, Polars frames), else None."""
        ...

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named columns, in order, in batches of any size; dtypes may differ between batches (NDJSON).

        A column that the shard lacks is an all-null column of dtype Null.
        """
        ...

    def sparing(self, columns: Sequence[str], most: int) -> Shard:
        """A shard of the same rows that takes about `most` bytes at a time to read these columns.

        Itself, unless it is known to take more.
        """
        ...

    def bounds(self, column: str) -> tuple[int, int] | None:
        """The range of an integer column by metadata: a hint, to be verified. None where unknown."""
        ...

    def value(self, column: str, row: int) -> object:
        """The raw value at a 0-based row. For messages only: it may read the shard up to that row."""
        ...


@dataclass(frozen=True)
class Inputs:
    """What a side's log consists of: labels of its shards, bytes, rows where metadata tells."""

    paths: tuple[str, ...]
    bytes: int | None
    rows: int | None


class CanonicalLog(Protocol):
    """One side, canonical. Every pass yields the same rows in the same order."""

    @property
    def side(self) -> SideName:
        """Whose log it is."""
        ...

    @property
    def rows(self) -> int | None:
        """From metadata; an upper bound does not count as knowing."""
        ...

    @property
    def estimated_rows(self) -> int:
        """`rows`, or a guess from sizes; for planning only."""
        ...

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The range of integer ids by metadata: a hint, to be verified. None where unknown."""
        ...

    @property
    def filters(self) -> bool:
        """Whether batches carry FILTERED."""
        ...

    @property
    def families(self) -> tuple[bool, ...]:
        """Which family columns the batches carry."""
        ...

    def head(self, rows: int) -> pl.DataFrame | None:
        """At most so many of the first rows, not checked, where they can be had without a pass; else None."""
        ...

    def batches(self, chunk_rows: int) -> Iterator[pl.DataFrame]:
        """Batches of exactly `chunk_rows` rows (the last may be shorter).

        Columns: ID (Int64, UInt64 or String; null where the id is null; absent when pairing by position
        without ids), OUTCOME (UInt8, WRONG/CORRECT/MISSING), FILTERED (Boolean, if `filters`), guard0...
        (UInt32), family<i> (UInt32) for each family this side carries; NUMBER (Int64, the row's number from
        0 on) where the pair is `located`.

        Raises:
            DataError: a bad value, naming file, row and value.
        """
        ...


@dataclass(frozen=True)
class Description:
    """What a log is, for people. `about`: what a harness says of its files, at most five."""

    files: tuple[str, ...]
    format: str
    about: tuple[str, ...]
    ids: tuple[str, ...]
    outcome: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class LogPair(ABC):
    """Two canonical logs, made comparable: one id type, one rule, one set of slice codes."""

    a: CanonicalLog
    b: CanonicalLog
    rule: Rule
    inputs: Mapping[SideName, Inputs]
    codecs: tuple[FamilyCodec, ...]
    guards: tuple[str, ...]
    id_dtype: pl.DataType  # of ID on both sides: Int64, UInt64 or String; String where there are no ids
    positional: bool  # pairs are made by position; batches may lack ID
    wide: bool  # one source holds both outcomes
    notes: tuple[str, ...]  # what was detected, one sentence each, for stderr
    sides: Mapping[SideName, Description]
    advisory: tuple[str, ...]  # of `guards`, those at the end that only warn
    # Whether batches carry NUMBER, so that the rows of a pair can be found again.
    located: bool = field(default=False, kw_only=True)

    @property
    def shard(self) -> IdShard:
        """Which ids the logs hold: all, unless said otherwise."""
        return IdShard()

    @abstractmethod
    def together(self, chunk_rows: int) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Batches of both sides side by side; a wide log is read once.

        Stops at the shorter side's end with a pair of unequal heights (or an empty frame), so that the caller
        sees the difference.
        """

    @abstractmethod
    def show_id(self, canonical: Any) -> str:
        """A canonical id as a person writes it; compound ids as (task=gsm8k, doc_id=3)."""
