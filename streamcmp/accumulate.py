"""PairBatches -> Tally: the one place that counts.

While pairs come in, only what happened is counted: per slice, how often each combination of outcomes came
with equal guards and with a differing one. What the rule makes of that is worked out once, at the end.
"""

from __future__ import annotations

from itertools import product
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from streamcmp.ledger import Ledger, SideLedger
from streamcmp.logs.model import CORRECT, MISSING, WRONG
from streamcmp.tally import CELLS, COUNTERS, OVERALL, family_name, slice_columns, sorted_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from streamcmp.comparison import Rule
    from streamcmp.logs.slices import FamilyCodec
    from streamcmp.pairing.batch import PairBatch

    Counts = npt.NDArray[np.int64]
    Events = npt.NDArray[np.integer[Any]]  # uint32 or int64

# Events of a slice: 9 * (a guard differs) + 3 * outcome of a + outcome of b, then: the slice itself differs.
_OUTCOMES = (WRONG, CORRECT, MISSING)
_MISMATCH, _DIFFERS, _WIDTH = 9, 18, 20
_MOST_IN_32_BITS = 2**32 - 1
_CELL = {
    (CORRECT, CORRECT): "both_correct",
    (CORRECT, WRONG): "n_ab",
    (WRONG, CORRECT): "n_ba",
    (WRONG, WRONG): "both_wrong",
}


def _counters_of_events(rule: Rule) -> Counts:
    """Which counters each event adds to under the rule: a matrix of 0 and 1, events by COUNTERS."""
    matrix = np.zeros((_WIDTH, len(COUNTERS)), np.int64)

    def add(event: int, counter: str) -> None:
        matrix[event, COUNTERS.index(counter)] = 1

    for differs, a, b in product((False, True), _OUTCOMES, _OUTCOMES):
        event = _MISMATCH * differs + 3 * a + b
        if differs:
            add(event, "guard_mismatch")
        if differs and rule.mismatch != "ignore":
            continue
        scored = [WRONG if rule.missing == "wrong" and one == MISSING else one for one in (a, b)]
        add(event, "unscored" if MISSING in scored else _CELL[scored[0], scored[1]])
    add(_DIFFERS, "slice_differs")
    return matrix


def events_of(batch: PairBatch) -> npt.NDArray[np.uint8]:
    """What happened in each pair, but for slices that differ."""
    event = batch.outcome_a * np.uint8(3)
    event += batch.outcome_b
    if batch.mismatch is not None and batch.mismatch.any():
        event += batch.mismatch * np.uint8(_MISMATCH)
    return event


def cells_of_events(rule: Rule) -> npt.NDArray[np.int8]:
    """Which of CELLS each event of `events_of` adds to under the rule; -1 where it is no counted pair."""
    counters = _counters_of_events(rule)[:_DIFFERS]
    cells = counters[:, [COUNTERS.index(cell) for cell in CELLS]]
    return np.where(cells.any(axis=1), cells.argmax(axis=1), -1).astype(np.int8)


class Accumulator:
    """Adds up pair batches. Thread-safe; batches may come in any order."""

    def __init__(self, rule: Rule, codecs: Sequence[FamilyCodec]) -> None:
        self._rule = rule
        self._codecs = codecs
        self._overall = np.zeros(_WIDTH, np.int64)
        # Very many slices take half the room, and time, in half the bytes; see `_widen`.
        self._families: list[Events] = [np.zeros(16 * _WIDTH, np.uint32) for _ in codecs]
        self._lock = Lock()

    def add(self, batch: PairBatch) -> None:
        """Count one batch."""
        event = events_of(batch)
        events = _DIFFERS if batch.mismatch is not None and batch.mismatch.any() else _MISMATCH
        overall = np.zeros(_WIDTH, np.int64)
        if batch.weights is not None:
            np.add.at(overall, event, batch.weights)
        else:  # a pass of one byte a row for each event: a third of what bincount takes (measured)
            overall[:events] = [np.count_nonzero(event == number) for number in range(events)]
        differing = [differs for differs in batch.differs if differs is not None]
        if differing:
            anywhere = np.logical_or.reduce(differing)
            overall[_DIFFERS] = (anywhere if batch.weights is None else batch.weights[anywhere]).sum()
        with self._lock:
            self._overall += overall
            self._widen()
            for index, codes in enumerate(batch.slices):
                if len(codes):
                    self._count(index, codes, event, batch.differs[index], batch.weights)

    def _count(
        self,
        index: int,
        codes: npt.NDArray[np.uint32],
        event: npt.NDArray[np.uint8],
        differs: npt.NDArray[np.bool_] | None,
        weights: Counts | None,
    ) -> None:
        counts = self._roomy(index, int(codes.max()) + 1)
        each = np.asarray(1 if weights is None else weights, counts.dtype)
        place = codes.astype(np.int64)
        place *= _WIDTH
        if differs is not None and differs.any():
            np.add.at(counts, place[differs] + _DIFFERS, each if weights is None else each[differs])
        place += event
        # np.add.at beat bincount per batch at every number of slices (measured at 12 and at 1,000,000), if
        # what is added has the type of the counts.
        np.add.at(counts, place, each)

    def _widen(self) -> None:
        """Before any count could pass what 32 bits hold: none is above the number of pairs."""
        if int(self._overall[:_DIFFERS].sum()) >= _MOST_IN_32_BITS:
            self._families = [counts.astype(np.int64, copy=False) for counts in self._families]

    def _roomy(self, index: int, slices: int) -> Events:
        """The table of a family, with room for so many slices."""
        counts: Events = self._families[index]
        if slices * _WIDTH > len(counts):
            # To the next power of two: the first batch of very many slices does not quite show the last.
            grown = np.zeros((1 << (slices - 1).bit_length()) * _WIDTH, counts.dtype)
            grown[: len(counts)] = counts
            self._families[index] = counts = grown
        return counts

    def ledger(self, a: SideLedger, b: SideLedger) -> Ledger:
        """The ledger, given each side's rows that never reached a pair."""
        events = self._overall[:_DIFFERS].reshape(2, 3, 3)
        counters = dict(zip(COUNTERS, self._overall @ _counters_of_events(self._rule), strict=True))
        excluded = 0 if self._rule.mismatch == "ignore" else int(events[1].sum())
        pairs = SideLedger(
            guard_mismatch=excluded,
            unscored=int(counters["unscored"]),
            paired=sum(int(counters[cell]) for cell in CELLS),
        )
        return Ledger(
            a + pairs + SideLedger(missing=int(events[:, MISSING, :].sum())),
            b + pairs + SideLedger(missing=int(events[:, :, MISSING].sum())),
        )

    def tables(self) -> dict[str, pl.DataFrame]:
        """Family name -> sorted table of slices; `overall` first."""
        matrix = _counters_of_events(self._rule)
        tables = {OVERALL: _counter_frame(dict(enumerate(self._overall.reshape(-1, 1))), matrix)}
        occurring = np.flatnonzero(self._overall).tolist()  # few as a rule
        for term, codec, flat in zip(self._rule.by, self._codecs, self._families, strict=True):
            columns = {event: np.ascontiguousarray(flat[event::_WIDTH]) for event in occurring}
            some = [column > 0 for column in columns.values()]
            used = np.flatnonzero(np.logical_or.reduce(some)) if some else np.zeros(0, np.int64)
            columns = {event: column[used] for event, column in columns.items()}
            frame = codec.decode(used.astype(np.uint32)).hstack(_counter_frame(columns, matrix).get_columns())
            tables[family_name(term)] = sorted_table(in_each_slice(frame, codec.overlapping))
        return tables


def in_each_slice(frame: pl.DataFrame, lists: Sequence[str]) -> pl.DataFrame:
    """A row per slice, where rows count in each value of the list that they have in some columns."""
    if not lists:
        return frame
    for name in lists:
        frame = frame.explode(name)
    return frame.group_by(slice_columns(frame)).agg(pl.col(*COUNTERS).sum())


def _counter_frame(events: Mapping[int, Events], matrix: Counts) -> pl.DataFrame:
    """COUNTERS from the columns of those events that occurred; no column is no row."""
    nothing = np.zeros(len(next(iter(events.values()), ())), np.int64)
    return pl.DataFrame(
        {
            name: sum((column for event, column in events.items() if matrix[event, at]), nothing)
            for at, name in enumerate(COUNTERS)
        }
    )
