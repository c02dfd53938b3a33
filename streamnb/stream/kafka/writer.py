"""A topic as a sink."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Event
from typing import Any, NamedTuple

from kafka import KafkaProducer
from kafka import errors as kafka_errors
from kafka.record.default_records import DefaultRecordBatchBuilder
from kafka.serializer import Serializer

from streamnb.errors import SourceError
from streamnb.stream.deadline import UnavailableError
from streamnb.stream.kafka.connection import (
    ANSWER_SECONDS,
    CLOSE_SECONDS,
    PASSING,
    closed,
    connected,
)
from streamnb.stream.records import Header

__all__ = ["Message", "TopicWriter"]

_FLUSH_ROUNDS = 3
_BATCH_BYTES = 1 << 14
_MAX_MESSAGE_BYTES = 100_000_000
"""A broker hangs up on a larger request (`socket.request.max.bytes` is 100 MiB by default)."""

_TOO_LARGE = (kafka_errors.MessageSizeTooLargeError, kafka_errors.RecordListTooLargeError)


class Message(NamedTuple):
    """A record to be written.

    `too_large` is told so, with the reason, where the record is too large for the topic, and
    returns a smaller one to be written in its place, or `None`; without it that is an error.
    """

    key: bytes | None
    value: bytes | None
    headers: Sequence[Header]
    too_large: Callable[[str], Message | None] | None = None


class TopicWriter:
    """A topic to write to, at least once: after trouble a message may be there twice.

    Not idempotent on purpose: an idempotent producer of this client that was refused one record
    never works again.

    Parameters
    ----------
    servers
        `"host:port"`, at least one.
    topic
        The topic's name.
    identity
        What makes the topic the same.
    limit
        How large its messages may be, in bytes, for the reasons of those that are larger; `None`
        where that is not known. It is the broker that decides.
    stop
        Ends the wait for a broker when it is set.

    Raises
    ------
    SourceError
        no broker answers within 10 seconds.
    Stopped
        `stop` was set.
    """

    def __init__(
        self, servers: Sequence[str], topic: str, identity: str, limit: int | None, stop: Event
    ) -> None:
        self.identity = identity
        self._topic = topic
        self._limit = _MAX_MESSAGE_BYTES if limit is None else min(limit, _MAX_MESSAGE_BYTES)
        self._waiting: list[tuple[Message, Any]] = []
        self._producer = connected(
            KafkaProducer,
            servers,
            stop,
            acks="all",
            enable_idempotence=False,
            max_in_flight_requests_per_connection=1,
            allow_auto_create_topics=False,
            linger_ms=5,
            batch_size=min(self._limit, _BATCH_BYTES),
            max_block_ms=int(ANSWER_SECONDS * 1000),
            max_request_size=_MAX_MESSAGE_BYTES,
            value_serializer=_Null(),
        )

    def write(self, message: Message) -> None:
        """Write a message some time soon."""
        value = _NULL if message.value is None else message.value
        try:
            result = self._producer.send(
                self._topic, key=message.key, value=value, headers=list(message.headers)
            )
        except kafka_errors.KafkaError as error:
            result = error
        self._waiting.append((message, result))

    def flush(self) -> None:
        """Return when everything that was written is durable.

        Raises
        ------
        UnavailableError
            it is not yet; the next `flush` sees to what is missing.
        SourceError
            the topic may not be written.
        """
        for _ in range(_FLUSH_ROUNDS):
            if not self._waiting:
                return
            try:
                self._producer.flush(timeout=ANSWER_SECONDS)
            except PASSING:
                break
            waiting, self._waiting = self._waiting, []
            for message, result in waiting:
                error = result if isinstance(result, Exception) else result.exception
                if error is not None:
                    self._write_again(message, error)
        msg = f"the topic {self._topic!r} does not take {len(self._waiting)} messages now"
        raise UnavailableError(msg)

    def _write_again(self, message: Message, error: Exception) -> None:
        if isinstance(error, _TOO_LARGE) and message.too_large is not None:
            smaller = message.too_large(self._why_too_large(message))
            if smaller is not None:
                self.write(smaller)
        elif isinstance(error, PASSING):
            self.write(message)
        else:
            msg = f"the topic {self._topic!r} cannot be written: {error}"
            raise SourceError(msg) from error

    def _why_too_large(self, message: Message) -> str:
        size = DefaultRecordBatchBuilder.estimate_size_in_bytes(
            message.key, message.value, message.headers
        )
        return f"too large for the topic {self._topic!r}: {size} bytes, limit {self._limit}"

    def close(self) -> None:
        """Close the connections; what was not flushed may be lost."""
        closed(lambda: self._producer.close(timeout=CLOSE_SECONDS), "closing a producer")


_NULL = object()


class _Null(Serializer):  # type: ignore[misc] # the client has no types
    """Makes a null value: the client itself refuses one in a record without a key."""

    def serialize(self, topic: str, headers: object, data: object) -> object:  # noqa: ARG002 - theirs
        return None if data is _NULL else data
