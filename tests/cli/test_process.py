"""The command as a process: exit codes, signals, a reader that goes away, and what --help loads."""

from __future__ import annotations

import os
import re
import shlex
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


@pytest.mark.usefixtures("logs")
def test_the_process_ends_without_python_s_shutdown() -> None:
    """During it, threads of Polars and pyarrow that come back to Python abort the process (exit code 134)."""
    script = (
        "import atexit, sys; from streamcmp.__main__ import process; atexit.register(print, 'shutdown');"
        f"sys.argv[1:] = {['run', *BOTH, '--by', 'doman']}; process()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean 'domain'" in done.stderr


@pytest.mark.usefixtures("logs")
def test_an_error_while_a_log_is_being_read_aborts_nothing() -> None:
    Path("open.csv").write_text('id,correct\n1,"1\n2,0\n')
    for _ in range(4):
        done = process("run", "--left", "open.csv", *BOTH[2:])
        assert done.returncode == 2
        assert "a quote opened in row 1" in done.stderr
        assert "terminate" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_before_the_command_line_is_there(number: int) -> None:
    script = (
        "import builtins, os; from streamcmp.__main__ import process; real = builtins.__import__\n"
        "def stopped(name, *rest):\n"
        f"    if name == 'streamcmp.cli': os.kill(os.getpid(), {int(number)})\n"
        "    return real(name, *rest)\n"
        "builtins.__import__ = stopped; process()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (128 + number, "")
    assert done.stderr == "streamcmp: interrupted; nothing was written\n"


def test_the_number_of_row_groups_in_flight_is_bounded_in_the_command_only() -> None:
    name = "POLARS_ROW_GROUP_PREFETCH_SIZE"
    clean = {key: value for key, value in os.environ.items() if key != name}
    show = f"import os; print(os.environ.get({name!r}))"
    command = f"from streamcmp import tuning; tuning.before_imports(); {show}"
    for script, given, used in (
        (command, {}, "2"),
        (command, {name: "7"}, "7"),
        (f"import streamcmp.api; {show}", {}, "None"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", script], env=clean | given, check=True, capture_output=True, text=True
        )
        assert done.stdout.strip() == used


def test_what_libraries_say_to_programmers_is_for_verbose_only() -> None:
    script = (
        "import sys, streamcmp.cli; from warnings import warn; from streamcmp.__main__ import process\n"
        "streamcmp.cli.main = lambda: warn('set the region', stacklevel=1) or 0\n"
        "sys.argv[1:] = {0}; process()"
    )
    for options, said in (([], ""), (["--verbose"], "UserWarning: set the region")):
        done = subprocess.run(
            [sys.executable, "-c", script.format(options)], capture_output=True, text=True, check=True
        )
        assert said in done.stderr if said else done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "arguments", [["test", "--won", "3", "--lost", "1"], ["--version"], []], ids=" ".join
)
def test_a_full_disk_behind_stdout_is_an_error(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr == "error: cannot write to stdout: no space left on device\n"


@pytest.mark.parametrize(
    ("redirection", "expected"),
    [
        (">&-", (2, "", "error: stdout is closed; give --output FILE, or open it\n")),
        ("2>&-", (0, "no clear difference", "")),
        (">&- 2>&-", (2, "", "")),
        ("--lost x 2>&-", (2, "", "")),
        ("--output result.txt >&-", (0, "", "note: wrote result.txt\n")),
    ],
)
def test_closed_streams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, redirection: str, expected: tuple[int, str, str]
) -> None:
    code, out, err = expected
    monkeypatch.chdir(tmp_path)
    line = f"{shlex.join(COMMAND)} test --won 3 --lost 1 {redirection}"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[: len(out)], done.stderr) == (code, out, err)
    assert out or not done.stdout


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


def test_short_help(cli: Cli) -> None:
    assert cli("-h").out == cli("--help").out
    assert cli("run", "-h").out == cli("run", "--help").out


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


@pytest.mark.parametrize(
    "arguments", [["run", "--help"], ["test", "--won", "3", "--lost", "1"], []], ids=" ".join
)
def test_a_reader_that_is_not_there_is_no_error(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


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
