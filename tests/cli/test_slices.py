"""Slices of every kind on the command line: in options, config and environment, and in every command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import streamcmp
from streamcmp import api
from streamcmp.errors import DataError, UsageError
from tests.cli.conftest import Cli

BOTH = ("--left", "left.parquet", "--right", "right.parquet")
LENGTHS = [3, 30, 300, None, 5, 50]
SKILLS = [["a", "b"], ["a", "a"], [], None, ["b"], [""]]


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(
        {
            "id": range(6),
            "correct": [True, False, True, True, False, True],
            "length": LENGTHS,
            "skills": SKILLS,
            "gold": ["x", "y", "x", "y", "x", "y"],
            "my text": ["hello", "", None, "hi", "hi", "hi"],
        }
    )
    frame.write_parquet("left.parquet")
    frame.with_columns(correct=pl.lit(value=True)).sample(fraction=1.0, shuffle=True, seed=1).write_parquet(
        "right.parquet"
    )
    return tmp_path


TERMS = [
    "length:bins(10, 100)",
    "length:quantiles(2)",
    "my text:top(1)",
    "skills",
    "class,length:bins(10)",
    "CASE WHEN LENGTH(\"my text\") > 2 THEN 'long, say' ELSE 'short' END AS size",
]
FAMILIES = [
    "overall",
    "length:bins(10,100)",
    "length:quantiles(2)",
    "my text:top(1)",
    "skills",
    "class,length:bins(10)",
    "size",
]


def by(*terms: str) -> list[str]:
    return [word for term in terms for word in ("--by", term)]


def report(cli: Cli, *arguments: str) -> dict[str, Any]:
    ran = cli(*arguments, "--format", "json", "--quiet")
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


@pytest.mark.usefixtures("logs")
def test_options_config_environment_and_api_say_the_same(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    named = report(cli, "run", *BOTH, *by(*TERMS))
    assert [family["family"] for family in named["families"]] == FAMILIES
    Path("x.toml").write_text(f"by = {json.dumps(TERMS)}\n")
    assert report(cli, "run", *BOTH, "--config", "x.toml") == named
    monkeypatch.setenv("STREAMCMP_BY", "\n".join(TERMS))
    assert report(cli, "run", *BOTH) == named
    monkeypatch.delenv("STREAMCMP_BY")
    assert streamcmp.compare("left.parquet", "right.parquet", by=TERMS).to_dict() == named


@pytest.mark.usefixtures("logs")
def test_the_environment_separates_by_spaces_unless_a_name_needs_them(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, families in (
        ("gold length:bins(10,100)", ["gold", "length:bins(10,100)"]),
        ("length * 2 AS double", ["double"]),
        ("gold\nlength:bins(10, 100)\n", ["gold", "length:bins(10,100)"]),
    ):
        monkeypatch.setenv("STREAMCMP_BY", text)
        found = report(cli, "run", *BOTH)
        assert [family["family"] for family in found["families"][1:]] == families


@pytest.mark.usefixtures("logs")
def test_count_merge_and_finalize(cli: Cli) -> None:
    terms = by(*TERMS)
    run = report(cli, "run", *BOTH, *terms)
    assert cli("count", *BOTH, *terms, "--output", "x.tally").code == 0
    assert report(cli, "finalize", "x.tally") == run
    shards = []
    for shard in ("0/2", "1/2"):
        name = f"{shard[0]}.tally"
        assert cli("count", *BOTH, *terms, "--shard", shard, "--output", name).code == 0
        shards.append(name)
    assert cli("merge", *shards, "--output", "all.tally").code == 0
    merged = report(cli, "finalize", "all.tally")
    assert merged["results"] == run["results"]  # a shard's quantiles are those of the whole log
    assert cli("count", *BOTH, *terms, "--where", "length < 50", "--output", "y.tally").code == 0
    refused = cli("merge", "x.tally", "y.tally", "--output", "z.tally")
    assert refused.code == 2


@pytest.mark.usefixtures("logs")
def test_explain_reads_no_rows_and_says_what_a_run_would(cli: Cli) -> None:
    data = bytearray(Path("left.parquet").read_bytes())
    data[4:40] = b"\0" * 36
    Path("left.parquet").write_bytes(data)
    ran = cli("run", *BOTH, *by(*TERMS), "--explain")
    assert ran.code == 0
    assert "note: the edges of length:quantiles(2) need a scan first" in ran.err.replace("\n", " ")
    assert ran.out.startswith("1. ")


@pytest.mark.usefixtures("logs")
def test_mistakes_are_usage_errors(cli: Cli) -> None:
    for term, says in (
        (
            "length:bins(10,5)",
            "character 16: edges rise, and 5 is not above 10\n  length:bins(10,5)\n" + " " * 17 + "^",
        ),
        ("lenght:bins(1)", "did you mean 'length'?"),
        ("my text:quantiles(2)", "quantiles cuts numbers and dates"),
        ("length:top(x)", "top takes a whole number"),
        ("skills:top(2)", "skills holds lists"),
    ):
        ran = cli("run", *BOTH, "--by", term)
        assert ran.code == 2
        assert says in ran.err


@pytest.mark.usefixtures("logs")
def test_sql_that_cannot_be_computed_is_named(cli: Cli) -> None:
    pl.read_parquet("left.parquet").drop("skills").write_csv("left.csv")
    for left in ("left.parquet", "left.csv"):
        for term in ('CAST("my text" AS INT) AS x', 'CAST("my text" AS DOUBLE) AS x:quantiles(2)'):
            ran = cli("run", "--left", left, "--right", "right.parquet", "--by", term)
            assert ran.code == 2
            assert """--by 'CAST("my text" AS""" in ran.err
            assert "TRY_CAST gives null where CAST fails" in ran.err.replace("\n", " ")
    tried = report(cli, "run", *BOTH, "--by", 'TRY_CAST("my text" AS INT) AS x')
    assert [row["slice"] for row in tried["results"][1:]] == [{"x": None}]


@pytest.mark.usefixtures("logs")
def test_a_baseline_with_other_edges_is_not_the_same_question(cli: Cli) -> None:
    asked = ("run", *BOTH, "--by", "length:quantiles(2)")
    assert cli(*asked, "--where", "length < 50", "--output", "old.json").code == 0
    ran = cli(*asked, "--baseline-report", "old.json")
    assert "length:quantiles(2) was cut at 5 and is cut at 30" in ran.out.replace("\n", " ")


@pytest.mark.usefixtures("logs")
def test_gates_are_checked_before_the_logs_are_read(cli: Cli) -> None:
    Path("right.parquet").unlink()
    ran = cli("run", *BOTH, "--by", "length:bins(10, 100)", "--fail-on", "any('length:bins(1)', n > 0)")
    assert ran.code == 2
    assert "did you mean length:bins(10,100)?" in ran.err


@pytest.mark.usefixtures("logs")
def test_check_takes_every_kind(cli: Cli) -> None:
    ran = cli("check", *BOTH, *by(*TERMS))
    assert ran.code == 0, ran.err


@pytest.mark.usefixtures("logs")
def test_convert_keeps_what_slices_are_made_of(cli: Cli) -> None:
    terms = ["length", "skills", 'LENGTH("my text") AS size', "class"]
    for side in ("left", "right"):
        ran = cli("convert", f"{side}.parquet", *by(*terms), "--output", f"{side}2.parquet")
        assert ran.code == 0, ran.err
    kept = pl.read_parquet("left2.parquet")
    assert kept["length"].to_list() == LENGTHS
    assert [None if one is None else sorted(set(one)) for one in SKILLS] == kept["skills"].to_list()
    assert kept["size"].to_list() == [5, 0, None, 2, 2, 2]
    asked = by("length:quantiles(2)", "skills", "class")
    before = report(cli, "run", *BOTH, *asked)
    after = report(cli, "run", "--left", "left2.parquet", "--right", "right2.parquet", *asked)
    assert after["results"] == before["results"]
    ran = cli("convert", "left.parquet", "--by", "length:bins(10)", "--output", "x.parquet")
    assert ran.code == 2
    assert "name the column: --by length" in ran.err


@pytest.mark.usefixtures("logs")
def test_a_report_reads_back_with_its_overlapping_families() -> None:
    first = streamcmp.compare("left.parquet", "right.parquet", by=["skills", "length:bins(10,100)"])
    from streamcmp.report import csv, json, parquet

    Path("r.json").write_text(json.render(first))
    Path("r.parquet").write_bytes(parquet.render(first))
    Path("r.csv").write_text(csv.render(first))
    for name in ("r.json", "r.parquet"):
        again = api.finalize(name)
        assert [family.overlapping for family in again.families] == [False, True, False]
        assert {row["n"] for row in again.to_dict()["results"]} == {
            row["n"] for row in first.to_dict()["results"]
        }
    with pytest.raises(
        DataError, match="slices that overlap are known as such in reports in JSON and Parquet"
    ):
        api.finalize("r.csv")


def test_a_cut_of_a_log_that_one_side_lacks(logs: Path) -> None:
    right = pl.read_parquet("right.parquet").drop("length", "skills")
    found = streamcmp.compare("left.parquet", right, by=["length:quantiles(2)", "skills"])
    assert found.families[1].slices == 3
    with pytest.raises(UsageError, match="no log has all of these columns"):
        streamcmp.compare(
            pl.read_parquet("left.parquet").drop("skills"),
            pl.read_parquet("right.parquet").drop("length"),
            by=["skills,length:bins(1)"],
        )


def test_wide_logs_and_pairs_by_position(logs: Path) -> None:
    frame = pl.read_parquet("left.parquet").with_columns(other=pl.lit(value=False))
    terms = ["length:quantiles(2)", "skills", "length * 2 AS double:bins(50)"]
    wide = streamcmp.compare(frame, frame, by=terms, correct=("correct", "other"))
    apart = streamcmp.compare(frame, frame.with_columns(correct=pl.col("other")), by=terms)
    by_position = streamcmp.compare(frame, frame.with_columns(correct=pl.col("other")), by=terms, on="row")
    assert wide.results.equals(apart.results)
    assert by_position.results.equals(apart.results)
