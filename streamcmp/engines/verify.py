"""A second opinion: a share of the ids counted again by another engine, which must come to the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from streamcmp.comparison import SIDES, IdShard
from streamcmp.errors import InternalError
from streamcmp.logs.hashed import HashedPair

if TYPE_CHECKING:
    from streamcmp.engines.local import Engine
    from streamcmp.logs.model import LogPair
    from streamcmp.meter import Meter
    from streamcmp.resources import Resources
    from streamcmp.tally import Tally


def shard_of_share(share: float) -> IdShard:
    """The first of so many shards that each has at least `share` (0 to 1, not 0) of the ids."""
    return IdShard(0, max(1, int(1 / share + 1e-9)))


def verify(
    tally: Tally, pair: LogPair, resources: Resources, meter: Meter, engines: tuple[Engine, Engine]
) -> None:
    """Count a share of the ids by the second engine and the others by the first: together they are `tally`.

    So it is the count itself that is verified, ledger and slices, not another one of the same engine.

    Raises:
        InternalError: they differ; says where.
    """
    engine, second = engines
    shard = shard_of_share(resources.verify)
    recount = second(HashedPair.of(pair, shard), resources, meter).tally
    if shard.of > 1:
        rest = engine(HashedPair.of(pair, shard, others=True), resources, meter).tally
        # Both name one shard of the same logs, of which one has the others: they do not overlap.
        recount = replace(recount, parts=()) + replace(rest, parts=())
    difference = _difference(tally, recount)
    if difference is not None:
        raise InternalError(f"two engines do not agree on shard {shard} of the ids: {difference}")


def _difference(tally: Tally, recount: Tally) -> str | None:
    """Where two tallies of one rule differ first, in words."""
    assert tally.ledger is not None
    assert recount.ledger is not None
    for side in SIDES:
        here, there = tally.ledger.side(side).to_dict(), recount.ledger.side(side).to_dict()
        for name, count in here.items():
            if count != there[name]:
                return f"side {side} has {count:,} rows {name} by the first and {there[name]:,} by the second"
    for name, table in tally.families.items():
        if not table.equals(recount.families[name]):
            return f"the family {name} has other counts"
    return None
