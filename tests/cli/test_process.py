"""The command as a process: exit codes, signals, a reader that goes away, and what --help loads."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import streamcmp
from streamcmp.cli.options import Logs, Machine, Names, RowPolicies, Show, Slices, Statistics, Talk
from tests.cli.conftest import BOTH, Cli

COMMAND = [sys.executable, "-m", "streamcmp"]


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, **options)


@pytest.mark.usefixtures("logs")
def test_exit_codes_of_real_processes() -> None:
    good = process("run", *BOTH)
    assert (good.returncode, good.stdout[:8]) == (0, "no clear")
    bad = process("run", *BOTH, "--by", "doman")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("error: ")


def test_version_and_bare_command(cli: Cli) -> None:
    assert cli("--version").out == f"streamcmp {streamcmp.__version__}\n"
    bare = cli()
    assert (bare.code, bare.err) == (0, "")
    assert len(re.findall(r"^    streamcmp ", bare.out, re.MULTILINE)) == 3


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], [], ["--version"], ["rum"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "streamcmp", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    loaded = set(re.findall(r"\| +(\w+)$", done.stderr, re.MULTILINE))
    assert "typer" in loaded
    assert loaded.isdisjoint({"polars", "numpy", "scipy", "pyarrow", "pandas"})


def test_import_loads_nothing_heavy() -> None:
    script = (
        "import sys, streamcmp; print(sorted({'polars', 'numpy', 'pyarrow', 'typer'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_run_help_lists_every_option(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = cli("run", "--help").out
    for group in (Logs, Names, RowPolicies, Statistics, Slices, Machine, Show, Talk):
        for name in group.__dataclass_fields__:
            assert f"--{name.replace('_', '-')}" in text


@pytest.mark.usefixtures("logs")
def test_a_reader_that_goes_away_is_no_error() -> None:
    rows = 20_000
    log = pl.DataFrame({"id": range(rows), "group": range(rows), "correct": [1, 0] * (rows // 2)})
    log.write_parquet("many.parquet")
    arguments = ["run", "--left", "many.parquet", "--right", "many.parquet", "--correct", "correct",
                 "--by", "group", "--format", "csv", "--quiet"]  # fmt: skip
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        said = running.stderr.read().decode()
        assert running.wait() == 0
    assert "Traceback" not in said
    assert "error" not in said.lower()


@pytest.mark.usefixtures("logs")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("strategy", ["lockstep", "buckets"])
def test_a_signal_stops_with_one_line_and_leaves_nothing(tmp_path: Path, number: int, strategy: str) -> None:
    rows = 4_000_000
    log = pl.select(id=pl.int_range(rows), correct=pl.int_range(rows) % 2)
    log.write_parquet("big.parquet")
    spill = tmp_path / "spill"
    spill.mkdir()
    # The signal is sent once the pass has begun: the first note says that the logs were opened.
    arguments = ["run", "--left", "big.parquet", "--right", "big.parquet", "--spill-dir", str(spill),
                 "--memory", "64MiB", "--threads", "1", "--strategy", strategy,
                 "--output", "report.json"]  # fmt: skip
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stderr is not None
        assert running.stdout is not None
        assert running.stderr.readline().startswith(b"note: ")
        running.send_signal(number)
        said = running.stderr.read().decode()
        printed = running.stdout.read()
        code = running.wait()
    assert code == 128 + number
    assert [line for line in said.splitlines() if not line.startswith("note: ")] == [
        "streamcmp: interrupted; nothing was written"
    ]
    assert printed == b""
    assert not list(spill.iterdir())
    assert not Path("report.json").exists()


def test_parquet_is_not_for_a_terminal(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    controller, terminal = pty.openpty()
    try:
        done = subprocess.run(
            [*COMMAND, "run", *BOTH, "--format", "parquet"],
            stdout=terminal, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
    finally:
        os.close(controller)
        os.close(terminal)
    assert done.returncode == 2
    assert "give --output" in done.stderr
