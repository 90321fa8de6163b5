"""The scan floor and the peers: `python -m scripts.bench_peers NAME REQUEST`, each a process of its own.

Each peer runs the query that a competent user of it would write, and prints its counts as JSON: per family
the slices and their four cells, as columns. REQUEST is the JSON of a `Request`.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.bench_workloads import CELLS, ID

# A cell as SQL; l and r are the logs.
_A, _B = "l.prediction = l.label", "r.prediction = r.label"
_CASES = (
    f"{_A} AND {_B}",
    f"{_A} AND NOT ({_B})",
    f"NOT ({_A}) AND {_B}",
    f"NOT ({_A}) AND NOT ({_B})",
)

Counts = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """What is read and counted. Paths of folders are those of shards."""

    left: str
    right: str
    by: tuple[str, ...]
    form: str

    def files(self, side: str) -> str:
        """A path, or a glob over the shards."""
        path = self.left if side == "left" else self.right
        return f"{path}/*.{self.form}" if Path(path).is_dir() else path

    @property
    def columns(self) -> tuple[list[str], list[str]]:
        """What must be read of the two logs."""
        both = [ID, "prediction", "label"]
        return [*both, *self.by], both


def _grouping(by: tuple[str, ...]) -> str:
    return (
        f"GROUP BY {by[0]}" if len(by) == 1 else f"GROUP BY GROUPING SETS ({', '.join(f'({c})' for c in by)})"
    )


def _join(request: Request, left: str, right: str, count: str = "count(*) FILTER (WHERE {})") -> str:
    """The plain query in SQL."""
    cells = ", ".join(f"{count.format(c)} AS {name}" for c, name in zip(_CASES, CELLS, strict=True))
    slices = ", ".join(request.by)
    return f"SELECT {slices}, {cells} FROM {left} l JOIN {right} r USING ({ID}) {_grouping(request.by)}"


def _families(by: tuple[str, ...], columns: dict[str, Any]) -> Counts:
    """Take the rows of grouping sets apart. No slice of the benchmark's is null."""
    if len(by) == 1:
        return {by[0]: {"slice": list(columns[by[0]]), **{cell: list(columns[cell]) for cell in CELLS}}}
    families: Counts = {}
    for family in by:
        kept = [row for row, value in enumerate(columns[family]) if value is not None]
        picked = {"slice": columns[family]} | {cell: columns[cell] for cell in CELLS}
        families[family] = {name: [values[row] for row in kept] for name, values in picked.items()}
    return families


def _scans(request: Request) -> tuple[Any, Any]:
    import polars as pl

    scan = pl.scan_parquet if request.form == "parquet" else pl.scan_ndjson
    left, right = (scan(request.files(side)) for side in ("left", "right"))
    return left.select(request.columns[0]), right.select(request.columns[1])


def floor(request: Request) -> Counts:
    """Polars decodes the needed columns of both logs, batch by batch, and drops them."""
    for log in _scans(request):
        for _batch in log.collect_batches(chunk_size=200_000, maintain_order=False):
            pass
    return {}


def polars(request: Request) -> Counts:
    """A streaming inner join; several families are rolled up from one group by."""
    import polars as pl

    left, right = _scans(request)
    a, b = pl.col("prediction") == pl.col("label"), pl.col("prediction_right") == pl.col("label_right")
    cells = [
        (test).sum().cast(pl.Int64).alias(name)
        for test, name in zip((a & b, a & ~b, ~a & b, ~a & ~b), CELLS, strict=True)
    ]
    found = left.join(right, on=ID).group_by(request.by).agg(cells).collect(engine="streaming")
    counts = {}
    for family in request.by:
        part = found if len(request.by) == 1 else found.group_by(family).agg(pl.col(CELLS).sum())
        counts[family] = part.select(pl.col(family).alias("slice"), *CELLS).to_dict(as_series=False)
    return counts


def _duckdb_table(request: Request, side: str) -> str:
    reader = "read_parquet" if request.form == "parquet" else "read_json"
    return f"{reader}('{request.files(side)}')"


def duckdb(request: Request) -> Counts:
    """A plain inner join and group by, with DuckDB's defaults."""
    import duckdb as engine

    query = _join(request, _duckdb_table(request, "left"), _duckdb_table(request, "right"))
    return _families(request.by, _duckdb_columns(engine.sql(query)))


def _duckdb_columns(result: Any) -> dict[str, list[Any]]:
    return dict(zip(result.columns, map(list, zip(*result.fetchall(), strict=True)), strict=True))


def duckdb_ledger(request: Request) -> Counts:
    """What streamcmp's ledger tells, in DuckDB's SQL."""
    import duckdb as engine

    from scripts.bench_ledger import conclude, query

    text = query(request.by, _duckdb_table(request, "left"), _duckdb_table(request, "right"))
    return conclude(request.by, _duckdb_columns(engine.sql(text)))


def datafusion(request: Request) -> Counts:
    """A plain inner join and group by in DataFusion."""
    from datafusion import SessionContext

    context = SessionContext()
    for side in ("left", "right"):
        path = request.left if side == "left" else request.right
        if request.form == "parquet":
            context.register_parquet(f"log_{side}", path)
        else:
            context.register_json(f"log_{side}", path, file_extension=".ndjson")
    return _families(request.by, context.sql(_join(request, "log_left", "log_right")).to_pydict())


def chdb(request: Request) -> Counts:
    """A plain inner join and group by in ClickHouse, run inside this process."""
    import chdb

    run: Any = chdb.query

    form = "Parquet" if request.form == "parquet" else "JSONEachRow"
    left, right = (f"file('{request.files(side)}', {form})" for side in ("left", "right"))
    settings = " SETTINGS output_format_json_quote_64bit_integers = 0, group_by_use_nulls = 1"
    found = run(_join(request, left, right, "countIf({})") + settings, "JSONColumns")
    return _families(request.by, json.loads(found.bytes()))


def pandas(request: Request) -> Counts:
    """Read, merge, group by."""
    import pandas as pd

    def read(path: str, columns: list[str]) -> Any:
        if request.form == "parquet":
            return pd.read_parquet(path, columns=columns)
        return pd.read_json(path, lines=True, engine="pyarrow")[columns]

    left, right = read(request.left, request.columns[0]), read(request.right, request.columns[1])
    pairs = left.merge(right, on=ID, suffixes=("_a", "_b"))
    a, b = pairs["prediction_a"] == pairs["label_a"], pairs["prediction_b"] == pairs["label_b"]
    for test, name in zip((a & b, a & ~b, ~a & b, ~a & ~b), CELLS, strict=True):
        pairs[name] = test
    counts = {}
    for family in request.by:
        found = pairs.groupby(family, observed=True)[list(CELLS)].sum().reset_index()
        counts[family] = found.rename(columns={family: "slice"}).to_dict("list")
    return counts


COMMANDS: dict[str, Callable[[Request], Counts]] = {
    "floor": floor,
    "duckdb": duckdb,
    "duckdb-ledger": duckdb_ledger,
    "polars": polars,
    "datafusion": datafusion,
    "chdb": chdb,
    "pandas": pandas,
}


def main() -> None:
    name, text = sys.argv[1:]
    fields = json.loads(text)
    request = Request(**fields | {"by": tuple(fields["by"])})
    json.dump(COMMANDS[name](request), sys.stdout)


if __name__ == "__main__":
    main()
