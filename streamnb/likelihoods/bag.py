"""Counts of tokens: how often each comes (multinomial), or whether it comes at all (Bernoulli)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import bags
from streamnb.stats.counts import Counts
from streamnb.stats.index import Label
from streamnb.values import check_parameter

__all__ = ["Bag", "Complement"]

_EVENTS = {"multinomial": bags.MULTINOMIAL, "bernoulli": bags.BERNOULLI}


@dataclass(frozen=True)
class Bag:
    """How counts are read as the probability of an event given a class.

    With the count c of a token in the class, the sum T of the class's counts, its weight N and V
    tokens seen in any class,

        multinomial: p = (c + alpha)/(T + alpha V), to the power of the event's count
        bernoulli: p = (c + alpha)/(N + 2 alpha) where the token is there, 1 - p where it is not

    (C. D. Manning, P. Raghavan, H. Schuetze, Introduction to Information Retrieval, 2008, chapter
    13). The multinomial coefficient, the same for all classes, is left out. A token that no class
    has seen is no evidence.

    Attributes
    ----------
    event
        "multinomial" or "bernoulli".
    alpha
        pseudo-count of each token (1 is Laplace's). With 0 a token that a class has never seen
        makes the class impossible.
    vocabulary_size
        V for the multinomial; `None` for the number of tokens seen.
    threshold
        a count at or below it is none (Bernoulli). It shapes what is stored.

    Raises
    ------
    ValueError, TypeError
        a parameter is out of range, or of another kind.
    """

    event: str = "multinomial"
    alpha: float = 1.0
    vocabulary_size: int | None = None
    threshold: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.event, str) or self.event not in _EVENTS:
            msg = f"event is one of {', '.join(_EVENTS)}, not {self.event!r}"
            raise ValueError(msg)
        check_parameter(self.alpha, "alpha")
        check_parameter(self.threshold, "threshold")
        if self.vocabulary_size is not None and (
            check_parameter(self.vocabulary_size, "vocabulary_size") % 1 or self.vocabulary_size < 1
        ):
            msg = f"vocabulary_size is a whole number from 1 on, not {self.vocabulary_size!r}"
            raise ValueError(msg)

    def scorer(
        self,
        statistic: Counts,
        labels: list[Label],
        log_prior: NDArray[np.float64] | None,
        prior_counts: NDArray[np.float64],
    ) -> bags.BagScorer:
        """The joint log-likelihoods of events, read from `statistic` as it is and as it grows.

        As `streamnb.likelihoods.Gaussian.scorer`.
        """
        return _scorer(
            statistic,
            labels,
            _EVENTS[self.event],
            self.alpha,
            -1.0 if self.vocabulary_size is None else float(self.vocabulary_size),
            log_prior,
            prior_counts,
        )


@dataclass(frozen=True)
class Complement:
    """How counts are read against a class: by how ill an event fits all others.

    With the count C of a token in the other classes, the sum T of their counts and V tokens, a
    class's score is the sum of -v log((C + alpha)/(T + alpha V)) over the event's counts v (J.
    Rennie et al., Tackling the poor assumptions of naive Bayes text classifiers, 2003, without its
    normalization, as scikit-learn's `norm=False`). It is no probability of anything: there is no
    prior. With `alpha` 0 a token that only one class has seen is certainty for that class.

    Attributes
    ----------
    alpha
        pseudo-count of each token.

    Raises
    ------
    ValueError, TypeError
        it is out of range, or no number.
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        check_parameter(self.alpha, "alpha")

    def scorer(self, statistic: Counts, labels: list[Label]) -> bags.BagScorer:
        """The scores of events, read from `statistic` as it is and as it grows."""
        zeros = np.zeros(len(labels))
        return _scorer(statistic, labels, bags.COMPLEMENT, self.alpha, -1.0, zeros, zeros)


def _scorer(
    statistic: Counts, labels: list[Label], event: int, alpha: float, *more: Any
) -> bags.BagScorer:
    slots = statistic.classes.slots
    classes = np.array([slots.get(label, -1) for label in labels], dtype=np.int64)
    return bags.BagScorer(statistic.table, labels, classes, event, float(alpha), *more)
