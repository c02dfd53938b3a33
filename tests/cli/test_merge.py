"""`streamnb merge`: model files, checkpoint files and state folders into one file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import streamnb

from .commands import Refused, Run, command_line, environment, write_events


@pytest.fixture
def states(run: Run, tmp_path: Path) -> None:
    """Two state folders, `a` and `b`, of two files."""
    for name, first in (("a", 0), ("b", 100)):
        write_events(tmp_path / f"{name}.jsonl", 30, first)
        assert run("learn", f"{name}.jsonl", "--state", name).returncode == 0


@pytest.mark.usefixtures("states")
def test_folders_checkpoints_and_files_merge_to_the_same_bytes(run: Run, tmp_path: Path) -> None:
    assert run("merge", "a", "b", "-o", "ab.nb").returncode == 0
    assert run("merge", "b", "a", "--output", "ba.nb").returncode == 0
    checkpoints = {name: str(max((tmp_path / name).glob("shards/*/0/*.ckpt"))) for name in "ab"}
    assert run("merge", checkpoints["a"], checkpoints["b"], "-o", "cc.nb").returncode == 0
    assert run("merge", "a", "-o", "a.nb").returncode == 0
    done = run("merge", "a.nb", "b", "-o", "fb.nb")
    assert (done.returncode, done.stdout) == (0, "")
    assert "merged 2 models of 2 classes into fb.nb" in done.stderr
    first, *others = [(tmp_path / f"{name}.nb").read_bytes() for name in ("ab", "ba", "cc", "fb")]
    assert all(other == first for other in others)
    counters = streamnb.load(tmp_path / "ab.nb").provenance.counters
    assert counters is not None
    assert counters.ok == 60


@pytest.mark.usefixtures("states")
def test_a_merge_can_go_to_standard_output(run: Run, tmp_path: Path) -> None:
    assert run("merge", "a", "b", "-o", "ab.nb").returncode == 0
    merge = command_line("merge", "a", "b", "-o", "-")
    done = subprocess.run(merge, cwd=tmp_path, env=environment(), check=True, capture_output=True)
    assert done.stderr == b"streamnb: merged 2 models of 2 classes into standard output\n"
    assert done.stdout == (tmp_path / "ab.nb").read_bytes()
    assert not (tmp_path / "-").exists()


@pytest.mark.usefixtures("states")
def test_the_same_events_twice_are_refused_and_named(run: Run, tmp_path: Path) -> None:
    assert run("merge", "a", "b", "-o", "ab.nb").returncode == 0
    before = (tmp_path / "ab.nb").read_bytes()
    for inputs in (("a", "a"), ("ab.nb", "b")):
        done = run("merge", *inputs, "-o", "ab.nb")
        assert (done.returncode, done.stdout) == (1, "")
        assert ".jsonl" in done.stderr
        assert (tmp_path / "ab.nb").read_bytes() == before
    assert sorted(path.name for path in tmp_path.glob("*.nb*")) == ["ab.nb"]


@pytest.mark.usefixtures("states")
def test_readings_can_be_set_and_must_otherwise_be_equal(run: Run, tmp_path: Path) -> None:
    write_events(tmp_path / "c.jsonl", 10, 7)
    assert run("learn", "c.jsonl", "--state", "c", "--set", "prior=uniform").returncode == 0
    done = run("merge", "a", "c", "-o", "ac.nb")
    assert done.returncode == 1
    assert "prior" in done.stderr
    assert run("merge", "a", "c", "-o", "ac.nb", "--set", "prior=uniform").returncode == 0
    merged = streamnb.load(tmp_path / "ac.nb")
    assert isinstance(merged, streamnb.GaussianNB)
    assert merged.prior == "uniform"


def test_models_learned_in_a_program_merge_freely(run: Run, tmp_path: Path) -> None:
    model = streamnb.GaussianNB()
    model.learn_one({"a": 1.0}, "even")
    streamnb.save(model, tmp_path / "m.nb")
    assert run("merge", "m.nb", "m.nb", "-o", "mm.nb").returncode == 0
    assert streamnb.load(tmp_path / "mm.nb").class_weight == {"even": 2.0}


@pytest.fixture
def model_a(tmp_path: Path) -> None:
    """A model file `a`."""
    model = streamnb.GaussianNB()
    model.learn_one({"a": 1.0}, "even")
    streamnb.save(model, tmp_path / "a")


@pytest.mark.usefixtures("model_a")
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-o", "x.nb"), "missing argument INPUT..."),
        (("a", "b"), "missing option --output"),
        (("a", "-o", "x.nb", "--outptu", "y"), "(the nearest is --output)"),
        (("a", "-o", "x.nb", "--set", "pior=uniform"), "(the nearest is prior)"),
        (("a", "-o", "x.nb", "--set", "prior=unifrm"), "--set: "),
    ],
)
def test_wrong_usage_ends_with_status_2(
    refused: Refused, tmp_path: Path, args: tuple[str, ...], message: str
) -> None:
    assert message in refused("merge", *args)
    assert not (tmp_path / "x.nb").exists()


@pytest.mark.usefixtures("states")
def test_what_cannot_be_read_or_written_is_a_failure(run: Run, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no model")
    (tmp_path / "empty").mkdir()
    for inputs in (("a", "none.nb"), ("a", "text"), ("a", "empty")):
        done = run("merge", *inputs, "-o", "x.nb")
        assert (done.returncode, done.stdout) == (1, "")
        assert inputs[1] in done.stderr
        assert "Traceback" not in done.stderr
    done = run("merge", "a", "-o", "no/where.nb")
    assert done.returncode == 1
    assert "no/" in done.stderr
    assert "Traceback" not in done.stderr
