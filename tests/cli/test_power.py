"""`streamcmp power`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import streamcmp
from tests.cli.conftest import Cli


def test_pairs_that_a_gain_needs(cli: Cli) -> None:
    ran = cli("power", "--gain", 0.02, "--psi", 0.1)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "10 % of pairs discordant; exact test, two-sided, alpha 0.05; power 0.8\n"
        "a gain of 2 points needs 2,043 pairs (1,960 by Connor's formula)\n"
    )


def test_what_so_many_pairs_show(cli: Cli) -> None:
    options = ("--test", "mid-p", "--alternative", "better")
    out = cli("power", "--n", 5000, "--psi", 0.1, "--gain", 0.01, *options).out
    assert "5,000 pairs can show a gain of 1.11 points or more, by Connor's formula\n" in out
    assert "a gain of 1 point is shown by 5,000 pairs with a chance of 0.724 (0.723 by Connor's" in out
    assert "can show no gain" in cli("power", "--n", 1, "--psi", 0.1).out


def test_as_json_and_into_a_file(cli: Cli, tmp_path: Path) -> None:
    expected = streamcmp.power(gain=0.02, psi=0.1, n=1000, confidence=0.9, power=0.7).to_dict()
    options = ("--gain", 0.02, "--psi", 0.1, "--n", 1000, "--confidence", 0.9, "--power", 0.7)
    assert json.loads(cli("power", *options, "--format", "json").out) == expected
    assert cli("power", *options, "--output", tmp_path / "plan.json").out == ""
    assert json.loads((tmp_path / "plan.json").read_text()) == expected


def test_psi_of_counts(cli: Cli, tmp_path: Path) -> None:
    table = tmp_path / "counts.csv"
    pl.DataFrame({"domain": ["a", "b"], "n_ab": [4, 6], "n_ba": [14, 9], "n": [200, 100]}).write_csv(table)
    expected = streamcmp.power(table, gain=0.02).to_dict()
    assert (expected["psi"], expected["n"]) == (0.11, 300)
    assert json.loads(cli("power", table, "--gain", 0.02, "--format", "json").out) == expected
    assert cli("power", table, "--output", table).code == 2  # never over its input


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "give --psi"),
        (("--psi", 0.1), "give --gain"),
        (("--psi", 0.1, "--gain", 0.2), "more than --psi"),
        (("--psi", 0.1, "--n", 0), "--n must be"),
        (("nowhere.tally",), "cannot read nowhere.tally"),
    ],
)
def test_mistakes(cli: Cli, arguments: tuple[object, ...], says: str) -> None:
    ran = cli("power", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_the_config_and_the_environment_count(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "x.toml"
    config.write_text('power = 0.9\npsi = 0.2\ntest = "chi2"\nby = "domain"\n')
    monkeypatch.setenv("STREAMCMP_GAIN", "0.05")
    out = cli("power", "--config", config, "--format", "json").out
    assert json.loads(out) == streamcmp.power(gain=0.05, psi=0.2, power=0.9, test="chi2").to_dict()
