"""Options from a file and from the environment, which goes before the file; the command line before both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import BOTH, Cli


def analysis(cli: Cli, *arguments: str) -> dict[str, object]:
    ran = cli("run", *BOTH, "--format", "json", *arguments)
    assert ran.code == 0, ran.err
    found: dict[str, object] = json.loads(ran.out)["comparison"]["analysis"]
    return found


def test_a_config_gives_defaults(cli: Cli, logs: Path) -> None:
    (logs / "x.toml").write_text(
        'left = "left.parquet"\nright = ["right.parquet"]\ncorrect = "correct"\nby = ["domain", "gold"]\n'
        'left-name = "cnn"\nright_name = "lstm"\nconfidence = 0.9\ntop = 1\nquiet = true\n'
    )
    ran = cli("run", "--config", "x.toml")
    assert ran.code == 0, ran.err
    assert "cnn" in ran.out
    assert "90 %" in ran.out
    assert "gold: 2 slices" in ran.out
    assert ran.err == ""


def test_the_command_line_goes_first_then_the_environment(
    cli: Cli, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "x.toml").write_text('confidence = 0.8\ntest = "chi2"\nadjust = "bh"\n')
    assert analysis(cli, "--config", "x.toml")["confidence"] == 0.8
    monkeypatch.setenv("STREAMCMP_CONFIDENCE", "0.9")
    monkeypatch.setenv("STREAMCMP_TEST", "mid-p")
    found = analysis(cli, "--config", "x.toml", "--test", "exact")
    assert (found["confidence"], found["test"], found["adjust"]) == (0.9, "exact", "bh")


def test_lists_and_switches_from_the_environment(
    cli: Cli, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAMCMP_BY", "domain gold")
    monkeypatch.setenv("STREAMCMP_QUIET", "1")
    ran = cli("run", *BOTH)
    assert "gold: 2 slices" in ran.out
    assert ran.err == ""


def test_one_config_serves_several_commands(cli: Cli, logs: Path) -> None:
    (logs / "x.toml").write_text('by = "domain"\nconfidence = 0.9\n')
    assert cli("count", *BOTH, "--config", "x.toml", "--output", "x.tally").code == 0
    ran = cli("finalize", "x.tally", "--config", "x.toml", "--format", "json")
    report = json.loads(ran.out)
    assert report["comparison"]["analysis"]["confidence"] == 0.9
    assert report["families"][1]["family"] == "domain"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("confidense = 0.9", "unknown option 'confidense'; did you mean confidence?"),
        ("[run]\nconfidence = 0.9", "'run'"),
        ("[by]\nx = 1", "by is a table"),
        ('config = "y.toml"', "unknown option 'config'"),
        ('confidence = "high"', "--confidence"),
        ('test = "t"', "--test"),
        ("confidence 0.9", "not TOML"),
        ("confidence = true", "--confidence"),
        ("confidence = [0.9]", "confidence is a list, but --confidence takes one value"),
        ('correct = ["correct"]', "correct is a list"),
        (
            'by = [["domain", "gold"]]',
            'by holds a list or table; several columns are one text, such as "a,b"',
        ),
        ("[[by]]\nx = 1", "by holds a list or table"),
        ('output = ""', "output is empty"),
        ('left-name = "a"\nleft_name = "b"', "left-name and left_name, which are the same option"),
        ("quiet = 3", "--quiet"),
        ("memory = 1", "--memory must be at least 64MiB"),
    ],
)
def test_a_wrong_config_is_a_mistake(cli: Cli, logs: Path, text: str, says: str) -> None:
    (logs / "x.toml").write_text(text)
    ran = cli("run", *BOTH, "--config", "x.toml")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("error: ") == 1
    assert says in ran.err


@pytest.mark.parametrize(
    ("option", "value"), [("confidence", "2"), ("top", "x"), ("memory", "lots"), ("where", "nothing = 1")]
)
def test_a_message_says_where_an_option_comes_from(
    cli: Cli, logs: Path, monkeypatch: pytest.MonkeyPatch, option: str, value: str
) -> None:
    typed = cli("run", *BOTH, f"--{option}", value)
    assert "comes from" not in typed.err
    (logs / "x.toml").write_text(f'{option} = "{value}"\n')
    read = cli("run", *BOTH, "--config", "x.toml")
    assert f"\n--{option} comes from the config x.toml\n" in read.err
    monkeypatch.setenv(f"STREAMCMP_{option.upper()}", value)
    found = cli("run", *BOTH)
    assert f"\n--{option} comes from STREAMCMP_{option.upper()} in the environment\n" in found.err


@pytest.mark.usefixtures("logs")
def test_a_variable_that_is_nearly_an_option_s_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMCMP_CONFIDANCE", "0.9")
    monkeypatch.setenv("STREAMCMP_DEBUG", "")
    monkeypatch.setenv("STREAMCMP_SOMETHING_ELSE", "1")
    warnings = [line for line in cli("run", *BOTH).err.splitlines() if line.startswith("warning")]
    assert warnings == [
        "warning: STREAMCMP_CONFIDANCE in the environment is no option; did you mean STREAMCMP_CONFIDENCE?"
    ]


def test_a_byte_order_mark_is_no_key(cli: Cli, logs: Path) -> None:
    (logs / "x.toml").write_text("\ufeffconfidence = 0.9\n", encoding="utf-8")
    assert analysis(cli, "--config", "x.toml")["confidence"] == 0.9


def test_slices_from_a_config_and_from_the_environment(
    cli: Cli, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "meta.csv").write_text("id,topic\n1,law\n")
    (logs / "x.toml").write_text('slices = "meta.csv"\nby = "topic"\n')
    ran = cli("run", *BOTH, "--config", "x.toml", "--format", "json", "--on", "id")
    assert ran.code == 0, ran.err
    slices = [each["slice"] for each in json.loads(ran.out)["results"] if each["family"] == "topic"]
    assert sorted(each["topic"] for each in slices) == ["(absent)", "law"]
    monkeypatch.setenv("STREAMCMP_SLICES", "meta.csv")
    ran = cli("run", *BOTH, "--by", "topic", "--format", "json", "--output", "meta.csv")
    assert "--output meta.csv is also an input" in ran.err
