"""A fixed set of small logs in which everything happens: duplicates, gaps, nulls, NaN, guards, filters."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from streamcmp.comparison import Comparison, LogRequest, Policies
from streamcmp.engines.warehouse import Carried, Tables

_IDS: dict[str, tuple[list[Any], Any, Literal["int", "text"]]] = {
    "small": (list(range(-3, 12)), pl.Int32(), "int"),
    "wide": ([0, -1, 2**63 - 1, -(2**63), 2**53 + 1, 2**53], pl.Int64(), "int"),
    "float": ([0.0, 1.0, 2.0, 3.0, 1e6, float("nan")], pl.Float64(), "int"),
    "text": (["", "7", "007", "é", "e\u0301", "a b", "null", "NaN", "A", "a", "it's"], pl.String(), "text"),
}
_CARRIED: tuple[Carried, ...] = ("both", "left", "right")
_TERMS: list[tuple[tuple[str, ...], ...]] = [
    (),
    (("domain",),),
    (("domain", "level"),),
    (("level",), ("domain",), ("level", "domain")),
]
_VALUES: dict[str, tuple[list[Any], Any]] = {
    "correct": ([True, False, None], pl.Boolean()),
    "domain": (["law", "art", "", "(null)", None], pl.String()),
    "level": ([1, 2, 10, None], pl.Int64()),
    "mark": ([0.5, float("nan"), None], pl.Float64()),
    "keep": ([1, 1, 1, 0, None], pl.Int64()),
}


@dataclass(frozen=True)
class Case:
    """A comparison of two frames, and which of them carries what."""

    comparison: Comparison
    tables: Tables


def cases(number: int = 50) -> Iterator[Case]:
    """The first so many cases: the same ones, always."""
    for seed in range(number):
        yield _case(random.Random(seed))


def _case(rng: random.Random) -> Case:
    pool, dtype, id_type = _IDS[rng.choice(sorted(_IDS))]
    slices_in, where_in = rng.choice(_CARRIED), rng.choice(_CARRIED)
    columns = {"id": ([*pool, None] if rng.random() < 0.5 else pool, dtype), "epoch": ([0, 1], pl.Int64())}
    frames = {}
    for side in ("left", "right"):
        height = rng.randrange(1, 30)
        own = {**columns, **_VALUES}
        for name in ("domain", "level") if slices_in not in ("both", side) else ():
            del own[name]
        if where_in not in ("both", side):
            del own["keep"]
        frames[side] = pl.DataFrame(
            {name: [rng.choice(values) for _ in range(height)] for name, (values, _) in own.items()},
            schema={name: dtype for name, (_, dtype) in own.items()},
        )
    comparison = Comparison(
        a=LogRequest(frames["left"], correct="correct"),
        b=LogRequest(frames["right"], correct="correct"),
        on=rng.choice((("id",), ("id", "epoch"))),
        by=rng.choice(_TERMS),
        where="keep = 1" if rng.random() < 0.5 else None,
        guards=rng.choice(((), ("mark",))),
        id_type=id_type,
        policies=Policies(missing=rng.choice(("drop", "wrong")), mismatch=rng.choice(("drop", "ignore"))),
    )
    return Case(comparison, Tables(slices_in, where_in))
