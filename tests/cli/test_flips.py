"""`streamcmp flips`: what it prints and writes, and what is left when it is stopped."""

from __future__ import annotations

import subprocess
from pathlib import Path

import polars as pl
import pytest

from streamcmp.resources import parse_size
from tests.cli.conftest import Cli
from tests.cli.test_stopped import COMMAND, SIGNALS
from tests.peak import peak

PRED = ("--left", "left.parquet", "--right", "right.parquet", "--prediction", "pred", "--label", "gold")


@pytest.mark.usefixtures("logs")
def test_one_flip_a_block(cli: Cli) -> None:
    ran = cli("flips", *PRED, "--by", "domain", "--limit", "2", "--quiet")
    assert ran.code == 0
    assert ran.out == (
        "right won 2 and lost 1 of 6 pairs against left\n"
        "the first 2 of 3; --limit shows more, --output FILE writes all\n"
        "\n"
        "1. won  id=2  domain=law\n"
        "   left.pred   x\n"
        "   right.pred  y\n"
        "   gold        y\n"
        "\n"
        "2. won  id=3  domain=art\n"
        "   left.pred   y\n"
        "   right.pred  x\n"
        "   gold        x\n"
    )


@pytest.mark.usefixtures("logs")
def test_nothing_to_show(cli: Cli) -> None:
    ran = cli("flips", *PRED, "--kind", "churn", "--quiet")
    assert (ran.code, ran.out) == (0, "left and right gave different wrong answers in 0 of 6 pairs\n")


def test_long_and_hostile_texts(cli: Cli, logs: Path) -> None:
    hostile = "\x1b[31mred\x1b[0m\u202eevil\r\n" + "long " * 400 + "\nend"
    for side, correct in (("left", 0), ("right", 1)):
        pl.DataFrame({"id": ["a\nb"], "correct": [correct], "x\x1b": [hostile]}).write_parquet(
            logs / f"{side}.parquet"
        )
    ran = cli("flips", "--left", "left.parquet", "--right", "right.parquet", "--select", "x\x1b", "--quiet")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert all(map(str.isprintable, lines))
    assert max(map(len, lines)) <= 100
    assert lines[2:4] == ["1. won  id=a\\nb", "   x\\x1b  \\x1b[31mred\\x1b[0m\\u202eevil"]
    kept = sum(line.count("long") for line in lines)
    left = int(lines[-1].split("(")[1].split(" ")[0].replace(",", ""))
    assert 0 < left < len(hostile)
    assert abs(len(hostile) - left - (len(hostile.split("\n", maxsplit=1)[0]) + 1) - 5 * kept) < 5


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "ndjson", "arrow"])
def test_into_a_file(cli: Cli, logs: Path, ending: str) -> None:
    path = logs / f"flips.{ending}"
    ran = cli("flips", *PRED, "--kind", "won", "--output", path)
    assert (ran.code, ran.out) == (0, "")
    assert f"note: wrote {path}: 2 flips (2 won)" in ran.err
    readers = {"parquet": pl.read_parquet, "csv": pl.read_csv, "arrow": pl.read_ipc}
    table = readers.get(ending, pl.read_ndjson)(path)  # type: ignore[operator]
    assert table.select("id", "kind", "left.pred", "right.pred").rows() == [
        (2, "won", "x", "y"),
        (3, "won", "y", "x"),
    ]


@pytest.mark.usefixtures("logs")
@pytest.mark.parametrize("given", [("--truth", "left.parquet"), ("--slices", "left.parquet")])
def test_no_input_is_overwritten(cli: Cli, given: tuple[str, str]) -> None:
    before = Path("left.parquet").read_bytes()
    logs = ("--left", "right.parquet", "--right", "right.parquet")
    ran = cli("flips", *logs, *given, "--output", "left.parquet")
    assert ran.code == 2
    assert "is also an input" in ran.err
    assert Path("left.parquet").read_bytes() == before


@pytest.mark.usefixtures("logs")
def test_rows_that_do_not_count_are_said(cli: Cli) -> None:
    ran = cli("flips", *PRED, "--where", "id > 2", "--mismatch", "drop")
    assert ran.code == 0
    pl.read_parquet("right.parquet").head(5).write_parquet("right.parquet")
    ran = cli("flips", *PRED)
    assert "warning: 1 row of the left log" in ran.err
    assert "won 2 and lost 1 of 5 pairs" in ran.out


def spilling(folder: Path, rows: int, *, shuffled: bool) -> tuple[list[str], list[Path]]:
    """A command that spills into a folder of its own, and its logs."""
    number = pl.int_range(rows)
    left = pl.select(
        id=number, correct=number.hash(1) % 20 > 0, prompt=pl.format("{}" + "p" * 180, number.hash(3))
    )
    right = left.with_columns(correct=(number.hash(2) % 20 == 0) ^ pl.col("correct"))
    if shuffled:
        right = right.sample(fraction=1, shuffle=True, seed=1)
    paths = [folder / "l.parquet", folder / "r.parquet"]
    left.write_parquet(paths[0])
    right.write_parquet(paths[1])
    (folder / "spill").mkdir()
    return [
        "flips", "--left", str(paths[0]), "--right", str(paths[1]), "--spill-dir", str(folder / "spill"),
        "--output", str(folder / "flips.parquet"),
    ], paths  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("wait", [0.2, 0.6, 1.2])
def test_a_signal_leaves_nothing(tmp_path: Path, number: int, wait: float) -> None:
    command, paths = spilling(tmp_path, 2_000_000, shuffled=True)
    command = [*COMMAND, *command, "--memory", "64MiB", "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stderr is not None
        assert running.stderr.readline().startswith(b"note: ")
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(wait)
        running.send_signal(number)
        printed, said = running.communicate()
    assert (running.returncode, printed) == (128 + number, b"")
    assert b"Traceback" not in said
    assert sorted(tmp_path.iterdir()) == sorted([*paths, tmp_path / "spill"])
    assert not list((tmp_path / "spill").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("shuffled", [False, True])
def test_the_budget_holds(tmp_path: Path, *, shuffled: bool) -> None:
    command, _ = spilling(tmp_path, 3_000_000, shuffled=shuffled)
    _, most = peak(*command, "--memory", "300MB", "--quiet")
    found = pl.read_parquet(tmp_path / "flips.parquet", columns=["id"])["id"]
    number = pl.select(id=pl.int_range(3_000_000))
    assert found.equals(number.filter(pl.col("id").hash(2) % 20 == 0)["id"])
    assert most < parse_size("300MB") + 200e6, f"{most / 1e6:.0f} MB"
