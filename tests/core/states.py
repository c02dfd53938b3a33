"""States of models made by operations, for the laws: by learning, batches and merges.

A shard is a list of steps; `build` runs them on a model, `rows` lists what they learned, so that
what a shard must be is known from one pass over its rows.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import strategies as st

import streamnb

from .models import Model
from .verbs import is_bag, numpy_table, pandas_table, polars_table

Row = tuple[dict[Any, Any], Any, float]
Step = tuple[str, Any]

NAMES = ["x", "z", 7, ("x", "z")]
LABELS = ["a", "b", "1", 1, True, 1.0, 2.5, False]

# Numbers that are hard for moments: far from 0 with small differences, tied, tiny beside large,
# both zeros. Squares of their differences neither overflow nor underflow, so that the laws can be
# stated with one tolerance. One draw each: the laws run hundreds of examples of dozens of rows.
_RANDOM = random.Random(1979)
POOL = [
    *(float(n) for n in range(-8, 9)),
    *(n / 7 for n in range(-8, 9)),
    *(1e9 + n * 1e-3 for n in range(-8, 9)),
    *(1e15 + n for n in range(10)),
    *(_RANDOM.choice([-1, 1]) * 10 ** _RANDOM.uniform(-9, 9) for _ in range(40)),
    *(_RANDOM.gauss(1e9, 1e-3) for _ in range(20)),
    *[0.0, -0.0, 1e12, -1e12, 0.1, 1 / 3, 1e100, -1e100, 1e-100],
]
ABSENT = object()
VALUES = st.sampled_from([*POOL, *[None, math.nan, ABSENT] * 8])
WHOLE = st.integers(1, 4).map(float)
ANY = st.sampled_from(
    [
        1.0,
        1.0,
        2.0,
        3.0,
        0.0,
        0.1,
        1 / 3,
        0.7,
        1e-9,
        1e6,
        2.5,
        *(_RANDOM.random() for _ in range(9)),
    ]
)


def event(values: Sequence[Any]) -> dict[Any, Any]:
    """An event of the first of `NAMES` with these values, but for what is absent."""
    return {n: v for n, v in zip(NAMES, values, strict=False) if v is not ABSENT}


EVENTS = st.tuples(*[VALUES] * len(NAMES)).map(event)
FEW_LABELS = ["a", "b", 1]
FEW_NAMES = NAMES[:2]
FEW_EVENTS = st.tuples(*[VALUES] * len(FEW_NAMES)).map(event)
# Two kinds of rows: of all labels and features, and of few, so that rows and shards meet.
WIDE = (EVENTS, LABELS, 0)
DENSE = (FEW_EVENTS, FEW_LABELS, 1)
Rows = tuple[st.SearchStrategy[Any], list[Any], int]


def _row_lists(
    weights: st.SearchStrategy[float], size: int, rows: Rows
) -> st.SearchStrategy[list[Row]]:
    events, labels, least = rows
    row = st.tuples(events, st.sampled_from(labels), weights)
    return st.lists(row, min_size=least, max_size=size)


def _shards(weights: st.SearchStrategy[float], rows: Rows) -> st.SearchStrategy[list[Step]]:
    batches = _row_lists(weights, 5, rows)

    def steps(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Step]]:
        step = st.one_of(
            st.tuples(st.just("one"), batches),
            st.tuples(st.sampled_from(["numpy", "numpy", "pandas"]), batches),
            st.tuples(st.just("merge"), inner),
        )
        return st.lists(step, min_size=1, max_size=3)

    plain = st.lists(st.tuples(st.just("one"), batches), min_size=1, max_size=1)
    return st.recursive(plain, steps, max_leaves=3)


def row_lists(weights: st.SearchStrategy[float], size: int = 5) -> st.SearchStrategy[list[Row]]:
    """Lists of rows, of one kind or the other; those of few labels are not empty."""
    return _row_lists(weights, size, WIDE) | _row_lists(weights, size, DENSE)


def shards(weights: st.SearchStrategy[float]) -> st.SearchStrategy[list[Step]]:
    """A shard: one to three steps, each single rows, a batch, or the merge of another shard."""
    return _shards(weights, WIDE) | _shards(weights, DENSE)


def parts(weights: st.SearchStrategy[float]) -> st.SearchStrategy[list[list[Step]]]:
    """Two to four shards of one kind of rows."""
    return st.one_of(
        *(st.lists(_shards(weights, rows), min_size=2, max_size=4) for rows in (DENSE, WIDE))
    )


def rows_of(kind: Model, steps: Sequence[Step]) -> list[Row]:
    """The rows that a shard learned, in order."""
    found: list[Row] = []
    for verb, what in steps:
        found += rows_of(kind, what) if verb == "merge" else kind.rows(what)
    return found


def learn(model: Any, rows: Sequence[Row]) -> Any:
    """Learn rows one by one."""
    for x, y, w in rows:
        model.learn_one(x, y, w)
    return model


def learn_batch(model: Any, rows: Sequence[Row], library: str) -> Any:
    """Learn rows as one table of a library."""
    xs = [x for x, _, _ in rows]
    return learn_table(model, xs, [y for _, y, _ in rows], [w for _, _, w in rows], library=library)


def learn_table(
    model: Any,
    xs: list[dict[Any, Any]],
    labels: list[Any],
    weights: list[float],
    *,
    library: str,
    times: list[float] | None = None,
) -> Any:
    """Learn events as one table of a library."""
    table = {"pandas": pandas_table, "polars": polars_table, "numpy": numpy_table}[library]
    if is_bag(model):  # an absent token is a count of 0
        found = list(dict.fromkeys(name for x in xs for name in x))
        xs = [{name: x.get(name, 0.0) for name in found} for x in xs]
    if library == "numpy":
        model.learn_many(
            table(xs), labels, weights, times, columns=list(dict.fromkeys(n for x in xs for n in x))
        )
    else:
        model.learn_many(table(xs), labels, weights, times)
    return model


def build(kind: Model, steps: Sequence[Step]) -> Any:
    """Make a model by the steps of a shard."""
    model = kind.make()
    for verb, what in steps:
        if verb == "one":
            learn(model, kind.rows(what))
        elif verb == "merge":
            model = streamnb.merge([model, build(kind, what)])
        else:
            learn_batch(model, kind.rows(what), verb)
    return model


def close(a: Any, b: Any, tolerance: float = 1e-14) -> None:
    """Assert that two models hold the same: counts exactly, moments to a relative tolerance.

    A mean is compared on the scale of the numbers it is of (of its own size and their spread):
    the mean of 1, -1 and 1e-20 cannot be had to 1e-14 of itself.
    """
    assert list(a.classes) == list(b.classes)
    assert [type(label) for label in a.classes] == [type(label) for label in b.classes]
    assert list(a.features) == list(b.features)
    assert a.class_weight == b.class_weight
    close_moments(a, b, tolerance)


def close_counts(a: dict[Any, Any], b: dict[Any, Any], tolerance: float) -> None:
    """Assert that counts, or counts by feature, agree, and are in one order."""
    assert list(map(repr, a)) == list(map(repr, b))
    for name, count in a.items():
        if isinstance(count, dict):
            close_counts(count, b[name], tolerance)
        else:
            assert count == pytest.approx(b[name], rel=tolerance, abs=0)


def close_moments(a: Any, b: Any, tolerance: float) -> None:
    """Assert that the means and variances, or the counts, of two models agree."""
    for label in a.class_weight:
        if hasattr(a, "counts"):
            close_counts(a.counts(label), b.counts(label), tolerance)
        if not hasattr(a, "means"):
            continue
        means, others = a.means(label), b.means(label)
        variances, spread = a.variances(label), b.variances(label)
        assert list(means) == list(others)
        for name, mean in means.items():
            v, u = variances[name], spread[name]
            assert abs(v - u) <= tolerance * max(v, u), (label, name, v, u)
            scale = max(abs(mean), abs(others[name]), math.sqrt(max(v, u)))
            assert abs(mean - others[name]) <= tolerance * scale, (label, name, mean)
