"""What the demo tells: lines as things happen, and at the end what came out."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import msgspec

from streamnb import GaussianNB
from streamnb.cli.demo.events import Events, Features
from streamnb.cli.demo.processes import Processes

__all__ = [
    "LEAST_DIGITS",
    "Answer",
    "Ending",
    "Stage",
    "Teller",
    "WorkerEvents",
    "question",
    "read_answer",
    "tell_ending",
]

LEAST_DIGITS = 14.0

_ALL_DIGITS = 17.0
"""The digits that it takes to write any double."""


@dataclass(frozen=True)
class WorkerEvents:
    """The events that a worker said it had learned, and what became of it."""

    name: str
    events: int
    fate: str


@dataclass(frozen=True)
class Answer:
    """A prediction that came while learning went on; `n` events had been learned."""

    truth: str
    label: str
    p: float
    n: int


@dataclass(frozen=True)
class Ending:
    """What there is when everything has been learned."""

    produced: int
    workers: tuple[WorkerEvents, ...]
    answers: tuple[Answer, ...]
    model: GaussianNB
    done_twice: str | None = None
    """The work done twice, where more is known of it than by the workers' own words."""


def question(x: Features) -> bytes:
    """Return an event without a label, as `streamnb predict` reads it."""
    return msgspec.json.encode({"x": x})


def read_answer(prediction: bytes | str, truth: str) -> Answer:
    """Return what a prediction says."""
    said = msgspec.json.decode(prediction)
    return Answer(truth, said["y"], said["p"][said["y"]], said["n"])


class Teller:
    """Prints lines with the seconds since the beginning."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """The seconds since the beginning."""
        return time.monotonic() - self._began

    def say(self, text: str) -> None:
        """Print what just happened."""
        click.echo(f"  {self.seconds:6.1f} s   {text}")


@dataclass(frozen=True)
class Stage:
    """What there is when the workers begin."""

    learned: Events
    held_out: Events
    folder: Path
    processes: Processes
    teller: Teller


def tell_ending(ending: Ending, stage: Stage) -> bool:
    """Print what came out, and return whether all of it is as it has to be."""
    one_pass = ending.model.clone()
    for x, y in stage.learned:
        one_pass.learn_one(x, y)

    counters = ending.model.provenance.counters
    ok = 0 if counters is None else counters.ok
    counts_equal = (
        ok == ending.produced == len(stage.learned)
        and ending.model.class_weight == one_pass.class_weight
    )
    digits = min(_digits(a, b) for a, b in _moments(ending.model, one_pass))
    right = sum(ending.model.predict_one(x) == y for x, y in stage.held_out)

    _tell_workers(ending, ok)
    _tell_answers(ending)
    _heading("the merged model")
    compared = "equal" if counts_equal else "NOT EQUAL"
    _line("learned", f"{ok:,} of {ending.produced:,} produced; every count is {compared}")
    moments = sum(1 for _ in _moments(ending.model, one_pass))
    exact = "; all are equal to the last bit" if digits == _ALL_DIGITS else ""
    shared = f"{digits:.1f} digits at least of each of {moments} means and variances"
    _line("one pass", f"{shared}{exact}")
    _line("accuracy", f"{right / len(stage.held_out):.1%} of {len(stage.held_out)} events held out")
    click.echo()

    if not all(worker.events for worker in ending.workers):
        click.echo("A worker learned nothing.")
        return False
    if counts_equal and digits >= LEAST_DIGITS:
        click.echo(
            f"The merged model is the model of one pass. Done in {stage.teller.seconds:.0f} s."
        )
        return True
    click.echo("The merged model is NOT the model of one pass.")
    return False


def _tell_workers(ending: Ending, ok: int) -> None:
    _heading("the workers")
    for worker in ending.workers:
        _line(worker.name, f"{worker.events:>9,} events   {worker.fate}")
    total = sum(worker.events for worker in ending.workers)
    _line("together", f"{total:>9,} events")
    twice = ending.done_twice or f"at least {total - ok:,}"
    _line("done twice", f"{twice} events, learned again from the last checkpoint")


def _tell_answers(ending: Ending) -> None:
    _heading("predictions made while learning went on")
    for answer in ending.answers:
        verdict = "right" if answer.label == answer.truth else f"wrong: {answer.truth}"
        click.echo(
            f"    after {answer.n:>9,} events   {answer.label:<10} p = {answer.p:.4f}   {verdict}"
        )


def _heading(text: str) -> None:
    click.echo(f"\n  {text}")


def _line(name: str, text: str) -> None:
    click.echo(f"    {name:<12} {text}")


def _moments(a: GaussianNB, b: GaussianNB) -> Iterator[tuple[float, float]]:
    """Yield each mean and variance of both models, in pairs; NaN for what one of them lacks."""
    for label in b.classes:
        for moment in ("means", "variances"):
            ours: dict[Any, float] = getattr(a, moment)(label)
            theirs: dict[Any, float] = getattr(b, moment)(label)
            for name in {**ours, **theirs}:
                yield ours.get(name, math.nan), theirs.get(name, math.nan)


def _digits(a: float, b: float) -> float:
    """Return the decimal digits two numbers share: 17 where equal, 0 where one is missing."""
    if a == b:
        return _ALL_DIGITS
    if math.isnan(a) or math.isnan(b):
        return 0.0
    return -math.log10(abs(a - b) / max(abs(a), abs(b)))
