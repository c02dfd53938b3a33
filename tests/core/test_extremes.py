"""What is in range but far out: either refused before anything changes, or taken and kept whole."""

from __future__ import annotations

import collections
import enum
import json
import math
import random
import types
from typing import Any

import numpy as np
import pytest

import streamnb
from streamnb import GaussianNB

from .models import MODELS, MOMENTS, PRIORS, Model, name_of
from .verbs import numbers, same, state

every_model = pytest.mark.parametrize("kind", MODELS, ids=name_of)
every_prior_model = pytest.mark.parametrize("kind", PRIORS, ids=name_of)


def whole(model: Any) -> None:
    """Assert that a model can be written, read back and asked, and answers no NaN."""
    same(streamnb.loads(state(model)), model)
    for label in model.class_weight:
        assert all(all(map(math.isfinite, each)) for each in numbers(model, label).values())
        assert all(each[-1] >= 0 for each in numbers(model, label).values())
    for x in ({}, {"x": 2.0}, {"x": 1e9 if model.positive else -1e9}):
        assert not any(map(math.isnan, model.joint_log_likelihood(x).values()))
        proba = model.predict_proba_one(x).values()
        assert not proba or math.fsum(proba) == pytest.approx(1.0, rel=1e-12, abs=0)


@pytest.mark.parametrize("kind", MOMENTS, ids=name_of)
@pytest.mark.parametrize("w", [5e-324, 1e-323, 1e-310, 2.3e-308, 1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("first", [None, 1.0])
def test_weights_of_any_size(kind: Model, w: float, first: float | None) -> None:
    """2, 4, 9 of equal weights have mean 5, variance 26/3, in one pass and merged.

    A weight below the normal doubles has fewer digits to give; it may be refused, unchanged.
    """
    models = [kind.make() for _ in range(3)]
    for model, x in zip(models, (2.0, 4.0, 9.0), strict=True):
        if first is not None:
            model.learn_one({"x": 1.0}, "first", w=first)
        before = state(model)
        try:
            model.learn_one({"x": x}, "a", w=w)
        except ValueError:
            assert state(model) == before
        whole(model)
    one = kind.make()
    for x in (2.0, 4.0, 9.0):
        before = state(one)
        try:
            one.learn_one({"x": x}, "a", w=w)
        except ValueError:
            assert state(one) == before
        whole(one)
    try:
        merged = streamnb.merge(models)
    except ValueError:
        assert w < 1e-300
        return
    whole(merged)
    if w >= 1e-300:
        for model in (one, merged):
            assert model.means("a")["x"] == pytest.approx(5.0, rel=1e-15, abs=0)
            assert model.variances("a")["x"] == pytest.approx(26 / 3, rel=1e-7, abs=0)


@pytest.mark.parametrize("kind", MOMENTS, ids=name_of)
@pytest.mark.parametrize(("light", "heavy"), [(2.3e-308, 1e19), (1e-300, 1.0), (1e-300, 1e300)])
def test_weights_of_very_different_size(kind: Model, light: float, heavy: float) -> None:
    """What a weight cannot move stays: the heavy row's value is the mean, either way round."""
    for order in ([(2.0, light), (4.0, heavy)], [(4.0, heavy), (2.0, light)]):
        model = kind.make()
        for x, w in order:
            model.learn_one({"x": x}, "a", w=w)
        whole(model)
        assert model.means("a") == {"x": 4.0}
        shards = [kind.make(), kind.make()]
        for shard, (x, w) in zip(shards, order, strict=True):
            shard.learn_one({"x": x}, "a", w=w)
        whole(streamnb.merge(shards))
        assert streamnb.merge(shards).means("a") == {"x": 4.0}


@pytest.mark.parametrize("kind", MOMENTS, ids=name_of)
@pytest.mark.parametrize("size", [1e-308, 1e-200, 1e-160, 1e100, 1e139, 1e141, 1e152])
def test_values_of_any_size(kind: Model, size: float) -> None:
    """2, 4, 9 times a size: the mean to the last digit, the variance where squares have doubles."""
    model = kind.make()
    for x in (2.0, 4.0, 9.0):
        model.learn_one({"x": x * size}, "a")
    whole(model)
    assert model.means("a")["x"] == pytest.approx(5.0 * size, rel=2e-16, abs=0)
    if size > 1e-150:
        assert model.variances("a")["x"] == pytest.approx(26 / 3 * size * size, rel=1e-15, abs=0)


@every_model
@pytest.mark.parametrize("digits", [20, 400, 5000])
def test_integers_without_end(kind: Model, digits: int) -> None:
    """A label or a name of any number of digits is refused by learning, or kept as it is."""
    number = -(10**digits)
    for x, y in [({"x": 1.0}, number), ({number: 1.0}, "a"), ({("n", number): 1.0}, "a")]:
        model = kind.make()
        before = state(model)
        try:
            model.learn_one(x, y)
        except ValueError:
            assert state(model) == before
        whole(model)


@every_model
@pytest.mark.parametrize("name", ["", "a" * 100_000, "\x00", "\U0010ffff", "e\u0301", "é"])
def test_texts_of_every_kind(kind: Model, name: str) -> None:
    """Any Unicode text is a name and a label, as it is: nothing is normalised or cut."""
    model = kind.make()
    model.learn_one({name: 1.0, (name,): 2.0}, name)
    assert list(model.features) == [name, (name,)]
    assert list(model.classes) == [name]
    whole(model)


def once(kind: Model) -> Any:
    """A model that learned x=1 of class a."""
    model = kind.make()
    model.learn_one({"x": 1.0}, "a")
    return model


@every_model
@pytest.mark.parametrize(
    "x",
    [
        collections.OrderedDict(x=1.0),
        collections.defaultdict(float, x=1.0),
        collections.ChainMap({"x": 1.0}, {"x": 9.0}),
        collections.UserDict(x=1.0),
        collections.Counter({"x": 1}),
        types.MappingProxyType({"x": 1.0}),
    ],
)
def test_events_are_mappings(kind: Model, x: Any) -> None:
    """Every mapping is an event, and is not changed by a question."""
    model, plain = kind.make(), kind.make()
    model.learn_one(x, "a")
    plain.learn_one({"x": 1.0, "z": 2.0}, "a")
    plain.predict_one(x)
    assert list(x) == ["x"]
    same(model, once(kind))


@every_model
def test_labels_that_are_subclasses(kind: Model) -> None:
    """Members of enumerations and subclasses of str and int are their plain values."""

    class Colour(enum.StrEnum):
        RED = "red"

    class Number(enum.IntEnum):
        ONE = 1

    model = kind.make()
    for label in (Colour.RED, "red", Number.ONE, 1):
        model.learn_one({Colour.RED: 1.0, Number.ONE: Number.ONE}, label)
    assert [type(label) for label in model.classes] == [int, str]
    assert [type(name) for name in model.features] == [int, str]
    assert model.class_weight == {1: 2.0, "red": 2.0}
    whole(model)


NUMPY_PARAMETERS = [
    ({"prior": np.str_("uniform")}, {"prior": "uniform"}),
    ({"prior": {np.str_("a"): np.float64(1)}}, {"prior": {"a": 1.0}}),
    ({"prior": {np.int64(3): np.float32(0.5), True: 0.5}}, {"prior": {3: 0.5, True: 0.5}}),
    ({"prior_count": np.int64(2)}, {"prior_count": 2}),
    ({"prior_count": np.float32(0.5)}, {"prior_count": 0.5}),
    ({"prior_count": {np.str_("a"): np.int8(2)}}, {"prior_count": {"a": 2}}),
    ({"known_labels": [np.int64(3), np.str_("a")]}, {"known_labels": [3, "a"]}),
    ({"known_labels": np.array(["a", "b"])}, {"known_labels": ["a", "b"]}),
    ({"known_labels": {"a": 1, "b": 2}.keys()}, {"known_labels": ["a", "b"]}),
]


@every_prior_model
@pytest.mark.parametrize(("given", "plain"), NUMPY_PARAMETERS, ids=str)
def test_parameters_of_numpy(kind: Model, given: dict[str, Any], plain: dict[str, Any]) -> None:
    """NumPy's numbers, texts and arrays are parameters like Python's: the bytes are equal."""
    model, expected = kind.make(**given), kind.make(**plain)
    same(model, expected)
    whole(model)
    assert json.dumps(model.description()) == json.dumps(expected.description())
    same(model + expected, expected)


def test_parameters_of_numpy_in_gaussian() -> None:
    """The same for what only GaussianNB has; 1 and 1.0 are one parameter."""
    given = GaussianNB(
        var_smoothing=np.float32(0.5),
        smoothing=np.str_("global"),
        background=np.int64(1),
        shared_variance=np.bool_(True),
        ddof=np.float64(1),
    )
    plain = GaussianNB(
        var_smoothing=0.5, smoothing="global", background=1, shared_variance=True, ddof=1
    )
    same(given, plain)
    json.dumps(given.description())


@every_prior_model
def test_known_labels_that_run_out(kind: Model) -> None:
    """An iterator of labels is refused, or its labels are all there for ever: never lost."""
    try:
        model = kind.make(known_labels=iter("ab"))
    except TypeError:
        return
    for _ in range(2):
        assert list(model.classes) == ["a", "b"]
        assert list(model.clone().classes) == ["a", "b"]
        same(streamnb.loads(state(model)), model)


@every_prior_model
def test_parameters_beyond_doubles(kind: Model) -> None:
    """A number that no double holds is a ValueError, as infinity is."""
    with pytest.raises(ValueError, match="prior_count"):
        kind.make(prior_count=10**400)
    for name in {"var_smoothing", "background", "ddof", "alpha"} & set(kind.readings):
        with pytest.raises(ValueError, match=name):
            kind.make(**{name: 10**400})


EXTREME = [
    0.0, -0.0, 5e-324, 1e-310, 1e-200, 1e-160, 1e-154, 1e139, 1.1e140, -1e141, 1e150, -1e153,
    1e154, 1e155, -1e200, 1.7e308, -1.7e308, 1.0, 2.0, 3.0, 1e9, 1 + 2**-52, 0.1, None,
]  # fmt: skip
HEAVY = [1.0, 1.0, 2.0, 0.1, 1e-300, 2.3e-308, 1e-310, 5e-324, 1e19, 1.1e20, 1e100, 1e300, 1.7e308]


@pytest.mark.parametrize("kind", MOMENTS, ids=name_of)
@pytest.mark.parametrize("block", range(8))
def test_streams_of_extremes(kind: Model, block: int) -> None:
    """What was learned or merged can be written, read, asked; what was refused left no trace.

    Answers are probabilities, never NaN: a density beyond doubles is -inf.
    """
    for seed in range(60 * block, 60 * block + 60):
        rng = random.Random(seed)
        models = []
        for _ in range(2):
            model = kind.make(**kind.some_readings(rng))
            for _ in range(rng.randint(1, 5)):
                before = state(model)
                x = kind.event({name: rng.choice(EXTREME) for name in ("x", "z")})
                try:
                    model.learn_one(x, rng.choice("ab"), w=rng.choice(HEAVY))
                except ValueError:
                    assert state(model) == before
            models.append(model)
        whole(models[0])
        whole(models[1])
        a, b = models
        try:
            merged = streamnb.merge([a, b], like=a)
        except ValueError:
            with pytest.raises(ValueError, match="range"):
                streamnb.merge([b, a], like=a)
            continue
        same(merged, streamnb.merge([b, a], like=a))
        whole(merged)


@pytest.mark.parametrize("far", [1e150, 1e153, 1e155, 1e200, 1.7e308])
@pytest.mark.parametrize("parameters", [{}, {"background": 1.0}, {"smoothing": "global"}], ids=str)
def test_classes_that_are_far_apart(far: float, parameters: dict[str, Any]) -> None:
    """Each class constant at its own end: each is certain of its own value, and nothing is NaN."""
    model = GaussianNB(**({"background": 0.0} | parameters))
    for _ in range(2):
        model.learn_one({"x": far, "z": 1.0}, "a")
        model.learn_one({"x": -far, "z": 2.0}, "b")
    whole(model)
    if not parameters.get("background"):
        assert model.predict_one({"x": far}) == "a"
        assert model.predict_one({"x": -far}) == "b"


@pytest.mark.parametrize("distance", [1e3, 1e6, 1e9, 1e12, 1e100, 1e150])
def test_probabilities_far_out_sum_to_one(distance: float) -> None:
    """Two equal classes: 1/2 each, however improbable the event is in both of them.

    exp(j - (top + log(sum))) would lose log(sum) beside a top of -1e18, and answer 1 for both.
    """
    model = GaussianNB(var_smoothing=0.0, background=0.0)
    for x, label in [(-1.0, "a"), (1.0, "a"), (-1.0, "b"), (1.0, "b")]:
        model.learn_one({"x": x}, label)
    expected = pytest.approx({"a": 0.5, "b": 0.5}, rel=1e-15, abs=0)
    assert model.predict_proba_one({"x": distance}) == expected
    many = model.predict_proba_many(np.array([[distance]]), columns=["x"])
    assert many.tolist() == [list(model.predict_proba_one({"x": distance}).values())]


def test_constant_classes_that_agree_share() -> None:
    """a and b both always saw 1, c saw 5, nothing smooths: at 2 a and b have 1/2 each, not 1."""
    model = GaussianNB(var_smoothing=0.0, background=0.0)
    for x, label in [(1.0, "a"), (1.0, "b"), (5.0, "c")]:
        model.learn_one({"x": x}, label)
    proba = model.predict_proba_one({"x": 2.0})
    assert proba == pytest.approx({"a": 0.5, "b": 0.5, "c": 0.0}, rel=1e-15, abs=0)
