"""What a gate can name, and of which kind each is. Everything wrong with names and kinds is found here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from streamcmp.gates.problem import GateError, unknown
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
    Place,
    Text,
    Truth,
)
from streamcmp.report.model import EXTRA_FIELDS, VERDICTS

# "whole" is a count; "part" a count of which a percentage can be taken (rows of a ledger, slices of a
# family); "any" is not known yet: slice values, before the logs are read.
Kind = Literal["number", "whole", "part", "percent", "text", "truth", "any"]
_NUMBERS: Final = frozenset(("number", "whole", "part", "percent", "any"))
_CALLED: Final = {"text": "text", "truth": "true or false"}
SLICE: Final = "slice"  # slice.domain: the slice's value, where a field of the results has the column's name
BASELINE: Final = "baseline"  # baseline.gain: of the same slice in the earlier report
_OF_BASELINE: Final[Mapping[str, Kind]] = {"n": "whole", "gain": "number", "verdict": "text"}


@dataclass(frozen=True, slots=True)
class Scope:
    """The names of one report, or of one that is to come.

    `fields`: of a result. `ledger`: of one side of it. `families`: family -> column -> kind. `numbers`: of a
    family as a whole.
    """

    fields: Mapping[str, Kind]
    ledger: Mapping[str, Kind]
    families: Mapping[str, Mapping[str, Kind]]
    numbers: Mapping[str, Kind]
    earlier: bool = False  # whether there is an earlier report to compare with
    row: Mapping[str, Kind] | None = None  # within a quantifier: the slice's columns

    def within(self, columns: Mapping[str, Kind]) -> Scope:
        """The scope of a quantifier's condition."""
        return replace(self, row=columns)


def check(expression: str, node: Node, scope: Scope) -> None:
    """Raise GateError unless `node` is a condition whose names exist and whose kinds fit."""
    kind = _Checker(expression).kind(node, scope)
    if kind not in ("truth", "any"):
        raise GateError(
            expression,
            node.place.start,
            "a gate is a condition; compare this with something, as in overall.gain < 0",
        )


class _Checker:
    def __init__(self, expression: str) -> None:
        self._expression = expression

    def kind(self, node: Node, scope: Scope) -> Kind:
        match node:
            case Number():
                return "percent" if node.percent else "number"
            case Text():
                return "text"
            case Truth():
                return "truth"
            case Name():
                return self._name(node, scope)
            case Call():
                return self._call(node, scope)
            case Chain():
                for term in node.terms:
                    self._number(term, scope)
                return "number"
            case Negative():
                self._number(node.term, scope)
                return "number"
            case Comparison():
                return self._comparison(node, scope)
            case Not():
                self._condition(node.part, scope, "not")
                return "truth"
            case Junction():
                for part in node.parts:
                    self._condition(part, scope, node.word)
                return "truth"

    def _number(self, node: Node, scope: Scope) -> Kind:
        kind = self.kind(node, scope)
        if kind not in _NUMBERS:
            raise self._problem(node.place, f"this is {_CALLED[kind]}, and a number is expected")
        return kind

    def _condition(self, node: Node, scope: Scope, word: str) -> None:
        kind = self.kind(node, scope)
        if kind not in ("truth", "any"):
            raise self._problem(node.place, f"{word} joins conditions, and this is none")

    def _comparison(self, node: Comparison, scope: Scope) -> Kind:
        left, right = self.kind(node.left, scope), self.kind(node.right, scope)
        kinds = {left, right}
        if "text" in kinds or "truth" in kinds:
            if len(kinds - {"any"}) > 1:
                words = [_CALLED.get(kind, "a number") for kind in (left, right)]
                quotes = "; in quotes, '8' is a text" if kinds & _NUMBERS and "text" in kinds else ""
                raise self._problem(node.sign_place, f"{words[0]} is compared with {words[1]}{quotes}")
            if node.sign not in ("==", "!="):
                raise self._problem(
                    node.sign_place, f"{_CALLED[(kinds - {'any'}).pop()]} is compared by == and != only"
                )
        if kinds == {"whole", "percent"}:
            raise self._problem(
                (node.right if right == "percent" else node.left).place,
                "a percentage of what? Divide the count first, as in n_ab / n > 1%",
            )
        for name, text in ((node.left, node.right), (node.right, node.left)):
            if isinstance(name, Name) and name.parts[-1] == "verdict" and isinstance(text, Text):
                self._verdict(text)
        return "truth"

    def _verdict(self, text: Text) -> None:
        if text.value not in VERDICTS:
            raise self._problem(text.place, unknown("the list of verdicts", text.value, VERDICTS))

    def _call(self, node: Call, scope: Scope) -> Kind:
        if scope.row is not None:
            raise self._problem(node.place, f"{node.quantifier}() cannot stand within another one")
        if node.condition is not None:
            inner = scope.within(self._columns(node, scope))
            kind = self.kind(node.condition, inner)
            if kind not in ("truth", "any"):
                raise self._problem(
                    node.condition.place, f"{node.quantifier}() takes a condition, and this is none"
                )
        return "part" if node.quantifier == "count" else "truth"

    def _columns(self, node: Call, scope: Scope) -> Mapping[str, Kind]:
        if node.family is None:
            return {}
        if node.family not in scope.families:
            known = [name for name in scope.families if name != "overall"]
            raise self._problem(
                node.family_place, unknown("the report", node.family, known).replace("It has", "Its families")
            )
        return scope.families[node.family]

    def _name(self, node: Name, scope: Scope) -> Kind:
        first, *rest = node.parts
        if first == "overall":
            return self._field(node, scope.fields, 1, "overall")
        if first == "ledger":
            return self._ledger(node, scope)
        if first == "families":
            return self._of_family(node, scope)
        if first == BASELINE and (rest or scope.row is None):
            return self._baseline(node, scope)
        if scope.row is not None:
            if first == SLICE and rest:
                return self._slice(node, scope.row)
            if len(node.parts) == 1 and first not in scope.fields and first in scope.row:
                return scope.row[first]
            if rest:
                raise self._problem(
                    node.place, f"a slice has no {'.'.join(node.parts)}; its fields have no dots"
                )
            return self._field(node, {**scope.fields, **scope.row}, 0, "a slice")
        if first in scope.fields and not rest:
            raise self._problem(
                node.place, f"whose {first}? Write overall.{first}, or any(domain, {first} ...)"
            )
        raise self._problem(
            node.place, unknown("a report", first, ("overall", "ledger", "families", BASELINE))
        )

    def _field(self, node: Name, fields: Mapping[str, Kind], at: int, what: str) -> Kind:
        if len(node.parts) != at + 1:
            last = node.places[min(at, len(node.parts) - 1)]
            raise self._problem(last, f"name one field of {what}. It has: {', '.join(fields)}")
        return self._kind(node.parts[at], node.places[at], fields, what)

    def _kind(self, name: str, place: Place, fields: Mapping[str, Kind], what: str) -> Kind:
        if name not in fields:
            option = next((one for one, names in EXTRA_FIELDS.items() if name in names), None)
            if option is not None:
                raise self._problem(place, f"{what} has {name} only with --{option}")
            raise self._problem(place, unknown(what, name, fields))
        return fields[name]

    def _ledger(self, node: Name, scope: Scope) -> Kind:
        if len(node.parts) != 3 or node.parts[1] not in ("a", "b"):
            raise self._problem(
                node.places[min(1, len(node.parts) - 1)],
                "write ledger.a.rows or ledger.b.rows: a is the left log, b the right one",
            )
        return self._field(node, scope.ledger, 2, f"ledger.{node.parts[1]}")

    def _of_family(self, node: Name, scope: Scope) -> Kind:
        parts, places = node.parts, node.places
        if len(parts) < 3:
            raise self._problem(places[-1], "write families.domain.macro_gain, with the family's name")
        if parts[1] not in scope.families:
            raise self._problem(places[1], unknown("families", parts[1], scope.families))
        return self._kind(".".join(parts[2:]), places[2], scope.numbers, "a family")

    def _baseline(self, node: Name, scope: Scope) -> Kind:
        if not scope.earlier:
            raise self._problem(
                node.place, "there is no earlier report; --baseline-report names one (in Python: changes)"
            )
        of_all = node.parts[1:2] == ("overall",)
        if not of_all and scope.row is None:
            raise self._problem(
                node.places[-1], "write baseline.overall.gain, or any(domain, gain < baseline.gain)"
            )
        return self._field(node, _OF_BASELINE, 1 + of_all, "an earlier report")

    def _slice(self, node: Name, columns: Mapping[str, Kind]) -> Kind:
        return self._kind(".".join(node.parts[1:]), node.places[1], columns, "slice")

    def _problem(self, place: Place, problem: str) -> GateError:
        return GateError(self._expression, place.start, problem)
