"""What `GaussianNB` reads from what it saw, against the definition in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamnb
from streamnb import GaussianNB

from .exact import Exact, Row
from .verbs import same, state

NONE = {"var_smoothing": 0.0, "background": 0.0}
ROWS: list[Row] = [
    ({"x": 1.0, "z": 20.0, "k": 3.0}, "a", 1.0),
    ({"x": 2.5, "z": 35.0, "k": 3.0}, "a", 2.0),
    ({"x": 4.0, "k": 3.0}, "a", 1.0),
    ({"x": 5.0, "z": -10.0}, "b", 1.0),
    ({"x": 7.5, "z": 15.0, "u": 1.0}, "b", 0.5),
    ({"u": 4.0}, "c", 3.0),
]
QUERIES: list[dict[str, float]] = [
    {},
    {"x": 3.0},
    {"x": 3.0, "z": 12.0, "k": 4.0, "u": 2.0},
    {"z": -100.0, "u": 9.0},
    {"x": math.nan, "z": 21.0},
]


def learned(rows: list[Row] = ROWS, **parameters: Any) -> GaussianNB:
    model = GaussianNB(**parameters)
    for x, y, w in rows:
        model.learn_one(x, y, w)
    return model


def test_means_variances_weights_features_classes() -> None:
    """Raw moments, divided by the weight: 1, 2.5, 2.5, 4: mean 10/4, variance 4.5/4; and so on."""
    model = learned()
    assert list(model.classes) == ["a", "b", "c"]
    assert list(model.features) == ["k", "u", "x", "z"]
    assert model.class_weight == {"a": 4.0, "b": 1.5, "c": 3.0}
    assert model.means("a") == {"k": 3.0, "x": 2.5, "z": 30.0}
    assert model.variances("a") == {"k": 0.0, "x": 1.125, "z": 50.0}
    # 5 and 7.5 with weights 2/3 and 1/3: mean 35/6, variance 2/9 * 2.5^2
    assert model.means("b") == pytest.approx({"u": 1.0, "x": 35 / 6, "z": -5 / 3}, rel=1e-15, abs=0)
    assert model.variances("b")["x"] == pytest.approx(2 / 9 * 2.5**2, rel=1e-15, abs=0)
    assert model.means("c") == {"u": 4.0}
    assert model.variances("c") == {"u": 0.0}


def test_moments_are_raw_whatever_is_read() -> None:
    """No reading touches what was seen: ddof, smoothing and background leave the moments."""
    plain = learned()
    for parameters in ({"ddof": 1}, {"var_smoothing": 5.0}, {"background": 3.0}):
        model = learned(**parameters)
        for label in "abc":
            assert model.means(label) == plain.means(label)
            assert model.variances(label) == plain.variances(label)


def test_an_unknown_label() -> None:
    """A label that was never learned has no moments: an error that names it."""
    with pytest.raises((KeyError, ValueError), match="zebra"):
        learned().means("zebra")
    with pytest.raises((KeyError, ValueError), match="zebra"):
        learned().variances("zebra")


READINGS = [
    {},
    {"var_smoothing": 0.25},
    {"smoothing": "global", "var_smoothing": 1e-3},
    {"smoothing": "absolute", "var_smoothing": 2.0},
    {"background": 1.5},
    {"background": 0.5, "var_smoothing": 0.5},
    {"background": 2.0, "smoothing": "global", "var_smoothing": 0.01},
    {"background": 2.0, "smoothing": "absolute", "var_smoothing": 0.5},
    {"ddof": 1, "smoothing": "absolute", "var_smoothing": 0.5},
    {"ddof": 0.5},
    {"shared_variance": True},
    {"shared_variance": True, "ddof": 1, "var_smoothing": 1e-3},
    {"shared_variance": True, "ddof": 100},
    {"shared_variance": True, "background": 1.5},
    {"shared_variance": True, "background": 0.5, "var_smoothing": 0.5, "ddof": 2},
    {"shared_variance": True, "background": 2.0, "smoothing": "global", "var_smoothing": 0.01},
    {"shared_variance": True, "smoothing": "absolute", "var_smoothing": 2.0},
    {"prior": "uniform"},
    {"prior": {"a": 0.2, "b": 0.3, "c": 0.5}},
    {"prior_count": 2.0},
]


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_readings(reading: dict[str, Any]) -> None:
    """Each reading answers as its definition in interface.md, worked in fractions."""
    model = learned(**(NONE | reading))
    exact = Exact(ROWS, **reading)
    for x in QUERIES:
        assert model.joint_log_likelihood(x) == pytest.approx(exact.joint(x), rel=1e-12, abs=1e-12)
        assert model.predict_proba_one(x) == pytest.approx(exact.proba(x), rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_readings_are_set_at_any_time(reading: dict[str, Any]) -> None:
    """A reading is a plain attribute: set after learning, the next answer and bytes use it."""
    model, made = learned(**NONE), learned(**(NONE | reading))
    model.predict_proba_one(QUERIES[2])
    for name, value in reading.items():
        setattr(model, name, value)
        assert getattr(model, name) == value
    for x in QUERIES:
        assert model.joint_log_likelihood(x) == made.joint_log_likelihood(x)
    same(model, made)
    for name in reading:
        setattr(model, name, getattr(learned(**NONE), name))
    same(model, learned(**NONE))
    assert model.joint_log_likelihood(QUERIES[2]) == pytest.approx(
        Exact(ROWS).joint(QUERIES[2]), rel=1e-12
    )


numbers = st.integers(-40, 40).map(lambda n: n / 4)
rows_of_two = st.lists(
    st.tuples(
        st.fixed_dictionaries({}, optional={"x": numbers, "z": numbers}),
        st.sampled_from("abc"),
        st.sampled_from([0.5, 1.0, 2.0]),
    ),
    min_size=1,
    max_size=12,
)


readings = st.fixed_dictionaries(
    {
        "smoothing": st.sampled_from(["feature", "global", "absolute"]),
        "var_smoothing": st.sampled_from([0.0, 1e-9, 0.1, 3.0]),
        "background": st.sampled_from([0.0, 0.5, 4.0]),
        "shared_variance": st.booleans(),
    }
)


@settings(max_examples=2 * settings().max_examples)
@given(
    rows_of_two,
    readings,
    st.fixed_dictionaries({}, optional={"x": numbers, "z": numbers, "u": numbers}),
)
def test_readings_of_any_rows(
    rows: list[Row], reading: dict[str, Any], query: dict[str, float]
) -> None:
    """The definition holds for any rows: one class, one row, constants, classes without a feature.

    A variance of 0 that nothing raises is read as 1e-18 of the total, so densities are finite.
    """
    model, exact = learned(rows, **reading), Exact(rows, **reading)
    expected = exact.joint(query)
    assert model.joint_log_likelihood(query) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    proba = model.predict_proba_one(query)
    if max(map(abs, expected.values())) < 1e4:
        assert proba == pytest.approx(exact.proba(query), rel=1e-6, abs=1e-12)
    assert math.fsum(proba.values()) == pytest.approx(1.0, rel=1e-14, abs=0)
    assert proba[model.predict_one(query)] == max(proba.values())


def test_background_fades_as_a_class_learns() -> None:
    """With b pseudo-observations of the total, n of its own: their share is b / (n + b)."""
    other = [({"x": 0.0}, "b", 1000.0), ({"x": 10.0}, "b", 1000.0)]
    gaps = []
    for n in (1.0, 10.0, 100.0):
        rows: list[Row] = [({"x": 4.0}, "a", n / 2), ({"x": 6.0}, "a", n / 2), *other]
        exact = Exact(rows, background=2.0)
        model = learned(rows, var_smoothing=0.0, background=2.0)
        joint = model.joint_log_likelihood({"x": 4.0})
        assert joint == pytest.approx(exact.joint({"x": 4.0}), rel=1e-13, abs=0)
        gaps.append(exact.normal("x", "a")[1] - 1)
    assert gaps[0] > 3 * gaps[1] > 9 * gaps[2] > 0


def test_a_variance_of_zero_is_read_as_a_part_of_the_total() -> None:
    """a: 1,1,1 b: 0,2,4, nothing smooths: variance of a is 1e-18 of the total, 2 (mean 1.5).

    Total: squares 0.25*3 + 2.25 + 0.25 + 6.25 = 9.5 over 6.
    """
    rows: list[Row] = [
        ({"x": x}, y, 1.0) for y, x in zip("aaabbb", (1.0, 1, 1, 0, 2, 4), strict=True)
    ]
    joint = learned(rows, **NONE).joint_log_likelihood({"x": 1.0})
    variance = Fraction(19, 12) / 10**18
    expected = math.log(0.5) - 0.5 * math.log(2 * math.pi * variance)
    assert joint["a"] == pytest.approx(expected, rel=1e-14, abs=0)
    far = learned(rows, **NONE).joint_log_likelihood({"x": 2.0})
    assert far["a"] == pytest.approx(-0.5 / float(variance), rel=1e-12, abs=0)


@pytest.mark.parametrize("query", [1e200, -1e200, 1.7e308, 1e160])
def test_a_density_beyond_doubles_is_no_nan(query: float) -> None:
    """Where every density underflows even as a logarithm, all classes are impossible: the prior."""
    rows: list[Row] = [
        ({"x": x}, y, 1.0) for x, y in [(-1.0, "a"), (1.0, "a"), (1.0, "a"), (2.0, "b")]
    ]
    model = learned(rows, var_smoothing=0.1, background=0.0)
    assert set(model.joint_log_likelihood({"x": query}).values()) == {-math.inf}
    assert model.predict_proba_one({"x": query}) == pytest.approx(
        {"a": 0.75, "b": 0.25}, rel=1e-15, abs=0
    )
    assert model.predict_one({"x": query}) == "a"


def test_classes_further_apart_than_squares_reach() -> None:
    """Two constant classes at 1e200 and -1e200 are finite statistics; the answers are no NaN."""
    model = GaussianNB(**NONE)
    model.learn_one({"x": 1e200}, "a")
    model.learn_one({"x": -1e200}, "b")
    for x in (1e200, -1e200, 0.0):
        proba = model.predict_proba_one({"x": x})
        assert math.fsum(proba.values()) == pytest.approx(1.0, rel=1e-15, abs=0)


def test_one_class_is_certain() -> None:
    """One class: {a: 1.0}, for any prior that allows it, any query, one row or many."""
    for prior in ("empirical", "uniform", {"a": 1.0}):
        for rows in (ROWS[:1], ROWS[:3]):
            model = learned(rows, prior=prior)
            for x in ({}, {"x": 2.0}, {"x": 1e9}, {"new": 1.0}):
                assert model.predict_proba_one(x) == {"a": 1.0}
                assert model.predict_one(x) == "a"


def test_ties_go_by_the_order_of_classes() -> None:
    """Equal classes: the first in canonical order, whichever came first."""
    for order in ("ab", "ba"):
        model = GaussianNB()
        for label in order:
            model.learn_one({"x": 1.0}, label)
            model.learn_one({"x": 3.0}, label)
        assert model.predict_one({"x": 2.5}) == "a"
        assert model.predict_many(np.array([[2.5]]), columns=["x"]).tolist() == ["a"]


def test_the_model_says_what_it_is() -> None:
    """Its kind, its parameters and which of them shape the state."""
    model = GaussianNB(ddof=1, prior={"b": 0.25, "a": 0.75})
    assert model.kind == "gaussian"
    description = model.description()
    assert description["model"] == "GaussianNB"
    assert description["parameters"]["ddof"] == 1
    assert model.readings == (
        "var_smoothing",
        "smoothing",
        "background",
        "shared_variance",
        "ddof",
        "prior",
        "prior_count",
        "known_labels",
    )
    assert not set(model.readings) & set(model.state_parameters)
    assert streamnb.models.KINDS["gaussian"] is GaussianNB
    assert state(GaussianNB(prior={"a": 0.75, "b": 0.25}, ddof=1)) == state(model)
