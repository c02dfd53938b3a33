"""Tables in: `learn_many` gives the bytes of `learn_one` row by row, from every library."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from .models import FIELDS, MODELS, Model, name_of
from .verbs import same, state

every_model = pytest.mark.parametrize("kind", MODELS, ids=name_of)
every_field_model = pytest.mark.parametrize("kind", FIELDS, ids=name_of)

N, D = 60, 5
RNG = np.random.default_rng(20)
ARRAY = RNG.normal(3.0, 2.0, (N, D))
ARRAY[RNG.random((N, D)) < 0.15] = np.nan
LABELS = RNG.choice(["a", "b", "c"], N).tolist()
WEIGHTS = RNG.integers(0, 4, N).astype(float)
COLUMNS = [str(j) for j in range(D)]


def by_rows(kind: Model, rows: Any, labels: Any = LABELS, weights: Any = None) -> Any:
    """The model that learned rows (dicts) one by one."""
    model = kind.make()
    for i, x in enumerate(rows):
        model.learn_one(x, labels[i], 1.0 if weights is None else weights[i])
    return model


def by_table(
    kind: Model, table: Any, labels: Any = LABELS, weights: Any = None, **more: Any
) -> Any:
    """The model that learned a table."""
    model = kind.make()
    model.learn_many(table, labels, weights, **more)
    return model


def dicts(array: Any, columns: Any = COLUMNS) -> list[dict[Any, Any]]:
    """The rows of an array as dicts of Python's own numbers."""
    return [dict(zip(columns, row, strict=True)) for row in np.asarray(array).tolist()]


TABLES = {
    "numpy": lambda a: a,
    "fortran": np.asfortranarray,
    "reversed rows twice": lambda a: a[::-1].copy()[::-1],
    "every other column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "transposed": lambda a: a.T.copy().T,
    "read-only": lambda a: np.frombuffer(a.tobytes()).reshape(N, D),
    "big-endian": lambda a: a.astype(">f8"),
    "objects": lambda a: a.astype(object),
    "pandas": lambda a: pd.DataFrame(a, columns=COLUMNS),
    "pandas by columns": lambda a: pd.DataFrame({c: a[:, j] for j, c in enumerate(COLUMNS)}),
    "pandas Float64": lambda a: pd.DataFrame(a, columns=COLUMNS).convert_dtypes(),
    "pandas objects": lambda a: pd.DataFrame(a, columns=COLUMNS).astype(object),
    "pandas categories": lambda a: pd.DataFrame(a, columns=COLUMNS).astype("category"),
    "polars": lambda a: pl.DataFrame(a, schema=COLUMNS),
    "polars nulls": lambda a: pl.DataFrame(a, schema=COLUMNS).fill_nan(None),
    "polars chunks": lambda a: pl.concat(
        [pl.DataFrame(a[:7], schema=COLUMNS), pl.DataFrame(a[7:], schema=COLUMNS)],
        rechunk=False,
    ),
}


@every_model
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
def test_tables_of_doubles(kind: Model, make: Any, weights: Any) -> None:
    """The layout and the library of a table of doubles do not show in the bytes."""
    array = kind.array(ARRAY)
    expected = by_rows(kind, dicts(array), weights=weights)
    same(by_table(kind, make(array), weights=weights), expected)


@every_model
@pytest.mark.parametrize(
    "dtype", ["float32", "float16", "int64", "int8", "uint16", "bool", "longdouble"]
)
def test_tables_of_other_numbers(kind: Model, dtype: str) -> None:
    """Other kinds of numbers are taken at their own value, from numpy, pandas and polars."""
    array = np.nan_to_num(ARRAY * 9, nan=1.0).clip(0, 100).astype(dtype)
    kept = kind.texts and dtype == "bool"  # where a bool is no number
    expected = by_rows(kind, dicts(array if kept else array.astype(float)))
    same(by_table(kind, array), expected)
    same(by_table(kind, np.asfortranarray(array)), expected)
    same(by_table(kind, pd.DataFrame(array, columns=COLUMNS)), expected)
    if dtype not in ("float16", "longdouble"):
        same(by_table(kind, pl.DataFrame(array, schema=COLUMNS)), expected)


@every_field_model
def test_columns_of_different_kinds(kind: Model) -> None:
    """Nullable, plain, categorical and object columns side by side; missing in each is missing."""
    frame = pd.DataFrame(
        {
            "int": pd.array([1, None, 3, 4], dtype="Int64"),
            "float": pd.array([0.5, 1.5, None, 2.5], dtype="Float32"),
            "bool": pd.array([True, None, False, True], dtype="boolean"),
            "plain bool": [True, False, False, True],
            "object": [1, 2.5, None, True],
            "category": pd.Categorical([3, None, 3, 5]),
            "small": np.array([1, 2, 3, 4], dtype="int8"),
            "sparse": pd.arrays.SparseArray([0.0, 0.0, 2.0, np.nan]),
            "empty": [None, None, None, None],
            "na": [pd.NA, 1.0, pd.NA, 2.0],
        }
    )
    rows: list[dict[str, Any]] = [
        {"int": 1, "float": 0.5, "bool": True, "plain bool": True, "object": 1, "category": 3,
         "small": 1, "sparse": 0.0},
        {"float": 1.5, "plain bool": False, "object": 2.5, "small": 2, "sparse": 0.0, "na": 1.0},
        {"int": 3, "bool": False, "plain bool": False, "category": 3, "small": 3, "sparse": 2.0},
        {"int": 4, "float": 2.5, "bool": True, "plain bool": True, "object": True, "category": 5,
         "small": 4, "na": 2.0},
    ]  # fmt: skip
    expected = by_rows(kind, rows, "abab")
    same(by_table(kind, frame, list("abab")), expected)
    same(by_table(kind, frame[frame.columns[::-1]], list("abab")), expected)
    polars = pl.DataFrame(
        {
            "int": [1, None, 3, 4],
            "float": pl.Series([0.5, 1.5, None, 2.5], dtype=pl.Float32),
            "bool": [True, None, False, True],
            "plain bool": [True, False, False, True],
            "object": pl.Series([1, 2.5, None, True], dtype=pl.Object),
            "category": [3, None, 3, 5],
            "small": pl.Series([1, 2, 3, 4], dtype=pl.UInt8),
            "sparse": [0.0, 0.0, 2.0, math.nan],
            "empty": [None, None, None, None],
            "na": [None, 1.0, None, 2.0],
        }
    )
    same(by_table(kind, polars, list("abab")), expected)


@every_field_model
def test_large_integers(kind: Model) -> None:
    """Integers beyond 2^53 round to the nearest double, in a column with gaps as without."""
    values = [2**53 + 1, None, 2**62 + 3]
    expected = by_rows(kind, [{"x": v} for v in values], "aab")
    same(
        by_table(kind, pd.DataFrame({"x": pd.array(values, dtype="Int64")}), list("aab")), expected
    )
    same(by_table(kind, pl.DataFrame({"x": values}), list("aab")), expected)


@every_model
@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.DataFrame({"x": [0.5, 1.5], "bad": ["7", "8"]}),
        lambda: pl.DataFrame({"x": [0.5, 1.5], "bad": ["7", "8"]}),
        lambda: pd.DataFrame({"x": [0.5, 1.5], "bad": pd.Categorical(["7", "8"])}),
        lambda: pl.DataFrame({"x": [0.5, 1.5], "bad": pl.Series(["7", "8"], dtype=pl.Categorical)}),
        lambda: pd.DataFrame({"x": [0.5, 1.5], "bad": pd.to_datetime(["2024-01-01"] * 2)}),
        lambda: pd.DataFrame({"x": [0.5, 1.5], "bad": pd.to_timedelta([1, 2])}),
        lambda: pl.DataFrame({"x": [0.5, 1.5], "bad": [dt.date(2024, 1, 1)] * 2}),
        lambda: pl.DataFrame(
            {"x": [0.5, 1.5], "bad": [dt.datetime(2024, 1, 1, tzinfo=dt.UTC)] * 2}
        ),
        lambda: pl.DataFrame({"x": [0.5, 1.5], "bad": [[1.0], [2.0]]}),
        lambda: pl.DataFrame({"x": [0.5, 1.5], "bad": [{"a": 1.0}, {"a": 2.0}]}),
        lambda: pd.DataFrame({"x": [0.5, 1.5], "bad": [1j, 2j]}),
        lambda: pd.DataFrame({"x": [0.5, 1.5], "bad": [[1.0], [2.0]]}),
    ],
)
def test_columns_that_are_no_numbers(kind: Model, make: Any) -> None:
    """A column of texts, times, lists or complex numbers: TypeError by its name.

    Where values are categories texts are among them.
    """
    table = make()
    model = kind.make()
    if kind.texts and all(isinstance(cell, str) for cell in table["bad"]):
        rows = [{"x": 0.5, "bad": "7"}, {"x": 1.5, "bad": "8"}]
        same(by_table(kind, table, ["a", "b"]), by_rows(kind, rows, "ab"))
        return
    model.learn_one({"x": 1.0}, "a")
    before = state(model)
    with pytest.raises(TypeError, match="bad"):
        model.learn_many(table, ["a", "b"])
    with pytest.raises(TypeError, match="bad"):
        model.predict_many(table)
    assert state(model) == before


@every_model
@pytest.mark.parametrize("dtype", ["complex128", "datetime64[s]", "timedelta64[s]", "U3", "S3"])
def test_arrays_that_are_no_numbers(kind: Model, dtype: str) -> None:
    """An array of another kind than numbers (or texts, that are categories) is a TypeError."""
    array = np.ones((2, 2), dtype="int64").astype(dtype)
    if kind.texts and dtype == "U3":
        same(by_table(kind, array, ["a", "b"]), by_rows(kind, [{"0": "1", "1": "1"}] * 2, "ab"))
        return
    with pytest.raises(TypeError):
        kind.make().learn_many(array, ["a", "b"])


@every_model
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("container", ["matrix", "array"])
def test_sparse(kind: Model, form: str, container: str) -> None:
    """A cell that a sparse table leaves out is 0; one that it holds is its value, NaN too."""
    dense = np.where(RNG.random((N, D)) < 0.7, 0.0, kind.array(ARRAY))
    if form == "dia":
        dense = np.nan_to_num(dense)
    table = sp.coo_matrix(dense) if container == "matrix" else sp.coo_array(dense)
    expected = by_rows(kind, dicts(dense))
    model = by_table(kind, table.asformat(form))
    same(model, expected)
    proba = model.predict_proba_many(table.asformat(form))
    assert isinstance(proba, np.ndarray)
    np.testing.assert_array_equal(proba, model.predict_proba_many(dense))


@every_model
def test_sparse_duplicates_and_order(kind: Model) -> None:
    """Unsorted indices and repeated cells (they add) are what their dense form is."""
    csr = sp.csr_matrix(
        (np.array([2.0, 1.0, 3.0, 4.0]), np.array([1, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3)
    )
    kept = csr.data.copy(), csr.indices.copy(), csr.indptr.copy()
    same(by_table(kind, csr, ["a", "b"]), by_rows(kind, dicts([[1, 2, 0], [0, 7, 0]], "012"), "ab"))
    for array, before in zip((csr.data, csr.indices, csr.indptr), kept, strict=True):
        np.testing.assert_array_equal(array, before)


@every_model
def test_names_of_columns(kind: Model) -> None:
    """pandas: names as they are, int and tuple too; numpy, sparse: "0", "1"..., or `columns`."""
    array = np.array([[1.0, 2.0], [3.0, 5.0]])
    y = ["a", "b"]
    ints = by_table(kind, pd.DataFrame(array), y)
    assert list(ints.features) == [0, 1]
    same(ints, by_rows(kind, dicts(array, [0, 1]), y))
    pairs = pd.DataFrame(array, columns=pd.MultiIndex.from_tuples([("x", 1), ("x", 2)]))
    same(by_table(kind, pairs, y), by_rows(kind, dicts(array, [("x", 1), ("x", 2)]), y))
    assert list(by_table(kind, array, y).features) == ["0", "1"]
    assert list(by_table(kind, sp.csr_matrix(array), y).features) == ["0", "1"]
    for columns in (
        ["u", "v"],
        ("u", "v"),
        np.array(["u", "v"]),
        pd.Index(["u", "v"]),
        [3, ("u", 1)],
    ):
        plain = [c.item() if isinstance(c, np.generic) else c for c in columns]
        for table in (array, sp.csr_matrix(array)):
            model = by_table(kind, table, y, columns=columns)
            same(model, by_rows(kind, dicts(array, plain), y))
            assert [type(name) for name in model.features] == [type(name) for name in plain]


@every_model
@pytest.mark.parametrize("columns", [["u"], ["u", "v", "w"], ["u", "u"], [], "uvw"])
def test_columns_of_a_wrong_number(kind: Model, columns: Any) -> None:
    """Too few or many names, or one twice: ValueError, nothing learned."""
    model = kind.make()
    with pytest.raises((ValueError, TypeError)):
        model.learn_many(np.ones((2, 2)), ["a", "b"], columns=columns)
    same(model, kind.make())


@every_model
def test_a_column_name_twice(kind: Model) -> None:
    """A pandas table with one name twice is a ValueError that shows the name."""
    with pytest.raises(ValueError, match="twin"):
        kind.make().learn_many(pd.DataFrame(np.ones((2, 2)), columns=["twin", "twin"]), ["a", "b"])


@every_model
@pytest.mark.parametrize("name", [None, 1.5, pd.Timestamp("2024-01-01"), ("a", None)])
def test_column_names_of_a_wrong_kind(kind: Model, name: Any) -> None:
    """A column name that is no feature name is a TypeError, in learning and in predicting."""
    frame = pd.DataFrame({"x": [1.0], "other": [2.0]})
    frame.columns = pd.Index(["x", name], dtype=object, tupleize_cols=False)
    model = kind.make()
    model.learn_one({"x": 1.0}, "a")
    for verb in (lambda: model.learn_many(frame, ["a"]), lambda: model.predict_many(frame)):
        with pytest.raises(TypeError):
            verb()


@every_model
def test_columns_shuffled_coming_and_going(kind: Model) -> None:
    """Batches with other columns in another order are the rows that they hold."""
    frame = pd.DataFrame(kind.array(ARRAY), columns=COLUMNS)
    one, many = kind.make(), kind.make()
    for start in range(0, N, 7):
        columns = list(RNG.permutation(COLUMNS))[: 1 + start % D]
        part, labels = frame[columns].iloc[start : start + 7], LABELS[start : start + 7]
        many.learn_many(part, labels)
        for x, y in zip(part.to_dict(orient="records"), labels, strict=True):
            one.learn_one(x, y)
    same(many, one)


Y_FORMS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "object array": lambda y: np.array(y, dtype=object),
    "Series": pd.Series,
    "Series of another index": lambda y: pd.Series(y, index=range(100, 100 - len(y), -1)),
    "Series of equal index": lambda y: pd.Series(y, index=[0] * len(y)),
    "category": lambda y: pd.Series(y, dtype="category"),
    "pandas string": lambda y: pd.Series(y, dtype="string"),
    "polars": pl.Series,
    "polars category": lambda y: pl.Series(y, dtype=pl.Categorical),
}


@every_model
@pytest.mark.parametrize("form", Y_FORMS)
def test_labels_go_by_position(kind: Model, form: str) -> None:
    """y is taken by position, whatever its type and its index; X's index means nothing either."""
    array = kind.array(ARRAY)
    frame = pd.DataFrame(array, columns=COLUMNS, index=[3] * N)
    expected = by_rows(kind, dicts(array))
    same(by_table(kind, frame, Y_FORMS[form](LABELS)), expected)
    same(by_table(kind, pl.DataFrame(array, schema=COLUMNS), Y_FORMS[form](LABELS)), expected)


@every_model
@pytest.mark.parametrize("values", [[0, 1, 1], [True, False, True], [0.5, 1.5, 0.5]])
def test_labels_that_are_no_texts(kind: Model, values: list[Any]) -> None:
    """Integers, bools and floats of each library become Python's labels."""
    table = np.array([[1.0], [2.0], [4.0]])
    expected = by_rows(kind, dicts(table, ["0"]), values)
    for form in (np.array, pd.Series, pl.Series, lambda y: pd.Series(y).convert_dtypes()):
        model = by_table(kind, table, form(values))
        same(model, expected)
        assert [type(label) for label in model.classes] == [
            type(label) for label in expected.classes
        ]
