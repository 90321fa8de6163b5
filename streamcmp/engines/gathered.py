"""Rows of one log, taken by their numbers in one pass, and given back in the order of the result.

What is taken waits in memory up to a limit, then in a file without a name, cut by where it belongs in the
result: so that rows of a log in any order are put in order in bounded memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from streamcmp import interrupt
from streamcmp.errors import InternalError
from streamcmp.json_text import JSON, AsText, to_json
from streamcmp.logs.judged import labels_of
from streamcmp.logs.lookup import Ids
from streamcmp.logs.slices import common_type
from streamcmp.logs.truth import LABEL as TRUTH_LABEL
from streamcmp.logs.values import NUMBERS, Column, kind_of
from streamcmp.scratch import Scratch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from streamcmp.logs.lookup import Table
    from streamcmp.logs.reading import ShardedLog
    from streamcmp.logs.view import Part
    from streamcmp.meter import Meter
    from streamcmp.resources import Resources

    Numbers = npt.NDArray[np.int64]

_AT = "\0at"  # where in the result a row belongs
IDENTITY, LABEL = "\0id", "\0label"  # the canonical id, the truth's label
_EXACT = 2**53
_SHARE = 4  # of the memory may be taken by what a log is read with, at a time
_HELD_SHARE = 12  # and by rows that wait
_MOST_HELD = 64 << 20  # more is no faster, and sorted as a whole takes several times as much (measured)
_LEAST_CHUNK, _MOST_CHUNK = 2_000, 131_072
_CHUNK_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows of a log, in rising order, and where each belongs in the result."""

    rows: Numbers
    places: Numbers


class Gathered:
    """The rows taken of one log. `take` once, `settle`, then each `window` once; close in the end."""

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
        self._scratch = Scratch(resources.spill_dir)
        self._memory = resources.memory
        self._most_rows = resources.rows_at_a_time(_MOST_CHUNK)
        self._most_held = min(_MOST_HELD, resources.memory // _HELD_SHARE)
        self._held: list[tuple[tuple[pl.DataType, ...], bytes]] = []
        self._held_bytes = 0
        self._pieces: dict[int, list[tuple[int, int]]] = {}
        self._last: dict[int, list[pl.DataFrame]] = {}
        self._types = _Types(log.cook.parts, self._names)

    def take(self, wanted: Iterator[Wanted], meter: Meter) -> None:
        """One pass over the log, up to the last row wanted."""
        done = 0
        raw = self._read_names()
        todo = _Rows(wanted)
        if not todo.more():
            return
        for part, batch in self._log.cook.raw(raw, self._chunk_rows(), self._memory // _SHARE):
            interrupt.check()
            end = done + batch.height
            rows, places = todo.below(end)
            if len(rows):
                self._add(part, batch[rows - done], places, done)
            meter.add(batch.height)
            done = end
            if not todo.more():
                return
        raise InternalError(f"{self._log.cook.parts[0].label} ended before the last row that was wanted")

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

    def _add(self, part: Part, rows: pl.DataFrame, places: Numbers, before: int) -> None:
        columns = {name: Column(name, rows.schema[name], part.shard.untyped) for name in rows.columns}
        extra = [pl.Series(_AT, places)]
        if self._identify or self._label:
            expr, _ = self._log.recipe.identify(columns, f"{part.label}, near row {before + 1:,}")
            extra.append(rows.select(expr.alias(IDENTITY)).to_series())
        if self._label:
            extra.append(
                self._labels().attach(pl.DataFrame([extra[-1]]), Ids.of(extra[-1]))[TRUTH_LABEL].alias(LABEL)
            )
        self._hold(pl.DataFrame([*self._types.plainer([rows[name] for name in self._names]), *extra]))

    def _hold(self, frame: pl.DataFrame) -> None:
        # As bytes: rows taken from a frame keep all texts of that frame alive (measured).
        data = _packed(frame)
        self._held.append((tuple(frame.dtypes), data))
        self._held_bytes += len(data)
        if self._held_bytes > self._most_held:
            for joined in self._joined():
                for window, piece in self._cut(joined):
                    packed = _packed(piece)
                    place = (self._scratch.append(packed), len(packed))
                    self._pieces.setdefault(window, []).append(place)

    def _joined(self) -> Iterator[pl.DataFrame]:
        """What is held, one frame per schema, each by place; nothing is held then."""
        held, self._held, self._held_bytes = self._held, [], 0
        by_schema: dict[tuple[pl.DataType, ...], list[pl.DataFrame]] = {}
        for schema, data in held:
            by_schema.setdefault(schema, []).append(_unpacked(data))
        del held
        for frames in by_schema.values():
            yield pl.concat(frames).sort(_AT)

    def _cut(self, frame: pl.DataFrame) -> Iterator[tuple[int, pl.DataFrame]]:
        """The windows of a frame that is sorted by place."""
        windows = frame[_AT].to_numpy() // self._window_rows
        starts = np.flatnonzero(np.diff(windows, prepend=-1))
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(windows)], strict=True):
            yield int(windows[start]), frame.slice(start, stop - start)

    def settle(self) -> None:
        """After the pass: types are known, and what is held is cut, too."""
        for joined in self._joined():
            for window, piece in self._cut(joined):
                self._last.setdefault(window, []).append(piece)

    def window(self, number: int, rows: int) -> pl.DataFrame:
        """The columns of one window of so many rows, in the result's order and the types of the whole log."""
        pieces = [_unpacked(self._scratch.read(*place)) for place in self._pieces.pop(number, ())]
        pieces += self._last.pop(number, [])
        if not pieces:
            raise InternalError("rows that were wanted did not come")
        joined = pl.concat([self._types.unify(piece) for piece in pieces]).sort(_AT).rechunk()
        start = number * self._window_rows
        if not np.array_equal(joined[_AT].to_numpy(), np.arange(start, start + rows)):
            raise InternalError("rows that were wanted came twice, or not at all")
        return joined.drop(_AT)

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
        self._held, self._last = [], {}
        self._scratch.close()


def _packed(frame: pl.DataFrame) -> bytes:
    """A frame as bytes; in the oldest layout, which holds no text but the frame's own."""
    buffer = BytesIO()
    frame.write_ipc_stream(buffer, compat_level=pl.CompatLevel.oldest())
    return buffer.getvalue()


def _unpacked(data: bytes | bytearray) -> pl.DataFrame:
    return pl.read_ipc_stream(BytesIO(data))


class _Rows:
    """Wanted rows, handed out as a pass reaches them."""

    def __init__(self, wanted: Iterator[Wanted]) -> None:
        self._wanted = wanted
        self._hand: Wanted | None = None

    def more(self) -> bool:
        """Whether any are left."""
        while self._hand is None or not len(self._hand.rows):
            self._hand = next(self._wanted, None)
            if self._hand is None:
                return False
        return True

    def below(self, end: int) -> tuple[Numbers, Numbers]:
        """Those whose numbers are below `end`, with their places."""
        rows, places = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        while self.more():
            assert self._hand is not None
            cut = int(np.searchsorted(self._hand.rows, end))
            if not cut:
                break
            rows.append(self._hand.rows[:cut])
            places.append(self._hand.places[:cut])
            self._hand = Wanted(self._hand.rows[cut:], self._hand.places[cut:])
        return np.concatenate(rows), np.concatenate(places)


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
