"""What to call two models that nobody named."""

from __future__ import annotations

from pathlib import PurePosixPath

# Endings that say how a file is written, not what is in it.
_ENDINGS = frozenset(
    (
        ".parquet",
        ".pq",
        ".csv",
        ".tsv",
        ".txt",
        ".json",
        ".jsonl",
        ".eval",
        ".ndjson",
        ".arrow",
        ".feather",
        ".ipc",
        ".gz",
        ".zst",
    )
)
_NAMELESS = ("left", "right")


def distinguish(path_a: str, path_b: str) -> tuple[str, str]:
    """The shortest part of each path that tells the two apart.

    The last part in which they differ: cnn.csv and lstm.csv are cnn and lstm; a/x/preds.parquet and
    a/y/preds.parquet are x and y; preds.csv and preds.jsonl keep their endings. One path twice is left and
    right.
    """
    parts_a, parts_b = _parts(path_a), _parts(path_b)
    # From the right: two runs of one script share file names, and their folders tell them apart.
    for part_a, part_b in zip(reversed(parts_a), reversed(parts_b), strict=False):
        if part_a != part_b:
            return part_a, part_b
    if len(parts_a) != len(parts_b):
        return _uneven(parts_a, parts_b)
    names = (PurePosixPath(path_a).name, PurePosixPath(path_b).name)
    return names if names[0] != names[1] else _NAMELESS


def _parts(path: str) -> list[str]:
    parts = list(PurePosixPath(path.replace("\\", "/")).parts)
    if parts:
        parts[-1] = _without_endings(parts[-1])
    return [part for part in parts if part not in ("", "/", ".")]


def _without_endings(name: str) -> str:
    stem = name
    while (suffix := PurePosixPath(stem).suffix) and suffix.lower() in _ENDINGS:
        stem = stem[: -len(suffix)]
    return stem


def _uneven(parts_a: list[str], parts_b: list[str]) -> tuple[str, str]:
    """One path is the tail of the other: preds.csv and old/preds.csv are preds and old/preds."""
    shorter = min(len(parts_a), len(parts_b))
    if shorter == 0:
        return _NAMELESS
    return "/".join(parts_a[-shorter - 1 :]), "/".join(parts_b[-shorter - 1 :])
