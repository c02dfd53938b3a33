"""Where dead letters and predictions go: a topic, a file, standard output.

A sink has two verbs: `write`, which may buffer, and `flush`, after which everything that was
written is durable. A crash between the two loses nothing that a position has passed, because
positions move only after `flush`; so what was written may come again: at least once.
"""

from __future__ import annotations

import io
import json
import os
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Protocol

from streamnb.stream.addresses import FileAddress, KafkaAddress, parse_address
from streamnb.stream.folder import file_name, make_folder
from streamnb.stream.records import Letter, Record

__all__ = ["Answers", "DeadLetters", "Sink", "open_answers", "open_dead_letters"]

_BUFFER_BYTES = 1 << 20


class Sink(Protocol):
    """What all sinks do."""

    def flush(self) -> None:
        """Return when everything that was written is durable.

        Raises
        ------
        UnavailableError
            it is not, for now; a later `flush` sees to what is missing.
        SourceError, OSError
            it cannot be.
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
        return _FolderLetters(folder)
    where = parse_address(address)
    if isinstance(where, KafkaAddress):
        from streamnb.stream.kafka.sinks import TopicLetters, open_topic  # noqa: PLC0415 - heavy

        return TopicLetters(open_topic(where, stop))
    return _LineLetters(_Lines(where.path) if isinstance(where, FileAddress) else _StandardOutput())


def open_answers(address: str, stop: Event) -> Answers:
    """Open the sink of predictions at an address; raises as `open_dead_letters` does."""
    where = parse_address(address)
    if isinstance(where, KafkaAddress):
        from streamnb.stream.kafka.sinks import TopicAnswers, open_topic  # noqa: PLC0415 - heavy

        return TopicAnswers(open_topic(where, stop))
    return _LineAnswers(_Lines(where.path) if isinstance(where, FileAddress) else _StandardOutput())


class _Lines:
    """A file that lines are added to; made, with its folders, when the first is written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: io.FileIO | None = None
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
        if self._file is not None and self._is_dirty:
            os.fsync(self._file.fileno())
            self._is_dirty = False

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _write_out(self) -> None:
        if not self._waiting:
            return
        if self._file is None:
            make_folder(self._path.parent)
            self._file = self._path.open("a+b", buffering=0)
            size = self._file.seek(0, io.SEEK_END)
            if size and os.pread(self._file.fileno(), 1, size - 1) != b"\n":
                self._waiting.insert(0, b"\n")  # a writer was killed in the middle of a line
        data = memoryview(b"".join(self._waiting))
        while data:
            data = data[self._file.write(data) or 0 :]
        self._waiting.clear()
        self._size = 0
        self._is_dirty = True


class _StandardOutput:
    """Standard output, a line at a time."""

    def write(self, line: bytes) -> None:
        sys.stdout.buffer.write(line + b"\n")

    def flush(self) -> None:
        sys.stdout.buffer.flush()

    def close(self) -> None:
        """Nothing: it was here before."""


class _LineLetters:
    """Dead letters as lines of JSON."""

    def __init__(self, lines: _Lines | _StandardOutput) -> None:
        self._lines = lines
        self.flush = lines.flush
        self.close = lines.close

    def write(self, source: str, partition: int, letter: Letter) -> None:
        self._lines.write(_as_line(source, partition, letter))


class _FolderLetters:
    """Dead letters as lines of JSON, a file for each partition of a source."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[tuple[str, int], _Lines] = {}

    def write(self, source: str, partition: int, letter: Letter) -> None:
        lines = self._files.get((source, partition))
        if lines is None:
            lines = _Lines(self._folder / f"{file_name(source)}-{partition}.jsonl")
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

    def __init__(self, lines: _Lines | _StandardOutput) -> None:
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
