"""`--where`: which rows count. Polars SQL, one truth value per row, on each side that has the columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl
from polars.exceptions import PolarsError

from streamcmp.comparison import SIDES, SideName
from streamcmp.errors import UsageError
from streamcmp.logs.view import View, refuse_unknown

# Nodes of a serialised expression that look at several rows: their value would depend on how a log is split.
MANY_ROWS = (
    '"Agg"', '"Over"', '"Rank"', '"Len"', '"Shift"', '"SubPlan"', '"Quantile"', '"Correlation"', '"Explode"',
)  # fmt: skip
# A text or a quoted name, left alone; or a dotted name, as of a field: `metadata.task`.
_DOTTED = re.compile(
    r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`)|\b([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)\b(?!\s*\()"""
)


@dataclass(frozen=True, slots=True)
class Where:
    """A parsed condition and the sides it applies to."""

    text: str
    roots: tuple[str, ...]
    sides: frozenset[SideName]

    def excluded(self, columns: Mapping[str, pl.DataType], *, where: str, untyped: bool) -> pl.Expr:
        """Whether a row is filtered out: the condition is false or null. An empty frame tries the types."""
        condition = pl.sql_expr(quoted(self.text))
        empty = pl.DataFrame(schema={name: columns[name] for name in self.roots})
        try:
            dtype = empty.select(condition).to_series().dtype
        except PolarsError as error:
            first = str(error).splitlines()[0]
            hint = "; this file's columns are text: write CAST(column AS INT) or AS DOUBLE" if untyped else ""
            raise UsageError(f"--where {self.text!r} does not fit {where}: {first}{hint}") from error
        if dtype == pl.Null:
            return pl.lit(value=True)
        if dtype != pl.Boolean:
            raise UsageError(f"--where {self.text!r} must be true or false per row; in {where} it is {dtype}")
        return condition.not_().fill_null(value=True)


def quoted(text: str) -> str:
    """The condition with dotted names in quotes: SQL would take them for columns of a table."""
    return _DOTTED.sub(lambda match: match[1] or f'"{match[2]}"', text)


def parse_where(text: str) -> tuple[str, ...]:
    """The columns a condition names. Raises UsageError for what is no condition on single rows."""
    return parse_rows(text, "--where", "a condition", "filters a log")


def parse_rows(text: str, option: str, what: str, purpose: str) -> tuple[str, ...]:
    """The columns that SQL on single rows names. Raises UsageError, in these words, for anything else."""
    try:
        expr = pl.sql_expr(quoted(text))
        roots = tuple(dict.fromkeys(expr.meta.root_names()))
        tree = expr.meta.serialize(format="json")
    except PolarsError as error:
        first = str(error).splitlines()[0]
        raise UsageError(f"{option} {text!r} is not {what} in SQL: {first}{_hint(first)}") from error
    if any(node in tree for node in MANY_ROWS):
        raise UsageError(f"{option} {text!r} looks at several rows; only {what} on single rows {purpose}")
    if not roots:
        raise UsageError(f"{option} {text!r} names no column")
    return roots


def _hint(problem: str) -> str:
    """Some columns are called as SQL's own words are."""
    word = re.match(r"unsupported function '(\w+)'", problem)
    return f'; if {word[1]} is a column, put it in double quotes: "{word[1]}"' if word else ""


def resolve_where(text: str | None, views: Mapping[SideName, View]) -> Where | None:
    """The condition and the sides that carry all its columns; UnknownColumn if neither does."""
    if text is None:
        return None
    roots = parse_where(text)
    sides = frozenset(side for side in SIDES if all(views[side].has(name) for name in roots))
    if not sides:
        for name in roots:
            if not any(views[side].has(name) for side in SIDES):
                refuse_unknown(
                    name, views, "--where", f"if it is a text, write it in single quotes: '{name}'"
                )
        raise UsageError(f"--where {text!r}: no log has all of the columns {', '.join(roots)}")
    return Where(text, roots, sides)
