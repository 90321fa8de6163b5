"""Gates on a report: which fire, on which slices, and the numbers, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from streamcmp.gates.evaluate import Facts, Slices, expected
from streamcmp.gates.scope import check
from streamcmp.gates.syntax import (
    Call,
    Chain,
    Comparison,
    Junction,
    Name,
    Negative,
    Node,
    Not,
    Number,
    parse,
)
from streamcmp.report.model import Report, slice_dicts
from streamcmp.report.numbers import counted
from streamcmp.report.outcomes import GateOutcome
from streamcmp.report.values import inert, shorten, shown
from streamcmp.report.words import slice_name
from streamcmp.tally import SLICE_PREFIX

_SLICES_SHOWN: Final = 5
_SLICE_WIDTH: Final = 60
_NOTHING: Final = "does not exist"


def judge(report: Report, expressions: Iterable[str]) -> tuple[GateOutcome, ...]:
    """The outcome of each gate, in the order given.

    Raises GateError for the first that is no condition, or names what the report does not have: before any
    is evaluated.
    """
    facts = Facts(report)
    scope = facts.scope
    trees = [(expression, parse(expression)) for expression in expressions]
    for expression, tree in trees:
        check(expression, tree, scope)
    return tuple(_outcome(expression, tree, facts) for expression, tree in trees)


def check_early(
    expressions: Iterable[str],
    analysis: Mapping[str, Any],
    families: Mapping[str, tuple[str, ...]],
    *,
    earlier: bool = False,
) -> None:
    """Raise GateError for what can be told before there is a report.

    `analysis`: its `to_dict`. `families`: names and columns of the families asked for. `earlier`:
    whether there is an earlier report, of which `baseline` speaks.
    """
    scope = expected(analysis, families, earlier=earlier)
    for expression in expressions:
        check(expression, parse(expression), scope)


def _outcome(expression: str, tree: Node, facts: Facts) -> GateOutcome:
    fired = facts.truth(tree)
    named = sorted(set(_named(tree, facts, wanted=True))) if fired else []
    numbers = [part.value for part in _walk(tree) if isinstance(part, Number)]
    says = list(dict.fromkeys(_says(tree, facts, numbers)))
    absent = tuple(dict.fromkeys(_absent(tree, facts)))
    return GateOutcome(expression, fired, "; ".join(says), named, absent)


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for part in _parts(node):
        yield from _walk(part)


def _parts(node: Node) -> tuple[Node, ...]:
    match node:
        case Chain():
            return node.terms
        case Junction():
            return node.parts
        case Comparison():
            return (node.left, node.right)
        case Negative():
            return (node.term,)
        case Not():
            return (node.part,)
        case Call() if node.condition is not None:
            return (node.condition,)
    return ()


def _outside(node: Node) -> Iterator[Name | Call]:
    """The names and quantifiers, without what stands within a quantifier."""
    if isinstance(node, Name | Call):
        yield node
    else:
        for part in _parts(node):
            yield from _outside(part)


def _named(node: Node, facts: Facts, *, wanted: bool) -> Iterator[int]:
    """The rows of results that make a condition true (or false, if that is what is wanted)."""
    if isinstance(node, Not):
        yield from _named(node.part, facts, wanted=not wanted)
    elif isinstance(node, Junction):
        for part in node.parts:
            if facts.truth(part) == wanted:
                yield from _named(part, facts, wanted=wanted)
    else:
        for one in _outside(node):
            if isinstance(one, Call):
                yield from _slices(one, facts, wanted=wanted)
            elif one.parts[0] == "overall":
                yield 0


def _slices(call: Call, facts: Facts, *, wanted: bool) -> Iterator[int]:
    """`all` is broken by the slices for which its condition does not hold; else it is those that hold."""
    for part in facts.slices(call):
        mask = ~part.mask if call.quantifier == "all" and not wanted else part.mask
        yield from (int(row) + part.start for row in mask.arg_true())


def _says(node: Node, facts: Facts, numbers: list[float]) -> Iterator[str]:
    """`overall.gain is -0.023`; `1 of 2 slices of domain: domain=law (gain -0.023)`."""
    for one in _outside(node):
        if isinstance(one, Call):
            yield from (_found(one, part, facts, numbers) for part in facts.slices(one))
            continue
        name, value = ".".join(one.parts), facts.value(one)
        if value is None:
            yield f"{name} {_NOTHING}"
        elif one.parts[0] == "ledger":
            rows = facts.rows_of(one) or 0
            share = f", {_number(100 * value / rows, [100 * number for number in numbers])} %" if rows else ""
            yield f"{name} is {value:,} of {counted(rows, 'row')}{share}"
        else:
            yield f"{inert(name)} is {_value(value, numbers)}"


def _found(call: Call, part: Slices, facts: Facts, numbers: list[float]) -> str:
    family = shorten(inert(part.family.family), _SLICE_WIDTH)
    # Of `all`, the slices that break it are the ones to see.
    mask = ~part.mask if call.quantifier == "all" and part.holding < part.mask.len() else part.mask
    text = f"{part.holding:,} of {counted(part.mask.len(), 'slice')} of {family}"
    shown_rows = part.frame.filter(mask).head(_SLICES_SHOWN)
    if shown_rows.is_empty() or call.condition is None:
        return text
    results = facts.report.results.slice(part.start, part.family.slices).filter(mask).head(_SLICES_SHOWN)
    cuts = slice_dicts(part.family, results)
    columns = [(name, facts.column(name)) for name in _outside(call.condition) if isinstance(name, Name)]
    fields = {
        ".".join(name.parts): column
        for name, column in columns
        if column is not None and not column.startswith(SLICE_PREFIX)
    }
    texts = []
    for cut, row in zip(cuts, shown_rows.iter_rows(named=True), strict=True):
        values = ", ".join(f"{name} {_value(row[column], numbers)}" for name, column in fields.items())
        texts.append(slice_name(cut) + (f" ({values})" if values else ""))
    rest = int(mask.sum()) - len(texts)
    more = f" and {rest:,} more" if rest else ""
    word = "not for " if mask is not part.mask else ""
    return f"{text}: {word}{', '.join(texts)}{more}"


def _absent(node: Node, facts: Facts) -> Iterator[str]:
    """What is compared and does not exist: outside quantifiers, or in no slice of a quantifier's family."""
    for one in _outside(node):
        if isinstance(one, Name):
            if facts.value(one) is None:
                yield ".".join(one.parts)
        elif one.condition is not None:
            names = [name for name in _outside(one.condition) if isinstance(name, Name)]
            for part in facts.slices(one):
                for name in names:
                    column = facts.column(name)
                    empty = (
                        facts.value(name) is None
                        if column is None
                        else part.frame[column].null_count() == part.frame.height
                    )
                    if empty:
                        yield f"{'.'.join(name.parts)} of {shorten(inert(part.family.family), _SLICE_WIDTH)}"


def _value(value: Any, numbers: list[float]) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _number(value, numbers)
    return _NOTHING if value is None else shown(value, _SLICE_WIDTH)


def _number(value: float, numbers: list[float]) -> str:
    """Four digits, or as many as it takes to stand on the same side of the numbers of the expression."""
    for digits in (4, 6, 9):
        text = f"{value:.{digits}g}"
        rounded = float(text)
        if all((rounded < one, rounded > one) == (value < one, value > one) for one in numbers):
            return text
    return repr(value)
