"""Predictions as JSON, and labels as keys of JSON objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from streamnb.models import BayesClassifier, label_texts
from streamnb.stream.records import Question, Scalar

__all__ = ["Respondent", "label_keys"]


class _Prediction(msgspec.Struct):
    id: msgspec.Raw
    y: Scalar | None
    p: dict[str, float]
    n: float


class Respondent:
    """Answers questions from one model."""

    def __init__(self, model: BayesClassifier) -> None:
        counters = model.provenance.counters
        self._model: Any = model  # its verbs are compiled
        self._keys = label_keys(model.classes)
        self._number = sum(model.class_weight.values()) if counters is None else counters.ok
        self._encode = msgspec.json.Encoder().encode

    def answer(self, question: Question) -> bytes:
        """Return `{"id": ..., "y": label, "p": {label: p}, "n": events the model has learned}`.

        Raises
        ------
        ValueError, TypeError
            the model refuses the event.
        """
        model, keys = self._model, self._keys
        p = {keys[label]: each for label, each in model.predict_proba_one(question.x).items()}
        y = model.predict_one(question.x)
        return self._encode(_Prediction(question.id, y, p, self._number))


def label_keys(labels: Iterable[Scalar]) -> dict[Scalar, str]:
    """Return a key for each label: a text as it is, another label as its JSON.

    See `streamnb.models.label_texts`.
    """
    labels = list(labels)
    return dict(zip(labels, label_texts(labels), strict=True))
