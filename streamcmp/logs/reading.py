"""Passes over a log: canonical batches of exactly the size asked for, each checked before it is handed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NoReturn, Protocol

import numpy as np
import polars as pl
from polars.exceptions import InvalidOperationError, PolarsError
from polars.selectors import by_name

from streamcmp import interrupt
from streamcmp.ahead import ahead
from streamcmp.comparison import SideName
from streamcmp.errors import BadValue, DataError, InternalError
from streamcmp.logs.lookup import Ids
from streamcmp.logs.model import ID, NUMBER
from streamcmp.logs.recipe import BAD, Canonical, Recipe
from streamcmp.logs.stream import CHUNK_ROWS, stream
from streamcmp.logs.values import Column
from streamcmp.logs.view import Part, View

_NUMBER = "\0row"  # no column of a log is called so
_SHARE = 3  # what one file decodes at a time may take a third of the memory: two sides do, and we compute
BYTES_PER_ROW = 64  # a guess, for planning only, where a format does not tell its rows


Attach = Callable[[pl.DataFrame, Ids], pl.DataFrame]  # a batch and its ids -> the batch with more columns


class Attached(Protocol):
    """Columns from elsewhere that stand beside the log's own."""

    @property
    def columns(self) -> Mapping[str, Column]:
        """Their names and types."""
        ...

    def reader(self) -> Attach:
        """What attaches them to each batch of one pass, in order."""
        ...


@dataclass(frozen=True)
class Cook:
    """One scan of a log's shards for one recipe, or for both of a wide log, told apart by prefixes."""

    parts: tuple[Part, ...]
    recipes: Mapping[str, Recipe]  # prefix -> recipe
    attached: tuple[Attached, ...] = ()
    numbered: bool = field(default=False, kw_only=True)  # batches carry NUMBER

    @classmethod
    def of(cls, parts: Sequence[Part], recipes: Mapping[str, Recipe], memory: int | None) -> Cook:
        """The scan; shards that would take too much of `memory` bytes at once are read in smaller batches."""
        cook = cls(tuple(parts), recipes)
        if memory is None:
            return cook
        names, most = cook._names(), memory // _SHARE
        return cls(tuple(replace(part, shard=part.shard.sparing(names, most)) for part in parts), recipes)

    def batches(self, chunk_rows: int) -> Iterator[pl.DataFrame]:
        """Canonical batches of exactly `chunk_rows` rows, the last one shorter."""
        yield from rechunk(self.pieces(chunk_rows), chunk_rows)

    def identities(self) -> Iterator[Ids]:
        """The ids of all rows, in order, unchecked."""
        recipe = next(iter(self.recipes.values()))
        names = list(dict.fromkeys(recipe.id_names))
        for part in self.parts:
            before = 0
            for batch in self._raw(part, names, CHUNK_ROWS):
                columns = self._columns(batch, names, part)
                yield self._identify(recipe, batch, columns, _place(part, before))
                before += batch.height

    def side_by_side(self, chunk_rows: int) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Batches of the raw columns, each with its canonical one; unchecked."""
        readers = self._readers()
        for part in self.parts:
            before = 0
            for raw in self._raw(part, self._names(), chunk_rows):
                interrupt.check()
                where = _place(part, before)
                before += raw.height
                columns = self._columns(raw, self._names(), part)
                with self._blaming(where):
                    batch = self._with_attached(raw, columns, where, readers)
                    canonical = batch.select(_exprs(self._build(columns, where)))
                yield batch, canonical

    def head(self, rows: int) -> pl.DataFrame | None:
        """At most the first `rows` rows of the first shard, unchecked; None where only a pass would tell."""
        part = self.parts[0]
        frame = part.shard.lazy() if self._scannable(part) else None
        if frame is None:
            piece = next(self._convert(part, self._readers()), None)
            return None if piece is None else piece.head(rows)
        columns = {name: part.column(name) for name in self._names()}
        wanted = frame.head(rows).select(_exprs(self._build(columns, part.label)))
        return next(self._stream(wanted, rows, rows=None, label=part.label), None)

    def pieces(self, chunk_rows: int) -> Iterator[pl.DataFrame]:
        """Canonical batches as they come."""
        before = 0
        for piece in self._unnumbered(chunk_rows):
            if self.numbered:
                numbers = np.arange(before, before + piece.height)
                piece.hstack([pl.Series(prefix + NUMBER, numbers) for prefix in self.recipes], in_place=True)
                before += piece.height
            yield piece

    def _unnumbered(self, chunk_rows: int) -> Iterator[pl.DataFrame]:
        readers = self._readers()
        for whole, parts in groupby(self.parts, key=self._scannable):
            if whole:
                yield from self._scan(list(parts), chunk_rows)
            else:
                for part in parts:
                    yield from self._convert(part, readers, chunk_rows)

    def _readers(self) -> list[Attach]:
        return [one.reader() for one in self.attached]

    def _scannable(self, part: Part) -> bool:
        """Whether the shard can join others in a lazy scan. Known rows tell where a bad value is.

        Rows that pair by position carry no id by which a change of their order would be seen, and Polars was
        seen to swap parts of a batch of computed columns: they are read raw, numbered, and computed after.
        So are those whose numbers are asked for.
        """
        if self.numbered or not all(recipe.shows_id for recipe in self.recipes.values()):
            return False
        return not self.attached and part.shard.rows is not None and part.shard.lazy() is not None

    def _build(self, columns: Mapping[str, Column], where: str) -> dict[str, Canonical]:
        return {
            prefix: recipe.build(columns, where, prefix=prefix) for prefix, recipe in self.recipes.items()
        }

    def _names(self) -> list[str]:
        return list(dict.fromkeys(name for recipe in self.recipes.values() for name in recipe.columns()))

    def _scan(self, parts: Sequence[Part], chunk_rows: int) -> Iterator[pl.DataFrame]:
        """Several shards in one lazy scan: the fastest way, at the scan's own speed."""
        names = self._names()
        built = [self._build({name: part.column(name) for name in names}, part.label) for part in parts]
        frames, ends, end = [], [], 0
        for part, one in zip(parts, built, strict=True):
            frame = part.shard.lazy()
            assert frame is not None
            assert part.shard.rows is not None
            frames.append(frame.select(_exprs(one)))
            end += part.shard.rows
            ends.append(end)
        label = parts[0].label if len(parts) == 1 else f"{parts[0].label} and {len(parts) - 1} more"
        before = 0
        for batch in self._stream(pl.concat(frames), chunk_rows, rows=end, label=label):
            for prefix in self.recipes:
                row = first_bad(batch[prefix + BAD])
                if row is not None:
                    index = next(index for index, last in enumerate(ends) if before + row < last)
                    local = before + row - (ends[index] - (parts[index].shard.rows or 0))
                    check = built[index][prefix].checks[batch[prefix + BAD][row] - 1]
                    values = [(name, parts[index].shard.value(name, local)) for name in check.columns]
                    refuse(parts[index].label, local, values, check.problem)
            before += batch.height
            yield self._without_checks(batch)

    def _without_checks(self, batch: pl.DataFrame) -> pl.DataFrame:
        # `drop` would be a query of its own, which waits milliseconds for the threads that read on.
        for prefix in self.recipes:
            batch.drop_in_place(prefix + BAD)
        return batch

    def _stream(
        self, frame: pl.LazyFrame, chunk_rows: int, *, rows: int | None, label: str
    ) -> Iterator[pl.DataFrame]:
        """The scan; what Polars refuses while SQL is evaluated is blamed on it."""
        try:
            yield from stream(frame, chunk_rows, rows=rows, label=label)
        except DataError as error:
            if not isinstance(error.__cause__, InvalidOperationError):
                raise
            raise self._blamed(error.__cause__, label) or error from error

    def _blamed(self, problem: PolarsError, where: str) -> DataError | None:
        """The error for SQL that cannot be computed; None where there is none."""
        sql = " or ".join(dict.fromkeys(text for one in self.recipes.values() for text in one.sql()))
        if not sql or not isinstance(problem, InvalidOperationError):
            return None
        said = str(problem).splitlines()[0]
        hint = "; TRY_CAST gives null where CAST fails" if "CAST(" in sql.upper() else ""
        return DataError(f"{where}: {sql} fails: {said}{hint}")

    def _convert(
        self, part: Part, readers: Sequence[Attach], chunk_rows: int = CHUNK_ROWS
    ) -> Iterator[pl.DataFrame]:
        """One shard batch by batch, each by its own types."""
        names = self._names()
        before = 0

        def prepared() -> Iterator[tuple[pl.DataFrame, dict[str, Canonical], str]]:
            read = 0
            for raw in self._raw(part, names, chunk_rows):
                where = _place(part, read)
                read += raw.height
                columns = self._columns(raw, names, part)
                with self._blaming(where):
                    batch = self._with_attached(raw, columns, where, readers)
                yield batch, self._build(columns, where), where

        def computed(
            item: tuple[pl.DataFrame, dict[str, Canonical], str],
        ) -> tuple[pl.DataFrame, dict[str, Canonical], pl.DataFrame]:
            batch, built, where = item
            with self._blaming(where):
                return batch, built, batch.select(_exprs(built))

        # Beside the reading of the next batch: Polars lets one query wait for another's threads.
        with ThreadPoolExecutor(1) as pool:
            for batch, built, done in ahead(pool, computed, prepared(), 2):
                for prefix, canonical in built.items():
                    row = first_bad(done[prefix + BAD])
                    if row is not None:
                        check = canonical.checks[done[prefix + BAD][row] - 1]
                        values = [(name, batch[name][row]) for name in check.columns]
                        refuse(part.label, before + row, values, check.problem)
                before += batch.height
                yield self._without_checks(done)
        if part.shard.rows is not None and before != part.shard.rows:
            raise InternalError(f"{part.label} holds {part.shard.rows:,} rows, but {before:,} came out")

    @contextmanager
    def _blaming(self, where: str) -> Iterator[None]:
        """What Polars refuses is blamed on the SQL that is evaluated, if any."""
        try:
            yield
        except PolarsError as error:
            blamed = self._blamed(error, where)
            raise blamed or DataError(f"{where}: {str(error).splitlines()[0]}") from error

    def _raw(self, part: Part, names: Sequence[str], chunk_rows: int) -> Iterator[pl.DataFrame]:
        frame = part.shard.lazy()
        if frame is None:
            return part.shard.batches(names)
        lacking = [pl.lit(None).alias(name) for name in names if name not in part.schema]
        asked = frame.clone()
        asked.collect_schema()  # so numbers are given behind the scan: within it more rows wait (measured)
        numbered = asked.with_row_index(_NUMBER).with_columns(lacking).select(by_name(_NUMBER, *names))
        return _in_order(stream(numbered, chunk_rows, rows=part.shard.rows, label=part.label), part.label)

    def _columns(self, batch: pl.DataFrame, names: Sequence[str], part: Part) -> dict[str, Column]:
        return {name: Column(name, batch.schema[name], part.shard.untyped) for name in names}

    def _with_attached(
        self,
        batch: pl.DataFrame,
        columns: dict[str, Column],
        where: str,
        readers: Sequence[Attach],
    ) -> pl.DataFrame:
        """The batch with columns from elsewhere, which `columns` learns of. A bad id finds nothing yet."""
        if not readers:
            return batch
        recipe = next(iter(self.recipes.values()))
        ids = self._identify(recipe, batch, columns, where)
        for one, attach in zip(self.attached, readers, strict=True):
            batch = attach(batch, ids)
            columns |= one.columns
        return batch

    @staticmethod
    def _identify(recipe: Recipe, batch: pl.DataFrame, columns: Mapping[str, Column], where: str) -> Ids:
        expr, _ = recipe.identify(columns, where)
        return Ids.of(batch.select(expr.alias(ID))[ID])


def _place(part: Part, before: int) -> str:
    """Where in a file a batch begins, for messages."""
    return f"{part.label}, from row {before + 1:,} on"


@dataclass(frozen=True)
class ShardedLog:
    """One side, canonical: see `CanonicalLog`."""

    side: SideName
    recipe: Recipe
    cook: Cook
    rows: int | None
    estimated_rows: int
    families: tuple[bool, ...]

    @classmethod
    def of(cls, view: View, recipe: Recipe, families: int, memory: int | None) -> ShardedLog:
        """The log of a side whose recipe is settled. `memory`: what the run may take, in bytes."""
        known = [part.shard.rows for part in view.parts]
        rows = sum(count for count in known if count is not None) if None not in known else None
        sizes = sum((part.shard.size or 0) // BYTES_PER_ROW for part in view.parts if part.shard.rows is None)
        carried = {family.index for family in recipe.families}
        return cls(
            view.side,
            recipe,
            Cook.of(view.parts, {"": recipe}, memory),
            rows,
            rows if rows is not None else sum(count or 0 for count in known) + sizes,
            tuple(index in carried for index in range(families)),
        )

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The range of integer ids by metadata."""
        ids = self.recipe.ids
        if ids is None or not self.recipe.shows_id or ids.dtype != pl.Int64:
            return None
        ranges = [part.shard.bounds(self.recipe.id_names[0]) for part in self.cook.parts]
        known = [each for each in ranges if each is not None]
        if len(known) < len(ranges):
            return None
        return min(low for low, _ in known), max(high for _, high in known)

    @property
    def filters(self) -> bool:
        """Whether batches carry FILTERED."""
        return self.recipe.filters

    def head(self, rows: int) -> pl.DataFrame | None:
        """The first rows, where they can be had without a pass."""
        return self.cook.head(rows)

    def batches(self, chunk_rows: int) -> Iterator[pl.DataFrame]:
        """Canonical batches; any number of passes."""
        return self.cook.batches(chunk_rows)


def _in_order(batches: Iterator[pl.DataFrame], label: str) -> Iterator[pl.DataFrame]:
    """The batches without their row numbers, which must count up from 0."""
    seen = 0
    for batch in batches:
        numbers = batch.drop_in_place(_NUMBER)  # see `_without_checks`
        ends = (numbers.first(), numbers.last()) == (seen, seen + batch.height - 1)
        if not (ends and numbers.is_sorted()):
            raise InternalError(f"the rows of {label} came out of the reader in another order")
        seen += batch.height
        yield batch


def _exprs(built: Mapping[str, Canonical]) -> list[pl.Expr]:
    return [expr for canonical in built.values() for expr in canonical.exprs]


def first_bad(numbers: pl.Series) -> int | None:
    """The first row whose number is not 0."""
    return int((numbers > 0).arg_max() or 0) if numbers.max() else None


def refuse(label: str, row: int, values: Sequence[tuple[str, object]], problem: str) -> NoReturn:
    """Raise BadValue for a 0-based row of a shard."""
    raise BadValue(where=f"{label}, row {row + 1:,}", values=values, problem=problem, row=row)


def rechunk(pieces: Iterator[pl.DataFrame], chunk_rows: int) -> Iterator[pl.DataFrame]:
    """The same rows in frames of exactly `chunk_rows`, the last shorter. Frames that fit pass untouched."""
    held: list[pl.DataFrame] = []
    height = 0
    for piece in pieces:
        held.append(piece)
        height += piece.height
        if height < chunk_rows:
            continue
        joined = held[0] if len(held) == 1 else pl.concat(held)
        whole = height - height % chunk_rows
        for start in range(0, whole, chunk_rows):
            yield joined if height == chunk_rows else joined.slice(start, chunk_rows)
        held, height = [joined.slice(whole)] if whole < height else [], height - whole
    if height:
        yield pl.concat(held)
