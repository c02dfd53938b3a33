"""LDA and QDA: features that events lack, when they are learned and when they are asked."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from river import datasets
from scipy.stats import multivariate_normal

import streamnb
from streamnb import LDA, QDA

from .discriminants import check_estimates, definition, every_make, some_rows
from .exact import Row
from .states import learn
from .verbs import same, state

FEATURES = ["f0", "f1", "f2", "f3"]


def subsets(names: list[Any]) -> list[tuple[Any, ...]]:
    return [each for n in range(len(names) + 1) for each in itertools.combinations(names, n)]


@every_make
def test_missing_features_are_integrated_out(make: Any) -> None:
    """Of every subset of features: SciPy's density with the sub-block of the covariance."""
    rng = np.random.default_rng(1)
    table = rng.multivariate_normal(np.arange(4.0), np.eye(4) + 0.7, 80)
    labels = ["ab"[i % 2] for i in range(80)]
    table[1::2] += [1, 0, 2, 0]
    model = make(prior="uniform")
    model.learn_many(table, labels, columns=FEATURES)
    x = dict(zip(FEATURES, rng.normal(2, 1, 4).tolist(), strict=True))
    for there in subsets(FEATURES):
        at = [FEATURES.index(name) for name in there]
        joint = model.joint_log_likelihood({name: x[name] for name in there})
        for label in "ab":
            expected = math.log(0.5)
            if at:
                mean = np.array(list(model.means(label).values()))[at]
                own = model.covariance(label)[np.ix_(at, at)]
                expected += multivariate_normal(mean, own).logpdf([x[name] for name in there])
            assert joint[label] == pytest.approx(expected, rel=1e-12, abs=1e-12)
        for absent in (None, math.nan, pd.NA):
            given = {name: x[name] if name in there else absent for name in FEATURES}
            assert model.joint_log_likelihood(given) == joint


@pytest.mark.parametrize("names", ["xyz", "zyx"])
@every_make
def test_the_whole_is_repaired_before_features_are_left_out(make: Any, names: str) -> None:
    """Three features in a plane need a repair, and every two of them are asked under it."""
    rng = random.Random(2)
    rows: list[Row] = []
    for y in "aabbabab":
        a, b = float(rng.randint(0, 3)), float(rng.randint(0, 3))
        rows.append((dict(zip(names, (a, b, a - b), strict=True)), y, 1.0))
    exact = definition(make, rows)
    model = learn(make(), rows)
    for there in subsets(list(names)):
        query = {name: rng.gauss(0, 1) for name in there}
        allowed = 1e-9 if len(there) < 3 else 2e-3
        joint = model.joint_log_likelihood(query)
        assert joint == pytest.approx(exact.joint(query), rel=allowed, abs=allowed)


@pytest.mark.parametrize("seed", range(3))
def test_available_cases_are_those_of_pandas(seed: int) -> None:
    """DataFrame.mean, and DataFrame.cov times (n - 1)/n of each pair: one pass, tables, merged."""
    rng = np.random.default_rng(seed)
    n = 200
    table = rng.multivariate_normal(np.arange(4.0), np.eye(4) + 0.7, n)
    table[rng.random(table.shape) < 0.25] = np.nan
    table[:70, 3] = np.nan
    labels, weights = rng.choice(["a", "b"], n), rng.integers(1, 4, n)
    whole = QDA()
    whole.learn_many(table, labels, weights, columns=FEATURES)
    one, shards = QDA(), [QDA() for _ in range(4)]
    for i, (row, y, w) in enumerate(
        zip(table.tolist(), labels.tolist(), weights.tolist(), strict=True)
    ):
        x = dict(zip(FEATURES, row, strict=True))
        one.learn_one(x, y, w)
        shards[i % 3 + (i > 120)].learn_one(x, y, w)
    same(whole, one)
    frame = pd.DataFrame(table, columns=FEATURES)
    for label in "ab":
        rows = np.repeat(np.flatnonzero(labels == label), weights[labels == label])
        part = frame.iloc[rows]
        there = part.notna().to_numpy(dtype=float)
        both = there.T @ there
        expected = part.cov().to_numpy() * (both - 1) / both
        for model in (whole, streamnb.merge(shards)):
            np.testing.assert_allclose(model.covariance(label), expected, rtol=0, atol=1e-12)
            np.testing.assert_allclose(list(model.means(label).values()), part.mean(), rtol=1e-12)
            assert model.class_weight[label] == len(part)


@every_make
def test_three_features_and_a_fourth_at_event_500(make: Any) -> None:
    """What was learned of the three stays; what the fourth has in common with them is learned."""
    rng = np.random.default_rng(4)
    table = rng.multivariate_normal(np.zeros(4), np.eye(4) + 0.5, 700)
    frame = pd.DataFrame(table, columns=FEATURES)
    frame.loc[:499, "f3"] = np.nan
    model, before = make(), None
    for i, row in enumerate(frame.to_dict(orient="records")):
        x = {name: value for name, value in row.items() if not math.isnan(value)}
        if i == 500:
            before = model.covariance("a")
        model.learn_one(x, "a")
    first = table[:500, :3]
    np.testing.assert_allclose(before, np.cov(first.T, ddof=0), rtol=1e-12)
    both = frame.notna().to_numpy(dtype=float).T @ frame.notna().to_numpy(dtype=float)
    assert both[0, 0] == 700
    assert both[0, 3] == both[3, 3] == 200
    expected = frame.cov().to_numpy() * (both - 1) / both
    np.testing.assert_allclose(model.covariance("a"), expected, rtol=0, atol=1e-12)
    assert model.class_weight == {"a": 700.0}


@every_make
def test_every_event_of_river_s_emerging_features_is_learned(make: Any) -> None:
    """Three features at random dropped from each: all weights, and each feature's mean, are there.

    `river.checks` runs this stream and looks at no number.
    """
    rng = random.Random(5)
    model, seen = make(), []
    for x, y in datasets.Phishing().take(400):
        names = rng.sample(list(x), len(x) - 3)
        model.predict_proba_one(x)
        model.learn_one({name: x[name] for name in names}, y)
        seen.append(({name: float(x[name]) for name in names}, y, 1.0))
    assert sum(model.class_weight.values()) == 400
    exact = definition(make, seen)
    check_estimates(model, exact, 1e-12)


@pytest.mark.parametrize("seed", range(10))
@every_make
def test_features_that_a_class_has_not_seen(make: Any, seed: int) -> None:
    """The mean over all classes; in QDA the total variance, and covariances of 0."""
    rng = random.Random(seed)
    rows = [
        ({n: v for n, v in x.items() if n != "x" or y != "a"}, y, w)
        for x, y, w in some_rows(rng, 60, 0.2 * (seed % 2))
    ]
    rows += [({"new": rng.gauss(0, 1), "x": rng.gauss(0, 1)}, "d", 1.0) for _ in range(4)]
    rows += [({}, "e", 2.0)]
    exact = definition(make, rows)
    model = learn(make(), rows)
    assert model.class_weight["e"] == 2.0
    for x, _, _ in some_rows(rng, 6, 0.2):
        for query in (x, x | {"new": 0.5}):
            joint = model.joint_log_likelihood(query)
            assert joint == pytest.approx(exact.joint(query), rel=1e-9, abs=1e-9)
            back = streamnb.loads(state(model))
            assert back.joint_log_likelihood(query) == joint


@every_make
def test_events_without_any_feature(make: Any) -> None:
    """They count for the prior, and for nothing else."""
    model = make()
    for y in "aab":
        model.learn_one({}, y)
    assert model.predict_proba_one({}) == pytest.approx({"a": 2 / 3, "b": 1 / 3}, rel=1e-15)
    assert model.covariance().shape == (0, 0)
    for x, y in [(1.0, "a"), (2.0, "a"), (4.0, "b"), (5.0, "b")]:
        model.learn_one({"x": x}, y)
    assert model.covariance("b")[0, 0] == pytest.approx(0.25, rel=1e-15)
    assert model.class_weight == {"a": 4.0, "b": 3.0}
    assert isinstance(model, LDA | QDA)
