"""How often each token was seen in each class, as a statistic.

As `streamnb.stats.moments` for moments: learn one event or the rows of a table, merge with another
shard, give the state back in canonical order. Whole weights are exact, in any order and merged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import counts, joining
from streamnb.stats.index import (
    CodedLabels,
    Label,
    LabelIndex,
    Name,
    TokenIndex,
    as_name,
    canonical_label,
    order_key,
)

__all__ = ["Counts", "CountsState", "SparseRows"]

_LARGE = 1e280

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
    """

    labels: list[Label]
    tokens: list[Name]
    weights: Floats
    sums: Floats
    sizes: NDArray[np.int32]
    owners: NDArray[np.int32]
    counts: Floats

    def packed(self) -> dict[str, Any]:
        """The state as plain data."""
        return dict(vars(self))

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
        if {*packed, "tokens"} != set(cls.__dataclass_fields__) or "tokens" in packed:
            msg = f"a state of {', '.join(packed)}"
            raise ValueError(msg)
        labels = [canonical_label(label) for label in packed["labels"]]
        arrays = {name: packed[name] for name in ("weights", "sums", "sizes", "owners", "counts")}
        state = cls(labels, tokens, **arrays)
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
        heads_are = (self.weights[:, 0] > 0).all() and (self.sums[:, 0] >= 0).all()
        _insist(heads_are and (self.counts > 0).all(), "a weight or a count that is not positive")


def _insist(holds: Any, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


class Counts:
    """The counts of one block of tokens, by class. Empty when made.

    Parameters
    ----------
    translate
        makes a mapping of tokens to counts of an event; `None` where the event is that.
    binary
        each count above the threshold is 1.
    threshold
        counts at or below it are none.
    tokens
        the index of the tokens, where it is not one of names; empty.
    """

    def __init__(
        self,
        translate: Callable[[Any], dict[Any, Any]] | None = None,
        *,
        binary: bool = False,
        threshold: float = 0.0,
        tokens: TokenIndex | None = None,
    ) -> None:
        self.classes = LabelIndex()
        self.tokens = TokenIndex() if tokens is None else tokens
        self._translate = translate
        self.binary = binary
        self.threshold = threshold
        self.summed = tokens is None
        self._numbered = np.empty(0, dtype=np.int64)
        self.table = counts.CountsTable(self.classes, self.tokens, translate, binary, threshold)

    def like(self) -> Counts:
        """An empty statistic that reads events as this one."""
        return Counts(self._translate, binary=self.binary, threshold=self.threshold)

    def with_state(self, state: CountsState) -> Counts:
        """An empty one like this that takes a state. The arrays are copied."""
        taken = self.like()
        taken.take(state)
        return taken

    def take(self, state: CountsState) -> None:
        """Takes a state, being empty. The arrays are copied."""
        self.put(state)
        heads = self.table.heads()
        heads[:, :2], heads[:, 2:4] = state.weights, state.sums

    def put(self, state: CountsState) -> Slots:
        """Adds the counts of a state, but no weights; answers the slots of its classes."""
        self.table.reserve(
            len(self.classes.order) + len(state.labels), len(self.tokens.slots) + len(state.tokens)
        )
        classes = np.array([self.classes.add(label) for label in state.labels], dtype=np.int64)
        tokens = np.array([self.tokens.add(token) for token in state.tokens], dtype=np.int64)
        self.table.put(np.repeat(tokens, state.sizes), classes[state.owners], state.counts)
        return classes

    def state(self) -> CountsState:
        """A copy of all that was seen, in canonical order."""
        tokens, owners, found = self.table.cells()
        order = self.tokens.canonical()
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[[slot for slot, _ in order]] = np.arange(len(order))
        rows = self.classes.canonical()
        class_ranks = np.empty(len(rows), dtype=np.int64)
        class_ranks[rows] = np.arange(len(rows))
        tokens, owners = ranks[tokens], class_ranks[owners]
        sequence = np.lexsort((owners, tokens))
        sizes = np.bincount(tokens, minlength=len(order))
        heads = self.table.heads()[rows]
        return CountsState(
            [self.classes.order[slot] for slot in rows],
            [name for (_, name), size in zip(order, sizes.tolist(), strict=True) if size],
            heads[:, :2].copy(),
            heads[:, 2:4].copy(),
            sizes[sizes > 0].astype(np.int32),
            owners[sequence].astype(np.int32),
            found[sequence],
        )

    def learn_rows(self, rows: SparseRows, labels: CodedLabels, weights: Floats) -> None:
        """Learns the rows of a table in their order, or, where one is refused, none of them.

        Parameters
        ----------
        rows
            the counts above the threshold (1 each where `binary`), finite.
        labels
            of the rows.
        weights
            (n,), finite and not negative.

        Raises
        ------
        ValueError
            a row would make a statistic infinite; names its position.
        """
        self.check_rows(rows, labels, weights)
        learned = weights > 0
        if not learned.any():
            return
        new = labels.distinct
        tokens = self.slots_of(rows)
        is_new = tokens < 0
        if not learned.all():
            new = labels.of_rows(learned)
            cells = rows.columns[np.repeat(learned, np.diff(rows.bounds))]
            is_new &= np.bincount(cells, minlength=len(tokens)) > 0
        unknown = np.flatnonzero(is_new)
        before = [type(label) for label in self.classes.order]
        self.table.reserve(len(before) + len(new), len(self.tokens.slots) + len(unknown))
        slots = [self.classes.add(label) for label in new]
        if before != [type(label) for label in self.classes.order]:
            self.table.changed()
        tokens[unknown] = [self.tokens.add(rows.names[column]) for column in unknown.tolist()]
        # equal labels of two kinds (1 and True) are one class
        classes = list(dict.fromkeys(slots))
        places = [classes.index(self.classes.slots[y]) if y in new else 0 for y in labels.distinct]
        self.table.learn_rows(
            rows.bounds,
            rows.columns,
            rows.values,
            tokens,
            np.array(places, dtype=np.int64)[labels.codes],
            np.array(classes, dtype=np.int64),
            weights,
        )

    def slots_of(self, rows: SparseRows) -> Slots:
        """The token slot of each column, -1 where it has none.

        Slots are never taken back, so those of columns that are only numbered are kept at hand.
        """
        numbers = rows.numbers
        if numbers is None:
            found = [self.tokens.slots.get(name, -1) for name in rows.names]
            return np.array(found, dtype=np.int64)
        if len(numbers) and numbers[-1] >= len(self._numbered):
            more = np.full(int(numbers[-1]) + 1, -1, dtype=np.int64)
            more[: len(self._numbered)] = self._numbered
            self._numbered = more
        slots = self._numbered[numbers]
        for column in np.flatnonzero(slots < 0).tolist():
            slots[column] = self.tokens.slots.get(rows.names[column], -1)
        self._numbered[numbers] = slots
        return slots

    def check_rows(self, rows: SparseRows, labels: CodedLabels, weights: Floats) -> None:
        """Raises `ValueError` for the first row that would make a sum infinite."""
        values = rows.values * self.summed
        with np.errstate(over="ignore"):
            if (values.sum() + 1.0) * max(weights.sum(), 1.0) + self._most() <= 1e300:
                return
        at = np.repeat(np.arange(len(weights)), np.diff(rows.bounds))
        sums = np.bincount(at, weights=values, minlength=len(weights))
        with np.errstate(over="ignore"):
            added = sums * weights
        totals = {label: head[[2, 0]] for label, head in self._heads()}
        for row, code in enumerate(labels.codes):
            label = labels.distinct[code]
            with np.errstate(over="ignore"):
                total = totals.get(label, np.zeros(2)) + np.array([added[row], weights[row]])
            if not np.isfinite(total).all():
                msg = f"row {row}: its counts would make statistics of class {label!r} infinite"
                raise ValueError(msg)
            totals[label] = total

    def is_bounded(self) -> bool:
        """Whether so many like this can be merged as memory holds, and no statistic is infinite."""
        return bool((self.table.heads()[:, [0, 2]] <= _LARGE).all())

    def _most(self) -> float:
        """A bound of all that is stored."""
        return float(self.table.heads()[:, [0, 2]].sum())

    def _heads(self) -> Iterable[tuple[Label, Floats]]:
        return zip(self.classes.order, self.table.heads(), strict=True)

    def merged(self, parts: Iterable[Counts]) -> Counts:
        """What one statistic like this would hold that had learned the events of all parts.

        Raises
        ------
        ValueError
            a statistic would be infinite.
        """
        whole = self.like()
        states = [part.state() for part in parts]
        places = [whole.put(state) for state in states]
        weights = np.zeros((len(whole.classes.order), 2))
        sums = np.zeros((len(whole.classes.order), 2))
        for state, classes in zip(states, places, strict=True):
            joining.join_weights(weights, classes.astype(np.intp), state.weights)
            joining.join_weights(sums, classes.astype(np.intp), state.sums)
        heads = whole.table.heads()
        for slot in np.flatnonzero(~np.isfinite(np.hstack([weights, sums])).all(axis=1)):
            label = whole.classes.order[slot]
            msg = f"merged, the counts of class {label!r} would leave the range of a double"
            raise ValueError(msg)
        heads[:, :2], heads[:, 2:4] = weights, sums
        return whole

    def without(self, label: Label) -> Counts:
        """The same without a class that has no count and no weight left."""
        state = self.state()
        gone = state.labels.index(canonical_label(label))
        owners = state.owners - (state.owners > gone).astype(np.int32)
        kept = [place for place in range(len(state.labels)) if place != gone]
        return self.with_state(
            CountsState(
                [state.labels[place] for place in kept],
                state.tokens,
                state.weights[kept],
                state.sums[kept],
                state.sizes,
                owners,
                state.counts,
            )
        )

    def weights(self) -> dict[Label, float]:
        """The weight that each class has seen, in canonical order."""
        heads, order = self.table.heads(), self.classes.order
        return {order[slot]: float(heads[slot, :2].sum()) for slot in self.classes.canonical()}

    def names(self) -> list[Name]:
        """The tokens that were seen, in canonical order."""
        seen = np.zeros(len(self.tokens.slots), dtype=bool)
        seen[self.table.cells()[0]] = True
        return [name for slot, name in self.tokens.canonical() if seen[slot]]

    def of(self, label: Label) -> dict[Name, float]:
        """The count of each token that the class has seen, in canonical order."""
        slot = self.classes.find(label)
        tokens, owners, found = self.table.cells()
        mine = owners == (-1 if slot is None else slot)
        by_token = dict(zip(tokens[mine].tolist(), found[mine].tolist(), strict=True))
        names = self.tokens.canonical()
        return {name: by_token[slot] for slot, name in names if slot in by_token}
