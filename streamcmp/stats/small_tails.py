"""Exact tails of Bin(n, 1/2) for n <= 1023: sums of big integers, rounded once."""

from __future__ import annotations

from typing import Final

import numpy as np

from streamcmp.stats.counts import Floats, Ints

# 2 P(X <= 0) = 2^(1-n) is a normal double up to this n.
LARGEST_N: Final = 1023

_LENGTHS: Final = np.arange(LARGEST_N + 1) // 2 + 1
_STARTS: Final = np.cumsum(_LENGTHS) - _LENGTHS
# Rows are filled when first asked for: a report of five slices pays for five rows (at most 0.3 ms each), one
# of a million slices for all (0.1 s). Two threads that fill the same row write the same numbers.
_table: Final = np.empty(int(_LENGTHS.sum()))
_filled: Final = np.zeros(LARGEST_N + 1, np.bool_)


def doubled_tails(k: Ints, n: Ints) -> tuple[Floats, Floats]:
    """(2 P(X <= k), 2 P(X < k)) for X ~ Bin(n, 1/2), 0 <= 2 k <= n <= LARGEST_N, correctly rounded."""
    wanted = np.bincount(n, minlength=LARGEST_N + 1) > 0
    for missing in np.flatnonzero(wanted & ~_filled).tolist():
        start = _STARTS[missing]
        _table[start : start + _LENGTHS[missing]] = _row(missing)
        _filled[missing] = True
    position = _STARTS[n] + k
    return _table[position], np.where(k > 0, _table[position - 1], 0.0)


def _row(n: int) -> list[float]:
    """2 P(X <= k) for k = 0 ... n // 2; division of Python integers rounds correctly whatever their size."""
    outcomes = 1 << n
    row = []
    ways, at_most = 1, 0  # C(n, k), and its sum over 0 ... k
    for k in range(n // 2 + 1):
        at_most += ways
        row.append((2 * at_most) / outcomes)
        ways = ways * (n - k) // (k + 1)
    return row
