"""Which strategies to try, in which order. Chosen from metadata; each verifies what it relies on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamcmp.pairing import direct

if TYPE_CHECKING:
    from streamcmp.logs.model import LogPair
    from streamcmp.resources import Resources


def strategies(pair: LogPair, resources: Resources) -> tuple[str, ...]:
    """Strategy names to try until one fits.

    Lockstep and merge cost little to try: logs in another order part, or fall back, within the first batch.
    Logs whose metadata tell different row counts cannot be in step.
    """
    if pair.positional:
        return ("lockstep",)
    if resources.strategy != "auto":
        return (resources.strategy,)
    unequal = pair.a.rows is not None and pair.b.rows is not None and pair.a.rows != pair.b.rows
    shuffled = ("direct", "buckets") if direct.suits(pair, resources) else ("buckets",)
    return (*(() if unequal else ("lockstep",)), "merge", *shuffled)
