"""`products.h` for the uncompiled kernels."""

from __future__ import annotations

from typing import Any

__all__ = ["add_rows", "rotate_rows", "solve_eight", "sum_squares"]


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


def solve_eight(x: Any, u: Any, stride: int, inverse: Any, a: Any) -> None:
    """Solves for x, of eight unknowns, u being the square on the diagonal; puts -x into a."""
    for i in range(8):
        x[i] *= inverse[i]
        a[i] = -x[i]
        for k in range(i + 1, 8):
            x[k] += a[i] * u[i * stride + k]


def sum_squares(x: Any, n: int) -> float:
    """The sum of the squares of n numbers: of every eighth, then of these sums."""
    t = [0.0] * 8
    for i in range(n):
        t[i % 8] += x[i] * x[i]
    return float(((t[0] + t[1]) + (t[2] + t[3])) + ((t[4] + t[5]) + (t[6] + t[7])))
