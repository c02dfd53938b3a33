"""The normal distribution of each feature within each class."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import gaussian
from streamnb.likelihoods.base import Floats, Likelihood, documented, moments_arguments
from streamnb.parameters import check_flag, parameter
from streamnb.stats.index import Label
from streamnb.stats.moments import Moments

__all__ = ["SMOOTHINGS", "Gaussian", "linear_log_ratio"]

SMOOTHINGS = {
    "feature": gaussian.FEATURE,
    "global": gaussian.GLOBAL,
    "absolute": gaussian.ABSOLUTE,
}


def _check_smoothing(smoothing: Any, name: str) -> None:
    if not isinstance(smoothing, str) or smoothing not in SMOOTHINGS:
        msg = f"{name} is one of {', '.join(SMOOTHINGS)}, not {smoothing!r}"
        raise ValueError(msg)


@documented
@dataclass(frozen=True)
class Gaussian(Likelihood, name="gaussian"):
    """How moments are read as a normal density.

    The variance of a feature in a class is

        (S + b V + (m - M)^2 W b/(W + b)) / (W + b - ddof) + smoothing

    with the class's weight W, mean m and sum of squared deviations S, and the feature's mean M
    and variance V over all classes; b is `background`. The mean is (W m + b M)/(W + b). (With b = 0
    as in T. Mitchell, Machine Learning, 1997, and scikit-learn; the background is a normal-gamma
    prior, see A. Gelman et al., Bayesian Data Analysis, 2013, section 3.3.)

    With `shared_variance` all classes have the feature's variance within them, pooled: the sum of
    what stands before the / over the sum of what is behind it, ddof taken once,

        sum(S + b V + (m - M)^2 W b/(W + b)) / (sum(W + b) - ddof) + smoothing

    over the classes that have seen the feature. The log-odds of two classes are then linear in
    the event (as in linear discriminant analysis with a diagonal covariance matrix).

    A class that has never seen a feature answers with M and V (the shared variance, where there is
    one). A variance of 0 that nothing raises is read as 1e-18 V. A feature that was constant in all
    that was seen is no evidence.

    Raises
    ------
    ValueError
        a parameter is out of range.
    TypeError
        a parameter is no number.
    """

    var_smoothing: float = parameter(
        default=1e-9, doc="added to each variance, in the unit that `smoothing` gives."
    )
    smoothing: str = parameter(
        default="feature",
        doc='"feature" (times the feature\'s own variance over all classes), "global" (times the'
        ' largest of these, as scikit-learn does) or "absolute" (the number itself).',
        check=_check_smoothing,
    )
    background: float = parameter(
        default=0.3,
        doc="pseudo-observations of the feature's distribution over all classes, the difference of"
        " means included. They fade as the class learns. 0 for scikit-learn's answers.",
    )
    shared_variance: bool = parameter(
        default=False,
        doc="whether all classes have one variance a feature, pooled within them; log-odds are then"
        " linear in the event: see `linear_log_odds` of the model.",
        check=check_flag,
    )
    ddof: float = parameter(
        default=0,
        doc="taken from the weight where the variance is read. A class whose weight is not above it"
        " has no variance of its own and takes that over all classes, as all do where the sum is"
        " not.",
    )

    def scorer(
        self,
        statistic: Moments,
        labels: list[Label],
        log_prior: Floats | None,
        prior_counts: Floats,
    ) -> gaussian.GaussianScorer:
        """See `Likelihood.scorer`."""
        return gaussian.GaussianScorer(
            *moments_arguments(statistic, labels),
            float(self.var_smoothing),
            SMOOTHINGS[self.smoothing],
            float(self.background),
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
