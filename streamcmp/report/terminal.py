"""A report for the terminal: a sentence, a table per family, the ledger, the warnings.

The tables are laid out here, not by rich: numbers must never be cut short, and all columns should fit 80
cells. Only ASCII is added to what the data brings, so that no terminal or pipe stumbles over it; but for a
plot in Unicode, where that was asked for.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from streamcmp.report.extras import extras
from streamcmp.report.model import Report
from streamcmp.report.rows import Row, Table, table
from streamcmp.report.sentence import display_names, evidence, headline
from streamcmp.report.values import inert, shorten
from streamcmp.report.words import (
    change_lines,
    family_title,
    gate_lines,
    heterogeneity_line,
    ledger_line,
    method_line,
    rest_line,
    unpaired_line,
)

if TYPE_CHECKING:
    from streamcmp.report.plot import Charset

_STYLES: Final = {
    "better": "green",
    "worse": "red",
    "equivalent": "cyan",
    "inconclusive": "",
    "untested": "dim",
}
# What stands for a space where no line may break: of private use, and so never in a text (see `inert`).
_GLUE: Final = "\ue000"
_UNIT: Final = re.compile(
    r"(?<=\d) (?=%|points|pairs?\b|rows?\b)"  # 96.3 %
    r"|(?<=\bin) (?=%)|(?<=-time) (?=p\b)|(?<=-sided) (?=p\b)"
    r"|(?<=\bp) (?=[=<>])|(?<=\bp [=<>]) (?=\d)"  # p = 0.03
    r"|(?<=\d,) (?=[\d.-]+\])"  # [1.0, 3.3]
)
_SLICE_WIDTH: Final = 40
_NARROWEST_SLICE: Final = 10
_GAP: Final = 2  # between a table and its plot
_BESIDE: Final = 24  # cells below which a plot beside a table shows nothing
_NARROWEST_PLOT: Final = 16
_WIDEST_PLOT: Final = 60
# (space between columns, longest model name, without the unadjusted p): what gives way when a table is too
# wide.
_LAYOUTS: Final = ((2, 16, False), (2, 8, False), (1, 8, False), (2, 8, True), (1, 8, True), (1, 5, True))


def render(
    report: Report,
    top: int = 20,
    width: int | None = None,
    *,
    color: bool = False,
    plot: Charset | None = None,
) -> str:
    """The report as text, ending in a newline.

    Args:
        report: what to show.
        top: rows per family; a line counts the rest.
        width: cells per line; None is the terminal's, or 100 where there is none.
        color: whether to add colours, as escape sequences (not if NO_COLOR is set).
        plot: draw the gains with their intervals beside the rows, or below where there is no room, with
            these characters.
    """
    wide = width or shutil.get_terminal_size((100, 24)).columns
    console = Console(
        file=StringIO(),
        width=max(wide, 20),
        force_terminal=color,
        color_system="standard" if color else None,
        legacy_windows=False,
    )
    with console.capture() as capture:
        _say(console, Text.assemble((headline(report), "bold"), f": {evidence(report)}"))
        for text in _tables(report, top, wide, plot):
            if isinstance(text, str):
                _say(console, Text(text))
            else:
                console.print(text, no_wrap=True, overflow="ignore", crop=False, soft_wrap=True)
        console.print()
        for line in change_lines(report, top):
            _say(console, Text(line))
        _say(console, Text(ledger_line(report)))
        _say(console, Text(method_line(report), style="dim"))
        alone = unpaired_line(report)
        if alone is not None:
            _say(console, Text(alone, style="dim"))
        for outcome, expression, says in gate_lines(report):
            style = "red" if outcome == "failed" else "green"
            _say(
                console,
                Text.assemble(("gate " + outcome, style), f": {expression}: {says}".removesuffix(": ")),
            )
        for warning in report.warnings:
            _say(console, Text.assemble(("warning: ", "yellow"), inert(warning.message)))
    printed = capture.get().replace(_GLUE, " ")
    return "\n".join(line.rstrip() for line in printed.splitlines()) + "\n"


def _say(console: Console, text: Text) -> None:
    """Print a sentence, breaking no line between a number and its sign or unit."""
    text.plain = _UNIT.sub(_GLUE, text.plain)
    console.print(text, overflow="fold")


def _tables(report: Report, top: int, width: int, plot: Charset | None) -> list[Text | str]:
    """The lines of all tables, and between them sentences, which may be broken."""
    lines: list[Text | str] = []
    families = list(report.by_family())
    for family, rows in families:
        if not family.columns and len(families) > 1:
            continue  # every other family's table ends with it
        lines.append(Text())
        if family.columns:
            lines.append(Text(shorten(family_title(family, rows), max(width, 40)), style="bold"))
        shape = table(report, family, rows, top, _SLICE_WIDTH)
        further = _extra_columns(report)
        whole = _laid_out(report, shape, width, further) if further else None
        fits = whole is not None and whole[-1].cell_len <= width
        laid_out = whole if whole is not None and fits else _laid_out(report, shape, width)
        beside = plot is not None and width - laid_out[-1].cell_len - _GAP >= _BESIDE
        lines += _plotted(laid_out, shape, width, plot) if plot is not None and beside else laid_out
        rest = rest_line(rows, top)
        if rest is not None:
            lines.append(Text(rest, style="dim"))
        if further and not fits:
            lines += _apart(report, shape, width, further)
        if plot is not None and not beside:
            alone = _laid_out(report, shape, width, [_GAIN], alone=True)
            lines += [Text(), *_plotted(alone, shape, width, plot)]
        alike = heterogeneity_line(report, family)
        if alike is not None:
            lines.append(alike)
    return lines


def _plotted(lines: Sequence[Text], shape: Table, width: int, plot: Charset) -> list[Text]:
    """The lines of a table with a plot to their right."""
    from streamcmp.report.plot import MARKS, axis, drawn, scale

    rows = [*shape.rows, *([shape.overall] if shape.overall is not None else [])]
    room = min(max(width - lines[-1].cell_len - _GAP, _NARROWEST_PLOT), _WIDEST_PLOT)
    on, gap = scale([row.limits for row in rows], room), " " * _GAP
    head, ticks, rule, *body = lines
    drawings = iter([(drawn(row.limits, on, MARKS[plot]), row) for row in rows])
    plotted = [
        head + Text(f"{gap}{'gain, points':^{room}}", style="bold"),
        ticks + Text(gap + axis(on), style="bold"),
        rule + Text("-" * (_GAP + room), style="dim"),
    ]
    for line in body:
        if line.plain == rule.plain:
            plotted.append(plotted[2].copy())
            continue
        drawing, row = next(drawings)
        plotted.append(line + Text(gap) + Text(drawing, style=_STYLES[row.verdict]))
    return plotted


@dataclass(frozen=True)
class _Column:
    """One column: its header in two lines, the text of a row, and where it stands."""

    header: tuple[str, str]
    text: Callable[[Row], str]
    left: bool = False
    style: Callable[[Row], str] | None = None

    def width(self, rows: Sequence[Row]) -> int:
        return max(*map(cell_len, self.header), *(cell_len(self.text(row)) for row in rows), 0)

    def styled(self, row: Row) -> str:
        return self.style(row) if self.style else ""

    def padded(self, text: str, width: int) -> str:
        fit = shorten(text, width)
        space = " " * (width - cell_len(fit))
        return fit + space if self.left else space + fit


def _columns(report: Report, shape: Table, longest_name: int) -> tuple[list[_Column], list[_Column]]:
    """Slice columns, then the columns of numbers."""
    a, b = (shorten(name, longest_name) for name in display_names(report))
    if a == b:
        a, b = "left", "right"
    cuts = [
        _Column(("", shorten(inert(name), _SLICE_WIDTH)), _slice_text(index), left=True)
        for index, name in enumerate(shape.family.columns or ("",))
    ]
    confidence = f"[{100 * report.comparison['analysis']['confidence']:.10g} %]"
    numbers = [
        _Column(("", "n"), lambda row: row.n),
        _Column((a, "%"), lambda row: row.accuracy_a),
        _Column((b, "%"), lambda row: row.accuracy_b),
        _Column(("", "won"), lambda row: row.won),
        _Column(("", "lost"), lambda row: row.lost),
        _Column(("points", f"gain {confidence}"), lambda row: row.gain),
        _UNADJUSTED_P,
        _Column(("", "adj. p"), lambda row: row.p_adjusted),
        _Column(("", "verdict"), lambda row: row.verdict, left=True, style=lambda row: _STYLES[row.verdict]),
    ]
    return cuts, numbers


def _apart(report: Report, shape: Table, width: int, further: Sequence[_Column]) -> list[Text]:
    """The further columns in as many tables of their own as the width needs."""
    lines: list[Text] = []
    while further:
        fitting = len(further)
        laid_out = _laid_out(report, shape, width, further, alone=True)
        while fitting > 1 and laid_out[-1].cell_len > width:
            fitting -= 1
            laid_out = _laid_out(report, shape, width, further[:fitting], alone=True)
        lines += [Text(), *laid_out]
        further = further[fitting:]
    return lines


def _extra_columns(report: Report) -> list[_Column]:
    """What was asked besides; it has a table of its own where one cannot hold all."""
    columns = extras(report.comparison["analysis"])
    return [_Column(column.header, _extra_text(at)) for at, column in enumerate(columns)]


def _extra_text(index: int) -> Callable[[Row], str]:
    return lambda row: row.extras[index]


def _slice_text(index: int) -> Callable[[Row], str]:
    return lambda row: row.cut[index]


_GAIN: Final = _Column(("points", "gain"), lambda row: row.gain)
_UNADJUSTED_P: Final = _Column(("", "p"), lambda row: row.p)


def _laid_out(
    report: Report, shape: Table, width: int, further: Sequence[_Column] = (), *, alone: bool = False
) -> list[Text]:
    """The lines of a table, with the `further` columns, or with the slices and those `alone`."""
    rows = [*shape.rows, *([shape.overall] if shape.overall is not None else [])]
    columns, widths, gap = _fitted(report, shape, rows, width, further, alone=alone)
    header = [(column, size, "bold") for column, size in zip(columns, widths, strict=True)]
    rule = Text("-" * (sum(widths) + gap * (len(widths) - 1)), style="dim")
    lines = [
        *(
            _line([(one.padded(one.header[at], size), style) for one, size, style in header], gap)
            for at in (0, 1)
        ),
        rule,
    ]
    for row in rows:
        if row is shape.overall and shape.rows:
            lines.append(rule)
        cells = zip(columns, widths, strict=True)
        lines.append(_line([(one.padded(one.text(row), size), one.styled(row)) for one, size in cells], gap))
    return lines


def _fitted(
    report: Report, shape: Table, rows: Sequence[Row], width: int, further: Sequence[_Column], *, alone: bool
) -> tuple[list[_Column], list[int], int]:
    """The columns of the first layout that fits, their widths, and the gap between them."""
    for gap, longest_name, without_p in _LAYOUTS:
        cuts, numbers = _columns(report, shape, longest_name)
        numbers = [column for column in numbers if not (without_p and column is _UNADJUSTED_P)]
        # The verdict, aligned to the left, stays last.
        numbers = list(further) if alone else [*numbers[:-1], *further, numbers[-1]]
        natural = [column.width(rows) for column in cuts]
        fixed = [column.width(rows) for column in numbers]
        room = width - sum(fixed) - gap * (len(cuts) + len(numbers) - 1)
        if room >= sum(min(one, 2 * _NARROWEST_SLICE) for one in natural):
            break
    return [*cuts, *numbers], [*_shared(natural, room), *fixed], gap


def _shared(natural: Sequence[int], room: int) -> list[int]:
    """Widths of the slice columns: what they want, or equal shares of the room, never below the narrowest."""
    if sum(natural) <= room:
        return list(natural)
    share = max(room // len(natural), _NARROWEST_SLICE)
    return [min(one, share) for one in natural]


def _line(cells: Sequence[tuple[str, str]], gap: int) -> Text:
    return Text(" " * gap).join(Text(text, style=style) for text, style in cells)
