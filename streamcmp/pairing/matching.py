"""Partners within one bucket, by sorting.

All rows of a bucket, a's before b's, are sorted by id; rows of one id then stand together, and what becomes
of them follows from how many each side has. No pair of a many-to-many id is ever formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Indices = npt.NDArray[np.int64]
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
    keys: npt.NDArray[np.uint64],
    checks: npt.NDArray[np.uint32] | None,
    filtered: Flags | None,
    rows_a: int,
    shared_bits: int,
) -> Matched:
    """Match the rows of one bucket.

    keys: one per row, a's rows first; all agree in their `shared_bits` highest bits. checks: a further
    hash, or None where equal keys mean equal ids. filtered: rows that `--where` excludes, or None.
    """
    order, same = _sorted_by_id(keys, checks, shared_bits)
    from_b = order >= rows_a
    if filtered is None or not filtered.any():
        simple = _simple(order, same, from_b)
        if simple is not None:
            return simple
    return _general(order, same, from_b, np.zeros(len(keys), np.bool_) if filtered is None else filtered)


def _sorted_by_id(
    keys: npt.NDArray[np.uint64], checks: npt.NDArray[np.uint32] | None, shared_bits: int
) -> tuple[Indices, Flags]:
    """Row numbers sorted by id, then by row number; and whether each has the id of the one before it."""
    rows = len(keys)
    low = np.uint64(max(1, (rows - 1).bit_length() if rows else 1))
    # The row number takes the place of the key's low bits: sorting plain numbers is far faster than argsort.
    packed = keys << np.uint64(shared_bits)
    packed >>= low
    packed <<= low
    packed |= np.arange(rows, dtype=np.uint64)
    packed.sort()
    order = (packed & np.uint64((1 << int(low)) - 1)).astype(np.int64)
    prefixes = packed >> low
    alike = prefixes[1:] == prefixes[:-1]
    same = _same_id(order, keys, checks)
    if bool((alike & ~same).any()):  # different ids share the bits that were left: sort by all of them
        order = np.lexsort((keys,) if checks is None else (checks, keys))
        same = _same_id(order, keys, checks)
    return order, np.concatenate([np.zeros(min(1, rows), np.bool_), same])


def _same_id(order: Indices, keys: npt.NDArray[np.uint64], checks: npt.NDArray[np.uint32] | None) -> Flags:
    ordered = keys[order]
    same: Flags = ordered[1:] == ordered[:-1]
    if checks is not None:
        checked = checks[order]
        same &= checked[1:] == checked[:-1]
    return same


def _simple(order: Indices, same: Flags, from_b: Flags) -> Matched | None:
    """The usual case: no id more than once per side. None where that does not hold."""
    second = np.flatnonzero(same)
    first = second - 1
    if bool(same[first].any()) or bool((from_b[first] | ~from_b[second]).any()):
        return None
    alone = ~same
    alone[first] = False
    none = np.zeros(0, np.int64)
    return Matched(order[first], order[second], none, none, order[alone])


def _general(order: Indices, same: Flags, from_b: Flags, filtered: Flags) -> Matched:
    """Any number of rows per id, any of them filtered."""
    group = np.cumsum(~same) - 1
    groups = int(group[-1]) + 1 if len(group) else 0
    gone = filtered[order]

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
