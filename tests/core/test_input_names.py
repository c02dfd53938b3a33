"""What a name and a time mean, and which events are none."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import numpy as np
import pytest

import streamnb

from .models import MODELS, Model, name_of
from .verbs import LEARN, numbers, same, state

every_model = pytest.mark.parametrize("kind", MODELS, ids=name_of)
every_learn = pytest.mark.parametrize("learn", LEARN.values(), ids=LEARN)


def some(kind: Model) -> Any:
    """A model that learned one event."""
    model = kind.make()
    model.learn_one({"x": 1.0}, "a")
    return model


@every_model
def test_names_keep_their_type(kind: Model) -> None:
    """str, int and tuples of them are names; 1 and "1" are two; order: (type name, value)."""
    names = [
        -2,
        1,
        10,
        "",
        "1",
        "10",
        "9",
        "x",
        "é",
        (1, 2),
        (1, "a"),
        ("a", 1),
        ("a", "b"),
        ("b",),
    ]
    model = kind.make()
    model.learn_one({name: float(i) for i, name in enumerate(reversed(names), 1)}, "a")
    for one in (model, streamnb.loads(state(model))):
        assert list(one.features) == names
        assert [type(name) for name in one.features] == [type(name) for name in names]
        learned = numbers(one, "a")
        assert list(learned) == names
        assert learned[1] != learned["1"] or kind.name == "BernoulliNB"


@every_model
@pytest.mark.one_of("name")
@pytest.mark.parametrize(
    "name", [None, 1.5, b"x", frozenset("x"), (1.5,), ("a", None), ("a", b"b"), 1j, object()]
)
def test_names_of_a_wrong_kind(kind: Model, name: Any) -> None:
    """Another name is a TypeError, in learning and in predicting, and changes no byte."""
    for model in (kind.make(), some(kind)):
        before = state(model)
        with pytest.raises(TypeError):
            model.learn_one({"x": 1.0, name: 1.0}, "a")
        with pytest.raises(TypeError):
            model.predict_one({"x": 1.0, name: 1.0})
        assert state(model) == before


@every_model
def test_a_float_is_no_name(kind: Model) -> None:
    """1.0 equals the name 1, but is no name, also where 1 was learned: what an event means may
    not depend on what came before it."""
    model = kind.make()
    model.learn_one({1: 2.0, ("a", 1): 3.0}, "a")
    before = state(model)
    for name in (1.0, ("a", 1.0), np.float64(1)):
        with pytest.raises(TypeError):
            model.learn_one({name: 5.0}, "a")
        with pytest.raises(TypeError):
            model.predict_one({name: 5.0})
    assert state(model) == before


@every_model
@pytest.mark.one_of("text")
@pytest.mark.parametrize("text", ["\ud800", "a\udfff"])
def test_a_text_that_is_no_unicode(kind: Model, text: str) -> None:
    """A lone surrogate cannot be written as UTF-8: refused in learning, never first by `dumps`."""
    for x, y in [({text: 1.0}, "a"), ({"x": 1.0}, text), ({("a", text): 1.0}, "a")]:
        model = some(kind)
        before = state(model)
        with pytest.raises(ValueError):  # noqa: PT011 - UnicodeEncodeError is one
            model.learn_one(x, y)
        assert state(model) == before


@every_model
@pytest.mark.one_of("x")
@pytest.mark.parametrize("x", [None, 3.0, "x", [("x", 1.0)], [1.0], {"x"}])
def test_events_of_a_wrong_kind(kind: Model, x: Any) -> None:
    """An event that is no mapping is a TypeError, in learning and in predicting."""
    model, before = some(kind), state(some(kind))
    with pytest.raises(TypeError):
        model.learn_one(x, "a")
    with pytest.raises(TypeError):
        model.predict_one(x)
    assert state(model) == before


# Times


@every_model
@every_learn
@pytest.mark.one_of("t")
@pytest.mark.parametrize(
    "t",
    [
        0,
        1_700_000_000,
        1_700_000_000.1235,
        -5.5,
        np.int64(3),
        np.float64(3.5),
        dt.datetime(2024, 5, 1, 12, 0),  # noqa: DTZ001 - a naive one is UTC
        dt.datetime(2024, 5, 1, 12, 0, tzinfo=dt.UTC),
        dt.datetime(2024, 5, 1, 12, 0, tzinfo=dt.timezone(dt.timedelta(hours=-7))),
    ],
)
def test_times_are_taken(kind: Model, learn: Any, t: Any) -> None:
    """Numbers and datetimes, aware or not, are times; they leave no trace where no time counts."""
    model, plain = some(kind), some(kind)
    learn(model, {"x": 2.0}, "b", t=t)
    plain.learn_one({"x": 2.0}, "b", t=t if kind.timed else None)
    same(model, plain)


@every_model
@every_learn
@pytest.mark.one_of("t")
@pytest.mark.parametrize("t", ["2024-05-01", b"0", [0.0], {}, 1j, math.nan, math.inf, -math.inf])
def test_times_of_a_wrong_kind(kind: Model, learn: Any, t: Any) -> None:
    """A time that is no finite number and no datetime is an error, and changes no byte."""
    model, before = some(kind), state(some(kind))
    with pytest.raises((TypeError, ValueError)):
        learn(model, {"x": 2.0}, "a", t=t)
    assert state(model) == before
