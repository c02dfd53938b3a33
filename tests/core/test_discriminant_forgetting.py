"""LDA and QDA: weights that fade with time, and events that are taken back."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest

import streamnb
from streamnb import LDA

from .discriminants import (
    check_estimates,
    definition,
    every_make,
    some_rows,
)
from .exact import Row
from .states import learn
from .verbs import same, state

HALF_LIFE = 20.0


def timed_rows(rng: random.Random, n: int, gaps: float) -> list[tuple[Row, float]]:
    """Rows and their times, in whole milliseconds and no order."""
    return [(row, rng.randint(0, 100_000) / 1000) for row in some_rows(rng, n, gaps)]


def faded(rows: list[tuple[Row, float]]) -> list[Row]:
    """The rows with the weights that they have at the time of the newest."""
    newest = max(t for _, t in rows)
    return [(x, y, w * 2.0 ** ((t - newest) / HALF_LIFE)) for (x, y, w), t in rows]


def learn_timed(model: Any, rows: list[tuple[Row, float]]) -> Any:
    for (x, y, w), t in rows:
        model.learn_one(x, y, w, t)
    return model


def near(a: Any, b: Any, tolerance: float) -> None:
    """Assert that means and covariances are the same, on the scale of the spread."""
    assert a.features == b.features
    assert a.class_weight == pytest.approx(b.class_weight, rel=tolerance, abs=0)
    for label in a.class_weight:
        assert a.means(label) == pytest.approx(b.means(label), rel=tolerance, abs=10 * tolerance)
        np.testing.assert_allclose(
            a.covariance(label), b.covariance(label), rtol=tolerance, atol=10 * tolerance
        )


@pytest.mark.parametrize("gaps", [0.0, 0.3], ids=["complete", "gaps"])
@every_make
def test_fading_is_a_weight(make: Any, gaps: float) -> None:
    """An event of time t counts w 2^((t - newest)/half_life): the definition with these weights."""
    rows = timed_rows(random.Random(1), 60, gaps)
    exact = definition(make, faded(rows))
    model = learn_timed(make(half_life=HALF_LIFE), rows)
    matrix = exact.raw(None if make is LDA else "a")
    np.testing.assert_allclose(
        model.covariance("a"), np.array(matrix, dtype=float), rtol=1e-12, atol=1e-13
    )
    for (x, _, _), _ in timed_rows(random.Random(2), 6, 0.2):
        assert model.joint_log_likelihood(x) == pytest.approx(exact.joint(x), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "readings", [{"prior_scatter": 2.0}, {"shrinkage": 0.2}, {"ddof": 1}], ids=str
)
@every_make
def test_fading_and_what_is_read(make: Any, readings: dict[str, Any]) -> None:
    """Scatter, ddof and the prior's scatter meet at the newest time, not at the landmark."""
    rows = timed_rows(random.Random(3), 50, 0.0)
    exact = definition(make, faded(rows), **readings)
    model = make(half_life=HALF_LIFE, **readings)
    for (x, y, w), t in rows:
        model.learn_one(x, y, w, t)
        model.predict_one(x)
    for (x, _, _), _ in timed_rows(random.Random(4), 4, 0.2):
        assert model.joint_log_likelihood(x) == pytest.approx(exact.joint(x), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("gaps", [0.0, 0.3], ids=["complete", "gaps"])
@every_make
def test_fading_does_not_depend_on_the_order(make: Any, gaps: float) -> None:
    """Shuffled over shards and merged: means and covariances of the sorted pass to 1e-12."""
    rng = random.Random(5)
    rows = timed_rows(rng, 200, gaps)
    one = learn_timed(make(half_life=HALF_LIFE), sorted(rows, key=lambda row: row[1]))
    for _ in range(4):
        shards = [make(half_life=HALF_LIFE) for _ in range(5)]
        for (x, y, w), t in rng.sample(rows, len(rows)):
            rng.choice(shards).learn_one(x, y, w, t)
        near(streamnb.merge(shards), one, 1e-12)
        same(shards[0] + shards[1], shards[1] + shards[0])


@every_make
def test_fading_by_rows_and_by_tables(make: Any) -> None:
    """learn_many has the bits of learn_one, across landmarks and blocks."""
    rng = np.random.default_rng(6)
    table = rng.normal(size=(100, 5)) + 10
    table[rng.random(table.shape) < 0.01] = np.nan
    labels, times = rng.choice(list("ab"), 100).tolist(), rng.uniform(0, 300, 100).tolist()
    names = [str(j) for j in range(5)]
    one, many = make(half_life=HALF_LIFE), make(half_life=HALF_LIFE)
    for row, y, t in zip(table.tolist(), labels, times, strict=True):
        one.learn_one(dict(zip(names, row, strict=True)), y, t=t)
    for start, stop in itertools.pairwise([0, 7, 50, 51, 100]):
        many.learn_many(table[start:stop], labels[start:stop], t=times[start:stop])
    same(many, one)


@every_make
def test_what_has_faded_to_nothing(make: Any) -> None:
    """A class 2000 half-lives old stays a class; the covariance is of what came since."""
    rng = random.Random(7)
    old, new = some_rows(rng, 30), some_rows(rng, 30)
    model = make(half_life=1.0)
    for x, _, w in old:
        model.learn_one(x, "old", w, 0.0)
    for x, y, w in new:
        model.learn_one(x, y, w, 2000.0)
    assert model.class_weight["old"] == 0.0
    exact = definition(make, new)
    label = None if make is LDA else "a"
    np.testing.assert_allclose(
        model.covariance("a"), np.array(exact.raw(label), dtype=float), rtol=1e-13, atol=1e-13
    )
    same(streamnb.loads(state(model)), model)
    assert all(math.isfinite(p) for p in model.predict_proba_one(new[0][0]).values())


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("gaps", [0.0, 0.3], ids=["complete", "gaps"])
@every_make
def test_unlearning(make: Any, gaps: float, seed: int) -> None:
    """m of n events taken back, from one pass or a merge: what the others give, to 1e-12 n/(n - m).

    Asked between, so that there is something to be out of date; and at the end the empty state.
    """
    rng = random.Random(seed)
    n = rng.choice([1, 2, 5, 20, 60])
    rows = some_rows(rng, n, gaps)
    if seed % 3 == 0:
        rows = [({"x": x.get("x")} if i % 5 == 0 else x, y, w) for i, (x, y, w) in enumerate(rows)]
    shards = [make() for _ in range(rng.choice([1, 3]))]
    for x, y, w in rows:
        rng.choice(shards).learn_one(x, y, w)
    model = streamnb.merge(shards)
    rest, before = rng.sample(rows, n), definition(make, rows)
    checked = {rng.randrange(1, n + 1) for _ in range(3)}
    while rest:
        if len(rest) in checked:
            exact = definition(make, rest)
            check_estimates(model, exact, 1e-12 * n / len(rest), before)
        x, y, w = rest.pop()
        model.predict_proba_one(x)
        model.unlearn_one(x, y, w)
        assert not any(map(math.isnan, model.joint_log_likelihood(x).values()))
        back = streamnb.loads(state(model))
        assert back.joint_log_likelihood(x) == model.joint_log_likelihood(x)
    same(model, make())


@every_make
def test_unlearning_what_was_incomplete_in_its_shard(make: Any) -> None:
    """An event complete where it is taken back, that another shard knew fewer features beside."""
    first, second = make(), make()
    first.learn_one({"x": 100.0, "z": 100.0}, "a")
    second.learn_one({"x": 7.0}, "a")
    model = first + second
    kept: list[Row] = [({"x": 7.0}, "a", 1.0)]
    gone: list[Row] = [({"x": 100.0, "z": 100.0}, "a", 1.0)]
    for x, z in [(1.0, 1.0), (2.0, 1.0), (3.0, 5.0)]:
        model.learn_one({"x": x, "z": z}, "a")
        kept.append(({"x": x, "z": z}, "a", 1.0))
    model.unlearn_one({"x": 100.0, "z": 100.0}, "a")
    check_estimates(model, definition(make, kept), 1e-12, definition(make, kept + gone))


@every_make
def test_a_feature_that_unlearning_leaves_constant(make: Any) -> None:
    """It is no evidence any more, in the live model as in a loaded one."""
    model = make()
    for x, z, y in [(1.0, 1.0, "a"), (2.0, 1.0, "a"), (3.0, 1.0, "b"), (5.0, 2.0, "b")]:
        model.learn_one({"x": x, "z": z}, y)
    model.predict_one({"x": 1.0, "z": 1.0})
    model.unlearn_one({"x": 5.0, "z": 2.0}, "b")
    exact = definition(
        make, [({"x": x, "z": 1.0}, y, 1.0) for x, y in [(1.0, "a"), (2.0, "a"), (3.0, "b")]]
    )
    for query in ({"x": 1.5, "z": 9.0}, {"z": 9.0}, {"x": 2.5}):
        joint = model.joint_log_likelihood(query)
        assert joint == pytest.approx(exact.joint(query), rel=1e-12)
        assert joint == streamnb.loads(state(model)).joint_log_likelihood(query)


REFUSED: list[tuple[dict[str, float], str, float]] = [
    ({"x": 1.0, "z": 2.0}, "b", 1.0),  # b has never had z
    ({"x": 1.0, "z": 2.0}, "a", 9.0),  # more than a has
    ({"x": 1.0, "z": 2.0}, "c", 1.0),  # no class
    ({"x": 1.0, "u": 2.0}, "a", 1.0),  # no feature
    ({"x": 1e9, "z": 2.0}, "a", 1.0),  # too far away
]


@pytest.mark.parametrize(("x", "y", "w"), REFUSED)
@every_make
def test_unlearning_refused_changes_nothing(
    make: Any, x: dict[str, float], y: str, w: float
) -> None:
    """What cannot have been learned is a `ValueError`, and the bytes stay."""
    model = make()
    for a, b in [(1.0, 2.0), (2.0, 5.0), (4.0, 4.0)]:
        model.learn_one({"x": a, "z": b}, "a")
    model.learn_one({"x": 3.0}, "b")
    before, answer = state(model), model.joint_log_likelihood({"x": 1.0, "z": 1.0})
    with pytest.raises(ValueError, match="unlearn"):
        model.unlearn_one(x, y, w)
    assert state(model) == before
    assert model.joint_log_likelihood({"x": 1.0, "z": 1.0}) == answer


@every_make
def test_a_pair_that_never_was_is_refused(make: Any) -> None:
    """x alone and z alone were seen: x with z was not, though each has the weight."""
    model = make()
    for x in ({"x": 1.0}, {"z": 1.0}, {"x": 2.0}, {"z": 2.0}):
        model.learn_one(x, "a")
    before = state(model)
    with pytest.raises(ValueError, match="less weight"):
        model.unlearn_one({"x": 1.0, "z": 1.0}, "a")
    assert state(model) == before


@pytest.mark.parametrize("gaps", [0.0, 0.3], ids=["complete", "gaps"])
@every_make
def test_unlearning_what_fades(make: Any, gaps: float) -> None:
    """With a half-life: the covariance of the others at the newest time; to empty at the end."""
    rng = random.Random(8)
    rows = timed_rows(rng, 40, gaps)
    rows.sort(key=lambda row: row[1])
    model = learn_timed(make(half_life=HALF_LIFE), rows)
    last, rest = rows[-1], rng.sample(rows[:-1], 39)
    for (x, y, w), t in rest[:20]:
        model.unlearn_one(x, y, w, t)
    exact = definition(make, faded([last, *rest[20:]]))
    label = None if make is LDA else last[0][1]
    np.testing.assert_allclose(
        model.covariance(label), np.array(exact.raw(label), dtype=float), rtol=1e-9, atol=1e-10
    )
    for (x, y, w), t in [*rest[20:], last]:
        model.unlearn_one(x, y, w, t)
    same(model, make(half_life=HALF_LIFE))


@every_make
def test_unlearning_all_of_a_class(make: Any) -> None:
    """The class goes; the others keep their estimates."""
    rng = random.Random(9)
    rows = some_rows(rng, 40)
    model = learn(make(), rows)
    for x, y, w in rows:
        if y == "b":
            model.unlearn_one(x, y, w)
    rest = [row for row in rows if row[1] != "b"]
    assert model.classes == ["a", "c"]
    check_estimates(model, definition(make, rest), 1e-12, definition(make, rows))
