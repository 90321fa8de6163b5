"""Counts from somewhere else: a plain table with n_ab and n_ba becomes a tally without rule or ledger.

By content, not by name: a tally file, a tally's rows without its header (what SQL engines write), or plain
counts.
"""

from __future__ import annotations

import json
from dataclasses import replace
from io import BytesIO
from os import PathLike, fspath
from typing import TYPE_CHECKING

import polars as pl

from streamcmp.addresses import shown as address_shown
from streamcmp.counts_file import first_line, names_of, overlapping_of, parse
from streamcmp.errors import DataError, UnknownColumn
from streamcmp.output import contents
from streamcmp.report.model import EXTRA_FIELDS, RESULT_FIELDS
from streamcmp.report.parquet import METADATA_PREFIX
from streamcmp.report.values import json_ready, shown
from streamcmp.statement_table import RULE, from_statement
from streamcmp.tally import (
    CELLS,
    COUNTERS,
    OVERALL,
    SLICE_PREFIX,
    Tally,
    named_columns,
    slice_columns,
    sorted_table,
)
from streamcmp.tally_file import from_rows, load
from streamcmp.whole_numbers import first_row, whole_numbers

if TYPE_CHECKING:
    from streamcmp.options import ArrowStream

_PARQUET = b"PAR1"
_AGREEMENT = ("both_correct", "both_wrong")
_TALLY_SHAPE = frozenset(("record", "side", "family"))
_ADVICE = "a table of counts has n_ab (lost) and n_ba (won); to compare logs, use streamcmp run"
# What tallies and reports say of a slice besides its values: never slice columns, so that a csv report reads
# back.
_FURTHER = (name for names in EXTRA_FIELDS.values() for name in names)
_NO_SLICES = frozenset((*RESULT_FIELDS, *_FURTHER, *COUNTERS, "family"))


def read(source: str | PathLike[str] | ArrowStream | pl.DataFrame) -> Tally:
    """The tally in a file or frame.

    A plain table has the columns n_ab and n_ba; both_correct and both_wrong, or n, or neither; perhaps
    `family`; and slice columns: those called `slice.<name>`, or, if there are none, all others. Without
    `family` the rows are one family. Where no row is of the family `overall`, it is the sum of the first
    family.

    Raises:
        UsageError: the file cannot be read or lacks n_ab or n_ba.
        DataError: a count is negative, fractional or missing, n is too small, or a slice occurs twice.
    """
    if not isinstance(source, str | PathLike):
        return from_frame(pl.DataFrame(source), "the table")
    data, where = contents(source), address_shown(fspath(source))
    if not data.strip():
        raise DataError(f"{where} is empty; it should hold a tally or a table of counts")
    if data.startswith(_PARQUET):
        return _from_parquet(data, source)
    frame, said = parse(data, where)
    return replace(from_frame(frame, where), names=said.names, marked=said.overlapping)


def _from_parquet(data: bytes, source: str | PathLike[str]) -> Tally:
    try:
        columns = pl.read_parquet_schema(BytesIO(data))
    except (pl.exceptions.PolarsError, OSError):
        columns = {}
    # What is damaged goes to the reader of tallies too: it says so.
    if not columns or (columns.keys() >= _TALLY_SHAPE and RULE not in columns):
        return load(source)
    tally = from_frame(pl.read_parquet(BytesIO(data)), address_shown(fspath(source)))
    try:
        said = pl.read_parquet_metadata(BytesIO(data))
        comparison, families = (
            json.loads(said.get(METADATA_PREFIX + part, "null")) for part in ("comparison", "families")
        )
    except ValueError:
        return tally
    return replace(tally, names=names_of(comparison), marked=overlapping_of(families))


def from_frame(frame: pl.DataFrame, where: str) -> Tally:
    """The tally in a table; see `read`. `where` is what messages call it."""
    if frozenset(frame.columns) >= _TALLY_SHAPE:
        try:
            return from_statement(frame, where) if RULE in frame.columns else from_rows(frame, where)
        except pl.exceptions.PolarsError as problem:
            raise DataError(
                f"{where} has the columns of a tally, but not its types: {first_line(problem)}"
            ) from None
    if not frame.height:
        raise DataError(f"{where} has no rows")
    for name in ("n_ab", "n_ba"):
        if name not in frame.columns:
            raise UnknownColumn(name, where=where, columns=frame.columns, advice=_ADVICE)
    table = pl.DataFrame([*_slice_values(frame), *_counters(frame, where).iter_columns()])
    families = _families(frame, table, where)
    for name, rows in families.items():
        _check_unique(name, rows, where)
    if OVERALL not in families:
        first = next(iter(families.values()))
        families = {OVERALL: _sum(first), **families}
    order = sorted(families, key=lambda name: name != OVERALL)
    return Tally({name: sorted_table(families[name]) for name in order}, ledger=None)


def _slice_values(frame: pl.DataFrame) -> list[pl.Series]:
    prefixed = slice_columns(frame)
    names = prefixed or [name for name in frame.columns if name not in _NO_SLICES]
    return [frame[name].alias(SLICE_PREFIX + name.removeprefix(SLICE_PREFIX)) for name in names]


def _families(frame: pl.DataFrame, table: pl.DataFrame, where: str) -> dict[str, pl.DataFrame]:
    """Family name -> its rows, with its own slice columns only."""
    if "family" not in frame.columns:
        columns = [name.removeprefix(SLICE_PREFIX) for name in slice_columns(table)]
        return {",".join(columns) or OVERALL: table}
    if frame["family"].dtype.is_nested():
        raise DataError(f"{where}: the column family is {frame['family'].dtype}; a family is a name")
    family = frame["family"].cast(pl.String)
    if family.null_count():
        raise DataError(f"{where}: row {first_row(family.is_null())} has no family")
    names = family.unique(maintain_order=True).to_list()
    return {name: _own_columns(name, table.filter(family == name)) for name in names}


def _own_columns(family: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Without the other families' slice columns. A family not called by its columns has those it fills."""
    named = [SLICE_PREFIX + name for name in named_columns(family)]
    keys = slice_columns(rows)
    own = (
        named if set(named) <= set(keys) else [name for name in keys if rows[name].null_count() < rows.height]
    )
    return rows.drop(name for name in keys if name not in own or family == OVERALL)


def _check_unique(family: str, rows: pl.DataFrame, where: str) -> None:
    keys = slice_columns(rows)
    if not keys and rows.height > 1:
        raise DataError(
            f"{where}: {rows.height:,} rows of the family {family}, and no column that tells them apart"
        )
    if keys and (repeated := rows.select(keys).filter(rows.select(keys).is_duplicated())).height:
        values = ", ".join(
            f"{name.removeprefix(SLICE_PREFIX)}={shown(json_ready(value))}"
            for name, value in repeated.row(0, named=True).items()
        )
        raise DataError(f"{where}: the slice {values} of the family {family} occurs more than once")


def _sum(rows: pl.DataFrame) -> pl.DataFrame:
    """One row: every counter's sum, null where a slice does not know it."""
    counters = [name for name in (*COUNTERS, "n") if name in rows.columns]
    return rows.select(
        pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name) for name in counters
    )


def _counters(frame: pl.DataFrame, where: str) -> pl.DataFrame:
    """Every counter as Int64, checked; and n, where the agreement cells are not all known."""

    def column(name: str, absent: int | None) -> pl.Series:
        if name not in frame.columns:
            return pl.Series(name, [absent], pl.Int64).new_from_index(0, frame.height)
        numbers = whole_numbers(frame[name], where)
        if absent is not None and numbers.null_count():
            raise DataError(f"{where}: row {first_row(numbers.is_null())}: {name} is missing")
        return numbers

    counts = pl.DataFrame(
        [column(name, None if name in _AGREEMENT else 0) for name in COUNTERS] + [column("n", None)]
    )
    _check_agreement(counts, where)
    cells = pl.sum_horizontal(CELLS, ignore_nulls=False)
    if not counts.select(*_AGREEMENT).null_count().sum_horizontal().item():
        return counts.drop("n")
    return counts.with_columns(n=pl.coalesce(cells, pl.col("n")))


def _check_agreement(counts: pl.DataFrame, where: str) -> None:
    """The cells and n must fit together, row by row."""
    lone = counts["both_correct"].is_null() != counts["both_wrong"].is_null()
    if lone.any():
        raise DataError(
            f"{where}: row {first_row(lone)} has only one of both_correct and both_wrong; "
            "give both, or n instead"
        )
    for problem, wrong in (
        ("n is smaller than n_ab + n_ba", pl.col("n") < pl.col("n_ab") + pl.col("n_ba")),
        ("n is not the sum of the four cells", pl.col("n") != pl.sum_horizontal(CELLS, ignore_nulls=False)),
    ):
        rows = counts.select(wrong.fill_null(value=False)).to_series()
        if rows.any():
            raise DataError(f"{where}: row {first_row(rows)}: {problem}; n counts all pairs")
