"""Names that want to be something else: inert in every format, and their own in those that are data.

Judged by parsers that are not ours: csv, json, expat, markdown-it. What a forge does besides (splitting
rows at bars, linking @names and #numbers) is done here by hand.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.cells import cell_len

import streamcmp
from streamcmp.analysis import Analysis
from streamcmp.report import RENDERERS
from streamcmp.report.markdown import code, escaped
from streamcmp.report.model import Report
from streamcmp.report.values import inert, shown
from streamcmp.results import finalize
from tests.report.tallies import HOSTILE, table, tally

NAMES = [
    *(name for name in HOSTILE if name is not None),
    "<img src=x onerror=alert(1)>",
    "</table><h1>",
    "<!-- -->",
    "]]>",
    "<![CDATA[",
    "&lt;b&gt;&#x41;&nbsp;",
    "\x1b]8;;http://evil.example\x07link\x1b]8;;\x07",
    "\x9b31m",
    "\x9d0;title\x9c",
    "\x1b[2J\x1b[H",
    "\x08\x08\x08",
    "a\rb",
    "a\r\nb",
    "\n",
    "\x0b\x0c",
    "\x00",
    "a\x00b",
    "\x85",
    "\u2028\u2029",
    "\u200b",
    "\ufeffbom",
    "\u2066a\u2069",
    "\u202d\u202e\u202c",
    "\U000e0001\U000e0041",
    "\ue000",
    "\ufffe\uffff",
    "\U0001f469\u200d\U0001f4bb",
    "\u2764\ufe0f",
    "\u6f22\u5b57",
    "\uff1d1+1",
    "\u05e9\u05dc\u05d5\u05dd 12",
    "\u0627\u0644",
    "\u0301leading",
    "z" + "\u0335\u0341" * 40,
    "+1",
    "-1",
    "@sum(1)",
    "'quoted",
    "''",
    "'=1",
    "\t=1",
    '=HYPERLINK("http://x")',
    "007",
    "1e5",
    "true",
    "null",
    "a|b",
    "a\\|b",
    "a\\\\|b",
    "\\",
    "|",
    "||",
    "| --- |",
    "`",
    "``",
    "a`b`c",
    "` `",
    "```\ncode\n```",
    "[x](http://y)",
    "![x](y)",
    "<http://x.y>",
    "http://x.y",
    "www.x.y",
    "a@b.example",
    "@team/x",
    "#1",
    "org/repo#1",
    "GH-1",
    "!1",
    "$x$",
    "~~x~~",
    "- [ ] x",
    "# head",
    "> quote",
    "1. one",
    "***",
    "---",
    ":tada:",
    "{{x}}",
    "${x}",
    "%s %d",
    "\\n",
    "\\x1b",
    "a, b=c",
    "overall",
    "verdict",
    "gates",
    "\\" * 41,
    "`" * 300,
    "\u6f22" * 5_000,
    "e\u0301" * 5_000,
]
FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
MODELS = ("\x1b[31m|`<b>\u202e@a", "=cmd()|'x' #1")


def report_of(names: list[str], column: str = "name", models: tuple[str, str] = MODELS) -> Report:
    """A slice per name, with warnings, gates and changes that speak of them."""
    rows = [(name, 500 + at % 7, 3 + at % 5, (at * 7) % 23, 9, 1, 2, 1) for at, name in enumerate(names)]
    counts = tally({column: table([column], rows)})
    quoted = "'" + column.replace("'", "''") + "'"
    report = streamcmp.gate(finalize(counts, names=models), [f"any({quoted}, n_ab > 4)", "overall.gain > 0"])
    fewer = tally(
        {column: table([column], [(name, *row[1:5]) for name, row in zip(names[1:], rows, strict=False)])}
    )
    return streamcmp.changes(report, finalize(fewer, Analysis(confidence=0.9), MODELS))


REPORT = report_of(NAMES)


def harmless(text: str) -> None:
    """Nothing that moves a cursor, reorders, breaks a line, or has no shape."""
    odd = {
        one
        for one in text
        if one != "\n" and unicodedata.category(one) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    }
    assert not odd, sorted(map(hex, map(ord, odd)))


def test_the_names_are_many() -> None:
    assert len(set(NAMES)) == len(NAMES) > 100


# --- data: nothing is lost


def rows_of_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_csv_is_data_and_no_formula(tmp_path: Path) -> None:
    text = str(RENDERERS["csv"](REPORT))
    rows = rows_of_csv(text)
    fields = [row["slice.name"] for row in rows[1:]]
    assert not [field for field in fields if FORMULA.match(field)]
    assert {field.removeprefix("'") for field in fields} == set(NAMES)
    assert all(field.startswith("'") == bool(FORMULA.match(field[1:]) or field[1:2] == "'")
               for field in fields if field.startswith("'"))  # fmt: skip
    if "\x00" not in text:
        (tmp_path / "report.csv").write_bytes(text.encode())
        assert streamcmp.finalize(tmp_path / "report.csv").results.equals(REPORT.results)


def test_a_csv_report_reads_back_with_its_formulas(tmp_path: Path) -> None:
    names = [name for name in NAMES if "\x00" not in name]
    report = report_of(names, column="=a'b")
    text = str(RENDERERS["csv"](report))
    assert {row["family"] for row in rows_of_csv(text)} == {"overall", "'=a'b"}
    (tmp_path / "report.csv").write_bytes(text.encode())
    again = streamcmp.finalize(tmp_path / "report.csv")
    assert again.results.drop("slice.=a'b").equals(report.results.drop("slice.=a'b"))
    assert again.results["slice.=a'b"].to_list() == report.results["slice.=a'b"].to_list()


def test_a_table_of_counts_that_is_no_report_is_taken_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text("name,n_ab,n_ba\n'=x,1,2\n")
    assert streamcmp.finalize(tmp_path / "counts.csv").results["slice.name"].to_list() == [None, "'=x"]


def test_json_and_parquet_hold_the_names_themselves() -> None:
    loaded = json.loads(str(RENDERERS["json"](REPORT)))
    assert {one["slice"]["name"] for one in loaded["results"][1:]} == set(NAMES)
    data = RENDERERS["parquet"](REPORT)
    assert isinstance(data, bytes)
    assert set(pl.read_parquet(io.BytesIO(data))["slice.name"].drop_nulls()) == set(NAMES)


# --- JUnit


def test_junit_is_well_formed_and_tells_the_names_apart() -> None:
    text = str(RENDERERS["junit"](REPORT))
    harmless(text)
    root = ET.fromstring(text)
    assert {element.tag for element in root.iter()} == {
        "testsuites", "testsuite", "testcase", "failure", "system-out",
    }  # fmt: skip
    cases = [
        case.attrib["name"] for case in root.iter("testcase") if case.attrib["classname"] == "streamcmp.name"
    ]
    assert len(cases) == len(NAMES)
    # "\\n" and a line break are both shown as \n.
    assert len(set(cases)) >= len(NAMES) - 2
    assert max(map(len, cases)) < 450


# --- Markdown

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PLAIN_TAGS = {"p", "strong", "code", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "s", "em"}


def cells(line: str) -> list[str]:
    """A row of a table as GitHub splits it: a backslash takes the character behind it along."""
    return re.findall(r"(?:\\.|[^|\\]|\\$)+", line.strip().removeprefix("|"))


@pytest.mark.parametrize("column", ["name", "a|b", "<b>", "`", "a\\|b", "@x#1", "\x1b[1m\u202e"])
def test_markdown_has_no_markup_but_its_own(column: str) -> None:
    report = report_of(NAMES, column)
    text = str(RENDERERS["markdown"](report, top=1000))
    assert not set(text) & (set("\x1b\x07\r\t\u202e\u2028\x00\x9b\ufeff"))
    tokens = MARKDOWN.parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    kinds = {token.type for token in (*tokens, *inline)}
    assert not kinds & {
        "html_block",
        "html_inline",
        "link_open",
        "image",
        "heading_open",
        "fence",
        "code_block",
        "hr",
    }
    assert not kinds & {"blockquote_open", "ordered_list_open", "em_open", "s_open"}
    assert {token.tag for token in (*tokens, *inline) if token.tag} <= PLAIN_TAGS
    # Every name stands in one cell, as code, whole unless it is long.
    spans = {child.content for child in inline if child.type == "code_inline"}
    for name in NAMES:
        if len(name) < 40:
            assert shown(name).replace("\\|", "\\\\x7c") in spans, name
    # What forges look for in text outside code.
    words = " ".join(child.content for child in inline if child.type == "text")
    assert not re.search(r"[@#!~&$][\w\"']|\bGH-\d|www\.|://", words)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    for block in re.split(r"\n(?!\|)", text):
        widths = {len(cells(line)) for line in block.splitlines() if line.startswith("|")}
        assert len(widths) <= 1, block[:300]
    assert len(rows) > 2 * len(NAMES)


@given(st.text(max_size=30))
def test_any_text_is_one_code_span(text: str) -> None:
    """In a sentence and in a table, whatever it is."""
    name = shown(text)
    (paragraph,) = [token for token in MARKDOWN.parse(f"x {code(name)} y") if token.type == "inline"]
    assert [child.type for child in paragraph.children or ()] == ["text", "code_inline", "text"]
    lines = f"| a | b |\n| --- | --- |\n| {code(name)} | 1 |"
    cut = [token for token in MARKDOWN.parse(lines) if token.type == "inline"]
    assert [token.content for token in cut][3] == "1"
    assert [child.type for child in cut[2].children or ()] == ["code_inline"]
    assert len(cells(lines.splitlines()[2])) == 2


@given(st.text(max_size=30))
def test_any_text_is_running_text(text: str) -> None:
    words = escaped(inert(f"x {text} y"))
    (paragraph,) = [token for token in MARKDOWN.parse(words) if token.type == "inline"]
    read = "".join(child.content for child in paragraph.children or ())
    assert {child.type for child in paragraph.children or ()} <= {"text", "text_special"}
    assert re.sub(" +", " ", read.replace("\u200b", "")) == re.sub(" +", " ", inert(f"x {text} y"))


# --- the terminal


@pytest.mark.parametrize("plot", [None, "unicode", "ascii"])
@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_terminal_s_columns_stand_whatever_the_names(width: int, plot: str | None) -> None:
    text = str(RENDERERS["table"](REPORT, width=width, top=1000, plot=plot))
    harmless(text)
    lines = text.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("----"))
    body = lines[start + 1 : start + 1 + len(NAMES)]
    ends = {cell_len(line[: re.search(r" (?=better|worse|inconclusive)", line).start()]) for line in body}  # type: ignore[union-attr]
    assert len(ends) == 1
    assert max(map(cell_len, lines)) <= width or width == 80


def test_colours_are_the_only_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = str(RENDERERS["table"](REPORT, width=120, top=1000, color=True))
    harmless(re.sub(r"\x1b\[[\d;]*m", "", text))


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40))
def test_no_mark_rises_above_its_line(text: str) -> None:
    shaped = inert(text)
    marks = "".join("m" if unicodedata.category(one) in ("Mn", "Me") else "." for one in shaped)
    assert not marks.startswith("m")
    assert "mmmmm" not in marks
    harmless(shaped)
    assert inert(shaped) == shaped
