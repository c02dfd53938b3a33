"""Workers are killed, stopped, paused and joined: each event counts once, to the last bit."""

import itertools
import time
from collections.abc import Callable
from typing import Any

import pytest

from streamnb.testing import Broker
from streamnb.testing.driver import Crew, eventually

from .topics import FAST, KINDS, NUMBER, SLOW, Filled, filled

QUICK = (2, 2)
"""Workers and seed of the quick run: the engine sees bytes only, so kinds add little to them."""


def cases(*grid: tuple[int, int], kind: str | None = None) -> list[Any]:
    """Workers and seed (and kind) of each case; only `QUICK` is in the quick run."""
    more = () if kind is None else (kind,)
    marks = [[] if each == QUICK and kind not in LATER else [pytest.mark.full] for each in grid]
    return [pytest.param(*each, *more, marks=mark) for each, mark in zip(grid, marks, strict=True)]


Topics = Callable[..., Filled]
OTHERS = ["text", "mixed"]
SCATTERS = ["lda", "qda"]
LATER = [*OTHERS, "qda"]
GRID = [(workers, seed) for seed in (1, 2, 3) for workers in (1, 2, 4)]
DIAGONAL = [(1, 1), (2, 2), (4, 3)]


def past(crew: Crew, part: float) -> Callable[[], bool]:
    """Whether so large a part of the events stands in checkpoints."""
    return lambda: crew.learned() >= part * NUMBER


@pytest.mark.parametrize(("workers", "seed"), cases(*GRID))
def test_undisturbed(topic_of: Topics, crew: Crew, workers: int, seed: int) -> None:
    topic = topic_of(seed)
    for _ in range(workers):
        crew.learn(topic.source, *FAST)
    crew.finish()
    topic.check(crew)


@pytest.mark.parametrize(
    ("workers", "seed", "kind"),
    [
        *itertools.chain(*(cases(*GRID, kind=kind) for kind in ("gaussian", *SCATTERS))),
        *itertools.chain(*(cases(*DIAGONAL, kind=kind) for kind in OTHERS)),
    ],
)
def test_killed_and_stopped_in_the_middle(
    topic_of: Topics, crew: Crew, workers: int, seed: int, kind: str
) -> None:
    topic = topic_of(seed, kind)
    flags = (*SLOW, *KINDS[kind].flags)
    running = [crew.learn(topic.source, *flags) for _ in range(workers)]
    eventually(past(crew, 0.1))
    running.pop(0).kill()
    running.append(crew.learn(topic.source, *flags))
    eventually(past(crew, 0.5))
    running.pop(0).stop()
    crew.learn(topic.source, *SLOW)
    crew.finish()
    topic.check(crew)


@pytest.mark.parametrize(("workers", "seed"), cases(*GRID))
def test_workers_join_and_leave(topic_of: Topics, crew: Crew, workers: int, seed: int) -> None:
    topic = topic_of(seed)
    first = crew.learn(topic.source, *SLOW)
    eventually(past(crew, 0.1))
    for _ in range(workers):
        crew.learn(topic.source, *SLOW)
    eventually(past(crew, 0.4))
    first.stop()
    crew.finish()
    topic.check(crew)


@pytest.mark.parametrize(("workers", "seed"), cases(*GRID))
def test_paused_past_its_session(topic_of: Topics, crew: Crew, workers: int, seed: int) -> None:
    topic = topic_of(seed)
    running = [crew.learn(topic.source, *SLOW) for _ in range(workers)]
    eventually(past(crew, 0.1))
    running[0].pause()
    time.sleep(3.0)  # the group waits for two
    running[0].resume()
    crew.finish()
    topic.check(crew)


@pytest.mark.parametrize(
    ("seed", "kind"),
    [
        (2, "gaussian"),
        *(pytest.param(seed, "gaussian", marks=pytest.mark.full) for seed in (1, 3)),
        *(pytest.param(1, kind, marks=pytest.mark.full) for kind in (*OTHERS, *SCATTERS)),
    ],
)
def test_two_zombies_write_the_same_shards(
    topic_of: Topics, crew: Crew, seed: int, kind: str
) -> None:
    topic = topic_of(seed, kind)
    for name in ("one", "two"):
        group = f"{name}-{seed}-{time.time_ns()}"
        crew.learn(topic.source, *SLOW, *KINDS[kind].flags, "--group", group)
    crew.finish()
    topic.check(crew)


@pytest.mark.parametrize(("workers", "seed"), cases(*GRID))
def test_broker_killed_and_restarted(
    frail_kafka: Broker, crew: Crew, workers: int, seed: int, tmp_path: "pytest.TempPathFactory"
) -> None:
    topic = filled(frail_kafka, tmp_path, seed)
    for _ in range(workers):
        crew.learn(topic.source, *SLOW)
    eventually(past(crew, 0.1))
    frail_kafka.kill()
    time.sleep(1.0)
    frail_kafka.start()
    eventually(past(crew, 0.4))
    frail_kafka.stop()
    frail_kafka.start()
    crew.finish()
    topic.check(crew)


def test_restarted_with_nothing_new(topic_of: Topics, crew: Crew) -> None:
    topic = topic_of(2)
    crew.learn(topic.source, *FAST).done()
    before = {path: path.stat().st_mtime_ns for path in crew.state.rglob("*.ckpt")}
    crew.learn(topic.source, *FAST).done()
    crew.learn(topic.source, *FAST).done()
    assert before == {path: path.stat().st_mtime_ns for path in crew.state.rglob("*.ckpt")}
    topic.check(crew)
