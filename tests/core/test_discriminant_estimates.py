"""LDA and QDA: maximum likelihood estimates, however events come: one by one, in tables, merged."""

from __future__ import annotations

import itertools
import math
import random
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import streamnb
from streamnb import LDA, QDA

from .discriminants import check_estimates, definition, every_make, some_rows
from .exact import Row
from .exact_discriminant import whole_scatter
from .states import learn
from .verbs import same, state


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("gaps", [0.0, 0.3], ids=["complete", "gaps"])
@every_make
def test_estimates_are_those_of_maximum_likelihood(make: Any, gaps: float, seed: int) -> None:
    """phi = W_k/W, mu_k, Sigma divided by the weight, each class's in QDA: in fractions."""
    rows = some_rows(random.Random(seed), 60, gaps)
    model, exact = learn(make(), rows), definition(make, rows)
    check_estimates(model, exact)
    pooled = definition(LDA, rows).raw()
    np.testing.assert_allclose(
        model.covariance(), np.array(pooled, dtype=float), rtol=1e-13, atol=1e-13
    )
    for label, log_prior in exact.log_prior().items():
        assert model.joint_log_likelihood({})[label] == pytest.approx(log_prior, rel=1e-15, abs=0)
    for x, _, _ in some_rows(random.Random(seed + 100), 10):
        assert model.joint_log_likelihood(x) == pytest.approx(exact.joint(x), rel=1e-10, abs=1e-10)


@every_make
def test_weights_are_events_that_came_so_often(make: Any) -> None:
    """Weight 3 is three events, weight 2/8 a quarter of one; phi and Sigma alike."""
    rng = random.Random(5)
    rows = [(x, y, float(rng.randint(1, 4))) for x, y, _ in some_rows(rng, 20)]
    often = [(x, y, 1.0) for x, y, w in rows for _ in range(int(w))]
    quarter = [(x, y, w / 4) for x, y, w in rows]
    exact = definition(make, often)
    for given in (rows, often):
        check_estimates(learn(make(), given), exact)
    model = learn(make(), quarter)
    for label in "abc":
        np.testing.assert_allclose(
            model.covariance(label),
            np.array(exact.raw(None if make is LDA else label), dtype=float),
            rtol=1e-12,
            atol=1e-13,
        )


@every_make
def test_new_classes_and_features_at_any_time(make: Any) -> None:
    """Features 1 to 3, a fourth at event 500, a class at 700: nothing before is lost."""
    rng = np.random.default_rng(3)
    table = rng.multivariate_normal([0, 1, 2, 3], np.eye(4) + 0.5, 1000)
    labels = ["a" if v > 0 else "b" for v in table[:, 0] + rng.normal(size=1000)]
    labels[700::3] = ["new"] * len(labels[700::3])
    rows = []
    for i, (row, label) in enumerate(zip(table.tolist(), labels, strict=True)):
        x = {f"f{j}": v for j, v in enumerate(row) if j < 3 or i >= 500}
        rows.append((x, label, 1.0))
    model = make()
    for x, label, _ in rows:
        model.predict_proba_one(x)
        model.learn_one(x, label)
    frame = pd.DataFrame([x for x, _, _ in rows])
    assert len(model.features) == 4
    assert sum(model.class_weight.values()) == 1000
    for label in ("a", "b", "new"):
        part = frame[np.array(labels) == label]
        assert model.class_weight[label] == len(part)
        np.testing.assert_allclose(list(model.means(label).values()), part.mean(), rtol=1e-12)
        if make is QDA:
            there = part.notna().to_numpy(dtype=float)
            both = there.T @ there  # pandas divides by these less 1
            np.testing.assert_allclose(
                model.covariance(label), part.cov() * (both - 1) / both, rtol=0, atol=1e-12
            )


@pytest.mark.parametrize("features", [1, 3, 17, 40])
@pytest.mark.parametrize("gaps", [0.0, 0.02], ids=["complete", "gaps"])
@every_make
def test_any_cut_has_the_same_bits(make: Any, features: int, gaps: float) -> None:
    """learn_many is learn_one, however the rows are cut and asked between: bytes and answers."""
    rng = np.random.default_rng(features)
    table = rng.normal(size=(150, features)) @ rng.normal(size=(features, features)) + 1e3
    table[rng.random(table.shape) < gaps] = np.nan
    labels, weights = rng.choice(list("abc"), 150), rng.choice([1.0, 2.0, 1 / 3], 150)
    names = [f"f{j}" for j in range(features)]
    one = make()
    for row, y, w in zip(table.tolist(), labels.tolist(), weights.tolist(), strict=True):
        one.learn_one(dict(zip(names, row, strict=True)), y, w)
        if rng.random() < 0.2:
            one.predict_one(dict(zip(names, row, strict=True)))
    for cuts in ([0, 150], [0, 1, 33, 150], [0, 16, 20, 36, 100, 150], [*range(151)]):
        many = make()
        for start, stop in itertools.pairwise(cuts):
            part = slice(start, stop)
            many.learn_many(table[part], labels[part], weights[part], columns=names)
        same(many, one)
        np.testing.assert_array_equal(
            many.joint_log_likelihood_many(table[:5], columns=names),
            one.joint_log_likelihood_many(table[:5], columns=names),
        )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gaps", [0.0, 0.3], ids=["complete", "gaps"])
@every_make
def test_shards_merge_to_one_pass(make: Any, gaps: float, seed: int) -> None:
    """Shards with other labels and features: counts exact, the rest to 1e-13 of the definition."""
    rng = random.Random(seed)
    rows = [(x, y, float(rng.randint(1, 3))) for x, y, _ in some_rows(rng, 80, gaps)]
    shards: list[list[Row]] = [[] for _ in range(5)]
    for row in rows:
        shards[rng.randrange(5)].append(row)
    shards[1] = [({"x": x.get("x"), 7: x.get(7)}, y, w) for x, y, w in shards[1]]
    shards[2] = [(x, "only here", w) for x, _, w in shards[2]]
    models = [learn(make(), shard) for shard in shards]
    exact = definition(make, [row for shard in shards for row in shard])
    for merged in (
        streamnb.merge(models),
        models[4] + (models[1] + models[0]) + (models[3] + models[2]),
    ):
        check_estimates(merged, exact)
        assert merged.class_weight == learn(make(), exact.rows).class_weight
        for x, _, _ in some_rows(random.Random(seed + 50), 5, gaps):
            joint = merged.joint_log_likelihood(x)
            assert joint == pytest.approx(exact.joint(x), rel=1e-9, abs=1e-9)


@pytest.mark.seeds(40)
@every_make
def test_merge_commutes_to_the_bit(make: Any, seed: int) -> None:
    """a + b has the bytes of b + a: any weights, equal ones, incomplete events, half a block."""
    rng = random.Random(seed)
    gaps = rng.choice([0.0, 0.1, 0.5])
    half_life = rng.choice([None, 10.0])
    models = []
    weights = [1.0] if seed % 2 else [1.0, 0.1, 1 / 3, 2.5]
    for _ in range(2):
        model = make(half_life=half_life)
        n = 20 if seed % 2 else rng.randint(0, 60)
        for x, y, _ in some_rows(rng, n, gaps):
            at = rng.uniform(0, 50)
            model.learn_one(x, "a" if seed % 4 == 1 else y, rng.choice(weights), at)
        models.append(model)
    a, b = models
    same(a + b, b + a)
    same(streamnb.merge([a, b]), b + a)
    for x, _, _ in some_rows(rng, 5, 0.2):
        assert (a + b).joint_log_likelihood(x) == (b + a).joint_log_likelihood(x)


FAR: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "N(1e8, 1)": lambda rng, shape: rng.normal(1e8, 1.0, shape),
    "N(1e12, 1)": lambda rng, shape: rng.normal(1e12, 1.0, shape),
    "lognormal, sigma 5": lambda rng, shape: rng.lognormal(0.0, 5.0, shape),
    "1e12 before N(0, 1)": lambda rng, shape: np.vstack(
        [np.full((1, shape[1]), 1e12), rng.normal(size=(shape[0] - 1, shape[1]))]
    ),
}


@pytest.mark.parametrize("kind", FAR)
def test_many_rows_against_exact_arithmetic(kind: str) -> None:
    """10^5 rows, one pass and 8 shards: means and scatter to 1e-13 of sqrt(S_ii S_jj)."""
    table = FAR[kind](np.random.default_rng(11), (100_000, 3))
    table[:, 1] += 0.5 * (table[:, 0] - table[-1, 0])
    check_far(table)


def test_a_million_rows_against_exact_arithmetic() -> None:
    """10^6 rows of N(1e8, 1), as above."""
    check_far(FAR["N(1e8, 1)"](np.random.default_rng(12), (1_000_000, 2)))


def check_far(table: np.ndarray) -> None:
    """Assert that one class of these rows has the exact means and scatter."""
    means, scatter = whole_scatter(table)
    whole = QDA()
    whole.learn_many(table, ["a"] * len(table))
    shards = []
    for part in np.array_split(table, 8):
        shards.append(QDA())
        shards[-1].learn_many(part, ["a"] * len(part))
    size = [math.sqrt(scatter[i][i]) for i in range(len(means))]
    for model in (whole, streamnb.merge(shards)):
        found = model.covariance("a") * len(table)
        for i, j in itertools.product(range(len(means)), repeat=2):
            assert abs(Fraction(found[i, j]) - scatter[i][j]) <= 1e-13 * size[i] * size[j]
        for mean, own in zip(model.means("a").values(), means, strict=True):
            assert mean == pytest.approx(float(own), rel=1e-15, abs=1e-15 * size[0])


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 40])
@pytest.mark.parametrize("gaps", [0.0, 0.2], ids=["complete", "gaps"])
@pytest.mark.parametrize("half_life", [None, 5.0])
@every_make
def test_a_loaded_model_answers_with_the_same_bits(
    make: Any, half_life: float | None, gaps: float, n: int
) -> None:
    """Blocks full, half full, under repair, labels and features in any order of coming."""
    rng = random.Random(n)
    rows = some_rows(rng, n, gaps)
    times = [rng.uniform(0, 30) for _ in rows]
    models = [make(half_life=half_life)]
    for (x, y, w), t in zip(rows, times, strict=True):
        models[0].learn_one(x, y, w, t)
        models[0].predict_one(x)
    shuffled = make(half_life=half_life, known_labels=["c", "b", "a"], prior_count=0)
    for (x, y, w), t in zip(rows, times, strict=True):
        shuffled.learn_one(dict(reversed(x.items())), y, w, t)
    models.append(shuffled)
    for model in models:
        for _ in range(6):
            back = streamnb.loads(state(model))
            for x, _, _ in some_rows(rng, 4, 0.2):
                assert back.joint_log_likelihood(x) == model.joint_log_likelihood(x)
                assert back.mahalanobis_one(x) == model.mahalanobis_one(x)
            ((x, y, w),) = some_rows(rng, 1, gaps)
            model.learn_one(x, y, w, 31.0)
            back.learn_one(x, y, w, 31.0)
            same(back, model)


def test_a_pooled_covariance_whose_squares_have_no_double() -> None:
    """Each class's squares are finite, their sum is not; the mean of the variances is."""
    rows: list[Row] = [
        ({"x": x, "z": x / 2 + z}, y, w)
        for y, w in (("a", 1.0), ("b", 2.0), ("c", 2.0))
        for x, z in ((0.6e154, 1e150), (-0.6e154, 3e152), (0.3e154, -2e153))
    ]
    model, exact = learn(QDA(), rows), definition(QDA, rows)
    assert float(max(exact.scatter(y, "x", "x")[0] for y in "abc")) < math.inf
    with pytest.raises(OverflowError):
        float(exact.scatter(None, "x", "x")[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pooled, precision = model.covariance(), model.precision()
    expected = [[float(v) for v in row] for row in exact.raw()]
    np.testing.assert_allclose(pooled, expected, rtol=1e-14)
    np.testing.assert_allclose(
        (precision @ (pooled * 2.0**-1000)) * 2.0**1000, np.eye(2), atol=1e-9
    )
