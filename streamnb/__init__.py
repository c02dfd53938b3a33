"""Classifiers for streams: learned one event at a time, merged exactly, asked at any moment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from streamnb._version import __version__
from streamnb.codec import dumps, load_file, loads, save
from streamnb.errors import CodecError, ConfigError, MergeError, SourceError, StreamNBError
from streamnb.models import GaussianNB, merge

__all__ = [
    "CodecError",
    "ConfigError",
    "GaussianNB",
    "MergeError",
    "SourceError",
    "StreamNBError",
    "__version__",
    "dumps",
    "load",
    "loads",
    "merge",
    "save",
]


def load(path: str | os.PathLike[str]) -> Any:
    """The model in a file, or, of a state folder, the merge of its newest shards.

    Raises
    ------
    CodecError
        there is no model, or it is damaged; names the file.
    OSError
        it cannot be read.
    """
    if Path(path).is_dir():
        from streamnb.stream.folder import load_model  # noqa: PLC0415 - not everyone streams

        return load_model(Path(path))

    return load_file(path)
