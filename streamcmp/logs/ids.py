"""Ids: one canonical form for both sides, so that equal ids are equal values and never an accident of types.

The form is decided from the types of every shard of both sides: a 64-bit integer where all ids are integers
that fit, else text (wider integers as their decimal digits, which compare exactly). Compound ids are the
canonical texts of their components, joined so that different tuples never give one text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from streamcmp.comparison import IdType
from streamcmp.errors import ChangedType, TypeConflict, UnusableType
from streamcmp.logs.id_edit import IdEdit
from streamcmp.logs.values import (
    IN_WORDS,
    NUMBERS,
    PLAIN,
    SMALL_INTS,
    TEXTS,
    UNSIGNED,
    Check,
    Column,
    Kind,
    declared_text,
    everywhere,
    finest,
    integral,
    missing,
    plain_text,
)

SEPARATOR, ESCAPE = "\x1f", "\x1e"
Seen = Sequence[tuple[str, Column]]  # (shard label, column) of every shard that takes part
DECLARE = "say --id-type text to compare them as text, or --id-type int to compare them as integers"
DECLARE_TEXT = "say --id-type text to compare them as text"


@dataclass(frozen=True, slots=True)
class Component:
    """How one id column is read. `dtype` is the canonical type: Int64, UInt64 or String."""

    kind: Kind
    dtype: pl.DataType
    declared: IdType | None = None
    stamp: pl.DataType | None = None
    edit: IdEdit | None = None

    def read(self, column: Column, where: str) -> tuple[pl.Expr, list[Check]]:
        """The canonical value of a column, null where the id is missing, and what no row may hold.

        Raises ChangedType where the column (of a later batch) is not of the kind that was decided on.
        """
        if column.kind == "null":
            return everywhere(column, None, self.dtype), []
        if not self._admits(column.kind):
            advice = DECLARE if {column.kind, self.kind} <= NUMBERS | TEXTS else DECLARE_TEXT
            raise ChangedType(
                column.name,
                where=where,
                type_name=column.type_name,
                expected=IN_WORDS[self.kind],
                advice=advice,
            )
        if self.kind == "int":
            return self._integer(column)
        if column.kind in {"float", "decimal"}:  # --id-type text
            digits = column.expr.cast(pl.Int128, strict=False).cast(pl.String)
            return self._nullable(column, digits), [_whole(column)]
        text = (declared_text if self.declared == "text" else plain_text)(column, self.stamp)
        return self._edited(column, text), []

    def _edited(self, column: Column, text: pl.Expr) -> pl.Expr:
        return text if self.edit is None or column.kind not in TEXTS else self.edit.apply(text)

    def _admits(self, kind: Kind) -> bool:
        if self.declared == "text":
            return kind != "other"
        if self.declared == "int":
            return kind in NUMBERS | TEXTS
        if self.kind == "int":
            return kind in NUMBERS or kind == "untyped"
        return kind in TEXTS if self.kind == "text" else kind == self.kind

    def _integer(self, column: Column) -> tuple[pl.Expr, list[Check]]:
        if column.kind in {"float", "decimal"}:
            value = column.expr.cast(pl.Int128, strict=False)
            # NaN is a missing id; any other value that is not whole is an error.
            return self._nullable(column, self._carry(value)), [_whole(column), self._fits(column)]
        if column.kind == "int":
            carried = self._carry(column.expr)
            return carried, [] if self._holds(column) else [self._fits(column)]
        text = self._edited(column, column.expr.cast(pl.String))
        if self.declared == "int":
            number = text.str.strip_chars().str.replace(r"\.0*$", "").cast(pl.Int128, strict=False)
            problem = f"this id is not an integer, as --id-type int demands; {DECLARE_TEXT}"
            return self._carry(number), [
                Check(number.is_null() & text.is_not_null(), (column.name,), problem)
            ]
        carried = self._carry(text.cast(pl.Int128 if self.dtype == pl.String else self.dtype, strict=False))
        problem = (
            "this text does not survive a round trip through the integer type that this id has elsewhere; "
            "say --id-type text to compare as text, or --id-type int to read 007 as 7"
        )
        bad = carried.cast(pl.String).ne_missing(text) & text.is_not_null()
        return carried, [Check(bad, (column.name,), problem)]

    def _carry(self, value: pl.Expr) -> pl.Expr:
        return value.cast(self.dtype, strict=False)

    def _holds(self, column: Column) -> bool:
        """Whether every value of the column's type fits the canonical type."""
        if self.dtype == pl.String:
            return True
        return isinstance(column.dtype, SMALL_INTS if self.dtype == pl.Int64 else UNSIGNED)

    def _fits(self, column: Column) -> Check:
        value = column.expr.cast(pl.Int128, strict=False)
        bad = self._carry(value).is_null() & ~missing(column)
        return Check(bad, (column.name,), f"this id does not fit {self.dtype}; {DECLARE_TEXT}")

    @staticmethod
    def _nullable(column: Column, value: pl.Expr) -> pl.Expr:
        return pl.when(missing(column)).then(None).otherwise(value)


@dataclass(frozen=True, slots=True)
class IdRule:
    """How both sides' ids are read and shown. `names` are side a's."""

    names: tuple[str, ...]
    components: tuple[Component, ...]

    @property
    def id_type(self) -> str:
        """What the rule of a tally records: `int`, `text`, or one such word per component."""
        edit = self.components[0].edit
        kinds = ",".join(component.kind for component in self.components)
        return kinds if edit is None else f"{kinds} ({edit.describe()})"

    @property
    def dtype(self) -> pl.DataType:
        """The type of canonical ids."""
        return self.components[0].dtype if len(self.components) == 1 else pl.String()

    def read(self, columns: Sequence[Column], *, where: str) -> tuple[pl.Expr, list[Check]]:
        """The canonical id and its checks, from the id columns of one shard or batch, which `where` names."""
        parts = [
            component.read(column, where) for component, column in zip(self.components, columns, strict=True)
        ]
        checks = [check for _, found in parts for check in found]
        if len(parts) == 1:
            return parts[0][0], checks
        texts = [
            _escaped(value) if component.kind == "text" else value.cast(pl.String)
            for component, (value, _) in zip(self.components, parts, strict=True)
        ]
        return pl.concat_str(texts, separator=SEPARATOR, ignore_nulls=False), checks

    def show(self, canonical: Any) -> str:
        """An id as a person writes it: `foo`, or `(task=gsm8k, doc_id=3)`."""
        if canonical is None or len(self.components) == 1:
            return "(null)" if canonical is None else str(canonical)
        parts = [
            part.replace(ESCAPE + "1", SEPARATOR).replace(ESCAPE + "0", ESCAPE)
            for part in str(canonical).split(SEPARATOR)
        ]
        return f"({', '.join(f'{name}={part}' for name, part in zip(self.names, parts, strict=True))})"


def decide_ids(
    names: tuple[str, ...], seen: Sequence[Seen], declared: IdType | None, edit: IdEdit | None = None
) -> IdRule:
    """The id rule; `seen` has per component the columns of all shards of both sides (and the truth file)."""
    single = len(names) == 1
    components = (decide_component(part, declared, single=single) for part in seen)
    return IdRule(names, tuple(replace(component, edit=edit) for component in components))


def decide_component(seen: Seen, declared: IdType | None, *, single: bool = True) -> Component:
    """How one component is read. Raises TypeConflict naming both columns, types and --id-type."""
    for where, column in seen:
        if column.kind == "other":
            raise UnusableType(
                f"the id column {column.name!r}",
                where=where,
                type_name=column.type_name,
                advice="ids are single values",
            )
    if declared == "text":
        return Component("text", pl.String(), declared, finest(column.dtype for _, column in seen))
    if declared == "int":
        for where, column in seen:
            if column.kind not in NUMBERS | TEXTS:
                raise UnusableType(
                    f"the id column {column.name!r}",
                    where=where,
                    type_name=column.type_name,
                    advice=f"--id-type int reads numbers and text; {DECLARE_TEXT}",
                )
        spelled = any(column.kind in TEXTS for _, column in seen)
        return Component("int", pl.String() if spelled else _integer_type(seen), declared)
    typed = [(where, column) for where, column in seen if column.kind not in {"null", "untyped"}]
    if not typed:
        return Component("text", pl.String())
    _agree([*typed, *((where, column) for where, column in seen if column.kind == "untyped")], single=single)
    kind = typed[0][1].kind
    if kind in NUMBERS:
        return Component("int", _integer_type(typed))
    return Component(kind, pl.String(), None, finest(column.dtype for _, column in typed))


def _agree(seen: Seen, *, single: bool) -> None:
    """Raise TypeConflict unless all columns hold one kind; untyped text agrees with text and with numbers."""
    where, first = seen[0]
    for other_where, other in seen[1:]:
        same = first.kind == other.kind or {first.kind, other.kind} <= NUMBERS
        adaptable = other.kind == "untyped" and first.kind not in PLAIN
        if not (same or adaptable):
            integers = {first.kind, other.kind} <= NUMBERS | TEXTS and single
            raise TypeConflict(
                "the ids have different types",
                f"column {first.name!r} of {where} is {first.type_name}",
                f"column {other.name!r} of {other_where} is {other.type_name}",
                DECLARE if integers else DECLARE_TEXT,
            )


def _integer_type(seen: Seen) -> pl.DataType:
    """Int64 or UInt64 where every type fits, else String: decimal digits are exact at any width."""
    integers = [column.dtype for _, column in seen if column.kind == "int"]
    if all(isinstance(dtype, SMALL_INTS) for dtype in integers):
        return pl.Int64()
    if len(integers) == len(seen) and all(isinstance(dtype, UNSIGNED) for dtype in integers):
        return pl.UInt64()
    return pl.String()


def _whole(column: Column) -> Check:
    bad = ~missing(column) & integral(column).not_().fill_null(value=True)
    problem = "this id is not a whole number that its type holds exactly; store ids as integers or text"
    return Check(bad, (column.name,), problem)


def _escaped(text: pl.Expr) -> pl.Expr:
    return text.str.replace_all(ESCAPE, ESCAPE + "0", literal=True).str.replace_all(
        SEPARATOR, ESCAPE + "1", literal=True
    )
