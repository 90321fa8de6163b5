"""count, merge, finalize and test on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import streamcmp
from streamcmp.tally import Tally
from tests.cli.conftest import BOTH, LEFT, RIGHT, Cli
from tests.peak import peak


@pytest.mark.usefixtures("logs")
def test_count_then_finalize_is_run(cli: Cli) -> None:
    run = cli("run", *BOTH, "--by", "domain", "--format", "json", "--test", "mid-p")
    counted = cli("count", *BOTH, "--by", "domain", "--output", "x.tally")
    assert (counted.code, counted.out) == (0, "")
    assert "note: wrote x.tally" in counted.err
    finalized = cli("finalize", "x.tally", "--format", "json", "--test", "mid-p")
    assert finalized.code == 0
    assert json.loads(finalized.out) == json.loads(run.out)


def test_merge_is_the_whole(cli: Cli, logs: Path) -> None:
    for number, rows in enumerate(([0, 1], [2, 3, 4], [5])):
        LEFT[rows].write_parquet(f"left-{number}.parquet")
        RIGHT[rows].write_parquet(f"right-{number}.parquet")
        sides = ("--left", f"left-{number}.parquet", "--right", f"right-{number}.parquet")
        assert cli("count", *sides, *BOTH[4:], "--by", "domain", "--output", f"{number}.tally").code == 0
    merged = cli("merge", "2.tally", "0.tally", "1.tally", "--output", "all.tally")
    assert (merged.code, merged.out) == (0, "")
    whole = streamcmp.count("left.parquet", "right.parquet", by=["domain"], correct="correct")
    assert Tally.load(logs / "all.tally") == whole


@pytest.mark.usefixtures("logs")
def test_finalize_takes_names_policies_and_plain_counts(cli: Cli) -> None:
    pl.DataFrame({"domain": ["law", "art"], "n_ab": [4, 1], "n_ba": [14, 2]}).write_csv("counts.csv")
    ran = cli("finalize", "counts.csv", "--left-name", "cnn", "--right-name", "lstm")
    assert ran.code == 0
    assert ran.out.startswith("lstm is better than cnn: lstm won 16 and lost 5; p = 0.027")
    report = cli("finalize", "counts.csv", "--output", "report.json")
    assert report.code == 0
    assert json.loads(Path("report.json").read_text())["ledger"] is None
    assert "warning: only counts were given" in report.err
    LEFT[:4].write_parquet("left.parquet")
    assert cli("count", *BOTH, "--output", "x.tally").code == 0
    assert cli("finalize", "x.tally").code == 0
    assert cli("finalize", "x.tally", "--strict").code == 2


def test_counts_in_hand(cli: Cli) -> None:
    ran = cli("test", "--won", 14, "--lost", 4)
    assert ran.code == 0
    assert ran.out.startswith("right is better than left: right won 14 and lost 4; p = 0.031\n")
    named = cli("test", "--won", 22, "--lost", 4, "--n", 899, "--left-name", "a", "--right-name", "b")
    assert named.out.startswith(
        "b is better than a: gain +2.0 points [1.0, 3.3]; b won 22 and lost 4 of 899 pairs; p = 0.00053"
    )


@pytest.mark.parametrize(
    ("options", "keywords"),
    [
        ([], {}),
        (["--n", "100"], {"n": 100}),
        (["--test", "mid-p", "--alternative", "better"], {"test": "mid-p", "alternative": "better"}),
        (["--n", "100", "--margin", "0.01"], {"n": 100, "margin": 0.01}),
        (
            ["--n", "100", "--margin", "2.3%", "--confidence", "90 %"],
            {"n": 100, "margin": 0.023, "confidence": 0.9},
        ),
        (["--odds", "mid-p", "--anytime"], {"odds": "mid-p", "anytime": True}),
        (["--n", "100", "--mde", "--power", "0.9"], {"n": 100, "mde": True, "power": 0.9}),
        (["--n", "100", "--ci", "wald", "--confidence", "0.8"], {"n": 100, "ci": "wald", "confidence": 0.8}),
    ],
)
def test_counts_in_hand_as_json_are_the_library_s(cli: Cli, options: list[str], keywords: object) -> None:
    ran = cli("test", "--won", 14, "--lost", 4, "--format", "json", *options)
    assert json.loads(ran.out) == streamcmp.mcnemar(4, 14, **keywords).to_dict()  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["2x", "%", "nan%", "2%%"])
def test_a_share_is_a_number_or_a_percentage(cli: Cli, text: str) -> None:
    ran = cli("test", "--won", 14, "--lost", 4, "--margin", text)
    assert ran.code == 2
    assert f"'--margin': {text!r} is no number; write for example 0.02 or 2%" in ran.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "no interval: it needs --n)"),
        (["--n", "100"], "interval: tango, 0.95)"),
        (["--n", "100", "--ci", "newcombe"], "no newcombe interval: it needs all four cells"),
    ],
)
def test_counts_in_hand_say_why_there_is_no_interval(cli: Cli, options: list[str], says: str) -> None:
    assert says in cli("test", "--won", 14, "--lost", 4, *options).out


def test_the_ending_of_a_test_s_output_says_the_format(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    assert cli("test", "--won", 14, "--lost", 4, "--output", target).code == 0
    assert json.loads(target.read_text()) == streamcmp.mcnemar(4, 14).to_dict()


def test_counts_in_hand_show_what_was_asked(cli: Cli) -> None:
    out = cli(
        "test", "--won", 22, "--lost", 4, "--n", 899, "--margin", 0.02, "--odds", "mid-p", "--anytime"
    ).out
    assert "not worse by 2 points: p = 8.8e-09; within 2 points: p = 0.50; any-time p = 0.0060\n" in out
    assert "\nodds won [95 %]        5.50 [2.02, 18.7]\n" in out
    assert "\ne-value                166\n" in out


def test_counts_in_hand_into_a_file(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "result.txt"
    assert cli("test", "--won", 5, "--lost", 0, "--output", target).out == ""
    assert target.read_text().startswith(
        "no clear difference between left and right: right won 5 and lost 0; p = 0.06"
    )


def _results(printed: bytes, form: str) -> int:
    """How many results a report holds."""
    if form == "parquet":
        return pl.read_parquet(printed).height
    if form == "junit":
        return printed.count(b"<testcase ")
    lines = printed.decode().splitlines()
    return len(lines) - 1 if form == "csv" else sum('"verdict":' in line for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "csv", "parquet", "junit"])
def test_a_million_slices_within_two_gigabytes(tmp_path: Path, form: str) -> None:
    rows = 1_000_000
    number = pl.int_range(rows)
    counts = pl.select(
        user=pl.format("user-{}", number),
        both_correct=number % 7,
        n_ab=number % 5,
        n_ba=number % 3,
        both_wrong=number % 2,
    )
    counts.write_parquet(tmp_path / "counts.parquet")
    printed, most = peak("finalize", tmp_path / "counts.parquet", "--format", form, "--quiet")
    assert _results(printed, form) == rows + 1
    assert most < 1.5e9
