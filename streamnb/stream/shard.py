"""A shard: what was learned from one partition, and the position after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamnb import dumps
from streamnb.models import BayesClassifier
from streamnb.provenance import Counters, Provenance, Range
from streamnb.stream.records import REFUSED, Event, Letter, event_time
from streamnb.stream.sources import Batch

__all__ = ["Shard"]


class Shard:
    """A model and the position up to which it has learned a partition: one value.

    It is a pure function of the records between its start and its position. Nothing else goes in:
    no clock, no name of a worker, no trace of how the records were cut into batches, or of when
    the shard was written and read again.

    Parameters
    ----------
    model
        An empty model; the shard's own from now on.
    source, partition, identity
        Where the records come from, as in `streamnb.provenance.Range`.
    start
        The first position.
    """

    def __init__(
        self, model: BayesClassifier, source: str, partition: int, identity: str, start: int
    ) -> None:
        self.source = source
        self.partition = partition
        self.next = start
        self.counters = Counters()
        self._model = model
        self._identity = identity
        self._start = start
        self._earlier: tuple[Range, ...] = ()
        self._first = start

    @classmethod
    def restored(cls, model: BayesClassifier) -> Shard:
        """Make the shard again whose bytes `model` was read from; it becomes the shard's own."""
        *earlier, last = sorted(model.provenance.ranges, key=lambda each: each.next)
        shard = cls(model, last.source, last.partition, last.identity, last.start)
        shard.next = last.next
        shard.counters = model.provenance.counters or Counters()
        shard._earlier = tuple(earlier)
        shard._first = min([last.start, *(each.start for each in earlier)])
        return shard

    @property
    def identity(self) -> str:
        """What makes the source the same, as it was when the last range was begun."""
        return self._identity

    def learn(
        self, batch: Batch, decode: Callable[[bytes], Event]
    ) -> tuple[Counters, list[Letter]]:
        """Learn the records of a batch that are events; return the counts, and those that are not.

        Records before the position are left out: they were learned. An error that is no refusal
        of an event is raised as it is, and the shard is of no use any more.
        """
        learn_one: Any = self._model.learn_one  # compiled, with all verbs' arguments
        position = self.next
        letters: list[Letter] = []
        ok = tombstones = 0
        for record in batch.records:
            if record.offset < position:
                continue
            value = record.value
            if value is None:
                tombstones += 1
                continue
            try:
                event = decode(value)
                learn_one(event.x, event.y, event.w, event_time(event.t, record.timestamp))
            except REFUSED as error:
                letters.append(Letter.of(record, error))
            else:
                ok += 1
        counted = Counters(ok=ok, bad=len(letters), tombstones=tombstones)
        self.counters += counted
        self.next = max(position, batch.next)
        return counted, letters

    def skip(self, position: int) -> None:
        """Go on at a later position: what lies between is gone, and counted as a gap."""
        if position <= self.next:
            return
        self._earlier += (
            Range(self.source, self.partition, self._start, self.next, self._identity),
        )
        self.counters += Counters(gaps=position - self.next)
        self._start = self.next = position

    def dumps(self) -> bytes:
        """Return the shard's bytes.

        Raises
        ------
        RuntimeError
            more records were counted than there are positions, which would be a fault of ours.
        """
        counters = self.counters
        counted = counters.ok + counters.bad + counters.tombstones + counters.gaps
        if counted > self.next - self._first:
            where = f"{self.source} [{self.partition}] {self._first}..{self.next}"
            msg = f"{counted} records were counted in {where}"
            raise RuntimeError(msg)
        last = Range(self.source, self.partition, self._start, self.next, self._identity)
        self._model.provenance = Provenance((*self._earlier, last), counters)
        return dumps(self._model)
