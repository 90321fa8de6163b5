"""Two small logs as files, and the command line as a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from streamcmp.cli import main

LEFT = pl.DataFrame(
    {
        "id": [1, 2, 3, 4, 5, 6],
        "domain": ["law", "law", "art", "art", "art", None],
        "correct": [1, 0, 0, 0, 1, 1],
        "gold": ["x", "y", "x", "y", "x", "y"],
        "pred": ["x", "x", "y", "x", "x", "y"],
        "prob": [0.9, 0.1, 0.2, 0.3, 0.7, 0.8],
    }
)
RIGHT = LEFT.with_columns(correct=pl.Series([1, 1, 1, 0, 0, 1]), pred=pl.Series(list("xyxxyy")))


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str
    data: bytes


Cli = Callable[..., Ran]


@pytest.fixture
def cli(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """`cli("run", "--left", path, ...)`: what a process would print and return."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: object) -> Ran:
        capfdbinary.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return Ran(code, out.decode(errors="replace"), err.decode(), out)

    return run


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, the current one, with left.parquet and right.parquet."""
    monkeypatch.chdir(tmp_path)
    LEFT.write_parquet(tmp_path / "left.parquet")
    RIGHT.write_parquet(tmp_path / "right.parquet")
    return tmp_path


BOTH = ("--left", "left.parquet", "--right", "right.parquet", "--correct", "correct")
