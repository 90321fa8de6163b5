from __future__ import annotations

import os
import signal
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from streamcmp import interrupt
from streamcmp.errors import DataError, Interrupted
from streamcmp.logs.formats.base import conform
from streamcmp.logs.stream import stream
from tests.logs.shards import heights, open_one, read

FRAME = pl.DataFrame({"id": [3, 1, 2], "ok": [True, None, False], "text": ["a", "", None]})
KINDS = ("parquet", "arrow", "arrows")


def save(frame: pl.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".arrow":
        frame.write_ipc(path)
    else:
        frame.write_ipc_stream(path)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_read(tmp_path: Path, kind: str) -> None:
    path = save(FRAME, tmp_path / f"log.{kind}")
    shard = open_one(path)
    assert shard.schema() == FRAME.schema
    assert shard.size == path.stat().st_size
    assert shard.rows == (None if kind == "arrows" else 3)
    assert not shard.untyped
    assert read(shard, "ok", "absent", "id") == [(True, None, 3), (None, None, 1), (False, None, 2)]
    assert heights(shard) == heights(shard, ["absent"]) == 3
    assert [shard.value("text", row) for row in range(3)] == ["a", "", None]
    assert shard.value("absent", 0) is None
    lazy = shard.lazy()
    assert (lazy is None) == (kind == "arrows")
    assert lazy is None or lazy.collect().equals(FRAME)


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows(tmp_path: Path, kind: str) -> None:
    shard = open_one(save(FRAME.clear(), tmp_path / f"log.{kind}"))
    assert read(shard, "id") == []
    assert shard.schema() == FRAME.schema


@pytest.mark.parametrize("kind", KINDS)
def test_order_and_length(tmp_path: Path, kind: str) -> None:
    frame = pl.select(id=pl.int_range(300_001), text=pl.int_range(300_001).cast(pl.String))
    shard = open_one(save(frame, tmp_path / f"log.{kind}"))
    assert pl.concat(shard.batches(["text", "id"])).equals(frame.select("text", "id"))
    lazy = shard.lazy()
    if lazy is not None:
        for chunk in (1000, 300_001, 1_000_000):
            batches = list(stream(lazy, chunk, rows=300_001))
            assert {batch.height for batch in batches[:-1]} <= {chunk}
            assert pl.concat(batches).equals(frame)


def test_stream_of_nothing_is_no_batch() -> None:
    assert list(stream(FRAME.clear().lazy(), rows=0)) == []


def test_stream_proves_the_number_of_rows() -> None:
    with pytest.raises(DataError, match=r"log.parquet holds 4 rows by its metadata, but 3 came out"):
        list(stream(FRAME.lazy(), rows=4, label="log.parquet"))


def test_an_interrupted_stream_is_not_believed(tmp_path: Path) -> None:
    frame = pl.select(id=pl.int_range(500_000))
    shard = open_one(save(frame, tmp_path / "log.parquet"))

    def read_on() -> None:
        with interrupt.stoppable():
            for _ in shard.batches(["id"]):
                os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted):
        read_on()


# From the end of a stream nothing need be missing: its end mark is optional.
@pytest.mark.parametrize(
    ("kind", "left"),
    [(kind, left) for kind in KINDS for left in (0, 3, 100, -1, -9) if kind != "arrows" or left >= 0],
)
def test_cut_files_are_named_when_opened(tmp_path: Path, kind: str, left: int) -> None:
    path = save(pl.concat([FRAME] * 100), tmp_path / f"log.{kind}")
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(DataError, match=f"log.{kind}: "):
        open_one(path)


def test_an_ipc_stream_cut_inside_a_message(tmp_path: Path) -> None:
    path = save(pl.concat([FRAME] * 100), tmp_path / "log.arrows")
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match=r"log.arrows: cannot be read"):
        heights(open_one(path), ["id"])


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_damage_behind_a_good_footer(tmp_path: Path, kind: str) -> None:
    path = save(pl.select(id=pl.int_range(50_000).hash()), tmp_path / f"log.{kind}")
    raw = bytearray(path.read_bytes())
    raw[8:5000] = bytes(4992)
    path.write_bytes(raw)
    with pytest.raises(DataError, match=f"log.{kind}: cannot be read"):
        assert pl.concat(open_one(path).batches(["id"])).height != 50_000


def test_what_is_no_parquet_file(tmp_path: Path) -> None:
    (tmp_path / "log.parquet").write_text("id,ok\n1,true\n")
    with pytest.raises(DataError, match=r"log.parquet: cannot be read: it is not a Parquet file"):
        open_one(tmp_path / "log.parquet")


def test_statistics_are_not_believed(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2, 3]}), tmp_path / "log.parquet")
    raw = (tmp_path / "log.parquet").read_bytes()
    one, three = (value.to_bytes(8, "little") for value in (1, 3))
    data, footer = raw[:60], raw[60:]
    (tmp_path / "log.parquet").write_bytes(data + footer.replace(three, one))
    lazy = open_one(tmp_path / "log.parquet").lazy()
    assert lazy is not None
    assert lazy.filter(pl.col("id") > 2).collect().height == 1


@pytest.mark.parametrize("compression", ["lz4", "zstd", "uncompressed"])
def test_feather(tmp_path: Path, compression: str) -> None:
    pa.feather.write_feather(FRAME.to_arrow(), str(tmp_path / "log.feather"), compression=compression)
    assert read(open_one(tmp_path / "log.feather"), "id", "ok") == FRAME.select("id", "ok").rows()


def test_feather_version_1(tmp_path: Path) -> None:
    (tmp_path / "log.feather").write_bytes(b"FEA1" + bytes(100) + b"FEA1")
    with pytest.raises(DataError, match="Feather version 1; rewrite it"):
        open_one(tmp_path / "log.feather")


def test_types_of_text(tmp_path: Path) -> None:
    table = pa.table({
        "plain": pa.array(["a", None]), "large": pa.array(["a", None], pa.large_string()),
        "view": pa.array(["a", None], pa.string_view()), "coded": pa.array(["a", None]).dictionary_encode(),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "log.parquet")
    with pa.ipc.new_file(str(tmp_path / "log.arrow"), table.schema) as file:
        file.write_table(table)
    with pa.ipc.new_stream(str(tmp_path / "log.arrows"), table.schema) as file:
        file.write_table(table)
    for kind in KINDS:
        shard = open_one(tmp_path / f"log.{kind}")
        assert read(shard, *table.column_names) == [("a",) * 4, (None,) * 4]


@pytest.mark.parametrize("name", ["*", "^x$", "a b[1]?#%20.parquet", "é"])
def test_odd_names_of_columns_and_files(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({name: [1], "x": [2]})
    for kind in ("parquet", "arrow"):
        shard = open_one(save(frame, tmp_path / f"{name}.{kind}"))
        assert read(shard, "x", name) == [(2, 1)]
        assert shard.value(name, 0) == 1


def test_conform_keeps_the_height() -> None:
    assert conform(FRAME, []).shape == (3, 0)
    assert conform(FRAME, ["b", "id"]).rows() == [(None, 3), (None, 1), (None, 2)]
    assert conform(FRAME, ["b"]).schema == {"b": pl.Null}
