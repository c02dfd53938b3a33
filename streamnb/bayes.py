"""Bayes' rule: log p(y | x) = log p(y) + log p(x | y) - log p(x), written once.

The one primitive of a classifier is the joint log-likelihood, log p(y) + log p(x | y), of each
class in canonical order. A `Scorer` answers it, from the likelihoods of a model's blocks and the
prior of its classes; labels and probabilities follow from it, for one event (compiled, in
`_kernels.posterior`, and bound by the models as methods) and for tables (here).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import posterior
from streamnb.likelihoods.base import Scorer
from streamnb.parameters import as_mapping, check_fields, parameter
from streamnb.stats.index import Label, LabelIndex, canonical_label
from streamnb.values import check_parameter

__all__ = [
    "STALE",
    "BlockScorer",
    "ClassPrior",
    "Scorer",
    "Stale",
    "places_of",
    "probabilities_of",
]

Floats = NDArray[np.float64]


class Stale:
    """The scorer of a model whose readings have changed: always out of date."""

    labels: ClassVar[list[Label]] = []
    log_prior: ClassVar[list[float]] = []

    def scores(self, x: Mapping[Any, Any]) -> None:
        """No answer."""

    def scores_many(self, *table: Any) -> None:
        """No answer."""


STALE = Stale()


class BlockScorer:
    """Bayes' rule over blocks: log p(y) plus the sum of log p(x | y) over the blocks of features.

    Features of different blocks are independent within a class, as those of one block may be.

    Parameters
    ----------
    scorers
        of the blocks. The first has the prior of the classes; the others have a log prior of 0 for
        each class, so that the prior counts once.
    parts
        gives the part of an event that belongs to each block, the event that the block's scorer
        takes; `None` where there is nothing of it, but for the first.
    always
        for each block whether it says something of an event that has nothing of it.
    """

    def __init__(
        self,
        scorers: Sequence[Scorer],
        parts: Callable[[Any], Sequence[Any]],
        always: Sequence[bool],
    ) -> None:
        self._first, *self._others = scorers
        self._parts = parts
        self._always = always[1:]

    @property
    def labels(self) -> list[Label]:
        """The classes in canonical order."""
        return self._first.labels

    @property
    def log_prior(self) -> list[float]:
        """The logarithm of each class's prior probability."""
        return self._first.log_prior

    def scores(self, x: Mapping[Any, Any]) -> list[float] | None:
        """One number for each class; `None` where any block is out of date."""
        first, *parts = self._parts(x)
        total = self._first.scores(first)
        for scorer, part, always in zip(self._others, parts, self._always, strict=True):
            if part is None and not always:
                continue
            more = scorer.scores(part)
            if total is None or more is None:
                return None
            total = [a + b for a, b in zip(total, more, strict=True)]
        return total

    def scores_many(self, *tables: Any) -> Floats | None:
        """(n, K) numbers for the rows of a table, given as what each block's scorer takes."""
        total = self._first.scores_many(*tables[0])
        for scorer, table in zip(self._others, tables[1:], strict=True):
            more = scorer.scores_many(*table)
            if total is None or more is None:
                return None
            total = total + more
        return total


def _check_prior(prior: Any, name: str) -> None:
    if isinstance(prior, Mapping):
        values = _numbers(prior, "a prior probability")
        if any(value > 1 for value in values) or abs(math.fsum(values) - 1) > 1e-9:
            msg = f"prior probabilities are in [0, 1] and sum to 1, not {dict(prior)!r}"
            raise ValueError(msg)
    elif prior not in ("empirical", "uniform"):
        msg = f'{name} is "empirical", "uniform" or a mapping, not {prior!r}'
        raise ValueError(msg)


def _check_prior_count(prior_count: Any, name: str) -> None:
    if isinstance(prior_count, Mapping):
        _numbers(prior_count, "a prior count")
    else:
        check_parameter(prior_count, name)


def _check_known_labels(known_labels: Any, name: str) -> None:
    if isinstance(known_labels, str | bytes | Mapping):
        msg = f"{name} is a list of labels, not {known_labels!r}"
        raise TypeError(msg)
    for label in () if known_labels is None else known_labels:
        canonical_label(label)


@dataclass(frozen=True)
class ClassPrior:
    """The prior probability of each class.

    Attributes
    ----------
    prior
        "empirical" (by the classes' weights), "uniform" (the same for all known classes)
        or a mapping of labels to probabilities, each in [0, 1], with the sum 1 within 1e-9.
        A class that a mapping lacks has probability 0, and its labels are known labels.
    prior_count
        pseudo-counts added to the weights of an empirical prior: a number for each
        known class, or a mapping of labels to numbers (0 for the others).
    known_labels
        labels that are classes before any event of theirs was seen.

    Where an empirical prior has neither weight nor count, all known classes are equally probable.

    Raises
    ------
    ValueError
        a probability, a sum or a count is out of range, or a label is NaN.
    TypeError
        something is of the wrong kind.
    """

    prior: str | Mapping[Label, float] = parameter(
        default="empirical",
        doc='"empirical", "uniform", or {label: probability}.',
        check=_check_prior,
        restored=as_mapping,
    )
    prior_count: float | Mapping[Label, float] = parameter(
        default=0,
        doc="pseudo-count of each class in an empirical prior, or {label: pseudo-count}.",
        check=_check_prior_count,
        restored=as_mapping,
    )
    known_labels: Iterable[Label] | None = parameter(
        default=None,
        doc="labels that are classes before any event of theirs was seen.",
        check=_check_known_labels,
    )

    def __post_init__(self) -> None:
        check_fields(self)

    def known(self) -> list[Label]:
        """The labels that are classes without having been seen, as they are given."""
        given = self.prior if isinstance(self.prior, Mapping) else ()
        return [*(() if self.known_labels is None else self.known_labels), *given]

    def labels(self, learned: Iterable[Label]) -> list[Label]:
        """All classes in canonical order: the known and the learned."""
        index = LabelIndex([*learned, *self.known()])
        return [index.order[slot] for slot in index.canonical()]

    def given(self, labels: list[Label]) -> Floats | None:
        """The logarithms of the prior probabilities, `None` where the weights decide."""
        if isinstance(self.prior, Mapping):
            by_label = {canonical_label(label): p for label, p in self.prior.items()}
            probabilities = [float(by_label.get(label, 0.0)) for label in labels]
            return np.array([math.log(p) if p > 0 else -math.inf for p in probabilities])
        if self.prior == "uniform":
            return np.full(len(labels), -math.log(max(len(labels), 1)))
        return None

    def counts(self, labels: list[Label]) -> Floats:
        """The pseudo-count of each class."""
        if isinstance(self.prior_count, Mapping):
            by_label = {canonical_label(label): n for label, n in self.prior_count.items()}
            return np.array([float(by_label.get(label, 0.0)) for label in labels])
        return np.full(len(labels), float(self.prior_count))


def places_of(scores: Floats, scorer: Scorer) -> NDArray[np.intp]:
    """The place in `scorer.labels` of the most probable class of each row."""
    places: NDArray[np.intp] = posterior.best(scores, np.array(scorer.log_prior))
    return places


def probabilities_of(scores: Floats, scorer: Scorer) -> Floats:
    """The probability of each class in each row, (n, K)."""
    result = np.ascontiguousarray(scores, dtype=np.float64).copy()
    if scorer.labels:
        posterior.posteriors(result, np.array(scorer.log_prior))
    return result


def _numbers(values: Mapping[Any, Any], what: str) -> list[float]:
    """The values, each of them finite and not negative, the keys being labels."""
    for label, value in values.items():
        canonical_label(label)
        check_parameter(value, what)
    return [float(value) for value in values.values()]
