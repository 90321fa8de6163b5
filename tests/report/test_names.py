from __future__ import annotations

import pytest

from streamcmp.report.names import distinguish


@pytest.mark.parametrize(
    ("a", "b", "names"),
    [
        ("cnn.csv", "lstm.csv", ("cnn", "lstm")),
        ("a/x/left.parquet", "a/y/left.parquet", ("x", "y")),
        ("runs/cnn/v1/preds.jsonl.gz", "runs/lstm/v1/preds.jsonl.gz", ("cnn", "lstm")),
        ("gpt-3.5.csv", "gpt-4.0.csv", ("gpt-3.5", "gpt-4.0")),
        ("runs/cnn/*.parquet", "runs/lstm/*.parquet", ("cnn", "lstm")),
        ("runs/cnn/", "runs/lstm", ("cnn", "lstm")),
        ("s3://bucket/cnn/p.parquet", "s3://bucket/lstm/p.parquet", ("cnn", "lstm")),
        ("C:\\runs\\cnn\\p.csv", "C:\\runs\\lstm\\p.csv", ("cnn", "lstm")),
        ("preds.csv", "preds.parquet", ("preds.csv", "preds.parquet")),
        ("preds.csv", "old/preds.csv", ("preds", "old/preds")),
        ("./preds.csv", "preds.csv", ("left", "right")),
        ("preds.csv", "preds.csv", ("left", "right")),
        ("", "", ("left", "right")),
        ("/", "a", ("left", "right")),
    ],
)
def test_the_part_that_tells_two_paths_apart(a: str, b: str, names: tuple[str, str]) -> None:
    assert distinguish(a, b) == names
    assert distinguish(b, a) == (names if names == ("left", "right") else names[::-1])
