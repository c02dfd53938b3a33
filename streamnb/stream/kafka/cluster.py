"""A cluster: what it says of its topics and groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Event
from typing import Any, NamedTuple, TypeVar

from kafka import KafkaAdminClient, TopicPartition
from kafka import errors as kafka_errors
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.protocol.consumer.offsets import IsolationLevel, OffsetSpec

from streamnb.errors import SourceError
from streamnb.stream.deadline import UnavailableError, patiently, within
from streamnb.stream.kafka.connection import (
    ANSWER_SECONDS,
    PASSING,
    Partition,
    as_committed,
    closed,
    connected,
)

__all__ = ["Bounds", "Cluster", "Topic"]

_MAX_MESSAGE_BYTES = "max.message.bytes"
_UNKNOWN_SECONDS = 5.0
_PATIENCE_SECONDS = 10.0

_Result = TypeVar("_Result")


class Bounds(NamedTuple):
    """The first offset that a partition has, and the one after its last committed record."""

    begin: int
    end: int


class Topic(NamedTuple):
    """A topic as it is now: what makes it the same, and the number of its partitions."""

    identity: str
    partitions: int


class Cluster:
    """What a cluster says of its topics and groups. Safe to use from several threads.

    Every method raises `UnavailableError` where the cluster does not answer within two seconds.

    Parameters
    ----------
    servers
        `"host:port"`, at least one.
    stop
        Ends the wait for the first answer when it is set.

    Raises
    ------
    SourceError
        no broker answers within 10 seconds.
    Stopped
        `stop` was set.
    """

    def __init__(self, servers: Sequence[str], stop: Event) -> None:
        self.servers = list(servers)
        self._client = connected(
            KafkaAdminClient,
            self.servers,
            stop,
            request_timeout_ms=int(ANSWER_SECONDS * 1000),
        )
        about = patiently(
            lambda: self._ask("the cluster's id", self._client.describe_cluster),
            stop,
            _PATIENCE_SECONDS,
        )
        self._id = str(about["cluster_id"])

    def find(self, names: Sequence[str], stop: Event) -> dict[str, Topic]:
        """Describe topics, and wait a little for those that are only being made.

        Raises
        ------
        SourceError
            a topic is unknown after 5 seconds, or may not be read.
        Stopped
            `stop` was set.
        """

        def found() -> dict[str, Topic]:
            topics = self.topics(names)
            for name in names:
                if name not in topics:
                    msg = f"no topic {name!r} at {','.join(self.servers)}"
                    raise UnavailableError(msg)
            return topics

        return patiently(found, stop, _UNKNOWN_SECONDS)

    def topics(self, names: Sequence[str]) -> dict[str, Topic]:
        """Describe those topics that there are.

        Raises
        ------
        SourceError
            a topic may not be read.
        """
        topics = {}
        for answer in self._ask("the topics", lambda: self._client.describe_topics(list(names))):
            error = kafka_errors.for_code(answer["error_code"])
            if issubclass(error, kafka_errors.AuthorizationError):
                msg = f"the topic {answer['name']!r} may not be read: {error.__name__}"
                raise SourceError(msg)
            if error is kafka_errors.NoError:
                identity = f"kafka:{self._id}:{answer['topic_id']}"
                topics[answer["name"]] = Topic(identity, len(answer["partitions"]))
        return topics

    def max_message_bytes(self, topic: str) -> int | None:
        """Return how large a topic's messages may be; `None` where that may not be read."""
        asked = [ConfigResource(ConfigResourceType.TOPIC, topic, [_MAX_MESSAGE_BYTES])]
        answer = self._ask(
            "a topic's settings",
            lambda: self._client.describe_configs(asked, config_filter="all"),
        )
        found = answer.get("topic", {}).get(topic, {}).get(_MAX_MESSAGE_BYTES)
        return None if found is None else int(found["value"])

    def partitions(self, names: Iterable[str]) -> list[Partition]:
        """Return the partitions of topics."""
        return [
            Partition(name, number)
            for name, topic in self.topics(list(names)).items()
            for number in range(topic.partitions)
        ]

    def bounds(self, partitions: Iterable[Partition]) -> dict[Partition, Bounds]:
        """Return where partitions begin and end now."""
        wanted = list(partitions)

        def offsets(spec: Any) -> list[int]:
            specs = {TopicPartition(*each): spec for each in wanted}
            level = IsolationLevel.READ_COMMITTED
            answer = self._client.list_partition_offsets(specs, isolation_level=level)
            return [answer[TopicPartition(*each)].offset for each in wanted]

        begins = self._ask("where partitions begin", lambda: offsets(OffsetSpec.EARLIEST))
        ends = self._ask("where partitions end", lambda: offsets(OffsetSpec.LATEST))
        return dict(zip(wanted, map(Bounds, begins, ends), strict=True))

    def group_offsets(self, group: str) -> dict[Partition, int]:
        """Return the offsets that a group has committed."""
        answer = self._ask("a group's offsets", lambda: self._client.list_group_offsets(group))
        found = answer.get(group, {})
        return {Partition(*key): each.offset for key, each in found.items() if each.offset >= 0}

    def set_group_offsets(self, group: str, offsets: Mapping[Partition, int]) -> None:
        """Commit offsets for a group without members; where it has some, nothing happens."""
        committed = as_committed(offsets)
        self._ask("a group's offsets", lambda: self._client.alter_group_offsets(group, committed))

    def close(self) -> None:
        """Close the connections."""
        closed(self._client.close, "closing a client")

    def _ask(self, what: str, call: Callable[[], _Result]) -> _Result:
        where = f"{what} of {','.join(self.servers)}"
        try:
            return within(ANSWER_SECONDS, call, where)
        except PASSING as error:
            msg = f"{where}: {error}"
            raise UnavailableError(msg) from error
        except kafka_errors.KafkaError as error:
            msg = f"{where}: {error}"
            raise SourceError(msg) from error
