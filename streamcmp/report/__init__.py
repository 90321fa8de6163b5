"""The report and its renderers: each a function of a report alone, giving text or (Parquet) bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from streamcmp.report.model import Report

Renderer = Callable[..., str | bytes]


def _renderer(module: str) -> Renderer:
    """A module's renderer. The module is loaded when it first renders, so that this room stays light."""

    def render(report: Report, **options: Any) -> str | bytes:
        rendered: str | bytes = import_module(f"streamcmp.report.{module}").render(report, **options)
        return rendered

    return render


# What --format chooses from. `table` takes top, width and color, `markdown` takes top; the others no options.
RENDERERS: Final = MappingProxyType[str, Renderer](
    {
        "table": _renderer("terminal"),
        "json": _renderer("json"),
        "csv": _renderer("csv"),
        "parquet": _renderer("parquet"),
        "markdown": _renderer("markdown"),
        "junit": _renderer("junit"),
    }
)
_IN_PIECES: Final = frozenset(("json", "csv", "junit"))


def in_pieces(form: str, report: Report, **options: Any) -> Iterator[bytes]:
    """The bytes of `RENDERERS[form]`, in pieces where a format has a line per result and may be long."""
    if form in _IN_PIECES:
        for piece in import_module(f"streamcmp.report.{form}").pieces(report):
            yield piece.encode()
        return
    whole = RENDERERS[form](report, **options)
    yield whole.encode() if isinstance(whole, str) else whole


# What the ending of --output implies.
FORMAT_OF_ENDING: Final = MappingProxyType(
    {
        ".json": "json",
        ".csv": "csv",
        ".parquet": "parquet",
        ".md": "markdown",
        ".txt": "table",
        ".xml": "junit",
    }
)
