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
    and `variances`.
    """

    name: str
    make: Callable[..., Any]
    moments: bool = True


MODELS = [
    Model("GaussianNB", streamnb.GaussianNB),
]
MOMENTS = [model for model in MODELS if model.moments]


def name_of(model: Model) -> str:
    """The name of a model in the name of a test."""
    return model.name
