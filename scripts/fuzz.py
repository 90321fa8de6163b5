"""Fuzz the readers: `python -m scripts.fuzz --inputs 5000`, or `make fuzz`.

Damaged logs of every format are compared, checked, converted and finalized in processes that live on from one
input to the next. Each input must end in a result whose ledger balances or in one clear error; not in a
traceback, in more than 10 s of processor time, or in more memory than the budget. `--seed N --inputs 1`
repeats one input.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

SECONDS = 10.0  # of processor time
HANGING = 120.0  # seconds by the clock: a deadlock takes no processor time
BUDGET = 10**9  # bytes of memory
# Options that fit some kind, and that most inputs do without.
_MORE: dict[str, list[dict[str, Any]]] = {
    "table": [{"by": ["domain"]}, {"guards": ["domain"]}, {"where": "domain = 'a'"}, {"on": "id,label"}],
    "lm-eval": [{"by": ["doc.cat", "task"]}, {"metric": "acc"}, {"where": "doc.cat = 'a'"}, {"on": "doc_id"}],
    "inspect-json": [{"by": ["metadata.topic"]}, {"metric": "match"}, {"threshold": 0.4}, {"on": "id"}],
    "inspect-eval": [{"by": ["metadata.topic"]}, {"metric": "match"}, {"threshold": 0.4}, {"on": "id"}],
}
_BUCKETS = ("filtered", "null_id", "duplicate", "unmatched", "guard_mismatch", "unscored", "paired")
_CELLS = ("both_correct", "n_ab", "n_ba", "both_wrong")


def check_balance(report: Mapping[str, Any]) -> None:
    """Raise AssertionError unless every row is in exactly one bucket."""
    for side in "ab":
        ledger = report["ledger"][side]
        assert ledger["rows"] == sum(ledger[name] for name in _BUCKETS), ledger
    overall = report["results"][0]
    assert report["ledger"]["a"]["paired"] == sum(overall[name] for name in _CELLS), report["ledger"]


def one_input(seed: int, folder: Path) -> str:
    """Make the input of a seed and use it. Returns "result" or "error: ..."; raises what must not happen."""
    import streamcmp
    from scripts.fuzz_inputs import KINDS, mutated_bytes, table, write_log
    from streamcmp import api
    from streamcmp.errors import InternalError, StreamcmpError

    rng = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    options: dict[str, Any] = {}
    if rng.random() < 0.3:
        options |= {"duplicates": "drop", "mismatch": "drop"}
    if rng.random() < 0.2:
        options["strategy"] = rng.choice(["lockstep", "merge", "direct", "buckets"])
    if kind == "lines":
        options |= {"input_format": "lines", "on": "row", "correct": "text"}
    elif rng.random() < 0.3:
        options |= rng.choice(_MORE.get(kind, _MORE["table"]))
    try:
        if kind == "tally":
            import polars as pl

            frame = pl.DataFrame(table(rng))
            streamcmp.count(frame, frame.clone(), by=["domain"]).save(folder / "x.tally")
            (folder / "x.tally").write_bytes(mutated_bytes(rng, (folder / "x.tally").read_bytes()))
            check_balance(streamcmp.finalize(folder / "x.tally").to_dict())
            return "result"
        texts = seed % 3 == 0
        left = write_log(rng, kind, folder / "left", texts=texts)
        right = write_log(rng, kind, folder / "right", sound=rng.random() < 0.7, texts=texts)
        what = rng.random()
        if what < 0.1 and kind != "lines":
            options.pop("duplicates", None)
            api.check(left, right, **{key: value for key, value in options.items() if key != "mismatch"})
        elif what < 0.2 and kind != "lines":
            used = {key: options[key] for key in ("by", "where", "guards") if key in options}
            api.convert(left, folder / "out.parquet", **used)
            check_balance(streamcmp.compare(folder / "out.parquet", right, duplicates="drop").to_dict())
        else:
            check_balance(streamcmp.compare(left, right, memory="256MB", **options).to_dict())
    except InternalError:
        raise
    except StreamcmpError as error:
        if not str(error).strip():
            raise AssertionError("an error without a message") from error
        return f"error: {error}"
    return "result"


def worker() -> None:
    """Read seeds from stdin, a line each, and write a line of JSON for each."""
    for line in sys.stdin:
        seed = int(line)
        folder = Path(tempfile.mkdtemp(prefix="streamcmp-fuzz-"))
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak counts from here
        started = time.process_time()
        try:
            said, bad = one_input(seed, folder), ""
        except BaseException:  # noqa: BLE001 - a panic of Polars is no Exception
            said, bad = "crash", traceback.format_exc()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        seconds, peak = time.process_time() - started, _peak()
        if not bad and seconds > SECONDS:
            bad = f"took {seconds:.0f} s of processor time"
        if not bad and peak > BUDGET:
            bad = f"took {peak / 1e9:.2f} GB"
        found = {"seed": seed, "said": said[:300], "bad": bad, "seconds": seconds, "peak": peak}
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


def _peak() -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


class Pool:
    """One worker, started anew after it died; watched."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def ask(self, seed: int) -> dict[str, Any]:
        """What came of a seed."""
        process = self._process
        if process is None or process.poll() is not None:
            self.close()
            env = os.environ | {"POLARS_MAX_THREADS": "2", "RAYON_NUM_THREADS": "2"}
            line = [sys.executable, "-W", "ignore", "-m", "scripts.fuzz", "--worker"]
            process = self._process = subprocess.Popen(
                line,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=env,
            )
        assert process.stdin is not None
        assert process.stdout is not None
        with ThreadPoolExecutor(1) as reader:
            process.stdin.write(f"{seed}\n")
            process.stdin.flush()
            answer = reader.submit(process.stdout.readline)
            bad = self._watch(process, answer)
            line_ = answer.result()
        if bad or not line_:
            self.close()
            return {"seed": seed, "said": "", "bad": bad or f"the process died ({process.returncode})"}
        found: dict[str, Any] = json.loads(line_)
        return found

    @staticmethod
    def _watch(process: "subprocess.Popen[str]", answer: Any) -> str:
        """Kill the process if it hangs or fills the machine; say which."""
        watched = psutil.Process(process.pid)
        until, bad = time.monotonic() + HANGING, ""
        before = sum(watched.cpu_times()[:2])
        while not answer.done():
            time.sleep(0.01)
            with suppress(psutil.Error):
                if watched.memory_info().rss > 2 * BUDGET:
                    bad = f"more than {2 * BUDGET / 1e9:.0f} GB of memory"
                if sum(watched.cpu_times()[:2]) - before > 3 * SECONDS:
                    bad = "more than 30 s of processor time"
            if time.monotonic() > until:
                bad = f"no answer within {HANGING:.0f} s"
            if bad:
                process.kill()
                break
        return bad

    def close(self) -> None:
        """End the worker."""
        if self._process is not None:
            self._process.kill()
            with suppress(BrokenPipeError):
                self._process.communicate()
            self._process = None


def run(first: int, inputs: int, workers: int) -> Iterator[dict[str, Any]]:
    """What came of each seed, in the seeds' order."""
    pools = [Pool() for _ in range(workers)]

    def share(index: int) -> list[dict[str, Any]]:
        return [pools[index].ask(seed) for seed in range(first + index, first + inputs, workers)]

    try:
        with ThreadPoolExecutor(workers) as threads:
            found = [each for some in threads.map(share, range(workers)) for each in some]
    finally:
        for pool in pools:
            pool.close()
    yield from sorted(found, key=lambda each: int(each["seed"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--inputs", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0, help="the first input's")
    parser.add_argument("--workers", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--show", action="store_true", help="say what came of each")
    parser.add_argument("--worker", action="store_true", help="be one")
    options = parser.parse_args()
    if options.worker:
        worker()
        return
    failed = results = 0
    for found in run(options.seed, options.inputs, options.workers):
        results += found["said"] == "result"
        failed += bool(found["bad"])
        if found["bad"] or options.show:
            print(f"seed {found['seed']}: {found['bad'] or found['said']}")
    errors = options.inputs - results - failed
    print(f"{options.inputs} inputs: {results} results, {errors} errors, {failed} failed")
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
