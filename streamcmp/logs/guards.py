"""Guards: columns that must be equal on both sides of a pair, or the evaluation set has changed.

A guard travels as a 32-bit fingerprint of its canonical value: equal values always agree, and one changed
value in four billion would go unnoticed, while a changed evaluation set changes many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from streamcmp.comparison import OPTION_OF_SIDE, SIDES, Comparison, LabelType, SideName
from streamcmp.errors import TypeConflict, UnusableType
from streamcmp.logs.columns import GUARD_LABELS, Roles, candidates
from streamcmp.logs.ids import Seen
from streamcmp.logs.values import (
    NUMBERS,
    SMALL_INTS,
    TEXTS,
    Column,
    Kind,
    Number,
    decimal_text,
    declared_text,
    everywhere,
    finest,
    missing,
    narrowest,
    plain_text,
    unsigned_zero,
)
from streamcmp.logs.view import View

SEED = 0x5EED
NULL_FINGERPRINT = 0


@dataclass(frozen=True, slots=True)
class Guard:
    """One guard: its column on each side and how values compare. `name` is side a's, for the rule."""

    name: str
    columns: Mapping[SideName, str]
    automatic: bool = False
    advisory: bool = False  # a difference only warns
    kind: Kind = "text"
    dtype: pl.DataType | None = None  # the common type, where one is needed
    what: str = "guard"  # in messages

    def read(self, column: Column) -> pl.Expr:
        """The fingerprint of each value: UInt32, 0 for null and NaN (and for a value in four billion)."""
        if column.kind == "null":
            return everywhere(column, NULL_FINGERPRINT, pl.UInt32())
        # The dtype is made one before hashing: equal values of different types hash differently in Polars.
        bits = self._hash(column).cast(pl.UInt32, wrap_numerical=True)
        return pl.when(missing(column)).then(pl.lit(NULL_FINGERPRINT, pl.UInt32)).otherwise(bits)

    def _hash(self, column: Column) -> pl.Expr:
        if self.kind == "int" and column.kind == "int":
            return column.expr.cast(pl.Int64).hash(SEED)
        if self.kind == "decimal" and column.kind in {"int", "decimal"}:
            return decimal_text(column).hash(SEED)
        if self.kind in NUMBERS:
            return _hash_number(column) if self.dtype is None else self._hash_narrow(column, self.dtype)
        if self.kind == "bool":  # where text may stand beside it: true and false in any case
            return column.expr.cast(pl.String).str.to_lowercase().hash(SEED)
        text = declared_text if self.kind == "text" else plain_text
        return text(column, self.dtype).hash(SEED)

    @staticmethod
    def _hash_narrow(column: Column, dtype: pl.DataType) -> pl.Expr:
        """Floats of two widths meet at the narrower: 0.1 stored twice is no changed evaluation set."""
        return unsigned_zero(Number.of(column).float.cast(dtype).cast(pl.Float64)).hash(SEED)


def _hash_number(column: Column) -> pl.Expr:
    """Equal numbers get equal hashes, held as integer, float or text; text that spells none goes as text."""
    number = Number.of(column)
    as_float = unsigned_zero(number.float).hash(SEED)
    exact = number.exact.is_null() | (number.float.cast(pl.Int128, strict=False) == number.exact)
    hashed = pl.when(exact).then(as_float).otherwise(number.exact.cast(pl.String).hash(SEED))
    if column.kind in TEXTS:
        return pl.when(number.float.is_null()).then(column.expr.cast(pl.String).hash(SEED)).otherwise(hashed)
    return hashed


def resolve_guards(
    comparison: Comparison, views: Mapping[SideName, View], roles: Mapping[SideName, Roles], *, wide: bool
) -> list[Guard]:
    """The guards asked for, those of the harness, and the label that both logs carry; advisory ones last.

    Their kinds are made to agree.
    """
    found = []
    for name in dict.fromkeys(comparison.guards):
        for side in SIDES:
            views[side].require(name, "--guard")
        found.append(Guard(name, dict.fromkeys(SIDES, name)))
    found += _of_harness(views, [guard.name for guard in found], wide=wide)
    # A harness's hash of the target guards the label already.
    hashed = any(guard.automatic and not guard.advisory for guard in found)
    label = None if comparison.truth is not None or hashed else _label(comparison, views, roles)
    # A wide log may hold one label for both models: there is nothing to compare.
    idle = label is not None and wide and label.columns["a"] == label.columns["b"]
    if label is not None and not idle and all(label.columns != guard.columns for guard in found):
        found.append(label)
    found.sort(key=lambda guard: guard.advisory)
    return [agree(guard, views, comparison.label_type) for guard in found]


def _of_harness(views: Mapping[SideName, View], asked: Sequence[str], *, wide: bool) -> list[Guard]:
    """The guards that a harness's logs are known to have, as far as both logs have them."""
    profile = views["a"].profile or views["b"].profile
    if profile is None or wide:
        return []
    return [
        Guard(name, dict.fromkeys(SIDES, name), automatic=True, advisory=name in profile.advisory)
        for name in (*profile.guards, *profile.advisory)
        if name not in asked and all(view.has(name) for view in views.values())
    ]


def _label(
    comparison: Comparison, views: Mapping[SideName, View], roles: Mapping[SideName, Roles]
) -> Guard | None:
    """The label of both logs: the outcomes' own, else the one named for both, else a well-known name."""
    chosen = {side: roles[side].outcome.label or comparison.log(side).label for side in SIDES}
    if not all(chosen.values()):
        options = {side: candidates(views[side].columns, GUARD_LABELS) for side in SIDES}
        shared = [(a, b) for a in options["a"] for b in options["b"] if a.lower() == b.lower()]
        # Where one side's outcome names its label, only that name on the other side is surely the same thing.
        named = {column for column in chosen.values() if column}
        shared = [pair for pair in shared if not named or named & set(pair)]
        if len(shared) != 1:
            return None
        chosen = dict(zip(SIDES, shared[0], strict=True))
    columns = {
        side: views[side].require(
            column, f"--{OPTION_OF_SIDE[side]}-label" if "label" in comparison.log(side).own else "--label"
        )
        for side, column in chosen.items()
        if column
    }
    return Guard(columns["a"], columns, automatic=True)


def agree(guard: Guard, views: Mapping[SideName, View], declared: LabelType | None) -> Guard:
    """The guard with the kind in which its values compare. Typed kinds that differ are an error."""
    seen = [
        (where, column)
        for side in SIDES
        for where, column in views[side].typed(guard.columns[side])
    ]  # fmt: skip
    for where, column in seen:
        if column.kind == "other":
            raise UnusableType(
                f"the {guard.what} {guard.name!r}",
                where=where,
                type_name=column.type_name,
                advice=f"{guard.what}s are single values",
            )
    kinds: set[Kind] = {column.kind for _, column in seen}
    dtypes = [column.dtype for _, column in seen]
    if guard.automatic and declared == "number" and kinds <= NUMBERS | TEXTS and kinds != {"float"}:
        return replace(guard, kind="float")
    as_text = guard.automatic and declared == "text"
    if "bool" in kinds and (as_text or kinds == {"bool", "untyped"}):
        return replace(guard, kind="bool")
    if kinds <= TEXTS or as_text:
        return guard
    if kinds == {"int"} and all(isinstance(dtype, SMALL_INTS) for dtype in dtypes):
        return replace(guard, kind="int")
    if kinds <= {"int", "decimal"} and "decimal" in kinds:
        return replace(guard, kind="decimal")
    if kinds == {"float"}:
        return replace(guard, kind="float", dtype=narrowest(dtypes))
    if kinds <= NUMBERS | {"untyped"}:
        return replace(guard, kind="float")
    if len(kinds) == 1:
        return replace(guard, kind=next(iter(kinds)), dtype=finest(dtypes))
    raise conflict(guard, seen)


def conflict(guard: Guard, seen: Seen) -> TypeConflict:
    """The error for a guard whose types cannot be compared: the first two columns that clash."""
    first, *others = sorted(seen, key=lambda entry: entry[1].kind == "untyped")
    other = next(
        entry
        for entry in others
        if entry[1].kind != first[1].kind and not {entry[1].kind, first[1].kind} <= NUMBERS
    )
    advice = (
        "say --label-type text or --label-type number" if guard.automatic else "store one type in both logs"
    )
    return TypeConflict(
        f"the {guard.what} {guard.name!r} has different types",
        f"{first[1].type_name} in {first[0]}",
        f"{other[1].type_name} in {other[0]}",
        advice,
    )


def guard_notes(guards: Sequence[Guard]) -> list[str]:
    """What the user should know about guards nobody asked for."""
    automatic = [guard for guard in guards if guard.automatic and not guard.advisory]
    if not automatic:
        return []
    names = [" / ".join(dict.fromkeys(guard.columns[side] for side in SIDES)) for guard in automatic]
    if len(names) == 1:
        what = f"the label ({names[0]}) is in both logs and compared in every pair: where it differs"
    else:
        what = f"{' and '.join(names)} are in both logs and compared in every pair: where they differ"
    return [f"{what}, the evaluation set has changed (--mismatch says what then)"]
