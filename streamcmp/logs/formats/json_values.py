"""Python values of JSON to typed columns: exact, one type per batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any

import polars as pl

from streamcmp.errors import DataError
from streamcmp.json_text import AsText, marked
from streamcmp.logs.formats.json_lines import kind
from streamcmp.logs.formats.text import shorten
from streamcmp.logs.nested import DEEPEST

_INT64 = range(-(2**63), 2**63)
_INT128 = range(-(2**127), 2**127)
_EXACT_IN_FLOAT = 2**53
_NONE = type(None)

# Columns are held several times while they are compared; what identifies or tells of an example is short.
_LONGEST_TEXT = 16 << 20
# Beyond so many names objects are not looked into: their keys are data, not names of fields.
_MOST_NAMES = 5000

# Builds the error for a row of the block, counted from 0, and what is wrong with it.
At = Callable[[int, str], DataError]


def learn(schema: dict[str, pl.DataType], rows: Sequence[dict[str, Any]]) -> None:
    """Add what these rows show to a schema: every key, and every field of objects under its dotted name."""
    for key in dict.fromkeys(chain.from_iterable(rows)):
        schema[key] = dtype_of([row.get(key) for row in rows], schema.get(key))
    todo = [(key, [row.get(key) for row in rows], 0) for key in dict.fromkeys(chain.from_iterable(rows))]
    while todo:
        above, values, depth = todo.pop(0)
        objects = [value for value in values if isinstance(value, dict)]
        if not objects or depth == DEEPEST or len(schema) > _MOST_NAMES:
            continue
        for key in dict.fromkeys(chain.from_iterable(objects)):
            below, found = f"{above}.{key}", [each.get(key) for each in objects]
            if not any(below in row for row in rows):
                schema[below] = dtype_of(found, schema.get(below))
            todo.append((below, found, depth + 1))


def dtype_of(values: list[Any], before: pl.DataType | None) -> pl.DataType:
    """The type of a key with these values and the type `before` so far: that of the first not null.

    Integers take the width they need, and give way to floats. The elements of lists have one type likewise.
    """
    kinds = set(map(type, values)) - {_NONE}
    found = before or pl.Null()
    if kinds == {list} and isinstance(found, pl.Null | pl.List):
        inner = found.inner if isinstance(found, pl.List) else pl.Null()
        elements = list(chain.from_iterable(value for value in values if value is not None))
        return pl.List(dtype_of(elements, inner if isinstance(inner, pl.DataType) else inner()))
    if kinds == {int}:
        present = [value for value in values if value is not None]
        values = [present[0], min(present), max(present)]
    elif len(kinds) == 1:
        values = [next(value for value in values if value is not None)]
    for value in values:
        if found not in (pl.Null, pl.Int64, pl.Int128):
            break
        now = _dtype(value)
        if found == pl.Null or (now == pl.Int128 and found == pl.Int64) or now == pl.Float64:
            found = now
    return found


def _dtype(value: object) -> pl.DataType:
    if isinstance(value, int) and not isinstance(value, bool):
        return pl.Int64() if value in _INT64 else pl.Int128()
    if isinstance(value, dict):
        return pl.Struct([])
    types = {bool: pl.Boolean(), float: pl.Float64(), str: pl.String(), list: pl.List(pl.Null())}
    return types.get(type(value), pl.Null())


def columns_of(names: Sequence[str], columns: list[list[Any]], at: At) -> Iterator[pl.DataFrame]:
    """Frames of the columns, in row order: one, unless a column mixes types; then one per run of equal types.

    Columns named by an `AsText` hold objects and lists as JSON.

    Raises:
        DataError: built by `at` for a value that is an object, beyond 128 bits or invalid text, and for a
            list that holds such or values of several types.
    """
    height = len(columns[0])
    mixed = [values for values in columns if not _homogeneous(values)]
    cuts = [*(_run_starts(mixed, height) if mixed else [0]), height]
    for start, end in pairwise(cuts):
        # By name in a dict: in a list of series Polars renames one whose name is empty.
        yield pl.DataFrame(
            {
                name: _series(name, values if end - start == height else values[start:end], start, at)
                for name, values in zip(names, columns, strict=True)
            }
        )


def _homogeneous(values: list[Any]) -> bool:
    """Whether one column type holds all values exactly."""
    kinds = set(map(type, values)) - {_NONE}
    return len(kinds) <= 1 or (kinds == {int, float} and _fit_floats(values))


def _fit_floats(values: list[Any]) -> bool:
    return all(abs(value) < _EXACT_IN_FLOAT for value in values if type(value) is int)


def _run_starts(columns: list[list[Any]], height: int) -> Iterator[int]:
    """Where rows begin whose types differ from those of the rows before; null fits every type."""
    same: list[dict[type, type | None]] = [
        {_NONE: None, int: float if _fit_floats(values) else int} for values in columns
    ]
    current: list[type | None] = [None] * len(columns)
    yield 0
    for row in range(height):
        types = [type(values[row]) for values in columns]
        kinds = [as_one.get(each, each) for as_one, each in zip(same, types, strict=True)]
        if any(new and old and new is not old for new, old in zip(kinds, current, strict=True)):
            yield row
            current = kinds
        else:
            current = [new or old for new, old in zip(kinds, current, strict=True)]


def _series(name: str, values: list[Any], first: int, at: At) -> pl.Series:
    """One column. `first` is the row of its first value, for messages."""
    kinds = set(map(type, values)) - {_NONE}
    if not kinds:
        return pl.Series(name, values, dtype=pl.Null)
    if kinds == {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds == {str}:
        try:
            return _not_too_long(pl.Series(name, values, dtype=pl.String), first, at)
        except UnicodeEncodeError:
            row = next(index for index, value in enumerate(values) if value and not _encodes(value))
            text = values[row].encode(errors="replace").decode()
            raise at(first + row, f"has invalid Unicode in column {name!r}: {shorten(text)}") from None
    if kinds == {int}:
        try:
            return pl.Series(name, values, dtype=pl.Int64)
        except (OverflowError, TypeError):
            return _wide_integers(name, values, first, at)
    if kinds <= {int, float}:
        return pl.Series(name, values, dtype=pl.Float64, strict=False)
    if isinstance(name, AsText) and kinds & {dict, list}:
        return marked(name, values)
    if kinds == {list}:
        return _lists(name, values, first, at)
    row = next(index for index, value in enumerate(values) if isinstance(value, (dict, list)))
    raise at(first + row, f"holds {kind(values[row])} in column {name!r}; name a column of single values")


def _lists(name: str, values: list[Any], first: int, at: At) -> pl.Series:
    """A column of lists, whose elements are of one type."""
    elements = list(chain.from_iterable(value for value in values if value is not None))
    if elements and not _homogeneous(elements):
        row = next(index for index, value in enumerate(values) if value and not _homogeneous(value))
        raise at(first + row, f"holds a list of several types in column {name!r}")

    def of_element(index: int, what: str) -> DataError:
        for row, value in enumerate(values):
            index -= len(value or ())
            if index < 0:
                return at(first + row, what)
        raise IndexError(index)

    inner = _series(name, elements, 0, of_element).dtype
    return pl.Series(name, values, dtype=pl.List(inner), strict=False)


def _not_too_long(texts: pl.Series, first: int, at: At) -> pl.Series:
    lengths = texts.str.len_bytes()
    if (lengths > _LONGEST_TEXT).any():
        row, name = int(lengths.arg_max() or 0), texts.name
        raise at(
            first + row, f"has a text of {lengths[row] >> 20} MB in column {name!r}; name another column"
        )
    return texts


def _wide_integers(name: str, values: list[Any], first: int, at: At) -> pl.Series:
    for row, value in enumerate(values):
        if value is not None and value not in _INT128:
            raise at(first + row, f"has an integer beyond 128 bits in column {name!r}: {shorten(str(value))}")
    return pl.Series(name, values, dtype=pl.Int128)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
