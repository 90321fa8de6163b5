"""A truth file whose labels stand beside the rows: `--truth FILE --on row`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import streamcmp
from streamcmp.errors import DataError, NoColumn
from tests.logs.shards import write

TRUE = ["x", "y", "x", "z", None]


def logs(folder: Path, kind: str) -> tuple[Any, Any]:
    """Two logs of five predictions."""
    sides = (["x", "y", "y", "y", "x"], ["x", "x", "x", "z", "x"])
    if kind == "frame":
        return tuple(pl.DataFrame({"prediction": side}) for side in sides)  # type: ignore[return-value]
    paths = []
    for name, side in zip("lr", sides, strict=True):
        if kind == "lines":
            paths.append(write(folder / f"{name}.txt", "".join(f"{each}\n" for each in side)))
        else:
            (folder / name).mkdir()
            for part, rows in (("0", side[:2]), ("1", side[2:])):
                write(folder / name / f"{part}.csv", "prediction\n" + "".join(f"{each}\n" for each in rows))
            paths.append(folder / name)
    return paths[0], paths[1]


@pytest.mark.parametrize("kind", ["frame", "lines", "csv"])
@pytest.mark.parametrize("truth", ["frame", "tsv"])
def test_labels_pair_by_position(tmp_path: Path, kind: str, truth: str) -> None:
    left, right = logs(tmp_path, kind)
    source: Any = pl.DataFrame({"text": list("abcde"), "label": TRUE})
    options: dict[str, Any] = {"on": "row", "label_type": "text"}
    if truth == "tsv":
        rows = zip("abcde", TRUE, strict=True)
        source = write(tmp_path / "t.tsv", "".join(f"{text}\t{label or ''}\n" for text, label in rows))
        options["truth_columns"] = "text,label"
    if kind == "lines":
        options |= {"input_format": "lines", "columns": "prediction"}
    report = streamcmp.compare(left, right, truth=source, **options).to_dict()
    overall = report["results"][0]
    assert [overall[name] for name in ("both_correct", "n_ab", "n_ba", "both_wrong")] == [1, 1, 2, 0]
    assert report["ledger"]["a"]["unscored"] == 1


@pytest.mark.parametrize(
    ("rows", "how"), [(4, "more rows than the truth file"), (6, "fewer rows than the truth file")]
)
def test_as_many_labels_as_rows_are_demanded(tmp_path: Path, rows: int, how: str) -> None:
    left, right = logs(tmp_path, "frame")
    with pytest.raises(DataError, match=how):
        streamcmp.compare(left, right, truth=pl.DataFrame({"label": ["x"] * rows}), on="row")


def test_a_truth_file_without_a_label(tmp_path: Path) -> None:
    left, right = logs(tmp_path, "frame")
    with pytest.raises(NoColumn, match="has no label column"):
        streamcmp.compare(left, right, truth=pl.DataFrame({"text": ["x"] * 5}), on="row")
    named = streamcmp.compare(left, right, truth=pl.DataFrame({"gold_": ["x"] * 5}), on="row", label="gold_")
    assert named.to_dict()["results"][0]["n"] == 5
