"""What `PoissonNB` reads from counts, against the definition in 60 digits, and SciPy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import poisson

import streamnb
from streamnb import PoissonNB

from .exact import ExactPoisson, Row
from .verbs import LEARN, PREDICT, numpy_table, pandas_table, polars_table, same, state

every_learn = pytest.mark.parametrize("learn", LEARN.values(), ids=LEARN)
every_predict = pytest.mark.parametrize("predict", PREDICT.values(), ids=PREDICT)

ROWS: list[Row] = [
    ({"x": 1.0, "z": 20.0, "k": 3.0}, "a", 1.0),
    ({"x": 2.0, "z": 35.0, "k": 3.0}, "a", 2.0),
    ({"x": 4.0, "k": 3.0}, "a", 1.0),
    ({"x": 0.0, "z": 0.0}, "b", 1.0),
    ({"x": 7.0, "z": 15.0, "u": 1.0}, "b", 0.5),
    ({"u": 4.0}, "c", 3.0),
]


def learned(rows: list[Row] = ROWS, **parameters: Any) -> PoissonNB:
    model = PoissonNB(**parameters)
    for x, y, w in rows:
        model.learn_one(x, y, w)
    return model


def test_by_hand() -> None:
    """a: 2,4 b: 0,1, alpha 1: M = 7/4, rates (2*3 + 7/4)/3 = 31/12 and (2*1/2 + 7/4)/3 = 11/12.

    Query 3: log-odds 3 log(31/11) - 20/12.
    """
    rows: list[Row] = [({"x": v}, y, 1.0) for v, y in [(2.0, "a"), (4.0, "a"), (0.0, "b")]]
    rows.append(({"x": 1.0}, "b", 1.0))
    joint = learned(rows).joint_log_likelihood({"x": 3.0})
    assert joint["a"] - joint["b"] == pytest.approx(3 * math.log(31 / 11) - 20 / 12, rel=1e-14)
    expected = math.log(0.5) + 3 * math.log(31 / 12) - 31 / 12 - math.log(6)
    assert joint["a"] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 3.5])
@pytest.mark.parametrize("largest", [3, 40, 1500])
def test_against_scipy(alpha: float, largest: int) -> None:
    """The sum of scipy.stats.poisson.logpmf at the rates of the definition, for whole counts."""
    rng = np.random.default_rng(largest)
    rates = rng.uniform(0, largest, (3, 4))
    y = rng.integers(0, 3, 200)
    X = rng.poisson(rates[y])
    model = PoissonNB(alpha=alpha, prior="uniform")
    model.learn_many(X, y)
    whole = X.mean(axis=0)
    queries = rng.poisson(largest / 2, (50, 4))
    expected = []
    for label in range(3):
        n = (y == label).sum()
        mean = (n * X[y == label].mean(axis=0) + alpha * whole) / (n + alpha)
        expected.append(poisson.logpmf(queries, mean).sum(axis=1) - math.log(3))
    joint = model.joint_log_likelihood_many(queries)
    np.testing.assert_allclose(joint, np.transpose(expected), rtol=1e-11, atol=1e-11)


counts = st.sampled_from([0.0, 0.0, 1.0, 2.0, 3.0, 7.0, 0.25, 16.5, 255.0, 300.0, 4097.0, 123456.0])
rows_of_two = st.lists(
    st.tuples(
        st.fixed_dictionaries({}, optional={"x": counts, "z": counts}),
        st.sampled_from("abc"),
        st.sampled_from([0.5, 1.0, 2.0]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=2 * settings().max_examples)
@given(
    rows_of_two,
    st.sampled_from([0.0, 1e-3, 1.0, 25.0]),
    st.fixed_dictionaries({}, optional={"x": counts, "z": counts, "u": counts}),
)
def test_readings_of_any_rows(rows: list[Row], alpha: float, query: dict[str, float]) -> None:
    """The definition holds for any rows: one class, one row, constants, classes without a feature.

    Also where nothing smooths and a class is impossible, or all of them are: never NaN.
    """
    model, exact = learned(rows, alpha=alpha), ExactPoisson(rows, alpha=alpha)
    expected = exact.joint(query)
    assert model.joint_log_likelihood(query) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    proba = model.predict_proba_one(query)
    assert math.fsum(proba.values()) == pytest.approx(1.0, rel=1e-14, abs=0)
    assert proba[model.predict_one(query)] == max(proba.values())
    if all(abs(j) < 1e4 or j == -math.inf for j in expected.values()):
        assert proba == pytest.approx(exact.proba(query), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("value", [1e-300, 1e-9, 0.5, 4096.0, 4096.5, 1e6, 1e9, 1e12, 1e15, 1e100])
def test_values_of_any_size(value: float, alpha: float) -> None:
    """Log-probabilities to 1e-12 of themselves (of 1, where they are less): no terms cancel."""
    rows: list[Row] = [
        ({"x": value * factor}, y, 1.0)
        for y, factor in [("a", 1.0), ("a", 1 + 2**-20), ("b", 1 + 2**-17), ("b", 1.5), ("c", 9.0)]
    ]
    model, exact = learned(rows, alpha=alpha), ExactPoisson(rows, alpha=alpha)
    for factor in (1.0, 1 + 2**-22, 1.2, 1.3, 8.0, 1e-3, 1e3):
        joint = model.joint_log_likelihood({"x": value * factor})
        expected = exact.joint({"x": value * factor})
        for label, j in expected.items():
            # what half an ulp of the rate, and of the ratio, can move
            moved = abs(value * factor - float(exact.rate("x", label))) * 4e-16
            assert joint[label] == pytest.approx(j, rel=1e-12, abs=1e-12 + moved)


def test_a_rate_of_zero() -> None:
    """Nothing smooths: a class that only saw 0 answers 0 with certainty, and no other value."""
    rows: list[Row] = [({"x": v}, y, 1.0) for v, y in [(0.0, "a"), (0.0, "a"), (2.0, "b")]]
    model = learned(rows, alpha=0.0)
    assert model.joint_log_likelihood({"x": 0.0}) == pytest.approx(
        {"a": math.log(2 / 3), "b": math.log(1 / 3) - 2}, rel=1e-15
    )
    for value in (1e-300, 1.0, 5000.0, 1e300):
        joint = model.joint_log_likelihood({"x": value})
        assert joint["a"] == -math.inf
        assert not math.isnan(joint["b"])
    assert model.predict_proba_one({"x": 1.0}) == {"a": 0.0, "b": 1.0}
    model.alpha = 1.0
    assert model.joint_log_likelihood({"x": 1.0})["a"] > -10


def test_where_every_class_is_impossible() -> None:
    """x was never above 0 in a, z never in b: both above 0 leave the prior."""
    rows: list[Row] = [
        ({"x": 0.0, "z": 3.0}, "a", 2.0),
        ({"x": 4.0, "z": 0.0}, "b", 1.0),
    ]
    model = learned(rows, alpha=0.0)
    query = {"x": 1.0, "z": 1.0}
    assert set(model.joint_log_likelihood(query).values()) == {-math.inf}
    assert model.predict_proba_one(query) == pytest.approx({"a": 2 / 3, "b": 1 / 3}, rel=1e-15)
    assert model.predict_one(query) == "a"
    assert model.predict_many(numpy_table([query]), columns=["x", "z"]).tolist() == ["a"]


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_always_zero_is_no_evidence(alpha: float) -> None:
    """A feature that was 0 in every event was constant: other values leave the other evidence."""
    rows: list[Row] = [
        ({"x": 1.0, "n": 0.0}, "a", 1.0),
        ({"x": 2.0}, "a", 1.0),
        ({"x": 6.0, "n": 0.0}, "b", 1.0),
    ]
    model = learned(rows, alpha=alpha)
    for value in (0.0, 3.0):
        assert model.joint_log_likelihood({"x": 1.0, "n": value}) == model.joint_log_likelihood(
            {"x": 1.0}
        )


def test_a_class_that_never_saw_a_feature() -> None:
    """It answers with the rate over all classes, whatever alpha."""
    rows: list[Row] = [({"x": v}, "a", 1.0) for v in (1.0, 2.0, 6.0)]
    rows.append(({}, "b", 1.0))
    for alpha in (0.0, 1.0, 50.0):
        joint = learned(rows, alpha=alpha, prior="uniform").joint_log_likelihood({"x": 4.0})
        expected = math.log(0.5) + poisson.logpmf(4, 3.0)
        assert joint == pytest.approx({"a": expected, "b": expected}, rel=1e-14)


def test_alpha_fades_as_a_class_learns() -> None:
    """With n events at 2 and alpha = 3 at the overall rate M the rate is (2n + 3M)/(n + 3)."""
    for n in (1, 10, 1000):
        rows: list[Row] = [({"x": 2.0}, "a", float(n)), ({"x": 8.0}, "b", float(n))]
        joint = learned(rows, alpha=3.0).joint_log_likelihood({"x": 0.0})
        rate = (2 * n + 3 * 5) / (n + 3)
        assert joint["a"] == pytest.approx(math.log(0.5) - rate, rel=1e-14)


NEGATIVE = [-1, -1.0, -5e-324, -1e200, np.float64(-2.5), np.int64(-3), np.float32(-0.5), -(10**30)]


@every_learn
@pytest.mark.parametrize("value", NEGATIVE, ids=repr)
def test_negative_counts_are_not_learned(learn: Any, value: Any) -> None:
    """revscoring#115, skll#473: a ValueError that names feature and value; no byte changes."""
    for model in (PoissonNB(), learned()):
        before = state(model)
        for x, y in [({"x": 1.0, "z": value}, "a"), ({"z": value}, "new"), ({"new": value}, "a")]:
            with pytest.raises(ValueError, match=r"('z'|'new'): .*not negative.* not .*-"):
                learn(model, x, y)
            assert state(model) == before
        with pytest.raises(ValueError, match="not negative"):
            learn(model, {"z": value}, "a", w=0.0)
        assert state(model) == before


@every_predict
@pytest.mark.parametrize("value", NEGATIVE, ids=repr)
def test_negative_counts_are_not_answered(predict: Any, value: Any) -> None:
    """What learning refuses is refused in a question: of a known feature, and of a new one."""
    for model in (PoissonNB(), learned()):
        before = state(model)
        for query in ({"k": 1.0, "u": value}, {"x": 1.0, "new": value}):
            with pytest.raises(ValueError, match=r"('u'|'new'): .*not negative.* not .*-"):
                predict(model, query)
            with pytest.raises(ValueError, match="not negative"):
                model.joint_log_likelihood(query)
        assert state(model) == before


@pytest.mark.parametrize("table", [pandas_table, polars_table, numpy_table])
def test_a_negative_count_in_a_table(table: Any) -> None:
    """The first of two bad rows is named, with feature and value, and nothing is learned."""
    rows: list[dict[str, Any]] = [{"x": 1.0, "z": 2.0} for _ in range(9)]
    rows[7]["z"], rows[8]["x"] = -3.0, -1.0
    columns = {"columns": ["x", "z"]} if table is numpy_table else {}
    model = learned()
    before = state(model)
    with pytest.raises(ValueError, match=r"row 7: feature 'z': .* not -3\.0"):
        model.learn_many(table(rows), ["a"] * 9, **columns)
    for verb in (model.predict_many, model.predict_proba_many, model.joint_log_likelihood_many):
        with pytest.raises(ValueError, match=r"row 7: feature 'z'"):
            verb(table(rows), **columns)
    assert state(model) == before


def test_models_made_of_others_refuse_too() -> None:
    """Merged, loaded, cloned and copied models still take counts only."""
    model = learned()
    for other in (model + model, streamnb.loads(state(model)), model.clone()):
        with pytest.raises(ValueError, match="not negative"):
            other.learn_one({"x": -1.0}, "a")
        with pytest.raises(ValueError, match="not negative"):
            other.predict_one({"x": -1.0})


def test_a_state_of_negative_means() -> None:
    """Statistics of values below 0 are none that this model can have learned."""
    model = streamnb.GaussianNB()
    model.learn_one({"x": -1.0}, "a")
    with pytest.raises(ValueError, match="negative"):
        PoissonNB().set_state(model.state())


@every_learn
def test_zero_has_no_sign(learn: Any) -> None:
    """-0.0 is 0."""
    model, plain = PoissonNB(), PoissonNB()
    learn(model, {"x": -0.0}, "a")
    plain.learn_one({"x": 0.0}, "a")
    same(model, plain)
    assert model.joint_log_likelihood({"x": -0.0}) == {"a": 0.0}


def test_the_model_says_what_it_is() -> None:
    """Its kind, its readings; only a half-life shapes the state."""
    model = PoissonNB(alpha=2)
    assert model.kind == "poisson"
    assert streamnb.models.KINDS["poisson"] is PoissonNB
    assert model.readings == ("alpha", "prior", "prior_count", "known_labels")
    assert model.state_parameters == ("half_life",)
    assert model.description() == {
        "model": "PoissonNB",
        "parameters": {
            "half_life": None,
            "alpha": 2,
            "prior": "empirical",
            "prior_count": 0,
            "known_labels": None,
        },
    }


def test_means_and_variances_are_raw() -> None:
    """2, 4, 9: the mean 5 and the variance 26/3, which no reading moves."""
    model = learned([({"x": v}, "a", 1.0) for v in (2.0, 4.0, 9.0)], alpha=7.0)
    assert model.means("a") == {"x": 5.0}
    assert Fraction(model.variances("a")["x"]) == pytest.approx(Fraction(26, 3), rel=1e-16)
