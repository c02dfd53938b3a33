"""A real Apache Kafka broker on loopback, for as long as a `with` block lasts.

    with broker() as kafka:
        topic = kafka.create_topic("events", partitions=4)
        ...                                  # clients connect to kafka.bootstrap
        kafka.kill()                         # SIGKILL: the machine's worst day
        kafka.start()                        # the same data on the same port

Needs Linux or macOS, Java 17 and, the first time, Maven (see `streamnb.testing.jars`); no Docker.
One broker takes about 250 MB of memory and a few seconds to start: start one for a whole test run
and give each test topics of its own. SIGKILL loses nothing that the operating system was given, so
it does not test a power cut.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamnb.errors import StreamNBError
from streamnb.testing.jars import RESOURCES, Java, class_archive, fetch_jars, find_java

if TYPE_CHECKING:
    from kafka import KafkaAdminClient

__all__ = ["Broker", "BrokerError", "broker", "prepare"]

_HOST = "127.0.0.1"
_JVM = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
_STARTS = 3  # with other ports each, should a stranger take one in between


class BrokerError(StreamNBError):
    """Raised where a broker does not start or does not answer; carries the end of its log."""


@contextmanager
def broker(*, timeout: float = 60.0) -> Iterator[Broker]:
    """Start a broker of its own data, give it to the block, and remove every trace of it.

    It answers metadata and group requests before the block begins. Process, ports and folder are
    gone after the block, and within a second or two also when this process is killed. Brokers
    side by side do not know each other.

    Parameters
    ----------
    timeout
        Seconds that each start may take before it counts as failed. On two free cores a start takes
        about three.

    Raises
    ------
    BrokerUnavailable
        Where Java, Maven or the jars are missing; the message says which.
    BrokerError
        Where the broker does not start.
    """
    java, jars = find_java(), fetch_jars()
    archive = class_archive(java, jars)
    options = [f"-XX:SharedArchiveFile={archive}"] if archive.is_file() else []
    with contextlib.closing(Broker(_command(java, jars, *options), timeout)) as started:
        yield started


def prepare() -> None:
    """Fetch the jars, and let a broker run once to archive their classes for this Java.

    Nothing where that has been done. Later brokers start in about half the time.

    Raises
    ------
    BrokerUnavailable
        Where Java, Maven or the jars are missing; the message says which.
    BrokerError
        Where the broker does not start.
    """
    java, jars = find_java(), fetch_jars()
    archive = class_archive(java, jars)
    if archive.is_file():
        return
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix="archiving-") as folder:
        written = Path(folder, archive.name)
        # Formatting the broker's folder ends a Java, too, and writes an archive that the end of
        # the broker replaces.
        command = _command(java, jars, f"-XX:ArchiveClassesAtExit={written}")
        with contextlib.closing(Broker(command, timeout=60.0)) as started:
            started.stop(timeout=60.0)
        if written.is_file():
            written.replace(archive)


def _command(java: Java, jars: Path, *options: str) -> list[str]:
    """Return the command that runs a class of the jars: its name and arguments follow."""
    logging = f"-Dlog4j2.configurationFile=file:{RESOURCES / 'log4j2.properties'}"
    return [java.command, *_JVM, *options, logging, "-cp", f"{jars}/*"]


class Broker:
    """One Apache Kafka broker with its data, started; made by `broker`.

    Its methods may be called from any thread.
    """

    def __init__(self, command: list[str], timeout: float) -> None:
        self._command = command
        self._timeout = timeout
        self._lock = threading.Lock()
        script = Path(__file__).with_name("_supervisor.py")
        self._supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", str(script), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # A Ctrl-C in the terminal is for the program that uses the broker.
            start_new_session=True,
        )
        self.folder = Path(self._read())
        self.port = 0
        self.pid = 0
        try:
            self._start_first()
        except BaseException:  # also a Ctrl-C must leave nothing behind
            self.close()
            raise

    # -- what it is ------------------------------------------------------------------------------

    @property
    def bootstrap(self) -> str:
        """The address for clients, "127.0.0.1:PORT"; the same after each start."""
        return f"{_HOST}:{self.port}"

    @property
    def running(self) -> bool:
        """Whether the broker's process exists, be it paused."""
        return self.pid != 0 and self._ask("poll") is None

    def log_tail(self, lines: int = 30) -> str:
        """Return the last lines that the broker wrote; "" where it wrote none."""
        try:
            with (self.folder / "log").open(encoding="utf-8", errors="replace") as log:
                return "".join(deque(log, maxlen=lines))
        except FileNotFoundError:
            return ""

    # -- its life --------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the broker again on the same data and port; nothing where it runs.

        Returns when it answers: two to five seconds after a stop or a kill.

        Raises
        ------
        BrokerError
            Where it does not.
        """
        if self.running:
            return
        self.pid = self._ask("start", [*self._command, "kafka.Kafka", str(self._settings)])
        self._wait_until_ready(time.monotonic() + self._timeout)

    def stop(self, timeout: float = 10.0) -> None:
        """Stop the broker in order (SIGTERM) and wait; nothing where it does not run.

        After `timeout` seconds it is killed.
        """
        self.signal(signal.SIGTERM)
        if not self._wait_for_exit(timeout):
            self.kill()

    def kill(self) -> None:
        """Kill the broker (SIGKILL) and wait; nothing where it does not run."""
        self.signal(signal.SIGKILL)
        self._wait_for_exit(self._timeout)

    def pause(self) -> None:
        """Let the broker hang (SIGSTOP): connections stay open and nothing is answered."""
        self.signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused broker go on (SIGCONT)."""
        self.signal(signal.SIGCONT)

    def signal(self, number: int) -> None:
        """Send a signal to the broker's process; nothing where it does not run."""
        if self.running:
            self._ask("signal", int(number))

    def close(self) -> None:
        """Kill the broker and remove its folder; nothing where that has been done."""
        with self._lock:
            if self._supervisor.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    self._supervisor.stdin.close()
            self._supervisor.wait()
            if self._supervisor.stdout is not None:
                self._supervisor.stdout.close()
        self.pid = 0
        shutil.rmtree(self.folder, ignore_errors=True)  # where the supervisor was killed

    # -- its topics ------------------------------------------------------------------------------

    def create_topic(
        self,
        name: str | None = None,
        *,
        partitions: int = 1,
        config: Mapping[str, object] | None = None,
    ) -> str:
        """Create a topic and return its name once every partition has a leader.

        Parameters
        ----------
        name
            None makes one up that no other topic has.
        config
            Settings of the topic, as Kafka names them: `{"retention.ms": 1000}`.
        """
        name = name or f"topic-{uuid.uuid4().hex[:12]}"
        configs = {key: str(value) for key, value in (config or {}).items()}
        spec = {"num_partitions": partitions, "replication_factor": 1, "configs": configs}
        with self.admin() as admin:
            admin.create_topics({name: spec}, wait_for_metadata=True)
        return name

    def delete_topic(self, name: str) -> None:
        """Delete a topic, and return when the broker no longer knows it."""
        with self.admin() as admin:
            admin.delete_topics([name])
            deadline = time.monotonic() + self._timeout
            while name in admin.list_topics():
                if time.monotonic() > deadline:
                    raise BrokerError(f"topic {name} is still there\n{self.log_tail()}")
                time.sleep(0.02)

    def topic_id(self, name: str) -> str:
        """Return the id of a topic: another one when a topic of this name is made anew."""
        with self.admin() as admin:
            return str(admin.describe_topics([name])[0]["topic_id"])

    def cluster_id(self) -> str:
        """Return the id of the cluster that this broker is."""
        with self.admin() as admin:
            return str(admin.describe_cluster()["cluster_id"])

    @contextmanager
    def admin(self, timeout: float = 10.0) -> Iterator[KafkaAdminClient]:
        """Lend a kafka-python admin client, closed after the block."""
        from kafka import KafkaAdminClient  # noqa: PLC0415 - heavy, and needed by some only

        client = KafkaAdminClient(
            bootstrap_servers=self.bootstrap,
            bootstrap_timeout_ms=int(1000 * timeout),
            reconnect_backoff_max_ms=200,
        )
        try:
            yield client
        finally:
            client.close()

    # -- inside ----------------------------------------------------------------------------------

    @property
    def _settings(self) -> Path:
        return self.folder / "server.properties"

    def _start_first(self) -> None:
        """Choose ports, format the folder and start; with other ports where a stranger took one."""
        random_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()[:22]
        cluster_id = "k" + random_id[1:]  # a leading "-" would be an option of the storage tool
        for attempt in range(_STARTS):
            self.port, controller_port = _free_ports()
            template = (RESOURCES / "server.properties").read_text(encoding="utf-8")
            self._settings.write_text(
                template.replace("@PORT@", str(self.port))
                .replace("@CONTROLLER_PORT@", str(controller_port))
                .replace("@DATA@", str(self.folder / "data")),
                encoding="utf-8",
            )
            if attempt == 0:
                self._format(cluster_id)
            try:
                self.start()
            except BrokerError:
                if attempt + 1 == _STARTS or self.running or "BindException" not in self.log_tail():
                    raise
            else:
                return

    def _format(self, cluster_id: str) -> None:
        tool = ["kafka.tools.StorageTool", "format", "--standalone"]
        command = [*self._command, *tool, "-t", cluster_id, "-c", str(self._settings)]
        self._ask("start", command)
        if not self._wait_for_exit(self._timeout) or self._ask("poll") != 0:
            raise BrokerError(f"the broker's folder could not be formatted:\n{self.log_tail()}")

    def _wait_until_ready(self, deadline: float) -> None:
        """Return when the broker answers about itself and about a group."""
        from kafka.errors import KafkaError  # noqa: PLC0415 - heavy, and needed by some only

        reason = "its port does not open"
        while time.monotonic() < deadline:
            status = self._ask("poll")
            if status is not None:
                raise BrokerError(f"the broker ended with status {status}:\n{self.log_tail()}")
            if _accepts(self.port):
                try:
                    with self.admin(timeout=2.0) as admin:
                        known = admin.describe_cluster()["brokers"]
                        admin.list_group_offsets({"streamnb-ready": None})
                except KafkaError as error:
                    reason = repr(error)
                else:
                    if known:
                        return
            time.sleep(0.02)
        raise BrokerError(
            f"the broker does not answer after {self._timeout} s: {reason}\n{self.log_tail()}"
        )

    def _wait_for_exit(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self._ask("poll") is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def _ask(self, *request: Any) -> Any:
        with self._lock:
            if self._supervisor.stdin is None or self._supervisor.stdin.closed:
                raise BrokerError("the broker has been closed")
            try:
                self._supervisor.stdin.write(json.dumps(request) + "\n")
                self._supervisor.stdin.flush()
            except BrokenPipeError as error:
                raise BrokerError("the broker's supervisor has ended") from error
            return self._read()

    def _read(self) -> Any:
        line = self._supervisor.stdout.readline() if self._supervisor.stdout else ""
        if not line:
            raise BrokerError("the broker's supervisor has ended")
        return json.loads(line)


def _free_ports() -> tuple[int, int]:
    """Return two ports of loopback that nobody listens on.

    They lie below the range from which the operating system takes the ports of outgoing
    connections. Otherwise a client that tries to reach a stopped broker may be given that very
    port, connect to itself, and hold the port when the broker comes back.
    """
    found: list[int] = []
    while len(found) < 2:
        port = random.randrange(10_240, 32_768)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((_HOST, port))
            if port not in found:
                found.append(port)
    return found[0], found[1]


def _accepts(port: int) -> bool:
    """Whether something listens on this port of loopback."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((_HOST, port)) == 0
