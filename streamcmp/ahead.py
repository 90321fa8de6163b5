"""Work on several threads, handed back in order."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeVar

from streamcmp import interrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future, ThreadPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(
    pool: ThreadPoolExecutor, work: Callable[[Item], Result], items: Iterable[Item], limit: int
) -> Iterator[Result]:
    """`map(work, items)`, with no more than `limit` items taken but not yet handed back.

    Numpy and Polars let go of Python's lock while they work, so threads do run side by side.
    """
    waiting: deque[Future[Result]] = deque()
    for item in items:
        interrupt.check()
        waiting.append(pool.submit(work, item))
        if len(waiting) >= limit:
            yield waiting.popleft().result()
    while waiting:
        interrupt.check()
        yield waiting.popleft().result()
