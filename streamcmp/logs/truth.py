"""`--truth FILE`: labels from a third file, looked up by id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from streamcmp.comparison import Comparison, SideName
from streamcmp.errors import NoColumn, TypeConflict, UsageError
from streamcmp.logs.columns import ID_RANKS, LABEL_RANKS, NO_LABEL, Roles, detect, names_of
from streamcmp.logs.lookup import ThirdFile
from streamcmp.logs.slices import common_type
from streamcmp.logs.values import IN_WORDS, NUMBERS, TEXTS, Check, Column
from streamcmp.logs.view import View

LABEL = "label of the truth file"  # the column's name beside a log's own columns, and in messages


@dataclass(frozen=True)
class Labels:
    """The label column of a truth file, and the type in which its labels are held."""

    name: str
    label: Column

    option = "--truth"
    kind = "truth file"
    nothing = None

    @property
    def names(self) -> Sequence[str]:
        """The columns that are read."""
        return (self.name,)

    @property
    def columns(self) -> Mapping[str, Column]:
        """The label as it stands beside a log's columns."""
        return {LABEL: self.label}

    def read(self, columns: Mapping[str, Column], where: str) -> tuple[list[pl.Expr], list[Check]]:  # noqa: ARG002 - any label will do
        """The labels of a batch."""
        return [columns[self.name].expr.cast(self.label.dtype).alias(LABEL)], []


def resolve_truth(comparison: Comparison, roles: Mapping[SideName, Roles], view: View) -> ThirdFile:
    """Find the truth file's id columns and its label."""
    label = comparison.a.label or comparison.b.label
    if label is None:
        label = detect(view.columns, LABEL_RANKS, role="label", where=view.label, option="--label")
    else:
        view.require(label, "--label")
    if label is None:
        raise NoColumn(
            "label", where=view.label, columns=view.columns, tried=names_of(LABEL_RANKS), option=NO_LABEL
        )
    ids = ids_of_third(comparison, roles, view, Labels.kind)
    return ThirdFile(view, ids, Labels(label, _label(view, label)))


def ids_of_third(
    comparison: Comparison, roles: Mapping[SideName, Roles], view: View, kind: str
) -> tuple[str, ...]:
    """The id columns of a third file: side a's names, else side b's, else the well-known ones.

    Raises:
        UsageError: it has none of these.
    """
    for side in ("a", "b"):
        if all(view.has(name) for name in roles[side].ids):
            return roles[side].ids
    if len(roles["a"].ids) == 1 and not comparison.on:
        found = detect(view.columns, ID_RANKS, role="id", where=view.label, option="--on")
        if found is not None:
            return (found,)
    raise UsageError(
        f"{view.label}: a {kind} needs the logs' id columns ({', '.join(roles['a'].ids)})\n"
        f"its columns: {', '.join(view.columns)}"
    )


def _label(view: View, name: str) -> Column:
    """The label's type over all shards."""
    columns = [column for _, column in view.typed(name)]
    kinds = {column.kind for column in columns}
    if len(kinds) > 1 and not (kinds <= NUMBERS or kinds <= TEXTS):
        first, second = sorted(kinds)[:2]
        raise TypeConflict(
            f"{view.label}: column {name!r} holds several types",
            IN_WORDS[first],
            IN_WORDS[second],
            "store one type",
        )
    dtype = common_type([column.dtype for column in columns]) if columns else pl.Null()
    return Column(LABEL, dtype, all(column.kind == "untyped" for column in columns))
