"""What LDA and QDA have in common: a scatter beside the moments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import discriminant, moments, scatter
from streamnb.likelihoods.multivariate import pooled_covariance, raw_covariance
from streamnb.models.model import NumberModel
from streamnb.stats.index import Label, Name
from streamnb.stats.scatter import Scatter

__all__ = ["DiscriminantAnalysis"]

Floats = NDArray[np.float64]


class DiscriminantAnalysis(NumberModel):
    """A classifier whose statistics are the moments of each feature, and their scatter."""

    learn_moments = moments.learn_one
    learn_one = scatter.learn_one

    @property
    def apart(self) -> bool:
        """Whether each class has a covariance of its own."""
        return self.statistic.apart  # type: ignore[no-any-return]

    @property
    def _scatter(self) -> Scatter:
        return self.statistic  # type: ignore[no-any-return]

    def _numbers(self, what: str, label: Label) -> dict[Name, float]:
        self._check_class(label)
        found: dict[Name, float] = getattr(self.statistic.moments, what)(label)
        return found

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
        if self.statistic.apart and label is None and self.class_weight:
            return pooled_covariance([self.statistic.sums(each) for each in self.class_weight])
        return raw_covariance(self.statistic.sums(label))

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
