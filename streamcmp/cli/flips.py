"""`streamcmp flips`: the rows behind the counts."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from streamcmp.cli.groups import grouped
from streamcmp.cli.options import LOGS, Logs, Machine, Names, RowPolicies, Talk, Text, Texts, choice, option
from streamcmp.cli.output import write_stdout
from streamcmp.cli.reading import reading
from streamcmp.cli.stderr import Notes, say
from streamcmp.errors import UsageError
from streamcmp.target import check_target

if TYPE_CHECKING:
    from streamcmp.flipped import Flips

FlipKind = Literal["both", "lost", "won", "churn"]
_FLIPS = "The flips"
_PRINTED = 20


@dataclass(frozen=True, kw_only=True)
class Which:
    """Which flips, and what of them."""

    kind: Annotated[
        FlipKind | None,
        choice(
            "--kind",
            "lost: the left model alone was right; won: the right one; both of these; churn: both wrong, "
            "differently",
            FlipKind,
            _FLIPS,
        ),
    ] = None
    select: Annotated[
        Texts,
        option("--select", "columns to show, of either log: prompt,answer (default: all in a file)", _FLIPS),
    ] = None
    sample: Annotated[
        int | None, option("--sample", "so many of each kind in every slice, at random", _FLIPS, min=1)
    ] = None
    seed: Annotated[int, option("--seed", "which sample; the same for one seed, always", _FLIPS, min=0)] = 0
    limit: Annotated[
        int | None, option("--limit", "the first so many (20 without --output)", _FLIPS, min=0)
    ] = None
    answer: Annotated[
        Text, option("--answer", "what the model said, if that is not the prediction; churn needs it", LOGS)
    ] = None
    left_answer: Annotated[Text, option("--left-answer", "--answer for the left log only", LOGS)] = None
    right_answer: Annotated[Text, option("--right-answer", "--answer for the right log only", LOGS)] = None


@grouped
def flips(
    *,
    logs: Logs,
    which: Which,
    names: Names,
    rows: RowPolicies,
    machine: Machine,
    talk: Talk,
    output: Annotated[
        Path | None, option("--output", "write them to this file: .parquet .arrow .csv .jsonl", _FLIPS)
    ] = None,
) -> None:
    """Show the examples on which the models differ, or write them with columns of both logs."""
    from streamcmp import api
    from streamcmp.table_file import form_of

    notes = Notes(quiet=talk.quiet, verbose=talk.verbose)
    others = (path for path in (logs.truth, logs.slices, talk.config) if path is not None)
    check_target(output, [*logs.left, *logs.right, *others])
    if output is not None:
        form_of(output)
    options = {**reading(logs), **asdict(names), **asdict(rows), **asdict(machine)}
    asked = asdict(which)
    answers = tuple(asked.pop(f"{side}_answer") or asked["answer"] for side in ("left", "right"))
    asked |= {"answer": answers, "kind": which.kind or "both"}
    if output is None and which.limit is None:
        asked["limit"] = _PRINTED
    with notes.pass_() as meter:
        found = api.flips(
            **options, **asked, output=output, answers_only=output is None,
            meter=meter, on_note=notes.note, on_examples=notes.examples,
        )  # fmt: skip
    for warning in found.warnings:
        say("warning", warning.message, warning.code, **warning.details)
    if output is None:
        write_stdout(_printed(found).encode(errors="replace"))
    else:
        notes.note(
            f"wrote {output}: {found.rows:,} flips ({_of(found)})", "wrote", path=str(output), rows=found.rows
        )


def _of(found: Flips) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in found.kinds.items())


def _printed(found: Flips) -> str:
    from streamcmp.json_text import ready
    from streamcmp.report.flips import render

    if found.table is None:
        raise UsageError("the flips went to a file")
    rows = [{name: ready(value) for name, value in row.items()} for row in found.table.to_dicts()]
    lines = render(
        rows,
        kinds=found.kinds,
        pairs=found.pairs,
        total=found.available,
        names=found.names,
        head=found.head,
        width=shutil.get_terminal_size((100, 20)).columns,
    )
    return "".join(f"{line}\n" for line in lines)
