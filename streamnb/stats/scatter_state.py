"""All that a group of classes has seen of how features vary together, as its bytes have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import scatter

__all__ = ["GroupState"]

Floats = NDArray[np.float64]
_PARTS = ("known", "weights", "means", "square", "rows", "factors", "pairs", "products")


@dataclass(frozen=True)
class GroupState:
    """All that a group has seen, its classes and features in canonical order.

    Attributes
    ----------
    known
        (D,), 1 for the features that the group has seen.
    weights, means
        (K, (hi, lo)) and (K, (hi, lo), D), of complete events: those with all known features.
    square
        (D, D), their scatter, symmetric, but for the last events:
    rows, factors
        (n, D) and (n,), the last complete events: their deviations and the factors of these.
    pairs, products
        (K, (weight, mean, mean lo), D, D) and ((hi, lo), D, D) of incomplete events, `None`
        where there are none.
    """

    known: Floats
    weights: Floats
    means: Floats
    square: Floats
    rows: Floats
    factors: Floats
    pairs: Floats | None
    products: Floats | None

    def packed(self) -> dict[str, Any]:
        """The state as plain data: of the scatter what stands on and above the diagonal."""
        packed = {name: getattr(self, name) for name in _PARTS}
        packed["known"] = None if self.known.all() else self.known
        packed["square"] = self.square[np.triu_indices(len(self.known))]
        return {
            name: None if array is None or not array.size else array
            for name, array in packed.items()
        }

    @classmethod
    def unpacked(cls, packed: Mapping[str, Any], classes: int, features: int) -> GroupState:
        """The state that was packed. Raises `ValueError` where it cannot have been learned."""
        if set(packed) != set(_PARTS):
            msg = f"a scatter of {', '.join(packed)}"
            raise ValueError(msg)
        k, d = classes, features
        waiting = 0 if packed["factors"] is None else len(packed["factors"])
        shapes = {
            "known": (d,),
            "weights": (k, 2),
            "means": (k, 2, d),
            "square": (d * (d + 1) // 2,),
            "rows": (waiting, d),
            "factors": (waiting,),
            "pairs": (k, 3, d, d),
            "products": (2, d, d),
        }
        arrays: dict[str, Any] = dict(packed)
        for name, shape in shapes.items():
            if arrays[name] is None and name == "known":
                arrays[name] = np.ones(shape)
            elif arrays[name] is None and 0 in shape and name not in ("pairs", "products"):
                arrays[name] = np.zeros(shape)
            elif arrays[name] is None and name in ("pairs", "products"):
                continue
            elif arrays[name] is None or arrays[name].shape != shape:
                msg = f"{name} of another shape than {shape}"
                raise ValueError(msg)
            elif not np.isfinite(arrays[name]).all():
                msg = f"{name} that are not finite"
                raise ValueError(msg)
        square = np.zeros((d, d))
        square[np.triu_indices(d)] = arrays["square"]
        square = square + np.triu(square, 1).T
        state = cls(**(arrays | {"square": square}))
        state._check()
        return state

    def _check(self) -> None:
        """Raises `ValueError` where this could not have been learned."""
        if not np.isin(self.known, (0.0, 1.0)).all():
            msg = "features that are neither known nor unknown"
            raise ValueError(msg)
        if len(self.factors) >= scatter.block_size(int(self.known.sum())):
            msg = "a block with more rows than it has room for"
            raise ValueError(msg)
        if (self.pairs is None) != (self.products is None):
            msg = "pairs without products"
            raise ValueError(msg)
        positive = [
            self.weights[:, 0],
            self.weights.sum(axis=1),
            self.factors,
            self.square.diagonal(),
        ]
        if self.pairs is not None and self.products is not None:
            positive += [self.pairs[:, 0], self.products[0].diagonal()]
            if (self.pairs[:, 0] != self.pairs[:, 0].transpose(0, 2, 1)).any():
                msg = "pairs whose weights differ"
                raise ValueError(msg)
        if any((array < 0.0).any() for array in positive):
            msg = "a weight or a sum of squares that is negative"
            raise ValueError(msg)
