import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import streamcmp
from scripts import bench, bench_child, bench_counts, bench_data, bench_ledger, bench_run, bench_table
from scripts.bench_workloads import ALL_PEERS, CELLS, Data, Workload, workloads

ROOT = Path(__file__).resolve().parent.parent
ROWS = 20_000


@pytest.fixture(autouse=True)
def _modules_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def written(data: Data, folder: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    bench_data.write(data, folder)
    read = pl.read_parquet if data.form == "parquet" else pl.read_ndjson
    left, right = (read(folder / name) for name in data.logs())
    return left, right


@pytest.mark.parametrize("size", [1, 2, 3, 10, 999, 4096, 100_003])
def test_a_permutation_meets_every_number_once(size: int) -> None:
    numbers = bench_data.permute(np.arange(size, dtype=np.uint64), size, stream=5)
    assert np.array_equal(np.sort(numbers), np.arange(size))


def test_a_permutation_is_the_same_number_by_number() -> None:
    whole = bench_data.permute(np.arange(5000, dtype=np.uint64), 5000, stream=5)
    part = bench_data.permute(np.arange(1234, 2345, dtype=np.uint64), 5000, stream=5)
    assert np.array_equal(whole[1234:2345], part)


@pytest.mark.parametrize("ids", ["compact", "sparse", "text"])
def test_same_logs_are_sorted_and_equal(ids: Any, tmp_path: Path) -> None:
    left, right = written(Data(ids, "same", ROWS), tmp_path / "logs")
    assert left["example_id"].equals(right["example_id"])
    assert left["example_id"].is_sorted()
    assert left["example_id"].n_unique() == ROWS
    assert left["label"].equals(right["label"])
    if ids == "text":
        assert (left["example_id"].str.len_bytes() == 29).all()
    if ids == "sparse":
        assert left["example_id"].max() > 2**62  # type: ignore[operator]


def test_gaps_are_sorted_and_miss_one_row_in_a_hundred_each(tmp_path: Path) -> None:
    left, right = written(Data("text", "gaps", ROWS), tmp_path / "logs")
    assert left["example_id"].is_sorted()
    assert right["example_id"].is_sorted()
    both = left.join(right, on="example_id").height
    for log in (left, right):
        assert 0.005 < (log.height - both) / ROWS < 0.015
        assert 0.005 < 1 - log.height / ROWS < 0.015


@pytest.mark.parametrize("order", ["unsorted", "shuffled"])
def test_orders_keep_the_examples(order: Any, tmp_path: Path) -> None:
    sorted_logs = written(Data("text", "same", ROWS), tmp_path / "sorted")
    logs = written(Data("text", order, ROWS), tmp_path / "logs")
    for log, expected in zip(logs, sorted_logs, strict=True):
        assert not log["example_id"].is_sorted()
        assert_frame_equal(log.sort("example_id"), expected)
    assert logs[0]["example_id"].equals(logs[1]["example_id"]) == (order == "unsorted")


def test_chunks_shards_groups_and_forms_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = written(Data("sparse", "shuffled", 5000, wide=True), tmp_path / "whole")
    monkeypatch.setattr(bench_data, "CHUNK", 700)
    for name, data in {
        "chunks": Data("sparse", "shuffled", 5000, wide=True),
        "shards": Data("sparse", "shuffled", 5000, wide=True, shards=7),
        "groups": Data("sparse", "shuffled", 5000, wide=True, group_rows=333),
        "lines": Data("sparse", "shuffled", 5000, wide=True, form="ndjson"),
    }.items():
        for log, expected in zip(written(data, tmp_path / name), whole, strict=True):
            assert_frame_equal(log, expected, check_dtypes=name != "lines", categorical_as_str=True)


def test_row_groups_have_the_size_that_was_asked_for(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    bench_data.write(Data("compact", "same", 5000, group_rows=2000), tmp_path / "logs")
    file = pq.ParquetFile(tmp_path / "logs" / "left.parquet").metadata
    assert [file.row_group(group).num_rows for group in range(file.num_row_groups)] == [2000, 2000, 1000]


def test_seeds_make_the_logs(tmp_path: Path) -> None:
    one, two, other = (
        written(Data("compact", "shuffled", 1000, seed=seed), tmp_path / name)
        for name, seed in (("one", 3), ("two", 3), ("other", 4))
    )
    assert one[0].equals(two[0])
    assert one[1].equals(two[1])
    assert not one[0].equals(other[0])


def test_workloads_have_names_and_logs_of_their_own() -> None:
    every = workloads(20_000_000)
    assert len({workload.name for workload in every}) == len(every)
    places: dict[str, Data] = {}
    for workload in every:
        assert places.setdefault(workload.data.name, workload.data) == workload.data
    rows = {workload.name: workload.data.rows for workload in every}
    assert rows["one-group"] == 64 * 2**20
    assert (rows["sparse-shuffled-x5"], rows["compact-shuffled-x50"]) == (100_000_000, 1_000_000_000)


@pytest.mark.parametrize("name", ["text-gaps", "families-shuffled", "topics-same", "ndjson", "shards"])
def test_every_peer_counts_what_we_count(name: str, tmp_path: Path) -> None:
    (workload,) = bench.chosen(ROWS, [name])
    peers = bench_run.installed(ALL_PEERS)
    place = bench_run.prepare(workload.data, tmp_path)
    record = bench_run.run(workload, bench_run.commands(workload, place, peers, []), 1, tmp_path)
    assert list(record["commands"]) == ["floor", "streamcmp", *peers]
    for command, found in record["commands"].items():
        assert (command, found["status"], found["differs"]) == (command, "done", [])
        assert found["peaks"][0] > 10**7
    assert record["commands"]["streamcmp"]["reported"]
    assert set(record["families"]) == set(workload.by)
    assert record["ledger"]["a"]["paired"] == sum(record["families"][workload.by[0]]["cells"])


def test_the_ledger_in_sql_is_ours(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    left = {"example_id": [1, 2, 2, 3, 4, 5, None, 6, 8], "prediction": [1, 1, 1, 0, 1, None, 1, 1, 0]}
    right = {"example_id": [1, 2, 3, 4, 5, 7, 8, 9, 9, None], "prediction": [0, 1, 0, 1, 1, 1, 0, 1, 1, 1]}
    a = pl.DataFrame(left).with_columns(label=pl.lit(1), domain=pl.col("example_id") % 2)
    b = pl.DataFrame(right).with_columns(
        label=1 - (pl.col("example_id") == 4).fill_null(value=False).cast(pl.Int32)
    )
    a.write_parquet(tmp_path / "a.parquet")
    b.write_parquet(tmp_path / "b.parquet")
    report = streamcmp.compare(a, b, by=["domain"], duplicates="drop", mismatch="drop")
    logs = [f"'{tmp_path / name}.parquet'" for name in "ab"]
    result = duckdb.sql(bench_ledger.query(("domain",), *logs))
    found = dict(zip(result.columns, map(list, zip(*result.fetchall(), strict=True)), strict=True))
    theirs = bench_counts.summarize(bench_ledger.conclude(("domain",), found))
    ours = bench_counts.summarize(json.loads(json.dumps(report.to_dict())))
    assert bench_counts.differences(ours, theirs) == []
    assert ours["ledger"]["b"] == {
        "rows": 10, "null_id": 1, "duplicate": 3, "unmatched": 1, "guard_mismatch": 1,
        "unscored": 1, "paired": 3, "missing": 0,
    }  # fmt: skip


def test_a_difference_is_found() -> None:
    columns = {"slice": ["law", "art"]} | {cell: [1, 2] for cell in CELLS}
    one = bench_counts.summarize({"domain": columns})
    assert bench_counts.differences(one, bench_counts.summarize({"domain": columns})) == []
    moved = columns | {"slice": ["art", "law"]}
    (said,) = bench_counts.differences(one, bench_counts.summarize({"domain": moved}))
    assert said.startswith("domain: ")
    assert bench_counts.differences(one, bench_counts.summarize({}))


def python(text: str, tmp_path: Path, **caps: Any) -> bench_child.Measured:
    limits = {"most_seconds": 60.0, "most_bytes": 10**10} | caps
    return bench_child.measure([sys.executable, "-c", text], tmp_path / "out", tmp_path / "err", **limits)


def test_a_process_is_measured(tmp_path: Path) -> None:
    found = python("x = bytearray(100_000_000); print(len(x))", tmp_path)
    assert (found.status, found.code) == ("done", 0)
    assert found.peak > 10**8
    assert found.seconds > 0
    assert (tmp_path / "out").read_text() == "100000000\n"
    assert python("raise SystemExit(3)", tmp_path).status == "failed"


HUNGRY = "import time; x = bytearray(300_000_000); time.sleep(60)"


def test_a_process_over_its_memory_is_ended(tmp_path: Path) -> None:
    found = python(HUNGRY, tmp_path, most_bytes=200_000_000)
    assert found.status == "memory"
    assert found.peak > 200_000_000


def test_the_memory_of_descendants_counts(tmp_path: Path) -> None:
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HUNGRY!r}])"
    assert python(parent, tmp_path, most_bytes=200_000_000).status == "memory"


def test_a_process_over_its_time_is_ended(tmp_path: Path) -> None:
    assert python("import time; time.sleep(60)", tmp_path, most_seconds=0.3).status == "time"


def fake(status: bench_child.Status) -> bench_child.Measured:
    return bench_child.Measured(status, 1.0, 10**8, 0)


def test_a_command_that_met_a_cap_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def measure(command: Sequence[str], out: Path, err: Path, **_: float) -> bench_child.Measured:
        ran.append(command[0])
        out.write_text("{}")
        err.write_text("")
        return fake("memory" if command[0] == "pandas" else "done")

    monkeypatch.setattr(bench_run, "measure", measure)
    lines = {name: [name] for name in ("floor", "streamcmp", "pandas")}
    workload = Workload("w", Data("compact", "same", 10))
    record = bench_run.run(workload, lines, 3, tmp_path)
    assert ran == ["floor", "floor", "streamcmp", "pandas", *["floor", "streamcmp"] * 2]
    assert record["commands"]["pandas"]["note"] == "over 18 GB"
    assert bench_table.table([record]).count("over 18 GB") == 1


def test_measured_workloads_are_not_measured_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--rows", "500", "--rounds", "1", "--peer", "polars", "--folder", str(tmp_path)]

    def lines(*more: str) -> list[str]:
        assert bench.main([*arguments, *more]) == 0
        return (tmp_path / "results.jsonl").read_text().splitlines()

    assert len(lines("--workload", "compact-gaps")) == 1
    assert len(lines("--workload", "compact-gaps")) == 1
    assert len(lines("--workload", "compact-gaps", "sparse-gaps", "--delete")) == 2
    assert list((tmp_path / "data").iterdir()) == []
    out = capsys.readouterr().out
    assert out.splitlines()[-1].startswith("| sparse-gaps  | 500 ")
    assert len(lines("--workload", "sparse-gaps", "--again")) == 3
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"cut": ')
    assert len(lines("--workload", "compact-gaps", "--rounds", "2")) == 5
    assert len(bench_table.load(tmp_path / "results.jsonl")) == 4


def test_unknown_workloads_are_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--workload", "nonsense"]) == 2
    assert "compact-same" in capsys.readouterr().err


def test_the_largest_are_measured_on_request_only() -> None:
    assert not any(workload.name.endswith("-x50") for workload in bench.chosen(10, None))
    assert bench.chosen(10, ["sparse-shuffled-x50"])[0].data.rows == 500


def test_ratios_are_of_medians() -> None:
    def command(*seconds: float, **more: Any) -> dict[str, Any]:
        return {"status": "done", "seconds": seconds, "peaks": [10**9], "note": "", "differs": []} | more

    commands = {
        "floor": command(1, 9, 2),
        "streamcmp": command(3, 3, 8),
        "duckdb": command(6, 1, 9, differs=["domain"]),
        "pandas": command(1, status="time", note="over 20 x floor"),
    }
    text = bench_table.table([{"workload": "w", "rows": 1000, "rounds": 3, "commands": commands}])
    cells = [cell.strip() for cell in text.splitlines()[-1].strip("|").split("|")]
    assert cells == ["w", "1,000", "2.00 s", "1.50, 1.00 GB", "0.50, 1.00 GB DIFFERS", "over 20 x floor"]


@pytest.mark.slow
def test_flips_are_verified_by_another_engine(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    line = [sys.executable, "-m", "scripts.bench_flips", "--rows", "20000", "--folder", str(tmp_path)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("rows: as DuckDB finds them") == 2
