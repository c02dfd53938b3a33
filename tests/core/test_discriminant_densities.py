"""LDA and QDA: log densities against exact arithmetic, where covariances are badly conditioned."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import streamnb
from streamnb import LDA, QDA

from .exact import log
from .exact_discriminant import squared_distance, whole_scatter

every_make = pytest.mark.parametrize("make", [LDA, QDA])
every_condition = pytest.mark.parametrize(
    ("condition", "tolerance"), [(10.0, 1e-12), (1e4, 1e-10), (1e8, 1e-7)]
)
FEATURES, NUMBER = 8, 300


def rows_of(condition: float, seed: int = 0, far: float = 0.0) -> tuple[np.ndarray, list[str]]:
    """Rows whose covariance has eigenvalues from 1 down to 1/condition, in two classes."""
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.normal(size=(FEATURES, FEATURES)))
    size = np.sqrt(np.geomspace(1.0, 1.0 / condition, FEATURES))
    table = (rng.normal(size=(NUMBER, FEATURES)) * size) @ axes.T
    labels = rng.choice(["a", "b"], NUMBER).tolist()
    table += np.array([0.0 if y == "a" else 0.1 for y in labels])[:, None] * size @ axes.T + far
    return table, labels


def exact_joint(make: Any, table: np.ndarray, labels: list[str], x: np.ndarray) -> dict[str, float]:
    """{label: log p(y) + log p(x | y)}, but for the last rounding."""
    parts = {}
    for label in sorted(set(labels)):
        own = table[np.array(labels) == label]
        parts[label] = (len(own), *whole_scatter(own))
    n = len(table)
    joint = {}
    for label, (weight, means, scatter) in parts.items():
        if make is LDA:
            covariance = [
                [sum((s[i][j] for *_, s in parts.values()), Fraction(0)) / n for j in range(len(x))]
                for i in range(len(x))
            ]
        else:
            covariance = [[s / weight for s in row] for row in scatter]
        rest = [Fraction(v) - m for v, m in zip(x.tolist(), means, strict=True)]
        squares, determinant = squared_distance(covariance, rest)
        joint[label] = log(Fraction(weight, n)) - 0.5 * (
            float(squares) + log(determinant) + len(x) * math.log(2 * math.pi)
        )
    return joint


@pytest.mark.parametrize("way", ["table", "one and asked", "shards"])
@every_condition
@every_make
def test_log_densities(make: Any, condition: float, tolerance: float, way: str) -> None:
    """Condition 1e4 to 1e-10, 1e8 to 1e-7, of themselves; also after 300 updates of the factor."""
    table, labels = rows_of(condition)
    names = [str(j) for j in range(FEATURES)]
    model = make()
    if way == "one and asked":
        for row, y in zip(table.tolist(), labels, strict=True):
            x = dict(zip(names, row, strict=True))
            model.predict_proba_one(x)
            model.learn_one(x, y)
    elif way == "table":
        model.learn_many(table, labels)
    else:
        shards = [make() for _ in range(4)]
        for i, shard in enumerate(shards):
            shard.learn_many(table[i::4], labels[i::4])
        model = streamnb.merge(shards)
    queries, _ = rows_of(condition, seed=1)
    for x in queries[:4]:
        expected = exact_joint(make, table, labels, x)
        joint = model.joint_log_likelihood(dict(zip(names, x.tolist(), strict=True)))
        assert joint == pytest.approx(expected, rel=tolerance, abs=0)


@every_make
def test_log_densities_far_from_the_origin(make: Any) -> None:
    """Condition 1e4 and all features at 1e6: the differences have lost 1e-10 before we see them."""
    table, labels = rows_of(1e4, far=1e6)
    model = make()
    model.learn_many(table, labels)
    x = rows_of(1e4, seed=1, far=1e6)[0][0]
    expected = exact_joint(make, table, labels, x)
    joint = model.joint_log_likelihood({str(j): v for j, v in enumerate(x.tolist())})
    assert joint == pytest.approx(expected, rel=1e-10, abs=0)


@pytest.mark.parametrize("features", [1, 2, 33, 60])
@every_make
def test_the_factor_that_is_updated_is_the_one_that_is_made_anew(make: Any, features: int) -> None:
    """After each of many events: the answer of numpy's Cholesky of the raw covariance, to 1e-9."""
    rng = np.random.default_rng(features)
    n = 3 * features + 40
    table = rng.normal(size=(n, features)) + rng.normal(size=(n, 1))
    labels = ["ab"[i % 2] for i in range(n)]
    names = [str(j) for j in range(features)]
    model = make()
    for i, (row, y) in enumerate(zip(table.tolist(), labels, strict=True)):
        x = dict(zip(names, row, strict=True))
        model.learn_one(x, y)
        joint = model.joint_log_likelihood(x)
        if i < 2 * features + 10 or i % 3:
            continue
        for label in "ab":
            covariance = model.covariance(label)
            order = [names.index(name) for name in model.features]
            rest = table[i, order] - np.array(list(model.means(label).values()))
            squares = rest @ np.linalg.solve(covariance, rest)
            determinant = np.linalg.slogdet(covariance)[1]
            density = -0.5 * (squares + determinant + features * math.log(2 * math.pi))
            prior = math.log(model.class_weight[label] / (i + 1))
            assert joint[label] == pytest.approx(prior + density, rel=1e-9, abs=1e-9)
