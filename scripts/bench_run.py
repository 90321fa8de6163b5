"""Measure one workload: its logs, then rounds of whole processes, each compared with ours."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from scripts.bench_child import Measured, measure
from scripts.bench_counts import differences
from scripts.bench_table import FLOOR, OURS
from scripts.bench_workloads import ALL_PEERS, Data, Workload

MOST_BYTES = 18 * 10**9
MOST_FLOORS = 20
LEAST_LIMIT = 15.0  # seconds: of small logs, starting the interpreter and the engine is most of the time

_PACKAGES = {"duckdb-ledger": "duckdb"}


class Stop(Exception):
    """The benchmark cannot go on; the message says why."""


@dataclass
class _Kept:
    """What is kept of one command over the rounds."""

    status: str = "done"
    note: str = ""
    seconds: list[float] = field(default_factory=list)
    peaks: list[int] = field(default_factory=list)
    reported: list[float] = field(default_factory=list)  # GB, as streamcmp says it
    differs: list[str] = field(default_factory=list)


def installed(peers: Sequence[str]) -> list[str]:
    """Those peers whose package is there."""
    return [peer for peer in peers if _version(_PACKAGES.get(peer, peer)) is not None]


def versions() -> dict[str, str]:
    """Versions of everything that takes part."""
    packages = dict.fromkeys(["streamcmp", "polars", *(_PACKAGES.get(peer, peer) for peer in ALL_PEERS)])
    found = {package: _version(package) for package in packages}
    return {package: number for package, number in found.items() if number is not None}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def prepare(data: Data, folder: Path) -> Path:
    """Make the logs, unless they are there. Raises Stop when the disk is too full."""
    place = folder / "data" / data.name
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(place.parent).free
    if free < data.bytes:
        raise Stop(
            f"{data.name} needs about {data.bytes / 1e9:.1f} GB; {folder} has {free / 1e9:.1f} GB free"
        )
    print(f"making {data.name}", file=sys.stderr, flush=True)
    # In a process of its own: what this one holds would be counted as its children's.
    command = [sys.executable, "-m", "scripts.bench_data", str(place), json.dumps(asdict(data))]
    done = subprocess.run(command, check=False)
    if done.returncode:
        raise Stop(f"the logs of {data.name} could not be made")
    return place


def commands(
    workload: Workload, place: Path, peers: Sequence[str], variants: Sequence[str]
) -> dict[str, list[str]]:
    """Name the command lines, in the order in which a round runs them."""
    left, right = (str(place / name) for name in workload.data.logs())
    request = {"left": left, "right": right, "by": workload.by, "form": workload.data.form}
    ours = [sys.executable, "-m", "streamcmp", "run", "--left", left, "--right", right]
    ours += [part for family in workload.by for part in ("--by", family)]
    ours += [*workload.options, "--format", "json", "--verbose"]
    peer = [sys.executable, "-m", "scripts.bench_peers"]
    lines = {FLOOR: [*peer, FLOOR, json.dumps(request)], OURS: ours}
    lines |= {f"{OURS} {variant}": [*ours, *variant.split()] for variant in variants}
    return lines | {name: [*peer, name, json.dumps(request)] for name in peers if name in workload.peers}


def run(workload: Workload, lines: Mapping[str, Sequence[str]], rounds: int, folder: Path) -> dict[str, Any]:
    """Run every command once per round, alternating, and return what was measured and whether counts agree.

    A command that ended at a cap, or failed, is not run again. The floor is run once before, unmeasured, so
    that the files are in the page cache.
    """
    outputs = folder / "output"
    outputs.mkdir(parents=True, exist_ok=True)
    kept = {name: _Kept() for name in lines}
    counts: dict[str, dict[str, Any]] = {}
    warm = measure(lines[FLOOR], outputs / "out", outputs / "err", most_seconds=3600, most_bytes=MOST_BYTES)
    if warm.status != "done":
        raise Stop(f"{workload.name}: the floor did not run: {_last_line(outputs / 'err')}")
    limit = max(MOST_FLOORS * warm.seconds, LEAST_LIMIT)
    for turn in range(rounds):
        for name, line in lines.items():
            if kept[name].status != "done":
                continue
            out, err = outputs / f"{name}.json", outputs / f"{name}.txt"
            found = measure(line, out, err, most_seconds=limit, most_bytes=MOST_BYTES)
            _keep(kept[name], found, err)
            print(
                f"{workload.name}, round {turn + 1}: {name} {_told(kept[name])}", file=sys.stderr, flush=True
            )
            if name == FLOOR and found.status == "done":
                limit = max(MOST_FLOORS * min(kept[name].seconds), LEAST_LIMIT)
            if turn == 0 and name != FLOOR and found.status == "done":
                counts[name] = _count(out)
    for name, summary in counts.items():
        if OURS in counts:
            kept[name].differs = differences(counts[OURS], summary)
    return {
        "workload": workload.name,
        "rows": workload.data.rows,
        "rounds": rounds,
        "commands": {name: asdict(one) for name, one in kept.items()},
        "families": counts.get(OURS, {}).get("families"),
        "ledger": counts.get(OURS, {}).get("ledger"),
        "versions": versions(),
    }


def _keep(kept: _Kept, found: Measured, err: Path) -> None:
    kept.seconds.append(round(found.seconds, 4))
    kept.peaks.append(found.peak)
    kept.status = found.status
    text = err.read_text(encoding="utf-8", errors="replace")
    kept.reported += [float(gigabytes) for gigabytes in re.findall(r"peak memory ([\d.]+) GB", text)]
    match found.status:
        case "memory":
            kept.note = f"over {MOST_BYTES / 1e9:.0f} GB"
        case "time":
            kept.note = f"over {MOST_FLOORS} x floor"
        case "failed":
            kept.note = f"failed ({found.code})"
            print(f"  {_last_line(err)}", file=sys.stderr, flush=True)


def _told(kept: _Kept) -> str:
    return f"{kept.note or 'took'} {kept.seconds[-1]:.2f} s, {kept.peaks[-1] / 1e9:.2f} GB"


def _last_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def _count(output: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "scripts.bench_counts", str(output)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        return {"families": {"unreadable": done.stderr.strip().splitlines()[-1:]}, "ledger": None}
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary
