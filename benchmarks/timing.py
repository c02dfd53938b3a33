"""Times of calls side by side, for the benchmarks.

They are the processor's time for this process, so that what else runs does not count, but for what
it takes of the caches; BLAS has one thread.
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable
from typing import Any

from threadpoolctl import threadpool_limits

ROUNDS = 15


def call(statement: str | Callable[[], Any], **names: Any) -> timeit.Timer:
    """A statement, as users write it, with the names in it; or a function."""
    return timeit.Timer(statement, timer=time.process_time, globals=names)


def best(*timers: timeit.Timer, seconds: float = 0.02) -> list[float]:
    """The least time of each in microseconds, its rounds taking turns with the others'."""
    threadpool_limits(1)  # of all libraries that are there by now
    counts = [max(1, int(seconds / max(timer.timeit(2) / 2, 1e-9))) for timer in timers]
    least = [float("inf")] * len(timers)
    for _ in range(ROUNDS):
        for at, (timer, count) in enumerate(zip(timers, counts, strict=True)):
            least[at] = min(least[at], timer.timeit(count) / count)
    return [1e6 * each for each in least]


def once(action: Callable[[], Any]) -> float:
    """The time of one call in microseconds."""
    began = time.process_time()
    action()
    return 1e6 * (time.process_time() - began)


def row(name: str, ours: float, peer: str, theirs: float, unit: str = "us") -> None:
    """One line of the table."""
    ratio = f"{theirs / ours:>10,.1f}x"
    print(f"{name:<66} {ours:>10.3f} {unit:<3} {peer:<28} {theirs:>12.2f} {unit:<3}{ratio}")
