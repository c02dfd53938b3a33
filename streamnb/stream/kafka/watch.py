"""Whether topics are still the ones they were."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

from streamnb.errors import SourceError
from streamnb.stream.deadline import UnavailableError
from streamnb.stream.job import is_another
from streamnb.stream.kafka.cluster import Cluster

__all__ = ["TopicWatch"]

_GONE_SECONDS = 5.0
_LOOK_SECONDS = 3.0
_RETRY_SECONDS = 0.5

_log = logging.getLogger("streamnb")


class TopicWatch:
    """Asks a cluster for topics by their identities, and says in the log when it is away.

    A consumer does not notice that its topic was deleted and made again: it reads the new one on
    from the old offset.
    """

    def __init__(self, cluster: Cluster, identities: Mapping[str, str]) -> None:
        self._cluster = cluster
        self._identities = identities
        self._missing_since: float | None = None
        self._is_away = False
        self._look_at = self._retry_at = 0.0

    def look(self) -> None:
        """Check, but not more often than every few seconds; note where the cluster is away."""
        if time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + _LOOK_SECONDS
        try:
            self.check()
        except UnavailableError as error:
            self.note(error)

    def check(self) -> None:
        """Check that the topics are the ones that they were.

        Raises
        ------
        SourceError
            one was made again, or is gone.
        UnavailableError
            the cluster does not answer, or does not know one for a moment.
        """
        topics = self._cluster.topics(list(self._identities))
        for name, known in self._identities.items():
            if name not in topics:
                raise self._missing(name)
            if topics[name].identity != known:
                raise SourceError(is_another(name, known, topics[name].identity))
        self._missing_since = None
        if self._is_away:
            self._is_away = False
            _log.info("the cluster answers again")

    def note(self, error: UnavailableError) -> None:
        """Note that the cluster was asked, by this or otherwise, and did not answer."""
        self._retry_at = time.monotonic() + _RETRY_SECONDS
        if not self._is_away:
            self._is_away = True
            _log.warning("%s; waiting for it", error)

    def may_ask(self) -> bool:
        """Tell whether a moment has passed since the cluster did not answer."""
        return time.monotonic() >= self._retry_at

    def _missing(self, name: str) -> SourceError:
        now = time.monotonic()
        self._missing_since = self._missing_since or now
        if now - self._missing_since > _GONE_SECONDS:
            return SourceError(f"the topic {name!r} is gone")
        return UnavailableError(f"the topic {name!r} is not to be seen")
