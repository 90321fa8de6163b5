"""Which strategies to try, in which order, and what each needs.

Chosen from metadata; each verifies what it relies on. A strategy's module is loaded when its step is reached:
most logs are in the same order, and need no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamcmp.logs.model import ID
from streamcmp.pairing import lockstep
from streamcmp.pairing.rows import RowLayout
from streamcmp.pairing.spill import chunk_rows, hold_bytes
from streamcmp.resources import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamcmp.logs.model import LogPair
    from streamcmp.resources import Resources

_LOOK_ROWS = 1_000
_BASE = 200_000_000  # what the process takes before it reads rows, and Polars' own buffers (measured)
_BYTES_PER_ROW = 200  # of a chunk in flight: decoded columns, canonical columns, scratch


def plan(pair: LogPair, resources: Resources, *, look: bool = True) -> Iterator[Step]:
    """The steps to try until one fits, worked out as they are asked for.

    Logs whose metadata tell different row counts cannot be in step. With `look`, the first rows spare the
    strategies that would give up at once; without, no rows are read. Where pairs are `located`, those that
    keep no row of its own are left out.
    """
    if pair.positional:
        yield _lockstep(pair, resources, "rows are paired by position")
        return
    if resources.strategy != "auto":
        if resources.strategy == "buckets" or (pair.located and resources.strategy == "direct"):
            yield from _buckets(pair, resources, "asked for")
        else:
            yield _STEPS[resources.strategy](pair, resources, "asked for")
        return
    in_step, rising = _first_rows(pair) if look else (True, True)
    rows = pair.a.rows, pair.b.rows
    if in_step and (None in rows or rows[0] == rows[1]):
        yield _lockstep(pair, resources, "if both logs are in the same order")
    if rising:
        yield _merge(pair, resources, "if both logs are sorted by id")
    from streamcmp.pairing import direct

    if not pair.located and direct.suits(pair, resources):
        yield _direct(pair, resources, "ids are compact integers by metadata: any order will do")
    yield from _buckets(pair, resources, "any ids in any order")


def _first_rows(pair: LogPair) -> tuple[bool, bool]:
    """Whether the first ids of both logs are the same, and whether they rise; True where nobody knows yet."""
    heads = [log.head(_LOOK_ROWS) for log in (pair.a, pair.b)]
    ids = [head[ID] for head in heads if head is not None]
    if len(ids) < 2:
        return True, True
    shorter = min(map(len, ids))
    same = ids[0].head(shorter).equals(ids[1].head(shorter), null_equal=True)
    present = [one.drop_nulls() for one in ids]
    return same, all(bool((one.slice(1) > one.slice(0, len(one) - 1)).all()) for one in present if len(one))


def _chunks(resources: Resources, rows: int) -> int:
    return _BASE + 2 * (resources.rows_at_a_time(rows)) * _BYTES_PER_ROW


def _lockstep(pair: LogPair, resources: Resources, why: str) -> Step:
    keys = 0 if pair.positional else 8 * pair.a.estimated_rows
    return Step(
        "lockstep", why, _chunks(resources, lockstep.CHUNK_ROWS) + min(keys, hold_bytes(resources)), keys
    )


def _merge(_pair: LogPair, resources: Resources, why: str) -> Step:
    from streamcmp.pairing import merge

    return Step("merge", why, _chunks(resources, merge.CHUNK_ROWS))


def _direct(pair: LogPair, resources: Resources, why: str) -> Step:
    from streamcmp.pairing import direct

    return Step("direct", why, _chunks(resources, direct.CHUNK_ROWS) + direct.table_bytes(pair, resources))


def _buckets(pair: LogPair, resources: Resources, why: str) -> Iterator[Step]:
    from streamcmp.pairing import coded

    if not pair.located and coded.suits(pair, resources):
        few = f"{why}; if slices, guards and outcomes have few combinations"
        yield _bucket_step("coded buckets", few, coded.row_bytes(pair), pair, resources)
    yield _bucket_step("buckets", why, RowLayout(pair).row_bytes, pair, resources)


def _bucket_step(name: str, why: str, row_bytes: int, pair: LogPair, resources: Resources) -> Step:
    size = (pair.a.estimated_rows + pair.b.estimated_rows) * row_bytes
    held = min(size, 2 * hold_bytes(resources))
    chunk = chunk_rows(max(pair.a.estimated_rows, pair.b.estimated_rows))
    return Step(name, why, _chunks(resources, chunk) + held, size - held)


_STEPS = {"lockstep": _lockstep, "merge": _merge, "direct": _direct}
