"""Counts from outside: a column becomes whole numbers, or an error names the row that is none."""

from __future__ import annotations

import polars as pl

from streamcmp.errors import DataError

# Four cells, each summed over all slices, add up within 64 bits.
_LIMIT = 2**60
_IS = "a count is a whole number from 0 on"


def whole_numbers(column: pl.Series, where: str) -> pl.Series:
    """`column` as Int64, null where it is null.

    Raises DataError, naming `where` and the first such row, for what is no whole number from 0 on, and where
    the sum is beyond 2^60.
    """
    if not (column.dtype.is_numeric() or isinstance(column.dtype, pl.String | pl.Null)):
        raise DataError(f"{where}: {column.name} is {column.dtype}; {_IS}")
    numbers = column.cast(pl.Int64, strict=False)
    # A fraction is cut off by the cast, and text or a number too large becomes null: neither is a count.
    changed = (numbers.is_null() & column.is_not_null()) | (numbers < 0).fill_null(value=False)
    if column.dtype.is_float() or column.dtype.is_decimal():
        changed |= (numbers.cast(column.dtype, strict=False) != column).fill_null(value=False)
    if changed.any():
        row = first_row(changed)
        raise DataError(f"{where}: row {row}: {column.name} is {column[row - 1]!r}; {_IS}")
    if numbers.cast(pl.Float64).sum() >= _LIMIT:
        raise DataError(f"{where}: {column.name} adds up to more than 2^60, which no log holds")
    return numbers


def first_row(rows: pl.Series) -> int:
    """The number of the first row that is True, from 1 on, as people count."""
    return int(rows.arg_true()[0]) + 1
