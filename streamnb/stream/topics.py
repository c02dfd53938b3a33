"""Learning topics: partitions come and go, brokers too; nothing is counted twice or lost."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from threading import Event

from streamnb.errors import SourceError
from streamnb.provenance import Counters
from streamnb.stream.deadline import UnavailableError, patiently
from streamnb.stream.job import is_another
from streamnb.stream.kafka import Bounds, Cluster, Partition, TopicSource, TopicWatch
from streamnb.stream.settings import LearnSettings, PartitionProgress
from streamnb.stream.shard import Shard
from streamnb.stream.sources import Batch
from streamnb.stream.worker import Worker, pieces

__all__ = ["TopicLearner"]

_POLL_SECONDS = 0.1
_FOLDER_SECONDS = 0.2

_log = logging.getLogger("streamnb")


class TopicLearner:
    """One worker of a group that learns the topics of a cluster.

    The loop, once around:

    1. poll; forget the shards of partitions that were lost;
    2. let each shard learn what came of its partition;
    3. load the shards of partitions that were assigned, and begin to read at their positions;
    4. save, if it is time to (see `Worker.save`), and then tell the group, for tools that ask it;
    5. stop, if that was wished or everything is learned.

    While a checkpoint cannot be saved nothing is read, so nothing piles up.
    """

    def __init__(
        self,
        worker: Worker,
        cluster: Cluster,
        topics: Sequence[str],
        settings: LearnSettings,
        stop: Event,
    ) -> None:
        self._worker = worker
        self._cluster = cluster
        self._skips_gaps = settings.on_gap == "skip"
        self._stop = stop
        self._shards: dict[Partition, Shard] = {}
        self._waiting: set[Partition] = set()
        self._ends: dict[Partition, int] = {}
        if settings.until_end:
            bounds = patiently(lambda: cluster.bounds(cluster.partitions(topics)), stop, 10.0)
            self._ends = {partition: each.end for partition, each in bounds.items()}
        self._reached: set[Partition] = set()
        self._is_held = False
        self._folder_at = 0.0
        known = worker.job.sources
        self._watch = TopicWatch(cluster, {topic: known[topic].identity for topic in topics})
        group = settings.group or f"streamnb-{worker.job.id}"
        self._source = TopicSource(cluster.servers, topics, group, settings.session_timeout, stop)

    def run(self) -> None:
        """Learn until the end, or until stopped; see `streamnb.stream.learner.learn`."""
        try:
            while not self._once():
                self._report()
            self._report(is_last=True)
        finally:
            self._source.close()

    def _once(self) -> bool:
        """Go once around the loop; tell whether it is over."""
        polled = self._source.poll(_POLL_SECONDS)
        self._waiting -= polled.lost
        self._waiting |= polled.assigned | polled.out_of_range
        for partition in polled.lost | polled.assigned:
            if self._shards.pop(partition, None) is not None:
                _log.info("gave up %s [%d]", *partition)
        for partition, batch in polled.batches.items():
            self._learn(partition, batch)
        if self._stop.is_set():
            if not self._save():
                _log.warning("stopped, and what is not in a checkpoint will be learned again")
            return True
        if self._waiting and not self._is_held and self._watch.may_ask():
            self._load()
        self._watch.look()
        self._save_if_due(at_end=self._has_reached_ends())
        return self._is_all_learned()

    def _learn(self, partition: Partition, batch: Batch) -> None:
        for piece in pieces(batch, self._worker.every):
            shard = self._shards.get(partition)
            if shard is None or self._stop.is_set():
                return
            self._worker.learn(shard, piece)
            self._save_if_due()

    def _load(self) -> None:
        """Load the shards of the partitions that wait for it, and begin to read them."""
        waiting = sorted(self._waiting)
        try:
            self._watch.check()
            bounds = self._cluster.bounds(waiting)
        except UnavailableError as error:
            self._watch.note(error)
            return
        for partition in waiting:
            if self._stop.is_set():
                return
            shard = self._shards.get(partition) or self._loaded(partition, bounds[partition])
            self._close_gap(shard, bounds[partition])
            self._shards[partition] = shard
            self._waiting.discard(partition)
            self._source.begin(partition, shard.next)
            _log.info("learn %s [%d] from %d on", *partition, shard.next)

    def _loaded(self, partition: Partition, bounds: Bounds) -> Shard:
        known = self._worker.job.sources[partition.topic]
        start = known.start.get(partition.number, bounds.begin)
        shard = self._worker.load(partition.topic, partition.number, known.identity, start)
        if shard.identity != known.identity:
            raise SourceError(is_another(partition.topic, shard.identity, known.identity))
        return shard

    def _close_gap(self, shard: Shard, bounds: Bounds) -> None:
        """See to it that the log has what the shard wants next.

        Raises
        ------
        SourceError
            it has not: it ends before, or it begins later and gaps are not to be skipped.
        """
        where = f"{shard.source} [{shard.partition}]"
        if shard.next > bounds.end:
            msg = f"{where} ends at {bounds.end}, and was learned up to {shard.next}"
            raise SourceError(msg)
        missing = bounds.begin - shard.next
        if missing <= 0:
            return
        gap = f"{where} lost events not yet learned, {shard.next} to {bounds.begin}"
        if not self._skips_gaps:
            self._save()
            msg = f"{gap}; with --on-gap skip they are counted and left out"
            raise SourceError(msg)
        _log.warning("%s; left out", gap)
        shard.skip(bounds.begin)
        self._worker.tally.count(shard.source, shard.partition, Counters(gaps=missing))

    def _save_if_due(self, *, at_end: bool = False) -> None:
        shards = self._shards.values()
        if self._is_held:
            if self._watch.may_ask():
                self._save()
        elif self._worker.is_due(shards) or (at_end and any(map(self._worker.has_news, shards))):
            self._save()

    def _save(self) -> bool:
        """Save the shards that have news; where that cannot be done, read nothing until it can."""
        news = {p: shard for p, shard in self._shards.items() if self._worker.has_news(shard)}
        try:
            others = self._worker.save(news.values(), self._watch.check)
        except UnavailableError as error:
            self._watch.note(error)
            self._is_held = True
            self._source.hold()
            return False
        if news:
            self._source.commit({partition: shard.next for partition, shard in news.items()})
        for shard in others:
            partition = Partition(shard.source, shard.partition)
            _log.warning(
                "%s [%d] has another shard at %d; going on from that", *partition, shard.next
            )
            del self._shards[partition]
            self._waiting.add(partition)
        if self._is_held:
            self._is_held = False
            self._source.release()
        return True

    def _has_reached_ends(self) -> bool:
        """Tell whether the shards here have reached the ends that are asked for."""
        return bool(self._ends) and all(
            shard.next >= self._ends.get(partition, 0) for partition, shard in self._shards.items()
        )

    def _is_all_learned(self) -> bool:
        """Tell whether every partition has reached its end, here or in a shard of the folder."""
        if not self._has_reached_ends() or any(map(self._worker.has_news, self._shards.values())):
            return False
        others = self._ends.keys() - self._shards.keys() - self._reached
        if others and time.monotonic() >= self._folder_at:
            self._folder_at = time.monotonic() + _FOLDER_SECONDS
            positions = self._worker.folder.positions()
            for partition in others:
                end = self._ends[partition]
                if positions.get(partition.topic, {}).get(partition.number, -1) >= end:
                    model = self._worker.folder.newest(*partition)
                    if model is not None and Shard.restored(model).next >= end:
                        self._reached.add(partition)
            others -= self._reached
        return not others

    def _report(self, *, is_last: bool = False) -> None:
        progress = [
            PartitionProgress(
                *partition, shard.next, self._ends.get(partition, self._source.end(partition))
            )
            for partition, shard in sorted(self._shards.items())
        ]
        self._worker.tally.report(progress, is_last=is_last)
