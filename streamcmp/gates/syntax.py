"""The language of gates: text -> tree, by recursive descent. The grammar is in docs/gates.md.

Nothing is evaluated here and no name is looked up; every node knows where it stands, so that every later
error can point at it. docs/adr/0009 says why the parser is our own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from streamcmp.gates.problem import GateError

LONGEST: Final = 2_000  # characters of an expression
_DEEPEST: Final = 50  # parentheses and calls within one another
QUANTIFIERS: Final = ("any", "all", "count")
EVERY: Final = "*"  # in the place of a family: all families but overall
_COMPARING: Final = ("==", "!=", "<=", ">=", "<", ">")
_TOKEN: Final = re.compile(
    r"""\s*(?:
      (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?:\s*%)?)
    | (?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    | (?P<word>[^\W\d]\w*)
    | (?P<sign>==|!=|<=|>=|[<>()+\-*/.,])
    | (?P<end>\Z)
    )""",
    re.VERBOSE,
)
# What people write who come from elsewhere, and what it is called here.
_ELSEWHERE: Final = {
    "=": "a comparison is ==",
    "&": "that is the word and",
    "|": "that is the word or",
    "!": "that is the word not, or != in a comparison",
    "%": "a percentage is a number and %, such as 1%",
    "'": "this text has no closing '",
    '"': 'this text has no closing "',
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands: characters `start` to `end` of the expression."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Number:
    """A number. A percentage has been divided by 100."""

    place: Place
    value: int | float
    percent: bool


@dataclass(frozen=True, slots=True)
class Text:
    """A text in quotes, without them."""

    place: Place
    value: str


@dataclass(frozen=True, slots=True)
class Truth:
    """`true` or `false`."""

    place: Place
    value: bool


@dataclass(frozen=True, slots=True)
class Name:
    """A field of the report, such as overall.gain; within a quantifier one of the slice.

    `places`: where each part stands.
    """

    place: Place
    parts: tuple[str, ...]
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """`any`, `all` or `count` of the slices of a family for which `condition` holds.

    `family` None: of all families but overall. `condition` None: of all slices.
    """

    place: Place
    quantifier: str
    family: str | None
    family_place: Place
    condition: Node | None


@dataclass(frozen=True, slots=True)
class Chain:
    """Terms joined by + and -, or by * and /: `signs[i]` stands before `terms[i]`; the first is + or *."""

    place: Place
    signs: tuple[str, ...]
    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Negative:
    """`-term`."""

    place: Place
    term: Node


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left sign right`."""

    place: Place
    sign: str
    sign_place: Place
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Not:
    """`not part`."""

    place: Place
    part: Node


@dataclass(frozen=True, slots=True)
class Junction:
    """Parts joined by `and`, or by `or`."""

    place: Place
    word: str
    parts: tuple[Node, ...]


Node = Number | Text | Truth | Name | Call | Chain | Negative | Comparison | Not | Junction


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # number, text, word, sign, end
    text: str
    place: Place


def parse(expression: str) -> Node:
    """The tree of an expression. Raises GateError, which points at the character."""
    if len(expression) > LONGEST:
        raise GateError(expression, LONGEST, f"a gate has at most {LONGEST:,} characters")
    if not expression.strip():
        raise GateError(expression, 0, "a gate is a condition, such as overall.verdict == 'worse'")
    return _Parser(expression).whole()


def _tokens(expression: str) -> Iterator[_Token]:
    at = 0
    while True:
        match = _TOKEN.match(expression, at)
        if match is None or match.lastgroup is None:
            at += len(expression[at:]) - len(expression[at:].lstrip())
            found = expression[at]
            raise GateError(expression, at, _ELSEWHERE.get(found, f"{found!r} has no meaning here"))
        kind = match.lastgroup
        yield _Token(kind, match[kind], Place(match.start(kind), match.end(kind)))
        if kind == "end":
            return
        at = match.end()


class _Parser:
    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._tokens = list(_tokens(expression))
        self._at = 0
        self._depth = 0

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def whole(self) -> Node:
        node = self._junction("or")
        if self._next.kind != "end":
            raise self._unexpected("and, or, or the end")
        return node

    def _junction(self, word: str) -> Node:
        start, parts = self._next.place.start, [self._part(word)]
        while self._took_word(word):
            parts.append(self._part(word))
        return parts[0] if len(parts) == 1 else Junction(self._since(start), word, tuple(parts))

    def _part(self, word: str) -> Node:
        return self._junction("and") if word == "or" else self._negation()

    def _negation(self) -> Node:
        start, negated = self._next.place.start, 0
        while self._took_word("not"):
            negated += 1
        node = self._comparison()
        # Twice not is no change, but says that it is a condition: a tower of them needs no more than two.
        for _ in range(negated if negated < 2 else 2 - negated % 2):
            node = Not(self._since(start), node)
        return node

    def _comparison(self) -> Node:
        start, left = self._next.place.start, self._chain("+-")
        sign = self._next
        if not self._took(*_COMPARING):
            return left
        right = self._chain("+-")
        if self._next.text in _COMPARING and self._next.kind == "sign":
            raise self._problem("comparisons do not chain; write a < b and b < c")
        return Comparison(self._since(start), sign.text, sign.place, left, right)

    def _chain(self, signs: str) -> Node:
        start, before, terms = self._next.place.start, [signs[0]], [self._term(signs)]
        while (sign := self._next.text) and self._took(*signs):
            before.append(sign)
            terms.append(self._term(signs))
        return terms[0] if len(terms) == 1 else Chain(self._since(start), tuple(before), tuple(terms))

    def _term(self, signs: str) -> Node:
        return self._chain("*/") if signs == "+-" else self._signed()

    def _signed(self) -> Node:
        start = self._next.place.start
        if not self._took("-"):
            return self._atom()
        term = self._atom()
        if isinstance(term, Number):
            return Number(self._since(start), -term.value, term.percent)
        return Negative(self._since(start), term)

    def _atom(self) -> Node:
        token = self._next
        if token.kind == "number":
            self._at += 1
            if not math.isfinite(float(token.text.rstrip("% \t\n"))):
                raise GateError(self._expression, token.place.start, "no number is as large as this")
            return _number(token)
        if token.kind == "text":
            self._at += 1
            return Text(token.place, _unquoted(token))
        if token.kind == "word":
            return self._named()
        if self._took("("):
            self._deeper()
            node = self._junction("or")
            self._close()
            return node
        raise self._unexpected("a name, a number, a text in quotes or (")

    def _named(self) -> Node:
        token = self._next
        if token.text in ("and", "or", "not"):
            raise self._unexpected("a name, a number, a text in quotes or (")
        self._at += 1
        if token.text in ("true", "false"):
            return Truth(token.place, token.text == "true")
        if self._next.text == "(" and self._next.kind == "sign":
            return self._call(token)
        parts, places = [token.text], [token.place]
        while self._took("."):
            places.append(self._next.place)
            parts.append(self._name_or_text("the name of a field"))
        return Name(self._since(token.place.start), tuple(parts), tuple(places))

    def _call(self, name: _Token) -> Node:
        if name.text not in QUANTIFIERS:
            raise GateError(
                self._expression, name.place.start, f"there is no {name.text}(); there are any, all and count"
            )
        self._took("(")
        self._deeper()
        place = self._next.place
        family = None if self._took(EVERY) else self._name_or_text("a family, such as domain, or *")
        condition = None
        if self._took(","):
            condition = self._junction("or")
        elif name.text != "count":
            raise self._unexpected(f"a comma and a condition: {name.text}({family or EVERY}, gain < 0)")
        if self._next.text == "," and self._next.kind == "sign":
            raise self._problem("a family of several columns stands in quotes: any('domain,class', gain < 0)")
        self._close()
        return Call(self._since(name.place.start), name.text, family, place, condition)

    def _name_or_text(self, expected: str) -> str:
        token = self._next
        if token.kind not in ("word", "text"):
            raise self._unexpected(expected)
        self._at += 1
        return token.text if token.kind == "word" else _unquoted(token)

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._problem(f"parentheses are at most {_DEEPEST} deep")

    def _close(self) -> None:
        if not self._took(")"):
            raise self._unexpected("and, or, or )")
        self._depth -= 1

    def _took(self, *signs: str) -> bool:
        taken = self._next.kind == "sign" and self._next.text in signs
        self._at += taken
        return taken

    def _took_word(self, word: str) -> bool:
        taken = self._next.kind == "word" and self._next.text == word
        self._at += taken
        return taken

    def _since(self, start: int) -> Place:
        return Place(start, self._tokens[self._at - 1].place.end)

    def _unexpected(self, expected: str) -> GateError:
        found = "the end" if self._next.kind == "end" else self._next.text
        return self._problem(f"{found} stands where {expected} is expected")

    def _problem(self, problem: str) -> GateError:
        return GateError(self._expression, self._next.place.start, problem)


def _number(token: _Token) -> Number:
    digits = token.text.removesuffix("%").rstrip()
    percent = token.text.endswith("%")
    value: int | float = int(digits) if digits.isdecimal() else float(digits)
    if percent:
        # Through the decimal point, as 0.3 / 100 is not 0.003.
        value = float(f"{digits}e-2") if "e" not in digits.lower() else value / 100
    return Number(token.place, value, percent)


def _unquoted(token: _Token) -> str:
    quote = token.text[0]
    return token.text[1:-1].replace(2 * quote, quote)
