"""The Poisson distribution of each feature within each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from streamnb._kernels import poisson
from streamnb.likelihoods.base import Floats, Likelihood, documented, moments_arguments
from streamnb.parameters import parameter
from streamnb.stats.index import Label
from streamnb.stats.moments import Moments

__all__ = ["Poisson"]


@documented
@dataclass(frozen=True)
class Poisson(Likelihood, name="poisson"):
    """How moments of counts are read as Poisson distributions.

    The rate of a feature in a class is the mean of its values there, with `alpha`
    pseudo-observations at the feature's rate M over all classes,

        rate = (W m + alpha M)/(W + alpha)

    with the class's weight W and mean m; and log p(x) = x log(rate) - rate - log Gamma(x + 1), for
    values x that need not be whole. The prior of a rate is thus a gamma distribution (A. Gelman et
    al., Bayesian Data Analysis, 2013, section 2.6).

    A class that has never seen a feature answers with M. A feature that was constant in all that
    was seen, always 0 for one, is no evidence.

    Raises
    ------
    ValueError
        the parameter is out of range.
    TypeError
        it is no number.
    """

    nonnegative: ClassVar[bool] = True

    alpha: float = parameter(
        default=1.0,
        doc="pseudo-observations of each feature in each class, at the feature's rate over all"
        " classes. With 0, a class that has only seen 0 finds any other value impossible.",
    )

    def scorer(
        self,
        statistic: Moments,
        labels: list[Label],
        log_prior: Floats | None,
        prior_counts: Floats,
    ) -> poisson.PoissonScorer:
        """See `Likelihood.scorer`."""
        arguments = moments_arguments(statistic, labels)
        return poisson.PoissonScorer(*arguments, float(self.alpha), log_prior, prior_counts)
