"""Blocks of different kinds: one prior, one class weight, kinds that conflict, each kind alone."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamnb
from streamnb import (
    BernoulliNB,
    CategoricalNB,
    CodecError,
    GaussianNB,
    MergeError,
    MixedNB,
    MultinomialNB,
    PoissonNB,
)
from streamnb.likelihoods import Bag, Boolean, Categorical, Complement, Gaussian, Poisson, Text

from .states import close
from .test_codec_sealed import sealed, tree
from .verbs import LEARN, PREDICT, numbers, same, state

every_learn = pytest.mark.parametrize("learn", LEARN.values(), ids=LEARN)
every_predict = pytest.mark.parametrize("predict", PREDICT.values(), ids=PREDICT)

BLOCKS = {
    "words": Bag(),
    "mail": Text("mail", event="bernoulli"),
    "wide": Gaussian(background=1.0),
    "code": Categorical(alpha=0.5),
    "flag": Boolean(),
    ("n", 1): Gaussian(),
    "visits": Poisson(alpha=0.5),
}


def taught(rows: Any, *given: Any, **parameters: Any) -> MixedNB:
    model = MixedNB(*given, **parameters)
    for x, y, *w in rows:
        model.learn_one(x, y, *w)
    return model


@every_learn
@every_predict
def test_the_prior_counts_once(learn: Any, predict: Any) -> None:
    """scikit-learn#12957: h Gaussian, f Bernoulli, alpha 1; query (4, 1): .618613, not .708711.

    a: h 1, 2, 3, f 1, 1, 0; b: h 5, 7, f 0, 0. Variances 2/3 and 1; p(f) 3/5 and 1/4; the prior
    3/5 and 2/5.
    """
    model = MixedNB({"h": Gaussian(var_smoothing=0.0, background=0.0), "f": Boolean(alpha=1.0)})
    for h, f, y in [(1, 1, "a"), (2, 1, "a"), (3, 0, "a"), (5, 0, "b"), (7, 0, "b")]:
        learn(model, {"h": float(h), "f": bool(f)}, y)
    a = 3 / 5 * 3 / 5 * math.exp(-((4 - 2) ** 2) / (2 * 2 / 3)) / math.sqrt(2 * math.pi * 2 / 3)
    b = 2 / 5 * 1 / 4 * math.exp(-((4 - 6) ** 2) / 2) / math.sqrt(2 * math.pi)
    proba = predict(model, {"h": 4.0, "f": True})
    assert proba["a"] == pytest.approx(a / (a + b), rel=1e-13)
    assert proba["a"] == pytest.approx(0.618613, abs=5e-7)
    assert a * 3 / (a * 3 + b * 2) == pytest.approx(0.708711, abs=5e-7)
    joint = model.joint_log_likelihood({"h": 4.0, "f": True})
    assert joint == pytest.approx({"a": math.log(a), "b": math.log(b)}, rel=1e-13)


def rows_of(seed: int, n: int = 60) -> list[tuple[dict[Any, Any], str, float]]:
    """Events with values for all of `BLOCKS`, and more that are not named, of changing kinds."""
    rng = np.random.default_rng(seed)

    def event(y: int) -> dict[Any, Any]:
        words = rng.choice(["u", "v", "w", "é"], rng.integers(0, 5)).tolist()
        x: dict[Any, Any] = {
            "words": {word: words.count(word) for word in words},
            "mail": " ".join(rng.choice(["win", "money", "noon"], rng.integers(0, 4))),
            "wide": rng.normal(y),
            "code": [7, "7", True, 7.5][rng.integers(4)],
            "flag": bool(rng.random() < 0.3 + 0.4 * y),
            ("n", 1): rng.normal(2 * y, 3),
            "free": [rng.normal(y), ["red", "blue"][rng.integers(2)], True][rng.integers(3)],
            3: ["odd", bool(rng.random() < 0.5), np.float32(rng.normal(y, 2))][rng.integers(3)],
            "visits": float(rng.poisson(3 + y)),
            "none": [None, math.nan, 0.5][rng.integers(3)],
        }
        return {name: value for name, value in x.items() if rng.random() < 0.8}

    labels = rng.integers(0, 2, n)
    weights = rng.choice([1.0, 1.0, 2.0, 0.0], n)
    return [(event(y), "ab"[y], float(w)) for y, w in zip(labels, weights, strict=True)]


def test_blocks_add_up() -> None:
    """Log p(y) and what each kind's own model says of its part, added up."""
    rows = rows_of(1, 200)
    model = taught(rows, BLOCKS)
    flat: dict[str, Any] = {"prior": "uniform"}
    parts: list[tuple[Any, Any]] = [
        (MultinomialNB(**flat), lambda x: x.get("words", {})),
        (BernoulliNB(text="mail", **flat), lambda x: x),
        (GaussianNB(background=1.0, **flat), lambda x: {n: x[n] for n in ("wide",) if n in x}),
        (CategoricalNB(alpha=0.5, **flat), lambda x: {n: x[n] for n in ("code",) if n in x}),
        (PoissonNB(alpha=0.5, **flat), lambda x: {n: x[n] for n in ("visits",) if n in x}),
        (CategoricalNB(**flat), lambda x: {n: v for n, v in free(x, "flag") if type(v) is bool}),
        (CategoricalNB(**flat), lambda x: {n: v for n, v in free(x) if type(v) is str}),
        (GaussianNB(**flat), lambda x: {n: v for n, v in free(x, ("n", 1)) if is_float(v)}),
    ]
    for x, y, w in rows:
        for part, of in parts:
            part.learn_one(of(x), y, w)
    total = sum(model.class_weight.values())
    for x, _, _ in rows:
        joint = model.joint_log_likelihood(x)
        for y in "ab":
            added = math.log(model.class_weight[y] / total)
            for part, of in parts:
                added += part.joint_log_likelihood(of(x))[y] - math.log(1 / 2)
            assert joint[y] == pytest.approx(added, rel=1e-11)


def free(x: dict[Any, Any], *more: Any) -> list[tuple[Any, Any]]:
    return [(name, value) for name, value in x.items() if name in ("free", 3, "none", *more)]


def is_float(value: Any) -> bool:
    return isinstance(value, float | np.floating) or value is None


KINDS_ALONE = {
    "numbers": (None, GaussianNB, lambda rng: {"x": rng.normal(), "z": rng.normal()}),
    "readings": (
        {"x": Gaussian(background=2.0, ddof=1), "z": Gaussian(background=2.0, ddof=1)},
        lambda **more: GaussianNB(background=2.0, ddof=1, **more),
        lambda rng: {"x": rng.normal(), "z": rng.normal()},
    ),
    "poisson": (
        {"x": Poisson(), 7: Poisson()},
        PoissonNB,
        lambda rng: {"x": int(rng.poisson(2)), 7: float(rng.poisson(9))},
    ),
    "texts": (
        None,
        CategoricalNB,
        lambda rng: {n: "uvw"[rng.integers(3)] for n in ("x", "z")},
    ),
    "bools": (None, CategoricalNB, lambda rng: {"x": bool(rng.random() < 0.5), 7: True}),
    "categories": (
        {"x": Categorical(0.25), "z": Categorical(0.25)},
        lambda **more: CategoricalNB(alpha=0.25, **more),
        lambda rng: {"x": [1, True, "1"][rng.integers(3)], "z": float(rng.integers(3))},
    ),
}


@pytest.mark.parametrize(("blocks", "alone", "event"), KINDS_ALONE.values(), ids=KINDS_ALONE)
@pytest.mark.parametrize(
    "parameters", [{}, {"prior": {"a": 0.25, "b": 0.5, "zz": 0.25}}, {"prior_count": 2}], ids=str
)
def test_one_kind_is_its_own_model(
    blocks: Any, alone: Any, event: Any, parameters: dict[str, Any]
) -> None:
    """With one kind of features only: the statistics and answers of that kind's model."""
    rng = np.random.default_rng(5)
    mixed, own = MixedNB(blocks, **parameters), alone(**parameters)
    for i in range(80):
        x, y, w = event(rng), "ab"[rng.integers(2)], float(rng.integers(0, 3))
        if i > 5:
            assert list(mixed.predict_proba_one(x).values()) == pytest.approx(
                list(own.predict_proba_one(x).values()), rel=1e-13
            )
            assert mixed.joint_log_likelihood(x) == pytest.approx(
                own.joint_log_likelihood(x), rel=1e-13
            )
        for model in (mixed, own):
            model.learn_one(x, y, w)
    assert mixed.class_weight == own.class_weight
    assert mixed.features == own.features
    for y in own.class_weight:
        assert numbers(mixed, y) == numbers(own, y)


def test_a_bag_alone_is_its_own_model() -> None:
    """A block of tokens, or of a text: MultinomialNB's and BernoulliNB's answers."""
    pairs: list[tuple[Any, Any, Any]] = [
        (Bag(alpha=0.5, vocabulary_size=50), MultinomialNB(alpha=0.5, vocabulary_size=50), "words"),
        (Bag("bernoulli", threshold=1.0), BernoulliNB(threshold=1.0), "words"),
        (Text("mail", alpha=0.25), MultinomialNB(alpha=0.25, text="mail"), "mail"),
        (Text("mail", event="bernoulli"), BernoulliNB(text="mail"), "mail"),
    ]
    for likelihood, own, name in pairs:
        mixed = MixedNB({name: likelihood})
        for x, y, w in rows_of(2):
            one = {name: x[name]} if name in x else {}
            bag = one.get("words", {}) if name == "words" else one
            mixed.learn_one(one, y, w)
            own.learn_one(bag, y, w)
            assert mixed.joint_log_likelihood(one) == pytest.approx(
                own.joint_log_likelihood(bag), rel=1e-13
            )
        for y in "ab":
            assert mixed.counts(y) == {name: own.counts(y)}
        assert mixed.features == [name]


def objects(names: list[Any], rows: Any) -> Any:
    array = np.empty((len(rows), len(names)), dtype=object)
    for i, x in enumerate(rows):
        for j, name in enumerate(names):
            array[i, j] = x.get(name)
    return array


TABLES: dict[str, Any] = {
    "pandas": lambda names, rows: pd.DataFrame(
        {i: pd.Series([x.get(n) for x in rows], dtype=object) for i, n in enumerate(names)}
    ).set_axis(pd.Index(names, tupleize_cols=False), axis=1),
    "numpy": objects,
}


@pytest.mark.parametrize("library", TABLES)
@pytest.mark.parametrize("blocks", [None, BLOCKS], ids=["", "blocks"])
def test_tables_are_their_rows(library: str, blocks: Any) -> None:
    """Tables of cells of every kind, in any cut: the bytes and the bits of learning one by one."""
    rows = rows_of(3, 90)
    if blocks is None:  # where nothing says that a mapping is a bag
        rows = [({n: v for n, v in x.items() if n != "words"}, y, w) for x, y, w in rows]
    names = list(dict.fromkeys(name for x, _, _ in rows for name in x))
    more = {"columns": names} if library == "numpy" else {}
    expected, model = taught(rows, blocks), MixedNB(blocks)
    for start, stop in ((0, 1), (1, 40), (40, 40), (40, 90)):
        piece = rows[start:stop]
        table = TABLES[library](names, [x for x, _, _ in piece])
        model.learn_many(table, [y for _, y, _ in piece], [w for _, _, w in piece], **more)
    same(model, expected)
    table = TABLES[library](names, [x for x, _, _ in rows])
    joint = np.asarray(model.joint_log_likelihood_many(table, **more))
    assert joint.tolist() == [list(expected.joint_log_likelihood(x).values()) for x, _, _ in rows]
    assert list(model.predict_many(table, **more)) == [expected.predict_one(x) for x, _, _ in rows]


def test_polars_tables() -> None:
    """Columns of polars' own types, structs of tokens among them."""
    rows = [
        ({"t": "u", "b": True, "n": 1, "w": {"p": 1, "q": 2}}, "a"),
        ({"t": "v", "n": 2, "w": {"p": 0, "q": 1}}, "b"),
        ({"b": False, "w": {"p": 5, "q": 0}}, "a"),
    ]
    model = MixedNB({"w": Bag()})
    table = pl.DataFrame([{n: x.get(n) for n in "tbnw"} for x, _ in rows])
    model.learn_many(table, [y for _, y in rows])
    same(model, taught(rows, {"w": Bag()}))


EVENTS = st.dictionaries(
    st.sampled_from(["x", "z", "flag", "code", "words", "mail", 3]), st.integers(0, 11), max_size=6
)
ANY_VALUE = [1.5, "red", True, -2, 1e9, "blue", False, None, 0, math.nan, "1", 3.25]


def fit(x: dict[Any, int]) -> dict[Any, Any]:
    """An event of values of every kind, each as its feature's block takes it."""
    made: dict[Any, Any] = {}
    for name, i in x.items():
        value: Any = ANY_VALUE[i]
        if name == "flag":
            value = i % 2 == 0
        elif name == "words":
            value = {"u": i, "v": i % 3}
        elif name == "mail":
            value = ["win money", "noon", "", "money money"][i % 4]
        made[name] = value
    return made


DECLARED = {
    "flag": Boolean(2.0),
    "code": Categorical(),
    "words": Bag(),
    "mail": Text("mail", event="bernoulli"),
}
SHARDS = st.lists(
    st.lists(
        st.tuples(
            EVENTS, st.sampled_from(["a", 1, True, 1.0, "b"]), st.sampled_from([1.0, 2.0, 0.0])
        )
    ),
    min_size=2,
    max_size=4,
)


@given(SHARDS)
def test_laws(parts: Any) -> None:
    """Merging commutes to the bit, is one pass, has a zero, and goes through bytes."""
    rows = [[(fit(x), y, w) for x, y, w in part] for part in parts]
    models = [taught(part, DECLARED) for part in rows]
    before = [state(model) for model in models]
    whole = streamnb.merge(models)
    same(models[0] + models[1], models[1] + models[0])
    same(streamnb.loads(state(whole)), whole)
    same(whole + MixedNB(DECLARED), whole)
    one = taught([row for part in rows for row in part], DECLARED)
    close(whole, one)
    close(streamnb.merge(models[::-1]), one)
    assert [state(model) for model in models] == before
    for x, y, w in rows[0]:
        assert [*whole.joint_log_likelihood(x).values()] == pytest.approx(
            [*one.joint_log_likelihood(x).values()], rel=1e-9, abs=1e-9
        )
        whole.learn_one(x, y, w)
        one.learn_one(x, y, w)
    close(whole, one)


def test_kinds_that_conflict() -> None:
    """A field that is a number in one shard and a text in another, in either order: one pass."""
    rows = [
        ({"size": 1.5, "n": "three"}, "a"),
        ({"size": 2.5, "n": 3}, "a"),
        ({"size": "large", "n": True}, "b"),
        ({"size": 2.0, "n": 4}, "b"),
        ({"size": "small"}, "b"),
    ]
    one, odd_last = taught(rows), taught(rows[::-1])
    same(taught(rows[:2]) + taught(rows[2:]), one)
    same(taught(rows[2:]) + taught(rows[:2]), one)
    assert one.means("b") == {"n": 4.0, "size": 2.0}
    assert one.counts("b") == {"n": {True: 1.0}, "size": {"large": 1.0, "small": 1.0}}
    assert odd_last.features == ["n", "size"]
    close(odd_last, one)
    # the odd text leaves what numbers say as it was
    for model in (one, odd_last):
        plain = taught(
            [({n: v for n, v in x.items() if not isinstance(v, str)}, y) for x, y in rows]
        )
        query = {"size": 2.25, "n": 3.5}
        assert model.joint_log_likelihood(query) == plain.joint_log_likelihood(query)


def test_a_boolean_is_its_formula() -> None:
    """(c + alpha)/(N + 2 alpha); one that was always the same is no evidence."""
    model = MixedNB({"f": Boolean(alpha=0.5)}, prior="uniform")
    for f, y in [(True, "a"), (True, "a"), (False, "a"), (False, "b")]:
        model.learn_one({"f": f, "same": True}, y)
    joint = model.joint_log_likelihood({"f": True})
    for y, p in (("a", Fraction(5, 8)), ("b", Fraction(1, 4))):
        assert joint[y] == pytest.approx(math.log(p / 2), rel=1e-14)
    for query in ({}, {"same": True}, {"same": False}, {"f": None}):
        assert model.predict_proba_one(query) == {"a": 0.5, "b": 0.5}


BAD: list[tuple[dict[Any, Any], type[Exception], str]] = [
    ({"flag": 1}, TypeError, "flag"),
    ({"flag": "true"}, TypeError, "flag"),
    ({"wide": "1.5"}, TypeError, "wide"),
    ({"wide": math.inf}, ValueError, "wide"),
    ({"code": math.inf}, ValueError, "code"),
    ({"visits": -1.0}, ValueError, "visits"),
    ({"code": b"x"}, TypeError, "code"),
    ({"words": "u v"}, TypeError, "words"),
    ({"words": {"u": -1}}, ValueError, "words"),
    ({"words": {"u": None}}, ValueError, "words"),
    ({"words": {1.5: 1}}, TypeError, "1.5"),
    ({"mail": 5}, TypeError, "mail"),
    ({"free": [1]}, TypeError, "free"),
    ({"free": {"u": 1}}, TypeError, "free"),
    ({"free": math.inf}, ValueError, "free"),
]


@every_learn
@pytest.mark.parametrize(("bad", "error", "named"), BAD, ids=str)
def test_learning_is_atomic(learn: Any, bad: Any, error: Any, named: str) -> None:
    """What one block refuses none has learned: values, labels and weights; questions refuse it."""
    good = {"wide": 1.0, "code": "x", "flag": True, "free": 1.0}
    for model in (MixedNB(BLOCKS), taught(rows_of(4), BLOCKS)):
        before = state(model)
        for x in ({**good, **bad}, {**bad, **{n: v for n, v in good.items() if n not in bad}}):
            with pytest.raises(error, match=named):
                learn(model, x, "new")
            with pytest.raises(error, match=named):
                model.predict_one(x)
        for y, w in ((None, 1.0), (math.nan, 1.0), ("a", -1.0), ("a", math.inf)):
            with pytest.raises((TypeError, ValueError)):
                learn(model, good, y, w=w)
        assert state(model) == before


@every_learn
@pytest.mark.parametrize("name", ["wide", "free", "n", "other"])
def test_what_overflows_is_learned_nowhere(learn: Any, name: Any) -> None:
    """A square beyond doubles in any of several blocks of numbers, a weight, a count: no trace."""
    model = MixedNB({**BLOCKS, "other": Gaussian(ddof=1.0), "n": Gaussian()})
    x = {"wide": 1.0, "free": 1.0, "n": 1.0, "other": 1.0, "code": 7, "words": {"u": 1}}
    model.learn_one({**x, name: 1e200}, "a")
    before = state(model)
    with pytest.raises(ValueError, match="infinite"):
        learn(model, {**x, name: -1e200}, "a")
    assert state(model) == before
    model.learn_one({"words": {"u": 1e308}}, "a", w=1.5)
    before = state(model)
    for more, w in (({"words": {"u": 1e308}}, 1.0), ({"flag": True, "words": {"u": 1}}, 1.7e308)):
        with pytest.raises(ValueError, match="infinite"):
            learn(model, more, "a", w=w)
        assert state(model) == before


def test_the_first_bad_row_of_a_table() -> None:
    """A row is named, and nothing is learned."""
    model = MixedNB({"flag": Boolean()})
    for column in ([True, False, 1], np.array([0, 1, 0]), [None, "x", True]):
        with pytest.raises(TypeError, match=r"row \d: feature 'flag'"):
            model.learn_many(pd.DataFrame({"flag": pd.Series(column, dtype=object)}), list("aba"))
    same(model, MixedNB({"flag": Boolean()}))


SAME_BLOCKS: list[tuple[Any, Any]] = [
    ({"f": "boolean"}, {"f": Boolean()}),
    ({"f": {"likelihood": "boolean", "alpha": 2}}, {"f": Boolean(alpha=2.0)}),
    ([["f", [["likelihood", "categorical"]]], [7, "bag"]], {"f": Categorical(), 7: Bag()}),
    ([[["n", 1], "gaussian"]], {("n", 1): Gaussian()}),
    ({"t": {"likelihood": "text", "ngrams": [1, 2]}}, {"t": Text("t", ngrams=(1, 2))}),
    ({"b": Bag(threshold=0), "a": Bag("bernoulli")}, {"a": Bag("bernoulli"), "b": Bag()}),
    ({"x": Gaussian(np.float64(0.5), ddof=1)}, {"x": Gaussian(0.5, ddof=1.0)}),
    ({"x": {"likelihood": "gaussian", "background": 2}}, {"x": Gaussian(background=2.0)}),
    ({}, None),
]


@pytest.mark.parametrize(("blocks", "others"), SAME_BLOCKS, ids=str)
def test_blocks_that_are_the_same(blocks: Any, others: Any) -> None:
    """By name, as plain data, in any order: equal bytes, and back from bytes and descriptions."""
    model, other = MixedNB(blocks), MixedNB(others)
    for one in (model, other):
        one.learn_one({"free": 1.0, "f": True}, "a")
    same(model, other)
    same(model + other, other + model)
    for back in (
        streamnb.loads(state(model)),
        model.clone(include_attributes=True),
        MixedNB(**model.description()["parameters"]) + model,
    ):
        same(back, model)
    assert back.canonical_parameters()["blocks"] == other.canonical_parameters()["blocks"]


BAD_BLOCKS: list[tuple[Any, type[Exception], str]] = [
    (5, TypeError, "blocks"),
    ("boolean", TypeError, "blocks"),
    (["f"], TypeError, "blocks"),
    ({"f": 5}, TypeError, "'f'"),
    ({"f": Complement()}, TypeError, "'f'"),
    ({"f": GaussianNB()}, TypeError, "'f'"),
    ({"f": "poison"}, ValueError, "poison"),
    ({"f": {"alpha": 1}}, TypeError, "'f'"),
    ({"f": {"likelihood": "boolean", "alpha": -1}}, ValueError, "'f'"),
    ({"f": {"likelihood": "boolean", "beta": 1}}, TypeError, "'f'"),
    ({"f": Text("g")}, ValueError, "'g'"),
    ({7: "text"}, TypeError, "7"),
    ({1.5: "boolean"}, TypeError, "1.5"),
    ([["f", "boolean"], ["f", "bag"]], ValueError, "twice"),
]


@pytest.mark.parametrize(("blocks", "error", "named"), BAD_BLOCKS, ids=str)
def test_bad_blocks(blocks: Any, error: Any, named: str) -> None:
    """Refused when the model is made and when they are set, naming the feature."""
    with pytest.raises(error, match=named):
        MixedNB(blocks)
    model = MixedNB({"f": "boolean"})
    with pytest.raises(error, match=named):
        model.blocks = blocks
    same(model, MixedNB({"f": Boolean()}))


def test_blocks_shape_what_is_stored() -> None:
    """They may be set while nothing was learned; in a merge they must be equal."""
    model = MixedNB()
    model.blocks = {"code": Categorical()}
    model.learn_one({"code": 7}, "a")
    assert model.counts("a") == {"code": {7: 1.0}}
    with pytest.raises(ValueError, match="blocks"):
        model.blocks = None
    for other in (MixedNB(), MixedNB({"code": Categorical(2.0)})):
        with pytest.raises(MergeError, match="blocks"):
            model + other
        with pytest.raises(MergeError, match="blocks"):
            streamnb.merge([model, other], like=model)
    blocks = {"code": Categorical()}
    kept = MixedNB(blocks)
    blocks["code"] = Categorical(5.0)
    assert kept == MixedNB({"code": Categorical()})


def test_texts_of_models_have_no_readings() -> None:
    """`alpha` and `event` of a Text are for blocks: a model of texts has its own."""
    for text in (Text("t", alpha=0.5), Text("t", event="bernoulli"), {"field": "t", "alpha": 2.0}):
        with pytest.raises(ValueError, match="alpha"):
            MultinomialNB(text=text)
    for bad in ({"alpha": -1}, {"event": "poisson"}):
        with pytest.raises(ValueError, match=r"alpha|event"):
            Text("t", **bad)


def test_false_states() -> None:
    """Parts that no stream has left, under a true digest: a CodecError."""
    model = taught(rows_of(6), BLOCKS)
    body = tree(state(model)[20:-32])
    assert streamnb.loads(sealed(msgspec.msgpack.encode(body))) == model
    blocks = body["state"]["blocks"]
    for change in (
        {"blocks": blocks[:-1]},
        {"blocks": [*blocks, blocks[-1]]},
        {"blocks": [blocks[1], blocks[0], *blocks[2:]]},
        {"blocks": [{**blocks[0], "labels": ["a"]}, *blocks[1:]]},
        {"labels": ["a"]},
        {"labels": ["b", "a"]},
        {"weights": None},
        {"more": 1},
        {"blocks": None},
        {"blocks": blocks[0]},
    ):
        changed = {**body, "state": {**body["state"], **change}}
        with pytest.raises(CodecError):
            streamnb.loads(sealed(msgspec.msgpack.encode(changed)))
    for wrong in ({"blocks": 5}, {"blocks": [["x", [["likelihood", "poison"]]]]}, {"blocks": {}}):
        changed = {**body, "parameters": {**body["parameters"], **wrong}}
        with pytest.raises(CodecError):
            streamnb.loads(sealed(msgspec.msgpack.encode(changed)))


@pytest.mark.parametrize("seed", range(6))
def test_what_was_taken_back_never_was(seed: int) -> None:
    """Learn n, unlearn m of them: the n - m are left, counts exactly; then nothing at all."""
    rows = rows_of(seed, 40)
    model = taught(rows, BLOCKS)
    for x, y, w in rows[25:]:
        model.unlearn_one(x, y, w)
    others = taught(rows[:25], BLOCKS)
    assert model.class_weight == others.class_weight
    assert model.features == others.features
    for y in others.class_weight:
        assert model.counts(y) == others.counts(y)
        assert model.means(y) == pytest.approx(others.means(y), rel=1e-11, abs=1e-11)
        assert model.variances(y) == pytest.approx(others.variances(y), rel=1e-11, abs=1e-11)
    same(streamnb.loads(state(model)), model)
    text = {"mail": "win noon", "code": 7}
    assert model.predict_proba_one(text) == pytest.approx(others.predict_proba_one(text), rel=1e-11)
    for x, y, w in rows[:25][::-1]:
        model.unlearn_one(x, y, w)
    same(model, MixedNB(BLOCKS))


NEVER: list[tuple[Any, ...]] = [
    ({"words": {"zz": 1}}, "a"),
    ({"code": "never"}, "a"),
    ({"flag": True}, "z"),
    ({"wide": 1.0, "code": b"x"}, "a"),
    ({}, "a", 1e6),
    ({"free": "green"}, "a"),
]


@pytest.mark.parametrize("event", NEVER, ids=str)
def test_what_was_not_learned_is_not_taken_back(event: Any) -> None:
    """What one block cannot have learned no block takes back."""
    model = taught(rows_of(7), BLOCKS)
    before = state(model)
    with pytest.raises((ValueError, TypeError)):
        model.unlearn_one(*event)
    assert state(model) == before
