"""Kafka: a cluster, its topics as sources of records and as sinks.

Only the files of this folder know the client.
"""

from __future__ import annotations

from streamnb.stream.kafka.cluster import Bounds, Cluster, Topic
from streamnb.stream.kafka.connection import Partition
from streamnb.stream.kafka.source import Polled, TopicSource
from streamnb.stream.kafka.watch import TopicWatch
from streamnb.stream.kafka.writer import Message, TopicWriter

__all__ = [
    "Bounds",
    "Cluster",
    "Message",
    "Partition",
    "Polled",
    "Topic",
    "TopicSource",
    "TopicWatch",
    "TopicWriter",
]
