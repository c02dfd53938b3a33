"""`posterior.h` for the uncompiled kernels."""

from __future__ import annotations

from math import exp, inf
from typing import Any

__all__ = ["best_of", "to_probabilities"]


def best_of(scores: Any, n: int) -> int:
    """The place of the first of the largest; n where all are -inf."""
    high, at = -inf, n
    for i in range(n):
        if scores[i] > high:
            high, at = scores[i], i
    return at


def to_probabilities(scores: Any, out: Any, n: int, high: float) -> None:
    """Puts each class's probability into `out`; `high` is the largest score."""
    total = 0.0
    for i in range(n):
        out[i] = exp(scores[i] - high)
        total += out[i]
    for i in range(n):
        out[i] = out[i] / total
