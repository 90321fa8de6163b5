"""Is a tally acceptable under the user's policies? Judged after the pass: all problems come at once."""

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
_INDENT = "\n  "
_SHOW_IDS = "To see ids, use `streamcmp run` on the two logs."


def judge(
    tally: Tally, policies: Policies, examples: Examples | None = None, tell_apart: Sequence[str] = ()
) -> None:
    """Raise unless the ledger is acceptable.

    Args:
        tally: what was counted; one without a ledger is not judged.
        policies: what is an error.
        examples: where the logs are at hand, a few ids as text under "duplicate_a", "duplicate_b",
            "guard_mismatch", "unmatched_a" and "unmatched_b"; and what guards hold where they differ, under
            "guard_values".
        tell_apart: columns of both logs that might tell rows of one id apart.

    Raises:
        DataError: lists every violated policy with full counts and what to do next; likewise if no id has a
            partner or a side has no outcome at all.
    """
    if tally.ledger is None:
        return
    ids, ledger = examples or {}, tally.ledger
    problems = [
        *_nothing_matches(ledger, ids),
        *_duplicates(ledger, policies, ids, tell_apart),
        *_mismatches(tally, policies, ids),
        *_unmatched(ledger, policies, ids),
        *_missing(ledger, policies),
        *_null_ids(ledger, policies),
    ]
    if not problems:
        return
    message = problems[0]
    if len(problems) > 1:
        message = f"{len(problems)} problems:\n" + "\n".join(f"- {problem}" for problem in problems)
    ids_would_help = examples is None and ledger.a.rows > 0 and ledger.b.rows > 0
    raise DataError(f"{message}\n{_SHOW_IDS}" if ids_would_help else message)


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
            f"0 of {a:,} ids match{other}: no id of the left log occurs in the right log"
            f"{_listed_by_side(ids, 'unmatched')}. Name the columns that identify an example with --on, or "
            f"with --left-on and --right-on where the logs call them differently; `streamcmp check` looks "
            f"for what keeps them apart.{_normalization(ids)}"
        )
    elif not (ledger.a.duplicate or ledger.b.duplicate):
        yield f"no pair is left: {_fate(ledger.a)} on the left, {_fate(ledger.b)} on the right."


def _matchless(ledger: Ledger) -> bool:
    return not ledger.a.matched and not ledger.b.matched


def _unusable(side: SideName, one: SideLedger) -> str | None:
    name = OPTION_OF_SIDE[side]
    if not one.rows:
        return f"the {name} log has no rows."
    if one.filtered == one.rows:
        return f"--where leaves none of {counted(one.rows, 'row')} of the {name} log. Check its condition."
    if one.null_id and one.null_id + one.filtered == one.rows:
        return (
            f"no row of the {name} log has an id: {one.null_id:,} are null or NaN. "
            "Name the columns that identify an example with --on."
        )
    return None


def _fate(one: SideLedger) -> str:
    buckets = {"filtered": one.filtered, "without id": one.null_id, "without partner": one.unmatched}
    return ", ".join(f"{count:,} {name}" for name, count in buckets.items() if count) or "no rows"


def _duplicates(
    ledger: Ledger, policies: Policies, ids: Examples, tell_apart: Sequence[str]
) -> Iterator[str]:
    # Dropped duplicates are no error, unless they are why nothing is left.
    explained = ledger.a.unmatched and ledger.b.unmatched
    fatal = policies.duplicates == "error" or (_matchless(ledger) and not explained)
    if fatal and (ledger.a.duplicate or ledger.b.duplicate):
        some = ", ".join(map(inert, tell_apart))
        advice = (
            f"Both logs have {some}: if it tells these rows apart, add it to --on"
            if some
            else "If another column tells these rows apart (a task, a filter, an epoch), add it to --on"
        )
        yield (
            f"duplicate ids: {_of_sides(ledger, 'duplicate')}{_listed_by_side(ids, 'duplicate')}. {advice}. "
            "--duplicates drop leaves out every row of an id that occurs more than once on a side."
        )


def _mismatches(tally: Tally, policies: Policies, ids: Examples) -> Iterator[str]:
    pairs = tally.ledger.a.guard_mismatch if tally.ledger is not None else 0
    if not pairs or policies.mismatch != "error":
        return
    guards = tally.rule.guards if tally.rule is not None else ()
    named = ", ".join(map(inert, guards)) or "a guard"
    listed = _listed(ids, "guard_mismatch")
    shown = f" (ids: {listed})" if listed else ""
    yield (
        f"{named} differs between the logs in {counted(pairs, 'pair')}{shown}: the evaluation set has "
        "changed. --mismatch drop leaves such pairs out, --mismatch ignore counts them."
        f"{''.join(f'{_INDENT}{one}' for one in ids.get('guard_values', ()))}"
    )


def _unmatched(ledger: Ledger, policies: Policies, ids: Examples) -> Iterator[str]:
    if (
        policies.unmatched == "error"
        and not _matchless(ledger)
        and (ledger.a.unmatched or ledger.b.unmatched)
    ):
        yield (
            f"ids without a partner: {_of_sides(ledger, 'unmatched')}{_listed_by_side(ids, 'unmatched')}. "
            f"--unmatched drop leaves them out.{_normalization(ids)}"
        )


def _missing(ledger: Ledger, policies: Policies) -> Iterator[str]:
    silent = [side for side in SIDES if 0 < ledger.side(side).matched == ledger.side(side).missing]
    for side in silent:
        rows = counted(ledger.side(side).matched, "matched row")
        yield (
            f"the {OPTION_OF_SIDE[side]} log has no outcome at all: it is missing in all of {rows}. Is it "
            "the right column? --correct, or --prediction and --label, name another."
        )
    if policies.missing == "error" and not silent and (ledger.a.missing or ledger.b.missing):
        yield (
            f"missing outcomes: {_of_sides(ledger, 'missing')}. --missing drop leaves such pairs out, "
            "--missing wrong counts a missing outcome as wrong."
        )


def _null_ids(ledger: Ledger, policies: Policies) -> Iterator[str]:
    if policies.null_ids == "error" and (ledger.a.null_id or ledger.b.null_id):
        yield f"no id (null or NaN): {_of_sides(ledger, 'null_id')}. --null-ids drop leaves them out."


def _of_sides(ledger: Ledger, bucket: str) -> str:
    counts = [(getattr(ledger.side(side), bucket), OPTION_OF_SIDE[side]) for side in SIDES]
    return " and ".join(f"{counted(count, 'row')} of the {name} log" for count, name in counts if count)


def _normalization(ids: Examples) -> str:
    """A hint, where ids without a partner look alike on both sides."""
    alike = _listed(ids, "normalization")
    if not alike:
        return ""
    return (
        f" Only Unicode normalisation separates some of them ({alike}): accents are composed in one log and "
        "decomposed in the other. --id-normalize nfc compares them in one form."
    )


def _listed(ids: Examples, key: str) -> str:
    return ", ".join(shorten(inert(one), _ID_WIDTH) for one in ids.get(key, ()))


def _listed_by_side(ids: Examples, kind: str) -> str:
    """` (left: 1, 2; right: a)`, or nothing where no ids are known."""
    sides = [(OPTION_OF_SIDE[side], _listed(ids, f"{kind}_{side}")) for side in SIDES]
    known = "; ".join(f"{name}: {listed}" for name, listed in sides if listed)
    return f" ({known})" if known else ""
