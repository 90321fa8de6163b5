"""Members of a zip archive as streams, with the directory read once and not kept.

Python's own reader takes 3 s and 0.15 GB for the directory of 200,000 members; what is needed of one is five
numbers. Stored, deflated and Zstandard members are read, which Python itself does only since 3.14. Checksums
are verified.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from streamcmp.errors import DataError

_LOCAL = struct.Struct("<4s22xHH")  # signature; lengths of name and extra field
_ENTRY = struct.Struct("<4s4xHH4xIIIHHH8xI")  # of the directory
_END = struct.Struct("<10xHII2x")  # entries, size and offset of the directory
_LOCATOR = struct.Struct("<8xQ4x")  # where the end for large archives is
_END_64 = struct.Struct("<32xQQQ")
_LONGEST_END = 22 + 65_535 + 20
_BIG, _BIG_COUNT = 0xFFFFFFFF, 0xFFFF
_STORED, _DEFLATED, _ZSTD = 0, 8, 93
_PIECE = 1 << 20
# JSON shrinks 5 to 50 times. What grows so much more, and to so many bytes, was made to fill a machine.
_EXPANSION, _HARMLESS = 400, 64 << 20


class Member(NamedTuple):
    """Where a member lies in its archive."""

    offset: int
    packed: int
    size: int
    method: int
    checksum: int


def directory(path: Path) -> dict[str, Member]:
    """Name -> member, in the order of the archive's directory; of members of one name the last counts.

    Raises:
        DataError: the file is no zip archive, truncated, or encrypted.
    """
    try:
        with path.open("rb") as file:
            return dict(_entries(path, *_central(file)))
    except (struct.error, OSError, ValueError, EOFError) as error:
        raise DataError(f"{path}: is no whole zip archive ({error}); it may be truncated") from error


def _central(file: BinaryIO) -> tuple[bytes, int]:
    """The bytes of the archive's directory, and how many entries it has."""
    end = file.seek(0, 2)
    start = max(0, end - _LONGEST_END)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0:
        raise ValueError("its directory is missing")
    count, size, offset = _END.unpack_from(tail, at)
    if count == _BIG_COUNT or _BIG in (size, offset):
        at -= _LOCATOR.size
        if at < 0 or not tail.startswith(b"PK\x06\x07", at):
            raise ValueError("its directory is damaged")
        (behind,) = _LOCATOR.unpack_from(tail, at)
        file.seek(behind)
        count, size, offset = _END_64.unpack(file.read(_END_64.size))
    if offset + size > end:
        raise ValueError("its directory lies behind its end")
    file.seek(offset)
    return file.read(size), count


def _entries(path: Path, central: bytes, count: int) -> Iterator[tuple[str, Member]]:
    at = 0
    for _ in range(count):
        entry = _ENTRY.unpack_from(central, at)
        signature, flags, method, checksum, packed, size, name, extra, comment, offset = entry
        if signature != b"PK\x01\x02":
            raise ValueError("its directory is damaged")
        at += _ENTRY.size
        title = central[at : at + name].decode(errors="replace")
        if flags & 1:
            raise DataError(f"{path}: {title} is encrypted")
        if _BIG in (packed, size, offset):
            size, packed, offset = _wide(central[at + name : at + name + extra], size, packed, offset)
        at += name + extra + comment
        yield title, Member(offset, packed, size, method, checksum)


def _wide(extra: bytes, *fields: int) -> list[int]:
    """Those of size, packed size and offset that do not fit 32 bits, from a member's extra field."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            values = iter(struct.unpack_from(f"<{length // 8}Q", extra, at + 4))
            return [next(values) if field == _BIG else field for field in fields]
        at += 4 + length
    raise ValueError("a member's size is missing")


def reader(path: Path, file: BinaryIO, name: str, member: Member) -> Callable[[int], bytes]:
    """A function that reads so many bytes of a member, fewer only at its end.

    Raises:
        DataError: when read, if the member is damaged or was made to fill a machine.
    """
    pieces = _pieces(path, file, name, member)
    held = bytearray()

    def read(size: int) -> bytes:
        while len(held) < size:
            piece = next(pieces, b"")
            if not piece:
                break
            held.extend(piece)
        data = bytes(held[:size])
        del held[:size]
        return data

    return read


def whole(path: Path, file: BinaryIO, name: str, member: Member, limit: int) -> bytes:
    """All bytes of a member; DataError if they are more than `limit`."""
    data = reader(path, file, name, member)(limit + 1)
    if len(data) > limit:
        raise DataError(f"{path}: {name} is longer than {limit >> 20} MB")
    return data


def _pieces(path: Path, file: BinaryIO, name: str, member: Member) -> Iterator[bytes]:
    """The bytes of a member in pieces; their checksum is verified at the end."""
    where = f"{path}: {name}"
    seen, checksum = 0, 0
    try:
        for piece in _unpacked(where, _packed(where, file, member), member):
            seen += len(piece)
            checksum = zlib.crc32(piece, checksum)
            if seen > _HARMLESS and seen > _EXPANSION * max(1, member.packed):
                raise DataError(
                    f"{where} grows to more than {_EXPANSION} times its size in the archive; not read"
                )
            yield piece
    except (zlib.error, OSError) as error:
        raise DataError(f"{where} is damaged: {error}") from error
    if seen != member.size or checksum != member.checksum:
        raise DataError(f"{where} is damaged: its checksum is wrong")


def _packed(where: str, file: BinaryIO, member: Member) -> Iterator[bytes]:
    """The bytes as they lie in the archive."""
    file.seek(member.offset)
    header = file.read(30)
    if len(header) < 30 or not header.startswith(b"PK\x03\x04"):
        raise DataError(f"{where} is damaged: it does not begin where the archive's directory says")
    _, name, extra = _LOCAL.unpack(header)
    file.seek(member.offset + 30 + name + extra)
    left, at = member.packed, file.tell()
    while left:
        file.seek(at)  # another member may have been read in between
        piece = file.read(min(left, _PIECE))
        if not piece:
            raise DataError(f"{where} is truncated")
        left -= len(piece)
        at += len(piece)
        yield piece


def _unpacked(where: str, packed: Iterator[bytes], member: Member) -> Iterator[bytes]:
    if member.method == _STORED:
        yield from packed
    elif member.method == _DEFLATED:
        yield from _inflated(packed)
    elif member.method == _ZSTD:
        yield from _from_zstd(packed)
    else:
        raise DataError(f"{where} is compressed by method {member.method}, which cannot be read")


def _inflated(packed: Iterator[bytes]) -> Iterator[bytes]:
    engine = zlib.decompressobj(-zlib.MAX_WBITS)
    for piece in packed:
        data = engine.decompress(piece, _PIECE)
        while data:
            yield data
            data = engine.decompress(engine.unconsumed_tail, _PIECE)
    yield engine.flush()


def _from_zstd(packed: Iterator[bytes]) -> Iterator[bytes]:
    import pyarrow as pa

    source = pa.CompressedInputStream(pa.PythonFile(_File(packed), mode="r"), "zstd")
    while data := source.read(_PIECE):
        yield data


class _File:
    """Pieces of bytes as the file that Arrow reads."""

    closed = False

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces: Any = pieces
        self._held = b""

    def read(self, size: int) -> bytes:
        """At most `size` bytes."""
        self._held = self._held or next(self._pieces, b"")
        data, self._held = self._held[:size], self._held[size:]
        return data

    def close(self) -> None:
        """Nothing to do."""
