"""Make a topic with four partitions and fill it with River's ImageSegments, as JSON.

python examples/feed.py localhost:9092 segments
"""

import json
import sys

from kafka import KafkaAdminClient, KafkaProducer
from river import datasets

PARTITIONS = 4


def feed(bootstrap: str, topic: str) -> int:
    """Send every segment as `{"x": {...}, "y": label}`, and return how many there are."""
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    spec = {"num_partitions": PARTITIONS, "replication_factor": 1}
    admin.create_topics({topic: spec}, wait_for_metadata=True)
    admin.close()

    producer = KafkaProducer(bootstrap_servers=bootstrap, linger_ms=20)
    sent = 0
    for x, y in datasets.ImageSegments():
        event = json.dumps({"x": x, "y": y}).encode()
        producer.send(topic, event, partition=sent % PARTITIONS)
        sent += 1
    producer.flush()
    producer.close()
    return sent


if __name__ == "__main__":
    bootstrap, topic = sys.argv[1:]
    print(f"{feed(bootstrap, topic)} events in {PARTITIONS} partitions of {topic}")
