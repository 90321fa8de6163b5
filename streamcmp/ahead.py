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

    Where the items end with an error, it comes after all results of those before. Numpy and Polars let go of
    Python's lock while they work, so threads do run side by side.
    """
    waiting: deque[Future[Result]] = deque()
    failed: Exception | None = None
    todo = iter(items)
    while True:
        interrupt.check()
        try:
            item = next(todo)
        except StopIteration:
            break
        except Exception as error:  # noqa: BLE001 - raised below
            failed = error
            break
        waiting.append(pool.submit(work, item))
        if len(waiting) >= limit:
            yield waiting.popleft().result()
    while waiting:
        interrupt.check()
        yield waiting.popleft().result()
    if failed is not None:
        raise failed
