"""What `check` found, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamcmp.report.numbers import counted
from streamcmp.report.values import inert

_KINDS = {
    "unmatched_a": "on the left only",
    "unmatched_b": "on the right only",
    "duplicate_a": "twice on the left",
    "duplicate_b": "twice on the right",
    "guard_mismatch": "with another guard",
}
_BUCKETS = ("filtered", "null_id", "duplicate", "unmatched", "guard_mismatch", "paired")


def render(found: Mapping[str, Any]) -> str:
    """Text of a `Check` as a dict: a verdict, the logs, the pairs, problems, hints."""
    lines = [_verdict(found), ""]
    for side in ("left", "right"):
        lines += _log(side, found[side])
    lines += ["", *_pairs(found)]
    for kind in ("problem", "hint"):
        for each in found[f"{kind}s"]:
            lines.append(f"{kind}: {each if isinstance(each, str) else each['text']}")
    return "\n".join(map(_plain, lines)) + "\n"


def _plain(line: str) -> str:
    return "\n".join(map(inert, line.split("\n")))


def _verdict(found: Mapping[str, Any]) -> str:
    if found["comparable"]:
        return f"These logs can be compared: {counted(found['pairs'], 'pair')}."
    return f"These logs cannot be compared as they are: {counted(len(found['problems']), 'problem')}, below."


def _log(side: str, log: Mapping[str, Any]) -> Iterator[str]:
    files = log["files"]
    what = files[0] if len(files) == 1 else f"{len(files)} files, {files[0]}, ..."
    rows = log["ledger"]["rows"]
    yield f"{side}: {what}"
    about = f"; {', '.join(log['about'])}" if log["about"] else ""
    yield f"  {counted(rows, 'row')} of {log['format']}{about}"
    ids = ", ".join(log["ids"]) or "none: rows pair by position"
    yield f"  ids: {ids}; {log['outcome'] or 'outcome: see the problem below'}"


def _pairs(found: Mapping[str, Any]) -> Iterator[str]:
    for side in ("left", "right"):
        ledger = found[side]["ledger"]
        parts = [f"{ledger[name]:,} {name}" for name in _BUCKETS if ledger[name]]
        yield f"{side}: {counted(ledger['rows'], 'row')} = {' + '.join(parts) or '0'}"
    for kind, words in _KINDS.items():
        if ids := found["examples"].get(kind):
            yield f"  ids {words}: {', '.join(ids)}"
    for text in found["examples"].get("guard_values", ()):
        yield f"    {text}"
    for guard in found["guards"]:
        pairs = counted(guard["pairs"], "pair")
        yield f"  guards differ in {guard['differ']:,} of {pairs} of {guard['slice']}"
    if found["advised"]:
        yield f"  the prompt differs in {counted(found['advised'], 'pair')}"
