"""Files with counts, as tables: CSV and JSON, told apart by their first character."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import polars as pl

from streamcmp.errors import DataError
from streamcmp.report.csv import unguarded
from streamcmp.tally import SLICE_PREFIX

Names = tuple[str, str]


class Said(NamedTuple):
    """What a report says beside its numbers: the models' names, and the families whose slices overlap."""

    names: Names | None = None
    overlapping: frozenset[str] = frozenset()


def parse(data: bytes, where: str) -> tuple[pl.DataFrame, Said]:
    """A table from JSON (records, lines of records, or a report) or CSV; and what else a report says.

    Raises DataError, naming `where`, for anything else.
    """
    if data.lstrip()[:1] in (b"[", b"{"):
        records, said = _records(data, where)
        return _from_records(records, where), said
    if b"\0" in data:
        raise DataError(f"{where} is neither CSV, JSON nor Parquet: it is no text")
    _check_header(data, where)
    try:
        # As text: what is a number is decided column by column below, so that 007 stays 007.
        frame = pl.read_csv(io.BytesIO(data), infer_schema=False)
    except pl.exceptions.PolarsError as problem:
        reason = _too_long_row(data) or first_line(problem)
        raise DataError(f"{where} cannot be read as CSV: {reason}") from None
    return unguarded(frame.with_columns(_typed(column) for column in frame.iter_columns())), Said()


def names_of(comparison: object) -> Names | None:
    """The models' names in the `comparison` of a report; None where it is none."""
    names = comparison.get("names") if isinstance(comparison, dict) else None
    found = (names.get("a"), names.get("b")) if isinstance(names, dict) else ()
    first, second = found or (None, None)
    return (
        (first, second) if first and second and isinstance(first, str) and isinstance(second, str) else None
    )


def overlapping_of(families: object) -> frozenset[str]:
    """The families of a report whose slices overlap."""
    known = families if isinstance(families, list) else []
    return frozenset(
        str(one.get("family")) for one in known if isinstance(one, dict) and one.get("overlapping") is True
    )


def _check_header(data: bytes, where: str) -> None:
    """Polars renames columns of one name, and knows no separator but the comma unless told."""
    try:
        names = next(_rows(data), [])
    except csv.Error as problem:
        raise DataError(f"{where} cannot be read as CSV: {problem}") from None
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{where}: the column {name!r} stands in the header twice")
    if len(names) == 1 and (other := next((sign for sign in ";\t|" if sign in names[0]), None)):
        raise DataError(f"{where}: its columns are separated by {other!r}; write them with commas")


def _rows(data: bytes) -> Iterator[list[str]]:
    """The rows that are not blank, the header first."""
    lines = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", "replace", newline="")
    return (row for row in csv.reader(lines) if row)


def _too_long_row(data: bytes) -> str | None:
    with suppress(csv.Error):
        rows = _rows(data)
        header = next(rows, [])
        for number, row in enumerate(rows, start=1):
            if len(row) > len(header):
                return f"row {number} has {len(row)} fields where the header has {len(header)}"
    return None


def _records(data: bytes, where: str) -> tuple[list[dict[str, Any]], Said]:
    try:
        try:
            whole = json.loads(data)
        except json.JSONDecodeError:
            whole = [json.loads(line) for line in data.splitlines() if line.strip()]
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{where} cannot be read as JSON: {problem}") from None
    said = Said()
    if isinstance(whole, dict):
        said = Said(names_of(whole.get("comparison")), overlapping_of(whole.get("families")))
        whole = whole.get("results", [whole])
    if not isinstance(whole, list) or not all(isinstance(record, dict) for record in whole):
        raise DataError(
            f'{where}: expected a list of records such as {{"domain": "law", "n_ab": 4, "n_ba": 14}}'
        )
    return [_flat(record) for record in whole], said


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """A report's result, whose slice is an object of its own, as one row."""
    values = record.get("slice")
    if not isinstance(values, dict):
        return record
    rest = {name: value for name, value in record.items() if name != "slice"}
    return rest | {SLICE_PREFIX + name: value for name, value in values.items()}


def _from_records(records: list[dict[str, Any]], where: str) -> pl.DataFrame:
    try:
        return pl.DataFrame(records, infer_schema_length=None, strict=True)
    except UnicodeEncodeError:
        raise DataError(f"{where}: a text holds half a character (\\ud800 to \\udfff)") from None
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as problem:
        raise DataError(f"{where}: a column holds values of different types: {first_line(problem)}") from None


def _typed(column: pl.Series) -> pl.Series:
    """A text column as whole numbers, where each of its values is written as a whole number is."""
    numbers = column.cast(pl.Int64, strict=False)
    return numbers if numbers.cast(pl.String).equals(column, null_equal=True) else column


def first_line(problem: Exception) -> str:
    """Without the hints that follow in Polars' messages, which are for programmers."""
    return str(problem).partition("\n")[0]
