"""What an empty model answers, and what stays untouched: the bytes, the caller's data."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from .models import MODELS, PRIORS, Model, name_of
from .verbs import PREDICT, numbers, pandas_table, proba_one, state

every_model = pytest.mark.parametrize("kind", MODELS, ids=name_of)
every_prior_model = pytest.mark.parametrize("kind", PRIORS, ids=name_of)
every_predict = pytest.mark.parametrize("predict", PREDICT.values(), ids=PREDICT)


@every_model
@every_predict
def test_an_empty_model_answers_nothing(kind: Model, predict: Any) -> None:
    """Where no class is known: None, and {}."""
    model = kind.make()
    assert predict(model, {"x": 1.0}) == {}
    assert model.predict_one({}) is None
    assert model.predict_proba_one({}) == {}
    assert model.joint_log_likelihood({"x": 1.0}) == {}
    assert list(model.classes) == []
    assert list(model.features) == []
    assert model.class_weight == {}


@every_prior_model
@every_predict
def test_an_empty_model_with_known_labels(kind: Model, predict: Any) -> None:
    """Declared classes answer before anything was learned: equal, or as the prior gives them."""
    assert predict(kind.make(known_labels=["b", "a"]), {"x": 1.0}) == {"a": 0.5, "b": 0.5}
    given = predict(kind.make(prior={"b": 0.75, "a": 0.25}), {"x": 1.0})
    assert given == pytest.approx({"a": 0.25, "b": 0.75}, rel=1e-15, abs=0)


@every_model
@every_predict
def test_predicting_changes_no_byte(kind: Model, predict: Any) -> None:
    """river#195: a question about unseen features leaves the bytes, and the next answer."""
    model = kind.make()
    for x, y in [(1.0, "a"), (3.0, "a"), (5.0, "b"), (8.5, "b")]:
        model.learn_one({"x": x, "z": kind.number(-x)}, y)
    before = state(model)
    first = predict(model, {"x": 4.0, "never seen": 1.0})
    assert state(model) == before
    assert predict(model, {"x": 4.0, "never seen": 1.0}) == first
    model.joint_log_likelihood({"w": 3.0} if kind.bag else {"x": None, "w": 3.0})
    model.joint_log_likelihood_many(pandas_table([{"x": 1.0, "w": 3.0}]))
    _ = (model.classes, model.class_weight, model.features, numbers(model, "a"), repr(model))
    assert state(model) == before
    assert list(model.features) == ["x", "z"]


@every_model
def test_dicts_of_the_caller(kind: Model) -> None:
    """A dict is neither changed nor kept: changing it afterwards changes nothing."""
    model = kind.make()
    x = {"x": 1.0, "z": 0 if kind.bag else None, "u": np.float32(2)}
    kept = copy.deepcopy(x)
    model.learn_one(x, "a")
    proba_one(model, x)
    model.joint_log_likelihood(x)
    assert x == kept
    assert [type(v) for v in x.values()] == [type(v) for v in kept.values()]
    before = state(model)
    x["x"] = 1e9
    x["new"] = 3.0
    assert state(model) == before
    model.class_weight["a"] = 99.0
    (model.counts if hasattr(model, "counts") else model.means)("a")["x"] = 99.0
    assert state(model) == before


@every_model
def test_tables_of_the_caller(kind: Model) -> None:
    """A table, labels and weights are neither changed nor kept."""
    gap = 0.0 if kind.bag else math.nan
    array = np.array([[1.0, gap], [3.0, 4.0], [2.0, 2.0]])
    y, w = np.array(["a", "b", "a"]), np.array([1.0, 2.0, 0.0])
    frame = pd.DataFrame(array.copy(), columns=["x", "z"], index=[7, 7, 8])
    polars = pl.DataFrame({"x": [1.0, 3.0, 2.0], "z": [0.0 if kind.bag else None, 4.0, 2.0]})
    kept = array.copy(), y.copy(), w.copy(), frame.copy(deep=True), polars.clone()
    models = [kind.make() for _ in range(3)]
    for model, table in zip(models, (array, frame, polars), strict=True):
        model.learn_many(table, y, w)
        model.predict_many(table)
        model.predict_proba_many(table)
    np.testing.assert_array_equal(array, kept[0])
    np.testing.assert_array_equal(y, kept[1])
    np.testing.assert_array_equal(w, kept[2])
    pd.testing.assert_frame_equal(frame, kept[3])
    assert polars.equals(kept[4])
    before = [state(model) for model in models]
    array[:] = 99.0
    y[:] = "z"
    frame.loc[:, "x"] = 99.0
    assert [state(model) for model in models] == before
