"""Signals and exit statuses: 0 done or stopped, 1 failed, 2 wrong usage."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import streamnb
from streamnb import _kernels

from .commands import Refused, Run, Start, command_line, environment, event


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} does not appear"
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_a_learner_in_under_a_second_with_what_it_learned(
    start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    learner = start("learn", "-", "--every", "1")
    assert learner.stdin is not None
    lines = event({"a": 1.0}, "x") + "\n" + event({"a": 2.0}, "x") + "\n"
    learner.stdin.write(lines)
    learner.stdin.flush()
    deadline = time.monotonic() + 20
    while not list(tmp_path.glob(f"streamnb-state/shards/-/*/{len(lines)}.ckpt")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    began = time.monotonic()
    learner.send_signal(number)
    assert learner.wait(20) == 0
    assert time.monotonic() - began < 1.0
    assert streamnb.load(tmp_path / "streamnb-state").class_weight == {"x": 2.0}


def test_a_signal_stops_a_learner_in_the_middle_of_a_file(start: Start, tmp_path: Path) -> None:
    lines = (event({"a": 1.0}, "x") + "\n") * 1_000_000
    (tmp_path / "a.jsonl").write_text(lines)
    learner = start("learn", "a.jsonl", "--every", "1000")
    wait_for(tmp_path / "streamnb-state" / "job.json")
    time.sleep(0.2)
    began = time.monotonic()
    learner.send_signal(signal.SIGTERM)
    status = learner.wait(20)
    assert (status, time.monotonic() - began < 1.0) == (0, True)
    learned = streamnb.load(tmp_path / "streamnb-state")
    counters = learned.provenance.counters
    assert counters is not None
    assert counters.ok * len(lines) // 1_000_000 == sum(r.next for r in learned.provenance.ranges)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_standard_stream_is_a_file_that_keeps_nothing(tmp_path: Path, closed: str) -> None:
    (tmp_path / "a.jsonl").write_text(event({"a": 1.0}, "x") + "\n")
    for args in (("learn", "a.jsonl"), ("predict", "a.jsonl"), ("show", "streamnb-state")):
        line = f"exec {shlex.join(command_line(*args))} {closed}"
        shell = ["/bin/sh", "-c", line]
        done = subprocess.run(
            shell, cwd=tmp_path, env=environment(), check=False, capture_output=True
        )
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert streamnb.load(tmp_path / "streamnb-state").class_weight == {"x": 1.0}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_a_predictor_that_waits_for_a_model(
    start: Start, number: signal.Signals
) -> None:
    predictor = start("predict", "-", "--state", "nowhere")
    assert predictor.stderr is not None
    os.set_blocking(predictor.stderr.fileno(), True)
    time.sleep(2.0)
    began = time.monotonic()
    predictor.send_signal(number)
    assert predictor.wait(20) == 0
    assert time.monotonic() - began < 1.0


def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    script = (
        "import time\n"
        "from streamnb.cli.running import stopped_by_signals\n"
        "with stopped_by_signals() as stop:\n"
        "    print('ready', flush=True)\n"
        "    stop.wait()\n"
        "    print('stopping', flush=True)\n"
        "    time.sleep(60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "stopping\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(5) == -signal.SIGINT
    finally:
        process.kill()
        process.communicate()


def test_the_version_says_which_kernels_are_in_use(run: Run) -> None:
    done = run("--version")
    expected = f"streamnb {streamnb.__version__} (kernels: {_kernels.LEVEL})\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")
    plain = run("--version", STREAMNB_KERNELS="python")
    assert "python" in plain.stdout


def test_help_is_done_and_goes_to_stdout(run: Run) -> None:
    commands = ("learn", "predict", "merge", "show", "demo")
    text = run("--help")
    assert (text.returncode, text.stderr) == (0, "")
    assert all(command in text.stdout for command in commands)
    for command in commands:
        text = run(command, "-h")
        assert (text.returncode, text.stderr) == (0, "")
        assert text.stdout.startswith(f"Usage: streamnb {command}")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "missing command"),
        (("lern",), "no such command: lern (the nearest is learn)"),
        (("--verson",), "no such flag: --verson (the nearest is --version)"),
    ],
)
def test_wrong_usage_ends_with_status_2(
    refused: Refused, args: tuple[str, ...], message: str
) -> None:
    said = refused(*args)
    assert message in said
    assert said.endswith("try 'streamnb --help'\n")


def test_kafka_is_imported_only_where_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(event({"a": 1.0}, "x") + "\n")
    code = (
        "import sys; from streamnb.cli import main\n"
        "try: main(['learn', 'a.jsonl'])\n"
        "except SystemExit as end: print(end.code, {'kafka', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == "0 set()\n"
