"""Topics as a source of records.

Who owns a partition comes from a consumer group; where it is read from never does: a partition
that is assigned stays paused until its owner says where to begin (`TopicSource.begin`).

The client calls the rebalance listener on a thread of its own, where calls that block raise. So
the listener only pauses and takes notes; its placeholder `seek` keeps the client from asking the
group for a position. Records of a poll in which a partition changed hands are dropped: they come
again, from where the next owner begins.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from threading import Event, Lock
from typing import Any, NamedTuple

from kafka import KafkaConsumer, TopicPartition
from kafka import errors as kafka_errors
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.structs import MemberState

from streamnb.errors import ConfigError, SourceError
from streamnb.stream.deadline import Stopped
from streamnb.stream.kafka.connection import (
    ANSWER_SECONDS,
    CLOSE_SECONDS,
    PASSING,
    Partition,
    as_committed,
    closed,
    connected,
)
from streamnb.stream.sources import Batch

__all__ = ["Polled", "TopicSource"]

_MAX_POLL_RECORDS = 5000
_METADATA_MAX_AGE_MS = 2000
_STUCK_SECONDS = 3.0

_log = logging.getLogger("streamnb")


class Polled(NamedTuple):
    """What came of one poll.

    `lost` partitions are no longer this member's; `assigned` ones are, and wait for `begin` (a
    partition can be in both). `out_of_range` ones stand where the log has nothing, and wait too.
    """

    batches: Mapping[Partition, Batch]
    lost: frozenset[Partition]
    assigned: frozenset[Partition]
    out_of_range: frozenset[Partition]


class TopicSource:
    """Topics read as a member of a consumer group; only committed records.

    Parameters
    ----------
    servers
        `"host:port"`, at least one.
    topics
        The topics' names.
    group
        The group's name.
    session_seconds
        How long the group waits for a member that is silent.
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
        self,
        servers: Sequence[str],
        topics: Sequence[str],
        group: str,
        session_seconds: float,
        stop: Event,
    ) -> None:
        self._servers = servers
        self._topics = list(topics)
        self._group = group
        self._session_seconds = session_seconds
        self._stop = stop
        self._next: dict[Partition, int] = {}
        self._stable_at = time.monotonic()
        self._join()

    def _join(self) -> None:
        """Make a consumer that joins the group with the first poll."""
        self._consumer = connected(
            KafkaConsumer,
            self._servers,
            self._stop,
            group_id=self._group,
            enable_auto_commit=False,
            auto_offset_reset="none",
            isolation_level="read_committed",
            allow_auto_create_topics=False,
            metadata_max_age_ms=_METADATA_MAX_AGE_MS,
            max_poll_records=_MAX_POLL_RECORDS,
            session_timeout_ms=int(self._session_seconds * 1000),
            heartbeat_interval_ms=int(min(self._session_seconds / 10, 1.0) * 1000),
            partition_assignment_strategy=[CooperativeStickyAssignor()],
        )
        self._notes = _Notes(self._consumer)
        self._consumer.subscribe(self._topics, listener=self._notes)
        with suppress(kafka_errors.KafkaError):
            # a member that joins before it knows its topics joins twice; see `_is_stuck`
            firsts = [TopicPartition(topic, 0) for topic in self._topics]
            self._consumer.end_offsets(firsts, timeout_ms=int(ANSWER_SECONDS * 1000))

    def poll(self, seconds: float) -> Polled:
        """Wait for records, at most so long (and a little), and for news of partitions.

        Raises
        ------
        SourceError
            records that cannot be read: damaged, of a codec that is missing, not for us.
        ConfigError
            the broker does not allow such a session.
        """
        records: dict[Any, list[Any]] = {}
        out_of_range: frozenset[Partition] = frozenset()
        failed = True
        try:
            records = self._consumer.poll(timeout_ms=int(seconds * 1000))
            failed = False
        except kafka_errors.OffsetOutOfRangeError as error:
            out_of_range = frozenset(Partition(*each) for each in error.args[0])
        except PASSING:
            time.sleep(min(seconds, 0.1))
        except kafka_errors.InvalidSessionTimeoutError as error:
            msg = (
                "the broker does not allow this session timeout; its bounds are "
                "group.min.session.timeout.ms and group.max.session.timeout.ms"
            )
            raise ConfigError(msg) from error
        except kafka_errors.KafkaError as error:
            msg = f"the topics cannot be read: {error}"
            raise SourceError(msg) from error
        lost, assigned = self._notes.taken()
        if self._is_stuck():
            lost, assigned, records = self._joined_again(), frozenset(), {}
        for partition in lost | assigned | out_of_range:
            self._next.pop(partition, None)
        self._pause(out_of_range - lost - assigned)
        if failed:
            self._seek_again()
        return Polled(self._batches(records), lost, assigned, out_of_range - lost - assigned)

    def begin(self, partition: Partition, offset: int) -> None:
        """Read an assigned partition from an offset on; nothing happens if it is ours no more."""
        tp = TopicPartition(*partition)
        try:
            self._consumer.seek(tp, offset)
            self._consumer.resume(tp)
        except (KeyError, ValueError):
            return  # the next poll says that it was lost
        self._next[partition] = offset

    def hold(self) -> None:
        """Read nothing until `release`, and remain a member."""
        self._pause(self._next)

    def release(self) -> None:
        """Go on after `hold`."""
        for partition, offset in tuple(self._next.items()):
            self.begin(partition, offset)

    def end(self, partition: Partition) -> int | None:
        """Return where the partition ended when last heard of; `None` before that."""
        try:
            high: int | None = self._consumer.highwater(TopicPartition(*partition))
        except (KeyError, kafka_errors.IllegalStateError):
            return None
        return high

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """Tell the group about positions, for tools that show the lag; nobody waits for it."""
        self._consumer.commit_async(as_committed(offsets))

    def close(self) -> None:
        """Leave the group, if the broker answers soon."""
        milliseconds = int(CLOSE_SECONDS * 1000)
        closed(
            lambda: self._consumer.close(autocommit=False, timeout_ms=milliseconds),
            "leaving the group",
        )

    def _is_stuck(self) -> bool:
        """Tell whether the member has been joining for longer than the group waits for anybody.

        The client forgets a join in which it leads the group, if that began because partitions
        appeared, and if a poll ends between its two requests: then it never hears of its
        partitions, nor beats its heart, and says for ever that it is rebalancing.
        """
        now = time.monotonic()
        if self._consumer.group_metadata().state == MemberState.STABLE:
            self._stable_at = now
        return now - self._stable_at > self._session_seconds + _STUCK_SECONDS

    def _joined_again(self) -> frozenset[Partition]:
        """Join the group as another member, if a broker answers; return what is lost by that."""
        self._stable_at = time.monotonic()
        stuck = self._consumer
        try:
            self._join()
        except (SourceError, Stopped):
            return frozenset()
        _log.warning("joined the group %s again: the client did not get further", self._group)
        closed(lambda: stuck.close(autocommit=False, timeout_ms=0), "closing a client")
        lost = frozenset(self._next)
        self._next.clear()
        return lost

    def _batches(self, records: Mapping[Any, list[Any]]) -> dict[Partition, Batch]:
        """Return what was read of the partitions that were begun, with the positions after it."""
        batches = {}
        for partition in self._next:
            found = records.get(partition, [])
            if found:
                batches[partition] = Batch(found, found[-1].offset + 1)
            elif not records and (position := self._position(partition)) > self._next[partition]:
                # transaction markers and compacted records at the end of the log
                batches[partition] = Batch((), position)
        self._next.update((partition, batch.next) for partition, batch in batches.items())
        return batches

    def _position(self, partition: Partition) -> int:
        try:
            position: int | None = self._consumer.position(TopicPartition(*partition), timeout_ms=0)
        except (KeyError, kafka_errors.KafkaError):
            return 0
        return position or 0

    def _seek_again(self) -> None:
        """Go back to what was handed out: an error may have taken records with it."""
        for partition, offset in self._next.items():
            with suppress(KeyError, ValueError):
                self._consumer.seek(TopicPartition(*partition), offset)

    def _pause(self, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            with suppress(KeyError, ValueError):
                self._consumer.pause(TopicPartition(*partition))


class _Notes(ConsumerRebalanceListener):  # type: ignore[misc] # the client has no types
    """What the client's own thread hears of partitions, for the thread that polls."""

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer
        self._lock = Lock()
        self._lost: set[Partition] = set()
        self._assigned: set[Partition] = set()

    def taken(self) -> tuple[frozenset[Partition], frozenset[Partition]]:
        """Return what was lost and what is assigned, since this was last asked."""
        with self._lock:
            taken = frozenset(self._lost), frozenset(self._assigned)
            self._lost.clear()
            self._assigned.clear()
        return taken

    def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        for tp in assigned:
            self._consumer.seek(tp, 0)
            self._consumer.pause(tp)
        with self._lock:
            self._assigned.update(Partition(*tp) for tp in assigned)

    def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
        with self._lock:
            gone = {Partition(*tp) for tp in revoked}
            self._assigned -= gone
            self._lost |= gone

    def on_partitions_lost(self, lost: Iterable[Any]) -> None:
        self.on_partitions_revoked(lost)
