"""LDA and QDA: what else they answer: covariances, linear scores, distances, directions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import mahalanobis
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from streamnb import LDA, QDA

from .discriminants import every_make

SETS = {"iris": datasets.load_iris, "wine": datasets.load_wine}
every_set = pytest.mark.parametrize("load", SETS.values(), ids=SETS)


def fitted(
    make: Any, load: Any, **parameters: Any
) -> tuple[Any, np.ndarray, np.ndarray, list[int]]:
    """A model, its rows and labels, and the column of each of `model.features`."""
    X, y = load(return_X_y=True)
    model = make(**parameters)
    model.learn_many(X, y)
    return model, X, y, [int(name) for name in model.features]


def test_names_are_in_canonical_order() -> None:
    """ "10" comes before "2": the arrays follow `features`, as all answers do."""
    assert fitted(LDA, datasets.load_wine)[0].features[:4] == ["0", "1", "10", "11"]


@every_set
def test_covariance_and_precision(load: Any) -> None:
    """Within a class, and pooled: np.cov by n; precision its inverse."""
    qda, X, y, at = fitted(QDA, load)
    lda, *_ = fitted(LDA, load)
    pooled = np.zeros((len(at), len(at)))
    for k in np.unique(y):
        own = np.cov(X[y == k][:, at].T, ddof=0)
        pooled += own * (y == k).mean()
        np.testing.assert_allclose(qda.covariance(k), own, rtol=1e-11)
        np.testing.assert_allclose(qda.precision(k) @ own, np.eye(len(at)), atol=1e-8)
    for model in (qda, lda):
        np.testing.assert_allclose(model.covariance(), pooled, rtol=1e-11)
        np.testing.assert_allclose(model.precision() @ pooled, np.eye(len(at)), atol=1e-8)
        assert (model.precision() == model.precision().T).all()
    for k in np.unique(y):
        np.testing.assert_array_equal(lda.covariance(k), lda.covariance())
        np.testing.assert_array_equal(lda.precision(k), lda.precision())
        assert list(lda.variances(k).values()) == lda.covariance().diagonal().tolist()
        np.testing.assert_allclose(
            list(qda.variances(k).values()), qda.covariance(k).diagonal(), rtol=1e-14
        )


@every_make
def test_they_are_raw(make: Any) -> None:
    """Readings do not show in what was seen: no shrinkage, no ddof, no prior scatter."""
    plain, *_ = fitted(make, datasets.load_iris)
    read, *_ = fitted(make, datasets.load_iris, shrinkage=0.5, ddof=1, prior_scatter=3.0)
    for label in plain.classes:
        np.testing.assert_array_equal(plain.covariance(label), read.covariance(label))
        np.testing.assert_array_equal(plain.precision(label), read.precision(label))
        assert plain.means(label) == read.means(label)
        assert plain.variances(label) == read.variances(label)


@every_make
def test_the_precision_of_a_singular_covariance(make: Any) -> None:
    """x and 2x: the pseudo-inverse."""
    model = make()
    for x in (0.0, 1.0, 2.0, 3.0):
        model.learn_one({"x": x, "y": 2 * x}, "a")
    expected = np.linalg.pinv(np.array([[1.25, 2.5], [2.5, 5.0]]))
    np.testing.assert_allclose(model.precision("a"), expected, rtol=1e-12)


@every_make
def test_labels_that_are_no_classes(make: Any) -> None:
    model, *_ = fitted(make, datasets.load_iris)
    for ask in (model.covariance, model.precision, model.means, model.variances):
        with pytest.raises(KeyError, match="no class"):
            ask("other")


@pytest.mark.parametrize("parameters", [{}, {"shrinkage": 0.2}, {"prior_scatter": 1.0}], ids=str)
@every_set
def test_linear_scores(load: Any, parameters: dict[str, Any]) -> None:
    """coef @ x + intercept is the joint log-likelihood but for what all classes have in common."""
    model, X, _, at = fitted(LDA, load, **parameters)
    coef, intercept = model.coef, model.intercept
    assert coef.shape == (3, len(at))
    assert intercept.shape == (3,)
    scores, joint = X[:, at] @ coef.T + intercept, model.joint_log_likelihood_many(X)
    np.testing.assert_allclose(scores - scores[:, :1], joint - joint[:, :1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.average(coef, axis=0, weights=np.bincount(_)), 0, atol=1e-9)


@every_set
def test_linear_scores_are_scikit_learn_s(load: Any) -> None:
    """Its solver "svd" has the same weights, "lsqr" the same but for a common row."""
    model, X, y, at = fitted(LDA, load)
    peer = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    shares = np.bincount(y) / len(y)
    expected = peer.coef_ - shares @ peer.coef_
    np.testing.assert_allclose(model.coef, expected[:, at], rtol=1e-8, atol=1e-9)
    apart = peer.decision_function(X) - (X[:, at] @ model.coef.T + model.intercept)
    np.testing.assert_allclose(apart - apart[:, :1], 0, atol=1e-9)


@pytest.mark.parametrize("prior", ["empirical", "uniform", {0: 0.5, 1: 0.25, 2: 0.25}])
@every_set
def test_linear_log_odds(load: Any, prior: Any) -> None:
    """bias + sum of weight times value is log p(a | x)/p(b | x): coef and intercept, apart."""
    model, X, y, at = fitted(LDA, load, prior=prior)
    own = sum(np.cov(X[y == k].T, ddof=0) * (y == k).mean() for k in range(3))
    shares = {"empirical": np.bincount(y) / len(y), "uniform": np.ones(3) / 3}
    share = list(prior.values()) if isinstance(prior, dict) else shares[prior]
    for a, b in [(0, 1), (2, 0), (1, 1)]:
        weights, bias = model.linear_log_odds(a, b)
        assert list(weights) == model.features
        means = X[y == a].mean(axis=0), X[y == b].mean(axis=0)
        expected = np.linalg.solve(own, means[0] - means[1])
        np.testing.assert_allclose(list(weights.values()), expected[at], rtol=1e-8, atol=1e-10)
        middle = -expected @ (means[0] + means[1]) / 2 + math.log(share[a] / share[b])
        assert bias == pytest.approx(middle, rel=1e-9, abs=1e-9)
        joint = model.joint_log_likelihood_many(X[:5])
        found = [bias + sum(w * x[int(n)] for n, w in weights.items()) for x in X[:5]]
        np.testing.assert_allclose(found, joint[:, a] - joint[:, b], rtol=1e-9, atol=1e-8)


def test_linear_log_odds_of_priors_of_zero() -> None:
    """As `GaussianNB`: an infinite bias, and no answer for two."""
    model = LDA(prior={"a": 1.0})
    for x, y in [(0.0, "a"), (1.0, "a"), (2.0, "b"), (4.0, "b"), (5.0, "c"), (9.0, "c")]:
        model.learn_one({"x": x}, y)
    assert model.linear_log_odds("a", "b")[1] == math.inf
    assert model.linear_log_odds("b", "a")[1] == -math.inf
    with pytest.raises(ValueError, match="'b' and 'c'"):
        model.linear_log_odds("b", "c")
    with pytest.raises(KeyError, match="no class"):
        model.linear_log_odds("a", "z")


def test_linear_log_odds_beyond_doubles() -> None:
    """Weights that no double holds: `ValueError`, as for `GaussianNB`."""
    model = LDA(prior_scatter=1e-290)
    for x, y in [(1e100, "a"), (-1e100, "b")]:
        model.learn_one({"x": x}, y)
    with pytest.raises(ValueError, match="beyond the range"):
        model.linear_log_odds("a", "b")
    with pytest.raises(ValueError, match="beyond the range"):
        _ = model.coef


@every_make
@every_set
def test_mahalanobis(load: Any, make: Any) -> None:
    """SciPy's distance, with the covariance as it is read, of the features that are there."""
    model, X, y, at = fitted(make, load, ddof=1, prior_scatter=0.5)
    own = [np.cov(X[y == k][:, at].T, ddof=0) * (y == k).sum() for k in range(3)]
    if make is LDA:
        own = [sum(own) + 0.5 * np.eye(len(at))] * 3
        own = [each / (len(y) - 3) for each in own]
    else:
        own = [(s + 0.5 * np.eye(len(at))) / ((y == k).sum() - 1) for k, s in enumerate(own)]
    for row in X[::30]:
        x = {str(j): v for j, v in enumerate(row.tolist())}
        found = model.mahalanobis_one(x)
        assert list(found) == model.classes
        for k in range(3):
            mean = X[y == k][:, at].mean(axis=0)
            expected = mahalanobis(row[at], mean, np.linalg.inv(own[k]))
            assert found[k] == pytest.approx(expected, rel=1e-8)
            there = [j for j in range(len(at)) if j % 2]
            part = np.linalg.inv(own[k][np.ix_(there, there)])
            partly = model.mahalanobis_one({str(at[j]): row[at[j]] for j in there})
            expected = mahalanobis(row[at][there], mean[there], part)
            assert partly[k] == pytest.approx(expected, rel=1e-8)


@every_set
def test_fisher_directions(load: Any) -> None:
    """scikit-learn's scalings ("eigen"), the largest number of each positive; within variance 1."""
    model, X, y, at = fitted(LDA, load)
    peer = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    found = model.fisher_directions()
    assert found.shape == (len(at), 2)
    for direction, theirs in zip(found.T, peer.scalings_[at, :2].T, strict=True):
        assert direction[np.argmax(np.abs(direction))] > 0
        sign = np.sign(theirs[np.argmax(np.abs(theirs))])
        np.testing.assert_allclose(direction, sign * theirs, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.T @ model.covariance() @ found, np.eye(2), atol=1e-10)
    assert model.fisher_directions(1).shape == (len(at), 1)
    assert model.fisher_directions(len(at)).shape == (len(at), len(at))
    for n in (0, len(at) + 1):
        with pytest.raises(ValueError, match="directions"):
            model.fisher_directions(n)


def test_features_that_are_no_evidence() -> None:
    """A constant one has weight 0 and no direction; it shows as 0 in the covariance."""
    model = LDA()
    for i, x in enumerate([0.0, 1.0, 2.0, 5.0, 7.0, 6.5]):
        model.learn_one({"k": 3.0, "x": x, "y": x * x}, "ab"[i // 3])
    assert (model.coef[:, 0] == 0).all()
    assert (model.fisher_directions(1)[0] == 0).all()
    assert model.linear_log_odds("a", "b")[0]["k"] == 0.0
    assert (model.covariance()[0] == 0).all()
    with pytest.raises(ValueError, match="2 features"):
        model.fisher_directions(3)


@every_make
def test_of_an_empty_model(make: Any) -> None:
    """Empty arrays and mappings; of a known label too, where nothing was learned."""
    for model in (make(), make(known_labels=["a", "b"])):
        k = len(model.classes)
        assert model.covariance().shape == model.precision().shape == (0, 0)
        assert model.mahalanobis_one({"x": 1.0}) == dict.fromkeys(model.classes, 0.0)
        if make is LDA:
            assert model.coef.shape == (k, 0)
            assert model.intercept.shape == (k,)
            with pytest.raises(ValueError, match="0 features"):
                model.fisher_directions()
    assert model.means("a") == model.variances("a") == {}
    assert model.covariance("a").shape == (0, 0)
    if make is LDA:
        assert model.linear_log_odds("a", "b") == ({}, 0.0)


@every_make
def test_asking_changes_nothing(make: Any) -> None:
    """Arrays are copies: what is written into them is not learned."""
    model, X, *_ = fitted(make, datasets.load_iris)
    before = model.joint_log_likelihood_many(X)
    for found in (model.covariance(), model.precision(), model.covariance(0)):
        found[:] = 0.0
    if make is LDA:
        model.coef[:] = 0.0
        model.intercept[:] = 0.0
        model.fisher_directions()[:] = 0.0
    np.testing.assert_array_equal(model.joint_log_likelihood_many(X), before)
