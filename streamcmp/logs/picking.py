"""Rows of a log by their numbers, as they stand: one pass that decodes little of the others.

Polars is told by a function of row numbers which rows to keep, and decodes the texts of these alone. It asks
for a row group at a time, from several threads, in about their order. What it gives back has its numbers
beside it, which must be those that were wanted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from polars.selectors import by_name

from streamcmp import interrupt
from streamcmp.errors import DataError, InternalError
from streamcmp.logs.stream import ended_early, stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from streamcmp.logs.reading import Cook
    from streamcmp.logs.view import Part
    from streamcmp.meter import Meter

    Numbers = npt.NDArray[np.int64]

_LONG = (pl.String, pl.Binary)
_NUMBER = "\0row"  # no column of a log is called so


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows of a log, in rising order, and where each belongs in the result."""

    rows: Numbers
    places: Numbers

    def split(self, count: int) -> tuple[Wanted, Wanted]:
        """The first so many, and the others."""
        return Wanted(self.rows[:count], self.places[:count]), Wanted(self.rows[count:], self.places[count:])

    def and_then(self, more: Wanted) -> Wanted:
        """These and some that follow."""
        return Wanted(np.concatenate([self.rows, more.rows]), np.concatenate([self.places, more.places]))


def in_turn(pieces: Iterable[Sequence[Numbers]]) -> Iterator[Wanted]:
    """Rows that belong in the result as they come; each piece begins with their numbers."""
    place = 0
    for rows, *_ in pieces:
        yield Wanted(rows, np.arange(place, place + len(rows)))
        place += len(rows)


@dataclass(frozen=True, slots=True)
class Picked:
    """Some rows of one file: raw columns, where they belong in the result, and the first one's number."""

    part: Part
    rows: pl.DataFrame
    places: Numbers
    first: int


@dataclass(frozen=True)
class Pick:
    """A pass: of which raw columns, about how many rows at a time, in how many bytes for one file."""

    names: Sequence[str]
    chunk_rows: int
    most: int


def picked(cook: Cook, pick: Pick, wanted: Iterator[Wanted], last: int, meter: Meter) -> Iterator[Picked]:
    """The rows wanted, in order, the last of which has the number `last`. Types may change on the way."""
    todo = _Todo(wanted)
    before = 0
    for part in cook.parts:
        if before > last:
            return
        shard = part.shard.sparing(pick.names, pick.most)
        asked = _Asked(todo, before, last + 1 - before, meter)
        frame = shard.lazy()
        if frame is None:
            yield from _from_batches(replace(part, shard=shard), pick, asked)
        else:
            yield from _from_scan(part, frame, pick, asked)
        before += asked.seen
    if before <= last:
        raise InternalError(f"{cook.parts[0].label} ended before the last row that was wanted")


def _from_batches(part: Part, pick: Pick, asked: _Asked) -> Iterator[Picked]:
    for batch in part.shard.batches(pick.names):
        interrupt.check()
        first = asked.seen
        here = np.flatnonzero(asked.marks(first, batch.height))
        if len(here):
            yield Picked(part, batch[here], asked.came(first + here), first + int(here[0]))
        if asked.seen >= asked.rows:
            break
    asked.conclude(part)


def _from_scan(part: Part, frame: pl.LazyFrame, pick: Pick, asked: _Asked) -> Iterator[Picked]:
    looked_at = [pl.col(_NUMBER), *(by_name(name).as_expr() for name in _beside(part, pick.names))]
    kept = pl.map_batches(looked_at, asked.keep, return_dtype=pl.Boolean, is_elementwise=True)
    lacking = [pl.lit(None).alias(name) for name in pick.names if name not in part.schema]
    numbered = frame.with_row_index(_NUMBER).head(asked.rows).filter(kept)
    wanted = numbered.with_columns(lacking).select(by_name(_NUMBER, *pick.names))
    try:
        for batch in stream(wanted, pick.chunk_rows, label=part.label):
            numbers = batch.drop_in_place(_NUMBER).to_numpy().astype(np.int64)
            yield Picked(part, batch, asked.came(numbers), int(numbers[0]))
    except DataError as error:
        raise asked.failed or error from error
    asked.conclude(part)


def _beside(part: Part, names: Sequence[str]) -> list[str]:
    """The column of the file that the filter looks at, if any is fit; else Polars decodes texts before it.

    That column is decoded whole: best a short one that is read anyway; of texts the id, which is named last.
    """
    places = {name: place for place, name in enumerate(names)}
    fit = [(name, dtype) for name, dtype in part.schema.items() if not dtype.is_nested() and dtype != pl.Null]
    return [name for name, _ in sorted(fit, key=lambda one: (one[1] in _LONG, -places.get(one[0], -1)))[:1]]


class _Asked:
    """Which rows of one file are wanted, of its first `rows`. Threads ask in any order, once for each row."""

    def __init__(self, todo: _Todo, before: int, rows: int, meter: Meter) -> None:
        """`before`: rows of the files before this one."""
        self.rows, self.seen = rows, 0
        self.failed: Exception | None = None
        self._todo, self._before, self._meter = todo, before, meter
        self._lock = Lock()
        self._waiting = Wanted(np.empty(0, np.int64), np.empty(0, np.int64))  # pulled, and not yet come

    def keep(self, columns: Sequence[pl.Series]) -> pl.Series:
        """For Polars: which rows to keep, by their numbers."""
        numbers = columns[0]
        try:
            first = int(numbers[0]) if len(numbers) else 0
            return pl.Series(self.marks(first, len(numbers)))
        except Exception as error:
            self.failed = error
            raise

    def marks(self, first: int, height: int) -> npt.NDArray[np.bool_]:
        """Which of so many rows are wanted."""
        start = self._before + first
        found = np.zeros(height, np.bool_)
        with self._lock:
            for more in self._todo.below(start + height):
                self._waiting = self._waiting.and_then(more)
            rows = self._waiting.rows
            low, high = np.searchsorted(rows, (start, start + height))
            found[rows[low:high] - start] = True
            self.seen += height
        self._meter.add(height)
        return found

    def came(self, numbers: Numbers) -> Numbers:
        """Where these rows belong; they must be the next ones wanted."""
        with self._lock:
            here, self._waiting = self._waiting.split(len(numbers))
        if not np.array_equal(here.rows, numbers + self._before):
            raise InternalError("rows came out of the reader that were not the next ones wanted")
        return here.places

    def conclude(self, part: Part) -> None:
        """All rows of the file were looked at, and all that are wanted came."""
        interrupt.check()
        rows = part.shard.rows
        if rows is not None and self.seen < min(rows, self.rows):
            raise ended_early(part.label, rows, self.seen)
        if len(self._waiting.rows):
            raise InternalError(f"{part.label}: rows that were wanted did not come out of the reader")


class _Todo:
    """Wanted rows, handed out as a pass reaches them."""

    def __init__(self, wanted: Iterator[Wanted]) -> None:
        self._wanted = wanted
        self._hand: Wanted | None = None

    def below(self, end: int) -> Iterator[Wanted]:
        """Those whose numbers are below `end`."""
        while (hand := self._hand or next(self._wanted, None)) is not None:
            here, left = hand.split(int(np.searchsorted(hand.rows, end)))
            self._hand = left if len(left.rows) else None
            yield here
            if self._hand is not None:
                return
