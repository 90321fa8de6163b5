"""Commands about logs as such: can two be compared, which formats are there."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from streamcmp.cli.groups import grouped
from streamcmp.cli.options import SHOW, Logs, Machine, Talk, choice
from streamcmp.cli.output import write_stdout
from streamcmp.cli.reading import reading
from streamcmp.cli.stderr import Notes

CheckFormat = Literal["text", "json"]
_NOT_COMPARABLE = 1


@grouped
def check(
    *,
    logs: Logs,
    machine: Machine,
    talk: Talk,
    format: Annotated[CheckFormat | None, choice("--format", "how", CheckFormat, SHOW)] = None,  # noqa: A002
) -> None:
    """Say whether two logs can be compared, what pairs, and why the rest does not."""
    from streamcmp import api
    from streamcmp.report.check import render

    notes = Notes(quiet=talk.quiet, verbose=talk.verbose)
    with notes.pass_():
        found = api.check(**reading(logs), **vars(machine))
    if talk.verbose:
        for note in found.notes:
            notes.note(note)
    shown = found.to_dict()
    text = f"{json.dumps(shown, indent=2, ensure_ascii=False)}\n" if format == "json" else render(shown)
    write_stdout(text.encode(errors="replace"))
    if not found.comparable:
        raise typer.Exit(_NOT_COMPARABLE)


def formats() -> None:
    """List the formats of logs that can be read."""
    from streamcmp import api

    rows = [
        (each.name, " ".join(each.endings), each.about + ("" if each.built_in else " (another package's)"))
        for each in api.formats()
    ]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"{name:{widths[0]}}  {endings:{widths[1]}}  {about}".rstrip() for name, endings, about in rows]
    write_stdout("".join(f"{line}\n" for line in lines).encode())
