"""Engines: a comparison in, a tally out. This is the one place that knows that there are several."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamcmp.comparison import Comparison
    from streamcmp.engines.local import Counted, Engine
    from streamcmp.meter import Meter
    from streamcmp.resources import Resources


def count(
    comparison: Comparison,
    resources: Resources,
    on_note: Callable[[str], None] | None = None,
    meter: Meter | None = None,
    *,
    sketched: bool = False,
) -> Counted:
    """Count one comparison by the engine that `resources` names, and verify it where they say so.

    Arguments and errors are those of `local.count`; InternalError where a second engine disagrees.
    """
    from streamcmp.engines import local

    engine = _engine(resources.engine)
    found = local.count(comparison, resources, on_note, meter, sketched=sketched, engine=engine)
    if resources.verify:
        _verify(found, comparison, resources, meter, engine)
    return found


def _engine(name: str) -> Engine:
    from streamcmp.engines import local
    from streamcmp.extras import needs

    if name == "local":
        return local.counted
    for module in ("duckdb", "sqlglot"):
        needs(module, "duckdb", "DuckDB as an engine")
    from streamcmp.engines import duckdb

    return duckdb.counted


def _verify(
    found: Counted, comparison: Comparison, resources: Resources, meter: Meter | None, engine: Engine
) -> None:
    from streamcmp.engines import local
    from streamcmp.engines.verify import verify
    from streamcmp.meter import Meter as NewMeter

    second = _engine("duckdb" if resources.engine == "local" else "local")
    pair = local.opened(comparison, resources, complete=True)
    verify(found.tally, pair, resources, meter or NewMeter(), (engine, second))
