"""Naive Bayes for features that take one value of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

from streamnb import frames, sparse
from streamnb._kernels import categories, counts
from streamnb.bayes import STALE, Scorer
from streamnb.likelihoods.categorical import Categorical
from streamnb.models.base import BayesClassifier
from streamnb.stats.fields import FieldCounts
from streamnb.stats.index import Label, Name

__all__ = ["CategoricalNB"]


class CategoricalNB(BayesClassifier):
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

    derived: ClassVar[tuple[str, ...]] = ("_scorer", "_counts", "_table")

    _counts: FieldCounts
    _table: counts.CountsTable

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
    unlearn_one = counts.unlearn_one

    def _forget(self, label: Label) -> None:
        """Leaves out a class that has no weight left."""
        self.hold(self._counts.without(label))

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
            a pandas or polars DataFrame, a two-dimensional array or a SciPy sparse matrix, whose
            cells are texts, numbers or bools. A cell that a sparse matrix leaves out is 0.
        y
            the labels, one a row, by position.
        w
            the weights: one a row, by position, or a number for all.
        t
            the times: one a row, by position, or one for all.
        columns
            names for the columns of an array; "0", "1", ... without.

        Raises
        ------
        TypeError, ValueError
            a row that `learn_one` would refuse, naming its position from
            0; or `y`, `w`, `t` of another length than `X`. Nothing was learned.
        """
        rows = sparse.read_fields(X, columns)
        n = len(rows.bounds) - 1
        labels = frames.read_labels(y, n)
        weights = frames.read_weights(w, n)
        frames.read_times(t, n)
        self._counts.learn_rows(rows, labels, weights)

    @property
    def statistic(self) -> FieldCounts:
        """What was seen: weights, and counts by class, feature and value."""
        return self._counts

    def counts(self, label: Label) -> dict[Name, dict[Any, float]]:
        """The count of each value that the class has seen, {feature: {value: count}}.

        In canonical order. `{}` for a known class that has learned nothing; `KeyError` for a label
        that is no class. Python takes `True` and 1 for equal: where a feature has had both, the
        bool is shown as the text "bool:True".
        """
        self._check_class(label)
        return self._counts.values(label)

    @property
    def class_weight(self) -> dict[Label, float]:
        """The weight that each learned class has seen, in canonical order."""
        return self._counts.weights()

    @property
    def features(self) -> list[Name]:
        """The names of the learned features, in canonical order."""
        return self._counts.names()

    def check(self) -> None:
        """Raises `ValueError` or `TypeError` where a parameter is out of range."""
        Categorical(self.alpha)
        self._prior()

    def _clear(self) -> None:
        self.hold(FieldCounts())

    def hold(self, statistic: FieldCounts) -> None:
        """Takes a statistic in place of its own."""
        self._counts = statistic
        self._table = statistic.table
        self._scorer = STALE

    def _make_scorer(self) -> Scorer:
        prior, labels = self._prior(), self.classes
        scorer: Scorer = Categorical(self.alpha).scorer(
            self._counts, labels, prior.given(labels), prior.counts(labels)
        )
        return scorer

    def _scores(self, X: Any, columns: Sequence[Name] | None) -> tuple[Any, Scorer]:
        rows = sparse.read_fields(X, columns)
        cells = rows.bounds, rows.columns, self._counts.slots_of(rows)
        scores = self._scorer.scores_many(*cells)
        if scores is None:
            scores = self._new_scorer().scores_many(*cells)
        return scores, self._scorer

    def take(self, parts: Iterable[Self]) -> None:
        """Takes the statistics of the parts, joined in order, in place of its own."""
        self.hold(self._counts.merged([part.statistic for part in parts]))

    def state(self) -> dict[str, Any]:
        """The statistics in canonical order: see `streamnb.stats.fields.FieldCounts.packed`."""
        return self._counts.packed()

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Takes what `state` gave. Raises `ValueError` where it cannot have been learned."""
        self.hold(FieldCounts.unpacked(state))
