"""How much of the suite runs, and what tests of several folders share: Apache Kafka itself.

The quick run (`make test`) leaves out the cases marked `full`, takes one case in place of a grid
(`one_of`), a tenth of what is `thinned`, and gives Hypothesis 50 examples a test. `--share 1`
(`make test-full`) is everything, with 200; `--share 0.4` is the quick run and four tenths of the
rest. What a share has is decided by `--seed`, and so is what stands for a grid.
"""

import datetime as dt
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from streamnb.testing import Broker, BrokerUnavailable, broker
from streamnb.testing.jars import fetch_jars, find_java

CORE = Path(__file__).parent / "core"
EXAMPLES = (50, 200)
"""How many examples of a law the quick run has, and the full one."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("streamnb", "how much of the suite runs")
    group.addoption(
        "--share", type=float, default=0.0, help="part of what the quick run leaves out, 0 to 1"
    )
    group.addoption(
        "--seed", type=int, help="chooses the share, the cases and the seeds; default: the date"
    )


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads its seed, and before tests are imported
def pytest_configure(config: pytest.Config) -> None:
    if config.option.seed is None:
        config.option.seed = int(dt.datetime.now(dt.UTC).strftime("%Y%m%d"))
    elif config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(config.option.seed)
    quick, full = EXAMPLES
    settings.register_profile(
        "share",
        max_examples=quick + round((full - quick) * config.option.share),
        deadline=None,
        derandomize=False,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    settings.load_profile("share")


def pytest_report_header(config: pytest.Config) -> str:
    examples = settings.default.max_examples
    return f"--share {config.option.share:g} --seed {config.option.seed}: {examples} examples a law"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test marked `seeds(n)` its seeds, of which the quick run has another tenth each day.

    They are known ones: new examples are Hypothesis's to find.
    """
    for mark in metafunc.definition.iter_markers("seeds"):
        (number,), day = mark.args, metafunc.config.option.seed
        name = metafunc.definition.name
        drawn = sorted(range(number), key=lambda seed: lot(day, f"{name} {seed}"))
        later = [pytest.param(seed, marks=pytest.mark.full) for seed in drawn[number // 10 :]]
        metafunc.parametrize("seed", [*drawn[: number // 10], *later])


def lot(seed: int, name: str) -> float:
    """A number from 0 to 1 that a seed draws for a test."""
    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def rest(items: Sequence[pytest.Item], seed: int) -> set[pytest.Item]:
    """What the quick run leaves out: cases marked `full`, and all but one of each grid."""
    out = {item for item in items if item.get_closest_marker("full")}
    grids: dict[Any, list[pytest.Item]] = {}
    for item in items:
        mark = item.get_closest_marker("one_of")
        if mark and item not in out and isinstance(item, pytest.Function):
            others = frozenset(
                (name, id(value))
                for name, value in item.callspec.params.items()
                if name not in mark.args
            )
            grids.setdefault((item.path, item.originalname, others), []).append(item)
    for grid in grids.values():
        grid.sort(key=lambda item: lot(seed, item.nodeid))
        out.update(grid[1:])
    return out


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not of this share; mark what needs a broker, and what starts processes.

    `-m "not broker"` leaves the former out. With several workers (`-n 2 --dist loadgroup`) one of
    them runs all of the latter, one test after the other, while the rest goes to the others.
    """
    share, seed = config.option.share, config.option.seed
    if not any("::" in argument for argument in config.args):  # what is asked for by name runs
        out = {item for item in rest(items, seed) if lot(seed, item.nodeid) >= share}
        config.hook.pytest_deselected(items=sorted(out, key=lambda item: item.nodeid))
        items[:] = [item for item in items if item not in out]
    for item in items:
        if "broker_possible" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.broker)
        if CORE not in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("processes"))


@pytest.fixture(scope="session")
def thinned(pytestconfig: pytest.Config) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Of many cases in one test every tenth in the quick run, the first by the seed; else more."""
    step = max(1, round(1 / (0.1 + 0.9 * pytestconfig.option.share)))

    def thinned(cases: Sequence[Any]) -> Sequence[Any]:
        return cases[pytestconfig.option.seed % step :: step]

    return thinned


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
