"""The table "What an input means" of docs/design.md, a test a row, by each verb and table.

What an event means may not depend on the way it comes in: each test runs by `learn_one` and
`learn_many`, `predict_one` and `predict_many`, with dicts, pandas, polars and numpy.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from .models import FIELDS, MODELS, MOMENTS, Model, name_of
from .verbs import LEARN, PREDICT, numbers, same, state

ROWS = [
    ({"x": 1.0, "z": 2.0}, "a", 1.0),
    ({"x": 3.0, "z": 1.0}, "a", 1.0),
    ({"x": 5.0, "z": 7.0}, "b", 1.0),
    ({"x": 8.0, "z": 9.5}, "b", 1.0),
]
every_model = pytest.mark.parametrize("kind", MODELS, ids=name_of)
every_field_model = pytest.mark.parametrize("kind", FIELDS, ids=name_of)
every_gaussian = pytest.mark.parametrize("kind", MOMENTS, ids=name_of)
every_learn = pytest.mark.parametrize("learn", LEARN.values(), ids=LEARN)
every_predict = pytest.mark.parametrize("predict", PREDICT.values(), ids=PREDICT)

WRONG_KINDS = {
    "text": "seven",
    "number in a text": "7",
    "bytes": b"7",
    "list": [7.0],
    "tuple": (7.0,),
    "dict": {"a": 7.0},
    "complex": 7 + 0j,
    "numpy complex": np.complex128(7),
    "numpy text": np.str_("7"),
    "numpy datetime": np.datetime64("2024-01-01"),
    "numpy timedelta": np.timedelta64(7, "s"),
    "pandas timestamp": pd.Timestamp("2024-01-01"),
    "array": np.array([7.0]),
    "set": {7.0},
    "function": len,
}
INFINITE = {
    "inf": math.inf,
    "-inf": -math.inf,
    "numpy inf": np.float64("inf"),
    "float32 inf": np.float32("inf"),
    "an int beyond doubles": 10**400,
}
MISSING = {
    "None": None,
    "nan": math.nan,
    "-nan": -math.nan,
    "numpy nan": np.float64("nan"),
    "float32 nan": np.float32("nan"),
    "float16 nan": np.float16("nan"),
    "pd.NA": pd.NA,
}


def learned(kind: Model, **parameters: Any) -> Any:
    """A model of two classes that learned `ROWS`."""
    model = kind.make(**(kind.plain | parameters))
    for x, y, w in ROWS:
        model.learn_one(x, y, w)
    return model


@every_field_model
@every_learn
def test_absent_is_not_learned(kind: Model, learn: Any) -> None:
    """An absent feature is missing: what others taught of it keeps its bits, the class counts."""
    model = learned(kind)
    before = numbers(model, "a")["z"]
    learn(model, {"x": 4.0}, "a")
    assert numbers(model, "a")["z"] == before
    assert model.class_weight == {"a": 3.0, "b": 2.0}
    if kind.numeric:
        assert model.means("a")["x"] == 8 / 3  # (1 + 3 + 4) / 3
    else:
        assert model.counts("a")["x"] == {1: 1.0, 3: 1.0, 4: 1.0}


@every_gaussian
@every_predict
def test_absent_is_integrated_out(kind: Model, predict: Any) -> None:
    """An absent feature leaves the evidence of the others, as the definition gives it."""
    expected = kind.definition(ROWS).proba({"x": 4.25})
    assert predict(learned(kind), {"x": 4.25}) == pytest.approx(expected, rel=1e-13, abs=0)


@every_field_model
@every_learn
@pytest.mark.one_of("nothing")
@pytest.mark.parametrize("nothing", MISSING.values(), ids=MISSING)
def test_missing_is_absent_in_learning(kind: Model, learn: Any, nothing: Any) -> None:
    """None, NaN and pd.NA teach what an absent feature teaches: the bytes are equal."""
    without, model = learned(kind), learned(kind)
    without.learn_one({"x": 4.0}, "a")
    learn(model, {"x": 4.0, "z": nothing}, "a")
    same(model, without)


@every_field_model
@every_learn
@pytest.mark.one_of("nothing")
@pytest.mark.parametrize("nothing", MISSING.values(), ids=MISSING)
def test_missing_makes_no_feature(kind: Model, learn: Any, nothing: Any) -> None:
    """A feature that was never anything but missing is no feature: as if it had not been named."""
    without, model = learned(kind), learned(kind)
    without.learn_one({"x": 4.0}, "c")
    learn(model, {"x": 4.0, "new": nothing}, "c")
    assert list(model.features) == ["x", "z"]
    same(model, without)


@every_gaussian
@every_predict
@pytest.mark.one_of("nothing")
@pytest.mark.parametrize("nothing", MISSING.values(), ids=MISSING)
def test_missing_is_absent_in_predicting(kind: Model, predict: Any, nothing: Any) -> None:
    """dfdx/NaiveBayes.jl#18: (x, z) a (1,0),(3,2) b (5,10),(7,12), query x=3.9 and no z.

    Gaussian: means 2 and 6, variances 1 and 1: log-odds (2.1^2 - 1.9^2) / 2 = 0.4, P(a) = .598688.
    """
    rows = [((1, 0), "a"), ((3, 2), "a"), ((5, 10), "b"), ((7, 12), "b")]
    model = kind.make(**kind.plain)
    for (x, z), y in rows:
        model.learn_one({"x": x, "z": z}, y)
    proba = predict(model, {"x": 3.9, "z": nothing})
    expected = kind.definition([({"x": x}, y, 1.0) for (x, _), y in rows]).proba({"x": 3.9})
    assert proba == pytest.approx(expected, rel=1e-14, abs=0)
    if kind.name == "GaussianNB":
        assert expected["a"] == pytest.approx(0.598688, abs=5e-7)
    assert proba == predict(model, {"x": 3.9})


@every_field_model
@every_learn
def test_all_missing_counts_the_class(kind: Model, learn: Any) -> None:
    """An event without any value is still an example of its class, and teaches no feature."""
    model = kind.make(**kind.plain)
    learn(model, {"x": None, "z": math.nan}, "a")
    assert model.class_weight == {"a": 1.0}
    assert list(model.features) == []
    assert numbers(model, "a") == {}
    assert model.predict_proba_one({}) == {"a": 1.0}


@every_model
@every_predict
def test_never_seen_is_no_evidence(kind: Model, predict: Any) -> None:
    """A feature that no class has seen changes nothing, to the bit; alone it leaves the prior.

    The Gaussian side of scikit-learn#16028: red, red to A, blue to B; green: the prior, 2/3.
    """
    model = learned(kind)
    assert predict(model, {"x": 4.0, "new": 1e9}) == predict(model, {"x": 4.0})
    model = kind.make(**kind.plain)
    for y in ["A", "A", "B"]:
        model.learn_one({"seen": 1.0}, y)
    assert predict(model, {"new": 3.0}) == model.predict_proba_one({})
    if kind.name != "BernoulliNB":  # to which the absence of a token is evidence
        prior = {"A": 2 / 3, "B": 1 / 3} if kind.prior else {"A": 1 / 2, "B": 1 / 2}
        assert predict(model, {"new": 3.0}) == pytest.approx(prior, rel=1e-15, abs=0)


@every_gaussian
@every_predict
def test_seen_in_some_classes_only(kind: Model, predict: Any) -> None:
    """A class that never saw the feature answers with its distribution over all classes.

    Only class a has seen u (0, 2, 7: mean 3, variance 26/3), so both classes answer with the
    same density there; with v, seen in a and b, class c answers with the total of the two.
    """
    rows = [({"u": u}, "a", 1.0) for u in (0.0, 2.0, 7.0)]
    rows += [({"v": v}, y, 1.0) for v, y in [(1.0, "a"), (2.0, "a"), (5.0, "b"), (9.0, "b")]]
    rows += [({}, "c", 1.0)]
    model = kind.make(**kind.plain)
    for x, y, w in rows:
        model.learn_one(x, y, w)
    for query in ({"u": 1.5}, {"v": 4.0}, {"u": 6.0, "v": 1.0}):
        expected = kind.definition(rows).proba(query)
        assert predict(model, query) == pytest.approx(expected, rel=1e-13, abs=0)


@every_gaussian
@every_learn
@every_predict
@pytest.mark.one_of("value", "seed")
@pytest.mark.parametrize("value", [0.1, 7.0, 0.0, 1e300])
@pytest.mark.parametrize("seed", range(3))
def test_constant_is_no_evidence(
    kind: Model, learn: Any, predict: Any, value: float, seed: int
) -> None:
    """A feature that was constant in all that was seen says nothing, whatever is asked of it."""
    readings = kind.some_readings(random.Random(seed))
    model, plain = kind.make(**readings), kind.make(**readings)
    for x, y, _ in ROWS:
        learn(model, {**x, "constant": value}, y)
        plain.learn_one(x, y)
    for query in (value, 3.25, kind.number(-1e9)):
        assert predict(model, {"x": 4.0, "constant": query}) == predict(plain, {"x": 4.0})
    only = kind.make(**readings)
    for y in ["a", "a", "a", "b"]:
        learn(only, {"constant": value}, y)
    assert predict(only, {"constant": 3.25}) == pytest.approx(
        {"a": 0.75, "b": 0.25}, rel=1e-15, abs=0
    )
    assert only.joint_log_likelihood({"constant": 3.25}) == only.joint_log_likelihood({})


@every_model
@every_learn
@pytest.mark.one_of("value")
@pytest.mark.parametrize("value", INFINITE.values(), ids=INFINITE)
def test_infinity_is_refused(kind: Model, learn: Any, value: Any) -> None:
    """Infinity is a ValueError that names the feature and the value, and changes no byte."""
    model = learned(kind)
    before = state(model)
    with pytest.raises(ValueError, match="z") as refusal:
        learn(model, {"x": 1.0, "z": value}, "a")
    if not isinstance(value, int):
        assert "inf" in str(refusal.value)
    assert state(model) == before


@every_model
@every_learn
@pytest.mark.one_of("value")
@pytest.mark.parametrize("value", WRONG_KINDS.values(), ids=WRONG_KINDS)
def test_wrong_kinds_are_refused(kind: Model, learn: Any, value: Any) -> None:
    """What is no number is a TypeError that names the feature, and changes no byte.

    Also where the class or the feature would be new, and in the very first event. A text is a
    category like any other.
    """
    model = learned(kind)
    if kind.texts and isinstance(value, str):
        learn(model, {"x": 1.0, "z": value}, "c")
        assert model.counts("c")["z"] == {str(value): 1.0}
        assert model.features == ["x", "z"]
        return
    before = state(model)
    for x, y in [({"x": 1.0, "z": value}, "a"), ({"odd": value, "x": 2.0}, "new")]:
        with pytest.raises(TypeError, match=r"z|odd"):
            learn(model, x, y)
        assert state(model) == before
    empty = kind.make()
    with pytest.raises(TypeError, match="odd"):
        learn(empty, {"odd": value}, "a")
    same(empty, kind.make())


@every_model
@every_predict
@pytest.mark.one_of("value")
@pytest.mark.parametrize("value", [*INFINITE.values(), *WRONG_KINDS.values()])
def test_what_learning_refuses_predicting_refuses(kind: Model, predict: Any, value: Any) -> None:
    """A value that learning refuses is refused in a question too, by the feature's name.

    For a feature that was learned, for one never seen, and where nothing was learned at all.
    """
    if kind.texts and isinstance(value, str):  # a category that was never seen
        model = learned(kind)
        assert predict(model, {"x": 1.0, "z": value}) == predict(model, {"x": 1.0})
        return
    for model in (learned(kind), kind.make()):
        before = state(model)
        for query in ({"x": 1.0, "z": value}, {"odd": value}):
            with pytest.raises((TypeError, ValueError), match=r"z|odd"):
                predict(model, query)
        with pytest.raises((TypeError, ValueError), match="odd"):
            model.joint_log_likelihood({"odd": value})
        assert state(model) == before


@every_model
@every_learn
@pytest.mark.one_of("value", "number")
@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3.0),
        (-(2**40), -(2.0**40)),
        (2**63, 2.0**63),
        (10**300, 1e300),
        (True, 1.0),
        (False, 0.0),
        (np.float64(2.5), 2.5),
        (np.float32(0.1), float(np.float32(0.1))),
        (np.float16(0.1), float(np.float16(0.1))),
        (np.int8(-7), -7.0),
        (np.uint64(2**63), 2.0**63),
        (np.bool_(True), 1.0),
        (5e-324, 5e-324),
    ],
)
def test_numbers_of_every_kind(kind: Model, learn: Any, value: Any, number: float) -> None:
    """int, bool and NumPy's numbers teach what the double of the same value teaches.

    Among categories a bool is no number, and of a long whole number all digits count.
    """
    value, number = kind.number(value), kind.number(number)
    model, plain = kind.make(), kind.make()
    if kind.texts and (
        isinstance(value, bool | np.bool_) or (number == 1e300 and not kind.numeric)
    ):
        learn(model, {"x": value}, "a")
        plain.learn_one({"x": number}, "a")
        assert model != plain
        ((kept, count),) = model.counts("a")["x"].items()
        assert (kept, type(kept), count) == (value, int if number > 1 else bool, 1.0)
        return
    if kind.bag and number < 0:
        with pytest.raises(ValueError, match="x"):
            learn(model, {"x": value}, "a")
        return
    learn(model, {"x": value}, "a")
    plain.learn_one({"x": number}, "a")
    same(model, plain)
    if kind.numeric and not kind.bag:
        assert model.means("a") == {"x": number}


def far(kind: Model, value: float) -> float:
    """A number that is twice a value away from it."""
    return 3 * value if kind.positive else -value


@every_gaussian
@every_learn
def test_overflow_raises_and_changes_nothing(kind: Model, learn: Any) -> None:
    """An update that would make a statistic infinite is a ValueError, and changes no byte."""
    model = kind.make()
    model.learn_one({"x": 1e200, "z": 1.0}, "a")
    before = state(model)
    with pytest.raises(ValueError, match=r"'x'.*infinite"):
        learn(model, {"z": 3.0, "x": far(kind, 1e200)}, "a")  # a square of 4e400
    assert state(model) == before
    model = kind.make()
    model.learn_one({"x": 1.7e308}, "a")
    before = state(model)
    with pytest.raises(ValueError, match=r"'x'.*infinite"):
        learn(model, {"x": 0.0 if kind.positive else -1.7e308}, "a")  # a difference of 3.4e308
    assert state(model) == before


@every_model
@every_learn
def test_weights_that_overflow(kind: Model, learn: Any) -> None:
    """A weight that would make the class's weight infinite is a ValueError, and changes no byte."""
    model = kind.make()
    model.learn_one({"x": 1.0}, "a", w=1.7e308)
    before = state(model)
    with pytest.raises(ValueError, match=r"(?i)weight|finite|\bw\b"):
        learn(model, {"x": 1.0}, "a", w=1.7e308)
    assert state(model) == before


@every_gaussian
def test_a_merge_that_overflows(kind: Model) -> None:
    """A merge whose between-means term is beyond doubles raises, and leaves both shards."""
    a, b = kind.make(), kind.make()
    a.learn_one({"x": 1e200}, "a")
    b.learn_one({"x": far(kind, 1e200)}, "a")
    before = state(a), state(b)
    with pytest.raises(ValueError, match="x"):
        a + b
    with pytest.raises(ValueError, match="x"):
        a += b
    assert (state(a), state(b)) == before
