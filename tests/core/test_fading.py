"""half_life: weights fade with the events' own time, and shards that fade merge as others do."""

from __future__ import annotations

import itertools
import math
import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import streamnb
from streamnb import GaussianNB, MergeError
from streamnb._kernels import fading

from .exact import Exact, moments
from .states import ANY, EVENTS, LABELS
from .verbs import LEARN, pandas_table, same, state

law = settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
Timed = tuple[dict[Any, Any], Any, float, float]

TIMES = st.one_of(
    st.integers(-40, 40).map(float),
    st.integers(-40_000, 40_000).map(lambda ms: ms / 1000),
    st.sampled_from([0.0, 1e6, -1e6, 1e9]),
)
HALF_LIVES = st.sampled_from([0.001, 0.25, 1.0, 7.0, 10.0, 3600.0, timedelta(seconds=3)])


def timed(size: int = 8) -> st.SearchStrategy[list[Timed]]:
    return st.lists(
        st.tuples(EVENTS, st.sampled_from(LABELS), ANY, TIMES), min_size=1, max_size=size
    )


def learn(model: Any, rows: list[Timed]) -> Any:
    for x, y, w, t in rows:
        model.learn_one(x, y, w, t)
    return model


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


@law
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
    model = learn(GaussianNB(half_life=9.5, **{"var_smoothing": 0.0, **readings}), rows)
    ws = weights(rows, 9.5)
    exact = Exact([(x, y, w) for (x, y, _, _), w in zip(rows, ws, strict=True)], **readings)
    for x in ({"x": 0.3, "z": 0.2}, {"x": 4.0}, {}):
        assert model.predict_proba_one(x) == pytest.approx(exact.proba(x), rel=1e-9)


@law
@given(timed(), timed(), HALF_LIVES)
def test_merge_commutes_to_the_bit(a: list[Timed], b: list[Timed], half_life: Any) -> None:
    """The later landmark is taken, whichever comes first; the empty model is an exact zero."""
    one, other = (learn(GaussianNB(half_life=half_life), rows) for rows in (a, b))
    same(one + other, other + one)
    empty = GaussianNB(half_life=half_life)
    same(one + empty, one)
    same(empty + one, one)
    same(streamnb.loads(state(one + other)), one + other)


@law
@given(timed(12), st.lists(st.integers(0, 12), max_size=4), HALF_LIVES, st.booleans())
def test_any_cut_gives_the_same_bytes(
    rows: list[Timed], cuts: list[int], half_life: Any, in_tables: bool
) -> None:
    """learn_many is learn_one row by row, wherever the landmark moves."""
    expected = learn(GaussianNB(half_life=half_life), rows)
    model = GaussianNB(half_life=half_life)
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    for start, stop in itertools.pairwise(edges):
        piece = rows[start:stop]
        if in_tables or start % 2:
            xs, ys, ws, ts = zip(*piece, strict=True) if piece else ((), (), (), ())
            model.learn_many(pandas_table(xs), list(ys), list(ws), list(ts))
        else:
            learn(model, piece)
        model = streamnb.loads(state(model))
    same(model, expected)


@law
@given(timed(12), HALF_LIVES, st.randoms(use_true_random=False))
def test_classes_do_not_depend_on_the_order(
    rows: list[Timed], half_life: Any, rng: random.Random
) -> None:
    """An event that comes late makes its class all the same, and weighs what it would have."""
    one = learn(GaussianNB(half_life=half_life), rows)
    other = learn(GaussianNB(half_life=half_life), rng.sample(rows, len(rows)))
    assert list(map(repr, one.classes)) == list(map(repr, other.classes))
    assert one.class_weight == pytest.approx(other.class_weight, rel=1e-14)
    assert all(map(math.isfinite, one.class_weight.values()))


def test_a_permutation_over_eight_shards() -> None:
    """10^5 timed events, shuffled over 8 shards and merged, are the sorted single pass."""
    rng = random.Random(11)
    rows: list[Timed] = [
        (
            {"x": rng.gauss(1e6, 1), "z": rng.lognormvariate(0, 2)},
            rng.choice("abc"),
            rng.choice([1.0, 1.0, 2.0, 0.3]),
            rng.uniform(0, 2e6),
        )
        for _ in range(100_000)
    ]
    one = learn(GaussianNB(half_life=timedelta(days=1)), sorted(rows, key=lambda row: row[3]))
    shards = [GaussianNB(half_life=timedelta(days=1)) for _ in range(8)]
    for place, (x, y, w, t) in enumerate(rng.sample(rows, len(rows))):
        shards[place % 8].learn_one(x, y, w, t)
    merged = streamnb.merge(shards)
    assert merged.class_weight == pytest.approx(one.class_weight, rel=1e-12)
    for label in "abc":
        assert merged.means(label) == pytest.approx(one.means(label), rel=1e-12)
        assert merged.variances(label) == pytest.approx(one.variances(label), rel=1e-12)


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


@pytest.mark.parametrize("verb", LEARN)
def test_a_time_is_needed(verb: str) -> None:
    """Without t a ValueError, and nothing is learned; w=0 moves nothing."""
    model = GaussianNB(half_life=10)
    with pytest.raises(ValueError, match="needs its time"):
        LEARN[verb](model, {"x": 1.0}, "a")
    same(model, GaussianNB(half_life=10))
    LEARN[verb](model, {"x": 1.0}, "a", t=0.0)
    before = state(model)
    LEARN[verb](model, {"x": 1.0}, "b", w=0.0, t=1e6)
    assert state(model) == before
    with pytest.raises(ValueError, match="needs its time"):
        model.unlearn_one({"x": 1.0}, "a")
    for t in (math.nan, math.inf, 1e300, -1e17):
        with pytest.raises(ValueError, match="time"):
            LEARN[verb](model, {"x": 1.0}, "a", t=t)
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


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, 1e-4, 1e13, timedelta(0)])
def test_half_lives_out_of_range(value: Any) -> None:
    """A ValueError where it is given, and where it is set."""
    with pytest.raises(ValueError, match="half_life"):
        GaussianNB(half_life=value)
    model = GaussianNB()
    with pytest.raises(ValueError, match="half_life"):
        model.half_life = value
    same(model, GaussianNB())


@pytest.mark.parametrize("value", ["3600", True, [1]])
def test_half_lives_of_the_wrong_kind(value: Any) -> None:
    with pytest.raises(TypeError, match="half_life"):
        GaussianNB(half_life=value)


def test_the_half_life_is_a_state_parameter() -> None:
    """Equal for a merge, however it is written; fixed once something was learned."""
    hour = learn(GaussianNB(half_life=3600), [({"x": 1.0}, "a", 1.0, 0.0)])
    same(hour, learn(GaussianNB(half_life=timedelta(hours=1)), [({"x": 1.0}, "a", 1.0, 0.0)]))
    assert (hour + GaussianNB(half_life=np.timedelta64(1, "h"))).class_weight == {"a": 1.0}
    for other in (GaussianNB(), GaussianNB(half_life=60)):
        for join in (lambda o: hour + o, lambda o: streamnb.merge([o, hour], like=hour)):
            with pytest.raises(MergeError, match="half_life"):
                join(other)
    with pytest.raises(ValueError, match="half_life shapes what is stored"):
        hour.half_life = 60
    empty = GaussianNB()
    empty.half_life = 3600
    same(learn(empty, [({"x": 1.0}, "a", 1.0, 0.0)]), hour)
    assert hour.clone().half_life == 3600
    assert hour.description()["parameters"]["half_life"] == 3600


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


@law
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


def test_unlearning_and_the_newest_time() -> None:
    """It stays where the newest event goes; what is later than it cannot have been learned."""
    model = GaussianNB(half_life=10)
    model.learn_one({"x": 1.0}, "a", t=0)
    model.learn_one({"x": 2.0}, "b", t=20)
    model.unlearn_one({"x": 2.0}, "b", t=20)
    assert model.class_weight == {"a": 0.25}
    before = state(model)
    for t in (20.001, 1e9):
        with pytest.raises(ValueError, match="later"):
            model.unlearn_one({"x": 1.0}, "a", t=t)
    with pytest.raises(ValueError, match="less weight"):
        model.unlearn_one({"x": 1.0}, "a", t=1)
    assert state(model) == before
    model.learn_one({"x": 2.0}, "b", t=1e6)
    before = state(model)
    model.unlearn_one({"x": 1.0}, "a", t=0)
    assert state(model) == before
    assert model.class_weight == {"a": 0.0, "b": 1.0}


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
            both = type(a).merged([a, b], a.half_life).scale(n).state()
            apart = type(a).merged([a.scale(n), b.scale(n)], a.half_life).state()
            assert both.packed().keys() == apart.packed().keys()
            assert both.cells.tobytes() == apart.cells.tobytes()
            assert both.weights.tobytes() == apart.weights.tobytes()
            assert both.newest == apart.newest
            whole = a.scale(n).scale(-n).state()
            assert whole.cells.tobytes() == a.state().cells.tobytes()
        assert a.scale(-2000).weights() == ({} if a.half_life is None else {"a": 0.0, "b": 0.0})
        with pytest.raises(ValueError, match="range"):
            a.scale(1100)


def test_states_that_cannot_be() -> None:
    """A time without a half-life, learned without a time, no time: not what a model can have."""
    faded = learn(GaussianNB(half_life=10), [({"x": 1.0}, "a", 1.0, 0.0)])
    plain = GaussianNB()
    plain.learn_one({"x": 1.0}, "a")
    assert "newest" not in plain.state()
    assert "newest" not in GaussianNB(half_life=10).state()
    with pytest.raises(ValueError, match="newest"):
        GaussianNB().set_state(faded.state())
    with pytest.raises(ValueError, match="newest"):
        GaussianNB(half_life=10).set_state(plain.state())
    for newest in (None, 1.5, "0", 2**62, True):
        with pytest.raises(ValueError, match="newest"):
            GaussianNB(half_life=10).set_state(faded.state() | {"newest": newest})


def test_a_live_model_notices_the_time() -> None:
    """The live model answers with the bits of the one from its bytes, after every event."""
    rng = random.Random(4)
    model = GaussianNB(half_life=3, background=0.5, prior_count=0.1)
    for n in range(60):
        label = rng.choice("abc") if n < 20 else "a"
        model.learn_one({"x": rng.gauss(0, 1)}, label, t=n + rng.uniform(-5, 5))
        loaded = streamnb.loads(state(model))
        assert model.joint_log_likelihood({"x": 0.5}) == loaded.joint_log_likelihood({"x": 0.5})
