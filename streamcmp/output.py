"""Files that are either written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from streamcmp.addresses import is_address
from streamcmp.errors import UsageError

_HELD = 64 * 2**20  # bytes of a result that wait in memory


def write_atomic(path: str | Path, data: bytes | Iterable[bytes]) -> None:
    """Write `data`, whole or in pieces, to `path`, replacing what is there in one step.

    The bytes go to a temporary name in the same folder, reach the disk, and are then renamed: a reader sees
    the old file or the new one, and an interrupted run leaves neither half a file nor the temporary one.

    Raises:
        UsageError: the folder does not exist, `path` is a folder, or it cannot be written; names the path.
    """
    if is_address(path):
        with replacing(path) as temporary, temporary.open("wb") as file:
            file.writelines([data] if isinstance(data, bytes) else data)
        return
    target = Path(path)
    if target.is_dir():
        raise UsageError(f"cannot write {target}: it is a folder; give a file name in it")
    if not target.parent.is_dir():
        raise UsageError(f"cannot write {target}: there is no folder {target.parent}; create it first")
    with replacing(target) as temporary, temporary.open("wb") as file:
        file.writelines([data] if isinstance(data, bytes) else data)


def contents(path: str | os.PathLike[str], what: str = "") -> bytes:
    """A small file's bytes; a file at an address, too. `what` is what messages call it.

    Raises:
        UsageError: it cannot be read; names the path.
    """
    if is_address(path):
        from streamcmp.store import read

        return read(os.fspath(path))
    try:
        return Path(path).read_bytes()
    except OSError as problem:
        raise UsageError(f"cannot read {what}{path}: {(problem.strerror or str(problem)).lower()}") from None


@contextmanager
def gathered(pieces: Iterable[bytes]) -> Iterator[IO[bytes]]:
    """All the pieces, to be read once there are all of them; what is large waits in a temporary file.

    Raises:
        UsageError: there is no room for that.
    """
    with tempfile.SpooledTemporaryFile(_HELD) as whole:
        try:
            for piece in pieces:
                whole.write(piece)  # writelines would hold them all
            whole.seek(0)
        except OSError as problem:
            raise UsageError(
                f"cannot write to {tempfile.gettempdir()}: {problem.strerror or problem}"
            ) from problem
        yield whole


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file beside `path`, which takes its place when the block ends well.

    For an address the file is one of this machine; it is put there as a whole.

    Raises:
        UsageError: it cannot be written; names the path.
    """
    if is_address(path):
        with tempfile.TemporaryDirectory(prefix="streamcmp-") as folder:
            waiting = Path(folder, "output")
            yield waiting
            from streamcmp.store import write

            write(waiting, str(path))
        return
    try:
        # A link is written through, as any other program does; renaming over it would replace the link.
        with _renamed(Path(path).resolve()) as temporary:
            yield temporary
    except (OSError, RuntimeError) as problem:  # RuntimeError: links in a circle, before Python 3.13
        reason = getattr(problem, "strerror", None) or str(problem)
        raise UsageError(f"cannot write {path}: {reason[:1].lower()}{reason[1:]}") from problem


def check_new(path: Path) -> None:
    """Raise UsageError where a folder cannot be made: there is something, or nothing to make it in."""
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise UsageError(f"cannot write {path}: there is something already; name a new folder")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {path.parent}; create it first")


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """A temporary folder beside `path`, which becomes it when the block ends well.

    Raises:
        UsageError: there is something at `path` that is no empty folder, or it cannot be written.
    """
    target = Path(path)
    check_new(target)
    try:
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name[:100]}.", suffix=".tmp", dir=target.parent))
        try:
            yield temporary
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o777 & ~umask)
            temporary.replace(target)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    except OSError as problem:
        raise UsageError(f"cannot write {target}: {(problem.strerror or str(problem)).lower()}") from problem


@contextmanager
def _renamed(target: Path) -> Iterator[Path]:
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".tmp", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        # mkstemp makes files that only their owner reads; a report is as readable as the file it replaces.
        temporary.chmod(_mode(target))
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or what the umask leaves of rw-rw-rw-."""
    with suppress(OSError):
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
