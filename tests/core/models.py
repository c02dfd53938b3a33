"""The models that every test of common behaviour runs over: a new model is one line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import streamnb


@dataclass(frozen=True)
class Model:
    """A way to make an empty model, and what its statistics are.

    `make(**parameters)` returns an empty model. `moments`: all that it learns is numbers, of which
    it answers `means` and `variances`. `bag`: its features are tokens and their values counts; a
    count of 0 is the same as an absent token. `texts`: texts and bools are values of their own.
    `numeric`: numbers are quantities. `prior`: it has a prior. `exact`: parameters with which
    nothing is smoothed.
    """

    name: str
    make: Callable[..., Any]
    moments: bool = True
    bag: bool = False
    texts: bool = False
    numeric: bool = True
    prior: bool = True
    exact: dict[str, Any] = field(default_factory=dict)


MODELS = [
    Model(
        "GaussianNB",
        streamnb.GaussianNB,
        exact={"var_smoothing": 0.0, "background": 0.0, "smoothing": "feature"},
    ),
    Model("MultinomialNB", streamnb.MultinomialNB, moments=False, bag=True),
    Model("BernoulliNB", streamnb.BernoulliNB, moments=False, bag=True),
    Model("ComplementNB", streamnb.ComplementNB, moments=False, bag=True, prior=False),
    Model("CategoricalNB", streamnb.CategoricalNB, moments=False, texts=True, numeric=False),
    Model("MixedNB", streamnb.MixedNB, moments=False, texts=True),
]
MOMENTS = [model for model in MODELS if model.moments]
FIELDS = [model for model in MODELS if not model.bag]
BAGS = [model for model in MODELS if model.bag]
PRIORS = [model for model in MODELS if model.prior]


def name_of(model: Model) -> str:
    """The name of a model in the name of a test."""
    return model.name
