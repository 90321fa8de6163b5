"""Every example of docs/gates.md is a gate, and every name it lists exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import streamcmp
from streamcmp.gates.evaluate import FAMILY_FIELDS
from streamcmp.report.model import Report

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "gates.md").read_text(encoding="utf-8")
EXAMPLES = [
    line
    for block in re.findall(r"^```gate\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]
DIGITS = [str(ROOT / "examples" / "digits" / f"{name}.csv") for name in ("logistic", "svm")]


@pytest.fixture(scope="module")
def report() -> Report:
    report = streamcmp.compare(*DIGITS, by=["digit"])
    return streamcmp.changes(report, report)


@pytest.mark.parametrize("expression", EXAMPLES)
def test_examples(report: Report, expression: str) -> None:
    outcome = streamcmp.gate(report, expression).gates[0]
    assert outcome.says
    assert not outcome.absent
    assert not outcome.fired
    assert streamcmp.gate(report, f"not ({expression})").gates[0].fired


def test_there_are_examples_of_everything() -> None:
    assert len(EXAMPLES) >= 10
    for name in FAMILY_FIELDS:
        assert f"`{name.rpartition('.')[2]}`" in PAGE
