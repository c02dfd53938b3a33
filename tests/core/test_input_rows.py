"""What a label and a weight mean, and that `learn_many` is atomic."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import streamnb

from .models import MODELS, Model, name_of
from .verbs import LEARN, numbers, numpy_table, pandas_table, polars_table, same, state

every_model = pytest.mark.parametrize("kind", MODELS, ids=name_of)
every_learn = pytest.mark.parametrize("learn", LEARN.values(), ids=LEARN)


def some(kind: Model) -> Any:
    """A model that learned one event."""
    model = kind.make()
    model.learn_one({"x": 1.0}, "a")
    return model


# Weights


@every_model
@every_learn
def test_weight_zero_does_nothing(kind: Model, learn: Any) -> None:
    """w=0 makes no class, no feature, no byte: cases.md, `learn(1, 'a', w=0)` on an empty model."""
    model = kind.make()
    learn(model, {"x": 1.0}, "a", w=0.0)
    same(model, kind.make())
    assert list(model.classes) == []
    model, before = some(kind), state(some(kind))
    learn(model, {"x": 2.0, "new": 1.0}, "a", w=0)
    learn(model, {"x": 2.0}, "ghost", w=np.float64(0))
    learn(model, {"x": 2.0}, "ghost", w=-0.0)
    assert state(model) == before


@every_model
@every_learn
@pytest.mark.one_of("w")
@pytest.mark.parametrize(
    "w", [-1.0, -5e-324, math.nan, math.inf, -math.inf, np.float32("nan"), 10**400]
)
def test_bad_weights(kind: Model, learn: Any, w: Any) -> None:
    """Negative, NaN and infinite weights: ValueError before any state changes."""
    for model in (kind.make(), some(kind)):
        before = state(model)
        with pytest.raises(ValueError, match=r"(?i)weight|\bw\b"):
            learn(model, {"x": 1.0}, "a", w=w)
        assert state(model) == before


@every_model
@every_learn
@pytest.mark.one_of("w")
@pytest.mark.parametrize(
    "w",
    [
        "1",
        [1.0],
        1j,
        {},
        dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
        Decimal(1),
        Fraction(1, 2),
        np.array(1.0),
    ],
    ids=repr,
)
def test_weights_of_a_wrong_kind(kind: Model, learn: Any, w: Any) -> None:
    """A weight that is no number: TypeError (or ValueError) before any state changes."""
    model, before = some(kind), state(some(kind))
    with pytest.raises((TypeError, ValueError)):
        learn(model, {"x": 1.0}, "a", w=w)
    assert state(model) == before


@every_model
@every_learn
@pytest.mark.one_of("w")
@pytest.mark.parametrize("w", [3, 3.0, np.int64(3), np.float32(3)])
def test_weights_are_copies(kind: Model, learn: Any, w: Any) -> None:
    """river#1907: learn(2, w=3), learn(5, w=1) is 2,2,2,5: mean 2.75, variance 1.6875, n = 4."""
    model = kind.make()
    learn(model, {"x": 2.0}, "a", w=w)
    learn(model, {"x": 5.0}, "a", w=1)
    assert model.class_weight == {"a": 4.0}
    if kind.moments:
        assert model.means("a") == {"x": 2.75}
        assert model.variances("a") == {"x": 1.6875}
    elif hasattr(model, "covariance"):  # sums of squares are rounded, each step in its order
        assert model.means("a") == {"x": 2.75}
        assert model.covariance("a").tolist() == [[pytest.approx(1.6875, rel=1e-15, abs=0)]]
    else:
        copies = kind.make()
        for x in (2.0, 2.0, 2.0, 5.0):
            copies.learn_one({"x": x}, "a")
        same(model, copies)


# Labels


@every_model
@every_learn
@pytest.mark.one_of("given", "shown")
@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a", "a"),
        ("", ""),
        ("日本", "日本"),
        ("nul\x00inside", "nul\x00inside"),
        (3, 3),
        (-1, -1),
        (2**70, 2**70),
        (-(2**63), -(2**63)),
        (True, True),
        (False, False),
        (2.5, 2.5),
        (-0.5, -0.5),
        (np.str_("a"), "a"),
        (np.int64(3), 3),
        (np.uint8(3), 3),
        (np.float64(2.5), 2.5),
        (np.float32(0.1), float(np.float32(0.1))),
        (np.bool_(True), True),
    ],
)
def test_labels_keep_their_type(kind: Model, learn: Any, given: Any, shown: Any) -> None:
    """str, int, bool and float stay as they are, NumPy's are Python's; also in the bytes."""
    model = kind.make()
    learn(model, {"x": 1.0}, given)
    for one in (model, streamnb.loads(state(model))):
        (label,) = one.classes
        assert (label, type(label)) == (shown, type(shown))
        for answer in (one.predict_one({"x": 1.0}), *one.class_weight, *one.predict_proba_one({})):
            assert (answer, type(answer)) == (shown, type(shown))


@every_model
@every_learn
@pytest.mark.one_of("label")
@pytest.mark.parametrize(
    "label",
    [None, math.nan, np.float64("nan"), np.float32("nan"), pd.NA, pd.NaT],
)
def test_what_is_no_label(kind: Model, learn: Any, label: Any) -> None:
    """None and NaN are no labels: an error, and no byte changes."""
    for model in (kind.make(), some(kind)):
        before = state(model)
        with pytest.raises((TypeError, ValueError)):
            learn(model, {"x": 1.0}, label)
        assert state(model) == before


@every_model
@every_learn
@pytest.mark.one_of("label")
@pytest.mark.parametrize(
    "label", [b"a", ["a"], {"a"}, {"a": 1}, 1j, dt.date(2024, 1, 1), Decimal(1), object()]
)
def test_labels_of_a_wrong_kind(kind: Model, learn: Any, label: Any) -> None:
    """A label that is not str, int, bool or float: TypeError, and no byte changes."""
    for model in (kind.make(), some(kind)):
        before = state(model)
        with pytest.raises(TypeError):
            learn(model, {"x": 1.0}, label)
        assert state(model) == before


@every_model
def test_a_tuple_is_no_label(kind: Model) -> None:
    """A tuple is hashable, but no label."""
    model, before = some(kind), state(some(kind))
    with pytest.raises(TypeError):
        model.learn_one({"x": 1.0}, ("a", "b"))
    assert state(model) == before


@every_model
@every_learn
@pytest.mark.one_of("order")
@pytest.mark.parametrize("order", [(1, "1", True, 1.0), (1.0, True, "1", 1), ("1", True, 1, 1.0)])
def test_equal_labels_are_one_class(kind: Model, learn: Any, order: Any) -> None:
    """1, True and 1.0 are one class, shown as the highest kind seen; "1" is another."""
    model = kind.make()
    for i, label in enumerate(order):
        learn(model, {"x": float(i)}, label)
    assert [(label, type(label)) for label in model.classes] == [(1.0, float), ("1", str)]
    assert model.class_weight == {1: 3.0, "1": 1.0}


@every_model
@pytest.mark.one_of("labels", "shown")
@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        ([True, 1], int),
        ([1, True], int),
        ([np.True_, True], bool),
        ([True, 1.0], float),
        ([1, 1.0], float),
        ([1.0, 1], float),
        ([0.0, False], float),
        ([0, False], int),
        ([-0.0, 0], float),
    ],
)
def test_the_highest_kind_is_shown(kind: Model, labels: list[Any], shown: type) -> None:
    """Of equal labels the highest in bool, int, float is shown, in any order and after a merge."""
    shards = [kind.make() for _ in labels]
    one = kind.make()
    for shard, label in zip(shards, labels, strict=True):
        shard.learn_one({"x": 1.0}, label)
        one.learn_one({"x": 1.0}, label)
    for model in (one, streamnb.merge(shards), streamnb.loads(state(one))):
        assert [type(label) for label in model.classes] == [shown]
        assert model.predict_proba_one({}) == {labels[0]: 1.0}
        assert type(model.predict_one({})) is shown
    same(streamnb.merge(shards), streamnb.merge(shards[::-1]))


@every_model
def test_large_integers_are_not_rounded(kind: Model) -> None:
    """2**53 + 1 is not the float 2.0**53: Python's equality of labels, exactly."""
    model = kind.make()
    for label in (2**53 + 1, 2.0**53, 2**53):
        model.learn_one({"x": 1.0}, label)
    assert model.class_weight == {2**53: 2.0, 2**53 + 1: 1.0}
    same(streamnb.loads(state(model)), model)


@every_model
def test_canonical_order_of_labels(kind: Model) -> None:
    """`classes` and answers go by (type name, value): bool, float, int, str; never by arrival."""
    expected = [False, True, -1.5, 2.5, -3, 2, 10, "", "10", "9", "B", "a", "é"]
    models = [kind.make(), kind.make()]
    for model, labels in zip(models, (expected, expected[::-1]), strict=True):
        for label in labels:
            model.learn_one({"x": 1.0}, label)
        assert list(model.classes) == expected
        assert [type(label) for label in model.classes] == [type(label) for label in expected]
        assert list(model.predict_proba_one({"x": 1.0})) == expected
        assert list(model.joint_log_likelihood({"x": 1.0})) == expected
        assert list(model.class_weight) == expected
        assert model.predict_one({"x": 1.0}) is False  # all equal: the first of the order
    same(*models)


@every_model
@every_learn
def test_a_new_label_is_a_new_class(kind: Model, learn: Any) -> None:
    """scikit-learn#8100: a new label is accepted at any time; old classes keep their bits."""
    model = kind.make(**kind.plain)
    for x, y in [(1.0, "a"), (3.0, "a"), (7.0, "b"), (8.0, "b")]:
        model.learn_one({"x": x}, y)
    old = {y: (numbers(model, y), model.class_weight[y]) for y in "ab"}
    learn(model, {"x": 20.0}, "c")
    learn(model, {"x": 22.0}, "c")
    assert {y: (numbers(model, y), model.class_weight[y]) for y in "ab"} == old
    assert list(model.classes) == ["a", "b", "c"]
    # a Gaussian knows what is near; one token is all tokens, and 21 is no category that was seen
    assert model.predict_one({"x": 21.0}) == ("c" if kind.numeric and not kind.bag else "a")
    assert math.fsum(model.predict_proba_one({"x": 9.0}).values()) == pytest.approx(
        1, rel=1e-15, abs=0
    )


# Atomic


@every_model
@pytest.mark.parametrize("table", [pandas_table, polars_table, numpy_table])
@pytest.mark.parametrize("bad", [math.inf, "text"])
def test_learn_many_is_atomic(kind: Model, table: Any, bad: Any) -> None:
    """A bad cell in row 7 of 9: the error names 7 and the feature, the bytes are as before."""
    if kind.texts and bad == "text":
        bad = b"bytes"
    rows: list[dict[str, Any]] = [{"x": 0.5, "z": 0.25} for _ in range(9)]
    rows[7]["z"] = bad
    columns = {"columns": ["x", "z"]} if table is numpy_table else {}
    for model in (kind.make(), some(kind)):
        before = state(model)
        with pytest.raises((ValueError, TypeError), match=r"\b7\b") as refusal:
            model.learn_many(table(rows), ["a"] * 9, **columns)
        assert "z" in str(refusal.value)
        assert state(model) == before
        with pytest.raises((ValueError, TypeError), match=r"\b7\b"):
            model.predict_many(table(rows), **columns)


@every_model
@pytest.mark.parametrize("table", [pandas_table, polars_table, numpy_table])
def test_learn_many_names_the_row(kind: Model, table: Any) -> None:
    """A bad label, weight or update in row 7: the error names 7, the bytes are as before."""
    rows = [{"x": 0.5} for _ in range(9)]
    labels: list[Any] = ["a"] * 9
    model, before = some(kind), state(some(kind))
    with pytest.raises((ValueError, TypeError), match=r"\b7\b"):
        model.learn_many(table(rows), [*labels[:7], None, "a"])
    with pytest.raises((ValueError, TypeError), match=r"\b7\b"):
        model.learn_many(table(rows), labels, [1.0] * 7 + [-1.0, 1.0])
    with pytest.raises((ValueError, TypeError), match=r"\b7\b"):
        model.learn_many(table(rows), labels, t=[0.0] * 7 + [math.inf, 1.0])
    columns = {"columns": ["x"]} if table is numpy_table else {}
    rows[7] = {"x": 1e200}
    if kind.bag:  # sums of counts overflow, there are no squares
        rows[6] = rows[7] = {"x": 1.7e308}
    if kind.name != "BernoulliNB" and kind.numeric:  # whose counts are 0 and 1
        with pytest.raises(ValueError, match=r"\b7\b"):
            model.learn_many(table(rows), labels, **columns)
    assert state(model) == before


@every_model
def test_the_first_bad_row_is_named(kind: Model) -> None:
    """Of several bad rows of one kind the first is named; w = 0 in a row only leaves it out."""
    table = pd.DataFrame({"x": [0.5, math.inf, 0.5, math.inf]})
    with pytest.raises(ValueError, match=r"\b1\b"):
        kind.make().learn_many(table, list("aaaa"))
    model, plain = kind.make(), kind.make()
    model.learn_many(pl.DataFrame({"x": [0.5, 9.0]}), ["a", "ghost"], [1.0, 0.0])
    plain.learn_one({"x": 0.5}, "a")
    same(model, plain)
