"""Options in groups: a command takes dataclasses of options, of which typer sees every field."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """`command(logs: Logs, talk: Talk)` as a function of all their fields, which builds the groups.

    A parameter that is no dataclass stays as it is. What a group names in `refused` is understood, so that a
    command can say why it does not take it, but stands in no --help.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type] = {}
    flat: list[Parameter] = []
    for name, plain in signature(command).parameters.items():
        kind = hints[name]
        if not hasattr(kind, "__dataclass_fields__"):
            flat.append(plain.replace(kind=Parameter.KEYWORD_ONLY, annotation=kind))
            continue
        groups[name] = kind
        types = get_type_hints(kind, include_extras=True)
        types |= {name: _hidden(types[name]) for name in getattr(kind, "refused", ())}
        flat += [
            Parameter(
                field.name,
                Parameter.KEYWORD_ONLY,
                annotation=types[field.name],
                default=Parameter.empty if field.default is MISSING else field.default,
            )
            for field in fields(kind)
        ]

    @wraps(command)
    def flattened(**given: Any) -> None:
        built = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**built, **given)

    # typer reads both.
    flattened.__signature__ = Signature(flat)  # type: ignore[attr-defined]
    flattened.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return flattened


def _hidden(annotation: Any) -> Any:
    """The option of this annotation, in no --help."""
    option = copy(annotation.__metadata__[0])
    option.hidden = True
    return Annotated[annotation.__origin__, option]
