"""Predicting topics, as a member of a group that keeps the positions."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from contextlib import closing
from threading import Event

from streamnb.errors import SourceError
from streamnb.provenance import Counters
from streamnb.stream.addresses import KafkaAddress
from streamnb.stream.deadline import UnavailableError, patiently
from streamnb.stream.kafka import Cluster, Partition, TopicSource, TopicWatch
from streamnb.stream.predictor import Predictor
from streamnb.stream.settings import PartitionProgress, PredictSettings
from streamnb.stream.sinks import check_no_source

__all__ = ["TopicPredictor"]

_SESSION_SECONDS = 10.0
_POLL_SECONDS = 0.1
_GROUP_SECONDS = 0.5

_log = logging.getLogger("streamnb")


class TopicPredictor:
    """One predictor of a group that answers the topics of a cluster, each event at least once.

    What was answered is made durable after every poll, and then the group is told. While that is
    not possible nothing is read, so nothing piles up.
    """

    def __init__(
        self,
        predictor: Predictor,
        topics: Sequence[KafkaAddress],
        settings: PredictSettings,
        stop: Event,
    ) -> None:
        self._predictor = predictor
        self._addresses = topics
        self._settings = settings
        self._stop = stop
        self._group = settings.group or f"streamnb-predict-{predictor.model.id}"
        self._positions: dict[Partition, int] = {}
        self._unflushed: dict[Partition, int] = {}
        self._waiting: set[Partition] = set()
        self._ends: dict[Partition, int] = {}
        self._group_at = 0.0
        self._is_held = False
        self._reached: set[Partition] = set()

    def run(self) -> None:
        """Answer until the end, or until stopped; see `streamnb.stream.predictor.predict`."""
        names = [address.topic for address in self._addresses]
        servers = self._addresses[0].servers
        with closing(Cluster(servers, self._stop)) as self._cluster:
            topics = self._cluster.find(names, self._stop)
            identities = {name: topic.identity for name, topic in topics.items()}
            check_no_source("to", self._predictor.answers, identities.values())
            check_no_source("dead_letters", self._predictor.letters, identities.values())
            self._watch = TopicWatch(self._cluster, identities)
            patiently(self._settle, self._stop, 10.0)
            with closing(
                TopicSource(servers, names, self._group, _SESSION_SECONDS, self._stop)
            ) as self._source:
                while not self._once():
                    self._report()
                self._report(is_last=True)

    def _settle(self) -> None:
        """Note the ends; give a group that has no positions in a topic those that are asked for."""
        names = [address.topic for address in self._addresses]
        bounds = self._cluster.bounds(self._cluster.partitions(names))
        if self._settings.until_end:
            self._ends = {partition: each.end for partition, each in bounds.items()}
        if self._settings.start == "latest":
            known = {partition.topic for partition in self._cluster.group_offsets(self._group)}
            ends = {each: end for each, (_, end) in bounds.items() if each.topic not in known}
            if ends:
                self._cluster.set_group_offsets(self._group, ends)

    def _once(self) -> bool:
        """Poll, answer, make it durable, tell the group; tell whether it is over."""
        polled = self._source.poll(_POLL_SECONDS)
        for partition in polled.lost | polled.assigned:
            self._positions.pop(partition, None)
            self._unflushed.pop(partition, None)
        self._waiting -= polled.lost
        self._waiting |= polled.assigned | polled.out_of_range
        for partition, batch in polled.batches.items():
            self._predictor.answer(*partition, batch)
            self._positions[partition] = self._unflushed[partition] = batch.next
        if not self._is_held or self._watch.may_ask():
            self._flush()
        if self._stop.is_set():
            return True
        if self._waiting and not self._is_held and self._watch.may_ask():
            self._begin()
        self._watch.look()
        return self._is_all_answered()

    def _flush(self) -> None:
        """Make answers durable and tell the group, or read nothing until that is possible."""
        try:
            if self._unflushed:
                self._predictor.flush()
        except UnavailableError as error:
            self._watch.note(error)
            self._is_held = True
            self._source.hold()
            return
        if self._unflushed:
            self._source.commit(self._unflushed)
            self._unflushed.clear()
        if self._is_held:
            self._is_held = False
            self._source.release()

    def _begin(self) -> None:
        """Begin to read the partitions that wait for it, where the group left them."""
        try:
            self._watch.check()
            bounds = self._cluster.bounds(self._waiting)
            committed = self._cluster.group_offsets(self._group)
        except UnavailableError as error:
            self._watch.note(error)
            return
        for partition, (begin, end) in bounds.items():
            position = self._positions.get(partition, committed.get(partition, begin))
            if position > end:
                msg = f"{partition.topic} [{partition.number}] ends at {end}, before {position}"
                raise SourceError(msg)
            if position < begin:
                _log.warning("%s [%d] lost events: %d to %d", *partition, position, begin)
                self._predictor.tally.count(*partition, Counters(gaps=begin - position))
                position = begin
            self._positions[partition] = self._unflushed[partition] = position
            self._waiting.discard(partition)
            self._source.begin(partition, position)
            _log.info("predict %s [%d] from %d on", *partition, position)

    def _is_all_answered(self) -> bool:
        """Tell whether every partition has reached its end, here or by the group's positions."""
        if not self._ends or self._unflushed:
            return False
        ends = self._ends
        if any(position < ends.get(each, 0) for each, position in self._positions.items()):
            return False
        others = ends.keys() - self._positions.keys() - self._reached
        if others and time.monotonic() >= self._group_at:
            self._group_at = time.monotonic() + _GROUP_SECONDS
            try:
                committed = self._cluster.group_offsets(self._group)
            except UnavailableError as error:
                self._watch.note(error)
                return False
            self._reached |= {each for each in others if committed.get(each, -1) >= ends[each]}
            others -= self._reached
        return not others

    def _report(self, *, is_last: bool = False) -> None:
        progress = [
            PartitionProgress(
                *partition, position, self._ends.get(partition, self._source.end(partition))
            )
            for partition, position in sorted(self._positions.items())
        ]
        self._predictor.tally.report(progress, is_last=is_last)
