"""Parquet row groups too large to be decoded whole, and too many to be described."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from streamcmp import interrupt
from streamcmp.errors import DataError, Interrupted
from streamcmp.logs.formats import parquet
from streamcmp.logs.formats.parquet import ParquetShard, open_parquet
from streamcmp.logs.formats.row_groups import RowGroupShard, decoded_bytes
from streamcmp.logs.source import open_shards
from tests.logs.shards import open_one

MOMENT = datetime(2024, 5, 6, 7, 8, 9, 123456)  # noqa: DTZ001 - a naive one is meant
EVERYTHING = pl.DataFrame(
    [
        pl.Series("id", [1, None, 3], dtype=pl.Int64),
        pl.Series("narrow", [1, None, 3], dtype=pl.UInt8),
        pl.Series("unsigned", [2**64 - 1, None, 3], dtype=pl.UInt64),
        pl.Series("float", [1.5, None, float("nan")], dtype=pl.Float32),
        pl.Series("text", ["a", None, ""], dtype=pl.String),
        pl.Series("category", ["a", None, ""], dtype=pl.Categorical),
        pl.Series("enum", ["a", None, "b"], dtype=pl.Enum(["b", "a"])),
        pl.Series("bytes", [b"a", None, b"\xff"], dtype=pl.Binary),
        pl.Series("flag", [True, None, False], dtype=pl.Boolean),
        pl.Series("day", [date(2024, 1, 2), None, date(1, 1, 1)], dtype=pl.Date),
        pl.Series("naive", [MOMENT, None, MOMENT], dtype=pl.Datetime("ns")),
        pl.Series("zoned", [MOMENT.replace(tzinfo=UTC), None, None], dtype=pl.Datetime("us", "Europe/Paris")),
        pl.Series("clock", [time(1, 2, 3), None, time(0)], dtype=pl.Time),
        pl.Series("span", [timedelta(1), None, timedelta(0)], dtype=pl.Duration("ms")),
        pl.Series("money", [Decimal("1.50"), None, Decimal(3)], dtype=pl.Decimal(10, 2)),
        pl.Series("nothing", [None, None, None], dtype=pl.Null),
        pl.Series("a.b", [1, None, 2], dtype=pl.Int64),
        pl.Series("*", ["x", None, "y"], dtype=pl.String),
        pl.Series("list", [[1], None, []], dtype=pl.List(pl.Int64)),
    ]
)


def by_pages(path: Path) -> RowGroupShard:
    return RowGroupShard(open_parquet(path), path)


@pytest.mark.parametrize("writer", ["polars", "pyarrow"])
@pytest.mark.parametrize("group", [1, 2, 3])
def test_values_and_types_are_those_of_a_scan(tmp_path: Path, writer: str, group: int) -> None:
    path = tmp_path / "l.parquet"
    frame = EVERYTHING
    if writer == "polars":
        frame.write_parquet(path, row_group_size=group)
    else:
        pq.write_table(frame.to_arrow(), path, row_group_size=group)
    whole, pages = open_parquet(path), by_pages(path)
    assert (pages.rows, pages.size, pages.label, pages.lazy()) == (3, whole.size, whole.label, None)
    assert pages.schema() == whole.schema()
    for columns in (frame.columns, ["a.b", "absent", "id"], [], ["absent"]):
        expected, found = (pl.concat(list(shard.batches(columns))) for shard in (whole, pages))
        assert found.equals(expected)
        assert found.schema == expected.schema
        assert found.height == 3
    assert pages.bounds("narrow") == whole.bounds("narrow") == ((1, 3) if group > 1 else None)
    assert [pages.value("text", row) for row in range(3)] == ["a", None, ""]


def test_a_group_that_needs_too_much_is_read_by_pages(tmp_path: Path) -> None:
    path = tmp_path / "l.parquet"
    rows = 10_000
    frame = pl.select(id=pl.int_range(rows), text=pl.format("{}", pl.int_range(rows)), other=pl.lit("x"))
    frame.write_parquet(path, row_group_size=rows)
    whole = open_parquet(path)
    assert decoded_bytes(path, ["id"]) == pytest.approx(8 * rows, rel=0.01)
    text = decoded_bytes(path, ["text"])
    assert 16 * rows < text < 40 * rows
    both = decoded_bytes(path, ["id", "text"])
    assert decoded_bytes(path, ["absent"]) == 0
    assert isinstance(whole.sparing(["id", "text"], both - 1), RowGroupShard)
    assert whole.sparing(["id", "text"], both) is whole
    assert whole.sparing(["id"], both - 1) is whole
    assert pl.concat(list(whole.sparing(["id"], 10_000).batches(["id"]))).equals(frame.select("id"))
    # A few groups are in hand at a time, not all.
    frame.write_parquet(path, row_group_size=100)
    assert decoded_bytes(path, ["id"]) == pytest.approx(8 * 400, rel=0.5)


def test_many_groups_are_small_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "l.parquet"
    pl.select(id=pl.int_range(10_000)).write_parquet(path)
    monkeypatch.setattr(parquet, "decoded_bytes", lambda *_: pytest.fail("the footer need not be parsed"))
    shard = open_parquet(path)
    assert shard.sparing(["id"], 64 * 10_000) is shard
    monkeypatch.setattr(parquet, "parsed_footer", lambda _: 2000)
    assert shard.sparing(["id"], 1999) is shard


def test_what_pyarrow_does_not_open_is_left_to_polars(tmp_path: Path) -> None:
    path = tmp_path / "l.parquet"
    pl.select(id=pl.int_range(10_000), wide=pl.int_range(10_000).cast(pl.Int128)).write_parquet(path)
    shard = open_parquet(path)
    assert shard.sparing(["id"], 10_000) is shard


def test_folders_as_columns(tmp_path: Path) -> None:
    path = tmp_path / "split=dev" / "l.parquet"
    path.parent.mkdir()
    frame = pl.select(id=pl.int_range(100_000))
    frame.write_parquet(path)
    shard = open_one(tmp_path).sparing(["id", "split"], 100_000)
    assert shard.lazy() is None
    assert pl.concat(list(shard.batches(["split", "id"]))).equals(
        frame.select(split=pl.lit("dev"), id="id"), null_equal=True
    )


def test_a_signal_ends_the_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "l.parquet"
    pl.select(id=pl.int_range(300_000)).write_parquet(path)
    batches = by_pages(path).batches(["id"])
    next(batches)
    monkeypatch.setattr(interrupt, "_received", 15)
    with pytest.raises(Interrupted):
        next(batches)


def test_damage_is_named(tmp_path: Path) -> None:
    path = tmp_path / "l.parquet"
    pl.select(id=pl.int_range(50_000).hash()).write_parquet(path, compression="zstd")
    shard = by_pages(path)
    data = bytearray(path.read_bytes())
    data[4:1000] = bytes(996)
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"l\.parquet: cannot be read"):
        list(shard.batches(["id"]))


def test_metadata_that_would_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "l.parquet"
    pl.select(id=pl.int_range(2000)).write_parquet(path, row_group_size=1)
    takes = parquet.parsed_footer(path)
    assert takes > 100_000
    assert isinstance(open_shards(path, memory=2 * takes)[0], ParquetShard)
    with pytest.raises(DataError, match=r"--left: the metadata of .*l\.parquet take about .* larger"):
        open_shards(path, memory=2 * takes - 2)
    path.write_bytes(path.read_bytes()[:-1])
    assert parquet.parsed_footer(path) == 0
    path.write_bytes(b"PAR1")
    assert parquet.parsed_footer(path) == 0
