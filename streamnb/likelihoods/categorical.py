"""Features that take one value of several: categories, and those that are true or false."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import categories
from streamnb.stats.fields import FieldCounts
from streamnb.stats.index import Label
from streamnb.values import check_parameter

__all__ = ["Boolean", "Categorical"]


@dataclass(frozen=True)
class Categorical:
    """How counts of values are read as probabilities.

    With the count c of a value in a class, the weight N of the class's events that had the feature,
    and S values of the feature seen in any class, the value's probability is

        (c + alpha)/(N + alpha S)

    A class that has never seen the feature takes c and N over all classes. A value that no class
    has seen is no evidence, and nor is a feature that only ever had one value.

    Attributes
    ----------
    alpha
        pseudo-count of each value (1 is Laplace's). With 0 a value that a class has never seen
        makes the class impossible.

    Raises
    ------
    ValueError, TypeError
        it is out of range, or no number.
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        check_parameter(self.alpha, "alpha")

    def scorer(
        self,
        statistic: FieldCounts,
        labels: list[Label],
        log_prior: NDArray[np.float64] | None,
        prior_counts: NDArray[np.float64],
    ) -> categories.CategoryScorer:
        """The joint log-likelihoods of events, read from `statistic` as it is and as it grows.

        As `streamnb.likelihoods.Gaussian.scorer`.
        """
        slots = statistic.classes.slots
        classes = np.array([slots.get(label, -1) for label in labels], dtype=np.int64)
        return categories.CategoryScorer(
            statistic.table,
            labels,
            classes,
            statistic.tokens.features,
            float(self.alpha),
            log_prior,
            prior_counts,
        )


@dataclass(frozen=True)
class Boolean(Categorical):
    """`Categorical` for features that are `True` or `False`: (c + alpha)/(N + 2 alpha).

    0 and 1 are numbers, and no values of such a feature. One that was always the same is no
    evidence.
    """
