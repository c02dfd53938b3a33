"""Gaussian discriminant analysis: features that vary together within a class."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamnb import frames
from streamnb._kernels import discriminant, moments, scatter, survey, unlearning
from streamnb._kernels._values import check_weight, event_time, number
from streamnb.likelihoods.multivariate import (
    MultivariateGaussian,
    pooled_covariance,
    raw_covariance,
)
from streamnb.models.given import Given
from streamnb.models.moments import MomentsClassifier, given_state
from streamnb.models.parameters import own
from streamnb.stats.index import (
    CodedLabels,
    Label,
    Name,
    NameIndex,
    as_name,
    canonical_label,
    canonical_name,
)
from streamnb.stats.moments import Moments, MomentsState
from streamnb.stats.scatter import GroupState, Scatter

__all__ = ["LDA", "QDA"]

Floats = NDArray[np.float64]

_Given = TypeVar("_Given", "GivenLDA", "GivenQDA")

_GIVEN_WEIGHT = 2.0**20  # of each given class: enough for a covariance, and exact as a factor


class DiscriminantAnalysis(MomentsClassifier):
    """A classifier whose statistics are the moments of each feature, and their scatter."""

    derived: ClassVar[tuple[str, ...]] = (*MomentsClassifier.derived, "_scatter")
    apart: ClassVar[bool]
    """Whether each class has a covariance of its own."""

    _scatter: Scatter
    _dropped: tuple[Label | None, ...] = ()

    prior_scatter: float | Mapping[Name, float] | None

    # -- learning --------------------------------------------------------------------------

    learn_moments = moments.learn_one
    learn_one = scatter.learn_one

    def _learn_rows(
        self,
        rows: frames.Table,
        labels: CodedLabels,
        weights: Floats,
        times: list[int] | None,
    ) -> None:
        statistic, names, values = self._moments, rows.names, rows.values
        plain, at = statistic.check_rows(names, values, labels, weights, rows.found, times=times)
        pieces = [(0, len(weights), 0, weights)]
        if statistic.fading is not None:
            pieces = statistic.fading.pieces(at, weights)
        missing = bool(rows.found & survey.MISSING)
        statistic.try_rows(names, values, labels, weights, times=at, plain=plain, missing=missing)
        slots = statistic.classes.slots
        places = np.array([slots.get(label, -1) for label in labels.distinct], dtype=np.intp)
        self._scatter.learn_rows(names, values, places[labels.codes], pieces, whole=not missing)

    def unlearn_one(self, x: Any, y: Any, w: float = 1.0, t: Any = None) -> None:
        """Takes back one event that was learned, as if it had never been.

        Weights are exact where they are whole numbers; means and covariances are those of the other
        events to 1e-12 n/(n - m) of the spread of all n, when m of them are taken back. See
        `GaussianNB.unlearn_one`. It takes O(d^2), and the next question O(d^3).

        Parameters
        ----------
        x, y, w, t
            the event as it was learned.

        Raises
        ------
        TypeError
            something is of the wrong kind.
        ValueError
            this cannot have been learned. Whatever is raised, nothing was changed.
        """
        weight = check_weight(w)
        fading = self._moments.fading
        slot = self._table.find(y)
        new = self._table.read(x)
        values = self._table.buffers()[2].copy()
        counted = weight
        if fading is not None and t is not None:
            counted = fading.weigh(weight, event_time(t))
        known = slot is not None and new is None and counted > 0.0
        reason = self._scatter.unlearn(values, slot, counted, trial=True) if known else ""
        if reason:
            msg = f"class {y!r} cannot unlearn the event with w={w!r}: {reason}"
            raise ValueError(msg)
        self._dropped = ()
        unlearning.unlearn_one(self, x, y, w, t)
        if known:
            self._scatter.unlearn(values, slot, counted, trial=False)
        if self._dropped:
            (label,) = self._dropped
            self._dropped = ()
            statistic = self._moments.without(label)
            self._hold_both(statistic, self._scatter.without(statistic, label))

    def _forget(self, label: Label | None) -> None:
        """Notes what is to be left out, once the scatter has unlearned too."""
        self._dropped = (None if label is None else canonical_label(label),)

    # -- the statistics --------------------------------------------------------------------

    def hold(self, statistic: Moments) -> None:
        """Takes moments in place of its own, with no scatter."""
        self._hold_both(statistic, Scatter(statistic, apart=self.apart))

    @property
    def scatter(self) -> Scatter:
        """How features were seen to vary together, beside the moments of each."""
        return self._scatter

    def _hold_both(self, statistic: Moments, spread: Scatter) -> None:
        super().hold(statistic)
        statistic.table.pool(not self.apart)
        self._scatter = spread

    def take(self, parts: Iterable[Self]) -> None:
        """Takes the statistics of the parts, joined in order, in place of its own."""
        taken = list(parts)
        statistic = Moments.merged((part.statistic for part in taken), self._half_life())
        with np.errstate(over="ignore"):
            squares = statistic.state().cells[:, 2].sum(axis=0)
        if not self.apart and not np.isfinite(squares).all():
            name = statistic.names()[np.argmin(np.isfinite(squares))]
            msg = f"merged, the squares of feature {name!r} would leave the range of a double"
            raise ValueError(msg)
        spreads = [part.scatter for part in taken]
        self._hold_both(statistic, Scatter.merged(statistic, spreads, apart=self.apart))

    def state(self) -> dict[str, Any]:
        """The statistics in canonical order: those of moments, and `groups`, the scatter."""
        groups = [group.packed() for group in self._scatter.states()]
        return self._moments.state().packed() | {"groups": groups}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Takes what `state` gave. Raises `ValueError` where it cannot have been learned."""
        packed = dict(state)
        groups = packed.pop("groups")
        unpacked = MomentsState.unpacked(packed)
        classes, features = len(unpacked.labels), len(unpacked.names)
        if len(groups) != (classes if self.apart else min(classes, 1)):
            msg = f"the scatter of {len(groups)} groups, of {classes} classes"
            raise ValueError(msg)
        states = [
            GroupState.unpacked(group, 1 if self.apart else classes, features) for group in groups
        ]
        statistic = Moments.from_state(unpacked, self._half_life())
        spread = Scatter.from_states(statistic, unpacked, states, apart=self.apart)
        self._hold_both(statistic, spread)

    def _read_from(self) -> Scatter:
        return self._scatter

    # -- what was seen ---------------------------------------------------------------------

    def covariance(self, label: Label | None = None) -> Floats:
        """The covariance of the features within a class, or pooled within all: as it was seen.

        For each pair of features, over the events that had both: the sum of the products of their
        deviations, divided by the weight. 0 where there is no such event.

        Parameters
        ----------
        label
            a class; `None` for all. Where the classes share a covariance it is always that of all.

        Returns
        -------
        (D, D), in the order of `features`; (0, 0) where nothing was learned.

        Raises
        ------
        KeyError
            the label is no class.
        """
        if label is not None:
            self._check_class(label)
        if self.apart and label is None and self.class_weight:
            return pooled_covariance([self._scatter.sums(each) for each in self.class_weight])
        return raw_covariance(self._scatter.sums(label))

    def precision(self, label: Label | None = None) -> Floats:
        """The inverse of `covariance`: the pseudo-inverse where it has none.

        Parameters
        ----------
        label
            as for `covariance`.

        Returns
        -------
        (D, D), in the order of `features`; (0, 0) where nothing was learned.

        Raises
        ------
        KeyError
            the label is no class.
        """
        covariance = self.covariance(label)
        factor = discriminant.Factor(len(covariance))
        if not len(covariance) or not factor.factorize(covariance):
            return np.asarray(np.linalg.pinv(covariance, hermitian=True), np.float64)
        columns = [factor.solve_back(factor.solve(row)) for row in np.eye(len(covariance))]
        whole = np.array(columns, np.float64)
        return np.asarray((whole + whole.T) / 2, np.float64)

    def mahalanobis_one(self, x: Mapping[Name, Any]) -> dict[Label, float]:
        """The Mahalanobis distance of an event from the mean of each class.

        The root of (x - m)' C^-1 (x - m), with the mean m and the covariance C as they are read, of
        the features that the event has and that are evidence.

        Parameters
        ----------
        x
            as for `predict_one`.

        Returns
        -------
        {label: distance} in the order of `classes`; `{}` where no class is known.

        Raises
        ------
        TypeError, ValueError
            a value that learning would refuse, naming the feature.
        """
        scorer = self._discriminant_scorer()
        distances = scorer.distances(x)
        return dict(zip(scorer.labels, distances, strict=True))

    def _discriminant_scorer(self) -> Any:
        """A scorer that is of the statistics as they are."""
        scorer: Any = self._scorer
        if not isinstance(scorer, discriminant.DiscriminantScorer) or scorer.readings() is None:
            scorer = self._new_scorer()
        return scorer

    # -- parameters ------------------------------------------------------------------------

    def _canonical(self, name: str, value: Any) -> Any:
        if name == "prior_scatter" and isinstance(value, Mapping):
            index = NameIndex(value)
            by_slot = dict(zip(map(index.find, value), value.values(), strict=True))
            return [[index.order[slot], float(by_slot[slot]) + 0.0] for slot in index.canonical()]
        return super()._canonical(name, value)

    @classmethod
    def from_canonical(cls, parameters: Mapping[str, Any]) -> Self:
        """An empty model with the parameters that `canonical_parameters` gave.

        Raises
        ------
        TypeError, ValueError
            they are not this model's.
        """
        given = parameters.get("prior_scatter")
        if isinstance(given, list):
            named = {as_name(name): value for name, value in given}
            parameters = {**parameters, "prior_scatter": named}
            empty = super().from_canonical({**parameters, "prior_scatter": None})
            empty.prior_scatter = named
            return empty
        return super().from_canonical(parameters)


class LDA(DiscriminantAnalysis):
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
        return _given(GivenLDA, means, dict.fromkeys(means, covariances), prior)

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

    @property
    def coef(self) -> Floats:
        """The weights of the linear scores, (K, D), in the order of `classes` and `features`.

        The score of a class, `coef @ x + intercept`, is its joint log-likelihood but for what all
        classes have in common. The weights are C^-1 (m - M) with the class's mean m and the mean M
        over all classes, as scikit-learn's solver "svd" has them; 0 for a feature that is no
        evidence.

        Raises
        ------
        ValueError
            a number is beyond the range of a double.
        """
        return self._linear()[0]

    @property
    def intercept(self) -> Floats:
        """The constant of each class's linear score, (K,): see `coef`."""
        return self._linear()[1]

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
            both have prior probability 0; or a weight is beyond the range of a double.
        KeyError
            a label is no class.
        """
        self._check_class(label)
        self._check_class(versus)
        scorer = self._discriminant_scorer()
        labels = self.classes
        one, other = (labels.index(canonical_label(each)) for each in (label, versus))
        prior, against = scorer.log_prior[one], scorer.log_prior[other]
        if prior == against == -math.inf:
            msg = f"{label!r} and {versus!r} both have prior probability 0"
            raise ValueError(msg)
        factors, divisors, centres, places = scorer.readings()
        apart = (centres[one, 0] - centres[other, 0]) + (centres[one, 1] - centres[other, 1])
        weights = _weights(factors[0], divisors[0], apart)
        # Far from 0 the bias is large: it is the exact one for these weights.
        bias = Fraction(0)
        for weight, m in zip(weights.tolist(), centres[[one, other]].sum(axis=0).T, strict=True):
            bias -= Fraction(weight) * (Fraction(m[0]) + Fraction(m[1])) / 2
        if math.isinf(prior - against):
            intercept = prior - against
        else:
            intercept = _double(bias + Fraction(prior) - Fraction(against))
        return dict(zip(self.features, self._spread_out(weights, places), strict=True)), intercept

    def fisher_directions(self, n: int = 2) -> Floats:
        """The directions in which the means of the classes lie furthest apart (R. A. Fisher, 1936).

        The eigenvectors of C^-1 B with the largest eigenvalues, where C is the covariance as it is
        read and B the covariance of the class means, each with its class's weight. In each
        direction the variance within the classes is 1, and different directions do not covary. The
        largest number of each is positive. Of K classes at most K - 1 directions separate anything.

        Parameters
        ----------
        n
            how many.

        Returns
        -------
        (D, n), in the order of `features`; a feature that is no evidence has 0.

        Raises
        ------
        ValueError
            there are fewer features that are evidence than `n`, or `n` is below 1.
        """
        scorer = self._discriminant_scorer()
        factors, divisors, centres, places = scorer.readings()
        if not 1 <= n <= len(places):
            msg = f"there are {len(places)} features that are evidence, so no {n} directions"
            raise ValueError(msg)
        share = self._shares()
        means = (centres[:, 0] - centres[0, 0]) + (centres[:, 1] - centres[0, 1])
        apart = (means - share @ means) * np.sqrt(share)[:, None]
        white = np.array([factors[0].solve(row) for row in apart]) * math.sqrt(divisors[0])
        _, vectors = np.linalg.eigh(white.T @ white)
        found = []
        for vector in vectors[:, ::-1][:, :n].T:
            direction = factors[0].solve_back(vector) * math.sqrt(divisors[0])
            sign = math.copysign(1.0, direction[np.argmax(np.abs(direction))])
            found.append(self._spread_out(sign * direction, places))
        return np.array(found).T

    def _linear(self) -> tuple[Floats, Floats]:
        """The weights (K, D) and constants (K,) of the linear scores."""
        scorer = self._discriminant_scorer()
        factors, divisors, centres, places = scorer.readings()
        share = self._shares()
        apart = (centres[:, 0] - centres[:1, 0]) + (centres[:, 1] - centres[:1, 1])
        apart -= share @ apart
        rows, constants = [], []
        for prior, centre, d in zip(scorer.log_prior, centres, apart, strict=True):
            weights = _weights(factors[0], divisors[0], d)
            rows.append(self._spread_out(weights, places))
            middle = zip(weights.tolist(), *centre.tolist(), d.tolist(), strict=True)
            constant = sum(
                (
                    Fraction(w) * (Fraction(hi) + Fraction(lo) - Fraction(half) / 2)
                    for w, hi, lo, half in middle
                ),
                Fraction(0),
            )
            constants.append(prior - _double(constant))
        return np.array(rows).reshape(len(rows), len(self.features)), np.array(constants)

    def _shares(self) -> Floats:
        """The share of each class in all that was seen; the same for all where nothing was."""
        weights = np.array([self.class_weight.get(label, 0.0) for label in self.classes])
        total = weights.sum()
        return weights / total if total > 0.0 else np.full(len(weights), 1.0 / max(len(weights), 1))

    def _spread_out(self, numbers: Floats, places: NDArray[np.intp]) -> list[float]:
        """Numbers of the features that are evidence, and 0 for the others, of `features`."""
        order = self._moments.features
        names = [order.order[slot] for slot in order.canonical()]
        by_name = dict(zip([names[place] for place in places], numbers.tolist(), strict=True))
        return [by_name.get(name, 0.0) for name in self.features]

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
        return _given(GivenQDA, means, covariances, prior)

    def _likelihood(self) -> MultivariateGaussian:
        return MultivariateGaussian(self.shrinkage, self.reg_param, self.prior_scatter, self.ddof)


def _weights(factor: discriminant.Factor, divisor: float, apart: Floats) -> Floats:
    """C^-1 times a difference of means. Raises `ValueError` where it is beyond doubles."""
    with np.errstate(over="ignore", invalid="ignore"):
        weights: Floats = factor.solve_back(factor.solve(apart)) * divisor
    if not np.isfinite(weights).all():
        msg = "a weight of the linear scores is beyond the range of a double"
        raise ValueError(msg)
    return weights


def _double(constant: Fraction) -> float:
    """The nearest double. Raises `ValueError` where there is none."""
    try:
        return float(constant)
    except OverflowError:
        msg = "a constant of the linear scores is beyond the range of a double"
        raise ValueError(msg) from None


class GivenLDA(Given, LDA):
    """What `LDA.from_parameters` makes."""


class GivenQDA(Given, QDA):
    """What `QDA.from_parameters` makes."""


def _given(
    kind: type[_Given],
    means: Mapping[Label, Mapping[Name, float]],
    covariances: Mapping[Label, Any],
    prior: str | Mapping[Label, float] | None,
) -> _Given:
    """The model of these distributions: as if each class had learned a million events."""
    state = given_state(means, prior)
    if not isinstance(covariances, Mapping) or covariances.keys() != means.keys():
        msg = "covariances are given for the labels of the means"
        raise ValueError(msg)
    order = [canonical_name(name) for name in next(iter(means.values()))]
    by_label = {canonical_label(label): label for label in means}
    matrices = [_matrix(covariances[by_label[label]], order, state.names) for label in state.labels]
    d, k = len(state.names), len(state.labels)
    state.weights[:, 0] = _GIVEN_WEIGHT
    state.cells[:, 4] = _GIVEN_WEIGHT
    model = kind(prior="uniform" if prior is None else prior, known_labels=list(means))
    centres = state.cells[:, :2]
    groups = []
    for at, matrix in enumerate(matrices):
        state.cells[at, 2] = _GIVEN_WEIGHT * matrix.diagonal()
        if model.apart or at == 0:
            rows = slice(at, at + 1) if model.apart else slice(None)
            weight = _GIVEN_WEIGHT * (1 if model.apart else k)
            groups.append(
                GroupState(
                    np.ones(d),
                    state.weights[rows],
                    centres[rows],
                    weight * matrix,
                    np.zeros((0, d)),
                    np.zeros(0),
                    None,
                    None,
                )
            )
    model.set_state(state.packed() | {"groups": [group.packed() for group in groups]})
    return model


def _matrix(given: Any, order: Sequence[Name], names: Sequence[Name]) -> Floats:
    """A covariance in the order of the names. Raises where it cannot be one."""
    if isinstance(given, Mapping):
        by_name = {canonical_name(name): row for name, row in given.items()}
        if set(by_name) != set(names) or not all(
            isinstance(row, Mapping) and row.keys() == set(names) for row in by_name.values()
        ):
            msg = "a covariance is given for the features of the means"
            raise ValueError(msg)
        matrix = np.array([[number(by_name[a][b], b) for b in names] for a in names])
    else:
        matrix = np.array(own(given), dtype=np.float64)
        if matrix.shape != (len(names), len(names)):
            msg = f"a covariance of {len(names)} features, not of the shape {matrix.shape}"
            raise ValueError(msg)
        at = [order.index(name) for name in names]
        matrix = matrix[np.ix_(at, at)]
    if not (np.isfinite(matrix).all() and (matrix == matrix.T).all()):
        msg = "a covariance is finite and symmetric"
        raise ValueError(msg)
    if not discriminant.Factor(len(names)).factorize(matrix):
        msg = "a covariance is positive definite"
        raise ValueError(msg)
    return matrix
