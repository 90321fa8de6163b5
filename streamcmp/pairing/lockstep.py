"""Same order on both sides: read both logs side by side, in constant memory.

Nothing is believed. That partners stand side by side is seen in every batch; that no id occurs twice is
proved by ids that rise strictly, else from the keys of all ids, looked at in the end. The first violation
raises `OutOfStep`, and the caller starts again with another strategy.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from streamcmp import interrupt
from streamcmp.errors import UnequalRows
from streamcmp.logs.model import FILTERED, ID
from streamcmp.pairing.batch import Side, make_pairs
from streamcmp.pairing.keys import keys_of
from streamcmp.pairing.matching import repeats
from streamcmp.pairing.spill import Spill, bucket_bits, check_room, groups, hold_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamcmp.logs.model import LogPair
    from streamcmp.pairing.batch import Outcome, PairBatch
    from streamcmp.pairing.examples import Examples
    from streamcmp.resources import Resources

CHUNK_ROWS = 200_000


class OutOfStep(Exception):
    """The logs are not in the same order, or an id may occur twice. Caught by the engine."""


def pairs(pair: LogPair, resources: Resources, outcome: Outcome, examples: Examples) -> Iterator[PairBatch]:
    """Yield pairs of neighbours.

    Fill `outcome`. Raises OutOfStep, or DataError for `--on row` with unequal rows.
    """
    outcome.meter.begin("reading in step", pair.a.estimated_rows + pair.b.estimated_rows)
    with closing(_Uniqueness(pair, resources)) as proof:
        yield from _in_step(pair, resources, outcome, proof, examples)
        proof.conclude()


def _in_step(
    pair: LogPair, resources: Resources, outcome: Outcome, proof: _Uniqueness, examples: Examples
) -> Iterator[PairBatch]:
    for left, right in pair.together(resources.rows_at_a_time(CHUNK_ROWS)):
        interrupt.check()
        if left.height != right.height:
            _refuse_unequal(pair, outcome, left.height, right.height)
        outcome.a.saw(left.height)
        outcome.b.saw(right.height)
        if not pair.positional:
            left, right = _verified(left, right, outcome, proof)  # noqa: PLW2901
        left, right = _unfiltered(left, right, outcome)  # noqa: PLW2901
        batch = make_pairs(Side.of(left, pair), Side.of(right, pair))
        if batch.mismatch is not None and ID in left.columns and batch.mismatch.any():
            examples.add_ids("guard_mismatch", left[ID].filter(pl.Series(batch.mismatch)))
        yield batch


def _refuse_unequal(pair: LogPair, outcome: Outcome, left: int, right: int) -> None:
    if not pair.positional:
        raise OutOfStep
    raise UnequalRows(outcome.a.rows + left, outcome.b.rows + right)


def _verified(
    left: pl.DataFrame, right: pl.DataFrame, outcome: Outcome, proof: _Uniqueness
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows that have an id, which is the same on both sides."""
    if not left[ID].equals(right[ID], null_equal=True):
        raise OutOfStep
    left, right = outcome.a.without_null_ids(left), outcome.b.without_null_ids(right)
    proof.add(left[ID])
    return left, right


def _unfiltered(
    left: pl.DataFrame, right: pl.DataFrame, outcome: Outcome
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The pairs that `--where` keeps: a filtered row takes its partner along."""
    flags = [frame[FILTERED] for frame in (left, right) if FILTERED in frame.columns]
    if not flags:
        return left, right
    gone = reduce(or_, flags)
    outcome.a.filtered += int(gone.sum())
    outcome.b.filtered += int(gone.sum())
    return left.filter(~gone), right.filter(~gone)


class _Uniqueness:
    """Proves that no id occurs twice, or raises OutOfStep.

    The first batch decides how: ids that rise in it are expected to rise to the end and cost nothing;
    otherwise all ids' keys are put into buckets, which are looked at in the end. Equal keys of text ids may
    be a clash of hashes; the next strategy tells.
    """

    def __init__(self, pair: LogPair, resources: Resources) -> None:
        self._bits = bucket_bits(pair.a.estimated_rows)
        self._keys = Spill([np.dtype(np.uint64)], self._bits, resources.spill_dir, hold_bytes(resources))
        self._spilled = 8 * pair.a.estimated_rows - hold_bytes(resources)
        self._resources = resources
        self._last: Any = None
        self._rising: bool | None = None

    def add(self, ids: pl.Series) -> None:
        if not len(ids):
            return
        if self._rising is not False:
            first: Any = ids.first()
            continues = bool(self._last is None or first > self._last)
            rising = continues and bool((ids.slice(1) > ids.slice(0, len(ids) - 1)).all())
            if self._rising and not rising:
                raise OutOfStep
            if self._rising is None and not rising:
                check_room(self._resources, self._spilled)
            self._rising, self._last = rising, ids.last()
        if self._rising is False:
            keys = keys_of(ids)
            self._keys.append(keys, [keys])

    def conclude(self) -> None:
        if self._rising is False:
            with ThreadPoolExecutor(self._resources.threads) as pool:
                if any(pool.map(self._repeats, groups([self._keys]))):
                    raise OutOfStep

    def _repeats(self, buckets: range) -> bool:
        interrupt.check()
        group = self._keys.read(buckets)
        return any(repeats(np.concatenate(group.pieces(bucket, 0))) for bucket in buckets)

    def close(self) -> None:
        self._keys.close()
