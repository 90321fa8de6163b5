"""Buckets of words and codes count, and name, what buckets of whole rows do."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from streamcmp.comparison import Comparison, LogRequest, Policies
from streamcmp.engines.local import count, explain
from streamcmp.logs import open_pair
from streamcmp.pairing import coded
from streamcmp.pairing.batch import Outcome
from streamcmp.pairing.examples import Examples
from streamcmp.pairing.lockstep import OutOfStep
from streamcmp.resources import Resources

ROWS = 60_000
IDS = {"int": pl.Int64(), "unsigned": pl.UInt64(), "text": pl.String()}
CODED, WHOLE = 10, 3  # bucket bits: of the latter there are too few for codes


def log(seed: int, ids: str, *, repeats: int, mismatches: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    numbers = np.random.default_rng(0).integers(0, 2**62, ROWS)
    present = rng.permutation(numbers)[: ROWS - 500]
    if repeats:
        present = np.concatenate([present, present[:repeats]])
    label = present % 7
    label[:mismatches] += 1
    return pl.DataFrame(
        {
            "id": pl.Series(present).cast(IDS[ids]),
            "label": label,
            "prediction": np.where(rng.random(len(present)) < 0.7, label, 9),
            "domain": pl.Series(present % 12).cast(pl.String),
            "kept": rng.random(len(present)) < 0.9,
        }
    ).with_columns(
        pl.when(pl.int_range(pl.len()) % 997 == 5).then(None).otherwise(pl.col("id")).alias("id"),
        pl.when(pl.int_range(pl.len()) % 101 == 7)
        .then(None)
        .otherwise(pl.col("prediction"))
        .alias("prediction"),
    )


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("where", [None, "kept"])
@pytest.mark.parametrize("odd", [{"repeats": 0, "mismatches": 0}, {"repeats": 40, "mismatches": 30}])
def test_codes_change_nothing(ids: str, where: str | None, odd: dict[str, int]) -> None:
    left, right = (log(seed, ids, **odd) for seed in (1, 2))
    comparison = Comparison(
        a=LogRequest(left),
        b=LogRequest(right),
        by=(("domain",),),
        where=where,
        policies=Policies(mismatch="drop", duplicates="drop"),
    )
    coded, whole = (
        count(comparison, Resources(strategy="buckets", bucket_bits=bits, chunk_rows=7_000))
        for bits in (CODED, WHOLE)
    )
    assert coded.tally == whole.tally
    assert coded.examples == whole.examples


def test_too_many_payloads_are_left_to_whole_rows() -> None:
    left, right = (log(seed, "int", repeats=0, mismatches=0) for seed in (1, 2))
    many = [frame.with_columns(domain=pl.int_range(pl.len())) for frame in (left, right)]
    comparison = Comparison(a=LogRequest(many[0]), b=LogRequest(many[1]), by=(("domain",),))
    resources = [Resources(strategy="buckets", bucket_bits=bits) for bits in (CODED, WHOLE)]
    assert [step.strategy for step in explain(comparison, resources[0])] == ["coded buckets", "buckets"]
    assert [step.strategy for step in explain(comparison, resources[1])] == ["buckets"]
    assert count(comparison, resources[0]).tally == count(comparison, resources[1]).tally


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("bits", [4, 5, 8])
@pytest.mark.parametrize("of_a", ["few", "half", "most"])
@pytest.mark.parametrize("beyond", [0, 1])
def test_as_many_payloads_as_words_have_room_for(ids: str, bits: int, of_a: str, beyond: int) -> None:
    """A code per payload of either side, none of them all zeros or all ones: two less than there are."""
    room = 2**bits - 2
    codes_a = {"few": 1, "half": room // 2, "most": room - 1}[of_a]
    numbers = pl.int_range(600, eager=True)
    logs = [
        pl.DataFrame({"id": numbers.shuffle(seed).cast(IDS[ids]), "slice": numbers % payloads}).with_columns(
            correct=True
        )
        for seed, payloads in ((1, codes_a), (2, room - codes_a + beyond))
    ]
    comparison = Comparison(a=LogRequest(logs[0]), b=LogRequest(logs[1]), by=(("slice",),))
    pair = open_pair(comparison)
    resources = Resources(strategy="buckets", bucket_bits=bits, threads=2)
    if beyond:
        with pytest.raises(OutOfStep):
            list(coded.pairs(pair, resources, Outcome(), Examples()))
    else:
        [batch] = coded.pairs(pair, resources, Outcome(), Examples())
        assert batch.weights is not None
        assert batch.weights.sum() == 600
    whole = count(comparison, Resources(strategy="buckets", bucket_bits=0))
    assert count(comparison, resources).tally == whole.tally
