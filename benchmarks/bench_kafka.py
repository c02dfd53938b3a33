"""Events a second from Kafka: the bare client, decoding alone, and the engine, in one run.

Run with `python benchmarks/bench_kafka.py`. Every row with a client is a process of its own, or
two at once, that reads the same topic on a broker of this machine, which takes its share of the
cores. Compare the ratios.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import orjson
from kafka import KafkaConsumer, TopicPartition

from streamnb import GaussianNB
from streamnb.stream.records import event_decoder
from streamnb.stream.settings import EventFormat
from streamnb.stream.shard import Shard
from streamnb.stream.sources import Batch, LineRecord
from streamnb.testing import broker
from streamnb.testing.driver import Crew, produce

PARTITIONS = 4
ROUNDS = 5


def made(number: int, features: int = 10) -> list[bytes]:
    """Events of ten features with three decimals, about 150 bytes each."""
    source = random.Random(1)
    return [
        json.dumps(
            {
                "x": {f"f{index}": round(source.gauss(0, 1), 3) for index in range(features)},
                "y": source.choice("abc"),
            }
        ).encode()
        for _ in range(number)
    ]


def rate(work: Callable[[], object], number: int) -> float:
    """Return events a second, of the best of a few rounds."""
    least = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        least = min(least, time.process_time() - began)
    return number / least


def decode_rates(values: Sequence[bytes]) -> dict[str, float]:
    """Return the rates of decoding, and of decoding and learning, without a broker."""
    decode = event_decoder(EventFormat(), print)
    untyped = msgspec.json.Decoder().decode
    records = [LineRecord(offset, value) for offset, value in enumerate(values)]
    batch = Batch(records, len(records))

    def learn() -> None:
        Shard(GaussianNB(), "source", 0, "identity", 0).learn(batch, decode)

    number = len(values)
    return {
        "orjson, decoding alone": rate(lambda: [orjson.loads(value) for value in values], number),
        "msgspec untyped, decoding alone": rate(lambda: [untyped(each) for each in values], number),
        "our decoding alone": rate(lambda: [decode(value) for value in values], number),
        "our decoding and learning": rate(learn, number),
    }


def consume(bootstrap: str, topic: str, partitions: Sequence[int]) -> None:
    """Read partitions to their end with the bare client, and print the rate."""
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap, enable_auto_commit=False, max_poll_records=5000
    )
    owned = [TopicPartition(topic, number) for number in partitions]
    consumer.assign(owned)
    consumer.seek_to_beginning()
    left = sum(consumer.end_offsets(owned).values())
    number, began = 0, 0.0
    while left:
        polled = consumer.poll(timeout_ms=500)
        began = began or time.perf_counter()
        for records in polled.values():
            for record in records:
                len(record.value)
            left -= len(records)
            number += len(records)
    print(number / (time.perf_counter() - began))
    consumer.close()


def client_rate(bootstrap: str, topic: str, workers: int) -> float:
    """Return the sum of the rates of so many bare clients, each with its part of the topic."""
    share = PARTITIONS // workers
    clients = [
        subprocess.Popen(
            [sys.executable, __file__, "--consume", bootstrap, topic]
            + [str(number) for number in range(first, first + share)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for first in range(0, PARTITIONS, share)
    ]
    return sum(float(client.communicate()[0]) for client in clients)


def engine_rate(source: str, state: Path, workers: int) -> float:
    """Return the sum of the rates that workers report for what they have learned."""
    with Crew(state) as crew:
        for _ in range(workers):
            crew.learn(source, "--until-end", "--progress-every", "1000")
        crew.finish(300)
        last = [worker.log.rpartition(" events, ")[2].partition("/s")[0] for worker in crew.workers]
        return sum(float(each.replace(",", "")) for each in last)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=400_000)
    parser.add_argument("--consume", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.consume:
        bootstrap, topic, *partitions = given.consume
        consume(bootstrap, topic, list(map(int, partitions)))
        return
    values = made(given.events)
    rates = decode_rates(values[:50_000])
    with broker() as kafka, tempfile.TemporaryDirectory() as folder:
        topic = kafka.create_topic(partitions=PARTITIONS)
        produce(kafka.bootstrap, topic, values, partitions=PARTITIONS)
        client_rate(kafka.bootstrap, topic, 1)  # the broker is slower the first time
        for workers in (1, 2):
            rates[f"bare client, {workers} at once"] = client_rate(kafka.bootstrap, topic, workers)
            source, state = f"kafka://{kafka.bootstrap}/{topic}", Path(folder, f"state-{workers}")
            rates[f"engine, {workers} at once"] = engine_rate(source, state, workers)
    bare = rates["bare client, 1 at once"]
    print(f"{'':<34}{'events/s':>10}{'to the bare client':>20}")
    for name, each in rates.items():
        print(f"{name:<34}{each:>10,.0f}{each / bare:>20.2f}")


if __name__ == "__main__":
    main()
