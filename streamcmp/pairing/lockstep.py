"""Same order on both sides: read both logs side by side, in constant memory.

Nothing is believed. That partners stand side by side is seen in every batch; that no id occurs twice is proved by ids
that rise strictly, else from all ids' keys, sorted at the end. The first violation raises `OutOfStep`, and the caller
starts again with another strategy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from streamcmp import interrupt
from streamcmp.errors import DataError
from streamcmp.logs.model import FILTERED, ID
from streamcmp.pairing.batch import Outcome, Side, Unpaired, make_pairs
from streamcmp.pairing.examples import Examples
from streamcmp.pairing.keys import keys_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from streamcmp.logs.model import LogPair
    from streamcmp.pairing.batch import PairBatch
    from streamcmp.resources import Resources

CHUNK_ROWS = 200_000  # measured: 0.95-1.1 x the scan floor; larger chunks only cost memory


class OutOfStep(Exception):  # noqa: N818 - not an error: another strategy takes over
    """The logs are not in the same order, or an id may occur twice. Caught by the engine."""


def pairs(pair: LogPair, resources: Resources, outcome: Outcome, examples: Examples) -> Iterator[PairBatch]:
    """Yield pairs of neighbours; fill `outcome`. Raises OutOfStep, or DataError for `--on row` with unequal rows."""
    proof = _Uniqueness(resources.memory // 4)
    for left, right in pair.together(resources.chunk_rows or CHUNK_ROWS):
        interrupt.check()
        if left.height != right.height:
            _refuse_unequal(pair, outcome, left.height, right.height)
        outcome.a.rows += left.height
        outcome.b.rows += right.height
        if ID in left.columns and not pair.positional:
            batch = _identified(left, right, pair, outcome, proof, examples)
        else:
            batch = _positional(left, right, pair, outcome)
        yield batch
    proof.conclude()


def _refuse_unequal(pair: LogPair, outcome: Outcome, left: int, right: int) -> None:
    if not pair.positional:
        raise OutOfStep
    total = {"left": outcome.a.rows + left, "right": outcome.b.rows + right}
    longer, shorter = sorted(total, key=lambda side: total[side], reverse=True)
    raise DataError(f"--on row pairs by position, but the {longer} log has more rows than the {shorter} one "
                    f"(which ends after {total[shorter]:,}); name an id column with --on")


def _positional(left: pl.DataFrame, right: pl.DataFrame, pair: LogPair, outcome: Outcome) -> PairBatch:
    keep = None
    for frame in (left, right):
        if FILTERED in frame.columns:
            kept = ~frame[FILTERED]
            keep = kept if keep is None else keep & kept
    if keep is not None:
        filtered = len(keep) - int(keep.sum())
        outcome.a.filtered += filtered
        outcome.b.filtered += filtered
        left, right = left.filter(keep), right.filter(keep)
    return make_pairs(Side.of(left, pair), Side.of(right, pair))


def _identified(left: pl.DataFrame, right: pl.DataFrame, pair: LogPair, outcome: Outcome, proof: _Uniqueness,
                examples: Examples) -> PairBatch:
    if not left[ID].equals(right[ID], null_equal=True):
        raise OutOfStep
    if left[ID].null_count():
        present = left[ID].is_not_null()
        for frame, unpaired in ((left, outcome.a), (right, outcome.b)):
            _count_null_ids(frame.filter(~present), unpaired)
        left, right = left.filter(present), right.filter(present)
    proof.add(left[ID])
    ids = left[ID]
    if FILTERED in left.columns or FILTERED in right.columns:
        # A filtered row takes its partner along, so either side's flag excludes both.
        gone = np.zeros(left.height, np.bool_)
        for frame in (left, right):
            if FILTERED in frame.columns:
                gone |= frame[FILTERED].to_numpy()
        outcome.a.filtered += int(gone.sum())
        outcome.b.filtered += int(gone.sum())
        keep = pl.Series(~gone)
        left, right, ids = left.filter(keep), right.filter(keep), ids.filter(keep)
    batch = make_pairs(Side.of(left, pair), Side.of(right, pair))
    if batch.mismatch is not None and batch.mismatch.any():
        examples.add_ids("guard_mismatch", ids.filter(pl.Series(batch.mismatch)))
    return batch


def _count_null_ids(frame: pl.DataFrame, unpaired: Unpaired) -> None:
    filtered = int(frame[FILTERED].sum()) if FILTERED in frame.columns else 0
    unpaired.filtered += filtered
    unpaired.null_id += frame.height - filtered


class _Uniqueness:
    """Proves that no id occurs twice, or raises OutOfStep.

    The first batch decides how: ids that rise in it are expected to rise to the end and cost nothing; otherwise the
    keys of all ids are kept and sorted, which takes 16 bytes a row and must fit `budget`. Equal keys of text ids may
    be a clash of hashes; the next strategy tells.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._last: int | str | None = None
        self._rising: bool | None = None
        self._keys: list[npt.NDArray[np.uint64]] = []
        self._kept = 0

    def add(self, ids: pl.Series) -> None:
        if not len(ids):
            return
        if self._rising is not False:
            rising = bool((ids.slice(1) > ids.slice(0, len(ids) - 1)).all())
            rising = rising and (self._last is None or ids.first() > self._last)
            if self._rising and not rising:
                raise OutOfStep
            self._rising = rising
            self._last = ids.last()
        if self._rising is False:
            self._kept += len(ids)
            if 16 * self._kept > self._budget:
                raise OutOfStep
            self._keys.append(keys_of(ids))

    def conclude(self) -> None:
        if self._rising is False:
            keys = np.concatenate(self._keys)
            keys.sort()
            if bool((keys[1:] == keys[:-1]).any()):
                raise OutOfStep
