from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from streamcmp.errors import (
    BadValue,
    ChangedType,
    StreamcmpError,
    TypeConflict,
    UnknownColumn,
    UnusableType,
    UsageError,
)
from streamcmp.logs.dictionary import Dictionary, Span
from streamcmp.logs.model import CanonicalLog, LogPair
from streamcmp.logs.slices import SliceColumn
from tests.logs.opened import opened, read


def log(dtypes: Any = None, **columns: Any) -> pl.DataFrame:
    """A log with these slice columns."""
    height = len(next(iter(columns.values())))
    frame = pl.DataFrame(columns, schema_overrides=dtypes, strict=False)
    return frame.with_columns(id=pl.int_range(height), correct=pl.lit(value=True))


def slices(pair: LogPair, log: CanonicalLog, family: int = 0) -> list[tuple[Any, ...]]:
    """The slice of each row, decoded."""
    codes = read(log)[f"family{family}"]
    assert codes.dtype == pl.UInt32
    return pair.codecs[family].decode(codes.to_numpy()).rows()


MOMENT = dt.datetime(2024, 2, 29, 1, 2, 3, 4)  # noqa: DTZ001 - a column without a zone
VALUES: list[tuple[Any, Any]] = [
    (pl.String, ["law", "", " law", "Law", None]),
    (pl.Int8, [1, -1, None]),
    (pl.Int64, [2**63 - 1, 0, None]),
    (pl.UInt64, [2**64 - 1, 0, None]),
    (pl.Int128, [2**100, None]),
    (pl.Float64, [0.1, 1.0, 1e300, 5e-324, float("inf"), None]),
    (pl.Float32, [0.1, 16777216.0, None]),
    (pl.Boolean, [True, False, None]),
    (pl.Date, [dt.date(2024, 2, 29), dt.date(1, 1, 1), None]),
    (pl.Datetime("us"), [MOMENT, None]),
    (pl.Datetime("ms", "Asia/Tokyo"), [dt.datetime(2024, 2, 29, 1, 2, 3, tzinfo=dt.UTC), None]),
    (pl.Time, [dt.time(1, 2, 3, 4), None]),
    (pl.Decimal(10, 2), [Decimal("1.50"), Decimal("-0.01"), None]),
    (pl.Binary, [b"\x00\xff", b"", None]),
]


@pytest.mark.parametrize(("dtype", "values"), VALUES)
def test_values_keep_their_type(dtype: Any, values: list[Any]) -> None:
    frame = log({"s": dtype}, s=values)
    pair = opened(frame, frame.reverse(), by=(("s",),))
    decoded = pair.codecs[0].decode(read(pair.a)["family0"].to_numpy())
    assert decoded.columns == ["slice.s"]
    assert decoded["slice.s"].to_list() == frame["s"].to_list()
    assert decoded.schema["slice.s"] == frame.schema["s"]
    assert slices(pair, pair.b) == slices(pair, pair.a)[::-1]


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["b", "a"])])
def test_categories_are_text(dtype: Any) -> None:
    frame = log({"s": dtype}, s=["a", "b", None])
    pair = opened(frame, log(s=["b"]), by=(("s",),))
    assert slices(pair, pair.a) == [("a",), ("b",), (None,)]
    assert slices(pair, pair.b) == [("b",)]


def test_minus_zero_is_zero_and_nan_is_null() -> None:
    frame = log(s=[0.0, -0.0, float("nan"), None])
    pair = opened(frame, frame, by=(("s",),))
    codes = read(pair.a)["family0"].to_list()
    assert codes[0] == codes[1]
    assert codes[2] == codes[3] == 0
    assert slices(pair, pair.a) == [(0.0,), (0.0,), (None,), (None,)]


def test_crossed_families_share_columns() -> None:
    a = log(domain=["law", "law", None, "a|b"], level=[1, 2, None, 1])
    b = log(domain=["a|b", "law"], level=[1, 2])
    pair = opened(a, b, by=(("domain",), ("domain", "level"), ("level", "domain")))
    assert slices(pair, pair.a, 1) == [("law", 1), ("law", 2), (None, None), ("a|b", 1)]
    assert slices(pair, pair.b, 2) == [(1, "a|b"), (2, "law")]
    assert pair.codecs[1].decode([]).schema == {"slice.domain": pl.String, "slice.level": pl.Int64}
    left, right = read(pair.a), read(pair.b)
    assert left["family1"][3] == right["family1"][0]
    assert left["family1"][1] == right["family1"][1]


def test_codes_agree_over_batches_threads_and_passes() -> None:
    values = [f"s{n % 97}" for n in range(5000)]
    frame = log(s=values, t=[n % 5 for n in range(5000)])
    pair = opened(frame, frame.reverse(), by=(("s", "t"),))
    with ThreadPoolExecutor(4) as pool:
        passes = list(pool.map(lambda size: read(pair.a, size)["family0"].to_list(), [10, 100, 1000, 5000]))
    assert all(one == passes[0] for one in passes)
    assert read(pair.b)["family0"].to_list() == passes[0][::-1]
    assert len(set(passes[0])) == 97 * 5
    assert slices(pair, pair.a) == list(zip(values, [n % 5 for n in range(5000)], strict=True))


def span_of(pair: Any) -> Span | None:
    column = pair.codecs[0].columns[0]
    assert isinstance(column, SliceColumn)
    return column.span


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt32, pl.Int64])
def test_whole_numbers_of_a_narrow_range(dtype: type[pl.DataType], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamcmp.logs.view.SPAN_ROWS", 0)
    left = log({"level": dtype}, level=[7, None, 9, 7])
    right = log({"level": pl.Int64}, level=[7, 8, 9, None])
    pair = opened(left, right, by=(("level",), ("level", "correct")))
    assert span_of(pair) == Span(7, 9)
    assert slices(pair, pair.a) == [(7,), (None,), (9,), (7,)]
    assert slices(pair, pair.b) == [(7,), (8,), (9,), (None,)]
    assert read(pair.a)["family0"].to_list() == [1, 0, 3, 1]
    assert slices(pair, pair.a, 1) == [(7, True), (None, True), (9, True), (7, True)]


@pytest.mark.parametrize("low", [-(2**63) + 1, -1, 0, 2**63 - 3])
def test_a_narrow_range_anywhere(low: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamcmp.logs.view.SPAN_ROWS", 0)
    frame = log(level=[low + 2, None, low])
    pair = opened(frame, frame, by=(("level",),))
    assert span_of(pair) == Span(low, low + 2)
    assert slices(pair, pair.a) == [(low + 2,), (None,), (low,)]


def test_a_wide_range_has_a_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamcmp.logs.view.SPAN_ROWS", 0)
    for wide in ([-(2**63), 2**63 - 1], [0, 2**20], [-(2**63), -(2**63) + 1]):
        frame = log(level=wide)
        pair = opened(frame, frame, by=(("level",),))
        assert span_of(pair) is None
        assert slices(pair, pair.a) == [(value,) for value in wide]


def test_a_number_that_the_metadata_do_not_know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamcmp.logs.view.SPAN_ROWS", 0)
    monkeypatch.setattr("streamcmp.logs.formats.base.LazyShard.bounds", lambda _shard, _column: (1, 2))
    log(level=[1, 2, 3]).write_parquet(tmp_path / "a.parquet")
    pair = opened(tmp_path / "a.parquet", tmp_path / "a.parquet", by=(("level",),))
    with pytest.raises(BadValue, match=r"row 3.*outside 1 to 2"):
        read(pair.a)


def test_a_filtered_row_may_hold_such_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamcmp.logs.view.SPAN_ROWS", 0)
    monkeypatch.setattr("streamcmp.logs.formats.frame.FrameShard.bounds", lambda _shard, _column: (1, 2))
    frame = log(level=[1, 2, 0, 2**40, -(2**63), 2**63 - 1])
    pair = opened(frame, frame, by=(("level",),), where="level in (1, 2)")
    rows = read(pair.a)
    assert rows["filtered"].to_list() == [False, False, True, True, True, True]
    assert max(rows["family0"].to_list()) <= 3


def test_the_dictionary_outlives_its_frames() -> None:
    dictionary = Dictionary()
    for text in ("x", "y", "x"):
        frame = pl.DataFrame({"s": [text]}).select(dictionary.encode(pl.col("s")))
        del frame
    codes = pl.Series([0, 1, 2], dtype=pl.UInt32)
    assert dictionary.decode(codes).to_list() == [None, "x", "y"]


def test_a_family_comes_from_the_log_that_has_it() -> None:
    bare = log(other=[1])
    full = log(domain=["law"], level=[1])
    pair = opened(bare, full, by=(("domain", "level"),))
    assert (pair.a.families, pair.b.families) == ((False,), (True,))
    assert "family0" not in read(pair.a).columns
    assert slices(pair, pair.b) == [("law", 1)]


def test_columns_that_no_log_has() -> None:
    with pytest.raises(UnknownColumn, match="did you mean 'domain'"):
        opened(log(domain=["x"]), log(level=[1]), by=(("domian",),))
    with pytest.raises(UsageError, match="no log has all of these columns"):
        opened(log(domain=["x"]), log(level=[1]), by=(("domain", "level"),))


def test_names_that_differ() -> None:
    a, b = log(domain=["law"]), log(subject=["law"])
    pair = opened(a, b, by=(("domain",),), right={"by": (("subject",),)})
    assert pair.rule.by == (("domain",),)
    assert (pair.a.families, pair.b.families) == ((True,), (True,))
    assert slices(pair, pair.a) == slices(pair, pair.b) == [("law",)]
    with pytest.raises(UnknownColumn, match="--right-by"):
        opened(a, b, by=(("domain",),), right={"by": (("subjcet",),)})


def test_integer_widths_and_floats_unify() -> None:
    shards = [log({"s": pl.Int8}, s=[1]), log({"s": pl.UInt32}, s=[2])]
    pair = opened(shards, log(s=[1]), by=(("s",),))
    assert slices(pair, pair.a) == [(1,), (2,)]
    mixed = opened([log(s=[1]), log(s=[1.5])], log(s=[1]), by=(("s",),))
    assert slices(mixed, mixed.a) == [(1.0,), (1.5,)]
    assert read(mixed.a)["family0"][0] == read(mixed.b)["family0"][0]


def test_shards_that_disagree_are_an_error_case_23(tmp_path: Path) -> None:
    log(s=[1]).write_parquet(tmp_path / "1.parquet")
    log(s=["1"]).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(TypeConflict) as error:
        opened(tmp_path, log(s=[1]), by=(("s",),))
    assert "1.parquet" in str(error.value)
    assert "2.parquet" in str(error.value)


def test_sides_of_two_types_compare_by_text() -> None:
    pair = opened(log(s=[1, 2]), log(s=["1", "x"]), by=(("s",),))
    left, right = read(pair.a)["family0"], read(pair.b)["family0"]
    assert left[0] == right[0]
    assert left[1] != right[1]
    assert slices(pair, pair.a) == [(1,), (2,)]


def test_text_without_types_takes_the_other_sides_type(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("id,correct,n,x,b,s\n0,1,07,1.50,True,a\n1,1,,nan,,\n")
    typed = log(n=[7], x=[1.5], b=[True], s=["a"])
    by = (("n",), ("x",), ("b",), ("s",))
    for pair, own, other in (
        (p := opened(path, typed, by=by), p.a, p.b),
        (q := opened(typed, path, by=by), q.b, q.a),
    ):
        for family, value in enumerate((7, 1.5, True, "a")):
            assert slices(pair, own, family) == [(value,), (None,)]
            assert slices(pair, other, family) == [(value,)]
    with pytest.raises(BadValue, match="row 1: 's' is 'a'; this slice value is not Int64"):
        read(opened(path, log(s=[1]), by=(("s",),)).a)


NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("dtype", "values", "texts"),
    [
        (pl.Date, [NOON.date(), date(999, 1, 2), None], ["2024-05-06", "0999-01-02", ""]),
        (pl.Time, [time(1, 2, 3), time(1, 2, 3, 500_000)], ["01:02:03", "01:02:03.5"]),
        (pl.Datetime("ms"), [NOON.replace(tzinfo=None)] * 3,
         ["2024-05-06T12:00:00", "2024-05-06 12:00:00", "2024-05-06 12:00:00.000"]),
        (pl.Datetime("us", "UTC"), [NOON, NOON], ["2024-05-06T12:00:00Z", "2024-05-06 14:00:00+02:00"]),
        (pl.Decimal(10, 2), [Decimal("1.50"), Decimal(2), Decimal("-0.01")], ["1.5", "2", "-0.010"]),
    ],
)  # fmt: skip
def test_text_without_types_takes_the_type_of_moments_and_decimals(
    tmp_path: Path, dtype: Any, values: list[Any], texts: list[str]
) -> None:
    path = tmp_path / "log.csv"
    path.write_text("id,correct,s\n" + "".join(f"{number},1,{text}\n" for number, text in enumerate(texts)))
    typed = log({"s": dtype}, s=values)
    for left, right in ((path, typed), (typed, path)):
        pair = opened(left, right, by=(("s",),))
        assert read(pair.a)["family0"].to_list() == read(pair.b)["family0"].to_list()
        assert slices(pair, pair.a) == slices(pair, pair.b) == [(value,) for value in values]


@pytest.mark.parametrize(
    ("dtype", "text"),
    [(pl.Date, "06.05.2024"), (pl.Time, "noon"), (pl.Datetime, "x"), (pl.Decimal(10, 2), "1.505")],
)
def test_text_that_is_not_of_the_other_sides_type(tmp_path: Path, dtype: Any, text: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"id,correct,s\n0,1,{text}\n")
    with pytest.raises(BadValue, match=r"row 1: 's' is .* this slice value is not"):
        read(opened(path, log({"s": dtype}, s=[None]), by=(("s",),)).a)


def test_moments_of_different_kinds_are_different_slices() -> None:
    """Noon anywhere is not noon in UTC, nor is a day the number of days."""
    naive = log(s=[NOON.replace(tzinfo=None)])
    for one, other in (
        (naive, log(s=[NOON])),
        (log(s=[NOON.date()]), log(s=[19_849])),
        (log(s=[time(0)]), log(s=["0"])),
    ):
        pair = opened(one, other, by=(("s",),))
        assert read(pair.a)["family0"][0] != read(pair.b)["family0"][0]
        assert slices(pair, pair.a) == [(one["s"][0],)]
    same = opened(naive, naive.cast({"s": pl.Datetime("ns")}), by=(("s",),))
    assert read(same.a)["family0"][0] == read(same.b)["family0"][0]


@pytest.mark.parametrize("value", [{"x": 1}, [{"x": 1}], [["a"]]])
def test_objects_and_lists_of_lists_are_a_clear_error(value: Any) -> None:
    with pytest.raises(
        UnusableType, match=r"the slice column 's' is .*; a slice is a single value, or a list"
    ):
        opened(log(s=[value]), log(s=["a"]), by=(("s",),))


def test_ndjson_that_changes_its_type(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [f'{{"id": {n}, "correct": 1, "s": 1}}' for n in range(3000)] + [
        '{"id": 9, "correct": 1, "s": "x"}'
    ]
    path.write_text("\n".join(lines))
    with pytest.raises(StreamcmpError, match=r"a\.jsonl") as error:
        read(opened(path, log(s=[1]), by=(("s",),)).a)
    assert not isinstance(error.value, UsageError) or isinstance(error.value, ChangedType)
