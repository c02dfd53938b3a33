"""Topics as sinks of dead letters and of predictions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import closing
from threading import Event

from streamnb.stream.addresses import KafkaAddress
from streamnb.stream.kafka.cluster import Cluster
from streamnb.stream.kafka.writer import Message, TopicWriter
from streamnb.stream.records import Header, Letter, Record

__all__ = ["TopicAnswers", "TopicLetters", "open_topic"]


def open_topic(address: KafkaAddress, stop: Event) -> TopicWriter:
    """Open a topic for writing.

    Raises
    ------
    SourceError
        no broker answers, or the topic is unknown.
    Stopped
        `stop` was set.
    """
    with closing(Cluster(address.servers, stop)) as cluster:
        identity = cluster.find([address.topic], stop)[address.topic].identity
        limit = cluster.max_message_bytes(address.topic)
    return TopicWriter(address.servers, address.topic, identity, limit, stop)


class TopicLetters:
    """Dead letters as records: the key and the bytes as they were, the rest in headers."""

    def __init__(self, writer: TopicWriter) -> None:
        self._writer = writer
        self.topic: str | None = writer.identity
        self.flush = writer.flush
        self.close = writer.close

    def write(self, source: str, partition: int, letter: Letter) -> None:
        """Write a letter, with the place that its record came from."""
        record = letter.record
        headers: list[Header] = [
            ("streamnb-topic", source.encode()),
            ("streamnb-partition", str(partition).encode()),
            ("streamnb-offset", str(record.offset).encode()),
            ("streamnb-reason", letter.reason.encode()),
        ]

        def without_value(_reason: str) -> Message:
            value = record.value or b""
            digest = hashlib.sha256(value).hexdigest().encode()
            about: list[Header] = [
                ("streamnb-size", str(len(value)).encode()),
                ("streamnb-sha256", digest),
            ]
            about += headers
            return Message(record.key, None, about, lambda _: Message(None, None, about))

        self._writer.write(Message(record.key, record.value, headers, without_value))


class TopicAnswers:
    """Predictions as records, with the keys and headers of what they answer."""

    def __init__(self, writer: TopicWriter) -> None:
        self._writer = writer
        self.topic: str | None = writer.identity
        self.flush = writer.flush
        self.close = writer.close

    def write(self, record: Record, answer: bytes, refused: Callable[[str], None]) -> None:
        """Write the answer to a record."""
        # the client can read a null header, and cannot write one
        headers = [(name, value or b"") for name, value in record.headers]

        def too_large(reason: str) -> None:
            refused(f"the answer is {reason}")

        self._writer.write(Message(record.key, answer, headers, too_large))
