from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from streamcmp.errors import DataError, StreamcmpError, UsageError
from streamcmp.logs import formats
from streamcmp.logs.formats import csv as csv_format
from streamcmp.logs.formats.base import Format
from streamcmp.logs.model import Inputs
from streamcmp.logs.source import inputs, open_shards
from tests.logs.shards import heights, open_one, read, write

FRAME = pl.DataFrame({"id": [1, 2], "ok": [True, False]})


def labels(source: Any, **options: Any) -> list[str]:
    """What the shards are called: paths, relative to the current folder."""
    return [shard.label for shard in open_shards(source, **options)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run's folder as Spark leaves it, which is also the current folder's `run`."""
    monkeypatch.chdir(tmp_path)
    for name in ("b/part-1", "a/part-2", "a/part-10", "a/_temporary/part-0", ".hidden/part-0"):
        path = tmp_path / f"run/{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        FRAME.write_parquet(path)
    for name in (
        "_SUCCESS",
        "README.md",
        "a/.part-2.parquet.crc",
        "a/part-2.parquet.crc",
        "_metadata.parquet",
    ):
        (tmp_path / "run" / name).write_text("no data")
    return tmp_path / "run"


ALL = ["run/a/part-10.parquet", "run/a/part-2.parquet", "run/b/part-1.parquet"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("run", ALL),
        (Path("run"), ALL),
        ("run/", ALL),
        ("run/**/*.parquet", ALL),
        ("run/*", ALL),
        ("run/*/part-*.parquet", ALL),
        ("run/[ab]/part-?.parquet", ALL[1:]),
        ("run/a/part-2.parquet", ALL[1:2]),
        (["run/b", "run/a/part-2.parquet"], [ALL[2], ALL[1]]),  # a list keeps its order
        ("run/a/_temporary/part-0.parquet", ["run/a/_temporary/part-0.parquet"]),  # named outright
        ("run/a/_temporary/*", ["run/a/_temporary/part-0.parquet"]),
    ],
)
def test_files(source: Any, found: list[str]) -> None:
    assert labels(source) == found


def test_file_url_and_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    assert labels("~/b") == [str(folder / "b/part-1.parquet")]
    assert labels(f"file://{folder}/b/part-1.parquet") == [str(folder / "b/part-1.parquet")]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("run/c.parquet", "--right: run/c.parquet does not exist"),
        ("run/a/part-3.parquet", r"does not exist; did you mean run/a/part-[12]0?\.parquet\?"),
        ("rum", r"did you mean run\?"),
        ("run/x/y/z.csv", "does not exist; the path exists up to run$"),
        ("run/README.md/x", "the path exists up to run/README.md, which is a file, not a folder$"),
        ("run/*.csv", r"--right: run/\*.csv matches no file"),
        ("nowhere/*.csv", "matches no file; nowhere does not exist"),
        ("-", "cannot read -: logs are read more than once"),
        ("/dev/stdin", "cannot read /dev/stdin"),
        ("/dev/null", "/dev/null is not a regular file"),
        ("/dev/fd/63", "cannot read /dev/fd/63"),
        (
            "run/README.md",
            r"the format of run/README.md is not known.*--input-format says.*parquet, ipc, csv",
        ),
        ([], "an empty list"),
        (
            ["run/a", "run/a/part-2.parquet"],
            "run/a/part-2.parquet is in the log twice; its rows would count twice",
        ),
    ],
)
def test_sources_that_are_refused(source: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        open_shards(source, option="--right")


def test_pipes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(UsageError, match=r"pipe.csv is not a regular file"):
        open_shards(tmp_path / "pipe.csv")
    with pytest.raises(UsageError, match=r"pipe.csv is not a regular file"):
        open_shards(str(tmp_path / "*.csv"))


@pytest.mark.parametrize("names", [[], ["README.md", "_SUCCESS", "notes.txt"]])
def test_folder_without_data(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).write_text("x\n")
    seen = "README.md, notes.txt" if names else "nothing at all"
    with pytest.raises(UsageError, match=f"no data files in {tmp_path}; it holds {seen}. --input-format"):
        open_shards(tmp_path)


def test_input_format_in_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "1\n")
    assert labels(tmp_path, input_format="lines") == [str(tmp_path / "a.txt")]
    write(tmp_path / "b.csv", "x\n1\n")
    FRAME.write_parquet(tmp_path / "c.parquet")
    assert labels(tmp_path, input_format="csv") == [str(tmp_path / "b.csv")]
    assert heights(open_one(tmp_path / "b.csv", input_format="lines"), ["text"]) == 2
    with pytest.raises(UsageError, match=r"--input-format must be one of parquet, ipc, csv, .*; not 'xls'"):
        open_shards(tmp_path, input_format="xls")


def test_content_outranks_the_ending(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "log.csv")
    FRAME.write_ipc(tmp_path / "log.bin")
    FRAME.write_ipc_stream(tmp_path / "stream.bin")
    for name in ("log.csv", "log.bin", "stream.bin"):
        assert read(open_one(tmp_path / name), "id", "ok") == FRAME.rows()


def test_formats_do_not_mix(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "id\n1\n")
    FRAME.write_parquet(tmp_path / "b.parquet")
    for source in (tmp_path, str(tmp_path / "*"), [tmp_path / "a.csv", tmp_path / "b.parquet"]):
        with pytest.raises(
            UsageError, match=r"different formats.*csv: .*a.csv; parquet: .*b.parquet.*glob like"
        ):
            open_shards(source)


def test_links(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    write(tmp_path / "real.csv", "id\n1\n")
    (tmp_path / "run/link.csv").symlink_to(tmp_path / "real.csv")
    (tmp_path / "run/up").symlink_to(tmp_path / "run")  # a loop
    assert read(open_one(tmp_path / "run"), "id") == [("1",)]
    (tmp_path / "run/same.csv").symlink_to("link.csv")
    with pytest.raises(UsageError, match=r"link.csv is in the log twice \(the other is .*same.csv\)"):
        open_shards(tmp_path / "run")
    (tmp_path / "run/same.csv").unlink()
    (tmp_path / "run/broken.csv").symlink_to("nowhere.csv")
    for source in (tmp_path / "run", tmp_path / "run/broken.csv", str(tmp_path / "run/b*.csv")):
        with pytest.raises(StreamcmpError, match=r"broken.csv.* cannot be opened: No such file"):
            open_shards(source)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_hive_layout(tmp_path: Path, kind: str) -> None:
    frame = pl.DataFrame({"id": ["7"], "lang": ["hidden"]})
    for part in ("lang=nl%20x/year=2024", "lang=__HIVE_DEFAULT_PARTITION__/year=2025", "plain"):
        path = tmp_path / f"root=no/{part}/log.{kind}"
        path.parent.mkdir(parents=True)
        getattr(frame, {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}[kind])(path)
    shards = open_shards(tmp_path / "root=no")
    assert [read(shard, "lang", "year", "id", "root") for shard in shards] == [
        [(None, "2025", "7", None)],
        [("nl x", "2024", "7", None)],
        [("hidden", None, "7", None)],  # no such folder: the file's own column
    ]
    assert shards[0].schema() == {"id": pl.String, "lang": pl.String, "year": pl.String}
    assert read(shards[0], "year") == [("2025",)]
    assert heights(shards[0]) == 1
    assert shards[1].value("lang", 0) == "nl x"
    assert shards[1].value("id", 0) == "7"
    if (lazy := shards[1].lazy()) is not None:
        assert lazy.collect().rows() == [("7", "nl x", "2024")]
    (shard,) = open_shards(str(tmp_path / "root=no/lang=nl*/*/*"))
    assert read(shard, "lang", "year", "root") == [("nl x", "2024", None)]
    (shard,) = open_shards(tmp_path / "root=no/lang=nl%20x")
    assert read(shard, "lang", "year") == [("hidden", "2024")]


def test_shards_of_different_schemas(tmp_path: Path) -> None:
    pl.DataFrame({"id": [1], "ok": [True]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"ok": [1], "id": [2], "more": ["x"]}).write_parquet(tmp_path / "b.parquet")
    a, b = open_shards(tmp_path)
    assert read(a, "id", "ok", "more") + read(b, "id", "ok", "more") == [(1, True, None), (2, 1, "x")]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + bytes(300)])
def test_one_bad_file_stops_all(tmp_path: Path, content: bytes) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(content)
    with pytest.raises(DataError, match=r"b.parquet: "):
        open_shards(tmp_path)


def test_empty_part(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "")
    write(tmp_path / "b.csv", "id\n")
    write(tmp_path / "c.csv", "id\n1\n")
    shards = open_shards(tmp_path)
    assert [read(shard, "id") for shard in shards] == [[], [], [("1",)]]
    assert inputs(shards[:1]).rows == 0


def test_columns_are_for_text(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")
    for source, what in ((tmp_path / "a.parquet", "parquet"), (FRAME, "a frame")):
        with pytest.raises(UsageError, match=f"--left: --columns names the columns of .*, not of {what}"):
            open_shards(source, columns=("a",))


@pytest.mark.parametrize(
    "source",
    [FRAME, FRAME.lazy(), FRAME.to_arrow(), FRAME.to_arrow().to_batches()[0]],
    ids=lambda f: type(f).__name__,
)
def test_frames(source: Any) -> None:
    shard = open_one(source)
    assert shard.label == "frame"
    assert shard.size is None
    assert shard.rows == (None if isinstance(source, pl.LazyFrame) else 2)
    assert shard.schema() == FRAME.schema
    assert read(shard, "ok", "absent", "id") == [(True, None, 1), (False, None, 2)]
    assert shard.value("ok", 1) is False
    assert heights(shard) == 2
    lazy = shard.lazy()
    assert lazy is not None
    assert lazy.collect().equals(FRAME)


def test_pandas() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"id": [1, 2], "ok": [0.5, None], "text": ["a", None], "coded": pd.Categorical(["x", "y"])}
    )
    assert read(open_one(frame), "id", "ok", "text", "coded") == [(1, 0.5, "a", "x"), (2, None, None, "y")]
    with pytest.raises(DataError, match="the DataFrame cannot be converted"):
        open_shards(pd.DataFrame({"id": [1, "a", object()]}))


def test_several_frames() -> None:
    assert labels([FRAME, FRAME.lazy()]) == ["frame 1", "frame 2"]


def test_a_lazy_frame_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"frame: cannot be read: .*nowhere"):
        open_shards(pl.scan_parquet(tmp_path / "nowhere.parquet"))
    with pytest.raises(DataError, match="frame: cannot be read"):
        read(open_one(FRAME.lazy().select(pl.col("ok").cast(pl.String).str.to_integer())), "ok")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (lambda: FRAME.to_arrow().to_reader(), "a RecordBatchReader can be read only once"),
        (lambda: iter([FRAME]), "a list_iterator can be read only once"),
        (lambda: {"id": [1]}, "cannot read a log from dict; give a path, or a frame of Polars"),
        (lambda: None, "cannot read a log from NoneType"),
        (lambda: pa.BufferReader(b"x"), "a BufferReader can be read only once"),
    ],
)
def test_things_that_are_no_frame(source: Any, message: str) -> None:
    with pytest.raises(StreamcmpError, match=message):
        open_shards(source())


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        (
            "s3://bucket/log.csv.gz",
            "s3://bucket/log.csv.gz is csv; only parquet and ipc are read from an address",
        ),
        ("https://example.org/log", "has no known ending"),
    ],
)
def test_uris_of_other_formats(uri: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        open_shards(uri)


def test_inputs(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")
    path, size = str(tmp_path / "a.parquet"), (tmp_path / "a.parquet").stat().st_size
    shards = open_shards(tmp_path)
    assert inputs(shards) == Inputs(paths=(path,), bytes=size, rows=2)
    assert inputs([*shards, open_one(FRAME)]) == Inputs(paths=(path, "frame"), bytes=None, rows=4)
    csv = open_one(write(tmp_path / "b.csv", "id\n1\n"))
    assert inputs([csv, csv]).rows is None


def test_formats_of_other_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def points(group: str) -> list[EntryPoint]:
        asked.append(group)
        return [EntryPoint("pipes", "tests.logs.test_source:PIPES", group)]

    monkeypatch.setattr(formats, "entry_points", points)
    formats.plugins.cache_clear()
    write(tmp_path / "a.csv", "id|ok\n1|x\n")
    open_shards(tmp_path / "a.csv")
    assert asked == []  # not looked up for what is built in
    assert read(open_one(tmp_path / "a.csv", input_format="pipes"), "ok") == [("x",)]
    write(tmp_path / "a.pipes.gz", "id|ok\n1|x\n")
    assert read(open_one(tmp_path / "a.pipes.gz"), "ok") == [("x",)]
    with pytest.raises(UsageError, match="inspect, pipes; not 'xls'"):
        open_shards(tmp_path / "a.csv", input_format="xls")
    formats.plugins.cache_clear()


PIPES = Format(
    name="pipes",
    endings=(".pipes",),
    text=True,
    open=lambda path, names: csv_format.CsvShard(path, "|", names),
)


def test_what_is_known_of_a_format_before_it_is_loaded_is_true() -> None:
    assert [each.name for each in formats.BUILT_IN.values()] == list(formats.BUILT_IN)
    within = {
        each.name: [name for name, one in formats.BUILT_IN.items() if one.refines == each.name]
        for each in formats.BUILT_IN.values()
    }
    assert {name: list(names) for name, names in formats.REFINED.items()} == {
        name: names for name, names in within.items() if names
    }


def test_parquet_needs_no_other_format() -> None:
    code = (
        "import sys, streamcmp.logs.formats as f; f.by_content(b'PAR1'); "
        "print(sorted(name for name in sys.modules if name.startswith('streamcmp.logs.formats.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"csv", "ndjson", "inspect_ai", "lm_eval"} & set(re.findall(r"formats\.(\w+)", loaded))
