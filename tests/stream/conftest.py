"""What the tests of the engine share."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from streamnb.testing import Broker, broker
from streamnb.testing.driver import Crew

from .topics import Filled, filled

SEEDS = (1, 2, 3)


@pytest.fixture(scope="session")
def topic_of(kafka: Broker, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Filled]:
    """A filled topic for each seed and kind of model, made when it is first asked for."""
    made: dict[tuple[int, str], Filled] = {}

    def topic(seed: int, kind: str = "gaussian") -> Filled:
        if (seed, kind) not in made:
            folder = tmp_path_factory.mktemp("reference")
            made[seed, kind] = filled(kafka, folder, seed, kind)
        return made[seed, kind]

    return topic


@pytest.fixture(scope="module")
def frail_kafka(broker_possible: None) -> Iterator[Broker]:  # noqa: ARG001 - it may skip
    """A broker that the tests of a module may kill, and must start again."""
    with broker() as running:
        yield running


@pytest.fixture
def crew(tmp_path: Path) -> Iterator[Crew]:
    """Workers of a state folder of their own."""
    with Crew(tmp_path / "state") as workers:
        yield workers
