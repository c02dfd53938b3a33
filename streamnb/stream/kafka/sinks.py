"""Topics as sinks of dead letters and of predictions."""

from __future__ import annotations

import hashlib
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
    cluster = Cluster(address.servers, stop)
    cluster.find([address.topic], stop)
    cluster.close()
    return TopicWriter(address.servers, address.topic, stop)


class TopicLetters:
    """Dead letters as records: the key and the bytes as they were, the rest in headers."""

    def __init__(self, writer: TopicWriter) -> None:
        self._writer = writer
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

        def small() -> Message:
            value = record.value or b""
            digest = hashlib.sha256(value).hexdigest().encode()
            about: list[Header] = [
                ("streamnb-size", str(len(value)).encode()),
                ("streamnb-sha256", digest),
            ]
            about += headers
            return Message(record.key, None, about, lambda: Message(None, None, about))

        self._writer.write(Message(record.key, record.value, headers, small))


class TopicAnswers:
    """Predictions as records, with the keys and headers of what they answer."""

    def __init__(self, writer: TopicWriter) -> None:
        self._writer = writer
        self.flush = writer.flush
        self.close = writer.close

    def write(self, record: Record, answer: bytes) -> None:
        """Write the answer to a record."""
        # the client can read a null header, and cannot write one
        headers = [(name, value or b"") for name, value in record.headers]
        self._writer.write(Message(record.key, answer, headers))
