"""Train the two models whose logs lie in examples/digits: `python scripts/train_digits.py`.

Scikit-learn ships 1,797 images of handwritten digits, 8 x 8 grey pixels each. Half of them train a logistic
regression and a support vector machine; the other half is predicted by both and written as two logs.
"""

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "digits"
COLUMNS = ("id", "digit", "label", "prediction")
SEED = 0

Row = tuple[int, int, int, int]


def train() -> dict[str, list[Row]]:
    """Return the log of each model, by its name: rows of COLUMNS in the order of the ids.

    The id is the image's position in scikit-learn's collection. `digit` repeats `label`, as the slice.
    """
    images, digits = load_digits(return_X_y=True)
    ids = np.arange(len(digits))
    train_ids, test_ids = train_test_split(ids, test_size=0.5, stratify=digits, random_state=SEED)
    test_ids = np.sort(test_ids)
    models = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "svm": SVC(),
    }
    logs: dict[str, list[Row]] = {}
    for name, model in models.items():
        predictions = model.fit(images[train_ids], digits[train_ids]).predict(images[test_ids])
        logs[name] = [
            (int(i), int(digits[i]), int(digits[i]), int(prediction))
            for i, prediction in zip(test_ids, predictions, strict=True)
        ]
    return logs


def write_log(path: Path, rows: Sequence[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the models of examples/digits and write their logs.")
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder to write into (examples/digits)")
    folder: Path = parser.parse_args().output
    for name, rows in train().items():
        write_log(folder / f"{name}.csv", rows)
        correct = sum(label == prediction for _, _, label, prediction in rows)
        print(f"{folder / name}.csv: {correct} of {len(rows)} correct")


if __name__ == "__main__":
    main()
