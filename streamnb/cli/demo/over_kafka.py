"""The demo over a topic with four partitions: workers of one group, one of them killed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from streamnb.cli.demo.events import Features
from streamnb.cli.demo.processes import Process, merged, wait_until
from streamnb.cli.demo.story import Answer, Ending, Stage, WorkerEvents, question, read_answer
from streamnb.cli.demo.topics import Desk, feeding, make_topics, open_desk
from streamnb.stream.folder import StateFolder

__all__ = ["over_kafka"]

_PARTITIONS = 4
_EVENTS, _QUESTIONS, _ANSWERS = "segments", "questions", "answers"
_A_SECOND = 16_000
"""Events produced a second: slow enough for things to happen while learning goes on."""

_KILL_AT = 0.25
_ASK_BEFORE, _ASK_AFTER = 0.1, (0.3, 0.45, 0.6, 0.75)
_HOLD_AT = 0.9
"""The events after this part are held back until every question is answered."""

_UNSAVED = 2000
_TAKEN_IN = 1.0
"""Seconds in which the predictor takes in what has come to the shards."""

_LEARN = ("--every", "5000", "--every-seconds", "2", "--session-timeout", "6")
_EVERY_LINE = ("--progress-every", "0")


def over_kafka(stage: Stage, bootstrap: str) -> Ending:
    """Let workers learn the events from a topic, and return what there is at the end."""
    make_topics(bootstrap, {_EVENTS: _PARTITIONS, _QUESTIONS: 1, _ANSWERS: 1})
    group = _Group(stage, f"kafka://{bootstrap}/", stage.folder / "state")
    first, second = group.new_worker(1), group.new_worker(2)
    predictor = group.new_predictor()
    group.wait_for_all_partitions(first, second)
    shares = f"{len(first.partitions)} and {len(second.partitions)} partitions"
    stage.teller.say(f"worker 1 and worker 2 own {shares}; a predictor waits; events begin to come")

    with (
        feeding(bootstrap, _EVENTS, _PARTITIONS, stage.learned, _A_SECOND) as feed,
        open_desk(bootstrap, _QUESTIONS, _ANSWERS) as desk,
    ):
        feed.allow(_HOLD_AT)
        group.ask(desk, _ASK_BEFORE)

        group.wait_for_shards(_KILL_AT)
        group.wait_for_unsaved_work(first)
        first.kill()
        in_shards = sum(group.positions().values())
        saved = group.saved_by(first)
        third = group.new_worker(3)
        stage.teller.say(f"SIGKILL to worker 1, with {in_shards:,} events in the shards")

        for part in _ASK_AFTER:
            group.ask(desk, part)

        group.wait_for_all_partitions(second, third)
        stage.teller.say(f"worker 3 has come to own {len(third.partitions)} partitions")
        feed.allow(1.0)
        group.wait_for_shards(1.0)
        produced = feed.produced
    for process in (second, third, predictor):
        process.stop()
    stage.teller.say("every event is in the shards: SIGTERM to all")
    return Ending(
        produced,
        (
            WorkerEvents(first.name, max(first.events, saved), "killed"),
            WorkerEvents(second.name, second.events, "took its partitions over"),
            WorkerEvents(third.name, third.events, "started after the kill"),
        ),
        tuple(group.answers),
        merged(stage.folder, group.state),
    )


@dataclass
class _Group:
    """The workers of one topic and one state folder, and the predictor that reads it."""

    stage: Stage
    url: str
    state: Path
    answers: list[Answer] = field(default_factory=list)
    _questions: Iterator[tuple[Features, str]] = field(init=False)

    def __post_init__(self) -> None:
        self._questions = iter(self.stage.held_out)

    def new_worker(self, number: int) -> Process:
        """Start a worker."""
        args = (self.url + _EVENTS, "--state", str(self.state), *_LEARN, *_EVERY_LINE)
        return self.stage.processes.start(f"worker {number}", "learn", *args)

    def new_predictor(self) -> Process:
        """Start the predictor."""
        args = ("--state", str(self.state), "--to", self.url + _ANSWERS)
        return self.stage.processes.start("predictor", "predict", self.url + _QUESTIONS, *args)

    def positions(self) -> dict[int, int]:
        """Return the events in the newest shard of each partition."""
        return StateFolder(self.state).positions().get(_EVENTS, {})

    def wait_for_shards(self, part: float) -> None:
        """Wait until this part of the events is in the shards."""
        events = round(part * len(self.stage.learned))
        what = f"{events:,} events in the shards"
        wait_until(what, lambda: sum(self.positions().values()) >= events, self.stage.processes)

    def saved_by(self, worker: Process) -> int:
        """Return the events that a worker has put into the shards of the partitions it owns."""
        positions = self.positions()
        return sum(positions[number] - begun for number, begun in worker.partitions.items())

    def wait_for_unsaved_work(self, worker: Process) -> None:
        """Wait until a worker has said that it learned more than is in its shards."""
        what = f"{worker.name} has learned something since its last checkpoint"
        wait_until(
            what,
            lambda: worker.events >= self.saved_by(worker) + _UNSAVED,
            self.stage.processes,
        )

    def wait_for_all_partitions(self, a: Process, b: Process) -> None:
        """Wait until two workers share the partitions."""

        def share() -> bool:
            both = (*a.partitions, *b.partitions)
            return bool(a.partitions and b.partitions) and sorted(both) == [*range(_PARTITIONS)]

        wait_until(f"{a.name} and {b.name} share the partitions", share, self.stage.processes)

    def ask(self, desk: Desk, part: float) -> None:
        """Ask the next question once this part of the events is learned."""
        self.wait_for_shards(part)
        time.sleep(_TAKEN_IN)
        x, truth = next(self._questions)
        self.answers.append(read_answer(desk.ask(question(x), self.stage.processes), truth))
        self.stage.teller.say(f"a question is answered after {self.answers[-1].n:,} events")
