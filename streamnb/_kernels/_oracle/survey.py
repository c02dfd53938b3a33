"""`survey.h` for the uncompiled kernels."""

from __future__ import annotations

from typing import Any

__all__ = ["any_unusual"]


def any_unusual(values: Any, n: int, small: float, large: float) -> bool:
    """Whether the size of any of n values is neither 0 nor from `small` to `large`; NaN is none."""
    return any(v != 0.0 and not small <= abs(v) <= large for v in values[:n])
