"""Where results go: a place that can be written, and that is none of what is read."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from streamcmp.addresses import is_address, is_writable, shown, split_table
from streamcmp.errors import UsageError

_NO_PARQUET = (
    ".csv",
    ".tsv",
    ".json",
    ".jsonl",
    ".ndjson",
    ".arrow",
    ".feather",
    ".ipc",
    ".md",
    ".txt",
    ".xml",
)
TALLY: Final = ("a tally", ".tally")  # for check_parquet


def check_target(target: str | Path | None, inputs: Iterable[str | Path] = ()) -> None:
    """Raise UsageError, before anything is read, where `target` cannot be written or is an input."""
    if target is None:
        return
    if is_address(target):
        _check_address(str(target), inputs)
        return
    path = Path(target)
    if path.is_dir():
        raise UsageError(f"--output {path} is a folder; give a file name in it")
    try:
        folder = path.resolve().parent if path.is_symlink() else path.parent
    except (OSError, RuntimeError):
        raise UsageError(f"--output {path} is a link that leads back to itself; name another file") from None
    if not folder.is_dir():
        raise UsageError(f"--output {path}: there is no folder {folder}; create it first")
    if path.exists() and not path.is_file():
        # It would be replaced by a file of its name.
        raise UsageError(f"--output {path} is not an ordinary file; leave --output out and use > instead")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"--output {path}: the folder {folder} is not writable")
    for one in inputs:
        if not is_address(one):
            _check_apart(path, _path_of(str(one)))


def _check_address(address: str, inputs: Iterable[str | Path]) -> None:
    if not is_writable(address):
        raise UsageError(
            f"--output {shown(address)}: results are written to s3, gs and az addresses, and to files"
        )
    if address in map(str, inputs):
        raise UsageError(
            f"--output {shown(address)} is also an input, and would be overwritten; choose another name"
        )
    from streamcmp.store import check_writable

    check_writable(address)


def _path_of(log: str) -> str:
    """Where a log lies: without what says that it is a table of a lake, or which one of a DuckDB file."""
    for prefix in ("delta:", "iceberg:", "file://"):
        log = log.removeprefix(prefix)
    if log.endswith(".metadata.json") and Path(log).parent.name == "metadata":
        return str(Path(log).parent.parent)  # an Iceberg table's
    table = split_table(log)
    if table is not None and not Path(log).exists():
        log = table[0]
    return os.path.expanduser(log)  # noqa: PTH111 - a glob is no path


def _check_apart(path: Path, source: str) -> None:
    """`source` is a file, a folder or a glob."""
    found = [source] if Path(source).exists() else glob.glob(source, recursive=True)  # noqa: PTH207 - takes any path
    for one in map(Path, found):
        if path.exists() and path.samefile(one):
            raise UsageError(
                f"--output {path} is also an input, and would be overwritten; choose another name"
            )
        if one.is_dir() and path.resolve().is_relative_to(one.resolve()):
            raise UsageError(
                f"--output {path} lies in the input folder {one}, where the next run would read it too; "
                "choose another folder"
            )


def check_parquet(path: str | os.PathLike[str], what: str, ending: str) -> None:
    """Raise UsageError where a name says another format than Parquet, in which `what` is written."""
    said = Path(path).suffix.lower()
    if said in _NO_PARQUET:
        raise UsageError(
            f"--output {path}: {what} is written as Parquet, not {said}; end the name in {ending}"
        )
