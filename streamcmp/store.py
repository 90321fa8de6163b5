"""Reading and writing at an address. Polars carries the bytes: it knows the credentials.

Where nothing answers it tries for up to half a minute, and longer on the web; so the first question to an
address is asked with fewer tries, and for so long only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import TypeVar

import polars as pl
from polars.exceptions import PanicException, PolarsError

from streamcmp import interrupt
from streamcmp.addresses import if_unsigned, reason, rejects_keys, shown
from streamcmp.errors import DataError, UsageError

_PATIENCE = 30.0  # seconds for a first answer
FIRST = {"max_retries": 2, "retry_timeout_ms": 5000}  # as Polars' storage_options
_PARQUET = b"PAR1"
_ARROW_SCHEMA = "ARROW:schema"  # written by whoever writes the file
_PIECE = 1 << 20
_Answer = TypeVar("_Answer")


def asked(ask: Callable[[], _Answer], address: str) -> _Answer:
    """The answer; what goes wrong is a DataError that names the address and what is missing."""
    try:
        return ask()
    except (PolarsError, PanicException, OSError) as error:
        interrupt.check()
        raise DataError(f"{shown(address)}: {reason(error, address)}") from error


def asked_first(ask: Callable[[], _Answer], address: str) -> _Answer:
    """`asked`, for the first question to an address: no answer within half a minute is an error, too."""
    answers: list[_Answer] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(asked(ask, address))
        except BaseException as error:  # noqa: BLE001 - raised below, in the thread that asks
            errors.append(error)

    # A thread that nobody waits for: Polars cannot be told to give up.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    interrupt.check()
    if errors:
        raise errors[0]
    if not answers:
        raise DataError(f"{shown(address)}: no answer within {_PATIENCE:.0f} seconds{if_unsigned(address)}")
    return answers[0]


def read(address: str) -> bytes:
    """The file at an address, for small files: a tally, a table of counts. A Parquet file is written anew.

    Raises:
        UsageError: nothing is there, access is refused, or no server answers.
    """
    try:
        try:
            frame = asked_first(
                lambda: pl.read_parquet(address, hive_partitioning=False, glob=False, storage_options=FIRST),
                address,
            )
        except DataError as problem:
            if not isinstance(problem.__cause__, PolarsError):
                raise
            lines = asked(lambda: pl.scan_lines(address, glob=False).collect(), address)  # no Parquet: text
            return "\n".join(lines.to_series()).encode()
        metadata = asked(lambda: pl.read_parquet_metadata(address), address)
    except DataError as problem:
        raise UsageError(f"cannot read {problem}") from None
    buffer = BytesIO()
    frame.write_parquet(buffer, metadata=_own(metadata))
    return buffer.getvalue()


def write(source: Path, address: str) -> None:
    """Put a file of this machine, Parquet or UTF-8 text, to an address: all of it, or nothing.

    Raises:
        UsageError: it cannot be written; says why.
    """
    with source.open("rb") as file:
        parquet = file.read(len(_PARQUET)) == _PARQUET
    try:
        asked(lambda: _write_parquet(source, address) if parquet else _write_text(source, address), address)
    except DataError as problem:
        raise UsageError(f"cannot write {problem}") from None


def check_writable(address: str) -> None:
    """Raise UsageError where it is plain, without writing anything, that nothing can be written there."""
    try:
        asked_first(
            lambda: pl.scan_lines(address, glob=False, n_rows=1, storage_options=FIRST).collect(), address
        )
    except DataError as problem:
        cause = problem.__cause__
        # A file that is not there yet is as it should be, and some who may write may not read.
        fine = isinstance(cause, FileNotFoundError) and "NoSuchBucket" not in str(cause)
        fine = fine or (isinstance(cause, PermissionError) and not rejects_keys(cause))
        fine = fine or isinstance(cause, PolarsError)  # what is there now is no text
        if not fine:
            raise UsageError(f"cannot write {problem}") from None


def _write_parquet(source: Path, address: str) -> None:
    frame = pl.scan_parquet(source, hive_partitioning=False, glob=False)
    frame.sink_parquet(address, metadata=_own(pl.read_parquet_metadata(source)))


def _write_text(source: Path, address: str) -> None:
    # A table of one column, without header, quotes and ends of lines, is its text.
    frame = pl.DataFrame({"text": list(_pieces(source))}, schema={"text": pl.String})
    frame.lazy().sink_csv(
        address, include_header=False, quote_style="never", line_terminator="", check_extension=False
    )


def _pieces(source: Path) -> Iterator[str]:
    with source.open(encoding="utf-8", newline="") as file:
        while piece := file.read(_PIECE):
            yield piece


def _own(metadata: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in metadata.items() if key != _ARROW_SCHEMA}
