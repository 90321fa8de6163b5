"""Is a tally whole? Shards of one pair of inputs are finalized only when all of them were merged."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

from streamcmp.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamcmp.tally import Part

_SHOWN = 5


def check_complete(parts: Sequence[Part]) -> None:
    """Raise UsageError, naming what is missing, unless the shards of each pair of inputs are all there.

    A part's shard is "k/n", k from 1 to n; "1/1" is the whole.
    """
    seen: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for part in parts:
        number, total = map(int, part.shard.split("/"))
        # As JSON: a tally that was saved has lists where a fresh one has tuples.
        seen[json.dumps(part.inputs, sort_keys=True, default=str)].add((number, total))
    for shards in seen.values():
        size = max(of for _, of in shards)
        missing = sorted(set(range(1, size + 1)) - {number for number, _ in shards})
        if missing:
            named = ", ".join(f"{number}/{size}" for number in missing[:_SHOWN])
            more = f" and {len(missing) - _SHOWN:,} more" if len(missing) > _SHOWN else ""
            what, are = ("shard", "is") if len(missing) == 1 else ("shards", "are")
            raise UsageError(
                f"the tally is incomplete: of its inputs {what} {named}{more} {are} missing; "
                "merge all of them, then finalize"
            )
