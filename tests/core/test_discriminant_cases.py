"""Small inputs that broke other libraries, for LDA and QDA: the report, and the right value.

Those for one feature have the right values of `test_cases`, where QDA is a Gaussian for each class.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import streamnb
from streamnb import LDA, QDA

from .discriminants import definition, every_make
from .exact import Row
from .states import learn
from .verbs import same, state


def rows_of(values: dict[str, list[float]]) -> list[Row]:
    return [({"x": x}, label, 1.0) for label, numbers in values.items() for x in numbers]


def learned(make: Any, values: dict[str, list[float]], **parameters: Any) -> Any:
    """`{"a": [2, 4, 9]}` is three examples of class a with that x."""
    return learn(make(**parameters), rows_of(values))


@every_make
def test_readings_do_not_depend_on_batches(make: Any) -> None:
    """scikit-learn#14054: a: 2,4,9 b: 50,52,57, cut four ways: variances 26/3, one model."""
    x, y = [2.0, 4, 9, 50, 52, 57], list("aaabbb")
    models = []
    for cuts in ([6], [1] * 6, [3, 3], [5, 1]):
        model = make(shrinkage=0.1, prior_scatter=1.0)
        start = 0
        for n in cuts:
            frame = pd.DataFrame({"x": x[start : start + n]})
            model.learn_many(frame, y[start : start + n])
            start += n
        models.append(model)
        for label in "ab":
            assert model.covariance(label)[0, 0] == pytest.approx(26 / 3, rel=4e-16, abs=0)
    for other in models[1:]:
        same(other, models[0])
        assert other.predict_proba_one({"x": 29.5}) == models[0].predict_proba_one({"x": 29.5})


@pytest.mark.parametrize("k", range(-8, 13))
@every_make
def test_probabilities_do_not_depend_on_the_unit(make: Any, k: int) -> None:
    """scikit-learn#5314: a: 1,2,3 b: 4,6,8, query 3.5, all times 10^k: QDA P(a) = 0.544264."""
    values = {"a": [1.0, 2, 3], "b": [4.0, 6, 8]}
    expected = definition(make, rows_of(values)).proba({"x": 3.5})
    if make is QDA:
        assert expected["a"] == pytest.approx(0.544264, abs=5e-7)
    scaled = {y: [x * 10.0**k for x in xs] for y, xs in values.items()}
    proba = learned(make, scaled).predict_proba_one({"x": 3.5 * 10.0**k})
    assert proba == pytest.approx(expected, rel=1e-12, abs=0)


@every_make
def test_a_batch_far_from_the_origin(make: Any) -> None:
    """river#1906: a: 1e9 + 0,1,3 b: 1e9 + 10,11,14: variances 14/9 and 26/9, P(a) = .99999999."""
    x = [1e9, 1e9 + 1, 1e9 + 3, 1e9 + 10, 1e9 + 11, 1e9 + 14]
    model = make()
    model.learn_many(np.array(x)[:, None], list("aaabbb"), columns=["x"])
    exact = definition(make, [({"x": v}, y, 1.0) for v, y in zip(x, "aaabbb", strict=True)])
    if make is QDA:
        assert model.covariance("a")[0, 0] == pytest.approx(14 / 9, rel=4e-16)
        assert model.covariance("b")[0, 0] == pytest.approx(26 / 9, rel=4e-16)
    proba = model.predict_proba_one({"x": 1e9 + 1.5})
    assert proba == pytest.approx(exact.proba({"x": 1e9 + 1.5}), rel=1e-12, abs=0)
    if make is QDA:
        assert proba["a"] == pytest.approx(0.99999999, abs=5e-9)


@every_make
def test_values_near_the_largest_double(make: Any) -> None:
    """scikit-learn#5602: 1.2e308 three times, two such shards: mean 1.2e308, variance 0."""
    a, b = (learned(make, {"a": [1.2e308] * 3}) for _ in range(2))
    for model in (a, a + b):
        assert model.means("a") == {"x": 1.2e308}
        assert model.covariance("a").tolist() == [[0.0]]
        assert model.predict_proba_one({"x": 1.2e308}) == {"a": 1.0}


@every_make
def test_merging_with_nothing(make: Any) -> None:
    """SPARK-15892: M + 0, 0 + M, 0 + 0 are M, M, 0."""
    model, empty = learned(make, {"m": [4.0, 6.0]}), make()
    same(model + empty, model)
    same(empty + model, model)
    same(empty + empty, empty)
    assert model.covariance("m")[0, 0] == pytest.approx(1.0, rel=4e-16)


@every_make
def test_the_difference_of_means_is_merged(make: Any) -> None:
    """{1,2,3} + {11,12,13}: variance 77/3; {(0,0),(2,2)} + {(10,-10),(12,-8)}: its sign too."""
    model = learned(make, {"a": [1.0, 2, 3]}) + learned(make, {"a": [11.0, 12, 13]})
    assert model.covariance("a")[0, 0] == pytest.approx(77 / 3, rel=4e-16)
    parts = []
    for points in ([(0, 0), (2, 2)], [(10, -10), (12, -8)]):
        parts.append(make())
        for x, y in points:
            parts[-1].learn_one({"x": x, "y": y}, "a")
    for merged in (parts[0] + parts[1], parts[1] + parts[0]):
        assert merged.means("a") == {"x": 6.0, "y": -4.0}
        np.testing.assert_allclose(
            merged.covariance("a") * 4, [[104.0, -96.0], [-96.0, 104.0]], rtol=1e-15
        )


@every_make
def test_a_single_column_has_a_matrix(make: Any) -> None:
    """skfolio#187: [1, 2, 4] is 14/9 in a (1, 1) array; the reading ddof=1 is 7/3."""
    model = learned(make, {"a": [1.0, 2, 4]}, ddof=1)
    assert model.covariance().shape == model.covariance("a").shape == (1, 1)
    assert model.covariance("a")[0, 0] == pytest.approx(14 / 9, rel=4e-16)
    density = -0.5 * (math.log(2 * math.pi * 7 / 3) + (3 - 7 / 3) ** 2 / (7 / 3))
    assert model.joint_log_likelihood({"x": 3.0})["a"] == pytest.approx(density, rel=1e-14)


@every_make
def test_weights(make: Any) -> None:
    """2 with weight 3 and 5 with weight 1: mean 2.75, variance 1.6875, n = 4."""
    model = learn(make(), [({"x": 2.0}, "a", 3.0), ({"x": 5.0}, "a", 1.0)])
    assert model.class_weight == {"a": 4.0}
    assert model.means("a") == {"x": 2.75}
    assert model.covariance("a")[0, 0] == pytest.approx(1.6875, rel=4e-16)


@pytest.mark.parametrize(("ddof", "expected"), [(0, 0.563655), (1, 0.608042)])
def test_ddof(ddof: int, expected: float) -> None:
    """scikit-learn#4135: a: 0,2 b: 3,5,10, query 2.5: P(a) = 0.563655, or 0.608042 by n - 1."""
    model = learned(QDA, {"a": [0.0, 2], "b": [3.0, 5, 10]}, ddof=ddof)
    assert model.predict_proba_one({"x": 2.5})["a"] == pytest.approx(expected, abs=5e-7)
    assert QDA().ddof == LDA().ddof == 0


@pytest.mark.parametrize(
    ("ddof", "prior", "expected"),
    [(0, "empirical", 0.930509), (1, "empirical", 0.801315), (0, "uniform", 0.952574)],
)
def test_which_pooled_covariance(ddof: int, prior: str, expected: float) -> None:
    """scikit-learn#8212, #25662, #33626: a: 0,2 b: 5,7,9, query 3: by n 2, by n - k 10/3.

    A given prior changes the prior, never the covariance.
    """
    model = learned(LDA, {"a": [0.0, 2], "b": [5.0, 7, 9]}, ddof=ddof, prior=prior)
    assert model.predict_proba_one({"x": 3.0})["a"] == pytest.approx(expected, abs=5e-7)
    assert model.covariance()[0, 0] == pytest.approx(2.0, rel=4e-16)


@every_make
def test_a_class_missing_in_a_shard(make: Any) -> None:
    """heat#2376, cuML#2704: {a:1, a:3}, {b:10}, {}: any order and grouping is one model."""
    shards = [learned(make, {"a": [1.0, 3.0]}), learned(make, {"b": [10.0]}), make()]
    first = streamnb.merge(shards)
    assert first.class_weight == {"a": 2.0, "b": 1.0}
    for a, b, c in itertools.permutations(shards):
        same(a + b + c, first)
        same(a + (b + c), first)


@every_make
def test_tails_carry_information(make: Any) -> None:
    """river#286: a: -1,1 b: 9,11, query -19: log-odds (29^2 - 19^2)/2 = 240."""
    joint = learned(make, {"a": [-1.0, 1], "b": [9.0, 11]}).joint_log_likelihood({"x": -19.0})
    assert joint["a"] - joint["b"] == pytest.approx(240.0, rel=1e-14, abs=0)


def test_a_class_of_zero_variance() -> None:
    """scikit-learn#19837: a: 1,1,1 b: 0,2,4, query 1: P(a) > .99."""
    proba = learned(QDA, {"a": [1.0] * 3, "b": [0.0, 2, 4]}).predict_proba_one({"x": 1.0})
    assert proba["a"] > 0.99


@every_make
def test_few_examples(make: Any) -> None:
    """One row each, a: 0 b: 10, query 9: b. smartcore#245: a: -1,-2,-3 b: 1, query 1: b."""
    for values, x in (({"a": [0.0], "b": [10.0]}, 9.0), ({"a": [-1.0, -2, -3], "b": [1.0]}, 1.0)):
        model = learned(make, values)
        proba = model.predict_proba_one({"x": x})
        assert model.predict_one({"x": x}) == "b"
        assert math.fsum(proba.values()) == pytest.approx(1.0, rel=1e-15)
        assert proba == pytest.approx(definition(make, rows_of(values)).proba({"x": x}), abs=1e-12)


@every_make
def test_priors(make: Any) -> None:
    """scikit-learn#731, #3186, #13232, #17926, #17401, and priors that are none."""
    rows: list[Row] = [({}, y, 1.0) for y in "aaabc"]
    assert learn(make(), rows).predict_proba_one({}) == pytest.approx(
        {"a": 0.6, "b": 0.2, "c": 0.2}, rel=1e-15
    )
    given = learn(make(prior={"a": 0.9, "b": 0.1}), [({}, "a", 1.0)] + [({}, "b", 1.0)] * 9)
    assert given.predict_proba_one({})["a"] == pytest.approx(0.9, rel=1e-15)
    for count, expected in ((0, 0.0), (1, 1 / 7)):
        seen = learn(make(known_labels=["a", "b", "c"], prior_count=count), rows[:3] + rows[3:4])
        assert seen.predict_proba_one({})["c"] == pytest.approx(expected, rel=1e-15)
    for prior in ("uniform", "empirical"):
        only = learned(make, {"a": [1.0, 2.0]}, prior=prior)
        assert only.predict_proba_one({"x": 1.0}) == {"a": 1.0}
    for wrong in ({"a": 0.9, "b": 0.9}, {"a": -0.5, "b": 1.5}):
        with pytest.raises(ValueError, match=r"prior|probabilit"):
            make(prior=wrong)


@every_make
def test_a_missing_value_is_no_evidence(make: Any) -> None:
    """scikit-learn#30188: a (1,0),(3,2) b (5,10),(7,12), query x = 3.9: P(a) = .598688."""
    model = make()
    for (x, y), label in zip([(1, 0), (3, 2), (5, 10), (7, 12)], "aabb", strict=True):
        model.learn_one({"x": x, "y": y}, label)
    for query in ({"x": 3.9}, {"x": 3.9, "y": math.nan}, {"x": 3.9, "y": None}):
        assert model.predict_proba_one(query)["a"] == pytest.approx(0.598688, abs=5e-7)


@every_make
def test_new_classes_and_labels_of_kinds(make: Any) -> None:
    """scikit-learn#8100: a class at any time; 1, "1", True, np.True_ are two classes."""
    model = learned(make, {"a": [0.0, 2], "b": [5.0, 7]})
    model.predict_one({"x": 1.0})
    learn(model, rows_of({"c": [20.0, 22.0]}))
    exact = definition(make, rows_of({"a": [0.0, 2], "b": [5.0, 7], "c": [20.0, 22.0]}))
    for x in (3.0, 21.0, 12.5):
        proba = model.predict_proba_one({"x": x})
        assert proba == pytest.approx(exact.proba({"x": x}), rel=1e-11, abs=1e-300)
    other = make()
    for label in (1, "1", True, np.True_):
        other.learn_one({"x": 1.0}, label)
    assert other.class_weight == {1: 3.0, "1": 1.0}


@every_make
def test_a_merge_shares_nothing(make: Any) -> None:
    """OnlineStats `_merge!`: learning into the merge leaves the parts, block and factor too."""
    a, b = learned(make, {"x": [1.0, 2.0, 4.0]}), learned(make, {"z": [5.0, 6.0, 8.0]})
    before, answers = (state(a), state(b)), [m.joint_log_likelihood({"x": 3.0}) for m in (a, b)]
    merged = a + b
    learn(merged, rows_of({"x": [9.0] * 20, "z": [1.0] * 20}))
    merged.predict_one({"x": 1.0})
    assert (state(a), state(b)) == before
    assert [m.joint_log_likelihood({"x": 3.0}) for m in (a, b)] == answers
