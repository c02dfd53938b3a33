"""What the models share that learn the rows of a table at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import counts
from streamnb.bayes import STALE, Scorer
from streamnb.columns import read_labels, read_times, read_weights
from streamnb.models.base import BayesClassifier
from streamnb.stats.index import CodedLabels, Label, Name

__all__ = ["CountsClassifier", "TableClassifier"]


class TableClassifier(BayesClassifier):
    """A classifier that reads a table for its own statistics, and learns it as a whole."""

    @abstractmethod
    def _read(self, X: Any, columns: Sequence[Name] | None) -> tuple[int, Any]:
        """The number of a table's rows, and what is to be learned of them.

        Raises `TypeError` or `ValueError` for a value that `learn_one` would refuse.
        """

    @abstractmethod
    def _learn_rows(
        self,
        rows: Any,
        labels: CodedLabels,
        weights: NDArray[np.float64],
        times: list[int] | None,
    ) -> None:
        """Learns what `_read` gave, all of it or, where it raises, nothing."""

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
            a pandas or polars DataFrame, a two-dimensional array or a SciPy sparse matrix. A cell
            that a sparse matrix leaves out is 0; tables of tokens stay sparse. Where a model reads
            a text, only that column is read.
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
        n, rows = self._read(X, columns)
        labels = read_labels(y, n)
        weights = read_weights(w, n)
        self._learn_rows(rows, labels, weights, read_times(t, n))


class CountsClassifier(TableClassifier):
    """A classifier whose statistic is a table of counts."""

    state_parameters: ClassVar[tuple[str, ...]] = ("half_life",)

    derived: ClassVar[tuple[str, ...]] = ("_scorer", "_counts", "_table")

    _counts: Any
    _table: counts.CountsTable

    unlearn_one = counts.unlearn_one

    def _forget(self, label: Label) -> None:
        """Leaves out a class that has no weight left."""
        self.hold(self._counts.without(label))

    @abstractmethod
    def _likelihood(self) -> Any:
        """The likelihood of the readings as they are. Raises where one is out of range."""

    def check(self) -> None:
        """Raises `ValueError` or `TypeError` where a parameter is out of range."""
        self._likelihood()
        self._prior()
        self._half_life()

    @property
    def statistic(self) -> Any:
        """What was seen: the weights of the classes, and counts."""
        return self._counts

    def hold(self, statistic: Any) -> None:
        """Takes a statistic in place of its own."""
        self._counts = statistic
        self._table = statistic.table
        self._scorer = STALE

    def take(self, parts: Iterable[Self]) -> None:
        """Takes the statistics of the parts, joined in order, in place of its own."""
        self.hold(self._counts.merged([part.statistic for part in parts]))

    def is_bounded(self) -> bool:
        """Whether all weights and sums are so small that no merge makes one infinite."""
        return bool(self._counts.is_bounded())

    @property
    def class_weight(self) -> dict[Label, float]:
        """The weight that each learned class has seen, in canonical order."""
        weights: dict[Label, float] = self._counts.weights()
        return weights

    @property
    def features(self) -> list[Name]:
        """The features, or tokens, that were seen, in canonical order; with `width` the buckets."""
        names: list[Name] = self._counts.names()
        return names

    def _make_scorer(self) -> Scorer:
        prior, labels = self._prior(), self.classes
        scorer: Scorer = self._likelihood().scorer(
            self._counts, labels, prior.given(labels), prior.counts(labels)
        )
        return scorer

    def _learn_rows(
        self,
        rows: Any,
        labels: CodedLabels,
        weights: NDArray[np.float64],
        times: list[int] | None,
    ) -> None:
        self._counts.learn_rows(rows, labels, weights, times)
