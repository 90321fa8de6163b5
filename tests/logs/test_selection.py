"""Exact quantiles in several passes are what sorting all numbers gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcmp.logs.selection import Selection, keys_of, number_of

NUMBERS = {
    "int64": st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3) | st.sampled_from([-(2**63), 2**63 - 1]),
    "uint64": st.integers(0, 2**64 - 1) | st.integers(0, 3) | st.sampled_from([2**64 - 1, 2**63]),
    "float64": st.floats(allow_nan=False).map(lambda x: x + 0.0 if x else 0.0)
    | st.integers(-3, 3).map(float),
}


def select(numbers: np.ndarray[Any, Any], parts: int, pieces: int, **sizes: int) -> tuple[Selection, int]:
    selection, passes = Selection(parts, **sizes), 0
    while selection.edges is None:
        for piece in np.array_split(numbers, pieces):
            selection.feed(keys_of(piece))
        selection.end()
        passes += 1
        assert passes < 20
    return selection, passes


@given(st.data(), st.sampled_from(sorted(NUMBERS)), st.integers(2, 12), st.integers(1, 4), st.integers(0, 6))
def test_quantiles_are_those_of_the_sorted_numbers(
    data: st.DataObject, kind: str, parts: int, pieces: int, held: int
) -> None:
    values = data.draw(st.lists(NUMBERS[kind], max_size=40))
    numbers = np.array(values, kind)
    selection, _ = select(numbers, parts, pieces, held=held, cells=64)
    ordered = sorted(values)
    wanted = {ordered[part * len(values) // parts] for part in range(1, parts)} if values else set()
    assert [number_of(key, kind) for key in selection.edges or []] == sorted(wanted)
    if values:
        assert selection.smallest is not None
        assert number_of(selection.smallest, kind) == ordered[0]


@pytest.mark.parametrize("kind", ["int64", "float64"])
def test_many_numbers_in_few_passes_and_little_memory(kind: str) -> None:
    rng = np.random.default_rng(1)
    numbers = rng.integers(0, 5000, 200_000) if kind == "int64" else rng.lognormal(size=200_000)
    selection, passes = select(numbers, 10, 7, held=5000, cells=2**12)
    ordered = np.sort(numbers)
    wanted = [ordered[part * 20_000] for part in range(1, 10)]
    assert [number_of(key, numbers.dtype) for key in selection.edges or []] == wanted
    assert passes <= 4
    again, _ = select(rng.permutation(numbers), 10, 3, held=5000, cells=2**12)
    assert again.edges == selection.edges


def test_keys_keep_the_order() -> None:
    floats = [-np.inf, -1e300, -1.0, -5e-324, 0.0, 5e-324, 1.0, np.inf]
    keys = keys_of(np.array(floats)).tolist()
    assert keys == sorted(keys)
    assert [number_of(key, np.float64) for key in keys] == floats
    ints = [-(2**63), -1, 0, 2**63 - 1]
    assert [number_of(key, np.int64) for key in keys_of(np.array(ints)).tolist()] == ints
