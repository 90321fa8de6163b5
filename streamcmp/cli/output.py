"""Where a result goes: stdout, or a file that is written whole or not at all."""

from __future__ import annotations

import shutil
import sys
from io import BytesIO
from pathlib import PurePath
from typing import IO, TYPE_CHECKING

import typer

from streamcmp.addresses import shown
from streamcmp.cli.options import Gates, Show
from streamcmp.cli.stderr import Notes, say, speaks_json
from streamcmp.errors import UsageError
from streamcmp.report import FORMAT_OF_ENDING, in_pieces
from streamcmp.usage import size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from streamcmp.cli.hand import ShowTest
    from streamcmp.report.model import Report
    from streamcmp.report.plot import Charset
    from streamcmp.resources import Step


def chosen_format(show: Show | ShowTest, endings: Mapping[str, str] = FORMAT_OF_ENDING) -> str:
    """`--format`, else what the ending of `--output` says, else a table.

    Raises UsageError, before anything is read, for an ending that says nothing and for Parquet on a terminal.
    """
    if show.format is not None:
        chosen: str = show.format
    elif show.output is not None:
        ending = PurePath(show.output).suffix.lower()
        if ending not in endings:
            raise UsageError(
                f"--output {shown(str(show.output))}: the ending {ending or '(none)'} does not say a format; "
                f"give --format, or one of the endings {' '.join(endings)}"
            )
        chosen = endings[ending]
    else:
        chosen = "table"
    if chosen == "parquet" and show.output is None and _on_terminal():
        raise UsageError("parquet is not for a terminal; give --output FILE.parquet")
    return chosen


def check_baseline(show: Show) -> None:
    """Raise UsageError, before anything is read, where `--baseline-report` is none."""
    if show.baseline_report is not None:
        from streamcmp.earlier import check_readable

        check_readable(show.baseline_report)


def _on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def show_report(report: Report, form: str, show: Show, notes: Notes) -> None:
    """Render and write. What a format has no place for, and warnings, go to stderr as well."""
    write(render(report, form, show), show.output, notes)
    if form == "csv":
        from streamcmp.report.words import ledger_line

        say("result", report.sentence)
        sides = {} if report.ledger is None else report.ledger.to_dict()
        kind, line = ledger_line(report).split(": ", 1)
        say(kind, line, "ledger", **sides)
    if form not in ("table", "markdown") or show.output is not None or speaks_json():
        for warning in report.warnings:
            say("warning", warning.message, warning.code, **warning.details)


def show_judged(report: Report, form: str, show: Show, gates: Gates, notes: Notes) -> None:
    """`show_report`, with what changed, and the outcome of the gates, if asked; these decide the exit code.

    The report is written whether or not a gate fires, and also where one turns out to be no gate of it.
    """
    if show.baseline_report is not None:
        from streamcmp.api import changes

        report = changes(report, show.baseline_report)
    if show.plot and form != "table":
        notes.note(f"--plot is for a table; {form} has none", "no_plot")
    if not gates.fail_on:
        show_report(report, form, show, notes)
        return
    from streamcmp.api import gate

    try:
        report = gate(report, gates.fail_on)
    except UsageError:
        show_report(report, form, show, notes)
        raise
    show_report(report, form, show, notes)
    for one in report.gates:
        if one.fired:
            failed = f"{one.expression}: {one.says}".removesuffix(": ")
            say("gate failed", failed, expression=one.expression)
        if one.absent:
            say(
                "warning",
                f"gate {one.expression}: {', '.join(one.absent)} does not exist; nothing holds of it",
                "gate_without_value",
                expression=one.expression,
                absent=list(one.absent),
            )
    if any(one.fired for one in report.gates):
        raise typer.Exit(code=1)


def show_plan(steps: Iterable[Step]) -> None:
    """The strategies in the order they are tried, on stdout."""
    lines = []
    for number, step in enumerate(steps, start=1):
        spill = f"up to {size(step.spill)} of spill" if step.spill else "no spill"
        lines.append(f"{number}. {step.strategy}: {step.why}; about {size(step.memory)} of memory, {spill}\n")
    lines.append("Each checks what it relies on as it reads; the first that fits gives the result.\n")
    write(["".join(lines).encode()], None, Notes(quiet=True, verbose=False))


def render(report: Report, form: str, show: Show) -> Iterator[bytes]:
    """The report in a format, in pieces."""
    if form == "table":
        color = show.output is None and _on_terminal()
        return in_pieces(form, report, top=show.top, color=color, plot=_charset(show) if show.plot else None)
    return in_pieces(form, report, **({"top": show.top} if form == "markdown" else {}))


def _charset(show: Show) -> Charset:
    """What the terminal or pipe can show; a file is UTF-8."""
    from streamcmp.report.plot import charset

    return charset("utf-8" if show.output is not None or sys.stdout is None else sys.stdout.encoding)


def write(pieces: Iterable[bytes], path: str | Path | None, notes: Notes) -> None:
    """To `path` at once, or to stdout."""
    if path is None:
        write_stdout(pieces)
        return
    from streamcmp.output import write_atomic

    write_atomic(path, pieces)
    notes.note(f"wrote {shown(str(path))}", "wrote", path=shown(str(path)))


def write_stdout(data: bytes | Iterable[bytes]) -> None:
    """To stdout, all of it, once there is all of it.

    Raises UsageError where it cannot be written; BrokenPipeError as it is.
    """
    if sys.stdout is None:
        raise UsageError("stdout is closed; give --output FILE, or open it")
    if isinstance(data, bytes):
        _copy_to_stdout(BytesIO(data))
        return
    from streamcmp.output import gathered

    with gathered(data) as whole:
        _copy_to_stdout(whole)


def _copy_to_stdout(whole: IO[bytes]) -> None:
    try:
        sys.stdout.flush()
        shutil.copyfileobj(whole, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise UsageError(f"cannot write to stdout: {(problem.strerror or str(problem)).lower()}") from None
