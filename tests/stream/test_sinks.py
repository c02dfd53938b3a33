"""Dead letters and answers in files and on standard output; topics are in test_topics.py."""

import base64
import json
import os
import time
from pathlib import Path
from threading import Event, Thread, Timer

import pytest

from streamnb.stream.deadline import Stopped
from streamnb.stream.records import Letter, LineRecord
from streamnb.stream.sinks import open_answers, open_dead_letters

LETTER = Letter(LineRecord(7, b"\xff{"), "no JSON")
LINE = {"offset": 7, "reason": "no JSON", "key": None, "value": base64.b64encode(b"\xff{").decode()}


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_a_file_for_each_partition(tmp_path: Path) -> None:
    letters = open_dead_letters(None, tmp_path / "new" / "letters", Event())
    assert not (tmp_path / "new").exists()
    letters.write("topic", 3, LETTER)
    letters.write("/a/file", 0, LETTER)
    letters.write("topic", 3, LETTER)
    letters.flush()
    letters.close()
    of_topic = tmp_path / "new/letters/topic-3.jsonl"
    assert lines(of_topic) == [{"topic": "topic", "partition": 3, **LINE}] * 2
    of_file = tmp_path / "new/letters/%2Fa%2Ffile-0.jsonl"
    assert lines(of_file) == [{"topic": "/a/file", "partition": 0, **LINE}]


def test_one_file_for_all(tmp_path: Path) -> None:
    path = tmp_path / "letters.jsonl"
    letters = open_dead_letters(str(path), tmp_path, Event())
    letters.write("topic", 3, LETTER)
    letters.write("other", 0, LETTER)
    letters.flush()
    letters.close()
    assert [line["topic"] for line in lines(path)] == ["topic", "other"]


def test_what_is_there_stays_and_a_torn_line_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b'{"n":1}\n{"n"')
    answers = open_answers(str(path), Event())
    answers.write(LineRecord(0, b""), b'{"n":2}', pytest.fail)
    answers.flush()
    answers.write(LineRecord(0, b""), b'{"n":3}', pytest.fail)
    answers.flush()
    answers.close()
    assert path.read_bytes() == b'{"n":1}\n{"n"\n{"n":2}\n{"n":3}\n'


def test_much_is_written_before_it_is_flushed(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    answers = open_answers(str(path), Event())
    for _ in range(3):
        answers.write(LineRecord(0, b""), b"x" * 1_100_000, pytest.fail)
    assert path.stat().st_size == 3 * 1_100_001
    answers.close()


def test_a_device_has_nothing_to_make_durable(tmp_path: Path) -> None:
    answers = open_answers("/dev/null", Event())
    answers.write(LineRecord(0, b""), b'{"n":1}', pytest.fail)
    letters = open_dead_letters("/dev/null", tmp_path, Event())
    letters.write("topic", 3, LETTER)
    for sink in (answers, letters):
        sink.flush()
        sink.close()


def test_errors_name_the_sink(tmp_path: Path) -> None:
    for path in ("/dev/full", str(tmp_path)):
        answers = open_answers(path, Event())
        answers.write(LineRecord(0, b""), b'{"n":1}', pytest.fail)
        with pytest.raises(OSError, match=r"No space|Is a directory") as caught:
            answers.flush()
        assert str(caught.value.filename) == path


def test_a_slow_reader_of_a_pipe_gets_every_line(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []

    def reader() -> None:
        with path.open("rb", buffering=0) as pipe:
            while piece := pipe.read(50_000):
                read.append(piece)
                time.sleep(0.01)

    thread = Thread(target=reader)
    thread.start()
    answers = open_answers(str(path), Event())
    lines = [str(number).encode() * 100 for number in range(3000)]
    for line in lines:
        answers.write(LineRecord(0, b""), line, pytest.fail)
    answers.flush()
    answers.close()
    thread.join()
    assert b"".join(read) == b"".join(line + b"\n" for line in lines)


@pytest.mark.parametrize("has_reader", [False, True])
def test_a_reader_that_does_not_read_is_not_waited_for_once_stopped(
    tmp_path: Path, *, has_reader: bool
) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK) if has_reader else None
    stop = Event()
    answers = open_answers(str(path), stop)
    answers.write(LineRecord(0, b""), b"x" * 1_000_000, pytest.fail)
    Timer(0.3, stop.set).start()
    began = time.monotonic()
    with pytest.raises(Stopped, match=f"a reader of {path}"):
        answers.flush()
    assert 0.3 <= time.monotonic() - began < 1.2
    answers.close()
    if reader is not None:
        os.close(reader)


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    answers, letters = open_answers("-", Event()), open_dead_letters("-", tmp_path, Event())
    answers.write(LineRecord(0, b""), b'{"n":1}', pytest.fail)
    letters.write("topic", 3, LETTER)
    answers.flush()
    letters.flush()
    answers.close()
    letters.close()
    first, second = capfdbinary.readouterr().out.splitlines()
    assert first == b'{"n":1}'
    assert json.loads(second) == {"topic": "topic", "partition": 3, **LINE}
