"""Counts of tokens: how often each comes (multinomial), or whether it comes at all (Bernoulli)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from streamnb._kernels import bags
from streamnb.likelihoods.base import Floats, Likelihood, documented, places
from streamnb.parameters import parameter, whole_number
from streamnb.stats.counts import Counts
from streamnb.stats.index import Label
from streamnb.values import check_parameter

__all__ = ["Bag", "Complement"]

_EVENTS = {"multinomial": bags.MULTINOMIAL, "bernoulli": bags.BERNOULLI}


def _check_event(event: Any, name: str) -> None:
    if not isinstance(event, str) or event not in _EVENTS:
        msg = f"{name} is one of {', '.join(_EVENTS)}, not {event!r}"
        raise ValueError(msg)


def _check_size(size: Any, name: str) -> None:
    if size is not None and (check_parameter(size, name) % 1 or size < 1):
        msg = f"{name} is a whole number from 1 on, not {size!r}"
        raise ValueError(msg)


@documented
@dataclass(frozen=True)
class Bag(Likelihood, name="bag"):
    """How counts are read as the probability of an event given a class.

    With the count c of a token in the class, the sum T of the class's counts, its weight N and V
    tokens seen in any class,

        multinomial: p = (c + alpha)/(T + alpha V), to the power of the event's count
        bernoulli: p = (c + alpha)/(N + 2 alpha) where the token is there, 1 - p where it is not

    (C. D. Manning, P. Raghavan, H. Schuetze, Introduction to Information Retrieval, 2008, chapter
    13). The multinomial coefficient, the same for all classes, is left out. A token that no class
    has seen is no evidence.

    Raises
    ------
    ValueError, TypeError
        a parameter is out of range, or of another kind.
    """

    reads: ClassVar[str] = "tokens"
    nonnegative: ClassVar[bool] = True

    event: str = parameter(
        default="multinomial", doc='"multinomial" or "bernoulli".', check=_check_event
    )
    alpha: float = parameter(
        default=1.0,
        doc="pseudo-count of each token (1 is Laplace's); for Bernoulli of its presence and of its"
        " absence. With 0 a token that a class has never seen makes the class impossible.",
    )
    vocabulary_size: int | None = parameter(
        default=None,
        doc="how many tokens there are, for the multinomial; `None` for those that were seen.",
        check=_check_size,
        canonical=whole_number,
    )
    threshold: float = parameter(
        default=0.0,
        doc="a token is there where its count is above this (Bernoulli).",
        shapes=True,
    )

    def scorer(
        self, statistic: Counts, labels: list[Label], log_prior: Floats | None, prior_counts: Floats
    ) -> bags.BagScorer:
        """See `Likelihood.scorer`."""
        size = -1.0 if self.vocabulary_size is None else float(self.vocabulary_size)
        event = _EVENTS[self.event]
        return _scorer(statistic, labels, event, self.alpha, size, log_prior, prior_counts)


@documented
@dataclass(frozen=True)
class Complement(Likelihood):
    """How counts are read against a class: by how ill an event fits all others.

    With the count C of a token in the other classes, the sum T of their counts and V tokens, a
    class's score is the sum of -v log((C + alpha)/(T + alpha V)) over the event's counts v (J.
    Rennie et al., Tackling the poor assumptions of naive Bayes text classifiers, 2003, without its
    normalization, as scikit-learn's `norm=False`). It is no probability of anything: there is no
    prior. With `alpha` 0 a token that only one class has seen is certainty for that class.

    Raises
    ------
    ValueError, TypeError
        it is out of range, or no number.
    """

    reads: ClassVar[str] = "tokens"
    nonnegative: ClassVar[bool] = True

    alpha: float = parameter(default=1.0, doc="pseudo-count of each token.")

    def scorer(
        self,
        statistic: Counts,
        labels: list[Label],
        log_prior: Floats | None = None,  # noqa: ARG002 - there is no prior
        prior_counts: Floats | None = None,  # noqa: ARG002 - nor counts of one
    ) -> bags.BagScorer:
        """The scores of events, read from `statistic` as it is and as it grows."""
        zeros = np.zeros(len(labels))
        return _scorer(statistic, labels, bags.COMPLEMENT, self.alpha, -1.0, zeros, zeros)


def _scorer(
    statistic: Counts, labels: list[Label], event: int, alpha: float, *more: Any
) -> bags.BagScorer:
    classes = places(statistic, labels)
    return bags.BagScorer(statistic.table, labels, classes, event, float(alpha), *more)
