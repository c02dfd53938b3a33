"""What the clients of a cluster have in common: how they connect, fail and close."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Event
from typing import Any, NamedTuple

from kafka import TopicPartition
from kafka import errors as kafka_errors
from kafka.structs import OffsetAndMetadata

from streamnb.errors import SourceError
from streamnb.stream.deadline import UnavailableError, within

__all__ = [
    "ANSWER_SECONDS",
    "CLOSE_SECONDS",
    "PASSING",
    "Partition",
    "as_committed",
    "closed",
    "connected",
]

ANSWER_SECONDS = 1.5
"""How long an answer of a cluster is waited for."""

CLOSE_SECONDS = 0.5
"""How long a client may take to say good-bye."""

_CONNECT_SECONDS = 10.0

PASSING = (
    kafka_errors.RetriableError,
    kafka_errors.BrokerNotAvailableError,
    kafka_errors.CommitFailedError,
    kafka_errors.IllegalGenerationError,
    kafka_errors.MemberIdRequiredError,
    kafka_errors.NoOffsetForPartitionError,
    kafka_errors.RebalanceInProgressError,
    kafka_errors.UnknownError,
    kafka_errors.UnknownMemberIdError,
)
"""What is raised while a broker restarts or a group changes, and is over by itself."""


class Partition(NamedTuple):
    """A partition of a topic."""

    topic: str
    number: int


def connected(client: Any, servers: Sequence[str], stop: Event | None, **settings: object) -> Any:
    """Make a client, which is a proof that a broker answers.

    Raises
    ------
    SourceError
        none does; the client itself knows no more, and has logged why.
    """
    where = ",".join(servers)
    try:
        return within(
            _CONNECT_SECONDS + 1,
            lambda: client(
                bootstrap_servers=list(servers),
                bootstrap_timeout_ms=int(_CONNECT_SECONDS * 1000),
                reconnect_backoff_max_ms=500,
                **settings,
            ),
            f"a broker at {where}",
            stop,
        )
    except (kafka_errors.KafkaError, UnavailableError) as error:
        msg = f"no broker answers at {where}: {error}"
        raise SourceError(msg) from error


def closed(close: Callable[[], object], what: str) -> None:
    """Close a client, if that is possible soon; nothing is lost where it is not."""
    with suppress(kafka_errors.KafkaError, UnavailableError):
        within(2 * CLOSE_SECONDS, close, what)


def as_committed(offsets: Mapping[Partition, int]) -> dict[Any, Any]:
    """Return offsets as the client wants them for a commit."""
    return {
        TopicPartition(*partition): OffsetAndMetadata(offset, "", -1)
        for partition, offset in offsets.items()
    }
