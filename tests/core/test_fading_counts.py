"""half_life of counts: the definitions at the newest time, and what has faded to nothing."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import streamnb
from streamnb import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    MixedNB,
    MultinomialNB,
)
from streamnb.likelihoods import Bag, Boolean, Categorical, Gaussian, Poisson, Text

from .exact import log
from .models import BAGS, Model, name_of
from .states import learn_table
from .test_categorical import exact as exact_categories
from .test_fading import Timed, learn, weights
from .test_mixed import rows_of
from .verbs import same, state

every_bag = pytest.mark.parametrize("kind", BAGS, ids=name_of)
Weighed = list[tuple[Mapping[Any, Any], Any, Fraction]]  # features, label, weight at the end


def bags(seed: int, number: int = 40) -> list[Timed]:
    """Bags of whole counts over some twenty half-lives of 10 seconds."""
    rng = random.Random(seed)
    return [
        (
            {word: rng.randint(1, 3) for word in rng.sample("uvwxyz", rng.randint(0, 4))},
            rng.choice("abc"),
            rng.choice([1.0, 1.0, 0.3, 2.0]),
            rng.uniform(0, 200),
        )
        for _ in range(number)
    ]


def weighed(rows: list[Timed], half_life: float) -> Weighed:
    """Rows with what they weigh at the newest time."""
    pairs = zip(rows, weights(rows, half_life), strict=True)
    return [(x, y, Fraction(w)) for (x, y, _, _), w in pairs]


def total(parts: Iterable[Fraction]) -> Fraction:
    return sum(parts, Fraction(0))


def count(rows: Weighed, token: Any, binary: bool) -> Fraction:
    """How often a token was seen, or in how many events."""
    return total(w * (1 if binary else x[token]) for x, _, w in rows if token in x)


def joint(kind: type, rows: Weighed, query: Mapping[Any, int], alpha: Fraction) -> dict[Any, float]:
    """{label: log p(y) + log p(x | y)}, or the complement's score, of tokens that were seen."""
    vocabulary = sorted({token for x, _, _ in rows for token in x})
    answer = {}
    for label in sorted({y for _, y, _ in rows}):
        own = [row for row in rows if row[1] == label]
        other = [row for row in rows if row[1] != label]
        n = total(w for _, _, w in own)
        score = log(n / total(w for _, _, w in rows)) if kind is not ComplementNB else 0.0
        if kind is BernoulliNB:
            for token in vocabulary:
                p = (count(own, token, True) + alpha) / (n + 2 * alpha)
                score += log(p if token in query else 1 - p)
        else:
            read, sign = (own, 1) if kind is MultinomialNB else (other, -1)
            size = total(count(read, token, False) for token in vocabulary)
            for token, number in query.items():
                p = (count(read, token, False) + alpha) / (size + alpha * len(vocabulary))
                score += sign * number * log(p)
        answer[label] = score
    return answer


@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB, ComplementNB])
@pytest.mark.parametrize("alpha", [1.0, 0.01, 30.0])
@pytest.mark.parametrize("seed", range(3))
def test_bags_are_read_at_the_newest_time(kind: type, alpha: float, seed: int) -> None:
    """All formulas, of weights w 2**-((newest - t)/h), in exact fractions; absent words too."""
    rows = bags(seed)
    model = learn(kind(half_life=10, alpha=alpha), rows)
    shards = [learn(kind(half_life=10, alpha=alpha), rows[i::3]) for i in range(3)]
    final = weighed(rows, 10)
    for each in (model, streamnb.merge(shards)):
        for label in "abc":
            own = [row for row in final if row[1] == label]
            expected = {
                token: float(count(own, token, kind is BernoulliNB))
                for token in sorted({token for x, _, _ in own for token in x})
            }
            assert each.counts(label) == pytest.approx(expected, rel=1e-14, abs=0)
        for query in ({}, {"u": 1}, {"u": 2, "v": 1, "z": 3}, dict.fromkeys("uvwxyz", 1)):
            expected = joint(kind, final, query, Fraction(alpha))
            assert each.joint_log_likelihood(query) == pytest.approx(expected, rel=1e-12)
            table = np.array([[float(query.get(token, 0)) for token in "uvwxyz"]])
            found = each.joint_log_likelihood_many(sp.csr_array(table), columns=list("uvwxyz"))
            assert found[0].tolist() == pytest.approx(list(expected.values()), rel=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_categories_are_read_at_the_newest_time(alpha: float, seed: int) -> None:
    """(c + alpha)/(N + alpha S), in exact fractions."""
    rng = random.Random(seed)
    rows: list[Timed] = [
        (
            {n: rng.choice(["u", "v", 1, True]) for n in rng.sample("fgh", rng.randint(0, 3))},
            rng.choice("ab"),
            rng.choice([1.0, 0.3]),
            rng.uniform(0, 100),
        )
        for _ in range(30)
    ]
    model = learn(CategoricalNB(half_life=10, alpha=alpha), rows)
    final = weighed(rows, 10)
    for query in ({}, {"f": "u"}, {"f": 1, "g": True, "h": "v"}, {"g": "never", "h": 1.0}):
        expected = {
            y: log(p) if p else -math.inf
            for y, p in exact_categories(final, query, Fraction(alpha)).items()
        }
        assert model.joint_log_likelihood(query) == pytest.approx(expected, rel=1e-12)


def test_blocks_fade_alike() -> None:
    """Log p(y) and what each kind's own fading model says of its part, added up."""
    blocks = {
        "words": Bag(),
        "mail": Text("mail", event="bernoulli"),
        "wide": Gaussian(background=1.0),
        "code": Categorical(alpha=0.5),
        "flag": Boolean(),
        ("n", 1): Gaussian(),
        "visits": Poisson(alpha=0.5),
    }
    rng = random.Random(6)
    rows = [(x, y, w, rng.uniform(0, 300)) for x, y, w in rows_of(6, 200)]
    model = learn(MixedNB(blocks, half_life=20), rows)
    flat: dict[str, Any] = {"prior": "uniform", "half_life": 20}
    parts: dict[str, Any] = {
        "words": MultinomialNB(**flat),
        "mail": BernoulliNB(text="mail", **flat),
        "wide": streamnb.GaussianNB(background=1.0, **flat),
        "code": CategoricalNB(alpha=0.5, **flat),
        "visits": streamnb.PoissonNB(alpha=0.5, **flat),
    }

    def part(name: str, x: dict[Any, Any]) -> dict[Any, Any]:
        return x.get("words", {}) if name == "words" else {n: x[n] for n in (name,) if n in x}

    for x, y, w, t in rows:
        for name, each in parts.items():
            each.learn_one(part(name, x), y, w, t)
    final = weighed(rows, 20)
    for x, _, _, _ in rows[:40]:
        query = {name: value for name, value in x.items() if name in parts}
        for y, found in model.joint_log_likelihood(query).items():
            share = total(w for _, label, w in final if label == y)
            share /= total(w for _, _, w in final)
            expected = log(share) + math.fsum(
                each.joint_log_likelihood(part(name, query))[y] - math.log(1 / 2)
                for name, each in parts.items()
            )
            assert found == pytest.approx(expected, rel=1e-12)
    packed = model.state()
    assert packed["newest"] == round(max(t for *_, t in rows) * 1000)
    assert not any("newest" in each for each in packed["blocks"])


def test_a_token_that_has_faded_was_never_seen() -> None:
    """It is not in the vocabulary: V = 2 again, and Bernoulli's absent words are two."""
    for kind in (MultinomialNB, BernoulliNB, ComplementNB):
        model = kind(half_life=1)
        model.learn_one({"old": 1, "u": 1}, "a", t=0)
        assert model.features == ["old", "u"]
        for x, y in (({"u": 1}, "a"), ({"v": 1}, "b")):
            model.learn_one(x, y, t=950)
        assert model.features == ["u", "v"]
        alone = kind(half_life=1)
        for x, y in (({"u": 1}, "a"), ({"v": 1}, "b")):
            alone.learn_one(x, y, t=950)
        for query in ({}, {"u": 1}, {"old": 3, "v": 1}):
            expected = alone.joint_log_likelihood(query)
            assert model.joint_log_likelihood(query) == expected
        model.learn_one({"old": 1}, "b", t=951)
        assert model.counts("b") == {"old": 1.0, "v": 0.5}


def test_a_value_that_has_faded_was_never_seen() -> None:
    """It is none of the S values, and a feature of one value is no evidence; N is of the others."""
    model = CategoricalNB(half_life=1)
    model.learn_one({"c": "old", "d": 1}, "a", t=0)
    for x, y in (({"c": "u"}, "a"), ({"c": "v"}, "b"), ({"d": 2}, "b")):
        model.learn_one(x, y, t=950)
    joint = model.joint_log_likelihood({"c": "u"})
    third = Fraction(1, 3)
    assert joint["a"] == pytest.approx(log(third * Fraction(2, 3)), rel=1e-14)
    assert joint["b"] == pytest.approx(log(2 * third * Fraction(1, 3)), rel=1e-14)
    assert model.joint_log_likelihood({"d": 2}) == model.joint_log_likelihood({"c": "old"})
    assert model.counts("a") == {"c": {"u": 1.0}}
    same(streamnb.loads(state(model)), model)


def test_sums_are_of_what_is_left() -> None:
    """Many counts fade to nothing at once, each below 2**-900 and their sum above."""
    many = {f"word{n}": 1 for n in range(1000)}
    for kind in (MultinomialNB, ComplementNB):
        model = kind(half_life=1)
        model.learn_one(many, "a", t=0)
        model.learn_one({"kept": 2.0}, "a", t=3)
        model.learn_one({"b": 1}, "b", t=902)
        assert model.counts("a") == {"kept": 2.0**-898}
        assert model.state()["sums"].tolist() == [[2.0**-898, 0.0], [1.0, 0.0]]
        same(streamnb.loads(state(model)), model)
    model = CategoricalNB(half_life=1)
    for n in range(1000):
        model.learn_one({"f": n}, "a", t=0)
    model.learn_one({"f": "kept"}, "a", t=3)
    model.learn_one({}, "b", t=902)
    assert model.counts("a") == {"f": {"kept": 2.0**-899}}
    assert model.state()["counts"].tolist() == [2.0**-899, 2.0**-899]
    model.learn_one({}, "b", t=904)
    assert model.features == []
    assert model.class_weight["a"] > 0.0
    same(streamnb.loads(state(model)), model)


def test_counts_go_with_the_weight_of_their_class() -> None:
    """Where the weight of a class has faded to nothing it has no counts, however large."""
    model = MultinomialNB(half_life=1)
    model.learn_one({"u": 1e100}, "a", t=0)
    model.learn_one({"u": 1}, "b", t=901)
    assert model.class_weight == {"a": 0.0, "b": 1.0}
    assert model.counts("a") == {}
    same(streamnb.loads(state(model)), model)


OLD: st.SearchStrategy[list[Timed]] = st.lists(
    st.tuples(
        st.dictionaries(
            st.sampled_from("uvwxyz"),
            st.sampled_from([1.0, 2.0, 0.3, 1e-100, 1e-250, 1e-280, 5e-324, 1e100]),
            max_size=4,
        ),
        st.sampled_from(["a", "b"]),
        st.sampled_from([1.0, 1 / 3, 1e-200, 1e-271, 1e-300, 1e15]),
        st.one_of(st.integers(0, 8), st.integers(0, 2000), st.integers(890, 910)).map(float),
    ),
    min_size=1,
    max_size=10,
)


@every_bag
@given(OLD, st.integers(0, 10))
def test_near_nothing(kind: Model, rows: list[Timed], cut: int) -> None:
    """Counts near 2**-900 of any size: rows and tables agree, bytes are read, merges commute."""
    model = learn(kind.make(half_life=1), rows)
    same(streamnb.loads(state(model)), model)
    xs, ys, ws, ts = map(list, zip(*rows, strict=True))
    same(learn_table(kind.make(half_life=1), xs, ys, ws, library="pandas", times=ts), model)
    one, other = (learn(kind.make(half_life=1), part) for part in (rows[:cut], rows[cut:]))
    same(one + other, other + one)
    same(streamnb.loads(state(one + other)), one + other)
    for label in model.classes:
        assert all(c >= 2.0**-901 for c in model.counts(label).values())
    assert all(math.isfinite(p) for p in model.predict_proba_one({"u": 1, "v": 1}).values())


def test_the_sum_of_an_event_is_of_what_counts() -> None:
    """Rounded once, by row and by table, where a count is too small: 1 + 2**-53 + 2**-106."""
    x = {"u": 1.0, "v": 2.0**-53, "w": 2.0**-106, "nothing": 5e-324}
    model = MultinomialNB(half_life=1)
    model.learn_one(x, "a", t=0)
    many = MultinomialNB(half_life=1)
    many.learn_many(np.array([list(x.values())]), ["a"], t=0, columns=list(x))
    assert model.features == ["u", "v", "w"]
    assert model.state()["sums"].tolist() == [[1 + 2.0**-52, 0.0]]
    same(many, model)


def test_what_is_refused_moves_nothing() -> None:
    """Counts or weights out of range leave every byte, also where they would move the landmark."""
    for kind in (MultinomialNB, ComplementNB):
        model = kind(half_life=10)
        model.learn_one({"u": 1.5e308}, "a", t=0)
        before = state(model)
        with pytest.raises(ValueError, match="infinite"):
            model.learn_one({"u": 1e308, "new": 1}, "a", t=5)
        table = np.array([[1.0], [1e308], [1.0]])
        with pytest.raises(ValueError, match="row 1"):
            model.learn_many(table, ["b", "a", "c"], t=[0.5, 5, 1e3], columns=["u"])
        with pytest.raises(ValueError, match="row 1"):
            model.learn_many(table, ["b", "b", "b"], t=[0.5, 1e300, 1e3], columns=["u"])
        with pytest.raises(ValueError, match="weight"):
            model.learn_one({"u": 1}, "b", w=1.7e308, t=9.9)
        assert state(model) == before
        # ten half-lives later there is room
        model.learn_one({"u": 1e308}, "a", t=100)
        many = kind(half_life=10)
        many.learn_many(np.array([[1.5e308], [1e308]]), ["a", "a"], t=[0, 100], columns=["u"])
        same(many, model)
    model = MixedNB({"bag": Bag(), "n": Poisson()}, half_life=10)
    model.learn_one({"bag": {"u": 1.5e308}, "n": 1e100, "x": 1.0}, "a", t=0)
    before = state(model)
    for x, w in (({"bag": {"u": 1e308}}, 1.0), ({"n": 1e160}, 1.0), ({"x": 2}, 1.7e308)):
        with pytest.raises(ValueError, match=r"infinite|range"):
            model.learn_one({"x": 1.0, "n": 1.0} | x, "a", w, t=9.9)
        assert state(model) == before


def test_scale_distributes_over_merge() -> None:
    """Scaled by a power of two and merged is merged and scaled, to the bit; scales add up."""
    rng = random.Random(2)
    for kind in (MultinomialNB, BernoulliNB, CategoricalNB):
        for half_life in (None, 5.0):
            a, b = (kind(half_life=half_life) for _ in range(2))
            for model in (a, b):
                for _ in range(50):
                    x = {name: rng.randint(1, 3) for name in rng.sample("xyz", 2)}
                    model.learn_one(x, rng.choice("ab"), rng.choice([1.0, 0.3]), rng.uniform(0, 50))
            for n in (-7, 0, 3):
                parts = [each.statistic.scale(n) for each in (a, b)]
                apart = a.statistic.merged(parts).state()
                both = (a + b).statistic.scale(n).state()
                for name in ("weights", "sums", "counts", "owners"):
                    assert getattr(both, name).tobytes() == getattr(apart, name).tobytes()
                back = a.statistic.scale(n).scale(-n).state()
                assert back.counts.tobytes() == a.statistic.state().counts.tobytes()
            gone = {} if half_life is None else {"a": 0.0, "b": 0.0}
            assert a.statistic.scale(-2000).weights() == gone
            assert a.statistic.scale(-2000).names() == []
            with pytest.raises(ValueError, match="range"):
                a.statistic.scale(1100)


def test_unlearning_leaves_what_the_others_weigh() -> None:
    """Counts and weights of the events that stay, at the newest time of all."""
    rows = bags(12)
    for kind in (MultinomialNB, BernoulliNB, ComplementNB):
        model = learn(kind(half_life=10), rows)
        final = weighed(rows, 10)
        for x, y, w, t in rows[::2]:
            model.unlearn_one(x, y, w, t)
        for label in "abc":
            own = [row for row in final[1::2] if row[1] == label]
            assert model.class_weight[label] == pytest.approx(
                float(total(w for _, _, w in own)), rel=1e-9
            )
            for token, found in model.counts(label).items():
                expected = float(count(own, token, kind is BernoulliNB))
                assert found == pytest.approx(expected, rel=1e-9)
