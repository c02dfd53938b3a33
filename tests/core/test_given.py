"""Models of given parameters: a textbook's numbers, asked."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest
from scipy.stats import poisson

from streamnb import GaussianNB, MergeError, PoissonNB, dumps, merge

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
