"""`--fail-on`: exit codes, stderr, and where the option comes from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import BOTH, Cli

FIRES = "overall.gain > 10%"
PASSES = "overall.gain < 0"
SAYS = "gate failed: overall.gain > 10%: overall.gain is 0.1667\n"


@pytest.mark.usefixtures("logs")
def test_a_gate_that_fires_is_exit_code_1_and_the_report_is_there(cli: Cli) -> None:
    plain = cli("run", *BOTH, "--quiet")
    ran = cli("run", *BOTH, "--quiet", "--fail-on", PASSES, "--fail-on", FIRES)
    assert ran.code == 1
    assert ran.err == SAYS
    assert plain.out.splitlines()[:3] == ran.out.splitlines()[:3]
    assert f"gate failed: {FIRES}: overall.gain is 0.1667\n" in ran.out
    assert f"gate passed: {PASSES}: overall.gain is 0.1667\n" in ran.out


@pytest.mark.usefixtures("logs")
def test_a_gate_that_does_not_fire_is_exit_code_0(cli: Cli) -> None:
    ran = cli("run", *BOTH, "--quiet", "--fail-on", PASSES)
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize("form", ["json", "csv", "parquet", "markdown", "junit", "table"])
def test_every_format_is_written_all_the_same(cli: Cli, logs: Path, form: str) -> None:
    ran = cli("run", *BOTH, "--fail-on", FIRES, "--format", form, "--output", "out.x")
    assert ran.code == 1
    assert SAYS in ran.err
    assert (logs / "out.x").stat().st_size > 100


def test_the_ending_xml_is_junit(cli: Cli, logs: Path) -> None:
    assert cli("run", *BOTH, "--by", "domain", "--output", "r.xml").code == 0
    assert (logs / "r.xml").read_text().count("<testcase ") == 4


def test_finalize_has_gates_too(cli: Cli, logs: Path) -> None:
    assert cli("count", *BOTH, "--output", "x.tally").code == 0
    ran = cli("finalize", "x.tally", "--quiet", "--fail-on", FIRES)
    assert (ran.code, ran.err) == (1, SAYS)


def test_they_come_from_a_config_and_from_the_environment(
    cli: Cli, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "x.toml").write_text(f'fail-on = ["{PASSES}", "{FIRES}"]\n')
    ran = cli("run", *BOTH, "--quiet", "--config", "x.toml")
    assert (ran.code, ran.err) == (1, SAYS)
    monkeypatch.setenv("STREAMCMP_FAIL_ON", f"{PASSES}\n\n{FIRES}\n")
    ran = cli("run", *BOTH, "--quiet", "--format", "json")
    assert (ran.code, ran.err) == (1, SAYS)
    assert [gate["expression"] for gate in json.loads(ran.out)["gates"]] == [PASSES, FIRES]
    monkeypatch.setenv("STREAMCMP_FAIL_ON", "overall.gian < 0")
    ran = cli("run", *BOTH)
    assert ran.code == 2
    assert "--fail-on comes from STREAMCMP_FAIL_ON in the environment" in ran.err


def test_a_mistake_is_said_before_the_logs_are_read(cli: Cli, logs: Path) -> None:
    (logs / "left.parquet").write_bytes(b"no parquet at all")
    ran = cli("run", *BOTH, "--by", "domain", "--fail-on", "any(domian, gain < 0)")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "error: --fail-on, character 5: the report has no domian; did you mean domain? Its families: domain\n"
        "  any(domian, gain < 0)\n"
        "      ^\n"
    )


@pytest.mark.usefixtures("logs")
def test_a_mistake_found_late_costs_no_report(cli: Cli) -> None:
    ran = cli("run", *BOTH, "--by", "domain", "--fail-on", "any(domain, domain == 3)")
    assert ran.code == 2
    assert "text is compared with a number" in ran.err
    assert "overall" in ran.out


@pytest.mark.usefixtures("logs")
def test_what_does_not_exist_is_told(cli: Cli, logs: Path) -> None:
    (logs / "t.csv").write_text("n_ab,n_ba\n4,14\n")
    ran = cli("finalize", "t.csv", "--quiet", "--fail-on", "ledger.b.unmatched > 1%")
    assert ran.code == 0
    assert (
        "warning: gate ledger.b.unmatched > 1%: ledger.b.unmatched does not exist; nothing holds of it\n"
        in ran.err
    )


def test_what_is_not_asked_for_is_not_loaded(logs: Path) -> None:
    """A run without gates, plot or earlier report starts as quickly as before there were any."""
    code = (
        "import sys; from streamcmp.cli import main; main(sys.argv[1:]); "
        "print([name for name in sys.modules if name.startswith('streamcmp.gates') "
        "or name in ('streamcmp.earlier', 'streamcmp.report.junit', 'streamcmp.report.plot')])"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code, "run", *BOTH, "--quiet"],
        capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": str(root)},
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[]"
