"""Where the values of a slice column come from: a column, an expression in SQL, or the label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl
from polars.exceptions import PolarsError

from streamcmp.errors import UsageError
from streamcmp.logs.values import Column
from streamcmp.logs.where import parse_rows, quoted


@dataclass(frozen=True, slots=True)
class Source:
    """What one side makes a slice column of: the raw columns, and the expression if it is not one of them."""

    roots: tuple[str, ...]
    name: str
    expression: str | None = None

    def column(self, columns: Mapping[str, Column], where: str) -> Column:
        """The values as a column of the types that `columns` have; `where` names the shard in errors.

        Where a file has shown no value of a root yet and the expression cannot be computed without its type,
        all is null.
        """
        if self.expression is None:
            return columns[self.roots[0]]
        given = [columns[name] for name in self.roots]
        expr = pl.sql_expr(quoted(self.expression))
        untyped = any(column.untyped for column in given)
        empty = pl.DataFrame(schema={column.name: column.dtype for column in given})
        try:
            dtype = empty.select(expr).to_series().dtype
        except PolarsError as error:
            if any(column.kind == "null" for column in given):
                return Column(self.name, pl.Null(), made=(given[0].expr, self.roots))
            first = str(error).splitlines()[0]
            hint = "; this file's columns are text: write CAST(column AS INT) or AS DOUBLE" if untyped else ""
            raise UsageError(f"--by {self.expression!r} does not fit {where}: {first}{hint}") from error
        if dtype == pl.Null:
            expr = given[0].expr
        return Column(self.name, dtype, untyped, made=(expr, self.roots))


def parse_expression(text: str) -> tuple[str, ...]:
    """The columns an expression names. Raises UsageError for what is no expression on single rows."""
    return parse_rows(text, "--by", "an expression", "makes slices")
