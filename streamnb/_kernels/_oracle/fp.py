"""`fp.h` for the uncompiled kernels."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = [
    "Apart",
    "Given",
    "fused_sum",
    "one",
    "plain_product_error",
    "product_error",
    "sum_error",
]

Apart: TypeAlias = Any
Given: TypeAlias = Any


def sum_error(a: float, b: float, s: float) -> float:
    """The rounding error of the sum `s = a + b` (D. E. Knuth's TwoSum)."""
    c = s - a
    return (a - (s - c)) + (b - c)


def plain_product_error(a: float, b: float, p: float) -> float:
    """The rounding error of the product `p = a * b`, none of them near the ends of the range."""
    ca, cb = 134217729.0 * a, 134217729.0 * b
    ah, bh = ca - (ca - a), cb - (cb - b)
    al, bl = a - ah, b - bh
    return ((ah * bh - p) + ah * bl + al * bh) + al * bl


def product_error(a: float, b: float, p: float) -> float:
    """The rounding error of the product `p = a * b`, by Dekker's split."""
    if abs(p) < 2.0**-960:
        return 0.0
    # The split must not overflow: a power of two goes from the larger factor to the other.
    if abs(a) > 2.0**970:
        a, b = a * 2.0**-53, b * 2.0**53
    elif abs(b) > 2.0**970:
        a, b = a * 2.0**53, b * 2.0**-53
    return plain_product_error(a, b, p)


def one() -> float:
    """1, which a compiler takes for any number."""
    return 1.0


def fused_sum(a: float, b: float, unit: float) -> float:  # noqa: ARG001 - compiled, it is a factor
    """The sum a + b; `unit` is `one()`."""
    return a + b
