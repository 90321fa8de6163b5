"""A report as JUnit XML, which build servers show: one test case per slice, and one per gate.

A slice fails where a gate that fired is about it; a slice that was not tested is skipped, unless it fails.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from streamcmp.report.model import PIECE_ROWS, Family, Report, slice_dicts
from streamcmp.report.outcomes import GateOutcome
from streamcmp.report.values import inert, shorten, shown
from streamcmp.report.words import display_names, ledger_line, result_line, sentence

_NAME_WIDTH: Final = 200


def render(report: Report) -> str:
    """The report as JUnit XML, ending in a newline. Every text is inert: one line, no control characters.

    Suites are `gates` and the families; a case is named `domain=law`, shortened to 200 cells where it is
    longer, with a digest that keeps two long names apart.
    """
    return "".join(pieces(report))


def pieces(report: Report) -> Iterator[str]:
    """The text of `render`, piece by piece."""
    failed = _failed(report)
    fired = sum(gate.fired for gate in report.gates)
    a, b = display_names(report)
    skipped = report.results.height - sum(family.tested for family in report.families)
    skipped -= sum(not tested for tested in report.results["tested"].gather(sorted(failed)))
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield _opened(
        "testsuites", f"streamcmp: {b} against {a}", report.results.height + len(report.gates),
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
    yield _opened("testsuite", family.family, family.slices, len(failures), skipped)
    at = start
    for part in rows.iter_slices(PIECE_ROWS):
        cases = zip(slice_dicts(family, part), part.select(report.fields).iter_rows(named=True), strict=True)
        lines = []
        for cut, row in cases:
            lines.append(_case(report, family, cut, row, failed.get(at, [])))
            at += 1
        yield "".join(lines)
    if not family.columns:
        said = f"{sentence(report)}\n{ledger_line(report)}"
        yield f"<system-out>{_text(said)}</system-out>\n"
    yield "</testsuite>\n"


def _case(
    report: Report, family: Family, cut: Mapping[str, Any], row: Mapping[str, Any], gates: list[GateOutcome]
) -> str:
    name = ", ".join(f"{inert(column)}={shown(value)}" for column, value in cut.items()) or family.family
    said = result_line(report, row)
    body = "".join(
        f'<failure type="gate" message={_quoted(f"gate: {gate.expression}")}>{_text(said)}</failure>'
        for gate in gates
    )
    if not gates and not row["tested"]:
        body = '<skipped message="not tested"/>'
    return (
        f"<testcase classname={_quoted('streamcmp.' + family.family)} name={_quoted(_unique(name))}>"
        f"{body}<system-out>{_text(said)}</system-out></testcase>\n"
    )


def _gate(gate: GateOutcome) -> str:
    body = f'<failure type="gate" message={_quoted(gate.says)}/>' if gate.fired else ""
    return (
        f'<testcase classname="streamcmp.gates" name={_quoted(gate.expression)}>'
        f"{body}<system-out>{_text(gate.says)}</system-out></testcase>\n"
    )


def _opened(tag: str, name: str, tests: int, failures: int, skipped: int) -> str:
    counts = f'tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}"'
    return f"<{tag} name={_quoted(_unique(inert(name)))} {counts}>\n"


def _unique(name: str) -> str:
    short = shorten(name, _NAME_WIDTH)
    if short == name:
        return name
    return f"{short} #{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _quoted(text: str) -> str:
    return quoteattr(inert(text))


def _text(text: str) -> str:
    return escape("\n".join(map(inert, text.split("\n"))))
