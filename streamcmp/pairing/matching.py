"""Partners among the rows of one bucket, or of one window of sorted logs.

The usual case, where no id occurs twice on a side, is solved by sorting plain numbers: the high bits of a key
with the row's number below them. Partners are then neighbours. That takes 6 to 10 ns a row, where a table of
keys takes 12 to 20 and sorting the rows' numbers by key three times as long (measured). Everything else, and
keys that differ only in what the number leaves out, is solved by the latter: what becomes of the rows of one
id follows from how many each side has. No pair of a many-to-many id is ever formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Indices = npt.NDArray[np.int64]
    Keys = npt.NDArray[np.uint64]
    Ids = npt.NDArray[np.int64] | npt.NDArray[np.uint64]
    Words = npt.NDArray[np.uint32]
    Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Matched:
    """Row numbers of a bucket by fate. Rows below `rows_a` are a's. pair_a[i] and pair_b[i] are partners."""

    pair_a: Indices
    pair_b: Indices
    filtered: Indices
    duplicate: Indices
    unmatched: Indices


def match(
    keys: Keys, checks: Words | None, filtered: Flags | None, rows_a: int, shared_bits: int = 0
) -> Matched:
    """Match the rows of one bucket.

    keys: one per row, a's rows first; all agree in their `shared_bits` highest bits. checks: a further hash,
    or None where equal keys mean equal ids. filtered: rows that `--where` excludes, or None.
    """
    if filtered is None or not filtered.any():
        return _by_words(keys, checks, rows_a, shared_bits) or _by_sorting(keys, checks, None, rows_a)
    kept = np.flatnonzero(~filtered)
    kept_a = int(np.searchsorted(kept, rows_a))
    found = _by_words(keys[kept], None if checks is None else checks[kept], kept_a, shared_bits)
    if found is None:
        return _by_sorting(keys, checks, filtered, rows_a)
    # Rows that found no kept partner may have a filtered one.
    rest = np.union1d(np.flatnonzero(filtered), kept[found.unmatched])
    rest_a = int(np.searchsorted(rest, rows_a))
    others = _by_sorting(keys[rest], None if checks is None else checks[rest], filtered[rest], rest_a)
    return Matched(
        kept[found.pair_a],
        kept[found.pair_b],
        rest[others.filtered],
        rest[others.duplicate],
        rest[others.unmatched],
    )


def repeats(keys: Keys) -> bool:
    """Whether any key occurs twice."""
    ordered = np.sort(keys)
    return bool((ordered[1:] == ordered[:-1]).any())


def _by_words(keys: Keys, checks: Words | None, rows_a: int, shared_bits: int) -> Matched | None:
    """The usual case: no id more than once per side. None where that does not hold, or keys clash."""
    row_bits = np.uint64(len(keys).bit_length())
    words = keys << np.uint64(shared_bits)
    words >>= row_bits
    words <<= row_bits
    words |= np.arange(len(keys), dtype=np.uint64)
    words.sort()
    rows = (words & np.uint64((1 << int(row_bits)) - 1)).view(np.int64)
    words >>= row_bits
    first = np.flatnonzero(words[1:] == words[:-1])
    pair_a, pair_b = rows[first], rows[first + 1]
    # Of neighbours a's row comes first, unless both are of one side.
    if bool((pair_a >= rows_a).any()) or bool((pair_b < rows_a).any()):
        return None
    if bool((keys[pair_a] != keys[pair_b]).any()):
        return None
    if checks is not None and bool((checks[pair_a] != checks[pair_b]).any()):
        return None
    none = np.zeros(0, np.int64)
    unmatched = none
    if 2 * len(first) < len(keys):
        alone = np.ones(len(keys), np.bool_)
        alone[first] = alone[first + 1] = False
        unmatched = rows[alone]
    return Matched(pair_a, pair_b, none, none, unmatched)


def match_rising(a: Ids, b: Ids, filtered: Flags | None) -> Matched:
    """Match ids that rise strictly on each side; `filtered` is of a's rows and then b's."""
    if filtered is not None and filtered.any():
        ids = np.concatenate([a, b])
        order = np.argsort(ids, kind="stable")  # merges the two runs
        same = np.zeros(len(ids), np.bool_)
        same[1:] = ids[order][1:] == ids[order][:-1]
        return _fates(order, same, filtered, len(a))
    in_b, in_a = _shared(a, b)
    none = np.zeros(0, np.int64)
    unmatched = np.concatenate([np.flatnonzero(~in_b), np.flatnonzero(~in_a) + len(a)])
    return Matched(np.flatnonzero(in_b), np.flatnonzero(in_a) + len(a), none, none, unmatched)


def _shared(a: Ids, b: Ids) -> tuple[Flags, Flags]:
    """Which of a's rising ids b has too, and which of b's a has."""
    if not len(a) or not len(b):
        return np.zeros(len(a), np.bool_), np.zeros(len(b), np.bool_)
    low, high = min(int(a[0]), int(b[0])), max(int(a[-1]), int(b[-1]))
    if high - low < 4 * (len(a) + len(b)):  # a cell per possible id: 1 ns a row where the search takes 8
        cells = np.zeros(high - low + 1, np.uint8)
        place_a, place_b = (a - a.dtype.type(low)).view(np.int64), (b - b.dtype.type(low)).view(np.int64)
        cells[place_a] = 1
        cells[place_b] += 2
        return cells[place_a] == 3, cells[place_b] == 3
    place = np.minimum(np.searchsorted(a, b), len(a) - 1)
    in_a = a[place] == b
    in_b = np.zeros(len(a), np.bool_)
    in_b[place[in_a]] = True
    return in_b, in_a


def _by_sorting(keys: Keys, checks: Words | None, filtered: Flags | None, rows_a: int) -> Matched:
    """Any number of rows per id, any of them filtered."""
    order = np.argsort(keys, kind="stable") if checks is None else np.lexsort((checks, keys))
    ordered = keys[order]
    same = np.zeros(len(keys), np.bool_)
    same[1:] = ordered[1:] == ordered[:-1]
    if checks is not None:
        checked = checks[order]
        same[1:] &= checked[1:] == checked[:-1]
    return _fates(order, same, filtered, rows_a)


def _fates(order: Indices, same: Flags, filtered: Flags | None, rows_a: int) -> Matched:
    """What becomes of rows sorted by id; `same`: whether a row has the id of the one before it."""
    gone = np.zeros(len(order), np.bool_) if filtered is None else filtered[order]
    from_b = order >= rows_a
    group = np.cumsum(~same) - 1
    groups = int(group[-1]) + 1 if len(group) else 0

    def count(rows: Flags) -> Indices:
        return np.bincount(group[rows], minlength=groups)

    kept_a, kept_b = count(~from_b & ~gone), count(from_b & ~gone)
    gone_a, gone_b = count(~from_b & gone), count(from_b & gone)
    # A kept row without a kept partner goes with a filtered one.
    follows = ((kept_b == 0) & (gone_b > 0)) | ((kept_a == 0) & (gone_a > 0))
    repeated = ~follows & ((kept_a > 1) | (kept_b > 1))
    paired = (kept_a == 1) & (kept_b == 1)
    alone = ~follows & ~repeated & ~paired
    partners = order[paired[group] & ~gone].reshape(-1, 2)  # within an id a's rows come first
    return Matched(
        partners[:, 0],
        partners[:, 1],
        order[gone | follows[group]],
        order[repeated[group] & ~gone],
        order[alone[group] & ~gone],
    )
