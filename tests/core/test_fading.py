"""half_life: weights fade with the events' own time, and shards that fade merge as others do."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamnb
from streamnb import GaussianNB, MergeError
from streamnb._kernels import fading

from .exact import Exact, moments
from .models import FADING, Model, name_of
from .states import ANY, DENSE, WIDE, close_moments, learn_table
from .verbs import LEARN, same, state

every_fading = pytest.mark.parametrize("kind", FADING, ids=name_of)
Timed = tuple[dict[Any, Any], Any, float, float]

TIMES = st.one_of(
    st.integers(-40, 40).map(float),
    st.integers(-40_000, 40_000).map(lambda ms: ms / 1000),
    st.sampled_from([0.0, 1e6, -1e6, 1e9]),
)
HALF_LIVES = st.sampled_from([0.001, 0.25, 1.0, 7.0, 10.0, 3600.0, timedelta(seconds=3)])


def timed(size: int = 8) -> st.SearchStrategy[list[Timed]]:
    return st.one_of(
        *(
            st.lists(
                st.tuples(events, st.sampled_from(labels), ANY, TIMES), min_size=1, max_size=size
            )
            for events, labels, _ in (DENSE, WIDE)
        )
    )


def learn(model: Any, rows: list[Timed]) -> Any:
    for x, y, w, t in rows:
        model.learn_one(x, y, w, t)
    return model


def of(kind: Model, rows: list[Timed]) -> list[Timed]:
    """Rows with values that a model takes."""
    return [(kind.event(x), y, w, t) for x, y, w, t in rows]


def close(a: Any, b: Any, tolerance: float) -> None:
    """Assert that two models hold the same classes and features, and numbers that agree."""
    assert list(map(repr, a.classes)) == list(map(repr, b.classes))
    assert list(map(repr, a.features)) == list(map(repr, b.features))
    assert a.class_weight == pytest.approx(b.class_weight, rel=tolerance, abs=0)
    close_moments(a, b, tolerance)


def power(exponent: Fraction) -> Decimal:
    """2**exponent to 50 digits."""
    with localcontext() as context:
        context.prec = 60
        value = Decimal(exponent.numerator) / Decimal(exponent.denominator)
        return (value * Decimal(2).ln()).exp()


@pytest.mark.parametrize("half_life", [1, 2, 3, 7, 1000, 3_600_000, 86_399_999, 2**53 - 1, 2**53])
def test_powers_of_two(half_life: int) -> None:
    """2**(r/h) is right to 0.6 units in the last place, wherever r is, and 1 at 0."""
    rng = random.Random(half_life)
    places = [rng.randrange(half_life) for _ in range(500)]
    for i in range(33):
        near = half_life * i // 32
        places += [r for r in (near - 1, near, near + 1) if 0 <= r < half_life]
    for r in places:
        for mark in (0, -3, 5):
            found = fading.Fading(half_life).weigh(1.0, mark * half_life + r)
            error = abs(Decimal(found) - power(Fraction(r, half_life)))
            assert error <= Decimal(0.6 * 2.0**-52)
    assert fading.Fading(half_life).weigh(3.0, half_life) == 3.0


def weights(rows: list[Timed], half_life: float) -> list[float]:
    """What each row weighs at the newest time, to a rounding."""
    newest = max((t for *_, w, t in rows if w > 0), default=0.0)
    h = Fraction(half_life)
    return [
        float(Decimal(w) * power((Fraction(round(t * 1000)) - round(newest * 1000)) / 1000 / h))
        for *_, w, t in rows
    ]


@given(
    st.lists(
        st.tuples(
            st.integers(-8, 8).map(lambda n: {"x": n / 7}),
            st.sampled_from(["a", "b"]),
            ANY,
            st.integers(-40_000, 40_000).map(lambda ms: ms / 1000),
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([0.25, 1.0, 7.0, 3600.0]),
)
def test_the_definition(rows: list[Timed], half_life: float) -> None:
    """Weights, means and variances are those of weights w 2**-((newest - t)/h), in any order."""
    model = learn(GaussianNB(half_life=half_life), rows)
    ws = weights(rows, half_life)
    for label in {y for _, y, w, _ in rows if w > 0}:
        seen = [(x["x"], w) for (x, y, _, _), w in zip(rows, ws, strict=True) if y == label]
        exact = moments(seen)
        assert exact is not None
        assert model.class_weight[label] == pytest.approx(float(exact.weight), rel=1e-15)
        spread = max(abs(x) for x, _ in seen) + 1e-300
        assert model.means(label)["x"] == pytest.approx(float(exact.mean), abs=1e-14 * spread)
        assert model.variances(label)["x"] == pytest.approx(
            float(exact.variance), rel=1e-13, abs=1e-14 * spread**2
        )


@pytest.mark.parametrize(
    "readings",
    [
        {},
        {"background": 0.5},
        {"ddof": 0.25},
        {"prior_count": 0.5},
        {"smoothing": "global", "var_smoothing": 0.1},
        {"smoothing": "absolute", "var_smoothing": 0.1, "prior": "uniform"},
    ],
    ids=str,
)
def test_all_is_read_at_the_newest_time(readings: dict[str, Any]) -> None:
    """Priors, pseudo-counts, background and ddof meet the weights of the newest time."""
    rng = random.Random(5)
    rows = [
        ({"x": rng.gauss(i % 2, 1), "z": rng.gauss(0, 1)}, "ab"[i % 2], 1.0, rng.uniform(0, 40))
        for i in range(20)
    ]
    model = learn(
        GaussianNB(half_life=9.5, **{"var_smoothing": 0.0, "background": 0.0, **readings}), rows
    )
    ws = weights(rows, 9.5)
    exact = Exact([(x, y, w) for (x, y, _, _), w in zip(rows, ws, strict=True)], **readings)
    for x in ({"x": 0.3, "z": 0.2}, {"x": 4.0}, {}):
        assert model.predict_proba_one(x) == pytest.approx(exact.proba(x), rel=1e-9)


@every_fading
@given(timed(), timed(), HALF_LIVES)
def test_merge_commutes_to_the_bit(
    kind: Model, a: list[Timed], b: list[Timed], half_life: Any
) -> None:
    """The later landmark is taken, whichever comes first; the empty model is an exact zero."""
    one, other = (learn(kind.make(half_life=half_life), of(kind, rows)) for rows in (a, b))
    same(one + other, other + one)
    empty = kind.make(half_life=half_life)
    same(one + empty, one)
    same(empty + one, one)
    same(streamnb.loads(state(one + other)), one + other)


TRIPLES = st.lists(timed(5), min_size=3, max_size=3)


@every_fading
@given(TRIPLES, st.sampled_from([7.0, 10.0, 3600.0]))
def test_merge_is_associative_and_one_pass(
    kind: Model, parts: list[list[Timed]], half_life: Any
) -> None:
    """Three shards, joined either way, are one pass over all: to 1e-13."""
    parts = [
        [(x, y, w, math.remainder(t, 100.0)) for x, y, w, t in of(kind, rows)] for rows in parts
    ]
    a, b, c = (learn(kind.make(half_life=half_life), rows) for rows in parts)
    close((a + b) + c, a + (b + c), 1e-13)
    whole = learn(kind.make(half_life=half_life), [row for rows in parts for row in rows])
    close(streamnb.merge([a, b, c]), whole, 1e-13)


@every_fading
@given(timed(12), st.lists(st.integers(0, 12), max_size=4), HALF_LIVES, st.booleans())
def test_any_cut_gives_the_same_bytes(
    kind: Model, rows: list[Timed], cuts: list[int], half_life: Any, in_tables: bool
) -> None:
    """learn_many is learn_one row by row, wherever the landmark moves."""
    rows = of(kind, rows)
    expected = learn(kind.make(half_life=half_life), rows)
    model = kind.make(half_life=half_life)
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    for start, stop in itertools.pairwise(edges):
        piece = rows[start:stop]
        if in_tables or start % 2:
            xs, ys, ws, ts = zip(*piece, strict=True) if piece else ((), (), (), ())
            learn_table(model, list(xs), list(ys), list(ws), library="pandas", times=list(ts))
        else:
            learn(model, piece)
        model = streamnb.loads(state(model))
    same(model, expected)


@every_fading
@given(timed(12), HALF_LIVES, st.randoms(use_true_random=False))
def test_classes_do_not_depend_on_the_order(
    kind: Model, rows: list[Timed], half_life: Any, rng: random.Random
) -> None:
    """An event that comes late makes its class all the same, and weighs what it would have."""
    rows = of(kind, rows)
    one = learn(kind.make(half_life=half_life), rows)
    other = learn(kind.make(half_life=half_life), rng.sample(rows, len(rows)))
    assert list(map(repr, one.classes)) == list(map(repr, other.classes))
    assert one.class_weight == pytest.approx(other.class_weight, rel=1e-14)
    assert all(map(math.isfinite, one.class_weight.values()))


@pytest.mark.one_of("kind")
@every_fading
def test_a_permutation_over_eight_shards(kind: Model) -> None:
    """10^5 timed events, shuffled over 8 shards and merged, are the sorted single pass."""
    rng = random.Random(11)
    rows: list[Timed] = [
        (
            kind.event({"x": rng.gauss(1e6, 1), "z": rng.lognormvariate(0, 2)}),
            rng.choice("abc"),
            rng.choice([1.0, 1.0, 2.0, 0.3]),
            rng.uniform(0, 2e6),
        )
        for _ in range(100_000)
    ]
    day = timedelta(days=1)
    one = learn(kind.make(half_life=day), sorted(rows, key=lambda row: row[3]))
    shards = [kind.make(half_life=day) for _ in range(8)]
    for place, (x, y, w, t) in enumerate(rng.sample(rows, len(rows))):
        shards[place % 8].learn_one(x, y, w, t)
    close(streamnb.merge(shards), one, 1e-12)


@every_fading
@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_a_million_half_lives_old(kind: Model, sign: int) -> None:
    """It is as if it had never been seen, but that its class stays; also merged, and in bytes."""
    model = kind.make(half_life=1)
    shards = [kind.make(half_life=1) for _ in range(2)]
    for place, label in enumerate("ab"):
        x = kind.event({"x": 6.0, "zy"[place]: 11.0})
        for each in (model, shards[place]):
            each.learn_one(x, label, 2.0, sign * place * 1e6)
    new, old = ("b", "a") if sign > 0 else ("a", "b")
    assert model.class_weight == {old: 0.0, new: 2.0}
    same(streamnb.merge(shards), model)
    same(streamnb.loads(state(model)), model)
    alone = kind.make(half_life=1)
    x = kind.event({"x": 6.0, "y" if sign > 0 else "z": 11.0})
    alone.learn_one(x, new, 2.0, max(0, sign) * 1e6)
    assert model.features == alone.features
    close_moments(alone, model, 0.0)
    if hasattr(model, "counts"):
        assert model.counts(old) == {}
    assert set(model.predict_proba_one(x)) == {"a", "b"}
    if kind.prior:
        assert model.predict_proba_one(x)[new] == 1.0
    model.learn_one(x, old, t=2e6)
    assert model.class_weight == {new: 0.0, old: 1.0}
    alone = kind.make(half_life=1)
    alone.learn_one(x, old, t=2e6)
    close_moments(alone, model, 0.0)


@every_fading
def test_a_landmark_is_a_power_of_two(kind: Model) -> None:
    """So many half-lives later everything weighs an exact part of what it did."""
    rng = random.Random(8)
    model = kind.make(half_life=1)
    for _ in range(50):
        x = kind.event({"x": rng.gauss(3, 9), "z": rng.gauss(0, 3)})
        model.learn_one(x, rng.choice("ab"), rng.random(), t=rng.uniform(0, 4))
    model.learn_one(kind.event({"x": 1.0}), "now", t=4.0)
    before = {y: dict(numbers_of(model, y)) for y in "ab"}, model.class_weight
    model.learn_one(kind.event({"x": 1.0}), "now", t=20.0)
    for y in "ab":
        assert model.class_weight[y] == before[1][y] / 2**16
        assert numbers_of(model, y) == {
            name: weight / 2**16 for name, weight in before[0][y].items()
        }


def numbers_of(model: Any, label: Any) -> dict[Any, float]:
    """The counts that a model has learned of a class, by feature and value."""
    found = model.counts(label) if hasattr(model, "counts") else {}
    return {
        (name, repr(value)): count
        for name, each in found.items()
        for value, count in (each.items() if isinstance(each, dict) else [(None, each)])
    }


@pytest.mark.parametrize("sign", [1, -1])
def test_a_million_half_lives(sign: int) -> None:
    """Far in either direction nothing overflows: what is old weighs 0, and its class stays."""
    model = GaussianNB(half_life=1)
    times = [0.0, sign * 1e6]
    for label, t in zip("ab", times, strict=True):
        model.learn_one({"x": 5.0 if label == "a" else 9.0, label: 1.0}, label, t=t)
    new, old = ("b", "a") if sign > 0 else ("a", "b")
    assert model.class_weight == {new: 1.0, old: 0.0}
    assert model.features == sorted([new, "x"])
    assert model.means(old) == {}
    assert model.predict_one({"x": 7.0}) == new
    assert set(model.predict_proba_one({"x": 7.0})) == {"a", "b"}
    same(streamnb.loads(state(model)), model)
    shards = [GaussianNB(half_life=1) for _ in range(2)]
    for shard, label, t in zip(shards, "ab", times, strict=True):
        shard.learn_one({"x": 5.0 if label == "a" else 9.0, label: 1.0}, label, t=t)
    same(streamnb.merge(shards), model)
    model.learn_one({"x": 4.0}, old, t=2e6)
    assert model.class_weight == {new: 0.0, old: 1.0}
    assert model.means(old) == {"x": 4.0}


def test_all_the_way_in_small_steps() -> None:
    """A thousand and more half-lives one after the other: weights stay near 2, never subnormal."""
    model = GaussianNB(half_life=10)
    for n in range(3000):
        model.learn_one({"x": float(n % 7)}, "a", t=10.0 * n)
        model.learn_one({"x": 1.0}, "rare", t=10.0 * n, w=float(n == 1))
    assert model.class_weight["a"] == pytest.approx(2.0, rel=1e-15)
    assert model.class_weight["rare"] == 0.0
    assert all(math.isfinite(v) for v in model.variances("a").values())


@every_fading
@pytest.mark.parametrize("verb", LEARN)
def test_a_time_is_needed(kind: Model, verb: str) -> None:
    """Without t a ValueError, and nothing is learned; w=0 moves nothing."""
    model, x = kind.make(half_life=10), kind.event({"x": 1.0})
    with pytest.raises(ValueError, match="needs its time"):
        LEARN[verb](model, x, "a")
    same(model, kind.make(half_life=10))
    LEARN[verb](model, x, "a", t=0.0)
    before = state(model)
    LEARN[verb](model, x, "b", w=0.0, t=1e6)
    assert state(model) == before
    with pytest.raises(ValueError, match="needs its time"):
        LEARN[verb](model, x, "a", w=0.0)
    with pytest.raises(ValueError, match="needs its time"):
        model.unlearn_one(x, "a")
    for t in (math.nan, math.inf, 1e300, -1e17):
        with pytest.raises(ValueError, match="time"):
            LEARN[verb](model, x, "a", t=t)
    with pytest.raises(TypeError, match="time"):
        LEARN[verb](model, x, "a", t="noon")
    assert state(model) == before


def test_times_of_every_kind() -> None:
    """Seconds, datetimes (naive ones in UTC) and NumPy's are the same times, half to even."""
    moment = datetime(2026, 3, 1, 12, 30, 0, 1500)  # noqa: DTZ001 - a naive one is in UTC
    seconds = moment.replace(tzinfo=UTC).timestamp()
    models = []
    for t in (moment, moment.replace(tzinfo=UTC), seconds, np.float64(seconds)):
        model = GaussianNB(half_life=timedelta(hours=1))
        model.learn_one({"x": 1.0}, "a", t=t)
        model.learn_many(np.array([[1.0]]), ["b"], t=t, columns=["x"])
        models.append(model)
    for model in models:
        same(model, models[0])
    assert models[0].statistic.state().newest == 1772368200002


@every_fading
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, 1e-4, 1e13, timedelta(0)])
def test_half_lives_out_of_range(kind: Model, value: Any) -> None:
    """A ValueError where it is given, and where it is set."""
    with pytest.raises(ValueError, match="half_life"):
        kind.make(half_life=value)
    model = kind.make()
    with pytest.raises(ValueError, match="half_life"):
        model.half_life = value
    same(model, kind.make())


@every_fading
@pytest.mark.parametrize("value", ["3600", True, [1]])
def test_half_lives_of_the_wrong_kind(kind: Model, value: Any) -> None:
    with pytest.raises(TypeError, match="half_life"):
        kind.make(half_life=value)


@every_fading
def test_the_half_life_is_a_state_parameter(kind: Model) -> None:
    """Equal for a merge, however it is written; fixed once something was learned."""
    rows = [(kind.event({"x": 1.0}), "a", 1.0, 0.0)]
    hour = learn(kind.make(half_life=3600), rows)
    same(hour, learn(kind.make(half_life=timedelta(hours=1)), rows))
    assert (hour + kind.make(half_life=np.timedelta64(1, "h"))).class_weight == {"a": 1.0}
    for other in (kind.make(), kind.make(half_life=60)):
        for join in (lambda o: hour + o, lambda o: streamnb.merge([o, hour], like=hour)):
            with pytest.raises(MergeError, match="half_life"):
                join(other)
    with pytest.raises(ValueError, match="half_life shapes what is stored"):
        hour.half_life = 60
    empty = kind.make()
    empty.half_life = 3600
    same(learn(empty, rows), hour)
    assert hour.clone().half_life == 3600
    assert hour.description()["parameters"]["half_life"] == 3600
    for copied in (copy.deepcopy(hour), pickle.loads(pickle.dumps(hour))):  # noqa: S301
        same(copied, hour)
        same(learn(copied, rows), learn(kind.make(half_life=3600), rows * 2))


def test_what_is_refused_moves_nothing() -> None:
    """An event or a row out of range leaves every byte, also where it would move the landmark."""
    model = GaussianNB(half_life=10)
    model.learn_one({"x": 1e200}, "a", t=0)
    before = state(model)
    for x, label, w in (
        ({"x": -1e200}, "a", 1.0),
        ({"x": -1e200, "new": 1.0}, "a", 1.0),
        ({"x": 1.0}, "b", math.inf),
    ):
        with pytest.raises(ValueError, match=r"infinite|finite"):
            model.learn_one(x, label, w, t=1e3)
        assert state(model) == before
    table = np.array([[1.0], [-1e200]])
    with pytest.raises(ValueError, match="row 1"):
        model.learn_many(table, ["b", "a"], t=[5e3, 6e1], columns=["x"])
    with pytest.raises(ValueError, match="row 1"):
        model.learn_many(table, ["b", "b"], t=[5e3, 1e300], columns=["x"])
    assert state(model) == before
    with pytest.raises(ValueError, match="weight"):
        model.learn_one({"x": 1.0}, "a", w=1.7e308, t=9.9)
    assert state(model) == before


@given(
    st.lists(
        st.tuples(
            st.integers(-8, 8).map(lambda n: {"x": n / 7}),
            st.sampled_from(["a", "b"]),
            st.sampled_from([1.0, 2.0, 0.5]),
            st.integers(0, 20_000).map(lambda ms: ms / 1000),
        ),
        min_size=1,
        max_size=10,
    ),
    st.integers(0, 10),
    st.randoms(use_true_random=False),
)
def test_unlearning(rows: list[Timed], number: int, rng: random.Random) -> None:
    """What is left is what the others weigh at the newest time of all; at the end nothing."""
    model = learn(GaussianNB(half_life=5), rows)
    shuffled = rng.sample(rows, len(rows))
    gone, left = shuffled[:number], shuffled[number:]
    for x, y, w, t in gone:
        model.unlearn_one(x, y, w, t)
    ws = dict(zip(map(id, rows), weights(rows, 5), strict=True))
    expected = {
        label: math.fsum(ws[id(row)] for row in left if row[1] == label)
        for label in {row[1] for row in left}
    }
    assert model.class_weight == pytest.approx(expected, rel=1e-13)
    for label in expected:
        exact = moments((row[0]["x"], ws[id(row)]) for row in left if row[1] == label)
        whole = moments((row[0]["x"], ws[id(row)]) for row in rows if row[1] == label)
        assert exact is not None
        assert whole is not None
        share = 1e-12 * float(whole.weight / exact.weight)
        size = max(abs(float(exact.mean)), math.sqrt(whole.variance), 1e-3)
        assert model.means(label)["x"] == pytest.approx(float(exact.mean), abs=share * size)
        assert model.variances(label)["x"] == pytest.approx(
            float(exact.variance), abs=share * size**2
        )
    for x, y, w, t in left:
        model.unlearn_one(x, y, w, t)
    same(model, GaussianNB(half_life=5))


@every_fading
def test_unlearning_and_the_newest_time(kind: Model) -> None:
    """It stays where the newest event goes; what is later than it cannot have been learned."""
    x, z = kind.event({"x": 1.0}), kind.event({"x": 2.0})
    model = kind.make(half_life=10)
    model.learn_one(x, "a", t=0)
    model.learn_one(z, "b", t=20)
    model.unlearn_one(z, "b", t=20)
    assert model.class_weight == {"a": 0.25}
    before = state(model)
    for t in (20.001, 1e9):
        with pytest.raises(ValueError, match="later"):
            model.unlearn_one(x, "a", w=0.01, t=t)
    with pytest.raises(ValueError, match="less weight"):
        model.unlearn_one(x, "a", t=1)
    assert state(model) == before
    model.learn_one(z, "b", t=1e6)
    before = state(model)
    model.unlearn_one(x, "a", t=0)
    assert state(model) == before
    assert model.class_weight == {"a": 0.0, "b": 1.0}


@every_fading
def test_all_unlearned_is_empty(kind: Model) -> None:
    """In whatever order: the exact empty state, which knows no time."""
    rng = random.Random(9)
    for _ in range(20):
        rows: list[Timed] = [
            (
                kind.event({"x": float(rng.randrange(-9, 9)), "z": rng.gauss(0, 3)}),
                rng.choice(["a", "b", 1]),
                rng.choice([1.0, 0.5, 1 / 3]),
                rng.uniform(0, 60),
            )
            for _ in range(8)
        ]
        model = learn(kind.make(half_life=7), rows)
        for x, y, w, t in rng.sample(rows, len(rows)):
            model.unlearn_one(x, y, w, t)
        same(model, kind.make(half_life=7))


def test_scale_distributes_over_merge() -> None:
    """Scaled by a power of two and merged is merged and scaled, to the bit; scales add up."""
    rng = random.Random(2)
    parts = []
    for half_life in (None, None, 5.0, 5.0):
        model = GaussianNB(half_life=half_life)
        for _ in range(50):
            x = {name: rng.gauss(1e6, 3) for name in rng.sample(["x", "y", "z"], 2)}
            model.learn_one(x, rng.choice("ab"), rng.choice([1.0, 0.3]), rng.uniform(0, 50))
        parts.append(model.statistic)
    for a, b in (parts[:2], parts[2:]):
        for n in (-7, 0, 3):
            both = a.merged([a, b]).scale(n).state()
            apart = a.merged([a.scale(n), b.scale(n)]).state()
            assert both.packed().keys() == apart.packed().keys()
            assert both.cells.tobytes() == apart.cells.tobytes()
            assert both.weights.tobytes() == apart.weights.tobytes()
            assert both.newest == apart.newest
            whole = a.scale(n).scale(-n).state()
            assert whole.cells.tobytes() == a.state().cells.tobytes()
        assert a.scale(-2000).weights() == ({} if a.half_life is None else {"a": 0.0, "b": 0.0})
        with pytest.raises(ValueError, match="range"):
            a.scale(1100)


@every_fading
def test_states_that_cannot_be(kind: Model) -> None:
    """A time without a half-life, learned without a time, no time: not what a model can have."""
    x = kind.event({"x": 1.0})
    faded = learn(kind.make(half_life=10), [(x, "a", 1.0, 0.0)])
    plain = kind.make()
    plain.learn_one(x, "a")
    assert "newest" not in plain.state()
    assert "newest" not in kind.make(half_life=10).state()
    with pytest.raises(ValueError, match="newest"):
        kind.make().set_state(faded.state())
    with pytest.raises(ValueError, match="newest"):
        kind.make(half_life=10).set_state(plain.state())
    for newest in (None, 1.5, "0", 2**62, True):
        with pytest.raises(ValueError, match="newest"):
            kind.make(half_life=10).set_state(faded.state() | {"newest": newest})


@every_fading
def test_a_live_model_notices_the_time(kind: Model) -> None:
    """The live model answers with the bits of the one from its bytes, after every event."""
    rng = random.Random(4)
    readings = {"background": 0.5} if kind.make == GaussianNB else {}
    readings |= {"prior_count": 0.1} if kind.prior else {}
    model = kind.make(half_life=3, **readings)
    question = kind.event({"x": 0.5})
    for n in range(60):
        label = rng.choice("abc") if n < 20 else "a"
        model.learn_one(kind.event({"x": rng.gauss(0, 1)}), label, t=n + rng.uniform(-5, 5))
        loaded = streamnb.loads(state(model))
        assert model.joint_log_likelihood(question) == loaded.joint_log_likelihood(question)
