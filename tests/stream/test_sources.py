"""Files and standard input, read from any position on."""

import gzip
import io
import os
import sys
import threading
import time
from pathlib import Path

import pytest

from streamnb import SourceError
from streamnb.stream.sources import Batch, FileSource, StandardInput

LINES = b'{"a":1}\r\n\n  \t\n{"b":2}\n{"c":3}'
VALUES = [(0, b'{"a":1}'), (14, b'{"b":2}'), (22, b'{"c":3}')]


def records(batches: list[Batch]) -> list[tuple[int, bytes]]:
    return [(each.offset, each.value) for batch in batches for each in batch.records]


@pytest.fixture(params=["plain", "gzip"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "plain":
        path = tmp_path / "events.jsonl"
        path.write_bytes(LINES)
    else:
        path = tmp_path / "events.jsonl.gz"
        path.write_bytes(gzip.compress(LINES[:20]) + gzip.compress(LINES[20:]))
    return path


def test_reads_every_line_once_from_any_position(file: Path) -> None:
    source = FileSource(file)
    batches = list(source.read(0))
    assert records(batches) == VALUES
    assert batches[-1].next == len(LINES) == source.last()
    for position in (9, 10, 14):
        assert records(list(source.read(position))) == VALUES[1:]
    assert list(source.read(len(LINES))) == []


def test_positions_between_batches_are_positions_to_go_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamnb.stream.sources._BATCH_BYTES", 20)
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"".join(b'{"number":%d}\n' % number for number in range(50)))
    source = FileSource(path)
    batches = list(source.read(0))
    assert len(batches) > 10
    for index, batch in enumerate(batches):
        assert records(list(source.read(batch.next))) == records(batches[index + 1 :])


def test_a_byte_order_mark_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"\xef\xbb\xbf{}\n\xef\xbb\xbf{}")
    batches = list(FileSource(path).read(0))
    assert records(batches) == [(0, b"{}"), (6, b"\xef\xbb\xbf{}")]
    assert batches[-1].next == 11


def test_a_file_that_grows_is_read_on(file: Path) -> None:
    source = FileSource(file)
    end = source.last()
    more = b"\r\n\n{}"
    with file.open("ab") as appended:
        appended.write(gzip.compress(more) if file.suffix == ".gz" else more)
    grown = FileSource(file)
    assert grown.is_still(source.identity)
    assert records(list(grown.read(end))) == [(end + 3, b"{}")]


def test_an_empty_file_may_get_a_first_line(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"")
    before = FileSource(path)
    assert list(before.read(0)) == []
    path.write_bytes(b"{}\n")
    after = FileSource(path)
    assert after.is_still(before.identity)
    assert not before.is_still(after.identity)
    assert after.identity != before.identity


def test_another_first_line_is_another_file(file: Path) -> None:
    before = FileSource(file).identity
    data = LINES.replace(b'"a"', b'"z"')
    file.write_bytes(gzip.compress(data) if file.suffix == ".gz" else data)
    assert not FileSource(file).is_still(before)


def test_a_file_that_shrank_is_an_error(file: Path) -> None:
    with pytest.raises(SourceError, match=rf"{file.name} has shrunk.*byte {len(LINES) + 1}"):
        list(FileSource(file).read(len(LINES) + 1))


def test_a_last_line_that_goes_on_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"a":1}\n{"b"')
    path.write_bytes(b'{"a":1}\n{"b":2}\n')
    with pytest.raises(SourceError, match=r"goes on at byte 12 in the middle of a line"):
        list(FileSource(path).read(12))


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("cut.gz", gzip.compress(os.urandom(99))[:-9], "end-of-stream"),
        ("other.gz", b"not compressed", "Not a gzipped file"),
    ],
)
def test_a_damaged_compressed_file_is_an_error(
    tmp_path: Path, name: str, data: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SourceError, match=rf"{name} cannot be read: .*{reason}"):
        list(FileSource(tmp_path / name).read(0))


def test_no_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"nowhere cannot be read: No such file"):
        FileSource(tmp_path / "nowhere")
    with pytest.raises(SourceError, match=r"cannot be read: Is a directory"):
        FileSource(tmp_path)


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> io.FileIO:
    reading, writing = os.pipe()
    monkeypatch.setattr(sys, "stdin", os.fdopen(reading))
    return io.FileIO(writing, "w")


def test_standard_input_gives_lines_as_they_come(pipe: io.FileIO) -> None:
    source = StandardInput()
    batches = source.read(0)
    pipe.write(b'{"a":1}\n{"b"')
    assert records([next(batches)]) == [(0, b'{"a":1}')]
    pipe.write(b":2}\r\n\n{")
    assert records([next(batches)]) == [(8, b'{"b":2}')]
    pipe.write(b"}")
    pipe.close()
    rest = list(batches)
    assert records(rest) == [(18, b"{}")]
    assert rest[-1].next == 20


def test_standard_input_that_says_nothing_blocks_nobody(pipe: io.FileIO) -> None:
    began = time.monotonic()
    assert next(StandardInput().read(0)) == Batch((), 0)
    assert time.monotonic() - began < 0.5
    pipe.close()


def test_a_long_line_in_many_pieces(pipe: io.FileIO) -> None:
    line = b'{"a":"' + b"x" * 3_000_000 + b'"}'
    writer = threading.Thread(
        target=lambda: (pipe.write(line[:-1]), pipe.write(b"}"), pipe.close())
    )
    writer.start()
    assert records(list(StandardInput().read(0))) == [(0, line)]
    writer.join()


def test_each_run_of_standard_input_is_a_source_of_its_own(pipe: io.FileIO) -> None:
    assert StandardInput().identity != StandardInput().identity
    pipe.close()


def test_a_line_that_is_still_being_written_is_not_torn(tmp_path: Path) -> None:
    """A file that grows between two looks at it: a line whose end comes later is one line."""
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a"')
    source = FileSource(path)
    reading = source.read(0)
    found = [next(reading)]
    with path.open("ab") as file:
        file.write(b': 2}\n{"a": 3}')
    found.extend(reading)
    records = [(record.offset, record.value) for batch in found for record in batch.records]
    assert records == [(0, b'{"a": 1}'), (9, b'{"a": 2}'), (18, b'{"a": 3}')]
    assert found[-1].next == path.stat().st_size


def test_a_file_that_was_replaced_before_its_turn_is_an_error(tmp_path: Path) -> None:
    """The first line is looked at again when the file is read."""
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"{}\n{}\n")
    source = FileSource(path)
    path.write_bytes(b'{"other": 1}\n{}\n')
    with pytest.raises(SourceError, match="first line has changed"):
        list(source.read(0))


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    """What can be read only once is standard input's business; nothing waits for a writer."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(SourceError, match="no regular file"):
        FileSource(path)
