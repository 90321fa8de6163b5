"""Which examples a tally covers: shards of one pair of inputs are disjoint, and together the whole."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from streamcmp.addresses import is_address
from streamcmp.comparison import IdShard
from streamcmp.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from streamcmp.tally import Part

_SHOWN = 5
_MOST_LISTED = 2_000_000  # residues of hashes that are looked at to name what is missing


def joined(left: Sequence[Part], right: Sequence[Part]) -> tuple[Part, ...]:
    """The parts of both; shards that make up the whole of their inputs become one part.

    Raises UsageError where some examples are in both. Frames have no size on disk and all look alike: nothing
    is known of them.
    """
    known = _by_files(left)
    added = _by_files(right)
    made: list[Part] = [part for part in (*left, *right) if _files(part) is None]
    for files in sorted({*known, *added}):
        before, after = known.get(files, []), added.get(files, [])
        _check_disjoint([part.shard for part in before], [part.shard for part in after])
        made += _whole([*before, *after])
    return tuple(made)


def _files(part: Part) -> str | None:
    """What tells the files of one part from those of another; None for frames."""
    if any(not _are_files(side) for side in part.inputs.values()):
        return None
    # As JSON: a tally that was saved has lists where a fresh one has tuples.
    return json.dumps(
        {name: (list(side["paths"]), side["bytes"]) for name, side in part.inputs.items()}, sort_keys=True
    )


def _are_files(side: Mapping[str, Any]) -> bool:
    """Frames have no size, and all look alike; stores do not tell a size, but no address means two files."""
    return side.get("bytes") is not None or all(is_address(path) for path in side.get("paths", ()))


def _by_files(parts: Iterable[Part]) -> dict[str, list[Part]]:
    found: dict[str, list[Part]] = defaultdict(list)
    for part in parts:
        files = _files(part)
        if files is not None:
            found[files].append(part)
    return found


def _check_disjoint(left: Sequence[IdShard], right: Sequence[IdShard]) -> None:
    known = set(left)
    sizes = {shard.of for shard in left}
    for shard in right:
        if sizes <= {shard.of} and shard not in known:
            continue  # the usual case: all shards of one number
        for other in left:
            if shard.overlaps(other):
                what = f"shard {shard}" if shard == other else f"shards {other} and {shard}"
                whole = shard == other == IdShard()
                raise UsageError(
                    f"two of these tallies cover the same examples ({'all' if whole else what} of the same "
                    "inputs); merging them would count those twice"
                )


def _whole(parts: list[Part]) -> list[Part]:
    # Disjoint shards are all there when their shares of the hashes add up to 1.
    if len(parts) > 1 and sum(Fraction(1, part.shard.of) for part in parts) == 1:
        return [type(parts[0])(parts[0].inputs)]
    return sorted(parts, key=lambda part: (part.shard.of, part.shard.number))


def check_complete(parts: Sequence[Part]) -> None:
    """Raise UsageError, naming what is missing, unless the shards of each pair of inputs are all there."""
    seen: dict[str, set[IdShard]] = defaultdict(set)
    for part in parts:
        frames = json.dumps(part.inputs, sort_keys=True, default=str)
        seen[_files(part) or frames].add(part.shard)
    for shards in seen.values():
        share = sum((Fraction(1, shard.of) for shard in shards), Fraction(0))
        if share < 1:
            raise UsageError(
                f"the tally is incomplete: of its inputs {_missing(shards, 1 - share)}; "
                "count and merge all of them, then finalize"
            )


def _missing(shards: set[IdShard], share: Fraction) -> str:
    of = math.lcm(*(shard.of for shard in shards))
    if of > _MOST_LISTED:
        return f"shards with {float(share):.1%} of the hashes are missing"
    absent = bytearray(b"\1") * of
    for shard in shards:
        absent[shard.number :: shard.of] = bytes(len(range(shard.number, of, shard.of)))
    numbers = [number for number in range(of) if absent[number]]
    named = ", ".join(f"{number}/{of}" for number in numbers[:_SHOWN])
    more = f" and {len(numbers) - _SHOWN:,} more" if len(numbers) > _SHOWN else ""
    return f"shard {named} is missing" if len(numbers) == 1 else f"shards {named}{more} are missing"
