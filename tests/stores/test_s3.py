"""Logs, tallies and reports in an object store, by a real server on this machine."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

import streamcmp
from streamcmp.cli import main
from streamcmp.engines import local
from streamcmp.errors import DataError, StreamcmpError, UsageError
from tests.stores.conftest import Bucket, Store, closed_port, new_bucket, running_store, sign_in

LEFT = pl.DataFrame(
    {"id": range(100), "domain": ["law", "art"] * 50, "correct": [i % 3 != 0 for i in range(100)]}
)
RIGHT = LEFT.with_columns(correct=pl.Series([i % 4 != 0 for i in range(100)]))
HERE = streamcmp.compare(LEFT, RIGHT, by="domain", left_name="old", right_name="new")
NAMED = ["--left-name", "old", "--right-name", "new"]


@pytest.fixture(params=["boto3", "alone"])
def chain(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Polars finds credentials with boto3 where that is installed, and without it where not."""
    if request.param == "alone":
        monkeypatch.setitem(sys.modules, "boto3", None)


def results(report: streamcmp.Report) -> object:
    return report.to_dict()["results"]


def test_logs_are_compared_as_they_are_from_files(bucket: Bucket, chain: None) -> None:
    old, new = bucket.put("old.parquet", LEFT), bucket.put("runs/new.arrow", RIGHT)
    report = streamcmp.compare(old, new, by="domain")
    assert results(report) == results(HERE)
    assert report.names == ("old", "new")


def test_a_pattern_is_its_files_and_their_folders_are_columns(bucket: Bucket) -> None:
    for day in (1, 2):
        bucket.put(f"old/day={day}/part.parquet", LEFT.slice(50 * day - 50, 50))
    bucket.put("old/day=2/_hidden.parquet", LEFT)
    bucket.put("old/other.parquet", LEFT)
    new = [bucket.put("new/1.arrow", RIGHT.head(30)), bucket.put("new/2.arrow", RIGHT.tail(70))]
    tally = streamcmp.count(bucket.address("old/day=*/*.parquet"), new, by="day")
    assert tally.ledger is not None
    assert (tally.ledger.a.rows, tally.ledger.b.rows) == (100, 100)
    assert [cut for cut, _ in tally.counts("day")] == [{"day": "1"}, {"day": "2"}]
    paths = [bucket.address(f"old/day={day}/part.parquet") for day in (1, 2)]
    assert tally.parts[0].inputs["a"] == {"paths": paths, "bytes": None, "rows": 100}
    assert tally.parts[0].inputs["b"]["paths"] == new
    assert streamcmp.count(bucket.address("new/*"), LEFT, input_format="ipc").ledger is not None
    folder = streamcmp.count(bucket.address("old/day=1/"), RIGHT, input_format="parquet")
    assert folder.ledger is not None
    assert folder.ledger.a.rows == 50


def test_a_bad_value_is_named_with_its_file_and_row(bucket: Bucket) -> None:
    bucket.put("old/1.parquet", LEFT)
    bucket.put("old/2.parquet", LEFT.with_columns(pl.lit(0.5).alias("correct"), pl.col("id") + 100))
    bucket.put("old/3.parquet", LEFT.drop("correct"))
    with pytest.raises(StreamcmpError, match=r"old/3\.parquet has no column 'correct'"):
        streamcmp.compare(bucket.address("old/*.parquet"), RIGHT, correct="correct")
    with pytest.raises(StreamcmpError, match=r"old/2\.parquet, row 1: 'correct' is 0\.5"):
        streamcmp.compare(bucket.address("old/[12].parquet"), RIGHT)


def test_planning_reads_no_rows(bucket: Bucket, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = bucket.put("old.parquet", LEFT), bucket.put("new.parquet", RIGHT)
    assert main(["run", "--left", old, "--right", new, "--explain"]) == 0
    assert "lockstep" in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["json", "csv", "md", "txt", "xml"])
def test_every_report_is_written_as_to_a_file(bucket: Bucket, ending: str, tmp_path: Path) -> None:
    old, new = bucket.put("old.parquet", LEFT), bucket.put("new.parquet", RIGHT)
    run = ["run", "--left", old, "--right", new, "--by", "domain", *NAMED, "--quiet", "--output"]
    assert main([*run, bucket.address(f"out/report.{ending}")]) == 0
    assert main([*run, f"{tmp_path}/report.{ending}"]) == 0
    assert bucket.get(f"out/report.{ending}") == (tmp_path / f"report.{ending}").read_bytes()


def test_a_parquet_report_and_a_tally_keep_their_metadata(bucket: Bucket) -> None:
    old, new = bucket.put("old.parquet", LEFT), bucket.put("new.parquet", RIGHT)
    logs = ["--left", old, "--right", new, "--by", "domain", "--quiet"]
    assert main(["run", *logs, *NAMED, "--output", bucket.address("report.parquet")]) == 0
    data = bucket.get("report.parquet")
    assert pl.read_parquet(io.BytesIO(data)).equals(HERE.results)
    assert json.loads(pq.read_metadata(io.BytesIO(data)).metadata[b"streamcmp.ledger"])
    for shard in (0, 1):
        assert (
            main(["count", *logs, "--shard", f"{shard}/2", "--output", bucket.address(f"{shard}.tally")]) == 0
        )
    both = [bucket.address("0.tally"), bucket.address("1.tally")]
    assert main(["merge", *both, "--output", bucket.address("all.tally")]) == 0
    assert results(streamcmp.finalize(bucket.address("all.tally"))) == results(HERE)
    whole = streamcmp.merge(both)
    assert whole == streamcmp.count(old, new, by="domain")
    with pytest.raises(UsageError, match="cover the same examples"):
        streamcmp.merge([*both, both[0]])


def test_a_table_of_counts_in_a_store_is_finalized(bucket: Bucket) -> None:
    address = bucket.put("counts.csv", b"domain,n_ab,n_ba\nlaw,1,5\nart,2,0\n")
    assert streamcmp.finalize(address).to_dict()["results"][0]["n_ba"] == 5


def test_a_converted_log_says_what_its_columns_are(bucket: Bucket) -> None:
    address = bucket.address("base.parquet")
    streamcmp.convert(
        LEFT.rename({"correct": "hit"}).sample(100, shuffle=True), address, correct="hit", by="domain"
    )
    assert results(streamcmp.compare(address, RIGHT, by="domain")) == results(HERE)


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("nothing.parquet", "nothing is there (at http://127.0.0.1"),
        ("nothing*.parquet", "nothing is there (at http://127.0.0.1"),
        ("broken.parquet", "out of specification"),
        ("log.csv", "is csv; only parquet and ipc are read from an address"),
        ("log", "has no known ending"),
    ],
)
def test_what_is_not_there_or_no_log_is_named(bucket: Bucket, key: str, says: str) -> None:
    bucket.put("broken.parquet", b"PAR1 and no more")
    with pytest.raises(StreamcmpError) as caught:
        streamcmp.compare(bucket.address(key), RIGHT)
    assert bucket.address(key) in str(caught.value)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_bucket_that_does_not_exist_is_named(signed_in: Store, chain: None) -> None:
    with pytest.raises(DataError, match=r"s3://no-bucket/x\.parquet: the bucket does not exist"):
        streamcmp.compare("s3://no-bucket/x.parquet", RIGHT)
    with pytest.raises(UsageError, match=r"cannot read s3://no-bucket/x\.tally: the bucket does not exist"):
        streamcmp.Tally.load("s3://no-bucket/x.tally")


def test_wrong_keys_are_refused_before_rows_are_read(
    bucket: Bucket, chain: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = bucket.put("old.parquet", LEFT)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-the-secret")
    with pytest.raises(
        DataError, match=r"old\.parquet: access is refused \(SignatureDoesNotMatch\); set AWS_ACC"
    ):
        streamcmp.compare(old, RIGHT)
    there = ["--left", "/nowhere.csv", "--right", "/nowhere.csv", "--output", bucket.address("report.json")]
    assert main(["run", *there]) == 2
    said = capsys.readouterr()
    assert "report.json: access is refused (SignatureDoesNotMatch)" in said.err
    assert not said.out


def test_without_credentials_the_error_says_which(
    signed_in: Store, chain: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")  # boto3 would ask a machine that is not there
    with pytest.raises(DataError, match="no credentials for s3:// were found: set AWS_ACCESS_KEY_ID"):
        streamcmp.compare("s3://unsigned/x.parquet", RIGHT)


def test_a_store_that_does_not_answer_is_an_error_in_seconds(
    signed_in: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = f"http://127.0.0.1:{closed_port()}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", closed)
    with pytest.raises(DataError, match=f"s3://away/x.parquet: the server cannot be reached: .*{closed}"):
        streamcmp.compare("s3://away/x.parquet", RIGHT)


def test_an_output_is_refused_where_it_cannot_be(bucket: Bucket, capsys: pytest.CaptureFixture[str]) -> None:
    old = bucket.put("old.json", LEFT)
    logs = ["run", "--left", old, "--right", old, "--input-format", "parquet"]
    for output, says in (
        ("https://127.0.0.1/report.json", "results are written to s3, gs and az addresses, and to files"),
        ("s3://no-bucket/report.json", "cannot write s3://no-bucket/report.json: the bucket does not exist"),
        (old, "is also an input"),
    ):
        assert main([*logs, "--output", output]) == 2
        said = capsys.readouterr()
        assert says in said.err
        assert not said.out


def test_a_file_that_changes_while_it_is_read_is_no_result(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = bucket.put("old.parquet", LEFT), bucket.put("new.parquet", RIGHT)
    opened = local.opened

    def then_shorter(*args: object, **options: object) -> object:
        pair = opened(*args, **options)  # type: ignore[arg-type]
        bucket.put("old.parquet", LEFT.head(99))
        return pair

    monkeypatch.setattr(local, "opened", then_shorter)
    assert main(["run", "--left", old, "--right", new]) == 2
    said = capsys.readouterr()
    assert "old.parquet" in said.err
    assert not said.out


@pytest.mark.slow
def test_a_store_that_dies_midway_is_an_error_and_prints_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with running_store() as store:
        sign_in(store, monkeypatch)
        bucket = new_bucket(store)
        old, new = bucket.put("old.parquet", LEFT), bucket.put("new.parquet", RIGHT)
        opened = local.opened

        def then_gone(*args: object, **options: object) -> object:
            pair = opened(*args, **options)  # type: ignore[arg-type]
            store.process.kill()
            store.process.wait()
            return pair

        monkeypatch.setattr(local, "opened", then_gone)
        assert main(["run", "--left", old, "--right", new]) == 2
        said = capsys.readouterr()
        assert "the server cannot be reached" in said.err
        assert not said.out
