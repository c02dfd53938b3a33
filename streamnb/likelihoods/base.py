"""What every likelihood says of itself, and the likelihoods by name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from streamnb.parameters import check_fields, declared, document
from streamnb.stats.index import Label
from streamnb.stats.moments import Moments

__all__ = ["LIKELIHOODS", "Likelihood", "Scorer", "documented", "moments_arguments", "places"]

Floats = NDArray[np.float64]

LIKELIHOODS: dict[str, type[Likelihood]] = {}
"""What a block of features of `MixedNB` can be read by, by the names in files and settings."""


class Scorer(Protocol):
    """Answers joint log-likelihoods. Both verbs answer `None` where it is out of date."""

    @property
    def labels(self) -> list[Label]:
        """The classes in canonical order."""

    @property
    def log_prior(self) -> list[float]:
        """The logarithm of each class's prior probability."""

    def scores(self, x: Mapping[Any, Any]) -> list[float] | None:
        """One number for each class, -inf where it is impossible."""

    def scores_many(self, *table: Any) -> Floats | None:
        """(n, K) numbers for the rows of a table: how it is given depends on the statistics."""


class Likelihood:
    """How a statistic is read as p(x | y): a frozen dataclass of parameters, without state.

    One that has a `name` can be named for a feature of `MixedNB`. Its fields are declared with
    `streamnb.parameters.parameter`: they are checked, and documented, from that.
    """

    name: ClassVar[str] = ""
    """The name in files and settings; "" where no block of `MixedNB` can have it."""
    reads: ClassVar[str] = "numbers"
    """What it reads, a key of `streamnb.models.blocks.BLOCKS`."""
    nonnegative: ClassVar[bool] = False
    """Whether values are refused that are below 0."""

    def __init_subclass__(cls, name: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        if name:
            cls.name = name
            LIKELIHOODS[name] = cls

    def __post_init__(self) -> None:
        """Raises `ValueError` or `TypeError` where a parameter is out of range."""
        check_fields(self)

    @abstractmethod
    def scorer(
        self,
        statistic: Any,
        labels: list[Label],
        log_prior: Floats | None,
        prior_counts: Floats,
    ) -> Scorer:
        """The joint log-likelihoods of events, read from `statistic` as it is and as it grows.

        Parameters
        ----------
        statistic
            what was seen.
        labels
            the classes, in canonical order; they may be more than `statistic` knows.
        log_prior
            of each class; `None` where their weights decide.
        prior_counts
            added to the weights.
        """


def documented(likelihood: type[Any]) -> type[Any]:
    """A dataclass with its declared fields in its docstring."""
    likelihood.__doc__ = document(likelihood.__doc__, declared(likelihood), "Attributes")
    return likelihood


def places(statistic: Any, labels: list[Label]) -> NDArray[np.int64]:
    """The slots of labels in a statistic, -1 for those that it does not know."""
    slots = statistic.classes.slots
    return np.array([slots.get(label, -1) for label in labels], dtype=np.int64)


def moments_arguments(
    statistic: Moments, labels: list[Label]
) -> tuple[Any, list[Label], NDArray[np.int64], NDArray[np.int64]]:
    """What a scorer over moments takes first: the table, the labels, their slots, the features'."""
    features = np.array(statistic.features.canonical(), dtype=np.int64)
    return statistic.table, labels, places(statistic, labels), features
