"""Compact integer ids in any order: a table with a cell per possible id, and no sorting at all.

What a pair needs of a row, its payload, has few different values as a rule: so many slices, guard values
and outcomes. Each gets a small code. The pass over a writes codes into the cells; the pass over b reads
them, marks them, and counts how often each code of a met each code of b. That table of counts is all there
is to pair up in the end.

Verified as it runs: ids within the range that the metadata claimed, no cell written twice, no cell read
twice, and few enough payloads. The first violation raises `OutOfStep`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from streamcmp.logs.model import ID
from streamcmp.pairing.ahead import ahead
from streamcmp.pairing.batch import make_pairs
from streamcmp.pairing.lockstep import OutOfStep
from streamcmp.pairing.rows import RowLayout

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from streamcmp.comparison import SideName
    from streamcmp.logs.model import CanonicalLog, LogPair
    from streamcmp.pairing.batch import Outcome, PairBatch, Side, Unpaired
    from streamcmp.pairing.examples import Examples
    from streamcmp.pairing.rows import Planes
    from streamcmp.resources import Resources

    Cells = npt.NDArray[np.int64]
    Codes = npt.NDArray[np.uint16]

CHUNK_ROWS = 200_000
_PIECE = 32_768  # rows worked on at a time: what they need fits the cache
_MET = np.uint16(2**15)  # a cell is 16 bits: a's code, and whether b met it
_MOST_MEETINGS = 2**22  # cells of the table of counts
_ODD = 0x9E3779B97F4A7C15
_MOST_SLOT_BITS = 18


def suits(pair: LogPair, resources: Resources) -> bool:
    """Whether ids are compact by metadata, and payloads narrow, enough to try."""
    size = table_bytes(pair, resources)
    rows = pair.a.estimated_rows + pair.b.estimated_rows
    return len(RowLayout(pair).planes) == 2 and 0 < size <= 4 * rows


def table_bytes(pair: LogPair, resources: Resources) -> int:
    """What the table takes; 0 where the range of ids is not known, or too wide for the memory."""
    found = _span(pair, resources)
    return 0 if found is None else 2 * (found[1] - found[0] + 1)


def _span(pair: LogPair, resources: Resources) -> tuple[int, int] | None:
    """The range of both sides' ids by metadata; None where a table of it would not fit the memory."""
    if pair.id_dtype != pl.Int64:
        return None
    a, b = pair.a.bounds, pair.b.bounds
    if a is None or b is None:
        return None
    low, high = min(a[0], b[0]), max(a[1], b[1])
    return (low, high) if high - low < resources.memory // 4 else None


def pairs(pair: LogPair, resources: Resources, outcome: Outcome, examples: Examples) -> Iterator[PairBatch]:
    """Yield all pairs as one batch of weighted entries; fill `outcome` and `examples`. Raises OutOfStep."""
    span = _span(pair, resources)
    layout = RowLayout(pair)
    if span is None or len(layout.planes) > 2:
        raise OutOfStep
    outcome.meter.begin("pairing by address", pair.a.estimated_rows + pair.b.estimated_rows)
    a = _Coded(pair.a, outcome.a, layout, span, resources)
    b = _Coded(pair.b, outcome.b, layout, span, resources)
    table = np.zeros(span[1] - span[0] + 1, np.uint16)
    _enter(a, table)
    meetings = _meet(b, table, examples, span[0])
    filtered_a, filtered_b = a.filtered, b.filtered
    alone = np.zeros(_MET, np.int64)
    for start in range(0, len(table), 2**20):
        cells = table[start : start + 2**20]
        only = np.flatnonzero((cells != 0) & (cells < _MET))
        alone += np.bincount(cells[only], minlength=len(alone))
        examples.add_ids("unmatched_a", pl.Series(only[~filtered_a[cells[only]]] + (start + span[0])))
    _conclude(alone, filtered_a, outcome.a)
    _conclude(meetings[0], filtered_b, outcome.b)
    code_a, code_b = np.nonzero(meetings[1:])
    code_a += 1
    weights = meetings[code_a, code_b]
    gone = filtered_a[code_a] | filtered_b[code_b]
    outcome.a.filtered += int(weights[gone].sum())
    outcome.b.filtered += int(weights[gone].sum())
    kept = ~gone
    batch = make_pairs(a.side("a").take(code_a[kept]), b.side("b").take(code_b[kept]))
    if batch.mismatch is not None and batch.mismatch.any():
        unequal = np.zeros(meetings.shape, np.bool_)
        unequal[code_a[kept], code_b[kept]] = batch.mismatch
        _name_mismatches(b, table, unequal, examples, span[0])
    yield replace(batch, weights=weights[kept])


@dataclass(frozen=True, slots=True)
class _Slots:
    """Where known payloads are found: a multiplication spreads them over `2 ** bits` slots, one to a slot."""

    bits: int
    values: npt.NDArray[np.uint64]
    codes: Codes

    @classmethod
    def of(cls, known: npt.NDArray[np.uint64], bits: int) -> _Slots:
        while len(np.unique(places := _places(known, bits))) < len(known):
            bits += 1
            if bits > _MOST_SLOT_BITS:
                raise OutOfStep
        slots = cls(bits, np.zeros(1 << bits, np.uint64), np.zeros(1 << bits, np.uint16))
        slots.values[places] = known
        slots.codes[places] = np.arange(1, len(known) + 1)
        return slots

    def find(self, payloads: npt.NDArray[np.uint64]) -> Codes:
        places = _places(payloads, self.bits)
        codes = self.codes[places]
        codes[self.values[places] != payloads] = 0
        return codes


def _places(payloads: npt.NDArray[np.uint64], bits: int) -> npt.NDArray[np.int64]:
    return ((payloads * np.uint64(_ODD)) >> np.uint64(64 - bits)).astype(np.int64)


class _Payloads:
    """Payload values as codes from 1 on, in order of appearance. Thread-safe."""

    def __init__(self) -> None:
        self.known = np.zeros(0, np.uint64)
        self._slots = _Slots.of(self.known, 4)
        self._lock = Lock()

    def encode(self, payloads: npt.NDArray[np.uint64]) -> Codes:
        codes = self._slots.find(payloads)
        while not codes.all():
            with self._lock:
                new = np.unique(payloads[self._slots.find(payloads) == 0])
                if len(self.known) + len(new) >= _MET:
                    raise OutOfStep
                self.known = np.concatenate([self.known, new])
                self._slots = _Slots.of(self.known, self._slots.bits)
            codes = self._slots.find(payloads)
        return codes


class _Coded:
    """One side's rows as (cells of the table, payload codes), any number of passes.

    Codes are looked up on several threads; the table, which everything else waits for, belongs to the
    caller's.
    """

    def __init__(
        self,
        log: CanonicalLog,
        unpaired: Unpaired,
        layout: RowLayout,
        span: tuple[int, int],
        resources: Resources,
    ) -> None:
        self._log, self._unpaired, self._layout = log, unpaired, layout
        self._span, self._resources = span, resources
        self._payloads = _Payloads()
        self.identified = 0

    def first_pass(self) -> Iterator[tuple[Cells, Codes]]:
        """Count rows and null ids as they come."""
        return self._pieces(map(self._identified, self._frames()))

    def again(self) -> Iterator[tuple[Cells, Codes]]:
        """The same pieces once more."""
        return self._pieces(frame.drop_nulls(ID) for frame in self._frames())

    def _frames(self) -> Iterator[pl.DataFrame]:
        return self._log.batches(self._resources.chunk_rows or CHUNK_ROWS)

    def _identified(self, frame: pl.DataFrame) -> pl.DataFrame:
        self._unpaired.saw(frame.height)
        identified = self._unpaired.without_null_ids(frame)
        self.identified += identified.height
        return identified

    def _pieces(self, frames: Iterator[pl.DataFrame]) -> Iterator[tuple[Cells, Codes]]:
        threads = self._resources.threads
        with ThreadPoolExecutor(threads) as pool:
            for pieces in ahead(pool, self._coded, frames, threads + 1):
                yield from pieces

    def _coded(self, frame: pl.DataFrame) -> list[tuple[Cells, Codes]]:
        if not frame.height:
            return []
        ids = frame[ID].to_numpy()
        low, high = self._span
        if ids.min() < low or ids.max() > high:
            raise OutOfStep
        (payloads,) = self._layout.payload(frame)
        pieces = [slice(start, start + _PIECE) for start in range(0, len(ids), _PIECE)]
        return [
            (ids[piece] - low, self._payloads.encode(payloads[piece].astype(np.uint64, copy=False)))
            for piece in pieces
        ]

    @property
    def codes(self) -> int:
        """One more than the highest code so far."""
        return len(self._payloads.known) + 1

    def _planes(self) -> Planes:
        """The payload of every code so far, 0 included."""
        known = np.concatenate([np.zeros(1, np.uint64), self._payloads.known])
        return [known, known.astype(self._layout.planes[1])]

    @property
    def filtered(self) -> npt.NDArray[np.bool_]:
        """Which codes so far are of rows that `--where` excludes."""
        planes = self._planes()
        flags = self._layout.filtered(planes)
        return np.zeros(len(planes[0]), np.bool_) if flags is None else flags

    def side(self, name: SideName) -> Side:
        """The payload of every code."""
        return self._layout.side(self._planes(), np.arange(self.codes), name)


def _enter(a: _Coded, table: npt.NDArray[np.uint16]) -> None:
    for cells, codes in a.first_pass():
        table[cells] = codes
    if np.count_nonzero(table) != a.identified:
        raise OutOfStep  # an id occurs twice in a


def _meet(b: _Coded, table: npt.NDArray[np.uint16], examples: Examples, low: int) -> npt.NDArray[np.int64]:
    """How often each code of a (0: none) met each code of b. Marks the cells that b met."""
    codes_a = int(table.max(initial=0)) + 1
    meetings = np.zeros((codes_a, 64), np.int64)
    for cells, codes in b.first_pass():
        if b.codes > meetings.shape[1]:
            meetings = _widened(meetings, b.codes)
        met = table[cells]
        table[cells] = met | _MET
        if met.max() >= _MET:
            raise OutOfStep  # an id occurs twice in b
        np.add.at(meetings.reshape(-1), met.astype(np.int64) * meetings.shape[1] + codes, 1)
        alone = np.flatnonzero(met == 0)
        if len(alone):
            kept = alone[~b.filtered[codes[alone]]]
            examples.add_ids("unmatched_b", pl.Series(cells[kept] + low))
    if np.count_nonzero(table >= _MET) != b.identified:
        raise OutOfStep  # twice in one piece
    return meetings[:, : b.codes]


def _widened(meetings: npt.NDArray[np.int64], codes: int) -> npt.NDArray[np.int64]:
    wider = np.zeros((len(meetings), 2 * codes), np.int64)
    if wider.size > _MOST_MEETINGS:
        raise OutOfStep
    wider[:, : meetings.shape[1]] = meetings
    return wider


def _conclude(alone: npt.NDArray[np.int64], filtered: npt.NDArray[np.bool_], unpaired: Unpaired) -> None:
    """Count rows without a partner, given per code."""
    gone = int(alone[: len(filtered)][filtered].sum())
    unpaired.filtered += gone
    unpaired.unmatched += int(alone.sum()) - gone


def _name_mismatches(
    b: _Coded,
    table: npt.NDArray[np.uint16],
    unequal: npt.NDArray[np.bool_],
    examples: Examples,
    low: int,
) -> None:
    for cells, codes in b.again():
        hits = unequal[table[cells] & ~_MET, codes]
        examples.add_ids("guard_mismatch", pl.Series(cells[hits] + low))
