"""DuckDB as an engine: canonical logs into its tables, one statement over them, its result as a tally.

What columns mean is read as everywhere (`logs`), so that only pairing and counting are DuckDB's own.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
from sqlglot import exp

from streamcmp import interrupt
from streamcmp.accumulate import in_each_slice
from streamcmp.comparison import SIDES
from streamcmp.engines.local import Advised, Counted, check_rows, concluded
from streamcmp.engines.sql import FATES, PAIRS, SideQuery, column, equals, statement, text, with_tables
from streamcmp.errors import DataError, UnequalRows
from streamcmp.ledger import LEDGER_FIELDS, Ledger
from streamcmp.logs.model import FILTERED, ID, OUTCOME, family_column, guard_column
from streamcmp.pairing.examples import Examples
from streamcmp.tally import COUNTERS, OVERALL, family_name, sorted_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamcmp.comparison import SideName
    from streamcmp.logs.model import CanonicalLog, LogPair
    from streamcmp.meter import Meter
    from streamcmp.pairing.batch import ExampleKind
    from streamcmp.resources import Resources

_CHUNK_ROWS = 262_144
_LEAST_MEMORY = 128 << 20  # DuckDB needs some to spill at all
_PATIENCE = 0.1  # seconds between looks at whether a signal came
_TYPES = {pl.Int64: "BIGINT", pl.UInt64: "UBIGINT", pl.String: "VARCHAR"}
_ROW = "row"  # stands for the id where rows pair by position
_CODE = "code"


def counted(pair: LogPair, resources: Resources, meter: Meter) -> Counted:
    """Count two logs that are open.

    Raises DataError where a log has no rows, where rows pair by position and their numbers differ, or where
    DuckDB gives up (no space to spill).
    """
    with TemporaryDirectory(prefix="streamcmp-", dir=resources.spill_dir) as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{max(_LEAST_MEMORY, resources.memory * 3 // 4)}B",
            "threads": resources.threads,
            "temp_directory": folder,
            "preserve_insertion_order": False,
        }
        with duckdb.connect(config=settings) as connection, _in_words():
            rows = _load(connection, pair, resources, meter)
            check_rows(pair, *rows)
            meter.begin("counting in DuckDB", 1, "statements")
            return _Count(connection, pair).counted()


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except duckdb.Error as problem:
        interrupt.check()
        said = str(problem).splitlines()[0]
        more = isinstance(problem, duckdb.OutOfMemoryException)
        advice = "; give it more with --memory, or leave --engine and --verify out" if more else ""
        raise DataError(f"DuckDB could not count these logs: {said}{advice}") from problem


def _load(connection: Any, pair: LogPair, resources: Resources, meter: Meter) -> tuple[int, int]:
    """Both logs as tables `a` and `b`; how many rows each has."""
    meter.begin("reading into DuckDB", pair.a.estimated_rows + pair.b.estimated_rows)
    for side, log in (("a", pair.a), ("b", pair.b)):
        columns = ", ".join(f'"{name}" {dtype}' for name, dtype in _columns(pair, log).items())
        connection.execute(f"CREATE TABLE {side} ({columns})")
    chunk = resources.rows_at_a_time(_CHUNK_ROWS)
    rows = [0, 0]
    for index, batch in _batches(pair, chunk):
        interrupt.check()
        if pair.positional:
            numbers = pl.int_range(rows[index], rows[index] + batch.height, eager=True).alias(_ROW)
            batch = batch.with_columns(numbers)  # noqa: PLW2901
        rows[index] += batch.height
        meter.add(batch.height)
        log = (pair.a, pair.b)[index]
        connection.register("batch", batch.select(list(_columns(pair, log))).to_arrow())
        connection.execute(f"INSERT INTO {SIDES[index]} SELECT * FROM batch")
        connection.unregister("batch")
    return rows[0], rows[1]


def _batches(pair: LogPair, chunk: int) -> Iterator[tuple[int, pl.DataFrame]]:
    """Batches of both logs, each with 0 for a or 1 for b."""
    if not pair.positional:
        for index, log in enumerate((pair.a, pair.b)):
            for batch in log.batches(chunk):
                yield index, batch
        return
    before = 0
    for left, right in pair.together(chunk):
        if left.height != right.height:
            raise UnequalRows(before + left.height, before + right.height)
        before += left.height
        yield 0, left
        yield 1, right


def _columns(pair: LogPair, log: CanonicalLog) -> dict[str, str]:
    """Names and types of a log's table."""
    ids = {_ROW: "BIGINT"} if pair.positional else {ID: _TYPES[pair.id_dtype.base_type()]}
    return {
        **ids,
        OUTCOME: "UTINYINT",
        **({FILTERED: "BOOLEAN"} if log.filters else {}),
        **{guard_column(index): "UINTEGER" for index in range(len(pair.guards))},
        **{family_column(index): "UINTEGER" for index, own in enumerate(log.families) if own},
    }


class _Count:
    """The statement over the loaded tables, and what its result says."""

    def __init__(self, connection: Any, pair: LogPair) -> None:
        self._connection = connection
        self._pair = pair
        self._sides: dict[SideName, SideQuery] = {
            "a": self._query("a", pair.a),
            "b": self._query("b", pair.b),
        }

    def _query(self, side: SideName, log: CanonicalLog) -> SideQuery:
        return SideQuery(
            exp.to_table(side),
            (column(_ROW if self._pair.positional else ID),),
            column(OUTCOME),
            column(FILTERED) if log.filters else None,
            tuple(column(guard_column(index)) for index in range(len(self._pair.guards))),
            tuple((column(family_column(index)),) if own else None for index, own in enumerate(log.families)),
        )

    def counted(self) -> Counted:
        """The tally, and ids to name."""
        pair = self._pair
        whole = statement(self._sides, pair.rule, [[_CODE]] * len(pair.codecs), None)
        result = self._result(whole)
        rows = result.filter(pl.col("record") == "ledger")
        ledger = Ledger.from_dict(
            {
                side: rows.filter(pl.col("side") == side).select(LEDGER_FIELDS).row(0, named=True)
                for side in SIDES
            }
        )
        examples = Examples()
        if not pair.positional:
            self._name(examples, ledger)
        return concluded(
            pair, self._tables(result), ledger, examples, Advised(pair.advisory, self._advised())
        )

    def _tables(self, result: pl.DataFrame) -> dict[str, pl.DataFrame]:
        counts = result.filter(pl.col("record") == "count")
        tables = {OVERALL: counts.filter(pl.col("family") == OVERALL).select(COUNTERS)}
        for term, codec in zip(self._pair.rule.by, self._pair.codecs, strict=True):
            name = family_name(term)
            own = counts.filter(pl.col("family") == name)
            values = codec.decode(own[_CODE].cast(pl.UInt32).to_numpy())
            table = values.hstack(own.select(COUNTERS).get_columns())
            tables[name] = sorted_table(in_each_slice(table, codec.overlapping))
        return tables

    def _advised(self) -> int:
        """How many pairs differ in a guard that only warns."""
        advisory = range(len(self._pair.guards) - len(self._pair.advisory), len(self._pair.guards))
        if not advisory:
            return 0
        differ = exp.or_(*(equals(guard_column(index), 1) for index in advisory))
        query = exp.select(exp.Count(this=exp.Star()).as_("pairs")).from_(exp.to_table(PAIRS)).where(differ)
        return int(self._result(with_tables(query, self._sides, self._pair.rule)).item())

    def _name(self, examples: Examples, ledger: Ledger) -> None:
        """Ids of rows that were not counted, where there are any."""
        wanted: list[tuple[ExampleKind, int, str, exp.Expr]] = []
        for side in SIDES:
            own = ledger.side(side)
            many = exp.GT(this=column(f"{side}_kept"), expression=exp.Literal.number(1))
            duplicate: ExampleKind = "duplicate_a" if side == "a" else "duplicate_b"
            unmatched: ExampleKind = "unmatched_a" if side == "a" else "unmatched_b"
            wanted.append((duplicate, own.duplicate, FATES, exp.and_(_fate("duplicate"), many)))
            wanted.append(
                (unmatched, own.unmatched, FATES, exp.and_(_fate("unmatched"), equals(f"{side}_kept", 1)))
            )
        strict = len(self._pair.guards) - len(self._pair.advisory)
        if strict:
            differ = exp.or_(*(equals(guard_column(index), 1) for index in range(strict)))
            wanted.append(("guard_mismatch", ledger.a.matched, PAIRS, differ))
        for kind, there_are, table, condition in wanted:
            if there_are:
                query = exp.select(column("id0")).from_(exp.to_table(table)).where(condition)
                for ids in self._ids(with_tables(query, self._sides, self._pair.rule)):
                    examples.add_ids(kind, ids)

    def _ids(self, query: exp.Query) -> Iterator[pl.Series]:
        reader = self._connection.sql(query.sql(dialect="duckdb")).to_arrow_reader(_CHUNK_ROWS)
        for batch in reader:
            interrupt.check()
            found = pl.DataFrame(batch).to_series()
            if len(found):
                yield found

    def _result(self, query: exp.Query) -> pl.DataFrame:
        """A query's result; a signal that comes meanwhile stops it."""
        sql = query.sql(dialect="duckdb")
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(lambda: self._connection.sql(sql).to_arrow_table())
            try:
                while not wait([running], _PATIENCE).done:
                    interrupt.check()
            except BaseException:
                self._connection.interrupt()
                raise
            return pl.DataFrame(running.result())


def _fate(name: str) -> exp.EQ:
    return exp.EQ(this=column("fate"), expression=text(name))
