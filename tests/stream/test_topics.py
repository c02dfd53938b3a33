"""What a topic can hold and what can become of it, each against a real broker."""

import base64
import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer, TopicPartition

import streamnb
from streamnb import ConfigError, GaussianNB, SourceError
from streamnb.provenance import Counters, Provenance, Range
from streamnb.stream.folder import StateFolder, load_model
from streamnb.stream.settings import EventFormat, LearnSettings
from streamnb.testing import Broker
from streamnb.testing.driver import Crew, events, eventually, one_pass, produce, read

from .running import Running, learning, run

GOOD = b'{"x": {"a": 1.5}, "y": "spam"}'


def test_every_kind_of_bad_event_is_a_dead_letter(kafka: Broker, tmp_path: Path) -> None:
    topic = kafka.create_topic(config={"max.message.bytes": 8_000_000})
    bad = [
        b"{",
        b"",
        b"null",
        b'{"x": {"a": 1}, "y": null}',
        b'{"x": {"a": "text"}, "y": "spam"}',
        b'{"x": {"a": 1}, "y": "spam", "w": "2"}',
        b"\xff\xfe",
        b'{"x": {"a": {"b": 1}}, "y": "spam"}',
        b'{"x": {"a": NaN}, "y": "spam"}',
        b'{"x": {"a": 1e999}, "y": "spam"}',
        b'{"x": {"a": ' + b"9" * 400 + b'}, "y": "spam"}',
        b'{"x": {}, "y": "spam", "z": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"x": {"a": "' + b"x" * 5_000_000 + b'"}, "y": "spam"}',
    ]
    produce(kafka.bootstrap, topic, [GOOD, *bad, None, GOOD], partitions=1)
    progress = run(learning(kafka, topic, tmp_path / "state"))
    assert (progress.ok, progress.bad, progress.tombstones) == (2, len(bad), 1)
    model = load_model(tmp_path / "state")
    assert model.class_weight == {"spam": 2.0}
    [path] = (tmp_path / "state" / "dead-letters").iterdir()
    assert path.name == f"{topic}-0.jsonl"
    letters = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [base64.b64decode(letter["value"]) for letter in letters] == bad
    assert [letter["offset"] for letter in letters] == list(range(1, len(bad) + 1))
    assert {letter["topic"] for letter in letters} == {topic}
    assert all(letter["reason"] for letter in letters)
    assert base64.b64decode(letters[0]["key"]) == b"1"


def test_dead_letters_in_a_topic(kafka: Broker, tmp_path: Path) -> None:
    topic = kafka.create_topic(config={"max.message.bytes": 8_000_000})
    letters_topic = kafka.create_topic()
    large = b"x" * 5_000_000
    with_key = KafkaProducer(bootstrap_servers=kafka.bootstrap, max_request_size=1 << 23)
    with_key.send(topic, b"one", key=b"k", headers=[("mine", b"1")])
    with_key.send(topic, large, key=b"large")
    with_key.send(topic, large)
    with_key.send(topic, b'{"x": {"a": "' + large + b'"}, "y": "spam"}', key=b"refused")
    with_key.send(topic, b"", key=large)
    with_key.send(topic, b"two")
    with_key.send(topic, GOOD)
    with_key.close()
    sink = f"kafka://{kafka.bootstrap}/{letters_topic}"
    progress = run(learning(kafka, topic, tmp_path / "state", dead_letters=sink))
    assert (progress.ok, progress.bad) == (1, 6)
    records = sorted(
        read(kafka.bootstrap, letters_topic)[0],
        key=lambda record: int(dict(record.headers)["streamnb-offset"]),
    )
    assert [record.key for record in records] == [b"k", b"large", None, b"refused", None, None]
    assert [record.value for record in records] == [b"one", None, None, None, None, b"two"]
    headers = [dict(record.headers) for record in records]
    for offset, each in enumerate(headers):
        assert each["streamnb-topic"] == topic.encode()
        assert each["streamnb-partition"] == b"0"
        assert each["streamnb-offset"] == str(offset).encode()
        assert 0 < len(each["streamnb-reason"]) < 1000
    for each in headers[1:3]:
        assert each["streamnb-size"] == b"5000000"
        assert each["streamnb-sha256"] == hashlib.sha256(large).hexdigest().encode()
    assert "streamnb-size" not in headers[0]


def test_an_empty_topic_has_shards_of_zeros(kafka: Broker, tmp_path: Path) -> None:
    topic = kafka.create_topic(partitions=3)
    run(learning(kafka, topic, tmp_path / "state"))
    assert StateFolder(tmp_path / "state").positions() == {topic: {0: 0, 1: 0, 2: 0}}
    assert load_model(tmp_path / "state").classes == []


@pytest.mark.one_of("attempt")
@pytest.mark.parametrize("attempt", range(10))
def test_stops_within_a_second_with_a_checkpoint_of_what_was_learned(
    kafka: Broker, tmp_path: Path, full_topic: str, attempt: int
) -> None:
    state = tmp_path / str(attempt)
    running = Running(learning(kafka, full_topic, state, until_end=False, every=100_000))
    eventually(running.has_learned(1))
    assert running.end() < 1.0
    counters = load_model(state).provenance.counters
    assert counters.ok == running.progress.ok
    positions = StateFolder(state).positions()[full_topic]
    assert sum(positions.values()) == counters.ok
    assert positions == {each.partition: each.position for each in running.progress.partitions}


@pytest.mark.one_of("attempt")
@pytest.mark.parametrize("attempt", range(10))
def test_stops_within_a_second_where_nothing_comes(
    kafka: Broker, tmp_path: Path, idle_topic: str, attempt: int
) -> None:
    running = Running(learning(kafka, idle_topic, tmp_path / str(attempt), until_end=False))
    eventually(running.owns(2))
    assert running.end() < 1.0


@pytest.fixture(scope="module")
def full_topic(kafka: Broker) -> str:
    topic = kafka.create_topic(partitions=2)
    produce(kafka.bootstrap, topic, events(60_000, seed=5), partitions=2)
    return topic


@pytest.fixture(scope="module")
def idle_topic(kafka: Broker) -> str:
    return kafka.create_topic(partitions=2)


@pytest.mark.parametrize("away", ["pause", "kill"])
def test_stops_within_five_seconds_where_the_broker_does_not_answer(
    frail_kafka: Broker, tmp_path: Path, away: str
) -> None:
    topic = frail_kafka.create_topic()
    produce(frail_kafka.bootstrap, topic, events(1000, seed=1), partitions=1)
    state = tmp_path / "state"
    given = learning(frail_kafka, topic, state, until_end=False, every=10**6, every_seconds=1e6)
    running = Running(given)
    eventually(running.has_learned(1000))
    getattr(frail_kafka, away)()
    try:
        assert running.end() < 5.0
    finally:
        frail_kafka.resume()
        frail_kafka.start()
    assert StateFolder(state).positions() == {topic: {0: 0}}
    assert run(learning(frail_kafka, topic, state)).ok == 1000


def test_a_file_waits_for_the_topic_of_its_dead_letters(
    frail_kafka: Broker, tmp_path: Path
) -> None:
    letters = frail_kafka.create_topic()
    sink = f"kafka://{frail_kafka.bootstrap}/{letters}"
    file, state = tmp_path / "events", tmp_path / "state"
    file.write_bytes(GOOD + b"\n{\n")
    given = LearnSettings((str(file),), state, dead_letters=sink)
    waiting = Running(given)
    frail_kafka.pause()
    time.sleep(2.0)
    assert waiting.end() < 5.0
    waiting = Running(given)
    frail_kafka.resume()
    eventually(waiting.has_learned(1))
    waiting.end()
    assert load_model(state).provenance.counters == Counters(ok=1, bad=1)
    assert {each.value for each in read(frail_kafka.bootstrap, letters)[0]} == {b"{"}


def test_goes_on_when_the_broker_is_back(frail_kafka: Broker, tmp_path: Path) -> None:
    topic = frail_kafka.create_topic()
    produce(frail_kafka.bootstrap, topic, events(100, seed=1), partitions=1)
    running = Running(
        learning(frail_kafka, topic, tmp_path / "s", until_end=False, every_seconds=0.2)
    )
    eventually(lambda: running.progress.ok == 100)
    frail_kafka.stop()
    time.sleep(4)
    frail_kafka.start()
    produce(frail_kafka.bootstrap, topic, events(100, seed=2), partitions=1)
    eventually(lambda: load_model(tmp_path / "s").provenance.counters.ok == 200)
    running.end()


def test_other_settings_are_refused_and_named(kafka: Broker, tmp_path: Path) -> None:
    topic, other = kafka.create_topic(), kafka.create_topic()
    state = tmp_path / "state"
    run(learning(kafka, topic, state, parameters={"var_smoothing": 1e-6}))
    run(learning(kafka, topic, state))
    run(learning(kafka, topic, state, group="mine", every=7, on_gap="skip", start="earliest"))
    with pytest.raises(ConfigError, match=r"var_smoothing is 1e-06 there, 0.1 was given"):
        run(learning(kafka, topic, state, parameters={"var_smoothing": 0.1}))
    with pytest.raises(ConfigError, match=r"start is 'earliest'.*'latest'"):
        run(learning(kafka, topic, state, start="latest"))
    with pytest.raises(ConfigError, match=r"label is not set there, 'y' was given"):
        run(learning(kafka, topic, state, events=EventFormat(label="y")))
    with pytest.raises(ConfigError, match=rf"sources is \['{topic}'\].*{other}"):
        run(learning(kafka, other, state))


def test_start_latest_is_fixed_for_each_partition(kafka: Broker, tmp_path: Path) -> None:
    topic = kafka.create_topic(partitions=2)
    produce(kafka.bootstrap, topic, events(10, seed=1), partitions=2)
    state = tmp_path / "state"
    assert run(learning(kafka, topic, state, start="latest")).ok == 0
    produce(kafka.bootstrap, topic, events(6, seed=2), partitions=2)
    assert run(learning(kafka, topic, state)).ok == 6
    ranges = load_model(state).provenance.ranges
    assert [(each.start, each.next) for each in ranges] == [(5, 8), (5, 8)]


def test_a_log_that_begins_later_is_no_gap(kafka: Broker, tmp_path: Path) -> None:
    topic = kafka.create_topic()
    produce(kafka.bootstrap, topic, events(10, seed=1), partitions=1)
    delete_before(kafka, topic, 4)
    assert run(learning(kafka, topic, tmp_path / "state")).ok == 6
    assert load_model(tmp_path / "state").provenance.counters.gaps == 0


def test_a_gap_fails_or_is_counted(kafka: Broker, tmp_path: Path) -> None:
    topic = kafka.create_topic()
    produce(kafka.bootstrap, topic, events(10, seed=1), partitions=1)
    state = tmp_path / "state"
    run(learning(kafka, topic, state))
    produce(kafka.bootstrap, topic, events(10, seed=2), partitions=1)
    delete_before(kafka, topic, 15)
    with pytest.raises(SourceError, match=rf"{topic} \[0\] lost events not yet learned, 10 to 15"):
        run(learning(kafka, topic, state))
    progress = run(learning(kafka, topic, state, on_gap="skip"))
    assert (progress.ok, progress.gaps) == (5, 5)
    provenance = load_model(state).provenance
    assert (provenance.counters.ok, provenance.counters.gaps) == (15, 5)
    assert [(each.start, each.next) for each in provenance.ranges] == [(0, 10), (15, 20)]


@pytest.mark.parametrize("on_gap", ["fail", "skip"])
def test_events_lost_under_a_running_worker(kafka: Broker, crew: Crew, on_gap: str) -> None:
    """What was learned before the gap is saved, also where the worker then fails."""
    topic = kafka.create_topic()
    produce(kafka.bootstrap, topic, events(10, seed=1), partitions=1)
    flags = ("--every-seconds", "1000", "--session-timeout", "30", "--progress-every", "0.1")
    worker = crew.learn(f"kafka://{kafka.bootstrap}/{topic}", *flags, "--on-gap", on_gap)
    eventually(lambda: "learned 10 events" in worker.log)
    worker.pause()
    for seed in (2, 3):  # the first of them answers the request that is under way
        produce(kafka.bootstrap, topic, events(10, seed=seed), partitions=1)
        time.sleep(0.2)
    delete_before(kafka, topic, 25)
    worker.resume()
    if on_gap == "fail":
        assert worker.status() == 1
        assert "lost events not yet learned" in worker.log
        assert crew.learned() in (10, 20)
    else:
        eventually(lambda: "lost in gaps" in worker.log)
        worker.stop()
        model = load_model(crew.state)
        assert model.provenance.counters.ok + model.provenance.counters.gaps == 30
        assert [each.next for each in model.provenance.ranges][1:] == [30]


def test_another_shard_of_the_same_number_wins(kafka: Broker, tmp_path: Path) -> None:
    """Only after a gap can there be one: here another worker missed the first three events."""
    topic = kafka.create_topic()
    state = tmp_path / "state"
    running = Running(learning(kafka, topic, state, until_end=False, every_seconds=0.2))
    eventually(running.owns(1))
    job = StateFolder(state).job()
    assert job is not None
    identity = job.sources[topic].identity
    values = events(20, seed=1)
    other = one_pass(GaussianNB(), values[3:10])
    ranges = (Range(topic, 0, 0, 0, identity), Range(topic, 0, 3, 10, identity))
    other.provenance = Provenance(ranges, Counters(ok=7, gaps=3))
    assert StateFolder(state).store(topic, 0, 10, streamnb.dumps(other))
    produce(kafka.bootstrap, topic, values[:10], partitions=1)
    eventually(running.has_learned(10))
    time.sleep(0.5)
    produce(kafka.bootstrap, topic, values[10:], partitions=1)
    eventually(running.has_learned(20))
    running.end()
    model = load_model(state)
    assert model.provenance.counters == Counters(ok=17, gaps=3)
    assert model.class_weight == one_pass(GaussianNB(), values[3:]).class_weight


def test_a_topic_made_again_is_refused(kafka: Broker, tmp_path: Path) -> None:
    topic = kafka.create_topic()
    produce(kafka.bootstrap, topic, events(10, seed=1), partitions=1)
    state = tmp_path / "state"
    running = Running(learning(kafka, topic, state, until_end=False, every_seconds=0.2))
    eventually(lambda: running.progress.ok == 10)
    eventually(lambda: StateFolder(state).positions() == {topic: {0: 10}})
    kafka.delete_topic(topic)
    kafka.create_topic(topic)
    produce(kafka.bootstrap, topic, events(30, seed=2), partitions=1)
    eventually(lambda: running.error is not None)
    assert isinstance(running.error, SourceError)
    with pytest.raises(SourceError, match=rf"{topic} is not the one that was learned"):
        run(learning(kafka, topic, state))
    assert StateFolder(state).positions() == {topic: {0: 10}}


def test_partitions_that_appear_later_are_learned_from_their_beginning(
    kafka: Broker, tmp_path: Path
) -> None:
    topic = kafka.create_topic(partitions=2)
    state = tmp_path / "state"
    running = Running(
        learning(kafka, topic, state, until_end=False, start="latest", every_seconds=0.2)
    )
    eventually(lambda: len(running.progress.partitions) == 2)
    with kafka.admin() as admin:
        admin.create_partitions({topic: 4})
    produce(kafka.bootstrap, topic, events(400, seed=1), partitions=4)
    eventually(lambda: running.progress.ok == 400)
    running.end()
    assert load_model(state).provenance.counters.ok == 400


def test_only_committed_records_count(kafka: Broker, tmp_path: Path) -> None:
    topic = kafka.create_topic()
    with transaction(kafka, topic) as producer:
        for value in events(5, seed=1):
            producer.send(topic, value, partition=0)
    with transaction(kafka, topic, aborted=True) as producer:
        for value in events(5, seed=2):
            producer.send(topic, value, partition=0)
    state = tmp_path / "state"
    assert run(learning(kafka, topic, state)).ok == 5
    provenance = load_model(state).provenance
    assert [(each.start, each.next) for each in provenance.ranges] == [(0, 12)]
    assert run(learning(kafka, topic, state)).ok == 0


def test_dead_letters_do_not_go_to_the_source_under_another_name(
    kafka: Broker, tmp_path: Path
) -> None:
    topic = kafka.create_topic()
    produce(kafka.bootstrap, topic, [b"{"], partitions=1)
    sink = f"kafka://{kafka.bootstrap.replace('127.0.0.1', 'localhost')}/{topic}"
    assert kafka.bootstrap not in sink
    with pytest.raises(ConfigError, match="dead_letters and a source are the same topic"):
        run(learning(kafka, topic, tmp_path / "state", dead_letters=sink))
    assert not (tmp_path / "state").exists()


def test_errors_say_what_is_missing(
    kafka: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamnb.stream.kafka.cluster._UNKNOWN_SECONDS", 1.0)
    monkeypatch.setattr("streamnb.stream.kafka.connection._CONNECT_SECONDS", 2.0)
    began = time.monotonic()
    with pytest.raises(SourceError, match=r"no topic 'not-there' at 127\.0\.0\.1"):
        run(learning(kafka, "not-there", tmp_path / "a"))
    nowhere = LearnSettings(("kafka://127.0.0.1:1/topic",), tmp_path / "b")
    with pytest.raises(SourceError, match=r"no broker answers at 127\.0\.0\.1:1"):
        run(nowhere)
    assert time.monotonic() - began < 30
    with pytest.raises(ConfigError, match=r"group\.max\.session\.timeout\.ms"):
        run(learning(kafka, kafka.create_topic(), tmp_path / "c", session_timeout=1e6))


def test_stops_while_it_waits_for_a_broker(tmp_path: Path) -> None:
    running = Running(LearnSettings(("kafka://127.0.0.1:1/topic",), tmp_path / "state"))
    time.sleep(0.3)
    assert running.end() < 1.0


def test_the_group_is_told_for_tools_that_show_the_lag(kafka: Broker, crew: Crew) -> None:
    topic = kafka.create_topic()
    produce(kafka.bootstrap, topic, events(10, seed=1), partitions=1)
    crew.learn(f"kafka://{kafka.bootstrap}/{topic}", "--until-end").done()
    job = StateFolder(crew.state).job()
    assert job is not None
    with kafka.admin() as admin:
        offsets = admin.list_group_offsets(f"streamnb-{job.id}")[f"streamnb-{job.id}"]
    assert offsets[TopicPartition(topic, 0)].offset == 10


def delete_before(kafka: Broker, topic: str, offset: int) -> None:
    with kafka.admin() as admin:
        admin.delete_records({TopicPartition(topic, 0): offset})


class transaction:  # noqa: N801 - used as a function
    """A transaction of a producer, committed at the end of the block."""

    def __init__(self, kafka: Broker, topic: str, *, aborted: bool = False) -> None:
        self._aborted = aborted
        self._producer = KafkaProducer(
            bootstrap_servers=kafka.bootstrap, transactional_id=f"{topic}-{time.time_ns()}"
        )

    def __enter__(self) -> Any:
        self._producer.init_transactions()
        self._producer.begin_transaction()
        return self._producer

    def __exit__(self, *_: object) -> None:
        self._producer.flush()
        if self._aborted:
            self._producer.abort_transaction()
        else:
            self._producer.commit_transaction()
        self._producer.close()
