from __future__ import annotations

import re

import pytest

from streamcmp.report.markdown import code, escaped, render
from streamcmp.results import finalize
from streamcmp.tally import Tally
from tests.report.tallies import hostile, of_counts, sst2, table, tally, troubled


def cells(line: str) -> list[str]:
    """A row of a table as GitHub splits it: at bars without a backslash before them."""
    return re.split(r"(?<!\\)\|", line)[1:-1]


@pytest.mark.parametrize("tally", [sst2(), troubled(), hostile()])
def test_every_row_of_a_table_has_as_many_cells_as_its_header(tally: Tally) -> None:
    text = render(finalize(tally))
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert blocks
    for block in blocks:
        assert len({len(cells(line)) for line in block}) == 1


def test_slice_names_are_code_and_null_is_not() -> None:
    text = render(finalize(hostile(), names=("<b>", "@b")))
    assert "| `<script>alert(1)</script>` |" in text
    assert "| (null) |" in text
    assert '| `"(null)"` |' in text
    assert "**`@b` is worse than `<b>`**" in text
    without_code = re.sub(r"(`+) ?.*? ?(?<!`)\1(?!`)", "", text)
    assert "<script>" not in without_code.replace("\\<", "")


@pytest.mark.parametrize(
    ("text", "span"),
    [("x", "`x`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("a|b", "`a\\|b`"), ("``", "``` `` ```")],
)
def test_code_spans(text: str, span: str) -> None:
    assert code(text) == span


def test_running_text_has_no_markup() -> None:
    assert escaped("a*b_c <i> @me |") == "a\\*b\\_c \\<i\\> @\u200bme \\|"
    assert escaped("p: 1, -2.3 (x)") == "p: 1, -2.3 (x)"


def test_the_rest_is_counted() -> None:
    many = tally({"k": table(["k"], [(f"s{at:03d}", 10, 1, 1 + at % 9, 3) for at in range(30)])})
    assert "... and 25 more: 25 inconclusive" in render(finalize(many), top=5)
    assert render(finalize(of_counts(1, 2, 3, 4)), top=0).count("**overall**") == 1
