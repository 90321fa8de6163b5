"""Progress on a terminal: a bar for every phase that lasts longer than a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from streamcmp.cli.logged import beside

if TYPE_CHECKING:
    from streamcmp.meter import Meter

_EVERY, _PATIENCE = 0.1, 1.0  # seconds between looks; and before a phase is worth a bar


@contextmanager
def shown(meter: Meter) -> Iterator[None]:
    """Show `meter` on stderr until the block ends; then leave nothing of it on the screen."""
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with progress, beside(partial(_watch, meter, progress)):
        yield


def _watch(meter: Meter, progress: Progress, over: Event) -> None:
    phase, task = "", None
    while not over.wait(_EVERY):
        if meter.phase != phase:
            if task is not None:
                progress.remove_task(task)
            phase, task = meter.phase, None
        if meter.seconds < _PATIENCE:
            continue
        if task is None:
            task = progress.add_task(phase, total=meter.total, count="")
        count = f"{meter.done:,} {meter.unit}, {meter.rate:,.0f}/s"
        progress.update(task, completed=meter.done, total=meter.total, count=count)
