"""Both logs sorted by id, rows missing on either: read side by side, window by window, in constant memory.

A window ends at the smaller of the two last ids in hand, so every id in it is settled for good. That ids rise
strictly, which also proves that none occurs twice, is seen in every batch; the first that does not raises
`OutOfStep`.

No expression of Polars is evaluated here: each would be a query that waits for the threads that read on.
"""

from __future__ import annotations

from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from streamcmp.ahead import ahead
from streamcmp.logs.model import FILTERED, ID
from streamcmp.pairing.batch import Side, make_pairs
from streamcmp.pairing.keys import checks_of, is_exact, keys_of
from streamcmp.pairing.lockstep import OutOfStep
from streamcmp.pairing.matching import match, match_rising

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from streamcmp.logs.model import CanonicalLog, LogPair
    from streamcmp.pairing.batch import Outcome, PairBatch, Unpaired
    from streamcmp.pairing.examples import Examples
    from streamcmp.pairing.matching import Matched
    from streamcmp.resources import Resources

CHUNK_ROWS = 200_000


def pairs(pair: LogPair, resources: Resources, outcome: Outcome, examples: Examples) -> Iterator[PairBatch]:
    """Yield the pairs of one window after another; fill `outcome` and `examples`. Raises OutOfStep."""
    chunk_rows = resources.rows_at_a_time(CHUNK_ROWS)
    outcome.meter.begin("merging", pair.a.estimated_rows + pair.b.estimated_rows)
    a, b = _Rising(pair.a, outcome.a, chunk_rows), _Rising(pair.b, outcome.b, chunk_rows)

    def settle(window: tuple[pl.DataFrame, pl.DataFrame]) -> PairBatch:
        return _settled(*window, pair, outcome, examples)

    with ThreadPoolExecutor(resources.threads) as pool:
        yield from ahead(pool, settle, _windows(a, b), resources.threads + 1)


def _windows(a: _Rising, b: _Rising) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Rows of both sides up to the smaller of their last ids in hand, again and again."""
    while a.fill() | b.fill():
        if a.template is None or b.template is None:
            raise OutOfStep  # a log without any rows; buckets count those of the other
        # The side that has ended holds nothing back.
        ends = [side.last for side in (a, b) if side.last is not None]
        end = min(ends) if len(ends) == 2 else None
        yield a.take(end), b.take(end)


class _Rising:
    """One side's rows in order, verified to rise strictly; the part not yet in a window is in hand."""

    def __init__(self, log: CanonicalLog, unpaired: Unpaired, chunk_rows: int) -> None:
        self._batches = log.batches(chunk_rows)
        self._unpaired = unpaired
        self._hand: pl.DataFrame | None = None
        self.template: pl.DataFrame | None = None  # no rows, the log's columns
        self._highest: Any = None

    def fill(self) -> bool:
        """Have rows in hand if any are left; whether there are."""
        while self._hand is None:
            batch = next(self._batches, None)
            if batch is None:
                return False
            self._unpaired.saw(batch.height)
            self.template = batch.clear()
            batch = self._unpaired.without_null_ids(batch)
            if batch.height:
                self._verify(batch[ID])
                self._hand = batch
        return True

    def _verify(self, ids: pl.Series) -> None:
        first: Any = ids.first()
        if self._highest is not None and not first > self._highest:
            raise OutOfStep
        if not (ids.slice(1) > ids.slice(0, len(ids) - 1)).all():
            raise OutOfStep
        self._highest = ids.last()

    @property
    def last(self) -> Any:
        """The last id in hand; None when all rows were taken."""
        return None if self._hand is None else self._highest

    def take(self, end: Any) -> pl.DataFrame:
        """The rows in hand up to the id `end`, or all of them."""
        if self._hand is None:
            assert self.template is not None
            return self.template
        window = self._hand
        if end is None or end == self._highest:
            self._hand = None
            return window
        count = bisect_right(window[ID], end)
        self._hand = window.slice(count)
        return window.slice(0, count)


def _settled(
    left: pl.DataFrame, right: pl.DataFrame, pair: LogPair, outcome: Outcome, examples: Examples
) -> PairBatch:
    """The pairs of one window; its other rows are recorded. Called from several threads."""
    a, b = Side.of(left, pair), Side.of(right, pair)
    flagged = FILTERED in left.columns or FILTERED in right.columns
    rows: npt.NDArray[np.int64] | None = None  # of the left window that are paired; None for all
    if flagged or not left[ID].equals(right[ID]):
        matched = _match(left[ID], right[ID], _filtered(left, right) if flagged else None)
        outcome.record(matched, left.height)
        rows = matched.pair_a
        a, b = a.take(rows), b.take(matched.pair_b - left.height)
        of_a = matched.unmatched < left.height
        examples.add_ids("unmatched_a", left[ID][matched.unmatched[of_a]])
        examples.add_ids("unmatched_b", right[ID][matched.unmatched[~of_a] - left.height])
    batch = make_pairs(a, b)
    if batch.mismatch is not None and batch.mismatch.any():
        paired = left[ID] if rows is None else left[ID][rows]
        examples.add_ids("guard_mismatch", paired.filter(pl.Series(batch.mismatch)))
    return batch


def _match(left: pl.Series, right: pl.Series, filtered: npt.NDArray[np.bool_] | None) -> Matched:
    if is_exact(left.dtype):
        return match_rising(left.to_numpy(), right.to_numpy(), filtered)
    keys = np.concatenate([keys_of(left), keys_of(right)])
    return match(keys, np.concatenate([checks_of(left), checks_of(right)]), filtered, len(left))


def _filtered(left: pl.DataFrame, right: pl.DataFrame) -> npt.NDArray[np.bool_]:
    return np.concatenate(
        [
            frame[FILTERED].to_numpy() if FILTERED in frame.columns else np.zeros(frame.height, np.bool_)
            for frame in (left, right)
        ]
    )
