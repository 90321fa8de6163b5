"""Exact quantiles of more numbers than fit the memory, in a few passes over them.

Numbers become unsigned keys of the same order. The first pass holds them all, if they are few; else it finds
the smallest and the largest, and each further pass counts how many keys fall into each of a million equal
ranges between them, then within the ranges where the wanted ranks lie, until what is left can be held and
sorted. Nothing depends on the order of the numbers or on how they are cut into pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]
HELD = 2**22  # keys that are held: 32 MB
_CELLS = 2**20  # ranges counted in one pass
_SIGN = np.uint64(1 << 63)


def keys_of(numbers: npt.NDArray[Any]) -> Keys:
    """Int64, UInt64 or Float64 (no NaN, no -0.0) as keys of the same order."""
    if numbers.dtype == np.uint64:
        return numbers
    bits = numbers.view(np.uint64)
    if numbers.dtype == np.int64:
        return bits ^ _SIGN
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def number_of(key: int, dtype: npt.DTypeLike) -> int | float:
    """The inverse of `keys_of`, for one key."""
    one = np.array([key], np.uint64)
    if np.dtype(dtype) == np.uint64:
        return int(one[0])
    if np.dtype(dtype) == np.int64:
        return int((one ^ _SIGN).view(np.int64)[0])
    return float(np.where(one & _SIGN, one ^ _SIGN, ~one).view(np.float64)[0])


@dataclass(frozen=True, slots=True)
class _Range:
    """The keys from `low` to `high` (both included), `below` them so many, and the ranks looked for there."""

    low: int
    high: int
    below: int
    ranks: tuple[int, ...]

    def shift(self, cells: int) -> int:
        """By how many bits a key's distance from `low` is shortened to number at most so many cells."""
        return max(0, (self.high - self.low).bit_length() - (cells.bit_length() - 1))


class Selection:
    """The quantiles of one column: feed it all keys, end the pass, and again until `edges` is there.

    edges: of `parts` quantiles, the keys at the ranks floor(j n / parts), j from 1 to parts - 1, of the n
    keys in order, counted from 0: each part begins with its edge. Equal ones come once; of no keys there are
    none.
    smallest: the smallest key, or None.
    """

    def __init__(self, parts: int, held: int = HELD, cells: int = _CELLS) -> None:
        self.edges: list[int] | None = None
        self.smallest: int | None = None
        self._parts, self._most, self._cells = parts, held, cells
        self._kept: list[Keys] | None = []
        self._count, self._largest = 0, 0
        self._ranges: list[_Range] = []
        self._counts: npt.NDArray[np.int64] | None = None
        self._known: set[int] = set()
        self._waiting = 0  # keys within the ranges

    def feed(self, keys: Keys) -> None:
        """Keys of the pass, in any order and any pieces."""
        if not len(keys):
            return
        if self._ranges:
            self._narrow(keys)
            return
        self._count += len(keys)
        self._largest = max(self._largest, int(keys.max()))
        low = int(keys.min())
        self.smallest = low if self.smallest is None else min(low, self.smallest)
        if self._kept is not None:
            self._kept.append(keys)
            if self._count > self._most:
                self._kept = None

    def end(self) -> None:
        """The pass is over: either `edges` is there, or the next pass will be a narrower one."""
        if not self._ranges:
            ranks = sorted({part * self._count // self._parts for part in range(1, self._parts)})
            if not self._count:
                self.edges = []
                return
            assert self.smallest is not None
            self._ranges = [_Range(self.smallest, self._largest, 0, tuple(ranks))]
            if self._kept is not None:
                self._settle(self._kept)
                return
        elif self._counts is None:
            assert self._kept is not None
            self._settle(self._kept)
            return
        else:
            self._split(self._counts)
        self._prepare()

    def _prepare(self) -> None:
        """What the next pass does, or the end."""
        if not self._ranges:
            self.edges = sorted(self._known)
            return
        if self._counts is not None and self._waiting <= self._most:
            self._counts, self._kept = None, []
        else:
            self._kept = None
            self._counts = np.zeros(len(self._ranges) * self._width, np.int64)

    @property
    def _width(self) -> int:
        """Cells of each range: a power of two."""
        return 1 << max(4, (self._cells // len(self._ranges)).bit_length() - 1)

    def _within(self, keys: Keys) -> tuple[Keys, npt.NDArray[np.int64]]:
        """The keys that lie in a range, and in which."""
        lows = np.array([one.low for one in self._ranges], np.uint64)
        highs = np.array([one.high for one in self._ranges], np.uint64)
        place = np.searchsorted(lows, keys, side="right") - 1
        inside = place >= 0
        inside &= keys <= highs[place]
        return keys[inside], place[inside]

    def _narrow(self, keys: Keys) -> None:
        inside, place = self._within(keys)
        if self._counts is None:
            assert self._kept is not None
            self._kept.append(inside)
            return
        lows = np.array([one.low for one in self._ranges], np.uint64)
        shifts = np.array([one.shift(self._width) for one in self._ranges], np.uint64)
        cells = ((inside - lows[place]) >> shifts[place]).astype(np.int64)
        self._counts += np.bincount(place * self._width + cells, minlength=len(self._counts))

    def _split(self, counts: npt.NDArray[np.int64]) -> None:
        """Only the cells in which a rank lies are looked at further."""
        ranges: list[_Range] = []
        self._waiting = 0
        for at, one in enumerate(self._ranges):
            own = counts[at * self._width : (at + 1) * self._width]
            ends = one.below + np.cumsum(own)
            shift = one.shift(self._width)
            cells = np.searchsorted(ends, np.array(one.ranks), side="right")
            for cell, ranks in groupby(zip(cells.tolist(), one.ranks, strict=True), key=lambda pair: pair[0]):
                low = one.low + (cell << shift)
                high = min(one.high, low + (1 << shift) - 1)
                if low == high:
                    self._known.add(low)
                    continue
                below = int(ends[cell] - own[cell])
                ranges.append(_Range(low, high, below, tuple(rank for _, rank in ranks)))
                self._waiting += int(own[cell])
        self._ranges = ranges

    def _settle(self, kept: list[Keys]) -> None:
        """All keys of the ranges are at hand."""
        keys = np.sort(np.concatenate(kept)) if kept else np.zeros(0, np.uint64)
        for one in self._ranges:
            start = int(np.searchsorted(keys, np.uint64(one.low), side="left"))
            self._known |= {int(keys[start + rank - one.below]) for rank in one.ranks}
        self._ranges, self._kept = [], None
        self.edges = sorted(self._known)
