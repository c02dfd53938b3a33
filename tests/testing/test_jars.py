"""What a broker needs from the machine: what is missing is named, jars come whole or not at all."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from streamnb.testing import BrokerUnavailable, broker
from streamnb.testing.jars import class_archive, fetch_jars, find_java

FETCH = "from streamnb.testing.jars import fetch_jars; print(fetch_jars())"


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a machine with an empty PATH, which is returned, and an empty cache."""
    path = tmp_path / "bin"
    path.mkdir()
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("STREAMNB_CACHE", str(tmp_path / "cache"))
    return path


@pytest.mark.usefixtures("bare")
def test_no_java() -> None:
    with pytest.raises(BrokerUnavailable, match="no Java on the PATH"), broker():
        pass


def test_no_java_in_java_home(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(bare / "java", "exit 0")
    monkeypatch.setenv("JAVA_HOME", str(bare))
    with pytest.raises(BrokerUnavailable, match=f"no Java in JAVA_HOME={bare}"):
        find_java()


@pytest.mark.parametrize(
    "said", ['echo openjdk version \\"11.0.2\\" >&2', "echo no runtime present >&2; exit 1"]
)
def test_a_java_that_does_not_do(bare: Path, said: str) -> None:
    script(bare / "java", said)
    with pytest.raises(BrokerUnavailable, match="Apache Kafka needs Java 17 or newer"):
        find_java()


def test_no_maven(bare: Path) -> None:
    script(bare / "java", 'echo openjdk version \\"21\\" >&2')
    with pytest.raises(BrokerUnavailable, match=r"no Maven \(mvn\) on the PATH"), broker():
        pass


def test_maven_that_fails_leaves_nothing(bare: Path, tmp_path: Path) -> None:
    script(bare / "mvn", "echo the network is down; exit 1")
    with pytest.raises(BrokerUnavailable, match="the network is down"):
        fetch_jars()
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["lock"]


def test_a_cache_that_cannot_be_written(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(bare / "mvn", "exit 0")
    monkeypatch.setenv("STREAMNB_CACHE", "/dev/null/cache")
    with pytest.raises(BrokerUnavailable, match="the cache /dev/null/cache cannot be written"):
        fetch_jars()


def test_an_archive_of_classes_is_for_one_java(tmp_path: Path) -> None:
    script(tmp_path / "java", 'echo openjdk version \\"17.0.1\\" >&2')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        patch.delenv("JAVA_HOME", raising=False)
        first = find_java()
        script(tmp_path / "java", 'echo openjdk version \\"17.0.2\\" >&2')
        second = find_java()
    assert class_archive(first, tmp_path) != class_archive(second, tmp_path)


@pytest.mark.usefixtures("broker_possible")
def test_two_processes_fetch_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("mvn") is None:
        pytest.skip("no Maven on the PATH")
    cache = tmp_path / "cache"
    monkeypatch.setenv("STREAMNB_CACHE", str(cache))
    both = [
        subprocess.Popen([sys.executable, "-c", FETCH], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = {process.communicate()[0].strip() for process in both}
    assert [process.returncode for process in both] == [0, 0]
    (jars,) = answers
    assert len(list(Path(jars).glob("*.jar"))) == 46
    assert sorted(path.name for path in cache.iterdir()) == [Path(jars).name, "lock"]
    monkeypatch.setenv("PATH", "")  # now without Maven
    assert fetch_jars() == Path(jars)
