from __future__ import annotations

import pytest

from streamcmp.analysis import Analysis
from streamcmp.report.words import ledger_line, method_line, sentence
from streamcmp.results import finalize
from streamcmp.tally import Tally
from tests.report.tallies import of_counts, plain, sst2, troubled

NAMES = ("cnn", "lstm")

SENTENCES = [
    (
        sst2(),
        Analysis(),
        (
            "lstm is better than cnn: 85.7 % -> 88.0 %, +2.3 points [1.0, 3.7]; "
            "won 101, lost 59 of 1,821 pairs; p = 0.0011"
        ),
    ),
    (
        of_counts(1502, 101, 59, 159),
        Analysis(),
        (
            "lstm is worse than cnn: 88.0 % -> 85.7 %, -2.3 points [-3.7, -1.0]; "
            "won 59, lost 101 of 1,821 pairs; p = 0.0011"
        ),
    ),
    (
        of_counts(756, 41, 35, 77),
        Analysis(),
        (
            "no clear difference between lstm and cnn: 87.7 % -> 87.0 %, -0.7 points [-2.6, 1.2]; "
            "won 35, lost 41 of 909 pairs; p = 0.57"
        ),
    ),
    (
        of_counts(3, 0, 0, 4),
        Analysis(),
        (
            "no clear difference between lstm and cnn: 42.9 % each, 0.0 points [-35.4, 35.4]; "
            "won 0, lost 0 of 7 pairs; p = 1"
        ),
    ),
    (
        of_counts(1, 0, 0, 0),
        Analysis(),
        (
            "no clear difference between lstm and cnn: 100.0 % each, 0.0 points [-79.3, 79.3]; "
            "won 0, lost 0 of 1 pair; p = 1"
        ),
    ),
    (
        of_counts(0, 0, 0, 0, 0, 8),
        Analysis(),
        "lstm and cnn cannot be compared: no pair has an outcome on both sides",
    ),
    (
        of_counts(4, 2000, 0, 0),
        Analysis(),
        (
            "lstm is worse than cnn: 100.0 % -> 0.2 %, -99.8 points [-99.9, -99.4]; "
            "won 0, lost 2,000 of 2,004 pairs; p < 2.3e-308 (10^-601.8)"
        ),
    ),
    (
        plain([(50, 4, 14)]),
        Analysis(),
        "lstm is better than cnn: +20.0 points [3.7, 35.8]; won 14, lost 4 of 50 pairs; p = 0.031",
    ),
    (plain([(None, 4, 14)]), Analysis(), "lstm is better than cnn: won 14, lost 4; p = 0.031"),
    (
        of_counts(10, 9, 1, 0),
        Analysis(alternative="better"),
        (
            "lstm is not shown to be better than cnn: 95.0 % -> 55.0 %, -40.0 points [-63.0, -10.5]; "
            "won 1, lost 9 of 20 pairs; one-sided p = 0.999"
        ),
    ),
    (
        of_counts(10, 9, 1, 0),
        Analysis(alternative="worse"),
        (
            "lstm is worse than cnn: 95.0 % -> 55.0 %, -40.0 points [-63.0, -10.5]; "
            "won 1, lost 9 of 20 pairs; one-sided p = 0.011"
        ),
    ),
]


@pytest.mark.parametrize(("tally", "analysis", "words"), SENTENCES)
def test_the_sentence_is_true_to_the_numbers(tally: Tally, analysis: Analysis, words: str) -> None:
    assert sentence(finalize(tally, analysis, NAMES)) == words


def test_names_in_a_sentence_are_inert_and_short() -> None:
    words = sentence(finalize(sst2(), names=("\x1b[31mred\n", "n" * 10_000)))
    assert "than \\x1b[31mred\\n: " in words
    assert words.startswith("n" * 30)
    assert len(words) < 250


def test_the_ledger_shows_what_is_not_zero() -> None:
    assert ledger_line(finalize(sst2())) == (
        "ledger: left 1,821 rows = 1,821 paired; right 1,821 rows = 1,821 paired"
    )
    assert ledger_line(finalize(troubled())).startswith(
        "ledger: left 43,058 rows = 43,027 paired + 7 filtered + 1 without id + 4 duplicate + 12 unmatched "
        "+ 1 guard mismatch + 6 unscored; right 43,046 rows = "
    )
    assert ledger_line(finalize(of_counts(0, 0, 0, 0))) == (
        "ledger: left 0 rows = 0 paired; right 0 rows = 0 paired"
    )
    assert ledger_line(finalize(plain([(5, 1, 2)]))) == "ledger: none; only counts were given"


def test_the_method_is_said_in_words() -> None:
    analysis = Analysis(
        test="auto", ci="wald", adjust="bh", confidence=0.999, alternative="better", min_discordant=1
    )
    words = method_line(finalize(sst2(), analysis))
    for part in (
        "corrected chi-square from 25 on", "one-sided (better)", "Benjamini-Hochberg", "99.9 % Wald interval",
        "fewer than 1 discordant pair ",
    ):  # fmt: skip
        assert part in words
    assert "not adjusted for the number of slices" in method_line(finalize(sst2(), Analysis(adjust="none")))
