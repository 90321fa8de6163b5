"""Compare two prediction logs, paired by example id, slice by slice."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from streamcmp.api import (
        changes,
        check,
        compare,
        convert,
        count,
        explain,
        finalize,
        flips,
        formats,
        gate,
        merge,
    )
    from streamcmp.errors import DataError, InternalError, Interrupted, StreamcmpError, UsageError
    from streamcmp.flipped import Flips
    from streamcmp.in_hand import McnemarResult, mcnemar, mcnemar_from_predictions
    from streamcmp.ledger import Ledger
    from streamcmp.planning import PowerPlan, power
    from streamcmp.report.model import Report
    from streamcmp.tally import Tally

# Where each public name lives. Loaded when first asked for: `import streamcmp`, `streamcmp --help` stay
# quick.
_HOMES = {
    "DataError": "errors",
    "Flips": "flipped",
    "InternalError": "errors",
    "Interrupted": "errors",
    "Ledger": "ledger",
    "McnemarResult": "in_hand",
    "PowerPlan": "planning",
    "Report": "report.model",
    "StreamcmpError": "errors",
    "Tally": "tally",
    "UsageError": "errors",
    "changes": "api",
    "check": "api",
    "compare": "api",
    "convert": "api",
    "count": "api",
    "explain": "api",
    "finalize": "api",
    "flips": "api",
    "formats": "api",
    "gate": "api",
    "mcnemar": "in_hand",
    "mcnemar_from_predictions": "in_hand",
    "merge": "api",
    "power": "planning",
}

__all__ = [
    "DataError",
    "Flips",
    "InternalError",
    "Interrupted",
    "Ledger",
    "McnemarResult",
    "PowerPlan",
    "Report",
    "StreamcmpError",
    "Tally",
    "UsageError",
    "__version__",
    "changes",
    "check",
    "compare",
    "convert",
    "count",
    "explain",
    "finalize",
    "flips",
    "formats",
    "gate",
    "mcnemar",
    "mcnemar_from_predictions",
    "merge",
    "power",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
