"""One side's rows, cut into buckets by the high bits of their keys; on disk beyond a share of the budget.

A row is its key and what a pair needs of it, in as few bytes as the comparison allows. Chunks of rows are
sorted by bucket and appended to one file per side, in one write each; a bucket is read back as one slice of
every chunk. The file is unlinked while open, so the system frees it with the process, however it ends.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from streamcmp.errors import DataError
from streamcmp.logs.model import FILTERED, ID, OUTCOME, family_column, guard_column
from streamcmp.pairing.batch import Side
from streamcmp.pairing.keys import checks_of, is_exact, keys_of

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from streamcmp.logs.model import LogPair

CHUNK_BITS = 20
CHUNK_ROWS = 1 << CHUNK_BITS
MAX_BUCKET_BITS = 32 - CHUNK_BITS  # bucket and row number share the 32 bits that are sorted
_FLAG_FILTERED = np.uint8(4)
_OUTCOME_MASK = np.uint8(3)

Rows = Any  # a structured array of RowLayout.dtype


class RowLayout:
    """The columns of a spilled row, the same on both sides.

    Key, check of text ids, guards, slice codes, flags.
    """

    def __init__(self, pair: LogPair) -> None:
        self.guards = len(pair.guards)
        self.carried = {"a": pair.a.families, "b": pair.b.families}
        self.families = range(len(pair.codecs))
        self.filters = pair.a.filters or pair.b.filters
        fields: list[tuple[str, str]] = [("key", "<u8")]
        self.id_dtype = pair.id_dtype
        self.checked = not is_exact(pair.id_dtype)
        if self.checked:
            fields.append(("check", "<u4"))
        fields += [(guard_column(index), "<u4") for index in range(self.guards)]
        fields += [(family_column(index), "<u4") for index in self.families]
        fields.append(("flags", "u1"))
        self.dtype = np.dtype(fields)

    def pack(self, frame: pl.DataFrame) -> Rows:
        """Rows of a canonical batch without null ids."""
        rows = np.empty(frame.height, self.dtype)
        ids = frame[ID]
        rows["key"] = keys_of(ids)
        if self.checked:
            rows["check"] = checks_of(ids)
        flags = frame[OUTCOME].to_numpy()
        if FILTERED in frame.columns:
            flags = flags | frame[FILTERED].to_numpy().astype(np.uint8) * _FLAG_FILTERED
        rows["flags"] = flags
        for name in (*map(guard_column, range(self.guards)), *map(family_column, self.families)):
            rows[name] = frame[name].to_numpy() if name in frame.columns else 0
        return rows

    def side(self, rows: Rows, side: str) -> Side:
        """The payload of `rows`, for making pairs."""
        return Side(
            rows["flags"] & _OUTCOME_MASK,
            [rows[guard_column(index)] for index in range(self.guards)],
            [rows[family_column(index)] if self.carried[side][index] else None for index in self.families],
        )

    @staticmethod
    def filtered(rows: Rows) -> npt.NDArray[np.bool_]:
        """Which rows `--where` excludes."""
        excluded: npt.NDArray[np.bool_] = (rows["flags"] & _FLAG_FILTERED) != 0
        return excluded


class Spill:
    """One side's buckets. Append from one thread, then read from any."""

    def __init__(self, layout: RowLayout, bits: int, folder: Path, hold_bytes: int) -> None:
        self._layout, self._bits, self._folder = layout, bits, folder
        self._hold_bytes = hold_bytes
        self._held: list[tuple[npt.NDArray[np.int64], Rows]] = []
        self._written: list[tuple[npt.NDArray[np.int64], int]] = []
        self._file: Any = None
        self._end = 0
        self.rows = 0

    @property
    def spilled_bytes(self) -> int:
        """Bytes on disk."""
        return self._end

    def append(self, frame: pl.DataFrame) -> None:
        """Add a canonical batch of at most CHUNK_ROWS rows, without null ids."""
        rows = self._layout.pack(frame)
        if self._bits:
            order = (rows["key"] >> np.uint64(64 - self._bits)).astype(np.uint32) << np.uint32(CHUNK_BITS)
            order |= np.arange(len(rows), dtype=np.uint32)
            order.sort()
            buckets = np.arange(1 << self._bits, dtype=np.uint32) << np.uint32(CHUNK_BITS)
            cuts = np.append(np.searchsorted(order, buckets), len(rows))
            rows = np.take(rows, (order & np.uint32(CHUNK_ROWS - 1)).astype(np.intp))
        else:
            cuts = np.array([0, len(rows)])
        self.rows += len(rows)
        if rows.nbytes <= self._hold_bytes:
            self._hold_bytes -= rows.nbytes
            self._held.append((cuts, rows))
        else:
            self._write(cuts, rows)

    def _write(self, cuts: npt.NDArray[np.int64], rows: Rows) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0, prefix="streamcmp-")  # noqa: SIM115
            view = memoryview(rows.view(np.uint8).reshape(-1))
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            raise DataError(
                f"cannot spill to {self._folder}: {error.strerror or error} after {self._end:,} bytes; "
                "give a folder with more room with --spill-dir, or more --memory"
            ) from None
        self._written.append((cuts, self._end))
        self._end += rows.nbytes

    def size(self, bucket: int) -> int:
        """Rows of one bucket."""
        return sum(int(cuts[bucket + 1] - cuts[bucket]) for cuts, _ in (*self._held, *self._written))

    def read(self, bucket: int, out: Rows) -> None:
        """Fill `out`, of the bucket's size, with its rows in the order they came."""
        at = 0
        for cuts, rows in self._held:
            part = rows[cuts[bucket] : cuts[bucket + 1]]
            out[at : at + len(part)] = part
            at += len(part)
        width = self._layout.dtype.itemsize
        for cuts, start in self._written:
            count = int(cuts[bucket + 1] - cuts[bucket])
            view = memoryview(out[at : at + count].view(np.uint8).reshape(-1))
            offset = start + int(cuts[bucket]) * width
            while view:
                got = os.preadv(self._file.fileno(), [view], offset)
                if got <= 0:
                    raise DataError(f"a spill file in {self._folder} became shorter while it was read")
                view, offset = view[got:], offset + got
            at += count

    def close(self) -> None:
        """Free memory and disk."""
        self._held.clear()
        self._written.clear()
        if self._file is not None:
            self._file.close()
            self._file = None
