"""Naive Bayes for bags of tokens: multinomial, Bernoulli and complement."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar

from streamnb import sparse
from streamnb._kernels import counts
from streamnb.bayes import ClassPrior, Scorer
from streamnb.likelihoods.bag import Bag, Complement
from streamnb.likelihoods.text import Text, bag_of
from streamnb.models.given import (
    GivenCounts,
    check_probability,
    check_sum,
    given_counts,
    given_prior,
)
from streamnb.models.tables import CountsClassifier
from streamnb.stats.counts import Counts
from streamnb.stats.counts_state import CountsState, SparseRows
from streamnb.stats.index import Label, Name, as_name

__all__ = ["BernoulliNB", "ComplementNB", "MultinomialNB"]


class BagClassifier(CountsClassifier):
    """What the models of tokens share: how they read events, and their statistics."""

    positive: ClassVar[bool] = True
    mappings: ClassVar[tuple[str, ...]] = ("prior", "prior_count", "text")

    text: str | Text | Mapping[str, Any] | None
    width: int | None

    _counts: Counts

    learn_one = counts.learn_one

    def _read(self, X: Any, columns: Sequence[Name] | None) -> tuple[int, SparseRows]:
        rows = self._rows(X, columns)
        return len(rows.bounds) - 1, rows

    def counts(self, label: Label) -> dict[Name, float]:
        """The count of each token that the class has seen, in canonical order.

        `{}` for a known class that has learned nothing; `KeyError` for a label that is no class.
        """
        self._check_class(label)
        return self._counts.of(label)

    def check(self) -> None:
        """Raises `ValueError` or `TypeError` where a parameter is out of range."""
        super().check()
        if self.text is not None:
            Text.of(self.text)
        if self.width is not None and (
            isinstance(self.width, bool) or not isinstance(self.width, int) or self.width < 1
        ):
            msg = f"width is a whole number of buckets from 1 on, not {self.width!r}"
            raise ValueError(msg)

    def _empty(self) -> Counts:
        """An empty statistic that reads events as the parameters say."""
        text = None if self.text is None else Text.of(self.text)
        return Counts(bag_of(text, self.width), half_life=self._half_life())

    def _clear(self) -> None:
        self.hold(self._empty())

    def _rows(self, X: Any, columns: Sequence[Name] | None) -> SparseRows:
        if self.text is not None:
            text = Text.of(self.text)
            bag = bag_of(text, self.width)
            rows = sparse.read_texts(X, text.field, bag, columns)
        else:
            rows = sparse.read_counts(X, columns)
            if self.width is not None:
                rows = sparse.hashed(rows, self.width)
        if self._counts.binary:
            rows = sparse.thresholded(rows, self._counts.threshold)
        return rows

    def _scores(self, X: Any, columns: Sequence[Name] | None) -> tuple[Any, Scorer]:
        rows = self._rows(X, columns)
        cells = rows.bounds, rows.columns, rows.values, self._counts.slots_of(rows)
        scores = self._scorer.scores_many(*cells)
        if scores is None:
            scores = self._new_scorer().scores_many(*cells)
        return scores, self._scorer

    def state(self) -> dict[str, Any]:
        """The statistics in canonical order: see `streamnb.stats.counts.CountsState`."""
        return self._counts.state().packed()

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Takes what `state` gave. Raises `ValueError` where it cannot have been learned."""
        self.hold(self._empty().with_state(CountsState.unpacked(state)))

    def _canonical(self, name: str, value: Any) -> Any:
        """The canonical form of one parameter; a tokenizer is a list of its parameters."""
        if name == "text" and value is not None:
            return [[key, each] for key, each in Text.of(value).parameters().items()]
        if name in ("width", "vocabulary_size") and value is not None:
            return int(value)
        return super()._canonical(name, value)

    def _plain(self, name: str, value: Any) -> Any:
        """One parameter as JSON has it."""
        if name == "text" and value is not None:
            return Text.of(value).parameters()
        return super()._plain(name, value)


class MultinomialNB(BagClassifier):
    """Naive Bayes for counts of tokens: each occurrence is a draw from the class's tokens.

    See `streamnb.likelihoods.Bag` for the formula. The tokens of an event are the names of its
    features, their counts the values; or, with `text`, the words of one field.

    Parameters
    ----------
    alpha
        pseudo-count of each token.
    vocabulary_size
        how many tokens there are; `None` for those that were seen.
    text
        a field's name or a `streamnb.likelihoods.Text`: the field whose text is read.
    width
        hash tokens into so many buckets, so that memory is bounded; `None` keeps them apart.
    prior, prior_count, known_labels, half_life
        as for `GaussianNB`. A token that has faded to nothing in all classes is as if it had never
        been seen.

    Raises
    ------
    ValueError, TypeError
        a parameter is out of range, here or where it is set later.

    Examples
    --------
    >>> from streamnb import MultinomialNB
    >>> model = MultinomialNB(text="text")
    >>> model.learn_one({"text": "win money now"}, "spam")
    >>> model.learn_one({"text": "meeting at noon"}, "ham")
    >>> model.predict_one({"text": "money at noon"})
    'ham'
    """

    kind: ClassVar[str] = "multinomial"
    readings: ClassVar[tuple[str, ...]] = (
        "alpha",
        "vocabulary_size",
        "prior",
        "prior_count",
        "known_labels",
    )
    state_parameters: ClassVar[tuple[str, ...]] = ("text", "width", "half_life")

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        vocabulary_size: int | None = None,
        text: str | Text | Mapping[str, Any] | None = None,
        width: int | None = None,
        prior: str | Mapping[Label, float] = "empirical",
        prior_count: float | Mapping[Label, float] = 0,
        known_labels: Iterable[Label] | None = None,
        half_life: float | timedelta | None = None,
    ) -> None:
        self.half_life = half_life
        self.alpha = alpha
        self.vocabulary_size = vocabulary_size
        self.text = text
        self.width = width
        self.prior = prior
        self.prior_count = prior_count
        self.known_labels = known_labels
        super().__init__()

    @classmethod
    def from_parameters(
        cls,
        *,
        probabilities: Mapping[Label, Mapping[Name, float]],
        prior: str | Mapping[Label, float] | None = None,
    ) -> MultinomialNB:
        """A classifier of given token probabilities, as a textbook has them.

        It answers questions, and neither learns, merges nor is written to bytes.

        Parameters
        ----------
        probabilities
            {label: {token: probability of a draw}}; a token that a label lacks has 0.
        prior
            {label: probability}; without, or "uniform", all classes are equally probable.

        Raises
        ------
        ValueError, TypeError
            labels that do not fit, or a probability out of range.
        """
        model = GivenMultinomialNB(**given_prior(probabilities, prior))
        model.hold(_given(model.statistic, probabilities))
        return model

    def _likelihood(self) -> Bag:
        return Bag("multinomial", self.alpha, self.vocabulary_size)


class BernoulliNB(BagClassifier):
    """Naive Bayes for the presence of tokens: what is absent is evidence, too.

    See `streamnb.likelihoods.Bag` for the formula. While all weights are whole, a question after
    learning costs the number of different counts; with other weights, or a half-life, it costs the
    vocabulary.

    Parameters
    ----------
    alpha
        pseudo-count of presence and of absence.
    threshold
        a token is there where its count is above this. Fixed once something was learned.
    text, width, prior, prior_count, known_labels, half_life
        as for `MultinomialNB`.

    Raises
    ------
    ValueError, TypeError
        a parameter is out of range, here or where it is set later.
    """

    kind: ClassVar[str] = "bernoulli"
    readings: ClassVar[tuple[str, ...]] = ("alpha", "prior", "prior_count", "known_labels")
    state_parameters: ClassVar[tuple[str, ...]] = ("threshold", "text", "width", "half_life")

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        threshold: float = 0.0,
        text: str | Text | Mapping[str, Any] | None = None,
        width: int | None = None,
        prior: str | Mapping[Label, float] = "empirical",
        prior_count: float | Mapping[Label, float] = 0,
        known_labels: Iterable[Label] | None = None,
        half_life: float | timedelta | None = None,
    ) -> None:
        self.half_life = half_life
        self.alpha = alpha
        self.threshold = threshold
        self.text = text
        self.width = width
        self.prior = prior
        self.prior_count = prior_count
        self.known_labels = known_labels
        super().__init__()

    @classmethod
    def from_parameters(
        cls,
        *,
        probabilities: Mapping[Label, Mapping[Name, float]],
        prior: str | Mapping[Label, float] | None = None,
    ) -> BernoulliNB:
        """A classifier of given probabilities that a token is there.

        Parameters, raises
        ------------------
        as for `MultinomialNB.from_parameters`.
        """
        model = GivenBernoulliNB(**given_prior(probabilities, prior))
        model.hold(_given(model.statistic, probabilities))
        return model

    def _empty(self) -> Counts:
        text = None if self.text is None else Text.of(self.text)
        return Counts(
            bag_of(text, self.width),
            binary=True,
            threshold=float(self.threshold),
            half_life=self._half_life(),
        )

    def _likelihood(self) -> Bag:
        return Bag("bernoulli", self.alpha, threshold=self.threshold)


class ComplementNB(BagClassifier):
    """Naive Bayes by the complement of each class: for counts where classes differ in size.

    See `streamnb.likelihoods.Complement` for the scores. There is no prior and no p(x | y):
    `joint_log_likelihood` gives the scores, `predict_proba_one` their softmax.

    Parameters
    ----------
    alpha
        pseudo-count of each token.
    text, width, half_life
        as for `MultinomialNB`.

    Raises
    ------
    ValueError, TypeError
        a parameter is out of range, here or where it is set later.
    """

    kind: ClassVar[str] = "complement"
    readings: ClassVar[tuple[str, ...]] = ("alpha",)
    state_parameters: ClassVar[tuple[str, ...]] = ("text", "width", "half_life")

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        text: str | Text | Mapping[str, Any] | None = None,
        width: int | None = None,
        half_life: float | timedelta | None = None,
    ) -> None:
        self.half_life = half_life
        self.alpha = alpha
        self.text = text
        self.width = width
        super().__init__()

    def _prior(self) -> ClassPrior:
        """None: the classes are those that have learned, whatever attributes are set."""
        return ClassPrior("uniform")

    def _likelihood(self) -> Complement:
        return Complement(self.alpha)

    def _make_scorer(self) -> Scorer:
        scorer: Scorer = self._likelihood().scorer(self._counts, self.classes)
        return scorer


class GivenMultinomialNB(GivenCounts, MultinomialNB):
    """What `MultinomialNB.from_parameters` makes."""


class GivenBernoulliNB(GivenCounts, BernoulliNB):
    """What `BernoulliNB.from_parameters` makes."""


def _given(empty: Counts, probabilities: Mapping[Label, Mapping[Name, float]]) -> Counts:
    """A statistic that reads as these probabilities."""
    found: dict[Name, dict[Label, float]] = {}
    for label, tokens in probabilities.items():
        for token, p in tokens.items():
            probability = check_probability(p, f"{token!r} in {label!r}")
            found.setdefault(as_name(token), {})[label] = probability
        if not empty.binary:
            check_sum(math.fsum(tokens.values()), repr(label))
    return empty.with_state(given_counts(found, list(probabilities)))
