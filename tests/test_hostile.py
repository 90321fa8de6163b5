"""Logs that nobody would write on purpose: names, types and values at the edges, end to end."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pytest

import streamcmp
from streamcmp.errors import DataError, StreamcmpError, UsageError
from streamcmp.report import RENDERERS
from streamcmp.resources import Resources
from streamcmp.tally import Tally

WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "csv": lambda frame, path: frame.write_csv(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "arrow": lambda frame, path: frame.write_ipc(path),
}
# Names with a meaning to Polars, and those that we use ourselves.
NAMES = (
    "*", "^a.*$", "^.*$", "a b", "a.b", "é", "x\ny", "'", "id", "outcome", "bad", "filtered", "guard0",
    "family0", "a.bad", "b.outcome", "slice.x", "n", "p", "family", "record", "side", "len", "literal",
    "label of the truth file", "|gain|",
)  # fmt: skip
ROLES: dict[str, Callable[[str], dict[str, Any]]] = {
    "by": lambda name: {"by": [(name,)]},
    "cross": lambda name: {"by": [("aa", name)]},
    "on": lambda name: {"on": f'"{name}"'},
    "compound": lambda name: {"on": ["aa", f'"{name}"']},
    "guard": lambda name: {"guards": f'"{name}"'},
    "correct": lambda name: {"correct": name},
    "score": lambda name: {"score": name, "threshold": 0.5},
    "prediction": lambda name: {"prediction": name, "label": "gold"},
    "label": lambda name: {"prediction": "gold", "label": name},
}


@pytest.mark.parametrize("ending", [*WRITERS, "frame"])
@pytest.mark.parametrize("role", ROLES)
def test_a_column_s_name_does_not_matter(tmp_path: Path, role: str, ending: str) -> None:
    """What a column called `plain` gives, one called anything else gives too."""
    frame = pl.DataFrame(
        {"aa": [5, 6, 7], "ab": [1, 1, 0], "key": [1, 2, 3], "gold": [1, 0, 0], "plain": [1, 0, 1]}
    )
    seen = []
    names = ("plain", *NAMES) if ending == "frame" else ("plain", *NAMES[:6])
    for name in names:
        left = frame.rename({"plain": name})
        right = left[::-1].with_columns(ab=pl.Series([1, 0, 1]))
        options = ROLES[role](name)
        options = {"on": "key", **options}
        if not {"correct", "score", "prediction"} & options.keys():
            options["correct"] = "ab"
        if role == "on":  # needs distinct values
            left, right = (one.with_columns(pl.col("key").alias(name)) for one in (left, right))
        sources: list[Any] = [left, right]
        if ending != "frame":
            sources = [tmp_path / f"left.{ending}", tmp_path / f"right.{ending}"]
            for source, one in zip(sources, (left, right), strict=True):
                WRITERS[ending](one, source)
        report = streamcmp.compare(*sources, **options).to_dict()
        results = [
            {key: value for key, value in row.items() if key not in ("family", "slice")}
            | {"values": [str(value) for value in row["slice"].values()]}
            for row in report["results"]
        ]
        seen.append((report["ledger"], results))
    assert all(one == seen[0] for one in seen), [
        name for name, one in zip(names, seen, strict=True) if one != seen[0]
    ]


@pytest.mark.parametrize("side", [0, 1])
def test_on_row_says_that_it_is_not_the_column_row(side: int) -> None:
    plain = pl.DataFrame({"id": [1, 2], "correct": [1, 0]})
    logs = [plain, plain.clone()]
    notes: list[str] = []
    streamcmp.compare(*logs, on="row", on_note=notes.append)
    assert not any("position" in note for note in notes)
    logs[side] = plain.with_columns(row=pl.Series([2, 1]))
    assert streamcmp.compare(*logs, on="row", on_note=notes.append).to_dict()["results"][0]["n_ab"] == 0
    assert any("by their position, not by the column 'row'" in note for note in notes)


@pytest.mark.parametrize(
    ("by", "says"),
    [
        ([("overall",)], "all pairs"),
        ([("",)], "empty"),
        ([("x", "")], "empty"),
        ([("x", "x")], "the same column twice"),
        ([("x", "y"), ("x,y",)], "the same family twice"),
        (["x,y", "x , y"], "the same family twice"),
    ],
    ids=str,
)
def test_families_that_could_not_be_told_apart_are_refused(by: Any, says: str) -> None:
    log = pl.DataFrame({"id": [1], "correct": [1], "overall": [1], "": [1], "x": [1], "y": [1], "x,y": [1]})
    with pytest.raises(UsageError, match=says):
        streamcmp.compare(log, log, by=by)


def test_a_column_that_neither_log_has() -> None:
    log = pl.DataFrame({"id": [1], "correct": [1], "domain": ["x"]})
    asked: list[dict[str, Any]] = [{"by": ["doman"]}, {"where": "doman = 'x'"}]
    for options in asked:
        with pytest.raises(UsageError) as caught:
            streamcmp.compare(log, log, **options)
        assert str(caught.value).startswith("neither log has a column 'doman'")
        assert "did you mean 'domain'?\ntheir columns: id, correct, domain" in str(caught.value)


def test_a_truth_file_beyond_the_memory() -> None:
    log = pl.DataFrame({"id": [1, 2], "prediction": ["x", "y"]})
    truth = pl.DataFrame({"id": [1, 2], "label": ["x", "y" * (65 << 20)]})
    for memory in (None, "64MiB"):
        assert streamcmp.compare(log, log, truth=truth, memory=memory).overall["both_correct"] == 1


_NOON = datetime(2020, 1, 1, 12, 0, 0, 5, tzinfo=UTC)
# Values of every type that can slice, label, guard or identify, in ascending order.
VALUES: dict[str, tuple[pl.DataType, list[Any]]] = {
    "Int8": (pl.Int8(), [-2, 1]),
    "UInt64": (pl.UInt64(), [2**63, 2**64 - 1]),
    "Int128": (pl.Int128(), [-(2**100), 2**100]),
    "UInt128": (pl.UInt128(), [1, 2**100]),
    "Float16": (pl.Float16(), [0.5, 1.0]),
    "Float32": (pl.Float32(), [0.5, 2.0**20]),
    "Float64": (pl.Float64(), [-0.1, 1e300]),
    "Infinity": (pl.Float64(), [-math.inf, math.inf]),
    "Decimal": (pl.Decimal(38, 10), [Decimal("-2.5"), Decimal("1.0000000001")]),
    "Date": (pl.Date(), [date(1, 1, 1), date(9999, 12, 31)]),
    "Datetime": (pl.Datetime("ms"), [datetime(1969, 1, 1), datetime(2020, 1, 1, 1)]),  # noqa: DTZ001
    "zoned Datetime": (pl.Datetime("us", "Europe/Berlin"), [_NOON, _NOON + timedelta(hours=1)]),
    "Time": (pl.Time(), [time(1), time(23, 59, 59, 999999)]),
    "Binary": (pl.Binary(), [b"", b"\xff\0"]),
    "Boolean": (pl.Boolean(), [False, True]),
    "String": (pl.String(), ["", "x" * 1_000_000]),
    "Categorical": (pl.Categorical(), ["x", "y"]),
    "Enum": (pl.Enum(["x", "y"]), ["x", "y"]),
    "Null": (pl.Null(), [None, None]),
}
UNUSABLE: dict[str, tuple[pl.DataType, list[Any]]] = {
    "List": (pl.List(pl.Int64()), [[1], []]),
    "Array": (pl.Array(pl.Int64(), 2), [[1, 2], [3, 4]]),
    "Struct": (pl.Struct({"x": pl.Int64()}), [{"x": 1}, {"x": 2}]),
    "Duration": (pl.Duration(), [timedelta(1), timedelta(2)]),
}


def typed(dtype: pl.DataType, values: list[Any]) -> pl.DataFrame:
    """Two rows with these values, and one with null."""
    texts = str(dtype) in ("Int128", "UInt128")
    column = pl.Series(
        "v", [str(value) for value in values] if texts else values, pl.String() if texts else dtype
    )
    column = pl.concat([column.cast(dtype), pl.Series("v", [None], dtype=dtype)])
    return pl.DataFrame({"id": [1, 2, 3], "correct": [1, 0, 1], "v": column})


@pytest.mark.parametrize("strategy", ["auto", "buckets"])
@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("name", VALUES)
def test_a_slice_of_any_type_is_counted_rendered_and_saved(
    tmp_path: Path, name: str, strategy: Literal["auto", "buckets"], *, crossed: bool
) -> None:
    dtype, values = VALUES[name]
    frame = typed(dtype, values)
    by: list[Any] = [("v", "id") if crossed else "v"]
    report = streamcmp.compare(frame, frame.clone(), by=by, strategy=strategy)
    slices = report.results.filter(family=",".join(by[0]))
    expected = 1 if name == "Null" and not crossed else 3
    assert slices.height == expected
    if expected == 3 and name not in ("Categorical", "Enum", "Null"):
        assert slices["slice.v"].dtype == dtype
        assert slices["slice.v"].sort(nulls_last=True).to_list() == frame["v"].to_list()
    for render in RENDERERS.values():
        assert render(report)
    tally = streamcmp.count(frame, frame.clone(), by=by, strategy=strategy)
    tally.save(tmp_path / "x.tally")
    assert Tally.load(tmp_path / "x.tally") == tally
    assert streamcmp.finalize(tmp_path / "x.tally").to_dict()["results"] == report.to_dict()["results"]


_FAR = 2**60  # days, or units of a time: no calendar gets there
HARD: dict[str, tuple[pl.Series, list[Any]]] = {
    "Float32": (pl.Series([0.1, 1e30], dtype=pl.Float32), [0.10000000149011612, 1.0000000150474662e30]),
    "Float16": (pl.Series([0.1]).cast(pl.Float16), [0.0999755859375]),
    "Float64": (
        pl.Series([5e-324, 1e16, 123456789012345680.0, 1e300]),
        [5e-324, 1e16, 123456789012345680.0, 1e300],
    ),
    "integers": (pl.Series([-(2**63), -(2**63) + 1]), [-(2**63), -(2**63) + 1]),
    "years": (
        pl.Series([0, 3_000_000], dtype=pl.Int32).cast(pl.Date),
        ["1970-01-01", "+10183-09-21"],
    ),
    "Date": (
        pl.Series([-(2**31), 0, 2**31 - 1], dtype=pl.Int32).cast(pl.Date),
        ["-2147483648 days from 1970-01-01", "1970-01-01", "2147483647 days from 1970-01-01"],
    ),
    "Datetime": (
        pl.Series([-_FAR, 0, _FAR]).cast(pl.Datetime("ms")),
        [f"-{_FAR} ms from 1970-01-01", "1970-01-01T00:00:00.000", f"{_FAR} ms from 1970-01-01"],
    ),
    "zoned Datetime": (
        pl.Series([0, 8 * _FAR - 1]).cast(pl.Datetime("us", "Asia/Tokyo")),
        ["1970-01-01T09:00:00.000000+09:00", f"{8 * _FAR - 1} us from 1970-01-01"],
    ),
    "text": (pl.Series(["\0", "\u2028", '"\\', "\r\n"]), ["\0", '"\\', "\u2028", "\r\n"]),
}


@pytest.mark.parametrize("name", HARD)
def test_json_says_what_the_report_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamcmp.logs.view.SPAN_ROWS", 0)
    values, ready = HARD[name]
    column = 'a "name"\\\n'
    frame = pl.DataFrame({"id": range(len(values)), "correct": [1] * len(values), column: values})
    report = streamcmp.compare(frame, frame.clone(), on="id", by=[(column,)])
    assert json.loads(RENDERERS["json"](report)) == report.to_dict()
    found = [result["slice"][column] for result in report.to_dict()["results"][1:]]
    assert sorted(found, key=str) == sorted(ready, key=str)
    for render in RENDERERS.values():
        assert render(report)


@pytest.mark.parametrize("name", VALUES)
def test_labels_and_guards_of_any_type(name: str) -> None:
    dtype, values = VALUES[name]
    frame = typed(dtype, values).with_columns(label="v", prediction="v")
    if name != "Null":
        found = streamcmp.compare(frame, frame[::-1], guards="v", prediction="prediction").to_dict()
        assert found["ledger"]["a"]["missing"] == 1
        assert found["results"][0]["both_correct"] == 2
        changed = frame.with_columns(pl.Series("v", [*frame["v"][1:2], *frame["v"][:1], None], dtype=dtype))
        found = streamcmp.compare(frame, changed, guards="v", correct="correct", mismatch="drop").to_dict()
        assert (found["ledger"]["a"]["guard_mismatch"], found["ledger"]["a"]["paired"]) == (2, 1)


@pytest.mark.parametrize("name", UNUSABLE)
def test_nested_values_are_refused_where_one_value_is_needed(name: str) -> None:
    frame = typed(*UNUSABLE[name])
    lists = name in {"List", "Array"}  # as slices these are many: an example counts in each
    for options in (
        *([] if lists else [{"by": "v"}]),
        {"on": "v"},
        {"guards": "v"},
        {"correct": "v"},
        {"prediction": "v", "label": "id"},
    ):
        with pytest.raises(UsageError, match=r"'v' is .*; "):
            streamcmp.compare(frame, frame.clone(), **options)  # type: ignore[arg-type]
    assert streamcmp.compare(frame, frame.clone()).to_dict()["results"][0]["n"] == 3


@pytest.mark.parametrize(
    "condition",
    [
        "SUM(id) > 1", "id = MAX(id)", "COUNT(*) > 1", "LAST(id) > 1", "MEDIAN(id) > 0",
        "STRING_AGG(t) = 'a'",
        "QUANTILE_CONT(id, 0.5) > 1", "QUANTILE_DISC(id, 0.5) > 1", "CORR(id, correct) > 0",
        "COVAR(id, correct) > 0", "UNNEST(l) > 1", "RANK() OVER (ORDER BY id) > 1", "id IN (SELECT 1)",
        "SUM(id) OVER (PARTITION BY t) > 1", "LAG(id) OVER (ORDER BY id) > 1",
    ],
)  # fmt: skip
def test_where_never_looks_at_other_rows(condition: str) -> None:
    """Else the rows kept would depend on how the log is cut into batches."""
    log = pl.DataFrame({"id": [1, 2], "correct": [1, 0], "t": ["a", "b"], "l": [[1], [2, 3]]})
    with pytest.raises(UsageError, match="looks at several rows"):
        streamcmp.compare(log, log, where=condition)


@pytest.mark.parametrize(
    ("truth", "options", "says"),
    [
        ({"id": ["1"], "label": ["x"]}, {}, "column 'id' of the truth frame is text"),
        ({"id": [1, 1], "label": ["x", "y"]}, {}, "the truth frame: id 1 occurs more than once"),
        ({"id": [1, None], "label": ["x", "y"]}, {}, "the truth frame, row 2: 'id' is None; every row"),
        (
            {"id": [1.0, 2.5], "label": ["x", "y"]},
            {},
            "the truth frame, row 2: 'id' is 2.5; this id is not a",
        ),
        ({"id": [], "label": []}, {}, "the truth frame holds no rows"),
        ({"id": [1], "label": ["x"]}, {"label": "gold"}, "the truth frame has no column 'gold'"),
        ({"id": [1], "other": ["x"]}, {}, "the truth frame has no label column"),
        ({"task": [1], "label": ["x"]}, {}, "the truth frame has no id|needs the logs' id columns"),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_truth_is_said_of_the_truth(
    truth: dict[str, Any], options: dict[str, Any], says: str
) -> None:
    log = pl.DataFrame({"id": [1, 2], "prediction": ["x", "y"]})
    with pytest.raises(StreamcmpError, match=says):
        streamcmp.compare(log, log, truth=pl.DataFrame(truth), **options)


def test_a_bad_truth_row_is_counted_within_its_file(tmp_path: Path) -> None:
    log = pl.DataFrame({"id": [1, 2], "prediction": ["x", "y"]})
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "0.csv").write_text("id,label\n1,x\n")
    (tmp_path / "t" / "1.csv").write_text("id,label\n2,y\n03,y\n")
    with pytest.raises(DataError, match=r"1\.csv, row 2: 'id' is '03'; .*--id-type int"):
        streamcmp.compare(log, log, truth=tmp_path / "t")
    assert streamcmp.compare(log, log, truth=tmp_path / "t", id_type="int").to_dict()["results"][0]["n"] == 2


@pytest.mark.parametrize("dtype", [pl.Int8(), pl.UInt8(), pl.Int64()])
def test_slices_of_a_csv_are_not_cut_to_the_width_of_the_other_log_s_type(
    tmp_path: Path, dtype: pl.DataType
) -> None:
    (tmp_path / "l.csv").write_text("id,correct,year\n1,1,2020\n2,1,2021\n3,1,7\n")
    typed = pl.DataFrame({"id": [1, 2, 3], "correct": [1, 1, 1], "year": pl.Series([7, 7, 7], dtype=dtype)})
    for logs, years in (((tmp_path / "l.csv", typed), [7, 2020, 2021]), ((typed, tmp_path / "l.csv"), [7])):
        report = streamcmp.compare(*logs, by="year").to_dict()
        assert sorted(row["slice"]["year"] for row in report["results"][1:]) == years
        assert [warning["pairs"] for warning in report["warnings"]] == [2]


def test_slices_of_a_csv_beside_narrow_floats(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("id,correct,x\n1,1,0.1\n2,1,0.10\n")
    typed = pl.DataFrame({"id": [1, 2], "correct": [1, 1], "x": pl.Series([0.1, 0.1], dtype=pl.Float32())})
    for logs in ((tmp_path / "l.csv", typed), (typed, tmp_path / "l.csv")):
        report = streamcmp.compare(*logs, by="x").to_dict()
        assert len(report["results"]) == 2
        assert report["warnings"] == []


def test_a_slice_wider_than_those_before_is_an_error_and_not_null(tmp_path: Path) -> None:
    rows = [{"id": number, "correct": 1, "x": 2**63 if number >= 1500 else 1} for number in range(2000)]
    (tmp_path / "l.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError, match=r"row 1,501: 'x' is 9223372036854775808; this slice value does not"):
        streamcmp.compare(tmp_path / "l.jsonl", tmp_path / "l.jsonl", by="x")


@pytest.mark.parametrize(("tolerance", "correct"), [(0, 1), (0.5, 1), (1, 2), (1.5, 2), (1e300, 3)])
@pytest.mark.parametrize("dtype", [pl.Int64(), pl.UInt64(), pl.Int128()])
def test_large_integers_within_a_tolerance(dtype: pl.DataType, tolerance: float, correct: int) -> None:
    frame = pl.DataFrame(
        {
            "id": [1, 2, 3, 4],
            "prediction": pl.Series([2**62 + 1, 2**62, 0, None], dtype=dtype),
            "label": pl.Series([2**62, 2**62, 2**62, 1], dtype=dtype),
        }
    )
    result = streamcmp.compare(frame, frame.clone(), tolerance=tolerance).to_dict()["results"][0]
    assert (result["n"], result["both_correct"]) == (3, correct)


def test_direct_never_takes_more_than_the_memory() -> None:
    far = pl.DataFrame({"id": [5, 2**40, 7], "correct": [1, 0, 1]})
    with pytest.raises(DataError, match="--strategy direct cannot"):
        streamcmp.compare(far, far[::-1], strategy="direct")
    assert streamcmp.compare(far, far[::-1]).to_dict()["results"][0]["n"] == 3


def test_metadata_that_say_no_range_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lowest above the highest: of no use, and no reason to fail."""
    monkeypatch.setattr("streamcmp.logs.view.SPAN_ROWS", 0)
    monkeypatch.setattr("streamcmp.logs.formats.frame.FrameShard.bounds", lambda _shard, _column: (9, 1))
    frame = pl.DataFrame({"id": [3, 1, 2], "correct": [1, 0, 1], "level": [5, 6, 5]})
    results = streamcmp.compare(frame, frame[::-1], by="level").to_dict()["results"]
    assert [(result["slice"], result["n"]) for result in results] == [
        ({}, 3),
        ({"level": 5}, 2),
        ({"level": 6}, 1),
    ]
    with pytest.raises(DataError, match="--strategy direct cannot"):
        streamcmp.compare(frame, frame[::-1], strategy="direct")


@pytest.mark.parametrize("given", [{"bucket_bits": 13}, {"bucket_bits": -1}, {"chunk_rows": 0}])
def test_resources_that_no_strategy_can_keep_to(given: dict[str, Any]) -> None:
    """A bucket's number and a row's share 32 bits: of too many buckets, rows would be lost."""
    with pytest.raises(UsageError, match=next(iter(given))):
        Resources(**given)


def test_a_slice_has_one_column_per_side() -> None:
    left = pl.DataFrame({"id": [1], "correct": [1], "x": ["a"], "y": ["b"], "level": [1]})
    right = pl.DataFrame({"id": [1], "correct": [0]})
    by: list[Any] = ["domain", ("domain", "level")]
    owns: list[Any] = [["x", ("y", "level")], ["y", ("x", "level")]]
    for own in owns:
        with pytest.raises(UsageError, match=r"--left-by gives 'domain' two columns, '[xy]' and '[xy]'"):
            streamcmp.compare(left, right, by=by, left_options={"by": own})
    report = streamcmp.compare(left, right, by=by, left_options={"by": ["x", ("x", "level")]})
    assert [row["slice"].get("domain") for row in report.to_dict()["results"]] == [None, "a", "a"]


@pytest.mark.parametrize("form", ["frame", "parquet"])
def test_rows_paired_by_position_keep_their_order(form: str, tmp_path: Path) -> None:
    """Polars swapped halves of a small log's computed columns in one pass of twenty."""
    frame = pl.DataFrame({"correct": [1] * 7 + [0] * 6})
    frame.write_parquet(tmp_path / "x.parquet")
    log = frame if form == "frame" else tmp_path / "x.parquet"
    for _ in range(150):
        overall = streamcmp.compare(log, frame.clone(), on="row").overall
        assert (overall["both_correct"], overall["both_wrong"]) == (7, 6)
