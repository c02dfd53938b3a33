"""The commands as they are typed: real processes over real files."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from .commands import SECONDS, Run, Start, command_line, environment


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
        process.communicate()
