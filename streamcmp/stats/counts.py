"""Counts as they arrive, made safe to compute with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# Rows worked on at once. The temporaries of one chunk stay in the processor's cache, and 1e6 slices need no
# more of them than 16 thousand.
CHUNK: Final = 16_384


def as_counts(*columns: npt.ArrayLike) -> tuple[Ints, ...]:
    """Columns of counts as int64 arrays of one shape (n_slices,).

    Unsigned and 32-bit counts are widened before anything is subtracted or squared: in their own width they
    wrap around in silence.

    Args:
        columns: array-likes of whole numbers >= 0, of equal length; a scalar is a column of one.

    Raises:
        ValueError: a column is not one-dimensional, lengths differ, or a value is negative, fractional or
            above 2^63 - 1.
    """
    arrays = tuple(_as_int64(column) for column in columns)
    if len({len(array) for array in arrays}) > 1:
        raise ValueError(f"counts of different lengths: {[len(array) for array in arrays]}")
    return arrays


def _as_int64(column: npt.ArrayLike) -> Ints:
    array = np.atleast_1d(np.asarray(column))
    if array.ndim != 1:
        raise ValueError(f"counts must be one-dimensional, not {array.ndim}-dimensional")
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu":
        raise ValueError(f"counts must be whole numbers, not {array.dtype}")
    if array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"a count above 2^63 - 1: {array.max()}")
    if array.min() < 0:
        raise ValueError(f"a negative count: {array.min()}")
    return array.astype(np.int64)


def chunks(size: int) -> Iterator[slice]:
    """Consecutive slices of at most CHUNK rows that cover range(size)."""
    return (slice(start, min(start + CHUNK, size)) for start in range(0, size, CHUNK))
