"""Logs in object stores and on web servers. Polars reads them, with its own chain of credentials."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import PurePosixPath

import polars as pl

from streamcmp import interrupt
from streamcmp.addresses import is_store, shown
from streamcmp.errors import DataError, UsageError
from streamcmp.logs import formats
from streamcmp.logs.files import constants_of, is_pattern, passed_over
from streamcmp.logs.formats.base import BaseShard, Format, LazyShard, WithConstants
from streamcmp.logs.formats.parquet import profile_from
from streamcmp.logs.profile import Profile
from streamcmp.store import FIRST, asked, asked_first

_AT_ONCE = 16  # files whose schemas are asked for side by side
_PATH = "\0path"  # no column of a log is called so


class RemoteShard(LazyShard):
    """One file behind an address. A Parquet file that `streamcmp convert` wrote says what its columns are."""

    def __init__(self, address: str, chosen: Format, rows: int, frame: pl.LazyFrame) -> None:
        self._address = address
        self.format_name = chosen.name
        super().__init__(shown(address), frame, rows=rows)

    @cached_property
    def profile(self) -> Profile | None:
        """From the file's metadata; Polars does not read those of hf addresses."""
        known = self.format_name == "parquet" and not self._address.startswith("hf:")
        return profile_from(self._address) if known else None


def open_remote(address: str, option: str, forced: Format | None) -> list[BaseShard]:
    """The files behind an address, sorted: itself, or, in a store, what a pattern or a folder holds.

    Each file's rows are known from its own metadata. `key=value` folders below the fixed part of a pattern
    are columns; names that begin with `_` or `.` are passed over, unless asked for.

    Raises:
        UsageError: the address is of no known kind, or its format cannot be read from there.
        DataError: nothing is there, access is refused, no server answers, or the file is damaged.
    """
    if not is_store(address):
        raise UsageError(
            f"{option}: {shown(address)}: only s3, gs, az, http, https and hf addresses are read"
        )
    chosen, scan = _format(address, option, forced)
    path = address.partition("://")[2]
    searched = (is_pattern(path) or path.endswith("/")) and not address.startswith(("http", "hf"))
    one = searched or address.startswith("hf")  # a pattern of hf addresses is left to Polars, as one log
    asked_first(lambda: scan(address, glob=one, storage_options=FIRST).collect_schema(), address)
    if not searched:
        frame = scan(address, glob=one)
        return [RemoteShard(address, chosen, asked(lambda: _rows(frame), address), frame)]
    found = asked(lambda: _found(scan, address, lenient=chosen.name == "parquet"), address)
    if not found:
        raise DataError(f"{option}: {shown(address)}: only hidden files are there")
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        opened = list(
            pool.map(lambda file: RemoteShard(file[0], chosen, file[1], scan(file[0], glob=False)), found)
        )
    interrupt.check()
    root = _fixed(address)
    shards: list[BaseShard] = []
    for (name, _), shard in zip(found, opened, strict=True):
        constants = constants_of(_below(name, root)[:-1])
        shards.append(WithConstants(shard, constants) if constants else shard)
    return shards


def _format(address: str, option: str, forced: Format | None) -> tuple[Format, Callable[..., pl.LazyFrame]]:
    chosen = forced or formats.by_ending(address.partition("?")[0])
    able = [each.name for each in formats.BUILT_IN.values() if each.scan is not None]
    if chosen is None or chosen.scan is None:
        what = "has no known ending" if chosen is None else f"is {chosen.name}"
        raise UsageError(
            f"{option}: {shown(address)} {what}; only {' and '.join(able)} are read from an address "
            "(--input-format says which): copy other files here first"
        )
    return chosen, chosen.scan


def _found(scan: Callable[..., pl.LazyFrame], address: str, *, lenient: bool) -> list[tuple[str, int]]:
    """The files that a pattern or a folder stands for, and the rows that each says it has."""
    # A column that a file lacks is an error later, and a better one.
    missing = {"missing_columns": "insert", "extra_columns": "ignore"} if lenient else {}
    frame = scan(address, glob=True, include_file_paths=_PATH, **missing).select(_PATH)
    rows = frame.group_by(_PATH).len().sort(_PATH).collect(engine="streaming").rows()
    fixed = _fixed(address)
    pattern = _below(address, fixed)
    return [(name, int(count)) for name, count in rows if not passed_over(_below(name, fixed), pattern)]


def _below(name: str, fixed: str) -> tuple[str, ...]:
    return PurePosixPath(name.removeprefix(fixed)).parts


def _fixed(address: str) -> str:
    """The part of a pattern before its first folder or name with a wild card, with the slash."""
    parts = address.split("/")
    wild = next((index for index, part in enumerate(parts) if index > 2 and is_pattern(part)), len(parts) - 1)
    return "/".join(parts[:wild]) + "/"


def _rows(frame: pl.LazyFrame) -> int:
    return int(frame.select(pl.len()).collect().item())
