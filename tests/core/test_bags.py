"""Bags of tokens: worked examples, definitions in exact fractions, tables of counts."""

from __future__ import annotations

import contextlib
import gc
import math
import random
import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import naive_bayes

import streamnb
from streamnb import BernoulliNB, ComplementNB, MultinomialNB
from streamnb.stats.index import order_key

from .models import BAGS, Model, name_of
from .verbs import LEARN, PREDICT, same, state

every_bag = pytest.mark.parametrize("kind", BAGS, ids=name_of)
every_learn = pytest.mark.parametrize("learn", LEARN.values(), ids=LEARN)
every_predict = pytest.mark.parametrize("predict", PREDICT.values(), ids=PREDICT)

# Manning, Raghavan, Schuetze, Introduction to Information Retrieval, table 13.1.
CHINA = [
    ("Chinese Beijing Chinese", "c"),
    ("Chinese Chinese Shanghai", "c"),
    ("Chinese Macao", "c"),
    ("Tokyo Japan Chinese", "j"),
]
QUESTION = "Chinese Chinese Chinese Tokyo Japan"

RNG = np.random.default_rng(13)
TABLE = RNG.poisson(0.4, (200, 30)).astype(float)
TABLE[:, 7] = 0.0  # a token that never comes
LABELS = RNG.choice(["a", "b", "c"], 200)
WEIGHTS = RNG.choice([0.0, 0.5, 1.0, 2.0, 1 / 3], 200)


def bag(text: str) -> dict[str, int]:
    words = text.split()
    return {word: words.count(word) for word in words}


def taught(model: Any) -> Any:
    for text, label in CHINA:
        model.learn_one(bag(text), label)
    return model


def shares(*numbers: Fraction) -> list[float]:
    return [float(number / sum(numbers)) for number in numbers]


def test_china_multinomial() -> None:
    """Example 13.1: 3/4 (3/7)^3 (1/14)^2, about 0.0003, and 1/4 (2/9)^5, about 0.0001."""
    c = Fraction(3, 4) * Fraction(3, 7) ** 3 * Fraction(1, 14) ** 2
    j = Fraction(1, 4) * Fraction(2, 9) ** 5
    model = taught(MultinomialNB())
    joint = model.joint_log_likelihood(bag(QUESTION))
    assert joint == pytest.approx({"c": math.log(c), "j": math.log(j)}, rel=1e-15, abs=0)
    assert round(float(c), 4) == 0.0003
    assert round(float(j), 4) == 0.0001
    proba = model.predict_proba_one(bag(QUESTION))
    assert list(proba.values()) == pytest.approx(shares(c, j), rel=1e-14, abs=0)


def test_china_bernoulli() -> None:
    """Example 13.2: about 0.005 and 0.022; so the Bernoulli model takes the other class."""
    p = {
        "c": {"Chinese": 4, "Japan": 1, "Tokyo": 1, "Beijing": 2, "Macao": 2, "Shanghai": 2},
        "j": {"Chinese": 2, "Japan": 2, "Tokyo": 2, "Beijing": 1, "Macao": 1, "Shanghai": 1},
    }
    total = {"c": 5, "j": 3}
    exact = {"c": Fraction(3, 4), "j": Fraction(1, 4)}
    for label, tokens in p.items():
        for token, count in tokens.items():
            there = Fraction(count, total[label])
            exact[label] *= there if token in QUESTION else 1 - there
    assert {k: round(float(v), 3) for k, v in exact.items()} == {"c": 0.005, "j": 0.022}
    model = taught(BernoulliNB())
    joint = model.joint_log_likelihood(bag(QUESTION))
    logs = {label: math.log(value) for label, value in exact.items()}
    assert joint == pytest.approx(logs, rel=1e-14, abs=0)
    assert model.predict_one(bag(QUESTION)) == "j"


def test_complement_is_its_definition() -> None:
    """Rennie's weights without normalization, of three classes, in exact fractions."""
    rows = [({"u": 3, "v": 1}, "a"), ({"v": 2, "w": 5}, "b"), ({"u": 1, "w": 1, "z": 4}, "c")]
    model = ComplementNB(alpha=0.5)
    for x, y in rows:
        model.learn_one(x, y)
    question = {"u": 2, "w": 1, "z": 3, "never": 9}
    expected = {}
    for label in "abc":
        others = [x for x, y in rows if y != label]
        total = sum(sum(x.values()) for x in others) + Fraction(1, 2) * 4
        expected[label] = -sum(
            v * math.log((sum(x.get(t, 0) for x in others) + Fraction(1, 2)) / total)
            for t, v in question.items()
            if t != "never"
        )
    scores = model.joint_log_likelihood(question)
    assert scores == pytest.approx(expected, rel=1e-14, abs=0)
    high = max(expected.values())
    softmax = {k: math.exp(v - high) for k, v in expected.items()}
    total = math.fsum(softmax.values())
    expected = {k: v / total for k, v in softmax.items()}
    assert model.predict_proba_one(question) == pytest.approx(expected, rel=1e-13, abs=0)


def test_a_vocabulary_larger_than_what_was_seen() -> None:
    """V = 1000: a count of 5 in 200 is 6/1200, one of 0 is 1/1200; of no words at all, 1/1000."""
    model = MultinomialNB(vocabulary_size=1000, prior="uniform", known_labels=["none"])
    model.learn_one({"win": 5, "other": 195}, "spam")
    model.learn_one({"free": 1}, "ham")
    for token, p in (("win", Fraction(6, 1200)), ("free", Fraction(1, 1200))):
        joint = model.joint_log_likelihood({token: 1})
        third = math.log(1 / 3)
        assert joint["spam"] == pytest.approx(third + math.log(p), rel=1e-15)
        assert joint["none"] == pytest.approx(third + math.log(Fraction(1, 1000)), rel=1e-15)


@every_predict
def test_an_unseen_token_is_no_evidence(predict: Any) -> None:
    """river#195: {a, b} -> x, {c} -> y; {d: 1} leaves 1/2 twice, and the bytes."""
    model = MultinomialNB()
    model.learn_one({"a": 1, "b": 1}, "x")
    model.learn_one({"c": 1}, "y")
    before = state(model)
    for _ in range(2):
        assert predict(model, {"d": 1}) == {"x": 0.5, "y": 0.5}
    assert state(model) == before


def test_bernoulli_counts_two_outcomes() -> None:
    """scikit-learn#4268: a token in 3 of 4 documents is (3 + 1)/(4 + 2), whatever the classes."""
    model = BernoulliNB(prior="uniform", known_labels=["b", "c"])
    for there in (1, 1, 1, 0):
        model.learn_one({"token": there}, "a")
    joint = model.joint_log_likelihood({"token": 1})
    assert joint["a"] - math.log(1 / 3) == pytest.approx(math.log(Fraction(4, 6)), rel=1e-14)
    assert joint["b"] - math.log(1 / 3) == pytest.approx(math.log(Fraction(1, 2)), rel=1e-14)


def test_no_smoothing() -> None:
    """scikit-learn#5814: a: {u: 3}, b: {v: 2}, alpha = 0: {u} is a; {u, v} is impossible: prior."""
    model = MultinomialNB(alpha=0.0)
    model.learn_one({"u": 3}, "a")
    model.learn_one({"v": 2}, "b")
    model.learn_one({"v": 2}, "b")
    assert model.predict_proba_one({"u": 1}) == {"a": 1.0, "b": 0.0}
    assert model.joint_log_likelihood({"u": 1, "v": 1}) == {"a": -math.inf, "b": -math.inf}
    both = pytest.approx({"a": 1 / 3, "b": 2 / 3}, rel=1e-15)
    assert model.predict_proba_one({"u": 1, "v": 1}) == both
    table = np.array([[1.0, 0.0], [1.0, 1.0]])
    proba = model.predict_proba_many(table, columns=["u", "v"])
    np.testing.assert_allclose(proba, [[1.0, 0.0], [1 / 3, 2 / 3]], rtol=1e-15)


def test_no_smoothing_in_bernoulli() -> None:
    """alpha = 0: what always came and is absent is impossible, and so is what never came."""
    model = BernoulliNB(alpha=0.0)
    for x, y in [
        ({"u": 1, "v": 1}, "a"),
        ({"u": 1}, "a"),
        ({"w": 1}, "b"),
        ({"w": 1, "v": 1}, "b"),
    ]:
        model.learn_one(x, y)
    half, quarter = math.log(1 / 2), math.log(1 / 4)
    assert model.joint_log_likelihood({"u": 1}) == pytest.approx({"a": quarter, "b": -math.inf})
    assert model.joint_log_likelihood({"v": 1}) == {"a": -math.inf, "b": -math.inf}
    assert model.joint_log_likelihood({"w": 1, "v": 1}) == pytest.approx(
        {"a": -math.inf, "b": half + half}
    )
    assert model.predict_proba_one({}) == {"a": 0.5, "b": 0.5}


def test_no_smoothing_in_complement() -> None:
    """alpha = 0: a token of one class only is certainty; two of different classes are a draw."""
    model = ComplementNB(alpha=0.0)
    model.learn_one({"u": 3, "z": 1}, "a")
    model.learn_one({"v": 2, "z": 1}, "b")
    assert model.predict_proba_one({"u": 1}) == {"a": 1.0, "b": 0.0}
    assert model.predict_proba_one({"u": 1, "v": 1}) == {"a": 0.5, "b": 0.5}
    assert model.predict_proba_one({"z": 1})["a"] == pytest.approx(3 / 7, rel=1e-14)


@every_bag
@every_learn
@pytest.mark.parametrize("value", [-5, -1e-300, None, math.nan, np.float32("nan"), -math.inf])
def test_what_is_no_count(kind: Model, learn: Any, value: Any) -> None:
    """A negative or missing count is a ValueError that names the token, and changes no byte."""
    model = kind.make()
    model.learn_one({"u": 1, "v": 2}, "a")
    before = state(model)
    for x in ({"u": 1.0, "v": value}, {"new": value}):
        with pytest.raises(ValueError, match=r"v|new"):
            learn(model, x, "b")
        with pytest.raises(ValueError, match=r"v|new"):
            model.predict_one(x)
    assert state(model) == before


@every_bag
@every_learn
def test_a_count_of_zero_is_absence(kind: Model, learn: Any) -> None:
    """{u: 0} teaches what {} teaches, and makes no token; so dense and sparse are the same."""
    model, plain = kind.make(), kind.make()
    learn(model, {"u": 0.0, "v": 2.0}, "a")
    plain.learn_one({"v": 2}, "a")
    same(model, plain)
    assert list(model.features) == ["v"]


@every_bag
def test_overflow(kind: Model) -> None:
    """Sums of counts beyond doubles are refused, learning and merging, and nothing changes."""
    a, b = kind.make(), kind.make()
    a.learn_one({"u": 1e308}, "a")
    b.learn_one({"u": 1e308}, "a")
    before = state(a), state(b)
    if kind.name == "BernoulliNB":
        assert (a + b).counts("a") == {"u": 2.0}
        return
    for verb in (lambda: a + b, lambda: a.learn_one({"u": 1.0}, "a", w=1e308)):
        with pytest.raises(ValueError, match="a"):
            verb()
    assert (state(a), state(b)) == before


SKLEARN = {
    "MultinomialNB": naive_bayes.MultinomialNB,
    "BernoulliNB": naive_bayes.BernoulliNB,
    "ComplementNB": naive_bayes.ComplementNB,
}


@every_bag
@pytest.mark.parametrize("alpha", [1.0, 0.1, 1e-8, 30.0])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
def test_scikit_learn_agrees(kind: Model, alpha: float, weights: Any) -> None:
    """Posteriors to 1e-10, dense and sparse; the token that never comes is left out of theirs."""
    seen = TABLE[:, TABLE.any(axis=0)]
    theirs = SKLEARN[kind.name.removeprefix("Windowed ")](alpha=alpha).fit(
        seen, LABELS, sample_weight=weights
    )
    for make in (np.asarray, sp.csr_matrix, sp.csc_array):
        ours = kind.make(alpha=alpha)
        ours.learn_many(make(TABLE), LABELS, weights)
        np.testing.assert_allclose(
            ours.predict_proba_many(make(TABLE)), theirs.predict_proba(seen), rtol=1e-10, atol=1e-14
        )


@every_bag
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
def test_sparse_tables_are_their_rows(kind: Model, weights: Any) -> None:
    """SciPy's and pandas' sparse tables, and dense ones, teach what their rows teach one by one."""
    names = [f"t{j}" for j in range(TABLE.shape[1])]
    one = kind.make()
    for i, row in enumerate(TABLE.tolist()):
        x = {name: value for name, value in zip(names, row, strict=True) if value}
        one.learn_one(x, str(LABELS[i]), 1.0 if weights is None else weights[i])
    sparse = pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(TABLE), columns=names)
    for table, columns in [
        (sp.csr_matrix(TABLE), names),
        (sp.coo_array(TABLE), names),
        (TABLE, names),
        (sparse, None),
        (sparse[names[::-1]], None),
        (pd.DataFrame(TABLE, columns=names), None),
    ]:
        model = kind.make()
        model.learn_many(table, LABELS, weights, columns=columns)
        same(model, one)
        answers = np.asarray(model.predict_proba_many(table, columns=columns))
        np.testing.assert_allclose(
            answers,
            [
                list(one.predict_proba_one(dict(zip(names, r, strict=True))).values())
                for r in TABLE.tolist()
            ],
            rtol=1e-12,
        )


def test_absence_at_any_moment() -> None:
    """Bernoulli learning and asked in turn: the sums over absent tokens follow the counts.

    With whole weights by the spread of the counts, with others by all cells: each is the
    definition, by scikit-learn on the rows so far.
    """
    for weights in (np.ones(200), RNG.integers(1, 9000, 200).astype(float), WEIGHTS + 0.25):
        model = BernoulliNB()
        names = [str(j) for j in range(TABLE.shape[1])]
        for i, row in enumerate(TABLE):
            model.learn_one(dict(zip(names, row.tolist(), strict=True)), str(LABELS[i]), weights[i])
            if i % 20 == 19:
                seen = TABLE[: i + 1].any(axis=0)
                theirs = naive_bayes.BernoulliNB().fit(
                    TABLE[: i + 1, seen], LABELS[: i + 1], sample_weight=weights[: i + 1]
                )
                np.testing.assert_allclose(
                    model.predict_proba_many(TABLE),
                    theirs.predict_proba(TABLE[:, seen]),
                    rtol=1e-10,
                    atol=1e-14,
                )
                same(streamnb.loads(state(model)), model)
                x = dict(zip(names, TABLE[0].tolist(), strict=True))
                assert streamnb.loads(state(model)).predict_proba_one(x) == model.predict_proba_one(
                    x
                )


def test_more_counts_than_a_spread_keeps() -> None:
    """10,000 tokens of as many different counts: the sums go over all cells instead."""
    n = 10_000
    model = BernoulliNB()
    for i in range(14):  # token j comes in the documents whose bit is set in j
        tokens = {f"t{j}": 1 for j in range(n) if j >> i & 1}
        model.learn_one(tokens, "a", w=float(2**i))
        model.learn_one({"u": 1}, "b")
    counts = np.arange(n) - 0.0
    total = 2.0**14 - 1
    absent = np.log((total - counts[1:] + 1) / (total + 2)).sum() + np.log(
        (total + 1) / (total + 2)
    )
    joint = model.joint_log_likelihood({})
    prior = math.log(total / (total + 14))
    assert joint["a"] == pytest.approx(absent + prior, rel=1e-12)


def test_complement_has_no_prior() -> None:
    """No parameter, and no attribute of such a name changes an answer."""
    with pytest.raises(TypeError, match="prior"):
        ComplementNB(prior="uniform")  # type: ignore[call-arg]
    model, plain = taught(ComplementNB()), taught(ComplementNB())
    model.prior, model.prior_count, model.known_labels = "none", -1, ["z"]
    assert model.classes == ["c", "j"]
    assert model.joint_log_likelihood(bag(QUESTION)) == plain.joint_log_likelihood(bag(QUESTION))
    same(model, plain)


def test_thresholds() -> None:
    """A token is there above the threshold, a state parameter: fixed once something is learned."""
    model, plain = BernoulliNB(threshold=1.5), BernoulliNB()
    for x, y in [({"u": 1, "v": 2}, "a"), ({"u": 2.0, "v": 1.5}, "b")]:
        model.learn_one(x, y)
        plain.learn_one({name: 1 for name, value in x.items() if value > 1.5}, y)
    assert model.counts("a") == plain.counts("a") == {"v": 1.0}
    assert model.predict_proba_one({"u": 1, "v": 9}) == plain.predict_proba_one({"v": 1})
    with pytest.raises(ValueError, match="threshold"):
        model.threshold = 0.5
    with pytest.raises(streamnb.MergeError, match="threshold"):
        model + BernoulliNB(threshold=0.5)
    empty = BernoulliNB()
    empty.threshold = 1.5
    empty.learn_one({"u": 1, "v": 2}, "a")
    assert empty.counts("a") == {"v": 1.0}


def test_given_probabilities() -> None:
    """A textbook's numbers: P(x|spam) = .8 x .5 = .40 of two words that are there."""
    model = BernoulliNB.from_parameters(
        probabilities={"spam": {"win": 0.8, "free": 0.5}, "ham": {"win": 0.1, "free": 0.2}}
    )
    joint = model.joint_log_likelihood({"win": 1, "free": 1})
    assert math.exp(joint["spam"]) == pytest.approx(0.5 * 0.40, rel=1e-15)
    assert math.exp(joint["ham"]) == pytest.approx(0.5 * 0.02, rel=1e-14)
    assert math.exp(model.joint_log_likelihood({"win": 1})["spam"]) == pytest.approx(0.5 * 0.4)
    words = MultinomialNB.from_parameters(
        probabilities={"c": {"Chinese": 3 / 7, "Tokyo": 1 / 14}, "j": {"Chinese": 2 / 9}},
        prior={"c": 0.75, "j": 0.25},
    )
    assert words.joint_log_likelihood({"Chinese": 3})["j"] == pytest.approx(
        math.log(0.25 * (2 / 9) ** 3), rel=1e-14
    )
    assert words.predict_proba_one({"Tokyo": 1}) == {"c": 1.0, "j": 0.0}
    for given in (model, words):
        with pytest.raises(TypeError, match="neither learns nor merges"):
            given.learn_one({"win": 1}, "spam")
        with pytest.raises(streamnb.MergeError):
            given + given
        with pytest.raises(TypeError):
            streamnb.dumps(given)
        assert given.clone().predict_proba_one({}) == given.predict_proba_one({})
    for bad in ({"a": {"u": 1.5}}, {"a": {"u": -0.1}}, {}, {"a": {"u": 0.7, "v": 0.7}}):
        with pytest.raises(ValueError):  # noqa: PT011 - different numbers, each out of range
            MultinomialNB.from_parameters(probabilities=bad)


@every_bag
def test_memory_goes_by_cells_that_were_seen(kind: Model) -> None:
    """scikit-learn#5123: 10^5 tokens of two classes: under 20 MB in memory, 6 MB in bytes.

    A thousand classes that have seen ten tokens each add little, not 1000 times the vocabulary.
    """
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        model = kind.make()
        for first in range(0, 100_000, 1000):
            tokens = {f"token{j}": 1 for j in range(first, first + 1000)}
            model.learn_one(tokens, "a")
            model.learn_one(tokens, "b")
        del tokens
        size = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert len(model.features) == 100_000
    assert size < 20e6
    assert len(state(model)) < 6e6
    for label in range(1000):
        model.learn_one({f"token{label + j}": 1 for j in range(10)}, label)
    assert len(state(model)) < 6.5e6
    same(streamnb.loads(state(model)), model)


@every_bag
@pytest.mark.parametrize("column", [-1, 3, 2**31 - 1])
def test_a_sparse_cell_in_no_column_is_refused(kind: Model, column: int) -> None:
    """SciPy makes such a matrix without a word; nothing is learned of it."""
    model = kind.make()
    good = sp.csr_array((np.ones(2), [0, 1], [0, 1, 2]), shape=(2, 3))
    bad = sp.csr_array((np.ones(2), [0, column], [0, 1, 2]), shape=(2, 3))
    bad.has_canonical_format = True
    model.learn_many(good, ["a", "b"])
    before = state(model)
    for ask in (lambda: model.learn_many(bad, ["a", "b"]), lambda: model.predict_many(bad)):
        with pytest.raises(ValueError, match=f"column {column}"):
            ask()
    assert state(model) == before


@every_bag
def test_a_large_vocabulary_is_the_same_by_rows_tables_and_merges(kind: Model) -> None:
    """Tokens of all alphabets, numbers and tuples, come by each verb, and are found by each."""
    rng = random.Random(1)
    alphabets = ("w", "wörd ", "слово", "語", "🙂", "a rather long name of a token, number ")
    tokens: list[Any] = [f"{rng.choice(alphabets)}{j}" for j in range(12_000)]
    tokens += [*range(100), *(("a", str(j)) for j in range(100))]
    rng.shuffle(tokens)
    events = [
        (dict.fromkeys(rng.sample(tokens, rng.randint(0, 150)), 2.0), rng.choice("ab"))
        for _ in range(400)
    ]
    rows, mixed = kind.make(), kind.make()
    for at, (x, y) in enumerate(events):
        rows.learn_one(x, y)
        if at % 10 == 0 and x:
            mixed.learn_many(np.array([[*x.values()]]), [y], columns=[*x])
        elif at % 10 == 1:
            shard = kind.make()
            shard.learn_one(x, y)
            mixed += shard
        else:
            copies = {str.__str__(n[:1]) + n[1:] if type(n) is str else n: v for n, v in x.items()}
            mixed.learn_one(copies, y)
    assert state(mixed) == state(rows)
    seen = {token for x, _ in events for token in x}
    assert rows.features == sorted(seen, key=order_key)
    assert len(seen) > 9000
    for x, y in events:
        mixed.unlearn_one(x, y)
    assert state(mixed) == state(kind.make())


def test_an_event_that_changes_while_it_is_read_breaks_nothing() -> None:
    """The garbage collector may run anything, here one that empties the event."""
    model = MultinomialNB()
    model.learn_one({"a": 1}, "x")
    events: list[dict[str, float]] = []

    def empty(_phase: str, _info: Any) -> None:
        for event in events:
            event.clear()

    gc.callbacks.append(empty)
    try:
        for _ in range(20):
            events[:] = [{f"token{j}": 1.0 for j in range(5000)}]
            with contextlib.suppress(RuntimeError):  # "dictionary changed size during iteration"
                model.learn_one(events[0], "x")
            gc.collect()
    finally:
        gc.callbacks.remove(empty)
    same(streamnb.loads(state(model)), model)


@every_bag
def test_buckets_are_of_canonical_tokens(kind: Model) -> None:
    """NumPy's whole numbers are Python's, alone and in tuples; what is no name is refused."""
    ours, theirs = kind.make(width=1_000_003), kind.make(width=1_000_003)
    ours.learn_one({5: 1, ("a", 7): 2, "b": 3}, "x")
    theirs.learn_one({np.int64(5): 1, ("a", np.int32(7)): 2, np.str_("b"): 3}, "x")
    assert state(ours) == state(theirs)
    for name in (None, 1.5, True, b"x", math.nan, frozenset(), ("a", None), object()):
        for verb in (lambda x: ours.learn_one(x, "x"), ours.predict_one):
            with pytest.raises(TypeError, match="feature's name"):
                verb({name: 1})
    assert state(ours) == state(theirs)


@every_bag
def test_the_order_of_tokens_in_one_bucket_does_not_show(kind: Model) -> None:
    """Sums of counts that are not whole are rounded once, by rows and by tables."""
    counts = {"p": 0.1, "q": 0.2, "r": 0.3, "s": 1e-9}
    models = [kind.make(width=1) for _ in range(4)]
    models[0].learn_one(counts, "x")
    models[1].learn_one(dict(reversed(counts.items())), "x")
    models[2].learn_many(np.array([[*counts.values()]]), ["x"], columns=[*counts])
    models[3].learn_many(np.array([[*counts.values()][::-1]]), ["x"], columns=[*counts][::-1])
    assert len({state(model) for model in models}) == 1


@every_bag
def test_a_name_that_cannot_be_kept_is_refused_whatever_its_count(kind: Model) -> None:
    """A lone surrogate, also where its count is 0."""
    model = kind.make()
    model.learn_one({"a": 1}, "x")
    for count in (0, 1, True):
        for verb in (lambda x: model.learn_one(x, "x"), model.predict_one):
            with pytest.raises(UnicodeEncodeError):
                verb({"a": 1, "\ud800": count})


@pytest.mark.parametrize("event", [{"a": 1e308, "b": 1e308}, {"a": 1e308, "b": np.float64(1e308)}])
def test_a_sum_that_is_infinite_is_called_so(event: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"counts of inf with w=1\.0"):
        MultinomialNB().learn_one(event, "x")
