"""Why ids find no partner: hints, computed from samples, never applied by themselves.

A sample of a's ids without a partner is spelled in other ways (without what they all begin with, in one
Unicode form, in small letters, ...); a way in which many of them are ids of b is a hint.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from streamcmp import interrupt
from streamcmp.comparison import OPTION_OF_SIDE, SIDES, SideName
from streamcmp.logs.ids import SEPARATOR
from streamcmp.logs.model import FILTERED, ID

if TYPE_CHECKING:
    from streamcmp.logs.model import CanonicalLog, LogPair

_SAMPLE, _PASS_ROWS, _MOST_ROWS = 2000, 200_000, 5_000_000
_ENOUGH = 0.2  # of the sampled ids: a prefix that helps fewer is an accident
_FEW_VALUES = 200
_SEPARATORS = "/_:.-#|@ \\"

Spelling = Callable[[pl.Expr], pl.Expr]


@dataclass(frozen=True, slots=True)
class Hint:
    """What would help: a sentence, and the option that does it, if one does."""

    code: str
    text: str
    option: str | None = None


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to spell ids, the same for both sides. `certain`: one id that it joins is a hint already."""

    code: str
    text: str
    option: str | None
    spell: Spelling
    certain: bool = False


@dataclass(frozen=True)
class Sampled:
    """Some ids without a partner, and for each part of the id the values it has (None: too many to tell)."""

    alone: pl.Series
    values: list[set[str] | None]


def hints(pair: LogPair) -> list[Hint]:
    """What may keep the ids of two logs apart. Reads the ids of both logs, at most 5,000,000 each, twice."""
    sampled = {"a": _sample(pair.a, pair.b), "b": _sample(pair.b, pair.a)}
    found = list(_other_values(pair, sampled["a"], sampled["b"]))
    texts = all(each.alone.dtype == pl.String for each in sampled.values())
    if texts and len(sampled["a"].alone) and len(sampled["b"].alone):
        found += _spellings(pair, sampled["a"].alone, sampled["b"].alone)
    return found


def _ids(log: CanonicalLog) -> Iterator[pl.Series]:
    seen = 0
    for frame in log.batches(_PASS_ROWS):
        interrupt.check()
        kept = frame if FILTERED not in frame.columns else frame.filter(~pl.col(FILTERED))
        yield kept[ID].drop_nulls()
        seen += frame.height
        if seen >= _MOST_ROWS:
            return


def _sample(log: CanonicalLog, other: CanonicalLog) -> Sampled:
    first: list[pl.Series] = []
    values: list[set[str] | None] = []
    for ids in _ids(log):
        if sum(map(len, first)) < _PASS_ROWS:
            first.append(ids)
        if ids.dtype == pl.String:
            _gather(values, ids)
    mine = pl.concat(first).unique(maintain_order=True) if first else pl.Series([], dtype=pl.String)
    for ids in _ids(other):
        mine = mine.filter(~mine.is_in(ids.implode()))
    return Sampled(mine.head(_SAMPLE), values)


def _gather(values: list[set[str] | None], ids: pl.Series) -> None:
    """The values of each part of compound ids."""
    if not len(ids) or SEPARATOR not in str(ids.first()):
        return
    parts = ids.str.split(SEPARATOR)
    for index in range(int(str(ids.first()).count(SEPARATOR)) + 1):
        if index == len(values):
            values.append(set())
        known = values[index]
        if known is not None:
            known.update(parts.list.get(index, null_on_oob=True).drop_nulls().unique().to_list())
            values[index] = known if len(known) <= _FEW_VALUES else None


def _other_values(pair: LogPair, a: Sampled, b: Sampled) -> Iterator[Hint]:
    """Parts of the id, such as task or filter, that have values on one side only."""
    sizes = [
        len(left | right) if left is not None and right is not None else _FEW_VALUES + 1
        for left, right in zip(a.values, b.values, strict=False)
    ]
    for index, (left, right) in enumerate(zip(a.values, b.values, strict=False)):
        if sizes[index] > 1 and sizes[index] == max(sizes):
            continue  # the example's own number or name
        if left is None or right is None or left == right:
            continue
        name = pair.rule.on[index]
        only = {"a": sorted(left - right), "b": sorted(right - left)}
        said = " and ".join(
            f"only the {OPTION_OF_SIDE[side]} log has {_listed(only[side])}" for side in SIDES if only[side]
        )
        others = [each for each in pair.rule.on if each != name]
        joined = not (left & right) and len(left) == len(right) == 1 and others
        advice = f"; to pair without it: --on {','.join(others)}" if joined else ""
        yield Hint("other_values", f"{name}: {said}{advice}", f"--on {','.join(others)}" if joined else None)


def _listed(values: Sequence[str]) -> str:
    return ", ".join(values[:5]) + (f" and {len(values) - 5} more" if len(values) > 5 else "")


def _spellings(pair: LogPair, a: pl.Series, b: pl.Series) -> Iterator[Hint]:
    ways = [*_always(), *_affixes(a, "a"), *_affixes(b, "b")]
    wanted = {way.code + way.text: _spelled(a, way).unique() for way in ways}
    joined = dict.fromkeys(wanted, 0)
    for ids in _ids(pair.b):
        for way in ways:
            key = way.code + way.text
            left = wanted[key]
            met = left.is_in(_spelled(ids, way).implode())
            joined[key] += int(met.sum())
            wanted[key] = left.filter(~met)
    for way in ways:
        count = joined[way.code + way.text]
        if count >= (1 if way.certain else max(1, _ENOUGH * len(a))):
            more = f": {way.option}" if way.option else ""
            yield Hint(
                way.code,
                f"{way.text} ({count:,} of {len(a):,} sampled ids of the left log would find a partner)"
                f"{more}",
                way.option,
            )


def _spelled(ids: pl.Series, way: _Way) -> pl.Series:
    return ids.to_frame("x").select(way.spell(pl.col("x"))).to_series()


def _always() -> Iterator[_Way]:
    """Ways that need no look at the ids."""
    edge = rf"(^|{SEPARATOR})\s+|\s+({SEPARATOR}|$)"
    yield _Way(
        "normalization", "only Unicode normalisation separates ids (accents composed and decomposed)",
        "--id-normalize nfc", lambda ids: ids.str.normalize("NFC"), certain=True,
    )  # fmt: skip
    yield _Way(
        "case", "only capitals separate ids", "--id-normalize lower",
        lambda ids: ids.str.to_lowercase(), certain=True,
    )  # fmt: skip
    yield _Way(
        "whitespace", "only spaces at their ends separate ids", "--id-normalize trim",
        lambda ids: ids.str.replace_all(edge, "${1}${2}"), certain=True,
    )  # fmt: skip
    yield _Way(
        "leading_zeros", "only leading zeros separate ids", "--id-type int",
        lambda ids: ids.str.replace_all(rf"(^|{SEPARATOR})0+(\d)", "${1}${2}"), certain=True,
    )  # fmt: skip
    yield _Way(
        "path", "one log's ids are the last parts of the other's", r"--id-regex '([^/\\]+)$'",
        lambda ids: ids.str.extract(r"([^/\\]+)$"),
    )  # fmt: skip


def _affixes(ids: pl.Series, side: SideName) -> Iterator[_Way]:
    """What all ids of a side, or their parts, begin or end with: without it they may be the other side's."""
    texts = ids.to_list()
    width = min(text.count(SEPARATOR) for text in texts) + 1
    who = f"the {OPTION_OF_SIDE[side]} log's ids"
    for index in range(width):
        parts = [text.split(SEPARATOR)[index] for text in texts]
        if len(set(parts)) == 1 and len(parts) > 1:
            continue  # the same in all: told by what values there are
        # The whole first part, where only one id is known, is no prefix.
        prefix = _up_to_separator(_common(parts))
        if prefix and prefix != parts[0]:
            at = rf"(^|{SEPARATOR}){_escaped(prefix)}"
            yield _Way(
                "prefix", f"{who} begin with {prefix!r}", f"--id-strip-prefix {_quoted(prefix)}",
                lambda ids, at=at: ids.str.replace_all(at, "${1}"),  # type: ignore[misc]
            )  # fmt: skip
        suffix = _up_to_separator(_common([part[::-1] for part in parts]))[::-1]
        if suffix and suffix != parts[0]:
            at = rf"{_escaped(suffix)}({SEPARATOR}|$)"
            yield _Way(
                "suffix", f"{who} end with {suffix!r}", f"--id-regex {_quoted(f'^(.*){re.escape(suffix)}$')}",
                lambda ids, at=at: ids.str.replace_all(at, "${1}"),  # type: ignore[misc]
            )  # fmt: skip


def _common(texts: Sequence[str]) -> str:
    """What all texts begin with: what the first and the last in order do."""
    first, last = min(texts), max(texts)
    same = (index for index, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(same, min(len(first), len(last)))]


def _up_to_separator(text: str) -> str:
    """Up to the last separator: of arc-1 and arc-12 that is `arc-`. Without one, letters before digits."""
    last = max((text.rfind(mark) for mark in _SEPARATORS), default=-1)
    return text[: last + 1] if last >= 0 else text.rstrip("0123456789")


def _escaped(text: str) -> str:
    return re.sub(r"([^\w\s])", r"\\\1", text)


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)
