"""Models of given parameters: a textbook's numbers, asked."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest
from scipy.stats import poisson

from streamnb import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    MergeError,
    MultinomialNB,
    PoissonNB,
    dumps,
    merge,
)

from .verbs import PREDICT

every_predict = pytest.mark.parametrize("predict", PREDICT.values(), ids=PREDICT)

MEANS = {"a": {"x": 2.0}, "b": {"x": 5.0}}
VARIANCES = {"a": {"x": 1.0}, "b": {"x": 1.5}}
PRIOR = {"a": 0.6, "b": 0.4}


def given(**changes: Any) -> GaussianNB:
    return GaussianNB.from_parameters(
        **{"means": MEANS, "variances": VARIANCES, "prior": PRIOR} | changes
    )


def test_the_one_dimensional_example() -> None:
    """Priors .6 and .4, N(2, 1) and N(5, 1.5), x = 3.5: .558 and .442."""
    densities = {
        label: PRIOR[label]
        * math.exp(-((3.5 - MEANS[label]["x"]) ** 2) / (2 * VARIANCES[label]["x"]))
        / math.sqrt(2 * math.pi * VARIANCES[label]["x"])
        for label in "ab"
    }
    model = given()
    proba = model.predict_proba_one({"x": 3.5})
    assert proba["a"] == pytest.approx(0.558, abs=5e-4)
    assert proba["a"] == pytest.approx(densities["a"] / sum(densities.values()), rel=1e-14)
    joint = model.joint_log_likelihood({"x": 3.5})
    assert joint["b"] == pytest.approx(math.log(densities["b"]), rel=1e-14)
    assert model.means("a") == {"x": 2.0}
    assert model.variances("b") == {"x": 1.5}
    assert model.classes == ["a", "b"]
    assert model.class_weight == {}


def test_without_a_prior_all_are_equally_probable() -> None:
    """At the same distance in the same variance, one half each."""
    model = given(variances={"a": {"x": 1.0}, "b": {"x": 1.0}}, prior=None)
    assert model.predict_proba_one({"x": 3.5}) == pytest.approx({"a": 0.5, "b": 0.5}, rel=1e-15)


@pytest.mark.parametrize(
    "make",
    [
        given,
        lambda prior: PoissonNB.from_parameters(means=MEANS, prior=prior),
        lambda prior: BernoulliNB.from_parameters(probabilities={"a": {}, "b": {}}, prior=prior),
        lambda prior: MultinomialNB.from_parameters(probabilities={"a": {}, "b": {}}, prior=prior),
        lambda prior: CategoricalNB.from_parameters(probabilities={"a": {}, "b": {}}, prior=prior),
    ],
    ids=["Gaussian", "Poisson", "Bernoulli", "Multinomial", "Categorical"],
)
def test_priors_of_given_models(make: Any) -> None:
    """None and "uniform" are one half each; a mapping counts; anything else is refused."""
    for prior in (None, "uniform", {"a": 0.5, "b": 0.5}):
        assert make(prior=prior).predict_proba_one({}) == pytest.approx({"a": 0.5, "b": 0.5})
    assert make(prior={"a": 1.0}).predict_proba_one({}) == {"a": 1.0, "b": 0.0}
    bad: list[Any] = ["none", 5, ["a"], {}, {"a": 0.5}, {"a": "1"}, {"a": 0.5, "c": 0.5}]
    for prior in bad:
        with pytest.raises((TypeError, ValueError)):
            make(prior=prior)


@pytest.mark.parametrize("numbers", [None, [1.0], "a", 5, {"a": None}, {"a": [1.0]}], ids=str)
def test_what_is_no_mapping(numbers: Any) -> None:
    """Means, variances and probabilities that are no mappings of mappings are refused."""
    for verb in (
        lambda: given(means=numbers),
        lambda: given(variances=numbers),
        lambda: PoissonNB.from_parameters(means=numbers),
        lambda: BernoulliNB.from_parameters(probabilities=numbers),
        lambda: MultinomialNB.from_parameters(probabilities=numbers),
        lambda: CategoricalNB.from_parameters(probabilities=numbers),
        lambda: CategoricalNB.from_parameters(probabilities={"a": {"x": numbers}}),
    ):
        with pytest.raises((TypeError, ValueError)):
            verb()


def test_it_neither_learns_nor_merges() -> None:
    """Nothing was seen, so there is nothing to add to; and no bytes to write."""
    model = given()
    with pytest.raises(TypeError, match="predicts"):
        model.learn_one({"x": 1.0}, "a")
    with pytest.raises(TypeError, match="predicts"):
        model.learn_many([[1.0]], ["a"])
    for parts in ([model, GaussianNB()], [GaussianNB(), model]):
        with pytest.raises(MergeError):
            merge(parts)
    with pytest.raises(TypeError):
        dumps(model)


def test_copies_answer_alike() -> None:
    """Clones, copies and pickles hold the same distributions."""
    model = given()
    for other in (model.clone(), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        assert other.predict_proba_one({"x": 3.0}) == model.predict_proba_one({"x": 3.0})


def test_readings_and_the_callers_dicts() -> None:
    """A reading set later is kept by copies; the caller's dicts are not looked at again."""
    means = {"a": {"x": 2.0}, "b": {"x": 5.0}}
    model = given(means=means, prior={"a": 1.0})
    means["a"]["x"] = 100.0
    assert model.classes == ["a", "b"]
    assert model.means("b") == {"x": 5.0}
    model.prior = {"a": 0.9, "b": 0.1}
    other = copy.deepcopy(model)
    assert other.predict_proba_one({}) == pytest.approx({"a": 0.9, "b": 0.1})
    assert other.means("a") == {"x": 2.0}
    assert model.clone({"var_smoothing": 3.0}).var_smoothing == 3.0
    assert "var_smoothing" in repr(model)


@pytest.mark.parametrize(
    "changes",
    [
        {"means": {}},
        {"means": {"a": {"x": 2.0}}},
        {"variances": {"a": {"x": 1.0}}},
        {"variances": {"a": {"x": 1.0}, "b": {"x": -1.0}}},
        {"variances": {"a": {"x": 1.0}, "b": {"z": 1.0}}},
        {"variances": {"a": {"x": 1.0}, "b": {"x": math.nan}}},
        {"means": {"a": {"x": 2.0}, "b": {"x": math.inf}}},
        {"means": {"a": {"x": 2.0}, "b": {"x": math.nan}}},
        {"means": {"a": {"x": 2.0, "z": 1.0}, "b": {"x": 1.0}}},
        {"prior": {"a": 0.6, "c": 0.4}},
        {"prior": {"a": 0.6, "b": 0.6}},
    ],
    ids=str,
)
def test_numbers_that_do_not_fit(changes: dict[str, Any]) -> None:
    """Other labels, other features, or numbers out of range: refused."""
    with pytest.raises(ValueError):  # noqa: PT011 - each says something else
        given(**changes)


RATES = {"day": {"calls": 4.0, "faults": 0.0}, "night": {"calls": 1.0, "faults": 0.5}}


def test_given_rates() -> None:
    """Rates 4 and 1, priors .25 and .75, 3 calls: Poisson's probabilities times the priors.

    A fault is impossible by day; it answers, and neither learns, merges nor is written.
    """
    model = PoissonNB.from_parameters(means=RATES, prior={"day": 0.25, "night": 0.75})
    shares = {"day": 0.25 * poisson.pmf(3, 4.0), "night": 0.75 * poisson.pmf(3, 1.0)}
    joint = model.joint_log_likelihood({"calls": 3})
    assert joint == pytest.approx({y: math.log(s) for y, s in shares.items()}, rel=1e-13)
    assert model.predict_proba_one({"calls": 9, "faults": 1}) == {"day": 0.0, "night": 1.0}
    assert model.means("day") == {"calls": 4.0, "faults": 0.0}
    assert model.variances("night") == {"calls": 1.0, "faults": 0.5}
    for other in (model.clone(), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        assert other.joint_log_likelihood({"calls": 3}) == joint
    with pytest.raises(TypeError, match="predicts"):
        model.learn_one({"calls": 1.0}, "day")
    with pytest.raises(MergeError):
        merge([model, PoissonNB()])
    with pytest.raises(TypeError):
        dumps(model)


def test_one_class_of_given_rates() -> None:
    """One class: its density all the same."""
    model = PoissonNB.from_parameters(means={"a": {"x": 2.0}})
    assert model.joint_log_likelihood({"x": 5}) == pytest.approx(
        {"a": poisson.logpmf(5, 2.0)}, rel=1e-14
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"means": {}},
        {"means": {"a": 3.0}},
        {"means": {"a": {"x": -1.0}}},
        {"means": {"a": {"x": math.inf}}},
        {"means": {"a": {"x": math.nan}}},
        {"means": {"a": {"x": 1.0}, "b": {"z": 1.0}}},
        {"means": {"a": {"x": 1.0}, "b": {}}},
        {"means": {"a": {"x": 1.0}}, "prior": {"b": 1.0}},
        {"means": {"a": {"x": 1.0}}, "prior": {"a": 0.5}},
    ],
    ids=str,
)
def test_rates_that_do_not_fit(changes: dict[str, Any]) -> None:
    """Other labels, other features, or numbers out of range: refused."""
    with pytest.raises(ValueError):  # noqa: PT011 - each says something else
        PoissonNB.from_parameters(**changes)


# Quinlan, Induction of Decision Trees, 1986, table 1, as frequencies.
SATURDAYS = {
    "P": {
        "outlook": {"sunny": 2 / 9, "overcast": 4 / 9, "rain": 3 / 9},
        "temperature": {"hot": 2 / 9, "mild": 4 / 9, "cool": 3 / 9},
        "humidity": {"high": 3 / 9, "normal": 6 / 9},
        "windy": {True: 3 / 9, False: 6 / 9},
    },
    "N": {
        "outlook": {"sunny": 3 / 5, "rain": 2 / 5},
        "temperature": {"hot": 2 / 5, "mild": 2 / 5, "cool": 1 / 5},
        "humidity": {"high": 4 / 5, "normal": 1 / 5},
        "windy": {True: 3 / 5, False: 2 / 5},
    },
}


@every_predict
def test_given_values(predict: Any) -> None:
    """Sunny, cool, high, windy: 5/14 3/5 1/5 4/5 3/5 to 9/14 2/9 3/9 3/9 3/9; overcast: P.

    What is missing, and a value that no label names, are no evidence.
    """
    model = CategoricalNB.from_parameters(prior={"P": 9 / 14, "N": 5 / 14}, probabilities=SATURDAYS)
    query = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": True}
    n, p = 5 / 14 * 3 * 1 * 4 * 3 / 5**4, 9 / 14 * 2 * 3**3 / 9**4
    expected = {"N": n / (n + p), "P": p / (n + p)}
    assert predict(model, query) == pytest.approx(expected, rel=1e-14)
    assert predict(model, {"outlook": "overcast"}) == {"N": 0.0, "P": 1.0}
    prior = pytest.approx({"N": 5 / 14, "P": 9 / 14}, rel=1e-15)
    for nothing in ({}, {"outlook": None}, {"outlook": "snow"}, {"windy": 1}, {"moon": "full"}):
        assert predict(model, nothing) == prior
    assert model.counts("N")["outlook"] == {"rain": 2 / 5, "sunny": 3 / 5}
    assert (model.classes, model.class_weight) == (["N", "P"], {})
    assert model.features == ["humidity", "outlook", "temperature", "windy"]


def test_one_value_that_is_given() -> None:
    """P(win) = .8 and .1 are evidence where nothing is said of the others; 1 and 1 are none."""
    model = CategoricalNB.from_parameters(
        probabilities={1: {"win": {True: 0.8}}, 2: {"win": {True: 0.1}}}
    )
    for other in (model, copy.deepcopy(model), model.clone()):
        assert other.predict_proba_one({"win": True}) == pytest.approx({1: 8 / 9, 2: 1 / 9})
    certain = CategoricalNB.from_parameters(
        probabilities={1: {"win": {True: 1}}, 2: {"win": {True: 1}}}
    )
    assert certain.predict_proba_one({"win": True}) == {1: 0.5, 2: 0.5}


@pytest.mark.parametrize(
    "model",
    [
        CategoricalNB.from_parameters(probabilities=SATURDAYS),
        BernoulliNB.from_parameters(probabilities={"a": {"u": 0.8}, "b": {"u": 0.1, "v": 0.3}}),
        MultinomialNB.from_parameters(probabilities={"a": {"u": 0.8}, "b": {"u": 0.1, "v": 0.3}}),
    ],
    ids=lambda model: type(model).__name__,
)
def test_given_probabilities_are_copied(model: Any) -> None:
    """A clone, a copy and a pickle have the same probabilities and parameters, and answer alike."""
    model.prior = {label: 1.0 - place for place, label in enumerate(model.classes)}
    copies = (model.clone(), model.clone(include_attributes=True), copy.copy(model))
    for other in (*copies, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        assert other == model
        value = "rain" if isinstance(model, CategoricalNB) else 2
        for query in ({}, {"u": 1}, {"v": value}, {"outlook": value}):
            assert other.joint_log_likelihood(query) == model.joint_log_likelihood(query)
        assert [other.counts(y) for y in other.classes] == [model.counts(y) for y in model.classes]
        for verb in (other.learn_one, other.learn_many, other.unlearn_one):
            with pytest.raises(TypeError, match="predicts"):
                verb({"u": 1}, "a")
        with pytest.raises(TypeError):
            dumps(other)
    with pytest.raises(MergeError):
        model + model


VALUES: dict[str, Any] = {
    "no label": {},
    "a prior of others": {"a": {"x": {"u": 1.0}}},
    "no features": {"a": 0.5, "b": 0.5},
    "no values": {"a": {"x": 0.5}, "b": {"x": 0.5}},
    "other features": {"a": {"x": {"u": 1.0}}, "b": {"z": {"u": 1.0}}},
    "fewer features": {"a": {"x": {"u": 1.0}}, "b": {}},
    "beyond 1": {"a": {"x": {"u": 1.5}}, "b": {"x": {"u": 1.0}}},
    "negative": {"a": {"x": {"u": -0.5}}, "b": {"x": {"u": 1.0}}},
    "NaN": {"a": {"x": {"u": math.nan}}, "b": {"x": {"u": 1.0}}},
    "a sum beyond 1": {"a": {"x": {"u": 0.7, "v": 0.7}}, "b": {"x": {"u": 1.0}}},
    "a missing value": {"a": {"x": {None: 0.7}}, "b": {"x": {"u": 1.0}}},
    "an infinite value": {"a": {"x": {math.inf: 0.7}}, "b": {"x": {"u": 1.0}}},
    "a text": {"a": {"x": {"u": "1"}}, "b": {"x": {"u": 1.0}}},
    "a value of a wrong kind": {"a": {"x": {(1,): 1.0}}, "b": {"x": {"u": 1.0}}},
    "a name of a wrong kind": {"a": {1.5: {"u": 1.0}}, "b": {1.5: {"u": 1.0}}},
    "a label of a wrong kind": {(1,): {"x": {"u": 1.0}}, "b": {"x": {"u": 1.0}}},
}


@pytest.mark.parametrize("name", VALUES)
def test_values_that_do_not_fit(name: str) -> None:
    """Other labels, other features, or probabilities out of range: refused."""
    with pytest.raises((TypeError, ValueError)):
        CategoricalNB.from_parameters(prior={"a": 0.5, "b": 0.5}, probabilities=VALUES[name])
