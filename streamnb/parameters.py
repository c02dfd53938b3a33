"""A parameter is declared once: its default, range, meaning, forms, and whether it shapes a state.

The fields of a likelihood and of a class prior are declared with `parameter`, and so are those that
a model has of its own; a model takes over the others by name with `declared`. The constructors, the
checks, the documentation, the bytes and `--set` of the command line come from these declarations.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import timedelta
from typing import Any

import numpy as np

from streamnb.stats.index import LabelIndex, NameIndex, as_name
from streamnb.values import check_parameter

__all__ = [
    "Parameter",
    "as_mapping",
    "canonical",
    "check_fields",
    "check_flag",
    "comparable",
    "declared",
    "document",
    "number_by_name",
    "own",
    "parameter",
    "restored_by_name",
    "share",
    "whole_number",
]


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
    """A parameter's value, those that mean the same written the same.

    Numbers are floats, a mapping of labels is a list of pairs in canonical order, and so are
    labels without the numbers.
    """
    if isinstance(value, Mapping):
        return _pairs(value, LabelIndex(value))
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | float | np.number):
        return float(value) + 0.0
    if isinstance(value, timedelta):
        return value.total_seconds()
    index = LabelIndex(value)
    return [index.order[slot] for slot in index.canonical()] or None


def _pairs(values: Mapping[Any, Any], index: LabelIndex | NameIndex) -> list[list[Any]]:
    by_slot = dict(zip(map(index.find, values), values.values(), strict=True))
    return [[index.order[slot], float(by_slot[slot]) + 0.0] for slot in index.canonical()]


def as_mapping(value: Any) -> Any:
    """What `canonical` was given, where it may have been a mapping."""
    return dict(value) if isinstance(value, list) else value


def _same(value: Any) -> Any:
    return value


def _plain(value: Any, form: Any) -> Any:
    """A value and its canonical form as JSON has it: a mapping of texts is an object."""
    if isinstance(value, Mapping):
        return dict(form) if all(isinstance(label, str) for label, _ in form) else form
    return int(form) if isinstance(form, float) and form.is_integer() else form


@dataclass(frozen=True)
class Parameter:
    """What is said of a parameter, once.

    Attributes
    ----------
    default
        its value where it is not given.
    doc
        its meaning and unit, for the documentation of all that have it.
    check
        raises `ValueError` or `TypeError` where a value (the first argument) is out of range; the
        second is the parameter's name.
    shapes
        whether it shapes what is stored; else it is a reading, which may be set at any time.
    canonical, restored
        its value as bytes have it, those that mean the same written the same; and back.
    plain
        its value and its canonical form as JSON has it.
    positional
        whether it may be given by position.
    """

    default: Any
    doc: str
    check: Callable[[Any, str], object]
    shapes: bool = False
    canonical: Callable[[Any], Any] = canonical
    restored: Callable[[Any], Any] = _same
    plain: Callable[[Any, Any], Any] = _plain
    positional: bool = False


def parameter(
    *,
    default: Any,
    doc: str,
    check: Callable[[Any, str], object] = check_parameter,
    **more: Any,
) -> Any:
    """A field of a dataclass, or of a model, that is a parameter: see `Parameter`."""
    said = Parameter(default, textwrap.dedent(doc).strip(), check, **more)
    return field(default=default, metadata={"parameter": said})


def declared(owner: type[Any]) -> dict[str, Parameter]:
    """The parameters that a likelihood or a class prior declares, by name."""
    return {
        each.name: each.metadata["parameter"]
        for each in fields(owner)
        if "parameter" in each.metadata
    }


def check_fields(self: Any) -> None:
    """Raises `ValueError` or `TypeError` where a declared field of a dataclass is out of range."""
    for name, said in declared(type(self)).items():
        said.check(getattr(self, name), name)


def document(text: str | None, parameters: Mapping[str, Parameter], section: str) -> str:
    """A docstring with a section of parameters, before its section "Raises" or else at its end."""
    head, mark, tail = (text or "").partition("    Raises\n    ------\n")
    lines = [section, "-" * len(section)]
    for name, said in parameters.items():
        default = "" if said.default is MISSING else f" : default {said.default!r}"
        lines += [name + default, textwrap.indent(textwrap.fill(said.doc, 92), "    ")]
    return head.rstrip() + "\n\n" + textwrap.indent("\n".join(lines), "    ") + "\n\n" + mark + tail


# -- ranges ---------------------------------------------------------------------------------------


def check_flag(value: Any, name: str) -> None:
    """Raises `TypeError` where a value is neither `True` nor `False`."""
    if not isinstance(value, bool):
        msg = f"{name} is True or False, not {value!r}"
        raise TypeError(msg)


def share(value: Any, name: str) -> None:
    """Raises where a value is no number from 0 to 1."""
    if check_parameter(value, name) > 1:
        msg = f"{name} is from 0 to 1, not {value!r}"
        raise ValueError(msg)


def number_by_name(value: Any) -> Any:
    """The canonical form of a number, or of a mapping of feature names to numbers."""
    return _pairs(value, NameIndex(value)) if isinstance(value, Mapping) else canonical(value)


def whole_number(value: Any) -> Any:
    """The canonical form of a whole number, or of `None`."""
    return None if value is None else int(value)


def restored_by_name(value: Any) -> Any:
    """What `number_by_name` was given."""
    if not isinstance(value, list):
        return value
    return {as_name(name): number for name, number in value}
