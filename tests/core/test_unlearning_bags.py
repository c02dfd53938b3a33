"""Taking events back from models of tokens: as if they had never been."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamnb
from streamnb import BernoulliNB, ComplementNB, MultinomialNB

from .models import BAGS, Model, name_of
from .verbs import same, state

every_bag = pytest.mark.parametrize("kind", BAGS, ids=name_of)

TOKENS = [f"t{i}" for i in range(9)]
EVENTS = st.dictionaries(st.sampled_from(TOKENS), st.integers(0, 3), max_size=6)
ROWS = st.lists(
    st.tuples(EVENTS, st.sampled_from(["a", "b", 1]), st.integers(1, 3).map(float)), max_size=14
)


def learned(model: Any, rows: Any) -> Any:
    for x, y, w in rows:
        model.learn_one(x, y, w)
    return model


@every_bag
@given(ROWS, st.integers(0, 14), st.randoms(use_true_random=False))
def test_what_is_left_is_what_the_others_leave(
    kind: Model, rows: Any, number: int, rng: random.Random
) -> None:
    """Learn n, unlearn m of them in any order: the bytes of learning the n - m, and to the end."""
    shuffled = rng.sample(rows, len(rows))
    for width in (None, 4):
        model = learned(kind.make(width=width), rows)
        for x, y, w in shuffled[:number]:
            model.unlearn_one(x, y, w)
        others = learned(kind.make(width=width), shuffled[number:])
        same(model, others)
        assert model.classes == others.classes
        for x, _, _ in rows:
            asked = model.predict_proba_one(x)
            assert asked == pytest.approx(others.predict_proba_one(x), rel=1e-12)
        for x, y, w in shuffled[number:]:
            model.unlearn_one(x, y, w)
        same(model, kind.make(width=width))


@every_bag
@given(ROWS, ROWS)
def test_what_is_refused_changes_nothing(kind: Model, rows: Any, others: Any) -> None:
    """Whatever is taken back, either it goes or a ValueError leaves every byte."""
    model = learned(kind.make(), rows)
    for x, y, w in others:
        before, weights = state(model), model.class_weight
        try:
            model.unlearn_one(x, y, w)
        except ValueError:
            assert state(model) == before
        else:
            assert model.class_weight.get(y, 0.0) == weights[y] - w
            same(streamnb.loads(state(model)), model)


@every_bag
def test_a_window_that_slides_takes_no_more_memory(kind: Model) -> None:
    """Places that are given up are used again: ten thousand events in and out leave the table."""
    rng = random.Random(4)
    model = kind.make()
    window: list[Any] = []
    sizes = []
    for number in range(10_000):
        event = (dict.fromkeys(rng.sample(TOKENS, 4), 1), rng.choice("abcde"))
        model.learn_one(*event)
        window.append(event)
        if len(window) > 20:
            model.unlearn_one(*window.pop(0))
        if number % 1000 == 999:
            sizes.append(model._raw_memory_usage)
    assert max(sizes) <= sizes[0] * 1.25
    same(model, learned(kind.make(), [(x, y, 1.0) for x, y in window]))


@every_bag
@pytest.mark.parametrize(
    ("x", "y", "w"),
    [
        ({"u": 1}, "b", 1.0),  # a class that learned nothing
        ({"new": 1}, "a", 1.0),
        ({"u": 1, "v": 9}, "a", 3.0),
        ({"u": 1}, "a", 5.0),
        ({}, "a", 5.0),
    ],
)
def test_what_was_not_learned(kind: Model, x: Any, y: Any, w: float) -> None:
    model = kind.make()
    model.learn_one({"u": 2, "v": 1}, "a", 2.0)
    model.learn_one({"u": 1}, "a")
    before = state(model)
    with pytest.raises(ValueError, match=r"cannot unlearn|less weight"):
        model.unlearn_one(x, y, w)
    assert state(model) == before
    model.unlearn_one({"u": 1}, "a", 0.0)
    assert state(model) == before


def test_a_token_is_not_in_more_events_than_there_are() -> None:
    """Two events with u and one without: an event without u can go once, not twice."""
    model = BernoulliNB()
    for x in ({"u": 1}, {"u": 1, "v": 1}, {"v": 1}):
        model.learn_one(x, "a")
    model.unlearn_one({"v": 1}, "a")
    before = state(model)
    with pytest.raises(ValueError, match="less weight than one of its tokens"):
        model.unlearn_one({"v": 1}, "a")
    assert state(model) == before


def test_fractions_go_within_rounding() -> None:
    """0.1 learned ten times and taken back ten times is nothing, not 1e-17."""
    model = MultinomialNB(known_labels=["a"])
    for _ in range(10):
        model.learn_one({"u": 0.1, "v": 1 / 3}, "a", 0.7)
    for _ in range(10):
        model.unlearn_one({"u": 0.1, "v": 1 / 3}, "a", 0.7)
    same(model, MultinomialNB(known_labels=["a"]))
    assert model.classes == ["a"]


def test_what_a_class_leaves_is_rounding() -> None:
    """A count within 1e-9 of what went last goes with its class, and to no other class."""
    for kind in (MultinomialNB, BernoulliNB, ComplementNB):
        model = kind()
        model.learn_one({"a": 1e-12}, "x", 1e-12)
        model.learn_one({"b": 1}, "x")
        model.learn_one({"c": 1}, "y")
        model.unlearn_one({"b": 1}, "x")
        assert model.class_weight == {"y": 1.0}
        assert model.counts("y") == {"c": 1.0}
        alone = kind()
        alone.learn_one({"c": 1}, "y")
        same(model, alone)
