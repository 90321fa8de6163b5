"""What `sql` refuses stands in no help of it; what stands there it takes."""

from __future__ import annotations

from dataclasses import fields

import pytest

from streamcmp.cli.options import Logs
from streamcmp.cli.sql import Tables
from tests.cli.conftest import Cli

COMPLETE = (
    "sql", "--dialect", "duckdb", "--left", "old", "--right", "new", "--on", "id", "--id-type", "int",
    "--correct", "ok",
)  # fmt: skip


def spelled(name: str) -> str:
    return f"--{name.replace('_', '-')}"


@pytest.mark.parametrize("name", Tables.refused)
def test_what_is_refused_is_not_offered(cli: Cli, name: str) -> None:
    own = {"left_model": ("--model-column", "m"), "right_model": ("--model-column", "m")}
    third = {"truth_columns": ("--truth", "t.csv"), "slices_columns": ("--slices", "s.csv", "--by", "x")}
    value = "nfc" if name == "id_normalize" else "a,b" if name.endswith("columns") else "a"
    ran = cli(*COMPLETE, spelled(name), value, *own.get(name, ()), *third.get(name, ()))
    assert ran.code == 2, ran.out
    assert "Traceback" not in ran.err
    assert "No such option" not in ran.err
    assert spelled(name) not in cli("sql", "--help").out.split()
    assert spelled(name) in cli("run", "--help").out.split()


@pytest.mark.parametrize("name", [field.name for field in fields(Logs) if field.name not in Tables.refused])
def test_the_others_are_offered(cli: Cli, name: str) -> None:
    assert spelled(name) in cli("sql", "--help").out.split()
