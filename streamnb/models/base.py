"""What all models share: their verbs, their parameters, their algebra."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Self

import numpy as np
from river.base import MiniBatchClassifier, tags

from streamnb import frames
from streamnb._kernels import posterior
from streamnb.bayes import STALE, ClassPrior, Scorer, places_of, probabilities_of
from streamnb.errors import MergeError
from streamnb.models.parameters import canonical, comparable, own
from streamnb.provenance import Provenance
from streamnb.stats.index import Label, Name, canonical_label
from streamnb.values import duration

__all__ = ["BayesClassifier", "merge"]


class BayesClassifier(MiniBatchClassifier):
    """A classifier whose whole state is mergeable statistics.

    A model sets `kind`, `readings` and `state_parameters`, and says how its statistics are made,
    joined and read. Readings are plain attributes that may be set at any time; state parameters
    shape what is stored, and are fixed once something was learned.

    Threads that only ask may share a model. While one learns, merges in place, unlearns or sets a
    parameter, all that others do with it needs the same lock.
    """

    kind: ClassVar[str]
    """The name on the command line and in files."""
    readings: ClassVar[tuple[str, ...]]
    """Parameters that say how statistics are read."""
    state_parameters: ClassVar[tuple[str, ...]] = ()
    """Parameters that shape the statistics. They must be equal for a merge."""

    derived: ClassVar[tuple[str, ...]] = ("_scorer",)
    """Attributes that hold the statistics, or are made of them."""
    positive: ClassVar[bool] = False
    """Whether values are counts, so that negative ones are refused."""
    mergeable: ClassVar[bool] = True
    """Whether there are statistics to merge."""
    mappings: ClassVar[tuple[str, ...]] = ("prior", "prior_count")
    """Parameters that may be mappings of labels."""

    provenance: Provenance
    """Which events of which sources were learned; empty for a model learned in a program."""

    _scorer: Scorer

    def __init__(self) -> None:
        self.provenance = Provenance()
        self._scorer = STALE
        self.check()
        self._clear()

    # -- what a model says of itself -------------------------------------------------------

    @abstractmethod
    def check(self) -> None:
        """Raises `ValueError` or `TypeError` where a parameter is out of range."""

    @abstractmethod
    def _clear(self) -> None:
        """Makes the statistics empty."""

    @abstractmethod
    def _make_scorer(self) -> Scorer:
        """The scorer of the statistics as they are."""

    @abstractmethod
    def _scores(self, X: Any, columns: Sequence[Name] | None) -> tuple[Any, Scorer]:
        """The joint log-likelihoods of the rows of a table, (n, K), and who has answered."""

    @abstractmethod
    def take(self, parts: Iterable[Self]) -> None:
        """Takes the statistics of the parts, joined in order."""

    def is_bounded(self) -> bool:
        """Whether it can be merged with all others that are, whatever they are.

        That is, with no statistic becoming infinite; a model that has none so large always can.
        """
        return True

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

    prior: str | Mapping[Label, float]
    prior_count: float | Mapping[Label, float]
    known_labels: Iterable[Label] | None
    half_life: float | timedelta | None = None

    def _half_life(self) -> int | None:
        """The half-life in whole milliseconds, `None` where nothing fades.

        A model that fades names `half_life` among its state parameters, asks this in `check` and
        makes its statistics with it in `_clear`; `streamnb._kernels.fading` weighs the events.
        """
        return None if self.half_life is None else duration(self.half_life, "half_life")

    def _prior(self) -> ClassPrior:
        return ClassPrior(self.prior, self.prior_count, self.known_labels)

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets an attribute; a parameter is checked first, and a reading counts from now on."""
        if name in self.readings or name in self.state_parameters:
            before = self.__dict__.get(name, self)
            if before is not self and name in self.state_parameters:
                self._check_settable(name)
            super().__setattr__(name, own(value))
            if before is not self:
                self._scorer = STALE
                try:
                    self.check()
                except (TypeError, ValueError):
                    super().__setattr__(name, before)
                    raise
                if name in self.state_parameters:
                    self._clear()
        else:
            super().__setattr__(name, value)

    def _check_settable(self, name: str) -> None:
        """Raises `ValueError` where something was learned, which a state parameter has shaped."""
        if self.class_weight:
            msg = f"{name} shapes what is stored: it cannot be set once something was learned"
            raise ValueError(msg)

    @property
    def _multiclass(self) -> bool:
        return True

    def _more_tags(self) -> set[str]:
        return {tags.POSITIVE_INPUT} if self.positive else set()

    def parameters(self) -> dict[str, Any]:
        """All parameters by name, state parameters first."""
        return {name: getattr(self, name) for name in (*self.state_parameters, *self.readings)}

    def canonical_parameters(self) -> dict[str, Any]:
        """All parameters, those that mean the same written the same.

        Numbers are floats, a mapping of labels is a list of pairs in canonical order, and so are
        known labels without the numbers.
        """
        return {name: self._canonical(name, value) for name, value in self.parameters().items()}

    def _canonical(self, name: str, value: Any) -> Any:  # noqa: ARG002 - for those that override it
        """The canonical form of one parameter."""
        return canonical(value)

    def differences(self, other: Self) -> tuple[list[str], list[str]]:
        """The state parameters and the readings that differ, each as "name (ours and theirs)"."""
        ours, theirs = self.canonical_parameters(), other.canonical_parameters()
        differ: tuple[list[str], list[str]] = ([], [])
        for name in ours:
            if repr(ours[name]) != repr(theirs[name]):
                said = f"{name} ({getattr(self, name)!r} and {getattr(other, name)!r})"
                differ[name not in self.state_parameters].append(said)
        return differ

    @classmethod
    def from_canonical(cls, parameters: Mapping[str, Any]) -> Self:
        """An empty model with the parameters that `canonical_parameters` gave.

        Raises
        ------
        TypeError, ValueError
            they are not this model's.
        """
        if any(isinstance(value, np.ndarray | dict) for value in parameters.values()):
            msg = f"parameters of another kind: {', '.join(parameters)}"
            raise TypeError(msg)
        return cls(
            **{
                name: dict(value) if isinstance(value, list) and name in cls.mappings else value
                for name, value in parameters.items()
            }
        )

    def description(self) -> dict[str, Any]:
        """The model's class and parameters as JSON has them: `{"model": ..., "parameters": ...}`.

        A mapping of labels is an object where all labels are texts, else a list of pairs.
        """
        parameters = {name: self._plain(name, value) for name, value in self.parameters().items()}
        return {"model": type(self).__name__, "parameters": parameters}

    def _plain(self, name: str, value: Any) -> Any:
        """One parameter as JSON has it."""
        plain = self._canonical(name, value)
        if isinstance(value, Mapping):
            return dict(plain) if all(isinstance(label, str) for label, _ in plain) else plain
        return int(plain) if isinstance(plain, float) and plain.is_integer() else plain

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
