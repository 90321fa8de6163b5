"""Logs that nobody would write on purpose: names, types and values at the edges, end to end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import streamcmp
from streamcmp.errors import DataError, UsageError

WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "csv": lambda frame, path: frame.write_csv(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "arrow": lambda frame, path: frame.write_ipc(path),
}
# Names with a meaning to Polars, and those that we use ourselves.
NAMES = (
    "*", "^a.*$", "^.*$", "a b", "a.b", "é", "x\ny", "'", "id", "outcome", "bad", "filtered", "guard0",
    "family0", "a.bad", "b.outcome", "slice.x", "n", "p", "family", "record", "side", "len", "literal",
    "label of the truth file", "|gain|",
)  # fmt: skip
ROLES: dict[str, Callable[[str], dict[str, Any]]] = {
    "by": lambda name: {"by": [(name,)]},
    "cross": lambda name: {"by": [("aa", name)]},
    "on": lambda name: {"on": f'"{name}"'},
    "compound": lambda name: {"on": ["aa", f'"{name}"']},
    "guard": lambda name: {"guards": f'"{name}"'},
    "correct": lambda name: {"correct": name},
    "score": lambda name: {"score": name, "threshold": 0.5},
    "prediction": lambda name: {"prediction": name, "label": "gold"},
    "label": lambda name: {"prediction": "gold", "label": name},
}


@pytest.mark.parametrize("ending", [*WRITERS, "frame"])
@pytest.mark.parametrize("role", ROLES)
def test_a_column_s_name_does_not_matter(tmp_path: Path, role: str, ending: str) -> None:
    """What a column called `plain` gives, one called anything else gives too."""
    frame = pl.DataFrame(
        {"aa": [5, 6, 7], "ab": [1, 1, 0], "key": [1, 2, 3], "gold": [1, 0, 0], "plain": [1, 0, 1]}
    )
    seen = []
    names = ("plain", *NAMES) if ending == "frame" else ("plain", *NAMES[:6])
    for name in names:
        left = frame.rename({"plain": name})
        right = left[::-1].with_columns(ab=pl.Series([1, 0, 1]))
        options = ROLES[role](name)
        options = {"on": "key", **options}
        if not {"correct", "score", "prediction"} & options.keys():
            options["correct"] = "ab"
        if role == "on":  # needs distinct values
            left, right = (one.with_columns(pl.col("key").alias(name)) for one in (left, right))
        sources: list[Any] = [left, right]
        if ending != "frame":
            sources = [tmp_path / f"left.{ending}", tmp_path / f"right.{ending}"]
            for source, one in zip(sources, (left, right), strict=True):
                WRITERS[ending](one, source)
        report = streamcmp.compare(*sources, **options).to_dict()
        results = [
            {key: value for key, value in row.items() if key not in ("family", "slice")}
            | {"values": [str(value) for value in row["slice"].values()]}
            for row in report["results"]
        ]
        seen.append((report["ledger"], results))
    assert all(one == seen[0] for one in seen), [
        name for name, one in zip(names, seen, strict=True) if one != seen[0]
    ]


@pytest.mark.parametrize("side", [0, 1])
def test_on_row_says_that_it_is_not_the_column_row(side: int) -> None:
    plain = pl.DataFrame({"id": [1, 2], "correct": [1, 0]})
    logs = [plain, plain.clone()]
    notes: list[str] = []
    streamcmp.compare(*logs, on="row", on_note=notes.append)
    assert not any("position" in note for note in notes)
    logs[side] = plain.with_columns(row=pl.Series([2, 1]))
    assert streamcmp.compare(*logs, on="row", on_note=notes.append).to_dict()["results"][0]["n_ab"] == 0
    assert any("by their position, not by the column 'row'" in note for note in notes)


@pytest.mark.parametrize(
    ("by", "says"),
    [
        ([("overall",)], "all pairs"),
        ([("",)], "empty"),
        ([("x", "")], "empty"),
        ([("x", "x")], "the same column twice"),
        ([("x", "y"), ("x,y",)], "the same family twice"),
        (["x,y", "x , y"], "the same family twice"),
    ],
    ids=str,
)
def test_families_that_could_not_be_told_apart_are_refused(by: Any, says: str) -> None:
    log = pl.DataFrame({"id": [1], "correct": [1], "overall": [1], "": [1], "x": [1], "y": [1], "x,y": [1]})
    with pytest.raises(UsageError, match=says):
        streamcmp.compare(log, log, by=by)


def test_a_column_that_neither_log_has() -> None:
    log = pl.DataFrame({"id": [1], "correct": [1], "domain": ["x"]})
    asked: list[dict[str, Any]] = [{"by": ["doman"]}, {"where": "doman = 'x'"}]
    for options in asked:
        with pytest.raises(UsageError) as caught:
            streamcmp.compare(log, log, **options)
        assert str(caught.value).startswith("neither log has a column 'doman'")
        assert "did you mean 'domain'?\ntheir columns: id, correct, domain" in str(caught.value)


def test_a_truth_file_must_fit_the_memory(tmp_path: Path) -> None:
    log = pl.DataFrame({"id": [1, 2], "prediction": ["x", "y"]})
    truth = pl.DataFrame({"id": [1, 2], "label": ["x", "y" * (65 << 20)]})
    assert streamcmp.compare(log, log, truth=truth).to_dict()["results"][0]["both_correct"] == 1
    with pytest.raises(DataError, match="memory budget"):
        streamcmp.compare(log, log, truth=truth, memory="64MiB")
