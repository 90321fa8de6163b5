"""One side's rows, cut into buckets by the high bits of their keys; on disk beyond what memory may hold.

Chunks of rows are sorted by bucket and appended, plane by plane, to one file per side. Adjacent buckets are
read back together, as one slice of every chunk. The file is unlinked while open, so the system frees it with
the process, however it ends.
"""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from streamcmp.errors import DataError
from streamcmp.resources import MAX_BUCKET_BITS
from streamcmp.scratch import Scratch
from streamcmp.usage import size

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

    from streamcmp.pairing.rows import Planes
    from streamcmp.resources import Resources

MOST_CHUNK_ROWS = 1 << (32 - MAX_BUCKET_BITS)  # bucket and row share 32 bits while a chunk is sorted
_CHUNK_ROWS = 250_000  # their words fit the caches
_BUCKET_ROWS = 250_000  # of both sides; what matching a bucket touches fits the caches then (measured)
_LEAST_GROUP_ROWS, _MOST_GROUP_ROWS = 500_000, 2_000_000  # of both sides, read at once
_MOST_CHUNKS = 1_000  # of a side, as memory allows: each is read once for every group of buckets
_HOLD_BYTES = 32 * 2**20  # small logs never touch the disk; for large ones the page cache does as well


def bucket_bits(rows: int) -> int:
    """How many bits of a key tell buckets apart, for about so many rows."""
    return min(MAX_BUCKET_BITS, max(0, math.ceil(math.log2(max(1, rows / _BUCKET_ROWS)))))


def chunk_rows(rows: int) -> int:
    """How many rows of one side to sort at a time, for about so many rows of it."""
    return min(MOST_CHUNK_ROWS, max(_CHUNK_ROWS, rows // _MOST_CHUNKS))


def hold_bytes(resources: Resources) -> int:
    """What one spill may hold in memory."""
    return min(resources.memory // 16, _HOLD_BYTES)


def check_room(resources: Resources, needed: int) -> None:
    """Raise DataError unless the folder for spills has room for so many bytes."""
    free = shutil.disk_usage(resources.spill_dir).free
    if needed > free:
        raise DataError(
            f"this comparison spills about {size(needed)}, but {resources.spill_dir} has {size(free)} free; "
            "give a folder with more room with --spill-dir, or more --memory"
        )


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Rows sorted by bucket.

    Bucket i is rows cuts[i] to cuts[i + 1]. Planes in memory, or their file offsets.
    """

    cuts: npt.NDArray[np.int64]
    held: Planes | None
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Adjacent buckets of one side, in memory: of every chunk its cuts and planes, from bucket `start` on."""

    start: int
    chunks: list[tuple[list[int], Planes]]

    def pieces(self, bucket: int, plane: int) -> Planes:
        """One plane of one bucket, in the order in which its rows came."""
        at = bucket - self.start
        return [planes[plane][cuts[at] : cuts[at + 1]] for cuts, planes in self.chunks]


def groups(spills: Sequence[Spill]) -> list[range]:
    """Buckets to be read together, of all the spills."""
    buckets, rows = spills[0].buckets, sum(spill.rows for spill in spills)
    group_rows = min(max(_LEAST_GROUP_ROWS, rows // 64), _MOST_GROUP_ROWS)
    together = max(1, buckets * group_rows // max(1, rows))
    return [range(start, min(start + together, buckets)) for start in range(0, buckets, together)]


class Spill:
    """One side's buckets. Append from one thread, then read from any."""

    def __init__(self, planes: Sequence[np.dtype[Any]], bits: int, folder: Path, hold_bytes: int) -> None:
        """`planes`: the types of a row's planes, its key's first."""
        self._planes, self._bits = planes, bits
        self._hold_bytes = hold_bytes
        self._chunks: list[_Chunk] = []
        self._scratch = Scratch(folder)
        self.rows = 0

    @property
    def spilled_bytes(self) -> int:
        """What is on disk."""
        return self._scratch.bytes

    @property
    def buckets(self) -> int:
        """How many there are."""
        return 1 << self._bits

    def append(self, keys: npt.NDArray[np.uint64], planes: Planes) -> None:
        """Add rows: `keys` tell their buckets, `planes` are what is kept of them."""
        for start in range(0, len(keys), MOST_CHUNK_ROWS):
            part = slice(start, start + MOST_CHUNK_ROWS)
            self._append(keys[part], [plane[part] for plane in planes])

    def _append(self, keys: npt.NDArray[np.uint64], planes: Planes) -> None:
        rows = len(keys)
        self.rows += rows
        cuts = np.array([0, rows])
        if self._bits:
            # Bucket and row in one number: numpy sorts 32 bits at 4 to 5 ns a row (measured).
            room = np.uint32(32 - self._bits)
            places = (keys >> np.uint64(64 - self._bits)).astype(np.uint32)
            places <<= room
            places |= np.arange(rows, dtype=np.uint32)
            places.sort()
            starts = np.arange(self.buckets, dtype=np.uint32) << room
            cuts = np.append(np.searchsorted(places, starts), rows)
            places &= np.uint32((1 << int(room)) - 1)
            order = places.astype(np.intp)
            planes = [np.take(plane, order) for plane in planes]
        takes = rows * sum(plane.itemsize for plane in self._planes)
        if takes <= self._hold_bytes:
            self._hold_bytes -= takes
            self._chunks.append(_Chunk(cuts, planes, ()))
        else:
            self._chunks.append(_Chunk(cuts, None, tuple(self._write(plane) for plane in planes)))

    def _write(self, plane: npt.NDArray[Any]) -> int:
        """Append one plane to the file; its offset there."""
        return self._scratch.append(plane.view(np.uint8).data)

    def read(self, buckets: range) -> Group:
        """Some adjacent buckets."""
        nothing: Planes = [np.empty(0, plane) for plane in self._planes]  # so that each bucket has a piece
        chunks = [([0] * (len(buckets) + 1), nothing)]
        for chunk in self._chunks:
            cuts = chunk.cuts[buckets.start : buckets.stop + 1]
            start, stop = int(cuts[0]), int(cuts[-1])
            planes = (
                [plane[start:stop] for plane in chunk.held]
                if chunk.held is not None
                else [
                    self._fetch(np.empty(stop - start, plane), offset + start * plane.itemsize)
                    for plane, offset in zip(self._planes, chunk.offsets, strict=True)
                ]
            )
            chunks.append(((cuts - start).tolist(), planes))
        return Group(buckets.start, chunks)

    def _fetch(self, part: npt.NDArray[Any], offset: int) -> npt.NDArray[Any]:
        self._scratch.read_into(part.view(np.uint8).data, offset)
        return part

    def close(self) -> None:
        """Free memory and disk."""
        self._chunks.clear()
        self._scratch.close()
