"""Can two logs be compared? What each is, what pairs, what does not and why; that needs no outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from streamcmp.comparison import OPTION_OF_SIDE, SIDES, Comparison
from streamcmp.engines import local
from streamcmp.errors import StreamcmpError
from streamcmp.ledger import SideLedger
from streamcmp.logs import open_pair
from streamcmp.pairing.hints import Hint, hints
from streamcmp.report.numbers import counted
from streamcmp.report.values import shown
from streamcmp.tally import OVERALL, Tally

if TYPE_CHECKING:
    from streamcmp.logs.model import Description, LogPair
    from streamcmp.resources import Resources

_MOST = 0.5  # of the pairs: if so many differ in a guard, it is another evaluation set
_SLICES = 10


@dataclass(frozen=True)
class Check:
    """What `check` found. Sides are left and right here: it is for showing.

    comparable: whether `run` would give a result. pairs: pairs that would count or miss an outcome only.
    guards: per slice (or overall) how many pairs differ in a guard. problems: why not, in the words of `run`.
    """

    comparable: bool
    left: Mapping[str, Any]
    right: Mapping[str, Any]
    pairs: int
    guards: Sequence[Mapping[str, Any]]
    examples: Mapping[str, Sequence[str]]
    advised: int
    problems: Sequence[str]
    hints: Sequence[Hint]
    notes: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


def check(comparison: Comparison, resources: Resources) -> Check:
    """Look at two logs.

    Raises:
        UsageError: the ids cannot be compared at all: no such column, or types that do not meet.
        DataError: a log is damaged.
    """
    notes, problems, outcomes = _outcomes(comparison, resources)
    only = replace(comparison, pairs_only=True)
    pair = _opened(only, resources)
    if "task" in pair.rule.on and not comparison.by:
        only = replace(only, by=(("task",),))
        pair = _opened(only, resources)
    result = local.count(only, resources)
    ledger = result.tally.ledger
    assert ledger is not None
    found = _of_ledger(pair, ledger.a, ledger.b) + _of_guards(pair, result.tally)
    unmatched = ledger.a.unmatched or ledger.b.unmatched
    if unmatched and not pair.positional:
        found += hints(pair)
    if not (ledger.a.matched or ledger.a.duplicate or ledger.b.duplicate):
        problems.append("no id of one log occurs in the other")
    for side, one in (("left", ledger.a), ("right", ledger.b)):
        if one.duplicate:
            rows = counted(one.duplicate, "row")
            problems.append(f"{rows} of the {side} log have ids that occur more than once")
    if ledger.a.guard_mismatch:
        problems.append(
            f"{' or '.join(pair.rule.guards)} differs in {counted(ledger.a.guard_mismatch, 'pair')}: the "
            "evaluation set has changed"
        )
    sides: dict[str, dict[str, Any]] = {
        OPTION_OF_SIDE[side]: {
            **asdict(pair.sides[side]), "outcome": outcomes.get(side), "ledger": asdict(ledger.side(side)),
        }
        for side in SIDES
    }  # fmt: skip
    for shape in sides.values():
        # Without outcomes all that is left is unscored.
        shape["ledger"]["paired"] += shape["ledger"].pop("unscored")
        shape["ledger"].pop("missing")
    return Check(
        comparable=not problems,
        left=sides["left"],
        right=sides["right"],
        pairs=ledger.a.matched - ledger.a.guard_mismatch,
        guards=_mismatches(result.tally),
        examples=result.examples,
        advised=result.advised.pairs,
        problems=problems,
        hints=found,
        notes=notes,
    )


def _opened(comparison: Comparison, resources: Resources) -> LogPair:
    """The logs, to be looked at: what slices there are does not matter yet."""
    return open_pair(comparison, memory_budget=resources.memory, spill_dir=resources.spill_dir, scan=False)


def _outcomes(comparison: Comparison, resources: Resources) -> tuple[list[str], list[str], dict[str, str]]:
    """How outcomes are found, or why they cannot be."""
    try:
        pair = _opened(comparison, resources)
    except StreamcmpError as problem:
        return [], [str(problem)], {}
    return list(pair.notes), [], {side: pair.sides[side].outcome for side in SIDES}


def _of_ledger(pair: LogPair, a: SideLedger, b: SideLedger) -> list[Hint]:
    """A log whose ids are all in the other, which has more, was cut short by a limit."""
    for side, small, large in (("left", a, b), ("right", b, a)):
        if small.matched and not small.unmatched and large.unmatched:
            other = "right" if side == "left" else "left"
            return [
                Hint(
                    "limit",
                    f"all ids of the {side} log are in the {other} log, which has {large.unmatched:,} more: "
                    f"was the {side} run cut short by a limit{_limits(pair.sides)}?",
                )
            ]
    return []


def _limits(sides: Mapping[Any, Description]) -> str:
    known = [
        f"{OPTION_OF_SIDE[side]}: {about}"
        for side in SIDES
        for about in sides[side].about
        if "limit" in about
    ]
    return f" ({'; '.join(known)})" if known else ""


def _of_guards(pair: LogPair, tally: Tally) -> list[Hint]:
    ledger = tally.ledger
    if ledger is None or ledger.a.guard_mismatch <= _MOST * max(1, ledger.a.matched):
        return []
    return [
        Hint(
            "other_split",
            f"{' or '.join(pair.rule.guards)} differs in {ledger.a.guard_mismatch:,} of "
            f"{counted(ledger.a.matched, 'pair')}: the ids are numbers of other examples, as with another "
            "split, version or order of the dataset; if the guard names examples, pair by it with --on",
        )
    ]


def _mismatches(tally: Tally) -> list[dict[str, Any]]:
    """Slices in which guards differ, those with most first."""
    found: list[dict[str, Any]] = []
    for family in tally.families:
        for values, counts in tally.counts(family):
            if counts.guard_mismatch and (family != OVERALL or len(tally.families) == 1):
                name = ", ".join(f"{key}={shown(value)}" for key, value in values.items()) or OVERALL
                pairs = counts.guard_mismatch + counts.unscored + counts.n
                found.append({"slice": name, "differ": counts.guard_mismatch, "pairs": pairs})
    return sorted(found, key=lambda each: (-each["differ"], each["slice"]))[:_SLICES]
