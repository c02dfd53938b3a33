"""What tests of several folders share: Apache Kafka itself, one for the run or one of their own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamnb.testing import Broker, BrokerUnavailable, broker
from streamnb.testing.jars import fetch_jars, find_java

CORE = Path(__file__).parent / "core"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a broker, so that `-m "not broker"` leaves it out.

    And what starts processes: with several workers (`-n 2 --dist loadgroup`) one of them runs all
    of that, one test after the other, while the rest goes to the others.
    """
    for item in items:
        if "broker_possible" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.broker)
        if CORE not in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("processes"))


@pytest.fixture(scope="session")
def broker_possible() -> None:
    """Skip where this machine cannot run a broker, with the reason; in CI that is a failure."""
    try:
        find_java()
        fetch_jars()
    except BrokerUnavailable as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI must be able to run a broker: {error}")
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def kafka(broker_possible: None) -> Iterator[Broker]:  # noqa: ARG001 - only where it is possible
    """Give one broker to the whole run: leave it up, and use topics of your own names."""
    with broker() as running:
        yield running


@pytest.fixture
def own_kafka(broker_possible: None) -> Iterator[Broker]:  # noqa: ARG001 - only where possible
    """Give one test a broker of its own, to kill and start again; it takes a few seconds."""
    with broker() as running:
        yield running
