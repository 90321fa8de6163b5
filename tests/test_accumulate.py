"""What the tests of whole comparisons cannot reach: more pairs than 32 bits count."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from streamcmp import accumulate
from streamcmp.accumulate import Accumulator
from streamcmp.comparison import Rule
from streamcmp.logs.dictionary import Span
from streamcmp.logs.model import CORRECT, WRONG
from streamcmp.logs.slices import FamilyCodec
from streamcmp.pairing.batch import PairBatch


class Whole:
    """The codec of a column of whole numbers."""

    overlapping = ()

    def decode(self, codes: pl.Series) -> pl.DataFrame:
        return pl.DataFrame({"slice.k": Span(0, 3_000_000).decode(pl.Series(codes))})


def accumulator() -> Accumulator:
    codec: FamilyCodec = Whole()  # type: ignore[assignment]
    rule = Rule(("id",), "integer", {}, None, (("k",),), (), "exclude", "exclude")
    return Accumulator(rule, [codec])


def batch(codes: list[int], correct_b: list[bool], weights: list[int] | None = None) -> PairBatch:
    return PairBatch(
        np.full(len(codes), WRONG, np.uint8),
        np.where(correct_b, CORRECT, WRONG).astype(np.uint8),
        (np.array(codes, np.uint32),),
        (None,),
        weights=None if weights is None else np.array(weights),
    )


def test_more_pairs_than_32_bits_hold() -> None:
    counts = accumulator()
    for _ in range(3):
        counts.add(batch([1, 2], [True, False], [3_000_000_000, 1]))
    counts.add(batch([1], [True]))
    assert counts.tables()["k"].select("slice.k", "n_ba", "both_wrong").rows() == [
        (0, 9_000_000_001, 0),
        (1, 0, 3),
    ]


@pytest.mark.parametrize("most", [0, 2, 2**32 - 1])
def test_the_width_of_counts_changes_nothing(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(accumulate, "_MOST_IN_32_BITS", most)
    counts = accumulator()
    counts.add(batch([1, 1, 2], [True, True, False]))
    counts.add(batch([2_999_999, 1, 3], [True, False, True]))
    assert counts.tables()["k"].select("slice.k", "n_ba", "both_wrong").rows() == [
        (0, 2, 1),
        (1, 0, 1),
        (2, 1, 0),
        (2_999_998, 1, 0),
    ]


def test_no_pair_is_no_slice() -> None:
    tables = accumulator().tables()
    assert tables["k"].height == 0
    assert tables["overall"].height == 1
