"""The opening sentence: every case by name, and of random tallies every claim in it, recomputed by hand.

What is recomputed here uses nothing of the package but the counts that were drawn: whole numbers, fractions
and the error function.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import replace
from fractions import Fraction
from math import comb
from pathlib import Path

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streamcmp.analysis import Alternative, Analysis
from streamcmp.ledger import SideLedger
from streamcmp.report import RENDERERS
from streamcmp.report.markdown import code
from streamcmp.report.sentence import sentence
from streamcmp.results import finalize
from streamcmp.tally import Tally
from tests.report.tallies import of_counts, plain, rule, sst2, table, tally

SENTENCES = Path(__file__).parent / "goldens" / "sentences.txt"
NAMES = ("cnn", "lstm")
MARGIN = Analysis(margin=0.01)
BOTH_WAYS = tally({"k": table(["k"], [("x", 100, 5, 40, 10), ("y", 100, 40, 5, 10)])})


def many(a: SideLedger | None = None, b: SideLedger | None = None) -> Tally:
    return tally({"overall": table([], [(600, 4, 14, 2)])}, a, b)


def as_wrong() -> Tally:
    counted = rule(missing="wrong")
    return tally(
        {"overall": table([], [(600, 4, 14, 2)])},
        b=SideLedger(missing=40),
        a=SideLedger(missing=3),
        rule=counted,
    )


CASES: dict[str, tuple[Tally, Analysis]] = {
    "better": (sst2(), Analysis()),
    "worse": (of_counts(1502, 101, 59, 159), Analysis()),
    "inconclusive": (of_counts(756, 41, 35, 77), Analysis()),
    "a tie": (of_counts(3, 2, 2, 4), Analysis()),
    "nothing discordant": (of_counts(3, 0, 0, 4), Analysis()),
    "nothing discordant, at a margin": (of_counts(400, 0, 0, 0), MARGIN),
    "nothing discordant, not shown at a margin": (of_counts(300, 0, 0, 0), replace(MARGIN, margin=0.008)),
    "no pair": (of_counts(0, 0, 0, 0, 0, 8, b=SideLedger(filtered=3)), Analysis()),
    "no pair, as guards differ": (of_counts(0, 0, 0, 0, 8, 0), Analysis()),
    "no row": (of_counts(0, 0, 0, 0), Analysis()),
    "no pair in a table of counts": (plain([(0, 0, 0)]), Analysis()),
    "a p that no float holds": (of_counts(4, 2000, 0, 0), Analysis()),
    "agreement unknown": (plain([(50, 4, 14)]), Analysis()),
    "agreement unknown, and with it the interval": (plain([(50, 4, 14)]), Analysis(ci="newcombe")),
    "n unknown": (plain([(None, 4, 14)]), replace(MARGIN, anytime=True)),
    "one-sided, not shown": (of_counts(10, 9, 1, 0), Analysis(alternative="better")),
    "one-sided, shown": (of_counts(10, 9, 1, 0), Analysis(alternative="worse")),
    "equivalent": (of_counts(9000, 100, 101, 800), MARGIN),
    "not inferior": (of_counts(900, 20, 28, 52), MARGIN),
    "one-sided, not inferior": (of_counts(900, 20, 28, 52), replace(MARGIN, alternative="better")),
    "worse, by less than the margin": (of_counts(90_000, 1_300, 1_000, 7_700), MARGIN),
    "better, by less than the margin": (of_counts(90_000, 1_000, 1_300, 7_700), MARGIN),
    "any-time": (of_counts(90_000, 1_000, 1_300, 7_700), Analysis(anytime=True)),
    "slices that point both ways": (BOTH_WAYS, Analysis()),
    "slices that are not tested": (BOTH_WAYS, Analysis(min_discordant=1_000)),
    "slices that overlap and point both ways": (
        replace(BOTH_WAYS, rule=None, marked=frozenset("k")),
        Analysis(),
    ),
    "many ids in two of the tallies": (replace(many(), overlap=100), Analysis()),
    "few ids in two of the tallies": (replace(many(), overlap=10), Analysis()),
    "many unmatched": (many(a=SideLedger(unmatched=380, duplicate=1)), Analysis()),
    "many unmatched on both sides, some filtered": (
        many(a=SideLedger(unmatched=380), b=SideLedger(unmatched=40, filtered=5)),
        Analysis(),
    ),
    "few unmatched": (many(a=SideLedger(unmatched=20)), Analysis()),
    "many missing": (of_counts(600, 4, 14, 2, 0, 70), Analysis()),
    "many missing that count as wrong": (as_wrong(), Analysis()),
    "many guards that differ and are ignored": (
        tally({"overall": table([], [(600, 4, 14, 2, 100)])}, rule=rule(mismatch="ignore")),
        Analysis(),
    ),
    "a gain that a table rounds to nothing": (of_counts(10**9, 3, 10, 10**8), Analysis()),
}


@pytest.mark.golden
def test_golden_of_every_case() -> None:
    """One line of words for each case; whoever changes them reads them all."""
    words = [f"{case}:\n    {sentence(finalize(*CASES[case], NAMES))}\n" for case in CASES]
    if os.environ.get("STREAMCMP_UPDATE_GOLDENS"):
        SENTENCES.write_text("\n".join(words), encoding="utf-8")
    assert "\n".join(words) == SENTENCES.read_text(encoding="utf-8")


def test_further_families_that_point_both_ways_are_counted() -> None:
    cut = BOTH_WAYS.families["k"]
    families = {name: cut.rename({"slice.k": f"slice.{name}"}) for name in ("<b>", "d", "e", "f")}
    for count, words in (
        (1, "`<b>`"),
        (2, "`<b>` and `d`"),
        (3, "`<b>`, `d` and 1 more family"),
        (4, "`<b>`, `d` and 2 more families"),
    ):
        report = finalize(tally(dict(list(families.items())[:count])))
        assert sentence(report, code).endswith(f"; but slices of {words} point both ways")


def test_every_format_opens_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    report = finalize(BOTH_WAYS, names=NAMES)
    words = report.sentence
    text = {name: RENDERERS[name](report) for name in ("table", "json", "markdown", "junit")}
    assert " ".join(str(RENDERERS["table"](report, width=80)).split()).startswith(words)
    assert str(text["table"]).startswith(words[:60])
    assert report.to_dict()["sentence"] == words
    assert str(text["json"]).splitlines()[3] == f'"sentence": "{words}",'
    assert str(text["markdown"]).replace("`", "").replace("**", "").startswith(words)
    assert f'<testsuites name="streamcmp: {words.replace(">", "&gt;")}"' in str(text["junit"])


def test_names_are_inert_short_and_told_apart() -> None:
    words = sentence(finalize(sst2(), names=("\x1b[31mred\n", "n" * 10_000)))
    assert " than \\x1b[31mred\\n: " in words
    assert len(words) < 320
    alike = finalize(sst2(), names=("x" * 50 + "a" * 50 + "x" * 50, "x" * 50 + "b" * 50 + "x" * 50)).sentence
    assert re.match(r"x+\.\.\.x+ \(right\) is better than x+\.\.\.x+ \(left\): ", alike)
    assert sentence(finalize(sst2(), names=("", " "))).startswith('" " is better than "": ')


# --- every claim, recomputed

Cells = tuple[int, int, int, int]
small = st.integers(0, 60)
cells = st.one_of(
    st.tuples(small, small, small, small),
    st.tuples(st.integers(0, 3000), st.integers(0, 40), st.integers(0, 40), st.integers(0, 500)),
    st.tuples(small, st.just(0), st.just(0), small),
    st.tuples(st.integers(0, 10**9), st.integers(0, 300), st.integers(0, 300), st.integers(0, 10**9)),
)
_P = r"p (?:[=>] \S+?|< \S+ \(10\^-[\d.]+\))"
SAID = re.compile(
    r"(?P<head>.+?): "
    r"(?:accuracy (?P<a>[\d.]+) % (?:each|-> (?P<b>[\d.]+) %), )?"
    r"(?:gain (?P<gain>[-+]?[\d.]+) points(?: \[(?P<low>[-\d.]+), (?P<high>[-\d.]+)\])?; )?"
    r"lstm won (?P<won>[\d,]+) and lost (?P<lost>[\d,]+)(?: of (?P<n>[\d,]+) pairs?)?; "
    rf"(?P<sided>one-sided )?(?P<p>{_P})"
    rf"(?:; not worse by 2 points: (?P<kept>{_P}); within 2 points: (?P<within>{_P}))?"
    rf"(?:; any-time (?P<ever>{_P}))?"
    r"(?P<but>; but .+)?"
)
M = 0.02


def exact_p(lost: int, won: int, alternative: Alternative) -> Fraction:
    n = lost + won
    if alternative == "two-sided":
        return min(Fraction(1), Fraction(2 * sum(comb(n, k) for k in range(min(lost, won) + 1)), 2**n))
    few = lost if alternative == "better" else won
    return Fraction(sum(comb(n, k) for k in range(few + 1)), 2**n)


def z_of(gain: float, lost: int, won: int, n: int) -> float:
    """Tango's score of the hypothesis that the true gain is `gain`."""
    b, c = -(won + lost) + (2 * n - won + lost) * gain, -lost * gain * (1 - gain)
    q = (math.sqrt(max(b * b - 8 * n * c, 0.0)) - b) / (4 * n)
    variance = n * (2 * q + gain * (1 - gain))
    away = won - lost - n * gain
    return away / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, away) if away else 0.0


def upper(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2


def check_number(text: str, true: Fraction | float, *, sign: bool = False) -> None:
    """`text` is `true`, in percent, to its last digit; and of its sign."""
    half = Fraction(1, 2 * 10 ** len(text.partition(".")[2]))
    assert abs(Fraction(text.replace("+", "")) - 100 * Fraction(true)) <= half * Fraction(
        1_000_001, 1_000_000
    )
    if sign and abs(float(true)) > 1e-11:
        assert text[0] == ("-" if true < 0 else "+")


def check_p(text: str, true: Fraction | float, alpha: Fraction) -> None:
    """`text` is p to two digits at least, and on its side of alpha."""
    if text.startswith("p <"):
        assert true < Fraction(23, 10**309)
    elif text.startswith("p >"):
        assert Fraction(9999, 10_000) < true < 1
    else:
        shown = Fraction(text.removeprefix("p = "))
        assert abs(shown - Fraction(true)) <= Fraction(true) / 18
        assert (shown <= alpha) == (true <= alpha)
        assert (shown == 1) == (true > 1 - 1e-15)


analyses = st.builds(
    Analysis,
    alternative=st.sampled_from(["two-sided", "better", "worse"]),
    margin=st.sampled_from([None, M]),
    anytime=st.booleans(),
    confidence=st.sampled_from([0.95, 0.9, 0.99]),
)
Z = {0.95: 1.959963984540054, 0.9: 1.6448536269514722, 0.99: 2.5758293035489004}


@given(cells, analyses, st.sampled_from(["all", "no agreement", "no n"]))
def test_every_claim_is_true(counts: Cells, analysis: Analysis, known: str) -> None:
    _, lost, won, _ = counts
    n = None if known == "no n" else sum(counts)
    drawn = of_counts(*counts) if known == "all" else plain([(n, lost, won)])
    text = finalize(drawn, analysis, NAMES).sentence
    if n == 0:
        assert text.startswith("cnn and lstm cannot be compared: no pair could be counted")
        return
    said = SAID.fullmatch(text)
    assert said is not None, text
    check_accuracies(said, counts, known)
    check_gain(said, lost, won, n, Z[analysis.confidence])
    assert [int(said[name].replace(",", "")) for name in ("won", "lost")] == [won, lost]
    assert (said["n"] and int(said["n"].replace(",", ""))) == n
    assert (said["sided"] is not None) == (analysis.alternative != "two-sided")
    assert said["but"] is None
    p, alpha = exact_p(lost, won, analysis.alternative), 1 - Fraction(str(analysis.confidence))
    check_p(said["p"], p, alpha)
    assert (said["ever"] is not None) == analysis.anytime
    if said["ever"] is not None and analysis.alternative == "two-sided":
        likely = Fraction((lost + won + 1) * comb(lost + won, won), 2 ** (lost + won))
        check_p(said["ever"], min(Fraction(1), likely), alpha)
    kept, within = check_margin(said, (lost, won, n), alpha, analysis.margin)
    assert said["head"] == verdict_in_words((lost, won), analysis.alternative, p <= alpha, kept, within)


def check_accuracies(said: re.Match[str], counts: Cells, known: str) -> None:
    both, lost, won, _ = counts
    assert (said["a"] is not None) == (known == "all")
    if said["a"] is not None:
        check_number(said["a"], Fraction(both + lost, sum(counts)))
        check_number(said["b"] or said["a"], Fraction(both + won, sum(counts)))
        assert (said["b"] is None) == (won == lost)
        assert said["b"] != said["a"]


def check_gain(said: re.Match[str], lost: int, won: int, n: int | None, z: float) -> None:
    assert (said["gain"] is None) == (n is None)
    if n is None:
        return
    check_number(said["gain"], Fraction(won - lost, n), sign=True)
    for limit, sign in ((said["low"], 1), (said["high"], -1)):
        step = 0.5000001 * 10.0 ** -len(limit.partition(".")[2]) / 100
        at = float(limit) / 100
        # The score falls as the gain rises; it crosses z within the digits shown.
        assert at - step <= -1 or z_of(at - step, lost, won, n) >= sign * z - 1e-6
        assert at + step >= 1 or z_of(at + step, lost, won, n) <= sign * z + 1e-6


def check_margin(
    said: re.Match[str], counts: tuple[int, int, int | None], alpha: Fraction, margin: float | None
) -> tuple[bool, bool]:
    """Whether b is shown to be not worse by the margin, and both to be within it."""
    lost, won, n = counts
    assert (said["kept"] is not None) == (margin is not None and n is not None)
    if margin is None or n is None:
        return False, False
    p_kept = upper(z_of(-margin, lost, won, n))
    p_within = max(p_kept, upper(z_of(-margin, won, lost, n)))
    assume(all(abs(one - float(alpha)) > 1e-6 for one in (p_kept, p_within)))
    for text, true in ((said["kept"], p_kept), (said["within"], p_within)):
        if true > 1e-12:  # the error function has no more digits
            check_p(text, true, alpha)
    return p_kept <= alpha, p_within <= alpha


def verdict_in_words(
    counts: tuple[int, int], alternative: Alternative, significant: bool, kept: bool, within: bool
) -> str:
    lost, won = counts
    if significant and won > lost and alternative != "worse":
        return "lstm is better than cnn" + (", but by less than 2 points" if within else "")
    if significant and won < lost and alternative != "better":
        return "lstm is worse than cnn" + (", but by less than 2 points" if kept else "")
    if within:
        return "cnn and lstm are equivalent within 2 points"
    but = ", but lstm is not worse by 2 points or more" if kept else ""
    if won == lost == 0:
        return f"no pair tells cnn and lstm apart{but}"
    if alternative == "two-sided":
        return f"no clear difference between cnn and lstm{but}"
    return f"lstm is not shown to be {alternative} than cnn{but}"


left_out = st.builds(
    SideLedger,
    filtered=st.integers(0, 30),
    null_id=st.integers(0, 3),
    duplicate=st.integers(0, 3),
    unmatched=st.integers(0, 30),
)
COUNTED = re.compile(r"([\d,]+) of ([\d,]+) (unfiltered )?rows? of (cnn|lstm) \(([^()]+)\)")


@given(left_out, left_out, st.integers(0, 10), st.integers(0, 10))
def test_what_was_not_counted_is_told_where_it_is_much(
    a: SideLedger, b: SideLedger, guards: int, unscored: int
) -> None:
    report = finalize(of_counts(300, 4, 6, 10, guards, unscored, a=a, b=b), names=NAMES)
    _, _, but = report.sentence.partition("; but only ")
    told = {name: (counted, of, bool(kept), why) for counted, of, kept, name, why in COUNTED.findall(but)}
    for side, name in ((a, "cnn"), (b, "lstm")):
        lost = side.null_id + side.duplicate + side.unmatched + guards + unscored
        assert (name in told) == (Fraction(lost, 320 + lost) > Fraction(1, 20))
        if name in told:
            counted, of, kept, why = told[name]
            assert (int(counted), int(of), kept) == (320, 320 + lost, side.filtered > 0)
            assert sum(int(part.split()[0]) for part in why.split(" + ")) == lost
    assert bool(told) == but.endswith(" counted")


@given(st.lists(st.tuples(small, small, small, small), min_size=1, max_size=5))
def test_slices_are_said_to_point_both_ways_only_where_they_do(slices: list[Cells]) -> None:
    report = finalize(
        tally({"k": table(["k"], [(str(at), *one) for at, one in enumerate(slices)])}), names=NAMES
    )
    told = "; but slices of k point both ways" in report.sentence
    gains = [won - lost for _, lost, won, _ in slices]
    verdicts = set(report.results.filter(pl.col("family") == "k")["verdict"])
    assert not told or min(gains) < 0 < max(gains)
    assert told or not {"better", "worse"} <= verdicts
