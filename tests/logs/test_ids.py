from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from streamcmp.errors import BadValue, DataError, StreamcmpError, TypeConflict, UnusableType
from tests.logs.opened import ids, opened


def log(values: Any, dtype: Any = None) -> pl.DataFrame:
    """A log of these ids."""
    column = pl.Series("id", values, dtype=dtype, strict=False)
    return pl.DataFrame({"id": column, "correct": [True] * len(column)})


def csv(folder: Path, name: str, *values: str) -> Path:
    """A CSV log of these ids, as they stand."""
    path = folder / f"{name}.csv"
    path.write_text("id,correct\n" + "".join(f"{value},1\n" for value in values))
    return path


MOMENT = dt.datetime(2024, 1, 2, 3, 4, 5)  # noqa: DTZ001 - a column without a zone
INT_TYPES = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32]


@pytest.mark.parametrize("dtype", [*INT_TYPES, pl.Float32, pl.Float64, pl.Decimal(10, 0), pl.Decimal(10, 3)])
def test_integers_of_any_type_are_int64_case_13(dtype: Any) -> None:
    pair = opened(log([1, 0, None, 100], dtype), log([1], pl.Int32))
    assert pair.id_dtype == pl.Int64
    assert ids(pair.a) == [1, 0, None, 100]
    assert pair.rule.id_type == "int"


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["foo", "Bar "])])
def test_text_of_any_type_is_text_as_it_stands_case_13(dtype: Any) -> None:
    pair = opened(log(["foo", "Bar ", None], dtype), log(["foo"]))
    assert ids(pair.a) == ["foo", "Bar ", None]
    assert pair.rule.id_type == "text"
    assert pair.id_dtype == pl.String


def test_unsigned_and_wide_integers_are_exact() -> None:
    top = 2**64 - 1
    both = opened(log([top, 1], pl.UInt64), log([1], pl.UInt8))
    assert both.id_dtype == pl.UInt64
    assert ids(both.a) == [top, 1]
    mixed = opened(log([top, 1], pl.UInt64), log([-1], pl.Int64))
    assert mixed.id_dtype == pl.String
    assert (ids(mixed.a), ids(mixed.b)) == ([str(top), "1"], ["-1"])
    wide = opened(log([2**100, -3], pl.Int128), log([-3.0, 4.0]))
    assert (ids(wide.a), ids(wide.b)) == ([str(2**100), "-3"], ["-3", "4"])
    assert wide.rule.id_type == "int"
    assert ids(opened(log([2**127], pl.UInt128), log([1], pl.UInt128)).a) == [str(2**127)]


def test_nan_is_a_null_id_case_10() -> None:
    pair = opened(log([1.0, None, float("nan")]), log([1, None]))
    assert ids(pair.a) == [1, None, None]
    assert ids(opened(log([None, None]), log([1])).a) == [None, None]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (0.5, pl.Float64),
        (2.0**53, pl.Float64),
        (-(2.0**53), pl.Float64),
        (float("inf"), pl.Float64),
        (2.0**24, pl.Float32),
        (Decimal("1.5"), pl.Decimal(5, 1)),
    ],
)
def test_floats_that_are_no_exact_integers_are_an_error(value: Any, dtype: Any) -> None:
    pair = opened(log([1, value], dtype), log([1]))
    with pytest.raises(BadValue, match=r"the left frame, row 2: 'id' is .*whole number"):
        ids(pair.a)
    with pytest.raises(BadValue, match="whole number"):
        ids(opened(log([1, value], dtype), log(["1"]), id_type="text").a)


def test_text_against_integer_case_8() -> None:
    for a, b in ((log(["1", "2"]), log([1, 2])), (log([1, 2]), log(["1", "2"])), (log([1.0]), log(["1"]))):
        with pytest.raises(TypeConflict) as error:
            opened(a, b)
        message = str(error.value)
        assert "text (String)" in message
        assert "Int64" in message or "Float64" in message
        assert "--id-type text" in message
        assert "--id-type int" in message
        assert "left frame" in message
        assert "right frame" in message


def test_shards_of_one_log_that_disagree_name_the_files(tmp_path: Path) -> None:
    log([1]).write_parquet(tmp_path / "1.parquet")
    log(["2"]).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(TypeConflict) as error:
        opened(tmp_path, log([1]))
    assert "1.parquet" in str(error.value)
    assert "2.parquet" in str(error.value)
    pair = opened(tmp_path, log([1]), id_type="int")
    assert ids(pair.a) == ["1", "2"]


def test_declared_types() -> None:
    as_text = opened(log([7, None], pl.UInt8), log(["7", "007", " 7"]), id_type="text")
    assert (ids(as_text.a), ids(as_text.b), as_text.rule.id_type) == (["7", None], ["7", "007", " 7"], "text")
    as_int = opened(log([7]), log(["7", "007", " 7", "+7", "7.0", "-0", None]), id_type="int")
    assert (ids(as_int.a), ids(as_int.b)) == (["7"], ["7", "7", "7", "7", "7", "0", None])
    assert as_int.rule.id_type == "int"
    wide = opened(log([str(2**70)]), log([2**70], pl.Int128), id_type="int")
    assert ids(wide.a) == ids(wide.b)
    with pytest.raises(BadValue, match=r"row 2: 'id' is 'x'; this id is not an integer"):
        ids(opened(log(["1", "x"]), log(["1"]), id_type="int").a)
    with pytest.raises(UnusableType, match="--id-type int"):
        opened(log([True]), log([True]), id_type="int")


def test_bytes_declared_as_text() -> None:
    pair = opened(log([b"foo", None]), log(["foo"]), id_type="text")
    assert ids(pair.a) == ["foo", None]
    with pytest.raises(DataError, match=r"the left frame: .*utf8"):
        ids(opened(log([b"\xff"]), log(["foo"]), id_type="text").a)


def test_leading_zeros_case_9(tmp_path: Path) -> None:
    file = csv(tmp_path, "a", "007", "010")
    text = opened(file, log(["007", "010"]))
    assert ids(text.a) == ids(text.b) == ["007", "010"]
    pair = opened(file, log([7, 10]))
    with pytest.raises(BadValue) as error:
        ids(pair.a)
    assert f"{file}, row 1: 'id' is '007'" in str(error.value)
    assert "--id-type" in str(error.value)
    assert ids(opened(file, log([7, 10]), id_type="int").a) == ["7", "10"]


def test_csv_takes_the_other_sides_integers_where_they_round_trip(tmp_path: Path) -> None:
    file = csv(tmp_path, "a", "7", "-3", "0")
    for pair, log_of_file in ((opened(file, log([7])), "a"), (opened(log([7]), file), "b")):
        assert ids(getattr(pair, log_of_file)) == [7, -3, 0]
    assert ids(opened(file, csv(tmp_path, "b", "7", "007")).b) == ["7", "007"]
    for bad in ("+7", "7.0", " 7", "x", str(2**63)):
        with pytest.raises(BadValue, match="round trip"):
            ids(opened(csv(tmp_path, "c", bad), log([7])).a)
    assert ids(opened(csv(tmp_path, "d", str(2**64 - 1)), log([7], pl.UInt64)).a) == [2**64 - 1]
    assert ids(opened(csv(tmp_path, "d", str(2**100)), log([7], pl.Int128)).a) == [str(2**100)]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, pl.Boolean),
        (dt.date(2024, 1, 2), pl.Date),
        (MOMENT, pl.Datetime("us")),
        (dt.time(1, 2, 3), pl.Time),
        (b"\x00\xff", pl.Binary),
    ],
)
def test_other_kinds_meet_their_own_kind_only(value: Any, dtype: Any) -> None:
    pair = opened(log([value, None], dtype), log([value], dtype))
    assert ids(pair.a) == [*ids(pair.b), None]
    with pytest.raises(TypeConflict, match="--id-type text"):
        opened(log([value], dtype), log(["x"]))


def test_datetimes_of_two_units_and_zones_meet() -> None:
    moment = MOMENT
    pair = opened(log([moment], pl.Datetime("ms")), log([moment], pl.Datetime("ns")))
    assert ids(pair.a) == ids(pair.b)
    utc = log([moment]).with_columns(pl.col("id").dt.replace_time_zone("UTC"))
    pair = opened(utc, utc.with_columns(pl.col("id").dt.convert_time_zone("Asia/Tokyo")))
    assert ids(pair.a) == ids(pair.b)
    with pytest.raises(TypeConflict):
        opened(log([moment]), utc)


@pytest.mark.parametrize("dtype", [pl.List(pl.Int64), pl.Struct({"x": pl.Int64})])
def test_nested_ids_are_an_error(dtype: Any) -> None:
    frame = pl.DataFrame({"id": pl.Series([], dtype=dtype), "correct": pl.Series([], dtype=pl.Boolean)})
    frame = pl.concat([frame, pl.DataFrame({"id": [None], "correct": [True]}, schema=frame.schema)])
    with pytest.raises(UnusableType, match="single values"):
        opened(frame, log([1]))


def compound(*rows: tuple[Any, Any], schema: Any = None) -> pl.DataFrame:
    """A log with ids (task, doc_id)."""
    frame = pl.DataFrame(list(rows), schema=schema or ["task", "doc_id"], orient="row")
    return frame.with_columns(correct=pl.lit(value=True))


def test_compound_ids_case_17() -> None:
    a = compound(("gsm8k", 3), ("arc", 1), (None, 1), ("arc", None))
    b = compound(("arc", 1.0), ("gsm8k", 3.0), ("arc", float("nan")))
    pair = opened(a, b, on=("task", "doc_id"))
    left, right = ids(pair.a), ids(pair.b)
    assert left[:2] == [right[1], right[0]]
    assert left[2:] == [None, None]
    assert right[2] is None
    assert pair.show_id(left[0]) == "(task=gsm8k, doc_id=3)"
    assert pair.rule.on == ("task", "doc_id")
    assert pair.rule.id_type == "text,int"
    assert pair.id_dtype == pl.String


def test_compound_ids_never_collide() -> None:
    nasty = ["", "a", "\x1f", "\x1e", "\x1e0", "\x1e1", "\x1fa", "a\x1f", "\x1e\x1f", "0", "1"]
    rows = [(one, other) for one in nasty for other in nasty]
    frame = compound(*rows)
    pair = opened(frame, frame, on=("task", "doc_id"))
    made = ids(pair.a)
    assert len(set(made)) == len(rows)
    assert [pair.show_id(one) for one in made] == [f"(task={one}, doc_id={other})" for one, other in rows]


def test_compound_types_that_differ() -> None:
    with pytest.raises(TypeConflict) as error:
        opened(compound(("x", 1)), compound(("x", "1")), on=("task", "doc_id"))
    assert "'doc_id'" in str(error.value)
    assert "--id-type int" not in str(error.value)
    pair = opened(compound(("x", 1)), compound(("x", "1")), on=("task", "doc_id"), id_type="text")
    assert ids(pair.a) == ids(pair.b)


def test_show_id() -> None:
    pair = opened(log([7]), log([7]))
    assert pair.show_id(7) == "7"
    assert pair.show_id(None) == "(null)"
    assert opened(log(["foo"]), log(["foo"])).show_id("foo") == "foo"


def test_ndjson_ids_that_change_their_type(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [f'{{"id": {n}, "correct": 1}}' for n in range(3000)] + ['{"id": "x", "correct": 1}']
    path.write_text("\n".join(lines))
    with pytest.raises(StreamcmpError) as error:
        ids(opened(path, log([1])).a)
    assert str(path) in str(error.value)
    assert "text" in str(error.value)
