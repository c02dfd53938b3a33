"""The demo's ends of its topics: events in at a steady pace, questions in, answers out."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

from streamnb.cli.demo.events import Events
from streamnb.cli.demo.processes import Processes, wait_until

__all__ = ["Desk", "Feed", "feeding", "make_topics", "open_desk"]

_BATCH = 1000
_PAUSE = 0.01
_ACKNOWLEDGE_SECONDS = 30


def make_topics(bootstrap: str, partitions: dict[str, int]) -> None:
    """Make a topic for each name, with its number of partitions."""
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        topics = {
            name: {"num_partitions": number, "replication_factor": 1}
            for name, number in partitions.items()
        }
        admin.create_topics(topics, wait_for_metadata=True)
    finally:
        admin.close()


class Feed:
    """Produces events at a steady pace, to the partitions in turn, on a thread of its own.

    Attributes
    ----------
    produced
        The events that the broker has acknowledged.
    """

    def __init__(
        self, bootstrap: str, topic: str, partitions: int, events: Events, a_second: int
    ) -> None:
        self.produced = 0
        self._limit = 0
        self._events, self._a_second = events, a_second
        self._topic, self._partitions = topic, partitions
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap, linger_ms=20, batch_size=500_000
        )
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def allow(self, part: float) -> None:
        """Let it go on until this part of the events."""
        self._limit = round(part * len(self._events))

    def close(self) -> None:
        """End it, whatever is left."""
        self._ended.set()
        self._thread.join()
        self._producer.close(timeout=5)

    def _run(self) -> None:
        encoded = self._events.encoded()
        began = time.monotonic()
        sent = 0
        while sent < len(self._events):
            ahead = sent / self._a_second - (time.monotonic() - began)
            if self._ended.wait(max(ahead, _PAUSE)):
                return
            batch = [
                self._producer.send(self._topic, next(encoded), partition=number % self._partitions)
                for number in range(sent, min(sent + _BATCH, self._limit))
            ]
            sent += len(batch)
            for acknowledged in batch:
                acknowledged.get(timeout=_ACKNOWLEDGE_SECONDS)
            self.produced += len(batch)


@contextmanager
def feeding(
    bootstrap: str, topic: str, partitions: int, events: Events, a_second: int
) -> Iterator[Feed]:
    """Give a block its feed."""
    feed = Feed(bootstrap, topic, partitions, events, a_second)
    try:
        yield feed
    finally:
        feed.close()


class Desk:
    """Where questions are put into one topic and answers are taken out of another."""

    def __init__(self, bootstrap: str, questions: str, answers: str) -> None:
        self._questions = questions
        self._producer = KafkaProducer(bootstrap_servers=bootstrap)
        self._consumer = KafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
        partition = TopicPartition(answers, 0)
        self._consumer.assign([partition])
        self._consumer.seek_to_beginning(partition)

    def ask(self, question: bytes, alive: Processes) -> bytes:
        """Put one question, and return its answer; raises as `wait_until` does."""
        self._producer.send(self._questions, question)
        answers: list[bytes] = []

        def is_answered() -> bool:
            for records in self._consumer.poll(timeout_ms=100).values():
                answers.extend(record.value for record in records)
            return bool(answers)

        wait_until("an answer", is_answered, alive)
        return answers[0]

    def close(self) -> None:
        """Close the connections."""
        self._producer.close(timeout=5)
        self._consumer.close()


@contextmanager
def open_desk(bootstrap: str, questions: str, answers: str) -> Iterator[Desk]:
    """Give a block its desk."""
    desk = Desk(bootstrap, questions, answers)
    try:
        yield desk
    finally:
        desk.close()
