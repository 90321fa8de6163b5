"""The steps of a comparison over many workers, as plain functions. Nothing here knows of Airflow.

Paths may be files on a disk that all workers share, or addresses such as s3://evals/run-7.
"""

from __future__ import annotations

import streamcmp


def count_shard(left: str, right: str, *, by: list[str], number: int, of: int, folder: str) -> str:
    """Count one shard of the ids into a tally; returns where it is. A second try writes the same again."""
    tally = streamcmp.count(left, right, by=by, shard=f"{number}/{of}")
    path = f"{folder}/part-{number}-of-{of}.tally"
    tally.save(path)
    return path


def merge_shards(parts: list[str], folder: str) -> str:
    """Add the shards up; returns where the sum is."""
    path = f"{folder}/all.tally"
    streamcmp.merge(parts).save(path)
    return path


def judge(tally: str, gates: list[str]) -> str:
    """What was found, in a sentence.

    Raises RuntimeError where a gate fires, and streamcmp.UsageError where a shard is missing.
    """
    report = streamcmp.gate(streamcmp.finalize(tally), gates)
    fired = [f"{one.expression}: {one.says}" for one in report.gates if one.fired]
    if fired:
        raise RuntimeError(f"{report.sentence} Gates that fired: {'; '.join(fired)}")
    return report.sentence
