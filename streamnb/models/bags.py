"""Naive Bayes for bags of tokens: multinomial, Bernoulli and complement."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from streamnb._kernels import counts
from streamnb.likelihoods.bag import Bag, Complement
from streamnb.likelihoods.text import Text, bag_of
from streamnb.models.blocks import Block, TokenBlock
from streamnb.models.given import (
    GivenCounts,
    check_probability,
    check_sum,
    given_counts,
    given_prior,
)
from streamnb.models.model import FadingModel, ModelWithPrior
from streamnb.models.parametrized import reading
from streamnb.parameters import as_mapping, parameter, whole_number
from streamnb.stats.counts import Counts
from streamnb.stats.index import Label, Name, as_name

__all__ = ["BernoulliNB", "ComplementNB", "MultinomialNB"]


def _check_text(text: Any, name: str) -> None:  # noqa: ARG001 - what is wrong with it is said
    if text is not None:
        Text.of(text)


def _canonical_text(text: Any) -> Any:
    """A tokenizer as the list of its parameters."""
    return text and [[key, each] for key, each in Text.of(text).parameters().items()]


def _check_width(width: Any, name: str) -> None:
    if width is not None and (isinstance(width, bool) or not isinstance(width, int) or width < 1):
        msg = f"{name} is a whole number of buckets from 1 on, not {width!r}"
        raise ValueError(msg)


class BagModel(FadingModel):
    """What the models of tokens share: how they read events, and their statistics."""

    text: str | Text | Mapping[str, Any] | None = parameter(
        default=None,
        doc="a field's name or a `streamnb.likelihoods.Text`: the field whose text is read; `None`"
        " where the events are mappings of tokens to counts.",
        check=_check_text,
        shapes=True,
        canonical=_canonical_text,
        restored=as_mapping,
        plain=lambda text, _: text and Text.of(text).parameters(),
    )
    width: int | None = parameter(
        default=None,
        doc="hash tokens into so many buckets, so that memory is bounded; `None` keeps them apart.",
        check=_check_width,
        shapes=True,
        canonical=whole_number,
    )

    learn_one = counts.learn_one

    def _make_blocks(self) -> list[Block]:
        text = None if self.text is None else Text.of(self.text)
        bag: Callable[[Any], dict[Any, Any]] | None = bag_of(text, self.width)
        field = None if text is None else text.field
        return [TokenBlock(self._likelihood(), self._half_life(), bag, field, self.width)]

    def counts(self, label: Label) -> dict[Name, float]:
        """The count of each token that the class has seen, in canonical order.

        `{}` for a known class that has learned nothing; `KeyError` for a label that is no class.
        """
        self._check_class(label)
        found: dict[Name, float] = self.statistic.of(label)
        return found


class MultinomialNB(BagModel, ModelWithPrior):
    """Naive Bayes for counts of tokens: each occurrence is a draw from the class's tokens.

    See `streamnb.likelihoods.Bag` for the formula and its source. The tokens of an event are the
    names of its features, their counts the values; or, with `text`, the words of one field. A token
    that has faded to nothing in all classes is as if it had never been seen.

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
    likelihood: ClassVar[Any] = Bag
    fixed: ClassVar[Mapping[str, Any]] = {"event": "multinomial"}

    alpha: float = reading(Bag)
    vocabulary_size: int | None = reading(Bag)

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
        model._hold_statistic(_given(model.statistic, probabilities))
        return model


class BernoulliNB(BagModel, ModelWithPrior):
    """Naive Bayes for the presence of tokens: what is absent is evidence, too.

    See `streamnb.likelihoods.Bag` for the formula and its source. While all weights are whole, a
    question after learning costs the number of different counts; with other weights, or a
    half-life, it costs the vocabulary.

    Raises
    ------
    ValueError, TypeError
        a parameter is out of range, here or where it is set later.

    Examples
    --------
    >>> from streamnb import BernoulliNB
    >>> model = BernoulliNB(text="text")
    >>> model.learn_one({"text": "win money now"}, "spam")
    >>> model.learn_one({"text": "meeting at noon"}, "ham")
    >>> model.predict_one({"text": "noon"})
    'ham'
    """

    kind: ClassVar[str] = "bernoulli"
    likelihood: ClassVar[Any] = Bag
    fixed: ClassVar[Mapping[str, Any]] = {"event": "bernoulli"}

    alpha: float = reading(Bag)
    threshold: float = reading(Bag)

    @classmethod
    def from_parameters(
        cls,
        *,
        probabilities: Mapping[Label, Mapping[Name, float]],
        prior: str | Mapping[Label, float] | None = None,
    ) -> BernoulliNB:
        """A classifier of given probabilities that a token is there.

        It answers questions, and neither learns, merges nor is written to bytes.

        Parameters
        ----------
        probabilities
            {label: {token: probability that it is there}}; a token that a label lacks has 0.
        prior
            {label: probability}; without, or "uniform", all classes are equally probable.

        Raises
        ------
        ValueError, TypeError
            labels that do not fit, or a probability out of range.
        """
        model = GivenBernoulliNB(**given_prior(probabilities, prior))
        model._hold_statistic(_given(model.statistic, probabilities))
        return model


class ComplementNB(BagModel):
    """Naive Bayes by the complement of each class: for counts where classes differ in size.

    See `streamnb.likelihoods.Complement` for the scores and their source. There is no prior and no
    p(x | y): `joint_log_likelihood` gives the scores, `predict_proba_one` their softmax.

    Raises
    ------
    ValueError, TypeError
        a parameter is out of range, here or where it is set later.

    Examples
    --------
    >>> from streamnb import ComplementNB
    >>> model = ComplementNB()
    >>> model.learn_one({"win": 1, "money": 2}, "spam")
    >>> model.learn_one({"meeting": 1, "noon": 1}, "ham")
    >>> model.predict_one({"money": 1})
    'spam'
    """

    kind: ClassVar[str] = "complement"
    likelihood: ClassVar[Any] = Complement

    alpha: float = reading(Complement)


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
