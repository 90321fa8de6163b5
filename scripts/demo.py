"""The demo, `make demo`: compare two logs of 2 million rows, and show the true gains beside the estimates."""

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from scripts.make_logs import Truth, write_logs

FOLDER = Path("build/demo")


def command_path() -> str:
    """The `streamcmp` beside this Python, as a person in the clone would type it."""
    return os.path.relpath(Path(sys.executable).parent / "streamcmp")


def run(command: list[str], *, capture: bool = False) -> str:
    """Run the command and return what it printed, if captured. A failure ends the demo with its exit code.

    What a captured run says on stderr, the first run has said.
    """
    done = subprocess.run(command, check=False, text=True, capture_output=capture)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout or ""


def points(share: float | None) -> str:
    return "" if share is None else f"{100 * share:+.2f}"


def truth_table(truth: Truth, report: dict[str, Any]) -> Table:
    """Lay out truth, estimate and interval, and whether it holds the truth: `overall`, then each domain."""
    table = Table(title="True gain and estimate, in points")
    table.add_column("domain")
    for heading in ("true gain", "estimate", "interval"):
        table.add_column(heading, justify="right")
    table.add_column("holds the truth")
    rows = [("overall", truth.overall["gain"], report["results"][0])]
    by_domain = {r["slice"]["domain"]: r for r in report["results"] if r["family"] == "domain"}
    rows += [(name, values["gain"], by_domain[name]) for name, values in truth.domain.items()]
    for name, gain, result in rows:
        low, high = result["gain_low"], result["gain_high"]
        table.add_row(
            name,
            points(gain),
            points(result["gain"]),
            f"[{points(low)}, {points(high)}]".replace("[", r"\["),
            "yes" if low <= gain <= high else "no",
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare two synthetic logs whose true gains are known.")
    parser.add_argument("--rows", type=int, default=2_000_000, help="examples (2000000)")
    parser.add_argument("--seed", type=int, default=0, help="another seed is another pair of logs (0)")
    options = parser.parse_args()
    console = Console()

    started = time.perf_counter()
    truth = write_logs(FOLDER, options.rows, options.seed)
    console.print(
        f"Wrote {FOLDER}/left.parquet and right.parquet: {truth.rows_a:,} and {truth.rows_b:,} rows, "
        f"in {time.perf_counter() - started:.1f} s.",
        highlight=False,
    )
    command = [
        command_path(),
        "run",
        "--left",
        str(FOLDER / "left.parquet"),
        "--right",
        str(FOLDER / "right.parquet"),
        "--by",
        "domain",
    ]
    line = shlex.join(command)
    console.print(f"\n$ {line}\n", highlight=False, markup=False, soft_wrap=True)
    started = time.perf_counter()
    run(command)
    console.print(f"\n({time.perf_counter() - started:.1f} s)\n", highlight=False)

    report = json.loads(run([*command, "--quiet", "--format", "json"], capture=True))
    console.print(truth_table(truth, report))
    console.print(
        "An interval of 95 % confidence misses the truth one time in twenty.\n\n"
        "The command was\n\n"
        f"    {line}\n\n"
        "For your own files, name them behind --left (the baseline) and --right (the candidate): Parquet,\n"
        "Arrow, CSV or NDJSON, each row with an id and either `correct` or `prediction` and `label`.\n"
        "Where the columns have other names: --on, --correct, --prediction, --label.\n"
        "Slice --by any column, or by none.",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


if __name__ == "__main__":
    main()
