"""Measure what a row costs in a small run, predict larger ones by `scale_model`, and measure those too.

Processor time is that of whole processes (user and system). Bytes are those that the system counted for them,
less those of a run of few rows: what is read are the logs and the spill, what is written is the spill. No
figure is a time of the clock: other work on the machine does not spoil them much.

    python -m scripts.scale_check            # about a minute
    python -m scripts.scale_check --rows 4e6
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from scripts.scale_model import ORDERS, Cost, Order, processor_seconds, spilled_bytes

SLICES = 12
START_ROWS = 1_000


@dataclass(frozen=True)
class Measured:
    """What one process took."""

    seconds: float
    read: int
    written: int


def write_logs(folder: Path, rows: int, kind: str, order: Order) -> tuple[Path, Path]:
    """Two logs of so many rows, with integer or text ids, the right one in the same order or shuffled."""
    number = pl.int_range(rows)
    ids = number * 7_919 if kind == "int" else pl.format("example-{}", number.cast(pl.String).str.zfill(21))
    table = pl.select(id=ids, domain=(number % SLICES).cast(pl.String), correct=number % 3 > 0)
    paths = folder / f"left-{rows}.parquet", folder / f"right-{rows}.parquet"
    table.write_parquet(paths[0])
    other = table.with_columns(correct=pl.int_range(rows) % 4 > 0)
    if order == "any":
        other = other.sample(fraction=1, shuffle=True, seed=1)
    other.write_parquet(paths[1])
    return paths


def measured(logs: tuple[Path, Path], shard: str, folder: Path, memory: str = "512MB") -> Measured:
    """`streamcmp count --shard` as a process of its own."""
    command = [sys.executable, "-m", "streamcmp", "count", "--left", str(logs[0]), "--right", str(logs[1])]
    command += ["--by", "domain", "--shard", shard, "--output", str(folder / "x.tally"), "--quiet"]
    command += ["--memory", memory, "--spill-dir", str(folder)]
    child = os.posix_spawn(sys.executable, command, os.environ)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    counters = dict(line.split(": ") for line in Path(f"/proc/{child}/io").read_text().splitlines())
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return Measured(used.ru_utime + used.ru_stime, int(counters["rchar"]), int(counters["wchar"]))


def least(logs: tuple[Path, Path], shard: str, folder: Path, runs: int) -> Measured:
    """The run that took least, of several."""
    return min((measured(logs, shard, folder) for _ in range(runs)), key=lambda one: one.seconds)


def calibrated(folder: Path, rows: int, kind: str, order: Order, runs: int) -> Cost:
    """What a row costs, from logs of so many rows."""
    start = least(write_logs(folder, START_ROWS, kind, order), "0/2", folder, runs).seconds
    logs = write_logs(folder, rows, kind, order)
    few = (least(logs, "3/64", folder, runs).seconds - start) / (2 * rows)
    many = (least(logs, "1/2", folder, runs).seconds - start) / (2 * rows)
    kept = (many - few) / (1 / 2 - 1 / 64)
    return Cost(start=start, skipped=1e9 * (few - kept / 64), counted=1e9 * kept)


def volume(
    logs: tuple[Path, Path], case: tuple[str, Order], rows: int, shard: str, folder: Path
) -> tuple[str, ...]:
    """Bytes predicted and counted, in little memory so that there is a spill, as a row of a table."""
    kind, order = case
    memory = 128 * 10**6
    nothing = measured(write_logs(folder, START_ROWS, kind, order), shard, folder, f"{memory}")
    found = measured(logs, shard, folder, f"{memory}")
    files = sum(path.stat().st_size for path in logs)
    spill = spilled_bytes(kind, order, rows, int(shard.split("/")[1]), held=2 * memory / 16)
    # What was spilled is read again.
    counts = (files + spill, found.read - nothing.read, spill, found.written - nothing.written)
    return (kind, order, shard, *(f"{count / 1e6:.1f}" for count in counts))


def main() -> None:
    parser = argparse.ArgumentParser(description="Check the model of docs/scale.md against measured runs.")
    parser.add_argument("--rows", type=float, default=2e6, help="rows of the logs that calibrate; x 3 checks")
    parser.add_argument("--runs", type=int, default=3, help="of which the one that took least counts")
    options = parser.parse_args()
    rows, larger = int(options.rows), 3 * int(options.rows)
    print("| ids | order | shard | predicted, s | measured, s | ratio |\n|---|---|---|---:|---:|---:|")
    costs, volumes = [], []
    for kind in ("int", "text"):
        for order in ORDERS:
            with tempfile.TemporaryDirectory(prefix="streamcmp-scale-") as name:
                folder = Path(name)
                cost = calibrated(folder, rows, kind, order, options.runs)
                costs.append((kind, order, cost))
                logs = write_logs(folder, larger, kind, order)
                for of in (4, 16, 64):
                    found = least(logs, f"1/{of}", folder, options.runs)
                    predicted = processor_seconds(cost, larger, of)
                    numbers = f"{predicted:.2f} | {found.seconds:.2f} | {found.seconds / predicted:.2f}"
                    print(f"| {kind} | {order} | 1/{of} | {numbers} |", flush=True)
                volumes += [volume(logs, (kind, order), larger, shard, folder) for shard in ("0/1", "1/4")]
    print("\n| ids | order | start, s | ns a row read | ns more a row counted |\n|---|---|---:|---:|---:|")
    for kind, order, cost in costs:  # what one calibration says
        print(f"| {kind} | {order} | {cost.start:.2f} | {cost.skipped:.0f} | {cost.counted:.0f} |")
    print("\n| ids | order | shard | read, predicted, MB | counted | spilled, predicted, MB | counted |")
    print("|---|---|---|---:|---:|---:|---:|")
    for row in volumes:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
