"""What all formats share: how a format is described, and the parts of a shard that do not depend on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError
from polars.selectors import Selector, by_name

from streamcmp.logs.model import Shard
from streamcmp.logs.nested import expanded
from streamcmp.logs.profile import Profile
from streamcmp.logs.stream import stream, unreadable


@dataclass(frozen=True, slots=True)
class Format:
    """One log format of the outside world.

    `open` takes a file and the names given by `--columns` (only if `headerless`), checks what can be checked
    without reading rows, and raises DataError naming the file. `sniff` tells from the first 8 bytes whether a
    file surely is of this format; it outranks the ending (asked of built-in formats only). `scan` reads
    from an address, where the format can; it takes `glob` and other arguments of Polars' scan. `opening`
    tells how many bytes of memory it takes to open a file, where that may be many.

    A format within another `refines` it: a file that opens as the other's is of this one if `detect` says so.
    Its shards carry a `profile`. `choose` takes all files of a log, opened, and what messages call the log;
    it returns those that count and notes on the others.
    """

    name: str
    endings: tuple[str, ...]
    open: Callable[[Path, tuple[str, ...]], Shard]
    sniff: Callable[[bytes], bool] = lambda head: False  # noqa: ARG005 - text has no signature
    text: bool = False  # may be compressed as a whole: .csv.gz
    headerless: bool = False
    scan: Callable[..., pl.LazyFrame] | None = None
    opening: Callable[[Path], int] | None = None
    about: str = ""  # for the list of formats
    refines: str | None = None
    detect: Callable[[Path], bool] = lambda path: False  # noqa: ARG005 - needs no look
    choose: Callable[[Sequence[Shard], str], tuple[list[Shard], list[str]]] | None = None


class BaseShard(ABC):
    """A shard that is read batch by batch. Subclasses set the fields and give `schema` and `batches`."""

    label: str
    size: int | None = None
    rows: int | None = None
    untyped: bool = False
    format_name: str = "a frame"
    notes: tuple[str, ...] = ()  # what was decided when the log was opened; on its first shard

    @property
    def profile(self) -> Profile | None:
        """What the harness that wrote the log is known to mean; None for a plain table."""
        return None

    @abstractmethod
    def schema(self, *, complete: bool = False) -> Mapping[str, pl.DataType]:
        """Columns and types; see `Shard`."""

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named columns in batches; see `Shard`."""

    def lazy(self) -> pl.LazyFrame | None:
        """None: this format has no lazy scan."""
        return None

    def bounds(self, column: str) -> tuple[int, int] | None:  # noqa: ARG002 - for those that know
        """None: this format does not tell what range an integer column spans."""
        return None

    def sparing(self, columns: Sequence[str], most: int) -> Shard:  # noqa: ARG002 - for those that could take more
        """Itself: batches of this format are small."""
        return self

    def value(self, column: str, row: int) -> object:
        """The value at a 0-based row, found by walking the batches. For messages: slow on a large file."""
        for batch in self.batches([column]):
            if row < batch.height:
                return batch[column][row]
            row -= batch.height
        return None


class LazyShard(BaseShard):
    """A shard that Polars scans: a Parquet or Arrow file, an object store, a frame."""

    def __init__(
        self,
        label: str,
        frame: pl.LazyFrame,
        *,
        size: int | None = None,
        rows: int | None = None,
        bounds: Callable[[str], tuple[int, int] | None] | None = None,
    ) -> None:
        self.label = label
        self.size = size
        self.rows = rows
        self._frame = frame
        self._bounds = bounds
        try:
            # Of a clone: a frame that was asked itself no longer hands numbers and filters down to its scan.
            self._schema = dict(frame.clone().collect_schema())
        except (PolarsError, OSError) as error:
            raise unreadable(label, error) from error
        inside = expanded(self._schema)
        if inside:
            self._frame = frame.with_columns(expr for _, expr in inside.values())
            self._schema |= {name: dtype for name, (dtype, _) in inside.items()}

    def schema(self, *, complete: bool = False) -> Mapping[str, pl.DataType]:  # noqa: ARG002 - metadata is complete
        """Columns and types, from metadata."""
        return self._schema

    def lazy(self) -> pl.LazyFrame:
        """The scan."""
        return self._frame

    def bounds(self, column: str) -> tuple[int, int] | None:
        """What the file's statistics say of an integer column."""
        return self._bounds(column) if self._bounds is not None else None

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named columns, in batches of equal height."""
        wanted = [name for name in dict.fromkeys(columns) if name in self._schema] or list(self._schema)[:1]
        if not wanted:
            return
        for batch in stream(self._frame.select(exactly(wanted)), rows=self.rows, label=self.label):
            yield conform(batch, columns)

    def value(self, column: str, row: int) -> object:
        """The value at a 0-based row; None where the shard lacks the column."""
        if column not in self._schema:
            return None
        found = self._frame.select(exactly([column])).slice(row, 1).collect()
        return found.item() if found.height else None


def profile_of(shard: Shard) -> Profile | None:
    """A shard's profile; shards of other packages need not have the attribute."""
    profile: Profile | None = getattr(shard, "profile", None)
    return profile


def exactly(columns: Sequence[str]) -> Selector:
    """The columns of these names, in this order; to plain strings Polars gives meaning (`*`, `^...$`)."""
    return by_name(*columns)


def conform(batch: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """`batch` with exactly `columns`, in order, null where it lacks one; its height even without columns."""
    if not columns:
        return pl.DataFrame(height=batch.height)
    if batch.columns == list(columns):
        return batch
    lacking = [pl.lit(None).alias(name) for name in dict.fromkeys(columns) if name not in batch.columns]
    if lacking:
        batch = batch.with_columns(lacking)
    return batch.select(exactly(columns))


class WithConstants(BaseShard):
    """A shard below `key=value` folders: keys are text columns that hide others of their name."""

    def __init__(self, shard: Shard, constants: Mapping[str, str | None]) -> None:
        self.label = shard.label
        self.size = shard.size
        self.rows = shard.rows
        self.untyped = shard.untyped
        self._shard = shard
        self._constants = constants

    @property
    def profile(self) -> Profile | None:
        """The file's."""
        return profile_of(self._shard)

    def _literals(self) -> list[pl.Expr]:
        return [pl.lit(value, dtype=pl.String).alias(key) for key, value in self._constants.items()]

    def schema(self, *, complete: bool = False) -> Mapping[str, pl.DataType]:
        """The file's columns and the constants."""
        return {**self._shard.schema(complete=complete), **dict.fromkeys(self._constants, pl.String())}

    def lazy(self) -> pl.LazyFrame | None:
        """The file's scan with the constants, where it has one."""
        frame = self._shard.lazy()
        return None if frame is None else frame.with_columns(self._literals())

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named columns in batches; see `Shard`."""
        for batch in self._shard.batches([name for name in columns if name not in self._constants]):
            yield conform(batch.with_columns(self._literals()), columns)

    def sparing(self, columns: Sequence[str], most: int) -> Shard:
        """What the file's shard says, with the same constants."""
        names = [name for name in columns if name not in self._constants]
        return WithConstants(self._shard.sparing(names, most), self._constants)

    def bounds(self, column: str) -> tuple[int, int] | None:
        """What the file says; constants are text."""
        return None if column in self._constants else self._shard.bounds(column)

    def value(self, column: str, row: int) -> object:
        """The constant, or the file's value."""
        return self._constants[column] if column in self._constants else self._shard.value(column, row)


class WithAlias(BaseShard):
    """A shard one of whose columns has a second name."""

    def __init__(self, shard: Shard, alias: str, column: str) -> None:
        self.label = shard.label
        self.size = shard.size
        self.rows = shard.rows
        self.untyped = shard.untyped
        self._shard = shard
        self._alias = alias
        self._column = column

    @property
    def profile(self) -> Profile | None:
        """The file's."""
        return profile_of(self._shard)

    def schema(self, *, complete: bool = False) -> Mapping[str, pl.DataType]:
        """The file's columns, and the alias."""
        found = self._shard.schema(complete=complete)
        return {**found, self._alias: found.get(self._column, pl.Null())}

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named columns in batches; see `Shard`."""
        inner = [self._column if name == self._alias else name for name in columns]
        for batch in self._shard.batches(inner):
            alias = batch[self._column].alias(self._alias) if self._alias in columns else None
            yield conform(batch if alias is None else batch.with_columns(alias), columns)

    def sparing(self, columns: Sequence[str], most: int) -> Shard:
        """What the file's shard says, with the same alias."""
        names = [self._column if name == self._alias else name for name in columns]
        return WithAlias(self._shard.sparing(names, most), self._alias, self._column)
