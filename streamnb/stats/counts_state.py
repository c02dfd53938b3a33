"""Counts of tokens as they come, in rows, and as they are kept, in canonical order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import fading
from streamnb.stats.index import Label, Name, as_name, canonical_label, order_key

__all__ = ["CountsState", "SparseRows"]

Floats = NDArray[np.float64]
Slots = NDArray[np.int64]


@dataclass(frozen=True)
class SparseRows:
    """The cells of a table that are counts: those above 0, or above a threshold.

    Attributes
    ----------
    bounds
        (n + 1,) int64: row r has the cells bounds[r] to bounds[r + 1].
    columns
        (m,) int64, the column of each cell.
    values
        (m,) float64, the counts.
    names
        of the columns that have cells.
    numbers
        where these names are "0", "1", ...: the numbers, int64; else `None`.
    """

    bounds: Slots
    columns: Slots
    values: Floats
    names: Sequence[Name]
    numbers: Slots | None = None


@dataclass(frozen=True)
class CountsState:
    """All that a `Counts` has seen, in canonical order: what bytes and comparisons are made of.

    Attributes
    ----------
    labels
        the K classes that have learned.
    tokens
        the V tokens that have a count in any of them.
    weights
        (K, (hi, lo)), the classes' weights.
    sums
        (K, (hi, lo)), the sums of the classes' counts; 0 where tokens own others.
    sizes
        (V,) int, in how many classes each token was seen.
    owners
        (m,) int, these classes' places in `labels`, in order for each token.
    counts
        (m,), the counts.
    newest
        with a half-life, the time of the newest learned event in milliseconds; `None` before
        there is one. Weights, sums and counts are then those at the landmark, the last multiple of
        the half-life that is not after it.
    """

    labels: list[Label]
    tokens: list[Name]
    weights: Floats
    sums: Floats
    sizes: NDArray[np.int32]
    owners: NDArray[np.int32]
    counts: Floats
    newest: int | None = None

    def packed(self) -> dict[str, Any]:
        """The state as plain data."""
        packed = dict(vars(self))
        if self.newest is None:
            del packed["newest"]
        return packed

    @classmethod
    def unpacked(cls, packed: Mapping[str, Any]) -> CountsState:
        """The state that was packed. Raises `ValueError` where it cannot have been learned."""
        rest = dict(packed)
        state = cls.of_tokens([as_name(token) for token in rest.pop("tokens")], rest)
        k = len(state.labels)
        found = np.bincount(state.owners, weights=state.counts, minlength=k)
        _insist(np.allclose(found, state.sums[:, 0], rtol=1e-6, atol=0.0), "sums that are none")
        return state

    @classmethod
    def of_tokens(cls, tokens: list[Any], packed: Mapping[str, Any]) -> CountsState:
        """The state of these tokens that was packed with others in their place."""
        rest = {key: value for key, value in packed.items() if key != "newest"}
        if {*rest, "tokens", "newest"} != set(cls.__dataclass_fields__) or "tokens" in rest:
            msg = f"a state of {', '.join(packed)}"
            raise ValueError(msg)
        labels = [canonical_label(label) for label in rest.pop("labels")]
        newest = fading.checked_newest(packed["newest"]) if "newest" in packed else None
        state = cls(labels, tokens, **rest, newest=newest)
        state._check()
        return state

    def _check(self) -> None:
        """Raises `ValueError` where this could not have been learned."""
        k, v, m = len(self.labels), len(self.tokens), len(self.owners)
        shapes = ((self.weights, (k, 2)), (self.sums, (k, 2)), (self.sizes, (v,)))
        for array, shape in (*shapes, (self.counts, (m,)), (self.owners, (m,))):
            _insist(array.shape == shape, f"an array of the shape {array.shape}, not {shape}")
        for items, what in ((self.labels, "labels"), (self.tokens, "tokens")):
            keys = [order_key(item) for item in items]
            _insist(all(a < b for a, b in pairwise(keys)), f"{what} out of order")
        _insist(len(set(self.labels)) == k, "labels that are equal")
        numbers = int(self.sizes.sum(dtype=np.int64))
        _insist((self.sizes > 0).all() and numbers == m, "tokens without counts, or without tokens")
        _insist(not m or (self.owners.min() >= 0 and self.owners.max() < k), "a count of no class")
        tokens = np.repeat(np.arange(v), self.sizes)
        same = tokens[1:] == tokens[:-1]
        in_order = ~same | (self.owners[1:] > self.owners[:-1])
        _insist(in_order.all(), "classes of a token out of order")
        for array in (self.weights, self.sums, self.counts):
            _insist(np.isfinite(array).all(), "a statistic that is not finite")
        faded = self.weights[:, 0] == 0
        heads_are = (self.weights[:, 0] >= 0).all() and (self.sums[:, 0] >= 0).all()
        _insist(heads_are and (self.counts > 0).all(), "a weight or a count that is not positive")
        _insist(self.newest is not None or not faded.any(), "a class without weight")
        _insist(not (self.weights[faded] != 0).any(), "a part of a weight that is none")
        _insist(not (m and faded[self.owners].any()), "a count of a class without weight")

    def at_most(self) -> float:
        """The largest number that is stored."""
        arrays = self.weights, self.sums, self.counts
        return max(float(array.max(initial=0.0)) for array in arrays)


def _insist(holds: Any, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
