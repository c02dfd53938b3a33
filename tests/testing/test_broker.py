"""The broker for tests: it answers, it comes back with its data, and it leaves nothing behind."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.structs import OffsetAndMetadata

from streamnb.testing import Broker, BrokerError, broker

SOON = 10.0  # seconds, on a busy machine


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something becomes true soon."""
    deadline = time.monotonic() + SOON
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def exists(pid: int) -> bool:
    """Whether a process runs (one that has ended and waits to be collected does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def ports(folder: Path) -> list[int]:
    """Both ports that the settings in a broker's folder name."""
    lines = (folder / "server.properties").read_text().splitlines()
    listeners = next(line for line in lines if line.startswith("listeners="))
    return [int(listener.rpartition(":")[2]) for listener in listeners.split(",")]


@pytest.fixture(scope="module")
def mortal(broker_possible: None) -> Iterator[Broker]:  # noqa: ARG001 - only where it is possible
    """Give a broker that tests end as they like; each leaves it running."""
    with broker() as running:
        yield running


def produce(kafka: Broker, topic: str, *values: bytes) -> None:
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap)
    for value in values:
        producer.send(topic, value, partition=0)
    producer.flush(timeout=SOON)
    producer.close()


def read(kafka: Broker, topic: str, count: int) -> list[bytes]:
    consumer = KafkaConsumer(bootstrap_servers=kafka.bootstrap, auto_offset_reset="earliest")
    consumer.assign([TopicPartition(topic, 0)])
    values: list[bytes] = []
    deadline = time.monotonic() + SOON
    while len(values) < count and time.monotonic() < deadline:
        for records in consumer.poll(200).values():
            values += [record.value for record in records]
    consumer.close()
    return values


def test_it_serves_topics_records_and_groups(kafka: Broker) -> None:
    topic = kafka.create_topic(partitions=3, config={"retention.ms": 60_000})
    produce(kafka, topic, b"1", b"2")
    assert read(kafka, topic, 2) == [b"1", b"2"]
    with kafka.admin() as admin:
        assert len(admin.describe_topics([topic])[0]["partitions"]) == 3
        assert admin.describe_cluster()["cluster_id"] == kafka.cluster_id()
        admin.alter_group_offsets("g", {TopicPartition(topic, 0): OffsetAndMetadata(1, "", -1)})
        assert admin.list_group_offsets({"g": None})["g"][TopicPartition(topic, 0)].offset == 1


def test_a_topic_made_anew_has_another_id(kafka: Broker) -> None:
    topic = kafka.create_topic()
    first = kafka.topic_id(topic)
    assert kafka.topic_id(topic) == first
    kafka.delete_topic(topic)
    with kafka.admin() as admin:
        assert topic not in admin.list_topics()
    assert kafka.create_topic(topic) == topic
    assert kafka.topic_id(topic) != first


def test_it_comes_back_with_the_same_data_on_the_same_port(mortal: Broker) -> None:
    topic = mortal.create_topic()
    topic_id, bootstrap = mortal.topic_id(topic), mortal.bootstrap
    written = []
    for end in (mortal.kill, mortal.stop, mortal.kill):
        written.append(str(len(written)).encode())
        produce(mortal, topic, written[-1])
        end()
        assert not mortal.running
        assert not listens(mortal.port)
        end()  # nothing, where it does not run
        mortal.start()
        assert mortal.running
        mortal.start()  # nothing, where it runs
        assert mortal.bootstrap == bootstrap
        assert mortal.topic_id(topic) == topic_id
        assert read(mortal, topic, len(written)) == written


def test_a_paused_broker_answers_when_it_goes_on(mortal: Broker) -> None:
    mortal.pause()
    assert mortal.running
    with pytest.raises(Exception, match="Unable to bootstrap"):
        KafkaAdminClient(bootstrap_servers=mortal.bootstrap, bootstrap_timeout_ms=500)
    mortal.resume()
    assert mortal.create_topic()


def test_a_start_that_fails_says_why_and_can_be_mended(mortal: Broker) -> None:
    mortal.stop()
    settings = mortal.folder / "server.properties"
    good = settings.read_text()
    settings.write_text(good + "num.network.threads=none\n")
    with pytest.raises(BrokerError, match=r"ended with status 1(.|\n)*num\.network\.threads"):
        mortal.start()
    assert "num.network.threads" in mortal.log_tail()
    settings.write_text(good)
    mortal.start()
    assert mortal.running


@pytest.mark.usefixtures("broker_possible")
def test_two_side_by_side_do_not_know_each_other() -> None:
    with broker() as one, broker() as other:
        assert not {*ports(one.folder)} & {*ports(other.folder)}
        topic = one.create_topic()
        produce(one, topic, b"1")
        with other.admin() as admin:
            assert topic not in admin.list_topics()
        assert one.cluster_id() != other.cluster_id()
        other.kill()
        assert read(one, topic, 1) == [b"1"]


@pytest.mark.usefixtures("broker_possible")
def test_nothing_is_left_after_an_error_in_the_block() -> None:
    with ExitStack() as stack:
        kafka = stack.enter_context(broker())
        pid, folder, used = kafka.pid, kafka.folder, ports(kafka.folder)
        assert exists(pid)
        stack.callback(lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            stack.close()
    assert not exists(pid)
    assert not folder.exists()
    assert not any(map(listens, used))
    with pytest.raises(BrokerError, match="closed"):
        kafka.start()


PARENT = """
import os, sys, time
from streamnb.testing import broker
with broker() as kafka:
    child = 0
    if sys.argv[1] == "forked":
        child = os.fork()        # a child that keeps the parent's pipes open
        if child == 0:
            time.sleep(60)
    print(kafka.pid, kafka.folder, child, flush=True)
    time.sleep(60)
"""


@pytest.mark.usefixtures("broker_possible")
@pytest.mark.parametrize("kind", ["alone", "forked"])
def test_nothing_is_left_when_the_parent_is_killed(kind: str) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, kind], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    said = parent.stdout.readline().split()
    pid, folder, child = int(said[0]), Path(said[1]), int(said[2])
    used = ports(folder)
    try:
        assert exists(pid)
        assert listens(used[0])
        parent.kill()
        parent.wait()
        assert eventually(lambda: not exists(pid))
        assert eventually(lambda: not folder.exists())
        assert not any(map(listens, used))
    finally:
        if child:
            os.kill(child, signal.SIGKILL)
        parent.kill()
        parent.stdout.close()
