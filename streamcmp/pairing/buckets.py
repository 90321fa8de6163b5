"""Any ids in any order: both logs are cut into buckets by key, and partners meet within a bucket.

Memory is bounded by the chunk being read and the bucket being matched; see ENGINE figures in docs/design.md.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streamcmp import interrupt
from streamcmp.errors import DataError
from streamcmp.pairing.ahead import ahead
from streamcmp.pairing.batch import make_pairs
from streamcmp.pairing.matching import match
from streamcmp.pairing.rows import RowLayout
from streamcmp.pairing.spill import Spill, bucket_bits, hold_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from streamcmp.logs.model import CanonicalLog, LogPair
    from streamcmp.pairing.batch import Outcome, PairBatch, Unpaired
    from streamcmp.pairing.examples import Examples
    from streamcmp.pairing.matching import Matched
    from streamcmp.resources import Resources

CHUNK_ROWS = 500_000


def pairs(pair: LogPair, resources: Resources, outcome: Outcome, examples: Examples) -> Iterator[PairBatch]:
    """Yield the pairs of one bucket after another; fill `outcome` and `examples`."""
    layout = RowLayout(pair)
    expected = pair.a.estimated_rows + pair.b.estimated_rows
    bits = bucket_bits(expected) if resources.bucket_bits is None else resources.bucket_bits
    hold = hold_bytes(resources)
    _check_room(resources, expected * layout.row_bytes - 2 * hold)
    spills = (
        Spill(layout.row_bytes, bits, resources.spill_dir, hold),
        Spill(layout.row_bytes, bits, resources.spill_dir, hold),
    )
    sides = ((pair.a, outcome.a, spills[0]), (pair.b, outcome.b, spills[1]))
    outcome.meter.begin("reading into buckets", expected)
    try:
        with ThreadPoolExecutor(min(2, resources.threads)) as pool:
            for done in [pool.submit(_scatter, *side, layout, resources) for side in sides]:
                done.result()
        outcome.meter.begin("matching buckets", 1 << bits, "buckets")
        with ThreadPoolExecutor(resources.threads) as pool:
            work = _Matcher(layout, spills, bits, outcome, examples)
            for batch in ahead(pool, work, range(1 << bits), resources.threads + 1):
                yield batch
                outcome.meter.add(1)
    finally:
        for spill in spills:
            spill.close()


def _check_room(resources: Resources, needed: int) -> None:
    free = shutil.disk_usage(resources.spill_dir).free
    if needed > free:
        raise DataError(
            f"this comparison spills about {needed / 1e9:,.1f} GB, but {resources.spill_dir} has "
            f"{free / 1e9:,.1f} GB free; give a folder with more room with --spill-dir, or more --memory"
        )


def _scatter(
    log: CanonicalLog, unpaired: Unpaired, spill: Spill, layout: RowLayout, resources: Resources
) -> None:
    for frame in log.batches(resources.chunk_rows or CHUNK_ROWS):
        interrupt.check()
        unpaired.saw(frame.height)
        spill.append(layout.pack(unpaired.without_null_ids(frame)))


@dataclass(frozen=True)
class _Matcher:
    """Matches one bucket. Called from several threads."""

    layout: RowLayout
    spills: tuple[Spill, Spill]
    bits: int
    outcome: Outcome
    examples: Examples

    def __call__(self, bucket: int) -> PairBatch:
        layout, (spill_a, spill_b) = self.layout, self.spills
        rows_a = spill_a.size(bucket)
        rows = rows_a + spill_b.size(bucket)
        planes = [np.empty(rows, dtype) for dtype in layout.planes]
        spill_a.read(bucket, [plane[:rows_a] for plane in planes])
        spill_b.read(bucket, [plane[rows_a:] for plane in planes])
        keys = planes[0]
        matched = match(keys, layout.checks(planes), layout.filtered(planes), rows_a, self.bits)
        batch = make_pairs(layout.side(planes, matched.pair_a, "a"), layout.side(planes, matched.pair_b, "b"))
        self.outcome.record(matched, rows_a)
        self._remember(matched, rows_a, keys, batch)
        return batch

    def _remember(
        self, matched: Matched, rows_a: int, keys: npt.NDArray[np.uint64], batch: PairBatch
    ) -> None:
        dtype, add = self.layout.id_dtype, self.examples.add_keys
        for side, mine in (("a", matched.duplicate < rows_a), ("b", matched.duplicate >= rows_a)):
            # The fate covers all rows of the id; the side to name is the one that repeats it.
            repeated, times = np.unique(keys[matched.duplicate[mine]], return_counts=True)
            add("duplicate_a" if side == "a" else "duplicate_b", repeated[times > 1], dtype)
        add("unmatched_a", keys[matched.unmatched[matched.unmatched < rows_a]], dtype)
        add("unmatched_b", keys[matched.unmatched[matched.unmatched >= rows_a]], dtype)
        if batch.mismatch is not None:
            add("guard_mismatch", keys[matched.pair_a[batch.mismatch]], dtype)
