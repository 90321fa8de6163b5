"""What the texts of `--by` say, and where they are wrong."""

from __future__ import annotations

import pytest

from streamcmp.errors import UsageError
from streamcmp.slicing import Cut, Moment, Part, edge_value, intervals, named, overlapping, parse_part
from streamcmp.terms import Plain, split_term, terms

DATES = ("2024-01-31", "2024-02-01T12:00")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("length", Part("length")),
        ("a:b", Part("a:b")),
        ("length:bins(0,100)", Part("length", None, Cut("bins", ("0", "100")))),
        (" n : Bins ( -1e2, 0.50 ,1E3) ".strip(), Part("n", None, Cut("bins", ("-100", "0.5", "1000")))),
        ('"my column":top(5)', Part("my column", None, Cut("top", ("5",)))),
        ("a:b:quantiles(04)", Part("a:b", None, Cut("quantiles", ("4",)))),
        ("LENGTH(prompt) AS size", Part("size", "LENGTH(prompt)")),
        ('x as "the name"', Part("the name", "x")),
        ("CAST(x AS INT)", Part("CAST(x AS INT)")),
        ("CAST(x AS INT) As y", Part("y", "CAST(x AS INT)")),
        ("a || ' AS ' || b AS c", Part("c", "a || ' AS ' || b")),
        ("LENGTH(p) AS size:quantiles(3)", Part("size", "LENGTH(p)", Cut("quantiles", ("3",)))),
        ("d:bins(2024-01-31,2024-02-01T12:00)", Part("d", None, Cut("bins", DATES))),
        (Plain("length:bins(0,100)"), Part("length:bins(0,100)")),
        (Plain("x AS y"), Part("x AS y")),
    ],
)  # fmt: skip
def test_parts(text: str, part: Part) -> None:
    assert parse_part(text) == part


def test_one_name_for_one_meaning() -> None:
    assert {parse_part(text).name for text in ("n:bins(0,100)", "n: BINS(0, 1e2)", "n:bins(0.0,100.00)")} == {
        "n:bins(0,100)"
    }
    assert parse_part("LENGTH(p) AS size:top(3)").name == "size:top(3)"
    assert named(("domain", "n:bins(0, 1)", "n:bins(x)")) == ("domain", "n:bins(0,1)", "n:bins(x)")


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        ("n:bins(0,abc)", 10, "abc is neither a number nor a date such as 2024-01-31"),
        ("n:bins(0, nan)", 11, "nan is neither"),
        ("n:bins(0,inf)", 10, "inf is neither"),
        ("n:bins(1e999999999)", 8, "1e999999999 is neither"),
        ("n:bins(0,,2)", 10, "a number is missing"),
        ("n:bins()", 8, "a number is missing"),
        ("n:bins(0,5,5)", 12, "edges rise, and 5 is not above 5"),
        ("n:bins(0,2024-01-31)", 10, "edges are all numbers or all dates"),
        ("n:bins(2024-02-31)", 8, "2024-02-31 is neither"),
        ("n:quantiles(1)", 13, "quantiles takes a whole number from 2 to 1,000, not 1"),
        ("n:quantiles(2.5)", 13, "not 2.5"),
        ("n:quantiles(2,3)", 14, "quantiles takes one number"),
        ("n:top(0)", 7, "top takes a whole number from 1"),
        ("n:tops(3)", 3, "tops is no way to cut. Write :bins(0,100), :quantiles(10) or :top(50)"),
        ("n:bins", 7, "bins of what? Write :bins(0,100)"),
    ],
)
def test_mistakes_point_at_the_character(text: str, at: int, says: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_part(text)
    message, line, mark = str(error.value).split("\n")
    assert message.startswith(f"--by {text!r}, character {at}: ")
    assert says in message
    assert line == f"  {text}"
    assert mark == f"  {' ' * (at - 1)}^"


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        ("x:bins(0,1", 7, "( is never closed: ) is missing"),
        ("f(g(a) AS n", 2, "( is never closed: ) is missing"),
        ("a,f[b}", 4, "[ is never closed: ] is missing"),
        ("f(a,{b,c", 5, "{ is never closed: } is missing"),
        ("a,'b", 3, "' is never closed: ' is missing"),
        ('a, "b,c', 4, '" is never closed: " is missing'),
        ("a,,b", 3, "a column name is empty"),
        ("a,", 3, "a column name is empty"),
        ('"",a', 1, "a column name is empty"),
    ],
)
def test_what_splits_no_term_is_pointed_at(text: str, at: int, says: str) -> None:
    with pytest.raises(UsageError) as error:
        split_term(text, "--by")
    message, line, mark = str(error.value).split("\n")
    assert message == f"--by {text!r}, character {at}: {says}"
    assert line == f"  {text}"
    assert mark == f"  {' ' * (at - 1)}^"


def test_a_mistake_in_a_long_or_wide_text() -> None:
    with pytest.raises(UsageError) as error:
        parse_part("長" * 3 + ":bins(0,x)")
    assert str(error.value).split("\n")[2] == " " * 2 + " " * (6 + 8) + "^"
    with pytest.raises(UsageError) as error:
        parse_part("n" * 10_000 + "\x1b[2J:bins(0,x,1)")
    message = str(error.value)
    assert len(message) < 400
    assert "\x1b" not in message
    lines = message.split("\n")
    assert lines[1][lines[2].index("^")] == "x"


def test_terms_split_outside_brackets_and_quotes() -> None:
    assert split_term("domain,length:bins(0,100)", "--by") == ("domain", "length:bins(0,100)")
    assert split_term("CASE WHEN x = 'a, b' THEN 1 ELSE 2 END AS y,z", "--by") == (
        "CASE WHEN x = 'a, b' THEN 1 ELSE 2 END AS y",
        "z",
    )
    assert split_term("COALESCE(x, ')') AS y", "--by") == ("COALESCE(x, ')') AS y",)
    assert split_term("don't,won't", "--by") == ("don't", "won't")
    assert split_term("5' or more,x", "--by") == ("5' or more", "x")
    (quoted, plain) = split_term('"a:top(1)",a:top(1)', "--by")
    assert isinstance(quoted, Plain)
    assert not isinstance(plain, Plain)
    assert split_term("\"x\" AS \"y\"", "--by") == ('"x" AS "y"',)  # fmt: skip
    assert terms([("a,b", "n:bins(0,1)")], "--by") == (("a,b", "n:bins(0,1)"),)


def test_intervals_hold_their_lower_edge() -> None:
    assert intervals(["0", "100", "1000"]) == ["< 0", "[0, 100)", "[100, 1000)", ">= 1000"]
    assert intervals(["0"]) == ["< 0", ">= 0"]
    assert intervals([]) == ["any"]


def test_edges_are_exact() -> None:
    assert edge_value("1970-01-02") == Moment(86_400 * 10**9)
    assert edge_value("1970-01-01T00:00:00.000000001") == Moment(1)
    assert edge_value("1969-12-31T23:59:59.5") == Moment(-5 * 10**8)
    assert edge_value("0.1") < edge_value("0.1000000000000000000000001")  # type: ignore[operator]


def test_a_family_overlaps_if_a_column_of_it_does() -> None:
    slices = {"skills": {"overlapping": True}, "n:bins(0)": {"edges": ["0"]}}
    by = (("domain",), ("skills",), ("skills", "n:bins(0)"), ("n:bins(0)",))
    assert overlapping(by, slices) == {"skills", "skills,n:bins(0)"}
