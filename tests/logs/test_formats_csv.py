from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from streamcmp.errors import DataError, UsageError
from streamcmp.logs.formats import csv as csv_format
from tests.logs.shards import COMPRESS, heights, open_one, read, write


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize(("kind", "comma"), [("csv", ","), ("tsv", "\t")])
def test_plain_and_compressed(tmp_path: Path, ending: str, kind: str, comma: str) -> None:
    text = "id,ok,note\n007,true,x\n2,,\n3,,q\n".replace(",", comma)
    shard = open_one(write(tmp_path / f"log.{kind}{ending}", text))
    assert list(shard.schema()) == ["id", "ok", "note"]
    assert shard.untyped
    assert shard.rows is None
    assert read(shard, "ok", "id") == [("true", "007"), (None, "2"), (None, "3")]
    assert read(shard, "ok", "id") == read(shard, "ok", "id")  # as often as asked


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("\ufeffid,ok\r\n1,a\r\n2,b\r\n", [("1", "a"), ("2", "b")]),
        ("id,ok\n1,a\n2,b", [("1", "a"), ("2", "b")]),
        ('id,ok\n"1\n2","a, ""b"""\n3,c\n', [("1\n2", 'a, "b"'), ("3", "c")]),
        ('id,ok\n1,""\n2,\n', [("1", ""), ("2", None)]),
        ("id,ok\n1,a\n\n\n2,b\n\n", [("1", "a"), ("2", "b")]),  # blank lines are no rows of two columns
        ("\n\nid,ok\n1,a\n", [("1", "a")]),
        ("id,ok\n ,NA\n", [(" ", "NA")]),  # text as it stands
        ("id,ok\n", []),
        ("id,ok", []),
        ("", []),
        ("\ufeff", []),
    ],
)
def test_values(tmp_path: Path, text: str, rows: list[tuple[str | None, str | None]]) -> None:
    shard = open_one(write(tmp_path / "log.csv", text))
    assert read(shard, "id", "ok") == rows
    assert heights(shard) == len(rows)
    assert heights(shard, ["absent"]) == len(rows)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("ok\n1\n\n0\n", ["1", None, "0"]),  # in one column a blank line is a row
        ("ok\n1\n\n", ["1", None]),
        ("\nok\n1\n", ["1"]),
        ("ok", []),
    ],
)
def test_blank_lines_of_one_column(tmp_path: Path, text: str, rows: list[str | None]) -> None:
    assert read(open_one(write(tmp_path / "log.csv", text)), "ok") == [(value,) for value in rows]


def test_empty_file_has_no_rows_and_no_columns(tmp_path: Path) -> None:
    shard = open_one(write(tmp_path / "log.csv", ""))
    assert shard.rows == 0
    assert shard.schema() == {}


def test_missing_columns_are_null(tmp_path: Path) -> None:
    shard = open_one(write(tmp_path / "log.csv", "id\n1\n2\n"))
    assert read(shard, "x", "id", "y") == [(None, "1", None), (None, "2", None)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,ok\n1,true\n2", r"row 2 \(line 3\) has 1 field where the header has 2: '2'"),
        ("id,ok\n1,true,x\n", r"row 1 \(line 2\) has 3 fields where the header has 2: '1,true,x'"),
        ('id,ok\n"1\n1",true\n\n2\n3,x\n', r"row 2 \(line 5\) has 1 field"),
        ('id,ok\n1,true\n2,"tr', r"a quote opened in row 2 \(line 3\) is never closed"),
        ('id,ok\n1,true\n"2', r"a quote opened in row 2 \(line 3\) is never closed"),
        ('id,ok\n1,"true\n2,true\n3,true\n', r"a quote opened in row 1 \(line 2\) is never closed"),
        ("ok\n1\n\n0,0\n", r"row 3 \(line 4\) has 2 fields where the header has 1"),
        ("\nok\n1\n0,0\n", r"row 2 \(line 4\) has 2 fields where the header has 1"),
        ("id,ok\n1," + "x" * 500 + ",\n", r"row 1 \(line 2\).*: '1,x{58}…'$"),
    ],
)
def test_wrong_rows_are_named(tmp_path: Path, text: str, message: str) -> None:
    shard = open_one(write(tmp_path / "log.csv", text))
    for columns in (["ok"], ["absent"], []):
        with pytest.raises(DataError, match=message) as caught:
            heights(shard, columns)
        assert str(caught.value).startswith(f"{tmp_path / 'log.csv'}: ")


def test_invalid_utf8(tmp_path: Path) -> None:
    shard = open_one(write(tmp_path / "log.csv", b"id,ok\n1,a\n2,\xff\n"))
    assert read(shard, "id") == [("1",), ("2",)]  # where nobody needs it, it does not matter
    with pytest.raises(DataError, match=r"log.csv: row 2 \(line 3\), column 'ok' is not valid UTF-8"):
        read(shard, "id", "ok")
    with pytest.raises(DataError, match="the header is not valid UTF-8"):
        open_one(write(tmp_path / "head.csv", b"id,\xff\n1,a\n"))
    with pytest.raises(DataError, match="UTF-16"):
        open_one(write(tmp_path / "wide.csv", "id,ok\n1,a\n".encode("utf-16")))


def test_duplicate_names_matter_only_if_needed(tmp_path: Path) -> None:
    shard = open_one(write(tmp_path / "log.csv", "x,x,ok\n1,2,true\n"))
    assert read(shard, "ok") == [("true",)]
    assert heights(shard) == 1
    with pytest.raises(DataError, match="column 'x' stands in the header 2 times"):
        read(shard, "ok", "x")


def test_names_given_for_a_file_without_header(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", "\ufeff1,a\n\n2,b")
    shard = open_one(path, columns=("id", "ok"))
    assert list(shard.schema()) == ["id", "ok"]
    assert read(shard, "ok", "id") == [("a", "1"), ("b", "2")]
    with pytest.raises(DataError, match=r"row 1 \(line 1\) has 2 fields where --columns names 3"):
        read(open_one(path, columns=("a", "b", "c")), "a")
    assert read(open_one(write(tmp_path / "none.csv", ""), columns=("a", "b")), "a") == []


@pytest.mark.parametrize("ending", [".gz", ".zst", ".bz2"])
def test_truncated_archives(tmp_path: Path, ending: str) -> None:
    text = "id,ok\n" + "".join(f"{random.Random(i).random()},{i}\n" for i in range(3000))
    path = write(tmp_path / f"log.csv{ending}", text)
    whole = path.read_bytes()
    assert heights(open_one(path), ["ok"]) == 3000
    for cut in (1, 9, len(whole) // 2):
        path.write_bytes(whole[:-cut])
        with pytest.raises(DataError, match=f"log.csv{ending}: cannot be read: Truncated"):
            heights(open_one(path), ["ok"])


def test_archives_of_several_members(tmp_path: Path) -> None:
    parts = [COMPRESS[".gz"](part) for part in (b"id,o", b"k\n1,a\n", b"2,b\n")]
    (tmp_path / "log.csv.gz").write_bytes(b"".join(parts))
    assert read(open_one(tmp_path / "log.csv.gz"), "id", "ok") == [("1", "a"), ("2", "b")]


def test_compression_is_told_by_content(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(COMPRESS[".gz"](b"id\n1\n"))
    (tmp_path / "plain.csv.gz").write_bytes(b"id\n1\n")
    assert (
        read(open_one(tmp_path / "log.csv"), "id")
        == read(open_one(tmp_path / "plain.csv.gz"), "id")
        == [("1",)]
    )


def test_rows_longer_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(str(i), "x" * (i if i % 700 else 9000)) for i in range(1, 2000)]
    path = write(tmp_path / "log.csv", "id,note\n" + "".join(f"{a},{b}\n" for a, b in rows))
    monkeypatch.setattr(csv_format, "_BLOCKS", (2500, 1 << 20))
    assert read(open_one(path), "id", "note") == rows
    monkeypatch.setattr(csv_format, "_BLOCKS", (2500, 2600))
    with pytest.raises(DataError, match=r"row [67]\d\d \(line [67]\d\d\) or one soon after is longer than"):
        read(open_one(path), "id")


def test_long_header(tmp_path: Path) -> None:
    names = [f"column {i}" for i in range(20_000)]
    path = write(tmp_path / "log.csv", ",".join(names) + "\n" + ",".join(map(str, range(20_000))) + "\n")
    assert read(open_one(path), "column 19999", "column 0") == [("19999", "0")]


def test_blocks_do_not_change_what_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(str(i), random.Random(i).choice(["", "a\nb", 'q"', "x,y", "é" * 5])) for i in range(500)]
    quoted = "".join('{},"{}"\r\n'.format(a, b.replace('"', '""')) for a, b in rows)
    path = write(tmp_path / "log.csv.gz", "id,note\r\n" + quoted)
    for block in (64, 65, 127, 1000):
        monkeypatch.setattr(csv_format, "_BLOCKS", (block,))
        assert read(open_one(path), "id", "note") == rows


def test_value(tmp_path: Path) -> None:
    shard = open_one(write(tmp_path / "log.csv", "id,ok\n1,a\n2,b\n"))
    assert shard.value("ok", 1) == "b"
    assert shard.value("absent", 1) is None


def test_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "log.txt", '\ufeffcorrect\r\n007\n\n x,"y\n\n')
    shard = open_one(path, input_format="lines")
    assert read(shard, "text") == [("correct",), ("007",), (None,), (' x,"y',), (None,)]
    assert shard.untyped
    assert list(open_one(path, input_format="lines", columns=("ok",)).schema()) == ["ok"]
    assert heights(shard) == heights(shard, ["absent"]) == 5
    with pytest.raises(UsageError, match="one column, but --columns names 2"):
        open_one(path, input_format="lines", columns=("a", "b"))


@pytest.mark.parametrize(
    ("text", "rows"), [("", 0), ("\n", 1), ("a", 1), ("a\n", 1), ("a\n\n", 2), ("\ufeffa", 1)]
)
def test_number_of_lines(tmp_path: Path, text: str, rows: int) -> None:
    assert heights(open_one(write(tmp_path / "log.txt.zst", text), input_format="lines"), ["text"]) == rows


def test_lines_of_invalid_text(tmp_path: Path) -> None:
    shard = open_one(write(tmp_path / "log.txt", b"a\nb\n\xff\n"), input_format="lines")
    with pytest.raises(DataError, match="line 3 is not valid UTF-8"):
        read(shard, "text")


def test_what_is_no_csv_at_all(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"log.csv: the header cannot be read: .*is it a CSV file"):
        open_one(write(tmp_path / "log.csv", "x" * 300_000))


@pytest.mark.parametrize(
    "text", ['id,correct\n1,"1\n2,0\n', "id,correct\n1,1\n2\n", "id,correct\n1,1\n", 'id,correct\n1,"\xff']
)
def test_a_script_that_read_a_csv_file_ends_well(tmp_path: Path, text: str) -> None:
    """A thread that comes back to Python while it shuts down aborts the process: 4 times in 6 it did."""
    path = tmp_path / "l.csv"
    path.write_bytes(text.encode("latin-1"))
    script = (
        "import streamcmp, sys\n"
        "try: streamcmp.compare(sys.argv[1], sys.argv[1])\n"
        "except streamcmp.StreamcmpError: pass\n"
    )
    for _ in range(8):
        done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("text", ['id,correct\n1,"1\n2,0\n', "id,correct\n1,1\n"])
def test_nothing_is_lent_after_the_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    waited: list[bool] = []
    real = csv_format._wait_until_gone

    def wait(alive: Sequence[Any]) -> None:
        real(alive)
        waited.append(all(one() is None for one in alive))

    monkeypatch.setattr(csv_format, "_wait_until_gone", wait)
    path = tmp_path / "l.csv"
    path.write_text(text)
    shard = open_one(path)
    with suppress(DataError):
        list(shard.batches(["id"]))
    assert waited == [True]
