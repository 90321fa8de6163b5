"""Both logs sorted by id, rows missing on either: read side by side, window by window, in constant memory.

A window ends at the smaller of the two last ids in hand, so every id in it is settled for good. That ids rise
strictly, which also proves that none occurs twice, is seen in every batch; the first that does not raises
`OutOfStep`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from streamcmp import interrupt
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
    chunk_rows = resources.chunk_rows or CHUNK_ROWS
    outcome.meter.begin("merging", pair.a.estimated_rows + pair.b.estimated_rows)
    a, b = _Rising(pair.a, outcome.a, chunk_rows), _Rising(pair.b, outcome.b, chunk_rows)
    while a.fill() | b.fill():
        interrupt.check()
        if a.template is None or b.template is None:
            raise OutOfStep  # a log without any rows; buckets count those of the other
        # The side that has ended holds nothing back.
        ends = [side.last for side in (a, b) if side.last is not None]
        end = min(ends) if len(ends) == 2 else None
        yield _window(a.take(end), b.take(end), pair, outcome, examples)


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
        count = int(window[ID].search_sorted(end, side="right"))
        self._hand = window.slice(count)
        return window.slice(0, count)


def _window(
    left: pl.DataFrame, right: pl.DataFrame, pair: LogPair, outcome: Outcome, examples: Examples
) -> PairBatch:
    a, b = Side.of(left, pair), Side.of(right, pair)
    flagged = FILTERED in left.columns or FILTERED in right.columns
    if not flagged and left[ID].equals(right[ID]):
        batch, ids = make_pairs(a, b), left[ID]
    else:
        both = pl.concat([left[ID], right[ID]])
        matched = _match(both, _filtered(left, right) if flagged else None, left.height)
        outcome.record(matched, left.height)
        batch = make_pairs(a.take(matched.pair_a), b.take(matched.pair_b - left.height))
        of_a = matched.unmatched < left.height
        examples.add_ids("unmatched_a", both.gather(matched.unmatched[of_a]))
        examples.add_ids("unmatched_b", both.gather(matched.unmatched[~of_a]))
        ids = left[ID].gather(matched.pair_a)
    if batch.mismatch is not None and batch.mismatch.any():
        examples.add_ids("guard_mismatch", ids.filter(pl.Series(batch.mismatch)))
    return batch


def _match(ids: pl.Series, filtered: npt.NDArray[np.bool_] | None, rows_a: int) -> Matched:
    if is_exact(ids.dtype):
        return match_rising(ids.to_numpy(), filtered, rows_a)
    return match(keys_of(ids), checks_of(ids), filtered, rows_a)


def _filtered(left: pl.DataFrame, right: pl.DataFrame) -> npt.NDArray[np.bool_]:
    return np.concatenate(
        [
            frame[FILTERED].to_numpy() if FILTERED in frame.columns else np.zeros(frame.height, np.bool_)
            for frame in (left, right)
        ]
    )
