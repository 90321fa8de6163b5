"""Which metric or scorer of a harness's log says what is correct: the one named, or the only one there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from streamcmp.comparison import OPTION_OF_SIDE, Comparison, LogRequest
from streamcmp.errors import DataError, UsageError
from streamcmp.logs.formats.base import WithAlias, profile_of
from streamcmp.logs.profile import Profile
from streamcmp.logs.view import Part, View


def with_metric(view: View, comparison: Comparison) -> View:
    """The view with its metric settled, if its files are a harness's and no other outcome is named.

    Files may have different metrics, as the tasks of lm-evaluation-harness do: their column then has the name
    of all of them.

    Raises:
        UsageError: a file has several and none was named, or none of those named; or the log is no harness's.
        DataError: a file has none at all.
    """
    request = comparison.log(view.side)
    if comparison.pairs_only:
        return view
    otherwise = request.correct or request.prediction or request.score
    by_label = comparison.truth is not None or comparison.tolerance is not None
    if view.profile is None:
        if request.metric:
            raise UsageError(
                f"--metric {','.join(request.metric)}: {view.label} is no log of an evaluation harness "
                "with metrics; name its column with --correct or --score"
            )
        return view
    if otherwise or by_label:
        return view
    _check_some(view)
    chosen = [_of_part(part, request, view) for part in view.parts]
    columns = list(dict.fromkeys(chosen))
    if len(columns) == 1:
        return replace(view, metric=columns[0])
    name = ",".join(columns)
    parts = [
        replace(
            part,
            shard=WithAlias(part.shard, name, column),
            schema={**part.schema, name: part.column(column).dtype},
        )
        for part, column in zip(view.parts, chosen, strict=True)
    ]
    return replace(view, parts=tuple(parts), metric=name)


def _check_some(view: View) -> None:
    silent = [part for part in view.parts if not _profile(part).outcomes]
    if silent:
        profile = _profile(silent[0])
        raise DataError(f"{silent[0].label} {profile.silence}")


def _of_part(part: Part, request: LogRequest, view: View) -> str:
    profile = _profile(part)
    names = list(profile.outcomes)
    if not request.metric and len(names) == 1:
        return profile.outcomes[names[0]]
    for name in request.metric:
        column = profile.column(name)
        if column is not None:
            return column
    if not request.metric:
        raise UsageError(
            f"{part.label} has {len(names)} {profile.what}s: {', '.join(names)}; name the one that "
            f"says what is correct with --metric (or --{OPTION_OF_SIDE[view.side]}-metric)"
            f"{_elsewhere(view.parts)}"
        )
    raise UsageError(
        f"{part.label} has no {profile.what} {' or '.join(request.metric)}; it has {', '.join(names)}. "
        "--metric takes several names, of which the first that a file has counts"
    )


def _elsewhere(parts: Sequence[Part]) -> str:
    """What to say where other files have other metrics."""
    every = dict.fromkeys(name for part in parts for name in _profile(part).outcomes)
    if all(list(every) == list(_profile(part).outcomes) for part in parts):
        return ""
    return f"; of several names ({','.join(list(every)[:4])}) the first that a file has counts"


def _profile(part: Part) -> Profile:
    profile = profile_of(part.shard)
    assert profile is not None, "the view has a profile only if all its parts do"
    return profile
