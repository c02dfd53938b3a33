"""LDA and QDA of given distributions, as a textbook has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import discriminant
from streamnb.models.discriminants import DiscriminantAnalysis
from streamnb.models.given import given_moments
from streamnb.parameters import own
from streamnb.stats.index import (
    Label,
    Name,
    canonical_label,
    canonical_name,
)
from streamnb.stats.scatter_state import GroupState
from streamnb.values import number

__all__ = ["given_covariances"]

Floats = NDArray[np.float64]

Model = TypeVar("Model", bound=DiscriminantAnalysis)

_WEIGHT = 2.0**20  # of each given class: enough for a covariance, and exact as a factor


def given_covariances(
    kind: Callable[..., Model],
    means: Mapping[Label, Mapping[Name, float]],
    covariances: Mapping[Label, Any],
    prior: str | Mapping[Label, float] | None,
) -> Model:
    """The model of these distributions: as if each class had learned a million events."""
    state = given_moments(means, prior)
    if not isinstance(covariances, Mapping) or covariances.keys() != means.keys():
        msg = "covariances are given for the labels of the means"
        raise ValueError(msg)
    order = [canonical_name(name) for name in next(iter(means.values()))]
    by_label = {canonical_label(label): label for label in means}
    matrices = [_matrix(covariances[by_label[label]], order, state.names) for label in state.labels]
    d, k = len(state.names), len(state.labels)
    state.weights[:, 0] = _WEIGHT
    state.cells[:, 4] = _WEIGHT
    model = kind(prior="uniform" if prior is None else prior, known_labels=list(means))
    centres = state.cells[:, :2]
    groups = []
    for at, matrix in enumerate(matrices):
        state.cells[at, 2] = _WEIGHT * matrix.diagonal()
        if model.apart or at == 0:
            rows = slice(at, at + 1) if model.apart else slice(None)
            weight = _WEIGHT * (1 if model.apart else k)
            groups.append(
                GroupState(
                    np.ones(d),
                    state.weights[rows],
                    centres[rows],
                    weight * matrix,
                    np.zeros((0, d)),
                    np.zeros(0),
                    None,
                    None,
                )
            )
    model.set_state(state.packed() | {"groups": [group.packed() for group in groups]})
    return model


def _matrix(given: Any, order: Sequence[Name], names: Sequence[Name]) -> Floats:
    """A covariance in the order of the names. Raises where it cannot be one."""
    if isinstance(given, Mapping):
        by_name = {canonical_name(name): row for name, row in given.items()}
        if set(by_name) != set(names) or not all(
            isinstance(row, Mapping) and row.keys() == set(names) for row in by_name.values()
        ):
            msg = "a covariance is given for the features of the means"
            raise ValueError(msg)
        matrix = np.array([[number(by_name[a][b], b) for b in names] for a in names])
    else:
        matrix = np.array(own(given), dtype=np.float64)
        if matrix.shape != (len(names), len(names)):
            msg = f"a covariance of {len(names)} features, not of the shape {matrix.shape}"
            raise ValueError(msg)
        at = [order.index(name) for name in names]
        matrix = matrix[np.ix_(at, at)]
    if not (np.isfinite(matrix).all() and (matrix == matrix.T).all()):
        msg = "a covariance is finite and symmetric"
        raise ValueError(msg)
    if not discriminant.Factor(len(names)).factorize(matrix):
        msg = "a covariance is positive definite"
        raise ValueError(msg)
    return matrix
