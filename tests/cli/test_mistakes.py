"""Every kind of mistake: exit code 2, one message that helps, no traceback, nothing written."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.cli.conftest import BOTH, LEFT, RIGHT, Cli

# What was typed -> what the message must say.
MISTAKES: dict[str, tuple[tuple[str, ...], str]] = {
    "unknown command": (("rum",), "Did you mean 'run'"),
    "a file for a command": (("left.parquet", "right.parquet"), "to compare two logs: streamcmp run --left"),
    "files without options": (
        ("run", "left.parquet", "right.parquet"),
        "streamcmp run --left LOG --right LOG",
    ),
    "another tool's option": (("run", *BOTH, "--id", "id"), "you may want --on"),
    "no choice": (("sql", *BOTH), "Choose from: spark, duckdb, postgres"),
    "a text in double quotes": (("run", *BOTH, "--where", 'domain = "law"'), "single quotes: 'law'"),
    "unknown option": (("run", *BOTH, "--confidance", "1"), "--confidence"),
    "no left": (("run", "--right", "right.parquet"), "--left"),
    "option without value": (("run", *BOTH, "--by"), "--by"),
    "stray argument": (("run", *BOTH, "extra"), "extra"),
    "no such choice": (("run", *BOTH, "--test", "t"), "'exact', 'mid-p', 'chi2', 'chi2-corrected', 'auto'"),
    "no such format": (("run", *BOTH, "--format", "xlsx"), "'markdown'"),
    "no number": (("run", *BOTH, "--confidence", "high"), "--confidence"),
    "confidence": (("run", *BOTH, "--confidence", "95"), "between 0 and 1"),
    "top": (("run", *BOTH, "--top", "-1"), "--top"),
    "min-discordant": (("run", *BOTH, "--min-discordant", "-1"), "--min-discordant"),
    "memory": (("run", *BOTH, "--memory", "lots"), "not a size"),
    "little memory": (("run", *BOTH, "--memory", "1MB"), "at least 64MiB"),
    "threads": (("run", *BOTH, "--threads", "0"), "--threads"),
    "spill-dir": (("run", *BOTH, "--spill-dir", "nowhere"), "not a folder"),
    "no such file": (("run", "--left", "nothing.parquet", *BOTH[2:]), "nothing.parquet"),
    "no such column": (("run", *BOTH, "--by", "doman"), "did you mean 'domain'"),
    "no such outcome on one side": (("run", *BOTH[:4], "--left-correct", "corect"), "--left-correct"),
    "no such outcome": (("run", *BOTH[:4], "--correct", "correctt"), "did you mean 'correct'"),
    "no such id": (("run", *BOTH, "--on", "ids"), "did you mean 'id'"),
    "no such guard": (("run", *BOTH, "--guard", "golden"), "golden"),
    "bad where": (("run", *BOTH, "--where", "prob >"), "--where"),
    "where names nothing": (("run", *BOTH, "--where", "nothing = 1"), "nothing"),
    "crossed with itself": (("run", *BOTH, "--by", "domain,domain"), "names the same column twice"),
    "an id twice": (("run", *BOTH, "--on", "id", "--on", "id"), "--on names 'id' twice"),
    "a guard twice": (("run", *BOTH, "--guard", "gold,gold"), "--guard names 'gold' twice"),
    "an empty path": (("run", "--left", "", *BOTH[2:]), "nothing but an empty text after --left"),
    "an empty value": (("run", *BOTH, "--output="), "nothing but an empty text after --output"),
    "an empty argument": (("finalize", ""), "nothing but an empty text after finalize"),
    "infinite memory": (("run", *BOTH, "--memory", "1e400"), "--memory: '1e400' is not a size"),
    "too much memory": (("run", *BOTH, "--memory", "99999999TB"), "--memory: '99999999TB' is not a size"),
    "memory without a digit": (("run", *BOTH, "--memory", "GB"), "--memory: 'GB' is not a size"),
    "value of an option at the end": (("run", *BOTH, "--by"), "try: streamcmp run --help"),
    "empty by": (("run", *BOTH, "--by", "domain,"), "empty"),
    "by of one side alone": (("run", *BOTH, "--left-by", "domain"), "give --by too"),
    "same family twice": (("run", *BOTH, "--by", "domain", "--by", "domain"), "twice"),
    "two outcomes": (("run", *BOTH, "--score", "prob"), "--correct"),
    "tolerance of correct": (("run", *BOTH, "--tolerance", "1"), "--tolerance"),
    "third value": (("run", *BOTH[:4], "--correct", "prob"), "0.9"),
    "strict but not": (("run", *BOTH, "--strict", "--missing", "wrong"), "--strict"),
    "same names": (("run", *BOTH, "--left-name", "x", "--right-name", "x"), "'x'"),
    "output folder": (("run", *BOTH, "--output", "nowhere/report.json"), "there is no folder nowhere"),
    "output is a folder": (("run", *BOTH, "--output", "."), "is a folder"),
    "output is an input": (("run", *BOTH, "--output", "left.parquet"), "also an input"),
    "output is a device": (("run", *BOTH, "--output", "/dev/null", "--format", "json"), "ordinary file"),
    "output is a glob's": (
        ("run", "--left", "le*.parquet", *BOTH[2:], "--output", "left.parquet"),
        "also an input",
    ),
    "output is a URI's": (
        ("run", "--left", "file://left.parquet", *BOTH[2:], "--output", "left.parquet"),
        "also",
    ),
    "output is the truth": (
        ("run", *BOTH, "--truth", "doubled.parquet", "--output", "doubled.parquet"),
        "also",
    ),
    "output is the config": (("run", *BOTH, "--config", "x.toml", "--output", "x.toml"), "also an input"),
    "output in a log's folder": (
        ("run", "--left", "folder", *BOTH[2:], "--output", "folder/x.json"),
        "lies in the",
    ),
    "output in the log's folder, which is here": (
        ("run", "--left", ".", *BOTH[2:], "--output", "x.json"),
        "lies in",
    ),
    "output into a circle": (("run", *BOTH, "--output", "circle.json"), "leads back to itself"),
    "output through a broken link": (("run", *BOTH, "--output", "broken.json"), "there is no folder"),
    "ending": (("run", *BOTH, "--output", "report.xlsx"), "--format"),
    "no ending": (("run", *BOTH, "--output", "report"), "--format"),
    "duplicates": (("run", "--left", "doubled.parquet", *BOTH[2:]), "left: 1"),
    "mismatch": (("run", *BOTH[:2], "--right", "changed.parquet", *BOTH[4:], "--guard", "gold"), "ids: 1"),
    "nothing in common": (("run", *BOTH[:2], "--right", "others.parquet", *BOTH[4:]), "0 of 6 ids match"),
    "count without output": (("count", *BOTH), "--output"),
    "count to an input": (("count", *BOTH, "--output", "left.parquet"), "also an input"),
    "merge without output": (("merge", "x.tally"), "--output"),
    "merge of nothing": (("merge", "--output", "y.tally"), "merge --help"),
    "merge no tally": (("merge", "left.parquet", "--output", "y.tally"), "left.parquet"),
    "merge what is missing": (("merge", "nothing.tally", "--output", "y.tally"), "nothing.tally"),
    "merge twice": (("merge", "x.tally", "x.tally", "--output", "y.tally"), "cover the same examples"),
    "merge over an input": (("merge", "x.tally", "--output", "./x.tally"), "also an input"),
    "merge names the file": (("merge", "x.tally", "by.tally", "--output", "y.tally"), "error: by.tally: "),
    "merge other rule": (
        ("merge", "x.tally", "by.tally", "--output", "y.tally"),
        "different rules and do not add up: by is nothing in one and domain in the other",
    ),
    "finalize a log": (("finalize", "left.parquet"), "n_ab"),
    "finalize what is missing": (("finalize", "nothing.tally"), "nothing.tally"),
    "finalize wrong afterwards": (("finalize", "x.tally", "--missing", "wrong"), "acts while counting"),
    "finalize a log says what to do": (("finalize", "left.parquet"), "to compare logs, use streamcmp run"),
    "test with one name": (("test", "--won", "3", "--lost", "4", "--left-name", "right"), "'right'"),
    "test into csv": (
        ("test", "--won", "3", "--lost", "4", "--output", "x.csv"),
        "one of the endings .txt .json",
    ),
    "count names the option": (("test", "--won", "-1", "--lost", "4"), "(--won)"),
    "negative count": (("test", "--won", "-1", "--lost", "4"), "n_ba"),
    "fractional count": (("test", "--won", "1.5", "--lost", "4"), "--won"),
    "n too small": (("test", "--won", "3", "--lost", "4", "--n", "6"), "7 pairs are discordant"),
    "no counts": (("test", "--won", "3"), "--lost"),
    "config missing": (("run", *BOTH, "--config", "nothing.toml"), "nothing.toml"),
    "config no toml": (("run", *BOTH, "--config", "left.parquet"), "not TOML"),
}


@pytest.fixture
def more_logs(logs: Path, cli: Cli) -> Path:
    pl.concat([LEFT, LEFT[:1]]).write_parquet("doubled.parquet")
    RIGHT.with_columns(gold=pl.lit("y")).write_parquet("changed.parquet")
    RIGHT.with_columns(pl.col("id") + 100).write_parquet("others.parquet")
    (logs / "folder").mkdir()
    LEFT.write_parquet("folder/left.parquet")
    (logs / "x.toml").write_text("confidence = 0.9\n")
    (logs / "circle.json").symlink_to("circle.json")
    (logs / "broken.json").symlink_to("nowhere/report.json")
    assert cli("count", *BOTH, "--output", "x.tally").code == 0
    assert cli("count", *BOTH, "--by", "domain", "--output", "by.tally").code == 0
    return logs


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_one_clear_message(cli: Cli, more_logs: Path, mistake: str) -> None:
    before = {path.name: path.lstat().st_mtime_ns for path in more_logs.iterdir()}
    arguments, says = MISTAKES[mistake]
    ran = cli(*arguments)
    assert ran.code == 2, ran.err
    assert ran.out == ""
    assert ran.err.count("error: ") == 1
    assert says in ran.err
    assert "Traceback" not in ran.err
    assert {path.name: path.lstat().st_mtime_ns for path in more_logs.iterdir()} == before


def test_names_cannot_act_on_the_terminal(cli: Cli, logs: Path) -> None:
    LEFT.rename({"domain": "do\x1b[2Jmain\u202e"}).write_parquet("left.parquet")
    RIGHT.drop("domain").write_parquet("right.parquet")
    ran = cli("run", *BOTH, "--by", "domain")
    assert ran.code == 2
    assert "do\\x1b[2Jmain\\u202e" in ran.err
    assert "\x1b" not in ran.err


@pytest.mark.usefixtures("logs")
def test_output_is_checked_before_anything_is_read(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def unexpected(*_arguments: object, **_options: object) -> None:
        raise AssertionError("the logs were read")

    monkeypatch.setattr("streamcmp.engines.local.count", unexpected)
    assert cli("run", *BOTH, "--output", "nowhere/x.json").code == 2
    assert cli("count", *BOTH, "--output", "nowhere/x.tally").code == 2
    assert cli("run", *BOTH, "--confidence", "2").code == 2
    ran = cli("count", *BOTH, "--output", "x.csv")
    assert (ran.code, ran.err.splitlines()[-1]) == (
        2,
        "error: --output x.csv: a tally is written as Parquet, not .csv; end the name in .tally",
    )


@pytest.mark.usefixtures("logs")
def test_parquet_is_not_written_under_another_name(cli: Cli) -> None:
    assert cli("count", *BOTH, "--output", "x.tally").code == 0
    for command in (["merge", "x.tally"], ["convert", BOTH[1]]):
        ran = cli(*command, "--output", "x.json")
        assert ran.code == 2
        assert "is written as Parquet, not .json; end the name in" in ran.err
        assert not Path("x.json").exists()


@pytest.mark.usefixtures("logs")
@pytest.mark.parametrize("debug", ["--verbose", "STREAMCMP_DEBUG"])
def test_our_own_mistakes_are_3_and_show_a_traceback_when_asked(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, debug: str
) -> None:
    def broken(*_arguments: object, **_options: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("streamcmp.engines.local.count", broken)
    ran = cli("run", *BOTH)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith(
        "error: internal error: ZeroDivisionError: oops. No result is printed; please report"
    )
    assert ran.err.count("\n") == 1
    monkeypatch.setenv("STREAMCMP_DEBUG", "1" if debug == "STREAMCMP_DEBUG" else "")
    extra = [debug] if debug == "--verbose" else []
    assert "Traceback" in cli("run", *BOTH, *extra).err


@pytest.mark.usefixtures("logs")
def test_a_full_disk_is_told_in_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object, **_options: object) -> None:
        raise OSError(28, "No space left on device", "/spill/x")

    monkeypatch.setattr("streamcmp.engines.local.count", full)
    ran = cli("run", *BOTH)
    assert (ran.code, ran.err) == (2, "error: /spill/x: No space left on device\n")


@pytest.mark.usefixtures("logs")
@pytest.mark.parametrize(
    "left", ["delta:lake", "file://lake", "iceberg:lake/metadata/1.metadata.json", "~/lake/*.parquet"]
)
def test_no_result_lies_among_an_input_s_files(cli: Cli, left: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(Path.cwd()))
    Path("lake").mkdir()
    data = Path("lake/part.parquet")
    data.write_bytes(Path("left.parquet").read_bytes())
    ran = cli("count", "--left", left, "--right", "right.parquet", "--output", str(data))
    assert (ran.code, "the input folder" in ran.err or "is also an input" in ran.err) == (2, True)
    assert data.read_bytes() == Path("left.parquet").read_bytes()
