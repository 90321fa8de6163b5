"""A report's results as CSV. The ledger and the warnings are for stderr, and in the other formats."""

from __future__ import annotations

from collections.abc import Iterator

from streamcmp.report.model import PIECE_ROWS, Report
from streamcmp.report.values import plain_slices


def render(report: Report) -> str:
    """The results as CSV: family, the `slice.` columns of all families, then the result fields.

    What does not exist is an empty field, an empty text is "". A slice column that is not the family's own is
    empty too: the family's name tells which columns are. Slice values are data: they are quoted, not altered.
    """
    return "".join(pieces(report))


def pieces(report: Report) -> Iterator[str]:
    """The text of `render`, piece by piece."""
    for number, part in enumerate(report.results.iter_slices(PIECE_ROWS)):
        yield plain_slices(part).write_csv(include_header=number == 0)
