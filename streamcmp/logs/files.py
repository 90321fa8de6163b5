"""From a path, a glob or a folder to the files of a log."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import unquote

from streamcmp.errors import UsageError

_WILD = re.compile(r"[*?\[]")
TABLE_PREFIXES = ("delta:", "iceberg:")
_NULL = "__HIVE_DEFAULT_PARTITION__"
_STREAMS = re.compile(r"-|/dev/stdin|/dev/fd/\d+|/proc/[^/]+/fd/\d+")


@dataclass(frozen=True)
class Found:
    """A file of a log, and the columns that its `key=value` folders give it.

    `searched` is the folder it was found in without being asked for by name; else None.
    """

    path: Path
    constants: dict[str, str | None] = field(default_factory=dict)
    searched: Path | None = None


def find(source: str | os.PathLike[str], option: str) -> list[Found]:
    """The files that a path, a glob or a folder stands for, sorted by path.

    Names beginning with `_` or `.` and `.crc` files are passed over, unless named outright.

    Raises:
        UsageError: nothing is there, or what is there is no regular file.
    """
    text = os.fspath(source)
    if _STREAMS.fullmatch(text):
        raise UsageError(f"{option}: cannot read {text}: logs are read more than once; write a file first")
    path = Path(re.sub("^file://", "", text)).expanduser()
    if path.is_dir():
        return list(_in_folder(path, path))
    if os.path.lexists(path):
        _check_regular(path, option)
        return [Found(path)]
    if _WILD.search(text):
        return _matching(path, option)
    raise UsageError(f"{option}: {text} does not exist{_nearest(path)}")


def _check_regular(path: Path, option: str) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise UsageError(f"{option}: {path} cannot be opened: {error.strerror}") from error
    if not stat.S_ISREG(mode):
        raise UsageError(
            f"{option}: {path} is not a regular file (a pipe or device?); logs are read more than "
            "once: write a file first"
        )


def _nearest(path: Path) -> str:
    """A hint: the name beside it that is nearest, or how far the path exists."""
    parent = path.parent
    if not parent.is_dir():
        while parent != parent.parent and not parent.exists():
            parent = parent.parent
        return f"; the path exists up to {parent}" + (
            "" if parent.is_dir() else ", which is a file, not a folder"
        )
    close = get_close_matches(path.name, [each.name for each in parent.iterdir()], n=1)
    return f"; did you mean {parent / close[0]}?" if close else ""


def may_be_table(source: str | os.PathLike[str]) -> bool:
    """Whether a source may be a Delta or Iceberg table: by its name, or a folder with a table's papers."""
    text = os.fspath(source)
    if text.startswith(TABLE_PREFIXES) or text.endswith(".metadata.json"):
        return True
    folder = Path(re.sub("^file://", "", text)).expanduser()
    return folder.is_dir() and any((folder / papers).is_dir() for papers in ("_delta_log", "metadata"))


def is_pattern(text: str) -> bool:
    """Whether a path holds wild cards."""
    return _WILD.search(text) is not None


def _hidden(name: str) -> bool:
    return name.startswith(("_", ".")) or name.endswith(".crc")


def _unreadable(error: OSError) -> None:
    """For os.walk, which else passes over a folder that it may not read, and with it rows of the log."""
    raise UsageError(f"{error.filename} cannot be read: {error.strerror}") from error


def _in_folder(folder: Path, root: Path) -> Iterator[Found]:
    """Files below `folder`; columns from the `key=value` folders below `root`."""
    seen = set()
    paths = []
    for where, folders, names in os.walk(folder, followlinks=True, onerror=_unreadable):
        identity = (os.stat(where).st_dev, os.stat(where).st_ino)  # noqa: PTH116 - one system call, not a Path
        if identity in seen:  # a link back to a folder above
            folders.clear()
            continue
        seen.add(identity)
        if "_delta_log" in folders:
            # Its files are not its rows: some are of earlier versions.
            raise UsageError(f"{where} in this folder is a Delta table; name it itself")
        folders[:] = [name for name in folders if not _hidden(name)]
        paths += [Path(where, name) for name in names if not _hidden(name)]
    for path in sorted(paths):
        if path.is_file() or path.is_symlink():  # a broken link is an error later; a pipe is none of ours
            yield Found(path, _constants(path, root), searched=folder)


def _matching(pattern: Path, option: str) -> list[Found]:
    parts = pattern.parts
    first = next(index for index, part in enumerate(parts) if _WILD.search(part))
    root = Path(*parts[:first])
    found: list[Found] = []
    matched = False
    for each in sorted(Path(name) for name in glob.glob(str(pattern), recursive=True)):  # noqa: PTH207 - takes any path
        if passed_over(each.parts[first:], parts[first:]):
            continue
        matched = True
        if each.is_dir():
            if "**" not in parts:  # else the pattern itself has gone into the folder
                found += _in_folder(each, root)
        else:
            _check_regular(each, option)
            # A pattern like run/* asks for whatever is there, as a folder does; *.txt asks for those files.
            found.append(Found(each, _constants(each, root), root if parts[-1].endswith("*") else None))
    if not found:
        what = "matches only folders without files" if matched else "matches no file"
        raise UsageError(f"{option}: {pattern} {what}{'' if root.is_dir() else f'; {root} does not exist'}")
    return found


def passed_over(parts: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
    """Whether a match holds a hidden name that the pattern does not ask for."""
    asked = [part for part in patterns if part.startswith(("_", ".")) or part.endswith(".crc")]
    return any(_hidden(name) and not any(Path(name).match(part) for part in asked) for name in parts)


def _constants(path: Path, root: Path) -> dict[str, str | None]:
    """Columns from the folders between `root` and the file: country=NL -> {"country": "NL"}."""
    return constants_of(path.relative_to(root).parts[:-1])


def constants_of(folders: Sequence[str]) -> dict[str, str | None]:
    """Columns from the names of folders."""
    constants = {}
    for part in folders:
        key, equals, value = part.partition("=")
        if equals and key:
            constants[unquote(key)] = None if value == _NULL else unquote(value)
    return constants
