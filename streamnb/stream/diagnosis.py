"""What is probably wrong where no event at all can be read."""

from __future__ import annotations

from difflib import get_close_matches

import msgspec

from streamnb.stream.settings import EventFormat

__all__ = ["likely_setting"]

_LABELS = ("y", "label", "class", "target", "category")
_SHOWN = 8


def likely_setting(events: EventFormat, value: bytes) -> str:
    """Say in a sentence which setting of the events does not fit a value that is no event."""
    try:
        fields = msgspec.json.decode(value)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return f"they are not JSON (one begins with {value[:40]!r}); one JSON object is expected"
    if not isinstance(fields, dict):
        return f"they are JSON, but not objects (one is {value[:40]!r})"
    names = ", ".join(map(repr, list(fields)[:_SHOWN])) + (", ..." if len(fields) > _SHOWN else "")
    if events.label is None:
        if "x" not in fields:
            return f"their fields are {names}: for flat events give --label {_label(fields)}"
        if fields.get("y") is None:
            return f"their fields are {names}: the label is missing, which is expected in 'y'"
        return f"their fields are {names}, with values that the model refuses"
    if events.label in fields:
        return f"their fields are {names}, with values that the model refuses"
    if isinstance(fields.get("x"), dict):
        return f"their fields are {names}, and not {events.label!r}: leave --label out"
    return f"their fields are {names}, and not {events.label!r}: give --label {_label(fields)}"


def _label(fields: dict[str, object]) -> str:
    """Return the field that is most likely the label's."""
    by_name = [
        name for label in _LABELS for name in get_close_matches(label, fields, n=1, cutoff=0.8)
    ]
    texts = [name for name, field in fields.items() if isinstance(field, str)]
    return next(iter(by_name + texts + list(fields)), "NAME")
