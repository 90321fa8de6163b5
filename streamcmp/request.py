"""Keywords -> the frozen values that the rooms work with. Here, once, left becomes a and right becomes b."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from streamcmp.addresses import shown
from streamcmp.analysis import Analysis
from streamcmp.comparison import Comparison, IdShard, LogRequest, Policies
from streamcmp.errors import UsageError
from streamcmp.options import AnalysisOptions, PolicyOptions, SideOptions
from streamcmp.report.names import distinguish
from streamcmp.resources import Resources, parse_share, parse_size
from streamcmp.terms import names, terms

if TYPE_CHECKING:
    from streamcmp.options import AnyOptions

_NAMELESS = ("left", "right")
_TABLE = re.compile("^(delta|iceberg):(?!//)")  # says what kind of table a path is
_OUTCOME = ("correct", "prediction", "label", "score")


def check_options(function: str, options: AnyOptions, allowed: type) -> None:
    """Raise TypeError, as Python does, for a keyword that `allowed` (a TypedDict) does not have."""
    known = getattr(allowed, "__annotations__", {})
    for option in options:
        if option not in known:
            close = get_close_matches(option, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"{function}() has no option {option!r}{hint}")


def comparison(left: Any, right: Any, on: Any, by: Any, options: AnyOptions) -> Comparison:
    """The request. Raises UsageError where the options contradict each other."""
    return Comparison(
        a=_side("left", left, options),
        b=_side("right", right, options),
        on=names(on, "--on"),
        by=terms(by, "--by"),
        where=options.get("where"),
        guards=names(options.get("guards"), "--guard"),
        truth=options.get("truth"),
        truth_columns=names(options.get("truth_columns"), "--truth-columns"),
        slices=options.get("slices"),
        slices_columns=names(options.get("slices_columns"), "--slices-columns"),
        model_column=options.get("model_column"),
        tolerance=options.get("tolerance"),
        threshold=options.get("threshold"),
        id_type=options.get("id_type"),
        id_normalize=_texts(options.get("id_normalize")),
        id_strip_prefix=_texts(options.get("id_strip_prefix")),
        id_regex=options.get("id_regex"),
        label_type=options.get("label_type"),
        policies=policies(options),
        shard=IdShard.parse(options["shard"]) if options.get("shard") is not None else IdShard(),
    )


def _side(side: str, source: Any, options: AnyOptions) -> LogRequest:
    own: Mapping[str, Any] = options.get(f"{side}_options") or {}
    check_options(f"{side}_options", own, SideOptions)
    index = _NAMELESS.index(side)

    def either(option: str) -> Any:
        value = options.get(option)
        both = value[index] if isinstance(value, tuple) else value
        return own.get(option) if own.get(option) is not None else both

    columns = own.get("columns") if own.get("columns") is not None else options.get("columns")
    return LogRequest(
        source=source,
        name=own.get("name") or options.get(f"{side}_name"),
        input_format=either("input_format"),
        columns=names(columns, f"--{side}-columns" if own.get("columns") else "--columns"),
        correct=either("correct"),
        prediction=either("prediction"),
        label=either("label"),
        score=either("score"),
        metric=names(
            own.get("metric") or (None if _named_otherwise(own) else options.get("metric")),
            f"--{side}-metric" if own.get("metric") else "--metric",
        ),
        model=options.get(f"{side}_model"),
        on=names(own.get("on"), f"--{side}-on"),
        by=terms(own.get("by"), f"--{side}-by"),
        own=frozenset(name for name in _OUTCOME if own.get(name) is not None),
    )


def _texts(value: Any) -> tuple[str, ...]:
    """One text or several, as they stand."""
    return () if value is None else (value,) if isinstance(value, str) else tuple(value)


def _named_otherwise(own: Mapping[str, Any]) -> bool:
    """Whether a side says itself where its outcome is: then what is said for both is for the other side."""
    return any(own.get(option) is not None for option in ("correct", "prediction", "score"))


def policies(options: AnyOptions) -> Policies:
    """The policies of the ledger. `strict` makes each an error; to say otherwise beside it contradicts."""
    given = _given(options, PolicyOptions)
    strict = given.pop("strict", False)
    if not strict:
        return Policies(**given)
    for option, value in given.items():
        if value != "error":
            raise UsageError(
                f"--strict makes every row that is not counted an error; it excludes --{option} {value}"
            )
    return Policies.strict()


def analysis(options: AnyOptions) -> Analysis:
    """How to judge."""
    return Analysis(**_given(options, AnalysisOptions))


def resources(options: AnyOptions) -> Resources:
    """What the pass may use. `memory` is bytes, or a text such as "2GB"."""
    given: dict[str, Any] = {}
    memory = options.get("memory")
    if memory is not None:
        given["memory"] = parse_size(memory) if isinstance(memory, str) else int(memory)
    if options.get("spill_dir") is not None:
        given["spill_dir"] = Path(options["spill_dir"])
    verify = options.get("verify")
    if verify is not None:
        given["verify"] = parse_share(verify) if isinstance(verify, str) else float(verify)
    for option in ("threads", "strategy", "engine"):
        if options.get(option) is not None:
            given[option] = options[option]
    return Resources(**given)


def _given(options: AnyOptions, group: type) -> dict[str, Any]:
    return {name: options[name] for name in get_type_hints(group) if options.get(name) is not None}


def display_names(left: Any, right: Any, left_name: str | None, right_name: str | None) -> tuple[str, str]:
    """What to call the two models: the names given, else what tells the paths apart, else left and right.

    Raises UsageError where both would be called the same.
    """
    path_a, path_b = _path(left), _path(right)
    found = _NAMELESS if path_a is None or path_b is None else distinguish(path_a, path_b)
    chosen = (left_name or found[0], right_name or found[1])
    if chosen[0] == chosen[1]:
        raise UsageError(
            f"both models would be called {chosen[0]!r}; give --left-name or --right-name another"
        )
    return chosen


def _path(source: Any) -> str | None:
    if isinstance(source, str | PathLike):
        return shown(_TABLE.sub("", fspath(source)))
    if isinstance(source, Sequence) and source and isinstance(source[0], str | PathLike):
        return shown(_TABLE.sub("", fspath(source[0])))
    return None
