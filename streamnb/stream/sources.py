"""Files and standard input as sources of records.

A source is opened at a position and read to its end. A position is the byte offset of the next
line, inside the compressed stream for a `.gz`, and `read` yields it with every batch, so that
reading can go on from there in another process. (Topics, whose partitions come and go, are in
`streamnb.stream.kafka`.)
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import select
import stat
import sys
import uuid
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from streamnb.errors import SourceError
from streamnb.stream.records import LineRecord, Record

__all__ = ["Batch", "FileSource", "LineSource", "StandardInput"]

_BOM = b"\xef\xbb\xbf"
_BATCH_BYTES = 1 << 18
_WAIT_SECONDS = 0.1
_NO_LINE = hashlib.sha256(b"").hexdigest()


class Batch(NamedTuple):
    """Records in the order of their offsets, and the position after them."""

    records: Sequence[Record]
    next: int


class LineSource(Protocol):
    """A source of one partition, read line by line. Blank lines are no records.

    `name` is what people read, `identity` what makes two sources the same.
    """

    name: str
    identity: str

    def end(self) -> int | None:
        """Return the position of the end as it is now; `None` where it cannot be known."""

    def read(self, position: int) -> Iterator[Batch]:
        """Yield what comes after `position`, up to the end.

        Batches may be empty: one comes at least every fraction of a second, even where the
        source has nothing to say, so that a reader can stop.

        Raises
        ------
        SourceError
            the source cannot be read, or not from this position.
        """


class FileSource:
    """A file of JSON lines, compressed if its name ends in `.gz`.

    A last line without a newline counts; a carriage return before a newline and a byte order
    mark are left out. The identity is the path and the digest of the first line.

    Raises
    ------
    SourceError
        the file cannot be opened or read.
    """

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path
        with self._opened() as file:
            self.identity = self._identity_of(file)

    def end(self) -> int | None:
        """Return the file's size; `None` for a compressed file."""
        return None if self._is_compressed else self._path.stat().st_size

    def last(self) -> int:
        """Return the position of the end, even if all must be read to find it."""
        with self._opened() as file:
            return file.seek(0, io.SEEK_END) if not self._is_compressed else _length(file)

    def is_still(self, identity: str) -> bool:
        """Tell whether this is the file of that identity: the first line may have come since."""
        return identity in (self.identity, self._named(_NO_LINE))

    def read(self, position: int) -> Iterator[Batch]:
        """Yield the lines from a position on.

        Raises
        ------
        SourceError
            the file ends before the position, or the line before it has grown since it was
            read; the file cannot be read or decompressed.
        """
        with self._opened() as file:
            if not self.is_still(self._identity_of(file)) and self.identity != self._named(
                _NO_LINE
            ):
                msg = f"{self.name} is not the file it was: its first line has changed"
                raise SourceError(msg)
            file.seek(0)
            self._go_to(file, position)
            tail = b""  # a line that may go on, while the file grows
            while lines := file.readlines(_BATCH_BYTES):
                lines[0] = tail + lines[0]
                tail = b"" if lines[-1].endswith(b"\n") else lines.pop()
                batch = _batch(lines, position)
                position = batch.next
                yield batch
            if tail:
                yield _batch([tail], position)

    def _named(self, digest: str) -> str:
        return f"file:{self.name}:{digest}"

    def _identity_of(self, file: BinaryIO) -> str:
        """Return the identity that a file just opened has."""
        return self._named(hashlib.sha256(file.readline().rstrip(b"\r\n")).hexdigest())

    @property
    def _is_compressed(self) -> bool:
        return self._path.suffix == ".gz"

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        try:
            mode = self._path.stat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                msg = f"{self.name} is no regular file; a pipe is read as -, from standard input"
                raise SourceError(msg)
            with self._path.open("rb") as raw:
                if not self._is_compressed:
                    yield raw
                else:
                    with gzip.GzipFile(fileobj=raw) as file, io.BufferedReader(file) as buffered:
                        yield buffered
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or error
            msg = f"{self.name} cannot be read: {reason}"
            raise SourceError(msg) from error

    def _go_to(self, file: BinaryIO, position: int) -> None:
        if position == 0:
            return
        file.seek(position - 1)
        before = file.read(1)
        if not before:
            end = self.end()
            what = "has shrunk" if end is None else f"has shrunk to {end} bytes"
            msg = f"{self.name} {what}; it was read up to byte {position}"
            raise SourceError(msg)
        if before == b"\n":
            return
        after = file.read(1)
        if after not in (b"", b"\r", b"\n"):
            msg = (
                f"{self.name} goes on at byte {position} in the middle of a line: its last line "
                "was read before it was written to its end; a new state folder reads it whole"
            )
            raise SourceError(msg)
        file.seek(position)


class StandardInput:
    """Standard input, a source of its own in each run: what it said cannot be read again.

    Raises
    ------
    SourceError
        there is no standard input.
    """

    def __init__(self) -> None:
        self.name = "-"
        self.identity = f"stdin:{uuid.uuid4().hex}"
        if sys.stdin is None or sys.stdin.closed:
            msg = "standard input is closed"
            raise SourceError(msg)
        self._descriptor = sys.stdin.fileno()

    def end(self) -> int | None:
        """Return `None`: nobody knows."""
        return None

    def read(self, position: int) -> Iterator[Batch]:
        """Yield the lines as they come; those of this run begin at position 0."""
        begun: list[bytes] = []
        while True:
            if not select.select([self._descriptor], [], [], _WAIT_SECONDS)[0]:
                yield Batch((), position)
                continue
            some = os.read(self._descriptor, _BATCH_BYTES)
            lines, newline, rest = some.rpartition(b"\n")
            begun.append(lines + newline)
            if newline or not some:
                batch = _batch(io.BytesIO(b"".join(begun)).readlines(), position)
                position = batch.next
                begun.clear()
                yield batch
            else:
                yield Batch((), position)  # a long line: not for too long without a word
            begun.append(rest)
            if not some:
                return


def _batch(lines: Sequence[bytes], position: int) -> Batch:
    """Make records of lines that begin at a position."""
    records = []
    for line in lines:
        value = line.rstrip(b"\r\n")
        if position == 0:
            value = value.removeprefix(_BOM)
        if value and not value.isspace():
            records.append(LineRecord(position, value))
        position += len(line)
    return Batch(records, position)


def _length(file: BinaryIO) -> int:
    """Read a file to its end and return the number of its bytes."""
    while file.read(_BATCH_BYTES):
        pass
    return file.tell()
