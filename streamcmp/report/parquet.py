"""A report's results as Parquet, with the rest of the report as JSON in the file's metadata."""

from __future__ import annotations

import json
from io import BytesIO

from streamcmp.report.model import Report

METADATA_PREFIX = "streamcmp."


def render(report: Report) -> bytes:
    """The results as a Parquet file. Slice columns keep their types.

    Key-value metadata: `streamcmp.schema_version`, `.streamcmp`, `.comparison`, `.ledger`, `.families` and
    `.warnings`, each the JSON text of that part of the report.
    """
    parts = {key: value for key, value in report.frame_dict().items() if key != "results"}
    metadata = {
        f"{METADATA_PREFIX}{key}": json.dumps(value, allow_nan=False, ensure_ascii=False)
        for key, value in parts.items()
    }
    buffer = BytesIO()
    report.results.write_parquet(buffer, metadata=metadata)
    return buffer.getvalue()
