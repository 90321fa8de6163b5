"""A row as it waits for its partner: its key and what a pair needs of it, in as few bytes as that takes.

Rows are kept as planes, arrays of one number per row: the key first, then the other words, two to a plane
of 64 bits. Whole planes are what numpy sorts, copies and gathers fastest, and matching reads no plane but
the key's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from streamcmp.errors import DataError
from streamcmp.logs.model import FILTERED, ID, NUMBER, OUTCOME, family_column, guard_column
from streamcmp.pairing.batch import Side
from streamcmp.pairing.keys import checks_of, is_exact, keys_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from streamcmp.comparison import SideName
    from streamcmp.logs.model import LogPair

    Planes = list[npt.NDArray[Any]]
    Keys = npt.NDArray[np.uint64]
    Words = npt.NDArray[np.uint32]

# The last word, "tag": outcome in two bits, --where in one, the first family's code above them.
_OUTCOME, _FILTERED, _TAG_BITS = np.uint32(3), np.uint32(4), 3
_MOST_SLICES = 1 << (32 - _TAG_BITS)
_CHECK, _TAG = "check", "tag"
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


class RowLayout:
    """Which words a row has, the same on both sides: check of text ids, guards, further families, tag.

    Behind them, in a plane of its own, the row's number where the pair is `located`.
    """

    def __init__(self, pair: LogPair, *, checked: bool = True) -> None:
        """`checked`: whether rows with text ids carry the check."""
        self.id_dtype = pair.id_dtype
        self.checked = checked and not is_exact(pair.id_dtype)
        self.filters = pair.a.filters or pair.b.filters
        self._carried: dict[SideName, tuple[bool, ...]] = {"a": pair.a.families, "b": pair.b.families}
        self._guards = [guard_column(index) for index in range(len(pair.guards))]
        self._advisory = len(pair.advisory)
        self._families = [family_column(index) for index in range(len(pair.codecs))]
        words = [*([_CHECK] if self.checked else []), *self._guards, *self._families[1:], _TAG]
        self._place = {word: index for index, word in enumerate(words)}
        whole, odd = divmod(len(words), 2)
        self.planes: list[np.dtype[Any]] = [np.dtype(np.uint64)] * (1 + whole) + [np.dtype(np.uint32)] * odd
        self.located = pair.located
        if self.located:
            self.planes.append(np.dtype(np.int64))

    @property
    def row_bytes(self) -> int:
        """What one row takes."""
        return sum(plane.itemsize for plane in self.planes)

    def pack(self, frame: pl.DataFrame) -> tuple[Keys, Planes]:
        """The keys of a canonical batch without null ids, and its planes, of which those are the first."""
        keys = keys_of(frame[ID])
        return keys, [keys, *self.payload(frame)]

    def payload(self, frame: pl.DataFrame) -> Planes:
        """The planes behind the key's."""
        words = [self._word(name, frame) for name in self._place]
        planes: Planes = []
        for high, low in zip(words[::2], words[1::2], strict=False):
            plane = high.astype(np.uint64)
            plane <<= _HALF
            plane |= low
            planes.append(plane)
        if len(words) % 2:
            planes.append(words[-1])
        if self.located:
            planes.append(frame[NUMBER].to_numpy())
        return planes

    def _word(self, name: str, frame: pl.DataFrame) -> Words:
        if name == _CHECK:
            return checks_of(frame[ID])
        if name == _TAG:
            return self._tag(frame)
        return _column(name, frame)

    def _tag(self, frame: pl.DataFrame) -> Words:
        tag = frame[OUTCOME].to_numpy().astype(np.uint32)
        if FILTERED in frame.columns:
            tag |= frame[FILTERED].to_numpy().astype(np.uint32) * _FILTERED
        if self._families and self._families[0] in frame.columns:
            codes = _column(self._families[0], frame)
            if codes.max(initial=0) >= _MOST_SLICES:
                raise DataError(f"a family has more than {_MOST_SLICES:,} slices; cut it more coarsely")
            tag |= codes << np.uint32(_TAG_BITS)
        return tag

    def word(self, name: str, planes: Sequence[npt.NDArray[Any]]) -> Words:
        """One word of rows given as planes."""
        index = self._place[name]
        plane = planes[1 + index // 2]
        if plane.dtype == np.uint32:
            return plane
        return (plane & _LOW if index % 2 else plane >> _HALF).astype(np.uint32)

    def checks(self, planes: Planes) -> Words | None:
        """The checks of text ids; None where keys are exact."""
        return self.word(_CHECK, planes) if self.checked else None

    def filtered(self, planes: Planes) -> npt.NDArray[np.bool_] | None:
        """Which rows `--where` excludes; None where there is none."""
        return (self.word(_TAG, planes) & _FILTERED) != 0 if self.filters else None

    def side(self, planes: Planes, rows: npt.NDArray[np.int64], side: SideName) -> Side:
        """The payload of some rows, for making pairs."""
        # The key's plane stays behind: a pair does not need it.
        gathered = [planes[0][:0], *(np.take(plane, rows) for plane in planes[1:])]
        tag = self.word(_TAG, gathered)
        codes = [tag >> np.uint32(_TAG_BITS)] if self._families else []
        codes += [self.word(name, gathered) for name in self._families[1:]]
        return Side(
            (tag & _OUTCOME).astype(np.uint8),
            [self.word(name, gathered) for name in self._guards],
            [code if carried else None for code, carried in zip(codes, self._carried[side], strict=True)],
            self._advisory,
            gathered[-1] if self.located else None,
        )


def _column(name: str, frame: pl.DataFrame) -> Words:
    """A column of codes; zeros where this side does not carry it."""
    return frame[name].to_numpy() if name in frame.columns else np.zeros(frame.height, np.uint32)
