"""Write large logs as evaluation harnesses do: `python -m scripts.make_harness_logs FOLDER`.

`lm_eval/left` and `lm_eval/right` are folders of samples of lm-evaluation-harness, many tasks of rows of some
12 kB, most of it prompts. `left.eval` and `right.eval` are logs of Inspect with a sample and a summary for
every example, the right one in another order. Every value is a function of the example's number.
"""

import argparse
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

TASKS = 20
DATE = "2025-09-09T13-42-42.857006"
_WORDS = np.array(
    [
        "the",
        "of",
        "a",
        "model",
        "train",
        "distance",
        "answer",
        "is",
        "let",
        "us",
        "think",
        "step",
        "by",
        "step",
        "number",
        "two",
        "sum",
    ]
)


def prose(rng: np.random.Generator, words: int) -> str:
    """Words in a random order, with some of what JSON must escape."""
    return " ".join(rng.choice(_WORDS, words)) + ' "quoted"\n\\boxed{7}'


def is_correct(number: int, side: str) -> bool:
    """Whether a side is right about an example: 60 % and 65 % of the time, mostly together."""
    share = (number * 2654435761 % 2**32) / 2**32
    return share < (0.60 if side == "left" else 0.65)


def lm_eval_row(number: int, side: str, rng: np.random.Generator) -> dict[str, Any]:
    """One row of about 12 kB."""
    prompt = prose(rng, 1700)
    return {
        "doc_id": number,
        "doc": {"question": prose(rng, 80), "category": "abcdefgh"[number % 8]},
        "target": str(number),
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {"until": ["Q:"], "do_sample": False}}},
        "resps": [[prose(rng, 250)]],
        "filtered_resps": [str(number)],
        "filter": "strict-match",
        "metrics": ["exact_match"],
        "doc_hash": f"{number:064x}",
        "prompt_hash": f"{number + 1:064x}",
        "target_hash": f"{number + 2:064x}",
        "exact_match": float(is_correct(number, side)),
    }


def write_lm_eval(folder: Path, side: str, size: int) -> int:
    """About `size` bytes in `TASKS` files. Returns the number of rows."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = 0
    for task in range(TASKS):
        # Texts repeat after 200 rows: making them anew would take longer than all else.
        rng = np.random.default_rng(task)
        texts = [lm_eval_row(number, side, rng) for number in range(200)]
        with (folder / f"samples_task_{task:02}_{DATE}.jsonl").open("w") as file:
            written = 0
            number = 0
            while written < size // TASKS:
                row = texts[number % 200]
                row |= {
                    "doc_id": number,
                    "doc_hash": f"{number:064x}",
                    "target_hash": f"{number + 2:064x}",
                    "exact_match": float(is_correct(number + task, side)),
                }
                written += file.write(json.dumps(row) + "\n")
                number += 1
        rows += number
    return rows


def eval_sample(number: int, side: str, text: str) -> dict[str, Any]:
    """A sample of Inspect of about 3 kB."""
    grade = "C" if is_correct(number, side) else "I"
    return {
        "id": number,
        "epoch": 1,
        "input": text[:300],
        "target": "A",
        "messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "ANSWER: A"}],
        "output": {"model": side, "choices": [{"message": {"role": "assistant", "content": "ANSWER: A"}}]},
        "scores": {"choice": {"value": grade, "answer": "A", "explanation": text[:200]}},
        "metadata": {"topic": "abcdefgh"[number % 8]},
        "model_usage": {side: {"input_tokens": 500, "output_tokens": 5, "total_tokens": 505}},
    }


def numbers(side: str, samples: int) -> Iterator[int]:
    """The examples, on the right in another order: a run finishes them as they come."""
    step = 1 if side == "left" else 7919
    return (number * step % samples for number in range(samples))


def write_eval(path: Path, side: str, samples: int) -> None:
    """A log of so many samples; `samples` and 7919 have no common factor."""
    text = prose(np.random.default_rng(0), 450)
    header = {
        "version": 2,
        "status": "success",
        "eval": {"task": "arc", "model": side, "created": "2025-01-01T00:00:00", "config": {"epochs": 1}},
    }
    kept = ("id", "epoch", "input", "target", "scores", "metadata", "model_usage")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("_journal/start.json", json.dumps(header))
        summaries = []
        for number in numbers(side, samples):
            sample = eval_sample(number, side, text)
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample, indent=2))
            summaries.append({key: sample[key] for key in kept} | {"completed": True})
        archive.writestr("summaries.json", json.dumps(summaries))
        archive.writestr("header.json", json.dumps(header))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--bytes", type=float, default=2e9, help="of each folder of lm-evaluation-harness (2e9)"
    )
    parser.add_argument("--samples", type=int, default=200_000, help="of each log of Inspect (200,000)")
    options = parser.parse_args()
    for side in ("left", "right"):
        rows = write_lm_eval(options.folder / "lm_eval" / side, side, int(options.bytes))
        print(f"{options.folder / 'lm_eval' / side}: {rows:,} rows in {TASKS} files")
        path = options.folder / f"{side}.eval"
        write_eval(path, side, options.samples)
        print(f"{path}: {options.samples:,} samples, {path.stat().st_size / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
