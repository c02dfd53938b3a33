"""Learning files and standard input: to the end, resumed, killed, and never twice."""

import gzip
import json
import logging
import os
import random
import subprocess
import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import streamnb
from streamnb import ConfigError, GaussianNB, SourceError
from streamnb.provenance import Counters
from streamnb.stream.folder import StateFolder, load_model
from streamnb.stream.learner import learn
from streamnb.stream.records import event_decoder
from streamnb.stream.settings import EventFormat, LearnSettings
from streamnb.testing.driver import Crew, events, eventually, one_pass

from .running import Running, run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"\n".join(events(2000, seed=1)) + b"\n")
    return path


def learning(*sources: Path | str, state: Path, **others: Any) -> LearnSettings:
    return LearnSettings(tuple(map(str, sources)), state, **others)


def whole(path: Path) -> Any:
    return one_pass(GaussianNB(), path.read_bytes().splitlines())


def statistics(model: Any) -> Any:
    """What a model has learned, without where it came from."""
    return model.class_weight, [
        (model.means(each), model.variances(each)) for each in model.classes
    ]


def test_a_file_is_learned_once(file: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert run(learning(file, state=state)).ok == 2000
    assert run(learning(file, state=state)).ok == 0
    model = load_model(state)
    assert statistics(model) == statistics(whole(file))
    [range_] = model.provenance.ranges
    assert (range_.source, range_.partition) == (str(file), 0)
    assert (range_.start, range_.next) == (0, file.stat().st_size)
    assert range_.identity.startswith(f"file:{file}:")
    assert model.provenance.counters == Counters(ok=2000)


def test_a_file_that_grew_is_learned_on(file: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    run(learning(file, state=state))
    with file.open("ab") as grown:
        grown.write(b"\n".join(events(10, seed=2)))
    assert run(learning(file, state=state)).ok == 10
    assert statistics(load_model(state)) == statistics(whole(file))


class StopAfter(Event):
    """Is set when it was asked so many times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def is_set(self) -> bool:
        self.times -= 1
        return self.times < 0


def test_the_shard_does_not_depend_on_where_it_was_cut(file: Path, tmp_path: Path) -> None:
    """Neither on the intervals of checkpoints nor on where a learner stopped and another began."""
    data = set()
    for every in (19, 100, 10**6):
        state = tmp_path / f"every-{every}"
        run(learning(file, state=state, every=every))
        data.add(streamnb.dumps(load_model(state)))
    source = random.Random(3)
    for attempt in range(5):
        state = tmp_path / f"stopped-{attempt}"
        given = learning(file, state=state, every=source.randrange(1, 50))
        for _ in range(10):
            learn(given, stop=StopAfter(source.randrange(1, 20)), report=lambda _: None)
        assert load_model(state).provenance.counters.ok > 0
        run(learning(file, state=state))
        data.add(streamnb.dumps(load_model(state)))
    assert len(data) == 1


def test_killed_again_and_again(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_bytes(b"\n".join(events(20_000, seed=4)))
    with Crew(tmp_path / "killed") as crew:
        for part in (1, 5_000, 12_000):
            worker = crew.learn(str(file), "--every", "100")
            eventually(lambda part=part: crew.learned() >= part)
            worker.kill()
        crew.learn(str(file)).done()
    run(learning(file, state=tmp_path / "once"))
    assert load_model(crew.state) == load_model(tmp_path / "once")
    assert load_model(crew.state).provenance.counters.ok == 20_000


def test_two_workers_of_one_file_do_no_harm(file: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    both = [Running(learning(file, state=state, every=50)) for _ in range(2)]
    for running in both:
        eventually(lambda running=running: running.progress.partitions)
    for running in both:
        running._thread.join()
        running.end()
    run(learning(file, state=state))
    assert statistics(load_model(state)) == statistics(whole(file))
    assert load_model(state).provenance.counters.ok == 2000


def test_several_files_are_one_partition_each(tmp_path: Path) -> None:
    first, second = tmp_path / "b.jsonl", tmp_path / "a.jsonl.gz"
    first.write_bytes(b"\n".join(events(300, seed=1)))
    second.write_bytes(gzip.compress(b"\n".join(events(200, seed=2))))
    state = tmp_path / "state"
    assert run(learning(first, second, state=state)).ok == 500
    assert {name: list(each) for name, each in StateFolder(state).positions().items()} == {
        str(second): [0],
        str(first): [0],
    }
    assert load_model(state).provenance.counters.ok == 500
    with pytest.raises(ConfigError, match="sources is"):
        run(learning(first, state=state))


def test_bad_lines_are_dead_letters(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    good = b'{"x": {"a": 1}, "y": "b"}'
    file.write_bytes(
        b"\n".join([good, b"", b"{", b"\xff", b"null", good, b'{"x": {"a": "c"}, "y": 1}'])
    )
    progress = run(learning(file, state=tmp_path / "state"))
    assert (progress.ok, progress.bad) == (2, 4)
    [path] = (tmp_path / "state" / "dead-letters").iterdir()
    letters = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [letter["offset"] for letter in letters] == [27, 29, 31, 62]
    assert {letter["topic"] for letter in letters} == {str(file)}
    assert all(letter["reason"] for letter in letters)


def test_another_file_of_that_name_is_refused(file: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    run(learning(file, state=state))
    lines = file.read_bytes().splitlines()
    file.write_bytes(b"\n".join([*lines[1:], *lines]))
    with pytest.raises(SourceError, match=r"events\.jsonl is not the one that was learned"):
        run(learning(file, state=state))
    file.write_bytes(b"\n".join(lines[:10]))
    with pytest.raises(SourceError, match=r"events\.jsonl has shrunk"):
        run(learning(file, state=state))
    assert load_model(state).provenance.counters.ok == 2000


def test_a_file_that_was_empty_at_first(tmp_path: Path) -> None:
    file, state = tmp_path / "events.jsonl", tmp_path / "state"
    file.write_bytes(b"")
    assert run(learning(file, state=state)).ok == 0
    assert StateFolder(state).positions() == {str(file): {0: 0}}
    for seed in (1, 2):
        with file.open("ab") as grown:
            grown.write(b"\n".join(events(20, seed=seed)) + b"\n")
        assert run(learning(file, state=state)).ok == 20
    assert statistics(load_model(state)) == statistics(whole(file))
    file.write_bytes(b'{"x": {}, "y": "other"}\n' * 1000)
    with pytest.raises(SourceError, match="is not the one that was learned"):
        run(learning(file, state=state))


def test_start_latest_begins_at_the_end(file: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert run(learning(file, state=state, start="latest")).ok == 0
    with file.open("ab") as grown:
        grown.write(b"\n".join(events(10, seed=2)))
    assert run(learning(file, state=state)).ok == 10


def test_a_fault_of_ours_advances_nothing(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only refusals make dead letters; what else goes wrong ends the worker where it stood."""
    state = tmp_path / "state"

    decode = event_decoder(EventFormat(), print)
    left = iter(range(333))

    def faulty(value: bytes) -> Any:
        if next(left, None) is None:
            raise ZeroDivisionError
        return decode(value)

    monkeypatch.setattr("streamnb.stream.learner.event_decoder", lambda *_: faulty)
    with pytest.raises(ZeroDivisionError):
        run(learning(file, state=state, every=10))
    learned = load_model(state).provenance.counters
    assert learned.bad == 0
    assert learned.ok == 330
    assert not (state / "dead-letters").exists()


class TestStandardInput:
    def learn(self, data: bytes, state: Path) -> None:
        command = [sys.executable, "-m", "streamnb.cli", "learn", "-", "--state", str(state)]
        subprocess.run(command, input=data, check=True, capture_output=True)

    def test_each_run_is_a_source_of_its_own(self, tmp_path: Path) -> None:
        state = tmp_path / "state"
        data = b"\n".join(events(100, seed=1))
        self.learn(data, state)
        self.learn(data, state)
        model = load_model(state)
        assert model.provenance.counters.ok == 200
        assert StateFolder(state).positions() == {"-": {0: len(data), 1: len(data)}}
        assert len({each.identity for each in model.provenance.ranges}) == 2

    def test_stops_while_nothing_comes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        reading, writing = os.pipe()
        monkeypatch.setattr(sys, "stdin", os.fdopen(reading))
        running = Running(learning("-", state=tmp_path / "state", every_seconds=0.1))
        os.write(writing, b"\n".join(events(5, seed=1)) + b"\n")
        eventually(lambda: load_positions(tmp_path / "state") not in ({}, {"-": {0: 0}}))
        assert running.end() < 1.0
        assert load_model(tmp_path / "state").provenance.counters.ok == 5
        os.close(writing)


def load_positions(state: Path) -> dict[str, dict[int, int]]:
    return StateFolder(state).positions()


class TestNothingButBadEvents:
    def said(
        self,
        tmp_path: Path,
        caplog: pytest.LogCaptureFixture,
        line: bytes,
        number: int = 1000,
        **names: str,
    ) -> str:
        file = tmp_path / "events.jsonl"
        file.write_bytes((line + b"\n") * number)
        with caplog.at_level(logging.ERROR, "streamnb"):
            run(learning(file, state=tmp_path / "state", events=EventFormat(**names)))
        [said] = [each.getMessage() for each in caplog.records if each.levelno == logging.ERROR]
        return said

    def test_flat_events_want_a_label(self, tmp_path: Path, caplog: Any) -> None:
        said = self.said(tmp_path, caplog, b'{"width": 1, "species": "setosa", "n": 2}')
        assert said.startswith("NOT ONE OF 1000 EVENTS COULD BE READ")
        assert "'width', 'species', 'n'" in said
        assert "--label species" in said

    def test_a_label_of_another_name(self, tmp_path: Path, caplog: Any) -> None:
        said = self.said(tmp_path, caplog, b'{"a": 1, "labels": 1}', label="label")
        assert "not 'label'" in said
        assert "--label labels" in said

    def test_a_label_where_there_is_none(self, tmp_path: Path, caplog: Any) -> None:
        said = self.said(tmp_path, caplog, b'{"x": {"a": 1}, "y": 1}', label="label")
        assert "leave --label out" in said

    def test_no_json(self, tmp_path: Path, caplog: Any) -> None:
        assert "not JSON (one begins with b'a,b,c')" in self.said(tmp_path, caplog, b"a,b,c")

    def test_values_that_are_refused(self, tmp_path: Path, caplog: Any) -> None:
        said = self.said(tmp_path, caplog, b'{"x": {"a": "text"}, "y": 1}')
        assert "the model refuses" in said

    def test_at_the_end_of_a_short_source_too(self, tmp_path: Path, caplog: Any) -> None:
        assert "NOT ONE OF 3 EVENTS" in self.said(tmp_path, caplog, b"[1]", number=3)


def test_one_good_event_is_enough_to_say_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "events.jsonl"
    file.write_bytes(b'{"x": {}, "y": 1}\n' + b"{\n" * 2000)
    run(learning(file, state=tmp_path / "state"))
    assert [each.levelname for each in caplog.records if each.name == "streamnb"] == ["WARNING"]
