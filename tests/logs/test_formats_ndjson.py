from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcmp.errors import DataError
from streamcmp.logs.formats import json_values, text
from tests.logs.shards import COMPRESS, heights, open_one, read, types, write


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("kind", ["jsonl", "ndjson", "json"])
def test_plain_and_compressed(tmp_path: Path, ending: str, kind: str) -> None:
    rows = '{"id":1,"ok":true,"note":"x"}\n{"id":2,"ok":null}\n{"id":3,"more":{"deep":[1]}}\n'
    shard = open_one(write(tmp_path / f"log.{kind}{ending}", rows))
    assert shard.schema() == {
        "id": pl.Int64, "ok": pl.Boolean, "note": pl.String, "more": pl.Struct([]),
        "more.deep": pl.List(pl.Int64()),
    }  # fmt: skip
    assert not shard.untyped
    assert read(shard, "ok", "absent", "id") == [(True, None, 1), (None, None, 2), (None, None, 3)]
    assert heights(shard) == heights(shard, ["absent"]) == 3


@pytest.mark.parametrize(
    ("raw", "values"),
    [
        ("1", 1),
        ("-0", 0),
        (str(2**63 - 1), 2**63 - 1),
        (str(2**64), 2**64),
        (str(-(2**127)), -(2**127)),
        ("1.0", 1.0),
        ("1e3", 1000.0),
        ("true", True),
        ('"007"', "007"),
        ('"\\u00e9\\ud83d\\ude00"', "é😀"),
        ("Infinity", math.inf),
        ("null", None),
    ],
)
def test_values_keep_their_type(tmp_path: Path, raw: str, values: object) -> None:
    ((value,),) = read(open_one(write(tmp_path / "log.jsonl", f'{{"x":{raw}}}\n')), "x")
    assert value == values
    assert type(value) is type(values)


def test_nan(tmp_path: Path) -> None:
    shard = open_one(write(tmp_path / "log.jsonl", '{"x":0.5}\n{"x":NaN}\n{"x":1}\n'))
    assert types(shard, "x") == [pl.Float64]
    assert [str(value) for (value,) in read(shard, "x")] == ["0.5", "nan", "1.0"]


@pytest.mark.parametrize(
    ("values", "dtypes"),
    [
        ([1, None, 2], [pl.Int64]),
        ([1, 2**64, None], [pl.Int128]),
        ([None, None], [pl.Null]),
        ([1, 0.5, None, 2], [pl.Float64]),
        ([2**53 - 1, 0.5], [pl.Float64]),
        ([2**53, 0.5], [pl.Int64, pl.Float64]),
        ([True, None, 1, 0], [pl.Boolean, pl.Int64]),
        ([None, "a", 1, 0.5, "b", None], [pl.String, pl.Float64, pl.String]),
    ],
)
def test_one_type_per_batch(tmp_path: Path, values: list[object], dtypes: list[type[pl.DataType]]) -> None:
    lines = "".join(json.dumps({"x": value, "row": row}) + "\n" for row, value in enumerate(values))
    shard = open_one(write(tmp_path / "log.jsonl", lines))
    assert types(shard, "x") == dtypes
    assert read(shard, "row", "x") == list(enumerate(values))


@given(st.lists(st.none() | st.booleans() | st.integers(-(2**127), 2**127 - 1) | st.floats(allow_nan=False)
                | st.text(st.characters(exclude_categories=["Cs"])), min_size=1))  # fmt: skip
def test_batches_are_exact(values: list[object]) -> None:
    def at(row: int, what: str) -> DataError:
        return DataError(f"{row} {what}")

    frames = list(json_values.columns_of(["x"], [values], at))
    out = [value for frame in frames for value in frame["x"]]
    assert out == values
    assert [type(value) for value in out if not isinstance(value, float)] == [
        type(value) for value, now in zip(values, out, strict=True) if not isinstance(now, float)
    ]


def test_key_first_seen_late(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"id": i} | ({"ok": True} if i >= 1500 else {})) + "\n" for i in range(3000))
    shard = open_one(write(tmp_path / "log.jsonl", lines))
    assert list(shard.schema()) == ["id"]
    assert shard.schema(complete=True) == {"id": pl.Int64, "ok": pl.Boolean}
    assert [value for (value,) in read(shard, "ok")] == [None] * 1500 + [True] * 1500


def test_schema_of_mixed_values(tmp_path: Path) -> None:
    lines = '{"a":null,"b":1,"c":"x","d":1,"e":null}\n{"a":[1],"b":0.5,"c":2,"d":9223372036854775808}\n'
    assert open_one(write(tmp_path / "log.jsonl", lines)).schema() == {
        "a": pl.List(pl.Int64), "b": pl.Float64, "c": pl.String, "d": pl.Int128, "e": pl.Null,
    }  # fmt: skip


def test_bytes_around_the_lines(tmp_path: Path) -> None:
    shard = open_one(write(tmp_path / "log.jsonl", '\ufeff\r\n{"x":1}\r\n\n \t\n{"x":2}'))
    assert read(shard, "x") == [(1,), (2,)]


@pytest.mark.parametrize(
    "name", ["a.b", "", "é", 'q"', "back\\slash", "new\nline", "class", "f0", "^x$", "*"]
)
def test_odd_keys(tmp_path: Path, name: str) -> None:
    for last in (2.5, math.nan):  # NaN sends the block to the slow way
        rows = [{name: 1, "id": 2}, {"id": 3, name: last}]
        shard = open_one(write(tmp_path / "log.jsonl", "\n".join(map(json.dumps, rows))))
        assert shard.schema()[name] == pl.Float64
        assert str(read(shard, "id", name)) == f"[(2, 1.0), (3, {last})]"


def test_last_of_duplicate_keys_counts(tmp_path: Path) -> None:
    # NaN sends a block to the slow way; both ways must agree.
    for more in ("", ',"n":NaN'):
        shard = open_one(write(tmp_path / "log.jsonl", f'{{"x":1,"x":2{more}}}\n'))
        assert read(shard, "x") == [(2,)]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"x":1}\n\n{"x":2,"y', r"line 3 is not one JSON object: '{\"x\":2,\"y'"),
        ('{"x":1}\n{"x":2} {"x":3}\n', "line 2 is not one JSON object"),
        ('{"x":1}\n{"x":2}{"x":3}\n', "line 2 is not one JSON object"),
        ('{"x":1}\n{"x":2\n}\n', "line 2 is not one JSON object"),
        ('{"x":1}\n{"x":01}\n', "line 2 is not one JSON object"),
        ('{"x":1}\n[{"x":1}]\n', "line 2 holds a list instead of an object"),
        ('{"x":1}\nnull\n', "line 2 holds null instead of an object"),
        ('{"x":1}\n\n5\n', "line 3 holds a number instead of an object: '5'"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("columns", [["x"], ["absent"], []])
def test_lines_that_are_no_object(tmp_path: Path, lines: str, message: str, columns: list[str]) -> None:
    path = write(tmp_path / "log.jsonl", '{"x":0}\n' * 1200 + lines)
    message = message.replace("line 2", "line 1,202").replace("line 3", "line 1,203")
    with pytest.raises(DataError, match=f"log.jsonl: {message}"):
        heights(open_one(path), columns)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ('[1, "a"]', "holds a list of several types in column 'x'"),
        ('["a", {"a":1}]', "holds a list of several types in column 'x'"),
        ('[[{"a":1}]]', "holds an object in column 'x'"),
        ('{"a":1}', "holds an object in column 'x'"),
        (str(2**127), "has an integer beyond 128 bits in column 'x'"),
        ("9" * 5000, "holds an integer of thousands of digits"),
        ('"\\ud800"', "has invalid Unicode in column 'x'"),
        (b'"\xff"', "has invalid Unicode in column 'x'"),
        ("[" * 100_000 + "]" * 100_000, "is nested too deeply"),
    ],
)
def test_values_that_cannot_be_read(tmp_path: Path, raw: str | bytes, message: str) -> None:
    raw = raw.encode() if isinstance(raw, str) else raw
    shard = open_one(write(tmp_path / "log.jsonl", b'{"x":null}\n\n{"x":' + raw + b',"id":7}\n'))
    with pytest.raises(DataError, match=f"log.jsonl: line 3 {message}"):
        read(shard, "id", "x")
    if "digits" not in message and "nested" not in message:
        assert read(shard, "id") == [(None,), (7,)]  # a column nobody needs does not matter


def test_lists_of_one_type(tmp_path: Path) -> None:
    rows = ['{"x":[1,2]}', '{"x":[]}', '{"x":null}', "{}", '{"x":[null]}', '{"x":[0.5]}']
    shard = open_one(write(tmp_path / "log.jsonl", "\n".join(rows)))
    assert shard.schema()["x"] == pl.List(pl.Float64)
    assert read(shard, "x") == [([1.0, 2.0],), ([],), (None,), (None,), ([None],), ([0.5],)]
    later = '{"x":[]}\n' * 2000 + '{"x":["a"]}\n'
    shard = open_one(write(tmp_path / "later.jsonl", later))
    assert shard.schema()["x"] == pl.List(pl.Null)
    assert shard.schema(complete=True)["x"] == pl.List(pl.String)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"x":1},\n{"x":2}]\n', r"one JSON array, not one object a line.*jq -c '\.\[\]'"),
        ('\n {\n  "x": 1\n}\n', "one JSON object over several lines"),
        ('{"x":1}'.encode("utf-16"), "UTF-16"),
    ],
)
def test_other_json(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=f"log.json: .*{message}"):
        open_one(write(tmp_path / "log.json", content))


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_empty(tmp_path: Path, content: str) -> None:
    shard = open_one(write(tmp_path / "log.jsonl", content))
    assert shard.schema() == shard.schema(complete=True) == {}
    assert read(shard, "x") == []


def test_blocks_do_not_change_what_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(i, f"{'y' * (i % 40)}é") for i in range(400)]
    lines = "\n".join(json.dumps({"id": a, "note": b}, ensure_ascii=False) for a, b in rows)
    path = write(tmp_path / "log.jsonl.gz", "\ufeff" + lines)
    for block in (1, 7, 50, 64, 10_000):
        found = [part for _, part in text.line_blocks(path, block)]
        assert b"".join(found).decode() == lines
        numbers = [number for number, _ in text.line_blocks(path, block)]
        assert numbers == [1 + b"".join(found[:i]).count(b"\n") for i in range(len(found))]
    assert read(open_one(path), "id", "note") == rows
    monkeypatch.setattr(text, "LONGEST_LINE", 20)
    with pytest.raises(DataError, match="line 1 is longer than"):
        list(text.line_blocks(path, 8))


def test_value(tmp_path: Path) -> None:
    shard = open_one(write(tmp_path / "log.jsonl", '{"x":1}\n{"x":"a"}\n'))
    assert (shard.value("x", 0), shard.value("x", 1)) == (1, "a")
