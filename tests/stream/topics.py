"""Topics full of events, and what must come out of them, for the tests against a real broker."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamnb
from streamnb.testing import Broker
from streamnb.testing.driver import Crew, events, one_pass, produce

PARTITIONS = 4
NUMBER = 8_000
BAD = 8


def bad(kind: str) -> list[bytes]:
    """Records that are no events: no JSON, nested, of the wrong kind, without a label, too long."""
    field, wrong = KINDS[kind].field.encode(), KINDS[kind].wrong
    return [
        b"{not json",
        b"",
        b"null",
        b'{"x": {"%b": [1]}, "y": "a"}' % field,
        b'{"x": {"%b": %b}, "y": "a"}' % (field, wrong),
        b'{"x": {"%b": 1}}' % field,
        b"\xff\xfe",
        b'{"x": {"%b": 1, "other": [' % field + b"1," * 2_500_000 + b'1]}, "y": "a"}',
    ]


TOMBSTONES = 3


def mails(number: int, *, seed: int) -> list[bytes]:
    """Labelled texts whose words grow with the stream, some of them in one class only."""
    source = random.Random(seed)
    made = []
    for _ in range(number):
        label = source.choice("abc")
        words = [f"w{int(source.paretovariate(0.8)) % 5000}" for _ in range(12)]
        words += [f"{label}{source.randrange(50)}"] * source.randrange(3)
        made.append(json.dumps({"x": {"text": " ".join(words), "n": 1}, "y": label}).encode())
    return made


def orders(number: int, *, seed: int) -> list[bytes]:
    """Labelled events of numbers, categories and bools, some of which are missing."""
    source = random.Random(seed)
    made = []
    for _ in range(number):
        label = source.randrange(3)
        x = {
            "n": source.gauss(label, 1.0),
            "colour": f"c{int(source.paretovariate(1.0)) % 40}",
            "paid": source.random() < 0.3 + 0.2 * label,
        }
        x = {name: value for name, value in x.items() if source.random() < 0.9}
        made.append(json.dumps({"x": x, "y": "abc"[label]}).encode())
    return made


def readings(number: int, *, seed: int) -> list[bytes]:
    """Labelled events of numbers that go together, one of which is missing now and then."""
    source = random.Random(seed)
    made = []
    for _ in range(number):
        label = source.randrange(3)
        common = source.gauss(label, 1.0)
        x = {f"f{index}": common + source.gauss(0.0, 0.5) for index in range(5)}
        if source.random() < 0.01:
            del x[f"f{source.randrange(5)}"]
        made.append(json.dumps({"x": x, "y": "abc"[label]}).encode())
    return made


@dataclass(frozen=True)
class Kind:
    """A kind of model: how it is made here and on the command line, what it learns and refuses."""

    make: Callable[[], Any]
    flags: tuple[str, ...]
    events: Callable[..., list[bytes]]
    field: str
    wrong: bytes


KINDS = {
    "gaussian": Kind(streamnb.GaussianNB, (), events, "f0", b'"text"'),
    "text": Kind(
        lambda: streamnb.MultinomialNB(text="text"), ("--text", "text"), mails, "text", b"true"
    ),
    "mixed": Kind(streamnb.MixedNB, ("--model", "mixed"), orders, "n", b"1e999"),
    "lda": Kind(streamnb.LDA, ("--model", "lda"), events, "f0", b'"text"'),
    "qda": Kind(streamnb.QDA, ("--model", "qda"), readings, "f0", b'"text"'),
}

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
    kind: str
    digest: str = ""

    @property
    def source(self) -> str:
        return f"kafka://{self.bootstrap}/{self.topic}"

    def check(self, crew: Crew) -> Any:
        """Check that a crew has learned each event once, with the bytes of every other crew."""
        digest, model = crew.merged()
        whole = one_pass(KINDS[self.kind].make(), self.good)
        counters = model.provenance.counters
        assert counters.ok == len(self.good)
        assert counters.bad == BAD
        assert counters.tombstones == TOMBSTONES
        assert counters.gaps == 0
        assert model.class_weight == whole.class_weight
        for label in whole.classes:
            if self.kind == "text":
                assert model.counts(label) == whole.counts(label)
            else:
                assert near(model.means(label), whole.means(label))
                assert near(model.variances(label), whole.variances(label))
            if isinstance(model, streamnb.LDA | streamnb.QDA):
                apart = model.covariance(label) - whole.covariance(label)
                assert abs(apart).max() <= 1e-13 * abs(whole.covariance(label)).max()
        assert sum(each.next - each.start for each in model.provenance.ranges) == (
            len(self.good) + BAD + TOMBSTONES
        )
        assert len(crew.positions()) == PARTITIONS + 1
        assert digest == self.digest or not self.digest
        return digest


def near(ours: dict[str, float], theirs: dict[str, float]) -> bool:
    return ours.keys() == theirs.keys() and all(
        abs(ours[name] - theirs[name]) <= 1e-13 * abs(theirs[name]) for name in ours
    )


def filled(kafka: Broker, folder: Path, seed: int, kind: str = "gaussian") -> Filled:
    """Make a topic, and note the digest that one undisturbed worker comes to."""
    config = {"max.message.bytes": 8_000_000}
    topic = kafka.create_topic(partitions=PARTITIONS + 1, config=config)
    good = KINDS[kind].events(NUMBER, seed=seed)
    values: list[bytes | None] = list(good)
    for index, value in enumerate([*bad(kind), *[None] * TOMBSTONES]):
        values.insert(NUMBER // 7 * index % NUMBER, value)
    produce(kafka.bootstrap, topic, values, partitions=PARTITIONS)
    ready = Filled(kafka.bootstrap, topic, good, kind)
    with Crew(folder / f"undisturbed-{seed}") as crew:
        crew.learn(ready.source, *FAST, *KINDS[kind].flags).done()
        ready.digest = ready.check(crew)
    return ready
