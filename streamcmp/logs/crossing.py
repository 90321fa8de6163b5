"""Crossed slices: the codes of several columns become one code per combination that occurs.

The columns' codes, side by side as bits, address a table that holds the combination's code. That takes 5 ns a
row where joining the codes as text and looking the text up takes 40 (measured). Columns with very many values
would need too large a table; from then on the text way serves, with the same codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
import numpy.typing as npt
import polars as pl

from streamcmp.logs.dictionary import Dictionary

TABLE_BITS = 24  # 64 MB at most
Codes = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class _Table:
    """Codes by address; 0 where a combination has not been seen. `bits`: how many each column takes."""

    bits: tuple[int, ...]
    codes: Codes

    @classmethod
    def of(cls, bits: tuple[int, ...], combinations: npt.NDArray[np.uint32]) -> _Table:
        table = cls(bits, np.zeros(1 << sum(bits), dtype=np.uint32))
        table.codes[table.addresses(list(combinations.T))] = np.arange(
            1, len(combinations) + 1, dtype=np.uint32
        )
        return table

    def holds(self, columns: Sequence[Codes]) -> bool:
        return all(
            not len(column) or int(column.max()) >> bits == 0
            for column, bits in zip(columns, self.bits, strict=True)
        )

    def addresses(self, columns: Sequence[Codes]) -> npt.NDArray[np.uint32]:
        address = columns[0].copy()
        for column, bits in zip(columns[1:], self.bits[1:], strict=True):
            address <<= np.uint32(bits)
            address |= column
        return address


class Crossing:
    """The dictionary of one crossed family. Codes count up from 1 in order of appearance; thread-safe."""

    def __init__(self, width: int) -> None:
        self._lock = Lock()
        self._combinations = np.empty((0, width), dtype=np.uint32)
        self._table: _Table | None = _Table.of((1,) * width, self._combinations)
        self._texts: Dictionary | None = None

    def encode(self, codes: Sequence[pl.Expr]) -> pl.Expr:
        """The UInt32 code of each row's combination."""
        return pl.map_batches(list(codes), self._encode, return_dtype=pl.UInt32(), is_elementwise=True)

    def decode(self, codes: pl.Series) -> list[pl.Series]:
        """Per column the code in each combination."""
        with self._lock:
            if self._texts is None:
                rows = self._combinations[codes.to_numpy() - 1]
                return [pl.Series(column) for column in np.ascontiguousarray(rows.T)]
            joined = self._texts.decode(codes)
        split = joined.str.split_exact("|", self._combinations.shape[1] - 1).struct.unnest()
        return [part.cast(pl.UInt32) for part in split.get_columns()]

    def _encode(self, series: Sequence[pl.Series]) -> pl.Series:
        columns = [one.to_numpy() for one in series]
        table = self._table
        if table is not None and table.holds(columns):
            found = table.codes[table.addresses(columns)]
            if found.all():
                return pl.Series(found)
        with self._lock:
            if self._texts is None:
                self._make_room(columns)
            return self._as_text(series) if self._table is None else self._learn(self._table, columns)

    def _make_room(self, columns: Sequence[Codes]) -> None:
        """Widen the table until the columns' codes fit, or turn to text where it would grow too large."""
        assert self._table is not None
        if self._table.holds(columns):
            return
        bits = tuple(
            max(old, int(column.max(initial=0)).bit_length())
            for old, column in zip(self._table.bits, columns, strict=True)
        )
        if sum(bits) <= TABLE_BITS:
            self._table = _Table.of(bits, self._combinations)
            return
        self._texts, self._table = Dictionary(), None
        self._as_text([pl.Series(column) for column in np.ascontiguousarray(self._combinations.T)])

    def _learn(self, table: _Table, columns: Sequence[Codes]) -> pl.Series:
        addresses = table.addresses(columns)
        _, first = np.unique(addresses, return_index=True)
        new = first[table.codes[addresses[first]] == 0]
        added = np.stack([column[new] for column in columns], axis=1)
        start = len(self._combinations) + 1
        self._combinations = np.concatenate([self._combinations, added])
        table.codes[addresses[new]] = np.arange(start, start + len(new), dtype=np.uint32)
        return pl.Series(table.codes[addresses])

    def _as_text(self, series: Sequence[pl.Series]) -> pl.Series:
        assert self._texts is not None
        return pl.select(
            self._texts.encode(pl.concat_str([pl.lit(one) for one in series], separator="|"))
        ).to_series()
