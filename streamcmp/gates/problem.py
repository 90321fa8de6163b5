"""What is wrong with a gate, and where."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from streamcmp.errors import UsageError

_BEFORE, _AFTER = 60, 30  # characters shown around the place


class GateError(UsageError):
    """An expression that is not one, or that names what does not exist. `at`: the character, from 0."""

    def __init__(self, expression: str, at: int, problem: str) -> None:
        line, before = _shown(expression, at)
        super().__init__(f"--fail-on, character {at + 1}: {problem}\n  {line}\n  {before}^")
        self.expression = expression
        self.at = at
        self.problem = problem


def _shown(expression: str, at: int) -> tuple[str, str]:
    """What is around the place, on one line, and spaces as wide as what is before it."""
    from rich.cells import cell_len

    from streamcmp.report.values import inert

    start, end = max(at - _BEFORE, 0), at + _AFTER
    before = ("..." if start else "") + inert(expression[start:at])
    after = inert(expression[at:end]) + ("..." if end < len(expression) else "")
    return before + after, " " * cell_len(before)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """`what` has no `name`: the nearest, and all there are."""
    names = list(known)
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    hint = f"; did you mean {close[0]}?" if close else "."
    return f"{what} has no {name}{hint} It has: {', '.join(names) or 'nothing'}"
