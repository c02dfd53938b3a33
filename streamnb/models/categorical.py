"""Naive Bayes for features that take one value of several."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from streamnb._kernels import categories
from streamnb.likelihoods.categorical import Categorical
from streamnb.models.given import (
    GivenCounts,
    check_probability,
    check_sum,
    given_counts,
    given_prior,
)
from streamnb.models.model import ModelWithPrior
from streamnb.models.parametrized import reading
from streamnb.stats.counts import Counts
from streamnb.stats.fields import FieldCounts
from streamnb.stats.index import Label, Name, as_name
from streamnb.values import category

__all__ = ["CategoricalNB"]


class CategoricalNB(ModelWithPrior):
    """Naive Bayes for categories: each feature is one value of several, in each class.

    See `streamnb.likelihoods.Categorical` for the formula and its source. The values are texts,
    numbers and bools, and of these no two kinds are equal: `True` is not 1, and "1" is neither. 1
    and 1.0 are one number. New values may come at any time. A value that has faded to nothing in
    all classes is as if it had never been seen.

    Raises
    ------
    ValueError, TypeError
        a parameter is out of range, here or where it is set later.

    Examples
    --------
    >>> from streamnb import CategoricalNB
    >>> model = CategoricalNB()
    >>> model.learn_one({"colour": "red", "ripe": True}, "apple")
    >>> model.learn_one({"colour": "green", "ripe": False}, "apple")
    >>> model.learn_one({"colour": "yellow", "ripe": True}, "banana")
    >>> model.predict_one({"colour": "yellow"})
    'banana'
    """

    kind: ClassVar[str] = "categorical"
    likelihood: ClassVar[Any] = Categorical

    alpha: float = reading(Categorical)

    learn_one = categories.learn_one

    @classmethod
    def from_parameters(
        cls,
        *,
        probabilities: Mapping[Label, Mapping[Name, Mapping[Any, float]]],
        prior: str | Mapping[Label, float] | None = None,
    ) -> CategoricalNB:
        """A classifier of given probabilities of values, as a textbook has them.

        It answers questions, and neither learns, merges nor is written to bytes.

        Parameters
        ----------
        probabilities
            {label: {feature: {value: probability}}}, the same features for each label. Values may
            be left out: those of a feature sum to at most 1 in each label. One that a label lacks
            has 0 there; one that all labels lack is no evidence.
        prior
            {label: probability}; without, or "uniform", all classes are equally probable.

        Raises
        ------
        ValueError, TypeError
            labels or features that do not fit, or a probability out of range.
        """
        model = GivenCategoricalNB(**given_prior(probabilities, prior))
        model._hold_statistic(_given(probabilities))
        return model

    def counts(self, label: Label) -> dict[Name, dict[Any, float]]:
        """The count of each value that the class has seen, {feature: {value: count}}.

        In canonical order. `{}` for a known class that has learned nothing; `KeyError` for a label
        that is no class. Python takes `True` and 1 for equal: where a feature has had both, the
        bool is shown as the text "bool:True".
        """
        self._check_class(label)
        found: dict[Name, dict[Any, float]] = self.statistic.values(label)
        return found


class GivenCategoricalNB(GivenCounts, CategoricalNB):
    """What `CategoricalNB.from_parameters` makes."""

    def hold(self, blocks: list[Any]) -> None:
        """Takes a block; a value that is named alone is not certain, as others are left out."""
        owned = blocks[0].statistic.table.groups()[1::2]
        np.maximum(owned, 2, out=owned)
        super().hold(blocks)


def _given(probabilities: Mapping[Label, Mapping[Name, Mapping[Any, float]]]) -> Counts:
    """A statistic that reads as these probabilities."""
    found: dict[Any, dict[Label, float]] = {}
    names = next(iter(probabilities.values())).keys()
    for label, features in probabilities.items():
        if features.keys() != names or not all(isinstance(v, Mapping) for v in features.values()):
            msg = f"{label!r}: {{feature: {{value: probability}}}} for the same features as others"
            raise ValueError(msg)
        for name, values in features.items():
            feature = (as_name(name),)
            found.setdefault(feature, {})[label] = 1.0
            for value, p in values.items():
                kind = category(value, name)
                if kind is None:
                    msg = f"feature {name!r}: a probability of a value that is missing"
                    raise ValueError(msg)
                probability = check_probability(p, f"{value!r} of {name!r} in {label!r}")
                found.setdefault((*feature, *kind), {})[label] = probability
            check_sum(math.fsum(values.values()), f"{name!r} in {label!r}")
    return FieldCounts().with_state(given_counts(found, list(probabilities)))
