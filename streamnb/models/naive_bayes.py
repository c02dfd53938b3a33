"""The Naive Bayes family: features that are independent within a class."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamnb import frames
from streamnb._kernels import moments, unlearning
from streamnb._kernels._values import check_parameter, number
from streamnb.bayes import STALE, Scorer
from streamnb.likelihoods import Gaussian
from streamnb.models.base import BayesClassifier
from streamnb.stats.index import Label, Name, canonical_label
from streamnb.stats.moments import Moments, MomentsState

__all__ = ["GaussianNB"]


class GaussianNB(BayesClassifier):
    """Naive Bayes with a normal distribution for each feature in each class.

    All parameters but the half-life are readings: they may be set at any time, and shape no
    statistic. See
    `streamnb.likelihoods.Gaussian` and `streamnb.bayes.ClassPrior` for the formulas and ranges.

    Parameters
    ----------
    var_smoothing
        added to each variance, in the unit that `smoothing` gives.
    smoothing
        "feature" (times the feature's variance over all classes), "global" (times the
        largest of these) or "absolute" (the number itself).
    background
        pseudo-observations of each feature's distribution over all classes.
    ddof
        variances are divided by the weight less this.
    prior
        "empirical", "uniform", or {label: probability}.
    prior_count
        pseudo-count of each class in an empirical prior, or {label: pseudo-count}.
    known_labels
        labels that are classes before any event of theirs was seen.
    half_life
        seconds, or a `timedelta`, in which what was learned comes to weigh half as much; kept in
        whole milliseconds. `None`: nothing fades. With it each event needs its time `t`, and all
        weights are read at the time of the newest learned event. A state parameter: it is fixed
        once something was learned.

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
    readings: ClassVar[tuple[str, ...]] = (
        "var_smoothing",
        "smoothing",
        "background",
        "ddof",
        "prior",
        "prior_count",
        "known_labels",
    )

    state_parameters: ClassVar[tuple[str, ...]] = ("half_life",)

    derived: ClassVar[tuple[str, ...]] = ("_scorer", "_moments", "_table")

    _moments: Moments
    _table: moments.MomentsTable

    def __init__(
        self,
        *,
        var_smoothing: float = 1e-9,
        smoothing: str = "feature",
        background: float = 0.0,
        ddof: float = 0,
        prior: str | Mapping[Label, float] = "empirical",
        prior_count: float | Mapping[Label, float] = 0,
        known_labels: Iterable[Label] | None = None,
        half_life: float | timedelta | None = None,
    ) -> None:
        self.half_life = half_life
        self.var_smoothing = var_smoothing
        self.smoothing = smoothing
        self.background = background
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
        variances: Mapping[Label, Mapping[Name, float]],
        prior: Mapping[Label, float] | None = None,
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
            {label: probability}; without, all classes are equally probable.

        Raises
        ------
        ValueError, TypeError
            labels or features that do not fit, or a number out of range.
        """
        for given in (means, variances):
            if not given or not all(isinstance(values, Mapping) for values in given.values()):
                msg = "means and variances are mappings {label: {feature: number}}"
                raise ValueError(msg)
        names = list(next(iter(means.values())))
        if any(len(values) != len(names) for values in (*means.values(), *variances.values())):
            msg = "means and variances are given for the same features of each label"
            raise ValueError(msg)
        if variances.keys() != means.keys() or (prior is not None and prior.keys() - means.keys()):
            msg = f"other labels than those of the means: {list(variances)}, {prior}"
            raise ValueError(msg)
        model = GivenGaussianNB(
            var_smoothing=0.0,
            prior="uniform" if prior is None else prior,
            known_labels=list(means),
        )
        rows = (({name: _of(means, y, name) for name in names}, y) for y in means)
        state = Moments.of_events(rows).state()
        by_label = {canonical_label(label): label for label in means}
        for row, label in enumerate(state.labels):
            for column, name in enumerate(state.names):
                variance = _of(variances, by_label[label], name)
                state.cells[row, 2, column] = check_parameter(variance, f"the variance of {name!r}")
        model.hold(Moments.from_state(state))
        return model

    learn_one = moments.learn_one

    def learn_many(
        self,
        X: Any,
        y: Any,
        w: Any = None,
        t: Any = None,
        *,
        columns: Sequence[Name] | None = None,
    ) -> None:
        """Learns the rows of a table, to the bit as `learn_one` would row by row, or none.

        Parameters
        ----------
        X
            a pandas or polars DataFrame, a two-dimensional array or a SciPy sparse matrix.
        y
            the labels, one a row, by position.
        w
            the weights: one a row, by position, or a number for all.
        t
            the times: one a row, by position, or one for all; needed with a half-life.
        columns
            names for the columns of an array; "0", "1", ... without.

        Raises
        ------
        TypeError, ValueError
            a row that `learn_one` would refuse, naming its position from
            0; or `y`, `w`, `t` of another length than `X`. Nothing was learned.
        """
        table = frames.read_table(X, columns)
        n = len(table.values)
        labels = frames.read_labels(y, n)
        weights = frames.read_weights(w, n)
        times = frames.read_times(t, n)
        self._moments.learn_rows(
            table.names, table.values, labels, weights, table.found, times=times
        )

    unlearn_one = unlearning.unlearn_one

    def _forget(self, label: Label | None) -> None:
        """Leaves out features without weight and, where one is named, a class without any."""
        self.hold(self._moments.without(None if label is None else canonical_label(label)))

    @property
    def statistic(self) -> Moments:
        """What was seen: weights, means and sums of squared deviations by class and feature."""
        return self._moments

    def means(self, label: Label) -> dict[Name, float]:
        """The mean of each feature that the class has seen, in canonical order.

        `{}` for a known class that has learned nothing; `KeyError` for a label that is no class.
        """
        self._check_class(label)
        return self._moments.means(label)

    def variances(self, label: Label) -> dict[Name, float]:
        """The variance of each feature that the class has seen: divided by the weight, unsmoothed.

        `{}` for a known class that has learned nothing; `KeyError` for a label that is no class.
        """
        self._check_class(label)
        return self._moments.variances(label)

    @property
    def class_weight(self) -> dict[Label, float]:
        """The weight that each learned class has seen, in canonical order."""
        return self._moments.weights()

    @property
    def features(self) -> list[Name]:
        """The names of the learned features, in canonical order."""
        return self._moments.names()

    def _likelihood(self) -> Gaussian:
        return Gaussian(self.var_smoothing, self.smoothing, self.background, self.ddof)

    def check(self) -> None:
        """Raises `ValueError` or `TypeError` where a parameter is out of range."""
        self._likelihood()
        self._prior()
        self._half_life()

    def _clear(self) -> None:
        self.hold(Moments(self._half_life()))

    def hold(self, statistic: Moments) -> None:
        """Takes a statistic in place of its own."""
        self._moments = statistic
        self._table = statistic.table
        self._scorer = STALE

    def _make_scorer(self) -> Scorer:
        prior, labels = self._prior(), self.classes
        scorer: Scorer = self._likelihood().scorer(
            self._moments, labels, prior.given(labels), prior.counts(labels)
        )
        return scorer

    def _slots(self, names: Sequence[Name]) -> NDArray[np.intp]:
        slots = self._moments.features.slots
        return np.array([slots.get(name, -1) for name in names], dtype=np.intp)

    def take(self, parts: Iterable[Self]) -> None:
        """Takes the statistics of the parts, joined in order, in place of its own."""
        self.hold(Moments.merged((part.statistic for part in parts), self._half_life()))

    def state(self) -> dict[str, Any]:
        """The statistics in canonical order: see `streamnb.stats.moments.MomentsState.packed`."""
        return self._moments.state().packed()

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Takes what `state` gave. Raises `ValueError` where it cannot have been learned."""
        self.hold(Moments.from_state(MomentsState.unpacked(state), self._half_life()))


class GivenGaussianNB(GaussianNB):
    """What `GaussianNB.from_parameters` makes: distributions without the events behind them."""

    mergeable: ClassVar[bool] = False

    def clone(
        self,
        new_params: dict[str, Any] | None = None,
        include_attributes: bool = False,  # noqa: FBT001, FBT002 - River's signature
    ) -> Self:
        """The same distributions with the same parameters, or new ones."""
        clone = super().clone(new_params, include_attributes)
        clone.hold(Moments.from_state(self.statistic.state()))
        return clone

    def learn_one(self, *_arguments: Any, **_named: Any) -> None:
        """Raises `TypeError`: there are no statistics to add an event to."""
        raise TypeError(_GIVEN)

    learn_many = unlearn_one = learn_one

    @property
    def class_weight(self) -> dict[Label, float]:
        """`{}`: nothing was learned."""
        return {}


def _of(values: Mapping[Label, Mapping[Name, float]], label: Label, name: Name) -> float:
    """The number given for a label and a feature."""
    if label not in values or name not in values[label]:
        msg = f"nothing is given for feature {name!r} of {label!r}"
        raise ValueError(msg)
    result = number(values[label][name], name)
    if math.isnan(result):
        msg = f"the number given for feature {name!r} of {label!r} is missing"
        raise ValueError(msg)
    return result


_GIVEN = "a model of given parameters predicts; it neither learns nor merges"
