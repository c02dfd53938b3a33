"""What LDA and QDA have in common: a scatter beside the moments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamnb import frames
from streamnb._kernels import discriminant, moments, scatter, survey, unlearning
from streamnb.likelihoods.multivariate import (
    pooled_covariance,
    raw_covariance,
)
from streamnb.models.moments import MomentsClassifier
from streamnb.stats.index import (
    CodedLabels,
    Label,
    Name,
    NameIndex,
    as_name,
    canonical_label,
)
from streamnb.stats.moments import Moments
from streamnb.stats.moments_state import MomentsState
from streamnb.stats.scatter import Scatter
from streamnb.stats.scatter_state import GroupState
from streamnb.values import check_weight, event_time

__all__ = ["DiscriminantAnalysis"]

Floats = NDArray[np.float64]


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
