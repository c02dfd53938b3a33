"""What all models share: their verbs, their parameters, their algebra."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

from river.base import tags

from streamnb import frames
from streamnb._kernels import posterior
from streamnb.bayes import STALE, ClassPrior, Scorer, places_of, probabilities_of
from streamnb.errors import MergeError
from streamnb.models.parametrized import Parametrized
from streamnb.parameters import comparable
from streamnb.provenance import Provenance
from streamnb.stats.index import Label, Name, canonical_label

__all__ = ["BayesClassifier", "merge"]


class BayesClassifier(Parametrized):
    """A classifier whose whole state is mergeable statistics.

    It says how its statistics are made, joined and read; of most this is done by the blocks of
    `streamnb.models.model.Model`.

    Threads that only ask may share a model. While one learns, merges in place, unlearns or sets a
    parameter, all that others do with it needs the same lock.
    """

    kind: ClassVar[str]
    """The name on the command line and in files."""

    derived: ClassVar[tuple[str, ...]] = ("_scorer",)
    """Attributes that hold the statistics, or are made of them."""
    mergeable: ClassVar[bool] = True
    """Whether there are statistics to merge."""

    provenance: Provenance
    """Which events of which sources were learned; empty for a model learned in a program."""

    _scorer: Scorer

    def _begin(self) -> None:
        """Makes the model empty, once its parameters are set."""
        self.provenance = Provenance()
        self._scorer = STALE
        self.check()
        self._clear()

    # -- what a model says of itself -------------------------------------------------------

    @abstractmethod
    def _make_scorer(self) -> Scorer:
        """The scorer of the statistics as they are."""

    @abstractmethod
    def _scores(self, X: Any, columns: Sequence[Name] | None) -> tuple[Any, Scorer]:
        """The joint log-likelihoods of the rows of a table, (n, K), and who has answered."""

    @abstractmethod
    def take(self, parts: Iterable[Self]) -> None:
        """Takes the statistics of the parts, joined in order."""

    @abstractmethod
    def is_bounded(self) -> bool:
        """Whether all values, weights and sums are so small that no merge makes one infinite."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """The statistics in canonical order, as plain data and arrays."""

    @abstractmethod
    def set_state(self, state: Mapping[str, Any]) -> None:
        """Takes what `state` gave. Raises `ValueError` where it cannot have been learned."""

    # -- learning and answering ------------------------------------------------------------

    predict_one = posterior.predict_one  # type: ignore[assignment]  # no **kwargs
    predict_proba_one = posterior.predict_proba_one  # type: ignore[assignment]  # as above
    joint_log_likelihood = posterior.joint_log_likelihood

    def predict_many(self, X: Any, *, columns: Sequence[Name] | None = None) -> Any:
        """The most probable label of each row.

        Parameters
        ----------
        X
            a pandas or polars DataFrame, a two-dimensional array or a SciPy sparse matrix.
        columns
            names for the columns of an array; "0", "1", ... without.

        Returns
        -------
        A Series of the library of `X`, or an array; `None` for each row where no class is
        known.

        Raises
        ------
        TypeError, ValueError
            a value that learning would refuse, naming row and feature.
        """
        scores, scorer = self._scores(X, columns)
        labels = scorer.labels
        return frames.to_answers(places_of(scores, scorer) if labels else None, labels, X)

    def predict_proba_many(self, X: Any, *, columns: Sequence[Name] | None = None) -> Any:
        """The probability of each class in each row.

        Parameters
        ----------
        X, columns
            as for `predict_many`.

        Returns
        -------
        A DataFrame of the library of `X` with `classes` as columns, or an array (n, K).

        Raises
        ------
        TypeError, ValueError
            a value that learning would refuse, naming row and feature.
        """
        scores, scorer = self._scores(X, columns)
        return frames.to_columns(probabilities_of(scores, scorer), scorer.labels, X)

    def joint_log_likelihood_many(self, X: Any, *, columns: Sequence[Name] | None = None) -> Any:
        """The logarithm of p(y) p(x | y) for each row and class y, as `predict_proba_many`."""
        scores, scorer = self._scores(X, columns)
        return frames.to_columns(scores, scorer.labels, X)

    def _new_scorer(self) -> Scorer:
        self._scorer = self._make_scorer()
        return self._scorer

    @abstractmethod
    def unlearn_one(self, x: Any, y: Any, w: float = 1.0, t: Any = None) -> None:
        """Takes back one event that was learned.

        What has no weight left is gone: a feature, a class that is not a known label, and after
        the last event everything. Raises `ValueError`, and changes nothing, where the event
        cannot have been learned.
        """

    # -- what was seen ---------------------------------------------------------------------

    @property
    def classes(self) -> list[Label]:
        """The labels, learned and known, in canonical order: by type name, then value."""
        return self._prior().labels(self.class_weight)

    @property
    @abstractmethod
    def class_weight(self) -> dict[Label, float]:
        """The weight that each learned class has seen, in canonical order."""

    @property
    @abstractmethod
    def features(self) -> list[Name]:
        """The names of the learned features, in canonical order."""

    def _check_class(self, label: Label) -> None:
        """Raises `KeyError` where the label is no class."""
        if canonical_label(label) not in self.classes:
            msg = f"{label!r} is no class; the classes are {self.classes!r}"
            raise KeyError(msg)

    # -- parameters ------------------------------------------------------------------------

    @abstractmethod
    def _prior(self) -> ClassPrior:
        """The class prior."""

    def _changed_reading(self) -> None:
        self._scorer = STALE

    def _has_learned(self) -> bool:
        return bool(self.class_weight)

    @property
    @abstractmethod
    def positive(self) -> bool:
        """Whether negative values are refused."""

    @property
    def _multiclass(self) -> bool:
        return True

    def _more_tags(self) -> set[str]:
        return {tags.POSITIVE_INPUT} if self.positive else set()

    def clone(
        self,
        new_params: dict[str, Any] | None = None,
        include_attributes: bool = False,  # noqa: FBT001, FBT002 - River's signature
    ) -> Self:
        """A model with the same parameters that has learned nothing.

        Parameters
        ----------
        new_params
            parameters to have other values.
        include_attributes
            also copy what was learned.
        """
        clone: Self = super().clone(new_params)
        if include_attributes:
            clone.take([self])
            clone.provenance = self.provenance
        return clone

    # -- algebra ---------------------------------------------------------------------------

    def __add__(self, other: Self) -> Self:
        """What one model would be that had learned the events of both. Both stay as they are."""
        if not isinstance(other, BayesClassifier):
            return NotImplemented
        whole: Self = merge([self, other])
        return whole

    def __iadd__(self, other: Self) -> Self:
        """Takes in what `other` has learned; `other` stays as it is."""
        if not isinstance(other, BayesClassifier):
            return NotImplemented
        whole: Self = merge([self, other])
        self.take([whole])
        self.provenance = whole.provenance
        return self

    def __eq__(self, other: object) -> bool:
        """Whether the bytes of both are equal: parameters, statistics and provenance."""
        if not isinstance(other, BayesClassifier):
            return NotImplemented
        return self._content() == other._content()

    __hash__ = None  # type: ignore[assignment]  # a model changes

    def _content(self) -> tuple[Any, ...]:
        """What the bytes are made of, comparable."""
        state = comparable(self.state())
        return type(self), repr(self.canonical_parameters()), state, self.provenance

    def __getstate__(self) -> dict[str, Any]:
        """What pickle and copy keep: the attributes, and the statistics in canonical order."""
        kept = {name: value for name, value in self.__dict__.items() if name not in self.derived}
        return {"attributes": kept, "state": self.state()}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Makes the model anew from what `__getstate__` gave."""
        self.__dict__.update(kept["attributes"])
        self._scorer = STALE
        self.set_state(kept["state"])


def merge(models: Iterable[BayesClassifier], like: BayesClassifier | None = None) -> Any:
    """What one model would be that had learned the events of all, in their order.

    Parameters
    ----------
    models
        of one kind; they stay as they are.
    like
        whose readings the result has; without, all models must have the same.

    Returns
    -------
    A new model. Its provenance is that of all.

    Raises
    ------
    MergeError
        no models and no `like`; other kinds or state parameters; other readings without `like`;
        models that have learned the same events of a source.
    ValueError
        a statistic would be infinite.
    """
    parts = list(models)
    if not parts and like is None:
        msg = "there is nothing to merge"
        raise MergeError(msg)
    for part in (*parts, *(() if like is None else (like,))):
        if not isinstance(part, BayesClassifier):
            msg = f"a model is wanted, not {type(part).__name__}"
            raise TypeError(msg)
    first = parts[0] if like is None else like
    for part in parts:
        _check_mergeable(first, part, readings=like is None)
    provenance = Provenance()
    for part in parts:
        provenance += part.provenance
    whole = first.clone()
    whole.take(parts)
    whole.provenance = provenance
    return whole


def _check_mergeable(first: BayesClassifier, other: BayesClassifier, *, readings: bool) -> None:
    """Raises `MergeError` where kinds or state parameters differ, or, if they count, readings."""
    if not (first.mergeable and other.mergeable):
        msg = "a model of given parameters has nothing to merge"
        raise MergeError(msg)
    if first.kind != other.kind:
        msg = f"a {first.kind} and a {other.kind} model cannot be merged"
        raise MergeError(msg)
    shaping, reading = first.differences(other)
    differ = shaping + reading if readings else shaping
    if differ:
        hint = "" if shaping else "; like= says whose to take"
        msg = f"models with other parameters cannot be merged: {', '.join(differ)}{hint}"
        raise MergeError(msg)
