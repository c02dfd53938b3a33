"""The Poisson distribution of each feature within each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import poisson
from streamnb.stats.index import Label
from streamnb.stats.moments import Moments
from streamnb.values import check_parameter

__all__ = ["Poisson"]


@dataclass(frozen=True)
class Poisson:
    """How moments of counts are read as Poisson distributions.

    The rate of a feature in a class is the mean of its values there, with `alpha`
    pseudo-observations at the feature's rate M over all classes,

        rate = (W m + alpha M)/(W + alpha)

    with the class's weight W and mean m; and log p(x) = x log(rate) - rate - log Gamma(x + 1), for
    values x that need not be whole.

    Attributes
    ----------
    alpha
        pseudo-observations of each feature in each class. With 0, a class that has only
        seen 0 finds any other value impossible.

    A class that has never seen a feature answers with M. A feature that was constant in all that
    was seen, always 0 for one, is no evidence.

    Raises
    ------
    ValueError
        the parameter is out of range.
    TypeError
        it is no number.
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        check_parameter(self.alpha, "alpha")

    def scorer(
        self,
        statistic: Moments,
        labels: list[Label],
        log_prior: NDArray[np.float64] | None,
        prior_counts: NDArray[np.float64],
    ) -> poisson.PoissonScorer:
        """The joint log-likelihoods of events, read from `statistic` as it is and as it grows.

        Parameters
        ----------
        statistic
            what was seen; none of it negative.
        labels
            the classes, in canonical order; they may be more than `statistic` knows.
        log_prior
            of each class; `None` where their weights decide.
        prior_counts
            added to the weights.
        """
        slots = statistic.classes.slots
        return poisson.PoissonScorer(
            statistic.table,
            labels,
            np.array([slots.get(label, -1) for label in labels], dtype=np.int64),
            np.array(statistic.features.canonical(), dtype=np.int64),
            float(self.alpha),
            log_prior,
            prior_counts,
        )
