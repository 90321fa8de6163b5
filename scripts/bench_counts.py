"""What a command counted, in a form that can be compared: `python -m scripts.bench_counts FILE`.

FILE is a report of streamcmp's or the output of a peer. A process of its own, because a report of a million
slices is large, and the benchmark's own process must stay small.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from scripts.bench_workloads import CELLS


def _family(rows: Iterable[tuple[Any, ...]]) -> dict[str, Any]:
    """Sum the cells of all slices, and hash them; slices without a pair do not count."""
    kept = sorted((str(slice_), *cells) for slice_, *cells in rows if any(cells))
    cells = [sum(column) for column in list(zip(*kept, strict=True))[1:]]
    return {
        "slices": len(kept),
        "cells": cells,
        "sha256": hashlib.sha256(json.dumps(kept).encode()).hexdigest(),
    }


def summarize(output: Mapping[str, Any]) -> dict[str, Any]:
    """Bring a report, or a peer's counts, to one form: `families` and, if it has one, `ledger`."""
    if "results" in output:
        slices: dict[str, list[tuple[Any, ...]]] = {}
        for result in output["results"]:
            if result["family"] != "overall":
                row = (result["slice"][result["family"]], *(result[cell] for cell in CELLS))
                slices.setdefault(result["family"], []).append(row)
        families = {family: _family(rows) for family, rows in slices.items()}
    else:
        families = {
            family: _family(zip(columns["slice"], *(columns[cell] for cell in CELLS), strict=True))
            for family, columns in output.items()
            if family != "ledger"
        }
    ledger = output.get("ledger")
    if ledger is not None:
        ledger = {side: {k: v for k, v in kinds.items() if k != "filtered"} for side, kinds in ledger.items()}
    return {"families": families, "ledger": ledger}


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """Say what differs between two summaries; a peer without a ledger is not compared by it."""
    found = []
    for family in sorted({*ours["families"], *theirs["families"]}):
        one, other = ours["families"].get(family), theirs["families"].get(family)
        if one != other:
            found.append(f"{family}: {one} is not {other}")
    if theirs["ledger"] is not None and ours["ledger"] != theirs["ledger"]:
        found.append(f"ledger: {ours['ledger']} is not {theirs['ledger']}")
    return found


def main() -> None:
    print(json.dumps(summarize(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))


if __name__ == "__main__":
    main()
