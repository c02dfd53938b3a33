"""Two value types: the rows of a table of numbers, and the stored state of a `Moments`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import fading
from streamnb.stats.index import Label, Name, as_name, canonical_label, order_key

__all__ = ["ROWS", "MomentsState", "NumberRows"]

Floats = NDArray[np.float64]

ROWS = ("mean", "mean_lo", "squares", "squares_lo", "weight", "weight_lo")


class NumberRows(Protocol):
    """A table of numbers, as `Moments` and `Scatter` learn it."""

    @property
    def names(self) -> list[Name]:
        """Of the columns."""

    @property
    def values(self) -> Floats:
        """(n, d), C-contiguous, NaN where missing, finite else."""

    @property
    def found(self) -> int:
        """What `survey` says of the values, for SMALL_VALUE and LARGE_VALUE."""


@dataclass(frozen=True)
class MomentsState:
    """All that a `Moments` has seen, in canonical order: what bytes and comparisons are made of.

    Attributes
    ----------
    labels
        the K classes that have learned.
    names
        the D features that have weight in any of them.
    weights
        (K, (hi, lo)), the classes' weights.
    cells
        (K, 6, D): mean, sum of squared deviations, weight, each hi and lo.
    newest
        with a half-life, the time of the newest learned event in milliseconds; `None` before
        there is one. Weights and sums of squares are then those at the landmark, the last
        multiple of the half-life that is not after it.
    """

    labels: list[Label]
    names: list[Name]
    weights: Floats
    cells: Floats
    newest: int | None = None

    def packed(self) -> dict[str, Any]:
        """The state as plain data, without what follows from the rest.

        The rows of the cells are arrays (K, D) of their own; a row of zeros, and weights that are
        all their class's, are `None`.
        """
        rows = dict(zip(ROWS, self.cells.transpose(1, 0, 2), strict=True))
        packed: dict[str, Any] = {name: row if row.any() else None for name, row in rows.items()}
        if (self.cells[:, 4:] == self.weights[:, :, None]).all():
            packed["weight"] = packed["weight_lo"] = None
        if self.newest is not None:
            packed["newest"] = self.newest
        return {"labels": self.labels, "names": self.names, "weights": self.weights, **packed}

    @classmethod
    def unpacked(cls, packed: Mapping[str, Any]) -> MomentsState:
        """The state that was packed. Raises `ValueError` where it cannot have been learned."""
        labels = [canonical_label(label) for label in packed["labels"]]
        names = [as_name(name) for name in packed["names"]]
        weights = packed["weights"]
        rows = [packed[name] for name in ROWS]
        shape = (len(labels), len(names))
        known = {"labels", "names", "weights", *ROWS}
        if not known <= set(packed) <= known | {"newest"} or weights.shape != (shape[0], 2):
            msg = f"a state of {', '.join(packed)}"
            raise ValueError(msg)
        if any(row is not None and row.shape != shape for row in rows):
            msg = f"arrays of another shape than {shape}"
            raise ValueError(msg)
        cells = np.zeros((shape[0], len(ROWS), shape[1]))
        for place, row in enumerate(rows):
            if row is not None:
                cells[:, place] = row
        if packed["weight"] is None:
            cells[:, 4:] = weights[:, :, None]
        newest = fading.checked_newest(packed["newest"]) if "newest" in packed else None
        state = cls(labels, names, weights, cells, newest)
        state._check()
        return state

    def _check(self) -> None:
        """Raises `ValueError` where this could not have been learned."""
        for items, what in ((self.labels, "labels"), (self.names, "names")):
            keys = [order_key(item) for item in items]
            if any(a >= b for a, b in pairwise(keys)):
                msg = f"{what} out of order"
                raise ValueError(msg)
        if len(set(self.labels)) != len(self.labels):
            msg = "labels that are equal"
            raise ValueError(msg)
        if not (np.isfinite(self.weights).all() and np.isfinite(self.cells).all()):
            msg = "a statistic that is not finite"
            raise ValueError(msg)
        weights = self.cells[:, 4]
        if self.newest is None and (self.weights[:, 0] == 0).any():
            msg = "a class without weight"
            raise ValueError(msg)
        with np.errstate(over="ignore"):
            positive = [
                self.weights[:, 0],
                self.weights.sum(axis=1),
                weights,
                weights + self.cells[:, 5],
                self.cells[:, 2],
            ]
        if any((array < 0.0).any() for array in positive):
            msg = "a weight or a sum of squares that is negative"
            raise ValueError(msg)
        if (self.cells.transpose(0, 2, 1)[weights == 0] != 0).any():
            msg = "a statistic without weight"
            raise ValueError(msg)
        if not (weights > 0).any(axis=0).all():
            msg = "a feature without weight"
            raise ValueError(msg)
