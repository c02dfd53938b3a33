"""Records as sources deliver them, and the events that their bytes hold.

A record is bytes with a place; an event is what a model learns or answers. Decoding is strict
about what it uses and blind to everything else: a value that is not an event raises one of
`REFUSED`, whose text is the reason that stands in the dead letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from streamnb.errors import ConfigError
from streamnb.stream.settings import EventFormat

__all__ = [
    "AHEAD",
    "REFUSED",
    "Event",
    "Header",
    "Letter",
    "LineRecord",
    "Question",
    "Record",
    "event_decoder",
    "event_time",
    "question_decoder",
]

AHEAD = 3600.0
"""Seconds that an event's own time may lie after its record's timestamp; later is taken as this.

It is the bound that Kafka's brokers set by default on timestamps ahead of their clock. It is
counted from the record alone, so that it does not matter when, or by whom, an event is learned.
"""

_CONTROL = re.compile(rb"[\x00-\x1f]")

REFUSED = (ValueError, TypeError, RecursionError, msgspec.MsgspecError)
"""What decoding raises for a value that is no event, and a model for an event it refuses."""

_REASON_LENGTH = 500

_Decoded = TypeVar("_Decoded")

Scalar = str | int | float | bool
Header = tuple[str, bytes]


class Record(Protocol):
    """One record of a partition: bytes at an offset."""

    @property
    def offset(self) -> int:
        """Where the record stands in its partition."""

    @property
    def timestamp(self) -> int | None:
        """Milliseconds since the epoch; `None` or negative where there are none."""

    @property
    def key(self) -> bytes | None:
        """The key's bytes."""

    @property
    def value(self) -> bytes | None:
        """The value's bytes; `None` for a tombstone."""

    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]:
        """Names and values, in their order."""


class LineRecord(NamedTuple):
    """A line of a file: its offset is that of its first byte."""

    offset: int
    value: bytes
    timestamp: None = None
    key: None = None
    headers: tuple[()] = ()


class Letter(NamedTuple):
    """A record that is no event, and why."""

    record: Record
    reason: str

    @classmethod
    def of(cls, record: Record, error: Exception) -> Letter:
        """Make the letter of a record that was refused with one of `REFUSED`."""
        reason = str(error) or type(error).__name__
        if len(reason) > _REASON_LENGTH:
            reason = f"{reason[:_REASON_LENGTH]}..."
        return cls(record, reason)


class Event(msgspec.Struct, gc=False):
    """What a model learns. `t` is in seconds since the epoch."""

    x: dict[str, Scalar | None]
    y: Scalar
    w: float = 1.0
    t: float | None = None


class Question(msgspec.Struct, gc=False):
    """What a model is asked. `id` is any JSON of one line, and goes into the answer as it is."""

    x: dict[str, Scalar | None]
    id: msgspec.Raw = msgspec.Raw(b"null")


def event_time(event_time: float | None, timestamp: int | None) -> float | None:
    """Return the time of an event in seconds: its own, at most `AHEAD` after its record's.

    That of the record where the event has none, `None` where neither has one. It depends on the
    record alone, never on a clock.
    """
    if timestamp is None or timestamp < 0:
        return event_time
    of_record = timestamp / 1000
    if event_time is None:
        return of_record
    return min(event_time, of_record + AHEAD)


def event_decoder(events: EventFormat, warn: Callable[[str], None]) -> Callable[[bytes], Event]:
    """Return a function from a record's value to its event.

    `warn` is called once, when a flat event first holds a nested value, which is left out.
    The function raises one of `REFUSED` for anything that is not an event.

    Raises
    ------
    ConfigError
        fields of flat events are named, but not that of the label.
    """
    if events.label is None:
        _check_not_flat(events)
        return _all_utf8(msgspec.json.Decoder(Event).decode)
    label, weight, time = events.label, events.weight_field, events.time_field
    fields = _flat_decoder(events, warn)

    def decode(value: bytes) -> Event:
        x = fields(value)
        y = x.pop(label, None)
        if y is None:
            msg = f"no label: the field {label!r} is missing, null or nested"
            raise ValueError(msg)
        w = 1.0 if weight is None else _number(x.pop(weight, 1.0), weight)
        own = None if time is None else x.pop(time, None)
        t = None if own is None else _number(own, time)
        if events.id_field is not None:
            x.pop(events.id_field, None)
        return Event(x, y, w, t)

    return _all_utf8(decode)


def question_decoder(
    events: EventFormat, warn: Callable[[str], None]
) -> Callable[[bytes], Question]:
    """Return a function from a record's value to what is asked; no label or weight is read."""
    if events.label is None:
        _check_not_flat(events)
        question = _all_utf8(msgspec.json.Decoder(Question).decode)

        def with_id_of_one_line(value: bytes) -> Question:
            asked = question(value)
            asked.id = _of_one_line(asked.id)
            return asked

        return with_id_of_one_line
    others = tuple(name for setting, name in events.given().items() if setting != "id_field")
    fields = _flat_decoder(events, warn)
    ids = msgspec.json.Decoder(dict[str, msgspec.Raw])

    def decode(value: bytes) -> Question:
        x = fields(value)
        for name in others:
            x.pop(name, None)
        if events.id_field is None:
            return Question(x)
        x.pop(events.id_field, None)
        raw = ids.decode(value).get(events.id_field)
        return Question(x) if raw is None else Question(x, _of_one_line(raw))

    return _all_utf8(decode)


def _all_utf8(decode: Callable[[bytes], _Decoded]) -> Callable[[bytes], _Decoded]:
    """Return a decoder that refuses what is no UTF-8, also where `decode` does not look."""

    def checked(value: bytes) -> _Decoded:
        if not value.isascii():
            value.decode()
        return decode(value)

    return checked


def _of_one_line(raw: msgspec.Raw) -> msgspec.Raw:
    """Return JSON without line breaks and tabs, which can only stand between its tokens."""
    if _CONTROL.search(raw) is None:
        return raw
    return msgspec.Raw(msgspec.json.format(bytes(raw), indent=-1))


def _flat_decoder(
    events: EventFormat, warn: Callable[[str], None]
) -> Callable[[bytes], dict[str, Scalar | None]]:
    """Return a function from the JSON of a flat event to its scalars."""
    scalars = msgspec.json.Decoder(dict[str, Scalar | None])
    anything = msgspec.json.Decoder(dict[str, Any])
    named = set(events.given().values())
    warned = False

    def decode(value: bytes) -> dict[str, Scalar | None]:
        nonlocal warned
        try:
            return scalars.decode(value)
        except msgspec.ValidationError:
            fields = anything.decode(value)
        nested = [name for name, field in fields.items() if isinstance(field, dict | list)]
        for name in nested:
            del fields[name]
        if nested and not warned and not named.issuperset(nested):
            warned = True
            warn(f"flat events hold nested values, which are left out: {nested[0]!r} is one")
        return fields

    return decode


def _number(value: Scalar | None, name: str | None) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        msg = f"the field {name!r} is a number, not {value!r}"
        raise TypeError(msg)
    return float(value)


def _check_not_flat(events: EventFormat) -> None:
    if given := events.given():
        msg = f"{' and '.join(given)} name fields of flat events, which need the label's too"
        raise ConfigError(msg)
