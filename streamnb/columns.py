"""Labels, weights and times of the rows of a table: columns of one value a row, by position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import survey
from streamnb.stats.index import CodedLabels, canonical_label
from streamnb.values import check_weight, event_time, is_number

__all__ = ["kind_of_error", "read_labels", "read_times", "read_weights"]

Floats = NDArray[np.float64]


def read_labels(y: Any, n: int) -> CodedLabels:
    """The labels of n rows, by position.

    Raises
    ------
    TypeError, ValueError
        another number of labels, or one that is none; names its position.
    """
    array = y.to_numpy() if type(y).__name__ == "Series" else y
    if type(array) is np.ndarray and array.dtype.kind in "iub" and array.shape == (n,):
        coded = _small_numbers(array)
        if coded is not None:
            return coded
    labels = _items(y, n, "labels")
    kinds = set(map(type, labels))
    if not (kinds <= {int, bool} or (kinds == {str} and _is_ascii(labels))):
        labels = _each(labels, canonical_label)
        kinds = set(map(type, labels))
    keys: list[Any] = labels
    if len(kinds) > 1:  # 1 and True are equal, and both are to be seen
        keys = list(zip(map(type, labels), labels, strict=True))
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    codes = np.fromiter(map(places.__getitem__, keys), np.intp, n)
    return CodedLabels([key[1] if len(kinds) > 1 else key for key in places], codes)


def _small_numbers(y: NDArray[Any]) -> CodedLabels | None:
    """Whole numbers or bools that lie close together, coded in a kernel; else `None`."""
    if not y.size or (y.dtype.kind == "u" and y.dtype.itemsize == 8):
        return None
    coded = survey.code(np.ascontiguousarray(y, dtype=np.intp))
    if coded is None:
        return None
    different, codes = coded
    return CodedLabels(list(map(bool if y.dtype.kind == "b" else int, different)), codes)


def _is_ascii(texts: Iterable[str]) -> bool:
    return all(map(str.isascii, set(texts)))


def read_times(t: Any, n: int) -> list[int] | None:
    """The times of n rows in milliseconds, by position, or one for all; `None` without.

    Raises
    ------
    TypeError, ValueError
        another number of times, or one that is none; names its position.
    """
    if t is None:
        return None
    if is_number(t) or isinstance(t, datetime | np.datetime64):
        return [event_time(t)] * n
    if isinstance(t, np.ndarray) and t.dtype.kind == "M":
        t = list(t)
    return _each(_items(t, n, "times"), event_time)


def read_weights(w: Any, n: int) -> Floats:
    """The weights of n rows, by position; 1 for each where there are none, or one for all.

    Raises
    ------
    TypeError, ValueError
        another number of weights, or one that is none; names its position.
    """
    if w is None:
        return np.ones(n)
    if is_number(w):
        return np.full(n, check_weight(w))
    return np.array(_each(_items(w, n, "weights"), check_weight), dtype=np.float64)


def _items(values: Any, n: int, what: str) -> list[Any]:
    """The items of a column of n, in Python's own types where the column has these.

    Raises
    ------
    TypeError
        it is no column: a text, a set, a mapping, a table, or nothing to go through.
    ValueError
        it has another length.
    """
    flat = getattr(values, "ndim", 1) == 1
    if (
        not flat
        or isinstance(values, str | bytes | Mapping | AbstractSet)
        or not isinstance(values, Iterable)
    ):
        msg = f"{what}: a column of {n} is wanted, not {type(values).__name__}"
        raise TypeError(msg)
    is_time = isinstance(values, np.ndarray) and values.dtype.kind in "mM"
    items = values.tolist() if hasattr(values, "tolist") and not is_time else values
    items = list(items)
    if len(items) != n:
        msg = f"{len(items)} {what} for {n} rows"
        raise ValueError(msg)
    return items


def _each(items: list[Any], read: Callable[[Any], Any]) -> list[Any]:
    """What `read` makes of each item; its errors name the position."""
    for row, item in enumerate(items):
        try:
            items[row] = read(item)
        except (TypeError, ValueError) as error:
            msg = f"row {row}: {error}"
            raise kind_of_error(error)(msg) from None
    return items


def kind_of_error(error: Exception) -> type[TypeError | ValueError]:
    """The type of error to raise again with more to say."""
    return TypeError if isinstance(error, TypeError) else ValueError
