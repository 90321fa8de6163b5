"""Ids as 64-bit keys, so that partners can be found by sorting numbers.

Integer ids keep their value: multiplying by an odd number is a bijection of the 64-bit integers, so equal
keys mean equal ids and the id can be read back. Text ids get a 64-bit hash and a further 32-bit check; both
together are taken for the id (two ids among 10^9 agree by chance once in 10^11 runs). Neither is stable
across versions of Polars, and neither leaves the process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    import numpy.typing as npt

_ODD = 0x9E3779B97F4A7C15  # 2^64 / golden ratio: the high bits depend on all the low ones
_INVERSE = pow(_ODD, -1, 2**64)
_SEED, _CHECK_SEED = 1, 2


def is_exact(ids: pl.DataType) -> bool:
    """Whether keys of ids of this dtype are the ids themselves in disguise."""
    return ids.is_integer()


def keys_of(ids: pl.Series) -> npt.NDArray[np.uint64]:
    """The keys of ids without nulls (Int64, UInt64 or String)."""
    if is_exact(ids.dtype):
        return ids.to_numpy().view(np.uint64) * np.uint64(_ODD)
    return _hashes(ids, _SEED)


def checks_of(ids: pl.Series) -> npt.NDArray[np.uint32]:
    """A second, independent hash of text ids."""
    return (_hashes(ids, _CHECK_SEED) >> np.uint64(32)).astype(np.uint32)


def _hashes(ids: pl.Series, seed: int) -> npt.NDArray[np.uint64]:
    # Not Series.hash, which is a query of its own and waits for the threads that read on.
    return pl.DataFrame([ids]).hash_rows(seed).to_numpy()


def ids_of(keys: npt.NDArray[np.uint64], dtype: pl.DataType) -> pl.Series:
    """The integer ids behind `keys`."""
    return pl.Series(
        (keys * np.uint64(_INVERSE)).view(np.uint64 if dtype == pl.UInt64 else np.int64), dtype=dtype
    )
