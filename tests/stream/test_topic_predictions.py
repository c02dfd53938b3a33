"""Predictions through topics, while learning goes on."""

import json
import time
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer

import streamnb
from streamnb import ConfigError, GaussianNB, SourceError
from streamnb.stream.settings import PredictSettings
from streamnb.testing import Broker
from streamnb.testing.driver import Crew, events, eventually, one_pass, produce, read

from .running import Running, learning, run


def question(number: float, **others: object) -> bytes:
    return json.dumps({"x": {"f0": number}, **others}).encode()


def answers(kafka: Broker, topic: str) -> list[dict[str, Any]]:
    return [json.loads(each.value) for each in chain(*read(kafka.bootstrap, topic).values())]


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    path = tmp_path / "model.snb"
    streamnb.save(one_pass(GaussianNB(), events(300, seed=1, features=1)), path)
    return path


def predicting(kafka: Broker, source: str, to: str, **others: Any) -> PredictSettings:
    server = f"kafka://{kafka.bootstrap}"
    others = {"until_end": True, "to": f"{server}/{to}", **others}
    return PredictSettings((f"{server}/{source}",), **others)


def test_keeps_keys_and_headers(kafka: Broker, model_file: Path) -> None:
    source, to, letters = (kafka.create_topic() for _ in range(3))
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap)
    headers = [("trace", b"1"), ("trace", b"2"), ("empty", b"")]
    producer.send(source, question(0.1, id={"a": [1, "b"]}, y="c"), key=b"key", headers=headers)
    producer.send(source, question(2.1))
    producer.send(source, b"{bad", key=b"bad")
    producer.send(source, None, key=b"tombstone")
    producer.close()
    sink = f"kafka://{kafka.bootstrap}/{letters}"
    given = predicting(kafka, source, to, model_file=model_file, dead_letters=sink)
    progress = run(given)
    assert (progress.ok, progress.bad, progress.tombstones) == (2, 1, 1)
    first, second = read(kafka.bootstrap, to)[0]
    assert (first.key, first.headers) == (b"key", headers)
    assert (second.key, second.headers) == (None, [])
    answer = json.loads(first.value)
    assert list(answer) == ["id", "y", "p", "n"]
    assert (answer["id"], answer["n"]) == ({"a": [1, "b"]}, 300)
    model = streamnb.load(model_file)
    assert answer["p"] == model.predict_proba_one({"f0": 0.1})
    assert answer["y"] == model.predict_one({"f0": 0.1})
    assert json.loads(second.value)["id"] is None
    [letter] = read(kafka.bootstrap, letters)[0]
    assert (letter.key, letter.value) == (b"bad", b"{bad")
    assert dict(letter.headers)["streamnb-topic"] == source.encode()


def test_goes_on_where_its_group_stopped(kafka: Broker, model_file: Path) -> None:
    source, to = kafka.create_topic(partitions=3), kafka.create_topic()
    given = predicting(kafka, source, to, model_file=model_file)
    produce(kafka.bootstrap, source, [question(i, id=i) for i in range(10)], partitions=2)
    assert run(given).ok == 10
    produce(kafka.bootstrap, source, [question(i, id=i) for i in range(10, 15)], partitions=2)
    assert run(given).ok == 5
    assert sorted(each["id"] for each in answers(kafka, to)) == list(range(15))


def test_start_latest_leaves_out_what_is_there(kafka: Broker, model_file: Path) -> None:
    source, to = kafka.create_topic(partitions=2), kafka.create_topic()
    given = predicting(kafka, source, to, model_file=model_file, start="latest")
    produce(kafka.bootstrap, source, [question(1)] * 10, partitions=2)
    assert run(given).ok == 0
    produce(kafka.bootstrap, source, [question(1)] * 4, partitions=2)
    assert run(given).ok == 4


def test_takes_in_what_is_learned_meanwhile(kafka: Broker, tmp_path: Path) -> None:
    """It waits for a model, and two seconds after a checkpoint it answers with a new class."""
    train, ask, to = (kafka.create_topic() for _ in range(3))
    state = tmp_path / "state"
    predictor = Running(predicting(kafka, ask, to, state=state, until_end=False))
    produce(kafka.bootstrap, ask, [question(1.0)], partitions=1)
    learner = Running(learning(kafka, train, state, until_end=False, every_seconds=0.1))
    time.sleep(1.0)
    assert predictor.progress.ok == 0
    produce(kafka.bootstrap, train, events(100, seed=1, features=1, labels="ab"), partitions=1)
    eventually(predictor.has_learned(1))
    produce(kafka.bootstrap, train, [b'{"x": {"f0": 50.0}, "y": "new"}'] * 9, partitions=1)
    eventually(learner.has_learned(109))
    time.sleep(2.5)
    produce(kafka.bootstrap, ask, [question(50.0)], partitions=1)
    eventually(predictor.has_learned(2))
    learner.end()
    assert predictor.end() < 1.0
    first, second = answers(kafka, to)
    assert (list(first["p"]), first["n"]) == (["a", "b"], 100)
    assert (second["y"], list(second["p"]), second["n"]) == ("new", ["a", "b", "new"], 109)


def test_two_predictors_answer_everything_though_one_is_killed(
    kafka: Broker, model_file: Path, crew: Crew
) -> None:
    source, to = kafka.create_topic(partitions=4), kafka.create_topic()
    produce(kafka.bootstrap, source, [question(i, id=i) for i in range(20_000)], partitions=4)
    server = f"kafka://{kafka.bootstrap}"
    command = ("predict", f"{server}/{source}", "--model-file", str(model_file))
    flags = ("--to", f"{server}/{to}", "--until-end", "--progress-every", "0.1")
    first = crew.run(*command, *flags)
    crew.run(*command, *flags)
    eventually(lambda: "predicted" in first.log)
    first.kill()
    crew.run(*command, *flags)
    crew.finish()
    assert {each["id"] for each in answers(kafka, to)} == set(range(20_000))


@pytest.mark.parametrize("config", [{}, {"max.message.bytes": 500}])
def test_an_answer_too_large_for_its_topic_is_a_dead_letter(
    kafka: Broker, model_file: Path, config: dict[str, Any]
) -> None:
    source = kafka.create_topic()
    to, letters = kafka.create_topic(config=config), kafka.create_topic()
    limit = config.get("max.message.bytes", 1_048_588)
    large = question(1.0, id="z" * 1_048_440)
    values = [question(i, id=i) for i in range(20)]
    values.insert(7, large)
    produce(kafka.bootstrap, source, values, partitions=1)
    sink = f"kafka://{kafka.bootstrap}/{letters}"
    given = predicting(kafka, source, to, model_file=model_file, dead_letters=sink)
    progress = run(given)
    assert (progress.ok, progress.bad) == (20, 1)
    assert [each["id"] for each in answers(kafka, to)] == list(range(20))
    [letter] = read(kafka.bootstrap, letters)[0]
    assert dict(letter.headers)["streamnb-offset"] == b"7"
    reason = dict(letter.headers)["streamnb-reason"].decode()
    assert reason.startswith(f"the answer is too large for the topic {to!r}: 1048")
    assert reason.endswith(f"bytes, limit {limit}")
    assert run(given).ok == 0


@pytest.mark.parametrize("sink", ["to", "dead_letters"])
def test_a_sink_is_no_source_under_another_name(kafka: Broker, model_file: Path, sink: str) -> None:
    source, to = kafka.create_topic(), kafka.create_topic()
    same = f"kafka://{kafka.bootstrap.replace('127.0.0.1', 'localhost')}/{source}"
    sinks = {"to": f"kafka://{kafka.bootstrap}/{to}", sink: same}
    given = PredictSettings(
        (f"kafka://{kafka.bootstrap}/{source}",), model_file=model_file, **sinks
    )
    with pytest.raises(ConfigError, match=f"{sink} and a source are the same topic"):
        run(given)


def test_an_unknown_sink_is_an_error(kafka: Broker, model_file: Path) -> None:
    with pytest.raises(SourceError, match="no topic 'not-there'"):
        run(predicting(kafka, kafka.create_topic(), "not-there", model_file=model_file))
