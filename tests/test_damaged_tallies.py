"""A tally file that was changed behind our back: an error names the file and what is wrong, and no number."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

import streamcmp
from streamcmp.errors import DataError, InternalError, StreamcmpError, UsageError
from streamcmp.tally import Tally
from streamcmp.tally_file import TALLY_VERSION

HEADER = b"streamcmp.tally"
LOG = pl.DataFrame({"id": [1, 2, 3], "domain": ["law", "law", "art"], "correct": [1, 0, 1]})


@pytest.fixture
def tally(tmp_path: Path) -> Path:
    path = tmp_path / "x.tally"
    other = LOG.with_columns(correct=pl.Series([1, 1, 0]))
    streamcmp.count(LOG, other, on="id", by="domain", correct="correct").save(path)
    return path


def _header(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    table = pq.read_table(path)
    fields = json.loads(table.schema.metadata[HEADER])
    change(fields)
    pq.write_table(table.replace_schema_metadata({HEADER: json.dumps(fields).encode()}), path)


HEADERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "no version": lambda fields: fields.pop("version"),
    "version is text": lambda fields: fields.update(version="one"),
    "no rule": lambda fields: fields.pop("rule"),
    "rule lacks a field": lambda fields: fields["rule"].pop("on"),
    "rule has one too many": lambda fields: fields["rule"].update(more=1),
    "rule is a number": lambda fields: fields.update(rule=3),
    "parts are a number": lambda fields: fields.update(parts=3),
    "inputs are a number": lambda fields: fields.update(inputs=3),
    "inputs that are not there": lambda fields: fields.update(parts=[[1, "0/1"]]),
    "shard is no shard": lambda fields: fields.update(parts=[[0, "x"]]),
    "shard beyond the last": lambda fields: fields.update(parts=[[0, "3/3"]]),
    "shard of none": lambda fields: fields.update(parts=[[0, "0/0"]]),
    "sketch is a number": lambda fields: fields.update(sketch=3),
    "sketch of nothing": lambda fields: fields["sketch"].update(of="nothing"),
    "sketch is no base64": lambda fields: fields["sketch"].update(hashes="?"),
    "sketch is cut": lambda fields: fields["sketch"].update(hashes=fields["sketch"]["hashes"][:8]),
    "sketch out of order": lambda fields: fields["sketch"].update(hashes=16 * "A" + 8 * "="),
    "overlap is text": lambda fields: fields.update(overlap="some"),
    "unknown wide type": lambda fields: fields.update(wide={"slice.domain": "Int256"}),
    "wide type of no column": lambda fields: fields.update(wide={"slice.x": "Int128"}),
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_damaged_header_is_named(tally: Path, case: str) -> None:
    _header(tally, HEADERS[case])
    with pytest.raises(DataError, match=r"x\.tally: the header of this tally is damaged.*; count again"):
        Tally.load(tally)


def test_a_header_that_is_no_json(tally: Path) -> None:
    table = pq.read_table(tally)
    for header in (b"{", b"[]", b"\xff"):
        pq.write_table(table.replace_schema_metadata({HEADER: header}), tally)
        with pytest.raises(DataError, match="the header of this tally is damaged"):
            Tally.load(tally)


def test_a_newer_tally_asks_for_an_upgrade(tally: Path) -> None:
    _header(tally, lambda fields: fields.update(version=TALLY_VERSION + 1))
    with pytest.raises(UsageError, match="newer streamcmp"):
        Tally.load(tally)


ROWS: dict[str, tuple[Callable[[pl.DataFrame], pl.DataFrame], str]] = {
    "negative": (lambda rows: rows.with_columns(n_ab=-1 - pl.col("n_ab")), "n_ab is -"),
    "fractions": (lambda rows: rows.with_columns(n_ab=pl.col("n_ab") + 0.5), "n_ab is 1.5"),
    "decimal fractions": (lambda rows: rows.with_columns(n_ab=pl.lit(Decimal("1.5"))), "n_ab is Decimal"),
    "text": (lambda rows: rows.with_columns(n_ab=pl.lit("many")), "n_ab is 'many'"),
    "truth values": (lambda rows: rows.with_columns(n_ab=pl.lit(value=True)), "n_ab is Boolean"),
    "lists": (lambda rows: rows.with_columns(n_ab=pl.concat_list("n_ab")), "n_ab is List"),
    "nothing": (lambda rows: rows.with_columns(n_ab=pl.lit(None, pl.Int64)), "n_ab is missing"),
    "nothing in the ledger": (
        lambda rows: rows.with_columns(rows=pl.lit(None, pl.Int64)),
        "rows is missing",
    ),
    "too many": (lambda rows: rows.with_columns(n_ab=pl.lit(2**59)), r"n_ab adds up to more than 2\^60"),
    "a column less": (lambda rows: rows.drop("unscored"), "it has no column unscored$"),
    "a slice column less": (lambda rows: rows.drop("slice.domain"), "has no column slice.domain"),
    "no families": (lambda rows: rows.with_columns(family=pl.lit(None, pl.String)), "family is missing"),
    "numbers for records": (lambda rows: rows.with_columns(record=pl.lit(3)), "the column record is Int32"),
    "odd records": (lambda rows: rows.with_columns(record=pl.lit("Count")), "record is 'Count'"),
    "no ledger": (lambda rows: rows.filter(record="count"), "one ledger row for side a; this one has 0"),
    "two overall": (lambda rows: pl.concat([rows, rows.filter(family="overall")]), "exactly one row"),
}


@pytest.mark.parametrize("headless", [False, True], ids=["with header", "without"])
@pytest.mark.parametrize("case", ROWS)
def test_damaged_rows_are_named(tally: Path, case: str, *, headless: bool) -> None:
    change, message = ROWS[case]
    table = pq.read_table(tally)
    metadata = {} if headless else table.schema.metadata
    changed = change(pl.DataFrame(table)).to_arrow()
    pq.write_table(changed.replace_schema_metadata(metadata), tally)
    with pytest.raises(StreamcmpError, match=rf"x\.tally.*{message}"):
        streamcmp.finalize(tally)


def test_bytes_in_the_middle(tally: Path) -> None:
    data = bytearray(tally.read_bytes())
    data[60:160] = bytes(100)
    tally.write_bytes(data)
    with pytest.raises(DataError, match=r"x\.tally"):
        Tally.load(tally)


def test_sums_that_do_not_fit_are_ours_to_answer_for_only_if_we_counted(tally: Path) -> None:
    table = pq.read_table(tally)
    more = pl.DataFrame(table).with_columns(paired=pl.col("paired") + 1).to_arrow()
    pq.write_table(more.replace_schema_metadata(table.schema.metadata), tally)
    with pytest.raises(InternalError, match="3 rows were read but 4 accounted for"):
        streamcmp.finalize(tally)
    pq.write_table(more.replace_schema_metadata({}), tally)
    with pytest.raises(DataError, match="the counts do not add up: side a: 3 rows were read but 4 accounted"):
        streamcmp.finalize(tally)
