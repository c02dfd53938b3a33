"""Texts as bags of tokens: the tokenizer, its place in a model, and hashing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from river import feature_extraction
from sklearn.feature_extraction.text import CountVectorizer

import streamnb
from streamnb import MultinomialNB
from streamnb._kernels import hashing
from streamnb.likelihoods import Text

from .models import BAGS, Model, name_of
from .verbs import same, state

every_bag = pytest.mark.parametrize("kind", BAGS, ids=name_of)

TEXTS = [
    ("Win MONEY now, win!", "spam"),
    ("The meeting is at noon -- don't be late", "ham"),
    ("Größe und Straße: 3 x 4 = 12", "ham"),
    ("", "ham"),
    ("win win win a prize for free", "spam"),
]


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"lowercase": False},
        {"ngrams": (1, 2)},
        {"ngrams": (2, 3)},
        {"stop_words": ("the", "is", "at")},
        {"stop_words": ("the", "is"), "ngrams": (1, 2)},
        {"pattern": r"(?u)\b\w+\b"},
        {"pattern": r"(?u)(\w)\w*"},
    ],
    ids=str,
)
def test_tokens_are_scikit_learns(parameters: dict[str, Any]) -> None:
    """The tokens of `CountVectorizer` with the same parameters, as many of each."""
    text = Text("text", **parameters)
    theirs = CountVectorizer(
        token_pattern=text.pattern,
        lowercase=text.lowercase,
        ngram_range=text.ngrams,
        stop_words=list(text.stop_words) or None,
    )
    counts = theirs.fit_transform([each for each, _ in TEXTS]).toarray()
    names = theirs.get_feature_names_out()
    for (each, _), row in zip(TEXTS, counts, strict=True):
        expected = {str(name): int(n) for name, n in zip(names, row, strict=True) if n}
        assert text.bag({"text": each}) == expected


@every_bag
@pytest.mark.parametrize("width", [None, 16])
def test_a_field_of_text_is_its_tokens(kind: Model, width: int | None) -> None:
    """Learning texts is learning their tokens; only that field is read; tables the same."""
    model, plain = kind.make(text="text", width=width), kind.make(width=width)
    tokens = Text("text")
    for each, label in TEXTS:
        model.learn_one({"text": each, "other": "not read", "n": float("nan")}, label)
        plain.learn_one(tokens.bag({"text": each}), label)
    for label in ("ham", "spam"):
        assert model.counts(label) == plain.counts(label)
    assert model.class_weight == plain.class_weight
    question = "win a meeting"
    proba = model.predict_proba_one({"text": question})
    assert proba == plain.predict_proba_one(tokens.bag({"text": question}))
    texts, labels = [each for each, _ in TEXTS], [label for _, label in TEXTS]
    array = np.array([[1, each] for each in texts], dtype=object)
    for table, columns in [
        (pd.DataFrame({"text": texts, "other": texts}), None),
        (pl.DataFrame({"other": texts, "text": texts}), None),
        (array, ["n", "text"]),
    ]:
        many = kind.make(text="text", width=width)
        many.learn_many(table, labels, columns=columns)
        same(many, model)
        answers = np.asarray(many.predict_proba_many(table, columns=columns))
        one = [list(model.predict_proba_one({"text": each}).values()) for each in texts]
        np.testing.assert_array_equal(answers, one)


@every_bag
@pytest.mark.parametrize("x", [{}, {"text": None}, {"text": ""}, {"other": "words"}])
def test_no_text_is_no_words(kind: Model, x: dict[str, Any]) -> None:
    """An event without the field is an example of its class without a word."""
    model = kind.make(text="text")
    model.learn_one(x, "a")
    assert model.class_weight == {"a": 1.0}
    assert list(model.features) == []
    assert model.predict_one(x) == "a"


@every_bag
@pytest.mark.parametrize("text", [3, 1.5, True, b"bytes", ["a", "list"], {"a": 1}])
def test_what_is_no_text(kind: Model, text: Any) -> None:
    """Another kind of value is a TypeError that names the field, and changes no byte."""
    model = kind.make(text="text")
    model.learn_one({"text": "some words"}, "a")
    before = state(model)
    with pytest.raises(TypeError, match="text"):
        model.learn_one({"text": text}, "b")
    with pytest.raises(TypeError, match="text"):
        model.predict_one({"text": text})
    with pytest.raises(TypeError, match=r"row 1: feature 'text'"):
        model.learn_many(pd.DataFrame({"text": ["words", text]}, dtype=object), ["a", "b"])
    with pytest.raises(ValueError):  # noqa: PT011 - UnicodeEncodeError is one
        model.learn_one({"text": "a lone \ud800"}, "b")
    assert state(model) == before


@every_bag
def test_the_tokenizer_is_kept(kind: Model) -> None:
    """Bytes, clones and merges keep it: it shapes what is stored."""
    text = Text("body", lowercase=False, ngrams=(1, 2), stop_words=("b", "a"))
    model = kind.make(text=text, width=32)
    model.learn_one({"body": "Some words of a text"}, "x")
    back = streamnb.loads(state(model))
    same(back, model)
    for each in (back, model.clone(), model + model.clone()):
        assert Text.of(each.text) == text
        each.learn_one({"body": "More words"}, "y")
    same(kind.make(text="body"), kind.make(text=Text("body")))
    same(kind.make(text={"field": "body"}), kind.make(text=Text("body")))
    with pytest.raises(streamnb.MergeError, match="text"):
        model + kind.make(text="body", width=32)
    with pytest.raises(streamnb.MergeError, match="width"):
        model + kind.make(text=text, width=64)
    with pytest.raises(ValueError, match="text"):
        model.text = "body"
    inner = model.model if kind.timed else model
    assert inner.description()["parameters"]["text"]["ngrams"] == [1, 2]


@pytest.mark.parametrize(
    "bad",
    [
        {"text": 3},
        {"text": ""},
        {"text": {"feld": "x"}},
        {"text": {"field": "x", "ngrams": (2, 1)}},
        {"text": {"field": "x", "ngrams": (0, 1)}},
        {"text": {"field": "x", "pattern": "("}},
        {"text": {"field": "x", "pattern": "(a)(b)"}},
        {"text": {"field": "x", "pattern": b"a"}},
        {"text": {"field": "x", "stop_words": "the"}},
        {"text": {"field": "x", "stop_words": [1]}},
        {"text": {"field": "x", "lowercase": 1}},
        {"width": 0},
        {"width": 2.5},
        {"width": True},
        {"alpha": -1},
        {"vocabulary_size": 0},
        {"vocabulary_size": 2.5},
    ],
    ids=str,
)
def test_parameters_out_of_range(bad: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        MultinomialNB(**bad)


def test_siphash_is_its_authors() -> None:
    """The test vectors of SipHash-2-4: key 00..0f, messages of 0 to 15 bytes."""
    key = bytes(range(16))
    vectors = {
        0: "310e0edd47db6f72",
        1: "fd67dc93c539f874",
        7: "37d1018bf50002ab",
        8: "6224939a79f5f593",
        9: "b0e4a90bdf82009e",
        15: "e545be4961ca29a1",
    }
    for n, expected in vectors.items():
        got = hashing.siphash(key, bytes(range(n))).to_bytes(8, "little").hex()
        assert got == expected, n


@every_bag
def test_buckets(kind: Model) -> None:
    """With `width` tokens of one bucket are one token, of any type; shards merge to one pass."""
    width = 8
    tokens = [f"t{i}" for i in range(40)] + [3, ("a", "b")]
    assert len({hashing.bucket(token, width) for token in tokens}) > 4
    one, shards = kind.make(width=width), [kind.make(width=width) for _ in range(3)]
    for i in range(60):
        x = dict.fromkeys(tokens[i % 7 :: 5], 1 + i % 3)
        one.learn_one(x, "ab"[i % 2])
        shards[i % 3].learn_one(x, "ab"[i % 2])
    assert set(one.features) <= set(range(width))
    same(streamnb.merge(shards), one)
    if kind.name == "MultinomialNB":
        total = sum(sum((1 + i % 3) for _ in tokens[i % 7 :: 5]) for i in range(0, 60, 2))
        assert sum(one.counts("a").values()) == total


def test_rivers_vectorizer_before_the_model() -> None:
    """BagOfWords | MultinomialNB learns what our own tokenizer with its pattern learns."""
    pipeline = feature_extraction.BagOfWords(lowercase=True, strip_accents=False) | MultinomialNB()
    ours = MultinomialNB(text=Text("text", pattern=r"(?u)\b\w[\w\-]+\b"))
    for each, label in TEXTS:
        pipeline.learn_one(each, label)
        ours.learn_one({"text": each}, label)
    for label in ("ham", "spam"):
        assert pipeline["MultinomialNB"].counts(label) == ours.counts(label)
    asked = pipeline.predict_proba_one("win a prize")
    assert asked == ours.predict_proba_one({"text": "win a prize"})
