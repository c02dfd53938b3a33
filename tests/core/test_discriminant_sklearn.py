"""LDA and QDA against scikit-learn's `fit`, under the same convention."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from threadpoolctl import threadpool_limits

import streamnb
from streamnb import LDA, QDA

from .exact_discriminant import squared_distance, whole_scatter
from .test_quality import opened

# What its covariances of QDA are divided by is n - 1, and since 1.9 n; those of LDA by n.
QDA_DDOF = 0 if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9) else 1


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """BLAS in one thread: where another core is busy, two wait for it."""
    with threadpool_limits(1):
        yield


def synthetic(seed: int) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    def load(**_: Any) -> tuple[np.ndarray, np.ndarray]:
        X, y = datasets.make_classification(
            400, 12, n_informative=7, n_redundant=0, n_classes=4, random_state=seed
        )
        return X * np.geomspace(0.1, 10, 12) + 10, y

    return load


SETS: dict[str, Any] = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast_cancer": datasets.load_breast_cancer,
    "synthetic 0": synthetic(0),
    "synthetic 1": synthetic(1),
}
every_set = pytest.mark.parametrize("load", SETS.values(), ids=SETS)
every_verb = pytest.mark.parametrize("verb", ["learn_one", "learn_many", "merge"])


def learned(make: Any, X: np.ndarray, y: np.ndarray, verb: str = "learn_many", **read: Any) -> Any:
    """The model of these rows."""
    model = make(**read)
    if verb == "learn_many":
        model.learn_many(X, y)
    elif verb == "learn_one":
        names = [str(j) for j in range(X.shape[1])]
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            model.learn_one(dict(zip(names, row, strict=True)), label)
    else:
        edges = itertools.pairwise([0, 30, 100, len(y)])
        parts = [learned(make, X[i:j], y[i:j], **read) for i, j in edges]
        model = streamnb.merge(parts)
    return model


def at(model: Any) -> list[int]:
    """The column of each feature."""
    return [int(name) for name in model.features]


@every_verb
@every_set
def test_means_and_covariances(load: Any, verb: str) -> None:
    """means_ and covariance_: to 1e-9 of the spread."""
    X, y = load(return_X_y=True)
    lda, qda = learned(LDA, X, y, verb), learned(QDA, X, y, verb)
    peer = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    other = QuadraticDiscriminantAnalysis(store_covariance=True, tol=0.0).fit(X, y)
    order, size = at(lda), X.std(axis=0)
    scale = np.outer(size, size)
    for k, label in enumerate(peer.classes_):
        found = np.array(list(lda.means(label).values()))
        assert (np.abs(found - peer.means_[k][order]) < 1e-9 * size[order]).all()
        n = (y == label).sum()
        own = other.covariance_[k] * (n - QDA_DDOF) / n
        apart = qda.covariance(label) - own[np.ix_(order, order)]
        assert (np.abs(apart) < 1e-9 * scale[np.ix_(order, order)]).all()
    apart = lda.covariance() - peer.covariance_[np.ix_(order, order)]
    assert (np.abs(apart) < 1e-9 * scale[np.ix_(order, order)]).all()
    np.testing.assert_allclose(
        np.array(list(lda.class_weight.values())) / len(y), peer.priors_, rtol=1e-15
    )


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("shrinkage", [0, 0.1, 1.0])
@every_set
def test_posteriors_of_lda(load: Any, shrinkage: float, solver: str) -> None:
    """Empirical and uniform priors: to 1e-9."""
    X, y = load(return_X_y=True)
    if not shrinkage and load is datasets.load_breast_cancer:
        solver = "eigen"  # "lsqr" is off by 1e-9 itself there: see the next test
    for prior in ("empirical", "uniform"):
        model = learned(LDA, X, y, shrinkage=shrinkage, prior=prior)
        peer = LinearDiscriminantAnalysis(solver=solver, shrinkage=shrinkage).fit(X, y)
        if prior == "uniform":
            # its own covariance would change with `priors`: only the intercept is to
            peer.intercept_ = peer.intercept_ - log_odds(peer.priors_)
        expected = peer.predict_proba(X)
        np.testing.assert_allclose(model.predict_proba_many(X), expected, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(model.predict_many(X), peer.predict(X))


def test_where_scikit_learn_is_off() -> None:
    """breast_cancer, row 86: p = .480345014919, in fractions; "lsqr" differs in the ninth digit."""
    X, y = datasets.load_breast_cancer(return_X_y=True)
    parts = [((y == k).sum(), *whole_scatter(X[y == k])) for k in (0, 1)]
    pooled = [
        [sum((s[i][j] for *_, s in parts), Fraction(0)) / len(y) for j in range(30)]
        for i in range(30)
    ]
    scores = []
    for n, means, _ in parts:
        rest = [Fraction(v) - m for v, m in zip(X[86].tolist(), means, strict=True)]
        scores.append(math.log(n / len(y)) - float(squared_distance(pooled, rest)[0]) / 2)
    expected = 1 / (1 + math.exp(scores[1] - scores[0]))
    (found, _), *_ = learned(LDA, X, y).predict_proba_many(X[86:87])
    assert found == pytest.approx(expected, abs=1e-12)


def log_odds(priors: np.ndarray) -> np.ndarray:
    """What a prior adds to the scores: one number where there are two classes."""
    logs = np.log(priors)
    return logs[1:] - logs[:1] if len(logs) == 2 else logs


@pytest.mark.parametrize("reg_param", [0.0, 1e-4, 0.1])
@every_set
def test_posteriors_of_qda(load: Any, reg_param: float) -> None:
    """Empirical and given priors: to 1e-9."""
    X, y = load(return_X_y=True)
    k = len(np.unique(y))
    shares = np.arange(1.0, k + 1) / np.arange(1.0, k + 1).sum()
    for priors in (None, shares):
        given = "empirical" if priors is None else dict(enumerate(priors.tolist()))
        model = learned(QDA, X, y, ddof=QDA_DDOF, reg_param=reg_param, prior=given)
        # its `tol` is no relative one: it would refuse the small features of breast_cancer
        peer = QuadraticDiscriminantAnalysis(reg_param=reg_param, priors=priors, tol=0.0)
        peer.fit(X, y)
        expected = peer.predict_proba(X)
        np.testing.assert_allclose(model.predict_proba_many(X), expected, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(model.predict_many(X), peer.predict(X))


def test_digits() -> None:
    """Constant pixels among them: with shrinkage, and each class with reg_param: to 1e-9.

    A pixel that is constant in all classes is no evidence; with either it says the same to each.
    """
    X, y = datasets.load_digits(return_X_y=True)
    train, test = slice(0, 1200), slice(1200, None)
    lda = learned(LDA, X[train], y[train], shrinkage=0.1)
    peer = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1).fit(X[train], y[train])
    np.testing.assert_allclose(
        lda.predict_proba_many(X[test]), peer.predict_proba(X[test]), rtol=0, atol=1e-9
    )
    qda = learned(QDA, X[train], y[train], ddof=QDA_DDOF, reg_param=0.1)
    other = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X[train], y[train])
    np.testing.assert_allclose(
        qda.predict_proba_many(X[test]), other.predict_proba(X[test]), rtol=0, atol=1e-9
    )


# -- MNIST, which is not part of the project: see `test_quality` ---------------------------


@pytest.fixture(scope="module")
def mnist() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """5000 and 2500 rows of pixels from 0 to 1, and their labels."""
    parts = []
    for name in ("mnist_train5000.csv.gz", "mnist_test2500.csv.gz"):
        with opened(name) as file:
            table = np.array(list(csv.reader(file))[1:], dtype=float)
        parts += [table[:, 1:] / 255, table[:, 0].astype(int)]
    X, y, X_test, y_test = parts
    return X, y, X_test, y_test


def within_a_row(ours: np.ndarray, theirs: np.ndarray, y: np.ndarray) -> float:
    """Assert that the same number of rows is right, but for one; answers our accuracy."""
    right = int((ours == y).sum())
    assert abs(right - int((theirs == y).sum())) <= 1
    return right / len(y)


def test_mnist_pixels(mnist: Any) -> None:
    """784 pixels with a shrinkage of 0.1: the accuracies of scikit-learn, LDA and QDA."""
    X, y, X_test, y_test = mnist
    lda = learned(LDA, X, y, shrinkage=0.1)
    peer = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1).fit(X, y)
    assert within_a_row(lda.predict_many(X_test), peer.predict(X_test), y_test) > 0.8
    qda = learned(QDA, X, y, shrinkage=0.1)
    assert within_a_row(qda.predict_many(X_test), quadratic(X, y, X_test, 0.1), y_test) > 0.9


def test_mnist_pixels_that_vary(mnist: Any) -> None:
    """QDA with a shrinkage of 0.1 on the pixels that vary: each label is scikit-learn's.

    Of pixels that never varied scikit-learn takes a test row's value as evidence, and we do not.
    """
    X, y, X_test, y_test = mnist
    varies = np.ptp(X, axis=0) > 0
    X, X_test = X[:, varies], X_test[:, varies]
    qda = learned(QDA, X, y, shrinkage=0.1).predict_many(X_test)
    peer = QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1).fit(X, y)
    assert (qda == peer.predict(X_test)).mean() > 0.999
    assert within_a_row(qda, peer.predict(X_test), y_test) > 0.9


def quadratic(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, shrinkage: float) -> np.ndarray:
    """The labels by plain numpy: each class's covariance, shrunk, by its eigenvectors.

    Pixels that are constant in all classes count in tr(C)/d, and are left out then.
    """
    scores, varies = [], np.ptp(X, axis=0) > 0
    for k in np.unique(y):
        own = X[y == k]
        covariance = np.cov(own.T, ddof=0)
        mean = np.trace(covariance) / len(covariance)
        covariance = (1 - shrinkage) * covariance + shrinkage * mean * np.eye(len(covariance))
        values, vectors = np.linalg.eigh(covariance[np.ix_(varies, varies)])
        z = (X_test - own.mean(axis=0))[:, varies] @ vectors
        score = (z * z / values).sum(axis=1) + np.log(values).sum()
        scores.append(np.log(len(own) / len(X)) - 0.5 * score)
    return np.unique(y)[np.argmax(scores, axis=0)]


def test_mnist_principal_components(mnist: Any) -> None:
    """50 components of the training rows: LDA and QDA, plain, as scikit-learn's."""
    X, y, X_test, y_test = mnist
    components = PCA(50, random_state=0).fit(X)
    Z, Z_test = components.transform(X), components.transform(X_test)
    lda, peer = learned(LDA, Z, y), LinearDiscriminantAnalysis(solver="lsqr").fit(Z, y)
    assert within_a_row(lda.predict_many(Z_test), peer.predict(Z_test), y_test) > 0.8
    qda = learned(QDA, Z, y, ddof=QDA_DDOF)
    other = QuadraticDiscriminantAnalysis().fit(Z, y)
    assert within_a_row(qda.predict_many(Z_test), other.predict(Z_test), y_test) > 0.9
    np.testing.assert_allclose(
        qda.predict_proba_many(Z_test), other.predict_proba(Z_test), rtol=0, atol=1e-9
    )
