"""Accuracy on real texts, held against what scikit-learn and River reach on the same rows.

The data are not part of the project: `STREAMNB_DATA` names their folder.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split

import streamnb
from streamnb.likelihoods import Text

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("STREAMNB_DATA", ROOT.parent / "shared" / "data"))


def opened(name: str) -> Any:
    """A compressed file of the data, as text."""
    if not (DATA / name).is_file():
        pytest.skip(f"{name} is not in {DATA}: set STREAMNB_DATA to the folder that has it")
    return gzip.open(DATA / name, "rt", encoding="utf-8", newline="")


def posts(part: str) -> tuple[list[str], list[str]]:
    with opened(f"20news_4cat_{part}_stripped.jsonl.gz") as file:
        rows = [json.loads(line) for line in file]
    label = next(key for key in rows[0] if key != "text")
    return [row["text"] for row in rows], [str(row[label]) for row in rows]


def mails() -> tuple[list[str], list[str]]:
    with opened("sms_spam.tsv.gz") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [text for _, text in rows], [label for label, _ in rows]


@pytest.mark.parametrize(
    ("name", "accuracy"),
    [("MultinomialNB", 0.7716), ("BernoulliNB", 0.6268), ("ComplementNB", 0.7775)],
)
def test_20_newsgroups(name: str, accuracy: float) -> None:
    """scikit-learn's accuracy with its own vectorizer, to the last of its four digits."""
    (train, y), (test, expected) = posts("train"), posts("test")
    vectorizer = CountVectorizer(max_features=5000, stop_words="english")
    model = getattr(streamnb, name)()
    model.learn_many(vectorizer.fit_transform(train), y)
    answers = model.predict_many(vectorizer.transform(test))
    assert round(float(np.mean(answers == np.array(expected))), 4) == accuracy


@pytest.mark.parametrize(
    ("name", "accuracy"),
    [("MultinomialNB", 0.9848), ("BernoulliNB", 0.9776), ("ComplementNB", 0.9785)],
)
def test_sms_spam(name: str, accuracy: float) -> None:
    """scikit-learn's accuracy on a fifth that is held out, by our tokenizer as by theirs."""
    texts, labels = mails()
    train, test, y, expected = train_test_split(
        texts, labels, test_size=0.2, random_state=42, stratify=labels
    )
    model = getattr(streamnb, name)(text="text")
    for text, label in zip(train, y, strict=True):
        model.learn_one({"text": text}, label)
    answers = [model.predict_one({"text": text}) for text in test]
    assert round(float(np.mean(np.array(answers) == np.array(expected))), 4) == accuracy


def test_sms_spam_as_it_comes() -> None:
    """Predict, then learn, in the original order: at least River's 0.9722 (of its tokens)."""
    texts, labels = mails()
    model = streamnb.MultinomialNB(text=Text("text"))
    right = 0
    for text, label in zip(texts, labels, strict=True):
        right += model.predict_one({"text": text}) == label
        model.learn_one({"text": text}, label)
    assert right / len(labels) >= 0.9722
