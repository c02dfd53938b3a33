"""LDA and QDA: covariances that cannot be inverted are read by the rule of interface and docstring.

(1 - s) C + s diag(total variances), with the first s of 2^-40, 2^-39, ..., 1 that the Cholesky
factorization accepts; s = 1 for a class of QDA with a weight under 2.
"""

from __future__ import annotations

import itertools
import math
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import streamnb
from streamnb import LDA, QDA

from .discriminants import NAMES, definition, every_make
from .exact import Row
from .exact_discriminant import ExactDiscriminant
from .states import learn
from .verbs import state

EXACT = 1e-12
NEAR = 2.0**-32


def check(model: Any, exact: ExactDiscriminant, queries: Any, near: float = 0.0) -> None:
    """Assert that the answers are finite, those of the rule, and those of a loaded model.

    Where events have a combination of features that is constant, a question may have another one.
    A distance from them counts 2^20 times, and so does its rounding: at `near` = 2^-32 of max(1,
    squared Mahalanobis distance) where this is 1, and less the larger it is.
    """
    loaded = streamnb.loads(state(model))
    for x in queries:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            joint, proba = model.joint_log_likelihood(x), model.predict_proba_one(x)
            distances = model.mahalanobis_one(x)
        expected, worst = exact.joint(x), 0.0
        for label in exact.classes:
            squares = float(exact.distance(x, label)[0])
            allowed = max(EXACT, near / math.sqrt(max(1.0, squares)))
            assert distances[label] ** 2 == pytest.approx(squares, rel=2 * allowed, abs=allowed)
            assert joint[label] == pytest.approx(expected[label], rel=allowed, abs=allowed)
            worst = max(worst, allowed * max(1.0, abs(expected[label])))
        # a probability is of differences between such numbers
        assert proba == pytest.approx(exact.proba(x), rel=0, abs=min(1.0, worst))
        assert math.fsum(proba.values()) == pytest.approx(1.0, rel=1e-15)
        assert loaded.joint_log_likelihood(x) == joint


def rows_of(names: str, values: dict[str, list[tuple[float, ...]]]) -> list[Row]:
    return [
        (dict(zip(names, each, strict=True)), y, 1.0) for y, rows in values.items() for each in rows
    ]


def contradictory() -> list[Row]:
    """z, z + .01 e and -z + .01 e, one of them dropped in each row."""
    rng = random.Random(1)
    rows: list[Row] = []
    for i in range(60):
        z = rng.gauss(0, 1)
        x = {
            "p": z,
            "q": z + 0.01 * rng.gauss(0, 1),
            "r": -z + 0.01 * rng.gauss(0, 1),
        }
        del x["pqr"[i % 3]]
        rows.append((x, "ab"[i // 3 % 2], 1.0))
    # q and r are seen together as if they did not go against each other
    return [
        ({n: abs(v) if set(x) == {"q", "r"} else v for n, v in x.items()}, y, w) for x, y, w in rows
    ]


def few() -> list[Row]:
    """Five features of three events, which no covariance can have enough of."""
    rng = random.Random(2)
    return [({n: rng.gauss(0, 1) for n in "pqrst"}, y, 1.0) for y in "aaabbb"]


CASES: dict[str, list[Row]] = {
    "one event (5, 5)": rows_of("xy", {"a": [(0, 0), (1, 1), (2, 0)], "b": [(5, 5)]}),
    "collinear": rows_of(
        "xy", {"a": [(0, 0), (1, 2), (2, 4), (5, 10)], "b": [(3, 6), (4, 8), (7, 14), (8, 16)]}
    ),
    "a sum": rows_of("xyz", {y: [(i, j, i + j) for i in range(3) for j in (1, 4)] for y in "ab"}),
    "d = 5, n = 3": few(),
    "a constant column": rows_of(
        "xyz", {"a": [(0, 1, 7), (1, 3, 7), (2, 2, 7)], "b": [(4, 4, 7), (5, 8, 7), (3, 5, 7)]}
    ),
    "constant in one class": rows_of(
        "xy", {"a": [(0, 1), (0, 3), (0, 2)], "b": [(4, 4), (5, 8), (3, 5)]}
    ),
    "an all-constant class": rows_of(
        "xy", {"a": [(1, 1), (1, 1), (1, 1)], "b": [(0, 0), (2, 1), (4, 5)]}
    ),
    "all classes constant": rows_of("xy", {"a": [(1, 1), (1, 1)], "b": [(2, 5), (2, 5)]}),
    "one event each": rows_of("xy", {"a": [(0, 1)], "b": [(10, 3)]}),
    "contradictory": contradictory(),
}


@pytest.mark.parametrize("name", CASES)
@every_make
def test_the_rule(make: Any, name: str) -> None:
    """Each case, by one pass and by shards of single events, at events, between, and beside."""
    rows = CASES[name]
    exact = definition(make, rows)
    names = exact.names
    queries = [x for x, _, _ in rows[:4]]
    rng = random.Random(3)
    queries += [{n: rng.gauss(1, 2) for n in names} for _ in range(4)]
    queries += [{n: v for n, v in x.items() if n != names[0]} for x in queries[:6]]
    shards = [learn(make(), [row]) for row in rows]
    for model in (learn(make(), rows), streamnb.merge(shards)):
        check(model, exact, queries)
        assert model.predict_one({}) in exact.classes


def test_the_case_of_one_event() -> None:
    """scikit-learn#3721: a (0,0), (1,1), (2,0), b (5,5): finite, and b near (5, 5)."""
    model = learn(QDA(), CASES["one event (5, 5)"])
    for x in [(5.0, 5.0), (4.5, 5.0), (6.0, 4.0)]:
        proba = model.predict_proba_one({"x": x[0], "y": x[1]})
        assert model.predict_one({"x": x[0], "y": x[1]}) == "b"
        assert all(map(math.isfinite, proba.values()))
    assert model.predict_one({"x": 1.0, "y": 0.0}) == "a"
    # b has the total variances 7/2 and 17/4, by n, and its own mean
    own = -0.5 * (math.log(3.5 * 4.25) + 2 * math.log(2 * math.pi)) + math.log(1 / 4)
    assert model.joint_log_likelihood({"x": 5.0, "y": 5.0})["b"] == pytest.approx(own, rel=1e-14)


@pytest.mark.seeds(40)
@every_make
def test_after_every_event_of_small_integers(make: Any, seed: int) -> None:
    """Most of their covariances are singular, in whatever way: the rule at every moment."""
    rng = random.Random(seed)
    model, rows = make(prior_count=1), list[Row]()
    for _ in range(10):
        x = {name: float(rng.randint(0, 1 + seed % 3)) for name in NAMES[: 1 + seed % 3]}
        if seed % 5 == 0:
            x["constant"] = 5.0
        if seed % 4 == 3:
            x = {name: value for name, value in x.items() if rng.random() < 0.7}
        rows.append((x, rng.choice("ab"), rng.choice([1.0, 2.0])))
        learn(model, rows[-1:])
        exact = definition(make, rows, prior_count=1)
        queries = [{name: float(rng.randint(-1, 3)) for name in exact.names} for _ in range(2)]
        check(model, exact, queries)


KINDS = ["collinear", "a sum", "few events", "constant", "one event"]
Numbers = Callable[[], float]


def degenerate(rng: random.Random, kind: str, numbers: Numbers, n: int, unit: float) -> list[Row]:
    """n events of each class, whose covariances are singular; features in different units."""
    multiples = [rng.choice([2.0, 3.0, 0.1, -1.5, 1 / 3]) for _ in "qr"]
    rows: list[Row] = []
    for label in "ab":
        for i in range(3 if kind == "few events" else n):
            if kind == "one event" and label == "b" and i:
                break
            x = [numbers() for _ in range(5 if kind == "few events" else 3)]
            if kind == "collinear":
                x = [x[0] * unit, *(multiple * x[0] for multiple in multiples)]
            elif kind == "a sum":
                x[2] = x[0] + x[1]
            elif kind == "constant":
                x = [1.5 if label == "a" else x[0], x[1] * unit, 7.0]
            rows.append((dict(zip("pqrst", x, strict=False)), label, rng.choice([1.0, 2.0, 0.1])))
    rng.shuffle(rows)
    return rows


def moved(rng: random.Random, x: Mapping[Any, float]) -> dict[Any, float]:
    """An event with some of its values changed."""
    return {n: v + rng.choice([0.0, 0.5, -2.0]) * max(abs(v), 1e-3) for n, v in x.items()}


@pytest.mark.seeds(60)
@pytest.mark.parametrize("kind", KINDS)
@every_make
def test_to_the_last_digits(make: Any, kind: str, seed: int) -> None:
    """Small integers, decimals or normal numbers, weights, units; one pass, or merged shards.

    So it is with events that still stand in a block, and after many blocks or merges.
    """
    rng = random.Random(f"{kind} {seed}")
    numbers: Numbers = rng.choice(
        [
            lambda: float(rng.randint(-4, 9)),
            lambda: rng.randint(-40, 90) / 10,
            lambda: rng.gauss(0, 1),
        ]
    )
    n = rng.randint(2, 7) if seed % 4 else rng.randint(20, 50)
    rows = degenerate(rng, kind, numbers, n, rng.choice([1.0, 0.001, 1e6]))
    parts = [rows]
    if seed % 3 == 1:
        at = rng.randint(1, len(rows) - 1)
        parts = [rows[:at], rows[at:]]
    elif seed % 3 == 2:
        parts = [[row] for row in rows]
    model = streamnb.merge([learn(make(), part) for part in parts])
    exact, events = definition(make, rows), [x for x, _, _ in rows[:3]]
    others = [moved(rng, x) for x in events]
    check(model, exact, [*events, {n: v for n, v in events[0].items() if n != "p"}])
    check(model, exact, [*others, {n: v for n, v in others[0].items() if n != "p"}], NEAR)


@pytest.mark.seeds(20)
@every_make
def test_near_the_plane_of_a_sum(make: Any, seed: int) -> None:
    """Where units are 10^6 apart, an ordinary distance is a small one from the plane."""
    rng = random.Random(seed)
    rows = degenerate(rng, "a sum", lambda: rng.gauss(0, 1), 7, 1.0)
    for x, _, _ in rows:
        x.update(q=1e6 * x["q"], r=x["p"] + 1e6 * x["q"])  # type: ignore[attr-defined]
    queries = [{**x, "p": x["p"] + 1.0} for x, _, _ in rows]
    check(learn(make(), rows), definition(make, rows), queries, NEAR)


@pytest.mark.parametrize("seed", range(4))
@every_make
def test_several_features_that_are_nearly_collinear(make: Any, seed: int) -> None:
    """Sums but for 10^-7 of themselves: after many blocks their pivots have lost digits, not all.

    Three pivots, each with the rounding of the scatter against 2^-40.
    """
    rng = random.Random(seed)
    rows: list[Row] = []
    for i in range(150):
        p, q, r = (rng.gauss(0, 1) for _ in range(3))
        sums = [each + rng.gauss(0, 1e-7) for each in (p + q, q - r, p + q + r)]
        rows.append(
            (
                dict(zip("pqrstu", [p, q, sums[0], sums[1], r, sums[2]], strict=True)),
                "ab"[i % 2],
                1.0,
            )
        )
    model, exact = learn(make(), rows), definition(make, rows)
    for x, _, _ in rows[:3]:
        assert model.joint_log_likelihood(x) == pytest.approx(exact.joint(x), rel=0, abs=0.05)


def wild() -> Iterator[list[float]]:
    """Numbers whose squares have no doubles, or whose sums nearly have none."""
    yield from ([0.0, a, b] for a, b in itertools.product([1e-170, 1e-160, 1.0, 1e150], repeat=2))
    yield [-1e200, 1e200, 1e200]
    yield [1e-300, 2e-300, 5e-324]


@pytest.mark.parametrize("values", list(wild()), ids=str)
@every_make
def test_numbers_of_any_size_are_never_nan(make: Any, values: list[float]) -> None:
    """Each value in a class of its own, beside an ordinary feature: no NaN, no warning."""
    model = make()
    for label, value in zip("abc", values, strict=True):
        model.learn_one({"x": value, "z": float(ord(label))}, label)
    for x, z in itertools.product([*values, 1.0, -1e-200], [97.0, 98.5]):
        for query in ({"x": x, "z": z}, {"x": x}):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                joint, proba = model.joint_log_likelihood(query), model.predict_proba_one(query)
            assert not any(map(math.isnan, joint.values()))
            assert math.fsum(proba.values()) == pytest.approx(1.0, rel=1e-12)


@every_make
def test_what_would_make_a_sum_of_squares_infinite(make: Any) -> None:
    """Refused, and nothing changed; where the classes share a covariance, all of them count."""
    one, many = make(), make()
    table = np.array([[0.6e154], [-0.6e154]] * 3)
    for row, y in zip(table[:4].tolist(), "aabb", strict=True):
        one.learn_one({"0": row[0]}, y)
    for value in [0.6e154, -0.6e154][: 2 if make is LDA else 0]:
        before = state(one)
        try:
            one.learn_one({"0": value}, "c")
        except ValueError:
            assert state(one) == before
            break
    else:
        assert make is QDA
        one.learn_one({"0": 0.6e154}, "c")
        one.learn_one({"0": -0.6e154}, "c")
        for y in "abc":
            assert np.isfinite(one.covariance(y)).all()
    assert streamnb.loads(state(one)) == one
    if make is LDA:
        before = state(many)
        with pytest.raises(ValueError, match=r"row 5: feature '0'.* infinite"):
            many.learn_many(table, list("aabbcc"))
        assert state(many) == before
        parts = [learn(LDA(), [({"0": v[0]}, y, 1.0) for v in table[:2].tolist()]) for y in "abc"]
        with pytest.raises(ValueError, match="feature '0'"):
            streamnb.merge(parts)
