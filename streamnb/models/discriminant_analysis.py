"""Gaussian discriminant analysis: features that vary together within a class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from streamnb.likelihoods.multivariate import MultivariateGaussian
from streamnb.models.discriminants import DiscriminantAnalysis
from streamnb.models.given import Given
from streamnb.models.given_covariances import given_covariances
from streamnb.models.linear_scores import LinearScores
from streamnb.models.parametrized import reading
from streamnb.stats.index import (
    Label,
    Name,
    canonical_label,
)

__all__ = ["LDA", "QDA"]


class LDA(LinearScores):
    """Linear discriminant analysis: a normal distribution of all features in each class.

    All classes share one covariance, which is estimated with maximum likelihood: the scatter of all
    events around the means of their classes, divided by the weight (A. Ng, CS229 lecture notes,
    part IV). So log-odds are linear in the event.

    It learns an event in O(d^2), and answers in O(d^2) at any moment once there are events enough;
    before, and where a covariance is nearly singular or has to be repaired (see
    `streamnb.likelihoods.multivariate.MultivariateGaussian`), the first question after an event
    takes O(d^3). So it does with any `shrinkage`, and with `prior_scatter` beside `half_life`.

    An event that lacks features counts for the pairs that it has; the first question after it takes
    O(d^3). In a question, missing features are integrated out.

    Raises
    ------
    ValueError, TypeError
        a parameter is out of range, here or where it is set later.

    Examples
    --------
    >>> from streamnb import LDA
    >>> model = LDA()
    >>> for x, y, label in [(0, 1, "a"), (1, 3, "a"), (2, 2, "a"), (5, 1, "b"), (6, 3, "b")]:
    ...     model.learn_one({"x": x, "y": y}, label)
    >>> model.predict_one({"x": 1, "y": 1})
    'a'
    """

    kind: ClassVar[str] = "lda"
    likelihood: ClassVar[Any] = MultivariateGaussian
    fixed: ClassVar[Mapping[str, Any]] = {"shared": True}

    shrinkage: float | str = reading(MultivariateGaussian)
    prior_scatter: float | Mapping[Name, float] | None = reading(MultivariateGaussian)
    ddof: float = reading(MultivariateGaussian)

    @classmethod
    def from_parameters(
        cls,
        *,
        means: Mapping[Label, Mapping[Name, float]],
        covariances: Any,
        prior: str | Mapping[Label, float] | None = None,
    ) -> LDA:
        """A classifier of given distributions, as a textbook has them.

        It answers questions, and neither learns, merges nor is written to bytes.

        Parameters
        ----------
        means
            {label: {feature: mean}}, the same features for each label.
        covariances
            the covariance of all classes: an array (d, d) in the order of the features of the
            first label, or {feature: {feature: number}}.
        prior
            {label: probability}; without, or with "uniform", all classes are equally probable.

        Raises
        ------
        ValueError, TypeError
            labels or features that do not fit, a number out of range, or a covariance that is not
            symmetric and positive definite.
        """
        return given_covariances(GivenLDA, means, dict.fromkeys(means, covariances), prior)

    def variances(self, label: Label) -> dict[Name, float]:
        """The variance of each feature within the classes: the diagonal of `covariance`.

        It is the same for each class. `{}` for a known class that has learned nothing; `KeyError`
        for a label that is no class.
        """
        self._check_class(label)
        if canonical_label(label) not in self.class_weight:
            return {}
        variances = self.covariance().diagonal().tolist()
        return dict(zip(self.features, variances, strict=True))


class QDA(DiscriminantAnalysis):
    """Quadratic discriminant analysis: a normal distribution of all features in each class.

    Each class has a covariance of its own, estimated with maximum likelihood: the scatter of its
    events around their mean, divided by the class's weight.

    What is said of costs and of events that lack features at `LDA` holds here too, for `reg_param`
    as for `shrinkage`. A class of weight under 2 has the variances of all that was seen.

    Raises
    ------
    ValueError, TypeError
        a parameter is out of range, here or where it is set later.

    Examples
    --------
    >>> from streamnb import QDA
    >>> model = QDA()
    >>> for x, label in [(-3, "far"), (3, "far"), (2, "far"), (-1, "near"), (0, "near")]:
    ...     model.learn_one({"x": x}, label)
    >>> model.predict_one({"x": -4})
    'far'
    """

    kind: ClassVar[str] = "qda"
    likelihood: ClassVar[Any] = MultivariateGaussian

    shrinkage: float | str = reading(MultivariateGaussian)
    reg_param: float = reading(MultivariateGaussian)
    prior_scatter: float | Mapping[Name, float] | None = reading(MultivariateGaussian)
    ddof: float = reading(MultivariateGaussian)

    @classmethod
    def from_parameters(
        cls,
        *,
        means: Mapping[Label, Mapping[Name, float]],
        covariances: Mapping[Label, Any],
        prior: str | Mapping[Label, float] | None = None,
    ) -> QDA:
        """A classifier of given distributions, as a textbook has them.

        It answers questions, and neither learns, merges nor is written to bytes.

        Parameters
        ----------
        means
            {label: {feature: mean}}, the same features for each label.
        covariances
            {label: covariance}, each an array (d, d) in the order of the features of the first
            label, or {feature: {feature: number}}.
        prior
            {label: probability}; without, or with "uniform", all classes are equally probable.

        Raises
        ------
        ValueError, TypeError
            labels or features that do not fit, a number out of range, or a covariance that is not
            symmetric and positive definite.
        """
        return given_covariances(GivenQDA, means, covariances, prior)


class GivenLDA(Given, LDA):
    """What `LDA.from_parameters` makes."""


class GivenQDA(Given, QDA):
    """What `QDA.from_parameters` makes."""
