"""`twofold.h` for the uncompiled kernels."""

from __future__ import annotations

from typing import Any

from streamnb._kernels._oracle.fp import product_error, sum_error

__all__ = ["subtract_multiple"]


def subtract_multiple(hi: Any, lo: Any, u: Any, u_lo: Any, a: float, a_lo: float, n: int) -> None:
    """Takes (a + a_lo) (u[j] + u_lo[j]) from hi[j] + lo[j], for j below n."""
    for j in range(n):
        p = a * u[j]
        e = product_error(a, u[j], p) + (a * u_lo[j] + a_lo * u[j])
        x = hi[j]
        s = x - p
        t = lo[j] + (sum_error(x, -p, s) - e)
        hi[j] = s + t
        lo[j] = t - (hi[j] - s)
