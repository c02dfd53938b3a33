"""The normal distribution of each feature within each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import gaussian
from streamnb._kernels._values import check_parameter
from streamnb.stats.index import Label
from streamnb.stats.moments import Moments

__all__ = ["SMOOTHINGS", "Gaussian"]

SMOOTHINGS = {
    "feature": gaussian.FEATURE,
    "global": gaussian.GLOBAL,
    "absolute": gaussian.ABSOLUTE,
}


@dataclass(frozen=True)
class Gaussian:
    """How moments are read as a normal density.

    The variance of a feature in a class is

        (S + b V + (m - M)^2 W b/(W + b)) / (W + b - ddof) + smoothing

    with the class's weight W, mean m and sum of squared deviations S, and the feature's mean M
    and variance V over all classes; b is `background`. The mean is (W m + b M)/(W + b).

    Attributes
    ----------
    var_smoothing
        added to each variance, in the unit that `smoothing` gives.
    smoothing
        "feature" (times the feature's own V), "global" (times the largest V of all
        features, as scikit-learn does) or "absolute" (the number itself).
    background
        pseudo-observations of the feature's distribution over all classes. They
        fade as the class learns.
    ddof
        taken from the weight where the variance is read. A class whose weight is not
        above it has no variance of its own and takes V.

    A class that has never seen a feature answers with M and V. A variance of 0 that nothing
    raises is read as 1e-18 V. A feature that was constant in all that was seen is no evidence.

    Raises
    ------
    ValueError
        a parameter is out of range.
    TypeError
        a parameter is no number.
    """

    var_smoothing: float = 1e-9
    smoothing: str = "feature"
    background: float = 0.0
    ddof: float = 0.0

    def __post_init__(self) -> None:
        for name in ("var_smoothing", "background", "ddof"):
            check_parameter(getattr(self, name), name)
        if not isinstance(self.smoothing, str) or self.smoothing not in SMOOTHINGS:
            msg = f"smoothing is one of {', '.join(SMOOTHINGS)}, not {self.smoothing!r}"
            raise ValueError(msg)

    def scorer(
        self,
        statistic: Moments,
        labels: list[Label],
        log_prior: NDArray[np.float64] | None,
        prior_counts: NDArray[np.float64],
    ) -> gaussian.GaussianScorer:
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
        slots = statistic.classes.slots
        return gaussian.GaussianScorer(
            statistic.table,
            labels,
            np.array([slots.get(label, -1) for label in labels], dtype=np.int64),
            np.array(statistic.features.canonical(), dtype=np.int64),
            float(self.var_smoothing),
            SMOOTHINGS[self.smoothing],
            float(self.background),
            float(self.ddof),
            log_prior,
            prior_counts,
        )
