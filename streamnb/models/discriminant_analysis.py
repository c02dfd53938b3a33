"""Gaussian discriminant analysis: features that vary together within a class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamnb.likelihoods.multivariate import (
    MultivariateGaussian,
)
from streamnb.models.discriminants import DiscriminantAnalysis
from streamnb.models.given import Given
from streamnb.models.given_covariances import given_covariances
from streamnb.models.linear_scores import LinearScores
from streamnb.stats.index import (
    Label,
    Name,
    canonical_label,
)

__all__ = ["LDA", "QDA"]

Floats = NDArray[np.float64]


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

    Parameters
    ----------
    shrinkage
        from 0 to 1, the share of tr(C)/d I in the covariance; or "oas".
    prior_scatter
        added to the diagonal of the scatter: a number, or {feature: number}. The covariance's
        Laplace smoothing, in units of a squared feature times a weight.
    ddof
        for each class this is taken from the weight that divides the scatter. With 1 the
        covariance is without bias, as that of scikit-learn's solver "svd" before its version
        1.9.1; its other solvers, and all of them since, have the one with 0.
    prior
        "empirical", "uniform", or {label: probability}.
    prior_count
        pseudo-count of each class in an empirical prior, or {label: pseudo-count}.
    known_labels
        labels that are classes before any event of theirs was seen.
    half_life
        as for `GaussianNB`.

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
    apart: ClassVar[bool] = False
    readings: ClassVar[tuple[str, ...]] = (
        "shrinkage",
        "prior_scatter",
        "ddof",
        "prior",
        "prior_count",
        "known_labels",
    )

    def __init__(
        self,
        *,
        shrinkage: float | str = 0.0,
        prior_scatter: float | Mapping[Name, float] | None = None,
        ddof: float = 0,
        prior: str | Mapping[Label, float] = "empirical",
        prior_count: float | Mapping[Label, float] = 0,
        known_labels: Iterable[Label] | None = None,
        half_life: float | timedelta | None = None,
    ) -> None:
        self.half_life = half_life
        self.shrinkage = shrinkage
        self.prior_scatter = prior_scatter
        self.ddof = ddof
        self.prior = prior
        self.prior_count = prior_count
        self.known_labels = known_labels
        super().__init__()

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

    def _likelihood(self) -> MultivariateGaussian:
        return MultivariateGaussian(self.shrinkage, 0.0, self.prior_scatter, self.ddof, shared=True)


class QDA(DiscriminantAnalysis):
    """Quadratic discriminant analysis: a normal distribution of all features in each class.

    Each class has a covariance of its own, estimated with maximum likelihood: the scatter of its
    events around their mean, divided by the class's weight.

    What is said of costs and of events that lack features at `LDA` holds here too, for `reg_param`
    as for `shrinkage`. A class of weight under 2 has the variances of all that was seen.

    Parameters
    ----------
    shrinkage
        from 0 to 1, the share of tr(C)/d I in each covariance; or "oas".
    reg_param
        from 0 to 1, the share of I in each covariance, as in scikit-learn (whose covariances were
        those of `ddof=1` before its version 1.9.1).
    prior_scatter
        added to the diagonal of each class's scatter: a number, or {feature: number}.
    ddof
        the scatter is divided by the weight less this.
    prior
        "empirical", "uniform", or {label: probability}.
    prior_count
        pseudo-count of each class in an empirical prior, or {label: pseudo-count}.
    known_labels
        labels that are classes before any event of theirs was seen.
    half_life
        as for `GaussianNB`.

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
    apart: ClassVar[bool] = True
    readings: ClassVar[tuple[str, ...]] = (
        "shrinkage",
        "reg_param",
        "prior_scatter",
        "ddof",
        "prior",
        "prior_count",
        "known_labels",
    )

    def __init__(
        self,
        *,
        shrinkage: float | str = 0.0,
        reg_param: float = 0.0,
        prior_scatter: float | Mapping[Name, float] | None = None,
        ddof: float = 0,
        prior: str | Mapping[Label, float] = "empirical",
        prior_count: float | Mapping[Label, float] = 0,
        known_labels: Iterable[Label] | None = None,
        half_life: float | timedelta | None = None,
    ) -> None:
        self.half_life = half_life
        self.shrinkage = shrinkage
        self.reg_param = reg_param
        self.prior_scatter = prior_scatter
        self.ddof = ddof
        self.prior = prior
        self.prior_count = prior_count
        self.known_labels = known_labels
        super().__init__()

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

    def _likelihood(self) -> MultivariateGaussian:
        return MultivariateGaussian(self.shrinkage, self.reg_param, self.prior_scatter, self.ddof)


class GivenLDA(Given, LDA):
    """What `LDA.from_parameters` makes."""


class GivenQDA(Given, QDA):
    """What `QDA.from_parameters` makes."""
