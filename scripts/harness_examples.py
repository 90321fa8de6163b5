"""Write `examples/harness`: small logs as evaluation harnesses write them, of two models that do not exist.

`python -m scripts.harness_examples`. Everything in them is made up, from one seed.
"""

import csv
import hashlib
import json
import random
import zipfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "harness"
MODELS = {"base": 0.62, "tuned": 0.72}
RUNS = {"base": "2025-06-02T09-15-00.104213", "tuned": "2025-06-09T10-40-12.880541"}
TOPICS = ("algebra", "biology", "history")
DOCUMENTS = 40


def digest(text: str) -> str:
    """What a harness puts for a hash."""
    return hashlib.sha256(text.encode()).hexdigest()


def outcomes(rng: random.Random, task: str) -> dict[str, list[bool]]:
    """Who is right about which document: on most of them the models agree."""
    hard = [rng.random() for _ in range(DOCUMENTS)]
    return {
        model: [rng.random() * 0.35 + level * 0.65 < share for level in hard]
        for model, share in (MODELS | ({"tuned": 0.85} if task == "gsm8k" else {})).items()
    }


def lm_eval_row(task: str, number: int, name: str, *, right: bool) -> dict[str, Any]:
    """A row of lm-evaluation-harness."""
    question = f"{task}: what is {number} and {number}?"
    metric = "exact_match" if task == "gsm8k" else "acc"
    answer = str(2 * number if right else number)
    return {
        "doc_id": number,
        "doc": {"question": question, "topic": TOPICS[number % 3]},
        "target": str(2 * number),
        "arguments": {"gen_args_0": {"arg_0": f"Question: {question}\nAnswer:", "arg_1": {"until": ["\n"]}}},
        "resps": [[f"The answer is {answer}."]],
        "filtered_resps": [answer],
        "filter": name,
        "metrics": [metric],
        "doc_hash": digest(question),
        "prompt_hash": digest(f"Question: {question}\nAnswer:"),
        "target_hash": digest(str(2 * number)),
        metric: float(right),
    }


def write_lm_eval(rng: random.Random) -> None:
    for task, names in (("arc", ["none"]), ("gsm8k", ["strict-match", "flexible-extract"])):
        for model, right in outcomes(rng, task).items():
            folder = FOLDER / "lm_eval" / model
            folder.mkdir(parents=True, exist_ok=True)
            rows = [
                lm_eval_row(
                    task, number, name, right=right[number] and (name != "strict-match" or number % 9 > 0)
                )
                for number in range(DOCUMENTS)
                for name in names
            ]
            text = "".join(json.dumps(row) + "\n" for row in rows)
            (folder / f"samples_{task}_{RUNS[model]}.jsonl").write_text(text)


def write_inspect(rng: random.Random) -> None:
    (FOLDER / "inspect").mkdir(parents=True, exist_ok=True)
    for model, right in outcomes(rng, "arc").items():
        limit = DOCUMENTS if model == "tuned" else DOCUMENTS - 10
        header = {
            "version": 2,
            "status": "success",
            "eval": {
                "task": "arc_easy",
                "model": f"example/{model}",
                "created": RUNS[model],
                "config": {"limit": limit},
            },
        }
        samples = [
            {
                "id": number + 1,
                "epoch": 1,
                "input": f"What is {number} and {number}?",
                "target": str(2 * number),
                "messages": [{"role": "user", "content": f"What is {number} and {number}?"}],
                "scores": {"choice": {"value": "C" if right[number] else "I", "answer": "A"}},
                "metadata": {"topic": TOPICS[number % 3]},
            }
            for number in range(limit)
        ]
        kept = ("id", "epoch", "input", "target", "scores", "metadata")
        with zipfile.ZipFile(FOLDER / "inspect" / f"{model}.eval", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in (
                ("_journal/start.json", header),
                *((f"samples/{each['id']}_epoch_1.json", each) for each in samples),
                ("summaries.json", [{key: each[key] for key in kept} for each in samples]),
                ("header.json", header),
            ):
                # One time for all, so that the same bytes come out whenever this runs.
                archive.writestr(
                    zipfile.ZipInfo(name, (2025, 6, 9, 0, 0, 0)), json.dumps(content), zipfile.ZIP_DEFLATED
                )


def write_tables(rng: random.Random) -> None:
    right = outcomes(rng, "arc")
    wide = [
        {"question": number, "meta": {"topic": TOPICS[number % 3]}}
        | {model: {"is_correct": right[model][number], "answer": str(number)} for model in MODELS}
        for number in range(DOCUMENTS)
    ]
    (FOLDER / "wide.jsonl").write_text("".join(json.dumps(row) + "\n" for row in wide))
    with (FOLDER / "long.csv").open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["id", "topic", "model", "correct"])
        for number in range(DOCUMENTS):
            for model in MODELS:
                lines.writerow([f"q{number}", TOPICS[number % 3], model, int(right[model][number])])
    with (FOLDER / "renamed.csv").open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["id", "topic", "correct"])
        for number in range(DOCUMENTS):
            lines.writerow([f"arc/q{number}", TOPICS[number % 3], int(right["tuned"][number])])


def main() -> None:
    rng = random.Random(20250602)
    write_lm_eval(rng)
    write_inspect(rng)
    write_tables(rng)


if __name__ == "__main__":
    main()
