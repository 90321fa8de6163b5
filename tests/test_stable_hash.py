"""The hash that shards are cut by: it may never change, so its values stand here."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcmp.stable_hash import _BLOCK_ROWS, shards_of, stable_hash

VECTORS: dict[str, int] = {
    # The first four are printed with the reference implementation.
    "": 0xEF46DB3751D8E999,
    "a": 0xD24EC4F1A98C6E5B,
    "abc": 0x44BC2CF5AD770999,
    "Nobody inspects the spammish repetition": 0xFBCEA83C8A378BF1,
    "7": 0x184A52B6A00D7AB7,
    "-9223372036854775808": 0x9E606AB2DD272C10,
    "18446744073709551615": 0x8D1F8F6D8DFA7C47,
    "gsm8k\x1f3": 0x9FA768D45817AC69,
    "naïve 漢字 😀": 0xAA76C6C618916D05,
    "x" * 1000: 0x4CB9A3B69CB700E1,
}


def test_fixed_values() -> None:
    assert stable_hash(pl.Series(list(VECTORS))).tolist() == list(VECTORS.values())
    for text, value in VECTORS.items():  # alone, where all texts of a block have one length
        assert stable_hash(pl.Series([text, text])).tolist() == [value, value]


@given(
    st.lists(st.text() | st.integers(0, 300).map(lambda size: "é" * size), max_size=50),
    st.integers(0, 2**64 - 1),
)
def test_it_is_what_others_compute(texts: list[str], seed: int) -> None:
    peer = pytest.importorskip("xxhash", reason="pip install -e '.[dev]'")
    expected = [peer.xxh64_intdigest(text.encode(), seed) for text in texts]
    assert stable_hash(pl.Series(texts, dtype=pl.String), seed).tolist() == expected


@given(st.lists(st.integers(0, 2**63 - 1), max_size=20), st.lists(st.integers(0, 127), max_size=20))
def test_equal_ids_have_equal_hashes_in_every_type(large: list[int], small: list[int]) -> None:
    types: list[tuple[list[int], Any]] = [(large, dtype) for dtype in (pl.Int64, pl.UInt64, pl.Int128)]
    types += [(small, dtype) for dtype in (pl.Int8, pl.UInt8, pl.Int32, pl.UInt16)]
    for numbers, dtype in types:
        texts = stable_hash(pl.Series([str(number) for number in numbers], dtype=pl.String))
        assert stable_hash(pl.Series(numbers, dtype=dtype)).tolist() == texts.tolist()


def test_a_series_in_pieces_or_in_part_hashes_as_its_texts_do() -> None:
    texts = [f"{number}" * (number % 7) for number in range(3 * _BLOCK_ROWS + 5)]
    whole = stable_hash(pl.Series(texts))
    pieces = pl.Series(texts[:10]).append(pl.Series(texts[10:]))
    np.testing.assert_array_equal(stable_hash(pieces), whole)
    np.testing.assert_array_equal(stable_hash(pl.Series(texts).slice(9_000, 10_000)), whole[9_000:19_000])
    np.testing.assert_array_equal(stable_hash(pl.Series(texts).filter(whole % 2 == 0)), whole[whole % 2 == 0])


def test_shards_are_the_hash_modulo_their_number_and_null_is_in_the_first() -> None:
    ids = pl.Series([None, "a", "abc", None, ""])
    assert shards_of(ids, 16).tolist() == [0, 0xB, 0x9, 0, 0x9]
    assert shards_of(pl.Series([None, None], dtype=pl.Int64), 16).tolist() == [0, 0]
    assert shards_of(pl.Series([1, 2, 3]), 1).tolist() == [0, 0, 0]
    # 0x 44BC 2CF5 AD77 0999 is above 2^62: the remainder is of an unsigned number.
    assert shards_of(pl.Series(["", "a"]), 1000).tolist() == [VECTORS[""] % 1000, VECTORS["a"] % 1000]


def test_shards_are_even() -> None:
    sizes = np.bincount(shards_of(pl.Series(range(160_000)), 16), minlength=16)
    assert abs(sizes - 10_000).max() < 500  # five standard deviations


@pytest.mark.parametrize(
    ("ids", "error"),
    [([1.5], TypeError), ([True], TypeError), ([None, "a"], ValueError), ([b"a"], TypeError)],
)
def test_what_is_no_id(ids: list[Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        stable_hash(pl.Series(ids))
