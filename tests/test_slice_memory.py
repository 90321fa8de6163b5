"""Slices of every kind within `--memory`, however many there are."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from streamcmp.resources import parse_size
from tests.peak import peak
from tests.test_memory import BASE

ROWS = 3_000_000


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("logs")
    number = pl.int_range(ROWS)
    mixed = number * 7_919 % 1_000_003
    left = pl.select(
        id=number,
        correct=number % 3 > 0,
        length=mixed,
        score=(mixed + 1).cast(pl.Float64).log(),
        user=pl.format("user {}", mixed.clip(0, 999_999)),
        skills=pl.concat_list((mixed % 1000).cast(pl.String), (mixed // 1000 % 100).cast(pl.String)),
    )
    right = left.with_columns(correct=number % 4 > 0).sample(fraction=1, shuffle=True, seed=1)
    paths = folder / "l.parquet", folder / "r.parquet"
    left.write_parquet(paths[0])
    right.write_parquet(paths[1])
    return paths


@pytest.mark.slow
@pytest.mark.parametrize(
    ("by", "slices", "memory"),
    [
        ("length:quantiles(1000)", 1000, "300MB"),
        ("score:quantiles(7)", 7, "300MB"),
        ("length:bins(0,1000,500000)", 3, "300MB"),
        ("skills", 1000, "300MB"),
        ("length % 1000 AS rest", 1000, "300MB"),
        ("user:top(50)", 51, "1GB"),
        ("user", 1_000_000, "1GB"),
    ],
)
def test_the_budget_holds(logs: tuple[Path, Path], by: str, slices: int, memory: str) -> None:
    left, right = logs
    printed, most = peak(
        "run", "--left", left, "--right", right, "--by", by, "--memory", memory, "--format", "json", "--quiet"
    )
    report = json.loads(printed)
    assert report["families"][1]["slices"] == slices
    results = report["results"]
    cells = ("both_correct", "n_ab", "n_ba", "both_wrong")
    if not report["families"][1]["overlapping"]:
        assert all(sum(row[cell] for row in results[1:]) == results[0][cell] for cell in cells)
    assert results[0]["n"] == ROWS
    assert most <= parse_size(memory) + BASE, f"{most / 1e6:.0f} MB"
