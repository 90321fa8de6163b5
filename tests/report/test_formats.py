"""One set of reports through every format: the same fields and values, and nothing a reader trips over."""

from __future__ import annotations

import io
import json
import math
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

import streamcmp
from streamcmp import __version__
from streamcmp.analysis import Analysis
from streamcmp.report import FORMAT_OF_ENDING, RENDERERS, csv, in_pieces, model
from streamcmp.report.model import Report
from streamcmp.report.values import plain_slices
from streamcmp.results import finalize
from tests.report.tallies import HOSTILE, hostile, of_counts, plain, sst2, table, tally, troubled

GOLDENS = Path(__file__).parent / "goldens"
NAMES = ("cnn", "lstm")
EVERYTHING = Analysis(margin=0.02, odds="mid-p", mde=True, anytime=True)

REPORTS: dict[str, Callable[[], Report]] = {
    "sst2": lambda: finalize(sst2(), names=NAMES),
    "troubled": lambda: finalize(troubled(), Analysis(min_discordant=1, adjust="bh"), NAMES),
    "everything": lambda: finalize(troubled(), EVERYTHING, NAMES),
    "everything of nothing": lambda: finalize(of_counts(0, 0, 0, 0, 0, 2), EVERYTHING, NAMES),
    "everything of unknown n": lambda: finalize(plain([(None, 4, 0)]), EVERYTHING, NAMES),
    "hostile": lambda: finalize(hostile(), names=("\x1b[31m|`<b>", "[red]x[/red]")),
    "plain": lambda: finalize(plain([("x", 50, 4, 14), (None, 20, 3, 3)], ["s"]), names=NAMES),
    "unknown n": lambda: finalize(plain([(None, 4, 14)]), names=NAMES),
    "nothing": lambda: finalize(of_counts(0, 0, 0, 0, 0, 2), names=NAMES),
    "underflow": lambda: finalize(of_counts(0, 0, 2000, 0), names=NAMES),
    "huge": lambda: finalize(of_counts(10**17, 10**12, 10**12 + 10**7, 2**60), names=NAMES),
}


@pytest.fixture(params=REPORTS)
def report(request: pytest.FixtureRequest) -> Report:
    return REPORTS[request.param]()


@pytest.mark.parametrize("name", RENDERERS)
@pytest.mark.parametrize("rows", [1, 2, 10_000])
def test_pieces_are_the_whole(name: str, rows: int, report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = RENDERERS[name](report)
    for module in (model, csv):
        monkeypatch.setattr(module, "PIECE_ROWS", rows)
    assert b"".join(in_pieces(name, report)) == (whole if isinstance(whole, bytes) else whole.encode())


def as_text(report: Report, name: str) -> str:
    text = RENDERERS[name](report)
    assert isinstance(text, str)
    return text


def floats(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for item in value.values():
            yield from floats(item)
    elif isinstance(value, list):
        for item in value:
            yield from floats(item)
    elif isinstance(value, float):
        yield value


def test_json_is_to_dict(report: Report) -> None:
    text = as_text(report, "json")
    assert text.endswith("}\n")
    loaded = json.loads(text)
    assert loaded == report.to_dict()
    assert all(math.isfinite(number) for number in floats(loaded))
    assert list(loaded) == [
        "schema_version", "streamcmp", "sentence", "comparison", "ledger", "results", "families", "unpaired",
        "warnings",
    ]  # fmt: skip
    assert (loaded["schema_version"], loaded["streamcmp"]) == (1, __version__)
    for result in loaded["results"]:
        assert list(result) == ["family", "slice", *report.fields]


def test_json_has_a_line_per_result(report: Report) -> None:
    lines = as_text(report, "json").splitlines()
    assert (
        sum(line.startswith('  {"family":') and '"verdict"' in line for line in lines)
        == report.results.height
    )


def test_csv_has_the_same_fields_and_values(report: Report) -> None:
    text = as_text(report, "csv")
    expected = plain_slices(report.results)
    read = csv.unguarded(pl.read_csv(io.StringIO(text), schema=expected.schema))
    as_written = expected.with_columns(pl.col(pl.String).fill_null(""))
    assert read.columns == [
        "family",
        *(name for name in read.columns if name.startswith("slice.")),
        *report.fields,
    ]
    assert read.with_columns(pl.col(pl.String).fill_null("")).equals(as_written)


def test_csv_tells_null_from_empty_text() -> None:
    lines = as_text(REPORTS["hostile"](), "csv").split("\n")
    assert sum(line.startswith("name,,") for line in lines) == 1
    assert sum(line.startswith('name,"",') for line in lines) == 1


def test_parquet_has_the_same_fields_and_values(report: Report) -> None:
    data = RENDERERS["parquet"](report)
    assert isinstance(data, bytes)
    assert pl.read_parquet(io.BytesIO(data)).equals(report.results)
    metadata = pq.read_metadata(io.BytesIO(data)).metadata
    for part, value in report.to_dict().items():
        if part != "results":
            assert json.loads(metadata[f"streamcmp.{part}".encode()]) == value


@pytest.mark.parametrize("name", RENDERERS)
def test_bytes_are_deterministic(name: str) -> None:
    assert RENDERERS[name](REPORTS["troubled"]()) == RENDERERS[name](REPORTS["troubled"]())


def test_slices_keep_their_types_in_json() -> None:
    cuts = [result["slice"] for result in REPORTS["troubled"]().to_dict()["results"]]
    assert {"year": 2024, "day": "2024-02-29"} in cuts
    assert {"year": 2023, "day": None} in cuts
    assert {"flag": False} in cuts
    assert {"domain": None} in cuts


def test_hostile_names_survive_as_data() -> None:
    report = REPORTS["hostile"]()
    from_json = {result["slice"]["name"] for result in json.loads(as_text(report, "json"))["results"][1:]}
    assert from_json == set(HOSTILE)


@pytest.mark.parametrize("name", ["table", "markdown", "junit"])
def test_text_for_people_is_inert(report: Report, name: str) -> None:
    text = as_text(report, name)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert not set(text) & set("\x1b\x07\r\t\u202e\u2028")
    assert max(map(len, text.splitlines())) < 1_000
    assert "nan" not in text.lower().replace("nan e", "")
    assert "None" not in text


def test_rendering_does_not_depend_on_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    report = REPORTS["sst2"]()
    before = RENDERERS["table"](report, width=100)
    for name, value in {"FORCE_COLOR": "1", "COLUMNS": "40", "TERM": "dumb", "LINES": "10"}.items():
        monkeypatch.setenv(name, value)
    assert RENDERERS["table"](report, width=100) == before


def test_every_ending_is_a_format() -> None:
    assert set(FORMAT_OF_ENDING.values()) == set(RENDERERS)


# --- stored outputs


def gated(report: Report) -> Report:
    """With a gate that fires on slices and one that does not, and beside a report of other counts."""
    name = report.families[1].family
    earlier = finalize(
        tally({name: table([name], [("negative", 740, 40, 45, 82), ("neutral", 10, 1, 1, 2)])}),
        Analysis(confidence=0.9),
        NAMES,
    )
    judged = streamcmp.gate(report, [f"any({name}, gain < -0.5% or gain == 0)", "ledger.b.unmatched > 1%"])
    return streamcmp.changes(judged, earlier)


STORED: dict[str, Callable[[], str]] = {
    "sst2.json": lambda: as_text(REPORTS["sst2"](), "json"),
    "sst2.csv": lambda: as_text(REPORTS["sst2"](), "csv"),
    "sst2.md": lambda: as_text(REPORTS["sst2"](), "markdown"),
    "everything.json": lambda: as_text(REPORTS["everything"](), "json"),
    "everything.csv": lambda: as_text(REPORTS["everything"](), "csv"),
    "everything.md": lambda: as_text(REPORTS["everything"](), "markdown"),
    "everything.110.txt": lambda: str(RENDERERS["table"](REPORTS["everything"](), width=110)),
    "everything.240.txt": lambda: str(RENDERERS["table"](REPORTS["everything"](), width=240)),
    "sst2.80.txt": lambda: str(RENDERERS["table"](REPORTS["sst2"](), width=80)),
    "troubled.120.txt": lambda: str(RENDERERS["table"](REPORTS["troubled"](), width=120)),
    "hostile.100.txt": lambda: str(RENDERERS["table"](REPORTS["hostile"](), width=100)),
    "hostile.md": lambda: as_text(REPORTS["hostile"](), "markdown"),
    "hostile.xml": lambda: as_text(gated(REPORTS["hostile"]()), "junit"),
    "sst2.xml": lambda: as_text(gated(REPORTS["sst2"]()), "junit"),
    "sst2.gated.md": lambda: as_text(gated(REPORTS["sst2"]()), "markdown"),
    "sst2.gated.100.txt": lambda: str(RENDERERS["table"](gated(REPORTS["sst2"]()), width=100)),
    "sst2.plot.140.txt": lambda: str(RENDERERS["table"](REPORTS["sst2"](), width=140, plot="unicode")),
    "troubled.plot.80.txt": lambda: str(RENDERERS["table"](REPORTS["troubled"](), width=80, plot="ascii")),
    "hostile.plot.120.txt": lambda: str(RENDERERS["table"](REPORTS["hostile"](), width=120, plot="unicode")),
}


@pytest.mark.golden
@pytest.mark.parametrize("name", STORED)
def test_golden(name: str) -> None:
    path, text = GOLDENS / name, STORED[name]()
    if os.environ.get("STREAMCMP_UPDATE_GOLDENS"):
        path.write_text(text, encoding="utf-8", newline="")
    stored = path.read_text(encoding="utf-8")
    if path.suffix in (".json", ".csv"):
        (words, numbers), (stored_words, stored_numbers) = numbers_apart(text), numbers_apart(stored)
        assert words == stored_words
        # The last digit of a logarithm may differ between processors; all else may not.
        assert numbers == pytest.approx(stored_numbers, rel=1e-13)
    else:
        assert text == stored


def numbers_apart(text: str) -> tuple[str, list[float]]:
    """`text` with its decimal fractions taken out, and these."""
    found: list[float] = []
    words = re.sub(r'([][,:;}"\n])', r" \1 ", text.replace(__version__, "VERSION")).split(" ")
    for at, word in enumerate(words):
        if "." in word and word.lstrip("-")[:1].isdigit():
            found.append(float(word))
            words[at] = "#"
    return " ".join(words), found
