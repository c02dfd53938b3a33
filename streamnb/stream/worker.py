"""What learning from lines and learning from topics have in common: load, learn, save."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from streamnb.stream.folder import StateFolder
from streamnb.stream.job import Job
from streamnb.stream.records import Event
from streamnb.stream.shard import Shard
from streamnb.stream.sinks import DeadLetters
from streamnb.stream.sources import Batch
from streamnb.stream.tally import Tally

__all__ = ["Worker", "pieces"]

_PIECE = 1000
_WRITERS = 8
_LETTER_BYTES = 1 << 24  # kept in memory until they are durable


@dataclass(kw_only=True)
class Worker:
    """Shards between the folder that keeps them and the records that they learn.

    `decode` makes an event of a record's value, `letters` takes what is none, `tally` counts.
    `every` events of a partition, or `every_seconds`, lie between two checkpoints.
    """

    folder: StateFolder
    job: Job
    decode: Callable[[bytes], Event]
    letters: DeadLetters
    tally: Tally
    every: int
    every_seconds: float
    _saved: dict[tuple[str, int], int] = field(default_factory=dict, init=False)
    _unsaved: dict[tuple[str, int], int] = field(default_factory=dict, init=False)
    _saved_at: float = field(default_factory=time.monotonic, init=False)
    _letter_bytes: int = field(default=0, init=False)

    def load(self, source: str, partition: int, identity: str, start: int) -> Shard:
        """Return the newest shard of a partition; where there is none, one that begins at `start`.

        That one is saved at once: so a worker that is killed before its first checkpoint leaves
        behind where the partition began.
        """
        self.folder.sweep(source, partition)
        while True:
            model = self.folder.newest(source, partition)
            if model is not None:
                shard = Shard.restored(model)
                break
            shard = Shard(self.job.empty_model(), source, partition, identity, start)
            if self.folder.store(source, partition, start, shard.dumps()):
                break
        self._saved[source, partition] = shard.next
        self._unsaved.pop((source, partition), None)
        return shard

    def learn(self, shard: Shard, batch: Batch) -> None:
        """Let a shard learn a batch."""
        counted, letters = shard.learn(batch, self.decode)
        for letter in letters:
            self.letters.write(shard.source, shard.partition, letter)
            self._letter_bytes += len(letter.record.value or b"")
        self.tally.count(shard.source, shard.partition, counted, letters)
        place = shard.source, shard.partition
        self._unsaved[place] = self._unsaved.get(place, 0) + len(batch.records)

    def has_news(self, shard: Shard) -> bool:
        """Tell whether the shard is further than what is saved of it."""
        return shard.next != self._saved.get((shard.source, shard.partition))

    def is_due(self, shards: Iterable[Shard]) -> bool:
        """Tell whether it is time to save."""
        if any(number >= self.every for number in self._unsaved.values()):
            return True
        if self._letter_bytes > _LETTER_BYTES:
            return True
        if time.monotonic() - self._saved_at < self.every_seconds:
            return False
        return any(self.has_news(shard) for shard in shards)

    def save(self, shards: Iterable[Shard], check: Callable[[], None]) -> list[Shard]:
        """Save the shards that have news: the commit.

        1. `check` that the sources are still the ones that were learned;
        2. make the dead letters durable;
        3. put each shard in place: from here on it counts;

        In this order; and a caller that tells a group about positions does it afterwards.

        Returns
        -------
        list[Shard]
            those that must be loaded again, because there is another shard of their number.

        Raises
        ------
        UnavailableError
            1 or 2 cannot be done now, and nothing was saved.
        """
        news = [shard for shard in shards if self.has_news(shard)]
        if news:
            check()  # 1
            self.letters.flush()  # 2
        with ThreadPoolExecutor(_WRITERS) as writers:  # 3; disks make several durable at once
            kept = list(writers.map(self._store, news, [shard.dumps() for shard in news]))
        others = [shard for shard, is_kept in zip(news, kept, strict=True) if not is_kept]
        self._unsaved.clear()
        self._letter_bytes = 0
        self._saved_at = time.monotonic()
        return others

    def _store(self, shard: Shard, data: bytes) -> bool:
        place = shard.source, shard.partition
        is_kept = self.folder.store(*place, shard.next, data)
        if is_kept:
            self._saved[place] = shard.next
        return is_kept


def pieces(batch: Batch, every: int) -> Iterator[Batch]:
    """Cut a batch so that none has more than `every` records, nor so many that it takes long."""
    size = min(every, _PIECE)
    records = batch.records
    if len(records) <= size:
        yield batch
        return
    for first in range(0, len(records), size):
        after = first + size
        end = records[after].offset if after < len(records) else batch.next
        yield Batch(records[first:after], end)
