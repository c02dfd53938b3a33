"""`scatter.h` for the uncompiled kernels."""

from __future__ import annotations

from typing import Any

__all__ = ["add_products", "deviate", "pack_row"]


def add_products(out: Any, stride: int, z: Any, rows: int, n: int) -> None:
    """Adds the sum of z[r][i] z[r][j] over the rows, from zero and in order, for i <= j < n.

    z[r][j] stands in panels of eight columns, at (j // 8 rows + r) 8 + j % 8.
    """
    for i in range(n):
        for j in range(i // 8 * 8, n):
            total = 0.0
            for r in range(rows):
                left, right = (i // 8 * rows + r) * 8 + i % 8, (j // 8 * rows + r) * 8 + j % 8
                total += z[left] * z[right]
            out[i * stride + j] += total


def pack_row(out: Any, apart: int, row: Any, factor: float, n: int) -> None:
    """Puts a row, times a factor, into panels of eight numbers that are `apart`."""
    for j in range(n):
        out[j // 8 * apart + j % 8] = factor * row[j]


def deviate(out: Any, x: Any, mean: Any, low: Any, f: float, light: bool, n: int) -> None:  # noqa: FBT001
    """Puts x - m into `out` and moves the means m = mean + low by the part f of it.

    Where f is not `light` it is the part by which the mean lags behind x.
    """
    for i in range(n):
        y, u, lo = x[i] + 0.0, mean[i], low[i]
        d = (y - u) - lo
        start, e = (u, d * f) if light else (y, -(d * f))
        g = start + e
        c = g - start
        out[i] = d
        low[i] = ((start - (g - c)) + (e - c)) + (lo if light else 0.0)
        mean[i] = g
