"""What changed since an earlier report: other verdicts, gains that moved, slices that are new or gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

import msgspec

from streamcmp.errors import UsageError, shortened
from streamcmp.report.model import SCHEMA_VERSION, VERDICTS, Report
from streamcmp.report.outcomes import Before, Change, Changes
from streamcmp.tally import OVERALL

Earlier = str | PathLike[str] | Report | Mapping[str, Any]
_Key = tuple[str, bytes]

_KINDS: Final = ("verdict", "new", "gone", "numbers")
_SAME: Final = 1e-12  # gains that differ by less are the same, computed on another processor
_BY_FAMILY: Final = frozenset(("by", "alpha"))  # seen in the families; follows from the confidence


class _Result(msgspec.Struct):
    family: str
    slice: dict[str, Any]
    n: int | None
    gain: float | None
    verdict: str

    @property
    def numbers(self) -> Before:
        return Before(self.n, self.gain, self.verdict)


class _Earlier(msgspec.Struct):
    """What is read of a report; msgspec leaves out the rest."""

    schema_version: int
    comparison: dict[str, Any]
    results: list[_Result]


def check_readable(path: str | PathLike[str]) -> None:
    """Raise UsageError, before anything else is read, where `path` is no report in JSON.

    It is read once more when it is needed: a million slices need not be held while logs are counted.
    """
    _read(path)


def changes(report: Report, earlier: Earlier) -> Changes:
    """What changed since `earlier`: a report, one as a dict, or the path of one in JSON.

    Slices are the same if family and values are. Raises UsageError where `earlier` is no such report.
    """
    old = _read(earlier)
    families_now = {family.family for family in report.families}
    families_then = {one.family for one in old.results}
    before = {slice_key(one.family, one.slice): one for one in old.results if one.family in families_now}
    found, unchanged = [], 0
    for change in _beside(report, before, families_then):
        if change.kind == "numbers" and not _moved(change):
            unchanged += 1
        else:
            found.append(change)
    found += [Change(one.family, one.slice, one.numbers, None) for one in before.values()]
    overall = next((one.numbers for one in old.results if one.family == OVERALL), None)
    first = report.overall
    return Changes(
        Change(OVERALL, {}, overall, Before(first["n"], first["gain"], first["verdict"])),
        tuple(sorted(found, key=lambda one: (_KINDS.index(one.kind), -abs(one.moved or 0)))),
        unchanged,
        tuple(family.family for family in report.families if family.family not in families_then),
        tuple(sorted(families_then - families_now)),
        tuple(_differences(old.comparison, report.comparison)),
    )


def _beside(report: Report, before: dict[_Key, _Result], families: set[str]) -> Iterator[Change]:
    """Each slice now, with itself before, which is taken out of `before`."""
    for row in report.result_dicts():
        if row["family"] == OVERALL:
            before.pop(slice_key(OVERALL, {}), None)
        elif row["family"] in families:
            then = before.pop(slice_key(row["family"], row["slice"]), None)
            now = Before(row["n"], row["gain"], row["verdict"])
            yield Change(row["family"], row["slice"], None if then is None else then.numbers, now)


def _moved(change: Change) -> bool:
    if change.moved is not None and abs(change.moved) > _SAME:
        return True
    before, now = change.before, change.now
    return before is not None and now is not None and before.n != now.n


def slice_key(family: str, cut: Mapping[str, Any]) -> _Key:
    """By which a slice (column -> JSON-ready value) of one report is found in another."""
    return family, msgspec.json.encode(cut, order="deterministic")


def _read(earlier: Earlier) -> _Earlier:
    name = "the earlier report"
    try:
        if isinstance(earlier, str | PathLike):
            name = fspath(earlier)
            old = msgspec.json.decode(Path(earlier).read_bytes(), type=_Earlier)
        else:
            value = earlier.to_dict() if isinstance(earlier, Report) else earlier
            old = msgspec.convert(value, _Earlier)
    except OSError as problem:
        raise _unreadable(name, (problem.strerror or str(problem)).lower()) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise _unreadable(name, f"it is no report in JSON ({problem})") from None
    if old.schema_version != SCHEMA_VERSION:
        raise _unreadable(name, f"its schema is version {old.schema_version}, not {SCHEMA_VERSION}")
    for one in old.results:
        if one.verdict not in VERDICTS:
            raise _unreadable(name, f"{shortened(one.verdict)} is no verdict")
    return old


def _unreadable(path: object, problem: str) -> UsageError:
    return UsageError(f"cannot read --baseline-report {path}: {problem}")


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """`confidence was 0.9 and is 0.95`: what was asked, or counted, otherwise."""
    for part in ("analysis", "rule"):
        then, current = before.get(part) or {}, now.get(part) or {}
        for name in current:
            if name == "slices":
                yield from _other_edges(then.get(name, {}), current[name])
            elif name in then and name not in _BY_FAMILY and then[name] != current[name]:
                yield f"{name} was {_plain(then[name])} and is {_plain(current[name])}"


def _other_edges(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Columns that are cut elsewhere: slices of one name are not the same rows."""
    for name in now:
        before, after = (", ".join(one.get(name, {}).get("edges", ())) for one in (then, now))
        if before and after and before != after:
            yield f"{name} was cut at {before} and is cut at {after}"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
