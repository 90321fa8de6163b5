from __future__ import annotations

import pytest
from rich.cells import cell_len

from streamcmp.analysis import Analysis
from streamcmp.report.terminal import render
from streamcmp.results import finalize
from tests.report.tallies import of_counts, plain, sst2, table, tally, troubled

NAMES = ("cnn", "lstm")


def lines(text: str) -> list[str]:
    return text.splitlines()


def test_the_sentence_comes_first_and_the_overall_row_last_in_each_table() -> None:
    text = render(finalize(sst2(), names=NAMES), width=121)
    assert lines(text)[0] == (
        "lstm is better than cnn: accuracy 85.7 % -> 88.0 %, gain +2.3 points [1.0, 3.7]; lstm won 101 and "
        "lost 59 of 1,821 pairs;"
    )
    assert sum(line.startswith("overall ") for line in lines(text)) == 1
    assert text.index("negative") < text.index("positive") < text.index("overall")


@pytest.mark.parametrize("width", [80, 100, 160])
def test_a_usual_table_fits_and_keeps_every_number(width: int) -> None:
    text = render(finalize(sst2(), names=NAMES), width=width)
    assert max(map(cell_len, lines(text))) <= width
    for number in ("1.3e-07", "2.7e-07", "+5.3 [ 3.4, 7.3]", "1,821", "83.8", "89.0"):
        assert number in text


def test_what_does_not_fit_gives_way_in_order_but_numbers_stay_whole() -> None:
    report = finalize(troubled(), names=("a-rather-long-model-name", "another-rather-long-name"))
    for width in (60, 80, 90, 100, 120, 200):
        text = render(report, width=width)
        assert "+29.4 [  5.6, 53.1]" in text
        assert "43,027" in text
    assert "a-rather-...e-name" not in render(report, width=80)
    assert " adj. p " in render(report, width=60)


def test_no_line_breaks_between_a_number_and_its_unit() -> None:
    report = finalize(troubled(), names=NAMES)
    for width in range(30, 130):
        text = render(report, width=width)
        assert "\ue000" not in text
        for line in lines(text):
            assert not line.endswith((" p =", " p <", "; p"))
            assert not line.startswith(("% ", "%,", "points [", "pairs;"))
    sentences = render(report, width=1000).split("\n\n")
    assert all(
        " ".join(render(report, width=50).split()).count(" ".join(one.split()))
        for one in (sentences[0], sentences[-1])
    )


def test_names_that_look_alike_when_short_are_left_and_right() -> None:
    text = render(finalize(sst2(), names=("model-2024-01-01-large", "model-2024-02-01-large")), width=80)
    header = next(line for line in lines(text) if "points" in line and "[" not in line)
    assert header.split() == ["left", "right", "points"]


def test_the_rest_is_counted() -> None:
    many = tally({"k": table(["k"], [(f"s{at:03d}", 10, 1, 1 + at % 9, 3) for at in range(50)])})
    text = render(finalize(many), top=20)
    assert sum(line.startswith("s0") for line in lines(text)) == 20
    assert "... and 30 more: 30 inconclusive" in text
    assert "k: 50 slices (50 inconclusive)" in text
    assert "more:" not in render(finalize(many), top=50)
    assert "... and 50 more: 50 inconclusive" in render(finalize(many), top=0)


def test_overall_alone_has_a_table_too() -> None:
    for top in (0, 20):
        text = render(finalize(of_counts(10, 2, 3, 4)), top=top)
        assert sum(line.startswith("overall") for line in lines(text)) == 1


def test_what_does_not_exist_is_a_dash() -> None:
    text = render(finalize(plain([(None, 4, 14)])), width=100)
    row = next(line for line in lines(text) if line.startswith("overall"))
    assert row.split() == ["overall", "-", "-", "-", "14", "4", "-", "0.031", "0.031", "better"]


def test_warnings_come_last() -> None:
    text = render(finalize(troubled()), width=300)
    assert [line.partition(":")[0] for line in lines(text)[-7:]] == ["warning"] * 7
    assert text.index("\nledger: ") < text.index("\nwarning: ")


def test_colour_only_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    report = finalize(sst2(), Analysis(), NAMES)
    plain_text, coloured = render(report, width=100), render(report, width=100, color=True)
    assert "\x1b" not in plain_text
    assert "\x1b[32mbetter" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[32m" not in render(report, width=100, color=True)


def test_markup_in_names_is_text() -> None:
    marked = tally({"[b]k[/b]": table(["[b]k[/b]"], [("[red]x[/red]", 1, 2, 3, 4)])})
    text = render(finalize(marked, names=("[link=x]a[/link]", ":smile:")), width=160)
    for name in ("[b]k[/b]", "[red]x[/red]", "[link=x]a[/link]", ":smile:"):
        assert name in text


def test_wide_characters_keep_columns_aligned() -> None:
    wide = tally({"k": table(["k"], [("漢字", 10, 1, 5, 3), ("ab", 10, 1, 4, 3)])})
    text = render(finalize(wide), width=100)
    rows = [line for line in lines(text) if "inconclusive" in line and "[" in line]
    assert len({cell_len(line[: line.index("[")]) for line in rows}) == 1
