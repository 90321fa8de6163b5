"""Members of a zip archive as streams, with the directory read once and not kept.

An archive of 200,000 members costs 0.15 GB as Python's own objects; what is needed to read a member again is
five numbers. Stored, deflated and Zstandard members are read, which Python itself does only since 3.14.
Checksums are verified.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from streamcmp.errors import DataError

_LOCAL = struct.Struct("<4s22xHH")  # signature; lengths of name and extra field
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
    """Name -> member, in the order of the archive's directory.

    Raises:
        DataError: the file is no zip archive, truncated or encrypted, or one name stands in it twice.
    """
    found: dict[str, Member] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.flag_bits & 1:
                    raise DataError(f"{path}: {info.filename} is encrypted")
                # A log that was written on has a later version of some members: the last one counts.
                found[info.filename] = Member(
                    info.header_offset, info.compress_size, info.file_size, info.compress_type, info.CRC
                )
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, struct.error) as error:
        what = f"{error}".lower() or type(error).__name__
        raise DataError(f"{path}: is no whole zip archive ({what}); it may be truncated") from error
    return found


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
