"""Compact integer ids in any order: a table with a cell per possible id, and no sorting at all.

The pass over a writes the codes of payloads into the cells; the pass over b reads them, marks them, and
counts how often each code of a met each code of b.

Verified as it runs: ids within the range that the metadata claimed, no cell written twice, no cell read
twice, and few enough payloads. The first violation raises `OutOfStep`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from streamcmp.ahead import ahead
from streamcmp.logs.model import ID
from streamcmp.pairing.codes import Meetings, Payloads, TooManyPayloads
from streamcmp.pairing.lockstep import OutOfStep
from streamcmp.pairing.rows import RowLayout

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from streamcmp.logs.model import CanonicalLog, LogPair
    from streamcmp.pairing.batch import Outcome, PairBatch, Unpaired
    from streamcmp.pairing.examples import Examples
    from streamcmp.resources import Resources

    Cells = npt.NDArray[np.int64]
    Codes = npt.NDArray[np.uint16]

CHUNK_ROWS = 200_000
_PIECE = 32_768  # rows worked on at a time: what they need fits the cache
_MET = np.uint16(2**15)  # a cell is 16 bits: a's code, and whether b met it
_SCAN = 2**20  # cells looked at at a time in the end


def suits(pair: LogPair, resources: Resources) -> bool:
    """Whether ids are compact by metadata."""
    size = table_bytes(pair, resources)
    rows = pair.a.estimated_rows + pair.b.estimated_rows
    return 0 < size <= 4 * rows


def table_bytes(pair: LogPair, resources: Resources) -> int:
    """What the table takes; 0 where the range of ids is not known, or too wide for the memory."""
    found = _span(pair, resources)
    return 0 if found is None else 2 * (found[1] - found[0] + 1)


def _span(pair: LogPair, resources: Resources) -> tuple[int, int] | None:
    """The range of both sides' ids by metadata; None where it is none, or a table of it would not fit."""
    if pair.id_dtype != pl.Int64:
        return None
    a, b = pair.a.bounds, pair.b.bounds
    if a is None or b is None:
        return None
    low, high = min(a[0], b[0]), max(a[1], b[1])
    return (low, high) if 0 <= high - low < resources.memory // 4 else None


def pairs(pair: LogPair, resources: Resources, outcome: Outcome, examples: Examples) -> Iterator[PairBatch]:
    """Yield all pairs as one batch of weighted entries; fill `outcome` and `examples`. Raises OutOfStep."""
    span = _span(pair, resources)
    if span is None:
        raise OutOfStep
    outcome.meter.begin("pairing by address", pair.a.estimated_rows + pair.b.estimated_rows)
    layout = RowLayout(pair)
    a = _Coded(pair.a, outcome.a, layout, span, resources)
    b = _Coded(pair.b, outcome.b, layout, span, resources)
    table = np.zeros(span[1] - span[0] + 1, np.uint16)
    try:
        _enter(a, table)
        meetings = Meetings(a.payloads, b.payloads)
        _meet(b, table, meetings, examples, span[0])
    except TooManyPayloads:
        raise OutOfStep from None
    if _look_for_unmet(a, table, meetings, examples, span[0]) != b.identified:
        raise OutOfStep  # b has an id twice in one piece
    batch = meetings.conclude(outcome)
    if batch.mismatch is not None and batch.mismatch.any():
        _name_mismatches(b, table, meetings.unequal(), examples, span[0])
    yield batch


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
        self._log, self._unpaired = log, unpaired
        self._span, self._resources = span, resources
        self.payloads = Payloads(layout)
        self.identified = 0

    def first_pass(self) -> Iterator[tuple[Cells, Codes]]:
        """Count rows and null ids as they come."""
        return self._pieces(map(self._identified, self._frames()))

    def again(self) -> Iterator[tuple[Cells, Codes]]:
        """The same pieces once more."""
        return self._pieces(frame.drop_nulls(ID) for frame in self._frames())

    def _frames(self) -> Iterator[pl.DataFrame]:
        return self._log.batches(self._resources.rows_at_a_time(CHUNK_ROWS))

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
        codes = self.payloads.encode(frame)
        pieces = [slice(start, start + _PIECE) for start in range(0, len(ids), _PIECE)]
        return [(ids[piece] - low, codes[piece]) for piece in pieces]


def _enter(a: _Coded, table: npt.NDArray[np.uint16]) -> None:
    for cells, codes in a.first_pass():
        table[cells] = codes
    if np.count_nonzero(table) != a.identified:
        raise OutOfStep  # an id occurs twice in a


def _meet(b: _Coded, table: npt.NDArray[np.uint16], meetings: Meetings, examples: Examples, low: int) -> None:
    """Count which code of a met which of b. Marks the cells that b met."""
    for cells, codes in b.first_pass():
        met = table[cells]
        table[cells] = met | _MET
        if met.max() >= _MET:
            raise OutOfStep  # an id occurs twice in b
        meetings.add(met.astype(np.int64), codes)
        alone = np.flatnonzero(met == 0)
        if len(alone):
            kept = alone[~b.payloads.filtered[codes[alone]]]
            examples.add_ids("unmatched_b", pl.Series(cells[kept] + low))


def _look_for_unmet(
    a: _Coded, table: npt.NDArray[np.uint16], meetings: Meetings, examples: Examples, low: int
) -> int:
    """Count the rows of a that b did not meet. How many cells it did."""
    filtered, met = a.payloads.filtered, 0
    for start in range(0, len(table), _SCAN):
        cells = table[start : start + _SCAN]
        met += int(np.count_nonzero(cells >= _MET))
        only = np.flatnonzero((cells != 0) & (cells < _MET))
        if len(only):
            meetings.add_alone("a", cells[only])
            examples.add_ids("unmatched_a", pl.Series(only[~filtered[cells[only]]] + (start + low)))
    return met


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
