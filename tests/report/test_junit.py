"""JUnit XML: well-formed whatever the names, one case per slice, failures where a gate is about one."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import polars as pl

import streamcmp
from streamcmp.analysis import Analysis
from streamcmp.report import RENDERERS
from streamcmp.report.model import Report
from streamcmp.results import finalize
from tests.report.tallies import HOSTILE, hostile, table, tally, troubled


def parsed(report: Report) -> ET.Element:
    text = RENDERERS["junit"](report)
    assert isinstance(text, str)
    return ET.fromstring(text)


def test_a_case_per_slice_and_per_gate() -> None:
    report = streamcmp.gate(
        finalize(troubled(), Analysis(min_discordant=1)),
        ["any(domain, n < 11)", "overall.gain > 0", "overall.gain < 0"],
    )
    root = parsed(report)
    suites = {suite.attrib["name"]: suite for suite in root}
    assert list(suites) == ["gates", "overall", "domain", "year,day", "flag"]
    assert [len(suite.findall("testcase")) for suite in suites.values()] == [3, 1, 4, 2, 1]
    failed = {
        case.attrib["name"]
        for case in root.iter("testcase")
        if case.find("failure") is not None and case.attrib["classname"] != "streamcmp.gates"
    }
    assert failed == {"overall", "domain=(null)", "domain=physics"}
    for suite in [root, *suites.values()]:
        assert int(suite.attrib["tests"]) == len(list(suite.iter("testcase")))
        assert int(suite.attrib["failures"]) == len({
            id(case) for case in suite.iter("testcase") if case.find("failure") is not None
        })  # fmt: skip
        assert int(suite.attrib["skipped"]) == len(list(suite.iter("skipped")))


def test_untested_slices_are_skipped() -> None:
    root = parsed(finalize(troubled()))
    skipped = [case.attrib["name"] for case in root.iter("testcase") if case.find("skipped") is not None]
    assert skipped == ["domain=physics"]
    assert root.attrib["skipped"] == "1"


def test_a_failure_says_the_gate_and_the_numbers() -> None:
    report = streamcmp.gate(finalize(troubled()), "any(domain, domain == 'law')")
    failure = next(case for case in parsed(report).iter("failure") if case.text)
    assert failure.attrib["message"] == "gate: any(domain, domain == 'law')"
    assert failure.text is not None
    assert "+29.4 points [5.6, 53.1]; won 5, lost 0 of 17 pairs" in failure.text


def test_hostile_names_are_inert_and_distinct() -> None:
    report = streamcmp.gate(finalize(hostile(), names=("]]>", "<!--")), "any(name, n > 0 and '<x>' != \"&\")")
    text = RENDERERS["junit"](report)
    assert isinstance(text, str)
    assert text.replace("\n", "").isprintable()
    assert "<script" not in text
    names = [case.attrib["name"] for case in parsed(report).iter("testcase")]
    assert len(names) == len(set(names)) == len(HOSTILE) + 2
    assert "name==cmd()" in names
    assert "name=<script>alert(1)</script>" in names
    assert max(map(len, names)) < 250


def test_long_names_that_end_alike_are_told_apart() -> None:
    rows = [("a" * 5000 + middle + "z" * 5000, 5, 1, 1, 1) for middle in ("x", "y")]
    names = [
        case.attrib["name"] for case in parsed(finalize(tally({"k": table(["k"], rows)}))).iter("testcase")
    ]
    assert len(set(names)) == 3


def test_odd_characters_are_well_formed() -> None:
    rows = [(name, 5, 1, 1, 1) for name in ("\ufffe", "\x00", "\x0b", "\uffff", "\u2028", "\U0001f600")]
    names = {
        case.attrib["name"] for case in parsed(finalize(tally({"k": table(["k"], rows)}))).iter("testcase")
    }
    assert {"k=\\ufffe", "k=\\x00", "k=\\x0b", "k=\\uffff", "k=\\u2028", "k=\U0001f600"} < names


def test_a_family_of_one_type_more() -> None:
    cut = tally({"x": table(["x"], [(1, 5, 1, 1, 1), (None, 5, 1, 1, 1)], {"x": pl.Int64})})
    names = {case.attrib["name"] for case in parsed(finalize(cut)).iter("testcase")}
    assert names == {"overall", "x=1", "x=(null)"}
