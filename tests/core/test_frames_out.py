"""Tables out: answers in the library of the input, empty tables, lengths that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from .models import MODELS, Model, name_of
from .verbs import same, state

every_model = pytest.mark.parametrize("kind", MODELS, ids=name_of)

RNG = np.random.default_rng(8)
ARRAY = RNG.normal(2.0, 1.0, (40, 3))
LABELS = RNG.choice(["b", "a", "c"], 40).tolist()
QUERIES = RNG.normal(2.0, 2.0, (11, 3))
QUERIES[2, 1] = np.nan
COLUMNS = ["0", "1", "2"]


def dicts(queries: np.ndarray) -> list[dict[str, float]]:
    """The rows of an array as dicts."""
    return [dict(zip(COLUMNS, row, strict=True)) for row in queries.tolist()]


def learned(kind: Model, labels: Any = LABELS, **parameters: Any) -> Any:
    model = kind.make(**parameters)
    model.learn_many(kind.array(ARRAY), labels)
    return model


@every_model
def test_pandas_out(kind: Model) -> None:
    """pandas in, pandas out: classes as columns, the rows' index kept, the bits of predict_one."""
    queries = kind.array(QUERIES)
    rows = dicts(queries)
    model = learned(kind)
    index = pd.Index([5, 5, 3, *"abcdefgh"], name="row")
    frame = pd.DataFrame(queries, columns=COLUMNS, index=index)
    proba, joint = model.predict_proba_many(frame), model.joint_log_likelihood_many(frame)
    labels = model.predict_many(frame)
    for table in (proba, joint):
        assert isinstance(table, pd.DataFrame)
        assert list(table.columns) == ["a", "b", "c"]
        assert table.index.equals(index)
    assert isinstance(labels, pd.Series)
    assert labels.index.equals(index)
    assert labels.tolist() == [model.predict_one(x) for x in rows]
    assert proba.values.tolist() == [list(model.predict_proba_one(x).values()) for x in rows]
    assert joint.values.tolist() == [list(model.joint_log_likelihood(x).values()) for x in rows]


@every_model
def test_polars_out(kind: Model) -> None:
    """polars in, polars out."""
    queries = kind.array(QUERIES)
    rows = dicts(queries)
    model = learned(kind)
    frame = pl.DataFrame(queries, schema=COLUMNS)
    proba, joint = model.predict_proba_many(frame), model.joint_log_likelihood_many(frame)
    labels = model.predict_many(frame)
    assert isinstance(proba, pl.DataFrame)
    assert isinstance(joint, pl.DataFrame)
    assert isinstance(labels, pl.Series)
    assert proba.columns == joint.columns == ["a", "b", "c"]
    assert labels.to_list() == [model.predict_one(x) for x in rows]
    assert [list(row) for row in proba.rows()] == [
        list(model.predict_proba_one(x).values()) for x in rows
    ]
    assert [list(row) for row in joint.rows()] == [
        list(model.joint_log_likelihood(x).values()) for x in rows
    ]


@every_model
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_matrix, sp.csc_array])
def test_arrays_out(kind: Model, form: Any) -> None:
    """Arrays (and sparse tables) in, arrays out, columns in the order of `classes`."""
    queries = kind.array(QUERIES)
    rows = dicts(queries)
    model = learned(kind)
    proba, joint = (
        model.predict_proba_many(form(queries)),
        model.joint_log_likelihood_many(form(queries)),
    )
    labels = model.predict_many(form(queries))
    assert all(isinstance(table, np.ndarray) for table in (proba, joint, labels))
    assert proba.dtype == joint.dtype == np.float64
    assert proba.tolist() == [list(model.predict_proba_one(x).values()) for x in rows]
    assert joint.tolist() == [list(model.joint_log_likelihood(x).values()) for x in rows]
    assert labels.tolist() == [model.predict_one(x) for x in rows]


@every_model
@pytest.mark.parametrize(
    "labels", [[2, 0, 1], [True, False, True], [0.5, 2.0, -1.0], [1, "1", 2.5]]
)
def test_labels_out_are_labels(kind: Model, labels: list[Any]) -> None:
    """`predict_many` answers labels of the learned kind; pandas' columns are the labels."""
    model = kind.make()
    table = np.array([[0.0], [5.0], [10.0]])
    for _ in range(2):
        model.learn_many(table, labels)
        table = table + 1.0
    asked = np.array([[0.5], [5.5], [10.5]])
    expected = [model.predict_one({"0": x}) for x in asked[:, 0].tolist()]
    for answer in (
        model.predict_many(asked),
        model.predict_many(pd.DataFrame(asked, columns=["0"])),
    ):
        assert answer.tolist() == expected
        assert [type(y) for y in answer.tolist()] == [type(y) for y in expected]
    columns = model.predict_proba_many(pd.DataFrame(asked, columns=["0"])).columns.tolist()
    assert columns == list(model.classes)
    assert [type(y) for y in columns] == [type(y) for y in model.classes]


@every_model
def test_polars_columns_are_texts(kind: Model) -> None:
    """polars names columns by texts: a label that is none is written as JSON writes it."""
    model = kind.make()
    model.learn_many(np.array([[0.0], [5.0], [9.0]]), [True, 2, 2.5])
    frame = pl.DataFrame({"0": [1.0, 8.0]})
    assert model.predict_proba_many(frame).columns == ["true", "2.5", "2"]


@every_model
def test_order_of_columns_in_a_question(kind: Model) -> None:
    """The order of columns, columns that are missing and columns never seen do not matter."""
    queries = kind.array(QUERIES)
    rows = dicts(queries)
    model = learned(kind)
    frame = pd.DataFrame(queries, columns=COLUMNS)
    expected = model.predict_proba_many(frame)
    pd.testing.assert_frame_equal(model.predict_proba_many(frame[["2", "0", "1"]]), expected)
    more = frame.assign(new=7.0)
    pd.testing.assert_frame_equal(model.predict_proba_many(more), expected)
    fewer = model.predict_proba_many(frame[["1"]])
    assert fewer.values.tolist() == [
        list(model.predict_proba_one({"1": x["1"]}).values()) for x in rows
    ]


@every_model
def test_an_empty_model(kind: Model) -> None:
    """An empty model answers None for each row, and no columns."""
    queries = kind.array(QUERIES)
    model = kind.make()
    frame = pd.DataFrame(queries, columns=COLUMNS, index=range(50, 61))
    assert model.predict_many(frame).tolist() == [None] * 11
    assert model.predict_many(frame).index.equals(frame.index)
    assert model.predict_proba_many(frame).shape == (11, 0)
    assert model.predict_proba_many(frame).index.equals(frame.index)
    assert model.predict_many(pl.DataFrame(queries, schema=COLUMNS)).to_list() == [None] * 11
    assert model.predict_proba_many(pl.DataFrame(queries, schema=COLUMNS)).columns == []
    assert model.predict_many(queries).tolist() == [None] * 11
    assert model.predict_proba_many(queries).shape == (11, 0)
    assert model.joint_log_likelihood_many(queries).shape == (11, 0)


EMPTY = {
    "numpy": np.empty((0, 3)),
    "pandas": pd.DataFrame({c: pd.Series(dtype=float) for c in COLUMNS}),
    "pandas without columns": pd.DataFrame(),
    "polars": pl.DataFrame(schema=dict.fromkeys(COLUMNS, pl.Float64)),
    "polars without columns": pl.DataFrame(),
    "sparse": sp.csr_matrix((0, 3)),
}


@every_model
@pytest.mark.parametrize("table", EMPTY.values(), ids=EMPTY)
def test_no_rows(kind: Model, table: Any) -> None:
    """A table without rows teaches nothing and answers nothing, from empty models and others."""
    for model in (kind.make(), learned(kind)):
        before = state(model)
        model.learn_many(table, [])
        model.learn_many(table, [], [])
        assert state(model) == before
        assert len(model.predict_many(table)) == 0
        assert len(model.predict_proba_many(table)) == 0


@every_model
def test_no_columns(kind: Model) -> None:
    """Rows without columns are examples of their class without a feature; asked, the prior."""
    expected = kind.make()
    for label in "aab":
        expected.learn_one({}, label)
    for table in (np.empty((3, 0)), pd.DataFrame(index=[4, 5, 6]), sp.csr_matrix((3, 0))):
        model = kind.make()
        model.learn_many(table, list("aab"))
        same(model, expected)
        proba = np.asarray(model.predict_proba_many(table))
        prior = [2 / 3, 1 / 3] if kind.prior else [1 / 2, 1 / 2]
        np.testing.assert_allclose(proba, [prior] * 3, rtol=1e-15)


@every_model
@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame, sp.csr_matrix])
@pytest.mark.parametrize("wrong", [0, 2, 4])
def test_lengths_that_do_not_fit(kind: Model, make: Any, wrong: int) -> None:
    """y, w or t of another length than X: ValueError with both numbers, nothing learned."""
    table = make(np.ones((3, 2)))
    model = kind.make()
    with pytest.raises(ValueError, match=rf"(?s)({wrong}.*3|3.*{wrong})"):
        model.learn_many(table, ["a"] * wrong)
    with pytest.raises(ValueError, match=rf"(?s)({wrong}.*3|3.*{wrong})"):
        model.learn_many(table, ["a"] * 3, [1.0] * wrong)
    with pytest.raises(ValueError, match=rf"(?s)({wrong}.*3|3.*{wrong})"):
        model.learn_many(table, ["a"] * 3, t=[0.0] * wrong)
    same(model, kind.make())


@every_model
@pytest.mark.parametrize(
    "table",
    [np.ones(3), np.ones((3, 2, 2)), np.float64(1), [1.0, 2.0], "abc", None, 3.0, {"x": 1.0}],
)
def test_what_is_no_table(kind: Model, table: Any) -> None:
    """Another shape than rows and columns, or no table at all: an error, nothing learned."""
    model = kind.make()
    with pytest.raises((ValueError, TypeError)):
        model.learn_many(table, ["a"] * 3)
    with pytest.raises((ValueError, TypeError)):
        model.predict_many(table)
    same(model, kind.make())


W_FORMS = {
    "list": list,
    "ints": lambda w: [int(v) for v in w],
    "array": np.array,
    "float32": lambda w: np.array(w, dtype="float32"),
    "int64": lambda w: np.array(w, dtype="int64"),
    "Series of another index": lambda w: pd.Series(w, index=range(100, 100 - len(w), -1)),
    "polars": pl.Series,
}


@every_model
@pytest.mark.parametrize("form", W_FORMS.values(), ids=W_FORMS)
def test_weights_go_by_position(kind: Model, form: Any) -> None:
    """w is taken by position, whatever its type and its index."""
    weights = RNG.integers(0, 4, len(LABELS)).astype(float).tolist()
    model, expected = kind.make(), kind.make()
    array = kind.array(ARRAY)
    model.learn_many(pd.DataFrame(array, columns=COLUMNS), LABELS, form(weights))
    for row, y, w in zip(array.tolist(), LABELS, weights, strict=True):
        expected.learn_one(dict(zip(COLUMNS, row, strict=True)), y, w)
    same(model, expected)


@every_model
def test_times_go_by_position(kind: Model) -> None:
    """t is a sequence of numbers or datetimes, of any library; no half-life, no trace."""
    expected = learned(kind)
    seconds = np.arange(40.0)
    stamps = pd.to_datetime(seconds, unit="s")
    for t in (
        seconds,
        seconds.tolist(),
        pd.Series(stamps),
        list(stamps.to_pydatetime()),
        pl.Series(seconds),
    ):
        model = kind.make()
        model.learn_many(kind.array(ARRAY), LABELS, t=t)
        same(model, expected)


@every_model
def test_a_wide_table(kind: Model) -> None:
    """A thousand columns, and classes that come in the middle of a batch: still row by row."""
    array = kind.array(RNG.normal(size=(12, 1000)))
    labels = list("aaabbbcccdda")
    model, expected = kind.make(), kind.make()
    model.learn_many(array, labels)
    names = [str(j) for j in range(1000)]
    for row, y in zip(array.tolist(), labels, strict=True):
        expected.learn_one(dict(zip(names, row, strict=True)), y)
    same(model, expected)
    np.testing.assert_array_equal(
        model.predict_proba_many(array)[5],
        list(expected.predict_proba_one(dict(zip(names, array[5].tolist(), strict=True))).values()),
    )
