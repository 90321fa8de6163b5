from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from streamcmp.analysis import Analysis
from streamcmp.report.plot import MARKS, Charset, Limits, axis, charset, drawn, scale
from streamcmp.report.terminal import render
from streamcmp.results import finalize
from tests.report.tallies import hostile, of_counts, plain, sst2, troubled

ROW = st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(
    lambda three: (sorted(three)[0], sorted(three)[1], sorted(three)[2])
)
KINDS: tuple[Charset, ...] = ("unicode", "ascii")


@given(st.lists(ROW | st.just((None, None, None)), min_size=1), st.integers(16, 60))
def test_every_gain_is_drawn_where_it_is(rows: list[Limits], width: int) -> None:
    on = scale(rows, width)
    for row in rows:
        for kind in KINDS:
            text = drawn(row, on, MARKS[kind])
            assert cell_len(text) == width
            if row[1] is not None:
                exact = (row[1] - on.low) / (on.high - on.low) * (width - 1)
                assert abs(text.index(MARKS[kind].gain) - exact) <= 0.5 + 1e-9
            else:
                assert text.strip() == MARKS[kind].zero
    assert cell_len(axis(on)) == width


@given(ROW)
def test_better_and_worse_stand_on_their_side_of_zero(row: Limits) -> None:
    ends: Limits = (-1.0, 0.0, 1.0)
    on = scale([row, ends], 41)
    text = drawn(row, on, MARKS["ascii"])
    assert row[1] is not None
    side = (text.index("o") > 20) - (text.index("o") < 20)
    assert side in (0, math.copysign(1, row[1]))


def test_what_it_looks_like() -> None:
    on = scale([(-0.1, 0.05, 0.2), (0.05, 0.1, 0.2), (None, None, None)], 31)
    assert drawn((-0.1, 0.05, 0.2), on, MARKS["unicode"]) == "├─────────┼────●──────────────┤"
    assert drawn((0.05, 0.1, 0.2), on, MARKS["unicode"]) == "          │    ├────●─────────┤"
    assert drawn((None, 0.1, None), on, MARKS["unicode"]) == "          │         ●          "
    assert axis(on) == "-10.0     0               +20.0"


def test_a_few_wide_intervals_do_not_squeeze_the_rest() -> None:
    usual: Limits = (-0.01, 0.0, 0.01)
    rows: list[Limits] = [*([usual] * 9), (-0.9, 0.0, 0.9)]
    on = scale(rows, 21)
    assert (on.low, on.high) == (-0.01, 0.01)
    assert drawn(rows[-1], on, MARKS["ascii"]) == "<---------o--------->"


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-8", "unicode"),
        ("UTF-16", "unicode"),
        ("ascii", "ascii"),
        ("latin-1", "ascii"),
        ("cp1252", "ascii"),
        (None, "ascii"),
        ("no-such-encoding", "ascii"),
    ],
)
def test_ascii_where_the_encoding_lacks_a_mark(encoding: str | None, expected: str) -> None:
    assert charset(encoding) == expected


def test_ascii_is_ascii() -> None:
    assert render(finalize(sst2()), width=140, plot="ascii").isascii()


@pytest.mark.parametrize("width", [60, 80, 100, 120, 140, 200])
@pytest.mark.parametrize(
    "cut", [sst2(), troubled(), hostile(), of_counts(0, 0, 0, 0, 0, 2), plain([(None, 4, 0)])]
)
def test_rows_and_plots_stand_in_line_and_fit(width: int, cut: object) -> None:
    report = finalize(cut, Analysis(mde=True))  # type: ignore[arg-type]
    text = render(report, width=width, plot="unicode")
    plotted = [line for line in text.splitlines() if "●" in line or line.endswith("│")]
    assert len(plotted) == sum(family.slices for family in report.families[1:]) + max(
        len(report.families) - 1, 1
    )
    if width >= 80:
        assert max(map(cell_len, plotted)) <= width
    assert text.replace("\n", "").isprintable()


def test_beside_the_row_where_there_is_room_and_below_where_not() -> None:
    report = finalize(sst2(), names=("cnn", "lstm"))
    wide = [line for line in render(report, width=140, plot="unicode").splitlines() if "●" in line]
    assert all("better" in line or "inconclusive" in line for line in wide)
    narrow = [line for line in render(report, width=80, plot="unicode").splitlines() if "●" in line]
    assert not any("better" in line or "inconclusive" in line for line in narrow)
    assert [line.split()[0] for line in narrow] == ["negative", "positive", "overall"]
