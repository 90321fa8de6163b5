"""Tables of counts from elsewhere: every kind of file, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from streamcmp.analysis import Analysis
from streamcmp.api import finalize
from streamcmp.counts_table import from_frame, read
from streamcmp.errors import StreamcmpError, UnknownColumn, UsageError
from streamcmp.report import RENDERERS
from streamcmp.results import finalize as finalize_tally
from streamcmp.tally import OVERALL

DOMAINS = pl.DataFrame(
    {"domain": ["law", "art"], "both_correct": [5, 7], "n_ab": [1, 2], "n_ba": [4, 0], "both_wrong": [3, 1]}
)
FULL = pl.DataFrame(
    {
        "family": ["overall", "domain", "domain", "level"],
        "slice.domain": [None, "law", "art", None],
        "slice.level": [None, None, None, 3],
        "n_ab": [3, 1, 2, 3],
        "n_ba": [4, 4, 0, 4],
        "n": [23, 13, 10, 23],
    }
)
OPENERS = {
    "csv": pl.DataFrame.write_csv,
    "parquet": pl.DataFrame.write_parquet,
    "json": pl.DataFrame.write_json,
    "ndjson": pl.DataFrame.write_ndjson,
}


def counts(table: pl.DataFrame) -> list[tuple[int, ...]]:
    return table.select("both_correct", "n_ab", "n_ba", "both_wrong").rows()


@pytest.mark.parametrize("form", OPENERS)
@pytest.mark.parametrize("frame", [DOMAINS, FULL], ids=["one family", "families"])
def test_every_kind_of_file_holds_the_same_tally_whatever_its_name(
    tmp_path: Path, frame: pl.DataFrame, form: str
) -> None:
    path = tmp_path / "counts.txt"
    OPENERS[form](frame, path)  # type: ignore[operator]
    assert read(path) == from_frame(frame, "frame")
    assert finalize(path).to_dict() == finalize(frame).to_dict()


def test_without_family_the_rows_are_one_family_and_overall_is_their_sum() -> None:
    tally = from_frame(DOMAINS, "x")
    assert list(tally.families) == ["overall", "domain"]
    assert counts(tally.families[OVERALL]) == [(12, 3, 4, 4)]
    assert tally.families["domain"]["slice.domain"].to_list() == ["art", "law"]
    assert tally.ledger is None
    assert tally.rule is None
    report = finalize(DOMAINS)
    assert report.overall["n"] == 23
    assert report.warnings[0].code == "no_ledger"


def test_all_other_columns_are_slices_unless_some_are_prefixed() -> None:
    extra = DOMAINS.with_columns(level=pl.lit(1))
    assert list(from_frame(extra, "x").families) == ["overall", "domain,level"]
    prefixed = extra.rename({"domain": "slice.domain"})
    assert list(from_frame(prefixed, "x").families) == ["overall", "domain"]


def test_counts_without_slices_are_overall() -> None:
    tally = from_frame(pl.DataFrame({"n_ab": [4], "n_ba": [14]}), "x")
    assert list(tally.families) == ["overall"]
    assert finalize_tally(tally, Analysis()).overall["p_exact"] == 0.0308837890625


def test_with_n_alone_cells_and_accuracies_are_null() -> None:
    tally = from_frame(FULL, "x")
    assert list(tally.families) == ["overall", "domain", "level"]
    assert tally.families["domain"]["n"].to_list() == [10, 13]
    overall = finalize(FULL).overall
    assert (overall["n"], overall["both_correct"], overall["accuracy_a"]) == (23, None, None)
    assert overall["gain"] == pytest.approx(1 / 23)


def test_without_n_there_is_no_gain() -> None:
    overall = finalize(FULL.drop("n")).overall
    assert (overall["n"], overall["gain"], overall["n_discordant"]) == (None, None, 7)


def test_without_overall_it_is_the_sum_of_the_first_family() -> None:
    tally = from_frame(FULL[1:], "x")
    assert list(tally.families) == ["overall", "domain", "level"]
    assert tally.families[OVERALL].select("n_ab", "n_ba", "n").rows() == [(3, 4, 23)]


def test_a_family_may_be_called_otherwise_than_its_columns() -> None:
    tally = from_frame(FULL.with_columns(pl.col("family").replace("domain", "by subject")), "x")
    assert tally.families["by subject"].columns[0] == "slice.domain"


def test_a_family_that_does_not_add_up_to_overall_is_refused() -> None:
    with pytest.raises(StreamcmpError, match="do not add up"):
        finalize(FULL.with_columns(n_ba=pl.Series([5, 4, 0, 4])))


def test_null_is_an_ordinary_slice_value() -> None:
    tally = from_frame(pl.DataFrame({"domain": ["law", None], "n_ab": [1, 2], "n_ba": [0, 0]}), "x")
    assert tally.families["domain"]["slice.domain"].to_list() == ["law", None]


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_a_report_reads_back(tmp_path: Path, form: str) -> None:
    report = finalize(DOMAINS, left_name="cnn")
    rendered = RENDERERS[form](report)
    path = tmp_path / "report"
    path.write_bytes(rendered.encode() if isinstance(rendered, str) else rendered)
    assert finalize(path, left_name="cnn").to_dict() == report.to_dict()
    # Its names come back too, where a format has a place for them.
    assert finalize(path).names == (("left", "right") if form == "csv" else ("cnn", "right"))
    assert finalize(path, left_name="lstm").names == ("lstm", "right")


def test_csv_slices_are_numbers_only_where_they_are_written_as_such(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("domain,level,n_ab,n_ba\n007,10,1,2\n8,9,3,4\n")
    table = read(path).families["domain,level"]
    assert table.rows()[0][:2] == ("007", 10)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_tally_without_its_header_is_read_as_a_tally(tmp_path: Path, form: str) -> None:
    from streamcmp.api import count

    log = pl.DataFrame({"id": [1, 2, 3], "domain": ["law", "art", "art"], "correct": [1, 0, 1]})
    tally = count(log, log, by=["domain"])
    tally.save(tmp_path / "x.tally")
    rows = pl.read_parquet(tmp_path / "x.tally")
    bare = tmp_path / "bare"
    OPENERS[form](rows, bare)  # type: ignore[operator]
    assert read(bare).rule is None
    assert read(bare).ledger == tally.ledger
    assert finalize(bare).to_dict()["results"] == finalize(tally).to_dict()["results"]


BROKEN: dict[str, tuple[Any, str]] = {
    "negative": ({"n_ab": [-1], "n_ba": [2]}, "row 1: n_ab is -1"),
    "fractional": ({"n_ab": [1.5], "n_ba": [2]}, "row 1: n_ab is 1.5"),
    "text": ({"n_ab": ["x"], "n_ba": [2]}, "n_ab is 'x'"),
    "missing": ({"n_ab": [1, None], "n_ba": [2, 2], "d": [1, 2]}, "row 2: n_ab is missing"),
    "n too small": ({"n_ab": [3], "n_ba": [4], "n": [6]}, "row 1: n is smaller"),
    "n is not the sum": (
        {"n_ab": [3], "n_ba": [4], "both_correct": [1], "both_wrong": [1], "n": [10]},
        "not the sum of the four",
    ),
    "one cell": ({"n_ab": [3], "n_ba": [4], "both_correct": [1]}, "only one of both_correct and both_wrong"),
    "a slice twice": ({"n_ab": [3, 1], "n_ba": [4, 1], "d": ["x", "x"]}, "slice d=x .* more than once"),
    "no slices": ({"n_ab": [3, 1], "n_ba": [4, 1]}, "no column that tells them apart"),
    "no family": ({"n_ab": [3], "n_ba": [4], "family": [None]}, "row 1 has no family"),
    "no rows": ({"n_ab": [], "n_ba": []}, "has no rows"),
    "too large": ({"n_ab": [2**63], "n_ba": [1]}, "n_ab is 9223372036854775808"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_impossible_counts_are_refused_with_their_row(case: str) -> None:
    columns, message = BROKEN[case]
    with pytest.raises(StreamcmpError, match=message):
        finalize(pl.DataFrame(columns))


def test_integral_floats_are_counts() -> None:
    assert finalize(pl.DataFrame({"n_ab": [4.0], "n_ba": [14.0]})).overall["n_ba"] == 14


def test_a_column_that_is_missing_is_named_with_its_nearest() -> None:
    with pytest.raises(UnknownColumn, match=r"'n_ab'.*did you mean 'n_a'"):
        finalize(pl.DataFrame({"n_a": [1], "n_ba": [2]}))


FILES = {
    "not there": (None, "cannot read"),
    "empty": (b"  \n", "is empty"),
    "json of something else": (b'{"a": 1}', "has no column 'n_ab'"),
    "json of numbers": (b"[1, 2]", "expected a list of records"),
    "broken json": (b'{"a": ', "cannot be read as JSON"),
    "mixed json": (b'[{"n_ab": 1, "n_ba": "x"}, {"n_ab": 1, "n_ba": 2}]', "n_ba is 'x'"),
    "ragged csv": (b"n_ab,n_ba\n1,2\n1,2,3\n", "cannot be read as CSV"),
    "truncated parquet": (b"PAR1 and no more", "not a tally file"),
    "a longer row": (b"n_ab,n_ba\n1,2\n1,2,3\n", "row 2 has 3 fields where the header has 2"),
    "an open quote": (b'n_ab,n_ba\n"1,2\n', "cannot be read as CSV"),
    "an open quote in the header": (b'"n_ab,n_ba\n' + b"1,2\n" * 50_000, "cannot be read as CSV"),
    "a column twice": (b"n_ab,n_ba,n_ab\n1,2,3\n", "'n_ab' stands in the header twice"),
    "semicolons": (b"n_ab;n_ba\n1;2\n", "separated by ';'; write them with commas"),
    "no text": (b"\xff\xfe\x00\x01", "it is no text"),
    "a log": (b"id,correct\n1,1\n", "to compare logs, use streamcmp run"),
    "no records": (b"[]", "no rows"),
    "half a character": (b'{"n_ab": 1, "n_ba": 2, "domain": "\\ud800"}', "half a character"),
    "deep json": (b"[" * 100_000, "cannot be read as JSON"),
    "truth values": (b'{"n_ab": true, "n_ba": 2}', "n_ab is Boolean"),
    "lists": (b'{"n_ab": [1], "n_ba": 2}', "n_ab is List"),
    "families of lists": (b'{"n_ab": 1, "n_ba": 2, "family": ["a"]}', "a family is a name"),
    "more than 64 bits": (b"n_ab,n_ba\n9223372036854775807,2\n", "adds up to more than 2.60"),
    "a slice twice": (b"domain,n_ab,n_ba\n,1,2\n,1,2\n", r"domain=\(null\) of the family domain occurs more"),
    "header only": (b"n_ab,n_ba\n", "no rows"),
}


@pytest.mark.parametrize("case", FILES)
def test_files_that_hold_no_counts(tmp_path: Path, case: str) -> None:
    data, message = FILES[case]
    path = tmp_path / "counts"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(StreamcmpError, match=message) as caught:
        finalize(path)
    assert str(path) in str(caught.value)


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        finalize(tmp_path)


def test_json_report_records_are_flattened(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    path.write_text(json.dumps([{"family": "domain", "slice": {"domain": "law"}, "n_ab": 1, "n_ba": 2}]))
    assert read(path).families["domain"]["slice.domain"].to_list() == ["law"]
