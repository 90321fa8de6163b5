"""Any ids in any order: both logs are cut into buckets by key, and partners meet within a bucket.

Memory is bounded by the chunk being read and the buckets being matched; see ENGINE figures in docs/design.md.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING

import numpy as np

from streamcmp import interrupt
from streamcmp.ahead import ahead
from streamcmp.pairing.batch import make_pairs
from streamcmp.pairing.matching import match
from streamcmp.pairing.rows import RowLayout
from streamcmp.pairing.spill import Spill, bucket_bits, check_room, chunk_rows, groups, hold_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt
    import polars as pl

    from streamcmp.comparison import SideName
    from streamcmp.logs.model import LogPair
    from streamcmp.pairing.batch import Outcome, PairBatch
    from streamcmp.pairing.examples import Examples
    from streamcmp.pairing.matching import Matched
    from streamcmp.pairing.rows import Planes
    from streamcmp.pairing.spill import Group
    from streamcmp.resources import Resources

    Pack = Callable[[SideName, pl.DataFrame], tuple[npt.NDArray[np.uint64], Planes]]


def pairs(pair: LogPair, resources: Resources, outcome: Outcome, examples: Examples) -> Iterator[PairBatch]:
    """Yield the pairs of one bucket after another; fill `outcome` and `examples`."""
    layout = RowLayout(pair)
    expected = pair.a.estimated_rows + pair.b.estimated_rows
    bits = bucket_bits(expected) if resources.bucket_bits is None else resources.bucket_bits
    spills = new_spills(layout.planes, bits, expected, resources)
    try:
        scatter(pair, spills, lambda _side, frame: layout.pack(frame), resources, outcome)
        work = _Matcher(Settler(layout, bits, outcome, examples), spills)
        yield from in_groups(work, spills, resources, outcome)
    finally:
        for spill in spills:
            spill.close()


def new_spills(
    planes: Sequence[np.dtype[np.generic]], bits: int, expected: int, resources: Resources
) -> tuple[Spill, Spill]:
    """One per side. Raises DataError where the disk has no room for so many rows of both."""
    hold = hold_bytes(resources)
    check_room(resources, expected * sum(plane.itemsize for plane in planes) - 2 * hold)
    return (
        Spill(planes, bits, resources.spill_dir, hold),
        Spill(planes, bits, resources.spill_dir, hold),
    )


def scatter(
    pair: LogPair, spills: tuple[Spill, Spill], pack: Pack, resources: Resources, outcome: Outcome
) -> None:
    """Read both logs into buckets, side by side. `pack` gives a batch's keys, and what is kept of it."""
    outcome.meter.begin("reading into buckets", pair.a.estimated_rows + pair.b.estimated_rows)
    given_up = Event()

    def read(side: SideName) -> None:
        log, unpaired, spill = (
            (pair.a, outcome.a, spills[0]) if side == "a" else (pair.b, outcome.b, spills[1])
        )
        try:
            for frame in log.batches(resources.rows_at_a_time(chunk_rows(log.estimated_rows))):
                interrupt.check()
                if given_up.is_set():
                    return
                unpaired.saw(frame.height)
                spill.append(*pack(side, unpaired.without_null_ids(frame)))
        except BaseException:
            given_up.set()
            raise

    with ThreadPoolExecutor(min(2, resources.threads)) as pool:
        for done in [pool.submit(read, "a"), pool.submit(read, "b")]:
            done.result()


def in_groups(
    work: Callable[[range], list[PairBatch]],
    spills: tuple[Spill, Spill],
    resources: Resources,
    outcome: Outcome,
) -> Iterator[PairBatch]:
    """What `work` makes of each group of buckets, on several threads."""
    todo = groups(spills)
    outcome.meter.begin("matching buckets", len(todo), "groups")
    with ThreadPoolExecutor(resources.threads) as pool:
        for batches in ahead(pool, work, todo, resources.threads + 1):
            yield from batches
            outcome.meter.add(1)


def joined(groups: tuple[Group, Group], bucket: int, planes: int) -> tuple[Planes, int]:
    """The first planes of a bucket, a's rows first, and how many those are."""
    found = []
    rows_a = 0
    for plane in range(planes):
        of_a = groups[0].pieces(bucket, plane)
        rows_a = sum(map(len, of_a))
        found.append(np.concatenate([*of_a, *groups[1].pieces(bucket, plane)]))
    return found, rows_a


@dataclass(frozen=True)
class Settler:
    """Settles what becomes of the rows of a bucket, whatever they are. Called from several threads."""

    layout: RowLayout
    bits: int
    outcome: Outcome
    examples: Examples

    def settle(self, planes: Planes, checks: npt.NDArray[np.uint32] | None, rows_a: int) -> PairBatch:
        """The pairs among rows in the layout's planes, a's first; the others are recorded."""
        layout, keys = self.layout, planes[0]
        matched = match(keys, checks, layout.filtered(planes), rows_a, self.bits)
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


@dataclass(frozen=True)
class _Matcher:
    """Matches one group of buckets after another."""

    settler: Settler
    spills: tuple[Spill, Spill]

    def __call__(self, buckets: range) -> list[PairBatch]:
        groups = (self.spills[0].read(buckets), self.spills[1].read(buckets))
        layout, batches = self.settler.layout, []
        for bucket in buckets:
            planes, rows_a = joined(groups, bucket, len(layout.planes))
            if len(planes[0]):
                batches.append(self.settler.settle(planes, layout.checks(planes), rows_a))
        return batches
