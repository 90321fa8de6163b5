"""The request: what to compare, how outcomes are read and pairs are made. Frozen; needs no file.

Sides are called a (the baseline, `--left`) and b (the candidate, `--right`) from here inward.
"""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from streamcmp.errors import UsageError

SideName = Literal["a", "b"]
SIDES: tuple[SideName, SideName] = ("a", "b")
OPTION_OF_SIDE: dict[SideName, str] = {"a": "left", "b": "right"}

Missing = Literal["drop", "wrong", "error"]
Mismatch = Literal["error", "drop", "ignore"]
Duplicates = Literal["error", "drop"]
Unmatched = Literal["drop", "error"]
NullIds = Literal["drop", "error"]
IdType = Literal["text", "int"]
LabelType = Literal["text", "number"]

ROW = "row"  # `--on row`: pair by position
ALL_PAIRS = "overall"  # the family that is always there
_MOST_SHARDS = 1_000_000


@dataclass(frozen=True, slots=True, order=True)
class IdShard:
    """Shard `number` of the ids, from 0 on, of `of`: those whose hash is `number` modulo `of`.

    The hash is that of stable_hash.py; rows without an id are in shard 0. Where rows pair by position, it is
    their number, from 0 on. Shards of different `of` may be disjoint, too: 0/2 and 1/4 are.
    """

    number: int = 0
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> IdShard:
        """The shard that "3/16" names. Raises UsageError where there is none."""
        found = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text, re.ASCII)
        number, of = (int(found[1]), int(found[2])) if found else (0, 0)
        if found and of > _MOST_SHARDS:
            raise UsageError(f"--shard {text}: at most {_MOST_SHARDS:,} shards")
        if not number < of:
            last = f": the shards of {of} are 0/{of} to {of - 1}/{of}" if of else ""
            raise UsageError(
                f"there is no --shard {text!r}{last or '; 3/16 is one, and 0/16 the first of 16'}"
            )
        return cls(number, of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def overlaps(self, other: IdShard) -> bool:
        """Whether some hash is in both."""
        return (self.number - other.number) % math.gcd(self.of, other.of) == 0


@dataclass(frozen=True, slots=True)
class LogRequest:
    """What the user said about one side.

    `source` is a path, a glob, a folder, a list of those, or a frame. Column names left at None are detected.
    `on` and `by`, where given, replace the comparison's names on this side, term by term. `metric` names
    which metric or scorer of a harness's log says what is correct: the first that a file has. Of a table of
    several models only the rows of `model` count. `own`: which of the outcome's options were given for this
    side alone; messages name them so.
    """

    source: Any
    name: str | None = None
    input_format: str | None = None
    columns: tuple[str, ...] = ()
    correct: str | None = None
    prediction: str | None = None
    label: str | None = None
    score: str | None = None
    metric: tuple[str, ...] = ()
    model: str | None = None
    on: tuple[str, ...] = ()
    by: tuple[tuple[str, ...], ...] = ()
    own: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Policies:
    """What to do with rows that cannot simply be counted; see the ledger. The first value is the default."""

    duplicates: Duplicates = "error"
    mismatch: Mismatch = "error"
    unmatched: Unmatched = "drop"
    missing: Missing = "drop"
    null_ids: NullIds = "drop"

    def __post_init__(self) -> None:
        choices = {
            "duplicates": Duplicates,
            "mismatch": Mismatch,
            "unmatched": Unmatched,
            "missing": Missing,
            "null_ids": NullIds,
        }
        for name, choice in choices.items():
            check_choice(f"--{name.replace('_', '-')}", getattr(self, name), get_args(choice))

    @classmethod
    def strict(cls) -> Policies:
        """`--strict`: anything that is not simply counted is an error."""
        return cls(duplicates="error", mismatch="error", unmatched="error", missing="error", null_ids="error")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of two logs.

    `on`: id columns; empty means detected; ("row",) pairs by position.
    `by`: one tuple of texts per family, as slicing.py reads them; several in one tuple are crossed.
    `truth`: a third file with the columns id and label, or None; `truth_columns` names them in a file without
    a header. Where pairs are made by position, so are labels. `slices`, `slices_columns`: likewise a file
    with id and columns for `by` that the logs lack.
    `model_column`: which column names the model, in tables of several.
    `id_normalize`, `id_strip_prefix`, `id_regex`: how ids are edited before they meet; see id_edit.py.
    `shard`: which ids count at all.
    """

    a: LogRequest
    b: LogRequest
    on: tuple[str, ...] = ()
    by: tuple[tuple[str, ...], ...] = ()
    where: str | None = None
    guards: tuple[str, ...] = ()
    truth: Any = None
    truth_columns: tuple[str, ...] = ()
    slices: Any = None
    slices_columns: tuple[str, ...] = ()
    model_column: str | None = None
    tolerance: float | None = None
    threshold: float | None = None
    id_type: IdType | None = None
    id_normalize: tuple[str, ...] = ()
    id_strip_prefix: tuple[str, ...] = ()
    id_regex: str | None = None
    label_type: LabelType | None = None
    policies: Policies = field(default_factory=Policies)
    shard: IdShard = IdShard()
    pairs_only: bool = False  # no outcome is read: every one is missing

    def __post_init__(self) -> None:
        for option, value, allowed in (
            ("--id-type", self.id_type, get_args(IdType)),
            ("--label-type", self.label_type, get_args(LabelType)),
        ):
            if value is not None:
                check_choice(option, value, allowed)
        if self.tolerance is not None and not 0 <= self.tolerance < float("inf"):
            raise UsageError(f"--tolerance must be a finite number >= 0, not {self.tolerance}")
        if self.threshold is not None and self.threshold != self.threshold:
            raise UsageError("--threshold must be a number, not NaN")
        if self.tolerance is not None and self.threshold is not None:
            raise UsageError(
                "--tolerance and --threshold exclude each other: one compares a prediction with a label, "
                "the other cuts a score"
            )
        if self.model_column is not None and self.a.model is None and self.b.model is None:
            raise UsageError("--model-column needs --left-model or --right-model: whose rows are a log")
        for side in SIDES:
            self._check_side(side)
        self._check_families()

    def _check_families(self) -> None:
        names = [",".join(term) for term in self.by]
        for name, term in zip(names, self.by, strict=True):
            if not all(term):
                raise UsageError(f"--by {name!r}: a column name is empty")
            if len(set(term)) != len(term):
                raise UsageError(f"--by {name} names the same column twice")
            if name == ALL_PAIRS:
                raise UsageError(f"--by {name}: the family of all pairs has this name; rename the column")
        if len(set(names)) != len(names):
            raise UsageError("--by names the same family twice")

    def _check_side(self, side: SideName) -> None:
        log = self.log(side)
        if log.model is not None and self.model_column is None:
            raise UsageError(
                f"--{OPTION_OF_SIDE[side]}-model needs --model-column: the column that names the model"
            )
        roles = ("correct", "prediction", "score", "metric")
        given = [name for name in roles if getattr(log, name)]
        if len(given) > 1:
            raise UsageError(
                f"the {OPTION_OF_SIDE[side]} log: name one of --correct, --prediction, --score and --metric, "
                f"not {' and '.join('--' + name for name in given)}"
            )
        if self.threshold is not None and given and given[0] not in ("score", "metric"):
            raise UsageError(f"--threshold goes with --score, not with --{given[0]}")
        if self.tolerance is not None and given and given != ["prediction"]:
            raise UsageError(f"--tolerance goes with --prediction and --label, not with --{given[0]}")
        if log.on and len(log.on) != max(1, len(self.on)):
            raise UsageError(
                f"--{OPTION_OF_SIDE[side]}-on names {len(log.on)} columns, --on {max(1, len(self.on))}"
            )
        if log.by and [len(term) for term in log.by] != [len(term) for term in self.by]:
            raise UsageError(
                f"--{OPTION_OF_SIDE[side]}-by must name as many columns as --by, term by term"
                + ("" if self.by else "; give --by too: the names that the report uses")
            )

    def log(self, side: SideName) -> LogRequest:
        """The request of one side."""
        return self.a if side == "a" else self.b

    @property
    def by_position(self) -> bool:
        """Whether rows pair by position (`--on row`)."""
        return self.on == (ROW,)


@dataclass(frozen=True, slots=True)
class Rule:
    """What makes the counts of two tallies comparable: columns, and everything that acts while counting.

    No paths, no names, no engine, no test. `outcome` describes each side, e.g. {"a": {"kind": "correct",
    "correct": "correct"}, "b": {"kind": "equal", "prediction": "pred", "label": "label"}}. `missing` is
    "exclude" or "wrong", `mismatch` "exclude" or "ignore": policies that differ only in when they raise
    count alike. `slices`: of each column of `by` that is no plain column what it is: `of` (the column, or the
    expression), `cut` with its `edges` (as text) or `count`, `label` where it stands for the label,
    `overlapping` where it holds lists, `file` where it is of a slices file, "by id" or "by position".
    """

    on: tuple[str, ...]
    id_type: str
    outcome: dict[str, dict[str, Any]]
    where: str | None
    by: tuple[tuple[str, ...], ...]
    guards: tuple[str, ...]
    missing: str
    mismatch: str
    measures: tuple[str, ...] = ("cells",)
    slices: dict[str, dict[str, Any]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy. `slices` is there only where it says something."""
        whole = asdict(self)
        if not self.slices:
            del whole["slices"]
        return whole

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> Rule:
        """The inverse of `to_dict`, also after a trip through JSON (tuples come back as lists)."""
        fixed = dict(raw)
        for name in ("on", "guards", "measures"):
            fixed[name] = tuple(fixed[name])
        fixed["by"] = tuple(tuple(term) for term in fixed["by"])
        return cls(**fixed)


def check_choice(option: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raise UsageError unless `value` is one of `allowed`."""
    if value not in allowed:
        raise UsageError(f"{option} must be one of {', '.join(allowed)}; not {value!r}")
