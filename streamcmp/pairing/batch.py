"""What a pairing strategy hands over: batches of pairs, the rows that reached none, and ids worth naming."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from threading import Lock
from typing import TYPE_CHECKING, Literal

import numpy as np

from streamcmp.ledger import SideLedger
from streamcmp.logs.model import FILTERED, ID, NUMBER, OUTCOME, family_column, guard_column
from streamcmp.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import polars as pl

    from streamcmp.logs.model import LogPair
    from streamcmp.pairing.matching import Matched

ExampleKind = Literal["duplicate_a", "duplicate_b", "guard_mismatch", "unmatched_a", "unmatched_b"]


@dataclass(frozen=True, slots=True)
class PairBatch:
    """Matched pairs, in any order. All arrays have one entry per pair.

    outcome_a, outcome_b: uint8, WRONG/CORRECT/MISSING.
    slices: per family the slice code (uint32) of a, or of b where a does not carry it.
    differs: per family whether both sides carry it and disagree (bool), or None where only one carries it.
    mismatch: whether any guard differs (bool), or None where there are no guards.
    advised: whether any guard that only warns differs (bool), or None where there are none.
    weights: how many pairs each entry stands for (int64), or None where each is one pair.
    rows_a, rows_b: the numbers of the pair's rows in their logs (int64), where these tell them; else None.
    """

    outcome_a: npt.NDArray[np.uint8]
    outcome_b: npt.NDArray[np.uint8]
    slices: tuple[npt.NDArray[np.uint32], ...] = ()
    differs: tuple[npt.NDArray[np.bool_] | None, ...] = ()
    mismatch: npt.NDArray[np.bool_] | None = None
    advised: npt.NDArray[np.bool_] | None = None
    weights: npt.NDArray[np.int64] | None = None
    rows_a: npt.NDArray[np.int64] | None = None
    rows_b: npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.outcome_a)

    @property
    def advised_pairs(self) -> int:
        """How many pairs differ in a guard that only warns."""
        if self.advised is None:
            return 0
        return int(
            np.count_nonzero(self.advised) if self.weights is None else self.weights[self.advised].sum()
        )


@dataclass(frozen=True, slots=True)
class Side:
    """One side's payload columns, row by row: what a pair needs of it."""

    outcome: npt.NDArray[np.uint8]
    guards: Sequence[npt.NDArray[np.uint32]]
    families: Sequence[npt.NDArray[np.uint32] | None]  # None where this side does not carry the family
    advisory: int = 0  # so many guards, the last ones, only warn
    numbers: npt.NDArray[np.int64] | None = None  # of the rows in their log

    @classmethod
    def of(cls, frame: pl.DataFrame, pair: LogPair) -> Side:
        """The payload of a canonical batch."""
        return cls(
            frame[OUTCOME].to_numpy(),
            [frame[guard_column(index)].to_numpy() for index in range(len(pair.guards))],
            [
                frame[name].to_numpy() if (name := family_column(index)) in frame.columns else None
                for index in range(len(pair.codecs))
            ],
            len(pair.advisory),
            frame[NUMBER].to_numpy() if pair.located else None,
        )

    def take(self, rows: npt.NDArray[np.int64]) -> Side:
        """Some rows' payload."""
        return Side(
            self.outcome[rows],
            [guard[rows] for guard in self.guards],
            [None if family is None else family[rows] for family in self.families],
            self.advisory,
            None if self.numbers is None else self.numbers[rows],
        )


def make_pairs(a: Side, b: Side) -> PairBatch:
    """Put partners side by side: row i of `a` with row i of `b`."""
    slices, differs = [], []
    for left, right in zip(a.families, b.families, strict=True):
        chosen = left if left is not None else right
        assert chosen is not None, "a family is carried by at least one side"
        slices.append(chosen)
        differs.append(None if left is None or right is None else left != right)
    unequal = [left_guard != right_guard for left_guard, right_guard in zip(a.guards, b.guards, strict=True)]
    strict = len(unequal) - a.advisory
    mismatch = reduce(or_, unequal[:strict]) if unequal[:strict] else None
    advised = reduce(or_, unequal[strict:]) if unequal[strict:] else None
    return PairBatch(
        a.outcome,
        b.outcome,
        tuple(slices),
        tuple(differs),
        mismatch,
        advised,
        rows_a=a.numbers,
        rows_b=b.numbers,
    )


@dataclass
class Unpaired:
    """One side's rows that never reached a pair, counted as a strategy goes."""

    meter: Meter = field(default_factory=Meter)
    rows: int = 0
    filtered: int = 0
    null_id: int = 0
    duplicate: int = 0
    unmatched: int = 0

    def saw(self, rows: int) -> None:
        """So many rows were read."""
        self.rows += rows
        self.meter.add(rows)

    def without_null_ids(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of a canonical batch that have an id; the others are counted."""
        if not frame[ID].null_count():
            return frame
        unidentified = frame.filter(frame[ID].is_null())
        filtered = int(unidentified[FILTERED].sum()) if FILTERED in frame.columns else 0
        self.filtered += filtered
        self.null_id += unidentified.height - filtered
        return frame.filter(frame[ID].is_not_null())

    def ledger(self) -> SideLedger:
        """The part of the side's ledger that pairing decides."""
        return SideLedger(
            rows=self.rows,
            filtered=self.filtered,
            null_id=self.null_id,
            duplicate=self.duplicate,
            unmatched=self.unmatched,
        )


@dataclass
class Outcome:
    """Both sides' rows that never reached a pair. Buckets add from several threads."""

    meter: Meter = field(default_factory=Meter)
    a: Unpaired = field(init=False)
    b: Unpaired = field(init=False)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.a, self.b = Unpaired(self.meter), Unpaired(self.meter)

    def record(self, matched: Matched, rows_a: int) -> None:
        """Count the rows that `match` left without a partner; a's are those below `rows_a`."""
        for fate in ("filtered", "duplicate", "unmatched"):
            rows = getattr(matched, fate)
            of_a = int(np.count_nonzero(rows < rows_a))
            with self._lock:
                for side, count in ((self.a, of_a), (self.b, len(rows) - of_a)):
                    setattr(side, fate, getattr(side, fate) + count)
