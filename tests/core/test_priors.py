"""The prior of the classes: its three forms, pseudo-counts, labels known before they are seen."""

from __future__ import annotations

import math
from typing import Any

import pytest

from .models import MODELS, MOMENTS, PRIORS, Model, name_of
from .verbs import same, state

every_prior_model = pytest.mark.parametrize("kind", PRIORS, ids=name_of)


def learned(kind: Model, labels: str, **parameters: Any) -> Any:
    """A model of these labels, without any feature."""
    model = kind.make(**parameters)
    for label in labels:
        model.learn_one({}, label)
    return model


@every_prior_model
def test_empirical(kind: Model) -> None:
    """scikit-learn#731: y = a,a,a,b,c: shares of n, not of the classes: .6, .2, .2."""
    proba = learned(kind, "aaabc").predict_proba_one({})
    assert proba == pytest.approx({"a": 0.6, "b": 0.2, "c": 0.2}, rel=1e-15, abs=0)


@every_prior_model
def test_empirical_goes_by_weight(kind: Model) -> None:
    """Weights 0.25 and 0.75: priors 1/4 and 3/4."""
    model = kind.make()
    model.learn_one({}, "a", w=0.25)
    model.learn_one({}, "b", w=0.75)
    assert model.predict_proba_one({}) == pytest.approx({"a": 0.25, "b": 0.75}, rel=1e-15, abs=0)


@every_prior_model
def test_uniform(kind: Model) -> None:
    """Equal for learned and known labels; scikit-learn#17926: one class is certain."""
    assert learned(kind, "a", prior="uniform").predict_proba_one({"x": 1.0}) == {"a": 1.0}
    proba = learned(kind, "aaab", prior="uniform", known_labels=["c", "d"]).predict_proba_one({})
    assert proba == {"a": 0.25, "b": 0.25, "c": 0.25, "d": 0.25}


@every_prior_model
def test_given(kind: Model) -> None:
    """scikit-learn#3186: prior {a: .9, b: .1} and 1 a, 9 b without information: P(a) = .9."""
    model = kind.make(prior={"a": 0.9, "b": 0.1})
    x = {} if kind.name == "BernoulliNB" else {"x": 1.0}  # how sure it is that x comes differs
    for label in "abbbbbbbbb":
        model.learn_one(x, label)
    assert model.predict_proba_one(x) == pytest.approx({"a": 0.9, "b": 0.1}, rel=1e-15, abs=0)
    assert model.class_weight == {"a": 1.0, "b": 9.0}


@every_prior_model
def test_given_lacks_a_learned_label(kind: Model) -> None:
    """A learned label that the prior lacks has prior 0, and stays a class."""
    model = kind.make(prior={"a": 0.5, "b": 0.5})
    for x, label in [(0.0, "a"), (2.0, "a"), (5.0, "c"), (6.0, "c")]:
        model.learn_one({"x": x}, label)
    assert list(model.classes) == ["a", "b", "c"]
    for query in ({}, {"x": 5.5}):
        assert model.predict_proba_one(query)["c"] == 0.0
        assert model.joint_log_likelihood(query)["c"] == -math.inf
        assert model.predict_one(query) in ("a", "b")


@every_prior_model
def test_every_class_impossible(kind: Model) -> None:
    """Only a class of prior 0 was learned: the answer is the prior, never NaN."""
    model = learned(kind, "cc", prior={"a": 0.75, "b": 0.25})
    assert model.predict_proba_one({}) == pytest.approx({"a": 0.75, "b": 0.25, "c": 0.0})
    assert model.predict_one({}) == "a"


@every_prior_model
def test_known_labels(kind: Model) -> None:
    """scikit-learn#13232: a,b,c known, a,a,a,b seen: P(c) = 0, no NaN.

    With a pseudo-count of 1: 4/7, 2/7, 1/7.
    """
    model = learned(kind, "aaab", known_labels=["a", "b", "c"])
    assert list(model.classes) == ["a", "b", "c"]
    assert model.class_weight == {"a": 3.0, "b": 1.0}
    expected = pytest.approx({"a": 0.75, "b": 0.25, "c": 0.0}, rel=1e-15, abs=0)
    assert model.predict_proba_one({}) == expected
    assert model.joint_log_likelihood({})["c"] == -math.inf
    model.prior_count = 1
    proba = model.predict_proba_one({})
    assert proba == pytest.approx({"a": 4 / 7, "b": 2 / 7, "c": 1 / 7}, rel=1e-15, abs=0)


@pytest.mark.parametrize("kind", MOMENTS, ids=name_of)
def test_known_labels_without_features(kind: Model) -> None:
    """A known class that learned nothing answers with the distribution over all classes.

    a: 0, 2; uniform prior: both answer with mean 1, so every query leaves 1/2.
    """
    model = kind.make(known_labels=["b"], prior="uniform", **kind.plain)
    model.learn_one({"x": 0.0}, "a")
    model.learn_one({"x": 2.0}, "a")
    assert model.predict_proba_one({"x": 1.5}) == pytest.approx(
        {"a": 0.5, "b": 0.5}, rel=1e-15, abs=0
    )


@every_prior_model
@pytest.mark.parametrize("labels", [["b", "a"], ("a", "b"), {"a", "b"}, ["a", "b", "a"]])
def test_known_labels_alone(kind: Model, labels: Any) -> None:
    """Known, nothing learned: equal; order and repetition do not show in the bytes."""
    model = kind.make(known_labels=labels)
    assert model.predict_proba_one({"x": 1.0}) == {"a": 0.5, "b": 0.5}
    assert model.predict_one({}) == "a"
    assert model.class_weight == {}
    same(model, kind.make(known_labels=["a", "b"]))


@every_prior_model
def test_pseudo_counts_by_label(kind: Model) -> None:
    """MAP with Dirichlet counts: weights 3 and 1 with 1 and 5 more: 4/10 and 6/10."""
    model = learned(kind, "aaab", prior_count={"a": 1, "b": 5})
    assert model.predict_proba_one({}) == pytest.approx({"a": 0.4, "b": 0.6}, rel=1e-15, abs=0)
    model = learned(kind, "aaab", prior_count={"b": 4.0})
    assert model.predict_proba_one({}) == pytest.approx({"a": 3 / 8, "b": 5 / 8}, rel=1e-15, abs=0)


@every_prior_model
def test_pseudo_counts_are_for_the_empirical_prior(kind: Model) -> None:
    """Added to the weights of an empirical prior; a given or uniform prior stays as it is."""
    model = learned(kind, "aaab", prior_count=100.0, prior={"a": 0.9, "b": 0.1})
    assert model.predict_proba_one({}) == pytest.approx({"a": 0.9, "b": 0.1}, rel=1e-15, abs=0)


BAD = [
    ({"prior": {"a": 0.9, "b": 0.9}}, ValueError),  # QDA of scikit-learn takes these three
    ({"prior": {"a": -0.5, "b": 1.5}}, ValueError),
    ({"prior": {"a": 0.5, "b": math.nan}}, ValueError),
    ({"prior": {"a": 0.5, "b": 0.5 + 1e-8}}, ValueError),
    ({"prior": {}}, ValueError),
    ({"prior": "empiric"}, ValueError),
    ({"prior": 0.5}, (TypeError, ValueError)),
    ({"prior": [0.5, 0.5]}, (TypeError, ValueError)),
    ({"prior": {"a": "0.5", "b": 0.5}}, TypeError),
    ({"prior": {None: 1.0}}, (TypeError, ValueError)),
    ({"prior": {math.nan: 1.0}}, (TypeError, ValueError)),
    ({"prior": {("a",): 1.0}}, (TypeError, ValueError)),
    ({"prior_count": -1.0}, ValueError),
    ({"prior_count": math.nan}, ValueError),
    ({"prior_count": math.inf}, ValueError),
    ({"prior_count": {"a": -1.0}}, ValueError),
    ({"prior_count": "1"}, TypeError),
    ({"known_labels": [None]}, (TypeError, ValueError)),
    ({"known_labels": [math.nan]}, (TypeError, ValueError)),
    ({"known_labels": [("a",)]}, (TypeError, ValueError)),
    ({"known_labels": 3}, TypeError),
    ({"known_labels": "abc"}, TypeError),
]


@every_prior_model
@pytest.mark.parametrize(("bad", "error"), BAD, ids=str)
def test_bad_priors(kind: Model, bad: dict[str, Any], error: Any) -> None:
    """Refused when the model is made, and when it is set: at once or at the next question."""
    with pytest.raises(error):
        kind.make(**bad)
    model = learned(kind, "ab")
    before = state(model)
    ((name, value),) = bad.items()

    def set_and_ask() -> None:
        setattr(model, name, value)
        model.predict_proba_one({})

    with pytest.raises(error):
        set_and_ask()
    setattr(model, name, getattr(kind.make(), name))
    assert state(model) == before


OWN_BAD = [
    ({"var_smoothing": -1e-9}, ValueError),
    ({"var_smoothing": math.nan}, ValueError),
    ({"var_smoothing": math.inf}, ValueError),
    ({"var_smoothing": "1e-9"}, TypeError),
    ({"smoothing": "local"}, ValueError),
    ({"smoothing": 1}, (TypeError, ValueError)),
    ({"background": -1.0}, ValueError),
    ({"background": math.nan}, ValueError),
    ({"background": "1"}, TypeError),
    ({"ddof": -1}, ValueError),
    ({"ddof": math.nan}, ValueError),
    ({"ddof": "0"}, TypeError),
    ({"shared_variance": 1}, TypeError),
    ({"shared_variance": "yes"}, TypeError),
    ({"shared_variance": None}, TypeError),
    ({"alpha": -1.0}, ValueError),
    ({"alpha": math.nan}, ValueError),
    ({"alpha": math.inf}, ValueError),
    ({"alpha": "1"}, TypeError),
    ({"alpha": True}, TypeError),
]


@pytest.mark.parametrize(("bad", "error"), OWN_BAD, ids=str)
def test_bad_readings_of_their_own(bad: dict[str, Any], error: Any) -> None:
    """A reading out of range is refused when a model that has it is made, and names itself."""
    ((name, _),) = bad.items()
    kinds = [kind for kind in MODELS if name in kind.readings]
    assert kinds
    for kind in kinds:
        with pytest.raises(error, match=name):
            kind.make(**bad)


@every_prior_model
def test_a_sum_within_rounding(kind: Model) -> None:
    """The sum may miss 1 by 1e-9: ten times 0.1 does."""
    model = kind.make(prior=dict.fromkeys("abcdefghij", 0.1))
    assert math.fsum(model.predict_proba_one({}).values()) == pytest.approx(1.0, rel=1e-15, abs=0)
    kind.make(prior={"a": 0.5, "b": 0.5 + 9e-10})


@every_prior_model
@pytest.mark.parametrize("unknown", ["var_smooth", "priors", "classes"])
def test_unknown_parameters(kind: Model, unknown: str) -> None:
    """A parameter that does not exist is a TypeError; parameters go by name only."""
    with pytest.raises(TypeError):
        kind.make(**{unknown: 1})
    with pytest.raises(TypeError):
        kind.make(1e-9)
