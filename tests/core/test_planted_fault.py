"""A fault planted in the merge makes the laws fail: they can tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from streamnb import GaussianNB
from streamnb._kernels import joining

from .models import MOMENTS, Model, name_of
from .test_cases import learned
from .test_laws import (
    check_merge_is_one_pass,
    check_merge_is_the_definition,
    whole_shards,
)

SQUARES = slice(2, 4)  # the rows of a class's cells that hold its sum of squares, hi and lo


@pytest.fixture
def without_difference_of_means(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Drops d^2 W_a W_b / W from the merge of two sums of squares; counts how often."""
    join, planted = joining.join_cells, [0]

    def faulty(cells: Any, classes: Any, features: Any, other: Any) -> None:
        squares = cells[:, SQUARES].copy()
        join(cells, classes, features, other)
        squares[np.ix_(classes, [0, 1], features)] += other[:, SQUARES]
        cells[:, SQUARES] = squares
        planted[0] += 1

    monkeypatch.setattr(joining, "join_cells", faulty)
    return planted


@pytest.mark.usefixtures("without_difference_of_means")
@pytest.mark.parametrize("kind", MOMENTS, ids=name_of)
@pytest.mark.parametrize("check", [check_merge_is_one_pass, check_merge_is_the_definition])
def test_the_laws_tell(kind: Model, check: Callable[..., None]) -> None:
    """The examples of the laws, as many as there, find the fault."""

    @settings(
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(whole_shards)
    def law(parts: Any) -> None:
        check(kind, parts)

    with pytest.raises(AssertionError):
        law()


def test_the_fault_is_the_one_meant(without_difference_of_means: list[int]) -> None:
    """{1,2,3} + {11,12,13} then has the variance 2/3 of the shards; the means still merge."""
    one, other = ({"a": [1.0, 2, 3]}, {"a": [11.0, 12, 13]})
    model = learned(GaussianNB, one) + learned(GaussianNB, other)
    assert without_difference_of_means[0] > 0
    assert model.means("a") == {"x": 7.0}
    assert model.variances("a")["x"] == pytest.approx(2 / 3, rel=1e-15, abs=0)
