"""Which ids a message names."""

from __future__ import annotations

import polars as pl
import pytest

from streamcmp.comparison import Comparison, LogRequest
from streamcmp.engines.local import count
from streamcmp.resources import Resources, Strategy


def frame(ids: list[object]) -> pl.DataFrame:
    return pl.DataFrame({"id": ids, "correct": [True] * len(ids), "keep": [one != 6 for one in ids]})


@pytest.mark.parametrize("strategy", ["merge", "direct", "buckets"])
def test_a_filtered_row_is_not_named_as_one_without_a_partner(strategy: Strategy) -> None:
    asked = Comparison(a=LogRequest(frame([1, 2, 3])), b=LogRequest(frame([2, 3, 4, 6])), where="keep")
    counted = count(asked, Resources(strategy=strategy))
    assert counted.examples["unmatched_a"] == ["1"]
    assert counted.examples["unmatched_b"] == ["4"]


@pytest.mark.parametrize("strategy", ["merge", "buckets"])
def test_normalisation_is_seen_behind_many_smaller_ids(strategy: Strategy) -> None:
    """One window for the smaller ids, another for the word that both sides spell, each in its own bytes."""
    plain = [f"a{n:02}" for n in range(20)]
    left, right = frame([*plain, "z\u00e9"]), frame(["b", "ze\u0301"])
    counted = count(
        Comparison(a=LogRequest(left), b=LogRequest(right)), Resources(strategy=strategy, chunk_rows=5)
    )
    assert counted.examples["normalization"] == ["z\u00e9"]
