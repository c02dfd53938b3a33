"""Likelihoods as plain data: what files and settings hold of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from streamnb.likelihoods.base import LIKELIHOODS, Likelihood
from streamnb.likelihoods.text import Text
from streamnb.stats.index import Name, as_name

__all__ = ["likelihoods_of", "plain"]

_KEY = "likelihood"


def likelihoods_of(blocks: Any) -> dict[Name, Any]:
    """The likelihood of each feature that `blocks` names.

    Parameters
    ----------
    blocks
        a mapping of names to likelihoods, or such a list of pairs, or `None`. A likelihood may be
        given as plain data: its name ("boolean"), or a mapping or list of pairs of "likelihood"
        (its name) and its parameters.

    Raises
    ------
    TypeError, ValueError
        something else, or a parameter out of range; names the feature.
    """
    found: dict[Name, Any] = {}
    for name, given in _pairs(blocks):
        name = as_name(name)  # noqa: PLW2901 - the same name
        if name in found:
            msg = f"blocks: {name!r} is given twice"
            raise ValueError(msg)
        found[name] = _likelihood(given, name)
    return found


def _pairs(blocks: Any) -> Iterable[tuple[Any, Any]]:
    if blocks is None:
        return []
    if isinstance(blocks, Mapping):
        return blocks.items()
    pairs = list(blocks) if isinstance(blocks, list | tuple) else None
    if pairs is None or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
        msg = f"blocks is a mapping of features to likelihoods, not {blocks!r}"
        raise TypeError(msg)
    return pairs


def _likelihood(given: Any, name: Name) -> Any:
    if isinstance(given, Likelihood) and given.name:
        likelihood = given
    else:
        parameters = {_KEY: given} if isinstance(given, str) else given
        if isinstance(given, list) and given:
            parameters = dict(_pairs(given))
        if not isinstance(parameters, Mapping) or _KEY not in parameters:
            known = ", ".join(each.__name__ for each in LIKELIHOODS.values())
            msg = f"blocks: {name!r} is read by one of {known}, not {given!r}"
            raise TypeError(msg)
        likelihood = _made(dict(parameters), name)
    if isinstance(likelihood, Text) and likelihood.field != name:
        msg = f"blocks: {name!r} is a Text of the field {likelihood.field!r}"
        raise ValueError(msg)
    return likelihood


def _made(parameters: dict[str, Any], name: Name) -> Any:
    kind = parameters.pop(_KEY)
    make: Any = LIKELIHOODS.get(kind) if isinstance(kind, str) else None
    if make is None:
        msg = f"blocks: {name!r}: no such likelihood: {kind!r}; there are {', '.join(LIKELIHOODS)}"
        raise ValueError(msg)
    if make is Text:
        parameters.setdefault("field", name)
    try:
        return make(**parameters)
    except (TypeError, ValueError) as error:
        msg = f"blocks: {name!r}: {error}"
        raise type(error)(msg) from error


def plain(likelihood: Any) -> dict[str, Any]:
    """A likelihood as plain data, those that are equal written the same."""
    values = {each.name: getattr(likelihood, each.name) for each in fields(likelihood) if each.init}
    return {_KEY: likelihood.name} | {key: _plain(v) for key, v in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if value is None or isinstance(value, str | bool):
        return value
    return float(value) + 0.0
