"""Features that take one value of several: categories, and those that are true or false."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from streamnb._kernels import categories
from streamnb.likelihoods.base import Floats, Likelihood, documented, places
from streamnb.parameters import parameter
from streamnb.stats.fields import FieldCounts
from streamnb.stats.index import Label

__all__ = ["Boolean", "Categorical"]


@documented
@dataclass(frozen=True)
class Categorical(Likelihood, name="categorical"):
    """How counts of values are read as probabilities.

    With the count c of a value in a class, the weight N of the class's events that had the feature,
    and S values of the feature seen in any class, the value's probability is

        (c + alpha)/(N + alpha S)

    (the mean of a Dirichlet posterior; T. Mitchell, Machine Learning, 1997, section 6.9). A class
    that has never seen the feature takes c and N over all classes. A value that no class has seen
    is no evidence, and nor is a feature that only ever had one value.

    Raises
    ------
    ValueError, TypeError
        it is out of range, or no number.
    """

    reads: ClassVar[str] = "categories"

    alpha: float = parameter(
        default=1.0,
        doc="pseudo-count of each value (1 is Laplace's). With 0 a value that a class has never"
        " seen makes the class impossible.",
    )

    def scorer(
        self,
        statistic: FieldCounts,
        labels: list[Label],
        log_prior: Floats | None,
        prior_counts: Floats,
    ) -> categories.CategoryScorer:
        """See `Likelihood.scorer`."""
        return categories.CategoryScorer(
            statistic.table,
            labels,
            places(statistic, labels),
            statistic.tokens.features,
            float(self.alpha),
            log_prior,
            prior_counts,
        )


@dataclass(frozen=True)
class Boolean(Categorical, name="boolean"):
    """`Categorical` for features that are `True` or `False`: (c + alpha)/(N + 2 alpha).

    0 and 1 are numbers, and no values of such a feature. One that was always the same is no
    evidence.
    """

    reads: ClassVar[str] = "booleans"
