"""`streamcmp flips` beside `streamcmp run` and the scan floor of the columns that are shown.

Two logs with prompts of 200 bytes and replies of 80, on 5 % of whose examples the models differ; the right
one in the same order and shuffled. Every command is a process of its own. The rows are verified against
DuckDB: which examples flip by its join of ids, and all that was written of them by checksums of both logs.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROWS = 100_000_000
SHOWN = ("prompt", "reply")
_CHUNK = 250_000


@dataclass(frozen=True)
class Took:
    """What a process took: seconds by the clock, seconds of the processors, and the most memory in bytes."""

    seconds: float
    processor: float
    peak: int


def write(folder: Path, rows: int) -> None:
    """Make `left`, `same` and `shuffled`, chunk by chunk."""
    import numpy as np
    import polars as pl
    import pyarrow.parquet as pq

    from scripts.bench_data import mix, permute

    for name in ("left", "same", "shuffled"):
        writer = None
        for start in range(0, rows, _CHUNK):
            numbers = np.arange(start, min(start + _CHUNK, rows), dtype=np.uint64)
            if name == "shuffled":
                numbers = permute(numbers, rows, 1)
            correct = mix(numbers, 2) % np.uint64(10) < 8
            if name != "left":
                correct ^= mix(numbers, 3) % np.uint64(20) == 0
            side = 4 if name == "left" else 5
            words = [pl.Series(mix(numbers, 10 + word)).cast(pl.String) for word in range(5)]
            frame = pl.DataFrame({"id": numbers.astype(np.int64), "correct": correct}).with_columns(
                domain=pl.Series(mix(numbers, 6) % np.uint64(12)),
                prompt=pl.concat_str(words, separator=" " * 25).str.head(200),
                reply=pl.Series(mix(numbers, side)).cast(pl.String).str.pad_end(80, "."),
            )
            table = frame.to_arrow()
            writer = writer or pq.ParquetWriter(folder / f"{name}.parquet", table.schema, compression="zstd")
            writer.write_table(table)
        if writer is not None:
            writer.close()


def floor(*paths: str) -> None:
    """Decode the columns that are shown, and nothing else."""
    import polars as pl

    for path in paths:
        for _ in pl.scan_parquet(path).select(SHOWN).collect_batches(maintain_order=True):
            pass


def verify(folder: Path, right: str, flips: Path) -> dict[str, object]:
    """What DuckDB says of the rows, and what of the file; they must be equal."""
    import duckdb

    con = duckdb.connect()
    con.sql(
        f"SET memory_limit = '3GB'; SET temp_directory = '{folder}'; SET preserve_insertion_order = false"
    )
    logs = {"l": folder / "left.parquet", "r": folder / right, "f": flips}
    for name, path in logs.items():
        con.sql(f"CREATE VIEW {name} AS FROM read_parquet('{path}')")
    con.sql("""
        CREATE TABLE truth AS
        SELECT id, CASE WHEN l.correct THEN 'lost' ELSE 'won' END AS kind
        FROM l JOIN r USING (id) WHERE l.correct <> r.correct
    """)
    sums = "SELECT count(*), sum(hash({}))::VARCHAR FROM {}"
    expected, written = [sums.format("id, kind", "truth")], [sums.format("id, kind", "f")]
    for log, side in (("l", "left"), ("r", "right")):
        expected.append(sums.format(f"id, {', '.join(SHOWN)}", f"{log} SEMI JOIN truth USING (id)"))
        names = ", ".join(f'"{side}.{name}"' for name in SHOWN)
        written.append(sums.format(f"id, {names}", "f"))
    turned = f"""
        SELECT count(*) FROM (
          SELECT id < lag(id) OVER (ORDER BY file_row_number) AS back
          FROM read_parquet('{flips}', file_row_number = true)
        ) WHERE back
    """
    return {
        "expected": [con.sql(query).fetchall() for query in expected],
        "written": [con.sql(query).fetchall() for query in written],
        "out_of_order": con.sql(turned).fetchall(),
    }


def measure(command: list[str]) -> Took:
    """Run a command to its end; it must succeed."""
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    seconds = time.perf_counter() - started
    scale = 1 if sys.platform == "darwin" else 1024
    return Took(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * scale)


def bench(folder: Path, rows: int, memory: str | None) -> bool:
    """Measure, print, verify; whether all rows were right."""
    me = [sys.executable, "-m", "scripts.bench_flips"]
    left = folder / "left.parquet"
    if not left.exists():
        subprocess.run([*me, "--write", str(folder), "--rows", str(rows)], check=True)
    right = True
    for name in ("same", "shuffled"):
        other, flips = folder / f"{name}.parquet", folder / f"flips-{name}.parquet"
        logs = ["--left", str(left), "--right", str(other), "--by", "domain", "--quiet"]
        logs += ["--memory", memory] if memory else []
        ours = [sys.executable, "-m", "streamcmp"]
        scan = [*me, "--floor", str(left), str(other)]
        measure(scan)  # so that the files are in the page cache
        took = {
            "floor": measure(scan),
            "run": measure([*ours, "run", *logs]),
            "flips": measure([*ours, "flips", *logs, "--select", ",".join(SHOWN), "--output", str(flips)]),
        }
        print(f"{rows:,} pairs, {name} order, {flips.stat().st_size / 1e6:.0f} MB of flips")
        for command, one in took.items():
            times = f"{one.seconds:7.1f} s, {one.processor:7.1f} s of processors"
            print(f"  {command:5} {times}, {one.peak / 1e6:6.0f} MB")
        for what in ("seconds", "processor"):
            floors, run, flip = (getattr(took[one], what) for one in ("floor", "run", "flips"))
            over = f"(flips - run) / floor = {(flip - run) / floors:.2f}"
            print(f"  {what}: {over}; flips / run = {flip / run:.2f}")
        done = subprocess.run(
            [*me, "--verify", str(folder), other.name, str(flips)], check=True, capture_output=True, text=True
        )
        found = json.loads(done.stdout)
        same = found["expected"] == found["written"] and found["out_of_order"] == [[0]]
        print(
            f"  {found['written'][0][0][0]:,} rows: {'as DuckDB finds them' if same else f'DIFFER: {found}'}"
        )
        flips.unlink()
        right = right and same
    return right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=ROWS, help=f"of each log ({ROWS:_})")
    parser.add_argument("--folder", type=Path, default=Path("build/bench-flips"), help="of the logs")
    parser.add_argument("--memory", help="what streamcmp may use")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--floor", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--verify", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write(options.write, options.rows)
    elif options.floor:
        floor(*options.floor)
    elif options.verify:
        folder, right, flips = options.verify
        print(json.dumps(verify(Path(folder), right, Path(flips))))
    else:
        options.folder.mkdir(parents=True, exist_ok=True)
        return 0 if bench(options.folder, options.rows, options.memory) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
