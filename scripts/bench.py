"""The benchmark, `make bench`: streamcmp beside the engines a user would otherwise write a query in.

Every command is a whole process; they alternate within a round. Ratios compare medians of one run only. See
docs/performance.md.
"""

import argparse
import shutil
import sys
from pathlib import Path

from scripts.bench_run import Stop, commands, installed, prepare, run
from scripts.bench_table import append, latest, load, measured, table
from scripts.bench_workloads import ALL_PEERS, Workload, workloads

ROWS, QUICK_ROWS = 20_000_000, 200_000


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=ROWS, help=f"the ordinary size ({ROWS:_})")
    parser.add_argument("--rounds", type=int, default=5, help="of each workload; large ones have fewer (5)")
    parser.add_argument("--workload", nargs="+", metavar="NAME", help="only these (all but the largest)")
    parser.add_argument(
        "--peer", nargs="*", metavar="NAME", choices=ALL_PEERS, help="only these (all installed)"
    )
    variant = "also streamcmp with these options, such as --variant='--strategy buckets'; repeatable"
    parser.add_argument("--variant", action="append", default=[], metavar="OPTIONS", help=variant)
    parser.add_argument(
        "--folder", type=Path, default=Path("build/bench"), help="of logs and results (build/bench)"
    )
    parser.add_argument("--again", action="store_true", help="measure what the results hold already, too")
    parser.add_argument("--generate", action="store_true", help="make the logs, and measure nothing")
    parser.add_argument("--delete", action="store_true", help="delete logs after their last workload")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROWS:_} rows, one round: does all run?")
    parser.add_argument("--list", action="store_true", help="show the workloads, and end")
    parser.add_argument("--table", action="store_true", help="show the results there are, and end")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rows, options.rounds = QUICK_ROWS, 1
    if options.rows < 1 or options.rounds < 1:
        parser.error("--rows and --rounds must be at least 1")
    return options


def chosen(rows: int, names: list[str] | None) -> list[Workload]:
    """Pick the workloads of these names. Raises Stop for an unknown one."""
    every = {workload.name: workload for workload in workloads(rows)}
    if names is None:
        return [workload for workload in every.values() if not workload.on_request]
    unknown = [name for name in names if name not in every]
    if unknown:
        raise Stop(f"no workload is called {', '.join(unknown)}; there are {', '.join(every)}")
    return [every[name] for name in names]


def show(rows: int) -> None:
    """Print the workloads, one a line."""
    for workload in workloads(rows):
        more = "; only on request" if workload.on_request else ""
        peers = ", ".join(workload.peers) or "no peer"
        print(
            f"{workload.name:20} {workload.data.rows:>13,} rows, by {', '.join(workload.by)}; {peers}{more}"
        )


def bench(options: argparse.Namespace) -> bool:
    """Measure what is asked for and not measured yet; return whether all counts agreed."""
    results = options.folder / "results.jsonl"
    peers = installed(ALL_PEERS if options.peer is None else options.peer)
    todo = chosen(options.rows, options.workload)
    agreed = True
    for place, workload in enumerate(todo):
        rounds = min(options.rounds, workload.most_rounds or options.rounds)
        logs = options.folder / "data" / workload.data.name
        lines = commands(workload, logs, peers, options.variant)
        if options.generate:
            prepare(workload.data, options.folder)
        elif options.again or not measured(
            load(results), workload.name, workload.data.rows, list(lines), rounds
        ):
            prepare(workload.data, options.folder)
            record = run(workload, lines, rounds, options.folder)
            append(results, record)
            for name, command in record["commands"].items():
                for difference in command["differs"]:
                    agreed = False
                    print(
                        f"COUNTS DIFFER, {workload.name}, {name}: {difference}", file=sys.stderr, flush=True
                    )
        if options.delete and workload.data not in [later.data for later in todo[place + 1 :]]:
            shutil.rmtree(logs, ignore_errors=True)
    if not options.generate:
        names = {workload.name: workload.data.rows for workload in todo}
        found = [
            record for record in latest(load(results)) if names.get(record["workload"]) == record["rows"]
        ]
        print(table(found))
    return agreed


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.list:
        show(options.rows)
        return 0
    if options.table:
        print(table(latest(load(options.folder / "results.jsonl"))))
        return 0
    try:
        return 0 if bench(options) else 1
    except Stop as stop:
        print(f"error: {stop}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
