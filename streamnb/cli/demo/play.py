"""The demo from its first line to its last."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from types import FrameType

import click

from streamnb.cli.demo.brokers import find_broker
from streamnb.cli.demo.events import SEED, image_segments
from streamnb.cli.demo.over_files import over_files
from streamnb.cli.demo.over_kafka import over_kafka
from streamnb.cli.demo.processes import processes
from streamnb.cli.demo.story import Stage, Teller, tell_ending

__all__ = ["play"]


def play() -> bool:
    """Play the demo, and return whether all that came out is as it has to be.

    Raises
    ------
    click.ClickException
        A process failed, or something that must happen did not, in time.
    """
    click.echo("streamnb: one model from four partitions, several workers, and a SIGKILL\n")
    teller = Teller()
    learned, held_out = image_segments()
    made = f"{len(learned):,} labelled events from ImageSegments, seed {SEED}"
    teller.say(f"{made}; {len(held_out)} more are held out")
    with ExitStack() as stack:
        interrupted = stack.enter_context(_interruptible())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="streamnb-demo-")))
        found = stack.enter_context(find_broker())
        teller.say(found.what)
        interrupted.is_waited_for = found.bootstrap is not None
        started = stack.enter_context(processes(interrupted))
        stage = Stage(learned, held_out, folder, started, teller)
        if found.bootstrap is None:
            ending = over_files(stage)
        else:
            ending = over_kafka(stage, found.bootstrap)
    return tell_ending(ending, stage)


class _Interrupted(Event):
    """Set by SIGTERM and Ctrl-C.

    The first of them also raises KeyboardInterrupt, until `is_waited_for`: from then on clients of
    Kafka are at work, which are not made to be left in the middle, and every wait of the demo looks
    at the event. The second raises in any case.
    """

    is_waited_for = False


@contextmanager
def _interruptible() -> Iterator[_Interrupted]:
    """Let SIGTERM and Ctrl-C unwind the block, so that nothing that was started stays."""
    interrupted = _Interrupted()

    def interrupt(_: int, __: FrameType | None) -> None:
        is_second = interrupted.is_set()
        interrupted.set()
        if is_second or not interrupted.is_waited_for:
            raise KeyboardInterrupt

    before = {each: signal.signal(each, interrupt) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupted
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
