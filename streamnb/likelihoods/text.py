"""Texts as bags of tokens."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as field_of
from typing import Any, ClassVar

from streamnb._kernels import hashing
from streamnb._kernels.bags import BagScorer
from streamnb.likelihoods.bag import Bag
from streamnb.likelihoods.base import Floats, Likelihood
from streamnb.stats.counts import Counts
from streamnb.stats.index import Label, canonical_name
from streamnb.values import as_event

__all__ = ["Text", "bag_of"]


@dataclass(frozen=True)
class Text(Likelihood, name="text"):
    """How the text in one field of an event becomes tokens.

    The defaults are those of scikit-learn's `CountVectorizer`. An event without the field, or with
    `None` in it, has no words.

    Attributes
    ----------
    field
        the field's name.
    pattern
        a regular expression whose matches are the tokens (with one group: what that matches).
    lowercase
        whether the text is lower-cased first.
    ngrams
        (least, most): the lengths of the runs of tokens that count, joined by a space.
    stop_words
        tokens that are left out before runs are made.
    event, alpha
        how the tokens are read where the text is a block of its own: see
        `streamnb.likelihoods.Bag`. A model that has `alpha` itself takes no other here.

    Raises
    ------
    TypeError, ValueError
        a field is of another kind, or the pattern is none.
    """

    reads: ClassVar[str] = "tokens"
    nonnegative: ClassVar[bool] = True

    field: str
    pattern: str = r"(?u)\b\w\w+\b"
    lowercase: bool = True
    ngrams: tuple[int, int] = (1, 1)
    stop_words: tuple[str, ...] = ()
    event: str = "multinomial"
    alpha: float = 1.0
    _compiled: re.Pattern[str] = field_of(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.field, str) or not self.field:
            msg = f"text names a field, not {self.field!r}"
            raise TypeError(msg)
        if not isinstance(self.pattern, str):
            msg = f"pattern is a text, not {self.pattern!r}"
            raise TypeError(msg)
        if not isinstance(self.lowercase, bool):
            msg = f"lowercase is True or False, not {self.lowercase!r}"
            raise TypeError(msg)
        if isinstance(self.stop_words, str) or not isinstance(self.stop_words, Iterable):
            msg = f"stop_words is a list of words, not {self.stop_words!r}"
            raise TypeError(msg)
        words = tuple(sorted(set(self.stop_words)))
        if not all(isinstance(word, str) for word in words):
            msg = f"stop_words are texts, not {self.stop_words!r}"
            raise TypeError(msg)
        runs = tuple(self.ngrams)
        if len(runs) != 2 or not all(type(n) is int for n in runs) or not 1 <= runs[0] <= runs[1]:
            msg = f"ngrams is (least, most) with 1 <= least <= most, not {self.ngrams!r}"
            raise ValueError(msg)
        try:
            compiled = re.compile(self.pattern)
        except re.error as error:
            msg = f"pattern is no regular expression: {self.pattern!r}: {error}"
            raise ValueError(msg) from error
        if compiled.groups > 1:
            msg = f"pattern has {compiled.groups} groups, and a token is one: {self.pattern!r}"
            raise ValueError(msg)
        Bag(self.event, self.alpha)
        object.__setattr__(self, "ngrams", runs)
        object.__setattr__(self, "stop_words", words)
        object.__setattr__(self, "_compiled", compiled)

    @classmethod
    def of(cls, text: str | Text | Mapping[str, Any]) -> Text:
        """The tokenizer that a parameter `text` names: a field, a `Text`, or its parameters."""
        if isinstance(text, str):
            return cls(text)
        if not isinstance(text, Text):
            try:
                text = cls(**text)
            except TypeError as error:
                msg = f"text is a field's name or the parameters of Text, not {text!r}"
                raise TypeError(msg) from error
        if (text.event, text.alpha) != (cls.event, cls.alpha):
            msg = f"event and alpha are the model's own here, and not the text's: {text!r}"
            raise ValueError(msg)
        return text

    def scorer(
        self,
        statistic: Counts,
        labels: list[Label],
        log_prior: Floats | None,
        prior_counts: Floats,
    ) -> BagScorer:
        """As `streamnb.likelihoods.Bag.scorer`."""
        return Bag(self.event, self.alpha).scorer(statistic, labels, log_prior, prior_counts)

    def parameters(self) -> dict[str, Any]:
        """What makes tokens of the text, as plain data."""
        return {
            "field": self.field,
            "pattern": self.pattern,
            "lowercase": self.lowercase,
            "ngrams": list(self.ngrams),
            "stop_words": list(self.stop_words),
        }

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, in order, runs after single ones."""
        words = self._compiled.findall(text.lower() if self.lowercase else text)
        if self.stop_words:
            words = [word for word in words if word not in self.stop_words]
        least, most = self.ngrams
        tokens = words if least == 1 else []
        for n in range(max(least, 2), most + 1):
            tokens = tokens + [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]
        return tokens

    def bag(self, x: Any) -> dict[str, int]:
        """The number of each token in the event's text.

        Raises
        ------
        TypeError
            the event is no mapping, or the field holds no text.
        ValueError
            UTF-8 cannot hold the text (lone surrogates).
        """
        text = as_event(x).get(self.field)
        if text is None:
            return {}
        if not isinstance(text, str):
            msg = f"feature {self.field!r}: a text is wanted, not {text!r} ({type(text).__name__})"
            raise TypeError(msg)
        if not text.isascii():
            text.encode()
        return dict(Counter(self.tokens(text)))


def bag_of(text: Text | None, width: int | None) -> Any:
    """The function from an event to its tokens and counts; `None` where the event is just that."""
    if width is None:
        return None if text is None else text.bag
    if text is None:
        return lambda x: hashing.buckets(as_event(x), width, canonical_name)
    return lambda x: hashing.buckets(text.bag(x), width, canonical_name)
