"""Models of given distributions, as a textbook has them: what `from_parameters` makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from streamnb.models.base import BayesClassifier
from streamnb.models.tables import CountsClassifier
from streamnb.stats.counts_state import CountsState
from streamnb.stats.index import Label, canonical_label
from streamnb.values import check_parameter

__all__ = ["Given", "GivenCounts", "check_probability", "check_sum", "given_counts", "given_prior"]

_SUM = 1.0 + 1e-9
"""What probabilities may sum to: 1, but for rounding."""


class Given(BayesClassifier):
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


class GivenCounts(Given, CountsClassifier):
    """Probabilities in the place of counts, each class having the weight 1."""

    def state(self) -> dict[str, Any]:
        """The probabilities in canonical order, as `streamnb.stats.counts.CountsState`."""
        return self.statistic.state().packed()  # type: ignore[no-any-return]

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Takes what `state` gave."""
        if "_counts" not in vars(self):
            self._clear()
        self.hold(self.statistic.with_state(CountsState(**state)))


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
