from __future__ import annotations

from streamcmp.analysis import Analysis
from streamcmp.report.words import ledger_line, method_line
from streamcmp.results import finalize
from tests.report.tallies import of_counts, plain, sst2, troubled


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
