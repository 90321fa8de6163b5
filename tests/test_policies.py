from __future__ import annotations

import pytest

from streamcmp.comparison import Policies
from streamcmp.errors import DataError
from streamcmp.ledger import Ledger, SideLedger
from streamcmp.policies import judge
from streamcmp.tally import Tally
from tests.report.tallies import of_counts, plain, rule

DEFAULT = Policies()
LENIENT = Policies(duplicates="drop", mismatch="drop")


def message(tally: Tally, policies: Policies = DEFAULT, examples: dict[str, list[str]] | None = None) -> str:
    with pytest.raises(DataError) as caught:
        judge(tally, policies, examples)
    return str(caught.value)


def nothing_paired(a: SideLedger, b: SideLedger) -> Tally:
    return Tally(of_counts(0, 0, 0, 0).families, Ledger(a, b), rule())


def test_clean_ledgers_and_plain_counts_pass() -> None:
    judge(of_counts(5, 1, 2, 3), Policies.strict())
    judge(plain([(5, 1, 2)]), Policies.strict())


def test_what_is_dropped_by_default_passes_by_default() -> None:
    dropped = SideLedger(filtered=3, null_id=2, unmatched=7, missing=1)
    judge(of_counts(5, 1, 2, 3, 0, 1, a=dropped), Policies())


def test_duplicates_name_the_side_and_the_ids() -> None:
    tally = of_counts(5, 1, 2, 3, a=SideLedger(duplicate=2), b=SideLedger(duplicate=1))
    text = message(tally, examples={"duplicate_a": ["foo"], "duplicate_b": []})
    assert "2 rows of the left log and 1 row of the right log (left: foo)" in text
    assert "--on" in text
    assert "--duplicates drop" in text
    judge(tally, LENIENT)


def test_mismatches_name_the_guard_and_the_ids() -> None:
    tally = of_counts(5, 1, 2, 3, 1_200)
    text = message(tally, examples={"guard_mismatch": ["7", "8"]})
    assert text.startswith("label differs between the logs in 1,200 pairs (ids: 7, 8)")
    assert "--mismatch drop" in text
    judge(tally, LENIENT)
    judge(of_counts(5, 1, 2, 3, 4, rule=rule(mismatch="ignore")), Policies.strict())


@pytest.mark.parametrize(
    ("ledger", "policies", "words"),
    [
        (SideLedger(unmatched=2), Policies(unmatched="error"), "2 rows of the left log. --unmatched drop"),
        (SideLedger(missing=2), Policies(missing="error"), "missing outcomes: 2 rows of the left log"),
        (SideLedger(null_id=2), Policies(null_ids="error"), "no id (null or NaN): 2 rows of the left log"),
    ],
)
def test_what_is_an_error_on_request(ledger: SideLedger, policies: Policies, words: str) -> None:
    tally = of_counts(5, 1, 2, 3, a=ledger)
    judge(tally, Policies())
    assert words in message(tally, policies)


def test_all_problems_come_at_once_with_full_counts() -> None:
    tally = of_counts(
        5,
        1,
        2,
        3,
        6,
        1,
        a=SideLedger(duplicate=4, unmatched=12_345, missing=1, null_id=3),
        b=SideLedger(unmatched=1),
    )
    text = message(tally, Policies.strict(), {"unmatched_a": ["x"], "unmatched_b": ["y"]})
    assert text.startswith("5 problems:\n- duplicate ids: 4 rows")
    assert "12,345 rows of the left log and 1 row of the right log (left: x; right: y)" in text
    assert text.count("\n") == 5


def test_without_ids_at_hand_the_command_that_shows_them_is_named() -> None:
    tally = of_counts(5, 1, 2, 3, a=SideLedger(duplicate=4))
    assert "`streamcmp run`" in message(tally)
    assert "`streamcmp run`" not in message(tally, examples={})


def test_zero_matches_show_ids_of_both_sides() -> None:
    three = SideLedger(rows=3, unmatched=3)
    ids = {"unmatched_a": ["1", "2", "3"], "unmatched_b": ["a", "b", "c"]}
    text = message(nothing_paired(three, three), LENIENT, ids)
    assert text.startswith(
        "0 of 3 ids match: no id of the left log occurs in the right log (left: 1, 2, 3; right: a, b, c)"
    )
    assert "(the right log has 5)" in message(nothing_paired(three, SideLedger(rows=5, unmatched=5)))


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (SideLedger(), SideLedger(rows=2, unmatched=2), "the left log has no rows"),
        (
            SideLedger(rows=3, filtered=3),
            SideLedger(rows=2, unmatched=2),
            "--where leaves none of 3 rows of the left log",
        ),
        (
            SideLedger(rows=4, filtered=1, null_id=3),
            SideLedger(rows=2, unmatched=2),
            "no row of the left log has an id",
        ),
        (
            SideLedger(rows=3, duplicate=3),
            SideLedger(rows=1, duplicate=1),
            "duplicate ids: 3 rows of the left log",
        ),
        (
            SideLedger(rows=3, filtered=1, unmatched=2),
            SideLedger(rows=3, filtered=2, null_id=1),
            "no row of the right log has an id",
        ),
    ],
)
def test_every_reason_for_no_pair_is_an_error_whatever_the_policy(
    a: SideLedger, b: SideLedger, words: str
) -> None:
    assert words in message(nothing_paired(a, b), LENIENT)


@pytest.mark.parametrize("missing", ["exclude", "wrong"])
def test_a_side_without_any_outcome_is_an_error(missing: str) -> None:
    counts = (0, 0, 0, 0, 0, 4) if missing == "exclude" else (0, 0, 3, 1, 0, 0)
    tally = of_counts(*counts, a=SideLedger(missing=4), rule=rule(missing=missing))
    text = message(tally)
    assert "the left log has no outcome at all: it is missing in all of 4 matched rows" in text
    assert "--correct" in text


def test_hostile_ids_are_inert() -> None:
    tally = of_counts(5, 1, 2, 3, a=SideLedger(duplicate=2))
    text = message(tally, examples={"duplicate_a": ["\x1b[31m\n", "x" * 10_000]})
    assert "\x1b" not in text
    assert len(text) < 500
