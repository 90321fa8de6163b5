"""A report as JUnit XML, which build servers show: one test case per slice, and one per gate.

A slice fails where a gate that fired is about it; a slice that was not tested is skipped, unless it fails.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

import polars as pl

from streamcmp.report.model import PIECE_ROWS, Family, Report, slice_dicts
from streamcmp.report.outcomes import GateOutcome
from streamcmp.report.sentence import result_lines
from streamcmp.report.values import inert, shorten, shown
from streamcmp.report.words import ledger_line

_NAME_WIDTH: Final = 200
_MARKUP: Final = re.compile(r"[<>&\"\n\r\t]")


def render(report: Report) -> str:
    """The report as JUnit XML, ending in a newline. Every text is inert: one line, no control characters.

    Suites are `gates` and the families; a case is named `domain=law`, shortened where it has more than
    200 characters, with a digest that keeps two long names apart.
    """
    return "".join(pieces(report))


def pieces(report: Report) -> Iterator[str]:
    """The text of `render`, piece by piece."""
    failed = _failed(report)
    fired = sum(gate.fired for gate in report.gates)
    skipped = report.results.height - sum(family.tested for family in report.families)
    skipped -= sum(not tested for tested in report.results["tested"].gather(sorted(failed)))
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield _opened(
        "testsuites", f"streamcmp: {report.sentence}", report.results.height + len(report.gates),
        len(failed) + fired, skipped,
    )  # fmt: skip
    if report.gates:
        yield _opened("testsuite", "gates", len(report.gates), fired, 0)
        yield from map(_gate, report.gates)
        yield "</testsuite>\n"
    start = 0
    for family, rows in report.by_family():
        yield from _suite(report, family, start, failed)
        start += rows.height
    yield "</testsuites>\n"


def _failed(report: Report) -> Mapping[int, list[GateOutcome]]:
    """Row of the results -> the gates that fired and are about it."""
    failed = defaultdict(list)
    for gate in report.gates:
        for row in gate.named:
            failed[row].append(gate)
    return failed


def _suite(
    report: Report, family: Family, start: int, failed: Mapping[int, list[GateOutcome]]
) -> Iterator[str]:
    rows = report.results.slice(start, family.slices)
    tested = rows["tested"].to_list()
    failures = [row for row in failed if start <= row < start + family.slices]
    skipped = tested.count(False) - sum(not tested[row - start] for row in failures)
    yield _opened("testsuite", _unique(inert(family.family)), family.slices, len(failures), skipped)
    opened = f"<testcase classname={_quoted('streamcmp.' + family.family)} name="
    at = start
    for part in rows.iter_slices(PIECE_ROWS):
        cases = zip(_names(family, part), result_lines(report, part), part["tested"], strict=True)
        lines = []
        for name, said, was_tested in cases:
            text = escape(said)
            body = _body(failed.get(at, ()), text, tested=was_tested)
            lines.append(f"{opened}{name}>{body}<system-out>{text}</system-out></testcase>\n")
            at += 1
        yield "".join(lines)
    if not family.columns:
        yield f"<system-out>{_text(report.sentence)}\n{_text(ledger_line(report))}</system-out>\n"
    yield "</testsuite>\n"


def _names(family: Family, rows: pl.DataFrame) -> Iterator[str]:
    """`domain=law`, in quotes."""
    if not family.columns:
        yield from (_quoted(family.family) for _ in range(rows.height))
        return
    columns = [inert(column) for column in family.columns]
    for cut in slice_dicts(family, rows):
        values = zip(columns, cut.values(), strict=True)
        yield _attribute(_unique(", ".join(f"{column}={shown(value)}" for column, value in values)))


def _body(gates: Sequence[GateOutcome], said: str, *, tested: bool) -> str:
    if not gates:
        return "" if tested else '<skipped message="not tested"/>'
    return "".join(
        f'<failure type="gate" message={_quoted(f"gate: {gate.expression}")}>{said}</failure>'
        for gate in gates
    )


def _gate(gate: GateOutcome) -> str:
    body = f'<failure type="gate" message={_quoted(gate.says)}/>' if gate.fired else ""
    return (
        f'<testcase classname="streamcmp.gates" name={_quoted(gate.expression)}>'
        f"{body}<system-out>{_text(gate.says)}</system-out></testcase>\n"
    )


def _opened(tag: str, name: str, tests: int, failures: int, skipped: int) -> str:
    counts = f'tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}"'
    return f"<{tag} name={_quoted(name)} {counts}>\n"


def _unique(name: str) -> str:
    if len(name) <= _NAME_WIDTH:
        return name
    short = shorten(name, _NAME_WIDTH)
    return f"{short} #{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _quoted(text: str) -> str:
    """An attribute's value. What XML must not contain at all is written out by `inert`."""
    return _attribute(inert(text))


def _attribute(text: str) -> str:
    return quoteattr(text) if _MARKUP.search(text) else f'"{text}"'


def _text(text: str) -> str:
    return escape(inert(text))
