"""A report's results as CSV. The ledger and the warnings are for stderr, and in the other formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl
from polars import selectors

from streamcmp.report.model import PIECE_ROWS, RESULT_FIELDS, Report
from streamcmp.report.values import plain_slices
from streamcmp.tally import SLICE_PREFIX

# What makes a spreadsheet take a text for a formula, in the widths that East Asian ones know, and the mark
# itself, so that taking one off always gives the text back.
_FORMULA: Final = r"^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20']"
_MARK: Final = "'"


def render(report: Report) -> str:
    """The results as CSV: family, the `slice.` columns of all families, then the result fields.

    What does not exist is an empty field, an empty text is "". A slice column that is not the family's own is
    empty too: the family's name tells which columns are. A text that a spreadsheet would take for a formula
    has one `'` in front, and so has one that begins with `'`: see `unguarded`.
    """
    return "".join(pieces(report))


def pieces(report: Report) -> Iterator[str]:
    """The text of `render`, piece by piece."""
    for number, part in enumerate(report.results.iter_slices(PIECE_ROWS)):
        yield plain_slices(part).with_columns(_guarded()).write_csv(include_header=number == 0)


def unguarded(table: pl.DataFrame) -> pl.DataFrame:
    """A table read from CSV, with the texts that `render` was given if it is a report; else as it is."""
    if not {"family", *RESULT_FIELDS} <= set(table.columns):
        return table
    return table.with_columns(_texts().str.strip_prefix(_MARK))


def _guarded() -> pl.Expr:
    texts = _texts()
    return pl.when(texts.str.contains(_FORMULA)).then(_MARK + texts).otherwise(texts).name.keep()


def _texts() -> pl.Expr:
    return (selectors.starts_with(SLICE_PREFIX) | selectors.by_name("family")) & selectors.string()
