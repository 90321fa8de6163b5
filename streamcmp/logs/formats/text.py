"""What the text formats share: bytes out of plain or compressed files, and blocks of whole lines.

Compression is told by the content, not by the ending. pyarrow decompresses: it reads several members in one
file and raises on a truncated one, where python-zstandard ends in silence (measured).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from streamcmp.errors import DataError
from streamcmp.logs.stream import unreadable

COMPRESSED_ENDINGS = (".gz", ".zst", ".zstd", ".bz2")
BOM = b"\xef\xbb\xbf"
_SIGNATURES = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
BLOCK_BYTES = 8 << 20
LONGEST_LINE = 256 << 20


@contextmanager
def reading(label: str) -> Iterator[None]:
    """Turns what goes wrong below Python's file objects into a DataError naming the file."""
    try:
        yield
    except OSError as error:
        raise unreadable(label, error) from error


def open_bytes(path: Path) -> Any:
    """The file's bytes, decompressed, as a pyarrow stream. Use inside `reading` and `with`."""
    import pyarrow as pa

    with path.open("rb") as file:
        head = file.read(4)
    for signature, codec in _SIGNATURES.items():
        if head.startswith(signature):
            return pa.CompressedInputStream(pa.OSFile(str(path)), codec)
    return pa.OSFile(str(path))


def read_head(path: Path, size: int) -> bytes:
    """The first `size` bytes (fewer only at the end of the file), decompressed, without a byte-order mark.

    Raises:
        DataError: the file cannot be read, or is UTF-16.
    """
    parts: list[bytes] = []
    with reading(str(path)), open_bytes(path) as source:
        while size > 0 and (data := source.read(size)):
            parts.append(data)
            size -= len(data)
    head = b"".join(parts)
    if head.startswith(_UTF16):
        raise DataError(f"{path}: is UTF-16 text; write it as UTF-8 (iconv -f utf-16 -t utf-8)")
    return head.removeprefix(BOM)


def line_blocks(
    path: Path, size: int = BLOCK_BYTES, *, longest: int | None = None
) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines of about `size` bytes, each with the 1-based number of its first line.

    Every block ends with a newline, but for the file's last line where it has none. A byte-order mark is
    dropped.

    Raises:
        DataError: the file cannot be read, or a line is longer than `longest` (`LONGEST_LINE`).
    """
    rest: list[bytes] = []
    line, held = 1, 0
    with reading(str(path)), open_bytes(path) as source:
        data = source.read(size)
        while data:
            following = source.read(size)
            cut = data.rfind(b"\n") + 1 if following else len(data)
            if cut:
                block = b"".join([*rest, data[:cut]])
                yield line, block.removeprefix(BOM) if line == 1 else block
                line += block.count(b"\n")
                rest, held = [], 0
            rest.append(data[cut:])
            held += len(data) - cut
            if held > (longest or LONGEST_LINE):
                raise DataError(f"{path}: line {line:,} is longer than {(longest or LONGEST_LINE) >> 20} MB")
            data = following


def shorten(text: str, limit: int = 60) -> str:
    """`text` as a message shows it: quoted, one line, cut in the middle of a sentence if need be."""
    return repr(text if len(text) <= limit else text[:limit] + "…")
