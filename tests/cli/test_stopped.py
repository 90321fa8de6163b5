"""Runs that are stopped from outside, or by a full disk: nothing printed, nothing written, nothing left."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import streamcmp
from streamcmp.errors import DataError

COMMAND = [sys.executable, "-m", "streamcmp"]
SIGNALS = (signal.SIGINT, signal.SIGTERM)
STRATEGIES = ("lockstep", "merge", "direct", "buckets")


def logs(folder: Path, rows: int, *, ending: str = "parquet", shuffled: bool = False) -> tuple[Path, Path]:
    """Two logs of one order, or the second in another."""
    frame = pl.select(
        id=pl.int_range(rows), correct=pl.int_range(rows) % 3 > 0, label=pl.int_range(rows) % 10
    )
    other = frame.sample(fraction=1, shuffle=True, seed=1) if shuffled else frame
    paths = []
    for name, one in (("l", frame), ("r", other)):
        path = folder / f"{name}.{ending}"
        writers: dict[str, Any] = {
            "parquet": one.write_parquet,
            "arrow": one.write_ipc,
            "arrows": one.write_ipc_stream,
            "csv": one.write_csv,
            "jsonl": one.write_ndjson,
        }
        writers[ending](path)
        paths.append(path)
    return paths[0], paths[1]


def arguments(folder: Path, paths: tuple[Path, Path], strategy: str) -> list[str]:
    """A run that spills early, into its own folder."""
    spill = folder / "spill"
    spill.mkdir(exist_ok=True)
    return [*COMMAND, "run", "--left", str(paths[0]), "--right", str(paths[1]), "--by", "label",
            "--spill-dir", str(spill), "--memory", "64MiB", "--strategy", strategy,
            "--output", str(folder / "report.json")]  # fmt: skip


def check_nothing_is_left(folder: Path, paths: tuple[Path, Path]) -> None:
    """Neither a report, nor its temporary file, nor anything spilled."""
    assert sorted(folder.iterdir()) == sorted([*paths, folder / "spill"])
    assert not list((folder / "spill").iterdir())


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("strategy", ["lockstep", "buckets"])
def test_a_signal_stops_with_one_line_and_leaves_nothing(tmp_path: Path, number: int, strategy: str) -> None:
    paths = logs(tmp_path, 4_000_000)
    command = [*arguments(tmp_path, paths, strategy), "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stderr is not None
        assert running.stdout is not None
        # The signal is sent once the pass has begun: the first note says that the logs were opened.
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
    check_nothing_is_left(tmp_path, paths)


# Twenty moments and more per signal, and runs that last about as long as each other.
MOMENTS = 4
WORKLOADS = (
    [("parquet", each, 6_000_000, each in ("direct", "buckets")) for each in STRATEGIES]
    + [("arrow", "buckets", 4_000_000, True), ("arrows", "merge", 4_000_000, False)]
    + [("csv", "buckets", 1_000_000, False), ("jsonl", "lockstep", 600_000, False)]
)


@pytest.mark.slow
@pytest.mark.parametrize("number", [*SIGNALS, signal.SIGKILL])
@pytest.mark.parametrize(("ending", "strategy", "rows", "shuffled"), WORKLOADS)
def test_a_signal_at_any_moment(
    tmp_path: Path, number: int, ending: str, strategy: str, rows: int, *, shuffled: bool
) -> None:
    paths = logs(tmp_path, rows, ending=ending, shuffled=shuffled)
    command = arguments(tmp_path, paths, strategy)
    report = tmp_path / "report.json"
    started = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    lasts = time.monotonic() - started
    report.unlink()
    rng = random.Random(f"{number} {ending} {strategy}")
    stopped = 0
    for _ in range(MOMENTS):
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        _wait_until_it_listens(running)
        time.sleep(rng.uniform(0, 0.8 * lasts))
        running.send_signal(number)
        sent = time.monotonic()
        printed, said = running.communicate()
        took = time.monotonic() - sent
        assert printed == b""
        assert b"Traceback" not in said
        if running.returncode == 0:  # it was done already
            report.unlink()
            check_nothing_is_left(tmp_path, paths)
            continue
        stopped += 1
        assert running.returncode == (-number if number == signal.SIGKILL else 128 + number), said
        assert took < 2
        if number == signal.SIGKILL:  # no process can tidy up after that; but spilled files have no names
            for left in tmp_path.glob(".report.json.*.tmp"):
                left.unlink()
        check_nothing_is_left(tmp_path, paths)
    assert stopped


def _wait_until_it_listens(running: subprocess.Popen[bytes]) -> None:
    """Before that, a signal meets the interpreter alone, which is not yet ours."""
    status = Path(f"/proc/{running.pid}/status")
    while status.exists() and running.poll() is None:
        caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
        if int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.001)


def _small_files_only() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


@pytest.mark.parametrize("strategy", ["lockstep", "buckets"])
def test_a_disk_that_fills_up(tmp_path: Path, strategy: str) -> None:
    paths = logs(tmp_path, 2_000_000)
    if strategy == "lockstep":  # ids that do not rise: uniqueness is proved by spilling their keys
        for path in paths:
            frame = pl.read_parquet(path).reverse()
            frame.write_parquet(path)
    done = subprocess.run(
        arguments(tmp_path, paths, strategy),
        capture_output=True, text=True, check=False, preexec_fn=_small_files_only,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    error = done.stderr[done.stderr.index("error: ") :]
    assert error.startswith(f"error: cannot spill to {tmp_path / 'spill'}: File too large after ")
    assert "--spill-dir" in error
    assert "Traceback" not in error
    check_nothing_is_left(tmp_path, paths)


@pytest.mark.parametrize("strategy", ["lockstep", "buckets"])
def test_free_space_is_looked_at_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: Any
) -> None:
    usage = namedtuple("usage", ["total", "used", "free"])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9 - 1_234_567, 1_234_567))
    frame = pl.select(id=pl.int_range(3_000_000, 0, -1), correct=1)
    with pytest.raises(DataError) as caught:
        streamcmp.compare(frame, frame.clone(), strategy=strategy, memory="64MiB", spill_dir=tmp_path)
    assert re.fullmatch(
        rf"this comparison spills about \d\d MB, but {tmp_path} has 1 MB free; give a folder with more room "
        "with --spill-dir, or more --memory",
        str(caught.value),
    )


def test_runs_share_a_spill_folder(tmp_path: Path) -> None:
    paths = logs(tmp_path, 1_000_000, shuffled=True)
    command = arguments(tmp_path, paths, "buckets")[:-2]
    running = [
        subprocess.Popen([*command, "--format", "json", "--quiet"], stdout=subprocess.PIPE) for _ in range(4)
    ]
    printed = [each.communicate()[0] for each in running]
    assert [each.returncode for each in running] == [0] * 4
    assert len(set(printed)) == 1
    assert json.loads(printed[0])["results"][0]["n"] == 1_000_000
    check_nothing_is_left(tmp_path, paths)


def test_no_polars_threads_at_all(tmp_path: Path) -> None:
    paths = logs(tmp_path, 10)
    done = subprocess.run(
        arguments(tmp_path, paths, "auto"),
        capture_output=True, text=True, check=False, env={**os.environ, "POLARS_MAX_THREADS": "0"},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr == "error: POLARS_MAX_THREADS is 0 in the environment; unset it, or make it 1 or more\n"
    )
