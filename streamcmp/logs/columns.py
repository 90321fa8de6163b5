"""Which column plays which role: from options, else by well-known names. Reads schemas only.

The first name that hits wins, and a note says what was taken; two candidates of one rank are an error,
because a guess would be a wrong number half of the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from streamcmp.comparison import OPTION_OF_SIDE, SIDES, Comparison, SideName
from streamcmp.errors import AmbiguousColumn, NoColumn, UsageError
from streamcmp.logs.formats.base import profile_of
from streamcmp.logs.outcome import OutcomeSpec
from streamcmp.logs.view import View

# A rank is a group of names that are equally good; earlier ranks win.
Ranks = tuple[tuple[str, ...], ...]
ID_RANKS: Ranks = (("example_id",), ("sample_id",), ("id",), ("doc_id",), ("uid",), ("key",))
CORRECT_RANKS: Ranks = (("correct",), ("is_correct",), ("outcome",))
PREDICTION_RANKS: Ranks = (("prediction", "pred", "predicted"),)
LABEL_RANKS: Ranks = (("label", "target", "truth", "gold", "answer"),)
# What to do where a truth file has no label; the first row of one without a header is taken for its columns.
NO_LABEL = "--label, or all columns of a file without a header with --truth-columns"
SCORE_RANKS: Ranks = (("acc",), ("exact_match",), ("score",))
# Names under which a label may stand on both sides without serving the outcome. Not `answer`: evaluation
# harnesses keep the model's own answer there.
GUARD_LABELS = ("label", "target", "truth", "gold")


@dataclass(frozen=True)
class Roles:
    """One side's columns. `ids` is empty where pairs are made by position and no id is needed."""

    ids: tuple[str, ...]
    outcome: OutcomeSpec
    notes: tuple[str, ...] = ()


def candidates(columns: Iterable[str], rank: Sequence[str]) -> list[str]:
    """The columns that match one of the rank's names in any case."""
    return [column for column in columns if column.lower() in rank]


def detect(columns: Sequence[str], ranks: Ranks, *, role: str, where: str, option: str) -> str | None:
    """The column of the first rank that hits, or None. Two candidates of one rank raise AmbiguousColumn."""
    for rank in ranks:
        found = candidates(columns, rank)
        if len(found) > 1:
            raise AmbiguousColumn(role, where=where, candidates=found, option=option)
        if found:
            return found[0]
    return None


def names_of(ranks: Ranks) -> list[str]:
    """All names of the ranks, for messages."""
    return [name for rank in ranks for name in rank]


def resolve_ids(comparison: Comparison, views: Mapping[SideName, View]) -> dict[SideName, tuple[str, ...]]:
    """The id columns of each side. Detection prefers the first well-known name that both logs carry."""
    asked = {side: comparison.log(side).on or comparison.on for side in SIDES}
    known = _known_ids(views)
    if known and not any(asked.values()):
        return dict.fromkeys(SIDES, known)
    detected: dict[SideName, tuple[str, ...]] = {}
    shared = [
        rank for rank in ID_RANKS
        if all(asked[side] or candidates(views[side].columns, rank) for side in SIDES)
    ]  # fmt: skip
    for side in SIDES:
        view = views[side]
        if asked[side]:
            option = f"--{OPTION_OF_SIDE[side]}-on" if comparison.log(side).on else "--on"
            detected[side] = tuple(view.require(name, option) for name in asked[side])
            continue
        found = detect(view.columns, tuple(shared) or ID_RANKS, role="id", where=view.label, option="--on")
        if found is None:
            raise NoColumn(
                "id",
                where=view.label,
                columns=view.columns,
                tried=names_of(ID_RANKS),
                option="--on, or pair rows by position with --on row",
            )
        detected[side] = (found,)
    if len(detected["a"]) != len(detected["b"]):
        raise UsageError(
            f"the ids do not match: {', '.join(detected['a'])} on the left, {', '.join(detected['b'])} on "
            "the right; name as many columns on both sides"
        )
    return detected


def _known_ids(views: Mapping[SideName, View]) -> tuple[str, ...]:
    """The key that a harness's logs are known to have, as far as both logs have it."""
    profile = views["a"].profile or views["b"].profile
    if profile is None:
        return ()
    return tuple(name for name in profile.ids if all(view.has(name) for view in views.values()))


class OutcomeResolver:
    """Finds one side's outcome columns."""

    def __init__(self, comparison: Comparison, view: View) -> None:
        self.comparison = comparison
        self.view = view
        self.request = comparison.log(view.side)

    def option(self, role: str) -> str:
        """The option that names a role on either side."""
        return f"--{role} (or --{OPTION_OF_SIDE[self.view.side]}-{role})"

    def given(self, role: str) -> str:
        """The option by which the user named a role's column."""
        return f"--{OPTION_OF_SIDE[self.view.side]}-{role}" if role in self.request.own else f"--{role}"

    def find(self, ranks: Ranks, role: str) -> str | None:
        """Detection of one role."""
        return detect(self.view.columns, ranks, role=role, where=self.view.label, option=self.option(role))

    def need(self, given: str | None, ranks: Ranks, role: str) -> str:
        """The named column, else the detected one, else an error."""
        if given is not None:
            return self.view.require(given, self.given(role))
        found = self.find(ranks, role)
        if found is None:
            raise NoColumn(
                role,
                where=self.view.label,
                columns=self.view.columns,
                tried=names_of(ranks),
                option=self.option(role),
            )
        return found

    def resolve(self) -> OutcomeSpec:
        """The outcome rule of this side."""
        request, comparison = self.request, self.comparison
        verdict = request.correct or request.score or comparison.threshold is not None
        if comparison.truth is not None and verdict:
            raise UsageError(
                "--truth brings labels to compare predictions with; "
                "it does not go with --correct, --score or --threshold"
            )
        if comparison.pairs_only:
            return OutcomeSpec("nothing", self.view.columns[0])
        if self.view.metric is not None:
            profile = self.view.profile
            spec = self.score(self.view.metric)
            return replace(spec, grades=profile is not None and profile.grades)
        if request.correct is not None:
            return OutcomeSpec("correct", self.view.require(request.correct, self.given("correct")))
        if request.score is not None or comparison.threshold is not None:
            return self.score(self.need(request.score, SCORE_RANKS, "score"))
        wanted = (
            request.prediction is not None or comparison.tolerance is not None or comparison.truth is not None
        )
        # A label alone may also be there to guard the pairs of logs that already say what is correct.
        if wanted or (request.label and candidates(self.view.columns, PREDICTION_RANKS[0])):
            return self.compare(self.need(request.prediction, PREDICTION_RANKS, "prediction"))
        return self.detect()

    def detect(self) -> OutcomeSpec:
        """Nothing was said: correct, else prediction with label, else a score of 0 and 1."""
        correct = self.find(CORRECT_RANKS, "correct")
        if correct is not None:
            return OutcomeSpec("correct", correct)
        if all(candidates(self.view.columns, ranks[0]) for ranks in (PREDICTION_RANKS, LABEL_RANKS)):
            return self.compare(self.need(None, PREDICTION_RANKS, "prediction"))
        score = self.find(SCORE_RANKS, "score")
        if score is not None:
            return self.score(score)
        raise NoColumn(
            "outcome",
            where=self.view.label,
            columns=self.view.columns,
            tried=[*names_of(CORRECT_RANKS), "prediction with label", *names_of(SCORE_RANKS)],
            option="--correct, --prediction and --label, or --score; labels may be in a third file, --truth",
        )

    def score(self, column: str) -> OutcomeSpec:
        """A score, cut at the threshold or holding 0 and 1."""
        return OutcomeSpec("score", column, threshold=self.comparison.threshold)

    def compare(self, prediction: str) -> OutcomeSpec:
        """A prediction against the label, of this log or of the truth file."""
        truth = self.comparison.truth is not None
        label = None if truth else self.need(self.request.label, LABEL_RANKS, "label")
        if label == prediction:
            raise UsageError(f"{self.view.label}: {label!r} cannot be both the prediction and the label")
        tolerance = self.comparison.tolerance
        return OutcomeSpec(
            "equal" if tolerance is None else "within",
            prediction,
            label=label,
            tolerance=tolerance,
            label_type=self.comparison.label_type,
            truth=truth,
        )


def resolve_roles(
    comparison: Comparison, views: Mapping[SideName, View], *, ids: bool
) -> dict[SideName, Roles]:
    """Both sides' columns and the notes on what was detected. `ids`: whether id columns are needed."""
    names = resolve_ids(comparison, views) if ids else {"a": (), "b": ()}
    roles: dict[SideName, Roles] = {}
    for side in SIDES:
        outcome = OutcomeResolver(comparison, views[side]).resolve()
        request = comparison.log(side)
        notes = []
        if names[side] and not (request.on or comparison.on):
            columns = ", ".join(map(repr, names[side]))
            notes.append(f"{OPTION_OF_SIDE[side]}: ids are in column{'s' * (len(names[side]) > 1)} {columns}")
        named = {request.correct, request.prediction, request.score, request.label}
        if {outcome.value, outcome.label} - named - {None} and not comparison.pairs_only:
            notes.append(f"{OPTION_OF_SIDE[side]}: an example is {outcome.in_words()}")
        roles[side] = Roles(names[side], outcome, tuple(notes))
    return roles


# Columns that tell apart the runs of one example.
_REPEATS = frozenset(("epoch", "repeat", "repetition", "trial", "attempt", "perturbation"))


def repeat_notes(views: Mapping[SideName, View], roles: Mapping[SideName, Roles]) -> list[str]:
    """What the user should know where one example makes several pairs."""
    profiles = [
        profile for view in views.values() for part in view.parts if (profile := profile_of(part.shard))
    ]
    if not profiles:
        found = [name for name in roles["a"].ids if name.rpartition(".")[2].lower() in _REPEATS]
    else:
        found = [name for name in roles["a"].ids if name in {profile.repeats for profile in profiles}]
    if not found or len(roles["a"].ids) < 2:
        return []
    note = (
        f"{found[0]} is part of the id: pairs of one example that differ in {found[0]} are not independent, "
        "so that p-values and intervals may be surer than they should be; --where picks one"
    )
    return [note]
