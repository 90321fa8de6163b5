"""Payloads as small numbers, and how often which met which.

What a pair needs of a row, its payload, has few different values as a rule: so many slices, guard values
and outcomes. Each gets a code. A table of how often each code of a met each code of b is then all there is to
pair up in the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from streamcmp.pairing.batch import make_pairs

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from streamcmp.comparison import SideName
    from streamcmp.pairing.batch import Outcome, PairBatch, Side, Unpaired
    from streamcmp.pairing.rows import Planes, RowLayout

    Codes = npt.NDArray[np.uint16]
    Indices = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

MOST_CODES = 2**15 - 1
_PIECE = 32_768  # rows worked on at a time: what they need fits the cache (three times as fast, measured)
_MOST_MEETINGS = 2**22  # cells of the table
_ODD = np.uint64(0x9E3779B97F4A7C15)
_MOST_SLOT_BITS = 18


class TooManyPayloads(Exception):
    """Too many different payloads for codes. Caught by the strategies."""


@dataclass(frozen=True, slots=True)
class _Slots:
    """Where known payloads are found: a hash spreads them over `2 ** bits` slots, one to a slot."""

    bits: int
    planes: Planes
    codes: Codes

    @classmethod
    def of(cls, known: Planes, bits: int) -> _Slots:
        count = len(known[0])
        while len(np.unique(places := _places(known, bits))) < count:
            bits += 1
            if bits > _MOST_SLOT_BITS:
                raise TooManyPayloads
        slots = cls(
            bits, [np.zeros(1 << bits, plane.dtype) for plane in known], np.zeros(1 << bits, np.uint16)
        )
        for slot, plane in zip(slots.planes, known, strict=True):
            slot[places] = plane
        slots.codes[places] = np.arange(1, count + 1)
        return slots

    def find(self, payloads: Planes) -> Codes:
        """The code of each payload; 0 where it is not known."""
        places = _places(payloads, self.bits)
        codes = self.codes[places]
        for slot, plane in zip(self.planes, payloads, strict=True):
            codes[slot[places] != plane] = 0
        return codes


def _places(payloads: Planes, bits: int) -> Indices:
    mixed = payloads[0] * _ODD
    for plane in payloads[1:]:
        mixed ^= plane
        mixed *= _ODD
    mixed >>= np.uint64(64 - bits)
    return mixed.view(np.int64)


class Payloads:
    """One side's payloads as codes from 1 on, in order of appearance. Thread-safe."""

    def __init__(self, layout: RowLayout, most: int = MOST_CODES) -> None:
        """`most`: more codes than that raise TooManyPayloads; `layout` carries no checks."""
        self._layout, self._most = layout, most
        self._known: Planes = [np.zeros(0, plane) for plane in layout.planes[1:]]
        self._slots = _Slots.of(self._known, 4)
        self._lock = Lock()

    def __len__(self) -> int:
        """How many there are so far; codes are 1 to this."""
        return len(self._known[0])

    def encode(self, frame: pl.DataFrame) -> Codes:
        """The code of each row of a canonical batch."""
        payloads = self._layout.payload(frame)
        codes = np.empty(frame.height, np.uint16)
        for start in range(0, frame.height, _PIECE):
            piece = slice(start, start + _PIECE)
            codes[piece] = self._encode([plane[piece] for plane in payloads])
        return codes

    def _encode(self, payloads: Planes) -> Codes:
        codes = self._slots.find(payloads)
        while not codes.all():
            with self._lock:
                unknown = self._slots.find(payloads) == 0
                self._learn([plane[unknown] for plane in payloads])
            codes = self._slots.find(payloads)
        return codes

    def _learn(self, payloads: Planes) -> None:
        order = np.lexsort(payloads)
        ordered = [plane[order] for plane in payloads]
        new = np.zeros(len(order), np.bool_)
        new[:1] = True
        for plane in ordered:
            new[1:] |= plane[1:] != plane[:-1]
        if len(self) + np.count_nonzero(new) > self._most:
            raise TooManyPayloads
        self._known = [
            np.concatenate([known, plane[new]]) for known, plane in zip(self._known, ordered, strict=True)
        ]
        self._slots = _Slots.of(self._known, self._slots.bits)

    @property
    def planes(self) -> Planes:
        """The rows, keys all 0, that stand for the codes so far; the first stands for none."""
        none = [np.zeros(1, plane.dtype) for plane in self._known]
        known = [np.concatenate(both) for both in zip(none, self._known, strict=True)]
        return [np.zeros(len(known[0]), np.uint64), *known]

    @property
    def filtered(self) -> Flags:
        """Which codes so far, 0 included, are of rows that `--where` excludes."""
        planes = self.planes
        flags = self._layout.filtered(planes)
        return np.zeros(len(planes[0]), np.bool_) if flags is None else flags

    def pairs_with(self, other: Payloads, codes: Indices, others: Indices) -> PairBatch:
        """Put codes of this side, which is a, beside codes of the other, b."""

        def side(payloads: Payloads, rows: Indices, name: SideName) -> Side:
            return payloads._layout.side(payloads.planes, rows, name)

        return make_pairs(side(self, codes, "a"), side(other, others, "b"))


class Meetings:
    """How often each code of a met each code of b; code 0 stands for no partner. Thread-safe.

    All codes of a must be known before the first meeting; b's may still become more.
    """

    def __init__(self, a: Payloads, b: Payloads) -> None:
        self._a, self._b = a, b
        self._counts = np.zeros((len(a) + 1, len(b) + 64), np.int64)
        self._lock = Lock()

    def add(self, codes_a: Indices, codes_b: Indices | Codes) -> Indices:
        """Count meetings. Where each of them is in `unequal`, flattened."""
        with self._lock:
            if len(self._b) >= self._counts.shape[1]:
                self._widen()
            places = codes_a * self._counts.shape[1]
            places += codes_b
            np.add.at(self._counts.reshape(-1), places, 1)
        return places

    def add_alone(self, side: SideName, codes: Indices | Codes) -> None:
        """Count rows that met none."""
        counts = np.bincount(codes)
        with self._lock:
            if side == "a":
                self._counts[: len(counts), 0] += counts
                return
            if len(self._b) >= self._counts.shape[1]:
                self._widen()
            self._counts[0, : len(counts)] += counts

    def _widen(self) -> None:
        shape = len(self._counts), 2 * (len(self._b) + 1)
        if shape[0] * shape[1] > _MOST_MEETINGS:
            raise TooManyPayloads
        wider = np.zeros(shape, np.int64)
        wider[:, : self._counts.shape[1]] = self._counts
        self._counts = wider

    def unequal(self) -> Flags:
        """Which meetings there can be, of the codes so far, are pairs whose guards differ."""
        found = np.zeros(self._counts.shape, np.bool_)
        codes_a, codes_b = np.mgrid[1 : len(self._a) + 1, 1 : len(self._b) + 1].reshape(2, -1)
        mismatch = self._a.pairs_with(self._b, codes_a, codes_b).mismatch
        if mismatch is not None:
            gone = self._a.filtered[codes_a] | self._b.filtered[codes_b]
            found[codes_a, codes_b] = mismatch & ~gone
        return found

    def conclude(self, outcome: Outcome) -> PairBatch:
        """All pairs, as weighted entries; rows without a partner go to `outcome`."""
        counts = self._counts[:, : len(self._b) + 1]
        filtered_a, filtered_b = self._a.filtered, self._b.filtered
        _conclude(counts[:, 0], filtered_a, outcome.a)
        _conclude(counts[0], filtered_b, outcome.b)
        codes_a, codes_b = np.nonzero(counts[1:, 1:])
        codes_a += 1
        codes_b += 1
        weights = counts[codes_a, codes_b]
        gone = filtered_a[codes_a] | filtered_b[codes_b]
        outcome.a.filtered += int(weights[gone].sum())
        outcome.b.filtered += int(weights[gone].sum())
        kept = ~gone
        return replace(self._a.pairs_with(self._b, codes_a[kept], codes_b[kept]), weights=weights[kept])


def _conclude(alone: Indices, filtered: Flags, unpaired: Unpaired) -> None:
    """Count rows without a partner, given per code."""
    gone = int(alone[filtered].sum())
    unpaired.filtered += gone
    unpaired.unmatched += int(alone.sum()) - gone
