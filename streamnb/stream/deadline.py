"""Calls that may block, under a deadline and a wish to stop."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from threading import Event, Thread
from typing import TypeVar

from streamnb.errors import SourceError

__all__ = ["Stopped", "UnavailableError", "patiently", "within"]

_Result = TypeVar("_Result")
_STEP_SECONDS = 0.05
_RETRY_SECONDS = 0.2

_log = logging.getLogger("streamnb")


class Stopped(Exception):  # noqa: N818 - no error: somebody wished it
    """Raised where a wait was given up because the worker is to stop."""


class UnavailableError(SourceError):
    """Raised where a broker does not answer now, and may answer later."""


def within(
    seconds: float, call: Callable[[], _Result], what: str, stop: Event | None = None
) -> _Result:
    """Return the result of a call, or raise its error; do not wait longer than `seconds`.

    A call that is given up goes on in its thread, and what it returns is lost: so the client that
    it belongs to must not be used again.

    Raises
    ------
    UnavailableError
        the time is over; `what` says for what.
    Stopped
        `stop` was set while waiting.
    """
    results: list[_Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that waits
            errors.append(error)

    thread = Thread(target=run, name=f"streamnb: {what}", daemon=True)
    thread.start()
    deadline = time.monotonic() + seconds
    while thread.is_alive():
        if stop is not None and stop.is_set():
            raise Stopped(what)
        left = deadline - time.monotonic()
        if left <= 0:
            msg = f"{what}: no answer within {seconds:g} s"
            raise UnavailableError(msg)
        thread.join(min(left, _STEP_SECONDS))
    if errors:
        raise errors[0]
    return results[0]


def patiently(call: Callable[[], _Result], stop: Event, seconds: float = math.inf) -> _Result:
    """Return the result of a call that is made again while it raises `UnavailableError`.

    Raises
    ------
    UnavailableError
        it still does after `seconds`.
    Stopped
        `stop` was set.
    """
    deadline = time.monotonic() + seconds
    has_said = False
    while True:
        try:
            return call()
        except UnavailableError as error:
            if time.monotonic() > deadline:
                raise
            if not has_said:
                has_said = True
                _log.info("%s; waiting for it", error)
            if stop.wait(_RETRY_SECONDS):
                raise Stopped(str(error)) from error
