from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from streamcmp.errors import BadValue, EmptyLog, NoColumn
from streamcmp.logs.canonical import OpenedPair
from streamcmp.logs.reading import rechunk
from tests.logs.opened import ids, opened, outcomes, read


def log(rows: int = 10, start: int = 0) -> pl.DataFrame:
    """Ids from `start`, outcomes, a slice and a label."""
    number = pl.int_range(start, start + rows, eager=True)
    return pl.DataFrame(
        {"id": number, "correct": number % 3 == 0, "s": (number % 2).cast(pl.String), "label": number}
    )


def write(frame: pl.DataFrame, path: Path) -> Path:
    """The frame as a file of the kind its name says."""
    writers: dict[str, Any] = {
        ".parquet": frame.write_parquet,
        ".csv": frame.write_csv,
        ".jsonl": frame.write_ndjson,
        ".arrow": frame.write_ipc,
    }
    writers[path.suffix](path)
    return path


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl", "arrow"])
@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_batches_have_exact_sizes_and_order_over_shards(tmp_path: Path, kind: str, chunk: int) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    for index, (start, rows) in enumerate(((0, 10), (10, 1), (11, 0), (11, 12))):
        write(log(rows, start), folder / f"{index}.{kind}")
    pair = opened(folder, log(23), by=(("s",),))
    for _ in range(2):
        batches = list(pair.a.batches(chunk))
        assert [batch.height for batch in batches] == [
            min(chunk, 23 - start) for start in range(0, 23, chunk)
        ]
        whole = pl.concat(batches)
        assert whole["id"].to_list() == list(range(23))
        assert whole["outcome"].to_list() == [int(n % 3 == 0) for n in range(23)]
        assert whole.schema["id"] == pl.Int64
        assert whole.schema["outcome"] == pl.UInt8
    assert whole["guard0"].to_list() == read(pair.b)["guard0"].to_list()
    slices = pair.codecs[0].decode(whole["family0"].to_numpy())["slice.s"]
    assert slices.to_list() == [str(n % 2) for n in range(23)]


def test_metadata() -> None:
    pair = opened([log(3), log(4)], log(5), by=(("s",),))
    assert (pair.a.rows, pair.b.rows) == (7, 5)
    assert pair.a.estimated_rows == 7
    assert pair.inputs["a"].rows == 7
    assert (pair.a.side, pair.b.side) == ("a", "b")
    assert (pair.positional, pair.wide) == (False, False)


def test_unknown_row_counts_are_guessed(tmp_path: Path) -> None:
    pair = opened(write(log(1000), tmp_path / "a.csv"), log(1))
    assert pair.a.rows is None
    assert pair.a.estimated_rows > 0


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_a_bad_value_is_found_in_its_shard(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    for index in range(3):
        frame = log(5, 5 * index).with_columns(correct=pl.lit("yes"))
        write(frame, folder / f"{index}.{kind}")
    bad = log(5, 5).with_columns(correct=pl.Series(["yes", "no", "yes", "P", "Q"]))
    write(bad, folder / f"1.{kind}")
    for chunk in (1, 4, 100):
        with pytest.raises(BadValue) as error:
            list(opened(folder, log(1)).a.batches(chunk))
        assert str(error.value).startswith(f"{folder / f'1.{kind}'}, row 4: 'correct' is 'P'")


def test_rows_pair_by_position() -> None:
    pair = opened(log(3).drop("id"), log(3).select("correct"), on=("row",))
    assert pair.positional
    assert not pair.wide
    assert read(pair.a).columns == ["outcome"]
    assert pair.rule.on == ("row",)
    assert pair.rule.id_type == "row"
    assert pair.id_dtype == pl.String


def test_all_missing_keeps_its_height() -> None:
    nothing = pl.DataFrame({"correct": [None, None, None]})
    assert outcomes(opened(nothing, nothing, on=("row",)).a) == [2, 2, 2]


def test_together_stops_where_one_side_ends() -> None:
    pair = opened(log(5), log(8))
    heights = [(a.height, b.height) for a, b in pair.together(3)]
    assert heights == [(3, 3), (2, 3)]
    assert [(a.height, b.height) for a, b in opened(log(3), log(8)).together(3)] == [(3, 3), (0, 3)]
    assert [(a.height, b.height) for a, b in opened(log(6), log(6)).together(3)] == [(3, 3), (3, 3)]


def test_a_consumer_may_stop_early() -> None:
    pair = opened(log(1000), log(1000))
    batches = pair.together(10)
    next(batches)
    del batches
    gc.collect()
    assert read(pair.a).height == 1000


WIDE: dict[str, Any] = {
    "left": {"correct": "175b_finetuning.is_correct"},
    "right": {"correct": "6b.is_correct"},
}


def wide_log() -> pl.DataFrame:
    """Two models' outcomes in one table, as published results have them."""
    return pl.DataFrame(
        {
            "question": ["q1", "q2", None, "q1"],
            "175b_finetuning.is_correct": [True, False, True, None],
            "6b.is_correct": ["no", "no", "yes", "yes"],
            "s": ["x", "y", "x", "y"],
            "label": ["l"] * 4,
        }
    )


def test_wide_logs_pair_by_row(tmp_path: Path) -> None:
    path = write(wide_log(), tmp_path / "wide.parquet")
    for source in (path, wide_log()):
        pair = opened(source, source, by=(("s",),), **WIDE)
        assert pair.wide
        assert pair.positional
        assert pair.guards == ()
        ((a, b),) = pair.together(10)
        assert a.columns == b.columns == ["outcome", "family0"]
        assert a["outcome"].to_list() == [1, 0, 1, 2]
        assert b["outcome"].to_list() == [0, 0, 1, 1]
        assert a["family0"].to_list() == b["family0"].to_list()
        assert outcomes(pair.b) == [0, 0, 1, 1]
        assert [a.height for a, _ in pair.together(3)] == [3, 1]


def test_wide_logs_with_an_id_keep_it_for_checking(tmp_path: Path) -> None:
    path = write(wide_log(), tmp_path / "wide.csv")
    pair = opened(path, str(path), on=("question",), where="s = 'x'", **WIDE)
    assert pair.wide
    assert not pair.positional
    ((a, b),) = pair.together(10)
    assert a["id"].to_list() == b["id"].to_list() == ["q1", "q2", None, "q1"]
    assert a["filtered"].to_list() == [False, True, False, True]


def test_wide_logs_name_bad_values(tmp_path: Path) -> None:
    bad = wide_log().with_columns(pl.Series("6b.is_correct", ["no", "P", "yes", "yes"]))
    for source in (bad, write(bad, tmp_path / "wide.csv")):
        with pytest.raises(BadValue, match=r"row 2: '6b.is_correct' is 'P'"):
            list(opened(source, source, **WIDE).together(10))


def test_wide_predictions_with_a_truth() -> None:
    frame = pl.DataFrame({"id": [1, 2], "p1": ["a", "b"], "p2": ["b", "b"]})
    truth = pl.DataFrame({"id": [2, 1], "label": ["b", "a"]})
    pair = opened(frame, frame, left={"prediction": "p1"}, right={"prediction": "p2"}, truth=truth)
    ((a, b),) = pair.together(10)
    assert a["outcome"].to_list() == [1, 1]
    assert b["outcome"].to_list() == [0, 1]
    assert a.columns == ["outcome"]


def test_a_file_against_itself_is_not_wide_case_1(tmp_path: Path) -> None:
    path = write(log(4), tmp_path / "a.parquet")
    pair = opened(path, path)
    assert not pair.wide
    assert ids(pair.a) == ids(pair.b)


def test_empty_logs(tmp_path: Path) -> None:
    with pytest.raises(EmptyLog, match="the right frame"):
        opened(log(1), log(0))
    with pytest.raises(EmptyLog):
        opened(write(log(0), tmp_path / "a.parquet"), log(1))
    header = write(log(0), tmp_path / "a.csv")
    assert list(opened(header, log(1)).a.batches(10)) == []


def test_rechunk() -> None:
    frame = pl.DataFrame({"x": range(20)})
    for sizes in ([20], [0, 3, 0, 17], [1] * 20, [7, 7, 6]):
        for chunk in (1, 3, 10, 20, 50):
            pieces, start = [], 0
            for size in sizes:
                pieces.append(frame.slice(start, size))
                start += size
            made = list(rechunk(iter(pieces), chunk))
            assert pl.concat(made).equals(frame)
            assert all(one.height == chunk for one in made[:-1])
            assert 0 < made[-1].height <= chunk


def test_show_id_without_ids() -> None:
    frame = log(2)
    pair = opened(frame, frame, on=("row",))
    assert isinstance(pair, OpenedPair)
    assert pair.show_id(3) == "3"
    with pytest.raises(NoColumn):
        opened(frame.drop("id"), frame)


def test_a_lazy_frame_of_unknown_length() -> None:
    frame = log(10)
    pair = opened(frame.lazy(), frame, by=(("s",),))
    assert read(pair.a, 3).equals(read(pair.b, 4))


def test_messages_shorten_values() -> None:
    frame = log(1).with_columns(correct=pl.lit("word " * 1000))
    with pytest.raises(BadValue) as error:
        read(opened(frame, log(1)).a)
    assert len(str(error.value)) < 500
