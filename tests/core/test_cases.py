"""Small inputs that broke other libraries: the report, and the right value by the definition.

Variances are divided by n; unless said, nothing smooths, and priors are empirical.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import streamnb
from streamnb import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    Windowed,
)
from streamnb.likelihoods import Categorical, Gaussian

from .exact import Exact
from .models import MODELS, Model, name_of
from .verbs import same, state

NONE = {"var_smoothing": 0.0, "background": 0.0}
FEATURES = ("x", "z", "u")
THOUSAND = tuple(f"f{i}" for i in range(1000))


def mixed(features: Iterable[str] = FEATURES, **parameters: Any) -> MixedNB:
    """A block of normal densities, with what is read of them in the block."""
    readings = {field.name for field in dataclasses.fields(Gaussian)} & {*parameters}
    normal = Gaussian(**{name: parameters.pop(name) for name in readings})
    return MixedNB(dict.fromkeys(features, normal), **parameters)


MAKES: dict[str, Callable[..., Any]] = {
    "GaussianNB": GaussianNB,
    "MixedNB": mixed,
    "Windowed": lambda **parameters: Windowed(GaussianNB(**parameters), 3600),
    "Windowed MixedNB": lambda **parameters: Windowed(mixed(**parameters), 3600),
}
every_model = pytest.mark.parametrize("kind", MODELS, ids=name_of)
every_normal = pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)


def learned(make: Callable[..., Any], values: dict[str, list[float]], **parameters: Any) -> Any:
    """`{"a": [2, 4, 9]}` is three examples of class a with that x."""
    model = make(**(NONE | parameters))
    for label, numbers in values.items():
        for x in numbers:
            model.learn_one({"x": x}, label)
    return model


@every_normal
def test_smoothing_does_not_depend_on_batches(make: Any) -> None:
    """scikit-learn#14054, RubixML#450: a: 2,4,9 b: 50,52,57, cut four ways.

    Variances 26/3, means 5 and 53 in all four, the same bytes and answers, smoothed or not.
    """
    x, y = [2.0, 4, 9, 50, 52, 57], list("aaabbb")
    for smoothing in ("feature", "global"):
        models = []
        for cuts in ([6], [1] * 6, [3, 3], [5, 1]):
            model = make(var_smoothing=0.1, smoothing=smoothing, background=0.0)
            start = 0
            for n in cuts:
                frame = pd.DataFrame({"x": x[start : start + n]})
                model.learn_many(frame, y[start : start + n])
                start += n
            models.append(model)
            assert (model.means("a"), model.means("b")) == ({"x": 5.0}, {"x": 53.0})
            for label in "ab":
                assert model.variances(label)["x"] == pytest.approx(26 / 3, rel=2e-16, abs=0)
        for other in models[1:]:
            same(other, models[0])
            query = {"x": 29.5}
            assert other.predict_proba_one(query) == models[0].predict_proba_one(query)


@pytest.mark.parametrize("k", range(-8, 13))
@every_normal
def test_probabilities_do_not_depend_on_the_unit(make: Any, k: int) -> None:
    """scikit-learn#5314: a: 1,2,3 b: 4,6,8, query 3.5, all times 10^k: P(a) = 0.544264."""
    values = {"a": [1.0, 2, 3], "b": [4.0, 6, 8]}
    expected = Exact([({"x": x}, y, 1.0) for y, xs in values.items() for x in xs]).proba({"x": 3.5})
    assert expected["a"] == pytest.approx(0.544264, abs=5e-7)
    scaled = {y: [x * 10.0**k for x in xs] for y, xs in values.items()}
    proba = learned(make, scaled).predict_proba_one({"x": 3.5 * 10.0**k})
    assert proba == pytest.approx(expected, rel=1e-12, abs=0)


@every_normal
def test_a_batch_far_from_the_origin(make: Any) -> None:
    """river#1906: a: 1e9 + 0,1,3 b: 1e9 + 10,11,14, one batch: variances 14/9 and 26/9.

    Query 1e9 + 1.5: P(a) = 0.99999999; River's update_many gives a variance of -38.18.
    """
    x = [1e9, 1e9 + 1, 1e9 + 3, 1e9 + 10, 1e9 + 11, 1e9 + 14]
    rows = [({"x": v}, y, 1.0) for v, y in zip(x, "aaabbb", strict=True)]
    model = make(**NONE)
    model.learn_many(np.array(x)[:, None], list("aaabbb"), columns=["x"])
    assert model.variances("a")["x"] == pytest.approx(14 / 9, rel=2e-16, abs=0)
    assert model.variances("b")["x"] == pytest.approx(26 / 9, rel=2e-16, abs=0)
    proba = model.predict_proba_one({"x": 1e9 + 1.5})
    assert proba == pytest.approx(Exact(rows).proba({"x": 1e9 + 1.5}), rel=1e-13, abs=0)
    assert proba["a"] == pytest.approx(0.99999999, abs=5e-9)


@every_normal
def test_values_near_the_largest_double(make: Any) -> None:
    """scikit-learn#5602, matrixone#27549: 1.2e308 three times, two such shards: mean 1.2e308, 0."""
    a, b = (learned(make, {"a": [1.2e308] * 3}) for _ in range(2))
    for model in (a, a + b):
        assert model.means("a") == {"x": 1.2e308}
        assert model.variances("a") == {"x": 0.0}
        assert model.predict_proba_one({"x": 1.2e308}) == {"a": 1.0}
    assert (a + b).class_weight == {"a": 6.0}


@every_normal
def test_merging_with_nothing(make: Any) -> None:
    """SPARK-15892: M + 0, 0 + M, 0 + 0 are M, M, 0, to the bit, without an exception."""
    model, empty = learned(make, {"m": [4.0, 6.0]}), learned(make, {})
    same(model + empty, model)
    same(empty + model, model)
    same(empty + empty, empty)
    assert model.means("m") == {"x": 5.0}
    assert model.variances("m") == {"x": 1.0}


@every_normal
def test_the_difference_of_means_is_merged(make: Any) -> None:
    """posterior/distributions#11: {1,2,3} + {11,12,13}: mean 7, variance 77/3, not 2/3."""
    model = learned(make, {"a": [1.0, 2, 3]}) + learned(make, {"a": [11.0, 12, 13]})
    assert model.means("a") == {"x": 7.0}
    assert model.variances("a")["x"] == pytest.approx(77 / 3, rel=2e-16, abs=0)


@every_normal
def test_a_merge_shares_nothing(make: Any) -> None:
    """OnlineStats `_merge!`: a class only in B is copied: learning into the merge leaves B."""
    a, b = learned(make, {"x": [1.0, 2.0]}), learned(make, {"z": [5.0]})
    merged = a + b
    merged.learn_one({"x": 9.0}, "z")
    assert merged.class_weight["z"] == 2.0
    assert merged.means("z") == {"x": 7.0}
    assert b.class_weight == {"z": 1.0}
    assert b.means("z") == {"x": 5.0}


@pytest.mark.parametrize(("ddof", "expected"), [(0, 0.563655), (1, 0.608042)])
@every_normal
def test_ddof(make: Any, ddof: int, expected: float) -> None:
    """scikit-learn#4135: a: 0,2 b: 3,5,10, query 2.5: P(a) = 0.563655, or 0.608042 by n - 1."""
    proba = learned(make, {"a": [0.0, 2], "b": [3.0, 5, 10]}, ddof=ddof).predict_proba_one(
        {"x": 2.5}
    )
    assert proba["a"] == pytest.approx(expected, abs=5e-7)
    assert GaussianNB().ddof == Gaussian().ddof == 0


@every_normal
def test_a_class_missing_in_a_shard(make: Any) -> None:
    """heat#2376, cuML#2704: {a:1, a:3}, {b:10}, {}: any order and grouping is one model."""
    shards = [learned(make, {"a": [1.0, 3.0]}), learned(make, {"b": [10.0]}), learned(make, {})]
    first = streamnb.merge(shards)
    assert first.class_weight == {"a": 2.0, "b": 1.0}
    assert (first.means("a"), first.variances("a")) == ({"x": 2.0}, {"x": 1.0})
    assert first.means("b") == {"x": 10.0}
    for a, b, c in itertools.permutations(shards):
        same(a + b + c, first)
        same(a + (b + c), first)
        same(streamnb.merge([a, b, c]), first)


@pytest.mark.parametrize("make", [GaussianNB, lambda **p: mixed(THOUSAND, **p)])
@pytest.mark.parametrize("windowed", [False, True], ids=["", "windowed"])
def test_a_thousand_features_do_not_underflow(make: Any, windowed: bool) -> None:
    """majkamichal/naivebayes#4: each of 1000 features a: -1,1 b: 0,2; query 501 zeros, 499 ones.

    Log-odds: 501 * 1/2 - 499 * 1/2 = 1: P(a) = 1 / (1 + 1/e) = 0.7310586.
    """
    model = make(**NONE)
    if windowed:
        model = Windowed(model, length=60)
    for value, label in [(-1.0, "a"), (1.0, "a"), (0.0, "b"), (2.0, "b")]:
        model.learn_one({f"f{i}": value for i in range(1000)}, label)
    query = {f"f{i}": float(i >= 501) for i in range(1000)}
    joint = model.joint_log_likelihood(query)
    assert joint["a"] - joint["b"] == pytest.approx(1.0, abs=1e-10)
    assert model.predict_proba_one(query)["a"] == pytest.approx(0.7310585786, abs=1e-10)


@every_normal
def test_tails_carry_information(make: Any) -> None:
    """river#286: a: -1,1 b: 9,11, query -19: log-odds (29^2 - 19^2) / 2 = 240."""
    joint = learned(make, {"a": [-1.0, 1], "b": [9.0, 11]}).joint_log_likelihood({"x": -19.0})
    assert joint["a"] - joint["b"] == pytest.approx(240.0, rel=1e-14, abs=0)


@every_normal
def test_a_class_of_zero_variance(make: Any) -> None:
    """mljs/naive-bayes#8, accord#354, scikit-learn#19837: a: 1,1,1 b: 0,2,4, query 1: a.

    Without any smoothing it is certain. By default the pseudo-observations leave doubt after six
    events, as the definition says. And one row each, a: 0, b: 10, query 9: finite, and b.
    """
    rows = [({"x": x}, y, 1.0) for x, y in zip([1.0, 1, 1, 0, 2, 4], "aaabbb", strict=True)]
    for parameters in (NONE, {}):
        model = make(**parameters)
        for x, y, _ in rows:
            model.learn_one(x, y)
        proba = model.predict_proba_one({"x": 1.0})
        likelihood = Gaussian(**parameters)
        read = {"var_smoothing": likelihood.var_smoothing, "background": likelihood.background}
        assert proba == pytest.approx(Exact(rows, **read).proba({"x": 1.0}), rel=1e-12, abs=1e-300)
        assert proba["a"] > (0.99 if parameters else 0.8)
        model = make(**parameters)
        model.learn_one({"x": 0.0}, "a")
        model.learn_one({"x": 10.0}, "b")
        proba = model.predict_proba_one({"x": 9.0})
        assert model.predict_one({"x": 9.0}) == "b"
        assert proba["b"] > 0.5
        assert math.fsum(proba.values()) == pytest.approx(1.0, rel=1e-15, abs=0)


@every_normal
def test_a_class_of_one_example(make: Any) -> None:
    """smartcore#245: a: -1,-2,-3 b: 1, query 1: b, finite, sum 1; also where ddof leaves 0/0."""
    for parameters in (NONE, {}, NONE | {"ddof": 1}):
        model = make(**parameters)
        for x, y in zip([-1.0, -2, -3, 1], "aaab", strict=True):
            model.learn_one({"x": x}, y)
        proba = model.predict_proba_one({"x": 1.0})
        assert model.predict_one({"x": 1.0}) == "b"
        assert math.fsum(proba.values()) == pytest.approx(1.0, rel=1e-15, abs=0)


@every_normal
def test_a_class_of_one_example_with_ddof(make: Any) -> None:
    """A weight of ddof or less leaves no variance of its own: no NaN, nothing negative."""
    for w in (1.0, 0.5):
        model = make(**NONE, ddof=1)
        for x, y, weight in [
            (0.0, "a", 1.0),
            (2.0, "a", 1.0),
            (5.0, "b", w / 2),
            (6.0, "b", w / 2),
        ]:
            model.learn_one({"x": x}, y, w=weight)
        for x in (-3.0, 1.0, 5.5, 9.0):
            joint = model.joint_log_likelihood({"x": x})
            assert not any(math.isnan(j) for j in joint.values())
            assert math.fsum(model.predict_proba_one({"x": x}).values()) == pytest.approx(1.0)


@every_normal
def test_mixed_labels(make: Any) -> None:
    """1, '1', True, np.True_: two classes, 1 (three times) and '1'; Python's 1 == True."""
    model = make()
    for label in (1, "1", True, np.True_):
        model.learn_one({"x": 1.0}, label)
    assert model.class_weight == {1: 3.0, "1": 1.0}
    assert [type(label) for label in model.classes] == [int, str]


@every_normal
def test_reductions_after_a_new_class(make: Any) -> None:
    """scikit-learn#8100, #9290: learn a, b, later c: accepted, probabilities sum to 1 again."""
    model = learned(make, {"a": [0.0, 2], "b": [5.0, 7]})
    assert math.fsum(model.predict_proba_one({"x": 3.0}).values()) == pytest.approx(
        1.0, rel=1e-15, abs=0
    )
    for x in (20.0, 22.0):
        model.learn_one({"x": x}, "c")
    rows = [({"x": x}, y, 1.0) for x, y in zip([0.0, 2, 5, 7, 20, 22], "aabbcc", strict=True)]
    for x in (3.0, 21.0, 12.5):
        expected = Exact(rows).proba({"x": x})
        assert model.predict_proba_one({"x": x}) == pytest.approx(expected, rel=1e-11, abs=1e-300)


@every_normal
def test_columns_shuffled_coming_and_going(make: Any) -> None:
    """river#651, #996: learn_many is learn_one by rows, with columns shuffled, coming and going."""
    frames = [
        (pd.DataFrame({"x": [1.0, 2.0], "z": [3.0, 5.0]}), ["a", "b"]),
        (pd.DataFrame({"z": [7.0, 1.0], "x": [4.0, 8.0]}), ["b", "a"]),
        (pd.DataFrame({"u": [0.5, 1.5]}), ["a", "c"]),
        (pd.DataFrame({"x": [3.0, np.nan], "u": [np.nan, 2.5]}), ["c", "a"]),
    ]
    one, many = make(), make()
    for frame, labels in frames:
        many.learn_many(frame, labels)
        for x, y in zip(frame.to_dict(orient="records"), labels, strict=True):
            one.learn_one(x, y)
    same(many, one)


PREDICT = """
import json, sys, streamnb
for path, queries in json.load(sys.stdin):
    model = streamnb.load(path)
    for x in queries:
        print([(y, p.hex()) for y, p in model.predict_proba_one(x).items()], model.predict_one(x))
"""


def test_a_new_process_predicts_the_same_bits(tmp_path: Path) -> None:
    """river#194, pycaret#2751: learn, save, load in a new process: any model, to the bit."""
    rng = np.random.default_rng(5)
    questions, expected = [], []
    for kind in MODELS:
        model = kind.make(**({"prior_count": 1.0} if kind.prior else {}))
        for _ in range(300):
            label = int(rng.integers(3))
            row = enumerate(rng.normal(label, 1.5, 6))
            x = {f"f{i}": float(v) for i, v in row if rng.random() > 0.1}
            model.learn_one(kind.event(x), label, w=float(rng.integers(1, 4)))
        path = tmp_path / f"{kind.name}.snb"
        streamnb.save(model, path)
        rows = rng.normal(1, 2, (100, 6))
        queries = [kind.event({f"f{i}": float(v) for i, v in enumerate(row)}) for row in rows]
        questions.append((str(path), queries))
        for x in queries:
            proba = [(y, p.hex()) for y, p in model.predict_proba_one(x).items()]
            expected.append(f"{proba} {model.predict_one(x)}")
    done = subprocess.run(
        [sys.executable, "-c", PREDICT],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.splitlines() == expected


@every_model
def test_a_merge_shares_nothing_of_any_model(kind: Model) -> None:
    """OnlineStats `_merge!` again: what a merge learns, or loses, leaves the bytes of its parts."""
    for first, second in (("x", "z"), ("x", "x")):
        a, b = kind.make(), kind.make()
        a.learn_one({"u": 1.0}, first)
        b.learn_one({"u": 2.0}, second)
        before = state(a), state(b)
        for merged in (a + b, streamnb.merge([b, a]), a.clone(include_attributes=True)):
            for label in ("x", "z", "new"):
                merged.learn_one({"u": 3.0, "v": 1.0}, label)
            merged.unlearn_one({"u": 1.0}, "x")
            assert (state(a), state(b)) == before
        a += b
        a.learn_one({"u": 9.0}, second)
        assert state(b) == before[1]


def thousands() -> dict[str, tuple[Any, list[dict[str, Any]], dict[str, Any], float]]:
    """A model, three events of a and of b, a question, and log p(a | x)/p(b | x).

    Of each of 1000 features (or of two tokens for it) a has had u twice and v once, b v twice and u
    once; the question has u 501 times and v 499 times: log-odds 2 log 2.
    """
    names = range(1000)
    u, v = dict.fromkeys(map(str, names), "u"), dict.fromkeys(map(str, names), "v")
    query = {str(i): "u" if i < 501 else "v" for i in names}

    def tokens(x: dict[str, str]) -> dict[str, int]:
        return {name + value: 1 for name, value in x.items()}

    bags = [tokens(u), tokens(u), tokens(v)], tokens(query)
    odds = 2 * math.log(2)
    # p(token | a) is 2/3 or 1/3, and so is 1 - p: each feature's two tokens count twice.
    counts = [dict.fromkeys(map(str, names), n) for n in (2, 2, 2)]
    return {
        "CategoricalNB": (CategoricalNB(alpha=0), [u, u, v], query, odds),
        "MixedNB": (
            MixedNB(dict.fromkeys(map(str, names), Categorical(alpha=0))), [u, u, v], query, odds
        ),
        "MultinomialNB": (MultinomialNB(alpha=0), *bags, odds),
        "ComplementNB": (ComplementNB(alpha=0), *bags, odds),
        "BernoulliNB": (BernoulliNB(alpha=0), *bags, 2 * odds),
        "PoissonNB": (
            # rates 2 and 1: x log 2 - 1 for each feature
            PoissonNB(alpha=0), counts, {str(i): 2 if i < 443 else 1 for i in names},
            1443 * math.log(2) - 1000,
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", thousands())
@pytest.mark.parametrize("windowed", [False, True], ids=["", "windowed"])
def test_a_thousand_features_of_any_kind(name: str, windowed: bool) -> None:
    """majkamichal/naivebayes#4 beyond numbers: no 0/0, the log-odds of the definition."""
    model, events, query, odds = thousands()[name]
    if windowed:
        model = Windowed(model, length=60)
    turned = {"u": "v", "v": "u"}
    for x in events:
        model.learn_one(x, "a")
        if name == "PoissonNB":
            other: dict[str, Any] = dict.fromkeys(x, 1)
        elif name in ("CategoricalNB", "MixedNB"):
            other = {feature: turned[value] for feature, value in x.items()}
        else:
            other = {token[:-1] + turned[token[-1]]: n for token, n in x.items()}
        model.learn_one(other, "b")
    joint = model.joint_log_likelihood(query)
    assert joint["a"] - joint["b"] == pytest.approx(odds, abs=1e-9)
    proba = model.predict_proba_one(query)
    assert proba["a"] == pytest.approx(1 / (1 + math.exp(-odds)), abs=1e-10)


@pytest.mark.parametrize("make", [MultinomialNB, BernoulliNB, ComplementNB])
@pytest.mark.parametrize("windowed", [False, True], ids=["", "windowed"])
def test_hashed_tokens_take_the_memory_of_those_that_came(make: Any, windowed: bool) -> None:
    """scikit-learn#5123: 2^20 buckets, 1000 documents of 10 tokens: 10^4 cells, not 2^20."""
    model = make(width=2**20)
    if windowed:
        model = Windowed(model, length=60)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for i in range(1000):
            model.learn_one({f"token {i} {j}": 1 for j in range(10)}, "ab"[i % 2])
        model.predict_one({"token 1 1": 1})
        size = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert 9_900 < len(model.features) <= 10_000
    assert size < (12e6 if windowed else 4e6)
    assert len(state(model)) < 500_000


@every_normal
def test_one_pass_in_fractions(make: Any) -> None:
    """Chan, Golub and LeVeque 1979: any split of 1..n and any order has variance (n^2 - 1) / 12."""
    n = 99
    for step in (1, 2, 10, 49):
        order = (
            [(i * step) % n + 1 for i in range(n)] if math.gcd(step, n) == 1 else range(1, n + 1)
        )
        shards = [learned(make, {"a": [float(x) for x in list(order)[i::7]]}) for i in range(7)]
        merged = streamnb.merge(shards)
        assert merged.means("a") == {"x": (n + 1) / 2}
        exact = float(Fraction(n * n - 1, 12))
        assert merged.variances("a")["x"] == pytest.approx(exact, rel=2e-16, abs=0)
        backwards = streamnb.merge(shards[::-1])
        assert backwards.means("a") == merged.means("a")
        assert backwards.variances("a") == merged.variances("a")
