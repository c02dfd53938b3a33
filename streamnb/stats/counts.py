"""How often each token was seen in each class, as a statistic.

Whole weights are exact, in any order and merged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import counts, fading, joining
from streamnb.stats.counts_state import CountsState, SparseRows
from streamnb.stats.index import (
    CodedLabels,
    Label,
    LabelIndex,
    Name,
    TokenIndex,
    canonical_label,
)

__all__ = ["Counts"]

_LARGE = 1e280

Floats = NDArray[np.float64]
Slots = NDArray[np.int64]


class Counts:
    """The counts of one block of tokens, by class: a `Statistic`. Empty when made.

    What has faded below 2**-900 is nothing: a count,
    so that a token without one in any class is as if it had never been seen; and the weight of a
    class, which stays, but has no counts then.

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
    half_life
        in milliseconds; `None` where nothing fades.
    """

    def __init__(
        self,
        translate: Callable[[Any], dict[Any, Any]] | None = None,
        *,
        binary: bool = False,
        threshold: float = 0.0,
        tokens: TokenIndex | None = None,
        half_life: int | None = None,
    ) -> None:
        self.classes = LabelIndex()
        self.tokens = TokenIndex() if tokens is None else tokens
        self._translate = translate
        self.binary = binary
        self.threshold = threshold
        self.summed = tokens is None
        self._numbered = np.empty(0, dtype=np.int64)
        self.half_life = half_life
        self.fading = None if half_life is None else fading.Fading(half_life)
        self.table = counts.CountsTable(
            self.classes, self.tokens, translate, binary, threshold, self.fading
        )

    def like(self) -> Counts:
        """An empty statistic that sees events as this one does."""
        return Counts(
            self._translate,
            binary=self.binary,
            threshold=self.threshold,
            half_life=self.half_life,
        )

    def with_state(self, state: CountsState) -> Counts:
        """An empty one like this that takes a state. The arrays are copied.

        Raises `ValueError` where the state has a time and this no half-life, or it has learned
        without a time.
        """
        taken = self.like()
        taken.take(state)
        return taken

    def take(self, state: CountsState) -> None:
        """Takes a state, being empty. The arrays are copied; raises as `with_state`."""
        if (state.newest is not None) != bool(self.fading is not None and state.labels):
            msg = f"a state with the newest time {state.newest} and the half-life {self.half_life}"
            raise ValueError(msg)
        if self.fading is not None and state.newest is not None:
            self.fading.move(state.newest)
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
            None if self.fading is None else self.fading.newest,
        )

    def packed(self) -> dict[str, Any]:
        """All that was seen, in canonical order, as plain data and arrays."""
        return self.state().packed()

    def restored(self, packed: Mapping[str, Any]) -> Counts:
        """A statistic like this that has seen what `packed` gave: see `Statistic.restored`."""
        return self.with_state(CountsState.unpacked(packed))

    def learn_rows(
        self,
        rows: SparseRows,
        labels: CodedLabels,
        weights: Floats,
        times: Sequence[int] | None = None,
    ) -> None:
        """Learns the rows of a table: see `Statistic.learn_rows`.

        The counts are those above the threshold (1 each where `binary`), finite.
        """
        at = self.check_rows(rows, labels, weights, times)
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
        codes = np.array(places, dtype=np.int64)[labels.codes]
        for start, stop, shift, counted in self._pieces(weights, at):
            if shift:
                self.table.fade(shift, fading.FADED)
            self.table.learn_rows(
                rows.bounds[start : stop + 1],
                rows.columns,
                rows.values,
                tokens,
                codes[start:stop],
                np.array(classes, dtype=np.int64),
                counted[start:stop],
            )
        if self.fading is not None and at is not None:
            self.fading.move(int(at[learned].max()))

    def _pieces(self, weights: Floats, times: Slots | None) -> list[tuple[int, int, int, Floats]]:
        """Rows from one move of the landmark to the next, as `Fading.pieces`; all where none is."""
        pieces: list[tuple[int, int, int, Floats]] = [(0, len(weights), 0, weights)]
        if self.fading is not None:
            pieces = self.fading.pieces(times, weights)
        return pieces

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

    def check_rows(
        self,
        rows: SparseRows,
        labels: CodedLabels,
        weights: Floats,
        times: Sequence[int] | None = None,
    ) -> Slots | None:
        """Raises what `learn_rows` would, and changes nothing; the times, where they count."""
        at: Slots | None = None if self.fading is None else self.fading.times(times, len(weights))
        values = rows.values * self.summed
        with np.errstate(over="ignore"):
            # at its time a weight counts less than twice
            if (values.sum() + 1.0) * max(2.0 * weights.sum(), 1.0) + self._most() <= 1e300:
                return at
        places = np.repeat(np.arange(len(weights)), np.diff(rows.bounds))
        sums = np.bincount(places, weights=values, minlength=len(weights))
        totals = {label: head[[2, 0]] for label, head in self._heads()}
        for start, stop, shift, counted in self._pieces(weights, at):
            totals = {label: np.ldexp(total, -shift) for label, total in totals.items()}
            for row in range(start, stop):
                label = labels.distinct[labels.codes[row]]
                with np.errstate(over="ignore"):
                    added = np.array([sums[row] * counted[row], counted[row]])
                    total = totals.get(label, np.zeros(2)) + added
                if not np.isfinite(total).all():
                    msg = f"row {row}: its counts would make statistics of class {label!r} infinite"
                    raise ValueError(msg)
                totals[label] = total
        return at

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

        See `Statistic.merged`.
        """
        whole = self.like()
        states = whole.in_time(parts)
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

    def in_time(self, parts: Iterable[Counts]) -> list[CountsState]:
        """The states of parts at the latest of their landmarks, which becomes that of this one."""
        states = [part.state() for part in parts]
        for state in states:
            if self.fading is not None and state.newest is not None:
                self.fading.move(state.newest)
        return [self._at_landmark(state) for state in states]

    def _at_landmark(self, state: CountsState) -> CountsState:
        """A state whose landmark is not after ours, brought to ours."""
        if self.fading is None or state.newest is None:
            return state
        shift = self.fading.landmark - state.newest // self.fading.half_life
        return self._shifted(state, shift) if shift else state

    def _shifted(self, state: CountsState, shift: int) -> CountsState:
        """A state whose weights are multiplied by 2**-shift; what is below 2**-900 is nothing."""
        taken = self.with_state(state)
        taken.table.fade(shift, fading.FADED)
        return taken.state()

    def scale(self, exponent: int) -> Counts:
        """A copy whose weights and counts are multiplied by 2**exponent: see `Statistic.scale`."""
        state = self.state()
        if state.at_most() > 0.0 and math.frexp(state.at_most())[1] + exponent > 1024:
            msg = f"scaled by 2**{exponent}, a statistic would leave the range of a double"
            raise ValueError(msg)
        scaled = self.with_state(self._shifted(state, -exponent))
        gone = [] if self.fading else [y for y, w in scaled.weights().items() if w == 0.0]
        for label in gone:
            scaled = scaled.without(label)
        return scaled

    def without(self, label: Label | None) -> Counts:
        """A copy without the class of that label. Without any it is empty, and knows no time."""
        state = self.state()
        if label is None:
            return self.with_state(state)
        gone = state.labels.index(canonical_label(label))
        kept = [place for place in range(len(state.labels)) if place != gone]
        cells = state.owners != gone
        tokens = np.repeat(np.arange(len(state.tokens)), state.sizes)[cells]
        sizes = np.bincount(tokens, minlength=len(state.tokens)).astype(np.int32)
        owners = state.owners[cells]
        return self.with_state(
            CountsState(
                [state.labels[place] for place in kept],
                [token for token, size in zip(state.tokens, sizes, strict=True) if size],
                state.weights[kept],
                state.sums[kept],
                sizes[sizes > 0],
                owners - (owners > gone).astype(np.int32),
                state.counts[cells],
                state.newest if kept else None,
            )
        )

    def weights(self) -> dict[Label, float]:
        """The weight that each class has seen, in canonical order."""
        weights = self.table.heads()[:, :2].sum(axis=1) * self.table.present()
        order = self.classes.order
        return {order[slot]: float(weights[slot]) for slot in self.classes.canonical()}

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
        counted = found[mine] * self.table.present()
        by_token = dict(zip(tokens[mine].tolist(), counted.tolist(), strict=True))
        names = self.tokens.canonical()
        return {name: by_token[slot] for slot, name in names if slot in by_token}
