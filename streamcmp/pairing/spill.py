"""One side's rows, cut into buckets by the high bits of their keys; on disk beyond what memory may hold.

Chunks of rows are sorted by bucket and appended, plane by plane, to one file per side; a bucket is read
back as one slice of every chunk. The file is unlinked while open, so the system frees it with the process,
however it ends.
"""

from __future__ import annotations

import math
import os
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from streamcmp.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from streamcmp.pairing.rows import Planes
    from streamcmp.resources import Resources

MAX_BUCKET_BITS = 12
_BUCKET_ROWS = 250_000  # of both sides; what matching a bucket touches fits the caches then (measured)
_HOLD_BYTES = 64 * 2**20  # small logs never touch the disk; for large ones the page cache does as well


def bucket_bits(rows: int) -> int:
    """How many bits of a key tell buckets apart, for about so many rows."""
    return min(MAX_BUCKET_BITS, max(0, math.ceil(math.log2(max(1, rows / _BUCKET_ROWS)))))


def hold_bytes(resources: Resources) -> int:
    """What one spill may hold in memory."""
    return min(resources.memory // 16, _HOLD_BYTES)


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Rows sorted by bucket.

    Bucket i is rows cuts[i] to cuts[i + 1]. Planes in memory, or their file offsets.
    """

    cuts: npt.NDArray[np.int64]
    held: Planes | None
    offsets: tuple[int, ...]


class Spill:
    """One side's buckets. Append from one thread, then read from any."""

    def __init__(self, row_bytes: int, bits: int, folder: Path, hold_bytes: int) -> None:
        self._row_bytes, self._bits, self._folder = row_bytes, bits, folder
        self._hold_bytes = hold_bytes
        self._chunks: list[_Chunk] = []
        self._file: Any = None
        self.spilled_bytes = 0

    def append(self, planes: Planes) -> None:
        """Add rows."""
        rows = len(planes[0])
        if self._bits:
            # Stable sorts of 8 and 16 bit numbers are radix sorts: 4 to 7 ns a row (measured).
            width = np.uint8 if self._bits <= 8 else np.uint16
            buckets = (planes[0] >> np.uint64(64 - self._bits)).astype(width)
            order = np.argsort(buckets, kind="stable")
            cuts = np.zeros((1 << self._bits) + 1, np.int64)
            np.cumsum(np.bincount(buckets, minlength=1 << self._bits), out=cuts[1:])
            planes = [np.take(plane, order) for plane in planes]
        else:
            cuts = np.array([0, rows])
        size = rows * self._row_bytes
        if size <= self._hold_bytes:
            self._hold_bytes -= size
            self._chunks.append(_Chunk(cuts, planes, ()))
        else:
            self._chunks.append(_Chunk(cuts, None, tuple(self._write(plane) for plane in planes)))

    def _write(self, plane: npt.NDArray[Any]) -> int:
        """Append one plane to the file; its offset there."""
        start = self.spilled_bytes
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0, prefix="streamcmp-")  # noqa: SIM115
            view = plane.view(np.uint8).data
            while view.nbytes:
                view = view[self._file.write(view) :]
        except OSError as error:
            raise DataError(
                f"cannot spill to {self._folder}: {error.strerror or error} after {start:,} bytes; "
                "give a folder with more room with --spill-dir, or more --memory"
            ) from None
        self.spilled_bytes += plane.nbytes
        return start

    def size(self, bucket: int) -> int:
        """Rows of one bucket."""
        return sum(int(chunk.cuts[bucket + 1] - chunk.cuts[bucket]) for chunk in self._chunks)

    def read(self, bucket: int, out: Planes) -> None:
        """Fill `out`, planes of the bucket's size, with its rows in the order they came."""
        at = 0
        for chunk in self._chunks:
            start, stop = int(chunk.cuts[bucket]), int(chunk.cuts[bucket + 1])
            for index, plane in enumerate(out):
                part = plane[at : at + stop - start]
                if chunk.held is not None:
                    part[:] = chunk.held[index][start:stop]
                else:
                    self._fetch(part, chunk.offsets[index] + start * plane.itemsize)
            at += stop - start

    def _fetch(self, part: npt.NDArray[Any], offset: int) -> None:
        view = part.view(np.uint8).data
        while view.nbytes:
            got = os.preadv(self._file.fileno(), [view], offset)
            if got <= 0:
                raise DataError(f"a spill file in {self._folder} became shorter while it was read")
            view, offset = view[got:], offset + got

    def close(self) -> None:
        """Free memory and disk."""
        self._chunks.clear()
        if self._file is not None:
            self._file.close()
            self._file = None
