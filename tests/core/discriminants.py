"""What the tests of LDA and QDA share: rows, and what a model of them has to hold."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import pytest

from streamnb import LDA, QDA

from .exact import Row
from .exact_discriminant import ExactDiscriminant

MAKES = {"LDA": LDA, "QDA": QDA}
every_make = pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
NAMES = ["x", "z", 7, ("x", "z")]


def definition(make: Any, rows: list[Row], **readings: Any) -> ExactDiscriminant:
    """What a model has to answer after these rows."""
    return ExactDiscriminant(rows, shared=make is LDA, **readings)


def some_rows(rng: random.Random, n: int, gaps: float = 0.0) -> list[Row]:
    """Rows of correlated numbers, some of them missing, with weights."""
    rows = []
    for _ in range(n):
        label = rng.choice("abc")
        common = rng.gauss(ord(label) - 97, 1.0)
        x = {
            name: rng.choice([common, rng.gauss(common, 0.5), float(rng.randint(-3, 3))])
            for name in NAMES
        }
        x = {name: value for name, value in x.items() if rng.random() >= gaps}
        rows.append((x, label, rng.choice([1.0, 1.0, 2.0, 0.5, 1 / 3])))
    return rows


def check_estimates(
    model: Any, exact: ExactDiscriminant, tolerance: float = 1e-13, before: Any = None
) -> None:
    """Assert class weights, means, variances and covariances, on the scale of the spread.

    Where events were taken back it is that of all that were there `before`.
    """
    names = exact.names
    assert model.features == names
    whole = (before or exact)._total
    total = [math.sqrt(whole[name].variance) + bool(before) for name in names]
    for label in exact.classes:
        weight = float(sum(Fraction(w) for _, y, w in exact.rows if y == label))
        assert model.class_weight[label] == pytest.approx(weight, rel=1e-15, abs=0)
        for name, mean in model.means(label).items():
            own = exact.moments(name, label)
            assert own is not None
            scale = max(abs(float(own.mean)), total[names.index(name)])
            assert abs(mean - float(own.mean)) <= tolerance * scale
        matrix = exact.raw(None if exact.shared else label)
        size = total if before else [math.sqrt(matrix[i][i]) for i in range(len(names))]
        found = model.covariance(label)
        assert (found == found.T).all()
        for i, j in itertools.product(range(len(names)), repeat=2):
            assert abs(found[i, j] - float(matrix[i][j])) <= tolerance * (
                size[i] * size[j] or total[i] * total[j]
            )
        seen = {name for name in names if exact.shared or exact.moments(name, label)}
        variances = model.variances(label)
        assert list(variances) == [name for name in names if name in seen]
        for i, name in enumerate(names):
            if name in seen:
                assert abs(variances[name] - found[i, i]) <= tolerance * size[i] ** 2
