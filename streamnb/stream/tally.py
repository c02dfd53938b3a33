"""What one worker has done, and the word it says when that is nothing but refusing events."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence

from streamnb.provenance import Counters
from streamnb.stream.diagnosis import likely_setting
from streamnb.stream.records import Letter
from streamnb.stream.settings import EventFormat, PartitionProgress, Progress

__all__ = ["Tally"]

_ENOUGH_BAD = 1000
_REPORT_SECONDS = 0.1

_log = logging.getLogger("streamnb")


class Tally:
    """Counts a worker's records, and reports its progress, not more than ten times a second."""

    def __init__(self, events: EventFormat, report: Callable[[Progress], None]) -> None:
        self._events = events
        self._report = report
        self._counters = Counters()
        self._began = self._last = 0.0
        self._reported = 0.0
        self._ended: tuple[PartitionProgress, ...] = ()
        self._bad_value: bytes | None = None
        self._has_said = False

    def count(
        self, source: str, partition: int, counted: Counters, letters: Sequence[Letter] = ()
    ) -> None:
        """Count records, and say so when the first is refused, and when all are."""
        self._last = time.monotonic()
        self._began = self._began or self._last
        self._counters += counted
        if letters and self._bad_value is None:
            record, reason = letters[0]
            self._bad_value = record.value or b""
            place = f"{source} [{partition}] at {record.offset}"
            _log.warning("the first dead letter, from %s: %s", place, reason)
        if self._counters.bad >= _ENOUGH_BAD:
            self._say_if_all_are_bad()

    def report(self, partitions: Iterable[PartitionProgress], *, is_last: bool = False) -> None:
        """Report the progress, if it is time to, or the last time for these partitions."""
        now = time.monotonic()
        if is_last:
            self._say_if_all_are_bad()
        elif now - self._reported < _REPORT_SECONDS:
            return
        self._reported = now
        so_far = (*self._ended, *partitions)
        if is_last:
            self._ended = so_far
        counters = self._counters
        self._report(
            Progress(
                ok=counters.ok,
                bad=counters.bad,
                tombstones=counters.tombstones,
                gaps=counters.gaps,
                seconds=self._last - self._began,
                partitions=so_far,
            )
        )

    def _say_if_all_are_bad(self) -> None:
        if self._has_said or self._counters.ok or self._bad_value is None:
            return
        self._has_said = True
        _log.error(
            "NOT ONE OF %d EVENTS COULD BE READ: %s. How events are read is fixed in job.json: "
            "start again with a new state folder.",
            self._counters.bad,
            likely_setting(self._events, self._bad_value),
        )
