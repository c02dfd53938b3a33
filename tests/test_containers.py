"""The image and the composition, as far as they can be checked without a container engine."""

import base64
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

import streamnb
from streamnb.cli import learn, predict, show
from streamnb.stream.addresses import KafkaAddress, parse_address

ROOT = Path(__file__).parent.parent
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
DOCKERFILE = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text())
COMMANDS = {"learn": learn.command, "predict": predict.command, "show": show.command}


def instructions(name: str) -> list[str]:
    """Return the arguments of each instruction of the last stage of the Dockerfile."""
    last_stage = DOCKERFILE.rpartition("\nFROM ")[2]
    return re.findall(rf"^{name} (.*)$", last_stage, re.MULTILINE)


def parsed(words: list[str]) -> dict[str, Any]:
    """Return what `streamnb` understands by these words; nothing is run."""
    parent = click.Context(click.Group("streamnb"))
    command = COMMANDS[words[0]]
    return command.make_context(words[0], words[1:], parent=parent).params


def mounts(service: dict[str, Any]) -> dict[str, str]:
    """Return where each volume is mounted."""
    return {target: name for name, target, *_ in (v.split(":") for v in service["volumes"])}


def test_the_composition_is_a_broker_its_topics_two_learners_and_a_predictor() -> None:
    assert SERVICES.keys() == {"kafka", "topics", "learner", "predictor"}
    assert SERVICES["learner"]["deploy"]["replicas"] == 2
    assert {service["image"] for service in OURS.values()} == {f"streamnb:{streamnb.__version__}"}
    kafka_images = {SERVICES[name]["image"] for name in ("kafka", "topics")}
    pom = (ROOT / "streamnb/testing/kafka/pom.xml").read_text()
    (version,) = re.findall(r"<artifactId>kafka_2\.13</artifactId>\s*<version>(.*?)<", pom)
    assert kafka_images == {f"apache/kafka:{version}"}


def test_each_command_is_understood() -> None:
    learner = parsed(SERVICES["learner"]["command"])
    predictor = parsed(SERVICES["predictor"]["command"])
    assert learner["source"] == ("kafka://kafka:19092/events",)
    assert learner["state"] == predictor["state"] == Path("/state")
    assert predictor["source"] == ("kafka://kafka:19092/questions",)
    assert predictor["to"] == "kafka://kafka:19092/predictions"
    health = SERVICES["learner"]["healthcheck"]["test"]
    assert health[:2] == ["CMD", "streamnb"]
    assert parsed(health[2:])


def test_every_topic_that_is_named_is_made_at_the_broker_that_is_there() -> None:
    (script,) = SERVICES["topics"]["command"]
    made = set(re.findall(r"^make ([\w-]+) \d+$", script, re.MULTILINE))
    words = [word for service in OURS.values() for word in service["command"]]
    addresses = [word.partition("=")[2] or word for word in words if "kafka://" in word]
    broker = ("kafka:19092",)
    assert {parse_address(address) for address in addresses} == {
        KafkaAddress(broker, topic) for topic in made
    }
    assert "--bootstrap-server kafka:19092" in script
    advertised = SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"].split(",")
    assert "INSIDE://kafka:19092" in advertised
    assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0


def test_the_broker_is_one_kraft_node_that_listens_on_this_machine_only() -> None:
    settings = SERVICES["kafka"]["environment"]
    assert settings["KAFKA_PROCESS_ROLES"] == "broker,controller"
    assert len(base64.urlsafe_b64decode(settings["CLUSTER_ID"] + "==")) == 16
    names = {listener.partition(":")[0] for listener in settings["KAFKA_LISTENERS"].split(",")}
    protocols = settings["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"].split(",")
    assert names == {protocol.partition(":")[0] for protocol in protocols}
    assert SERVICES["kafka"]["ports"] == ["127.0.0.1:9092:9092"]
    assert mounts(SERVICES["kafka"]) == {settings["KAFKA_LOG_DIRS"]: "kafka"}


def test_services_start_in_order_and_come_back() -> None:
    assert SERVICES["topics"]["depends_on"] == {"kafka": {"condition": "service_healthy"}}
    for service in OURS.values():
        done = {"topics": {"condition": "service_completed_successfully"}}
        assert service["depends_on"] == done
        assert service["restart"] == "unless-stopped"


def test_learners_write_the_state_and_the_predictor_reads_it() -> None:
    assert SERVICES["learner"]["volumes"] == ["state:/state"]
    assert SERVICES["predictor"]["volumes"] == ["state:/state:ro"]
    assert instructions("VOLUME") == ["/state"]


def test_the_image_runs_the_command_as_a_user_that_owns_the_state() -> None:
    (user,) = instructions("USER")
    (setup,) = (line for line in instructions("RUN") if "useradd" in line)
    assert user != "root"
    assert f"--owner {user}" in setup
    assert setup.split()[-1] == "/state"


def test_signals_reach_python() -> None:
    """The exec form: a shell in between would keep SIGTERM to itself."""
    (entrypoint,) = instructions("ENTRYPOINT")
    assert json.loads(entrypoint) == ["streamnb"]
    assert all("entrypoint" not in service for service in OURS.values())
    assert instructions("STOPSIGNAL") == ["SIGTERM"]


def test_all_that_the_image_is_built_from_is_sent_and_nothing_else() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    sent = {line[1:] for line in lines if line.startswith("!")}
    copies = re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE)
    assert sent == {name for copy in copies for name in copy.split()}
    assert all((ROOT / name).exists() for name in sent)


def test_compose_accepts_the_file() -> None:
    docker = shutil.which("docker")
    checks = (
        docker
        and not subprocess.run(
            [docker, "compose", "version"], capture_output=True, check=False
        ).returncode
    )
    if not checks:
        pytest.skip("docker compose is not installed")
    run = ["docker", "compose", "--file", str(ROOT / "docker-compose.yml"), "config", "--quiet"]
    assert subprocess.run(run, env=os.environ, check=False).returncode == 0
