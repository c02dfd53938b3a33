"""The demo over four files, where there is no Kafka: one worker is killed, another takes over."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from streamnb.cli.demo.processes import Process, merged, wait_until
from streamnb.cli.demo.story import Answer, Ending, Stage, WorkerEvents, question, read_answer
from streamnb.stream.folder import StateFolder

__all__ = ["over_files"]

_FILES = 4
_KILL_AT = 0.25
_QUESTIONS = 5
_SECONDS = 60.0
_EVERY = 500
_LEARN = ("--every", str(_EVERY), "--progress-every", "0")


def over_files(stage: Stage) -> Ending:
    """Let workers learn the events from files, and return what there is at the end.

    Each of two workers has two files and a state folder. There is no group that would hand the
    files of the one to the other, so a new worker goes on in the folder of the one that is killed.
    """
    folder, started, teller = stage.folder, stage.processes, stage.teller
    files = [folder / f"segments-{number}.jsonl" for number in range(_FILES)]
    encoded = list(stage.learned.encoded())
    for number, path in enumerate(files):
        path.write_bytes(b"\n".join(encoded[number::_FILES]) + b"\n")
    teller.say(f"{len(encoded):,} events in {_FILES} files")
    half = _FILES // 2
    here, there = (folder / "state-1", files[:half]), (folder / "state-2", files[half:])

    def new_worker(number: int, place: tuple[Path, list[Path]]) -> Process:
        state, sources = place
        args = (*map(str, sources), "--state", str(state), *_LEARN)
        return started.start(f"worker {number}", "learn", *args)

    def part_in_shards(place: tuple[Path, list[Path]]) -> float:
        state, sources = place
        read = sum(sum(each.values()) for each in StateFolder(state).positions().values())
        return read / sum(path.stat().st_size for path in sources)

    predictor = started.start("predictor", "predict", "-", "--state", str(here[0]))
    first, second = new_worker(1, here), new_worker(2, there)
    what = "a quarter of the events of worker 1 is in its shards"
    wait_until(what, lambda: part_in_shards(here) >= _KILL_AT, started)
    first.kill()
    saved = StateFolder(here[0]).counters().ok
    teller.say(f"SIGKILL to worker 1 with {part_in_shards(here):.0%} of its events in its shards")

    answers: list[Answer] = []
    for x, y in islice(stage.held_out, _QUESTIONS):
        answers.append(read_answer(predictor.ask(question(x).decode()), y))
    teller.say(f"{_QUESTIONS} questions are answered, the last after {answers[-1].n:,} events")
    third = new_worker(3, here)
    second.finish(_SECONDS)
    third.finish(_SECONDS)
    predictor.stop()
    teller.say("the workers have come to the ends of their files")
    return Ending(
        len(encoded),
        (
            WorkerEvents(first.name, max(first.events, saved), "killed"),
            WorkerEvents(second.name, second.events, ""),
            WorkerEvents(third.name, third.events, "started after the kill, in its folder"),
        ),
        tuple(answers),
        merged(folder, here[0], there[0]),
        done_twice=f"at most {_EVERY}",
    )
