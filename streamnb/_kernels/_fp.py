"""`fp.h` for the uncompiled kernels."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["apart", "given", "product_error"]

apart: TypeAlias = Any
given: TypeAlias = Any


def product_error(a: float, b: float, p: float) -> float:
    """The rounding error of the product `p = a * b`, by Dekker's split."""
    if abs(p) < 2.0**-960:
        return 0.0
    # The split must not overflow: a power of two goes from the larger factor to the other.
    if abs(a) > 2.0**970:
        a, b = a * 2.0**-53, b * 2.0**53
    elif abs(b) > 2.0**970:
        a, b = a * 2.0**53, b * 2.0**-53
    ca, cb = 134217729.0 * a, 134217729.0 * b
    ah, bh = ca - (ca - a), cb - (cb - b)
    al, bl = a - ah, b - bh
    return ((ah * bh - p) + ah * bl + al * bh) + al * bl
