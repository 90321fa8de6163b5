"""What a comparison of many rows takes, by shards: bytes read and spilled, machines, time, cost.

    python -m scripts.scale_model                                    # the tables of docs/scale.md
    python -m scripts.scale_model --rows 2e9 --price 0.8 --cores 16

Every assumption is an option. What a row costs was measured by `scale_check`, on another machine than yours.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

Order = Literal["same", "any"]
ORDERS: tuple[Order, ...] = get_args(Order)
SPILLED = {"int": 8, "text": 12}  # bytes a row, where the other log has another order


@dataclass(frozen=True)
class Cost:
    """Processor time: seconds of a process that reads nothing, and nanoseconds a row.

    skipped: of every row of both logs, to be read, decoded, and hashed. counted: of a row of the shard, more.
    """

    start: float
    skipped: float
    counted: float


# Measured by scale_check; docs/scale.md has the runs.
COSTS: dict[tuple[str, Order], Cost] = {
    ("int", "same"): Cost(0.53, 81, 6),
    ("int", "any"): Cost(0.53, 136, 31),
    ("text", "same"): Cost(0.49, 106, 21),
    ("text", "any"): Cost(0.53, 129, 110),
}


@dataclass(frozen=True)
class Assumptions:
    """What the reader may change."""

    rows: float = 100e9  # of each log
    bytes_per_row: float = 20.0  # of each log, in the columns that are read, as they lie on disk
    cores: float = 4.0  # that one process keeps busy
    gigabytes_per_second: float = 1.0  # that a machine reads from the store
    disk_gigabytes: float = 500.0  # that a machine may spill
    price: float = 0.4  # of a machine, for an hour


@dataclass(frozen=True)
class Plan:
    """One way to do it."""

    shards: int
    read: float  # bytes, by all machines
    spilled: float  # bytes, by one machine
    hours: float  # of one machine; all run at once
    cost: float  # of all


def processor_seconds(cost: Cost, rows: float, shards: int, *, own_files: bool = False) -> float:
    """Of one shard of two logs with so many rows each; `own_files`: its rows are all that it reads."""
    kept = rows / shards
    seen = kept if own_files else rows
    return cost.start + 2 * (seen * cost.skipped + kept * cost.counted) / 1e9


def spilled_bytes(ids: str, order: Order, rows: float, shards: int, held: float = 0.0) -> float:
    """By one shard; `held` bytes stay in memory."""
    return 0.0 if order == "same" else max(0.0, 2 * rows / shards * SPILLED[ids] - held)


def plan(ids: str, order: Order, shards: int, given: Assumptions, *, own_files: bool = False) -> Plan:
    """What it takes. Reading and computing overlap: the slower counts. Spill is written, and read again."""
    share = shards if own_files else 1
    read = 2 * given.rows * given.bytes_per_row / share
    spilled = spilled_bytes(ids, order, given.rows, shards)
    processor = processor_seconds(COSTS[ids, order], given.rows, shards, own_files=own_files) / given.cores
    seconds = max(processor, (read + 2 * spilled) / (given.gigabytes_per_second * 1e9))
    hours = seconds / 3600
    return Plan(shards, read * shards, spilled, hours, hours * shards * given.price)


def tables(given: Assumptions, shards: list[int]) -> str:
    """Both ways, for text ids and for integers, as Markdown."""
    lines = []
    for own_files in (False, True):
        what = "Each machine reads its own part only" if own_files else "Each machine reads both logs whole"
        lines += [
            f"{what}:",
            "",
            "| ids | order | machines | read, TB | spill of each, GB | hours | cost |",
            "|---|---|---:|---:|---:|---:|---:|",
        ]
        lines += [
            _row(ids, order, plan(ids, order, number, given, own_files=own_files), given.disk_gigabytes * 1e9)
            for ids, order in COSTS
            for number in shards
        ]
        lines.append("")
    return "\n".join(lines[:-1])


def _row(ids: str, order: Order, one: Plan, disk: float) -> str:
    room = "" if one.spilled <= disk else " (no room)"
    return (
        f"| {ids} | {order} | {one.shards:,} | {one.read / 1e12:,.1f} | {one.spilled / 1e9:,.0f}{room} | "
        f"{one.hours:,.2f} | {one.cost:,.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Bytes, machines, time and cost of a comparison by shards.")
    for field in fields(Assumptions):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=float, default=field.default)
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 16, 64, 256])
    options = vars(parser.parse_args())
    shards = options.pop("shards")
    print(tables(replace(Assumptions(), **options), shards))


if __name__ == "__main__":
    main()
