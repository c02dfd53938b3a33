"""The commands as they are typed: real processes over real files."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from streamnb.cli import main

from .commands import SECONDS, Refused, Run, Start, command_line, environment


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a command to its end in a folder of its own."""

    def run(*args: object, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command_line(*args),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            cwd=tmp_path,
            env=environment(env),
        )

    return run


@pytest.fixture
def refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Refused]:
    """Runs a command in this process that is wrong usage, and returns what it says."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("STREAMNB_")]:
        monkeypatch.delenv(name)
    handlers = logging.root.handlers[:]

    def refused(*args: object) -> str:
        with pytest.raises(SystemExit) as end:
            main([*map(str, args)])
        out, err = capsys.readouterr()
        assert (end.value.code, out) == (2, "")
        assert err.startswith("streamnb: error: ")
        return err

    yield refused
    logging.root.handlers[:] = handlers


@pytest.fixture
def start(tmp_path: Path) -> Iterable[Start]:
    """Starts a command; none of them outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*args: object, **options: Any) -> subprocess.Popen[str]:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        process = subprocess.Popen(
            command_line(*args),
            text=True,
            cwd=tmp_path,
            env=environment(),
            **{**pipes, **options},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
