"""LDA and QDA: what is added to a covariance, and what is read where it cannot be inverted."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy.stats import multivariate_normal
from sklearn import covariance, datasets
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from streamnb import LDA, QDA

from .discriminants import definition, every_make, some_rows
from .states import learn
from .verbs import same

SKLEARN_DDOF = 0 if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9) else 1
READINGS: list[dict[str, Any]] = [
    {"shrinkage": 0.1},
    {"shrinkage": 1.0},
    {"shrinkage": 1},
    {"shrinkage": "oas"},
    {"prior_scatter": 2.0},
    {"prior_scatter": {"x": 3.0, 7: 0.5, "unseen": 1.0}},
    {"ddof": 1},
    {"ddof": 0.5},
    {"shrinkage": 0.3, "prior_scatter": {("x", "z"): 4.0}, "ddof": 1},
    {"prior": {"a": 0.5, "b": 0.25, "c": 0.25}},
]
OF_QDA: list[dict[str, Any]] = [
    {"reg_param": 0.2},
    {"reg_param": 1.0},
    {"reg_param": 0.2, "shrinkage": 0.1, "prior_scatter": 1.0, "ddof": 1},
]


@pytest.mark.parametrize("gaps", [0.0, 0.3], ids=["complete", "gaps"])
@pytest.mark.parametrize(
    ("make", "readings"),
    [(LDA, r) for r in READINGS] + [(QDA, r) for r in READINGS + OF_QDA],
    ids=str,
)
def test_the_formula(make: Any, readings: dict[str, Any], gaps: float) -> None:
    """C = (S + P)/(W - ddof), (1 - s) C + s tr(C)/d I, (1 - r) C + r I, in fractions.

    Given when it is made or set afterwards, it is one model and one answer.
    """
    rng = random.Random(1)
    rows = some_rows(rng, 40, gaps)
    model, other = learn(make(**readings), rows), learn(make(), rows)
    other.predict_one(rows[0][0])
    for name, value in readings.items():
        setattr(other, name, value)
    same(model, other)
    exact = definition(make, rows, **readings)
    for x, _, _ in some_rows(rng, 5, 0.2):
        joint = model.joint_log_likelihood(x)
        assert joint == pytest.approx(exact.joint(x), rel=1e-10, abs=1e-10)
        assert other.joint_log_likelihood(x) == joint
    raw = definition(make, rows).raw("a" if make is QDA else None)
    np.testing.assert_allclose(model.covariance("a"), np.array(raw, dtype=float), atol=1e-13)


def test_oas_of_each_class_is_that_of_scikit_learn() -> None:
    """QDA: `sklearn.covariance.oas` of a class's rows, its log density to 1e-10."""
    X, y = datasets.load_wine(return_X_y=True)
    model = QDA(shrinkage="oas", prior="uniform")
    model.learn_many(X, y)
    joint = model.joint_log_likelihood_many(X)
    for k in range(3):
        own, _ = covariance.oas(X[y == k])
        expected = multivariate_normal(X[y == k].mean(axis=0), own).logpdf(X) - math.log(3)
        np.testing.assert_allclose(joint[:, k], expected, rtol=1e-10)


def test_oas_of_all_classes_is_the_formula_on_the_pooled_covariance() -> None:
    """LDA: of the rows less their class means, n being all of them."""
    X, y = datasets.load_wine(return_X_y=True)
    model = LDA(shrinkage="oas", prior="uniform")
    model.learn_many(X, y)
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    own, _ = covariance.oas(X - means[y], assume_centered=True)
    joint = model.joint_log_likelihood_many(X)
    for k in range(3):
        expected = multivariate_normal(means[k], own).logpdf(X) - math.log(3)
        np.testing.assert_allclose(joint[:, k], expected, rtol=1e-10)


@pytest.mark.parametrize("reg_param", [0.0, 1e-3, 0.5, 1.0])
def test_reg_param_is_that_of_scikit_learn(reg_param: float) -> None:
    """Its covariances are divided by n - 1, since 1.9 by n: posteriors to 1e-9."""
    X, y = datasets.load_iris(return_X_y=True)
    model = QDA(ddof=SKLEARN_DDOF, reg_param=reg_param)
    peer = QuadraticDiscriminantAnalysis(reg_param=reg_param).fit(X, y)
    model.learn_many(X, y)
    np.testing.assert_allclose(
        model.predict_proba_many(X), peer.predict_proba(X), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("given", [1.0, {"f0": 1.0, "f1": 1.0, "f2": 1.0}])
@every_make
def test_prior_scatter_has_its_factor_updated(make: Any, given: Any) -> None:
    """From a class's second event on it is accepted, and the factor is that of S + P.

    Its covariance is then the factor over a weight, not one that was made for a single answer.
    """
    rng = np.random.default_rng(2)
    model = make(prior_scatter=given)
    for i, row in enumerate(rng.normal(size=(60, 3)).tolist()):
        model.learn_one({f"f{j}": v for j, v in enumerate(row)}, "ab"[i % 2])
        model.predict_one({"f0": 0.0, "f1": 1.0, "f2": 2.0})
        if i < 3:
            continue
        factors, divisors, *_ = model._discriminant_scorer().readings()
        weights = list(model.class_weight.values()) if make is QDA else [i + 1.0]
        assert divisors.tolist() == weights
        for label, factor, weight in zip("ab", factors, weights, strict=False):
            upper = factor.upper()
            np.testing.assert_allclose(
                upper.T @ upper,
                model.covariance(label) * weight + np.eye(3),
                rtol=1e-12,
                atol=1e-12,
            )
