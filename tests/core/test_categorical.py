"""Categories: worked examples, definitions in exact fractions, peers, kinds of values, bytes."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import naive_bayes

import streamnb
from streamnb import CategoricalNB, CodecError
from streamnb.likelihoods import Boolean, Categorical

from .test_codec_sealed import sealed, tree
from .verbs import LEARN, PREDICT, same, state

every_learn = pytest.mark.parametrize("learn", LEARN.values(), ids=LEARN)
every_predict = pytest.mark.parametrize("predict", PREDICT.values(), ids=PREDICT)

# Quinlan, Induction of Decision Trees, 1986, table 1: fourteen Saturdays.
SATURDAYS = """
sunny hot high false N; sunny hot high true N; overcast hot high false P; rain mild high false P;
rain cool normal false P; rain cool normal true N; overcast cool normal true P;
sunny mild high false N; sunny cool normal false P; rain mild normal false P;
sunny mild normal true P; overcast mild high true P; overcast hot normal false P;
rain mild high true N
"""
NAMES = ("outlook", "temperature", "humidity", "windy")


def saturdays() -> list[tuple[dict[str, Any], str]]:
    rows = [row.split() for row in SATURDAYS.replace("\n", " ").split(";")]
    return [
        ({**dict(zip(NAMES, row, strict=False)), "windy": row[3] == "true"}, row[4]) for row in rows
    ]


def taught(rows: Any, **parameters: Any) -> CategoricalNB:
    model = CategoricalNB(**parameters)
    for x, y, *w in rows:
        model.learn_one(x, y, *w)
    return model


def kind(value: Any) -> tuple[str, Any]:
    """A value as it differs from others: True is not 1, and 1 is 1.0."""
    if isinstance(value, str):
        return "text", value
    return ("bool", bool(value)) if isinstance(value, bool | np.bool_) else ("number", value)


def exact(rows: Any, query: dict[Any, Any], alpha: Fraction) -> dict[Any, Fraction]:
    """p(y) times (c + alpha)/(N + alpha S) for each feature, by the definition."""
    labels = sorted({y for _, y, _ in rows})
    answer = {}
    for label in labels:
        answer[label] = Fraction(sum(w for _, y, w in rows if y == label)) / Fraction(
            sum(w for _, _, w in rows)
        )
        for name, value in query.items():
            found = [(kind(x[name]), y, Fraction(w)) for x, y, w in rows if name in x]
            values = {each for each, _, _ in found}
            if kind(value) not in values:
                continue
            own = [(each, w) for each, y, w in found if y == label]
            own = own or [(each, w) for each, _, w in found]
            count = sum((w for each, w in own if each == kind(value)), Fraction(0))
            answer[label] *= (count + alpha) / (sum(w for _, w in own) + alpha * len(values))
    return answer


def shares(joint: dict[Any, Fraction]) -> dict[Any, float]:
    return {y: float(p / sum(joint.values())) for y, p in joint.items()}


@every_predict
def test_saturdays_without_smoothing(predict: Any) -> None:
    """Quinlan's weather: sunny, cool, high, windy: 5/14 3/5 1/5 4/5 3/5 to 9/14 2/9 3/9 3/9 3/9."""
    no = Fraction(5, 14) * Fraction(3, 5) * Fraction(1, 5) * Fraction(4, 5) * Fraction(3, 5)
    yes = Fraction(9, 14) * Fraction(2, 9) * Fraction(3, 9) * Fraction(3, 9) * Fraction(3, 9)
    query = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": True}
    proba = predict(taught(saturdays(), alpha=0.0), query)
    assert proba == pytest.approx(shares({"N": no, "P": yes}), rel=1e-14, abs=0)
    assert proba["N"] == pytest.approx(0.795, abs=5e-4)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 3.0])
def test_every_saturday(alpha: float) -> None:
    """All fourteen rows, and rows that lack features, by the definition in fractions."""
    rows = [(x, y, 1) for x, y in saturdays()]
    model = taught(saturdays(), alpha=alpha)
    for x, _ in saturdays():
        for left_out in (None, *NAMES):
            query = {name: value for name, value in x.items() if name != left_out}
            expected = exact(rows, query, Fraction(alpha))
            joint = model.joint_log_likelihood(query)
            for y, p in expected.items():
                assert joint[y] == (pytest.approx(math.log(p), rel=1e-13) if p else -math.inf)


@every_learn
@every_predict
def test_a_value_never_seen_is_no_evidence(learn: Any, predict: Any) -> None:
    """scikit-learn#16028: red, red to A, blue to B, alpha 1; green: the prior, 2/3; bytes stay."""
    model = CategoricalNB()
    for colour, y in [("red", "A"), ("red", "A"), ("blue", "B")]:
        learn(model, {"c": colour}, y)
    before = state(model)
    assert predict(model, {"c": "green"})["A"] == pytest.approx(2 / 3, rel=1e-15)
    expected = shares({"A": Fraction(2, 3) * Fraction(3, 4), "B": Fraction(1, 3) * Fraction(1, 3)})
    assert predict(model, {"c": "red"}) == pytest.approx(expected, rel=1e-14)
    assert state(model) == before


@every_predict
def test_a_class_without_the_feature(predict: Any) -> None:
    """It takes the counts over all classes: (3 + 1)/(5 + 2), where a has (2 + 1)/(3 + 2)."""
    rows = [({"c": c}, y) for c, y in [("u", "a"), ("u", "a"), ("v", "a"), ("u", "b"), ("v", "b")]]
    model = taught([*rows, ({}, "z"), ({"other": 1}, "z")], known_labels=["zz"], prior="uniform")
    joint = {"a": Fraction(3, 5), "b": Fraction(2, 4), "z": Fraction(4, 7), "zz": Fraction(4, 7)}
    assert predict(model, {"c": "u"}) == pytest.approx(shares(joint), rel=1e-14)


@every_predict
def test_one_value_is_no_evidence(predict: Any) -> None:
    """A feature with a single value everywhere says nothing, to the bit, whatever is asked."""
    rows = [({"c": c}, y) for c, y in [("u", "a"), ("u", "a"), ("v", "a"), ("u", "b"), ("v", "b")]]
    plain = taught(rows)
    model = taught([({**x, "same": 7}, y, 0.3) for x, y in rows], prior={"a": 0.6, "b": 0.4})
    for value in (7, 8, "7", None):
        assert predict(model, {"same": value}) == pytest.approx({"a": 0.6, "b": 0.4}, rel=1e-15)
    assert model.joint_log_likelihood({"same": 7}) == model.joint_log_likelihood({})
    assert plain.joint_log_likelihood({"same": 7}) == plain.joint_log_likelihood({})


@every_predict
def test_no_smoothing(predict: Any) -> None:
    """alpha = 0: what a class never saw makes it impossible; all impossible: the prior."""
    model = taught(
        [({"u": 1, "v": "x"}, "a"), ({"u": 1, "v": "x"}, "a"), ({"u": 2, "v": "z"}, "b")], alpha=0.0
    )
    assert predict(model, {"u": 1}) == {"a": 1.0, "b": 0.0}
    assert model.joint_log_likelihood({"u": 1, "v": "z"}) == {"a": -math.inf, "b": -math.inf}
    both = pytest.approx({"a": 2 / 3, "b": 1 / 3}, rel=1e-15)
    assert predict(model, {"u": 1, "v": "z"}) == both
    assert predict(model, {"u": 3}) == both


@pytest.mark.parametrize("alpha", [5e-324, 1e-300, 1e308])
def test_extremes_of_alpha(alpha: float) -> None:
    """No NaN, and probabilities that sum to 1."""
    model = taught([({"u": 1}, "a", 1e300), ({"u": 2}, "b"), ({"u": 3}, "b")], alpha=alpha)
    for u in (1, 2, 3):
        assert not any(map(math.isnan, model.joint_log_likelihood({"u": u}).values()))
        assert math.fsum(model.predict_proba_one({"u": u}).values()) == pytest.approx(1.0)


@every_learn
def test_kinds_of_values(learn: Any) -> None:
    """True, 1, "1": three values; 1, 1.0 and NumPy's: one, whichever came first."""
    expected = taught([({"x": v}, "a") for v in (True, 1, 1, 1, "1", 2.5, 0.0, 0.0)])
    for values in ((True, 1, 1.0, np.int64(1)), (np.float32(1), 1, np.uint8(1), np.True_)):
        model = CategoricalNB()
        for value in (*values, "1", np.float64(2.5), -0.0, 0):
            learn(model, {"x": value}, "a")
        same(model, expected)
    counts = {"bool:True": 1.0, 0: 2.0, 1: 3.0, 2.5: 1.0, "1": 1.0}
    assert expected.counts("a") == {"x": counts}
    expected.learn_one({"x": "bool:True"}, "a")
    counts = {"bool:bool:True": 1.0, 0: 2.0, 1: 3.0, 2.5: 1.0, "1": 1.0, "bool:True": 1.0}
    assert expected.counts("a") == {"x": counts}
    same(streamnb.loads(state(expected)), expected)


def test_names_do_not_meet_values() -> None:
    """Names that look as our tokens do, and whole numbers of any length, stay what they are."""
    rows: list[Any] = [
        ({("x",): "u", "x": "v", ("x", "text", "v"): 1, 7: 2**53 + 1, ("x", "v"): 10**30}, "a"),
        ({("x",): "v", "x": "u", ("x", "text", "v"): 2, 7: 2**53, ("x", "v"): 1e30}, "b"),
    ]
    model = taught(rows)
    for one in (model, streamnb.loads(state(model)), model + CategoricalNB()):
        for x, y in rows:
            assert one.counts(y) == {name: {value: 1.0} for name, value in x.items()}
        assert one.features == [7, "x", ("x",), ("x", "text", "v"), ("x", "v")]
    same(streamnb.loads(state(model)), model)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("alpha", [1.0, 0.1, 1e-8, 30.0])
def test_scikit_learn_agrees(alpha: float, weights: bool) -> None:
    """Posteriors to 1e-10, from numbers, and from texts of pandas and polars."""
    rng = np.random.default_rng(16)
    table = rng.integers(0, [2, 3, 7, 20], (400, 4))
    labels = rng.choice(["a", "b", "c"], 400, p=[0.6, 0.3, 0.1])
    w = rng.choice([0.5, 1.0, 2.0, 1 / 3], 400) if weights else None
    sizes = [len(set(column)) for column in table.T]
    assert sizes == [2, 3, 7, 20]
    theirs = naive_bayes.CategoricalNB(alpha=alpha, min_categories=sizes)
    expected = theirs.fit(table, labels, sample_weight=w).predict_proba(table)
    texts = {f"f{j}": [f"v{value}" for value in column] for j, column in enumerate(table.T)}
    categories = pd.DataFrame(texts).astype("category")
    for X in (table, table.astype(object), pd.DataFrame(texts), categories, pl.DataFrame(texts)):
        ours = CategoricalNB(alpha=alpha)
        ours.learn_many(X, labels, w)
        proba = np.asarray(ours.predict_proba_many(X))
        np.testing.assert_allclose(proba, expected, rtol=1e-10, atol=1e-14)


VALUES = st.sampled_from(["u", "v", "1", True, False, 1, 1.0, 0, 2.5, np.int64(2)])
ROWS = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(["x", "z", ("x",)]), VALUES),
        st.sampled_from("abc"),
        st.sampled_from([1, 2, 0.25]),
    ),
    min_size=1,
    max_size=12,
)


@given(ROWS, st.dictionaries(st.sampled_from(["x", "z", ("x",)]), VALUES), st.integers(0, 12))
def test_the_definition(rows: Any, query: Any, cut: int) -> None:
    """Counts and answers are the definition's, in one pass and merged at any cut."""
    counts: dict[str, Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
    for x, y, w in rows:
        for name, value in x.items():
            counts[y][name][kind(value)] += w
    expected = exact(rows, query, Fraction(1, 2))
    shards = taught(rows[:cut], alpha=0.5) + taught(rows[cut:], alpha=0.5)
    for model in (taught(rows, alpha=0.5), shards, streamnb.loads(state(shards))):
        for y in model.class_weight:
            found = {name: list(v.values()) for name, v in model.counts(y).items()}
            wanted = {name: sorted(v.values()) for name, v in counts[y].items()}
            assert {name: sorted(v) for name, v in found.items()} == wanted
        joint = model.joint_log_likelihood(query)
        assert {y: math.exp(v) for y, v in joint.items()} == pytest.approx(expected, rel=1e-12)


def test_tables_of_texts_are_their_rows() -> None:
    """Texts, bools, numbers and gaps in every library's own types: the bytes of learn_one."""
    rows = [
        {"t": "u", "b": True, "n": 1, "f": 0.5, "o": "x"},
        {"t": "é", "b": False, "n": 2, "f": 1.0, "o": 1},
        {"t": "u", "b": True, "n": 1, "f": 0.5, "o": True},
        {"t": "w", "b": True, "n": 3, "f": 2.5, "o": None},
    ]
    expected = taught(zip(rows, "abab", strict=True))
    frame = pd.DataFrame(rows)
    for table in (
        frame,
        frame.convert_dtypes(),
        frame.astype({"t": "category", "n": "category"}),
        frame[["o", "f", "n", "t", "b"]],
        pl.DataFrame(
            [
                pl.Series(n, [x[n] for x in rows], dtype=pl.Object if n == "o" else None)
                for n in rows[0]
            ]
        ),
    ):
        model = CategoricalNB()
        model.learn_many(table, list("abab"))
        same(model, expected)
        joint = np.asarray(model.joint_log_likelihood_many(frame))
        one = [list(model.joint_log_likelihood(x).values()) for x in rows]
        assert joint.tolist() == one


def test_whole_numbers_of_polars() -> None:
    """Columns of every width are the numbers that they hold, also of 128 bits."""
    whole = [10**30, 1, 10**30, None]
    for values, dtype in [
        (whole, pl.Int128),
        ([7, 1, 7, None], pl.UInt8),
        ([7, 1, 7, 2], pl.Int64),
    ]:
        for learner in (CategoricalNB, streamnb.MixedNB, streamnb.GaussianNB):
            model, expected = learner(), learner()
            model.learn_many(pl.DataFrame({"n": pl.Series(values, dtype=dtype)}), list("aabb"))
            for value, label in zip(values, "aabb", strict=True):
                expected.learn_one({"n": value}, label)
            same(model, expected)


def test_the_order_of_features_does_not_show_in_answers() -> None:
    """An event, its features in any order, and a table, its columns in any: the same bits."""
    rng = np.random.default_rng(3)
    names = [f"f{j}" for j in range(60)]
    model = CategoricalNB(alpha=0.3)
    for _ in range(40):
        x = {name: int(v) for name, v in zip(names, rng.integers(0, 4, 60), strict=True)}
        model.learn_one(x, "ab"[rng.integers(2)], w=rng.random())
        joint = model.joint_log_likelihood(x)
        for order in (names[::-1], rng.permutation(names).tolist()):
            assert model.joint_log_likelihood({name: x[name] for name in order}) == joint
            table = pd.DataFrame([x])[order]
            assert model.joint_log_likelihood_many(table).iloc[0].to_dict() == joint
        assert streamnb.loads(state(model)).joint_log_likelihood(x) == joint


def test_text_beyond_unicode() -> None:
    """A lone surrogate is a ValueError that names the feature, in learning and predicting."""
    model = CategoricalNB()
    for verb in (lambda x: model.learn_one(x, "a"), model.predict_one):
        with pytest.raises(ValueError, match="'x'"):
            verb({"x": "\ud800"})
    same(model, CategoricalNB())


def test_likelihoods() -> None:
    """Frozen, compared by value, checked when they are made."""
    assert Categorical() == Categorical(alpha=1.0)
    assert Boolean() != Categorical()
    for make in (Categorical, Boolean):
        for bad, error in ((-1.0, ValueError), (math.nan, ValueError), ("1", TypeError)):
            with pytest.raises(error, match="alpha"):
                make(bad)
    with pytest.raises(ValueError, match="alpha"):
        CategoricalNB(alpha=-1)


def test_false_states() -> None:
    """Counts that no stream has, under a true digest: a CodecError."""
    model = taught([({"x": "u", "z": 1}, "a"), ({"x": "v"}, "b")])
    body = tree(state(model)[20:-32])
    for change in (
        {"names": ["x"]},
        {"names": ["z", "x"]},
        {"values": [["u", "v"], [None]]},
        {"values": [["u", "v"], [math.inf]]},
        {"values": [["v", "u"], [1.0]]},
        {"values": [["u"], ["v", 1.0]]},
        {"values": [["u", "v"], [b"1"]]},
        {"values": [["u", "v", "w"], []]},
    ):
        changed = {**body, "state": {**body["state"], **change}}
        with pytest.raises(CodecError):
            streamnb.loads(sealed(msgspec.msgpack.encode(changed)))
    assert streamnb.loads(sealed(msgspec.msgpack.encode(body))) == model


def test_wide_questions() -> None:
    """An event of more tokens than any before it, asked of a model that was just made or read."""
    for model in (CategoricalNB(), streamnb.MultinomialNB(), streamnb.BernoulliNB()):
        model.learn_one({"x": 1}, "a")
        wide = {f"f{j}": 1 for j in range(1000)}
        assert model.predict_one(wide) == "a"
        for verb in ("predict_one", "predict_proba_one", "joint_log_likelihood"):
            loaded = streamnb.loads(state(model))
            assert getattr(loaded, verb)(wide) == getattr(model, verb)(wide)


@given(ROWS, st.integers(0, 12), st.randoms(use_true_random=False))
def test_what_was_taken_back_never_was(rows: Any, number: int, rng: Any) -> None:
    """Learn n, unlearn m of them: the bytes and answers of the n - m; what is left, to nothing.

    A value that is gone from all classes is no value any more: S is that of the others.
    """
    rows = [(x, y, 2.0 if w == 0.25 else float(w)) for x, y, w in rows]
    shuffled = rng.sample(rows, len(rows))
    model = taught(rows)
    for x, y, w in shuffled[:number]:
        model.unlearn_one(x, y, w)
    others = taught(shuffled[number:])
    same(model, others)
    for x, _, _ in rows:
        assert model.joint_log_likelihood(x) == pytest.approx(others.joint_log_likelihood(x))
    for x, y, w in shuffled[number:]:
        model.unlearn_one(x, y, w)
    same(model, CategoricalNB())


NEVER_LEARNED: list[tuple[Any, ...]] = [
    ({"c": "v"}, "a"),
    ({"c": "u"}, "a", 2.5),
    ({"c": "u"}, "z"),
    ({"c": True}, "b"),
    ({"new": "u"}, "a"),
    ({}, "a", 1.0),  # both events of a had a c: it would have more of it than events
    ({"c": "w"}, "b"),
]


@pytest.mark.parametrize("event", NEVER_LEARNED, ids=str)
def test_what_was_not_learned_is_not_taken_back(event: Any) -> None:
    """An event that none can have been is a ValueError, and changes no byte."""
    rows = [({"c": "u"}, "a"), ({"c": "u"}, "a"), ({"c": "v", "d": 1}, "b"), ({"d": 1}, "b")]
    model = taught(rows)
    before = state(model)
    with pytest.raises(ValueError, match=r"unlearn|weight"):
        model.unlearn_one(*event)
    assert state(model) == before
