"""Where dead letters and predictions go: a topic, a file, standard output.

A sink has two verbs: `write`, which may buffer, and `flush`, after which everything that was
written is durable. A crash between the two loses nothing that a position has passed, because
positions move only after `flush`; so what was written may come again: at least once.
"""

from __future__ import annotations

import json
import math
import os
import select
import stat
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import Protocol

from streamnb.errors import ConfigError, SourceError
from streamnb.stream.addresses import (
    FileAddress,
    KafkaAddress,
    StandardAddress,
    parse_address,
)
from streamnb.stream.deadline import Stopped, within
from streamnb.stream.folder import file_name, make_folder
from streamnb.stream.records import Letter, Record

__all__ = ["Answers", "DeadLetters", "Sink", "check_no_source", "open_answers", "open_dead_letters"]

_BUFFER_BYTES = 1 << 20
_WAIT_SECONDS = 0.1
_GRACE_SECONDS = 0.5


class Sink(Protocol):
    """What all sinks do."""

    topic: str | None
    """The identity of the topic that it writes to; `None` for other sinks."""

    def flush(self) -> None:
        """Return when everything that was written is durable.

        Raises
        ------
        UnavailableError
            it is not, for now; a later `flush` sees to what is missing.
        SourceError, OSError
            it cannot be.
        Stopped
            it waits for a reader, and somebody wishes to stop.
        """

    def close(self) -> None:
        """Close the sink; what was not flushed may be lost."""


class DeadLetters(Sink, Protocol):
    """A sink of records that are no events."""

    def write(self, source: str, partition: int, letter: Letter) -> None:
        """Write a letter, with the place that its record came from."""


class Answers(Sink, Protocol):
    """A sink of predictions."""

    def write(self, record: Record, answer: bytes, refused: Callable[[str], None]) -> None:
        """Write the answer to a record, one JSON object.

        `refused` is called with the reason, now or by `flush`, if the sink can never take it.
        """


def check_no_source(name: str, sink: Sink, identities: Container[str]) -> None:
    """Check that a sink is none of the topics that are read, whatever their servers are called.

    Raises
    ------
    ConfigError
        it is one: what is written would come back, for ever.
    """
    if sink.topic is not None and sink.topic in identities:
        msg = f"{name} and a source are the same topic, {sink.topic}"
        raise ConfigError(msg)


def open_dead_letters(address: str | None, folder: Path, stop: Event) -> DeadLetters:
    """Open the sink at an address; without one, a file for each partition in a folder.

    Raises
    ------
    SourceError
        no broker answers, or the topic is unknown.
    Stopped
        `stop` was set.
    """
    if address is None:
        return _FolderLetters(folder, stop)
    where = parse_address(address)
    if isinstance(where, KafkaAddress):
        from streamnb.stream.kafka.sinks import TopicLetters, open_topic  # noqa: PLC0415 - heavy

        return TopicLetters(open_topic(where, stop))
    return _LineLetters(_lines(where, stop))


def open_answers(address: str, stop: Event) -> Answers:
    """Open the sink of predictions at an address; raises as `open_dead_letters` does."""
    where = parse_address(address)
    if isinstance(where, KafkaAddress):
        from streamnb.stream.kafka.sinks import TopicAnswers, open_topic  # noqa: PLC0415 - heavy

        return TopicAnswers(open_topic(where, stop))
    return _LineAnswers(_lines(where, stop))


def _lines(where: FileAddress | StandardAddress, stop: Event) -> _Lines:
    return _Lines(where.path if isinstance(where, FileAddress) else None, stop)


class _Lines:
    """Lines that are added to a file, or go down a pipe or to a device.

    The file is made, with its folders, when the first line is written. A pipe or a device keeps
    nothing that could be made durable. A reader of it that does not read holds everything up, but
    not longer than until `stop` is set.

    Parameters
    ----------
    path
        Of the file; `None` for standard output.
    stop
        Ends the wait for a reader, with `Stopped`, a moment after it is set.
    """

    def __init__(self, path: Path | None, stop: Event) -> None:
        self._path = path
        self._name = "standard output" if path is None else str(path)
        self._stop = stop
        self._descriptor: int | None = None
        self._is_regular = False
        self._waiting: list[bytes] = []
        self._size = 0
        self._is_dirty = False

    def write(self, line: bytes) -> None:
        self._waiting += (line, b"\n")
        self._size += len(line)
        if self._size > _BUFFER_BYTES:
            self._write_out()

    def flush(self) -> None:
        self._write_out()
        if self._descriptor is not None and self._is_dirty and self._is_regular:
            with self._named():
                os.fsync(self._descriptor)
        self._is_dirty = False

    def close(self) -> None:
        if self._descriptor is not None and self._path is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _write_out(self) -> None:
        if not self._waiting:
            return
        with self._named():
            if self._descriptor is None:
                self._descriptor = self._opened()
            data = memoryview(b"".join(self._waiting))
            if self._is_regular:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            else:
                self._send(self._descriptor, data)
        self._waiting.clear()
        self._size = 0
        self._is_dirty = True

    def _opened(self) -> int:
        """Return the descriptor; say whether it is that of a file, and end a torn line in it."""
        if self._path is None:
            if sys.stdout is None or sys.stdout.closed:
                msg = "standard output is closed"
                raise SourceError(msg)
            descriptor = sys.stdout.fileno()
            self._is_regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
            return descriptor
        make_folder(self._path.parent)
        self._is_regular = not self._path.exists() or self._path.is_file()
        if not self._is_regular:
            what = f"a reader of {self._path}"
            opening = partial(os.open, self._path, os.O_WRONLY | os.O_APPEND)
            return within(math.inf, opening, what, self._stop)
        descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            self._waiting.insert(0, b"\n")  # a writer was killed in the middle of a line
        return descriptor

    def _send(self, descriptor: int, data: memoryview) -> None:
        """Write to what may have no room now; give up some time after the wish to stop."""
        give_up_at = math.inf
        while data:
            if self._stop.is_set():
                give_up_at = min(give_up_at, time.monotonic() + _GRACE_SECONDS)
            if time.monotonic() >= give_up_at:
                raise Stopped(f"a reader of {self._name}")
            # what is ready takes so many bytes without blocking
            if select.select([], [descriptor], [], _WAIT_SECONDS)[1]:
                data = data[os.write(descriptor, data[: select.PIPE_BUF]) :]

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Give the errors of a block the sink's name."""
        try:
            yield
        except OSError as error:
            error.filename = error.filename or self._name
            raise


class _LineLetters:
    """Dead letters as lines of JSON."""

    topic: str | None = None

    def __init__(self, lines: _Lines) -> None:
        self._lines = lines
        self.flush = lines.flush
        self.close = lines.close

    def write(self, source: str, partition: int, letter: Letter) -> None:
        self._lines.write(_as_line(source, partition, letter))


class _FolderLetters:
    """Dead letters as lines of JSON, a file for each partition of a source."""

    topic: str | None = None

    def __init__(self, folder: Path, stop: Event) -> None:
        self._folder = folder
        self._stop = stop
        self._files: dict[tuple[str, int], _Lines] = {}

    def write(self, source: str, partition: int, letter: Letter) -> None:
        lines = self._files.get((source, partition))
        if lines is None:
            path = self._folder / f"{file_name(source, f'-{partition}.jsonl')}"
            lines = _Lines(path, self._stop)
            self._files[source, partition] = lines
        lines.write(_as_line(source, partition, letter))

    def flush(self) -> None:
        for lines in self._files.values():
            lines.flush()

    def close(self) -> None:
        for lines in self._files.values():
            lines.close()


class _LineAnswers:
    """Predictions as lines."""

    topic: str | None = None

    def __init__(self, lines: _Lines) -> None:
        self._lines = lines
        self.flush = lines.flush
        self.close = lines.close

    def write(
        self,
        record: Record,  # noqa: ARG002 - a line has no key
        answer: bytes,
        refused: Callable[[str], None],  # noqa: ARG002 - nor a limit
    ) -> None:
        self._lines.write(answer)


def _as_line(source: str, partition: int, letter: Letter) -> bytes:
    record = letter.record
    return json.dumps(
        {
            "topic": source,
            "partition": partition,
            "offset": record.offset,
            "reason": letter.reason,
            "key": _as_base64(record.key),
            "value": _as_base64(record.value),
        }
    ).encode()


def _as_base64(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()
