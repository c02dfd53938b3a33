"""The normal distribution of each feature within each class."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import gaussian
from streamnb.stats.index import Label
from streamnb.stats.moments import Moments
from streamnb.values import check_parameter

__all__ = ["SMOOTHINGS", "Gaussian", "linear_log_ratio"]

SMOOTHINGS = {
    "feature": gaussian.FEATURE,
    "global": gaussian.GLOBAL,
    "absolute": gaussian.ABSOLUTE,
}


def measured(
    var_smoothing: float | None, smoothing: str, background: float | None
) -> tuple[float, float]:
    """`var_smoothing` and `background`; for those that are not given the default.

    Who names a smoothing gets that, and no other beside it (see docs/smoothing.md).
    """
    if background is None:
        background = 0.3 if var_smoothing is None and smoothing == "feature" else 0.0
    return 1e-9 if var_smoothing is None else var_smoothing, background


@dataclass(frozen=True)
class Gaussian:
    """How moments are read as a normal density.

    The variance of a feature in a class is

        (S + b V + (m - M)^2 W b/(W + b)) / (W + b - ddof) + smoothing

    with the class's weight W, mean m and sum of squared deviations S, and the feature's mean M
    and variance V over all classes; b is `background`. The mean is (W m + b M)/(W + b).

    With `shared_variance` all classes have the feature's variance within them, pooled: the sum of
    what stands before the / over the sum of what is behind it, ddof taken once,

        sum(S + b V + (m - M)^2 W b/(W + b)) / (sum(W + b) - ddof) + smoothing

    over the classes that have seen the feature. The log-odds of two classes are then linear in
    the event (as in linear discriminant analysis with a diagonal covariance matrix).

    Attributes
    ----------
    var_smoothing
        added to each variance, in the unit that `smoothing` gives; 1e-9 where it is not given.
    smoothing
        "feature" (times the feature's own V), "global" (times the largest V of all
        features, as scikit-learn does) or "absolute" (the number itself).
    background
        pseudo-observations of the feature's distribution over all classes. They
        fade as the class learns. Without it, and without any smoothing, 0.3; where a smoothing is
        given, 0: it is then the only one.
    shared_variance
        whether the classes share one variance a feature.
    ddof
        taken from the weight where the variance is read. A class whose weight is not
        above it has no variance of its own and takes V, as all do where the sum is not.

    A class that has never seen a feature answers with M and V (the shared variance, where there is
    one). A variance of 0 that nothing
    raises is read as 1e-18 V. A feature that was constant in all that was seen is no evidence.

    Raises
    ------
    ValueError
        a parameter is out of range.
    TypeError
        a parameter is no number.
    """

    var_smoothing: float | None = None
    smoothing: str = "feature"
    background: float | None = None
    shared_variance: bool = False
    ddof: float = 0.0

    def __post_init__(self) -> None:
        added, background = measured(self.var_smoothing, self.smoothing, self.background)
        object.__setattr__(self, "var_smoothing", added)
        object.__setattr__(self, "background", background)
        for name in ("var_smoothing", "background", "ddof"):
            check_parameter(getattr(self, name), name)
        if not isinstance(self.smoothing, str) or self.smoothing not in SMOOTHINGS:
            msg = f"smoothing is one of {', '.join(SMOOTHINGS)}, not {self.smoothing!r}"
            raise ValueError(msg)
        if not isinstance(self.shared_variance, bool):
            msg = f"shared_variance is True or False, not {self.shared_variance!r}"
            raise TypeError(msg)

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
            float(self.var_smoothing or 0.0),
            SMOOTHINGS[self.smoothing],
            float(self.background or 0.0),
            self.shared_variance,
            float(self.ddof),
            log_prior,
            prior_counts,
        )


def linear_log_ratio(
    records: NDArray[np.float64], one: int, other: int
) -> tuple[list[float], Fraction]:
    """The weights and the bias of log p(x | one) - log p(x | other) = bias + sum(weight x).

    With the shared variance v and the means m and n of the two classes, a feature has the weight
    (m - n)/v and adds -weight (m + n)/2 to the bias, which is the exact one for these weights:
    far from 0 it is large, and what it loses to rounding is lost to the sum.

    Parameters
    ----------
    records
        what `GaussianScorer.records` gives where the classes share their variances.
    one, other
        the places of two classes in it.

    Raises
    ------
    OverflowError
        a weight is beyond doubles.
    """
    weights = []
    bias = Fraction(0)
    for hi, lo, half, _ in records[:, :, [one, other]].tolist():
        weight = 2.0 * ((hi[0] - hi[1]) + (lo[0] - lo[1])) * half[0]
        weights.append(weight)
        if weight:
            bias -= Fraction(weight) * sum(map(Fraction, (*hi, *lo))) / 2
    return weights, bias
