"""The Naive Bayes family of numbers: features that are independent within a class."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from streamnb._kernels import gaussian, moments
from streamnb.likelihoods import Gaussian, Poisson
from streamnb.likelihoods.gaussian import linear_log_ratio
from streamnb.models.given import Given, given_moments, given_number
from streamnb.models.model import NumberModel
from streamnb.models.parametrized import reading
from streamnb.stats.index import Label, Name, canonical_label
from streamnb.values import check_parameter

__all__ = ["GaussianNB", "PoissonNB"]


class GaussianNB(NumberModel):
    """Naive Bayes with a normal distribution for each feature in each class.

    All parameters but the half-life are readings: they may be set at any time, and shape no
    statistic. See `streamnb.likelihoods.Gaussian` and `streamnb.bayes.ClassPrior` for the formulas
    and their sources. The statistics are learned by the updates of B. P. Welford (Technometrics,
    1962) and merged by those of T. F. Chan, G. H. Golub, R. J. LeVeque (STAN-CS-79-773, 1979).

    The default `background` was chosen on nine sets of real data (docs/smoothing.md). For few
    examples with features of different units `var_smoothing=0.03` beside it is better, for images
    (pixels from 0 to 1) `smoothing="absolute", var_smoothing=0.01`. scikit-learn's answers are
    those of `smoothing="global", background=0`.

    Raises
    ------
    ValueError, TypeError
        a parameter is out of range, here or where it is set later.

    Examples
    --------
    >>> from streamnb import GaussianNB
    >>> model = GaussianNB()
    >>> for height, label in [(1.2, "child"), (1.1, "child"), (1.8, "adult"), (1.7, "adult")]:
    ...     model.learn_one({"height": height}, label)
    >>> model.predict_one({"height": 1.3})
    'child'
    """

    kind: ClassVar[str] = "gaussian"
    likelihood: ClassVar[Any] = Gaussian

    var_smoothing: float = reading(Gaussian)
    smoothing: str = reading(Gaussian)
    background: float = reading(Gaussian)
    shared_variance: bool = reading(Gaussian)
    ddof: float = reading(Gaussian)

    learn_one = moments.learn_one
    predict_one = gaussian.predict_one  # type: ignore[assignment]  # no **kwargs
    predict_proba_one = gaussian.predict_proba_one  # type: ignore[assignment]  # as above

    @classmethod
    def from_parameters(
        cls,
        *,
        means: Mapping[Label, Mapping[Name, float]],
        variances: Mapping[Label, Mapping[Name, float]],
        prior: str | Mapping[Label, float] | None = None,
    ) -> GaussianNB:
        """A classifier of given distributions, as a textbook has them.

        It answers questions, and neither learns, merges nor is written to bytes.

        Parameters
        ----------
        means
            {label: {feature: mean}}, the same features for each label.
        variances
            {label: {feature: variance}}, for the same labels and features; not negative.
        prior
            {label: probability}; without, or "uniform", all classes are equally probable.

        Raises
        ------
        ValueError, TypeError
            labels or features that do not fit, or a number out of range.
        """
        state = given_moments(means, prior)
        same_labels = isinstance(variances, Mapping) and variances.keys() == means.keys()
        if not same_labels or not all(
            isinstance(values, Mapping) and len(values) == len(state.names)
            for values in variances.values()
        ):
            msg = "variances are given for the labels and features of the means"
            raise ValueError(msg)
        by_label = {canonical_label(label): label for label in means}
        for row, label in enumerate(state.labels):
            for column, name in enumerate(state.names):
                variance = given_number(variances, by_label[label], name)
                state.cells[row, 2, column] = check_parameter(variance, f"the variance of {name!r}")
        model = GivenGaussianNB(
            var_smoothing=0.0,
            background=0.0,
            prior="uniform" if prior is None else prior,
            known_labels=list(means),
        )
        model.set_state(state.packed())
        return model

    def linear_log_odds(self, label: Label, versus: Label) -> tuple[dict[Name, float], float]:
        """The log-odds of two classes as a linear function of an event that lacks no feature.

        log(p(label | x)/p(versus | x)) = bias + sum of weight times value, over all features.

        Parameters
        ----------
        label, versus
            two classes.

        Returns
        -------
        `({feature: weight}, bias)`, the features in canonical order. A feature that is no
        evidence, because it was constant, has weight 0. The bias is infinite where one of the
        two has prior probability 0.

        Raises
        ------
        ValueError
            the classes do not share their variances (`shared_variance` is False); both have prior
            probability 0; or a weight is beyond the range of a double.
        KeyError
            a label is no class.
        """
        self._check_class(label)
        self._check_class(versus)
        if not self.shared_variance:
            msg = "log-odds are linear only with shared_variance=True"
            raise ValueError(msg)
        likelihood, labels = self._likelihood(), self.classes
        scorer = likelihood.scorer(
            self.statistic, labels, self._prior().given(labels), self._prior().counts(labels)
        )
        one, other = (labels.index(canonical_label(one)) for one in (label, versus))
        prior, against = scorer.log_prior[one], scorer.log_prior[other]
        if prior == against == -math.inf:
            msg = f"{label!r} and {versus!r} both have prior probability 0"
            raise ValueError(msg)
        try:
            weights, bias = linear_log_ratio(scorer.records(), one, other)
            if math.isinf(prior - against):
                intercept = prior - against
            else:
                intercept = float(bias + Fraction(prior) - Fraction(against))
        except OverflowError:
            msg = f"a weight of {label!r} versus {versus!r} is beyond the range of a double"
            raise ValueError(msg) from None
        order = self.statistic.features
        names = [order.order[slot] for slot in order.canonical()]
        seen = set(self.features)
        by_name = zip(names, weights, strict=True)
        return {name: weight for name, weight in by_name if name in seen}, intercept


class PoissonNB(NumberModel):
    """Naive Bayes with a Poisson distribution for each feature in each class: for counts.

    All parameters but the half-life are readings: they may be set at any time, and shape no
    statistic. See `streamnb.likelihoods.Poisson` and `streamnb.bayes.ClassPrior` for the formulas
    and their sources. Values are finite and not negative, whole or not. A feature that an event
    lacks is missing; a count of 0 is evidence, and must be given. `means` are the rates before
    `alpha`, and `variances` show whether they are of counts that are Poisson distributed: then both
    are near.

    Raises
    ------
    ValueError, TypeError
        a parameter is out of range, here or where it is set later. Also what learns and what
        answers: a negative value, by its feature's name.

    Examples
    --------
    >>> from streamnb import PoissonNB
    >>> model = PoissonNB()
    >>> for calls, label in [(2, "day"), (3, "day"), (0, "night"), (1, "night")]:
    ...     model.learn_one({"calls": calls}, label)
    >>> model.predict_one({"calls": 4})
    'day'
    """

    kind: ClassVar[str] = "poisson"
    likelihood: ClassVar[Any] = Poisson

    alpha: float = reading(Poisson)

    learn_one = moments.learn_one

    @classmethod
    def from_parameters(
        cls,
        *,
        means: Mapping[Label, Mapping[Name, float]],
        prior: str | Mapping[Label, float] | None = None,
    ) -> PoissonNB:
        """A classifier of given distributions, as a textbook has them.

        It answers questions, and neither learns, merges nor is written to bytes.

        Parameters
        ----------
        means
            {label: {feature: rate}}, the same features for each label; not negative.
        prior
            {label: probability}; without, or "uniform", all classes are equally probable.

        Raises
        ------
        ValueError, TypeError
            labels or features that do not fit, or a number out of range.
        """
        state = given_moments(means, prior, positive=True)
        state.cells[:, 2] = state.cells[:, 0]  # the variance of a Poisson distribution is its mean
        model = GivenPoissonNB(
            alpha=0.0,
            prior="uniform" if prior is None else prior,
            known_labels=list(means),
        )
        model.set_state(state.packed())
        return model


class GivenGaussianNB(Given, GaussianNB):
    """What `GaussianNB.from_parameters` makes."""


class GivenPoissonNB(Given, PoissonNB):
    """What `PoissonNB.from_parameters` makes."""
