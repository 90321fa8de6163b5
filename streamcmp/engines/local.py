"""The local engine: pair the logs in bounded memory and count, on this machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from streamcmp.accumulate import Accumulator
from streamcmp.comparison import SIDES
from streamcmp.errors import ChangedType, DataError, UsageError
from streamcmp.logs import open_pair
from streamcmp.meter import Meter
from streamcmp.pairing.batch import Outcome
from streamcmp.pairing.examples import Examples, first_ids
from streamcmp.pairing.lockstep import OutOfStep
from streamcmp.pairing.plan import plan
from streamcmp.tally import WHOLE, Part, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    from streamcmp.comparison import Comparison
    from streamcmp.ledger import Ledger
    from streamcmp.logs.model import LogPair
    from streamcmp.pairing.batch import PairBatch
    from streamcmp.resources import Resources, Step
    from streamcmp.sketch import SketchOf

    Engine = Callable[[LogPair, Resources, Meter], "Counted"]

_MODULES = {  # in streamcmp/pairing, each with `pairs`; loaded when it is tried
    "lockstep": "lockstep",
    "merge": "merge",
    "direct": "direct",
    "coded buckets": "coded",
    "buckets": "buckets",
}


@dataclass(frozen=True)
class Advised:
    """How many pairs differ in a guard that only warns: its names, and the number."""

    guards: tuple[str, ...]
    pairs: int


@dataclass(frozen=True)
class Counted:
    """A tally, and up to five ids of each kind that a message may name. Ids are no part of the tally.

    Under "guard_values" there is, for the first of those whose guards differ, what these hold.
    """

    tally: Tally
    examples: Mapping[str, Sequence[str]]
    advised: Advised
    tell_apart: tuple[str, ...]  # columns of both logs that might tell rows of one id apart


def count(
    comparison: Comparison,
    resources: Resources,
    on_note: Callable[[str], None] | None = None,
    meter: Meter | None = None,
    *,
    sketched: bool = False,
    engine: Engine | None = None,
) -> Counted:
    """Count one comparison, or one shard of it.

    `engine`: what counts the logs once they are open; this one, if left out.
    `sketched`: the tally holds a sketch of the left log's ids, which takes some time to make.
    `on_note` receives one sentence for each thing that was detected rather than said; `meter` tells anyone
    who looks at it how far the run is. Raises UsageError and DataError; Interrupted when a signal arrived
    inside `interrupt.stoppable`.
    """
    meter = meter or Meter()
    try:
        return _noted(comparison, resources, on_note, meter, engine or counted, sketched=sketched)
    except ChangedType:
        # The first rows of an NDJSON file did not tell a column's type: all of them do.
        return _noted(comparison, resources, None, meter, engine or counted, sketched=sketched, complete=True)


def _noted(
    comparison: Comparison,
    resources: Resources,
    on_note: Callable[[str], None] | None,
    meter: Meter,
    engine: Engine,
    *,
    sketched: bool,
    complete: bool = False,
) -> Counted:
    sketch = _new_sketch() if sketched else None
    pair = opened(comparison, resources, sketch, complete=complete)
    for note in pair.notes:
        (on_note or _ignore)(note)
    found = engine(pair, resources, meter)
    if sketch is None:
        return found
    return replace(found, tally=replace(found.tally, sketch=sketch.sketch()))


def _new_sketch() -> SketchOf:
    from streamcmp.sketch import SketchOf  # only those who write tallies pay

    return SketchOf()


def opened(
    comparison: Comparison,
    resources: Resources,
    sketch: SketchOf | None = None,
    *,
    complete: bool = False,
    scan: bool = True,
) -> LogPair:
    """The logs, or a shard of them; with `complete`, all rows were asked for types.

    Ids go to `sketch`, if there is one.
    """
    pair = open_pair(
        comparison,
        memory_budget=resources.memory,
        spill_dir=resources.spill_dir,
        complete=complete,
        scan=scan,
    )
    if comparison.shard == WHOLE and sketch is None:
        return pair
    from streamcmp.logs.hashed import HashedPair

    return HashedPair.of(pair, comparison.shard, sketch)


def counted(
    pair: LogPair,
    resources: Resources,
    meter: Meter,
    watcher: Callable[[], Callable[[PairBatch], None]] | None = None,
) -> Counted:
    """Pair and count. A strategy that fits no longer is given up: each gets a watcher of its own, if any."""
    for step in plan(pair, resources):
        accumulator, outcome, examples = Accumulator(pair.rule, pair.codecs), Outcome(meter), Examples()
        advised = 0
        watch = watcher() if watcher is not None else None
        try:
            for batch in _strategy(step)(pair, resources, outcome, examples):
                accumulator.add(batch)
                if watch is not None:
                    watch(batch)
                advised += batch.advised_pairs
        except OutOfStep:
            continue
        return _conclude(pair, accumulator, outcome, examples, Advised(pair.advisory, advised))
    raise DataError(
        f"--strategy {resources.strategy} cannot pair these logs: they are not in the order it needs, or an "
        "id occurs twice; leave --strategy out"
    )


def _strategy(step: Step) -> Callable[[LogPair, Resources, Outcome, Examples], Iterator[PairBatch]]:
    pairs: Callable[[LogPair, Resources, Outcome, Examples], Iterator[PairBatch]]
    pairs = import_module(f"streamcmp.pairing.{_MODULES[step.strategy]}").pairs
    return pairs


def explain(
    comparison: Comparison, resources: Resources, on_note: Callable[[str], None] | None = None
) -> list[Step]:
    """The strategies a count would try, in order, with what each needs and why. Reads metadata only.

    `on_note` is told what else would be read before.
    """
    try:
        pair = opened(comparison, resources, scan=False)
    except UsageError:
        pair = opened(comparison, resources, scan=False, complete=True)  # a key may appear late in NDJSON
    waiting = [name for name, about in pair.rule.slices.items() if about.get("cut") == "quantiles"]
    if waiting and on_note is not None:
        on_note(
            f"the edges of {' and '.join(waiting)} need a scan first: of these columns alone, once or more"
        )
    return list(plan(pair, resources, look=False))


def _conclude(
    pair: LogPair,
    accumulator: Accumulator,
    outcome: Outcome,
    examples: Examples,
    advised: Advised,
) -> Counted:
    check_rows(pair, outcome.a.rows, outcome.b.rows)
    ledger = accumulator.ledger(outcome.a.ledger(), outcome.b.ledger())
    return concluded(pair, accumulator.tables(), ledger, examples, advised)


def check_rows(pair: LogPair, rows_a: int, rows_b: int) -> None:
    """Raise DataError where a log has no rows; a shard may have none."""
    for side, rows in zip(SIDES, (rows_a, rows_b), strict=True):
        if not rows and pair.shard == WHOLE:
            paths = ", ".join(pair.inputs[side].paths)
            raise DataError(f"the {'left' if side == 'a' else 'right'} log ({paths}) has no rows")


def concluded(
    pair: LogPair, tables: Mapping[str, pl.DataFrame], ledger: Ledger, examples: Examples, advised: Advised
) -> Counted:
    """What an engine counted, as a tally that balances, with ids to name."""
    ledger.verify()
    inputs: dict[str, Any] = {}
    for side in SIDES:
        read = pair.inputs[side]
        rows = ledger.side(side).rows if pair.shard == WHOLE else read.rows
        inputs[side] = {"paths": list(read.paths), "bytes": read.bytes, "rows": rows}
    tally = Tally(tables, ledger, pair.rule, (Part(inputs, pair.shard),))
    found = examples.resolve(pair)
    named = {kind: [pair.show_id(value) for value in ids.to_list()] for kind, ids in found.items()}
    if "guard_mismatch" in found:
        from streamcmp.engines.differing import differing  # only who must name some pays

        named["guard_values"] = differing(pair, found["guard_mismatch"])
    if not ledger.a.matched and not pair.positional and pair.shard == WHOLE:
        for side, log in zip(SIDES, (pair.a, pair.b), strict=True):
            if ledger.side(side).unmatched:
                shown = [pair.show_id(value) for value in first_ids(log).to_list()]
                named.setdefault(f"unmatched_{side}", shown)
    return Counted(tally, named, advised, _telling(pair))


def _ignore(_note: str) -> None:
    pass


# What tells apart several rows of one example, in the logs of evaluation harnesses and their like.
_TELLING = ("task", "subset", "split", "language", "filter", "epoch", "repeat", "trial", "perturbation")


def _telling(pair: LogPair) -> tuple[str, ...]:
    both = set(pair.sides["a"].columns) & set(pair.sides["b"].columns)
    return tuple(name for name in _TELLING if name in both and name not in pair.rule.on)
