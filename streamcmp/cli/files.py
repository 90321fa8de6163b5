"""Commands about logs as such: can two be compared, which formats are there."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from streamcmp.addresses import shown
from streamcmp.cli.groups import grouped
from streamcmp.cli.options import LOGS, PASS, SHOW, Logs, Machine, Reading, Talk, choice, option
from streamcmp.cli.output import write_stdout
from streamcmp.cli.reading import reading
from streamcmp.cli.stderr import Notes
from streamcmp.target import check_target

CheckFormat = Literal["text", "json"]
_NOT_COMPARABLE = 1
_CONVERTED = "The converted log"


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


@grouped
def convert(
    *,
    log: Annotated[list[str], typer.Argument(help="a log: files, globs or folders")],
    output: Annotated[str, option("--output", "the Parquet file to write, or an address", _CONVERTED)],
    how: Reading,
    shards: Annotated[
        int | None,
        option("--shards", "or a folder with a file for each of so many shards (see count)", _CONVERTED),
    ] = None,
    model: Annotated[str | None, option("--model", "whose rows, of a table of several models", LOGS)] = None,
    memory: Annotated[str | None, option("--memory", "such as 2GB", PASS)] = None,
    spill_dir: Annotated[Path | None, option("--spill-dir", "where to spill", PASS)] = None,
    talk: Talk,
) -> None:
    """Write a log of any format as Parquet sorted by id: a baseline that compares at reading speed."""
    from streamcmp import api

    notes = Notes(quiet=talk.quiet, verbose=talk.verbose)
    if shards is None or not Path(output).is_dir():
        check_target(output, [*log, *([how.truth] if how.truth else [])])
    options = asdict(how)
    options["guards"] = options.pop("guard")
    with notes.pass_():
        done = api.convert(
            log[0] if len(log) == 1 else log,
            output,
            model=model,
            shards=shards,
            memory=memory,
            spill_dir=spill_dir,
            **options,
        )
    for note in done.notes:
        if note.startswith("left: "):
            notes.note(note.removeprefix("left: "))
    written = f"wrote {shown(output)}: {done.rows:,} rows of {', '.join(done.columns)}"
    notes.note(written, "wrote", path=shown(output), rows=done.rows, columns=list(done.columns))


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
