"""The examples for schedulers: what of them is ours runs here, with toy logs and two shards."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

import streamcmp

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
BASE = pl.DataFrame(
    {"id": range(200), "domain": ["law", "art"] * 100, "correct": [i % 4 != 0 for i in range(200)]}
)
BETTER = BASE.with_columns(correct=pl.lit(value=True))
DIALECTS = [
    "spark",
    "duckdb",
    "postgres",
    "bigquery",
    "snowflake",
    "trino",
    "clickhouse",
    "databricks",
    "redshift",
]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    BASE.write_parquet(tmp_path / "base.parquet")
    BETTER.write_parquet(tmp_path / "better.parquet")
    return tmp_path


@pytest.fixture
def command(tmp_path: Path) -> dict[str, str]:
    """An environment in which `streamcmp` is this one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "streamcmp"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m streamcmp "$@"\n')
    script.chmod(0o755)
    return {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(EXAMPLES.parent),
        "HOME": str(tmp_path),
    }


def ran(
    shell: list[str], text: str, where: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*shell, text], cwd=where, env=environment, capture_output=True, text=True, check=False
    )


def read_yaml(path: Path) -> list[Any]:
    yaml = pytest.importorskip("yaml", reason="needs PyYAML: pip install -c constraints.txt -e '.[dev]'")
    return list(yaml.safe_load_all(path.read_text()))


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_airflows_steps(logs: Path) -> None:
    steps = load(EXAMPLES / "airflow" / "comparison.py")
    base, better, folder = str(logs / "base.parquet"), str(logs / "better.parquet"), str(logs)
    parts = [
        steps.count_shard(base, better, by=["domain"], number=number, of=2, folder=folder)
        for number in range(2)
    ]
    everything = steps.merge_shards(parts, folder)
    assert streamcmp.Tally.load(everything) == streamcmp.count(base, better, by="domain")
    assert "better" in steps.judge(everything, ["overall.verdict == 'worse'"])
    with pytest.raises(RuntimeError, match=r"Gates that fired: overall\.verdict == 'better'"):
        steps.judge(everything, ["overall.verdict == 'better'"])
    with pytest.raises(streamcmp.UsageError, match="missing"):
        steps.judge(parts[0], [])


def test_airflows_dag_calls_the_steps_as_they_are() -> None:
    text = (EXAMPLES / "airflow" / "compare_models.py").read_text()
    compile(text, "compare_models.py", "exec")
    steps = load(EXAMPLES / "airflow" / "comparison.py")
    for name in ("count_shard", "merge_shards", "judge"):
        assert f"comparison.{name}(" in text
        assert callable(getattr(steps, name))


def test_kubernetes_jobs(logs: Path, command: dict[str, str]) -> None:
    count, judge = read_yaml(EXAMPLES / "kubernetes" / "job.yaml")
    names = [one["name"] for one in count["spec"]["template"]["spec"]["containers"][0]["env"]]
    (shards,) = (
        one["value"]
        for one in count["spec"]["template"]["spec"]["containers"][0]["env"]
        if one["name"] == "SHARDS"
    )
    assert int(shards) == count["spec"]["completions"]
    here = {
        "LEFT": str(logs / "base.parquet"),
        "RIGHT": str(logs / "better.parquet"),
        "TALLIES": str(logs),
        "SHARDS": "2",
        "STREAMCMP_SPILL_DIR": str(logs),
        "STREAMCMP_MESSAGES": "json",
    }
    assert set(names) == set(here)
    container = count["spec"]["template"]["spec"]["containers"][0]
    for index in ("0", "1"):
        done = ran(
            container["command"],
            container["args"][0],
            logs,
            {**command, **here, "JOB_COMPLETION_INDEX": index},
        )
        assert done.returncode == 0, done.stderr
    container = judge["spec"]["template"]["spec"]["containers"][0]
    done = ran(container["command"], container["args"][0], logs, {**command, **here})
    assert done.returncode == 0, done.stderr
    assert '"verdict":"better"' in (logs / "report.json").read_text()
    (logs / "part-1.tally").unlink()
    assert ran(container["command"], container["args"][0], logs, {**command, **here}).returncode == 2


def steps_of(workflow: Any) -> list[str]:
    steps = workflow["jobs"]["compare"]["steps"]
    return [one["run"] for one in steps if "run" in one and "pip install" not in one["run"]]


@pytest.mark.parametrize(("left", "right", "code"), [("base", "better", 0), ("better", "base", 1)])
def test_githubs_steps(logs: Path, command: dict[str, str], left: str, right: str, code: int) -> None:
    (workflow,) = read_yaml(EXAMPLES / "github" / "compare.yml")
    here = {
        **command,
        "LEFT": str(logs / f"{left}.parquet"),
        "RIGHT": str(logs / f"{right}.parquet"),
        "GITHUB_STEP_SUMMARY": str(logs / "summary.md"),
    }
    assert set(workflow["jobs"]["compare"]["env"]) == {"LEFT", "RIGHT"}
    count, judge = steps_of(workflow)
    assert ran(["bash", "-e", "-c"], count, logs, here).returncode == 0
    done = ran(["bash", "-e", "-c"], judge, logs, here)
    assert done.returncode == code, done.stderr
    assert "candidate" in (logs / "summary.md").read_text()
    assert ("<failure" in (logs / "junit.xml").read_text()) == bool(code)


def written(dialect: str, command: dict[str, str]) -> str:
    pytest.importorskip("sqlglot", reason="needs sqlglot: pip install -c constraints.txt -e '.[dev]'")
    options = [dialect, "--on", "id", "--id-type", "int", "--correct", "correct", "--by", "domain"]
    done = subprocess.run(
        ["sh", str(EXAMPLES / "dbt" / "write_macro.sh"), *options],
        env=command,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_dbts_macro_of_every_dialect_names_each_table_once(dialect: str, command: dict[str, str]) -> None:
    macro = written(dialect, command)
    assert macro.count("{{ left }}") == macro.count("{{ right }}") == 1
    assert "_relation" not in macro


def test_dbts_macro_counts_on_duckdb(logs: Path, command: dict[str, str]) -> None:
    jinja = pytest.importorskip("jinja2", reason="needs Jinja: pip install -c constraints.txt -e '.[dev]'")
    duckdb = pytest.importorskip("duckdb")
    macro = (EXAMPLES / "dbt" / "macros" / "streamcmp_counts.sql").read_text()
    assert macro == written("duckdb", command)
    model = (EXAMPLES / "dbt" / "models" / "model_comparison.sql").read_text()
    tables = {"base_predictions": "base", "candidate_predictions": "better"}
    statement = jinja.Environment(autoescape=False).from_string(macro + model).render(ref=tables.__getitem__)
    with duckdb.connect() as connection:
        for name in ("base", "better"):
            connection.execute(f"CREATE TABLE {name} AS FROM '{logs}/{name}.parquet'")
        connection.execute(f"COPY ({statement}) TO '{logs}/counts.parquet' (FORMAT parquet)")
    report = streamcmp.finalize(logs / "counts.parquet", left_name="base", right_name="better")
    whole = streamcmp.compare(logs / "base.parquet", logs / "better.parquet", by="domain")
    assert report.to_dict()["results"] == whole.to_dict()["results"]
    assert report.to_dict()["ledger"] == whole.to_dict()["ledger"]
