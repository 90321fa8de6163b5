"""DuckDB as an engine and as a second opinion, tables of its files, and joins of its that spill."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from streamcmp import api, engines
from streamcmp.cli.app import main
from streamcmp.comparison import Comparison, IdShard, LogRequest
from streamcmp.engines import duckdb as duckdb_engine
from streamcmp.engines.local import Counted
from streamcmp.engines.verify import shard_of_share
from streamcmp.errors import DataError, InternalError, UsageError
from streamcmp.ledger import Ledger
from streamcmp.logs.model import LogPair
from streamcmp.meter import Meter
from streamcmp.resources import Resources

LEFT = pl.DataFrame(
    {
        "id": range(200),
        "correct": [number % 3 > 0 for number in range(200)],
        "domain": ["law", "art"] * 100,
        "skills": [["a"], ["a", "b"], []] * 66 + [["b"], None],
    }
)
RIGHT = LEFT.with_columns(correct=pl.col("id") % 4 > 0).reverse().head(190)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Both logs as files: of two formats, one with a format's own types."""
    LEFT.write_parquet(tmp_path / "left.parquet")
    RIGHT.write_ndjson(tmp_path / "right.ndjson")
    return str(tmp_path / "left.parquet"), str(tmp_path / "right.ndjson")


def arguments(files: tuple[str, str], *more: str) -> list[str]:
    return [
        "run",
        "--left",
        files[0],
        "--right",
        files[1],
        "--by",
        "domain",
        "--by",
        "skills",
        "--quiet",
        *more,
    ]


def test_the_command_prints_the_same_bytes(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = []
    for more in ([], ["--engine", "duckdb"], ["--verify", "5%"], ["--engine", "duckdb", "--verify", "100%"]):
        assert main(arguments(files, "--format", "json", *more)) == 0
        outputs.append(capsys.readouterr().out)
    assert len(set(outputs)) == 1
    assert json.loads(outputs[0])["results"][0]["n"] == 190


def test_count_saves_the_same_tally(files: tuple[str, str], tmp_path: Path) -> None:
    for engine in ("local", "duckdb"):
        count = ["count", *arguments(files)[1:], "--engine", engine, "--output", str(tmp_path / engine)]
        assert main(count) == 0
    assert (tmp_path / "local").read_bytes() == (tmp_path / "duckdb").read_bytes()


def test_rule_errors_are_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.csv"
    path.write_text("id,correct\n1,C\n2,P\n")
    said = []
    for engine in ("local", "duckdb"):
        assert main(["run", "--left", str(path), "--right", str(path), "--engine", engine]) == 2
        said.append(capsys.readouterr().err)
    assert said[0] == said[1]
    assert "P" in said[0]


def losing(pair: LogPair, resources: Resources, meter: Meter) -> Counted:
    """An engine that loses a pair without a word, and balances its ledger all the same."""
    found = duckdb_engine.counted(pair, resources, meter)
    ledger = found.tally.ledger
    assert ledger is not None
    a, b = (
        replace(side, paired=side.paired - 1, unmatched=side.unmatched + 1) for side in (ledger.a, ledger.b)
    )
    return replace(found, tally=replace(found.tally, ledger=Ledger(a, b)))


def misplacing(pair: LogPair, resources: Resources, meter: Meter) -> Counted:
    """An engine that counts a pair in another slice."""
    found = duckdb_engine.counted(pair, resources, meter)
    families = dict(found.tally.families)
    families["domain"] = families["domain"].with_columns(n_ab=pl.col("n_ab").reverse() + pl.Series([1, -1]))
    return replace(found, tally=replace(found.tally, families=families))


@pytest.mark.parametrize(
    ("engine", "said"),
    [(losing, r"side a has \d+ rows (paired|unmatched) by"), (misplacing, "the family domain")],
)
@pytest.mark.parametrize("share", ["5%", "1"])
def test_a_second_engine_that_differs_stops_the_run(
    files: tuple[str, str], engine: Any, said: str, share: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = engines._engine
    monkeypatch.setattr(engines, "_engine", lambda name: engine if name == "duckdb" else real(name))
    with pytest.raises(InternalError, match=said):
        api.compare(*files, by=["domain"], verify=share)


def test_shares_are_shards_of_at_least_so_many_ids() -> None:
    assert [shard_of_share(share) for share in (0.05, 0.3, 0.5, 0.6, 1.0)] == [
        IdShard(0, 20), IdShard(0, 3), IdShard(0, 2), IdShard(), IdShard(),
    ]  # fmt: skip
    for wrong in ("0%", "101%", "five", "-5%", "nan"):
        with pytest.raises(UsageError, match="no share of the ids"):
            api.compare(LEFT, RIGHT, verify=wrong)
    with pytest.raises(UsageError, match="up to 100%"):
        api.compare(LEFT, RIGHT, verify=5.0)


def test_without_duckdb_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamcmp.extras.find_spec", lambda _name: None)
    for options in ({"engine": "duckdb"}, {"verify": 0.5}):
        with pytest.raises(UsageError, match=r"pip install 'streamcmp\[duckdb\]'"):
            api.compare(LEFT, RIGHT, **options)


@pytest.fixture
def database(tmp_path: Path) -> str:
    path = str(tmp_path / "runs.duckdb")
    with duckdb.connect(path) as connection:
        for name, frame in (("old", LEFT), ('new "run"', RIGHT)):
            connection.register("frame", frame.to_arrow())
            quoted = name.replace('"', '""')
            connection.execute(f'CREATE TABLE "{quoted}" AS SELECT * FROM frame')
            connection.unregister("frame")
        connection.execute("CREATE SCHEMA best; CREATE VIEW best.ones AS SELECT * FROM old WHERE id < 50")
    return path


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_tables_of_a_database_file_are_logs(database: str, engine: Any) -> None:
    of_tables = api.compare(
        f"{database}::old", f'{database}::new "run"', by=["domain", "skills"], engine=engine
    )
    of_frames = api.compare(LEFT, RIGHT, by=["domain", "skills"], left_name="old", right_name='new "run"')
    assert of_tables.to_dict()["results"] == of_frames.to_dict()["results"]
    some = api.compare(f"{database}::best.ones", f"{database}::old", engine=engine)
    assert some.ledger is not None
    assert (some.ledger.a.paired, some.ledger.b.unmatched) == (50, 150)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a.b", '"a.b"'),
        ("a.b", 'main."a.b"'),
        ("a.b", '"runs"."main"."a.b"'),
        ("a::b", '"a::b"'),
        ('"q"', '"""q"""'),
        ("a b", "a b"),
    ],
)
def test_names_with_dots_stand_in_quotes(database: str, name: str, written: str) -> None:
    quoted = name.replace('"', '""')
    with duckdb.connect(database) as connection:
        connection.execute(f'CREATE TABLE "{quoted}" AS SELECT * FROM old')
    report = api.compare(f"{database}::{written}", f"{database}::old")
    assert report.ledger is not None
    assert report.ledger.a.paired == LEFT.height
    assert main(["convert", f"{database}::{written}", "--output", database]) == 2
    # One that is not there is told beside those that are, as they are written.
    with pytest.raises(UsageError, match="its tables: ") as caught:
        api.compare(f"{database}::old", f"{database}::a.c")
    tables = str(caught.value).partition("its tables: ")[2].split(", ")
    assert {re.sub(r'.*main"?\.', "", written), "best.ones", "old"} <= set(tables)


@pytest.mark.parametrize("written", ['"a.b', "a..b", ".a", 'main."a"b'])
def test_what_is_no_name_of_a_table(database: str, written: str) -> None:
    with pytest.raises(UsageError, match=f"{re.escape(written)} is no name of a table.*double quotes"):
        api.compare(f"{database}::{written}", f"{database}::old")


def test_a_file_of_another_kind_has_no_tables(tmp_path: Path) -> None:
    path = str(tmp_path / "a.parquet")
    LEFT.write_parquet(path)
    with pytest.raises(
        DataError, match=r"--right .*a\.parquet::old: .*the file itself, write --right .*a\.parquet$"
    ):
        api.compare(path, f"{path}::old")


def test_a_database_file_is_not_overwritten(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path(database).read_bytes()
    logs = ["--left", f"{database}::old", "--right", f"{database}::best.ones"]
    for command in ("run", "count", "flips"):
        assert main([command, *logs, "--output", database]) == 2
        assert "is also an input" in capsys.readouterr().err
    assert main(["convert", f"{database}::old", "--output", database]) == 2
    assert Path(database).read_bytes() == before


def test_a_table_that_is_not_there_is_named(database: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--left .*::none.*none"):
        api.compare(f"{database}::none", f"{database}::old")
    with pytest.raises(UsageError, match="there is no file"):
        api.compare(f"{tmp_path}/no.duckdb::old", f"{database}::old")
    (tmp_path / "text.duckdb").write_text("no database")
    with pytest.raises(DataError, match="cannot be read"):
        api.compare(f"{tmp_path}/text.duckdb::old", f"{database}::old")


ROWS = 600_000
_WIDE = "repeat(md5(i::VARCHAR), 2)"


def spilling(folder: Path) -> duckdb.DuckDBPyConnection:
    """Two tables with wide text ids in different orders; of the second every 7th row is missing."""
    connection = duckdb.connect(
        config={
            "memory_limit": "60MB",
            "threads": 2,
            "temp_directory": str(folder),
            "preserve_insertion_order": False,
        }
    )
    for name, order, rest in (("a", "i", ""), ("b", "hash(i)", "WHERE i % 7 <> 0")):
        connection.execute(
            f"COPY (SELECT {_WIDE} AS id, (i % 3 = 0)::UTINYINT AS outcome, i FROM range({ROWS}) t(i) {rest} "
            f"ORDER BY {order}) TO '{folder}/{name}.parquet' (ROW_GROUP_SIZE 20000)"
        )
    return connection


@pytest.mark.slow
def test_joins_that_spill_lose_no_row(tmp_path: Path) -> None:
    """Silent losses have been reported of more than one engine; the pinned DuckDB has to be free of them."""
    join = (
        "SELECT COUNT(*), COUNT(a.id), COUNT(b.id), COUNT(*) FILTER (a.i = b.i), "
        "SUM(a.outcome), SUM(b.outcome) "
        f"FROM '{tmp_path}/a.parquet' a FULL OUTER JOIN '{tmp_path}/b.parquet' b ON a.id = b.id"
    )
    there = [number for number in range(ROWS) if number % 7]
    wanted = (ROWS, ROWS, len(there), len(there), -(-ROWS // 3), sum(number % 3 == 0 for number in there))
    with spilling(tmp_path) as connection:
        for _ in range(3):
            assert connection.execute(join).fetchone() == wanted
        connection.execute("SET max_temp_directory_size = '1MB'")
        with pytest.raises(duckdb.OutOfMemoryException):  # so it did spill
            connection.execute(join).fetchone()


@pytest.mark.slow
def test_the_engine_counts_what_spills(tmp_path: Path) -> None:
    with spilling(tmp_path):
        pass
    comparison = Comparison(
        a=LogRequest(tmp_path / "a.parquet", correct="outcome"),
        b=LogRequest(tmp_path / "b.parquet", correct="outcome"),
        on=("id",),
    )
    small = Resources(memory=64 << 20, threads=2, spill_dir=tmp_path, engine="duckdb")
    tally = engines.count(comparison, small).tally
    assert tally == engines.count(comparison, Resources()).tally
    assert tally.ledger is not None
    assert (tally.ledger.a.rows, tally.ledger.a.unmatched) == (ROWS, -(-ROWS // 7))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "b.parquet"]
