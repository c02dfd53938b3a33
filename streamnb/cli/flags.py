"""The flags that `learn` and `predict` share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from streamnb.cli.progress import LINE_EVERY
from streamnb.cli.settings import Lines, argument, flag
from streamnb.stream.settings import EventFormat

__all__ = ["check_flat", "event_flags", "event_format", "given", "sources", "stream_flags"]

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

_EVENT_FLAGS = {
    "label": "Events are flat: this field is the label, all other scalars are features.",
    "weight_field": "Of flat events: the field of the weight.",
    "time_field": "Of flat events: the field of the time.",
    "id_field": "Of flat events: the field of the id.",
}


class Seconds(click.FloatRange):
    """A number of seconds, 0 or more, and never NaN, which every range lets through."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value} is no number of seconds", param, ctx)
        return seconds


def sources(function: _Decorated) -> _Decorated:
    """Add the argument SOURCE, given once or more."""
    return argument("source", type=Lines(), nargs=-1, required=True, metavar="SOURCE...")(function)


def stream_flags(group: str, start: str, dead_letters: str) -> Callable[[_Decorated], _Decorated]:
    """`--group`, `--until-end`, `--start` and `--dead-letters`, with what each is by default."""
    flags = (
        flag("--group", metavar="NAME", help=f"The consumer group.  [default: {group}]"),
        flag(
            "--until-end/--no-until-end",
            default=None,
            help="Stop at the end that the topics have when this begins.",
        ),
        flag("--start", type=click.Choice(["earliest", "latest"]), help=start),
        flag(
            "--dead-letters",
            metavar="SINK",
            help=f"Where bad events go.  [default: {dead_letters}]",
        ),
        flag(
            "--progress-every",
            metavar="SECONDS",
            type=Seconds(),
            default=LINE_EVERY,
            show_default=True,
            help="Between two lines of progress, where there is no terminal to show a bar on.",
        ),
    )
    return _all(flags)


def event_flags(function: _Decorated) -> _Decorated:
    """Add the flags that say how events are read."""
    flags = [
        flag(f"--{key.replace('_', '-')}", key, metavar="NAME", help=text)
        for key, text in _EVENT_FLAGS.items()
    ]
    return _all(flags)(function)


def event_format(values: Mapping[str, Any]) -> EventFormat | None:
    """Return how events are read, by the flags among `values`; `None` where none is given.

    Raises
    ------
    ConfigError
        The flags contradict each other.
    """
    fields = {key: values[key] for key in _EVENT_FLAGS if values[key] is not None}
    return EventFormat(**fields) if fields else None


def check_flat(given: EventFormat | None, fixed: EventFormat) -> None:
    """Check that where fields of flat events are given, events are flat, by flags or `fixed`.

    Raises
    ------
    click.UsageError
        They are not.
    """
    if given is not None and (given.label or fixed.label) is None:
        names = ", ".join(given.given())
        raise click.UsageError(f"{names}: fields of flat events, which need --label too")


def given(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return those of `values` under these names that are given anywhere: not `None`."""
    return {name: values[name] for name in names if values[name] is not None}


def _all(flags: Any) -> Callable[[_Decorated], _Decorated]:
    def decorate(function: _Decorated) -> _Decorated:
        for each in reversed(list(flags)):
            function = each(function)
        return function

    return decorate
