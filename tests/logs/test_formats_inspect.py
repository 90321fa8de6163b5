from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import streamcmp
from streamcmp.errors import DataError, StreamcmpError, UsageError
from streamcmp.logs.formats.inspect_ai import InspectShard, shown_id
from streamcmp.logs.source import open_shards
from tests.logs.harness import header, inspect_eval, inspect_json, inspect_sample
from tests.logs.shards import read

WRITERS: dict[str, Callable[..., Path]] = {"eval": inspect_eval, "json": inspect_json}
both = pytest.mark.parametrize("ending", WRITERS)


def compared(left: Any, right: Any, **options: Any) -> tuple[dict[str, Any], list[str]]:
    """The report and the notes."""
    notes: list[str] = []
    return streamcmp.compare(left, right, on_note=notes.append, **options).to_dict(), notes


def cells(report: dict[str, Any]) -> tuple[int, ...]:
    return tuple(report["results"][0][name] for name in ("both_correct", "n_ab", "n_ba", "both_wrong"))


@both
@pytest.mark.parametrize("other", WRITERS)
def test_grades_booleans_and_numbers(tmp_path: Path, ending: str, other: str) -> None:
    values = ["C", "I", "N", True, False, 1, 0, 1.0, 0.0, "1", "incorrect", "c"]
    left = [inspect_sample(i, value) for i, value in enumerate(values)]
    right = [inspect_sample(i, "C") for i in reversed(range(len(values)))]
    report, notes = compared(
        WRITERS[ending](tmp_path / f"l.{ending}", left), WRITERS[other](tmp_path / f"r.{other}", right)
    )
    assert cells(report) == (6, 0, 6, 0)
    assert report["comparison"]["rule"]["on"] == ["task", "id", "epoch"]
    assert any("is C or 1 (and wrong where it is I, N or 0)" in note for note in notes)


@both
def test_partial_credit_needs_a_threshold(tmp_path: Path, ending: str) -> None:
    values: list[Any] = ["P", "C", "I", 0.7, True]
    left = WRITERS[ending](tmp_path / f"l.{ending}", [inspect_sample(i, v) for i, v in enumerate(values)])
    right = WRITERS[ending](tmp_path / f"r.{ending}", [inspect_sample(i, "C") for i in range(5)])
    with pytest.raises(DataError, match=r"'scores.match.value' is 'P'; that is neither .* --threshold"):
        compared(left, right)
    assert cells(compared(left, right, threshold=0.5)[0]) == (4, 0, 1, 0)
    assert cells(compared(left, right, threshold=0.6)[0]) == (3, 0, 2, 0)


@both
def test_unscored_and_errored_samples_are_missing(tmp_path: Path, ending: str) -> None:
    left = [
        inspect_sample(0, scores=None), inspect_sample(1, scores={}), inspect_sample(2, float("nan")),
        inspect_sample(3, "I", error={"message": "out of memory"}), inspect_sample(4, "C"),
    ]  # fmt: skip
    for sample in left[:1]:
        del sample["scores"]
    right = WRITERS[ending](tmp_path / f"r.{ending}", [inspect_sample(i) for i in range(5)])
    report, _ = compared(WRITERS[ending](tmp_path / f"l.{ending}", left), right)
    assert cells(report) == (1, 0, 0, 0)
    assert report["ledger"]["a"]["missing"] == report["ledger"]["a"]["unscored"] == 4
    assert cells(compared(tmp_path / f"l.{ending}", right, missing="wrong")[0]) == (1, 0, 4, 0)


@both
def test_int_0_and_text_0_are_two_samples(tmp_path: Path, ending: str) -> None:
    left = [inspect_sample(0, "C"), inspect_sample("0", "I"), inspect_sample("x", "I")]
    right = [inspect_sample("x", "I"), inspect_sample("0", "C"), inspect_sample(0, "C")]
    if ending == "eval":  # there both would be samples/0_epoch_1.json
        for each in (left, right):
            summaries = [{k: v for k, v in row.items() if k != "messages"} for row in each]
            inspect_eval(tmp_path / ("l.eval" if each is left else "r.eval"), each[2:], summaries=summaries)
    else:
        inspect_json(tmp_path / "l.json", left)
        inspect_json(tmp_path / "r.json", right)
    assert cells(compared(tmp_path / f"l.{ending}", tmp_path / f"r.{ending}")[0]) == (1, 0, 1, 1)


@pytest.mark.parametrize(
    ("given", "shown"),
    [(0, "0"), ("0", '"0"'), ("-7", '"-7"'), ("x", "x"), ('"0"', '"\\"0\\""'), (None, None)],
)
def test_ids_as_text(given: Any, shown: Any) -> None:
    assert shown_id(given) == shown


@both
def test_two_scorers_one_must_be_named(tmp_path: Path, ending: str) -> None:
    def scores(a: Any, b: Any) -> dict[str, Any]:
        return {"match": {"value": a}, "my.qa": {"value": {"acc": b, "f1": 0.3}}}

    left = WRITERS[ending](tmp_path / f"l.{ending}", [inspect_sample(0, scores=scores("C", 0))])
    right = WRITERS[ending](tmp_path / f"r.{ending}", [inspect_sample(0, scores=scores("I", 1))])
    with pytest.raises(
        UsageError, match=r"has 3 scorers: match, my.qa.acc, my.qa.f1; name the one .*--metric"
    ):
        compared(left, right)
    assert cells(compared(left, right, metric="match")[0]) == (0, 1, 0, 0)
    assert cells(compared(left, right, metric="my.qa.acc")[0]) == (0, 0, 1, 0)
    with pytest.raises(UsageError, match="has no scorer f1; it has match"):
        compared(left, right, metric="f1")


@both
def test_a_log_without_any_score_says_so(tmp_path: Path, ending: str) -> None:
    left = WRITERS[ending](
        tmp_path / f"l.{ending}",
        [inspect_sample(i, scores={}) for i in range(3)],
        eval={"scorers": [{"name": "match"}]},
    )
    right = WRITERS[ending](tmp_path / f"r.{ending}", [inspect_sample(i) for i in range(3)])
    with pytest.raises(
        DataError, match=r"l\.\w+ holds no score at all: none of its .*samples was scored by match"
    ):
        compared(left, right)


@both
def test_epochs_pair_and_are_not_independent(tmp_path: Path, ending: str) -> None:
    rows = [inspect_sample(i, epoch=epoch) for i in range(2) for epoch in (1, 2)]
    left = WRITERS[ending](tmp_path / f"l.{ending}", rows, eval={"config": {"epochs": 2}})
    right = WRITERS[ending](tmp_path / f"r.{ending}", rows, eval={"config": {"epochs": 2}})
    report, notes = compared(left, right)
    assert cells(report) == (4, 0, 0, 0)
    assert any("pairs of one example that differ in epoch are not independent" in note for note in notes)
    with pytest.raises(DataError, match="duplicate ids"):
        compared(left, right, on="id")


@both
def test_slices_of_metadata_and_targets_guard(tmp_path: Path, ending: str) -> None:
    left = [inspect_sample(i, metadata={"topic": "ab"[i % 2], "deep": {"er": i}}) for i in range(4)]
    right = [inspect_sample(i, "I", target=["A", "B"] if i == 3 else "A") for i in range(4)]
    paths = [
        WRITERS[ending](tmp_path / f"{side}.{ending}", rows) for side, rows in (("l", left), ("r", right))
    ]
    with pytest.raises(DataError, match="target differs between the logs in 1 pair"):
        compared(*paths)
    report, _ = compared(*paths, mismatch="drop", left_options={"by": ["metadata.topic"]}, by=["topic"])
    assert {row["slice"]["topic"]: row["n"] for row in report["results"] if row["slice"]} == {"a": 2, "b": 1}
    assert cells(compared(*paths, mismatch="drop", where="metadata.deep.er = 1")[0]) == (0, 1, 0, 0)


def test_a_text_that_the_summary_cut_comes_from_the_sample(tmp_path: Path) -> None:
    long = "x" * 2000 + "end"
    whole = [inspect_sample(0, metadata={"t": long}), inspect_sample(1, metadata={"t": "short"})]
    short = [
        {**each, "metadata": {"t": each["metadata"]["t"][:1021] + "..."[: len(each["metadata"]["t"]) - 5]}}
        for each in whole
    ]
    short[1]["metadata"] = {"t": "short"}
    (shard,) = open_shards(inspect_eval(tmp_path / "l.eval", whole, summaries=short))
    assert read(shard, "id", "metadata.t") == [("0", long), ("1", "short")]


def test_a_log_that_was_cut_off_is_read_from_its_journal(tmp_path: Path) -> None:
    rows = [inspect_sample(i) for i in range(3)]
    left = inspect_eval(tmp_path / "l.eval", rows, journal=True, status="started")
    right = inspect_eval(tmp_path / "r.eval", rows)
    report, notes = compared(left, right)
    assert cells(report) == (3, 0, 0, 0)
    assert any("l.eval is not a finished run: its status is 'started'" in note for note in notes)


@both
def test_the_newest_log_of_a_task_counts(tmp_path: Path, ending: str) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for day, value in ((1, "I"), (2, "C")):
        WRITERS[ending](
            folder / f"{day}.{ending}",
            [inspect_sample(0, value)],
            eval={"created": f"2025-01-0{day}T00:00:00"},
        )
    (folder / "logs.json").write_text('{\n "a": 1\n}')
    right = WRITERS[ending](tmp_path / f"r.{ending}", [inspect_sample(0, "I")])
    report, notes = compared(folder, right)
    assert cells(report) == (0, 1, 0, 0)
    assert any("arc was run 2 times; the newest counts" in note for note in notes)
    WRITERS[ending](folder / f"3.{ending}", [inspect_sample(0)], model="m/two")
    with pytest.raises(UsageError, match="the logs are of 2 models"):
        compared(folder, right)


def test_zstandard_members(tmp_path: Path) -> None:
    plain = inspect_eval(
        tmp_path / "plain.eval", [inspect_sample(i) for i in range(3)], method=zipfile.ZIP_STORED
    )
    # A stored archive whose members' bytes are replaced by compressed ones, and whose headers say so.
    packed = tmp_path / "packed.eval"
    with zipfile.ZipFile(plain) as archive, packed.open("wb") as out:
        _write_zstd(archive, out)
    assert read(open_shards(packed)[0], "id") == [("0",), ("1",), ("2",)]


def _write_zstd(archive: zipfile.ZipFile, out: io.BufferedWriter) -> None:
    import struct
    import zlib

    central = b""
    for info in archive.infolist():
        data = archive.read(info)
        packed = pa.compress(data, "zstd", asbytes=True)
        name = info.filename.encode()
        fields = (93, 0, 0, zlib.crc32(data), len(packed), len(data), len(name), 0)
        entry = (b"PK\x01\x02", 20, 20, 0, 93, 0, 0, *fields[3:7], 0, 0, 0, 0, 0, out.tell())
        central += struct.pack("<4sHHHHHHIIIHHHHHII", *entry) + name
        out.write(struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", 20, 0, *fields) + name + packed)
    start = out.tell()
    out.write(central)
    count = len(archive.infolist())
    out.write(struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count, count, len(central), start, 0))


@pytest.mark.parametrize("damage", ["truncated", "checksum", "no header", "not a zip", "bomb", "bad json"])
def test_a_damaged_archive_is_one_clear_error(tmp_path: Path, damage: str) -> None:
    path = inspect_eval(tmp_path / "l.eval", [inspect_sample(i) for i in range(50)])
    raw = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(raw[: len(raw) // 2])
    elif damage == "checksum":
        with zipfile.ZipFile(path) as archive:
            at = archive.getinfo("summaries.json").header_offset + 60
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 255]) + raw[at + 1 :])
    elif damage == "not a zip":
        path.write_bytes(b"PK\x03\x04" + b"x" * 100)
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            if damage != "no header":
                archive.writestr("header.json", json.dumps(header()))
            if damage == "bomb":
                archive.writestr("summaries.json", b"[" + b" " * (100 << 20) + b"]")
            elif damage == "bad json":
                archive.writestr("summaries.json", b'[{"id": 1, "epoch": 1}, {"id": 2 "epoch": 1}]')
    said = {
        "truncated": "no whole zip archive", "checksum": "damaged", "no header": "it holds no header.json",
        "not a zip": "no whole zip archive", "bomb": "grows to more than 400 times",
        "bad json": "summary 2 is not",
    }  # fmt: skip
    with pytest.raises(DataError, match=said[damage]) as caught:
        compared(path, path)
    assert "l.eval" in str(caught.value)


@pytest.mark.parametrize("cut", [30, 200, 700, -3, -20])
def test_a_truncated_document_is_one_clear_error(tmp_path: Path, cut: int) -> None:
    path = inspect_json(tmp_path / "l.json", [inspect_sample(i) for i in range(3)])
    path.write_text(path.read_text()[:cut])
    with pytest.raises(StreamcmpError, match=r"l\.json"):
        compared(path, path)


def test_detected_from_content(tmp_path: Path) -> None:
    inspect_json(tmp_path / "a.json", [inspect_sample(0)])
    inspect_eval(tmp_path / "b.zip", [inspect_sample(0)])
    for name in ("a.json", "b.zip"):
        (shard,) = open_shards(tmp_path / name)
        assert isinstance(shard, InspectShard)
        assert read(shard, "task", "model", "id", "epoch") == [("arc", "m/one", "0", 1)]
