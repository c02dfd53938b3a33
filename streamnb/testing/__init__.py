"""For tests, ours and yours: a real Apache Kafka broker for as long as a `with` block lasts."""

from streamnb.testing.broker import Broker, BrokerError, broker
from streamnb.testing.jars import BrokerUnavailable

__all__ = ["Broker", "BrokerError", "BrokerUnavailable", "broker"]
