"""Rows of one log, taken by their numbers in one pass, and given back in the order of the result.

Rows that come in that order are given back as the pass reaches them. Others wait: in a file without a name,
cut by where they belong in the result; and in memory, up to a limit, while they are too scattered to be cut.
So rows of a log in any order are put in order in bounded memory.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from streamcmp.ahead import ahead
from streamcmp.errors import InternalError
from streamcmp.json_text import JSON, AsText, to_json
from streamcmp.logs.judged import labels_of
from streamcmp.logs.lookup import Ids
from streamcmp.logs.picking import Pick, picked
from streamcmp.logs.slices import common_type
from streamcmp.logs.truth import LABEL as TRUTH_LABEL
from streamcmp.logs.values import NUMBERS, Column, kind_of
from streamcmp.scratch import Scratch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from streamcmp.logs.lookup import Table
    from streamcmp.logs.picking import Picked, Wanted
    from streamcmp.logs.reading import ShardedLog
    from streamcmp.logs.view import Part
    from streamcmp.meter import Meter
    from streamcmp.resources import Resources

    Numbers = npt.NDArray[np.int64]

_AT = "\0at"  # where in the result a row belongs
IDENTITY, LABEL = "\0id", "\0label"  # the canonical id, the truth's label
_EXACT = 2**53
_SHARE = 2  # of the memory may be what row groups take decoded whole; picked, they take half (measured)
_HELD_SHARE = 12  # and by rows that wait
_MOST_HELD = 64 << 20  # more is no faster, and sorted as a whole takes several times as much (measured)
_SPARE, _PAGE = 4, 1 << 16  # so many times their bytes texts may keep alive; Polars' reader leaves twice
_OLDEST = pl.CompatLevel.oldest()
_LEAST_CHUNK, _MOST_CHUNK = 2_000, 131_072
_CHUNK_BYTES = 16 << 20


class Gathered:
    """The rows taken of one log, once, in windows of so many rows of the result. Close it in the end."""

    def __init__(
        self,
        log: ShardedLog,
        names: Sequence[str],
        window_rows: int,
        resources: Resources,
        *,
        identify: bool,
        label: bool,
    ) -> None:
        """`names`: raw columns; beside them the canonical id with `identify`, the truth's with `label`."""
        self._log, self._names = log, list(names)
        self._window_rows = window_rows
        self._identify, self._label = identify, label
        self._memory = resources.memory
        self._most_rows = resources.rows_at_a_time(_MOST_CHUNK)
        self._types = _Types(log.cook.parts, self._names)
        self._waiting = _Waiting(resources, window_rows)

    def in_order(self, wanted: Iterator[Wanted], last: int, meter: Meter) -> Iterator[pl.DataFrame]:
        """One pass, up to the `last` row wanted, for rows in the order of places: windows as they fill.

        The types of logs whose files do not tell theirs are known in the end only: their rows wait.
        """
        if any(part.sparse for part in self._log.cook.parts):
            self.take(wanted, last, meter)
            yield from self.windows()
            return
        held: list[pl.DataFrame] = []
        height = given = 0
        for frame in self._pass(wanted, last, meter):
            held.append(frame)
            height += frame.height
            while height >= self._window_rows:
                joined = pl.concat(map(self._types.unify, held))
                yield self._window(joined.head(self._window_rows), given)
                held, height = [joined.slice(self._window_rows)], height - self._window_rows
                given += self._window_rows
        if height:
            yield self._window(pl.concat(map(self._types.unify, held)), given)

    def take(self, wanted: Iterator[Wanted], last: int, meter: Meter) -> None:
        """One pass, up to the `last` row wanted; then all wait for `windows`."""
        with ThreadPoolExecutor(1) as pool:
            for _ in ahead(pool, self._waiting.add, self._pass(wanted, last, meter), 2):
                pass
        self._waiting.settle()

    def windows(self) -> Iterator[pl.DataFrame]:
        """All that was taken, in the result's order and the types of the whole log; once."""
        for number, pieces in enumerate(self._waiting.windows()):
            if not pieces:
                raise InternalError("rows that were wanted did not come")
            joined = pl.concat([self._types.unify(piece) for piece in pieces])
            yield self._window(joined, number * self._window_rows)

    def _window(self, rows: pl.DataFrame, start: int) -> pl.DataFrame:
        """The rows of the result from `start` on, in order."""
        places = rows[_AT].to_numpy()
        if not rises(places):
            rows = rows.sort(_AT)
            places = rows[_AT].to_numpy()
        if not np.array_equal(places, np.arange(start, start + rows.height)):
            raise InternalError("rows that were wanted came twice, or not at all")
        return rows.drop(_AT).rechunk()

    def _pass(self, wanted: Iterator[Wanted], last: int, meter: Meter) -> Iterator[pl.DataFrame]:
        """The rows wanted, as they come, with their places, in memory of their own."""
        pick = Pick(self._read_names(), self._chunk_rows(), self._memory // _SHARE)
        for some in picked(self._log.cook, pick, wanted, last, meter):
            yield _own(self._shown(some))

    def _read_names(self) -> list[str]:
        """What is read: to be shown as it is, so that objects and lists pass; ids only to compare."""
        recipe = self._log.recipe
        ids = recipe.id_names if self._identify or self._label else ()
        return list(dict.fromkeys([*map(AsText, self._names), *ids]))

    def _chunk_rows(self) -> int:
        """How many rows at a time: so many that they take 16 MB, by the size of the files."""
        sizes = [part.shard.size for part in self._log.cook.parts]
        known = sum(size for size in sizes if size is not None)
        per_row = 4 * known // max(1, self._log.estimated_rows) + 16 * len(self._names)
        most = min(_CHUNK_BYTES, self._memory // 24)
        return min(self._most_rows, max(_LEAST_CHUNK, most // max(1, per_row)))

    def _shown(self, some: Picked) -> pl.DataFrame:
        rows, untyped = some.rows, some.part.shard.untyped
        columns = {name: Column(name, rows.schema[name], untyped) for name in rows.columns}
        extra = [pl.Series(_AT, some.places)]
        if self._identify or self._label:
            expr, _ = self._log.recipe.identify(columns, f"{some.part.label}, from row {some.first + 1:,} on")
            extra.append(rows.select(expr.alias(IDENTITY)).to_series())
        if self._label:
            extra.append(
                self._labels().attach(pl.DataFrame([extra[-1]]), Ids.of(extra[-1]))[TRUTH_LABEL].alias(LABEL)
            )
        return pl.DataFrame([*self._types.plainer([rows[name] for name in self._names]), *extra])

    def nothing(self) -> pl.DataFrame:
        """No rows, with the columns that a window would have."""
        extra = {}
        if self._identify or self._label:
            assert self._log.recipe.ids is not None
            extra[IDENTITY] = self._log.recipe.ids.dtype
        if self._label:
            extra[LABEL] = self._labels().values.schema[TRUTH_LABEL]
        return pl.DataFrame(schema={name: self._types.of(name) for name in self._names} | extra)

    def _labels(self) -> Table:
        labels = labels_of(self._log.cook)
        assert labels is not None, "they are asked for where they are held"
        return labels

    def close(self) -> None:
        """Free memory and disk."""
        self._waiting.close()


class _Waiting:
    """Rows that wait until the pass is over, by the window they belong to. `add`, `settle`, `windows`."""

    def __init__(self, resources: Resources, window_rows: int) -> None:
        self._window_rows = window_rows
        self._scratch = Scratch(resources.spill_dir)
        self._most_held = min(_MOST_HELD, resources.memory // _HELD_SHARE)
        self._held: list[pl.DataFrame] = []
        self._held_bytes = 0
        self._pieces: dict[int, list[tuple[int, int]]] = {}

    def add(self, rows: pl.DataFrame) -> None:
        """Some more rows, with their places."""
        self._held.append(rows)
        self._held_bytes += int(rows.estimated_size())
        if self._held_bytes > self._most_held:
            self.settle()

    def settle(self) -> None:
        """Cut what is held, and write it."""
        held, self._held, self._held_bytes = self._held, [], 0
        by_schema: dict[tuple[pl.DataType, ...], list[pl.DataFrame]] = {}
        for rows in held:
            by_schema.setdefault(tuple(rows.dtypes), []).append(rows)
        del held
        for several in by_schema.values():
            self._write(self._cut(pl.concat(several)))

    def _cut(self, rows: pl.DataFrame) -> Iterator[tuple[int, pl.DataFrame]]:
        """Rows by window, each in the order of places."""
        places = rows[_AT].to_numpy()
        if not rises(places):
            rows = rows[np.argsort(places)]
            places = rows[_AT].to_numpy()
        windows = places // self._window_rows
        starts = np.flatnonzero(np.diff(windows, prepend=-1))
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(windows)], strict=True):
            yield int(windows[start]), rows.slice(start, stop - start)

    def _write(self, pieces: Iterable[tuple[int, pl.DataFrame]]) -> None:
        for window, piece in pieces:
            packed = _packed(piece)
            self._pieces.setdefault(window, []).append((self._scratch.append(packed), len(packed)))

    def windows(self) -> Iterator[list[pl.DataFrame]]:
        """The pieces of each window."""
        for window in range(max(self._pieces, default=-1) + 1):
            yield [_unpacked(self._scratch.read(*place)) for place in self._pieces.pop(window, ())]

    def close(self) -> None:
        """Free memory and disk."""
        self._held = []
        self._scratch.close()


def rises(places: Numbers) -> bool:
    """Whether each number is greater than the one before."""
    return bool((places[1:] > places[:-1]).all())


def _own(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows; in memory of their own where they keep far more alive, as texts of a whole batch."""
    return _unpacked(_packed(rows)) if any(map(_borrows, rows.iter_columns())) else rows


def _borrows(column: pl.Series) -> bool:
    if column.dtype not in (pl.String, pl.Binary):
        return column.dtype.is_nested()
    # Without its name: one with a NUL would end Polars' thread.
    alive = column.alias("").to_arrow(compat_level=pl.CompatLevel.newest()).get_total_buffer_size()
    return bool(alive > _SPARE * column.estimated_size() + _PAGE)


def _packed(rows: pl.DataFrame) -> memoryview:
    """Rows as bytes; in the oldest layout, which holds no text but their own."""
    buffer = BytesIO()
    rows.write_ipc_stream(buffer, compat_level=_OLDEST)
    return buffer.getbuffer()


def _unpacked(data: bytearray | memoryview) -> pl.DataFrame:
    return pl.read_ipc_stream(BytesIO(data))


@dataclass
class _Types:
    """One type per column that holds every value of all files, whatever theirs are."""

    parts: Sequence[Part]
    names: Sequence[str]
    _seen: dict[str, set[pl.DataType]] = field(init=False)
    _wide: set[str] = field(default_factory=set)  # with integers that a float does not hold exactly

    def __post_init__(self) -> None:
        firm = [part.schema for part in self.parts if not part.sparse]
        self._seen = {
            name: {_plain(schema[name]) for schema in firm if name in schema} for name in self.names
        }

    def plainer(self, columns: Sequence[pl.Series]) -> list[pl.Series]:
        """The columns without types that are only an encoding, or that no file holds; types are noted."""
        found = []
        for column in columns:
            dtype = _plain(column.dtype)
            self._seen[column.name].add(dtype)
            found.append(column if dtype == column.dtype else column.cast(dtype))
            if dtype in (pl.Int64, pl.UInt64) and len(column):
                low, high = column.min(), column.max()
                if isinstance(low, int) and isinstance(high, int) and max(-low, high) > _EXACT:
                    self._wide.add(column.name)
        return found

    def of(self, name: str) -> pl.DataType:
        """The type of a column of the result."""
        seen = [dtype for dtype in self._seen[name] if dtype != pl.Null]
        if not seen:
            return pl.String()
        if len(seen) == 1:
            return seen[0]
        kinds = {kind_of(dtype) for dtype in seen}
        exact = not (name in self._wide and any(dtype.is_float() for dtype in seen))
        if (kinds <= NUMBERS and exact) or (len(kinds) == 1 and kinds != {"other"}):
            return _plain(common_type(sorted(seen, key=str)))
        return JSON

    def unify(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame in the types of the result."""
        return pl.DataFrame(
            [
                column if column.name not in self._seen else _cast(column, self.of(column.name))
                for column in frame.iter_columns()
            ]
        )


def _cast(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    if column.dtype == dtype:
        return column
    return to_json(column) if dtype == JSON and column.dtype != pl.Null else column.cast(dtype)


def _plain(dtype: pl.DataType) -> pl.DataType:
    """Dictionaries become text, and so do integers wider than files hold."""
    return pl.String() if dtype in (pl.Categorical, pl.Enum, pl.Int128, pl.UInt128) else dtype
