"""The README is true, and so are the documents: what they type prints what they say."""

from __future__ import annotations

import doctest
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamnb.testing import BrokerUnavailable, broker

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
HOME = "/home/you"
KAFKA = "localhost:9092"

NUMBER = re.compile(r"-?\d+\.\d{6,}(?:e-?\d+)?|\d\.?\d*e-\d+")


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


CONSOLE = blocks("console")


def dialogue(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a block of a terminal, and what it prints."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        typed = list(itertools.takewhile(lambda line: line.startswith("> "), lines[1:]))
        command = "\n".join([lines[0], *(line.removeprefix("> ") for line in typed)])
        yield command, "\n".join(lines[1 + len(typed) :])


def comparable(text: str) -> str:
    """The text without what differs from run to run: speeds, and the last digits of numbers."""
    text = re.sub(r", [\d,]+/s", ", N/s", text.strip())
    return NUMBER.sub(lambda number: f"{float(number[0]):.9g}", text)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty folder to type in, with the examples in it, and the commands on its PATH."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, module in (("streamnb", "-m streamnb.cli"), ("python", "")):
        script = commands / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        script.chmod(0o755)
    return tmp_path


def check_dialogue(block: str, home: Path, kafka: str = KAFKA) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("STREAMNB_")}
    env |= {"PATH": f"{home / 'bin'}:{env['PATH']}", "PYTHONPATH": str(ROOT)}
    for command, expected in dialogue(block):
        done = subprocess.run(
            ["bash", "-c", command.replace(KAFKA, kafka)],
            cwd=home,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        found = done.stdout.replace(kafka, KAFKA).replace(str(home), HOME)
        assert comparable(found) == comparable(expected), command


def check_lines(lines: str, name: str) -> None:
    test = doctest.DocTestParser().get_doctest(lines, {}, name, name, 0)
    assert test.examples
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("block", blocks("pycon"))
def test_the_lines_of_the_readme(block: str) -> None:
    check_lines(block, "README.md")


def test_the_lines_on_discriminant_analysis() -> None:
    """They follow on one another."""
    text = (ROOT / "docs" / "discriminant_analysis.md").read_text(encoding="utf-8")
    check_lines("".join(blocks("pycon", text)), "discriminant_analysis.md")


@pytest.mark.broker
def test_kafka(home: Path) -> None:
    (block,) = [block for block in CONSOLE if KAFKA in block]
    try:
        with broker() as kafka:
            check_dialogue(block, home, kafka.bootstrap)
    except BrokerUnavailable as unavailable:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(unavailable))


@pytest.mark.parametrize("block", [block for block in CONSOLE if KAFKA not in block])
def test_the_other_dialogues(block: str, home: Path) -> None:
    check_dialogue(block, home)


def test_the_settings_are_settings(home: Path) -> None:
    (block,) = blocks("toml")
    (home / "settings.toml").write_text(block.replace(f"kafka://{KAFKA}/segments", "events.jsonl"))
    (home / "events.jsonl").write_text('{"x": {"a": 1.5}, "y": 1}\n')
    command = "streamnb learn --config settings.toml && streamnb show segments"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=home,
        env={"PATH": f"{home / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "GaussianNB: 2 classes, 1 feature" in done.stdout


def test_the_two_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (block,) = blocks("sh")
    commands = re.findall(r"^make (\w+)", block, re.MULTILINE)
    assert commands == ["demo", "test"]
    for target in commands:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)", README):
        assert (ROOT / target).exists(), target
