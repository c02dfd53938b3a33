"""The errors that streamnb raises.

    StreamNBError
     ├── CodecError     bytes that are not a model of ours, or not any more
     ├── MergeError     models that cannot be joined
     ├── ConfigError    settings that are unknown, contradict each other or were fixed before
     └── SourceError    a source of events that is missing, unreachable or not what it was

Wrong arguments and statistics out of range are Python's own `ValueError` and `TypeError`.
"""

from __future__ import annotations

__all__ = ["CodecError", "ConfigError", "MergeError", "SourceError", "StreamNBError"]


class StreamNBError(Exception):
    """The root of every error that is streamnb's own."""


class CodecError(StreamNBError):
    """Raised by `loads` and `load` for bytes that are damaged, truncated or of another format."""


class MergeError(StreamNBError):
    """Raised where two models cannot be joined: other parameters, other kinds, the same events."""


class ConfigError(StreamNBError):
    """Raised for a setting that is unknown, out of range, or differs from what was fixed before."""


class SourceError(StreamNBError):
    """Raised where events cannot be read: no broker, no topic, a file that changed, a gap."""
