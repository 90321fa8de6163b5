"""Cuts, lists, expressions and labels as slices: what one log's rows become, whatever their types."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from streamcmp.comparison import Comparison
from streamcmp.errors import BadValue, ChangedType, DataError, UnknownColumn, UnusableType, UsageError
from streamcmp.logs import open_pair
from streamcmp.logs.model import LogPair
from streamcmp.logs.quantiles import find_edges
from tests.logs.opened import opened, read, request

NAN = float("nan")


def log(dtype: Any = None, **columns: Any) -> pl.DataFrame:
    height = len(next(iter(columns.values())))
    frame = pl.DataFrame(
        columns, schema_overrides=dict.fromkeys(columns, dtype) if dtype else None, strict=False
    )
    return frame.with_columns(id=pl.int_range(height), correct=pl.lit(value=True))


def shown(pair: LogPair, side: str = "a") -> list[Any]:
    """The slice of each row, of the first family and its only column."""
    codes = read(pair.a if side == "a" else pair.b)["family0"]
    return pair.codecs[0].decode(codes.to_numpy()).to_series().to_list()


def cut(text: str, values: list[Any], dtype: Any = None, other: pl.DataFrame | None = None) -> list[Any]:
    one = log(dtype, n=values)
    return shown(opened(one, one if other is None else other, by=((text,),)))


@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.Int64, pl.UInt64, pl.Int128, pl.Float32, pl.Float64, pl.Decimal(9, 2)]
)
def test_bins_hold_their_lower_edge_in_every_type(dtype: Any) -> None:
    assert cut("n:bins(1,10)", [0, 1, 9, 10, None, 100], dtype) == [
        "< 1", "[1, 10)", "[1, 10)", ">= 10", None, ">= 10",
    ]  # fmt: skip


def test_edges_between_and_beyond_what_a_type_holds() -> None:
    assert cut("n:bins(0.5)", [0, 1], pl.Int64) == ["< 0.5", ">= 0.5"]
    assert cut("n:bins(-5.5,-5)", [-6, -5], pl.Int64) == ["< -5.5", ">= -5"]
    assert cut("n:bins(-1e30,1e30)", [-(2**63), 2**63 - 1], pl.Int64) == ["[-1E+30, 1E+30)"] * 2
    assert cut("n:bins(-1,0)", [0, 2**64 - 1], pl.UInt64) == [">= 0"] * 2
    big = 2**53
    assert cut(f"n:bins({big + 1})", [big, big + 1], pl.Int64) == [f"< {big + 1}", f">= {big + 1}"]
    assert cut("n:bins(0.125)", [Decimal("0.12"), Decimal("0.13")], pl.Decimal(9, 2)) == [
        "< 0.125",
        ">= 0.125",
    ]


def test_null_nan_and_infinities() -> None:
    values = [None, NAN, float("-inf"), -0.0, 0.0, float("inf")]
    assert cut("n:bins(0)", values) == [None, None, "< 0", ">= 0", ">= 0", ">= 0"]


@pytest.mark.parametrize(
    ("dtype", "big"), [(pl.Int64, 2**53), (pl.UInt64, 2**63), (pl.Datetime("ns"), 2**60)]
)
def test_one_column_cut_twice_is_exact_beside_nulls(dtype: Any, big: int) -> None:
    """Polars takes out what two families share, and handed on nulls: numpy has such integers as floats."""
    one = log(n=pl.Series([None, big, big + 1], dtype=pl.UInt64).cast(dtype))
    pair = opened(one, one, by=(("n:quantiles(2)",), ("n:quantiles(3)",)))
    assert read(pair.a).select("family0", "family1").rows() == [(0, 0), (1, 2), (2, 3)]


def test_a_float_is_what_was_written() -> None:
    """0.7 as a 32-bit float is a little less than 0.7, which nobody who writes 0.7 means."""
    assert cut("n:bins(0.1,0.7)", [0.1, 0.7], pl.Float32) == ["[0.1, 0.7)", ">= 0.7"]
    assert cut("n:bins(0.1,0.7)", [0.1, 0.7], pl.Float64) == ["[0.1, 0.7)", ">= 0.7"]


def test_many_edges() -> None:
    edges = ",".join(map(str, range(0, 2000, 10)))
    assert cut(f"n:bins({edges})", [-1, 0, 995, 1990]) == ["< 0", "[0, 10)", "[990, 1000)", ">= 1990"]


def test_dates_and_times() -> None:
    days = [date(2024, 1, 30), date(2024, 1, 31), None]
    assert cut("n:bins(2024-01-31)", days) == ["< 2024-01-31", ">= 2024-01-31", None]
    assert cut("n:bins(2024-01-30T12:00)", days)[:2] == ["< 2024-01-30T12:00", ">= 2024-01-30T12:00"]
    times = [datetime(2024, 1, 30, 23, 59, 59, 999_999), datetime(2024, 1, 31)]  # noqa: DTZ001 - as logs have them
    for unit in ("us", "ns"):
        assert cut("n:bins(2024-01-31)", times, pl.Datetime(unit)) == ["< 2024-01-31", ">= 2024-01-31"]
    utc = [time.replace(tzinfo=UTC) for time in times]
    assert cut("n:bins(2024-01-31)", utc) == ["< 2024-01-31", ">= 2024-01-31"]


def csv(path: Path, *values: str) -> Path:
    path.write_text("id,correct,n\n" + "".join(f"{at},1,{value}\n" for at, value in enumerate(values)))
    return path


def test_numbers_and_dates_of_files_without_types(tmp_path: Path) -> None:
    path = csv(tmp_path / "a.csv", "5", " 10 ", "", "1e1", "nan")
    assert shown(opened(path, path, by=(("n:bins(10)",),))) == ["< 10", ">= 10", None, ">= 10", None]
    assert shown(opened(path, log(n=[1, 2, 3, 4, 5]), by=(("n:bins(10)",),)), "b") == ["< 10"] * 5
    path = csv(tmp_path / "b.csv", "2024-01-30", "2024-01-31", "2024-02-01T10:00:00")
    assert shown(opened(path, path, by=(("n:bins(2024-01-31)",),))) == [
        "< 2024-01-31", ">= 2024-01-31", ">= 2024-01-31",
    ]  # fmt: skip
    bad = csv(tmp_path / "c.csv", "5", "many")
    for text in ("n:bins(10)", "n:quantiles(2)"):
        with pytest.raises(BadValue, match=r"c\.csv, row 2: 'n' is 'many'; \w+ cuts by size, .* no number"):
            read(opened(bad, path, by=((text,),), where="id < '9'").a)


@pytest.mark.parametrize(
    ("values", "text", "says"),
    [
        (["a"], "n:bins(1)", r"the slice column 'n' is text .*CAST\(n AS DOUBLE\) AS n:bins\(1\)"),
        ([True], "n:quantiles(2)", "bins cuts|quantiles cuts numbers and dates"),
        ([date(2024, 1, 1)], "n:bins(1)", "its edges are numbers"),
        ([1], "n:bins(2024-01-01)", "its edges are dates"),
    ],
)
def test_what_cannot_be_cut(values: list[Any], text: str, says: str) -> None:
    with pytest.raises(UnusableType, match=says):
        cut(text, values)


def test_numbers_wider_than_64_bits() -> None:
    for text in ("n:bins(0)", "n:quantiles(2)"):
        with pytest.raises(BadValue, match="at most 64 bits; it can be cut as a float: --by 'CAST"):
            cut(text, [2**70, 1], pl.Int128)
    assert cut("CAST(n AS DOUBLE) AS n:bins(0)", [2**70, -(2**70)], pl.Int128) == [">= 0", "< 0"]


def edges(text: str, values: list[Any], dtype: Any = None, **options: Any) -> list[str]:
    frame = log(dtype, n=values)
    pair = opened(frame, frame, by=((text,),), **options)
    found: list[str] = next(iter(pair.rule.slices.values()))["edges"]
    return found


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Int64, pl.UInt64, pl.Float32, pl.Float64, pl.Decimal(9, 2)])
def test_quantiles_are_values_of_the_column(dtype: Any) -> None:
    assert edges("n:quantiles(4)", [5, 1, 3, 4, 2, 6, 8, 7, None], dtype) == ["3", "5", "7"]


def test_quantiles_of_fractions_and_moments() -> None:
    assert edges("n:quantiles(2)", [0.1, 0.2], pl.Float32) == ["0.2"]
    assert edges("n:quantiles(2)", [0.1, 0.2, NAN, NAN, NAN]) == ["0.2"]
    assert edges("n:quantiles(2)", [Decimal("-0.25"), Decimal("1.50")], pl.Decimal(9, 2)) == ["1.5"]
    assert edges("n:quantiles(2)", [date(1969, 1, 31), date(2024, 1, 31)]) == ["2024-01-31"]
    stamps = [datetime(2024, 1, 31), datetime(2024, 1, 31, 1, 2, 3, 40)]  # noqa: DTZ001 - as logs have them
    assert edges("n:quantiles(2)", stamps) == ["2024-01-31T01:02:03.000040"]
    assert cut("n:quantiles(2)", stamps)[1] == ">= 2024-01-31T01:02:03.000040"
    assert edges("n:quantiles(2)", stamps, pl.Datetime("ns")) == ["2024-01-31T01:02:03.000040000"]
    assert edges("n:quantiles(3)", [float("-inf"), 0.0, float("inf")]) == ["0", "inf"]
    assert cut("n:quantiles(3)", [float("-inf"), 0.0, float("inf")]) == ["< 0", "[0, inf)", ">= inf"]


def test_equal_quantiles_collapse_and_a_note_says_so() -> None:
    frame = log(n=[0, 0, 0, 0, 0, 0, 1, 2])
    pair = opened(frame, frame, by=(("n:quantiles(4)",),))
    assert pair.rule.slices["n:quantiles(4)"]["edges"] == ["0", "1"]
    assert "n:quantiles(4) cuts at 0, 1; 2 slices, as one value makes up several of the 4" in pair.notes
    assert shown(pair) == ["[0, 1)"] * 6 + [">= 1"] * 2
    nothing = log(pl.Int64, n=[None, None])
    pair = opened(nothing, nothing, by=(("n:quantiles(4)",),))
    assert shown(pair) == [None, None]
    assert "n:quantiles(4): no value to cut; all is null" in pair.notes


def test_quantiles_are_of_the_rows_that_count_on_the_left() -> None:
    left, right = log(n=[1, 2, 3, 4, 100, 200]), log(n=[7, 7, 7, 7, 7, 7])
    by = (("n:quantiles(2)",),)
    assert opened(left, right, by=by).rule.slices["n:quantiles(2)"]["edges"] == ["4"]
    assert opened(left, right, by=by, where="n < 50").rule.slices["n:quantiles(2)"]["edges"] == ["3"]
    only_right = opened(left.drop("n"), right, by=by)
    assert only_right.rule.slices["n:quantiles(2)"]["edges"] == ["7"]


def test_quantiles_in_several_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find_edges, "__defaults__", (3,))
    frame = log(n=[n * 37 % 1000 for n in range(1000)], m=[n % 7 for n in range(1000)])
    pair = opened(frame, frame, by=(("n:quantiles(4)",), ("m:quantiles(2)",)))
    found = [about["edges"] for about in pair.rule.slices.values()]
    assert found == [["250", "500", "750"], ["3"]]


def test_no_row_is_read_for_quantiles_unless_wanted() -> None:
    frame = log(n=[1, 2])
    comparison = Comparison(request(frame), request(frame), by=(("n:quantiles(2)",),))
    assert open_pair(comparison, scan=False).rule.slices["n:quantiles(2)"]["edges"] == []


def test_quantiles_of_lines_that_change_their_type(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [f'{{"id": {n}, "correct": 1, "n": {n}}}' for n in range(3000)]
    path.write_text("\n".join([*lines, '{"id": 3000, "correct": 1, "n": 0.5}']))
    frame = log(n=[1])
    with pytest.raises(ChangedType, match="a column that is cut holds one type"):
        opened(path, frame, by=(("n:quantiles(2)",),))
    comparison = Comparison(request(path), request(frame), by=(("n:quantiles(2)",),))
    pair = open_pair(comparison, complete=True)
    assert pair.rule.slices["n:quantiles(2)"]["edges"] == ["1499"]


def sets(values: list[Any], dtype: Any = None, other: Any = None) -> list[Any]:
    one = log(dtype, n=values)
    pair = opened(one, one if other is None else log(other), by=(("n",),))
    assert pair.rule.slices == {"n": {"overlapping": True}}
    return shown(pair)


def test_a_list_is_the_set_of_its_elements() -> None:
    values = [["a", "b"], ["b", "a", "b"], [], None, [None], ["", None], ["\x1e1", "\x1f", "0"]]
    assert sets(values) == [
        ["a", "b"], ["a", "b"], ["(empty)"], [None], [None], [None, ""], ["\x1e1", "\x1f", "0"],
    ]  # fmt: skip
    frame = log(n=values)
    codes = read(opened(frame, frame, by=(("n",),)).a)["family0"].to_list()
    assert codes[0] == codes[1]
    assert codes[3] == codes[4] == 0


@pytest.mark.parametrize(
    ("values", "dtype", "wanted"),
    [
        ([[1, 10, 2], [1]], pl.List(pl.Int8), [["1", "10", "2"], ["1"]]),
        ([[0.5, NAN]], pl.List(pl.Float64), [[None, "0.5"]]),
        ([[True]], pl.List(pl.Boolean), [["true"]]),
        ([[date(2024, 1, 31)]], pl.List(pl.Date), [["2024-01-31"]]),
        ([["x", "y"]], pl.List(pl.Categorical), [["x", "y"]]),
        ([["x", "y"]], pl.Array(pl.String, 2), [["x", "y"]]),
        ([[], None], pl.List(pl.Null), [["(empty)"], [None]]),
    ],
)
def test_elements_of_every_type(values: list[Any], dtype: Any, wanted: list[Any]) -> None:
    assert sets(values, dtype) == wanted


def test_single_values_meet_lists() -> None:
    """Of two logs, one holds lists of one and the other the values: they agree."""
    one, other = log(n=[["a"], ["b"], None]), log(n=["a", "c", None])
    pair = opened(one, other, by=(("n",),))
    a, b = (read(each)["family0"].to_list() for each in (pair.a, pair.b))
    assert [x == y for x, y in zip(a, b, strict=True)] == [True, False, True]
    assert shown(pair, "b") == [["a"], ["c"], [None]]


def test_an_element_called_empty() -> None:
    assert sets([["(empty)"], ["a"]]) == [["(empty)"], ["a"]]
    with pytest.raises(DataError, match=r"'n' has lists that are empty, .* the element '\(empty\)'; rename"):
        sets([["(empty)"], []])


def test_lists_in_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = ['"n": ["a", "b"]', '"n": []', '"n": null', '"m": 1', '"n": [null]']
    path.write_text("\n".join(f'{{"id": {at}, "correct": 1, {row}}}' for at, row in enumerate(rows)))
    assert shown(opened(path, path, by=(("n",),))) == [["a", "b"], ["(empty)"], [None], [None], [None]]


@pytest.mark.parametrize("text", ["n:bins(1)", "n:quantiles(2)", "n:top(3)"])
def test_lists_are_not_cut(text: str) -> None:
    with pytest.raises(
        UsageError, match=r"n holds lists, and .* cuts single values; --by n makes a slice of"
    ):
        cut(text, [[1]])


def test_expressions() -> None:
    assert cut("n * 2 AS twice", [1, None]) == [2, None]
    assert cut("CASE WHEN n > 1 THEN 'many, or two' ELSE 'one' END AS size", [1, 2]) == [
        "one",
        "many, or two",
    ]
    assert cut("STRING_TO_ARRAY(n, ',') AS tags", ["a,b", ""]) == [["a", "b"], [""]]
    assert cut("n AS m:bins(2)", [1, 2]) == ["< 2", ">= 2"]
    pair = opened(log(n=[1]), log(m=[2]), by=(("n + 1 AS x",), ("m + 1 AS y",)))
    assert pair.a.families == (True, False)
    assert pair.b.families == (False, True)
    assert pair.rule.by == (("x",), ("y",))
    assert pair.rule.slices == {"x": {"of": "n + 1"}, "y": {"of": "m + 1"}}


def test_a_column_of_the_name_goes_first() -> None:
    frame = log(n=[5]).with_columns(pl.lit("whole").alias("n:bins(1)"), pl.lit("sql").alias("n AS m"))
    assert shown(opened(frame, frame, by=(("n:bins(1)",),))) == ["whole"]
    assert shown(opened(frame, frame, by=(("n AS m",),))) == ["sql"]
    assert opened(frame, frame, by=(("n:bins(1)",),)).rule.slices == {}


def test_each_side_its_own_column() -> None:
    left, right = log(n=[5, 15]), log(m=[5, 15])
    by = (("size:bins(10)",),)
    for own in (("m",), ("m:bins(10)",), ("m + 0 AS x",)):
        pair = opened(left, right, by=by, left={"by": (("n",),)}, right={"by": (own,)})
        assert shown(pair) == shown(pair, "b") == ["< 10", ">= 10"]
    with pytest.raises(UsageError, match="--right-by cuts 'm:bins\\(11\\)' otherwise than --by"):
        opened(left, right, by=by, left={"by": (("n",),)}, right={"by": (("m:bins(11)",),)})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("correkt:bins(1)", "a column 'correkt' .*did you mean 'correct'"),
        ("m + 1 AS x", "a column 'm'"),
        ("n > 1", "an expression needs a name: --by 'n > 1 AS name'"),
        ("n > 1 as ", "an expression needs a name: --by 'n > 1 AS name'"),
        ("n:top(2):bins(1)", "a column is cut once; --by for each cut"),
        ("class", "without a column of this name, class is the label, and no log has one"),
    ],
)
def test_columns_that_are_not_there(text: str, says: str) -> None:
    with pytest.raises(UnknownColumn, match=f"(?s){says}"):
        cut(text, [1])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("SUM(n) AS x", "looks at several rows"),
        ("1 AS x", "names no column"),
        ("n + AS x", "is not an expression in SQL"),
        ("user + 1 AS x", 'if user is a column, put it in double quotes: "user"'),
        ("UPPER(n) AS x", "does not fit"),
        ("n AS overall", "the family of all pairs is called overall"),
    ],
)
def test_what_is_no_expression(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        cut(text, [1])


def test_names_that_meet() -> None:
    frame = log(n=[1])
    for by, says in (
        ((("n",), ("n + 1 AS n",)), "two different columns"),
        ((("n:bins(0)",), ("n: bins(0.0)",)), "names the family n:bins\\(0\\) twice"),
        ((("n:bins(0)", "n: bins(0.0)"),), "names the same column twice"),
    ):
        with pytest.raises(UsageError, match=says):
            opened(frame, frame, by=by)


def test_class_is_the_label() -> None:
    frame = log(gold=["x", "y", None])
    pair = opened(frame, frame.rename({"gold": "target"}), by=(("class",),))
    assert shown(pair) == shown(pair, "b") == ["x", "y", None]
    assert "--by class means the label ('gold', 'target'), as no column has that name" in pair.notes
    assert pair.rule.slices == {"class": {"label": True}}
    real = opened(frame.with_columns(pl.lit("c").alias("class")), frame, by=(("class",),))
    assert shown(real) == ["c"] * 3
    assert real.rule.slices == {}
    scored = frame.with_columns(score=pl.lit(1)).drop("correct")
    scored = scored.with_columns(gold=pl.col("id"))
    cut_label = opened(scored, scored, by=(("class:bins(1)",),))
    assert shown(cut_label) == ["< 1", ">= 1", ">= 1"]


def test_class_is_the_label_of_the_truth_file(tmp_path: Path) -> None:
    truth = pl.DataFrame({"id": [0, 1], "label": [3, 4]})
    truth.write_parquet(tmp_path / "t.parquet")
    frame = pl.DataFrame({"id": [1, 0, 2], "prediction": [4, 4, 4]})
    options = {"truth": tmp_path / "t.parquet"}
    assert shown(opened(frame, frame, by=(("class",),), **options)) == [4, 3, None]
    pair = opened(frame, frame, by=(("class:quantiles(2)",),), **options)
    assert shown(pair) == [">= 4", "< 4", None]
    assert pair.rule.slices["class:quantiles(2)"]["edges"] == ["4"]
    many = pl.DataFrame({"id": range(300_000), "label": range(300_000)})
    many.write_parquet(tmp_path / "t.parquet")
    comparison = Comparison(request(frame), request(frame), by=(("class",),), truth=tmp_path / "t.parquet")
    with pytest.raises(DataError, match="too large for the memory, and --by class needs its labels at hand"):
        read(open_pair(comparison, memory_budget=2_000_000).a)
