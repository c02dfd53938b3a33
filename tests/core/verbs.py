"""One event, given by each of the verbs and in each of the tables that take events.

A test that is parametrized over `LEARN` and `PREDICT` says that what an input means does not
depend on how it comes in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import streamnb

Event = Mapping[Any, Any]


def state(model: Any) -> bytes:
    """All that a model has learned, as bytes."""
    return streamnb.dumps(model)


def numbers(model: Any, label: Any) -> dict[Any, tuple[float, ...]]:
    """What a model has learned of a class, by feature."""
    if isinstance(model, streamnb.LDA):  # the variances are of all classes
        return {name: (mean,) for name, mean in model.means(label).items()}
    if is_bag(model):
        return {name: (count,) for name, count in model.counts(label).items()}
    found: dict[Any, tuple[Any, ...]] = {}
    if hasattr(model, "means"):
        variances = model.variances(label)
        found = {name: (mean, variances[name]) for name, mean in model.means(label).items()}
    for name, values in model.counts(label).items() if hasattr(model, "counts") else ():
        found[name] = found.get(name, ()) + tuple(each for item in values.items() for each in item)
    return {name: found[name] for name in model.features if name in found}


def is_bag(model: Any) -> bool:
    """Whether a model counts tokens: its features are these, and their values counts."""
    inner = model.model if isinstance(model, streamnb.Windowed) else model
    return isinstance(inner, streamnb.MultinomialNB | streamnb.BernoulliNB | streamnb.ComplementNB)


def same(a: Any, b: Any) -> None:
    """Assert that two models are one: their bytes, and so `==`."""
    assert state(a) == state(b)
    assert a == b
    assert not a.__ne__(b)


def names(rows: Sequence[Event]) -> list[Any]:
    """The features of rows, in the order in which they come."""
    return list(dict.fromkeys(name for x in rows for name in x))


def pandas_table(rows: Sequence[Event]) -> pd.DataFrame:
    """A pandas table of rows; what a row lacks is NaN, or None among objects."""
    columns = names(rows)
    cells = []
    for name in columns:
        values = [x.get(name) for x in rows]
        floats = {type(value) for value in values} <= {float, type(None)}
        cells.append(np.array(values, dtype=float) if floats else pd.Series(values, dtype=object))
    table = pd.DataFrame(dict(enumerate(cells)), index=range(len(rows)))
    table.columns = pd.Index(columns, dtype=object, tupleize_cols=False)
    return table


def polars_table(rows: Sequence[Event]) -> pl.DataFrame:
    """A polars table of rows; what a row lacks is null, and what has no type is an object."""
    series = []
    for name in names(rows):
        values = [x.get(name) for x in rows]
        kinds = {type(value) for value in values} - {type(None)}
        try:
            if bool in kinds and len(kinds) > 1:  # polars would make numbers of the bools
                raise TypeError  # noqa: TRY301 - as it does of other kinds that do not go together
            series.append(pl.Series(name, values, strict=True))
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            series.append(pl.Series(name, values, dtype=pl.Object))
    return pl.DataFrame(series) if series else pl.DataFrame(height=len(rows))


def numpy_table(rows: Sequence[Event]) -> np.ndarray:
    """An array of rows in the order of `names`; of objects where they are not all floats."""
    columns = names(rows)
    array = np.empty((len(rows), len(columns)), dtype=object)
    for i, x in enumerate(rows):
        for j, name in enumerate(columns):
            array[i, j] = x.get(name)
    if all(value is None or type(value) is float for value in array.flat):
        return array.astype(float)
    return array


def learn_one(model: Any, x: Event, y: Any, **more: Any) -> None:
    """Learn one event by `learn_one`."""
    model.learn_one(x, y, **more)


def learn_pandas(model: Any, x: Event, y: Any, **more: Any) -> None:
    """Learn one event as a pandas table of one row."""
    model.learn_many(pandas_table([x]), [y], **{name: [value] for name, value in more.items()})


def learn_polars(model: Any, x: Event, y: Any, **more: Any) -> None:
    """Learn one event as a polars table of one row."""
    model.learn_many(polars_table([x]), [y], **{name: [value] for name, value in more.items()})


def learn_numpy(model: Any, x: Event, y: Any, **more: Any) -> None:
    """Learn one event as an array of one row."""
    more = {name: [value] for name, value in more.items()}
    model.learn_many(numpy_table([x]), [y], columns=names([x]), **more)


LEARN: dict[str, Callable[..., None]] = {
    "learn_one": learn_one,
    "pandas": learn_pandas,
    "polars": learn_polars,
    "numpy": learn_numpy,
}


def proba_one(model: Any, x: Event) -> dict[Any, float]:
    """What `predict_proba_one` answers, after `predict_one` agreed with it."""
    proba = model.predict_proba_one(x)
    label = model.predict_one(x)
    assert (label is None) == (not proba)
    assert not proba or proba[label] == max(proba.values())
    return proba


def proba_pandas(model: Any, x: Event) -> dict[Any, float]:
    """What `predict_proba_many` answers for a pandas table of one row."""
    table = pandas_table([x])
    proba = model.predict_proba_many(table)
    agree(model.predict_many(table).tolist(), proba.iloc[0].to_dict())
    return proba.iloc[0].to_dict()


def proba_polars(model: Any, x: Event) -> dict[Any, float]:
    """What `predict_proba_many` answers for a polars table of one row (labels that are texts)."""
    table = polars_table([x])
    proba = model.predict_proba_many(table)
    answer = proba.row(0, named=True) if proba.width else {}
    agree(model.predict_many(table).to_list(), answer)
    return answer


def proba_numpy(model: Any, x: Event) -> dict[Any, float]:
    """What `predict_proba_many` answers for an array of one row."""
    table, columns = numpy_table([x]), names([x])
    proba = model.predict_proba_many(table, columns=columns)
    answer = dict(zip(model.classes, proba[0].tolist(), strict=True))
    agree(model.predict_many(table, columns=columns).tolist(), answer)
    return answer


def agree(labels: list[Any], proba: Mapping[Any, float]) -> None:
    """Assert that one row's label is (one of) the most probable."""
    (label,) = labels
    assert (label is None) == (not proba)
    assert not proba or proba[label] == max(proba.values())


PREDICT: dict[str, Callable[..., dict[Any, float]]] = {
    "predict_one": proba_one,
    "pandas": proba_pandas,
    "polars": proba_polars,
    "numpy": proba_numpy,
}
