"""The reading options, from the command line's words to the API's."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from streamcmp.cli.options import Logs

_SIDE_OPTIONS = ("on", "by", "correct", "prediction", "label", "score", "metric", "input_format", "columns")


def reading(logs: Logs) -> dict[str, Any]:
    """The reading options as the API calls them."""
    options = asdict(logs)
    for side in ("left", "right"):
        files = options[side]
        options[side] = files[0] if len(files) == 1 else files
        own = {name: options.pop(f"{side}_{name}") for name in _SIDE_OPTIONS}
        options[f"{side}_options"] = {name: value for name, value in own.items() if value is not None}
    options["guards"] = options.pop("guard")
    return options
