"""Every error that a user can meet.

An error is built from typed fields and writes its own message: what is wrong, where, and what to do next.
`StreamcmpError` is what callers catch; its `exit_code` is the process's.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence


class StreamcmpError(Exception):
    """Base of all errors a user can meet. Raised with one finished message; caught by the command line."""

    exit_code: ClassVar[int] = 2


class UsageError(StreamcmpError):
    """The request contradicts itself or names something that does not exist. Raised before rows are read."""


class DataError(StreamcmpError):
    """The logs hold something that cannot be compared. Raised while reading, or after the pass with full counts."""


class InternalError(StreamcmpError):
    """streamcmp broke one of its own laws; nothing it computed may be trusted."""

    exit_code = 3

    def __init__(self, problem: str) -> None:
        super().__init__(f"internal error: {problem}. No result is printed; please report this.")


class Interrupted(StreamcmpError):
    """A signal asked the run to stop. Carries the signal's number; exit code 128 + number."""

    def __init__(self, signal_number: int) -> None:
        super().__init__("interrupted; nothing was written")
        self.signal_number = signal_number

    @property
    def process_exit_code(self) -> int:
        """130 for SIGINT, 143 for SIGTERM."""
        return 128 + self.signal_number


class UnknownColumn(UsageError):
    """A column named by the user is not in the log."""

    def __init__(self, column: str, *, where: str, columns: Sequence[str], option: str | None = None) -> None:
        close = get_close_matches(column, columns, n=1, cutoff=0.6)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        named = f" (named by {option})" if option else ""
        super().__init__(f"{where} has no column {column!r}{named}{hint}\nits columns: {', '.join(columns)}")
        self.column = column
        self.columns = tuple(columns)
