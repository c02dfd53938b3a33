"""The demo over a topic with four partitions: workers of one group, one of them killed."""

from __future__ import annotations

from streamnb.cli.demo.processes import Process, merged, wait_until
from streamnb.cli.demo.story import Answer, Ending, Stage, WorkerEvents, question, read_answer
from streamnb.cli.demo.topics import feeding, make_topics, open_desk
from streamnb.stream.folder import StateFolder

__all__ = ["over_kafka"]

_PARTITIONS = 4
_EVENTS, _QUESTIONS, _ANSWERS = "segments", "questions", "answers"
_A_SECOND = 14_000
"""Events produced a second: slow enough for things to happen while learning goes on."""

_KILL_AT = 0.25
_ASK_AT = (0.15, 0.3, 0.45, 0.6, 0.75)
_HOLD_AT = 0.9
"""The events after this part are held back until every question is answered."""

_LEARN = ("--every", "2000", "--every-seconds", "1", "--session-timeout", "6")
_EVERY_LINE = ("--progress-every", "0")


def over_kafka(stage: Stage, bootstrap: str) -> Ending:
    """Let workers learn the events from a topic, and return what there is at the end."""
    learned, started, teller = stage.learned, stage.processes, stage.teller
    state = stage.folder / "state"
    url = f"kafka://{bootstrap}/"
    make_topics(bootstrap, {_EVENTS: _PARTITIONS, _QUESTIONS: 1, _ANSWERS: 1})

    def new_worker(number: int) -> Process:
        args = (url + _EVENTS, "--state", str(state), *_LEARN, *_EVERY_LINE)
        return started.start(f"worker {number}", "learn", *args)

    def in_shards() -> int:
        return sum(StateFolder(state).positions().get(_EVENTS, {}).values())

    def wait_for_shards(part: float) -> None:
        events = round(part * len(learned))
        wait_until(f"{events:,} events in the shards", lambda: in_shards() >= events, started)

    first, second = new_worker(1), new_worker(2)
    to = ("--state", str(state), "--to", url + _ANSWERS)
    predictor = started.start("predictor", "predict", url + _QUESTIONS, *to)
    what = "worker 1 and worker 2 own partitions"
    wait_until(what, lambda: first.partitions > 0 and second.partitions > 0, started)
    shares = f"{first.partitions} and {second.partitions} partitions"
    teller.say(f"worker 1 and worker 2 own {shares}; a predictor waits; events begin to come")

    answers: list[Answer] = []
    third: Process | None = None
    with (
        feeding(bootstrap, _EVENTS, _PARTITIONS, learned, _A_SECOND) as feed,
        open_desk(bootstrap, _QUESTIONS, _ANSWERS) as desk,
    ):
        feed.allow(_HOLD_AT)
        for part, (x, y) in zip(_ASK_AT, stage.held_out, strict=False):
            if third is None and part > _KILL_AT:
                wait_for_shards(_KILL_AT)
                first.kill()
                third = new_worker(3)
                teller.say(f"SIGKILL to worker 1 with {in_shards():,} events in the shards")
            wait_for_shards(part)
            answers.append(read_answer(desk.ask(question(x)), y))
            teller.say(f"a question is answered after {answers[-1].n:,} events")
        newcomer = third or new_worker(3)
        wait_until("worker 3 owns partitions", lambda: newcomer.partitions > 0, started)
        teller.say(f"worker 3 has come to own {newcomer.partitions} partitions; the last events")
        feed.allow(1.0)
        wait_until("every event is produced", lambda: feed.produced == len(learned), started)
        wait_for_shards(1.0)
        produced = feed.produced
    for process in (second, newcomer, predictor):
        process.stop()
    teller.say("every event is in the shards: SIGTERM to all")
    return Ending(
        produced,
        (
            WorkerEvents(first.name, first.events, "killed; worker 2 took its partitions over"),
            WorkerEvents(second.name, second.events, ""),
            WorkerEvents(newcomer.name, newcomer.events, "started after the kill"),
        ),
        tuple(answers),
        merged(stage.folder, state),
    )
