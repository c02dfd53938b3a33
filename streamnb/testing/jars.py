"""What a broker needs from this machine: a Java to run it, and its jars, fetched once by Maven.

The jars are kept in the user's cache: `$STREAMNB_CACHE`, else `$XDG_CACHE_HOME/streamnb`, else
`~/.cache/streamnb`. Once they are there, neither Maven nor a network is needed. Beside them lies,
where `python -m streamnb.testing` has made it, an archive of their classes as this Java reads them:
with it a broker starts in about half the time.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from streamnb.errors import StreamNBError

__all__ = ["RESOURCES", "BrokerUnavailable", "Java", "class_archive", "fetch_jars", "find_java"]

RESOURCES = Path(__file__).with_name("kafka")
"""The folder of the broker's settings and of the list of its jars."""

_OLDEST_JAVA = 17


class BrokerUnavailable(StreamNBError):  # noqa: N818 - a state of the machine, not a mistake
    """Raised where this machine cannot run a broker: no Java, no Maven, jars out of reach."""


@dataclass(frozen=True)
class Java:
    """A Java that runs Apache Kafka: its command, and all that it says of its version."""

    command: str
    version: str


def find_java() -> Java:
    """Return a Java that runs Apache Kafka: that of JAVA_HOME, else of the PATH.

    Raises
    ------
    BrokerUnavailable
        Where there is none, it does not run, or it is too old.
    """
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home, "bin"))) if home else shutil.which("java")
    if java is None:
        where = f"in JAVA_HOME={home}" if home else "on the PATH"
        raise BrokerUnavailable(f"no Java {where}: Apache Kafka needs Java {_OLDEST_JAVA} or newer")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', said)
    if version is None or int(version[1]) < _OLDEST_JAVA:
        first_line = said.strip().partition("\n")[0]
        raise BrokerUnavailable(
            f"{java} says {first_line!r}: Apache Kafka needs Java {_OLDEST_JAVA} or newer"
        )
    return Java(java, said)


def class_archive(java: Java, jars: Path) -> Path:
    """Return where the archive of the classes of `jars` as `java` reads them lies, if it exists.

    Java itself passes over an archive that does not fit.
    """
    digest = hashlib.sha256(java.version.encode()).hexdigest()[:12]
    return jars.with_name(f"{jars.name}-java-{digest}.jsa")


def fetch_jars() -> Path:
    """Return the folder of the broker's jars, after fetching them if it is not there yet.

    The folder appears complete or not at all, also where several processes fetch at once: one
    does, the others wait for it.

    Raises
    ------
    BrokerUnavailable
        Where the jars are missing and Maven is, too, or cannot fetch them; or where the cache
        cannot be written.
    """
    pom = RESOURCES / "pom.xml"
    cache = _cache()
    jars = cache / f"kafka-{hashlib.sha256(pom.read_bytes()).hexdigest()[:12]}"
    if jars.is_dir():
        return jars
    maven = shutil.which("mvn")
    if maven is None:
        raise BrokerUnavailable(
            f"no Maven (mvn) on the PATH, and the jars of Apache Kafka are not in {cache} yet"
        )
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with (cache / "lock").open("w", encoding="utf-8") as lock:
            # Maven's own folder of downloads does not bear two writers either.
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not jars.is_dir():
                _copy_dependencies(maven, pom, jars)
    except OSError as error:
        raise BrokerUnavailable(f"the cache {cache} cannot be written: {error}") from error
    return jars


def _cache() -> Path:
    own = os.environ.get("STREAMNB_CACHE")
    if own:
        return Path(own).absolute()
    general = os.environ.get("XDG_CACHE_HOME")
    return (Path(general) if general else Path.home() / ".cache") / "streamnb"


def _copy_dependencies(maven: str, pom: Path, jars: Path) -> None:
    """Let Maven fill a temporary folder beside `jars`, then give it that name."""
    with tempfile.TemporaryDirectory(dir=jars.parent, prefix="fetching-") as folder:
        # Maven writes beside the file it is given, which may be where nobody can write.
        shutil.copy(pom, folder)
        libs = Path(folder, "libs")
        command = [maven, "-q", "-B", "-f", str(Path(folder, pom.name))]
        command += ["dependency:copy-dependencies", f"-DoutputDirectory={libs}"]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if done.returncode != 0:
            last = "\n".join(done.stdout.strip().splitlines()[:10])
            raise BrokerUnavailable(f"Maven could not fetch the jars of Apache Kafka:\n{last}")
        libs.rename(jars)
