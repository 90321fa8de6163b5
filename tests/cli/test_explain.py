"""`run --explain` says how logs would be paired, from metadata alone.

Every strategy it names gives the same bytes.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from streamcmp.api import explain
from streamcmp.resources import Strategy
from tests.cli.conftest import Cli


@pytest.fixture
def big(tmp_path: Path) -> tuple[Path, Path]:
    left = pl.DataFrame({"id": range(300), "correct": [n % 3 > 0 for n in range(300)]})
    left = left.with_columns(domain=pl.Series(["x", "y", None] * 100))
    right = left.with_columns(correct=pl.col("id") % 4 > 0)
    paths = tmp_path / "l.parquet", tmp_path / "r.parquet"
    left.write_parquet(paths[0])
    right.write_parquet(paths[1])
    return paths


def test_it_reads_no_rows(big: tuple[Path, Path]) -> None:
    steps = [step.strategy for step in explain(*big, by=["domain"])]
    assert steps == ["lockstep", "merge", "direct", "buckets"]
    # The bytes between the magic number and the footer may be anything: they are not looked at.
    damaged = bytearray(big[1].read_bytes())
    damaged[4:40] = b"\0" * 36
    big[1].write_bytes(damaged)
    assert [step.strategy for step in explain(*big, by=["domain"])] == steps


def test_what_metadata_rule_out_is_not_tried(big: tuple[Path, Path]) -> None:
    pl.read_parquet(big[1]).head(200).write_parquet(big[1])
    assert [step.strategy for step in explain(*big)] == ["merge", "direct", "buckets"]
    for path in big:
        pl.read_parquet(path).with_columns(pl.col("id").cast(pl.String)).write_parquet(path)
    assert [step.strategy for step in explain(*big)] == ["merge", "buckets"]
    assert [step.strategy for step in explain(*big, on="row")] == ["lockstep"]
    assert [step.strategy for step in explain(*big, strategy="buckets")] == ["buckets"]


@pytest.mark.parametrize("strategy", ["lockstep", "merge", "direct", "buckets"])
def test_a_forced_strategy_gives_the_same_bytes(cli: Cli, big: tuple[Path, Path], strategy: Strategy) -> None:
    command = ["run", "--left", big[0], "--right", big[1], "--by", "domain", "--format", "json"]
    assert cli(*command, "--strategy", strategy).out == cli(*command).out


def test_the_command_prints_the_plan(cli: Cli, big: tuple[Path, Path]) -> None:
    shown = cli("run", "--left", big[0], "--right", big[1], "--explain")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith("1. lockstep: if both logs are in the same order; about ")
    assert "\n4. buckets: any ids in any order; " in shown.out
