"""A sketch of a set of ids: how many there are, and how many two sets share, in 32 KB whatever their size.

It holds the SIZE smallest of the ids' 64-bit hashes. So it depends on the set alone, not on the order of rows
or on how often one occurs, and two sketches make exactly the sketch of the union. If the k smallest hashes
of the union reach up to the share u of the range, the union has about (k - 1) / u ids; and the part of those
k that is in both sketches is the part of the union that is in both sets (Bar-Yossef et al. 2002; Beyer et al.
2007). The relative standard error of the number is 1 / sqrt(k - 2): 1.6 %. Of the shared part J it is
sqrt((1 - J) / (J k)), so that a shared part of 1 % is known to within 16 % of itself, and one below
1 / 1,400 may go unseen with a probability of 5 %. Sets of fewer than SIZE ids are known exactly.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from streamcmp.stable_hash import stable_hash

if TYPE_CHECKING:
    import numpy.typing as npt

    Hashes = npt.NDArray[np.uint64]

SIZE = 4096
_RANGE = 2.0**64


@dataclass(frozen=True, eq=False)
class IdSketch:
    """The smallest hashes of a set of ids, ascending, at most SIZE.

    `of`: what was hashed and how, "text" or "int". Hashes of one kind say nothing of the other's.
    """

    of: str
    hashes: Hashes

    def __add__(self, other: IdSketch) -> IdSketch | None:
        """The sketch of the union; None where the two are not of a kind."""
        if self.of != other.of:
            return None
        return IdSketch(self.of, np.union1d(self.hashes, other.hashes)[:SIZE])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, IdSketch) and self.of == other.of and np.array_equal(self.hashes, other.hashes)
        )

    __hash__ = None  # type: ignore[assignment] # holds an array

    @property
    def ids(self) -> float:
        """About how many ids there are; exact below SIZE."""
        if len(self.hashes) < SIZE:
            return float(len(self.hashes))
        return (SIZE - 1) * _RANGE / float(self.hashes[-1])

    def shared(self, other: IdSketch) -> float:
        """About how many ids two sets share. 0 where none was seen, or the two are not of a kind."""
        union = self + other
        if union is None or not len(union.hashes):
            return 0.0
        both = np.intersect1d(self.hashes, other.hashes, assume_unique=True)
        seen = int(np.count_nonzero(both <= union.hashes[-1]))
        return union.ids * seen / len(union.hashes)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        return {"of": self.of, "hashes": base64.b64encode(self.hashes.astype("<u8").tobytes()).decode()}

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> IdSketch:
        """The inverse of `to_dict`. Raises ValueError where it is none."""
        hashes = np.frombuffer(base64.b64decode(raw["hashes"], validate=True), "<u8").astype(np.uint64)
        if len(hashes) > SIZE or bool((hashes[1:] <= hashes[:-1]).any()) or raw["of"] not in ("text", "int"):
            raise ValueError("the sketch of ids is none")
        return cls(raw["of"], hashes)


class SketchOf:
    """A sketch in the making. Ids may come again: passes that start over change nothing."""

    def __init__(self) -> None:
        self._of: str | None = None
        self._hashes: Hashes = np.zeros(0, np.uint64)
        self._waiting: list[Hashes] = []

    def add(self, ids: pl.Series) -> None:
        """Take in canonical ids without nulls: 64-bit integers, or text."""
        if not len(ids):
            return
        self._of = "int" if ids.dtype.is_integer() else "text"
        hashes = _mixed(ids) if self._of == "int" else stable_hash(ids)
        if len(self._hashes) == SIZE:
            hashes = hashes[hashes < self._hashes[-1]]
        self._waiting.append(hashes)
        if sum(map(len, self._waiting)) >= SIZE // 4:  # seldom, once most are too large
            self._settle()

    def _settle(self) -> None:
        self._hashes = np.unique(np.concatenate([self._hashes, *self._waiting]))[:SIZE]
        self._waiting.clear()

    def sketch(self) -> IdSketch | None:
        """The sketch of all that came; None where nothing did."""
        self._settle()
        return None if self._of is None else IdSketch(self._of, self._hashes)


def _mixed(ids: pl.Series) -> Hashes:
    """A bijection of 64-bit numbers that looks random: variant 13, by Stafford, of MurmurHash3's last step.

    A sketch of integers is compared with its like only: it needs no text, which takes ten times as long.
    """
    hashes = ids.to_numpy().view(np.uint64).copy()
    for bits, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        hashes ^= hashes >> np.uint64(bits)
        hashes *= np.uint64(factor)
    hashes ^= hashes >> np.uint64(31)
    return hashes
