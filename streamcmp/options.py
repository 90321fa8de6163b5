"""The keywords of the Python API, typed. `streamcmp.api.compare` says what each means.

A keyword that is left out, or None, has its default. The defaults live where the values are used: `Policies`,
`Analysis`, `Resources`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Union

from streamcmp.analysis import Adjust, Alternative, GainInterval, OddsInterval, Test
from streamcmp.comparison import Duplicates, IdType, LabelType, Mismatch, Missing, NullIds, Unmatched
from streamcmp.resources import Engine, Strategy

if TYPE_CHECKING:
    import polars as pl

    from streamcmp.meter import Meter
    from streamcmp.tally import Tally


class ArrowStream(Protocol):
    """Any frame that can hand itself over as an Arrow stream: polars, pandas, pyarrow, duckdb, ..."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow PyCapsule interface."""
        ...


# A file, glob, folder or address; several of those; or a frame.
Log = Union[str, PathLike[str], Sequence[str | PathLike[str]], ArrowStream, "pl.LazyFrame"]
Names = str | Iterable[str]
Terms = str | Iterable[str | tuple[str, ...]]
# One value for both sides, or a tuple (left, right).
PerSide = str | None | tuple[str | None, str | None]
Examples = Mapping[str, Sequence[str]]


class SideOptions(TypedDict, total=False):
    """What holds for one side only; it goes before what is said for both."""

    name: str | None
    on: Names | None
    by: Terms | None
    correct: str | None
    prediction: str | None
    label: str | None
    score: str | None
    metric: Names | None
    input_format: str | None
    columns: Names | None


class LogOptions(TypedDict, total=False):
    """How a log is read."""

    where: str | None
    guards: Names | None
    correct: PerSide
    prediction: PerSide
    label: PerSide
    score: PerSide
    metric: Names | None
    truth: Log | None
    truth_columns: Names | None
    model_column: str | None
    tolerance: float | None
    threshold: float | None
    id_type: IdType | None
    id_normalize: str | Sequence[str] | None
    id_strip_prefix: str | Sequence[str] | None
    id_regex: str | None
    label_type: LabelType | None
    input_format: PerSide
    columns: Names | None


class ReadingOptions(LogOptions, total=False):
    """How the logs are read and paired."""

    slices: Log | None
    slices_columns: Names | None
    left_model: str | None
    right_model: str | None
    left_name: str | None
    right_name: str | None
    left_options: SideOptions | None
    right_options: SideOptions | None


class PolicyOptions(TypedDict, total=False):
    """What to do with rows that cannot simply be counted."""

    duplicates: Duplicates | None
    mismatch: Mismatch | None
    unmatched: Unmatched | None
    missing: Missing | None
    null_ids: NullIds | None
    strict: bool


class MachineOptions(TypedDict, total=False):
    """What the pass may use, and whom it tells about itself. None of it changes a result."""

    memory: int | str | None
    spill_dir: str | PathLike[str] | None
    threads: int | None
    strategy: Strategy | None
    meter: Meter | None
    on_note: Callable[[str], None] | None
    on_examples: Callable[[Examples], None] | None


class AnalysisOptions(TypedDict, total=False):
    """How the counts are judged."""

    test: Test | None
    alternative: Alternative | None
    ci: GainInterval | None
    confidence: float | None
    adjust: Adjust | None
    min_discordant: int | None
    margin: float | None
    odds: OddsInterval | None
    mde: bool | None
    power: float | None
    anytime: bool | None


class CountOptions(ReadingOptions, PolicyOptions, MachineOptions, total=False):
    """Keywords of `check`, and most of those of `count`."""


class EngineOptions(TypedDict, total=False):
    """What pairs and counts. It changes no result either."""

    engine: Engine | None


class TallyOptions(CountOptions, EngineOptions, total=False):
    """Keywords of `count`."""

    shard: str | None


class ConvertOptions(LogOptions, total=False):
    """Keywords of `convert`."""

    memory: int | str | None
    spill_dir: str | PathLike[str] | None


class CompareOptions(CountOptions, EngineOptions, AnalysisOptions, total=False):
    """Keywords of `compare`."""

    verify: float | str | None


class FinalizeOptions(PolicyOptions, AnalysisOptions, total=False):
    """Keywords of `finalize`."""

    left_name: str | None
    right_name: str | None


# What `finalize` takes: a tally, a file with a tally or with a table of counts, or such a table.
Countable = Union["Tally", str, PathLike[str], ArrowStream]
AnyOptions = Mapping[str, Any]
