"""What the command says of names and values that want to be something else: one line, nothing but text."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest

from tests.cli.conftest import LEFT, Cli, Ran

EVIL = "\x1b]8;;http://evil\x07x\x1b[31m\x9b2J\u202e\r<b>\u2028"
TEXTS = (EVIL, "a\nerror: fake", "\u0301" * 30, "\x85\x08\x08", "\ufeff\u200b", "\\x1b", "z" * 10_000)


def harmless(ran: Ran) -> None:
    for text in (ran.out, ran.err):
        odd = {
            one
            for one in text
            if one != "\n" and unicodedata.category(one) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
        }
        assert not odd, sorted(map(hex, map(ord, odd)))


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Logs in which ids, columns and values are hostile, with everything wrong that is worth a message."""
    monkeypatch.chdir(tmp_path)
    names = {"id": f"id{EVIL}", "domain": f"d{EVIL}", "gold": f"g{EVIL}"}
    left = LEFT.with_columns(id=pl.format("{}{}", pl.lit(EVIL), "id"), domain=pl.lit(EVIL)).rename(names)
    right = left[1:].with_columns(pl.col(names["domain"]) + "2")
    left.write_parquet("left.parquet")
    right.write_parquet("right.parquet")
    return (
        "--left",
        "left.parquet",
        "--right",
        "right.parquet",
        "--on",
        f'"{names["id"]}"',
        "--correct",
        "correct",
    )


@pytest.mark.parametrize("form", ["table", "csv", "json", "markdown", "junit"])
def test_notes_warnings_and_examples(cli: Cli, evil: tuple[str, ...], form: str) -> None:
    ran = cli(
        "run", *evil, "--by", f'"d{EVIL}"', "--guard", f'"g{EVIL}"',
        "--left-name", EVIL, "--right-name", "b" + EVIL,
        "--format", form, "--fail-on", "any(*, n > 0)", "--verbose",
    )  # fmt: skip
    assert ran.code == 1, ran.err
    assert "ids on the left only: \\x1b]8;;http://evil\\x07x" in ran.err
    assert "gate failed: any(*, n > 0): 1 of 1 slice of" in ran.err
    if form in ("csv", "json"):
        harmless(Ran(ran.code, "", ran.err, b""))
    else:
        harmless(Ran(ran.code, ran.out.replace("\u200b", ""), ran.err, b""))
    if form == "junit":
        assert ET.fromstring(ran.out).attrib["failures"] == "2"


def test_messages_for_machines(cli: Cli, evil: tuple[str, ...]) -> None:
    ran = cli(
        "run", *evil, "--by", f'"d{EVIL}"', "--left-name", EVIL, "--format", "csv", "--messages", "json"
    )
    harmless(Ran(ran.code, "", ran.err, b""))
    messages = [json.loads(line) for line in ran.err.splitlines()]
    (result,) = [one for one in messages if one["code"] == "result"]
    assert "\\x1b]8;;" in result["message"]
    (ids,) = [one for one in messages if one["code"] == "examples" and one["fields"]["kind"] == "unmatched_a"]
    assert ids["fields"]["ids"]


def test_flips(cli: Cli, evil: tuple[str, ...]) -> None:
    ran = cli("flips", *evil, "--by", f'"d{EVIL}"', "--left-name", EVIL, "--right-name", "b" + EVIL)
    assert ran.code == 0, ran.err
    assert "\\x1b]8;;" in ran.out
    harmless(ran)


def test_a_check(cli: Cli, evil: tuple[str, ...]) -> None:
    ran = cli("check", *evil[:6])
    harmless(ran)
    assert "\\x1b]8;;" in ran.out


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize(
    "option",
    [
        "--by",
        "--on",
        "--correct",
        "--where",
        "--guard",
        "--fail-on",
        "--format",
        "--left-model",
        "--ci",
        "--top",
    ],
)
@pytest.mark.usefixtures("logs")
def test_mistakes_in_options(cli: Cli, option: str, text: str) -> None:
    ran = cli("run", "--left", "left.parquet", "--right", "right.parquet", option, text)
    assert ran.code == 2
    harmless(ran)
    assert ran.err.startswith("note: ") or ran.err.startswith("error: ")
    assert "\nerror: fake" not in ran.err


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.usefixtures("logs")
def test_paths_and_values(cli: Cli, logs: Path, text: str) -> None:
    for arguments in (
        ("run", "--left", text, "--right", "right.parquet"),
        ("run", "--left", "left.parquet", "--right", "right.parquet", "--output", f"{text}/x.json"),
        ("run", "--left", "left.parquet", "--right", "right.parquet", "--config", text),
        ("run", "--left", "left.parquet", "--right", "right.parquet", "--baseline-report", text),
        ("finalize", text),
        (text,),
        ("run", f"--{text}"),
    ):
        ran = cli(*arguments)
        assert ran.code == 2
        harmless(ran)
    LEFT.with_columns(correct=pl.lit(text)).write_parquet(logs / "left.parquet")
    ran = cli("run", "--left", "left.parquet", "--right", "right.parquet")
    assert ran.code == 2
    harmless(ran)
    assert len(ran.err) < 2_000
