"""Delta and Iceberg tables as logs: the rows of one snapshot, whatever files lie beside it.

Polars scans them, through deltalake and pyiceberg, which the extra `lake` brings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PanicException, PolarsError

from streamcmp.addresses import is_address, shown
from streamcmp.errors import DataError, UsageError
from streamcmp.extras import needs
from streamcmp.logs.formats.base import LazyShard

_NAMED = re.compile(r"(delta|iceberg):(?!//)(.+)", re.DOTALL)
_METADATA = ".metadata.json"


def open_table(source: str | PathLike[str], option: str) -> LazyShard | None:
    """The table that a path or address names; None if it names none.

    A table is `delta:` or `iceberg:` and a path or address; a folder with `_delta_log`; an Iceberg table's
    metadata file, or its folder, where that says which metadata file is the current one.

    Raises:
        UsageError: what reads the table is not installed, or an Iceberg folder does not say its snapshot.
        DataError: it cannot be read.
    """
    text = re.sub("^file://", "", os.fspath(source))
    named = _NAMED.fullmatch(text)
    kind, place = named.groups() if named else (_kind(text), text)
    if kind is None:
        return None
    if kind == "delta":
        needs("deltalake", "lake", f"{option}: the Delta table {shown(place)}")
        return _opened(_delta, place)
    needs("pyiceberg", "lake", f"{option}: the Iceberg table {shown(place)}")
    return _opened(_iceberg, place if place.endswith(_METADATA) else _current(place, option))


def _kind(text: str) -> str | None:
    if text.endswith(_METADATA):
        return "iceberg"
    folder = Path(text).expanduser()
    if is_address(text) or not folder.is_dir():
        return None
    if (folder / "_delta_log").is_dir():
        return "delta"
    return "iceberg" if any(folder.glob(f"metadata/*{_METADATA}")) else None


def _current(place: str, option: str) -> str:
    """The current metadata file of an Iceberg folder. Without a hint only the table's catalog knows it."""
    metadata = Path(place).expanduser() / "metadata"
    hint = metadata / "version-hint.text"
    if not is_address(place) and hint.is_file():
        return str(metadata / f"v{hint.read_text().strip()}{_METADATA}")
    found = [] if is_address(place) else sorted(metadata.glob(f"*{_METADATA}"), key=lambda one: one.name)
    example = f"; the last by name is {found[-1]}" if found else ""
    raise UsageError(
        f"{option}: {shown(place)}: which snapshot of this Iceberg table is the current one stands in its "
        f"catalog: name the metadata file{example}"
    )


def _opened(scan: Callable[[str], tuple[pl.LazyFrame, str, int | None]], place: str) -> LazyShard:
    try:
        frame, version, size = scan(place)
        rows = int(frame.select(pl.len()).collect().item())
    except ImportError:
        raise
    except (PolarsError, PanicException, OSError, ValueError, LookupError) as error:
        raise _unreadable(place, error) from error
    except Exception as error:
        # deltalake and pyiceberg have errors of their own, with one base each: Exception.
        if type(error).__module__.partition(".")[0] not in ("_internal", "deltalake", "pyiceberg"):
            raise
        raise _unreadable(place, error) from error
    shard = LazyShard(f"{shown(place)} ({version})", frame, size=size, rows=rows)
    shard.format_name = scan.__name__.strip("_")
    return shard


def _unreadable(place: str, error: Exception | PanicException) -> DataError:
    said = (str(error).strip() or type(error).__name__).splitlines()[0]
    return DataError(f"{shown(place)}: this table cannot be read: {said}")


def _delta(place: str) -> tuple[pl.LazyFrame, str, int | None]:
    """The newest version, held fast: a scan by path alone would look for a newer one at every pass."""
    from deltalake import DeltaTable

    table: Any = DeltaTable(str(Path(place).expanduser()) if not is_address(place) else place)
    version = table.version()
    sizes = pl.DataFrame(table.get_add_actions(flatten=True))["size_bytes"]
    return pl.scan_delta(table.table_uri, version=version), f"version {version}", int(sizes.sum())


def _iceberg(place: str) -> tuple[pl.LazyFrame, str, int | None]:
    """The snapshot that a metadata file calls the current one; such a file never changes."""
    from pyiceberg.table import StaticTable

    # Else Polars warns at every pass that another package would plan it sooner.
    os.environ.setdefault("POLARS_ICEBERG_PLANNER", "pyiceberg")
    address = place if is_address(place) else Path(place).expanduser().resolve().as_uri()
    table: Any = StaticTable.from_metadata(address)
    snapshot = table.current_snapshot()
    size = snapshot.summary.get("total-files-size") if snapshot is not None and snapshot.summary else None
    frame = pl.scan_iceberg(address, use_metadata_statistics=False)
    version = "no snapshot" if snapshot is None else f"snapshot {snapshot.snapshot_id}"
    return frame, version, int(size) if size is not None else None
