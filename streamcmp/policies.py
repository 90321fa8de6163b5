"""Whether a tally may be finalized under the user's policies. After the pass, so that all problems come at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from streamcmp.comparison import OPTION_OF_SIDE, SIDES, Policies, SideName
from streamcmp.errors import DataError
from streamcmp.ledger import Ledger, SideLedger
from streamcmp.report.numbers import counted
from streamcmp.report.values import inert, shorten
from streamcmp.tally import Tally

Examples = Mapping[str, Sequence[str]]

_ID_WIDTH = 60
_SHOW_IDS = "To see ids, use `streamcmp run` on the two logs."


def judge(tally: Tally, policies: Policies, examples: Examples | None = None) -> None:
    """Raise unless the ledger is acceptable.

    Args:
        tally: what was counted; one without a ledger is not judged.
        policies: what is an error.
        examples: a few ids as text under "duplicate_a", "duplicate_b", "guard_mismatch", "unmatched_a" and
            "unmatched_b", where the logs are at hand.

    Raises:
        DataError: lists every violated policy with full counts, and what to do next; likewise if no id has a partner
            or a side has no outcome at all.
    """
    if tally.ledger is None:
        return
    ids = examples or {}
    ledger = tally.ledger
    problems = [
        *_nothing_matches(ledger, ids),
        *_duplicates(ledger, policies, ids),
        *_mismatches(tally, policies, ids),
        *_unmatched(ledger, policies, ids),
        *_missing(ledger, policies),
        *_null_ids(ledger, policies),
    ]
    if not problems:
        return
    if len(problems) == 1:
        message = problems[0]
    else:
        message = f"{len(problems)} problems:\n" + "\n".join(f"- {problem}" for problem in problems)
    countable = ledger.a.rows > 0 and ledger.b.rows > 0
    raise DataError(message if ids or not countable else f"{message}\n{_SHOW_IDS}")


def _of_sides(ledger: Ledger, bucket: str, noun: str = "row") -> str:
    counts = [(getattr(ledger.side(side), bucket), OPTION_OF_SIDE[side]) for side in SIDES]
    return " and ".join(f"{counted(count, noun)} of the {name} log" for count, name in counts if count)


def _listed(ids: Examples, key: str) -> str:
    return ", ".join(shorten(inert(one), _ID_WIDTH) for one in ids.get(key, ()))


def _listed_by_side(ids: Examples, kind: str) -> str:
    """` (left: 1, 2; right: a)`, or nothing where no ids are known."""
    sides = [(OPTION_OF_SIDE[side], _listed(ids, f"{kind}_{side}")) for side in SIDES]
    known = "; ".join(f"{name}: {listed}" for name, listed in sides if listed)
    return f" ({known})" if known else ""


def _matchless(ledger: Ledger) -> bool:
    return not ledger.a.matched and not ledger.b.matched


def _nothing_matches(ledger: Ledger, ids: Examples) -> Iterator[str]:
    if not _matchless(ledger):
        return
    unusable = [problem for side in SIDES if (problem := _unusable(side, ledger.side(side)))]
    if unusable:
        yield from unusable
    elif ledger.a.unmatched and ledger.b.unmatched:
        a, b = ledger.a.unmatched, ledger.b.unmatched
        other = "" if a == b else f" (the right log has {b:,})"
        yield (
            f"0 of {a:,} ids match{other}: no id of the left log occurs in the right one"
            f"{_listed_by_side(ids, 'unmatched')}. Name the columns that identify an example with --on, or "
            "--left-on and --right-on where they are called differently."
        )
    elif not (ledger.a.duplicate or ledger.b.duplicate):
        yield f"no pair is left: {_fate(ledger.a)} on the left, {_fate(ledger.b)} on the right."


def _unusable(side: SideName, one: SideLedger) -> str | None:
    name = OPTION_OF_SIDE[side]
    if not one.rows:
        return f"the {name} log has no rows."
    if one.filtered == one.rows:
        return (
            f"--where leaves none of the {counted(one.rows, 'row')} of the {name} log. Check its condition."
        )
    if one.null_id and one.null_id + one.filtered == one.rows:
        return f"no row of the {name} log has an id ({one.null_id:,} are null or NaN). Name another column with --on."
    return None


def _fate(one: SideLedger) -> str:
    buckets = {
        "filtered": one.filtered,
        "without id": one.null_id,
        "duplicate": one.duplicate,
        "unmatched": one.unmatched,
    }
    return ", ".join(f"{count:,} {name}" for name, count in buckets.items() if count) or "no rows"


def _duplicates(ledger: Ledger, policies: Policies, ids: Examples) -> Iterator[str]:
    dropped = ledger.a.duplicate or ledger.b.duplicate
    if dropped and (policies.duplicates == "error" or (_matchless(ledger) and not _partnerless(ledger))):
        repeated = _listed_by_side(ids, "duplicate")
        yield (
            f"{_of_sides(ledger, 'duplicate')} have an id that occurs more than once on a side{repeated}. If another "
            "column tells these rows apart (a task, a filter, an epoch), add it to --on; --duplicates drop leaves all "
            "of them out."
        )


def _partnerless(ledger: Ledger) -> bool:
    """Whether unmatched rows already explain why nothing matches."""
    return bool(ledger.a.unmatched and ledger.b.unmatched)


def _mismatches(tally: Tally, policies: Policies, ids: Examples) -> Iterator[str]:
    assert tally.ledger is not None
    pairs = tally.ledger.a.guard_mismatch
    if not pairs or policies.mismatch != "error":
        return
    guards = tally.rule.guards if tally.rule is not None else ()
    named = f"a guard ({', '.join(map(inert, guards))})" if guards else "a guard"
    listed = _listed(ids, "guard_mismatch")
    yield (
        f"in {counted(pairs, 'pair')} {named} differs between the logs{f' (ids: {listed})' if listed else ''}: they were "
        "not made from the same evaluation set. --mismatch drop leaves these pairs out, --mismatch ignore counts them."
    )


def _unmatched(ledger: Ledger, policies: Policies, ids: Examples) -> Iterator[str]:
    if (
        policies.unmatched == "error"
        and not _matchless(ledger)
        and (ledger.a.unmatched or ledger.b.unmatched)
    ):
        yield (
            f"{_of_sides(ledger, 'unmatched')} have no partner{_listed_by_side(ids, 'unmatched')}. "
            "--unmatched drop leaves them out."
        )


def _missing(ledger: Ledger, policies: Policies) -> Iterator[str]:
    silent = [side for side in SIDES if 0 < ledger.side(side).matched == ledger.side(side).missing]
    for side in silent:
        yield (
            f"the {OPTION_OF_SIDE[side]} log has no outcome in any of {counted(ledger.side(side).matched, 'matched row')}. "
            "Is it the right column? --correct, or --prediction and --label, name another."
        )
    if policies.missing == "error" and not silent and (ledger.a.missing or ledger.b.missing):
        yield (
            f"{_of_sides(ledger, 'missing', 'outcome')} are missing. --missing drop leaves such pairs out, "
            "--missing wrong counts a missing outcome as wrong."
        )


def _null_ids(ledger: Ledger, policies: Policies) -> Iterator[str]:
    if policies.null_ids == "error" and (ledger.a.null_id or ledger.b.null_id):
        yield (
            f"{_of_sides(ledger, 'null_id')} have no id (null or NaN). --null-ids drop leaves them out; under --strict, "
            "give them ids first."
        )
