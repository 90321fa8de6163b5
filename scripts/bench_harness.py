"""Large logs of evaluation harnesses, beside mere parsing: `python -m scripts.bench_harness FOLDER`.

FOLDER holds what `scripts.make_harness_logs` wrote. The floor is a process that reads the same bytes of both
logs and decodes every JSON object in them with msgspec, and keeps nothing.
"""

import argparse
import statistics
import sys
import zipfile
from pathlib import Path

from scripts.bench_child import Measured, measure

BUDGET = 10**9
LOGS = {"lm-eval, 2 GB a side": ("lm_eval/left", "lm_eval/right", "task"),
        "inspect, 200,000 samples": ("left.eval", "right.eval", "metadata.topic")}  # fmt: skip


def parse(paths: list[str]) -> None:
    """The floor."""
    import msgspec

    for path in map(Path, paths):
        if path.is_dir():
            decoder = msgspec.json.Decoder()
            for file in sorted(path.iterdir()):
                with file.open("rb") as lines:
                    for line in lines:
                        decoder.decode(line)
        else:
            with zipfile.ZipFile(path) as archive:
                msgspec.json.decode(archive.read("summaries.json"))


def command(folder: Path, left: str, right: str, by: str) -> list[str]:
    """Our command."""
    logs = ["--left", str(folder / left), "--right", str(folder / right)]
    return [sys.executable, "-m", "streamcmp", "run", *logs, "--by", by, "--format", "json", "--quiet"]


def run(folder: Path, line: list[str]) -> Measured:
    """One process."""
    done = measure(line, folder / "out", folder / "err", most_seconds=600, most_bytes=4 * BUDGET)
    if done.status != "done":
        raise SystemExit(f"{' '.join(line)}: {done.status}\n{(folder / 'err').read_text()}")
    return done


def bench(folder: Path, rounds: int) -> bool:
    """Print a row per kind of log; return whether all stayed within the memory budget."""
    print("| logs | floor | streamcmp | / floor | floor's peak | peak |\n|---|---:|---:|---:|---:|---:|")
    within = True
    for name, (left, right, by) in LOGS.items():
        floors, ours = [], []
        for _ in range(rounds):
            paths = [str(folder / left), str(folder / right)]
            floors.append(run(folder, [sys.executable, "-m", "scripts.bench_harness", "--parse", *paths]))
            ours.append(run(folder, command(folder, left, right, by)))
        floor, own = (statistics.median(each.seconds for each in some) for some in (floors, ours))
        peaks = [max(each.peak for each in some) / 1e9 for some in (floors, ours)]
        within &= peaks[1] * 1e9 <= BUDGET
        ratio = own / floor
        print(
            f"| {name} | {floor:.2f} s | {own:.2f} s | {ratio:.2f} | {peaks[0]:.2f} GB | {peaks[1]:.2f} GB |"
        )
    return within


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--parse", action="store_true", help="be the floor")
    options = parser.parse_args()
    if options.parse:
        parse(options.paths)
    elif not bench(Path(options.paths[0]), options.rounds):
        raise SystemExit(f"more than {BUDGET / 1e9:.0f} GB of memory")


if __name__ == "__main__":
    main()
