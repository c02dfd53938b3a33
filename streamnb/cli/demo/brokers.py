"""Where the demo's broker comes from: Java and Maven, else Docker, else nowhere."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import click
from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from streamnb.testing import BrokerUnavailable, broker

__all__ = ["Found", "find_broker"]

_IMAGE = "apache/kafka:4.3.1"
_BOOTSTRAP = "localhost:9092"
"""Where the image says that its broker is."""

_SECONDS = 60.0
_INDENT = " " * 13


@dataclass(frozen=True)
class Found:
    """Where the broker answers (`None`: there is none), and what it is."""

    bootstrap: str | None
    what: str


@contextmanager
def find_broker() -> Iterator[Found]:
    """Give a block a broker of its own, if this machine can have one.

    Raises
    ------
    click.ClickException
        Docker is there, and its container does not start.
    """
    with ExitStack() as stack:
        yield _found(stack)


def _found(stack: ExitStack) -> Found:
    try:
        bootstrap = stack.enter_context(broker()).bootstrap
    except BrokerUnavailable as unavailable:
        if _docker_answers():
            _start_container(stack)
            return Found(_BOOTSTRAP, f"Apache Kafka in Docker ({_IMAGE}) at {_BOOTSTRAP}")
        return Found(None, f"{unavailable};\n{_INDENT}no Docker: files instead of a topic")
    return Found(bootstrap, f"Apache Kafka, started at {bootstrap}")


def _docker_answers() -> bool:
    docker = shutil.which("docker")
    if docker is None:
        return False
    asked = subprocess.run([docker, "info"], capture_output=True, check=False)
    return asked.returncode == 0


def _start_container(stack: ExitStack) -> None:
    run = ["docker", "run", "--detach", "--rm", "--publish", "127.0.0.1:9092:9092", _IMAGE]
    started = subprocess.run(run, capture_output=True, text=True, check=False)
    if started.returncode != 0:
        raise click.ClickException(f"{' '.join(run)}: {started.stderr.strip()}")
    remove = ["docker", "rm", "--force", started.stdout.strip()]
    stack.callback(subprocess.run, remove, capture_output=True, check=False)
    try:
        client = KafkaAdminClient(
            bootstrap_servers=_BOOTSTRAP, bootstrap_timeout_ms=int(1000 * _SECONDS)
        )
        client.close()
    except KafkaError as error:
        raise click.ClickException(f"{_IMAGE} does not answer at {_BOOTSTRAP}: {error}") from error
