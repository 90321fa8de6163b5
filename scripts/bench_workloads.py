"""What the benchmark measures: pairs of logs, and comparisons of them.

Loads nothing heavy: the process that measures imports it.
"""

from dataclasses import dataclass
from typing import Literal

Ids = Literal["compact", "sparse", "text"]
Order = Literal["same", "gaps", "unsorted", "shuffled"]
Form = Literal["parquet", "ndjson"]

ID = "example_id"
CELLS = ("both_correct", "n_ab", "n_ba", "both_wrong")
ALL_PEERS = ("duckdb", "duckdb-ledger", "polars", "datafusion", "chdb", "pandas")
FAMILIES = ("domain", "language", "difficulty", "source", "year")
GROUP_ROWS = 500_000
GIANT_GROUP = 64 * 2**20  # the most rows that pyarrow puts into one row group


@dataclass(frozen=True)
class Data:
    """One pair of logs.

    ids: compact counts from 0; sparse is spread over 63 bits; text is the sparse one in 29 bytes.
    order: same (sorted, equal), gaps (sorted, 1 % of the rows missing on each side), unsorted (the same
    shuffle on both sides), shuffled (a different one on each).
    wide: the left log also carries the slice columns of `FAMILIES` and `topic`, which has 1 M values.
    """

    ids: Ids
    order: Order
    rows: int
    form: Form = "parquet"
    group_rows: int = GROUP_ROWS
    shards: int = 1
    wide: bool = False
    seed: int = 0

    @property
    def name(self) -> str:
        """A folder's name, different for different logs."""
        parts = [self.ids, self.order, str(self.rows)]
        if self.form != "parquet":
            parts.append(self.form)
        if self.shards > 1:
            parts.append(f"{self.shards}-shards")
        if self.group_rows != GROUP_ROWS:
            parts.append(f"groups-of-{self.group_rows}")
        if self.wide:
            parts.append("wide")
        if self.seed:
            parts.append(f"seed-{self.seed}")
        return "-".join(parts)

    @property
    def bytes(self) -> int:
        """About what the two logs take on disk, generously."""
        row = {"compact": 11, "sparse": 11, "text": 33}[self.ids] + 6 * self.wide
        return 2 * self.rows * (row if self.form == "parquet" else 100)

    def logs(self) -> tuple[str, str]:
        """Names of the two logs: files, or folders of shards."""
        ending = "" if self.shards > 1 else f".{self.form}"
        return f"left{ending}", f"right{ending}"


@dataclass(frozen=True)
class Workload:
    """One comparison: the logs, the families, who takes part and how often."""

    name: str
    data: Data
    by: tuple[str, ...] = ("domain",)
    peers: tuple[str, ...] = ALL_PEERS
    most_rounds: int | None = None
    options: tuple[str, ...] = ()  # for streamcmp
    on_request: bool = False


def workloads(rows: int) -> list[Workload]:
    """All of them, in the order in which they run, `rows` being the ordinary size."""
    kinds: dict[Order, tuple[Ids, ...]] = {
        "same": ("compact", "sparse", "text"),
        "unsorted": ("text",),
        "gaps": ("compact", "sparse", "text"),
        "shuffled": ("compact", "sparse", "text"),
    }
    base = [Workload(f"{id_}-{order}", Data(id_, order, rows)) for order, ids in kinds.items() for id_ in ids]
    ints: tuple[Ids, ...] = ("compact", "sparse")
    same = Data("compact", "same", rows, wide=True)
    mixed = Data("sparse", "shuffled", rows, wide=True)
    large = [
        Workload(f"{id_}-shuffled-x5", Data(id_, "shuffled", 5 * rows), peers=("duckdb",), most_rounds=3)
        for id_ in ints
    ]
    huge = [
        Workload(
            f"{id_}-shuffled-x50",
            Data(id_, "shuffled", 50 * rows),
            peers=(),
            most_rounds=1,
            options=("--memory", "2GB"),
            on_request=True,
        )
        for id_ in ints
    ]
    giant = max(1, GIANT_GROUP * rows // 20_000_000)
    others = [
        Workload("families-same", same, by=FAMILIES),
        Workload("families-shuffled", mixed, by=FAMILIES),
        Workload("topics-same", same, by=("topic",)),
        Workload("topics-shuffled", mixed, by=("topic",)),
        Workload("ndjson", Data("compact", "same", max(1, rows // 4), form="ndjson")),
        Workload("shards", Data("compact", "same", rows, shards=200)),
        Workload("small-groups", Data("compact", "same", rows, group_rows=10_000)),
        Workload("one-group", Data("compact", "same", giant, group_rows=giant)),
    ]
    return [*base, *large, *others, *huge]
