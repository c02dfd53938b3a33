"""Which events a model has learned: ranges of the partitions of named sources.

A model learned in a program has none, and merges freely. A model learned from a source carries
its ranges in its bytes, so that the same events are never merged twice unnoticed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from streamnb.errors import MergeError

__all__ = ["Counters", "Provenance", "Range"]


@dataclass(frozen=True, order=True)
class Range:
    """The events of one partition from `start` up to, not including, `next`.

    `source` is what people read (a topic's name, a file's path, `-` for standard input);
    `identity` is what makes two sources the same: the cluster's and the topic's id, a file's path
    and the digest of its first line, a number of its own for each run of standard input.
    Positions are Kafka offsets or byte offsets.
    """

    source: str
    partition: int
    start: int
    next: int
    identity: str

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.next:
            msg = f"a range of events from {self.start} to {self.next} of {self.source!r}"
            raise ValueError(msg)

    def __str__(self) -> str:
        return f"{self.source}[{self.partition}] {self.start}..{self.next}"


@dataclass(frozen=True)
class Counters:
    """What became of the records of a source. Each is a number of records."""

    ok: int = 0
    bad: int = 0
    tombstones: int = 0
    gaps: int = 0

    def __add__(self, other: Counters) -> Counters:
        return Counters(
            self.ok + other.ok,
            self.bad + other.bad,
            self.tombstones + other.tombstones,
            self.gaps + other.gaps,
        )


@dataclass(frozen=True)
class Provenance:
    """The ranges a model has learned, in order, and the counters of their records.

    Empty (`Provenance()`) for a model learned in a program, whose `counters` are `None`.
    `a + b` raises `MergeError` where both hold the same events.
    """

    ranges: tuple[Range, ...] = ()
    counters: Counters | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "ranges", _joined(self.ranges))

    @property
    def next(self) -> int:
        """Where the last range ends; 0 without ranges."""
        return max((each.next for each in self.ranges), default=0)

    def __bool__(self) -> bool:
        return bool(self.ranges) or self.counters is not None

    def __add__(self, other: Provenance) -> Provenance:
        if self.counters is None or other.counters is None:
            counters = self.counters or other.counters
        else:
            counters = self.counters + other.counters
        return Provenance(self.ranges + other.ranges, counters)


def _joined(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """The ranges in canonical order, neighbours of one partition made one.

    Raises
    ------
    MergeError
        two ranges hold the same events.
    """
    key = attrgetter("identity", "partition")
    joined: list[Range] = []
    for _, group in groupby(sorted(ranges, key=lambda r: (*key(r), r.start, r.next)), key=key):
        last: Range | None = None
        for one in group:
            if last is not None and one.start == one.next <= last.next:
                continue  # nothing was learned in a range without events
            if last is not None and one.start < last.next:
                msg = f"the same events twice: {last} and {one}"
                raise MergeError(msg)
            if last is not None and one.start == last.next and one.source == last.source:
                last = Range(last.source, last.partition, last.start, one.next, last.identity)
                joined[-1] = last
            else:
                last = one
                joined.append(one)
    return tuple(sorted(joined))
