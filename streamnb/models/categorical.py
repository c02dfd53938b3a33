"""Naive Bayes for features that take one value of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from streamnb import sparse
from streamnb._kernels import categories
from streamnb.bayes import Scorer
from streamnb.likelihoods.categorical import Categorical
from streamnb.models.tables import CountsClassifier
from streamnb.stats.counts import SparseRows
from streamnb.stats.fields import FieldCounts
from streamnb.stats.index import Label, Name

__all__ = ["CategoricalNB"]


class CategoricalNB(CountsClassifier):
    """Naive Bayes for categories: each feature is one value of several, in each class.

    See `streamnb.likelihoods.Categorical` for the formula. The values are texts, numbers and bools,
    and of these no two kinds are equal: `True` is not 1, and "1" is neither. 1 and 1.0 are one
    number. New values may come at any time.

    Parameters
    ----------
    alpha
        pseudo-count of each value.
    prior, prior_count, known_labels
        as for `GaussianNB`.

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
    readings: ClassVar[tuple[str, ...]] = ("alpha", "prior", "prior_count", "known_labels")

    _counts: FieldCounts

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        prior: str | Mapping[Label, float] = "empirical",
        prior_count: float | Mapping[Label, float] = 0,
        known_labels: Iterable[Label] | None = None,
    ) -> None:
        self.alpha = alpha
        self.prior = prior
        self.prior_count = prior_count
        self.known_labels = known_labels
        super().__init__()

    learn_one = categories.learn_one

    def _read(self, X: Any, columns: Sequence[Name] | None) -> tuple[int, SparseRows]:
        rows = sparse.read_fields(X, columns)
        return len(rows.bounds) - 1, rows

    def counts(self, label: Label) -> dict[Name, dict[Any, float]]:
        """The count of each value that the class has seen, {feature: {value: count}}.

        In canonical order. `{}` for a known class that has learned nothing; `KeyError` for a label
        that is no class. Python takes `True` and 1 for equal: where a feature has had both, the
        bool is shown as the text "bool:True".
        """
        self._check_class(label)
        return self._counts.values(label)

    def _likelihood(self) -> Categorical:
        return Categorical(self.alpha)

    def _clear(self) -> None:
        self.hold(FieldCounts())

    def _scores(self, X: Any, columns: Sequence[Name] | None) -> tuple[Any, Scorer]:
        rows = sparse.read_fields(X, columns)
        cells = rows.bounds, rows.columns, self._counts.slots_of(rows)
        scores = self._scorer.scores_many(*cells)
        if scores is None:
            scores = self._new_scorer().scores_many(*cells)
        return scores, self._scorer

    def state(self) -> dict[str, Any]:
        """The statistics in canonical order: see `streamnb.stats.fields.FieldCounts.packed`."""
        return self._counts.packed()

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Takes what `state` gave. Raises `ValueError` where it cannot have been learned."""
        self.hold(FieldCounts.unpacked(state))
