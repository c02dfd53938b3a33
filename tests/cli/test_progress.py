"""A bar on a terminal, lines elsewhere; what is shown last is the end."""

from __future__ import annotations

import fcntl
import logging
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from streamnb.cli.progress import describe, shown
from streamnb.stream.settings import PartitionProgress, Progress

from .commands import Run, command_line, environment, write_events


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (Progress(), "learned 0 events, 0 partitions"),
        (Progress(ok=1500, seconds=0.5), "learned 1,500 events, 3,000/s, 0 partitions"),
        (Progress(ok=999, seconds=0.01), "learned 999 events, 0 partitions"),
        (Progress(ok=2, seconds=2.0), "learned 2 events, 1/s, 0 partitions"),
        (Progress(ok=2, bad=3), "learned 2 events (3 bad), 0 partitions"),
        (
            Progress(tombstones=1, gaps=4000),
            "learned 0 events (1 empty, 4,000 lost in gaps), 0 partitions",
        ),
        (
            Progress(5, partitions=(PartitionProgress("t", 0, 5, None),)),
            "learned 5 events, 1 partition",
        ),
        (
            Progress(
                5, partitions=(PartitionProgress("t", 0, 5, 10), PartitionProgress("t", 1, 0, 10))
            ),
            "learned 5 events, at 25% of 2 partitions",
        ),
        (Progress(partitions=(PartitionProgress("t", 0, 0, 0),)), "learned 0 events, 1 partition"),
    ],
)
def test_progress_in_words(progress: Progress, text: str) -> None:
    assert describe("learned", progress) == text


def test_lines_come_at_most_as_often_as_asked_and_the_last_is_the_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "streamnb")
    with shown("learned", 3600.0) as report:
        for number in range(100):
            report(Progress(ok=number))
    assert caplog.messages == ["learned 99 events, 0 partitions"]
    caplog.clear()
    with shown("learned", 0.0) as report:
        for number in (1, 1, 2, 2, 2):
            report(Progress(ok=number))
    first, second = "learned 1 event, 0 partitions", "learned 2 events, 0 partitions"
    assert caplog.messages == [first, second]


def test_nothing_reported_is_nothing_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "streamnb")
    with shown("learned"):
        pass
    assert caplog.messages == []


def test_a_command_whose_stderr_is_no_terminal_writes_plain_lines(run: Run, tmp_path: Path) -> None:
    write_events(tmp_path / "a.jsonl", 50)
    lines = run("learn", "a.jsonl").stderr.splitlines()
    assert lines[-1].startswith("streamnb: learned 50 events")
    assert all(line.startswith("streamnb: ") and "\r" not in line for line in lines)


def test_files_that_are_done_are_counted(run: Run, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_events(tmp_path / f"{name}.jsonl", 20, first=ord(name))
    done = run("learn", "a.jsonl", "b.jsonl", "c.jsonl")
    assert done.stderr.splitlines()[-1].endswith("learned 60 events, at 100% of 3 partitions")


def test_a_command_on_a_terminal_draws_a_bar(tmp_path: Path) -> None:
    write_events(tmp_path / "a.jsonl", 50)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    process = subprocess.Popen(
        command_line("learn", "a.jsonl"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        cwd=tmp_path,
        env=environment(),
    )
    os.close(theirs)
    screen = b""
    try:
        while piece := os.read(ours, 4096):
            screen += piece
    except OSError:
        pass  # Linux ends a pseudo-terminal whose other side is closed with EIO
    finally:
        os.close(ours)
    assert process.wait(20) == 0
    text = screen.decode()
    assert "\r" in text
    assert "100%" in text
    assert "learned 50 events" in text
