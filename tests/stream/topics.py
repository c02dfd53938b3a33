"""Topics full of events, and what must come out of them, for the tests against a real broker."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamnb import GaussianNB
from streamnb.testing import Broker
from streamnb.testing.driver import Crew, events, one_pass, produce

PARTITIONS = 4
NUMBER = 8_000
BAD = [
    b"{not json",
    b"",
    b"null",
    b'{"x": {"f0": [1]}, "y": "a"}',
    b'{"x": {"f0": "text"}, "y": "a"}',
    b'{"x": {"f0": 1}}',
    b"\xff\xfe",
    b'{"x": {"f0": "' + b"x" * 5_000_000 + b'"}, "y": "a"}',
]
TOMBSTONES = 3

FAST = ("--until-end", "--session-timeout", "2")
"""Flags of workers that end at the topic's end, and are missed soon when they are killed."""

SLOW = (*FAST, "--every", "50")
"""So many checkpoints that a run takes seconds, and can be disturbed in the middle."""


@dataclass
class Filled:
    """A topic with events, bad events, tombstones, and one partition that is empty."""

    bootstrap: str
    topic: str
    good: list[bytes]
    digest: str = ""

    @property
    def source(self) -> str:
        return f"kafka://{self.bootstrap}/{self.topic}"

    def check(self, crew: Crew) -> Any:
        """Check that a crew has learned each event once, with the bytes of every other crew."""
        digest, model = crew.merged()
        whole = one_pass(GaussianNB(), self.good)
        counters = model.provenance.counters
        assert counters.ok == len(self.good)
        assert counters.bad == len(BAD)
        assert counters.tombstones == TOMBSTONES
        assert counters.gaps == 0
        assert model.class_weight == whole.class_weight
        for label in whole.classes:
            assert near(model.means(label), whole.means(label))
            assert near(model.variances(label), whole.variances(label))
        assert sum(each.next - each.start for each in model.provenance.ranges) == (
            len(self.good) + len(BAD) + TOMBSTONES
        )
        assert len(crew.positions()) == PARTITIONS + 1
        assert digest == self.digest or not self.digest
        return digest


def near(ours: dict[str, float], theirs: dict[str, float]) -> bool:
    return ours.keys() == theirs.keys() and all(
        abs(ours[name] - theirs[name]) <= 1e-13 * abs(theirs[name]) for name in ours
    )


def filled(kafka: Broker, folder: Path, seed: int, number: int = NUMBER) -> Filled:
    """Make a topic, and note the digest that one undisturbed worker comes to."""
    config = {"max.message.bytes": 8_000_000}
    topic = kafka.create_topic(partitions=PARTITIONS + 1, config=config)
    good = events(number, seed=seed)
    values: list[bytes | None] = list(good)
    for index, value in enumerate([*BAD, *[None] * TOMBSTONES]):
        values.insert(number // 7 * index % number, value)
    produce(kafka.bootstrap, topic, values, partitions=PARTITIONS)
    ready = Filled(kafka.bootstrap, topic, good)
    with Crew(folder / f"undisturbed-{seed}") as crew:
        crew.learn(ready.source, *FAST).done()
        ready.digest = ready.check(crew)
    return ready
