"""The models that every test of common behaviour runs over: a new model is one entry here."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import streamnb
from streamnb.likelihoods import Bag, Poisson, Text

from .exact import Definition, Exact, ExactPoisson, Row

CATEGORIES = [True, 1, 1.0, "1", False, 0.0, -0.0, "true", 2.5, 2**53 + 1, "é", 7, 1e300]


@dataclass(frozen=True)
class Model:
    """A way to make an empty model, and what its statistics are.

    `make(**parameters)` returns an empty model. `definition(rows, **readings)` says what it has to
    answer, `plain` are the readings that it has by default and that add nothing to what was seen.
    `readings` are values of those that only this model has. `moments`: all that it learns is
    numbers, of which it answers `means` and `variances`. `positive`: it learns counts, and refuses
    what is below 0. `bag`: its features are tokens, a count of 0 is the same as an absent token,
    and none is missing. `texts`: texts and bools are values of their own. `numeric`: numbers are
    quantities. `prior`: it has a prior. `timed`: what it holds depends on the events' times.
    `blocks`: an event also has a bag, a text and a number of visits.
    """

    name: str
    make: Callable[..., Any]
    definition: Callable[..., Definition] | None = None
    plain: Mapping[str, Any] = field(default_factory=dict)
    readings: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    moments: bool = True
    positive: bool = False
    bag: bool = False
    texts: bool = False
    numeric: bool = True
    prior: bool = True
    timed: bool = False
    blocks: bool = False

    def some_readings(self, rng: random.Random) -> dict[str, Any]:
        """A value for each of the readings that only this model has."""
        return {name: rng.choice(values) for name, values in self.readings.items()}

    def number(self, value: Any) -> Any:
        """A number that this model takes: where it learns counts, the size of one below 0."""
        below = self.positive and isinstance(value, int | float | np.number) and value < 0
        return abs(value) if below else value

    def event(self, x: Mapping[Any, Any]) -> dict[Any, Any]:
        """An event with values that this model takes: of a bag, small counts and none missing.

        Where texts and bools are values, numbers stand for some of each kind, equal ones among
        them; where they are quantities too, only now and then, and never those of "x".
        """
        if self.blocks:
            return self._texts(x) | self._blocks(x)
        if self.texts:
            return self._texts(x)
        if self.bag:
            there = {n: v for n, v in x.items() if v is not None and not math.isnan(v)}
            return {name: float(int(abs(value)) % 5) for name, value in there.items()}
        return {name: self.number(value) for name, value in x.items()}

    def _blocks(self, x: Mapping[Any, Any]) -> dict[Any, Any]:
        """What the features named in `BLOCKS` have of an event."""
        there = {n: abs(v) for n, v in x.items() if v is not None and not math.isnan(v)}
        if not there:
            return {}
        words = [f"word{int(v) % 7}" for v in there.values() for _ in range(int(v) % 3)]
        return {
            "bag": {n: float(int(v) % 5) for n, v in there.items()},
            "seen": {n: int(v) % 2 for n, v in there.items()},
            "mail": " ".join(words),
            "visits": max(there.values()),
        }

    def _texts(self, x: Mapping[Any, Any]) -> dict[Any, Any]:
        return {name: self._text(name, value) for name, value in x.items()}

    def _text(self, name: Any, value: Any) -> Any:
        if value is None or math.isnan(value):
            return value
        other = CATEGORIES[int(abs(value)) % len(CATEGORIES)]
        if self.numeric and (name == "x" or not isinstance(other, str | bool)):
            return value
        return other

    def array(self, values: np.ndarray) -> np.ndarray:
        """An array of numbers that this model takes."""
        if self.bag:
            return np.floor(np.abs(np.nan_to_num(values)))
        return np.abs(values) if self.positive else values

    def rows(self, rows: Sequence[Row]) -> list[Row]:
        """Rows with numbers that this model takes."""
        return [(self.event(x), y, w) for x, y, w in rows]


COVARIANCE: dict[str, Sequence[Any]] = {
    "shrinkage": [0.0, 0.3, "oas"],
    "prior_scatter": [None, 1.0, {"x": 2.0}],
    "ddof": [0, 1],
}

MODELS = [
    Model(
        "GaussianNB",
        streamnb.GaussianNB,
        Exact,
        {"var_smoothing": 0.0, "background": 0.0},
        {
            "var_smoothing": [0.0, 1e-9, 1.0],
            "smoothing": ["feature", "global", "absolute"],
            "background": [0.0, 1.0],
            "shared_variance": [False, True],
            "ddof": [0, 1],
        },
    ),
    Model(
        "PoissonNB",
        streamnb.PoissonNB,
        ExactPoisson,
        {"alpha": 0.0},
        {"alpha": [0.0, 1.0, 1e-300, 1e300]},
        positive=True,
    ),
    Model("MultinomialNB", streamnb.MultinomialNB, moments=False, positive=True, bag=True),
    Model("BernoulliNB", streamnb.BernoulliNB, moments=False, positive=True, bag=True),
    Model(
        "ComplementNB",
        streamnb.ComplementNB,
        moments=False,
        positive=True,
        bag=True,
        prior=False,
    ),
    Model(
        "Windowed",
        lambda **p: streamnb.Windowed(streamnb.GaussianNB(**p), length=3600),
        Exact,
        {"var_smoothing": 0.0, "background": 0.0},
        timed=True,
    ),
    Model("CategoricalNB", streamnb.CategoricalNB, moments=False, texts=True, numeric=False),
    Model("MixedNB", streamnb.MixedNB, moments=False, texts=True),
    Model("LDA", streamnb.LDA, moments=False, readings=COVARIANCE),
    Model("QDA", streamnb.QDA, moments=False, readings=COVARIANCE | {"reg_param": [0.0, 0.1]}),
    Model(
        "Windowed MultinomialNB",
        lambda **p: streamnb.Windowed(streamnb.MultinomialNB(**p), length=3600),
        moments=False,
        positive=True,
        bag=True,
        timed=True,
    ),
    Model(
        "Windowed CategoricalNB",
        lambda **p: streamnb.Windowed(streamnb.CategoricalNB(**p), length=3600),
        moments=False,
        texts=True,
        numeric=False,
        timed=True,
    ),
    Model(
        "Windowed MixedNB",
        lambda **p: streamnb.Windowed(streamnb.MixedNB(**p), length=3600),
        moments=False,
        texts=True,
        timed=True,
    ),
]
BLOCKS = {
    "bag": Bag(),
    "seen": Bag(event="bernoulli"),
    "mail": Text("mail"),
    "visits": Poisson(),
}
FADING = [
    *(model for model in MODELS if not model.timed),
    Model(
        "MixedNB of all kinds",
        lambda **p: streamnb.MixedNB(BLOCKS, **p),
        moments=False,
        texts=True,
        blocks=True,
    ),
]
"""Those with a half-life, whose events then need their times."""
MOMENTS = [model for model in MODELS if model.moments]
FIELDS = [model for model in MODELS if not model.bag]
BAGS = [model for model in MODELS if model.bag]
PRIORS = [model for model in MODELS if model.prior]


def name_of(model: Model) -> str:
    """The name of a model in the name of a test."""
    return model.name
