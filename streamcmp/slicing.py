"""What one part of a `--by` term says: a column, or an expression with a name, and how its values are cut.

`length:bins(0,100)`, `user:top(50)`, `LENGTH(prompt) AS size`, `LENGTH(prompt) AS size:quantiles(10)`. Here
is only what the text says; whether a column is called so is for those who know the columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any, Final, Literal, get_args

from streamcmp.errors import UsageError
from streamcmp.terms import Plain, pointed, unquoted

CutKind = Literal["bins", "quantiles", "top"]
EMPTY: Final = "(empty)"  # the slice of empty lists
OTHER: Final = "(other)"  # the slice of all that `top` leaves out
_MOST_EDGES: Final = 10_000
_LIMITS: Final[dict[CutKind, tuple[int, int]]] = {"quantiles": (2, 1000), "top": (1, 2**31)}
_PLAIN_DIGITS: Final = 20  # longer numbers are written with an exponent
_CUT = re.compile(r"^(?P<of>.*\S)\s*:\s*(?P<kind>[A-Za-z_]+)\s*\((?P<inner>[^()]*)\)\s*$", re.DOTALL)
_BARE_CUT = re.compile(rf":\s*({'|'.join(get_args(CutKind))})\s*$", re.IGNORECASE)
_ALIAS = re.compile(
    r"""^(?P<of>.*\S)\s+AS\s+(?P<name>"[^"]+"|`[^`]+`|'[^']+'|[^\s"'`()]+)\s*$""", re.DOTALL | re.IGNORECASE
)
_BARE_AS = re.compile(r"\s+AS\s*$", re.IGNORECASE)
_DATE = re.compile(r"^(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?)(\.\d{1,9})?$")
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - edges have no zone


@dataclass(frozen=True, slots=True)
class Cut:
    """How values are cut. `numbers`: the edges of bins, rising; else one whole number; each as text."""

    kind: CutKind
    numbers: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many quantiles, or how many slices of their own."""
        return int(self.numbers[0])

    def __str__(self) -> str:
        return f"{self.kind}({','.join(self.numbers)})"


@dataclass(frozen=True, order=True, slots=True)
class Moment:
    """A date or time, as nanoseconds from 1970 on."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a term. `column`: of the log, or the name of the `expression`, which is SQL."""

    column: str
    expression: str | None = None
    cut: Cut | None = None

    @property
    def name(self) -> str:
        """What the report calls the column."""
        return self.column if self.cut is None else f"{self.column}:{self.cut}"


def parse_part(text: str, option: str = "--by") -> Part:
    """What a text asks for that is not the name of a column.

    Raises UsageError, pointing at the character, for what is neither a name, a cut nor an expression.
    """
    if isinstance(text, Plain):
        return Part(str(text))
    found = _CUT.match(text)
    if found is None:
        bare = _BARE_CUT.search(text)
        if bare is not None:
            raise pointed(option, text, bare.end(), f"{bare[1].lower()} of what? {_USES}")
        return _source(text)
    source = _source(found["of"].strip())
    return Part(source.column, source.expression, _cut(text, option, found))


def is_cut(text: str) -> bool:
    """Whether a text says how values are cut, rightly or not."""
    return _CUT.match(text) is not None


def without_as(text: str) -> str:
    """An expression without an AS at its end that no name follows."""
    return _BARE_AS.sub("", text)


def named(term: Sequence[str]) -> tuple[str, ...]:
    """The names that a term's columns have in the report, where no column is called as a text is."""
    return tuple(_name(text) for text in term)


def intervals(edges: Sequence[str]) -> list[str]:
    """The slices between rising edges, in order: `< 0`, `[0, 100)`, `>= 100`; each holds its lower edge."""
    if not edges:
        return ["any"]
    inner = [f"[{low}, {high})" for low, high in pairwise(edges)]
    return [f"< {edges[0]}", *inner, f">= {edges[-1]}"]


def plain_number(text: str) -> str:
    """A finite number as short as can be: 1e2 -> 100, 0.50 -> 0.5. Raises ArithmeticError otherwise."""
    number = Decimal(text)
    if not number.is_finite():
        raise InvalidOperation
    number = number.normalize()
    if not number:
        return "0"
    exponent = number.as_tuple().exponent
    fits = isinstance(exponent, int) and number.adjusted() < _PLAIN_DIGITS and exponent > -_PLAIN_DIGITS
    return f"{number:f}" if fits else str(number)


def edge_value(text: str) -> Decimal | Moment:
    """The number, or the moment, that an edge is. Raises ValueError or ArithmeticError for anything else."""
    found = _DATE.match(text)
    if found is None:
        return Decimal(text)
    seconds = (datetime.fromisoformat(found[1]) - _EPOCH) // timedelta(seconds=1)
    return Moment(10**9 * seconds + int(Decimal(found[2] or 0).scaleb(9)))


def overlapping(by: Sequence[Sequence[str]], slices: dict[str, Any]) -> frozenset[str]:
    """The families, by name, whose slices overlap: a column of theirs holds lists."""
    lists = {name for name, about in slices.items() if about.get("overlapping")}
    return frozenset(",".join(term) for term in by if lists & set(term))


_USES: Final = "Write :bins(0,100), :quantiles(10) or :top(50)"


def _name(text: str) -> str:
    try:
        return parse_part(text).name
    except UsageError:  # said when the logs are opened
        return str(text)


def _source(text: str) -> Part:
    found = _ALIAS.match(text)
    if found is None:
        return Part(str(unquoted(text)))
    name = found["name"]
    return Part(name[1:-1] if name[0] in "\"'`" else name, found["of"].strip())


def _cut(text: str, option: str, found: re.Match[str]) -> Cut:
    kind = next((one for one in get_args(CutKind) if one == found["kind"].lower()), None)
    if kind is None:
        raise pointed(option, text, found.start("kind"), f"{found['kind']} is no way to cut. {_USES}")
    numbers: list[str] = []
    at = found.start("inner")
    for piece in found["inner"].split(","):
        here = at + len(piece) - len(piece.lstrip())
        word = piece.strip()
        if not word:
            raise pointed(option, text, here, f"a number is missing. {_USES}")
        if kind == "bins":
            numbers.append(_edge(text, option, here, word, numbers))
        else:
            numbers.append(_whole(text, option, here, word, kind))
        at += len(piece) + 1
    if kind != "bins" and len(numbers) > 1:
        at = found.start("inner") + found["inner"].index(",")
        raise pointed(option, text, at, f"{kind} takes one number")
    if len(numbers) > _MOST_EDGES:
        raise UsageError(f"{option}: {len(numbers):,} edges; bins takes at most {_MOST_EDGES:,}")
    return Cut(kind, tuple(numbers))


def _whole(text: str, option: str, at: int, word: str, kind: CutKind) -> str:
    low, high = _LIMITS[kind]
    if not (word.isascii() and word.isdigit() and low <= int(word) <= high):
        raise pointed(option, text, at, f"{kind} takes a whole number from {low} to {high:,}, not {word}")
    return str(int(word))


def _edge(text: str, option: str, at: int, word: str, before: Sequence[str]) -> str:
    try:
        moment = isinstance(edge_value(word), Moment)
        edge = word.replace(" ", "T") if moment else plain_number(word)
    except (ValueError, ArithmeticError):
        raise pointed(option, text, at, f"{word} is neither a number nor a date such as 2024-01-31") from None
    if before:
        last, this = edge_value(before[-1]), edge_value(edge)
        if isinstance(last, Moment) != isinstance(this, Moment):
            raise pointed(option, text, at, "edges are all numbers or all dates")
        if not last < this:  # type: ignore[operator]  # both are of one kind
            raise pointed(option, text, at, f"edges rise, and {edge} is not above {before[-1]}")
    return edge
