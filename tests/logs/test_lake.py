"""Delta and Iceberg tables, real ones: only the rows of the current snapshot count."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import streamcmp
from streamcmp.cli import main
from streamcmp.engines import local
from streamcmp.errors import DataError, StreamcmpError, UsageError

RIGHT = pl.DataFrame({"id": range(100), "correct": [i % 4 != 0 for i in range(100)]})
OLD = RIGHT.with_columns(correct=pl.lit(value=False))  # what was overwritten
LEFT = RIGHT.with_columns(correct=pl.Series([i % 3 != 0 for i in range(100)]))
NOW = pl.concat(  # ten deleted, one of a later schema added
    [LEFT.filter(pl.col("id") >= 10), pl.DataFrame({"id": [7], "correct": [True], "domain": ["law"]})],
    how="diagonal",
)


@pytest.fixture
def delta(tmp_path: Path) -> Path:
    """Overwritten, deleted from, and extended by a column."""
    pytest.importorskip("deltalake", reason="needs deltalake: pip install -c constraints.txt -e '.[dev]'")
    from deltalake import DeltaTable

    table = tmp_path / "tables" / "base"
    OLD.write_delta(table)
    LEFT.write_delta(table, mode="overwrite")
    DeltaTable(table).delete("id < 10")
    added = NOW.filter(domain="law")
    added.write_delta(table, mode="append", delta_write_options={"schema_mode": "merge"})
    return table


class Iceberg:
    """A table likewise, and its catalog."""

    def __init__(self, folder: Path) -> None:
        from pyiceberg.catalog.sql import SqlCatalog
        from pyiceberg.types import StringType

        self.catalog: Any = SqlCatalog(
            "test", uri=f"sqlite:///{folder}/catalog.db", warehouse=folder.as_uri()
        )
        self.catalog.create_namespace("logs")
        self.table: Any = self.catalog.create_table("logs.base", schema=OLD.to_arrow().schema)
        self.table.append(OLD.to_arrow())
        self.table.overwrite(LEFT.to_arrow())
        self.table.delete("id < 10")
        self.before = self.metadata
        with self.table.update_schema() as change:
            change.add_column("domain", StringType())
        self.table.append(NOW.filter(domain="law").to_arrow())

    @property
    def metadata(self) -> str:
        return str(self.table.metadata_location).removeprefix("file://")


@pytest.fixture
def iceberg(tmp_path: Path) -> Iterator[Iceberg]:
    pytest.importorskip("pyiceberg", reason="needs pyiceberg: pip install -c constraints.txt -e '.[dev]'")
    pytest.importorskip("sqlalchemy")
    made = Iceberg(tmp_path)
    yield made
    made.catalog.close()


def results(left: object, by: str | None = "domain") -> object:
    return streamcmp.compare(left, RIGHT, by=by).to_dict()["results"]  # type: ignore[arg-type]


def test_of_a_delta_table_the_newest_version_counts(delta: Path) -> None:
    for source in (delta, str(delta), f"delta:{delta}", delta.as_uri()):
        assert results(source) == results(NOW)
    tally = streamcmp.count(delta, RIGHT)
    size = sum(one.stat().st_size for one in delta.glob("*.parquet"))
    kept = tally.parts[0].inputs["a"]
    assert kept["paths"] == [f"{delta} (version 3)"]
    assert kept["rows"] == 91
    assert 0 < kept["bytes"] < size  # of the files that count


def test_of_an_iceberg_table_the_snapshot_of_its_metadata_counts(iceberg: Iceberg) -> None:
    assert results(iceberg.metadata) == results(NOW)
    assert results(f"iceberg:{iceberg.metadata}") == results(NOW)
    kept = streamcmp.count(iceberg.metadata, RIGHT).parts[0].inputs["a"]
    snapshot = iceberg.table.current_snapshot().snapshot_id
    assert kept["paths"] == [f"{iceberg.metadata} (snapshot {snapshot})"]
    assert kept["rows"] == 91
    assert kept["bytes"] > 0
    # An earlier metadata file is an earlier snapshot.
    assert results(iceberg.before, None) == results(LEFT.filter(pl.col("id") >= 10), None)


def test_an_iceberg_folder_must_say_its_snapshot(iceberg: Iceberg) -> None:
    folder = Path(iceberg.metadata).parent.parent
    with pytest.raises(UsageError, match=rf"catalog: name the metadata file; the last by name is {folder}"):
        streamcmp.compare(folder, RIGHT)
    shutil.copy(iceberg.metadata, folder / "metadata" / "v7.metadata.json")
    (folder / "metadata" / "version-hint.text").write_text("7")
    assert results(folder) == results(NOW)


def test_a_version_stays_while_it_is_read(delta: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = local.opened

    def then_overwritten(*args: Any, **options: Any) -> Any:
        pair = opened(*args, **options)
        OLD.head(5).write_delta(delta, mode="overwrite", delta_write_options={"schema_mode": "overwrite"})
        return pair

    monkeypatch.setattr(local, "opened", then_overwritten)
    assert results(delta, None) == results(NOW, None)


def test_planning_and_names(delta: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    RIGHT.write_parquet(tmp_path / "new.parquet")
    logs = ["--left", f"delta:{delta}", "--right", str(tmp_path / "new.parquet")]
    assert main(["run", *logs, "--explain"]) == 0
    assert main(["run", *logs]) == 0
    said = capsys.readouterr()
    assert "buckets" in said.out
    assert "base" in said.out
    assert "delta:" not in said.out


def test_a_table_within_a_folder_is_not_read_as_files(delta: Path) -> None:
    with pytest.raises(UsageError, match="base in this folder is a Delta table; name it itself"):
        streamcmp.compare(delta.parent, RIGHT)


def test_a_damaged_table_is_named(delta: Path, tmp_path: Path) -> None:
    for one in (delta / "_delta_log").iterdir():
        one.write_text("{")
    with pytest.raises(DataError, match=f"{delta}: this table cannot be read"):
        streamcmp.compare(delta, RIGHT)
    with pytest.raises(StreamcmpError, match="this table cannot be read"):
        streamcmp.compare(f"delta:{tmp_path}/nothing", RIGHT)


def test_a_damaged_metadata_file_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pyiceberg", reason="needs pyiceberg")
    (tmp_path / "v1.metadata.json").write_text("{}")
    for name in ("v1", "v2"):
        with pytest.raises(DataError, match=f"{name}.metadata.json: this table cannot be read"):
            streamcmp.compare(tmp_path / f"{name}.metadata.json", RIGHT)


@pytest.mark.parametrize(
    ("source", "library"), [("delta:/x", "deltalake"), ("iceberg:/x/v1.metadata.json", "pyiceberg")]
)
def test_without_the_extra_the_error_names_it(
    source: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = importlib.util.find_spec
    monkeypatch.setattr("streamcmp.extras.find_spec", lambda name: None if name == library else known(name))
    with pytest.raises(
        UsageError, match=rf"{library}, which is not installed: pip install 'streamcmp\[lake\]'"
    ):
        streamcmp.compare(source, RIGHT)
