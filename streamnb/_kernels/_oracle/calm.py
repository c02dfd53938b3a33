"""`calm.h` for the uncompiled kernels."""

from __future__ import annotations

from typing import Any

from streamnb._kernels._oracle.fp import sum_error

__all__ = [
    "SETTLED",
    "are_calm",
    "are_calm_together",
    "calm_stage",
    "calm_stages",
    "is_calm",
    "take_calm",
]


SETTLED = 1024
"""From this whole weight on a cell is settled: hi and lo may be apart."""


def calm_stage(w: float, old: float, old_lo: float) -> float:
    """What an event of weight w asks of a cell of weight old + old_lo, which is settled but for 0.

    Returns
    -------
    0 or 1, all digits; 2, to be calm; 3, to be calm, with hi and lo together.
    """
    if old_lo != 0.0 or not SETTLED <= old <= 2.0**50 or old != int(old):
        return 0.0
    return 1.0 if w != 1.0 else 3.0 if old % 4.0 == 0.0 else 2.0


def calm_stages(n: int, w: Any, old: Any, old_lo: Any, stage: Any, part: Any, product: Any) -> bool:
    """`calm_stage` of each of n; whether all may be calm.

    Of such also the event's part of the new weight, w/(W + w), and that times W.
    """
    for i in range(n):
        stage[i] = calm_stage(w[i], old[i], old_lo[i])
        part[i] = 1.0 / (old[i] + 1.0)
        product[i] = old[i] * part[i]
    return all(stage[i] >= 2.0 for i in range(n))


def is_calm(d: float, squares: float) -> bool:
    """Whether a deviation d is calm beside the sum of squares."""
    return not d * d > squares * 0.015625


def are_calm(mean: Any, mean_lo: Any, squares: Any, x: Any, n: int, d: Any) -> bool:
    """Whether all n values are calm; writes their deviations to d."""
    calm = True
    for i in range(n):
        d[i] = (x[i] - mean[i]) - mean_lo[i]
        calm = is_calm(d[i], squares[i]) and calm
    return calm


def are_calm_together(
    mean: Any, mean_lo: Any, squares: Any, squares_lo: Any, x: Any, n: int, d: Any
) -> bool:
    """`are_calm`, once hi and lo of each cell are together again."""
    for hi, lo in ((mean, mean_lo), (squares, squares_lo)):
        for i in range(n):
            total = hi[i] + lo[i]
            lo[i] = sum_error(hi[i], lo[i], total)
            hi[i] = total
    return are_calm(mean, mean_lo, squares, x, n, d)


def take_calm(mean_lo: Any, squares_lo: Any, d: Any, n: int, f: float, q: float) -> None:
    """Takes n calm deviations d into the lo parts: d f into the mean's, d^2 q into that of S."""
    for i in range(n):
        mean_lo[i] += d[i] * f
        squares_lo[i] += (d[i] * d[i]) * q
