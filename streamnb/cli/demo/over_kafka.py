"""The demo over a topic with four partitions: workers of one group, one of them killed."""

from __future__ import annotations

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
_ASK_BEFORE, _ASK_AFTER, _ASK_LATER = 0.15, 0.3, (0.45, 0.6, 0.75)
_HOLD_AT = 0.9
"""The events after this part are held back until every question is answered."""

_LEARN = ("--every", "5000", "--every-seconds", "2", "--session-timeout", "6")
_EVERY_LINE = ("--progress-every", "0")


def over_kafka(stage: Stage, bootstrap: str) -> Ending:
    """Let workers learn the events from a topic, and return what there is at the end."""
    make_topics(bootstrap, {_EVENTS: _PARTITIONS, _QUESTIONS: 1, _ANSWERS: 1})
    group = _Group(stage, f"kafka://{bootstrap}/", stage.folder / "state")
    first, second = group.new_worker(1), group.new_worker(2)
    predictor = group.new_predictor()
    group.wait_for_partitions(first)
    group.wait_for_partitions(second)
    shares = f"{first.partitions} and {second.partitions} partitions"
    stage.teller.say(f"worker 1 and worker 2 own {shares}; a predictor waits; events begin to come")

    with (
        feeding(bootstrap, _EVENTS, _PARTITIONS, stage.learned, _A_SECOND) as feed,
        open_desk(bootstrap, _QUESTIONS, _ANSWERS) as desk,
    ):
        feed.allow(_HOLD_AT)
        group.ask(desk, _ASK_BEFORE)

        group.wait_for_shards(_KILL_AT)
        first.kill()
        at_kill = group.positions()
        third = group.new_worker(3)
        in_shards = sum(at_kill.values())
        stage.teller.say(f"SIGKILL to worker 1, with {in_shards:,} events in the shards")

        group.ask(desk, _ASK_AFTER)
        # the others have gone on by now; what has not moved since was worker 1's
        left = sum(n for partition, n in group.positions().items() if at_kill[partition] == n)
        for part in _ASK_LATER:
            group.ask(desk, part)

        group.wait_for_partitions(third)
        stage.teller.say(f"worker 3 has come to own {third.partitions} partitions")
        feed.allow(1.0)
        group.wait_for_shards(1.0)
        produced = feed.produced
    for process in (second, third, predictor):
        process.stop()
    stage.teller.say("every event is in the shards: SIGTERM to all")
    return Ending(
        produced,
        (
            WorkerEvents(first.name, max(first.events, left), "killed"),
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

    def wait_for_partitions(self, worker: Process) -> None:
        """Wait until a worker owns partitions."""
        what = f"{worker.name} owns partitions"
        wait_until(what, lambda: worker.partitions > 0, self.stage.processes)

    def ask(self, desk: Desk, part: float) -> None:
        """Ask the next question once this part of the events is learned."""
        self.wait_for_shards(part)
        x, truth = next(self._questions)
        self.answers.append(read_answer(desk.ask(question(x)), truth))
        self.stage.teller.say(f"a question is answered after {self.answers[-1].n:,} events")
