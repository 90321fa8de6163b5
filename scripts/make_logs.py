"""Write two synthetic prediction logs whose true gains are known: `python scripts/make_logs.py`.

The left log is in the order of its ids, the right one is shuffled; about one example in a hundred is missing
from each. The outcomes depend on the domain alone: the true gain of every language and difficulty is the one
of `overall`.
"""

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

LANGUAGES = ("de", "en", "es", "fr", "hi", "zh")
CLASSES = 10
ABSENT = 0.01


@dataclass(frozen=True)
class Domain:
    """One slice's truth: its share of the examples, and how often the sides are correct."""

    name: str
    share: float
    accuracy_a: float
    lost: float  # P(only a is correct)
    won: float  # P(only b is correct)

    @property
    def gain(self) -> float:
        """Accuracy of b less that of a."""
        return self.won - self.lost

    @property
    def accuracy_b(self) -> float:
        """P(b is correct)."""
        return self.accuracy_a + self.gain


DOMAINS = (
    Domain("law", 0.16, 0.71, lost=0.060, won=0.085),
    Domain("medicine", 0.12, 0.76, lost=0.055, won=0.070),
    Domain("code", 0.14, 0.64, lost=0.070, won=0.120),
    Domain("maths", 0.10, 0.52, lost=0.110, won=0.080),
    Domain("history", 0.08, 0.83, lost=0.040, won=0.040),
    Domain("science", 0.10, 0.79, lost=0.050, won=0.058),
    Domain("finance", 0.08, 0.74, lost=0.062, won=0.050),
    Domain("art", 0.06, 0.85, lost=0.030, won=0.034),
    Domain("sports", 0.05, 0.88, lost=0.025, won=0.025),
    Domain("travel", 0.04, 0.90, lost=0.020, won=0.028),
    Domain("cooking", 0.04, 0.91, lost=0.022, won=0.014),
    Domain("news", 0.03, 0.68, lost=0.080, won=0.080),
)


@dataclass(frozen=True)
class Truth:
    """What is known of a pair of logs: the true accuracies by domain, and where the rows went."""

    seed: int
    rows: int  # examples in all
    rows_a: int
    rows_b: int
    paired: int
    overall: dict[str, float]  # accuracy_a, accuracy_b, gain
    domain: dict[str, dict[str, float]]  # the same for each domain


def _truth_of(accuracy_a: float, accuracy_b: float) -> dict[str, float]:
    return {
        "accuracy_a": round(accuracy_a, 12),
        "accuracy_b": round(accuracy_b, 12),
        "gain": round(accuracy_b - accuracy_a, 12),
    }


def _enum(codes: NDArray[np.uint8], names: tuple[str, ...]) -> pl.Series:
    return pl.Series(codes).cat.to(pl.Enum(names))


def make_examples(rows: int, rng: np.random.Generator) -> pl.DataFrame:
    """Draw the examples: id, slices, label, and each side's outcome (`correct_a`, `correct_b`)."""
    shares = np.array([d.share for d in DOMAINS])
    domain = rng.choice(len(DOMAINS), size=rows, p=shares / shares.sum()).astype(np.uint8)
    # One draw decides the pair's cell: [both correct | only a | only b | both wrong].
    draw = rng.random(rows)
    both = np.array([d.accuracy_a - d.lost for d in DOMAINS])[domain]
    lost = np.array([d.lost for d in DOMAINS])[domain]
    won = np.array([d.won for d in DOMAINS])[domain]
    correct_a = draw < both + lost
    correct_b = (draw < both) | ((draw >= both + lost) & (draw < both + lost + won))
    return pl.DataFrame(
        {
            "example_id": np.arange(rows, dtype=np.int64),
            "domain": _enum(domain, tuple(d.name for d in DOMAINS)),
            "language": _enum(rng.integers(0, len(LANGUAGES), rows, dtype=np.uint8), LANGUAGES),
            "difficulty": rng.integers(1, 6, rows, dtype=np.int8),
            "label": rng.integers(0, CLASSES, rows, dtype=np.int16),
            "correct_a": correct_a,
            "correct_b": correct_b,
        }
    )


def make_log(examples: pl.DataFrame, side: str, rng: np.random.Generator) -> pl.DataFrame:
    """Return one side's log: `side` is "a" or "b"; a wrong prediction is any of the other classes."""
    label = examples["label"].to_numpy()
    off = rng.integers(1, CLASSES, len(label), dtype=np.int16)
    correct = examples[f"correct_{side}"].to_numpy()
    prediction = np.where(correct, label, (label + off) % CLASSES).astype(np.int16)
    present = rng.random(len(label)) >= ABSENT
    return examples.drop("correct_a", "correct_b").with_columns(prediction=prediction).filter(present)


def write_logs(folder: Path, rows: int = 2_000_000, seed: int = 0) -> Truth:
    """Write left.parquet, right.parquet and truth.json into the folder, and return the truth.

    Equal rows and seed give equal logs.

    Args:
        folder: made if need be; files of these names are replaced.
        rows: examples; each log holds about 99 % of them.
        seed: any integer >= 0.
    """
    rng = np.random.default_rng(seed)
    examples = make_examples(rows, rng)
    left = make_log(examples, "a", rng)
    right = make_log(examples, "b", rng)
    right = right[rng.permutation(right.height)]

    folder.mkdir(parents=True, exist_ok=True)
    left.write_parquet(folder / "left.parquet")
    right.write_parquet(folder / "right.parquet")

    held = np.zeros(rows, dtype=np.uint8)
    for log in (left, right):
        held[log["example_id"].to_numpy()] += 1
    total = sum(d.share for d in DOMAINS)
    truth = Truth(
        seed=seed,
        rows=rows,
        rows_a=left.height,
        rows_b=right.height,
        paired=int((held == 2).sum()),
        overall=_truth_of(
            sum(d.share * d.accuracy_a for d in DOMAINS) / total,
            sum(d.share * d.accuracy_b for d in DOMAINS) / total,
        ),
        domain={d.name: _truth_of(d.accuracy_a, d.accuracy_b) for d in DOMAINS},
    )
    (folder / "truth.json").write_text(json.dumps(asdict(truth), indent=2) + "\n", encoding="utf-8")
    return truth


def main() -> None:
    parser = argparse.ArgumentParser(description="Write two synthetic prediction logs with known gains.")
    parser.add_argument("--rows", type=int, default=2_000_000, help="examples (2000000)")
    parser.add_argument("--seed", type=int, default=0, help="equal seeds give equal logs (0)")
    parser.add_argument("--output", type=Path, default=Path("build/logs"), help="folder (build/logs)")
    options = parser.parse_args()
    truth = write_logs(options.output, options.rows, options.seed)
    print(f"{options.output}: {truth.rows_a:,} and {truth.rows_b:,} rows, {truth.paired:,} in both")


if __name__ == "__main__":
    main()
