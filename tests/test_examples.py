"""Each example runs, and asserts its own number; benchmarks can be started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ["parallel_workers.py", "river_pipeline.py"]
DRAWING = [
    "covariance_contours.py",
    "density_and_posterior.py",
    "gda_against_logistic.py",
    "qda_against_lda.py",
]


def run(*command: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_example_runs(script: str) -> None:
    run(ROOT / "examples" / script)


@pytest.mark.parametrize("script", DRAWING)
def test_an_example_draws(script: str, tmp_path: Path) -> None:
    plot = tmp_path / "plot.png"
    run(ROOT / "examples" / script, plot)
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("script", sorted((ROOT / "benchmarks").glob("bench_*.py")))
def test_a_benchmark_can_be_started(script: Path) -> None:
    help_only = [sys.executable, script, "--help"]
    done = subprocess.run(help_only, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_every_example_is_run() -> None:
    """`feed.py` needs a broker: the README's test runs it."""
    assert sorted(path.name for path in (ROOT / "examples").glob("*.py")) == sorted(
        [*SCRIPTS, *DRAWING, "feed.py"]
    )
