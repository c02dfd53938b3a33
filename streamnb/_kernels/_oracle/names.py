"""`names.h` for the uncompiled kernels: the mapping is enough."""

from __future__ import annotations

from math import inf
from typing import Any

from streamnb._kernels._oracle.fp import sum_error

__all__ = ["enter_names", "read_tokens"]


def enter_names(
    known: dict[Any, int],
    position: int,  # noqa: ARG001
    table: Any,  # noqa: ARG001
    mask: int,  # noqa: ARG001
    places: Any,  # noqa: ARG001
) -> int:
    """Says that all names are there."""
    return len(known)


def read_tokens(
    event: dict[Any, Any],
    known: dict[Any, int],
    fresh: list[tuple[Any, float]] | None,
    table: Any,  # noqa: ARG001
    mask: int,  # noqa: ARG001
    places: Any,  # noqa: ARG001
    cells: Any,  # noqa: ARG001
    threshold: float,
    most: float,
    binary: Any,
    trusted: Any,
    room: int,
    slots: Any,
    counts: Any,
) -> int:
    """Read the tokens of an event that have slots; those that have none go to `fresh`.

    Returns
    -------
    How many they are, the sum of all counts standing behind theirs; or -1 where a token or a count
    asks for the long way.
    """
    n = 0
    if len(event) >= room:
        return -1
    total = rest = 0.0
    for name, value in event.items():
        if not (trusted or type(name) is str) or type(value) not in (float, int):
            return -1
        try:
            v = float(value)
        except OverflowError:
            return -1
        if not 0.0 <= v <= most:
            return -1
        if v <= threshold:
            if not trusted and not name.isascii():
                return -1
            continue
        if binary:
            v = 1.0
        s = total + v
        rest += sum_error(total, v, s)
        total = s
        slot = known.get(name)
        if slot is not None:
            slots[n] = slot
            counts[n] = v
            n += 1
            continue
        if not trusted and not name.isascii():
            return -1
        if fresh is not None:
            fresh.append((name, v))
    counts[n] = total + rest if total < inf else total
    return n
