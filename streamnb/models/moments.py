"""What the models share that keep the moments of numbers: learning, merging, what was seen."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from streamnb import frames
from streamnb._kernels import moments, unlearning
from streamnb.bayes import STALE, Scorer
from streamnb.models.given import Given
from streamnb.models.tables import TableClassifier
from streamnb.stats.index import CodedLabels, Label, Name, canonical_label
from streamnb.stats.moments import Moments
from streamnb.stats.moments_state import MomentsState
from streamnb.values import number

__all__ = ["GivenMoments", "MomentsClassifier", "given_number", "given_state"]


class Likelihood(Protocol):
    """How moments are read."""

    def scorer(
        self,
        statistic: Any,
        labels: list[Label],
        log_prior: NDArray[np.float64] | None,
        prior_counts: NDArray[np.float64],
    ) -> Scorer:
        """The joint log-likelihoods of events, read from `statistic`."""


class MomentsClassifier(TableClassifier):
    """A classifier whose statistic is `Moments`. A model says by which likelihood it is read."""

    state_parameters: ClassVar[tuple[str, ...]] = ("half_life",)
    derived: ClassVar[tuple[str, ...]] = ("_scorer", "_moments", "_table")

    _moments: Moments
    _table: moments.MomentsTable

    @abstractmethod
    def _likelihood(self) -> Likelihood:
        """The likelihood of the readings as they are. Raises where one is out of range."""

    learn_one = moments.learn_one

    def _read(self, X: Any, columns: Sequence[Name] | None) -> tuple[int, frames.Table]:
        table = frames.read_table(X, columns, positive=self.positive)
        return len(table.values), table

    def _learn_rows(
        self,
        rows: frames.Table,
        labels: CodedLabels,
        weights: NDArray[np.float64],
        times: list[int] | None,
    ) -> None:
        self._moments.learn_rows(rows.names, rows.values, labels, weights, rows.found, times=times)

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

    def check(self) -> None:
        """Raises `ValueError` or `TypeError` where a parameter is out of range."""
        self._likelihood()
        self._prior()
        self._half_life()

    def _clear(self) -> None:
        self.hold(Moments(self._half_life(), positive=self.positive))

    def hold(self, statistic: Moments) -> None:
        """Takes a statistic in place of its own."""
        self._moments = statistic
        self._table = statistic.table
        self._scorer = STALE

    def _make_scorer(self) -> Scorer:
        prior, labels = self._prior(), self.classes
        scorer: Scorer = self._likelihood().scorer(
            self._read_from(), labels, prior.given(labels), prior.counts(labels)
        )
        return scorer

    def _read_from(self) -> Any:
        """The statistic that the likelihood reads."""
        return self._moments

    def _scores(self, X: Any, columns: Sequence[Name] | None) -> tuple[Any, Scorer]:
        _, table = self._read(X, columns)
        known = self._moments.features.slots
        slots = np.array([known.get(name, -1) for name in table.names], dtype=np.intp)
        scores = self._scorer.scores_many(table.values, slots)
        if scores is None:
            scores = self._new_scorer().scores_many(table.values, slots)
        return scores, self._scorer

    def take(self, parts: Iterable[Self]) -> None:
        """Takes the statistics of the parts, joined in order, in place of its own."""
        statistics = (part.statistic for part in parts)
        self.hold(Moments.merged(statistics, self._half_life(), positive=self.positive))

    def is_bounded(self) -> bool:
        """Whether all values, weights and sums are so small that no merge makes one infinite."""
        return self._moments.is_bounded()

    def state(self) -> dict[str, Any]:
        """The statistics in canonical order: see `streamnb.stats.moments.MomentsState.packed`."""
        return self._moments.state().packed()

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Takes what `state` gave. Raises `ValueError` where it cannot have been learned."""
        unpacked = MomentsState.unpacked(state)
        self.hold(Moments.from_state(unpacked, self._half_life(), positive=self.positive))


class GivenMoments(Given, MomentsClassifier):
    """Moments without the events behind them: what `from_parameters` makes."""


def given_state(
    means: Mapping[Label, Mapping[Name, float]],
    prior: str | Mapping[Label, float] | None,
    *,
    positive: bool = False,
) -> MomentsState:
    """The statistics of one event at the means of each label.

    Raises
    ------
    ValueError, TypeError
        no means, other features in some of them, a prior of other labels, or a number that
        learning would refuse.
    """
    is_mapping = isinstance(means, Mapping) and len(means) > 0
    if not is_mapping or not all(isinstance(values, Mapping) for values in means.values()):
        msg = "means are a mapping {label: {feature: number}}"
        raise ValueError(msg)
    names = list(next(iter(means.values())))
    if any(len(values) != len(names) for values in means.values()):
        msg = "means are given for the same features of each label"
        raise ValueError(msg)
    if isinstance(prior, Mapping) and prior.keys() - means.keys():
        msg = f"the prior has other labels than the means: {prior}"
        raise ValueError(msg)
    rows = (({name: given_number(means, y, name) for name in names}, y) for y in means)
    return Moments.of_events(rows, positive=positive).state()


def given_number(values: Mapping[Label, Mapping[Name, float]], label: Label, name: Name) -> float:
    """The number given for a label and a feature. Raises where there is none, or no finite one."""
    if label not in values or name not in values[label]:
        msg = f"nothing is given for feature {name!r} of {label!r}"
        raise ValueError(msg)
    result = number(values[label][name], name)
    if math.isnan(result):
        msg = f"the number given for feature {name!r} of {label!r} is missing"
        raise ValueError(msg)
    return result
