"""A DAG that compares two prediction logs: one mapped task per shard, then merge, then the verdict."""

from __future__ import annotations

import comparison
from airflow.sdk import Param, dag, task

SHARDS = 16


@dag(
    schedule=None,
    params={
        "left": Param("s3://evals/base/*.parquet", type="string"),
        "right": Param("s3://evals/candidate/*.parquet", type="string"),
        "folder": Param("s3://evals/tallies", type="string"),
        "by": Param(["domain"], type="array"),
        "gates": Param(["overall.verdict == 'worse'"], type="array"),
    },
)
def compare_models() -> None:
    """Is the candidate really better?"""

    @task(retries=2)
    def count_shard(number: int, params: dict) -> str:
        return comparison.count_shard(
            params["left"],
            params["right"],
            by=params["by"],
            number=number,
            of=SHARDS,
            folder=params["folder"],
        )

    @task
    def merge_shards(parts: list[str], params: dict) -> str:
        return comparison.merge_shards(list(parts), params["folder"])

    @task(retries=0)
    def judge(tally: str, params: dict) -> str:
        return comparison.judge(tally, params["gates"])

    judge(merge_shards(count_shard.expand(number=list(range(SHARDS)))))


compare_models()
