"""What is said beside the result: notes, warnings, errors. All of it on stderr, one line or a few each."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from streamcmp.meter import Meter

_EXAMPLES: Final = {
    "duplicate_a": "duplicate ids on the left",
    "duplicate_b": "duplicate ids on the right",
    "guard_mismatch": "ids whose guard differs",
    "unmatched_a": "ids on the left only",
    "unmatched_b": "ids on the right only",
    "normalization": "ids without a partner that only Unicode normalisation separates",
}


def say(kind: str, text: str) -> None:
    """`kind: text` on stderr. Where that cannot be written, there is no one to tell."""
    with suppress(OSError):
        print(f"{kind}: {_visible(text)}", file=sys.stderr, flush=True)  # noqa: T201 - the command speaks here


def _visible(text: str) -> str:
    """`text`, with what other people's names could do to a terminal written out."""
    if all(map(str.isprintable, lines := text.split("\n"))):
        return text
    from streamcmp.report.values import inert

    return "\n".join(map(inert, lines))


class Notes:
    """Notes on stderr, unless `--quiet`."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self._quiet = quiet
        self._verbose = verbose

    def note(self, text: str) -> None:
        """One sentence about how the run went."""
        if not self._quiet:
            say("note", text)

    def examples(self, ids: Mapping[str, Sequence[str]]) -> None:
        """A few ids of each kind of row that was not counted."""
        for kind, words in _EXAMPLES.items():
            if some := ids.get(kind):
                self.note(f"{words}: {', '.join(some)}")

    @contextmanager
    def pass_(self) -> Iterator[Meter]:
        """While the logs are read: progress on a terminal; afterwards, with `--verbose`, what it took."""
        from streamcmp.meter import Meter
        from streamcmp.tuning import settle_freed_memory

        settle_freed_memory()
        started = time.perf_counter()
        meter = Meter()
        if self._quiet or not sys.stderr.isatty():
            yield meter
        else:
            from streamcmp.cli.progress import shown

            with shown(meter):
                yield meter
        if self._verbose:
            from streamcmp.usage import usage

            self.note(usage(started))
