"""One variance for all classes, and the log-odds that are linear then."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import streamnb
from streamnb import GaussianNB

from .exact import Exact, Row, log


def learned(rows: list[Row], **parameters: Any) -> GaussianNB:
    plain = {"var_smoothing": 0.0, "background": 0.0, "shared_variance": True}
    model = GaussianNB(**(plain | parameters))
    for x, y, w in rows:
        model.learn_one(x, y, w)
    return model


def ratio(model: GaussianNB, one: Any, other: Any, x: dict[Any, float]) -> tuple[float, float]:
    """What the weights and the bias give for an event, and the size of what was summed."""
    weights, bias = model.linear_log_odds(one, other)
    terms = [Fraction(bias), *(Fraction(weights[name]) * Fraction(v) for name, v in x.items())]
    return float(sum(terms)), float(sum(map(abs, terms)))


def test_pooled_by_hand() -> None:
    """a: 0,2 b: 5,7,9, query 3: variance (2 + 8)/5 = 2: P(a) = .930509; less 1: 10/4."""
    rows = [({"x": float(x)}, "ab"[x > 2], 1.0) for x in (0, 2, 5, 7, 9)]
    proba = learned(rows).predict_proba_one({"x": 3.0})
    odds = math.log(2 / 3) + ((3 - 7) ** 2 - (3 - 1) ** 2) / (2 * 2)
    assert proba["a"] == pytest.approx(1 / (1 + math.exp(-odds)), rel=1e-14, abs=0)
    assert proba["a"] == pytest.approx(0.930509, abs=5e-7)
    proba = learned(rows, ddof=1).predict_proba_one({"x": 3.0})
    odds = math.log(2 / 3) + ((3 - 7) ** 2 - (3 - 1) ** 2) / (2 * 2.5)
    assert proba["a"] == pytest.approx(1 / (1 + math.exp(-odds)), rel=1e-14, abs=0)


def test_one_feature_is_linear_discriminant_analysis() -> None:
    """With one feature it is scikit-learn's LDA, for each of iris' four; its variance is by n."""
    X, y = datasets.load_iris(return_X_y=True)
    for column in range(4):
        x = X[:, column : column + 1]
        model = GaussianNB(var_smoothing=0.0, background=0.0, shared_variance=True)
        model.learn_many(x, y)
        peer = LinearDiscriminantAnalysis(solver="lsqr").fit(x, y)
        np.testing.assert_allclose(
            model.predict_proba_many(x), peer.predict_proba(x), rtol=1e-9, atol=1e-12
        )


def test_features_as_if_uncorrelated_are_lda() -> None:
    """Events that make all within-class covariances exactly 0: LDA with three features."""
    corners = [(i, j, k) for i in (-1, 1) for j in (-2, 2) for k in (-3, 3)]
    X = np.array([(i + 4 * c, j + c, k - c) for c in range(3) for i, j, k in corners], float)
    y = np.repeat([0, 1, 2], len(corners))
    model = GaussianNB(var_smoothing=0.0, background=0.0, shared_variance=True)
    model.learn_many(X, y)
    peer = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    queries = np.random.default_rng(2).normal(size=(50, 3)) * 3
    expected = peer.predict_proba(queries)
    np.testing.assert_allclose(model.predict_proba_many(queries), expected, rtol=1e-10, atol=1e-14)
    weights, bias = model.linear_log_odds(2, 0)
    np.testing.assert_allclose(list(weights.values()), peer.coef_[2] - peer.coef_[0], rtol=1e-12)
    assert bias == pytest.approx(peer.intercept_[2] - peer.intercept_[0], rel=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"background": 2.0},
        {"var_smoothing": 0.25},
        {"prior": {"a": 0.125, "b": 0.25, "c": 0.625}},
    ],
    ids=str,
)
def test_log_odds_are_linear(offset: float, parameters: dict[str, Any]) -> None:
    """The difference of joint log-likelihoods, and the definition, on random events.

    To 1e-12 of what is summed: at N(1e9, 1) that is a sum of terms of 1e9.
    """
    rng = np.random.default_rng(5)
    names: list[Any] = ["x", "z", 7]
    rows: list[Row] = [
        (dict(zip(names, (offset + rng.normal(c, 1, 3)).tolist(), strict=True)), "abc"[c], 1.0)
        for c in rng.integers(0, 3, 60).tolist()
    ]
    model, exact = learned(rows, **parameters), Exact(rows, shared_variance=True, **parameters)
    for query in offset + rng.normal(1, 3, (40, 3)):
        x = dict(zip(names, query.tolist(), strict=True))
        joint, prior = model.joint_log_likelihood(x), exact.log_prior()
        for one, other in ("ab", "ba", "ca", "cc"):
            given, size = ratio(model, one, other, x)
            assert given == pytest.approx(joint[one] - joint[other], abs=1e-12 * size + 1e-12)
            expected = Fraction(prior[one]) - Fraction(prior[other])
            for name, value in x.items():
                for label, sign in ((one, -1), (other, 1)):
                    mean, variance = exact.normal(name, label)
                    expected += sign * (Fraction(value) - mean) ** 2 / (2 * variance)
            assert given == pytest.approx(float(expected), abs=1e-14 * size, rel=1e-12)


def test_the_weights_are_those_of_whole_means() -> None:
    """At N(1e9, 1e-3) means rounded to doubles would be off by 1e-4 standard deviations."""
    rng = np.random.default_rng(8)
    rows: list[Row] = [
        ({"x": x}, "ab"[k], 1.0)
        for k in (0, 1)
        for x in (1e9 + 1e-3 * rng.normal(k, 1, 200)).tolist()
    ]
    exact = Exact(rows, shared_variance=True)
    (a, variance), (b, _) = exact.normal("x", "a"), exact.normal("x", "b")
    weights, bias = learned(rows).linear_log_odds("a", "b")
    assert weights["x"] == pytest.approx(float((a - b) / variance), rel=1e-14, abs=0)
    middle = -Fraction(bias) / Fraction(weights["x"])
    assert float(middle - (a + b) / 2) == pytest.approx(0.0, abs=2e-7)  # one rounding at 1e9


def test_features_that_are_no_evidence() -> None:
    """A constant feature has weight 0; one that only b saw says what the mean of all says: 0."""
    rows: list[Row] = [
        ({"k": 3.0, "x": 1.0}, "a", 1.0),
        ({"k": 3.0, "x": 2.0}, "a", 1.0),
        ({"k": 3.0, "x": 5.0, "u": 1.0}, "b", 1.0),
        ({"k": 3.0, "x": 7.0, "u": 2.0}, "b", 1.0),
    ]
    model = learned(rows)
    weights, bias = model.linear_log_odds("b", "a")
    # means 1.5 and 6, variance (0.5 + 2)/4
    assert weights == pytest.approx({"k": 0.0, "u": 0.0, "x": 4.5 / 0.625}, rel=1e-15, abs=0)
    assert bias == pytest.approx(-4.5 / 0.625 * 3.75, rel=1e-15)
    assert list(weights) == list(model.features) == ["k", "u", "x"]
    assert model.linear_log_odds("a", "a") == ({"k": 0.0, "u": 0.0, "x": 0.0}, 0.0)


def test_a_class_that_never_saw_a_feature() -> None:
    """It answers with the mean over all classes, and the variance that all share."""
    rows: list[Row] = [({"x": v}, y, 1.0) for v, y in [(0.0, "a"), (2.0, "a"), (6.0, "b")]]
    rows.append(({}, "c", 3.0))
    for parameters in ({}, {"background": 1.0}):
        model, exact = learned(rows, **parameters), Exact(rows, shared_variance=True, **parameters)
        joint = model.joint_log_likelihood({"x": 1.0})
        assert joint == pytest.approx(exact.joint({"x": 1.0}), rel=1e-14, abs=0)
    variance = Fraction(2, 3)  # 1 + 1 in a, 0 in b, over 3
    expected = math.log(0.5) - 0.5 * (math.log(2 * math.pi) + log(variance))
    expected -= 0.5 * float((1 - Fraction(8, 3)) ** 2 / variance)
    assert learned(rows).joint_log_likelihood({"x": 1.0})["c"] == pytest.approx(expected, rel=1e-14)


def test_classes_that_are_each_constant() -> None:
    """Nothing varies within the classes: 1e-18 of the whole variance, and log-odds are finite."""
    rows: list[Row] = [({"x": v}, y, 1.0) for v, y in [(0.0, "a"), (0.0, "a"), (4.0, "b")]]
    joint = learned(rows).joint_log_likelihood({"x": 1.0})
    assert joint == pytest.approx(Exact(rows, shared_variance=True).joint({"x": 1.0}), rel=1e-14)
    weights, _ = learned(rows).linear_log_odds("b", "a")
    assert weights["x"] == pytest.approx(4 / (32 / 9 * 1e-18), rel=1e-14)


def test_priors_of_zero() -> None:
    """A class that is impossible: an infinite bias. Two of them: no answer."""
    rows: list[Row] = [({"x": v}, y, 1.0) for v, y in [(0.0, "a"), (2.0, "b"), (5.0, "c")]]
    model = learned(rows, prior={"a": 1.0}, var_smoothing=1.0)
    assert model.linear_log_odds("a", "b")[1] == math.inf
    assert model.linear_log_odds("b", "a")[1] == -math.inf
    with pytest.raises(ValueError, match="'b' and 'c'"):
        model.linear_log_odds("b", "c")


def test_what_has_no_linear_log_odds() -> None:
    """Variances of their own, labels that are no classes, numbers that no double holds."""
    rows: list[Row] = [({"x": v}, y, 1.0) for v, y in [(0.0, "a"), (2.0, "a"), (5.0, "b")]]
    model = learned(rows, shared_variance=False)
    with pytest.raises(ValueError, match="shared_variance=True"):
        model.linear_log_odds("a", "b")
    model.shared_variance = True
    for one, other in ("az", "za", ("a", 1)):
        with pytest.raises(KeyError, match="no class"):
            model.linear_log_odds(one, other)
    far = learned([({"x": 1e200 * v}, y, 1.0) for v, y in [(1.0, "a"), (-1.0, "b")]])
    far.smoothing, far.var_smoothing = "absolute", 1e-150
    with pytest.raises(ValueError, match="beyond the range"):
        far.linear_log_odds("a", "b")


def test_given_parameters() -> None:
    """N(2, 1) and N(5, 1), .6 and .4: weight -3, bias 10.5 + log 1.5."""
    model = GaussianNB.from_parameters(
        means={"a": {"x": 2.0}, "b": {"x": 5.0}},
        variances={"a": {"x": 1.0}, "b": {"x": 1.0}},
        prior={"a": 0.6, "b": 0.4},
    )
    model.shared_variance = True
    weights, bias = model.linear_log_odds("a", "b")
    assert weights == pytest.approx({"x": -3.0}, rel=1e-15)
    assert bias == pytest.approx(10.5 + math.log(1.5), rel=1e-15)


def test_it_is_a_reading() -> None:
    """It may be set after learning, is kept in the bytes, and asks no byte to change."""
    rows: list[Row] = [({"x": v}, y, 1.0) for v, y in [(0.0, "a"), (2.0, "a"), (5.0, "b")]]
    model, made = learned(rows, shared_variance=False), learned(rows)
    model.predict_one({"x": 1.0})
    model.shared_variance = True
    assert model == made
    assert model.joint_log_likelihood({"x": 1.0}) == made.joint_log_likelihood({"x": 1.0})
    before = streamnb.dumps(model)
    model.linear_log_odds("a", "b")
    assert streamnb.dumps(model) == before
    back = streamnb.loads(before)
    assert back.shared_variance is True
    assert back.linear_log_odds("a", "b") == model.linear_log_odds("a", "b")
