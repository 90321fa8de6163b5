"""Texts -> trees, and errors that point at the character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcmp.analysis import Analysis
from streamcmp.gates.judge import check_early
from streamcmp.gates.problem import GateError
from streamcmp.gates.syntax import LONGEST, Chain, Comparison, Junction, Name, Not, Number, Text, parse

FAMILIES = {"domain": ("domain",), "domain,class": ("domain", "class"), "class": ("class",)}


def problem(expression: str, analysis: Analysis | None = None) -> GateError:
    with pytest.raises(GateError) as caught:
        check_early([expression], (analysis or Analysis()).to_dict(), FAMILIES)
    return caught.value


def test_and_binds_more_than_or_and_not_more_than_and() -> None:
    tree = parse("a == 1 or not b == 2 and c == 3")
    assert isinstance(tree, Junction)
    assert tree.word == "or"
    second = tree.parts[1]
    assert isinstance(second, Junction)
    assert second.word == "and"
    assert isinstance(second.parts[0], Not)


def test_arithmetic_binds_as_usual() -> None:
    tree = parse("1 - 2 * 3 - 4 < 5")
    assert isinstance(tree, Comparison)
    assert isinstance(tree.left, Chain)
    assert tree.left.signs == ("+", "-", "-")
    assert isinstance(tree.left.terms[1], Chain)


@pytest.mark.parametrize(
    ("text", "value", "percent"),
    [
        ("1", 1, False), ("1.5", 1.5, False), (".5", 0.5, False), ("2e-3", 0.002, False), ("1%", 0.01, True),
        ("0.3%", 0.003, True), ("-0.5 %", -0.005, True), ("1e1%", 0.1, True), ("-2", -2, False),
    ],
)  # fmt: skip
def test_numbers(text: str, value: float, percent: bool) -> None:
    tree = parse(text)
    assert isinstance(tree, Number)
    assert (tree.value, tree.percent) == (value, percent)


def test_texts_and_quoted_names() -> None:
    tree = parse("slice.'my \"own\" column'.x == 'it''s \"so\"'")
    assert isinstance(tree, Comparison)
    assert isinstance(tree.left, Name)
    assert tree.left.parts == ("slice", 'my "own" column', "x")
    assert isinstance(tree.right, Text)
    assert tree.right.value == 'it\'s "so"'


@pytest.mark.parametrize(
    ("expression", "at", "says"),
    [
        ("", 0, "a gate is a condition, such as"),
        ("   ", 0, "a gate is a condition, such as"),
        ("overall.gain = 3", 13, "a comparison is =="),
        ("overall.gain < 1 && overall.n > 2", 17, "the word and"),
        ("overall.gain < 1 || overall.n > 2", 17, "the word or"),
        ("!overall.tested", 0, "the word not"),
        ("overall.n % 2 == 0", 10, "a percentage is a number and %"),
        ("overall.verdict == 'worse", 19, "no closing '"),
        ("overall.gain < 1 < 2", 17, "do not chain"),
        ("(overall.gain < 1", 17, "the end stands where and, or, or ) is expected"),
        ("overall.gain < 1)", 16, ") stands where and, or, or the end is expected"),
        ("overall.gain <", 14, "the end stands where a name, a number"),
        ("overall.gain < and", 15, "and stands where"),
        ("overall.gain < --1", 16, "- stands where"),
        ("any(domain)", 10, "a comma and a condition"),
        ("any(domain, class, gain < 0)", 17, "stands in quotes"),
        ("any()", 4, "a family, such as domain"),
        ("max(domain, gain) > 1", 0, "there is no max(); there are any, all and count"),
        ("overall. < 1", 9, "the name of a field"),
        ("overall.gain < 1 ; x", 17, "';' has no meaning here"),
        ("overall.gain < 1e999", 15, "no number is as large"),
        ("__import__('os').system('x')", 0, "there is no __import__()"),
        ("overall.verdikt == 'worse'", 8, "did you mean verdict?"),
        ("overall.verdict == 'wrose'", 19, "did you mean worse?"),
        ("overal.gain < 0", 0, "did you mean overall?"),
        ("gain < 0", 0, "whose gain? Write overall.gain"),
        ("overall < 0", 0, "name one field of overall"),
        ("overall.gain.x < 0", 8, "name one field of overall"),
        ("ledger.c.rows > 1", 7, "a is the left log"),
        ("ledger.a.unmached > 1", 9, "did you mean unmatched?"),
        ("any(domian, gain < 0)", 4, "did you mean domain? Its families: domain, domain,class, class"),
        ("any(domain, gian < 0)", 12, "did you mean gain?"),
        ("any(domain, slice.clas == 'x')", 18, "slice has no clas"),
        ("any(*, domain == 'law')", 7, "a slice has no domain"),
        ("any(domain, domain.x == 1)", 12, "have no dots"),
        ("any(domain, any(class, gain < 0))", 12, "cannot stand within another one"),
        ("any(domain, gain)", 12, "takes a condition"),
        ("families.domain < 1", 9, "with the family's name"),
        ("families.x.slices < 1", 9, "families has no x"),
        ("families.domain.heterogeneity.q < 1", 16, "did you mean heterogeneity.p?"),
        ("overall.n", 0, "a gate is a condition"),
        ("not overall.n", 4, "not joins conditions"),
        ("overall.n < 1 or 2", 17, "or joins conditions"),
        ("overall.verdict == 3", 16, "text is compared with a number"),
        ("overall.tested == 'yes'", 15, "true or false is compared with text"),
        ("overall.test < 'x'", 13, "by == and != only"),
        ("overall.tested > false", 15, "by == and != only"),
        ("overall.test + 1 > 2", 0, "a number is expected"),
        ("-overall.tested > 2", 1, "a number is expected"),
        ("overall.n_ab > 1%", 15, "a percentage of what?"),
        ("overall.mde > 1", 8, "only with --mde"),
        ("overall.p_noninferior > 1", 8, "only with --margin"),
        ("(" * 60 + "1 < 2" + ")" * 60, 51, "at most 50 deep"),
        ("x" * (LONGEST + 1), LONGEST, "at most 2,000 characters"),
        ("baseline.overall.gain < 0", 0, "no earlier report"),
        ("any(domain, gain < baseline.gain)", 19, "no earlier report"),
    ],
)  # fmt: skip
def test_a_mistake_is_pointed_at(expression: str, at: int, says: str) -> None:
    error = problem(expression)
    assert error.at == at
    assert says in error.problem
    message, line, caret = str(error).split("\n")
    assert message == f"--fail-on, character {at + 1}: {error.problem}"
    assert caret.endswith("^")
    if 0 < at < min(len(expression), 60):
        assert line[len(caret) - 1] == expression[at]


@pytest.mark.parametrize(
    ("expression", "at", "says"),
    [
        ("baseline < 0", 0, "write baseline.overall.gain"),
        ("baseline.gain < 0", 9, "write baseline.overall.gain"),
        ("baseline.overall < 0", 9, "name one field of an earlier report. It has: n, gain, verdict"),
        ("baseline.overall.p < 0", 17, "an earlier report has no p"),
        ("any(domain, baseline.gian < 0)", 21, "did you mean gain?"),
        ("any(domain, baseline.overall.gain.x < 0)", 29, "name one field"),
        ("baseline.overall.verdict == 'best'", 28, "the list of verdicts has no best"),
        ("baseline.overall.n > 5%", 21, "a percentage of what?"),
    ],
)
def test_a_mistake_about_the_baseline_is_pointed_at(expression: str, at: int, says: str) -> None:
    with pytest.raises(GateError) as caught:
        check_early([expression], Analysis().to_dict(), FAMILIES, earlier=True)
    assert caught.value.at == at
    assert says in caught.value.problem


def test_what_an_option_adds_can_be_named() -> None:
    check_early(
        ["overall.mde > 1%", "overall.p_noninferior_adjusted > 0.05"],
        Analysis(mde=True, margin=0.01).to_dict(),
        {},
    )


def test_a_word_of_python_is_a_name() -> None:
    check_early(["any(class, class == 'x')"], Analysis().to_dict(), FAMILIES)


def test_the_caret_stands_below_wide_and_hidden_characters() -> None:
    line, caret = str(problem("'漢字' == '\x1b' and oops < 1")).split("\n")[1:]
    assert "\x1b" not in line
    assert line.index("oops") + 2 == caret.index("^")  # two characters are two cells wide


@given(st.text(alphabet="()'\"%.,*+-/<>=! \n12aeé_", max_size=40) | st.text(max_size=40))
def test_any_text_is_a_tree_or_a_gate_error(text: str) -> None:
    found: GateError | None = None
    try:
        check_early([text], Analysis().to_dict(), FAMILIES)
    except GateError as error:
        found = error
    assert found is None or 0 <= found.at <= len(text)


@pytest.mark.parametrize(
    "text", ["not " * 495 + "1 < 2", "1<2 or " * 280 + "1<2", "1+" * 990 + "1 > 2", "-1*" * 600 + "1 < 2"]
)
def test_long_expressions_are_no_deep_ones(text: str) -> None:
    check_early([text], Analysis().to_dict(), {})
