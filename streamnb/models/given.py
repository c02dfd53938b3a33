"""Models of given distributions, as a textbook has them: what `from_parameters` makes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from streamnb.models.model import Model
from streamnb.stats.counts_state import CountsState
from streamnb.stats.index import Label, Name, canonical_label
from streamnb.stats.moments import Moments
from streamnb.stats.moments_state import MomentsState
from streamnb.values import check_parameter, number

__all__ = [
    "Given",
    "GivenCounts",
    "check_probability",
    "check_sum",
    "given_counts",
    "given_moments",
    "given_number",
    "given_prior",
]

_SUM = 1.0 + 1e-9
"""What probabilities may sum to: 1, but for rounding."""


class Given(Model):
    """Distributions without the events behind them."""

    mergeable: ClassVar[bool] = False

    def clone(
        self,
        new_params: dict[str, Any] | None = None,
        include_attributes: bool = False,  # noqa: ARG002, FBT001, FBT002 - River's signature
    ) -> Self:
        """The same distributions with the same parameters, or new ones."""
        clone = super().clone(new_params)
        clone.set_state(self.state())
        return clone

    def learn_one(self, *_arguments: Any, **_named: Any) -> None:
        """Raises `TypeError`: there are no statistics to add an event to."""
        msg = "a model of given parameters predicts; it neither learns nor merges"
        raise TypeError(msg)

    learn_many = unlearn_one = learn_one

    @property
    def class_weight(self) -> dict[Label, float]:
        """`{}`: nothing was learned."""
        return {}


class GivenCounts(Given):
    """Probabilities in the place of counts, each class having the weight 1."""

    def state(self) -> dict[str, Any]:
        """The probabilities in canonical order, as `streamnb.stats.counts.CountsState`."""
        return self.statistic.state().packed()  # type: ignore[no-any-return]

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Takes what `state` gave."""
        if "_blocks" not in vars(self):
            self._clear()
        self._hold_statistic(self.statistic.with_state(CountsState(**state)))


def given_prior(probabilities: Any, prior: str | Mapping[Label, float] | None) -> dict[str, Any]:
    """The parameters of a model of given probabilities {label: {name: ...}}.

    Raises
    ------
    ValueError, TypeError
        no such mapping, no label at all, or a prior of other labels.
    """
    if not isinstance(probabilities, Mapping) or not all(
        isinstance(names, Mapping) for names in probabilities.values()
    ):
        msg = f"probabilities is a mapping {{label: {{name: ...}}}}, not {probabilities!r}"
        raise TypeError(msg)
    others = isinstance(prior, Mapping) and prior.keys() - probabilities.keys()
    if not probabilities or others:
        msg = f"other labels than those of the probabilities: {list(probabilities)}, {prior}"
        raise ValueError(msg)
    return {
        "alpha": 0.0,
        "prior": "uniform" if prior is None else prior,
        "known_labels": list(probabilities),
    }


def check_probability(p: Any, what: str) -> float:
    """A probability as a double. Raises where it is no number from 0 to 1."""
    result = check_parameter(p, f"the probability of {what}")
    if result > 1.0:
        msg = f"the probability of {what} is at most 1, not {p!r}"
        raise ValueError(msg)
    return result


def check_sum(total: float, what: str) -> None:
    """Raises `ValueError` where the probabilities of one distribution sum to more than 1."""
    if total > _SUM:
        msg = f"the probabilities of {what} sum to more than 1: {total}"
        raise ValueError(msg)


def given_counts(tokens: Mapping[Any, Mapping[Label, float]], labels: list[Label]) -> CountsState:
    """The counts that read as these probabilities: {token: {label: probability}}, weights of 1."""
    places = {label: place for place, label in enumerate(labels)}
    cells = [
        [(places[label], p) for label, p in by_label.items() if p > 0]
        for by_label in tokens.values()
    ]
    ones = np.tile([1.0, 0.0], (len(labels), 1))
    flat = [cell for row in cells for cell in row]
    return CountsState(
        [canonical_label(label) for label in labels],
        [token for token, row in zip(tokens, cells, strict=True) if row],
        ones,
        ones,
        np.array([len(row) for row in cells if row], dtype=np.int32),
        np.array([place for place, _ in flat], dtype=np.int32),
        np.array([p for _, p in flat], dtype=np.float64),
    )


def given_moments(
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
