"""Fields inside objects: `metadata.task` names the field `task` of the column `metadata`.

A column whose own name is `metadata.task` goes before the field. Within an object a key may itself hold dots:
of all ways to read a name the one with the longest key first counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

DEEPEST = 8  # levels of objects that are looked into for names


def readings(path: str) -> Iterator[tuple[str, str]]:
    """(key, rest) of each way to read a dotted path, the longest key first; the rest is "" for the whole."""
    yield path, ""
    dot = path.rfind(".")
    while dot > 0:
        yield path[:dot], path[dot + 1 :]
        dot = path.rfind(".", 0, dot)


def walk(value: object, path: str) -> Any:
    """The field of an object that a path names; None where there is none."""
    if not isinstance(value, dict):
        return None
    for key, rest in readings(path):
        found = value.get(key)
        if found is not None and rest:
            found = walk(found, rest)
        if found is not None:
            return found
    return None


def fields(name: str, dtype: pl.DataType, expr: pl.Expr) -> Iterator[tuple[str, pl.DataType, pl.Expr]]:
    """Every field below a struct column, at any depth: its dotted name, its type, how to get it."""
    todo = [(name, dtype, expr, 0)]
    while todo:
        above, kind, outer, depth = todo.pop(0)
        if not isinstance(kind, pl.Struct) or depth == DEEPEST:
            continue
        for field in kind.fields:
            if field.name.startswith("^") or field.name == "*":  # to `struct.field` these are patterns
                continue
            below = f"{above}.{field.name}"
            inner = outer.struct.field(field.name)
            child = field.dtype if isinstance(field.dtype, pl.DataType) else field.dtype()
            yield below, child, inner.alias(below)
            todo.append((below, child, inner, depth + 1))


def expanded(schema: Mapping[str, pl.DataType]) -> dict[str, tuple[pl.DataType, pl.Expr]]:
    """The fields of all struct columns, but for those hidden by a column of their name."""
    found: dict[str, tuple[pl.DataType, pl.Expr]] = {}
    for name, dtype in schema.items():
        if isinstance(dtype, pl.Struct):
            for below, child, expr in fields(name, dtype, pl.selectors.by_name(name).as_expr()):
                if below not in schema:
                    found.setdefault(below, (child, expr))
    return found
