"""Where events come from and where outputs go, as people write it.

kafka://host:port[,host:port]/topic     a Kafka topic; the port is 9092 where none is given
a path                                  a file
-                                       standard input or standard output
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from streamnb.errors import ConfigError

__all__ = ["Address", "FileAddress", "KafkaAddress", "StandardAddress", "parse_address"]

_SCHEME = "kafka://"
_DEFAULT_PORT = 9092
_SERVER = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:/,@\[\]]+)(?::(?P<port>\d{1,5}))?")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True)
class KafkaAddress:
    """A topic of the cluster that `servers` (`"host:port"`, at least one) belong to."""

    servers: tuple[str, ...]
    topic: str

    def __str__(self) -> str:
        return f"{_SCHEME}{','.join(self.servers)}/{self.topic}"


@dataclass(frozen=True)
class FileAddress:
    """A file, by its absolute path without symbolic links; nothing says that it exists."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class StandardAddress:
    """Standard input or output."""

    def __str__(self) -> str:
        return "-"


Address = KafkaAddress | FileAddress | StandardAddress


def parse_address(text: str) -> Address:
    """Read an address.

    Raises
    ------
    ConfigError
        `text` is empty, or looks like a URL and is not a Kafka address.
    """
    if text == "-":
        return StandardAddress()
    if not text.startswith(_SCHEME):
        scheme, separator, _ = text.partition("://")
        if not text or (separator and scheme.isalnum()):
            msg = f"{text!r} is neither kafka://host:port/topic nor a file nor '-'"
            raise ConfigError(msg)
        return FileAddress(_resolved(text))
    servers, _, topic = text[len(_SCHEME) :].partition("/")
    if not _TOPIC.fullmatch(topic) or topic in (".", ".."):
        msg = f"{text!r} names no topic: expected kafka://host:port/topic, not {topic!r}"
        raise ConfigError(msg)
    return KafkaAddress(tuple(_server(one, text) for one in servers.split(",")), topic)


def _resolved(path: str) -> Path:
    """Return the one path of a file that has many: two of them are the same file.

    A pipe in `/dev` or `/proc` leads to where there is no path, and keeps its own.
    """
    resolved = os.path.realpath(path)
    if os.path.exists(path) and not os.path.exists(resolved):  # noqa: PTH110 - raises nothing
        return Path(path).absolute()
    return Path(resolved)


def _server(server: str, text: str) -> str:
    match = _SERVER.fullmatch(server)
    if match is None or not 0 < int(match["port"] or _DEFAULT_PORT) < 65536:
        msg = f"{text!r} names no server: expected kafka://host:port/topic, not {server!r}"
        raise ConfigError(msg)
    return f"{match['host']}:{match['port'] or _DEFAULT_PORT}"
