"""River: its whole check suite, its pipelines, its evaluation, its ways to copy a model."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from river import base, checks, compose, datasets, evaluate, metrics, multiclass, preprocessing

from streamnb import GaussianNB

from .models import MODELS, PRIORS, Model, name_of
from .verbs import same, state

every_model = pytest.mark.parametrize("kind", MODELS, ids=name_of)
every_prior_model = pytest.mark.parametrize("kind", PRIORS, ids=name_of)
# The checks that River 0.26 has for a classifier of small batches, with pandas there: 16 of each
# set of data, and 14 without. A set with numbers below 0 is not for models of counts.
SETS = {False: 3, True: 2}


def suite() -> list[Any]:
    """One parameter for each model and check.

    The quick run has one of the windows, and each check on the first of its sets of data.
    """
    found = []
    for kind in MODELS:
        seen: set[str] = set()
        for i, check in enumerate(checks.yield_checks(kind.make())):
            name = check.__name__
            later = name in seen or kind.name.startswith("Windowed ")
            seen.add(name)
            marks = [pytest.mark.full] if later else []
            found.append(pytest.param(kind, check, id=f"{kind.name}-{i}-{name}", marks=marks))
    return found


@pytest.mark.parametrize(("kind", "check"), suite())
def test_check(kind: Model, check: Callable[..., None]) -> None:
    """Each check of River passes, those that a model could ask to skip too."""
    check(kind.make())


@every_model
def test_the_suite_is_whole(kind: Model) -> None:
    """All checks are there, the mini-batch ones among them, and none is asked to be skipped."""
    found = [check.__name__ for check in checks.yield_checks(kind.make())]
    sets = SETS[kind.positive]
    assert len(found) == 14 + 16 * sets
    assert found.count("check_learn_many_matches_learn_one") == sets
    assert found.count("check_predict_proba_many_matches_predict_proba_one") == sets
    assert not kind.make()._unit_test_skips()
    assert kind.make()._tags == ({base.tags.POSITIVE_INPUT} if kind.positive else set())


@every_model
def test_what_river_asks_of_a_class(kind: Model) -> None:
    """A mini-batch classifier, of several classes, supervised."""
    model = kind.make()
    assert isinstance(model, base.MiniBatchClassifier)
    assert model._multiclass
    assert model._supervised


@every_prior_model
def test_clone_keeps_parameters_only(kind: Model) -> None:
    """River's clone: parameters, new ones where given; with attributes, what was learned too."""
    model = kind.make(prior="uniform", known_labels=("a", "b"))
    model.learn_one({"x": 1.0}, "c")
    clone = model.clone()
    assert clone.known_labels == ("a", "b")
    assert list(clone.classes) == ["a", "b"]
    assert clone._get_params() == model._get_params()
    assert model.clone({"prior": "empirical"}).prior == "empirical"
    whole = model.clone(include_attributes=True)
    same(whole, model)
    whole.learn_one({"x": 2.0}, "c")
    assert model.class_weight == {"c": 1.0}


@every_prior_model
def test_a_reading_that_was_set_is_cloned(kind: Model) -> None:
    """A reading set after learning is the model's parameter: clones and copies have it."""
    model = kind.make()
    model.prior_count = 2.5
    assert model.clone().prior_count == 2.5
    parameters = model._get_params()
    if "model" in parameters:
        _, parameters = parameters["model"]
    assert parameters["prior_count"] == 2.5
    shown = repr(getattr(model, "model", model))  # River shows no parameters of a model within
    assert "prior_count=2.5" in shown.replace(" ", "")


@every_model
def test_mutate(kind: Model) -> None:
    """River's mutate: none of our attributes is declared mutable, so it refuses as River does."""
    model = kind.make()
    before = state(model)
    model.mutate({})
    assert state(model) == before


@every_prior_model
def test_copies(kind: Model) -> None:
    """pickle, copy and deepcopy give equal models that share nothing."""
    model = kind.make(known_labels=["z"])
    for i in range(6):
        model.learn_one({"x": float(i), 3: kind.number(-1.0)}, "ab"[i % 2])
    before = state(model)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        same(pickle.loads(pickle.dumps(model, protocol)), model)  # noqa: S301
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        same(other, model)
        other.learn_one({"x": 9.0, "new": 1.0}, "c")
        other.prior = "uniform"
        assert state(model) == before


@every_model
def test_memory_is_counted(kind: Model) -> None:
    """River's memory figure sees the arrays: 100 classes of 200 features are over 100 KB."""
    model = kind.make()
    empty = model._raw_memory_usage
    for label in range(100):
        model.learn_one({f"f{j}": float(j) for j in range(200)}, label)
    assert model._raw_memory_usage - empty > 100 * 200 * 8


def test_pipeline_learns_and_predicts() -> None:
    """StandardScaler() | GaussianNB(): the pipeline is its steps by hand."""
    pipeline = preprocessing.StandardScaler() | GaussianNB()
    scaler, model = preprocessing.StandardScaler(), GaussianNB()
    for x, y in datasets.Phishing().take(300):
        scaled = scaler.transform_one(x)
        assert pipeline.predict_proba_one(x) == model.predict_proba_one(scaled)
        assert pipeline.predict_one(x) == model.predict_one(scaled)
        pipeline.learn_one(x, y)
        scaler.learn_one(x)
        model.learn_one(scaler.transform_one(x), y)
    same(pipeline["GaussianNB"], model)
    assert state(pipeline.clone()["GaussianNB"]) == state(GaussianNB())


def test_pipeline_learns_tables() -> None:
    """The pipeline's learn_many and predict_many pass through: pandas in, pandas out."""
    pipeline = preprocessing.StandardScaler() | GaussianNB()
    rows = list(datasets.Phishing().take(300))
    X, y = pd.DataFrame([x for x, _ in rows]), pd.Series([y for _, y in rows])
    for start in range(0, 300, 50):
        pipeline.learn_many(X[start : start + 50], y[start : start + 50])
    assert pipeline["GaussianNB"].class_weight == {
        label: float((y == label).sum()) for label in (False, True)
    }
    labels = pipeline.predict_many(X)
    proba = pipeline.predict_proba_many(X)
    assert isinstance(labels, pd.Series)
    assert list(proba.columns) == [False, True]
    assert (labels == y).mean() > 0.8
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-14)


def test_pipeline_of_selected_features() -> None:
    """compose.Select before the model: only those features are learned."""
    pipeline = compose.Select("is_popular", "https") | GaussianNB()
    for x, y in datasets.Phishing().take(20):
        pipeline.learn_one(x, y)
    assert list(pipeline["GaussianNB"].features) == ["https", "is_popular"]


def test_progressive_evaluation() -> None:
    """evaluate.progressive_val_score runs, and its score is that of the loop by hand."""
    score = evaluate.progressive_val_score(datasets.Phishing(), GaussianNB(), metrics.Accuracy())
    model, right = GaussianNB(), metrics.Accuracy()
    for x, y in datasets.Phishing():
        answer = model.predict_one(x)
        if answer is not None:
            right.update(y, answer)
        model.learn_one(x, y)
    assert score.get() == right.get()
    assert score.get() > 0.85
    score = evaluate.progressive_val_score(
        datasets.ImageSegments(),
        preprocessing.StandardScaler() | GaussianNB(),
        metrics.Accuracy(),
    )
    assert score.get() > 0.7
    loss = evaluate.progressive_val_score(datasets.Phishing(), GaussianNB(), metrics.LogLoss())
    assert 0 < loss.get() < 1


def test_rivers_own_ensemble_holds_our_model() -> None:
    """A model of River that clones and wraps ours: OneVsRest keeps one for each class."""
    model = multiclass.OneVsRestClassifier(GaussianNB())
    right = metrics.Accuracy()
    for x, y in datasets.ImageSegments().take(600):
        answer = model.predict_one(x)
        right.update(y, answer)
        model.learn_one(x, y)
    assert right.get() > 0.5
