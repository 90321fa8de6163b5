"""`--memory` holds: the peak of whole processes, over workloads that each strategy is chosen for."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from streamcmp.resources import parse_size
from tests.peak import peak

ROWS = 3_000_000
# What the process takes before it reads rows, and the buffers of Polars: beside the budget.
BASE = 200e6


def ids(kind: str, rows: int = ROWS) -> pl.Expr:
    """Ids that rise: compact or sparse integers, or text of 29 bytes."""
    number = pl.int_range(rows)
    return {
        "compact": number,
        "sparse": number * 3_000_000_019 + 17,
        "text": pl.format("sample-{}-of-the-set", number.cast(pl.String).str.zfill(11)),
    }[kind]


def logs(folder: Path, kind: str, order: str) -> tuple[Path, Path]:
    """Both sides with ids, outcomes, a label and two slice columns."""
    number = pl.int_range(ROWS)
    left = pl.select(
        id=ids(kind),
        prediction=number * 7 % 10,
        label=number * 3 % 10,
        domain=pl.format("domain {}", number % 12),
        user=number % 100_000,
    )
    right = left.with_columns(prediction=(pl.col("prediction") + number % 3 // 2) % 10)
    if order == "gaps":
        left, right = left.filter(number % 100 != 7), right.filter(number % 100 != 31)
    if order == "shuffled":
        right = right.sample(fraction=1, shuffle=True, seed=1)
    for name, frame in (("l", left), ("r", right)):
        frame.write_parquet(folder / f"{name}.parquet")
    return folder / "l.parquet", folder / "r.parquet"


@pytest.mark.slow
@pytest.mark.parametrize("order", ["same", "gaps", "shuffled"])
@pytest.mark.parametrize("kind", ["compact", "sparse", "text"])
def test_the_budget_holds(tmp_path: Path, kind: str, order: str) -> None:
    left, right = logs(tmp_path, kind, order)
    paired = ROWS - (ROWS // 50 if order == "gaps" else 0)
    over = {}
    for by in (["domain"], ["domain", "user"]):
        for memory in ("300MB", "1GB"):
            families = [argument for term in by for argument in ("--by", term)]
            printed, most = peak(
                "run", "--left", left, "--right", right, *families, "--memory", memory,
                "--format", "json", "--quiet",
            )  # fmt: skip
            assert json.loads(printed)["results"][0]["n"] == paired
            allowed = parse_size(memory) + BASE
            if most > allowed:
                over[memory, *by] = f"{most / 1e6:.0f} MB"
    assert not over


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "third"), [("sparse", "both"), ("text", "truth"), ("text", "slices")])
def test_the_budget_holds_with_third_files(tmp_path: Path, kind: str, third: str) -> None:
    """Files of more rows than the logs, of which no more than a part fits."""
    left, right = logs(tmp_path, kind, "same")
    number = pl.int_range(2 * ROWS)
    meta = tmp_path / "meta.parquet"
    pl.select(
        id=ids(kind, 2 * ROWS), label=number * 3 % 10, topic=pl.format("topic {}", number % 12),
        author=number % 100_000,
    ).sample(fraction=1, shuffle=True, seed=1).write_parquet(meta)  # fmt: skip
    options: list[str | Path] = []
    if third != "slices":
        options += ["--truth", meta]
    if third != "truth":
        options += ["--slices", meta, "--by", "topic", "--by", "author"]
    printed, most = peak(
        "run", "--left", left, "--right", right, *options, "--memory", "300MB", "--format", "json", "--quiet"
    )
    results = json.loads(printed)["results"]
    assert results[0]["n"] == ROWS
    assert len(results) == (1 if third == "truth" else 1 + 12 + 100_000)
    assert most <= parse_size("300MB") + BASE
