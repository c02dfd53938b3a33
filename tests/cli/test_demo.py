"""`streamnb demo` on a broker of its own, over files, and cut short."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from .commands import command_line, environment

SECONDS = 240


def play(folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command_line("demo"),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        cwd=folder,
        env=environment({"TMPDIR": str(folder), **env}),
    )


def check_story(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout
    workers = re.findall(r"^ +worker \d +([\d,]+) events", told, re.MULTILINE)
    assert len(workers) == 3
    assert all(int(events.replace(",", "")) > 0 for events in workers)
    assert re.search(r"done twice +at (least|most) [\d,]+ events", told)
    assert "201,432 of 201,432 produced; every count is equal" in told
    digits = re.search(r"one pass +([\d.]+) digits at least of each of 252", told)
    assert digits is not None
    assert float(digits[1]) >= 14.0
    accuracy = re.search(r"accuracy +([\d.]+)% of 462 events held out", told)
    assert accuracy is not None
    assert 80.0 < float(accuracy[1]) < 83.0
    answers = re.findall(r"^ +after +([\d,]+) events .* p = ", told, re.MULTILINE)
    assert len(answers) == 5
    assert all(0 < int(events.replace(",", "")) < 201_432 for events in answers)
    last = told.splitlines()[-1]
    assert last.startswith("The merged model is the model of one pass. Done in ")


def check_nothing_is_left(folder: Path) -> None:
    assert list(folder.iterdir()) == []
    if sys.platform == "linux":
        assert running_in(folder) == []


def running_in(folder: Path) -> list[bytes]:
    """Return the command lines of the processes that name a folder."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a process that has just ended
            lines.append(path.read_bytes())
    return [line for line in lines if str(folder).encode() in line]


@pytest.mark.usefixtures("broker_possible")
def test_on_a_broker(tmp_path: Path) -> None:
    done = play(tmp_path)
    check_story(done)
    assert "Apache Kafka" in done.stdout
    check_nothing_is_left(tmp_path)


def test_over_files_where_there_is_no_broker(tmp_path: Path) -> None:
    done = play(tmp_path, PATH=str(tmp_path), JAVA_HOME="")
    check_story(done)
    assert "no Docker: files instead of a topic" in done.stdout
    check_nothing_is_left(tmp_path)


@pytest.mark.usefixtures("broker_possible")
@pytest.mark.one_of("number")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_cut_short_it_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    if number is signal.SIGKILL and sys.platform != "linux":
        pytest.skip("only Linux can be asked to end the processes of one that was killed")
    process = subprocess.Popen(
        command_line("demo"),
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment({"TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}),
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if "a predictor waits" in line:
                break
        process.send_signal(number)
        assert process.wait(30) == (130 if number is not signal.SIGKILL else -signal.SIGKILL)
    finally:
        process.kill()
        process.stdout.close()
    deadline = time.monotonic() + 10
    while running_in(tmp_path):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    if number is not signal.SIGKILL:
        check_nothing_is_left(tmp_path)
