"""`walk.h` for the uncompiled kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["walk"]


def walk(
    event: dict[Any, Any], names: Sequence[Any], values: Any, small: float, large: float
) -> int:
    """Put the values of an event into `values` while its names are those of `names`.

    Returns
    -------
    Their number, or -1 where a name or a value asks for the long way.
    """
    if len(event) > len(names):
        return -1
    for at, (name, value) in enumerate(event.items()):
        if name is not names[at] and not (
            type(name) is type(names[at]) is str and name == names[at]
        ):
            return -1
        if type(value) is not float or not (value == 0.0 or small <= abs(value) <= large):
            return -1
        values[at] = value + 0.0
    return len(event)
