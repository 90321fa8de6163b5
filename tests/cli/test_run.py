"""`streamcmp run`: what it prints is what the library computes."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest

import streamcmp
from streamcmp.analysis import Adjust, Alternative, Analysis, GainInterval, Test
from streamcmp.cli.options import Format
from streamcmp.comparison import Duplicates, Mismatch, Missing, NullIds, Policies, Unmatched
from streamcmp.report import FORMAT_OF_ENDING, RENDERERS
from streamcmp.resources import Resources, Strategy
from tests.cli.conftest import BOTH, LEFT, RIGHT, Cli

PATHS = ("left.parquet", "right.parquet")


@pytest.mark.usefixtures("logs")
def test_json_is_the_library_s_report(cli: Cli) -> None:
    ran = cli("run", *BOTH, "--by", "domain", "--format", "json")
    assert ran.code == 0
    assert json.loads(ran.out) == streamcmp.compare(*PATHS, by=["domain"], correct="correct").to_dict()


@pytest.mark.usefixtures("logs")
@pytest.mark.parametrize("form", get_args(Format))
def test_every_format_on_stdout_is_its_renderer_s(cli: Cli, form: str) -> None:
    report = streamcmp.compare(*PATHS, by=["domain"], correct="correct")
    rendered = RENDERERS[form](report)
    ran = cli("run", *BOTH, "--by", "domain", "--format", form, "--quiet")
    assert ran.code == 0
    assert ran.data == (rendered if isinstance(rendered, bytes) else rendered.encode())


@pytest.mark.parametrize("ending", FORMAT_OF_ENDING)
def test_the_ending_of_output_says_the_format(cli: Cli, logs: Path, ending: str) -> None:
    ran = cli("run", *BOTH, "--output", f"report{ending}")
    assert (ran.code, ran.out) == (0, "")
    assert f"note: wrote report{ending}" in ran.err
    rendered = RENDERERS[FORMAT_OF_ENDING[ending]](streamcmp.compare(*PATHS, correct="correct"))
    assert (logs / f"report{ending}").read_bytes() == (
        rendered if isinstance(rendered, bytes) else rendered.encode()
    )
    assert sorted(path.name for path in logs.iterdir()) == [
        "left.parquet",
        f"report{ending}",
        "right.parquet",
    ]


def test_a_given_format_goes_before_the_ending(cli: Cli, logs: Path) -> None:
    assert cli("run", *BOTH, "--output", "report.txt", "--format", "json").code == 0
    assert json.loads((logs / "report.txt").read_text())["schema_version"] == 1


CHOICES: dict[str, Any] = {
    "test": Test,
    "alternative": Alternative,
    "ci": GainInterval,
    "adjust": Adjust,
    "duplicates": Duplicates,
    "mismatch": Mismatch,
    "unmatched": Unmatched,
    "missing": Missing,
    "null_ids": NullIds,
    "strategy": Strategy,
}


def test_the_value_that_help_calls_the_default_is_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = cli("run", "--help").out
    real = {**asdict(Policies()), **asdict(Analysis()), "strategy": Resources().strategy}
    for option, values in CHOICES.items():
        first, *others = get_args(values)
        assert real[option] == first
        assert f": {', '.join([f'{first} (default)', *others])} " in text


@pytest.mark.usefixtures("logs")
@pytest.mark.parametrize(
    ("option", "value"), [(o, v) for o, choice in CHOICES.items() for v in get_args(choice)]
)
def test_every_choice_of_every_option_reaches_the_library(cli: Cli, option: str, value: str) -> None:
    ran = cli("run", *BOTH, "--by", "domain", f"--{option.replace('_', '-')}", value, "--format", "json")
    assert ran.code == 0, ran.err
    expected = streamcmp.compare(*PATHS, by=["domain"], correct="correct", **{option: value})  # type: ignore[arg-type]
    assert json.loads(ran.out) == expected.to_dict()


@pytest.mark.usefixtures("logs")
@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--on", "id"], {"on": "id"}),
        (["--on", "row"], {"on": "row"}),
        (["--on", "id,gold"], {"on": ["id", "gold"]}),
        (["--on", "id", "--on", "gold"], {"on": ["id", "gold"]}),
        (["--by", "domain", "--by", "gold"], {"by": ["domain", "gold"]}),
        (["--by", "domain,gold"], {"by": [("domain", "gold")]}),
        (["--where", "prob > 0.15"], {"where": "prob > 0.15"}),
        (["--guard", "gold", "--guard", "domain"], {"guards": ["gold", "domain"]}),
        (["--threshold", "0.5"], {"threshold": 0.5, "score": "prob"}),
        (["--truth", "left.parquet", "--label-type", "text"], {"truth": "truth.csv", "prediction": "pred"}),
        (["--id-type", "text"], {"id_type": "text"}),
        (["--input-format", "parquet"], {"input_format": "parquet"}),
        (["--left-name", "cnn", "--right-name", "lstm"], {"left_name": "cnn", "right_name": "lstm"}),
        (["--confidence", "0.9"], {"confidence": 0.9}),
        (["--margin", "0.3", "--by", "domain"], {"margin": 0.3, "by": "domain"}),
        (["--odds", "clopper-pearson"], {"odds": "clopper-pearson"}),
        (["--odds", "mid-p"], {"odds": "mid-p"}),
        (["--odds", "wilson"], {"odds": "wilson"}),
        (["--mde"], {"mde": True}),
        (["--mde", "--power", "0.5"], {"mde": True, "power": 0.5}),
        (["--anytime", "--alternative", "worse"], {"anytime": True, "alternative": "worse"}),
        (["--min-discordant", "2", "--by", "domain"], {"min_discordant": 2, "by": "domain"}),
        (["--memory", "256MiB", "--threads", "1"], {"memory": "256MiB", "threads": 1}),
        (["--strict"], {"strict": True}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_every_other_option_reaches_the_library(cli: Cli, arguments: list[str], options: Any) -> None:
    if "truth" in options:
        pl.DataFrame({"id": [1, 2, 3, 4, 5, 6], "label": list("xyxyxy")}).write_csv("truth.csv")
        arguments = ["--truth", "truth.csv", "--prediction", "pred"]
    outcome = [] if {"score", "prediction"} & options.keys() else ["--correct", "correct"]
    if "score" in options:
        arguments = [*arguments, "--score", "prob"]
    keywords = options if not outcome else {"correct": "correct", **options}
    ran = cli("run", *BOTH[:4], *outcome, *arguments, "--format", "json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out) == streamcmp.compare(*PATHS, **keywords).to_dict()


SIDES: dict[str, tuple[list[str], dict[str, str]]] = {
    "correct": (["--correct", "correct"], {"correct": "ok"}),
    "prediction": (["--prediction", "pred", "--label", "gold"], {"pred": "guess"}),
    "label": (["--prediction", "pred", "--label", "gold"], {"gold": "target"}),
    "score": (["--score", "prob", "--threshold", "0.5"], {"prob": "confidence"}),
    "on": (["--on", "id", "--correct", "correct"], {"id": "key"}),
    "by": (["--by", "domain", "--correct", "correct"], {"domain": "area"}),
}


@pytest.mark.usefixtures("logs")
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("what", SIDES)
def test_a_side_may_have_names_of_its_own(cli: Cli, what: str, side: str) -> None:
    arguments, renamed = SIDES[what]
    expected = json.loads(cli("run", *BOTH[:4], *arguments, "--format", "json").out)
    log = {"left": LEFT, "right": RIGHT}[side]
    log.rename(renamed).write_parquet(f"{side}.parquet")
    ran = cli("run", *BOTH[:4], *arguments, f"--{side}-{what}", *renamed.values(), "--format", "json")
    assert ran.code == 0, ran.err
    got = json.loads(ran.out)
    assert (got["ledger"], got["results"]) == (expected["ledger"], expected["results"])


@pytest.mark.usefixtures("logs")
def test_a_side_may_have_a_format_and_columns_of_its_own(cli: Cli) -> None:
    RIGHT.select("id", "correct").write_csv("right.data", include_header=False, separator="\t")
    ran = cli(
        "run", "--left", "left.parquet", "--right", "right.data", "--on", "id", "--correct", "correct",
        "--right-input-format", "tsv", "--right-columns", "id,correct", "--format", "json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    expected = streamcmp.compare(*PATHS, on="id", correct="correct").to_dict()
    assert json.loads(ran.out)["results"] == expected["results"]


@pytest.mark.usefixtures("logs")
def test_several_files_of_a_side(cli: Cli) -> None:
    LEFT[:2].write_parquet("left-0.parquet")
    LEFT[2:].write_parquet("left-1.parquet")
    two = ("--left", "left-1.parquet", "--left", "left-0.parquet")
    ran = cli("run", *two, *BOTH[2:], "--format", "json")
    assert ran.code == 0, ran.err
    expected = json.loads(cli("run", *BOTH, "--format", "json").out)
    assert json.loads(ran.out)["results"] == expected["results"]


@pytest.mark.usefixtures("logs")
def test_results_on_stdout_everything_else_on_stderr(cli: Cli) -> None:
    LEFT[:5].write_parquet("left.parquet")
    table = cli("run", *BOTH)
    assert "warning: 1 row of the right log" in table.out
    assert "warning" not in table.err
    assert "note: " in table.err
    assert "note: ids on the right only: 6\n" in table.err
    csv = cli("run", *BOTH, "--format", "csv")
    assert csv.out.startswith("family,")
    assert "ledger: left 5 rows = 5 paired; right 6 rows" in csv.err
    assert "warning: 1 row of the right log" in csv.err
    as_json = cli("run", *BOTH, "--format", "json")
    assert json.loads(as_json.out)
    assert "warning: 1 row of the right log" in as_json.err


@pytest.mark.usefixtures("logs")
def test_quiet_keeps_warnings_and_drops_notes(cli: Cli) -> None:
    LEFT[:5].write_parquet("left.parquet")
    assert cli("run", *BOTH, "--quiet").err == ""
    quiet = cli("run", *BOTH, "--quiet", "--format", "csv").err.splitlines()
    assert [line.split(":")[0] for line in quiet] == ["result", "ledger", "warning"]


@pytest.mark.usefixtures("logs")
def test_verbose_tells_time_and_memory(cli: Cli) -> None:
    assert "peak memory" in cli("run", *BOTH, "--verbose").err
    assert "peak memory" not in cli("run", *BOTH).err


@pytest.mark.usefixtures("logs")
def test_what_was_dropped_on_request_is_shown_by_its_ids(cli: Cli) -> None:
    pl.concat([LEFT, LEFT[1:3]]).write_parquet("left.parquet")
    RIGHT.with_columns(gold=pl.Series(list("xyxyxx"))).write_parquet("right.parquet")
    ran = cli(
        "run", *BOTH, "--duplicates", "drop", "--mismatch", "drop", "--guard", "gold", "--format", "json"
    )
    assert ran.code == 0, ran.err
    assert "note: duplicate ids on the left: 2, 3\n" in ran.err
    assert "note: ids whose guard differs: 6\n" in ran.err
    assert "note: guards differ: id 6: gold is 'y' on the left, 'x' on the right\n" in ran.err


@pytest.mark.usefixtures("logs")
@pytest.mark.parametrize("strategy", get_args(Strategy))
def test_ids_are_told_left_before_right(cli: Cli, strategy: str) -> None:
    LEFT[:5].write_parquet("left.parquet")
    RIGHT[1:].write_parquet("right.parquet")
    ran = cli("run", *BOTH, "--strategy", strategy)
    if ran.code:  # lockstep does not fit such logs
        assert strategy == "lockstep"
        return
    notes = [line for line in ran.err.splitlines() if "only" in line]
    assert notes == ["note: ids on the left only: 1", "note: ids on the right only: 6"]


@pytest.mark.usefixtures("logs")
def test_ids_of_both_logs_are_not_called_ids_of_one(cli: Cli) -> None:
    ran = cli("run", *BOTH, "--where", "id > 1000")
    assert ran.code == 2
    assert "--where leaves none of 6 rows of the left log" in ran.err
    assert " only: " not in ran.err


@pytest.mark.usefixtures("logs")
def test_top_limits_rows_of_the_table(cli: Cli) -> None:
    assert "and 2 more" in cli("run", *BOTH, "--by", "domain", "--top", "1").out
    assert "and 2 more" in cli("run", *BOTH, "--by", "domain", "--top", "1", "--format", "markdown").out
    assert "more" not in cli("run", *BOTH, "--by", "domain").out
    assert "more" not in cli("run", *BOTH, "--by", "domain", "--top", 10**30).out


@pytest.mark.usefixtures("logs")
def test_a_log_against_itself(cli: Cli) -> None:
    ran = cli(
        "run", "--left", "left.parquet", "--right", "left.parquet", "--correct", "correct", "--format", "json"
    )
    overall = json.loads(ran.out)["results"][0]
    assert (ran.code, overall["p"], overall["p_mid"], overall["gain"]) == (0, 1, 1, 0)


@pytest.mark.usefixtures("logs")
def test_a_wide_log(cli: Cli) -> None:
    LEFT.with_columns(other=RIGHT["correct"]).write_parquet("wide.parquet")
    ran = cli(
        "run", "--left", "wide.parquet", "--right", "wide.parquet", "--left-correct", "correct",
        "--right-correct", "other", "--format", "json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    expected = streamcmp.compare(*PATHS, correct="correct").to_dict()
    assert json.loads(ran.out)["results"] == expected["results"]
