"""Drives real workers over a real topic: feed it, start, kill, wait, and compare with one pass.

    with broker() as kafka, Crew(state) as crew:
        topic = kafka.create_topic(partitions=4)
        produce(kafka.bootstrap, topic, events(10_000, seed=1), partitions=4)
        first = crew.learn(f"kafka://{kafka.bootstrap}/{topic}", "--until-end")
        eventually(lambda: crew.learned() > 2_000)
        first.kill()
        crew.learn(f"kafka://{kafka.bootstrap}/{topic}", "--until-end").done()
        assert crew.learned() == 10_000

A worker is the command `streamnb learn` in a process of its own, as users run it.
"""

from __future__ import annotations

import hashlib
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Self

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from streamnb import load
from streamnb.errors import ConfigError
from streamnb.stream.folder import StateFolder, load_model

__all__ = ["Crew", "Worker", "WorkerFailed", "events", "eventually", "one_pass", "produce", "read"]

_POLL_SECONDS = 0.05
_TAIL = 3000


class WorkerFailed(AssertionError):  # noqa: N818 - it fails a test
    """Raised where a worker did not end as it should; carries the end of its log."""


def events(number: int, *, seed: int, features: int = 4, labels: str = "abc") -> list[bytes]:
    """Return so many labelled events, the same for the same seed, of values that need all bits."""
    source = random.Random(seed)
    names = [f"f{index}" for index in range(features)]
    return [
        json.dumps(
            {
                "x": {name: source.gauss(label, 1.0) for name in names},
                "y": labels[label],
            }
        ).encode()
        for label in (source.randrange(len(labels)) for _ in range(number))
    ]


def produce(bootstrap: str, topic: str, values: Iterable[bytes | None], *, partitions: int) -> None:
    """Write values to the first so many partitions of a topic in turn, until all are there.

    Raises
    ------
    kafka.errors.KafkaError
        one could not be written.
    """
    producer = KafkaProducer(
        bootstrap_servers=bootstrap,
        enable_idempotence=False,
        linger_ms=20,
        batch_size=1 << 19,
        max_request_size=1 << 24,
    )
    with closing(producer):
        sent = [
            producer.send(topic, value, key=str(index).encode(), partition=index % partitions)
            for index, value in enumerate(values)
        ]
        producer.flush(timeout=60)
        for each in sent:
            each.get(timeout=1)


def read(bootstrap: str, topic: str) -> dict[int, list[Any]]:
    """Return the records of a topic by partition, as one plain consumer sees them."""
    with closing(KafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)) as consumer:
        numbers = sorted(consumer.partitions_for_topic(topic))
        partitions = [TopicPartition(topic, number) for number in numbers]
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        ends = consumer.end_offsets(partitions)
        records: dict[int, list[Any]] = {number: [] for number in numbers}
        while any(consumer.position(each) < end for each, end in ends.items()):
            for partition, some in consumer.poll(timeout_ms=200).items():
                records[partition.partition] += some
        return records


def one_pass(model: Any, values: Iterable[bytes]) -> Any:
    """Let a model learn events one after the other, without any of the engine; and return it."""
    for value in values:
        event = json.loads(value)
        model.learn_one(event["x"], event["y"])
    return model


def eventually(holds: Callable[[], object], seconds: float = 30.0) -> None:
    """Wait until something holds.

    Raises
    ------
    TimeoutError
        it does not, for so long.
    """
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            msg = f"still not so after {seconds:g} s: {holds}"
            raise TimeoutError(msg)
        time.sleep(_POLL_SECONDS)


class Worker:
    """A command of streamnb in a process of its own, with its log in a file."""

    def __init__(self, arguments: Sequence[str], log: Path) -> None:
        self._arguments = arguments
        self._log = log
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "streamnb.cli", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def is_running(self) -> bool:
        """Whether the process is there, be it paused."""
        return self._process.poll() is None

    @property
    def log(self) -> str:
        """What it has written so far, on standard output and standard error."""
        return self._log.read_text(errors="replace")

    def kill(self) -> None:
        """Kill it (SIGKILL), and wait."""
        self._process.kill()
        self._process.wait()

    def stop(self, seconds: float = 10.0) -> float:
        """Ask it to stop (SIGTERM), wait until it has, and return how many seconds that took.

        Raises
        ------
        WorkerFailed
            it does not stop in time, or with an error.
        """
        began = time.monotonic()
        self._process.terminate()
        self.done(seconds)
        return time.monotonic() - began

    def pause(self) -> None:
        """Let it hang (SIGSTOP)."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on after `pause` (SIGCONT)."""
        self._process.send_signal(signal.SIGCONT)

    def status(self, seconds: float = 60.0) -> int:
        """Wait for its end, and return its exit status.

        Raises
        ------
        WorkerFailed
            it does not end.
        """
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            msg = f"{self} runs on after {seconds:g} s"
            raise WorkerFailed(msg) from error

    def done(self, seconds: float = 60.0) -> None:
        """Wait for its end.

        Raises
        ------
        WorkerFailed
            it does not end, or with an error.
        """
        if status := self.status(seconds):
            msg = f"{self} ended with {status}"
            raise WorkerFailed(msg)

    def __str__(self) -> str:
        return f"streamnb {' '.join(self._arguments)}\n{self.log[-_TAIL:]}\n"


class Crew:
    """The workers of one state folder. At the end of a `with` block none is left."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.workers: list[Worker] = []

    def learn(self, source: str, *flags: str) -> Worker:
        """Start a worker that learns from a source."""
        return self.run("learn", source, "--state", str(self.state), *flags)

    def run(self, *arguments: str) -> Worker:
        """Start any command of streamnb."""
        self.state.parent.mkdir(parents=True, exist_ok=True)
        log = self.state.parent / f"{self.state.name}-{len(self.workers)}.log"
        worker = Worker(arguments, log)
        self.workers.append(worker)
        return worker

    def finish(self, seconds: float = 60.0) -> None:
        """Wait for the end of every worker that still runs; raises as `Worker.done` does."""
        for worker in self.workers:
            if worker.is_running:
                worker.done(seconds)

    def positions(self) -> dict[int, int]:
        """Return the newest checkpoint of each partition of the only source."""
        positions = StateFolder(self.state).positions()
        return next(iter(positions.values()), {})

    def learned(self) -> int:
        """Return the number of events in the newest checkpoints."""
        try:
            counters = load_model(self.state).provenance.counters
        except ConfigError:
            return 0
        return 0 if counters is None else counters.ok

    def merged(self) -> tuple[str, Any]:
        """Return the digest of what `streamnb merge` writes, and the model in it."""
        path = self.state.with_suffix(".snb")
        self.run("merge", str(self.state), "-o", str(path)).done()
        return hashlib.sha256(path.read_bytes()).hexdigest(), load(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            if worker.is_running:
                worker.resume()
                worker.kill()
