"""What the learner and the predictor are told, and what they report: plain, checked values.

`None` in a setting means "not given": what the state folder fixes is then taken from its
`job.json`, or, in a new folder, from the defaults. Constructing settings raises `ConfigError` for
a value that can never be right; whether they agree with a state folder is found out by `learn`
and `predict`, which raise `ConfigError` too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from streamnb.errors import ConfigError
from streamnb.stream.addresses import Address, KafkaAddress, StandardAddress, parse_address

__all__ = [
    "DEFAULT_MODEL",
    "DEFAULT_STATE",
    "EventFormat",
    "LearnSettings",
    "PartitionProgress",
    "PredictSettings",
    "Progress",
]

DEFAULT_MODEL = "gaussian"
DEFAULT_STATE = Path("streamnb-state")
_LONGEST_SESSION = 2_000_000  # milliseconds are 32 bits in Kafka's protocol


@dataclass(frozen=True)
class EventFormat:
    """How an event is read from its JSON.

    Without `label` an event is `{"x": {...}, "y": ..., "w": ..., "t": ..., "id": ...}`. With it
    events are flat: `label` names the field of the label, the others those of the weight, the
    time and the id, and every other scalar is a feature.

    Raises
    ------
    ConfigError
        an empty name, or one name for two things.
    """

    label: str | None = None
    weight_field: str | None = None
    time_field: str | None = None
    id_field: str | None = None

    def __post_init__(self) -> None:
        given = self.given()
        for setting, name in given.items():
            if not name:
                msg = f"{setting} names no field: {name!r}"
                raise ConfigError(msg)
        name, times = Counter(given.values()).most_common(1)[0] if given else ("", 0)
        if times > 1:
            both = " and ".join(setting for setting, each in given.items() if each == name)
            msg = f"{both} name the same field, {name!r}"
            raise ConfigError(msg)

    def given(self) -> dict[str, str]:
        """Return the names that were given, by setting."""
        values = ((each.name, getattr(self, each.name)) for each in fields(self))
        return {setting: name for setting, name in values if name is not None}


@dataclass(frozen=True)
class LearnSettings:
    """What `learn` is told.

    Attributes
    ----------
    sources
        `kafka://host:port/topic`, files, `-`. Files and standard input are learned to
        their end, one after the other, then the topics, which must be of one cluster.
    state
        the state folder; made where there is none.
    model
        the kind of model (a key of `streamnb.models.KINDS`).
    parameters
        the model's parameters that are given, by name.
    group
        the consumer group.
    every
        events of a partition between two checkpoints.
    every_seconds
        seconds between two checkpoints of a partition that has new events.
    until_end
        stop when the topics have reached the end that they had at the start.
    dead_letters
        where bad events go (an address); a folder of the state folder if not given.
    start
        `"earliest"` or `"latest"`: where the partitions of a new state folder begin.
    on_gap
        `"fail"` or `"skip"`: what to do where a topic has lost events not yet learned.
    session_timeout
        seconds after which the group takes a silent worker's partitions away.
    events
        how events are read.

    Raises
    ------
    ConfigError
        a value out of range, an address that is none, a source given twice or as a sink.
    """

    sources: tuple[str, ...]
    state: Path = DEFAULT_STATE
    model: str | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    group: str | None = None
    every: int = 10_000
    every_seconds: float = 5.0
    until_end: bool = False
    dead_letters: str | None = None
    start: str | None = None
    on_gap: str = "fail"
    session_timeout: float = 10.0
    events: EventFormat | None = None

    def __post_init__(self) -> None:
        _check_sources(self.addresses())
        _check_choice("start", self.start, ("earliest", "latest", None))
        _check_choice("on_gap", self.on_gap, ("fail", "skip"))
        _check_positive("every", self.every)
        _check_positive("every_seconds", self.every_seconds)
        if not 0.01 <= self.session_timeout <= _LONGEST_SESSION:
            msg = f"session_timeout is 0.01 to {_LONGEST_SESSION:,} seconds, not "
            raise ConfigError(f"{msg}{self.session_timeout!r}")
        _check_group(self.group)
        _check_sink("dead_letters", self.dead_letters, self.addresses())

    def addresses(self) -> tuple[Address, ...]:
        """Return the sources, parsed."""
        return tuple(parse_address(source) for source in self.sources)


@dataclass(frozen=True)
class PredictSettings:
    """What `predict` is told.

    Attributes
    ----------
    sources
        as for `LearnSettings`.
    state
        the state folder whose newest shards are the model, taken in as they come.
    model_file
        a model file instead.
    to
        where predictions go (an address).
    group
        the consumer group, whose offsets say where to go on.
    until_end
        stop when the topics have reached the end that they had at the start.
    start
        `"earliest"` or `"latest"`: where a group without offsets begins.
    dead_letters
        where bad events go (an address); `./streamnb-dead-letters/` if not given.
    readings
        readings of the model to set, by name.
    events
        how events are read; as the state folder's `job.json` says if not given.

    Raises
    ------
    ConfigError
        neither or both of `state` and `model_file`, an address that is none, a
        source given twice or as a sink.
    """

    sources: tuple[str, ...]
    state: Path | None = None
    model_file: Path | None = None
    to: str = "-"
    group: str | None = None
    until_end: bool = False
    start: str | None = None
    dead_letters: str | None = None
    readings: Mapping[str, object] = field(default_factory=dict)
    events: EventFormat | None = None

    def __post_init__(self) -> None:
        _check_sources(self.addresses())
        _check_choice("start", self.start, ("earliest", "latest", None))
        _check_group(self.group)
        _check_sink("to", self.to, self.addresses())
        _check_sink("dead_letters", self.dead_letters, self.addresses())
        if (self.state is None) == (self.model_file is None):
            msg = "predict takes a state folder or a model file, one of the two"
            raise ConfigError(msg)

    def addresses(self) -> tuple[Address, ...]:
        """Return the sources, parsed."""
        return tuple(parse_address(source) for source in self.sources)


@dataclass(frozen=True)
class PartitionProgress:
    """Where a worker stands in one partition that it owns.

    `position` is the next offset (in a file, the next byte); `end` is where the partition ended
    when last heard of, `None` where nothing is known of an end.
    """

    source: str
    partition: int
    position: int
    end: int | None


@dataclass(frozen=True)
class Progress:
    """What one worker has done since it started, and what it owns now.

    `seconds` is the time from its first batch to its last; the counters are numbers of records,
    `ok` those learned or predicted. Work done twice (after a rebalance) counts twice here, and
    never in a model.
    """

    ok: int = 0
    bad: int = 0
    tombstones: int = 0
    gaps: int = 0
    seconds: float = 0.0
    partitions: tuple[PartitionProgress, ...] = ()


def _check_sources(addresses: tuple[Address, ...]) -> None:
    if not addresses:
        msg = "no source given: expected kafka://host:port/topic, a file or '-'"
        raise ConfigError(msg)
    for address in addresses:
        try:
            str(address).encode()
        except UnicodeEncodeError as error:
            msg = f"the name of the source {str(address)!r} is not UTF-8"
            raise ConfigError(msg) from error
    topics = [address for address in addresses if isinstance(address, KafkaAddress)]
    if len({topic.servers for topic in topics}) > 1:
        msg = "the topics of one command are of one cluster, with the same servers: got "
        raise ConfigError(msg + " and ".join(map(str, topics)))
    address, times = Counter(addresses).most_common(1)[0]
    if times > 1:
        msg = f"the source {address} is given {times} times"
        raise ConfigError(msg)


def _check_sink(name: str, sink: str | None, sources: tuple[Address, ...]) -> None:
    if sink is None:
        return
    address = parse_address(sink)
    if not isinstance(address, StandardAddress) and address in sources:
        msg = f"{name} and a source are the same: {address}"
        raise ConfigError(msg)


def _check_choice(name: str, value: str | None, choices: tuple[str | None, ...]) -> None:
    if value not in choices:
        wanted = " or ".join(repr(choice) for choice in choices if choice is not None)
        msg = f"{name} is {wanted}, not {value!r}"
        raise ConfigError(msg)


def _check_positive(name: str, value: float) -> None:
    if not (value > 0 and math.isfinite(value)):
        msg = f"{name} is a number above 0, not {value!r}"
        raise ConfigError(msg)


def _check_group(group: str | None) -> None:
    if group is not None and not group:
        msg = f"the group's name is empty: {group!r}"
        raise ConfigError(msg)
