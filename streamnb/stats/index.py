"""From labels and feature names to slots, and their one canonical order.

Slots are given in order of arrival, so that learning is an append. All that leaves a model (its
bytes, its `classes`, the columns of its answers, the order of sums) is in canonical order instead,
by (type name, value), which does not depend on who came first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CodedLabels",
    "Label",
    "LabelIndex",
    "Name",
    "NameIndex",
    "TokenIndex",
    "as_name",
    "canonical_label",
    "canonical_name",
    "label_texts",
    "order_key",
]

Label = str | int | float | bool
Name = str | int | tuple[Any, ...]

# Labels that are equal in Python are one class, shown as the highest of these.
_KINDS = {bool: 0, int: 1, float: 2}


def canonical_label(label: Any) -> Label:
    """A label as it is kept: NumPy's scalars as Python's, -0.0 as 0.0.

    Raises
    ------
    TypeError
        it is no str, int, bool or float.
    ValueError
        it is NaN, or a text with lone surrogates.
    """
    if isinstance(label, str):
        return _text(label)
    if isinstance(label, bool | np.bool_):
        return bool(label)
    if isinstance(label, int | np.integer) and not isinstance(label, np.timedelta64):
        return _whole(label)
    if isinstance(label, float | np.floating):
        if math.isnan(label):
            msg = "NaN is no label"
            raise ValueError(msg)
        return float(label) + 0.0
    msg = f"a label is a str, int, bool or float, not {label!r} ({type(label).__name__})"
    raise TypeError(msg)


def canonical_name(name: Any) -> Name:
    """A feature's name as it is kept: NumPy's scalars as Python's.

    Raises
    ------
    TypeError
        it is no str, no int, and no tuple of them.
    """
    if isinstance(name, str):
        return _text(name)
    if isinstance(name, int | np.integer) and not isinstance(name, bool | np.timedelta64):
        return _whole(name)
    if isinstance(name, tuple):
        return tuple(canonical_name(part) for part in name)
    msg = f"a feature's name is a str, an int or a tuple of them, not {name!r}"
    raise TypeError(msg)


def as_name(name: Any) -> Name:
    """The name that a file holds: its lists are tuples. Raises as `canonical_name` does."""
    return canonical_name(_tuples(name))


def _tuples(name: Any) -> Any:
    return tuple(_tuples(part) for part in name) if isinstance(name, list | tuple) else name


def _whole(number: Any) -> int:
    """A whole number as an int. Raises `ValueError` where Python would not write it in digits."""
    whole = int(number)
    if whole.bit_length() > 64:
        str(whole)
    return whole


def _text(text: str) -> str:
    """A text as a plain str. Raises `UnicodeEncodeError` where UTF-8 cannot write it."""
    if not text.isascii():
        text.encode()
    return str.__str__(text)


def order_key(item: Any) -> tuple[Any, ...]:
    """The key that puts labels, or names, into canonical order."""
    if isinstance(item, tuple):
        return ("tuple", tuple(order_key(part) for part in item))
    return (type(item).__name__, item)


def label_texts(labels: Iterable[Label]) -> list[str]:
    """The labels as texts that are all different: keys of JSON objects, names of columns.

    A label that is not text is written as JSON (`1`, `true`); where a text label among them reads
    the same, with its type (`int:1`).
    """
    labels = list(labels)
    taken = {label for label in labels if isinstance(label, str)}
    texts = []
    for label in labels:
        text = label if isinstance(label, str) else json.dumps(label)
        while not isinstance(label, str) and text in taken:
            text = f"{type(label).__name__}:{text}"
        texts.append(text)
    return texts


@dataclass(frozen=True)
class CodedLabels:
    """The labels of the rows of a table.

    Attributes
    ----------
    distinct
        canonical labels; those that are equal but of different kinds (1 and True) are all there.
    codes
        (n,) the place of each row's label in `distinct`.
    """

    distinct: list[Label]
    codes: NDArray[np.intp]

    def of_rows(self, rows: NDArray[np.bool_]) -> list[Label]:
        """The labels of the rows where `rows` is true."""
        found = np.bincount(self.codes[rows], minlength=len(self.distinct))
        return [label for label, count in zip(self.distinct, found, strict=True) if count]


class LabelIndex:
    """The slots of the classes.

    `slots` maps a label to its slot, `order` lists the labels as they are shown, by slot.
    """

    def __init__(self, labels: Iterable[Label] = ()) -> None:
        self.slots: dict[Label, int] = {}
        self.order: list[Label] = []
        for label in labels:
            self.add(label)

    def find(self, label: Any) -> int | None:
        """The slot of a label, `None` where it has none. Raises as `canonical_label` does."""
        return self.slots.get(canonical_label(label))

    def add(self, label: Any) -> int:
        """The slot of a label, a new one if need be; 1, True and 1.0 share theirs."""
        label = canonical_label(label)
        slot = self.slots.get(label)
        if slot is None:
            slot = self.slots[label] = len(self.order)
            self.order.append(label)
        elif _KINDS.get(type(label), -1) > _KINDS.get(type(self.order[slot]), -1):
            self.order[slot] = label
        return slot

    def drop(self, labels: list[Label]) -> None:
        """Takes back labels that came last; nothing where others came after them."""
        _drop(self.slots, self.order, [canonical_label(label) for label in labels])

    def canonical(self) -> list[int]:
        """The slots in canonical order of their labels."""
        return sorted(range(len(self.order)), key=lambda slot: order_key(self.order[slot]))


class NameIndex:
    """The slots of the features. `slots` maps a name to its slot, `order` lists names by slot."""

    def __init__(self, names: Iterable[Name] = ()) -> None:
        self.slots: dict[Name, int] = {}
        self.order: list[Name] = []
        for name in names:
            self.add(name)

    def find(self, name: Any) -> int | None:
        """The slot of a name, `None` where it has none. Raises as `canonical_name` does."""
        return self.slots.get(canonical_name(name))

    def add(self, name: Any) -> int:
        """The slot of a name, a new one if need be."""
        name = canonical_name(name)
        slot = self.slots.get(name)
        if slot is None:
            slot = self.slots[name] = len(self.order)
            self.order.append(name)
        return slot

    def drop(self, names: list[Name]) -> None:
        """Takes back names that came last; nothing where others came after them."""
        _drop(self.slots, self.order, [canonical_name(name) for name in names])

    def canonical(self) -> list[int]:
        """The slots in canonical order of their names."""
        return sorted(range(len(self.order)), key=lambda slot: order_key(self.order[slot]))


class TokenIndex:
    """The slots of very many names: the order of the mapping is that of the slots, and no list."""

    def __init__(self) -> None:
        self.slots: dict[Name, int] = {}

    def find(self, name: Any) -> int | None:
        """The slot of a name, `None` where it has none. Raises as `canonical_name` does."""
        return self.slots.get(canonical_name(name))

    def add(self, name: Any) -> int:
        """The slot of a name, a new one if need be."""
        if type(name) is not str or not name.isascii():
            name = canonical_name(name)
        return self.slots.setdefault(name, len(self.slots))

    def canonical(self) -> list[tuple[int, Name]]:
        """The slots and names in canonical order of the names."""
        if all(type(name) is str for name in self.slots):
            return [(slot, name) for name, slot in sorted(self.slots.items())]
        return sorted(
            ((slot, name) for name, slot in self.slots.items()), key=lambda pair: order_key(pair[1])
        )


def _drop(slots: dict[Any, int], order: list[Any], items: list[Any]) -> None:
    if items and order[-len(items) :] == items:
        del order[-len(items) :]
        for item in items:
            del slots[item]
