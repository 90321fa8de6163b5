"""Columns of a third file, found by id: what `--truth` and `--slices` share.

A table has the ids as numbers, sorted: integers as they are, text as a 64-bit hash with a further 32 bits as
a check, which together are taken for the id, as when logs are paired. It is held whole where a share of the
memory is enough; else it comes in parts, one at a time: a part is the ids whose numbers, mixed, begin with
the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from streamcmp import interrupt
from streamcmp.errors import BadValue, DataError
from streamcmp.logs.ids import IdRule, Seen
from streamcmp.logs.model import ID
from streamcmp.logs.values import Check, Column
from streamcmp.logs.view import View
from streamcmp.usage import size

_SHARE = 8  # of the memory may be tables held; while one is made it takes twice as much
_DECODING = 6  # of the memory may be what a file of them decodes at a time
_MOST_PARTS = 4096
_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: the high bits depend on all the low ones
_SEED, _CHECK_SEED = 3, 4

Keys = npt.NDArray[np.uint64]
Checks = npt.NDArray[np.uint32] | None
Repeated = tuple[int, int]  # key and check of an id that occurs twice


class Brings(Protocol):
    """What a third file has for every id."""

    @property
    def option(self) -> str:
        """The option that names the file: `--truth`."""
        ...

    @property
    def kind(self) -> str:
        """What messages call such a file: `truth file`."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """The columns that are read."""
        ...

    @property
    def columns(self) -> Mapping[str, Column]:
        """What each row of a log gets, by the name under which it stands beside the log's own columns."""
        ...

    @property
    def nothing(self) -> object:
        """What rows get whose id the file lacks."""
        ...

    def read(self, columns: Mapping[str, Column], where: str) -> tuple[list[pl.Expr], list[Check]]:
        """`columns` from those of a batch, and what no row may hold."""
        ...


@dataclass(frozen=True)
class Ids:
    """Ids as numbers; those of null ids mean nothing. `checks` is None where the numbers are the ids."""

    keys: Keys
    checks: Checks
    null: npt.NDArray[np.bool_] | None

    @classmethod
    def of(cls, ids: pl.Series) -> Ids:
        """From canonical ids: Int64, UInt64 or String."""
        null = ids.is_null().to_numpy() if ids.null_count() else None
        if ids.dtype.is_integer():
            present = ids if null is None else ids.fill_null(0)
            return cls(present.to_numpy().view(np.uint64), None, null)
        frame = pl.DataFrame([ids])
        checks = frame.hash_rows(_CHECK_SEED).to_numpy() >> np.uint64(32)
        return cls(frame.hash_rows(_SEED).to_numpy(), checks.astype(np.uint32), null)

    def __len__(self) -> int:
        return len(self.keys)

    def of_part(self, index: int, bits: int) -> npt.NDArray[np.bool_]:
        """Which of them belong to a part of 2^bits."""
        mine: npt.NDArray[np.bool_] = (self.keys * _ODD) >> np.uint64(64 - bits) == np.uint64(index)
        return mine


@dataclass(frozen=True)
class Table:
    """Some ids of the file with their values, sorted by key. `repeated`: the first that occurs twice."""

    keys: Keys
    checks: Checks
    values: pl.DataFrame
    nothing: object
    repeated: Repeated | None

    def find(self, ids: Ids) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """For each id a row of the table, and whether it is the id's."""
        if not len(self.keys):
            return np.zeros(len(ids), np.intp), np.zeros(len(ids), np.bool_)
        # Neighbours are looked up together: in the order they come, each would be a walk through all memory.
        order = np.argsort(ids.keys)
        places = np.empty(len(ids), np.intp)
        places[order] = np.searchsorted(self.keys, ids.keys[order])
        last = len(self.keys) - 1
        np.minimum(places, last, out=places)
        found = self.keys[places] == ids.keys
        if self.checks is not None and ids.checks is not None:
            while (other := found & (self.checks[places] != ids.checks)).any():
                # Another id of the same hash: its neighbour may be the one.
                ended = other & (places == last)
                places = np.where(other & ~ended, places + 1, places)
                found = (self.keys[places] == ids.keys) & ~ended
        if ids.null is not None:
            found &= ~ids.null
        return places, found

    def attach(self, batch: pl.DataFrame, ids: Ids) -> pl.DataFrame:
        """The batch with each row's values beside it."""
        places, found = self.find(ids)
        if not self.values.height:
            literals = [pl.lit(self.nothing, dtype).alias(name) for name, dtype in self.values.schema.items()]
            return batch.with_columns(literals)
        known = pl.Series(found)
        near = self.values[pl.Series(places)]
        return batch.with_columns(
            pl.when(known).then(column).otherwise(pl.lit(self.nothing, column.dtype)).alias(column.name)
            for column in near.get_columns()
        )


@dataclass(frozen=True)
class ThirdFile:
    """A third file before its rows are read: where ids are, and what it brings."""

    view: View
    ids: tuple[str, ...]
    brings: Brings

    def id_columns(self) -> list[Seen]:
        """Per id component the columns of all shards, for the joint decision on ids."""
        return [self.view.typed(name) for name in self.ids]

    def sparing(self, memory: int | None) -> View:
        """The file, read in smaller batches where its own would take too much of the memory."""
        if memory is None:
            return self.view
        return self.view.sparing(self._names, memory // _DECODING)

    @property
    def _names(self) -> list[str]:
        return list(dict.fromkeys([*self.ids, *self.brings.names]))


@dataclass
class Lookup:
    """A third file at work. Both sides share it; its rows are read when the first of them asks."""

    file: ThirdFile
    rule: IdRule
    memory: int | None  # what the run may take
    folder: Path  # where to spill
    among: int = 1  # how many such files share the memory
    lock: RLock = field(default_factory=RLock)
    _view: View | None = None
    _whole: Table | None = None
    _bits: int | None = None

    @property
    def columns(self) -> Mapping[str, Column]:
        """What it attaches."""
        return self.file.brings.columns

    def whole(self) -> Table | None:
        """All of it; None where it does not fit its share of the memory.

        Raises:
            DataError: no part fits, an id is null or occurs twice, or a value is bad.
        """
        with self.lock:
            if self._bits is None:
                self._load()
            return self._whole

    def tables(self) -> Iterator[Table]:
        """All of it, part by part. Raises DataError at the end if an id occurs twice."""
        assert self._bits is not None, "whole() is asked first"
        repeated: list[Repeated] = []
        for index in range(1 << self._bits):
            table = self._read(index, self._bits, None)
            assert table is not None, "without a limit a part is read"
            if table.repeated is not None:
                repeated.append(table.repeated)
            elif not repeated:
                yield table
        if repeated:
            self._refuse(min(repeated))

    def _load(self) -> None:
        most = None if self.memory is None else self.memory // (_SHARE * self.among)
        bits = self._guess(most)
        while (table := self._read(0, bits, most)) is None:
            bits += 1
            if 1 << bits > _MOST_PARTS:
                raise DataError(
                    f"{self.file.view.label} is too large for the memory: not even its {1 << bits:,}th part "
                    f"fits {size(most or 0)}; raise --memory"
                )
        if bits == 0:
            if table.repeated is not None:
                self._refuse(table.repeated)
            self._whole = table
        self._bits = bits

    def _guess(self, most: int | None) -> int:
        """Bits that tell parts apart, by metadata: at most as many as are needed."""
        if not most:
            return 0
        rows = sum(part.shard.rows or 0 for part in self.file.view.parts)
        least = rows * (8 if self.rule.dtype.is_integer() else 12)
        return min(max(0, (least // most).bit_length() - 1), _MOST_PARTS.bit_length() - 1)

    def _batches(self, names: Sequence[str]) -> Iterator[tuple[pl.DataFrame, Mapping[str, Column], str, int]]:
        """Batches of some columns, with their types, their file, and the rows of it before them."""
        if self._view is None:
            self._view = self.file.sparing(self.memory)
        for part in self._view.parts:
            before = 0
            for batch in part.shard.batches(names):
                interrupt.check()
                typed = {name: Column(name, batch.schema[name], part.shard.untyped) for name in names}
                yield batch, typed, part.label, before
                before += batch.height

    def _read(self, index: int, bits: int, most: int | None) -> Table | None:
        """One of 2^bits parts; None once it takes more than `most` bytes."""
        file, held, rows = self.file, 0, 0
        keys: list[Keys] = []
        checks: list[npt.NDArray[np.uint32]] = []
        frames: list[pl.DataFrame] = []
        for batch, columns, label, before in self._batches(file._names):  # noqa: SLF001 - of one kind
            rows += batch.height
            where = f"{label}, from row {before + 1:,} on"
            ids, found = self.rule.read([columns[name] for name in file.ids], where=where)
            problem = f"every row of a {file.brings.kind} needs an id"
            found = [*found, Check(ids.is_null(), file.ids, problem)]
            values, more = file.brings.read(columns, where)
            read = _checked(batch, [ids.alias(ID), *values], [*found, *more], label, before)
            numbers = Ids.of(read.drop_in_place(ID))
            if bits:
                mine = numbers.of_part(index, bits)
                read = read.filter(pl.Series(mine))
                numbers = Ids(
                    numbers.keys[mine], None if numbers.checks is None else numbers.checks[mine], None
                )
            keys.append(numbers.keys)
            checks += [] if numbers.checks is None else [numbers.checks]
            frames.append(_compact(read))
            held += keys[-1].nbytes + sum(each.nbytes for each in checks[-1:]) + int(read.estimated_size())
            if most is not None and held > most:
                return None
        if not rows:
            raise DataError(f"{file.view.label} holds no rows; {file.brings.option} looks ids up in it")
        return _sorted(keys, checks, frames, file.brings.nothing)

    def _refuse(self, repeated: Repeated) -> None:
        """Raise the error for an id that occurs twice, which takes a look at the ids."""
        key, check = repeated
        for batch, columns, label, _ in self._batches(self.file.ids):
            expr, _ = self.rule.read([columns[name] for name in self.file.ids], where=label)
            ids = batch.select(expr.alias(ID))[ID]
            numbers = Ids.of(ids)
            same = numbers.keys == np.uint64(key)
            if numbers.checks is not None:
                same &= numbers.checks == np.uint32(check)
            if same.any():
                raise DataError(
                    f"{self.file.view.label}: id {self.rule.show(ids[int(same.argmax())])} occurs more than "
                    f"once; a {self.file.brings.kind} has one row per id"
                )
        raise DataError(f"{self.file.view.label} changed while it was read")


def _checked(
    batch: pl.DataFrame, exprs: Sequence[pl.Expr], checks: Sequence[Check], label: str, before: int
) -> pl.DataFrame:
    """The expressions' values. Raises BadValue for the first check that a row fails."""
    flags = [check.bad.fill_null(value=False).alias(f"\0{number}") for number, check in enumerate(checks)]
    read = batch.select(*exprs, *flags)
    for number, check in enumerate(checks):
        bad = read.drop_in_place(f"\0{number}")
        if bad.any():
            row = int(bad.arg_max() or 0)
            values = [(name, batch[name].slice(row, 1).to_list()[0]) for name in check.columns]
            raise BadValue(where=f"{label}, row {before + row + 1:,}", values=values, problem=check.problem)
    return read


def _compact(frame: pl.DataFrame) -> pl.DataFrame:
    """The same rows, which keep no text of others alive: a filtered column refers to that of the whole."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return frame.with_columns(pl.concat_str(pl.col(name)).alias(name) for name in texts) if texts else frame


def _sorted(
    keys: list[Keys], checks: list[npt.NDArray[np.uint32]], frames: list[pl.DataFrame], nothing: object
) -> Table:
    """The table of all pieces. The lists are emptied, so that no more is held than needs be."""
    all_keys = _joined(keys)
    all_checks = _joined(checks) if checks else None
    order: npt.NDArray[np.intp] | None = None
    if not (all_keys[1:] > all_keys[:-1]).all():
        order = np.argsort(all_keys)
        all_keys = all_keys[order]
        twice = all_keys[1:] == all_keys[:-1]
        if all_checks is not None:
            all_checks = all_checks[order]
            if twice.any():
                # Two texts of one hash, or one text twice: only what has one check is the same.
                by_check = np.lexsort((all_checks, all_keys))
                order, all_checks = order[by_check], all_checks[by_check]
                twice &= all_checks[1:] == all_checks[:-1]
    values = pl.concat(frames)
    frames.clear()
    repeated = None
    if order is not None:
        values = values[pl.Series(order)]
        if twice.any():
            at = int(twice.argmax())
            repeated = int(all_keys[at]), int(all_checks[at]) if all_checks is not None else 0
    return Table(all_keys, all_checks, values.rechunk(), nothing, repeated)


def _joined(pieces: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    joined: npt.NDArray[Any] = np.concatenate(pieces)
    pieces.clear()
    return joined
