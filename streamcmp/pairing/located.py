"""Rows known by their number, gathered in any order and given back in that of the numbers.

Entries are planes, arrays of one number per entry, the row's number first. They are sorted in chunks, and
given back in windows of so many row numbers, for which every chunk knows where they begin: a window holds no
more entries than rows, so that memory stays bounded. Entries that come in order cost no more than their copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from streamcmp import interrupt
from streamcmp.scratch import Scratch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy.typing as npt

    Planes = list[npt.NDArray[Any]]

_WINDOW_ROWS = 1 << 18
_CHUNK_ENTRIES = 1 << 20


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Entries sorted by row: of window `first` + i those from cuts[i] to cuts[i + 1]."""

    first: int
    cuts: npt.NDArray[np.int64]
    held: Planes | None
    offsets: tuple[int, ...]


class Located:
    """Entries of one log's rows, each row once. Append, then read as often as needed; close in the end.

    entries: how many there are; last: the greatest number of a row among them, -1 without any.
    """

    def __init__(
        self, planes: Sequence[np.dtype[Any]], folder: Path, hold_bytes: int, window_rows: int = _WINDOW_ROWS
    ) -> None:
        """`planes`: the types of an entry, its row's number first. `hold_bytes` may stay in memory."""
        self._types = planes
        self._hold_bytes = hold_bytes
        self._window_rows = window_rows
        self._scratch = Scratch(folder)
        self._waiting: list[Planes] = []
        self._waiting_entries = 0
        self._chunks: list[_Chunk] = []
        self.entries = 0
        self.last = -1

    def append(self, planes: Planes) -> None:
        """Add entries in any order."""
        if not len(planes[0]):
            return
        self._waiting.append(planes)
        self._waiting_entries += len(planes[0])
        self.entries += len(planes[0])
        self.last = max(self.last, int(planes[0].max()))
        if self._waiting_entries >= _CHUNK_ENTRIES:
            self._settle()

    def _settle(self) -> None:
        """Make a chunk of what waits."""
        planes = [np.concatenate(several) for several in zip(*self._waiting, strict=True)]
        self._waiting, self._waiting_entries = [], 0
        rows = planes[0]
        if not bool((rows[1:] > rows[:-1]).all()):
            order = np.argsort(rows, kind="stable")
            planes = [np.take(plane, order) for plane in planes]
            rows = planes[0]
        first, last = int(rows[0]) // self._window_rows, int(rows[-1]) // self._window_rows
        cuts = np.searchsorted(rows, np.arange(first, last + 2) * self._window_rows)
        takes = sum(plane.nbytes for plane in planes)
        if takes <= self._hold_bytes:
            self._hold_bytes -= takes
            self._chunks.append(_Chunk(first, cuts, planes, ()))
        else:
            offsets = tuple(
                self._scratch.append(np.ascontiguousarray(plane).view(np.uint8).data) for plane in planes
            )
            self._chunks.append(_Chunk(first, cuts, None, offsets))

    def windows(self) -> Iterator[Planes]:
        """All entries, by row, in pieces that are none of them empty."""
        if self._waiting:
            self._settle()
        last = max((chunk.first + len(chunk.cuts) - 1 for chunk in self._chunks), default=0)
        for window in range(last):
            interrupt.check()
            pieces = [piece for chunk in self._chunks if (piece := self._piece(chunk, window)) is not None]
            if not pieces:
                continue
            planes = [np.concatenate(several) for several in zip(*pieces, strict=True)]
            if len(pieces) > 1:
                order = np.argsort(planes[0], kind="stable")
                planes = [np.take(plane, order) for plane in planes]
            yield planes

    def _piece(self, chunk: _Chunk, window: int) -> Planes | None:
        at = window - chunk.first
        if not 0 <= at < len(chunk.cuts) - 1:
            return None
        start, stop = int(chunk.cuts[at]), int(chunk.cuts[at + 1])
        if start == stop:
            return None
        if chunk.held is not None:
            return [plane[start:stop] for plane in chunk.held]
        planes = []
        for dtype, offset in zip(self._types, chunk.offsets, strict=True):
            plane = np.empty(stop - start, dtype)
            self._scratch.read_into(plane.view(np.uint8).data, offset + start * dtype.itemsize)
            planes.append(plane)
        return planes

    def close(self) -> None:
        """Free memory and disk."""
        self._chunks, self._waiting = [], []
        self._scratch.close()


def evenly(pieces: Iterator[Planes], entries: int) -> Iterator[Planes]:
    """The same entries by so many at a time; the last may be fewer."""
    held: Planes = []
    for planes in pieces:
        held = [np.concatenate(both) for both in zip(held, planes, strict=True)] if held else planes
        whole = len(held[0]) - len(held[0]) % entries
        for start in range(0, whole, entries):
            yield [plane[start : start + entries] for plane in held]
        held = [plane[whole:] for plane in held]
    if held and len(held[0]):
        yield held
