"""`shares.h` for the uncompiled kernels."""

from __future__ import annotations

from math import inf, log
from typing import Any

__all__ = ["log_shares"]


def log_shares(weights: Any, n: int) -> None:
    """Puts the logarithm of each weight's share in the place of the weight."""
    high = max([0.0, *weights[:n]])
    total = 0.0
    for i in range(n):
        weights[i] = weights[i] / high if high > 0.0 else 1.0
        total += weights[i]
    for i in range(n):
        share = weights[i] / total
        weights[i] = log(share) if share > 0.0 else -inf
