"""How far a worker is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tqdm import tqdm

if TYPE_CHECKING:
    from streamnb.stream.settings import Progress

__all__ = ["LINE_EVERY", "counted", "describe", "shown"]

LINE_EVERY = 5.0
"""Seconds between two lines of progress."""

_BAR_EVERY = 0.1
_RATED_EVENTS = 1000
"""So few events, in under a second, have no rate worth a word."""

_log = logging.getLogger("streamnb")


@contextmanager
def shown(
    verb: str, line_every: float = LINE_EVERY, *, as_lines: bool = False
) -> Iterator[Callable[[Progress], None]]:
    """Give a block a function that shows progress on standard error, not too often.

    On a terminal it moves a bar; elsewhere, or `as_lines`, it logs a line every `line_every`
    seconds while there is something new. What was given last is always shown.
    """
    view = _Bar(verb) if sys.stderr.isatty() and not as_lines else _Lines(verb)
    every = _BAR_EVERY if isinstance(view, _Bar) else line_every
    last: Progress | None = None
    pending = False
    next_time = time.monotonic() + every

    def show(progress: Progress) -> None:
        nonlocal last, pending, next_time
        pending = pending or progress != last
        last = progress
        now = time.monotonic()
        if pending and now >= next_time:
            view.show(progress)
            pending, next_time = False, now + every

    try:
        yield show
    finally:
        if pending and last is not None:
            view.show(last)
        view.close()


def describe(verb: str, progress: Progress) -> str:
    """`learned 120,000 events (3 bad), 81,000/s, at 83 % of 4 partitions`."""
    others = (
        (progress.bad, "bad"),
        (progress.tombstones, "empty"),
        (progress.gaps, "lost in gaps"),
    )
    besides = ", ".join(f"{number:,} {what}" for number, what in others if number)
    text = f"{verb} {counted(progress.ok, 'event')}" + (f" ({besides})" if besides else "")
    if progress.seconds > 0 and (progress.ok >= _RATED_EVENTS or progress.seconds >= 1):
        text += f", {progress.ok / progress.seconds:,.0f}/s"
    place = counted(len(progress.partitions), "partition")
    part = _part(progress)
    return f"{text}, {place}" if part is None else f"{text}, at {part:.0%} of {place}"


def counted(number: int, thing: str) -> str:
    """Return `1 event`, `2,310 events`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _part(progress: Progress) -> float | None:
    """Return the part that a worker has behind it; `None` where an end is not known."""
    ends = [each.end for each in progress.partitions if each.end is not None]
    if len(ends) < len(progress.partitions) or not any(ends):
        return None
    return min(1.0, sum(each.position for each in progress.partitions) / sum(ends))


class _Lines:
    """Progress as lines of the log."""

    def __init__(self, verb: str) -> None:
        self._verb = verb

    def show(self, progress: Progress) -> None:
        _log.info("%s", describe(self._verb, progress))

    def close(self) -> None:
        """Nothing is left open."""


class _Bar:
    """Progress as a bar, which stays on the terminal as it was last."""

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._bar: tqdm[None] | None = None

    def show(self, progress: Progress) -> None:
        part = _part(progress)
        form = "{desc}" if part is None else "{percentage:3.0f}% |{bar}| {desc}"
        if self._bar is None:
            self._bar = tqdm(
                total=1.0, initial=part or 0.0, file=sys.stderr, dynamic_ncols=True, bar_format=form
            )
        self._bar.bar_format, self._bar.n = form, part or 0.0
        self._bar.set_description_str(describe(self._verb, progress))

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
