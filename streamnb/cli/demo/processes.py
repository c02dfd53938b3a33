"""The demo's processes: `streamnb` itself, started as users do, and watched by its output."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import click

import streamnb
from streamnb import GaussianNB

__all__ = ["Process", "Processes", "merged", "processes", "wait_until"]

_COUNT = re.compile(r"(?:learned|predicted) (?P<events>[\d,]+) events?")
_OWNS = re.compile(r"learn \S+ \[(?P<partition>\d+)\] from (?P<position>\d+) on")
_OWNS_NO_MORE = re.compile(r"gave up \S+ \[(?P<partition>\d+)\]")
_STOP_SECONDS = 20.0
_PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None)


class Process:
    """One `streamnb` command that runs.

    Attributes
    ----------
    name
        What the demo calls it.
    events
        The events it said it has done; the last that it said before its end stay.
    partitions
        The partitions it said it has, and the position of each that it began at.
    """

    def __init__(self, name: str, *args: str) -> None:
        self.name = name
        self.events = 0
        self.partitions: dict[int, int] = {}
        self._said: deque[str] = deque(maxlen=20)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "streamnb.cli", *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            bufsize=1,
            env=_environment(),
            # One call of the C library, which takes no lock of ours.
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def status(self) -> int | None:
        """The exit status; `None` while it runs."""
        return self._process.poll()

    def ask(self, line: str) -> str:
        """Write a line to its standard input, and return the next of its standard output."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise self._failed("has no pipes")
        stdin.write(line + "\n")
        stdin.flush()
        return stdout.readline()

    def kill(self) -> None:
        """End it with SIGKILL, and take in what it had said."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it with SIGTERM.

        Raises
        ------
        click.ClickException
            It did not end well.
        """
        self._end(signal.SIGTERM)
        self.check(0)

    def finish(self, seconds: float) -> None:
        """Wait until it ends by itself.

        Raises
        ------
        click.ClickException
            It did not end in this time, or not well.
        """
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise self._failed(f"is not done after {seconds:.0f} s") from error
        self._reader.join()
        self.check(0)

    def check(self, status: int | None = None) -> None:
        """Raise unless its exit status is `status` (`None`: it runs).

        Raises
        ------
        click.ClickException
            With the last lines that it wrote.
        """
        if self.status != status:
            raise self._failed(f"ended with status {self.status}")

    def _end(self, number: int) -> None:
        self._process.send_signal(number)
        self._process.wait(_STOP_SECONDS)
        self._reader.join()

    def _failed(self, what: str) -> click.ClickException:
        return click.ClickException("\n    ".join([f"{self.name} {what}:", *self._said]))

    def _read(self) -> None:
        for line in self._process.stderr or ():
            self._said.append(line.rstrip())
            if count := _COUNT.search(line):
                self.events = int(count["events"].replace(",", ""))
            if begun := _OWNS.search(line):
                self.partitions[int(begun["partition"])] = int(begun["position"])
            if ended := _OWNS_NO_MORE.search(line):
                self.partitions.pop(int(ended["partition"]), None)


class Processes(list[Process]):
    """The processes that were started, in their order; `interrupted` ends the waiting for them."""

    def __init__(self, interrupted: Event) -> None:
        super().__init__()
        self.interrupted = interrupted

    def start(self, name: str, *args: str) -> Process:
        """Start `streamnb` with these arguments."""
        process = Process(name, *args)
        self.append(process)
        return process


@contextmanager
def processes(interrupted: Event) -> Iterator[Processes]:
    """Give a block its processes; none of them outlives it."""
    started = Processes(interrupted)
    try:
        yield started
    finally:
        for process in started:
            if process.status is None:
                process.kill()


def wait_until(
    what: str, done: Callable[[], bool], alive: Processes, seconds: float = 60.0
) -> None:
    """Wait until `done()`; `what` names it in the error.

    Raises
    ------
    click.ClickException
        It has not come true in this time, or a process has failed.
    KeyboardInterrupt
        The demo was interrupted.
    """
    deadline = time.monotonic() + seconds
    while not done():
        if alive.interrupted.is_set():
            raise KeyboardInterrupt
        for process in alive:
            if process.status not in (None, 0, -signal.SIGKILL):
                process.check()
        if time.monotonic() > deadline:
            raise click.ClickException(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.05)


def merged(folder: Path, *states: Path) -> GaussianNB:
    """Merge state folders with `streamnb merge`, and return the model.

    Raises
    ------
    click.ClickException
        The command failed.
    """
    path = folder / "model.nb"
    with processes(Event()) as started:
        merge = started.start("merge", "merge", *map(str, states), "-o", str(path))
        merge.finish(60.0)
    model = streamnb.load(path)
    if not isinstance(model, GaussianNB):
        raise click.ClickException(f"the merged model is a {type(model).__name__}")
    return model


def _die_with_parent() -> None:
    """Ask Linux to kill this process when the demo is killed."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _environment() -> dict[str, str]:
    """Return the environment without settings that are not meant for the demo's commands."""
    kept = {"STREAMNB_KERNELS", "STREAMNB_CACHE"}
    return {
        name: value
        for name, value in os.environ.items()
        if name in kept or not name.startswith("STREAMNB_")
    }
