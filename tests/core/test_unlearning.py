"""unlearn_one: what n events and then m of them backwards leave is what the n - m others leave."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamnb
from streamnb import LDA, QDA, GaussianNB, PoissonNB

from .exact import missing, moments
from .models import MOMENTS, Model, name_of
from .states import NAMES
from .verbs import LEARN, same, state

every_model = pytest.mark.parametrize("kind", MOMENTS, ids=name_of)
Row = tuple[dict[Any, Any], Any, float]
WHOLE = st.integers(1, 4).map(float)
ANY = st.one_of(WHOLE, st.sampled_from([0.1, 1 / 3, 0.7, 2.5]))


@st.composite
def streams(draw: st.DrawFn, weights: st.SearchStrategy[float]) -> list[Row]:
    """Rows in the order in which they are learned, each feature's numbers of one size."""
    sizes = {
        name: (draw(st.sampled_from([0.0, -3.0, 1e9])), draw(st.sampled_from([1.0, 1e-3, 1e3])))
        for name in NAMES
    }
    count = draw(st.integers(1, 12))
    rows = []
    for _ in range(count):
        x: dict[Any, Any] = {}
        for name, (middle, size) in sizes.items():
            place = draw(st.one_of(st.integers(-30, 30), st.just(99)))
            if place != 99:
                x[name] = middle + size * place / 7
            elif draw(st.booleans()):
                x[name] = None
        rows.append((x, draw(st.sampled_from(["a", "b", 1])), draw(weights)))
    return rows


def learned(kind: Model, rows: list[Row], **parameters: Any) -> Any:
    model = kind.make(**parameters)
    for x, y, w in rows:
        model.learn_one(x, y, w)
    return model


def cells(rows: list[Row]) -> dict[tuple[Any, Any], Any]:
    """The exact moments of each class and feature."""
    keys = {(y, name) for x, y, _ in rows for name, v in x.items() if not missing(v)}
    return {
        (label, name): moments(
            (x[name], w) for x, y, w in rows if y == label and not missing(x.get(name))
        )
        for label, name in keys
    }


def check_left(model: Any, gone: list[Row], left: list[Row]) -> None:
    """Assert that a model that learned all rows holds the ones that are left."""
    before, after = cells(gone + left), cells(left)
    for label in model.class_weight:
        means, variances = model.means(label), model.variances(label)
        assert set(means) == {name for y, name in after if y == label}
        for name, mean in means.items():
            whole, exact = before[label, name], after[label, name]
            share = 1e-12 * float(whole.weight / exact.weight)
            spread = float(whole.variance)
            size = max(abs(float(exact.mean)), math.sqrt(spread))
            assert abs(Fraction(mean) - exact.mean) <= share * size
            assert variances[name] >= 0
            assert abs(Fraction(variances[name]) - exact.variance) <= share * spread


@every_model
@given(streams(WHOLE), st.integers(0, 12), st.randoms(use_true_random=False))
def test_what_is_left_is_what_the_others_leave(
    kind: Model, rows: list[Row], number: int, rng: random.Random
) -> None:
    """In any order: weights to the bit, moments to 1e-12 n/(n - m) of the spread of all."""
    rows = kind.rows(rows)
    model = learned(kind, rows)
    shuffled = rng.sample(rows, len(rows))
    gone, left = shuffled[:number], shuffled[number:]
    for x, y, w in gone:
        model.unlearn_one(x, y, w)
    others = learned(kind, left)
    assert model.class_weight == others.class_weight
    assert list(map(repr, model.classes)) == list(map(repr, others.classes))
    assert model.features == others.features
    check_left(model, gone, left)
    for x, y, w in left:
        model.unlearn_one(x, y, w)
    same(model, kind.make())


@every_model
@given(streams(ANY), st.integers(0, 12), st.randoms(use_true_random=False))
def test_any_weights(kind: Model, rows: list[Row], number: int, rng: random.Random) -> None:
    """Weights that are not whole keep 30 digits; the end is the empty state all the same."""
    rows = kind.rows(rows)
    model = learned(kind, rows)
    shuffled = rng.sample(rows, len(rows))
    gone, left = shuffled[:number], shuffled[number:]
    for x, y, w in gone:
        model.unlearn_one(x, y, w)
    expected = learned(kind, left).class_weight
    assert model.class_weight == pytest.approx(expected, rel=1e-15, abs=0)
    check_left(model, gone, left)
    for x, y, w in left:
        model.unlearn_one(x, y, w)
    same(model, kind.make())


@every_model
@given(streams(WHOLE), st.lists(st.integers(0, 11), max_size=6))
def test_a_window_that_slides(kind: Model, rows: list[Row], more: list[int]) -> None:
    """First in, first out, again and again: the window holds the window."""
    rows = kind.rows(rows)
    rows = rows + [rows[place % len(rows)] for place in more]
    model = kind.make()
    for place, (x, y, w) in enumerate(rows):
        model.learn_one(x, y, w)
        if place >= 3:
            model.unlearn_one(*rows[place - 3])
    left = rows[-3:]
    assert model.class_weight == learned(kind, left).class_weight
    check_left(model, rows[:-3], left)


@every_model
@given(streams(WHOLE), streams(WHOLE))
def test_what_is_refused_changes_nothing(kind: Model, rows: list[Row], others: list[Row]) -> None:
    """Whatever is taken back, either it goes or a ValueError leaves every byte."""
    rows, others = kind.rows(rows), kind.rows(others)
    model = learned(kind, rows)
    for x, y, w in others:
        before = state(model)
        weights = model.class_weight
        try:
            model.unlearn_one(x, y, w)
        except ValueError:
            assert state(model) == before
        else:
            assert model.class_weight.get(y, 0.0) == weights[y] - w
            for label in model.class_weight:
                assert all(v >= 0 for v in model.variances(label).values())


@every_model
@pytest.mark.parametrize("verb", LEARN)
def test_every_way_to_learn_is_taken_back(kind: Model, verb: str) -> None:
    """Rows of tables too, once merged too."""
    model = kind.make()
    LEARN[verb](model, {"x": 1.0, "z": 2.0}, "a", w=2.0)
    first = state(model)
    LEARN[verb](model, {"x": 5.0, "z": 7.0}, "a", w=1.0)
    model.unlearn_one({"x": 5, "z": 7}, "a")
    assert model.class_weight == {"a": 2.0}
    assert model.means("a") == {"x": 1.0, "z": 2.0}
    assert model.variances("a") == pytest.approx({"x": 0.0, "z": 0.0}, abs=1e-14)
    other = kind.make()
    LEARN[verb](other, {"x": 8.0}, "b")
    whole = streamnb.loads(first) + other
    whole.unlearn_one({"x": 8.0}, "b")
    same(whole, streamnb.loads(first))


@every_model
def test_known_labels_stay_and_what_is_gone_is_gone(kind: Model) -> None:
    """A class disappears with its last example unless it is known, and so do features."""
    model = kind.make(known_labels=["a"])
    model.learn_one({"x": 1.0, "z": 5.0}, "a")
    model.learn_one({"x": 2.0}, "b")
    model.unlearn_one({"x": 1.0, "z": 5.0}, "a")
    assert model.classes == ["a", "b"]
    assert model.class_weight == {"b": 1.0}
    assert model.features == ["x"]
    model.unlearn_one({"x": 2.0}, "b")
    same(model, kind.make(known_labels=["a"]))


@every_model
def test_labels_that_are_equal_are_one_class(kind: Model) -> None:
    """1, True and 1.0 are one class, also on the way back; "1" is another."""
    model = kind.make()
    model.learn_one({"x": 1.0}, 1)
    model.learn_one({"x": 2.0}, "1")
    model.unlearn_one({"x": 1.0}, True)
    assert model.class_weight == {"1": 1.0}


@every_model
def test_no_weight_and_missing_features(kind: Model) -> None:
    """w=0 changes nothing, also of what was never learned; a missing feature is left alone."""
    model = kind.make()
    model.learn_one({"x": 1.0, "z": 2.0}, "a")
    model.learn_one({"x": 3.0}, "a")
    before = state(model)
    for y in ("a", "b"):
        model.unlearn_one({"x": 9.0, "new": 1.0}, y, w=0)
    assert state(model) == before
    model.unlearn_one({"x": 3.0, "z": None, "q": math.nan}, "a")
    one = kind.make()
    one.learn_one({"x": 1.0, "z": 2.0}, "a")
    same(model, one)


REFUSED: dict[str, tuple[dict[Any, Any], Any, dict[str, Any]]] = {
    "an unknown class": ({"x": 1.0}, "c", {}),
    "a class that is only known": ({"x": 1.0}, "k", {}),
    "an unknown feature": ({"new": 1.0}, "a", {}),
    "a feature of another class": ({"q": 1.0}, "a", {}),
    "more than there is": ({"x": 1.0, "z": 2.0}, "a", {"w": 3.0}),
    "more of a feature": ({"z": 2.0}, "a", {"w": 1.5}),
    "a class lighter than its feature": ({}, "a", {"w": 1.0}),
    "a class without weight": ({}, "b", {}),
    "squares below 0": ({"x": 9.0}, "a", {}),
    "squares beyond doubles": ({"x": 1e300}, "a", {}),
    "another last value": ({"x": 1.0, "z": 2.0 + 1e-8}, "a", {}),
    "another last value, far out": ({"x": 1.0, "z": 1e200}, "a", {}),
    "a negative weight": ({"x": 1.0}, "a", {"w": -1.0}),
    "an infinite weight": ({"x": 1.0}, "a", {"w": math.inf}),
    "an infinite value": ({"x": math.inf}, "a", {}),
    "no label": ({"x": 1.0}, math.nan, {}),
    "no time": ({"x": 1.0}, "a", {"t": math.inf}),
}


@every_model
@pytest.mark.parametrize("case", REFUSED)
def test_refused(kind: Model, case: str) -> None:
    """A ValueError, and not a byte is changed."""
    model = kind.make(known_labels=["k"])
    model.learn_one({"x": 1.0, "z": 2.0}, "a")
    model.learn_one({"x": 2.0}, "a")
    model.learn_one({"q": 1.0}, "b")
    before = state(model)
    x, y, more = REFUSED[case]
    with pytest.raises(ValueError, match=r"\w"):
        model.unlearn_one(x, y, **more)
    assert state(model) == before
    for rest in (({"x": 1.0, "z": 2.0}, "a"), ({"x": 2.0}, "a"), ({"q": 1.0}, "b")):
        model.unlearn_one(*rest)
    same(model, kind.make(known_labels=["k"]))


@every_model
@pytest.mark.parametrize("bad", [({"x": "1"}, "a", 1.0), ({"x": 1}, None, 1.0), ({}, "a", "1")])
def test_the_wrong_kind(kind: Model, bad: Any) -> None:
    """What learning refuses with a TypeError, unlearning does."""
    model = learned(kind, [({"x": 1.0}, "a", 1.0)])
    before = state(model)
    with pytest.raises(TypeError):
        model.unlearn_one(*bad)
    assert state(model) == before


@every_model
def test_rounding_is_read_as_nothing(kind: Model) -> None:
    """Ten times 0.1 is 1 but for rounding, and a weight within 1e-9 of what goes is 0."""
    model = kind.make()
    for _ in range(10):
        model.learn_one({"x": 3.0}, "a", w=0.1)
    model.unlearn_one({"x": 3.0}, "a", w=1.0)
    same(model, kind.make())
    model.learn_one({"x": 3.0}, "a", w=1 - 9e-10)
    model.unlearn_one({"x": 3.0}, "a")
    same(model, kind.make())
    model.learn_one({"x": 3.0}, "a", w=1 - 2e-9)
    with pytest.raises(ValueError, match="less weight"):
        model.unlearn_one({"x": 3.0}, "a")


@pytest.mark.parametrize("n", [2, 5, 30, 300])
@pytest.mark.parametrize("is_last", [True, False])
def test_what_an_outlier_leaves(n: int, is_last: bool) -> None:
    """1e12 among numbers of size 1 leaves what the docstring says; nothing is negative."""
    rng = random.Random(n)
    for _ in range(20):
        values = [rng.gauss(0, 1) for _ in range(n)]
        at = n if is_last else rng.randrange(n)
        model = GaussianNB()
        for value in [*values[:at], 1e12, *values[at:]]:
            model.learn_one({"x": value}, "a")
        model.unlearn_one({"x": 1e12}, "a")
        exact = moments((value, 1.0) for value in values)
        assert exact is not None
        assert abs(model.means("a")["x"] - float(exact.mean)) <= 5e-16 * 1e12 / n
        assert 0 <= model.variances("a")["x"] <= float(exact.variance) + 2e-16 * 1e24 / n


def test_the_last_of_many_leaves_no_trace() -> None:
    """1e12 after 1000 numbers of size 1: their moments are there again to 14 digits."""
    rng = random.Random(7)
    values = [rng.gauss(0, 1) for _ in range(1000)]
    model = GaussianNB()
    for value in [*values, 1e12]:
        model.learn_one({"x": value}, "a")
    model.unlearn_one({"x": 1e12}, "a")
    exact = moments((value, 1.0) for value in values)
    assert exact is not None
    assert model.means("a")["x"] == pytest.approx(float(exact.mean), abs=1e-14)
    assert model.variances("a")["x"] == pytest.approx(float(exact.variance), abs=1e-6)


def test_a_heavy_event_goes() -> None:
    """An event of a million times the others' weight leaves them to 1e-12 n/(n - m)."""
    model = GaussianNB()
    for value in (1.0, 2.0, 4.0):
        model.learn_one({"x": value}, "a")
    model.learn_one({"x": 10.0}, "a", w=3e6)
    model.unlearn_one({"x": 10.0}, "a", w=3e6)
    assert model.class_weight == {"a": 3.0}
    assert model.means("a")["x"] == pytest.approx(7 / 3, rel=1e-14)
    assert model.variances("a")["x"] == pytest.approx(14 / 9, rel=1e-12)


def test_a_live_model_notices() -> None:
    """What was asked before does not show: the live model answers as the one from its bytes."""
    model = GaussianNB()
    rng = random.Random(3)
    rows = [({"x": rng.gauss(i % 3, 1), "z": rng.gauss(0, 1)}, "abc"[i % 3]) for i in range(30)]
    for x, y in rows:
        model.learn_one(x, y)
    question = {"x": 0.7, "z": 0.1}
    for x, y in rng.sample(rows, 29):
        model.predict_one(question)
        model.unlearn_one(x, y)
        loaded = streamnb.loads(state(model))
        assert model.predict_proba_one(question) == loaded.predict_proba_one(question)
        assert list(model.predict_proba_one(question)) == model.classes


def test_given_distributions_do_not_unlearn() -> None:
    """A textbook's numbers have no events behind them."""
    model = GaussianNB.from_parameters(means={"a": {"x": 1.0}}, variances={"a": {"x": 1.0}})
    with pytest.raises(TypeError, match="given parameters"):
        model.unlearn_one({"x": 1.0}, "a")


def test_counts_do_not_unlearn_below_zero() -> None:
    """Of 1 and 2 an event of 100 was never learned: the mean left would be below 0."""
    model = PoissonNB()
    for value in (1, 2, 3):
        model.learn_one({"x": value}, "a")
    before = state(model)
    with pytest.raises(ValueError, match=r"feature 'x'.*would be negative"):
        model.unlearn_one({"x": 100}, "a")
    assert state(model) == before


@pytest.mark.seeds(200)
@pytest.mark.parametrize("make", [GaussianNB, PoissonNB, LDA, QDA])
def test_nothing_right_is_refused_after_fading(make: Any, seed: int) -> None:
    """Few values that are nearly equal, of any age: what is left is what the others leave.

    What has faded by 2^-30 since it was learned holds 2^30 of the rounding of what has not.
    """
    rng = random.Random(seed)
    model, middle = make(half_life=10), rng.choice([0.0, 0.1, 1.0, 100.0, 1e6])
    step, reach = rng.choice([1e-9, 1e-3, 0.1, 1.0]), rng.choice([50, 300])
    rows = [
        (middle + step * rng.choice([0, 0, 0, 1, rng.random()]), rng.randint(0, reach))
        for _ in range(rng.randint(2, 8))
    ]
    for value, t in rows:
        model.learn_one({"x": value}, "a", t=t)
    newest = max(t for _, t in rows)
    weights = [Fraction(2.0 ** ((t - newest) / 10)) for _, t in rows]
    left = list(zip((value for value, _ in rows), weights, (t for _, t in rows), strict=True))
    total = float(sum(weights))
    spread = max(value for value, _ in rows) - min(value for value, _ in rows)
    rng.shuffle(left)
    while left:
        value, _, t = left.pop()
        model.unlearn_one({"x": value}, "a", t=t)
        exact = moments((value, weight) for value, weight, _ in left)
        if exact is None:
            break
        noise = 1e-15 * total / float(exact.weight)
        mean, variance = float(exact.mean), float(exact.variance)
        assert model.means("a")["x"] == pytest.approx(mean, rel=1e-15, abs=noise * spread)
        if make is not PoissonNB:
            found = model.variances("a")["x"]
            assert found == pytest.approx(variance, rel=1e-12, abs=noise * spread**2)
    same(model, make(half_life=10))


def test_what_never_was_is_refused_after_fading() -> None:
    """Values far from those that were learned, of whatever age, are not taken for rounding."""
    for t in (0.0, 100.0, 200.0):
        model = GaussianNB(half_life=10)
        for at in range(8):
            model.learn_one({"x": 5.0 + at % 2}, "a", t=t)
        model.learn_one({"x": 5.5}, "a", t=200.0)
        before = state(model)
        with pytest.raises(ValueError, match="squares would be negative"):
            model.unlearn_one({"x": 12.0}, "a", t=t)
        assert state(model) == before
