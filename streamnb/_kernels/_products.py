"""`products.h` for the uncompiled kernels."""

from __future__ import annotations

from typing import Any

__all__ = ["add_rows", "rotate_rows"]


def add_rows(out: Any, z: Any, stride: int, a: Any, rows: int, n: int) -> None:
    """Adds the sum over r of a[r] z[r][j] to out[j], for j below n, in the order of the rows."""
    for r in range(rows):
        for j in range(n):
            out[j] += a[r] * z[r * stride + j]


def rotate_rows(u: Any, z: Any, c: float, s: float, n: int) -> None:
    """The rotation (c, s; -s, c) of the rows u and z."""
    for j in range(n):
        a, b = u[j], z[j]
        u[j] = c * a + s * b
        z[j] = c * b - s * a
