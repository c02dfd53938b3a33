"""Files of earlier versions: each kind of model is read, answers as it must, and learns on.

How they were made is said in `model_files`. A test that fails here says that people's files cannot
be read any more, or mean something else: the file stays, the code changes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import streamnb
from streamnb.codec import KINDS_IN_FILES

from .model_files import FOLDER, KINDS, read

every_file = pytest.mark.parametrize("path", sorted(FOLDER.glob("*.snb")), ids=lambda p: p.stem)
HEAD, TAIL = 20, 32  # see docs/format.md


def answers(path: Path) -> dict[str, Any]:
    """What stands beside a file."""
    found: dict[str, Any] = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    return found


def body(data: bytes) -> dict[str, Any]:
    """The map in a file, its arrays as they are written."""
    found: dict[str, Any] = msgspec.msgpack.decode(data[HEAD:-TAIL])
    return found


@every_file
def test_it_is_read_and_answers(path: Path) -> None:
    """Labels, weights, features, and joint log-likelihoods to 1e-11 of the definition."""
    model, expected = streamnb.load(path), answers(path)
    assert model.kind == body(path.read_bytes())["kind"]
    labels = [label for label, _ in expected["weights"]]
    assert list(map(repr, model.classes)) == list(map(repr, labels))
    assert model.class_weight == pytest.approx(dict(expected["weights"]), rel=1e-14, abs=0)
    assert model.features == list(read([[name, None] for name in expected["features"]]))
    for x, joint in expected["questions"]:
        found = model.joint_log_likelihood(read(x))
        assert list(map(repr, found)) == [repr(label) for label, _ in joint]
        assert found == pytest.approx(dict(joint), rel=1e-11, abs=1e-11)


@every_file
def test_it_is_written_as_it_was(path: Path) -> None:
    """State, ranges and counters to the byte; every parameter that it had has its value."""
    data = path.read_bytes()
    old, new = body(data), body(streamnb.dumps(streamnb.loads(data)))
    given, now = old.pop("parameters"), new.pop("parameters")
    assert new == old
    assert given == {name: now[name] for name in given}
    assert data[:12] == b"\x89SNB\r\n\x1a\n\x01\x00\x00\x00"


@every_file
def test_it_learns_and_merges_on(path: Path) -> None:
    """With a model that has learned the same rows now: everything counts twice."""
    model, expected = streamnb.load(path), answers(path)
    now = KINDS[path.stem].make()
    for x, y, w, t in expected["rows"]:
        now.learn_one(read(x), y, w, t)
    assert now.class_weight == pytest.approx(model.class_weight, rel=1e-14, abs=0)
    for x, joint in expected["questions"]:
        found = now.joint_log_likelihood(read(x))
        assert found == pytest.approx(dict(joint), rel=1e-11, abs=1e-11)
    twice = model + now
    weights = {label: 2 * weight for label, weight in model.class_weight.items()}
    assert twice.class_weight == pytest.approx(weights, rel=1e-14, abs=0)
    for x, y, w, t in expected["rows"]:
        model.learn_one(read(x), y, w, t)
    assert model.class_weight == pytest.approx(weights, rel=1e-14, abs=0)


def test_there_is_a_file_of_every_kind() -> None:
    """Of every kind that a file can hold; each with its answers, and none without."""
    paths = list(FOLDER.glob("*.snb"))
    assert {body(path.read_bytes())["kind"] for path in paths} == set(KINDS_IN_FILES)
    assert {path.stem for path in paths} == set(KINDS)
    assert {path.stem for path in FOLDER.glob("*.json")} == set(KINDS)


def test_where_a_model_came_from_is_in_its_file() -> None:
    """Ranges of two partitions, and the counters of their records."""
    provenance = streamnb.load(FOLDER / "gaussian.snb").provenance
    assert [(r.source, r.partition, r.start, r.next, r.identity) for r in provenance.ranges] == [
        ("topic", 0, 0, 31, "cluster/id"),
        ("topic", 3, 5, 9, "cluster/id"),
    ]
    counters = provenance.counters
    assert counters is not None
    assert (counters.ok, counters.bad, counters.tombstones, counters.gaps) == (30, 3, 1, 1)
