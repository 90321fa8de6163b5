"""What changed since an earlier report: in Python, on the command line, in each format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import streamcmp
from streamcmp.analysis import Analysis
from streamcmp.report import RENDERERS
from streamcmp.report.model import Report
from streamcmp.report.outcomes import Changes
from streamcmp.results import finalize
from tests.cli.conftest import BOTH, Cli, cli, logs  # noqa: F401 - fixtures
from tests.report.tallies import HOSTILE, Rows, hostile, of_counts, plain, table, tally, troubled

THEN: Rows = [("same", 40, 5, 5, 9), ("verdict", 40, 2, 2, 9), ("moved", 40, 5, 6, 9), ("gone", 4, 1, 1, 1)]
NOW: Rows = [("same", 40, 5, 5, 9), ("verdict", 40, 2, 30, 9), ("moved", 40, 5, 9, 9), (None, 4, 1, 1, 1)]


def of(rows: Rows, name: str = "k", analysis: Analysis | None = None) -> Report:
    return finalize(tally({name: table([name], rows)}), analysis)


def since(report: Report, earlier: object) -> Changes:
    found = streamcmp.changes(report, earlier).changes  # type: ignore[arg-type]
    assert found is not None
    return found


def test_kinds_and_order() -> None:
    found = since(of(NOW), of(THEN))
    assert [(one.kind, one.slice["k"]) for one in found.slices] == [
        ("verdict", "verdict"), ("new", None), ("gone", "gone"), ("numbers", "moved"),
    ]  # fmt: skip
    assert (found.unchanged, found.differences) == (1, ())
    first = found.slices[0]
    assert first.before is not None
    assert first.now is not None
    assert (first.before.verdict, first.now.verdict) == ("inconclusive", "better")
    assert first.moved == pytest.approx(28 / 81)
    assert found.overall.kind == "verdict"


def test_nothing_changed() -> None:
    found = since(of(NOW), of(NOW))
    assert (found.slices, found.unchanged) == ((), 4)
    assert found.overall.moved == 0
    text = RENDERERS["table"](streamcmp.changes(of(NOW), of(NOW)))
    assert (
        "since the baseline report: all pairs: better, gain +15.2 points as before; slices: 4 unchanged "
    ) in " ".join(str(text).split())


def test_more_pairs_with_the_same_gain_are_other_numbers() -> None:
    found = since(of([("x", 80, 10, 10, 18)]), of([("x", 40, 5, 5, 9)]))
    assert [(one.kind, one.moved) for one in found.slices] == [("numbers", 0)]


def test_families_that_only_one_report_has() -> None:
    found = since(of(NOW, "new"), of(THEN, "old"))
    assert (found.families_new, found.families_gone, found.slices) == (("new",), ("old",), ())


def test_what_was_asked_otherwise_is_said() -> None:
    found = since(of(NOW), of(NOW, analysis=Analysis(confidence=0.9, adjust="bh")))
    assert set(found.differences) == {"confidence was 0.9 and is 0.95", "adjust was bh and is holm"}


def test_a_path_a_dict_and_a_report_are_the_same(tmp_path: Path) -> None:
    now, then = finalize(hostile()), finalize(troubled())
    path = tmp_path / "then.json"
    for earlier in (then, now):
        path.write_text(str(RENDERERS["json"](earlier)), encoding="utf-8")
        assert (
            since(now, path) == since(now, str(path)) == since(now, earlier) == since(now, earlier.to_dict())
        )
    assert since(now, path).unchanged == len(HOSTILE)


def test_slices_of_every_type_find_themselves() -> None:
    report = finalize(troubled())
    found = since(report, json.loads(str(RENDERERS["json"](report))))
    assert (found.slices, found.unchanged) == ((), 7)


def test_gains_that_do_not_exist() -> None:
    unknown = finalize(plain([(None, 4, 14)]))
    found = since(unknown, finalize(of_counts(0, 0, 0, 0, 0, 2)))
    assert found.overall.moved is None
    for form in ("table", "markdown"):
        text = str(RENDERERS[form](streamcmp.changes(unknown, finalize(of_counts(0, 0, 0, 0, 0, 2)))))
        assert "None" not in text


def test_json_has_them() -> None:
    found = streamcmp.changes(of(NOW), of(THEN))
    loaded = json.loads(str(RENDERERS["json"](found)))
    assert loaded == found.to_dict()
    assert loaded["changes"]["slices"][1] == {
        "family": "k", "slice": {"k": None}, "change": "new", "gain_change": None, "n_before": None,
        "gain_before": None, "verdict_before": None, "n": 7, "gain": 0.0, "verdict": "inconclusive",
    }  # fmt: skip


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_hostile_slices_are_inert(form: str) -> None:
    gone = of([("x", 1, 1, 1, 1)], "name")
    for report in (
        streamcmp.changes(finalize(hostile()), gone),
        streamcmp.changes(gone, finalize(hostile())),
    ):
        text = str(RENDERERS[form](report, top=50))
        assert text.replace("\n", "").isprintable()
        assert max(map(len, text.splitlines())) < 1_000
        assert text.count("gone") + text.count("new") >= len(HOSTILE)


def test_on_the_command_line(cli: Cli, logs: Path) -> None:  # noqa: F811
    assert cli("run", *BOTH, "--by", "gold", "--output", "old.json").code == 0
    ran = cli("run", *BOTH, "--by", "gold", "--by", "domain", "--quiet", "--baseline-report", "old.json")
    assert ran.code == 0, ran.err
    said = " ".join(ran.out.split())
    assert (
        "since the baseline report: all pairs: inconclusive, gain +16.7 points as before; slices: 2" in said
    )
    assert "2 unchanged; new family domain" in said
    ran = cli("run", *BOTH, "--baseline-report", "old.json", "--output", "old.json")
    assert ran.code == 2
    assert "is also an input" in ran.err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no such file"),
        ("{}", "it is no report"),
        ('{"schema_version": 1}', "it is no report in JSON"),
        (
            '{"schema_version":1,"comparison":{},"results":[{"family":"f","slice":{},"n":1,"gain":0,"verdict":"|"}]}',
            "'|' is no verdict",
        ),
        ('{"schema_version": 2, "comparison": {}, "results": []}', "its schema is version 2, not 1"),
    ],
)
def test_what_is_no_report_is_a_mistake(cli: Cli, logs: Path, content: str | None, says: str) -> None:  # noqa: F811
    if content is not None:
        (logs / "old.json").write_text(content)
    ran = cli("run", *BOTH, "--quiet", "--baseline-report", "old.json")
    assert (ran.code, ran.out) == (2, "")
    assert "--baseline-report old.json: " in ran.err
    assert says in ran.err


@pytest.mark.usefixtures("logs")
def test_a_plot_on_the_command_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setenv("STREAMCMP_PLOT", "1")
    ran = cli("run", *BOTH, "--by", "domain", "--quiet")
    assert ran.out.count("●") == 4
    ran = cli("run", *BOTH, "--format", "json")
    assert "note: --plot is for a table; json has none" in ran.err
