"""The commands: parse, call, render. Whatever is computed is computed by the API.

The API is imported inside, so that --help does not load polars.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from streamcmp.addresses import shown
from streamcmp.cli.groups import grouped
from streamcmp.cli.options import (
    EngineName,
    Explain,
    Gates,
    Logs,
    Machine,
    Names,
    RowPolicies,
    Save,
    ShardOfIds,
    Show,
    Slices,
    Statistics,
    Talk,
    Verify,
)
from streamcmp.cli.output import check_baseline, chosen_format, show_judged, show_plan
from streamcmp.cli.reading import reading
from streamcmp.cli.stderr import Notes, say
from streamcmp.target import TALLY, check_parquet, check_target


@grouped
def run(
    *,
    logs: Logs,
    names: Names,
    rows: RowPolicies,
    statistics: Statistics,
    slices: Slices,
    machine: Machine,
    show: Show,
    gates: Gates,
    talk: Talk,
    engine: EngineName = None,
    verify: Verify = None,
    explain: Explain = False,
) -> None:
    """Compare two logs: pair, count, test, report."""
    from streamcmp import api

    notes = Notes(quiet=talk.quiet, verbose=talk.verbose)
    options = {
        **reading(logs),
        **asdict(names),
        **asdict(rows),
        **asdict(statistics),
        **asdict(slices),
        **asdict(machine),
        "engine": engine,
        "verify": verify,
    }
    if explain:
        show_plan(api.explain(**options, on_note=notes.note))
        return
    check_target(show.output, [*_inputs(logs, talk), *_given(show.baseline_report)])
    check_baseline(show)
    form = chosen_format(show)
    if gates.fail_on:
        earlier = show.baseline_report is not None
        api.check_gates(gates.fail_on, logs.by, earlier=earlier, **asdict(statistics), **asdict(slices))
    with notes.pass_() as meter:
        report = api.compare(**options, meter=meter, on_note=notes.note, on_examples=notes.examples)
    show_judged(report, form, show, gates, notes)


@grouped
def count(
    *,
    logs: Logs,
    rows: RowPolicies,
    machine: Machine,
    save: Save,
    talk: Talk,
    engine: EngineName = None,
    shard: ShardOfIds = None,
) -> None:
    """Count two logs, or one shard of their ids, into a tally file, to merge and finalize later."""
    from streamcmp.api import count as count_logs

    notes = Notes(quiet=talk.quiet, verbose=talk.verbose)
    check_target(save.output, _inputs(logs, talk))
    check_parquet(save.output, *TALLY)
    with notes.pass_() as meter:
        tally = count_logs(
            **reading(logs),
            **asdict(rows),
            **asdict(machine),
            engine=engine,
            shard=shard,
            meter=meter,
            on_note=notes.note,
        )
    tally.save(save.output)
    notes.note(f"wrote {shown(save.output)}", "wrote", path=shown(save.output))


@grouped
def merge(tallies: Annotated[list[str], typer.Argument(help="tally files")], save: Save, talk: Talk) -> None:
    """Add tally files up into one."""
    from streamcmp.api import merge as merge_tallies

    check_target(save.output, [*tallies, *_given(talk.config)])
    check_parquet(save.output, *TALLY)
    merge_tallies(tallies, on_warning=_warn).save(save.output)
    notes = Notes(quiet=talk.quiet, verbose=talk.verbose)
    notes.note(f"wrote {shown(save.output)}", "wrote", path=shown(save.output))


@grouped
def finalize(
    *,
    counts: Annotated[str, typer.Argument(help="a tally file, or a table of counts (csv, parquet, json)")],
    names: Names,
    rows: RowPolicies,
    statistics: Statistics,
    slices: Slices,
    show: Show,
    gates: Gates,
    talk: Talk,
) -> None:
    """Test what a tally file, or a table of counts, holds."""
    from streamcmp.api import finalize as finalize_counts

    check_target(show.output, [counts, *_given(talk.config, show.baseline_report)])
    check_baseline(show)
    form = chosen_format(show)
    report = finalize_counts(counts, **asdict(names), **asdict(rows), **asdict(statistics), **asdict(slices))
    show_judged(report, form, show, gates, Notes(quiet=talk.quiet, verbose=talk.verbose))


def _warn(text: str) -> None:
    say("warning", text, "parts_overlap")


def _inputs(logs: Logs, talk: Talk) -> list[str | Path]:
    """All that is read."""
    return [*logs.left, *logs.right, *_given(logs.truth, logs.slices, talk.config)]


def _given(*paths: str | Path | None) -> list[str | Path]:
    return [path for path in paths if path is not None]
