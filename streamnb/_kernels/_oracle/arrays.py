"""`arrays.h` for the uncompiled kernels."""

from __future__ import annotations

from typing import Any

__all__ = ["doubles_of", "longs_of", "onward"]


def doubles_of(array: Any) -> Any:
    """The numbers of a C-contiguous array of doubles."""
    return memoryview(array.reshape(-1).data)


def longs_of(array: Any) -> Any:
    """The numbers of a C-contiguous array of whole numbers."""
    return memoryview(array.reshape(-1).data)


def onward(p: Any, i: int) -> Any:
    """The numbers of p from number i on."""
    return p[i:]
