"""The ledger in DuckDB's SQL: where every row went, under streamcmp's policies of dropping."""

from typing import Any, Final

from scripts.bench_workloads import CELLS, ID

MATCHED: Final = ("guard_mismatch", "unscored", "paired")
KINDS: Final = ("null_id", "duplicate", "unmatched", *MATCHED)

# Grouped by id first, so that duplicates are found; an id that is null joins nothing.
_QUERY = """
WITH a AS (
  SELECT {id}, count(*) AS copies, first(label) AS label, first(prediction = label) AS correct, {firsts}
  FROM {left} GROUP BY {id}
),
b AS (
  SELECT {id}, count(*) AS copies, first(label) AS label, first(prediction = label) AS correct
  FROM {right} GROUP BY {id}
),
met AS (
  SELECT {slices}, a.correct AS correct_a, b.correct AS correct_b,
    coalesce(a.copies, 0) AS copies_a, coalesce(b.copies, 0) AS copies_b,
    CASE
      WHEN coalesce(a.{id}, b.{id}) IS NULL THEN 'null_id'
      WHEN a.copies > 1 OR b.copies > 1 THEN 'duplicate'
      WHEN a.copies IS NULL OR b.copies IS NULL THEN 'unmatched'
      WHEN a.label IS DISTINCT FROM b.label THEN 'guard_mismatch'
      WHEN a.correct IS NULL OR b.correct IS NULL THEN 'unscored'
      ELSE 'paired'
    END AS went
  FROM a FULL JOIN b ON a.{id} = b.{id}
)
SELECT {slices}, grouping_id({slices}) AS grouped, {sums}
FROM met GROUP BY GROUPING SETS ((), {sets})
"""


def query(by: tuple[str, ...], left: str, right: str) -> str:
    """One row for the whole, the ledger; and one per slice of each family."""
    sums = [f"sum(copies_{side}) AS rows_{side}" for side in "ab"]
    for kind in KINDS:
        sums += [
            f"coalesce(sum(copies_{side}) FILTER (WHERE went = '{kind}'), 0) AS {kind}_{side}"
            for side in "ab"
        ]
    matched = ", ".join(f"'{kind}'" for kind in MATCHED)
    sums += [
        f"count(*) FILTER (WHERE went IN ({matched}) AND correct_{side} IS NULL) AS missing_{side}"
        for side in "ab"
    ]
    outcomes = ("correct_a AND correct_b", "correct_a AND NOT correct_b",
                "NOT correct_a AND correct_b", "NOT correct_a AND NOT correct_b")  # fmt: skip
    sums += [
        f"count(*) FILTER (WHERE went = 'paired' AND {test}) AS {cell}"
        for test, cell in zip(outcomes, CELLS, strict=True)
    ]
    return _QUERY.format(
        id=ID,
        left=left,
        right=right,
        firsts=", ".join(f"first({column}) AS {column}" for column in by),
        slices=", ".join(by),
        sums=", ".join(sums),
        sets=", ".join(f"({column})" for column in by),
    )


def conclude(by: tuple[str, ...], found: dict[str, list[Any]]) -> dict[str, Any]:
    """Take the rows apart: families, and the ledger."""
    whole = 2 ** len(by) - 1  # a bit for every column that a row does not group by, the first one the highest
    total = found["grouped"].index(whole)
    ledger = {
        side: {kind: int(found[f"{kind}_{side}"][total]) for kind in ("rows", *KINDS, "missing")}
        for side in "ab"
    }
    counts: dict[str, Any] = {"ledger": ledger}
    for place, family in enumerate(reversed(by)):
        rows = [row for row, grouped in enumerate(found["grouped"]) if grouped == whole - 2**place]
        columns = {"slice": found[family]} | {cell: found[cell] for cell in CELLS}
        counts[family] = {name: [values[row] for row in rows] for name, values in columns.items()}
    return counts
