"""Every form of the kernels, compiled for each CPU level and uncompiled, gives the same bits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from streamnb import _kernels

from . import kernel_streams

SCRIPT = Path(__file__).with_name("kernel_streams.py")


def run(level: str, *program: str) -> list[str]:
    """The lines that a program prints with the kernels of a level."""
    done = subprocess.run(
        [sys.executable, *program],
        env={**os.environ, "STREAMNB_KERNELS": level},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def here() -> list[str]:
    """What the kernels of this process leave of the scripted streams."""
    return list(kernel_streams.lines())


def test_the_streams_learn_something() -> None:
    """The comparison is of models that hold classes, features, fractions and extremes."""
    models = [kernel_streams.stream(seed)[0] for seed in range(kernel_streams.COUNT)]
    assert sum(len(model.features) > 0 for model in models) > kernel_streams.COUNT * 0.8
    assert {len(model.classes) for model in models} >= {1, 2, 3, 4}
    assert sum(len(set(map(str, model.class_weight.values()))) > 1 for model in models) > 10


@pytest.mark.parametrize("level", _kernels.available())
def test_levels_agree_to_the_bit(here: list[str], level: str) -> None:
    """The bytes stored and the answers given are those of this process, for every level."""
    assert run(level, "-c", "from streamnb import _kernels as k; print(k.LEVEL)") == [level]
    assert run(level, str(SCRIPT)) == here


def test_uncompiled_is_always_there() -> None:
    """The plain Python form needs no compiler, and is the last choice."""
    assert _kernels.available()[-1] == "python"
