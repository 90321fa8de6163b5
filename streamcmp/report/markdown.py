"""A report in Markdown, to be read in a pull request: sentence, tables, ledger, warnings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from streamcmp.report.extras import extras
from streamcmp.report.model import Family, Report
from streamcmp.report.numbers import NOTHING
from streamcmp.report.outcomes import Changes
from streamcmp.report.rows import Row, table
from streamcmp.report.sentence import display_names, evidence, headline
from streamcmp.report.values import NULL, inert
from streamcmp.report.words import (
    changes_title,
    differences_line,
    family_title,
    gate_lines,
    gates_title,
    heterogeneity_line,
    ledger_line,
    method_line,
    moved_points,
    rest_line,
    slice_name,
    unpaired_line,
)

_SLICE_WIDTH = 80
# What has a meaning to Markdown, HTML or a forge: markup, tags, entities, tables, links, emoji, references.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#!|~&$]|:(?=\S)|(?<=www)\.)", re.IGNORECASE)
# What forges look for after the markup is gone: @name, #1, GH-1, and GitLab's !1 ~label &1 %milestone $1.
_REFERENCE = re.compile(r"([@#!~&%$]|\bGH-)(?=[\w\"'])", re.IGNORECASE)


def render(report: Report, top: int = 20) -> str:
    """The report as Markdown, ending in a newline: the first `top` rows per family, the rest counted.

    What a reviewer must see comes first (sentence, gates, changes, warnings), how it was computed last.
    """
    blocks = [f"**{headline(report, code)}**: {evidence(report, code)}"]
    if report.gates:
        blocks += [f"**{gates_title(report)}**", _gates(report)]
    if report.changes is not None:
        blocks += _changes(report.changes, top)
    if report.warnings:
        blocks.append("\n".join(f"- **warning**: {escaped(inert(one.message))}" for one in report.warnings))
    blocks += _families(report, top)
    notes = (ledger_line(report), method_line(report), unpaired_line(report, code))
    blocks.append("\n".join(f"- {note}" for note in notes if note is not None))
    return "\n\n".join(blocks) + "\n"


def _families(report: Report, top: int) -> Iterator[str]:
    """A table per family, with its title and what its slices say together."""
    families = list(report.by_family())
    for family, rows in families:
        if not family.columns and len(families) > 1:
            continue  # every other family's table ends with it
        if family.columns:
            yield f"**{escaped(family_title(family, rows))}**"
        shape = table(report, family, rows, top, _SLICE_WIDTH)
        yield _table(report, family, shape.rows, shape.overall, display_names(report, code))
        rest = rest_line(rows, top)
        if rest is not None:
            yield rest
        alike = heterogeneity_line(report, family)
        if alike is not None:
            yield alike


def _changes(changes: Changes, top: int) -> list[str]:
    """What changed since an earlier report: a sentence, and a table of the first `top` slices."""
    title, _, what = changes_title(changes).partition(": ")
    blocks = [f"**{title}**: {escaped(what)}"]
    differ = differences_line(changes)
    if differ is not None:
        blocks.append(escaped(differ))
    if changes.slices[:top]:
        lines = [
            ["slice", "change", "verdict before", "now", "gain before, points", "now", "by"],
            ["---", "---", "---", "---", "---:", "---:", "---:"],
            *(
                [
                    code(slice_name(one.slice)),
                    one.kind,
                    *(NOTHING if then is None else then.verdict for then in (one.before, one.now)),
                    *moved_points(one),
                ]
                for one in changes.slices[:top]
            ),
        ]
        blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    if len(changes.slices) > top:
        blocks.append(f"... and {len(changes.slices) - top:,} more")
    return blocks


def _gates(report: Report) -> str:
    """A line per gate, those that failed first."""
    lines = sorted(gate_lines(report), key=lambda line: line[0])
    return "\n".join(
        f"- {f'**{outcome}**' if outcome == 'failed' else outcome} {code(expression)}"
        + (f": {escaped(says)}" if says else "")
        for outcome, expression, says in lines
    )


def _table(
    report: Report, family: Family, rows: Sequence[Row], overall: Row | None, names: tuple[str, str]
) -> str:
    cuts = [escaped(inert(name)) for name in family.columns or ("",)]
    confidence = f"{100 * report.comparison['analysis']['confidence']:.10g} %"
    further = [" ".join(one.header).strip() for one in extras(report.comparison["analysis"])]
    header = [
        *cuts, "n", f"{names[0]} %", f"{names[1]} %", "won", "lost", f"gain, points [{confidence}]", "p",
        "adjusted p", *further, "verdict",
    ]  # fmt: skip
    alignment = [*("---" for _ in cuts), *("---:" for _ in header[len(cuts) : -1]), "---"]
    lines = [
        header,
        alignment,
        *(_cells(row, [_cut(text) for text in row.cut]) for row in rows if family.columns),
    ]
    last = overall if family.columns else rows[0]
    if last is not None:
        lines.append(_cells(last, [f"**{text}**" if text else "" for text in last.cut]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cells(row: Row, cut: Sequence[str]) -> list[str]:
    verdict = f"**{row.verdict}**" if row.verdict in ("better", "worse") else row.verdict
    gain = re.sub(" +", " ", row.gain).strip().replace("[ ", "[")  # padding is for columns of characters
    return [
        *cut, row.n, row.accuracy_a, row.accuracy_b, row.won, row.lost, gain, row.p, row.p_adjusted,
        *row.extras, verdict,
    ]  # fmt: skip


def _cut(text: str) -> str:
    return text if text == NULL else code(text)


def code(text: str) -> str:
    """`text` as a code span, in which nothing has a meaning; `|` would still end a cell of a table.

    A bar behind a backslash is written out: parsers disagree which of them the next backslash is for.
    """
    text = re.sub(r"(?<=\\)\|", r"\\x7c", text).replace("|", "\\|")
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def escaped(text: str) -> str:
    """`text` as running text without any markup; a space of no width keeps forges from linking it."""
    return _SPECIAL.sub(r"\\\1", _REFERENCE.sub("\\1\u200b", text))
