"""Classifiers for streams: learned one event at a time, merged exactly, asked at any moment.

What is slow to import is imported when it is first used.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamnb._version import __version__
from streamnb.errors import CodecError, ConfigError, MergeError, SourceError, StreamNBError

if TYPE_CHECKING:
    from streamnb.codec import dumps, loads, save
    from streamnb.models import (
        LDA,
        QDA,
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GaussianNB,
        MixedNB,
        MultinomialNB,
        PoissonNB,
        Windowed,
        merge,
    )

__all__ = [
    "LDA",
    "QDA",
    "BernoulliNB",
    "CategoricalNB",
    "CodecError",
    "ComplementNB",
    "ConfigError",
    "GaussianNB",
    "MergeError",
    "MixedNB",
    "MultinomialNB",
    "PoissonNB",
    "SourceError",
    "StreamNBError",
    "Windowed",
    "__version__",
    "dumps",
    "load",
    "loads",
    "merge",
    "save",
]

_HOMES = {
    "LDA": "streamnb.models",
    "QDA": "streamnb.models",
    "BernoulliNB": "streamnb.models",
    "CategoricalNB": "streamnb.models",
    "ComplementNB": "streamnb.models",
    "GaussianNB": "streamnb.models",
    "MixedNB": "streamnb.models",
    "MultinomialNB": "streamnb.models",
    "PoissonNB": "streamnb.models",
    "Windowed": "streamnb.models",
    "dumps": "streamnb.codec",
    "loads": "streamnb.codec",
    "merge": "streamnb.models",
    "save": "streamnb.codec",
}
_MODULES = ("bayes", "codec", "errors", "frames", "likelihoods", "models", "stats", "testing")


def __getattr__(name: str) -> Any:
    """Import a public name, or a module of the package, when it is first asked for."""
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"streamnb.{name}")
    else:
        msg = f"module 'streamnb' has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*__all__, *_MODULES})


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model in a file, or, of a state folder, the merge of its newest shards.

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
    from streamnb.codec import load_file  # noqa: PLC0415 - slow to import

    return load_file(path)
