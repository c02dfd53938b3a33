"""Predictions as JSON, and labels as keys of JSON objects."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from streamnb.models import BayesClassifier
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

    Where a text label reads the same, the other has its type before it: `int:1`.
    """
    labels = list(labels)
    texts = {label for label in labels if isinstance(label, str)}
    return {label: label if isinstance(label, str) else _key(label, texts) for label in labels}


def _key(label: Scalar, texts: set[str]) -> str:
    key = json.dumps(label)
    return f"{type(label).__name__}:{key}" if key in texts else key
