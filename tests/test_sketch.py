"""Sketches of id sets: the same for any order, and as accurate as they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcmp.sketch import SIZE, IdSketch, SketchOf


def sketch(*batches: Any) -> IdSketch:
    making = SketchOf()
    for batch in batches:
        making.add(pl.Series(batch))
    made = making.sketch()
    assert made is not None
    return made


def texts(first: int, last: int) -> pl.Series:
    return pl.select(pl.format("example-{}", pl.int_range(first, last))).to_series()


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.randoms(use_true_random=False))
def test_it_depends_on_the_set_alone(ids: list[int], rng: Any) -> None:
    again = [*ids, *ids[:3]]
    rng.shuffle(again)
    cut = rng.randrange(1, len(again) + 1)
    assert sketch(ids).to_dict() == sketch(again[:cut], pl.Series(again[cut:], dtype=pl.Int64)).to_dict()
    assert sketch(ids).ids == len(set(ids))
    assert IdSketch.from_dict(sketch(ids).to_dict()) == sketch(ids)


def test_large_sets_in_any_order_and_any_pieces() -> None:
    ids = texts(0, 100_000)
    whole = sketch(ids)
    mixed = ids.sample(fraction=1, shuffle=True, seed=1)
    assert sketch(*(mixed.slice(at, 7_777) for at in range(0, 100_000, 7_777))) == whole
    assert sketch(ids.slice(0, 60_000)) + sketch(ids.slice(50_000)) == whole
    assert len(whole.hashes) == SIZE


def test_the_type_of_integers_does_not_matter_and_text_is_another_kind() -> None:
    numbers = list(range(10_000))
    assert sketch(pl.Series(numbers, dtype=pl.Int64)) == sketch(pl.Series(numbers, dtype=pl.UInt64))
    spelled = sketch([str(number) for number in numbers])
    assert spelled + sketch(numbers) is None
    assert spelled.shared(sketch(numbers)) == 0


def test_nothing_came() -> None:
    making = SketchOf()
    making.add(pl.Series([], dtype=pl.Int64))
    assert making.sketch() is None


@pytest.mark.parametrize("kind", ["text", "int", "even numbers"])
@pytest.mark.parametrize("common", [0, 100, 5_000, 50_000, 100_000])
def test_numbers_and_overlaps_are_as_accurate_as_documented(kind: str, common: int) -> None:
    size, errors = 100_000, []
    for run in range(5):
        first = run * 1_000_000
        ranges = ((first, first + size), (first + size - common, first + 2 * size - common))
        if kind == "text":
            one, two = (sketch(texts(*each)) for each in ranges)
        else:
            step = 2 if kind == "even numbers" else 1
            one, two = (sketch(np.arange(*each) * step) for each in ranges)
        assert one.ids == pytest.approx(size, rel=5 / np.sqrt(SIZE - 2))
        union = 2 * size - common
        share = common / union
        spread = union * np.sqrt(share * (1 - share) / SIZE) + common / np.sqrt(SIZE - 2)
        errors.append(one.shared(two) - common)
        assert abs(errors[-1]) <= 5 * spread
        assert one.shared(two) == two.shared(one)
    if not common:
        assert errors == [0] * 5
