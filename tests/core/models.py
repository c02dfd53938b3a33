"""The models that every test of common behaviour runs over: a new model is one line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamnb


@dataclass(frozen=True)
class Model:
    """A way to make an empty model, and what its statistics are.

    `make(**parameters)` returns an empty model. `moments`: it learns numbers, and answers `means`
    and `variances`. `timed`: what it holds depends on the events' times.
    """

    name: str
    make: Callable[..., Any]
    moments: bool = True
    timed: bool = False


MODELS = [
    Model("GaussianNB", streamnb.GaussianNB),
    Model(
        "Windowed",
        lambda **p: streamnb.Windowed(streamnb.GaussianNB(**p), length=3600),
        timed=True,
    ),
]
MOMENTS = [model for model in MODELS if model.moments]


def name_of(model: Model) -> str:
    """The name of a model in the name of a test."""
    return model.name
