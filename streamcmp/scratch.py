"""Bytes that wait on disk: a temporary file without a name, which the system frees with the process."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

from streamcmp.errors import DataError
from streamcmp.usage import size

if TYPE_CHECKING:
    from pathlib import Path


class Scratch:
    """Append from one thread, read from any. The file is made when the first bytes come."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: Any = None
        self.bytes = 0

    def append(self, data: Any) -> int:
        """Add a buffer of bytes; where it stands.

        Raises:
            DataError: the folder has no room for it.
        """
        start = self.bytes
        view = memoryview(data)
        length = view.nbytes
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0, prefix="streamcmp-")  # noqa: SIM115
            while view.nbytes:
                view = view[self._file.write(view) :]
        except OSError as error:
            raise DataError(
                f"cannot spill to {self._folder}: {error.strerror or error} after {size(start)}; "
                "give a folder with more room with --spill-dir, or more --memory"
            ) from None
        self.bytes += length
        return start

    def read_into(self, buffer: Any, offset: int) -> None:
        """Fill a buffer of bytes from where some stand."""
        view = memoryview(buffer)
        while view.nbytes:
            got = os.preadv(self._file.fileno(), [view], offset)
            if got <= 0:
                raise DataError(f"a spill file in {self._folder} became shorter while it was read")
            view, offset = view[got:], offset + got

    def read(self, offset: int, length: int) -> bytearray:
        """So many bytes from where they stand."""
        found = bytearray(length)
        self.read_into(found, offset)
        return found

    def close(self) -> None:
        """Free the disk."""
        if self._file is not None:
            self._file.close()
            self._file = None
