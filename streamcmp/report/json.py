"""A report as JSON, the contract: fixed order of keys, floats that read back exactly, one result per line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import polars as pl
from polars import selectors

from streamcmp.ahead import ahead
from streamcmp.errors import InternalError
from streamcmp.report.model import PIECE_ROWS, Family, Report, slice_dicts
from streamcmp.report.values import native_json_values
from streamcmp.tally import SLICE_PREFIX


def render(report: Report) -> str:
    """The report as JSON text, ending in a newline. `json.loads` of it equals `report.to_dict()`.

    Every value that does not exist is null; there is no NaN and no infinity. Whole numbers are exact at any
    size.
    """
    return "".join(pieces(report))


def pieces(report: Report) -> Iterator[str]:
    """The text of `render`, piece by piece: as text, a million slices take 0.7 GB."""
    before = "{\n"
    for key, value in report.frame_dict().items():
        yield f"{before}{_text(key)}: "
        before = ",\n"
        # A line per result, family and warning: readable, and a diff shows which slice changed.
        if key == "results":
            yield from _block(_results(report))
        elif key in ("families", "warnings"):
            yield from _block(map(_text, value))
        else:
            yield _text(value)
    yield "\n}\n"


def _block(lines: Iterable[str]) -> Iterator[str]:
    before = "[\n  "
    for line in lines:
        yield before + line
        before = ",\n  "
    yield "\n]" if before.startswith(",") else "[]"


def _results(report: Report) -> Iterator[str]:
    """The results as text of many lines at a time."""
    threads = os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        for family, rows in report.by_family():
            parts = rows.iter_slices(PIECE_ROWS)
            yield from ahead(pool, partial(_lines, report, family), parts, threads + 1)


def _lines(report: Report, family: Family, part: pl.DataFrame) -> str:
    fields = part.select(report.fields)
    if not all(fields.select(selectors.float().is_finite().all()).row(0)):
        raise InternalError("a result is not a finite number")
    return _native(family, part, fields) or _by_value(family, part, fields)


def _native(family: Family, part: pl.DataFrame, fields: pl.DataFrame) -> str | None:
    """The lines as Polars writes them, ten times as fast; None where a slice needs more than it knows."""
    found = [native_json_values(part[SLICE_PREFIX + column]) for column in family.columns]
    values = [column for column in found if column is not None]
    if not values or len(values) < len(found):
        return None
    cut = pl.DataFrame([column.alias(name) for name, column in zip(family.columns, values, strict=True)])
    text = fields.select(
        pl.lit(family.family).alias("family"), cut.to_struct("slice"), pl.all()
    ).write_ndjson()  # fmt: skip
    return text.removesuffix("\n").replace("\n", ",\n  ")  # within a text a newline is \n


def _by_value(family: Family, part: pl.DataFrame, fields: pl.DataFrame) -> str:
    rows = zip(slice_dicts(family, part), fields.iter_rows(named=True), strict=True)
    return ",\n  ".join(_text({"family": family.family, "slice": cut, **row}) for cut, row in rows)


# One encoder for all results: json.dumps makes a new one for every call.
_text = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode
