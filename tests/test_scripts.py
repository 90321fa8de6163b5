import csv
import io
import json
import os
import subprocess
import sys
from math import sqrt
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

import streamcmp
from scripts import demo, make_harness_logs, make_logs, train_digits

ROOT = Path(__file__).resolve().parent.parent
ROWS = 50_000


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> tuple[make_logs.Truth, pl.DataFrame, pl.DataFrame]:
    folder = tmp_path_factory.mktemp("logs")
    truth = make_logs.write_logs(folder, ROWS, seed=7)
    return truth, pl.read_parquet(folder / "left.parquet"), pl.read_parquet(folder / "right.parquet")


Logs = tuple[make_logs.Truth, pl.DataFrame, pl.DataFrame]


def test_logs_have_unique_ids_in_and_out_of_order(logs: Logs) -> None:
    _, left, right = logs
    assert left["example_id"].is_sorted()
    assert not right["example_id"].is_sorted()
    assert left["example_id"].is_unique().all()
    assert right["example_id"].is_unique().all()


def test_truth_counts_the_rows(logs: Logs) -> None:
    truth, left, right = logs
    paired = left.join(right, on="example_id").height
    assert (truth.rows, truth.rows_a, truth.rows_b, truth.paired) == (ROWS, left.height, right.height, paired)
    for alone in (left.height - paired, right.height - paired):
        assert 0.005 < alone / ROWS < 0.015


def test_both_logs_agree_on_labels_and_slices(logs: Logs) -> None:
    _, left, right = logs
    shared = ["example_id", "domain", "language", "difficulty", "label"]
    assert left.join(right, on=shared).height == left.join(right, on="example_id").height


def test_outcomes_follow_the_true_accuracies(logs: Logs) -> None:
    truth, left, right = logs
    for log, name in ((left, "accuracy_a"), (right, "accuracy_b")):
        seen = log.group_by(pl.col("domain").cast(pl.String)).agg(
            n=pl.len(), accuracy=(pl.col("prediction") == pl.col("label")).mean()
        )
        assert seen.height == len(truth.domain) == 12
        for domain, n, accuracy in seen.iter_rows():
            expected = truth.domain[domain][name]
            assert abs(accuracy - expected) < 5 * sqrt(expected * (1 - expected) / n), (domain, name)


def test_gains_have_every_sign() -> None:
    gains = [round(d.gain, 12) for d in make_logs.DOMAINS]
    assert min(gains) < 0 < max(gains)
    assert 0 in gains
    assert sum(d.share for d in make_logs.DOMAINS) == pytest.approx(1)


def test_equal_seeds_make_equal_logs(tmp_path: Path) -> None:
    for name, seed in (("one", 3), ("two", 3), ("other", 4)):
        make_logs.write_logs(tmp_path / name, 1000, seed)
    for file in ("left.parquet", "right.parquet"):
        one, two, other = (pl.read_parquet(tmp_path / name / file) for name in ("one", "two", "other"))
        assert one.equals(two)
        assert not one.equals(other)
    assert json.loads((tmp_path / "one" / "truth.json").read_text())["seed"] == 3


def result(family: str, domain: str | None, gain: float) -> dict[str, object]:
    where = {} if domain is None else {"domain": domain}
    return {
        "family": family,
        "slice": where,
        "gain": gain,
        "gain_low": gain - 0.001,
        "gain_high": gain + 0.001,
    }


def test_demo_sets_truth_beside_estimate(logs: Logs) -> None:
    truth = logs[0]
    found = [result("overall", None, truth.overall["gain"])]
    found += [
        result("domain", name, values["gain"]) for name, values in truth.domain.items() if name != "law"
    ]
    found += [result("domain", "law", truth.domain["law"]["gain"] + 0.01)]
    out = io.StringIO()
    Console(file=out, width=100).print(demo.truth_table(truth, {"results": found}))
    lines = out.getvalue().splitlines()
    assert sum("yes" in line for line in lines) == 12
    (law,) = (line for line in lines if "law" in line)
    assert "+2.50" in law
    assert "[+3.40, +3.60]" in law
    assert "no" in law


def test_demo_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.demo", "--rows", "20000"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "holds the truth" in done.stdout
    line = "run --left build/demo/left.parquet --right build/demo/right.parquet --by domain"
    assert done.stdout.count(line) == 2


def committed(name: str) -> list[train_digits.Row]:
    with (ROOT / "examples" / "digits" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert tuple(header) == train_digits.COLUMNS
    return [(int(i), int(digit), int(label), int(prediction)) for i, digit, label, prediction in rows]


def test_digits_have_the_counts_that_the_readme_states() -> None:
    outcomes = [
        [label == prediction for _, _, label, prediction in committed(m)] for m in ("logistic", "svm")
    ]
    pairs = list(zip(*outcomes, strict=True))
    cells = {cell: pairs.count(cell) for cell in set(pairs)}
    assert cells == {(True, True): 862, (True, False): 4, (False, True): 22, (False, False): 11}
    assert len(pairs) == 899


def test_digits_can_be_trained_again() -> None:
    # Another processor's arithmetic may move a prediction at the border between two digits, no more.
    for name, rows in train_digits.train().items():
        stored = committed(name)
        assert [row[:3] for row in rows] == [row[:3] for row in stored]
        assert sum(row != other for row, other in zip(rows, stored, strict=True)) <= 3


def test_harness_logs_compare_to_what_they_were_made_of(tmp_path: Path) -> None:
    for side in ("left", "right"):
        rows = make_harness_logs.write_lm_eval(tmp_path / "lm_eval" / side, side, 500_000)
        make_harness_logs.write_eval(tmp_path / f"{side}.eval", side, 300)
    for log, ending, pairs in (("lm_eval/{}", "", rows), ("{}.eval", ".eval", 300)):
        paths = [tmp_path / (log.format(side)) for side in ("left", "right")]
        report = streamcmp.compare(*paths).to_dict()
        assert report["ledger"]["a"]["paired"] == pairs, ending
        assert report["results"][0]["n_ab"] == 0 < report["results"][0]["n_ba"]
    # As a process: Linux counts a parent's memory at the fork into its child's peak, and this one is large.
    line = [sys.executable, "-m", "scripts.bench_harness", str(tmp_path), "--rounds", "1"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.count("GB |") == 4  # two rows, two columns
