"""The benchmark's results: a JSON line per workload, and the table made of them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

Record = Mapping[str, Any]

FLOOR, OURS = "floor", "streamcmp"


def load(path: Path) -> list[Record]:
    """All records, oldest first; a line cut off by an interruption is skipped."""
    records = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return records


def append(path: Path, record: Record) -> None:
    """Add one record as a whole line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" * _cut_off(path) + json.dumps(record) + "\n")


def _cut_off(path: Path) -> bool:
    text = path.read_bytes()
    return bool(text) and not text.endswith(b"\n")


def measured(
    records: Iterable[Record], workload: str, rows: int, commands: Sequence[str], rounds: int
) -> bool:
    """Tell whether the last record of this workload holds these commands, none failed, in as many rounds."""
    return any(
        record["workload"] == workload
        and record["rows"] == rows
        and record["rounds"] >= rounds
        and set(commands) <= set(record["commands"])
        and not any(command["status"] == "failed" for command in record["commands"].values())
        for record in latest(records)
    )


def latest(records: Iterable[Record]) -> list[Record]:
    """Keep the last record of each workload and size, in the order of their first ones."""
    found: dict[tuple[str, int], Record] = {}
    for record in records:
        found[record["workload"], record["rows"]] = record
    return list(found.values())


def _seconds(command: Mapping[str, Any] | None) -> float | None:
    """The median, if the command got to its end every time."""
    if command is None or command["status"] != "done":
        return None
    return float(median(command["seconds"]))


def _peak(command: Mapping[str, Any]) -> str:
    return f"{max(command['peaks']) / 1e9:.2f} GB"


def _cell(command: Mapping[str, Any] | None, ratio: float | None) -> str:
    if command is None:
        return ""
    said = command["note"] if ratio is None else f"{ratio:.2f}, {_peak(command)}"
    return f"{said} DIFFERS" if command["differs"] else said


def table(records: Sequence[Record]) -> str:
    """Lay the records out in Markdown, a workload per row.

    Ratios are of medians within one run. In our column time is divided by the floor's, in a peer's column our
    time by the peer's; each is followed by the peak memory of that column's command.
    """
    names = dict.fromkeys(name for record in records for name in record["commands"])
    peers = [name for name in names if name not in (FLOOR, OURS)]
    head = ["workload", "rows", "floor", f"{OURS} / floor", *(f"/ {peer}" for peer in peers)]
    lines = [head, ["---", "--:", "--:", *["--:"] * (1 + len(peers))]]
    for record in records:
        commands = record["commands"]
        floor, ours = (_seconds(commands.get(name)) for name in (FLOOR, OURS))
        row = [record["workload"], f"{record['rows']:,}", f"{floor:.2f} s" if floor else ""]
        row.append(_cell(commands.get(OURS), ours / floor if ours and floor else None))
        for peer in peers:
            theirs = _seconds(commands.get(peer))
            row.append(_cell(commands.get(peer), ours / theirs if ours and theirs else None))
        lines.append(row)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines[1] = [
        mark.replace("---", "-" * width).replace("--:", "-" * (width - 1) + ":")
        for mark, width in zip(lines[1], widths, strict=True)
    ]
    return "\n".join("| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines)
