"""Files with counts, as tables: CSV and JSON, told apart by their first character."""

from __future__ import annotations

import io
import json
from typing import Any

import polars as pl

from streamcmp.errors import DataError
from streamcmp.tally import SLICE_PREFIX


def parse(data: bytes, where: str) -> pl.DataFrame:
    """A table from JSON (records, lines of records, or a report) or CSV.

    Raises DataError, naming `where`, for anything else.
    """
    if data.lstrip()[:1] in (b"[", b"{"):
        return _from_records(_records(data, where), where)
    try:
        # As text: what is a number is decided column by column below, so that 007 stays 007.
        frame = pl.read_csv(io.BytesIO(data), infer_schema=False)
    except pl.exceptions.PolarsError as problem:
        raise DataError(f"{where} cannot be read as CSV: {first_line(problem)}") from None
    return frame.with_columns(_typed(column) for column in frame.iter_columns())


def _records(data: bytes, where: str) -> list[dict[str, Any]]:
    try:
        try:
            whole = json.loads(data)
        except json.JSONDecodeError:
            whole = [json.loads(line) for line in data.splitlines() if line.strip()]
    except (json.JSONDecodeError, UnicodeDecodeError) as problem:
        raise DataError(f"{where} cannot be read as JSON: {problem}") from None
    if isinstance(whole, dict):
        whole = whole.get("results", [whole])
    if not isinstance(whole, list) or not all(isinstance(record, dict) for record in whole):
        raise DataError(
            f'{where}: expected a list of records such as {{"domain": "law", "n_ab": 4, "n_ba": 14}}'
        )
    return [_flat(record) for record in whole]


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
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as problem:
        raise DataError(f"{where}: a column holds values of different types: {first_line(problem)}") from None


def _typed(column: pl.Series) -> pl.Series:
    """A text column as whole numbers, where each of its values is written as a whole number is."""
    numbers = column.cast(pl.Int64, strict=False)
    return numbers if numbers.cast(pl.String).equals(column, null_equal=True) else column


def first_line(problem: Exception) -> str:
    """Without the hints that follow in Polars' messages, which are for programmers."""
    return str(problem).partition("\n")[0]
