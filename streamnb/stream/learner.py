"""Learning: from sources, by way of shards, into a state folder."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from threading import Event
from typing import TYPE_CHECKING

from streamnb.errors import SourceError
from streamnb.stream.addresses import Address, FileAddress, KafkaAddress
from streamnb.stream.deadline import Stopped, patiently
from streamnb.stream.folder import StateFolder
from streamnb.stream.job import Job, JobSource, is_another
from streamnb.stream.records import event_decoder
from streamnb.stream.settings import LearnSettings, PartitionProgress, Progress
from streamnb.stream.shard import Shard
from streamnb.stream.sinks import check_no_source, open_dead_letters
from streamnb.stream.sources import FileSource, LineSource, StandardInput
from streamnb.stream.tally import Tally
from streamnb.stream.worker import Worker, pieces

if TYPE_CHECKING:
    from streamnb.stream.kafka import Cluster

__all__ = ["learn"]

_log = logging.getLogger("streamnb")


def learn(settings: LearnSettings, *, stop: Event, report: Callable[[Progress], None]) -> None:
    """Learn from the sources until they end, or until `stop` is set.

    Files and standard input are learned to their ends, then the topics, which have no end unless
    `settings.until_end` gives them one. On `stop` what was learned is saved, and this returns
    within a second, within five where a broker does not answer. `report` is called now and then,
    and at the end.

    Raises
    ------
    ConfigError
        the state folder was made with other settings; the dead letters go to a source.
    SourceError
        a source is missing, unreachable, not the one that was learned, or has lost events.
    CodecError
        the state folder is damaged.
    OSError
        the state folder or the dead letters cannot be written.
    """
    folder = StateFolder(settings.state)
    addresses = settings.addresses()
    job = folder.job()
    if job is not None:
        _check_settings(job, settings, folder)
    try:
        with _opened(addresses, stop) as (lines, cluster):
            topics = [each.topic for each in addresses if isinstance(each, KafkaAddress)]
            identities = {source.name: source.identity for source in lines}
            if cluster is not None:
                found = cluster.find(topics, stop)
                identities |= {name: topic.identity for name, topic in found.items()}
            letters = open_dead_letters(settings.dead_letters, folder.dead_letters, stop)
            with closing(letters):
                check_no_source("dead_letters", letters, identities.values())
                if job is None:
                    at_end = settings.start == "latest"
                    begun = _begun(lines, identities, cluster, stop, at_end=at_end)
                    job = folder.settle_job(Job.proposed(settings, begun))
                    _check_settings(job, settings, folder)
                _check_identities(job, identities, lines)
                worker = Worker(
                    folder=folder,
                    job=job,
                    decode=event_decoder(job.events, _log.warning),
                    letters=letters,
                    tally=Tally(job.events, report),
                    every=settings.every,
                    every_seconds=settings.every_seconds,
                )
                for source in lines:
                    _learn_lines(worker, source, stop)
                if cluster is not None:
                    from streamnb.stream.topics import TopicLearner  # noqa: PLC0415 - heavy

                    TopicLearner(worker, cluster, topics, settings, stop).run()
    except Stopped as wait:
        _log.info("stopped while waiting for %s", wait)


def _learn_lines(worker: Worker, source: LineSource, stop: Event) -> None:
    """Learn one source of lines, from where its shard ends to its own end."""
    partition = worker.folder.claim(source.name) if isinstance(source, StandardInput) else 0
    is_over = stop.is_set()
    while not is_over:
        shard = _load(worker, source, partition)
        is_over = _learn_on(worker, source, shard, stop)


def _learn_on(worker: Worker, source: LineSource, shard: Shard, stop: Event) -> bool:
    """Learn from a shard's position on; tell whether it is over, or another shard was first.

    Raises
    ------
    Stopped
        `stop` was set, and the dead letters cannot be made durable.
    """
    end = source.end()

    def report(*, is_last: bool = False) -> None:
        progress = PartitionProgress(source.name, shard.partition, shard.next, end)
        worker.tally.report([progress], is_last=is_last)

    def save() -> bool:
        return not patiently(lambda: worker.save([shard], check=_nothing), stop)

    for batch in source.read(shard.next):
        for piece in pieces(batch, worker.every):
            if stop.is_set():
                break
            worker.learn(shard, piece)
            if worker.is_due([shard]) and not save():
                return False
        report()
        if stop.is_set():
            break
    if not save():
        return False
    report(is_last=True)
    return True


def _load(worker: Worker, source: LineSource, partition: int) -> Shard:
    """Return the shard to go on with.

    Raises
    ------
    SourceError
        it has learned another file.
    """
    known = worker.job.sources[source.name]
    start = known.start.get(partition, 0)
    shard = worker.load(source.name, partition, source.identity, start)
    if shard.identity != source.identity:
        if shard.next > start:
            raise SourceError(is_another(source.name, shard.identity, source.identity))
        # an empty file, whose first line has come since
        return Shard(worker.job.empty_model(), source.name, partition, source.identity, start)
    return shard


def _nothing() -> None:
    """Check nothing: a file that is open stays the one it is."""


@contextmanager
def _opened(
    addresses: Sequence[Address], stop: Event
) -> Iterator[tuple[list[LineSource], Cluster | None]]:
    """Open the sources of lines, and the cluster of the topics, where there are any."""
    lines: list[LineSource] = []
    for address in addresses:
        if isinstance(address, FileAddress):
            lines.append(FileSource(address.path))
        elif not isinstance(address, KafkaAddress):
            lines.append(StandardInput())
    servers = [each.servers for each in addresses if isinstance(each, KafkaAddress)]
    if not servers:
        yield lines, None
        return
    from streamnb.stream.kafka import Cluster  # noqa: PLC0415 - heavy

    with closing(Cluster(servers[0], stop)) as cluster:
        yield lines, cluster


def _begun(
    lines: Sequence[LineSource],
    identities: Mapping[str, str],
    cluster: Cluster | None,
    stop: Event,
    *,
    at_end: bool,
) -> dict[str, JobSource]:
    """Return the sources of a new job, and where their partitions begin."""
    sources: dict[str, JobSource] = {}
    for source in lines:
        if isinstance(source, FileSource):
            start = {0: source.last() if at_end else 0}
            sources[source.name] = JobSource(source.identity, start)
        else:
            sources[source.name] = JobSource("", {})
    topics = identities.keys() - sources.keys()
    if cluster is not None:
        bounds = patiently(lambda: cluster.bounds(cluster.partitions(topics)), stop, 10.0)
        for topic in topics:
            start = {
                partition.number: each.end if at_end else each.begin
                for partition, each in bounds.items()
                if partition.topic == topic
            }
            sources[topic] = JobSource(identities[topic], start)
    return sources


def _check_settings(job: Job, settings: LearnSettings, folder: StateFolder) -> None:
    """Check that the settings agree with the job; raises `ConfigError`."""
    names = [
        each.topic if isinstance(each, KafkaAddress) else str(each) for each in settings.addresses()
    ]
    job.check(settings, names, str(folder.path / "job.json"))


def _check_identities(job: Job, identities: Mapping[str, str], lines: Sequence[LineSource]) -> None:
    """Check that the sources are those of the job.

    Raises
    ------
    SourceError
        one is another of the same name.
    """
    files = {source.name: source for source in lines if isinstance(source, FileSource)}
    for name, known in job.sources.items():
        found = identities[name]
        is_same = files[name].is_still(known.identity) if name in files else found == known.identity
        if known.identity and not is_same:
            raise SourceError(is_another(name, known.identity, found))
