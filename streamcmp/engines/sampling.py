"""A few flips of every slice and kind, chosen by their ids alone: the same whatever the order of rows is.

Of each slice and kind those with the smallest stable hash of (seed, id) are taken. With several families a
flip is taken that is among them in a slice of any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from streamcmp.engines.gathered import IDENTITY, Gathered
from streamcmp.logs.picking import in_turn
from streamcmp.logs.shown import sides
from streamcmp.pairing.located import evenly
from streamcmp.stable_hash import stable_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from streamcmp.logs.model import LogPair
    from streamcmp.logs.slices import FamilyCodec
    from streamcmp.meter import Meter
    from streamcmp.pairing.located import Located
    from streamcmp.resources import Resources

    Planes = list[npt.NDArray[Any]]

_LEAST_CANDIDATES = 1 << 18
_HASHED_ROWS = 1 << 18


def sample(
    pair: LogPair, found: Located, size: tuple[int, int], resources: Resources, meter: Meter
) -> npt.NDArray[np.int64]:
    """Which of the flips, by their places in the order of a's rows, are in the sample; rising.

    `size`: how many of each slice and kind, and the seed. Memory grows with the sample, not with the flips.
    """
    most, seed = size
    slices = [_Slices(codec) for codec in pair.codecs]
    best = [_Best(most) for _ in range(max(1, len(slices)))]
    place = 0
    for planes, hashes in _hashed(pair, found, seed, resources, meter):
        places = np.arange(place, place + len(hashes))
        kinds = planes[2].astype(np.uint64)
        if not slices:
            best[0].add(kinds, hashes, places)
        for one, family, codes in zip(best, slices, planes[3:], strict=False):
            rows, numbers = family.of(codes)
            one.add(numbers * np.uint64(4) + kinds[rows], hashes[rows], places[rows])
        place += len(hashes)
    return np.unique(np.concatenate([one.places() for one in best]))


def _hashed(
    pair: LogPair, found: Located, seed: int, resources: Resources, meter: Meter
) -> Iterator[tuple[Planes, npt.NDArray[np.uint64]]]:
    """The flips with the hash of each one's id; of rows that pair by position, of their number, from 1."""
    import polars as pl

    if pair.positional:
        for planes in found.windows():
            yield planes, stable_hash(pl.Series(planes[0] + 1), seed)
        return
    _, a, _ = sides(pair)
    ids = Gathered(a, (), _HASHED_ROWS, resources, identify=True, label=False)
    try:
        meter.begin("reading ids", a.estimated_rows)
        windows = ids.in_order(in_turn(found.windows()), found.last, meter)
        for planes, window in zip(evenly(found.windows(), _HASHED_ROWS), windows, strict=True):
            yield planes, stable_hash(window[IDENTITY], seed)
    finally:
        ids.close()


class _Slices:
    """The slices that a family's codes stand for, as numbers: one each, or several where slices overlap."""

    def __init__(self, codec: FamilyCodec) -> None:
        self._codec = codec
        self._numbers: dict[tuple[Any, ...], int] = {}

    def of(self, codes: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        """For each row and slice that it is in: which row, and the slice's number."""
        if not self._codec.overlapping:
            return np.arange(len(codes)), codes.astype(np.uint64)
        different, which = np.unique(codes, return_inverse=True)
        frame = self._codec.decode(different).with_row_index("\0code")
        for name in self._codec.overlapping:
            frame = frame.explode(name)
        numbers: list[list[int]] = [[] for _ in different]
        for code, *values in frame.unique().iter_rows():
            numbers[code].append(self._numbers.setdefault(tuple(values), len(self._numbers)))
        lengths = np.array([len(several) for several in numbers], np.int64)[which]
        rows = np.repeat(np.arange(len(codes)), lengths)
        return rows, np.array([number for one in which.tolist() for number in numbers[one]], np.uint64)


class _Best:
    """The smallest hashes of every group, and whose they are."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: Planes = [np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0, np.int64)]
        self._waiting: list[Planes] = []
        self._waiting_rows = 0

    def add(
        self,
        groups: npt.NDArray[np.uint64],
        hashes: npt.NDArray[np.uint64],
        places: npt.NDArray[np.int64],
    ) -> None:
        """Some more candidates."""
        self._waiting.append([groups, hashes, places])
        self._waiting_rows += len(groups)
        if self._waiting_rows > max(_LEAST_CANDIDATES, len(self._kept[0])):
            self._prune()

    def _prune(self) -> None:
        groups, hashes, places = (
            np.concatenate(several) for several in zip(self._kept, *self._waiting, strict=True)
        )
        order = np.lexsort((hashes, groups))
        groups = groups[order]
        begins = np.flatnonzero(np.diff(groups, prepend=groups[:1] + np.uint64(1)))
        lengths = np.diff(np.append(begins, len(groups)))
        rank = np.arange(len(groups)) - np.repeat(begins, lengths)
        keep = order[rank < self._most]
        self._kept = [groups[rank < self._most], hashes[keep], places[keep]]
        self._waiting, self._waiting_rows = [], 0

    def places(self) -> npt.NDArray[np.int64]:
        """Where the chosen stand."""
        if self._waiting:
            self._prune()
        kept: npt.NDArray[np.int64] = self._kept[2]
        return kept
