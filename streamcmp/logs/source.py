"""From what the user named - a path, a glob, a folder, a URI, a frame - to the shards of a log."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from streamcmp.addresses import is_address
from streamcmp.errors import DataError, UsageError
from streamcmp.logs import formats
from streamcmp.logs.files import Found, find, may_be_table
from streamcmp.logs.formats.base import BaseShard, Format, WithConstants
from streamcmp.logs.formats.duckdb_table import DuckdbTable, named_table
from streamcmp.logs.formats.frame import open_frame
from streamcmp.logs.model import Inputs, Shard
from streamcmp.usage import size


def open_shards(
    source: Any,
    *,
    option: str = "--left",
    input_format: str | None = None,
    columns: tuple[str, ...] = (),
    memory: int | None = None,
) -> list[Shard]:
    """The shards of one log, each opened and its metadata read; no rows are.

    `source`: a path (a file, a glob, a folder with all below it), a table of a DuckDB file
    (`file.duckdb::table`), an address in an object store or on a web server, a Polars frame,
    anything with an Arrow C stream that can be read again, or a list of these. Files come sorted by path,
    those of a list in the list's order. `key=value` folders below the folder or the glob's fixed part become
    text columns; such a column hides one of the same name in the file.
    `option` is what messages call this log. `columns` names the columns of text files without a header.
    `memory`: bytes that the run may take; None for no limit.

    Raises:
        UsageError: nothing is there, it cannot be read again, or its format is unclear or mixed.
        DataError: a file is not what its format demands: truncated, empty, corrupt; or what the files say of
            themselves takes more than half of `memory`.
    """
    forced = formats.by_name(input_format) if input_format is not None else None
    sources = list(source) if isinstance(source, (list, tuple)) else [source]
    if not sources:
        raise UsageError(f"{option}: an empty list names no log")
    parts: list[tuple[Found, Format] | Shard] = []
    notes: list[str] = []
    for each in sources:
        table = _table(each, option) if forced is None else None
        if table is not None:
            parts.append(table)
        elif is_address(each):
            from streamcmp.logs.remote import open_remote

            parts += open_remote(each, option, forced)
        elif isinstance(each, (str, os.PathLike)):
            found = _data_files(each, option, forced)
            parts += _without_papers([(file, _format_of(file, option, forced)) for file in found], notes)
        else:
            label = "frame" if len(sources) == 1 else f"frame {len(parts) + 1}"
            parts.append(open_frame(each, label, option))
    files = [part for part in parts if isinstance(part, tuple)]
    _check_one_format(files, option)
    _check_different_files(files, option)
    _check_memory(files, option, memory)
    if columns and not (files and files[0][1].headerless):
        what = files[0][1].name if files else "a frame"
        raise UsageError(f"{option}: --columns names the columns of csv, tsv or lines, not of {what}")
    opened = [_open(*part, columns) if isinstance(part, tuple) else part for part in parts]
    choose = files[0][1].choose if files else None
    if choose is not None:
        opened, more = choose(opened, option)
        notes += more
    if notes and isinstance(opened[0], BaseShard):
        opened[0].notes = tuple(notes)
    return opened


def _table(source: Any, option: str) -> Shard | None:
    """A table of a DuckDB file, or a Delta or Iceberg table, if it is one.

    Told without loading what reads them.
    """
    named = named_table(source) if isinstance(source, str) and not is_address(source) else None
    if named is not None:
        return DuckdbTable(*named, option)
    if not isinstance(source, (str, os.PathLike)) or not may_be_table(source):
        return None
    from streamcmp.logs.lake import open_table

    return open_table(source, option)


def _without_papers(files: list[tuple[Found, Format]], notes: list[str]) -> list[tuple[Found, Format]]:
    """The files without those that a harness left beside its logs: summaries, settings."""
    if not any(_is_harness(chosen) for _, chosen in files):
        return files
    beside = [found for found, chosen in files if found.searched and not _is_harness(chosen)]
    if beside:
        kinds = sorted({chosen.name for _, chosen in files if _is_harness(chosen)})
        names = ", ".join(found.path.name for found in beside[:3]) + (", ..." if len(beside) > 3 else "")
        notes.append(f"passed over what is no log of {' or '.join(kinds)}: {names}")
    return [(found, chosen) for found, chosen in files if found not in beside]


def _is_harness(chosen: Format) -> bool:
    return chosen.refines is not None or chosen.choose is not None


def inputs(shards: Sequence[Shard]) -> Inputs:
    """What the shards consist of. A sum is None where one shard's part is not known."""
    sizes = [shard.size for shard in shards]
    rows = [shard.rows for shard in shards]
    return Inputs(
        paths=tuple(shard.label for shard in shards),
        bytes=None if None in sizes else sum(size or 0 for size in sizes),
        rows=None if None in rows else sum(count or 0 for count in rows),
    )


def _data_files(source: str | os.PathLike[str], option: str, forced: Format | None) -> list[Found]:
    """The files of one source, without those in a folder that are no data."""
    found = find(source, option)
    named = [each for each in found if each.searched is None]
    searched = [each for each in found if each.searched is not None]
    if forced is None:
        data = [each for each in searched if formats.by_ending(each.path.name)]
    else:
        # Any visible file may be meant, e.g. *.txt as lines; but not beside files with the format's own
        # ending.
        data = [each for each in searched if formats.has_ending(each.path.name, forced)] or searched
    if not named and not data:
        names = sorted({each.path.name for each in searched})
        seen = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "") if names else "nothing at all"
        raise UsageError(f"{option}: no data files in {os.fspath(source)}; it holds {seen}. {_choices()}")
    return [each for each in found if each.searched is None or each in data]


def _format_of(found: Found, option: str, forced: Format | None) -> Format:
    """The format of a file: as the user says, as it begins, as it is called."""
    try:
        with found.path.open("rb") as file:
            head = file.read(8)
    except OSError as error:
        raise DataError(f"{found.path}: cannot be opened: {error.strerror}") from error
    chosen = forced or formats.by_content(head) or formats.by_ending(found.path.name)
    if chosen is not None and forced is None:
        chosen = formats.refined(found.path, chosen)
    if chosen is None:
        raise UsageError(f"{option}: the format of {found.path} is not known by its ending. {_choices()}")
    return chosen


def _choices() -> str:
    return f"--input-format says what a file is: {', '.join(formats.BUILT_IN)}"


def _check_one_format(files: Sequence[tuple[Found, Format]], option: str) -> None:
    by_format = {chosen.name: found.path for found, chosen in reversed(files)}
    if len(by_format) > 1:
        kinds = "; ".join(f"{name}: {path}" for name, path in sorted(by_format.items()))
        ending = next(iter(by_format.values())).suffix
        raise UsageError(
            f"{option}: files of different formats in one log ({kinds}); name those of one format, "
            f"e.g. with a glob like '*{ending}'"
        )


def _check_different_files(files: Sequence[tuple[Found, Format]], option: str) -> None:
    seen: dict[tuple[int, int], Path] = {}
    for found, _ in files:
        status = found.path.stat()
        before = seen.setdefault((status.st_dev, status.st_ino), found.path)
        if before is not found.path:
            same = "" if before == found.path else f" (the other is {found.path})"
            raise UsageError(f"{option}: {before} is in the log twice{same}; its rows would count twice")


def _check_memory(files: Sequence[tuple[Found, Format]], option: str, memory: int | None) -> None:
    """Metadata stay in memory as long as the log is read: those of millions of row groups are gigabytes."""
    takes = [
        (chosen.opening(found.path), found.path) for found, chosen in files if chosen.opening is not None
    ]
    total = sum(each for each, _ in takes)
    if memory is not None and total > memory // 2:
        path = max(takes)[1]
        raise DataError(
            f"{option}: the metadata of {path}{' and the other files' if len(takes) > 1 else ''} take about "
            f"{size(total)}, more than half of the memory ({size(memory)}): too many tiny row groups; write "
            "them larger, or raise --memory"
        )


def _open(found: Found, chosen: Format, columns: tuple[str, ...]) -> Shard:
    shard = chosen.open(found.path, columns)
    if found.constants:
        shard = WithConstants(shard, found.constants)
    if isinstance(shard, BaseShard):
        shard.format_name = chosen.name
    return shard
