"""The values of parameters and states: as a model keeps them, as bytes have them, comparable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import numpy as np

from streamnb.stats.index import LabelIndex

__all__ = ["canonical", "comparable", "own"]


def own(value: Any) -> Any:
    """A parameter's value in Python's own types, not shared with the caller where it can change."""
    if isinstance(value, np.timedelta64):
        return value.astype("timedelta64[us]").item()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return value
    # River's clone looks at the first item of a tuple.
    return value if isinstance(value, tuple) and value else list(value)


def comparable(value: Any) -> Any:
    """A part of a state as what is equal where its bytes are."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    return repr(value)


def canonical(value: Any) -> Any:
    """A parameter's value, those that mean the same written the same."""
    if isinstance(value, Mapping):
        index = LabelIndex(value)
        by_slot = dict(zip(map(index.find, value), value.values(), strict=True))
        return [[index.order[slot], float(by_slot[slot]) + 0.0] for slot in index.canonical()]
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | float | np.number):
        return float(value) + 0.0
    if isinstance(value, timedelta):
        return value.total_seconds()
    index = LabelIndex(value)
    return [index.order[slot] for slot in index.canonical()] or None
