"""How a command runs and ends: its logs, its signals, its exit status."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event
from types import FrameType

import click
from tqdm import tqdm

from streamnb.errors import ConfigError, StreamNBError

__all__ = ["log_to_stderr", "run", "settings_checked", "stopped_by_signals"]

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def run(group: click.Group, args: Sequence[str] | None = None) -> int:
    """Run a command line (`sys.argv` if `None`) and return its exit status.

    0: done, or stopped by a signal. 1: failed. 2: wrong usage or settings. An error is one line on
    standard error. A reader of standard output that went away ends the command with 1 and without
    a word; Ctrl-C in a command that has nothing to bring to an end, with 130.
    """
    try:
        status = group.main(args, prog_name="streamnb", standalone_mode=False)
        sys.stdout.flush()
    except click.UsageError as error:
        return _usage_error(error)
    except click.ClickException as error:
        return _failed(error.format_message())
    except StreamNBError as error:
        return _failed(error)
    except BrokenPipeError:
        # what is still in the buffer has nowhere to go, and would fail again at the very end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        return _failed(f"{error.filename}: {error.strerror}" if error.filename else error)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    return status if isinstance(status, int) else DONE


def _failed(error: object) -> int:
    click.echo(f"streamnb: error: {error}", err=True)
    return FAILED


def _usage_error(error: click.UsageError) -> int:
    message = error.format_message().removesuffix(".")
    if message[1:2].islower():
        message = message[0].lower() + message[1:]
    click.echo(f"streamnb: error: {message}", err=True)
    if error.ctx is not None:
        click.echo(f"try '{error.ctx.command_path} --help'", err=True)
    return USAGE


@contextmanager
def settings_checked() -> Iterator[None]:
    """Make settings that can never be right wrong usage, which ends with status 2, not 1."""
    try:
        yield
    except ConfigError as error:
        raise click.UsageError(str(error)) from error


@contextmanager
def stopped_by_signals() -> Iterator[Event]:
    """Give a block an event that SIGTERM and Ctrl-C set; a second signal ends the process."""
    stop = Event()
    signals = (signal.SIGINT, signal.SIGTERM)

    def on_signal(_: int, __: FrameType | None) -> None:
        for each in signals:
            signal.signal(each, signal.SIG_DFL)
        stop.set()

    before = {each: signal.signal(each, on_signal) for each in signals}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def log_to_stderr() -> None:
    """Send the logs of streamnb, and the warnings of what it uses, to standard error.

    Kafka's client warns of every broken connection and every slow moment; streamnb says itself
    when there is trouble that lasts.
    """
    handler = _StderrHandler()
    handler.setFormatter(_LogFormat())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("streamnb").setLevel(logging.INFO)
    logging.getLogger("kafka").setLevel(logging.CRITICAL)


class _StderrHandler(logging.Handler):
    """Writes above a progress bar, where there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; work goes on where nobody reads the log any more."""
        try:
            tqdm.write(self.format(record), file=sys.stderr)
        except OSError:
            self.handleError(record)


class _LogFormat(logging.Formatter):
    """`streamnb: message`; above INFO with the level: `streamnb: warning: message`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with the name of the library that logs."""
        level = "" if record.levelno <= logging.INFO else f"{record.levelname.lower()}: "
        return f"{record.name.partition('.')[0]}: {level}{super().format(record)}"
