"""Times of events on their way to a model that fades: its own, its record's, never a clock's."""

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import streamnb
from streamnb import ConfigError, GaussianNB
from streamnb.provenance import Counters, Provenance
from streamnb.stream.folder import load_model
from streamnb.stream.learner import learn
from streamnb.stream.records import AHEAD, event_decoder
from streamnb.stream.settings import EventFormat, LearnSettings
from streamnb.stream.shard import Shard
from streamnb.stream.sources import Batch

from .running import run
from .test_lines import StopAfter

HALF_LIFE = 3600
START = 1_750_000_000.0


def events(number: int, seed: int) -> list[dict[str, Any]]:
    """Events over two days, mostly in order."""
    rng = random.Random(seed)
    return [
        {
            "x": {"a": rng.gauss(i % 2, 1), "b": rng.gauss(0, 2)},
            "y": "eo"[i % 2],
            "w": rng.choice([1.0, 1.0, 0.5]),
            "t": START + 172_800 * i / number + rng.gauss(0, 600),
        }
        for i in range(number)
    ]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def one_pass(rows: list[dict[str, Any]]) -> GaussianNB:
    model = GaussianNB(half_life=HALF_LIFE)
    for row in rows:
        model.learn_one(row["x"], row["y"], row.get("w", 1.0), row["t"])
    return model


def learned(state: Path) -> Any:
    """The model of a folder, without where it came from."""
    model = load_model(state)
    model.provenance = Provenance()
    return model


def learning(*sources: Path, state: Path, **others: Any) -> LearnSettings:
    others = {"parameters": {"half_life": HALF_LIFE}, **others}
    return LearnSettings(tuple(map(str, sources)), state, **others)


def test_a_file_is_one_pass_to_the_bit(tmp_path: Path) -> None:
    rows = events(1000, seed=1)
    file = write(tmp_path / "events.jsonl", rows)
    assert run(learning(file, state=tmp_path / "state")).ok == 1000
    model = learned(tmp_path / "state")
    assert model == one_pass(rows)
    assert model.half_life == HALF_LIFE
    assert max(model.class_weight.values()) < 50
    assert load_model(tmp_path / "state").provenance.counters == Counters(ok=1000)


def blocks_of(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "x": row["x"] | {"red": row["w"] < 1, "code": row["y"]}}


def counts_of(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "x": {name: int(abs(value)) for name, value in row["x"].items()}}


@pytest.mark.parametrize(
    ("kind", "event_of"),
    [
        ("poisson", counts_of),
        ("multinomial", counts_of),
        ("bernoulli", counts_of),
        ("complement", counts_of),
        ("categorical", blocks_of),
        ("mixed", blocks_of),
    ],
)
def test_every_model_that_fades(tmp_path: Path, kind: str, event_of: Any) -> None:
    """Files of other days are one pass to the bit each, and merge; the time is the event's."""
    rows = [event_of(row) for row in events(300, seed=8)]
    parts = rows[:200], rows[200:]
    files = [write(tmp_path / f"{at}.jsonl", part) for at, part in enumerate(parts)]
    run(learning(*files, state=tmp_path / "state", model=kind, every=70))
    shards = []
    for part in parts:
        model = streamnb.models.KINDS[kind](half_life=HALF_LIFE)
        for row in part:
            model.learn_one(row["x"], row["y"], row["w"], row["t"])
        shards.append(model)
    assert learned(tmp_path / "state") == streamnb.merge(shards)
    assert learned(tmp_path / "state").state()["newest"] == round(max(r["t"] for r in rows) * 1000)


def test_where_it_was_cut_does_not_show(tmp_path: Path) -> None:
    """Not the intervals of checkpoints, nor where a learner stopped and another went on."""
    rows = events(400, seed=2)
    file = write(tmp_path / "events.jsonl", rows)
    rng = random.Random(3)
    for attempt in range(4):
        state = tmp_path / f"state-{attempt}"
        given = learning(file, state=state, every=rng.randrange(1, 60))
        for _ in range(6):
            learn(given, stop=StopAfter(rng.randrange(1, 20)), report=lambda _: None)
        run(given)
        assert learned(state) == one_pass(rows)


def test_files_of_other_days_merge(tmp_path: Path) -> None:
    """Each file is a shard with a landmark of its own; their merge is one pass over both."""
    rows = sorted(events(1000, seed=4), key=lambda row: row["t"])
    early, late = rows[:500], rows[500:]
    files = [write(tmp_path / "b.jsonl", early), write(tmp_path / "a.jsonl", late)]
    run(learning(*files, state=tmp_path / "state"))
    model, whole = learned(tmp_path / "state"), one_pass(rows)
    assert model == one_pass(late) + one_pass(early)
    assert model.class_weight == pytest.approx(whole.class_weight, rel=1e-14)
    for label in whole.classes:
        assert model.means(label) == pytest.approx(whole.means(label), rel=1e-12)
        assert model.variances(label) == pytest.approx(whole.variances(label), rel=1e-12)


def test_flat_events(tmp_path: Path) -> None:
    rows = events(50, seed=5)
    flat = [row["x"] | {"kind": row["y"], "n": row["w"], "at": row["t"]} for row in rows]
    file = write(tmp_path / "flat.jsonl", flat)
    names = EventFormat(label="kind", weight_field="n", time_field="at")
    run(learning(file, state=tmp_path / "state", events=names))
    assert learned(tmp_path / "state") == one_pass(rows)


def test_without_a_time_or_with_none_that_can_be(tmp_path: Path) -> None:
    """Dead letters that say why; the times of the others are not moved by them."""
    rows = events(20, seed=6)
    bad = [
        {"x": {"a": 1.0}, "y": "e"},
        {"x": {"a": 1.0}, "y": "e", "t": None},
        {"x": {"a": 1.0}, "y": "e", "t": 1e300},
        {"x": {"a": 1.0}, "y": "e", "t": "noon"},
        {"x": {"a": "text"}, "y": "e", "t": START * 10},
    ]
    file = write(tmp_path / "events.jsonl", [*rows[:10], *bad, *rows[10:]])
    progress = run(learning(file, state=tmp_path / "state"))
    assert (progress.ok, progress.bad) == (20, 5)
    [path] = (tmp_path / "state" / "dead-letters").iterdir()
    reasons = [json.loads(line)["reason"] for line in path.read_bytes().splitlines()]
    assert all("needs its time t" in reason for reason in reasons[:2])
    assert "time" in reasons[2]
    assert "t" in reasons[3]
    assert learned(tmp_path / "state") == one_pass(rows)


def test_the_half_life_is_fixed_in_the_folder(tmp_path: Path) -> None:
    file = write(tmp_path / "events.jsonl", events(10, seed=7))
    run(learning(file, state=tmp_path / "state"))
    for parameters in ({"half_life": 60}, {"half_life": None}):
        with pytest.raises(ConfigError, match="half_life"):
            run(learning(file, state=tmp_path / "state", parameters=parameters))
    assert run(learning(file, state=tmp_path / "state", parameters={})).ok == 0
    with pytest.raises(ConfigError, match="half_life"):
        run(learning(file, state=tmp_path / "other", parameters={"half_life": -1}))


class Kafka(NamedTuple):
    """A record of a topic."""

    offset: int
    value: bytes
    timestamp: int
    key: None = None
    headers: tuple[()] = ()


def test_a_records_timestamp_is_a_time_and_a_bound() -> None:
    """Where the event has none, and where it has one more than an hour later; from bytes alone."""
    now = 1_750_000_000_123
    given: list[tuple[float | None, int, float]] = [
        (None, now, now / 1000),
        (now / 1000 - 5000, now + 7, now / 1000 - 5000),
        (now / 1000 + 60, now, now / 1000 + 60),
        (now / 1000 + 1e12, now - 9000, now / 1000 - 9 + AHEAD),
        (5.5, -1, 5.5),
    ]
    records = [
        Kafka(at, json.dumps({"x": {"a": float(at)}, "y": "ab"[at % 2], "t": t}).encode(), stamp)
        for at, (t, stamp, _) in enumerate(given)
    ]
    expected = GaussianNB(half_life=HALF_LIFE)
    for at, (_, _, taken) in enumerate(given):
        expected.learn_one({"a": float(at)}, "ab"[at % 2], t=taken)
    data = set()
    for cut in range(len(records) + 1):
        shard = Shard(GaussianNB(half_life=HALF_LIFE), "t", 0, "kafka:c:t", 0)
        for piece in (records[:cut], records[cut:]):
            after = piece[-1].offset + 1 if piece else shard.next
            _, letters = shard.learn(Batch(piece, after), event_decoder(EventFormat(), pytest.fail))
            assert letters == []
            shard = Shard.restored(streamnb.loads(shard.dumps()))
        data.add(shard.dumps())
    [bytes_] = data
    model = streamnb.loads(bytes_)
    model.provenance = Provenance()
    assert model == expected
    assert model.statistic.state().newest == now - 9000 + 1000 * int(AHEAD)


def test_a_topics_record_without_any_time_is_a_dead_letter() -> None:
    shard = Shard(GaussianNB(half_life=HALF_LIFE), "t", 0, "kafka:c:t", 0)
    record = Kafka(0, b'{"x": {"a": 1}, "y": "b"}', -1)
    counted, [letter] = shard.learn(Batch([record], 1), event_decoder(EventFormat(), pytest.fail))
    assert counted == Counters(bad=1)
    assert "needs its time t" in letter.reason
