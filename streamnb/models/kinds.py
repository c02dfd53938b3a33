"""Which block of a `MixedNB` takes a value of a feature that is not named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from streamnb.stats.index import Name
from streamnb.values import is_missing

__all__ = ["BOOLEANS", "NUMBERS", "TEXTS", "check_bool", "kind_of", "split_column"]

# The blocks of features that are not named, by the kind of their values.
NUMBERS, BOOLEANS, TEXTS = range(3)


def check_bool(value: Any, name: Name) -> None:
    """Raises `TypeError` where a value is neither `True` nor `False`, nor missing."""
    if not (isinstance(value, bool | np.bool_) or is_missing(value)):
        msg = f"feature {name!r}: True or False is wanted, not {value!r} ({type(value).__name__})"
        raise TypeError(msg)


_KINDS: dict[type, int] = {float: NUMBERS, int: NUMBERS, str: TEXTS, bool: BOOLEANS}


def kind_of(value: Any) -> int:
    """The block that takes a value of a feature which is not named."""
    place = _KINDS.get(type(value))
    if place is not None:
        return place
    if isinstance(value, str):
        return TEXTS
    return BOOLEANS if isinstance(value, bool | np.bool_) else NUMBERS


def split_column(column: Sequence[Any]) -> dict[int, list[Any]]:
    """The cells of a column by the blocks that take them, the others missing in each."""
    places = [-1 if is_missing(cell) else kind_of(cell) for cell in column]
    return {
        place: [cell if at == place else None for cell, at in zip(column, places, strict=True)]
        for place in sorted({*places} - {-1})
    }
