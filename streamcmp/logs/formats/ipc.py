"""Arrow IPC files (Feather v2) and IPC streams kept in a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PanicException, PolarsError

from streamcmp import interrupt
from streamcmp.errors import DataError
from streamcmp.logs.formats.base import BaseShard, Format, LazyShard, conform
from streamcmp.logs.model import Shard
from streamcmp.logs.stream import unreadable

_FILE_MAGIC = b"ARROW1"
_STREAM_MAGIC = b"\xff\xff\xff\xff"  # the continuation mark of the first message
_FEATHER_V1 = b"FEA1"


class IpcStreamShard(BaseShard):
    """An IPC stream: no footer, so the number of rows is not known; opened anew for every pass.

    A stream cut off between two messages cannot be told from a whole one: the end mark is optional.
    """

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        self.label = str(path)
        self.size = path.stat().st_size
        self._path = path
        try:
            with pa.OSFile(self.label) as source, pa.ipc.open_stream(source) as reader:
                self._schema = dict(pl.DataFrame(reader.schema.empty_table()).schema)
        except (OSError, pa.ArrowException) as error:
            raise unreadable(self.label, error) from error

    def schema(self, *, complete: bool = False) -> Mapping[str, pl.DataType]:  # noqa: ARG002 - metadata is complete
        """Columns and types, from the stream's first message."""
        return self._schema

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named columns, in the stream's own batches."""
        import pyarrow as pa

        wanted = [name for name in dict.fromkeys(columns) if name in self._schema] or list(self._schema)[:1]
        fields = [list(self._schema).index(name) for name in wanted]
        try:
            with (
                pa.OSFile(self.label) as source,
                pa.ipc.open_stream(source, options=pa.ipc.IpcReadOptions(included_fields=fields)) as reader,
            ):
                for batch in reader:
                    interrupt.check()
                    # Nobody else looks: damaged offsets have ended the process with a segmentation fault.
                    batch.validate(full=True)
                    if batch.num_rows:
                        yield conform(pl.DataFrame(batch), columns)
        except (OSError, pa.ArrowException) as error:
            raise unreadable(self.label, error) from error


def scan(source: str, *, glob: bool = False, **options: Any) -> pl.LazyFrame:
    """A scan of an IPC file."""
    return pl.scan_ipc(source, hive_partitioning=False, glob=glob, **options)


def open_ipc(path: Path, columns: tuple[str, ...] = ()) -> Shard:  # noqa: ARG001 - no names to give
    """An Arrow file or stream, told by its first bytes.

    Raises:
        DataError: the file is empty, truncated, Feather v1 or not Arrow at all.
    """
    label = str(path)
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(_FEATHER_V1):
        raise DataError(
            f"{label}: is Feather version 1; rewrite it as Feather 2 or Parquet, e.g. "
            "pyarrow.feather.write_feather(pyarrow.feather.read_table(old), new)"
        )
    if head.startswith(_STREAM_MAGIC):
        return IpcStreamShard(path)
    if not head.startswith(_FILE_MAGIC):
        raise DataError(
            f"{label}: {'is not an Arrow IPC file' if head else 'is empty (0 bytes), not an Arrow file'}"
        )
    try:
        rows = scan(label).select(pl.len()).collect().item()
    except (PolarsError, PanicException, OSError) as error:
        raise DataError(f"{label}: cannot be read; the Arrow file may be truncated: {error}") from error
    return LazyShard(label, scan(label), size=path.stat().st_size, rows=rows)


FORMAT = Format(
    name="ipc",
    about="Arrow IPC: file, stream, Feather",
    endings=(".arrow", ".feather", ".ipc", ".arrows"),
    open=open_ipc,
    scan=scan,
    sniff=lambda head: head.startswith((_FILE_MAGIC, _STREAM_MAGIC, _FEATHER_V1)),
)
