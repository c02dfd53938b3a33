"""Against scikit-learn's `fit`, on the sets that ship with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets, naive_bayes
from sklearn.model_selection import train_test_split

from streamnb import GaussianNB

SETS = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast_cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
}
every_set = pytest.mark.parametrize("load", SETS.values(), ids=SETS)


def names(X: np.ndarray) -> list[str]:
    return [str(j) for j in range(X.shape[1])]


@every_set
@pytest.mark.parametrize("verb", ["learn_one", "learn_many"])
def test_means_and_variances(load: Any, verb: str) -> None:
    """theta_, var_ (without its epsilon_) and class_count_: to 1e-12 relative, counts exact.

    The right values are NumPy's two-pass mean and variance in long doubles, which scikit-learn's
    one-batch `fit` agrees with; both are compared.
    """
    X, y = load(return_X_y=True)
    model = GaussianNB()
    if verb == "learn_many":
        model.learn_many(X, y)
    else:
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            model.learn_one(dict(zip(names(X), row, strict=True)), label)
    peer = naive_bayes.GaussianNB(var_smoothing=0.0).fit(X, y)
    wide = X.astype(np.longdouble)
    assert list(model.classes) == peer.classes_.tolist()
    assert list(model.class_weight.values()) == peer.class_count_.tolist()
    for k, label in enumerate(model.classes):
        means = [model.means(label)[name] for name in names(X)]
        variances = [model.variances(label)[name] for name in names(X)]
        exact = wide[y == label]
        np.testing.assert_allclose(means, exact.mean(0).astype(float), rtol=1e-15)
        np.testing.assert_allclose(variances, exact.var(0).astype(float), rtol=1e-14)
        np.testing.assert_allclose(means, peer.theta_[k], rtol=1e-12)
        np.testing.assert_allclose(variances, peer.var_[k], rtol=1e-12)


@every_set
def test_posteriors(load: Any) -> None:
    """smoothing="global", var_smoothing=1e-9 is scikit-learn's rule: posteriors to 1e-10."""
    X, y = load(return_X_y=True)
    model = GaussianNB(smoothing="global", var_smoothing=1e-9, background=0.0)
    model.learn_many(X, y)
    peer = naive_bayes.GaussianNB(var_smoothing=1e-9).fit(X, y)
    expected = peer.predict_proba(X)
    np.testing.assert_allclose(model.predict_proba_many(X), expected, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(model.predict_many(X), peer.predict(X))
    one = [
        list(model.predict_proba_one(dict(zip(names(X), row, strict=True))).values())
        for row in X[:100].tolist()
    ]
    np.testing.assert_allclose(one, expected[:100], rtol=0, atol=1e-10)


@every_set
def test_posteriors_with_given_priors(load: Any) -> None:
    """The same under `priors=`, and with sample weights, as scikit-learn's `fit` takes them."""
    X, y = load(return_X_y=True)
    weights = np.random.default_rng(3).integers(1, 4, len(y)).astype(float)
    shares = np.arange(1.0, len(np.unique(y)) + 1)
    shares /= shares.sum()
    model = GaussianNB(
        smoothing="global",
        var_smoothing=1e-9,
        background=0.0,
        prior=dict(enumerate(shares.tolist())),
    )
    model.learn_many(X, y, weights)
    peer = naive_bayes.GaussianNB(priors=shares).fit(X, y, weights)
    # scikit-learn takes the largest variance without the weights; ours is of what was seen.
    total = np.average(X**2, axis=0, weights=weights) - np.average(X, axis=0, weights=weights) ** 2
    peer.set_params(var_smoothing=1e-9 * total.max() / X.var(axis=0).max()).fit(X, y, weights)
    np.testing.assert_allclose(
        model.predict_proba_many(X), peer.predict_proba(X), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize(
    "parameters", [{}, {"smoothing": "global", "var_smoothing": 1e-9}], ids=str
)
def test_iris_split(parameters: dict[str, Any]) -> None:
    """Iris, test_size=0.3, random_state=42: 44 of 45, as scikit-learn's GaussianNB (0.9778)."""
    X, y = datasets.load_iris(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=42)
    model = GaussianNB(**parameters)
    model.learn_many(X_train, y_train)
    predicted = model.predict_many(X_test)
    assert isinstance(predicted, pd.Series)
    assert (predicted == y_test).mean() == 44 / 45
    assert round(44 / 45, 4) == 0.9778
