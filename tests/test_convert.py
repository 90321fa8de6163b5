"""`streamcmp convert`: any log as canonical Parquet, sorted by id, that compares as the log itself does."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

import streamcmp
from streamcmp import api, request
from streamcmp.cli import main
from streamcmp.comparison import Comparison, IdShard, LogRequest
from streamcmp.engines import convert as engine
from streamcmp.errors import DataError, EmptyLog, UsageError
from streamcmp.logs.canonical import open_pair
from streamcmp.resources import Resources
from streamcmp.stable_hash import shards_of
from tests.logs.harness import inspect_json, inspect_sample, lm_eval, sample
from tests.logs.shards import write


def same(report: Any, other: Any) -> bool:
    """Whether two reports agree in ledger and results."""
    return bool(report.to_dict()["ledger"] == other.to_dict()["ledger"]
                and report.to_dict()["results"] == other.to_dict()["results"])  # fmt: skip


def test_a_harness_s_folder_needs_no_option_afterwards(tmp_path: Path) -> None:
    rows = [sample(i, [1.0, 0.0, float("nan")][i % 3]) for i in range(12)]
    random.Random(1).shuffle(rows)
    lm_eval(tmp_path / "l", rows)
    lm_eval(tmp_path / "r", [sample(i, prompt_hash="p") for i in range(10)])
    done = api.convert(tmp_path / "l", tmp_path / "l.parquet", by="doc.category")
    assert done.rows == 12
    frame = pl.read_parquet(tmp_path / "l.parquet")
    assert frame.columns == [
        "task", "doc_id", "filter", "doc_hash", "target_hash", "prompt_hash", "correct", "doc.category"
    ]  # fmt: skip
    assert frame.schema["doc_id"] == pl.Int64
    assert frame["correct"].null_count() == 4
    for by in ([], ["doc.category", "task"]):
        before = streamcmp.compare(tmp_path / "l", tmp_path / "r", by=by)
        after = streamcmp.compare(tmp_path / "l.parquet", tmp_path / "r", by=by)
        assert same(before, after)
        assert "prompts_differ" in {each["code"] for each in after.to_dict()["warnings"]}
        assert after.to_dict()["comparison"]["rule"]["on"] == ["task", "doc_id", "filter"]
    api.convert(tmp_path / "r", tmp_path / "r.parquet")
    plan = api.explain(tmp_path / "l.parquet", tmp_path / "r.parquet")
    assert plan[0].strategy == "merge"  # the rows are as many as the folders', 12 and 10


def test_guards_still_guard(tmp_path: Path) -> None:
    left = inspect_json(tmp_path / "l.json", [inspect_sample(i) for i in range(3)])
    right = inspect_json(tmp_path / "r.json", [inspect_sample(i, target="A" if i else "B") for i in range(3)])
    api.convert(left, tmp_path / "l.parquet")
    with pytest.raises(DataError, match="target differs between the logs in 1 pair"):
        streamcmp.compare(tmp_path / "l.parquet", right)


@pytest.mark.parametrize("kind", ["int", "text", "wide int", "compound", "nulls", "dates"])
@pytest.mark.parametrize("chunk", [7, 1000])
def test_ids_of_every_kind_are_sorted_as_merging_needs_them(
    tmp_path: Path, kind: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(2)
    numbers = rng.sample(range(-500, 500), 300)
    ids: dict[str, list[Any]] = {
        "int": [{"id": n} for n in numbers],
        "text": [{"id": f"é{n}"} for n in numbers],
        "wide int": [{"id": n * 10**25} for n in numbers],
        "compound": [{"task": "xy"[n % 2], "id": n} for n in numbers],
        "nulls": [{"id": n if n % 3 else None} for n in numbers],
        "dates": [{"id": f"2025-01-01T00:{n % 60:02}:{n // 10:02}"} for n in {abs(n) for n in numbers}],
    }  # fmt: skip
    rows = [
        {**each, "correct": rng.choice([True, False, None]), "part": rng.choice("abc")} for each in ids[kind]
    ]
    path = write(tmp_path / "x.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    on = ("task", "id") if kind == "compound" else ("id",)
    # A budget of a few kilobytes: many runs, on disk.
    monkeypatch.setattr(engine, "_LARGEST_RUN", 4000)
    request = LogRequest(path)
    done = engine.convert(
        Comparison(a=request, b=request, on=on, by=(("part",),)),
        Resources(chunk_rows=chunk, spill_dir=tmp_path),
        tmp_path / "x.parquet",
    )
    assert done.rows == len(rows)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["x.jsonl", "x.parquet"]
    before = streamcmp.compare(
        path, path, on=on, by=["part"], duplicates="drop", left_name="a", right_name="b"
    )
    other = tmp_path / "y.parquet"
    other.write_bytes((tmp_path / "x.parquet").read_bytes())
    after = streamcmp.compare(
        tmp_path / "x.parquet", other, on=on, by=["part"], duplicates="drop", left_name="a", right_name="b"
    )
    assert same(before, after)
    if kind not in ("dates", "nulls"):
        # Sorted and without a repetition: merging goes through.
        streamcmp.compare(
            tmp_path / "x.parquet", other, on=on, strategy="merge", left_name="a", right_name="b"
        )


def test_every_way_to_say_what_is_correct(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"id": [3, 1, 2], "p": [1, 2, 3], "gold": [1, 2, 2], "s": [0.2, 0.9, 0.5], "m": ["x", "x", "y"]}
    )
    source = tmp_path / "x.csv"
    frame.write_csv(source)
    ways: list[tuple[dict[str, Any], list[Any]]] = [
        ({"prediction": "p", "label": "gold"}, [True, False, True]),
        ({"score": "s", "threshold": 0.5}, [True, True, False]),
        ({"score": "s", "threshold": 0.5, "where": "CAST(id AS INT) > 1"}, [True, False]),
        ({"score": "s", "threshold": 0.5, "model_column": "m", "model": "x"}, [True, False]),
    ]
    for options, expected in ways:
        api.convert(source, tmp_path / "x.parquet", **options)
        assert pl.read_parquet(tmp_path / "x.parquet")["correct"].to_list() == expected
    with pytest.raises(UsageError, match="--on row has none"):
        api.convert(source, tmp_path / "x.parquet", on="row", score="s", threshold=0.5)
    with pytest.raises(UsageError, match="would be called 'correct'"):
        api.convert(
            frame.rename({"id": "correct"}), tmp_path / "x.parquet", on="correct", score="s", threshold=0.5
        )
    with pytest.raises(EmptyLog):
        api.convert(frame.head(0), tmp_path / "x.parquet", score="s", threshold=0.5)


def test_the_command_writes_whole_or_not_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path / "x.csv", "id,correct\n2,1\n1,0\n")
    output = tmp_path / "out" / "x.parquet"
    output.parent.mkdir()
    assert main(["convert", str(source), "--output", str(output)]) == 0
    assert "wrote" in capsys.readouterr().err
    assert pl.read_parquet(output).to_dict(as_series=False) == {"id": ["1", "2"], "correct": [False, True]}
    before = output.read_bytes()
    write(source, "id,correct\n2,1\n1,maybe\n")
    assert main(["convert", str(source), "--output", str(output)]) == 2
    assert "row 2: 'correct' is 'maybe'" in capsys.readouterr().err
    assert output.read_bytes() == before
    assert [each.name for each in output.parent.iterdir()] == ["x.parquet"]
    assert main(["convert", str(source), "--output", str(source)]) == 2
    assert "also an input" in capsys.readouterr().err


def _rows(seed: int) -> pl.DataFrame:
    rng = random.Random(seed)
    ids = [f"example {number}" for number in rng.sample(range(900), 600)]
    return pl.DataFrame(
        {"id": ids, "domain": [one[-1] for one in ids], "correct": [rng.random() < 0.7 for _ in ids]}
    )


def test_shards_are_files_of_which_each_count_reads_its_own(tmp_path: Path) -> None:
    for seed, side in enumerate("lr"):
        _rows(seed).write_parquet(tmp_path / f"{side}.parquet")
        done = api.convert(tmp_path / f"{side}.parquet", tmp_path / side, by="domain", shards=4)
        assert done.rows == 600
        files = sorted((tmp_path / side).iterdir())
        assert [file.name for file in files] == [f"{number}-of-4.parquet" for number in range(4)]
        for number, file in enumerate(files):
            ids = pl.read_parquet(file)["id"]
            assert ids.is_sorted()
            assert set(shards_of(ids, 4)) == {number}
    logs = tmp_path / "l", tmp_path / "r"
    whole = streamcmp.count(*logs, by="domain")
    before = streamcmp.count(tmp_path / "l.parquet", tmp_path / "r.parquet", by="domain")
    assert before.families["domain"].equals(whole.families["domain"])
    for of in (2, 3, 4, 8):
        parts = [streamcmp.count(*logs, by="domain", shard=f"{number}/{of}") for number in range(of)]
        total = streamcmp.merge(parts)
        assert total == whole
        assert streamcmp.finalize(total).to_dict()["ledger"] == whole.ledger.to_dict()  # type: ignore[union-attr]
    with pytest.raises(UsageError, match="shard 2/8 is missing"):
        streamcmp.finalize(streamcmp.merge(parts[:2], parts[3:]))

    def read(shard: str, **options: Any) -> int:
        comparison = request.comparison(*logs, None, None, {"shard": shard, **options})
        rows = open_pair(comparison).a.rows
        assert rows is not None
        return rows

    sizes = [pl.read_parquet(logs[0] / f"{number}-of-4.parquet").height for number in range(4)]
    assert [read(f"{number}/4") for number in range(4)] == sizes
    assert read("1/2") == sizes[1] + sizes[3]
    assert read("2/3") == 600
    # An edit of ids changes their hash, other columns are other ids: all files are read.
    assert read("1/4", id_normalize="lower") == 600
    assert (
        open_pair(replace(request.comparison(*logs, ["domain"], None, {}), shard=IdShard(1, 4))).a.rows == 600
    )


def test_damage_to_a_converted_file_s_shard_is_no_reason_to_skip_it(tmp_path: Path) -> None:
    _rows(1).write_parquet(tmp_path / "l.parquet")
    api.convert(tmp_path / "l.parquet", tmp_path / "l", shards=2)
    for file in (tmp_path / "l").iterdir():
        table = pq.read_table(file)
        said = {**json.loads(table.schema.metadata[b"streamcmp.log"]), "shard": "7/2"}
        metadata = {"streamcmp.log": json.dumps(said)}
        pq.write_table(table.replace_schema_metadata(metadata), file)
    log = tmp_path / "l"
    parts = [streamcmp.count(log, log, shard=f"{number}/2") for number in range(2)]
    assert streamcmp.merge(parts) == streamcmp.count(log, log)


def test_shards_go_to_a_new_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _rows(1).write_parquet(tmp_path / "l.parquet")
    there = tmp_path / "there"
    there.mkdir()
    (there / "x").touch()
    for target, says in (
        (there, "there is something already"),
        (tmp_path / "no" / "where", "there is no folder"),
    ):
        arguments = ["convert", tmp_path / "l.parquet", "--output", target, "--shards", 2]
        assert main([str(one) for one in arguments]) == 2
        assert says in capsys.readouterr().err
    for shards in (0, 501):
        with pytest.raises(UsageError, match="--shards must be 1 to 500"):
            api.convert(tmp_path / "l.parquet", tmp_path / "new", shards=shards)
    (there / "x").unlink()
    api.convert(tmp_path / "l.parquet", there, shards=2)
    assert len(list(there.iterdir())) == 2
    assert sorted(one.name for one in tmp_path.iterdir()) == ["l.parquet", "there"]
