"""`--messages json`: all that stands on stderr is JSON, one object a line."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from streamcmp.cli import logged
from streamcmp.meter import Meter
from tests.cli.conftest import BOTH, RIGHT, Cli, Ran


def messages(ran: Ran) -> list[dict[str, Any]]:
    """The messages before the last, which is always the end."""
    found = [json.loads(line) for line in ran.err.splitlines()]
    for one in found:
        assert list(one) == ["level", "code", "message", "fields"]
        assert one["level"] in ("info", "warning", "error")
    end = found.pop()
    assert (end["code"], end["level"], end["fields"]["exit_code"]) == ("end", "info", ran.code)
    assert end["fields"]["seconds"] > 0
    assert end["fields"]["peak_memory_bytes"] > 10_000_000
    return found


@pytest.mark.usefixtures("logs")
def test_notes_warnings_and_the_end(cli: Cli) -> None:
    RIGHT[:5].write_parquet("right.parquet")
    ran = cli("run", *BOTH, "--messages", "json", "--format", "csv", "--output", "x.csv")
    found = {one["code"]: one for one in messages(ran)}
    assert found["examples"]["fields"] == {"kind": "unmatched_a", "ids": ["6"]}
    assert found["unmatched"]["level"] == "warning"
    assert found["unmatched"]["fields"] == {"a": 1, "b": 0}
    assert found["ledger"]["fields"]["a"]["paired"] == 5
    assert found["wrote"]["fields"] == {"path": "x.csv"}
    # A table shows warnings itself; a program does not read tables.
    assert "unmatched" in {one["code"] for one in messages(cli("run", *BOTH, "--messages=json"))}
    quiet = messages(cli("run", *BOTH, "--messages=json", "--quiet"))
    assert {one["level"] for one in quiet} == {"warning"}


@pytest.mark.usefixtures("logs")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("run", "--left", "no.parquet", "--right", "right.parquet"), "usage_error"),
        (("run", *BOTH, "--by", "nothing"), "unknown_column"),
        (("run", "--left", "left.parquet"), "usage_error"),
        (("finalize", "left.parquet"), "unknown_column"),
        (("nothing",), "usage_error"),
        (("test", "--won", "1"), "usage_error"),
    ],
)
def test_mistakes(cli: Cli, arguments: tuple[str, ...], code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMCMP_MESSAGES", "json")
    ran = cli(*arguments)
    (error,) = messages(ran)
    assert (ran.code, error["level"], error["code"]) == (2, "error", code)


@pytest.mark.usefixtures("logs")
def test_every_command_speaks_so(cli: Cli) -> None:
    json_too = ("--messages", "json")
    assert messages(cli("count", *BOTH, "--output", "x.tally", *json_too))[-1]["code"] == "wrote"
    assert messages(cli("merge", "x.tally", "--output", "y.tally", *json_too))[-1]["code"] == "wrote"
    assert not messages(cli("finalize", "y.tally", *json_too))
    assert not messages(cli("test", "--won", 4, "--lost", 1, *json_too))
    assert not messages(cli("power", "y.tally", "--gain", 0.1, *json_too))
    assert not messages(cli("check", *BOTH, *json_too))
    converted = messages(cli("convert", "left.parquet", "--output", "z.parquet", *json_too))
    assert converted[-1]["fields"]["rows"] == 6


@pytest.mark.usefixtures("logs")
def test_gates_say_what_fired(cli: Cli) -> None:
    ran = cli("run", *BOTH, "--fail-on", "overall.n > 1", "--messages", "json", "--quiet")
    assert ran.code == 1
    assert [one["code"] for one in messages(ran) if one["level"] == "error"] == ["gate_failed"]


@pytest.mark.usefixtures("logs")
def test_a_config_may_ask_for_it_and_the_next_command_starts_anew(cli: Cli) -> None:
    Path("c.toml").write_text('messages = "json"\n')
    assert messages(cli("run", *BOTH, "--config", "c.toml"))
    assert cli("run", *BOTH).err.startswith("note: ")
    assert "Invalid value for '--messages'" in cli("run", *BOTH, "--messages", "xml").err


def test_progress(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logged, "EVERY", 0.01)
    monkeypatch.setattr("streamcmp.cli.stderr._Voice.json", True)
    meter = Meter()
    meter.begin("merging", 100)
    meter.add(40)
    err = ""
    with logged.logged(meter):
        while not err:
            time.sleep(0.01)
            err = capfd.readouterr().err
    one = json.loads(err.splitlines()[0])
    assert one["code"] == "progress"
    assert one["fields"].pop("per_second") > 0
    assert one["fields"] == {"phase": "merging", "unit": "rows", "done": 40, "total": 100}


@pytest.mark.usefixtures("logs")
@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("bogus = 3", ()),
        ("confidence = [1]", ()),
        ("by = ['domain']", ("--bogus",)),
        ("by = ['nothing']", ()),
    ],
)
def test_a_config_that_asks_for_it_is_answered_so(
    cli: Cli, text: str, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("asked.toml").write_text(f'messages = "json"\n{text}\n', encoding="utf-8")
    monkeypatch.setenv("STREAMCMP_MESSAGES", "")
    ran = cli("run", *BOTH, "--config", "asked.toml", *arguments)
    assert (ran.code, [one["level"] for one in messages(ran)]) == (2, ["error"])
    assert cli("run", *BOTH, "--config=asked.toml", "--messages=text", *arguments).err.startswith("error: ")
    monkeypatch.setenv("STREAMCMP_CONFIG", "asked.toml")
    assert messages(cli("run", *BOTH, *arguments))
