"""The report: results per slice with their ledger, families and warnings. A value; renderers only read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from streamcmp import __version__
from streamcmp.ledger import Ledger
from streamcmp.report.outcomes import Changes, GateOutcome
from streamcmp.report.values import json_ready, json_ready_values
from streamcmp.tally import SLICE_PREFIX

SCHEMA_VERSION = 1

# The fields of one result after `family` and its slice, in the order of every format.
RESULT_SCHEMA: dict[str, Any] = {
    "n": pl.Int64,
    "n_discordant": pl.Int64,
    "both_correct": pl.Int64,
    "n_ab": pl.Int64,
    "n_ba": pl.Int64,
    "both_wrong": pl.Int64,
    "accuracy_a": pl.Float64,
    "accuracy_b": pl.Float64,
    "accuracy_a_low": pl.Float64,
    "accuracy_a_high": pl.Float64,
    "accuracy_b_low": pl.Float64,
    "accuracy_b_high": pl.Float64,
    "gain": pl.Float64,
    "gain_low": pl.Float64,
    "gain_high": pl.Float64,
    "p_exact": pl.Float64,
    "p_mid": pl.Float64,
    "p_chi2": pl.Float64,
    "p_chi2_corrected": pl.Float64,
    "log10_p_exact": pl.Float64,
    "log10_p_mid": pl.Float64,
    "test": pl.String,
    "tested": pl.Boolean,
    "p": pl.Float64,
    "log10_p": pl.Float64,
    "p_adjusted": pl.Float64,
    "log10_p_adjusted": pl.Float64,
    "verdict": pl.String,
}
RESULT_FIELDS: tuple[str, ...] = tuple(RESULT_SCHEMA)
# Further fields, after those, where the analysis asks for them: its option -> the fields.
EXTRA_FIELDS: dict[str, tuple[str, ...]] = {
    "margin": (
        "p_noninferior",
        "log10_p_noninferior",
        "p_noninferior_adjusted",
        "log10_p_noninferior_adjusted",
        "p_equivalent",
        "log10_p_equivalent",
        "p_equivalent_adjusted",
        "log10_p_equivalent_adjusted",
    ),
    "odds": ("odds", "odds_low", "odds_high", "share_won", "share_won_low", "share_won_high"),
    "mde": ("mde",),
    "anytime": ("log10_e", "p_anytime", "log10_p_anytime", "share_won_anytime_low", "share_won_anytime_high"),
}
PIECE_ROWS = 10_000  # results that are made into Python objects or text at a time
VERDICTS = ("better", "worse", "equivalent", "inconclusive", "untested")


def result_schema(analysis: Mapping[str, Any]) -> dict[str, Any]:
    """Field -> type of the results of an analysis (its `to_dict`)."""
    extra = (name for option, names in EXTRA_FIELDS.items() if analysis[option] for name in names)
    return {**RESULT_SCHEMA, **dict.fromkeys(extra, pl.Float64)}


@dataclass(frozen=True, slots=True)
class ReportWarning:
    """What a reader must know before believing the numbers. `details` holds the counts in `message`."""

    code: str
    message: str
    details: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """code, message, then the details beside them; JSON-ready."""
        return {"code": self.code, "message": self.message, **self.details}


@dataclass(frozen=True, slots=True)
class Family:
    """One family: the columns that cut it, its slices, how many were tested (m) and the adjustment.

    `micro_gain`: the gain of all pairs, each slice weighted by its n; `macro_gain`: the plain mean of the
    slices' gains, with a normal interval. `heterogeneity`: whether the slices tell one story
    (docs/statistics.md); None where there are not two slices to compare.
    """

    family: str
    columns: tuple[str, ...]
    slices: int
    tested: int
    adjust: str
    micro_gain: float | None = None
    macro_gain: float | None = None
    macro_gain_low: float | None = None
    macro_gain_high: float | None = None
    heterogeneity: Mapping[str, Any] | None = None
    overlapping: bool = False

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        return {**asdict(self), "columns": list(self.columns)}


@dataclass(frozen=True, eq=False)
class Report:
    """What `finalize` returns.

    `results`: one row per slice in reading order: `family`, the `slice.<column>` columns of all families (a
    column that is not the family's own is null), then `fields`. Values that do not exist
    are null.
    `names`: the models' names, (a, b). `ledger` is None where only counts were given.
    `comparison`: names, rule and analysis, JSON-ready. `unpaired`: z, p and log10_p of the two accuracies
    taken for unrelated samples, to be told apart from the paired test; None where they are not known.
    `gates`: what became of the gates, if there were any; `changes`: this report beside an earlier one.
    """

    names: tuple[str, str]
    comparison: dict[str, Any]
    ledger: Ledger | None
    results: pl.DataFrame
    families: tuple[Family, ...]
    warnings: tuple[ReportWarning, ...]
    unpaired: Mapping[str, float] | None = None
    gates: tuple[GateOutcome, ...] = ()
    changes: Changes | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of one result after `family` and its slice: RESULT_FIELDS, then what was asked for."""
        return tuple(result_schema(self.comparison["analysis"]))

    @property
    def overall(self) -> dict[str, Any]:
        """The result of all pairs together: field -> value."""
        return self.results.select(self.fields).row(0, named=True)

    @property
    def sentence(self) -> str:
        """The verdict and the numbers behind it, in one plain sentence: what every format opens with."""
        from streamcmp.report.sentence import sentence  # which looks at reports

        return sentence(self)

    def by_family(self) -> Iterator[tuple[Family, pl.DataFrame]]:
        """Each family with its own rows of `results`, in reading order."""
        start = 0
        for family in self.families:
            yield family, self.results.slice(start, family.slices)
            start += family.slices

    def to_polars(self) -> pl.DataFrame:
        """The results as a table; see `results`."""
        return self.results

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, as `json.loads` of the JSON report gives it.

        Slice values keep their type where JSON has it; dates and times are ISO text; what JSON lacks (NaN,
        decimals, bytes) is text. Raises nothing.
        """
        return {**self.frame_dict(), "results": list(self.result_dicts())}

    def frame_dict(self) -> dict[str, Any]:
        """`to_dict` without results: for the formats that write these their own way."""
        return {
            "schema_version": SCHEMA_VERSION,
            "streamcmp": __version__,
            "sentence": self.sentence,
            "comparison": self.comparison,
            "ledger": None if self.ledger is None else self.ledger.to_dict(),
            "results": [],
            "families": [family.to_dict() for family in self.families],
            "unpaired": None if self.unpaired is None else dict(self.unpaired),
            "warnings": [json_ready(warning.to_dict()) for warning in self.warnings],
            **self._asked(),
        }

    def _asked(self) -> dict[str, Any]:
        """What is there only where it was asked for."""
        gates = {"gates": [gate.to_dict() for gate in self.gates]} if self.gates else {}
        return gates if self.changes is None else {**gates, "changes": self.changes.to_dict()}

    def result_dicts(self) -> Iterator[dict[str, Any]]:
        """One JSON-ready dictionary per result, in reading order: family, slice, then `fields`."""
        for family, rows in self.by_family():
            for part in rows.iter_slices(PIECE_ROWS):
                slices = slice_dicts(family, part)
                for cut, fields in zip(slices, part.select(self.fields).iter_rows(named=True), strict=True):
                    yield {"family": family.family, "slice": cut, **fields}


def slice_dicts(family: Family, rows: pl.DataFrame) -> list[dict[str, Any]]:
    """The slice of each row, column -> JSON-ready value."""
    values = [json_ready_values(rows[SLICE_PREFIX + column]) for column in family.columns]
    if not values:
        return [{} for _ in range(rows.height)]
    return [dict(zip(family.columns, row, strict=True)) for row in zip(*values, strict=True)]
