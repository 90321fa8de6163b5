"""Damaged logs of every format end in a balanced ledger or in a clear error (`make fuzz`: ten times more)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from scripts import fuzz
from scripts.fuzz_inputs import KINDS, write_log

INPUTS = 500


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_damaged_logs_end_in_a_result_or_in_an_error() -> None:
    found = list(fuzz.run(100_000, INPUTS, workers=2))
    assert len(found) == INPUTS
    assert [each for each in found if each["bad"]] == []
    # The inputs are neither all sound nor all beyond reading.
    results = sum(each["said"] == "result" for each in found)
    assert INPUTS // 10 < results < INPUTS * 9 // 10


@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_one_input_of_every_kind(tmp_path: Path, seed: int) -> None:
    assert fuzz.one_input(seed, tmp_path).startswith(("result", "error: "))


@pytest.mark.parametrize("kind", ["jsonl", "lm-eval", "inspect-json", "inspect-eval"])
def test_a_sound_log_is_sound_and_an_input_is_always_the_same(tmp_path: Path, kind: str) -> None:
    paths = [write_log(random.Random(3), kind, tmp_path / side, sound=True) for side in ("left", "right")]
    one, other = ([file.read_bytes() for file in sorted(path.iterdir())] for path in paths)
    if kind != "inspect-eval":  # an archive holds the time
        assert one == other
    import streamcmp

    fuzz.check_balance(streamcmp.compare(*paths).to_dict())


def test_a_ledger_that_does_not_balance_is_noticed() -> None:
    side = dict.fromkeys(
        ("filtered", "null_id", "duplicate", "unmatched", "guard_mismatch", "unscored", "paired"), 0
    )
    with pytest.raises(AssertionError):
        fuzz.check_balance({"ledger": {"a": {**side, "rows": 1}, "b": {**side, "rows": 0}}, "results": []})


def test_a_worker_that_dies_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = fuzz.Pool()
    try:
        assert not pool.ask(9)["bad"]
        assert pool._process is not None
        pool._process.kill()
        pool._process.wait()
        assert not pool.ask(9)["bad"]
        monkeypatch.setattr(fuzz, "HANGING", 0.0)
        assert "no answer within" in pool.ask(20)["bad"]
    finally:
        pool.close()
