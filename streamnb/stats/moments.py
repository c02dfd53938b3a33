"""Weight, mean and sum of squared deviations of each feature in each class, as a statistic.

The arithmetic is in the kernels; here are the places of classes and features, the rows of tables,
merging and the state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import fading, joining, moments, survey
from streamnb._kernels._oracle.calm import SETTLED
from streamnb.stats.index import (
    CodedLabels,
    Label,
    LabelIndex,
    Name,
    NameIndex,
)
from streamnb.stats.moments_state import ROWS, MomentsState, NumberRows

__all__ = ["Moments"]

Floats = NDArray[np.float64]
Slots = NDArray[np.intp]


class Moments:
    """The moments of one block of features, by class: a `Statistic`. Empty when made.

    Parameters
    ----------
    half_life
        in milliseconds; `None` where nothing fades.
    positive
        whether values are counts: negative ones are refused. Whoever gives the rows of a
        table has looked at them.
    """

    def __init__(self, half_life: int | None = None, *, positive: bool = False) -> None:
        self.half_life = half_life
        self.positive = positive
        self.classes = LabelIndex()
        self.features = NameIndex()
        self.fading = None if half_life is None else fading.Fading(half_life)
        self.table = moments.MomentsTable(
            self.classes, self.features, positive, self.fading, fading.fade
        )

    def like(self) -> Moments:
        """An empty statistic that sees events as this one does."""
        return Moments(self.half_life, positive=self.positive)

    def with_state(self, state: MomentsState) -> Moments:
        """A statistic like this that has this state. The arrays are copied.

        Raises
        ------
        ValueError
            it has a time and no half-life, or has learned without a time; a mean is negative,
            where no value may be.
        """
        if self.positive and (state.cells[:, 0] < 0).any():
            msg = "a mean that is negative, of values that are not"
            raise ValueError(msg)
        taken = self.like()
        if (state.newest is not None) != bool(taken.fading is not None and state.labels):
            msg = f"a state with the newest time {state.newest} and the half-life {self.half_life}"
            raise ValueError(msg)
        if taken.fading is not None and state.newest is not None:
            taken.fading.move(state.newest)
        taken._grow(state.labels, state.names)
        taken.table.put(state.cells, state.weights)
        return taken

    def packed(self) -> dict[str, Any]:
        """All that was seen, in canonical order, as plain data and arrays."""
        return self.state().packed()

    def restored(self, packed: Mapping[str, Any]) -> Moments:
        """A statistic like this that has seen what `packed` gave: see `Statistic.restored`."""
        return self.with_state(MomentsState.unpacked(packed))

    @classmethod
    def of_events(
        cls, events: Iterable[tuple[Mapping[Name, float], Label]], *, positive: bool = False
    ) -> Moments:
        """The statistic of events of weight 1."""
        self = cls(positive=positive)
        for x, y in events:
            self.table.learn_event(x, y)
        return self

    def state(self) -> MomentsState:
        """A copy of all that was seen, in canonical order."""
        cells = self.table.cells()
        rows = self.classes.canonical()
        seen = (cells[:, 4] > 0).any(axis=0)
        columns = [slot for slot in self.features.canonical() if seen[slot]]
        # A zero's sign depends on the way to it, and means nothing.
        return MomentsState(
            [self.classes.order[slot] for slot in rows],
            [self.features.order[slot] for slot in columns],
            self.table.class_weights()[rows] + 0.0,
            cells[np.ix_(rows, range(6), columns)] + 0.0,
            None if self.fading is None else self.fading.newest,
        )

    def _grow(self, labels: Sequence[Label], names: Sequence[Name]) -> tuple[Slots, Slots]:
        """Gives canonical labels and names their slots, and answers these."""
        shown = self.classes.order
        if (
            names == self.features.order
            and labels == shown
            and [*map(type, labels)] == [*map(type, shown)]  # True is equal to 1
        ):
            return np.arange(len(labels)), np.arange(len(names))
        known = [self.features.slots.get(name) for name in names]
        if None in known:
            self.table.spread()
            self.table.reserve(len(self.classes.order), len(self.features.order) + len(names))
            known = [self.features.add(name) for name in names]
            self.table.changed()
        slots = [self.classes.slots.get(label) for label in labels]
        if any(
            slot is None or type(shown[slot]) is not type(label)
            for slot, label in zip(slots, labels, strict=True)
        ):
            self.table.reserve(len(shown) + len(labels), len(self.features.order))
            slots = [self.classes.add(label) for label in labels]
            self.table.changed()
        return np.array(slots, dtype=np.intp), np.array(known, dtype=np.intp)

    def learn_rows(
        self,
        rows: NumberRows,
        labels: CodedLabels,
        weights: Floats,
        times: Sequence[int] | None = None,
    ) -> None:
        """Learns the rows of a table: see `Statistic.learn_rows`."""
        plain, at = self.check_rows(rows, labels, weights, times)
        self.try_rows(rows, labels, weights, times=at, plain=plain)

    def check_rows(
        self,
        rows: NumberRows,
        labels: CodedLabels,
        weights: Floats,
        times: Sequence[int] | None = None,
    ) -> tuple[bool, NDArray[np.int64] | None]:
        """Raises what `learn_rows` would, and changes nothing.

        Returns
        -------
        Whether all is ordinary, so that no row can be refused; the times, where they count.
        """
        extreme = survey.survey(weights, moments.SMALL_WEIGHT, moments.LARGE_WEIGHT)
        plain = self.table.is_bounded() and not extreme and not rows.found & survey.UNUSUAL
        at = None if self.fading is None else self.fading.times(times, len(rows.values))
        if not plain:
            trial = self.with_state(self.state())
            trial.table.pool(self.table.is_pooled())
            failed = trial.try_rows(rows, labels, weights, times=at, plain=plain)
            if failed >= 0:
                msg = f"row {failed}: {trial.table.refusal()}"
                raise ValueError(msg)
        return plain, at

    def try_rows(
        self,
        rows: NumberRows,
        labels: CodedLabels,
        weights: Floats,
        *,
        times: NDArray[np.int64] | None,
        plain: bool,
    ) -> int:
        """Learns rows up to the first that is refused; answers its position, else -1.

        Where all is `plain`, in size, none can be refused.
        """
        names, values, missing = rows.names, rows.values, bool(rows.found & survey.MISSING)
        if not len(weights):
            return -1
        whole = survey.least(weights) > 0.0
        learned: Any = slice(None) if whole else weights > 0.0
        if not whole and not weights.any():
            return -1
        if missing:
            seen = np.logical_not(np.isnan(values[learned]).all(axis=0)).tolist()
            if not all(seen):
                values = np.ascontiguousarray(values[:, seen])
                names = [name for name, kept in zip(names, seen, strict=True) if kept]
        new = labels.distinct if whole else labels.of_rows(learned)
        slots, features = self._grow(new, names)
        if new is not labels.distinct:
            places = (self.classes.slots.get(label, 0) for label in labels.distinct)
            slots = np.fromiter(places, np.intp)
        in_order = slots.tolist() == list(range(len(slots)))
        classes = labels.codes if in_order else slots[labels.codes]
        plain = plain and not missing
        if self.fading is None or times is None:
            plain = plain and self.table.is_tame()
            return self.table.learn_rows(values, features, classes, weights, plain)
        for start, stop, shift, faded in self.fading.pieces(times, weights):
            if shift:
                self.table.fade(shift)
            part = slice(start, stop)
            extreme = survey.survey(faded[part], moments.SMALL_WEIGHT, moments.LARGE_WEIGHT)
            failed: int = self.table.learn_rows(
                values[part],
                features,
                classes[part],
                faded[part],
                plain and not extreme and self.table.is_tame(),
            )
            if failed >= 0:
                return start + failed
        self.fading.move(int(times[learned].max()))
        return -1

    def merged(self, parts: Iterable[Moments]) -> Moments:
        """What one statistic like this would hold that had learned the events of all parts.

        See `Statistic.merged`.
        """
        whole = self.like()
        states = [whole._at_landmark(each) for each in whole._in_time(parts)]
        places = [whole._grow(state.labels, state.names) for state in states]
        cells = np.zeros((len(whole.classes.order), len(ROWS), len(whole.features.order)))
        weights = np.zeros((len(whole.classes.order), 2))
        for state, (classes, features) in zip(states, places, strict=True):
            joining.join_cells(cells, classes, features, state.cells)
            joining.join_weights(weights, classes, state.weights)
        for slot, feature in np.argwhere(~np.isfinite(cells).all(axis=1)):
            name, label = whole.features.order[feature], whole.classes.order[slot]
            msg = f"merged, feature {name!r} of class {label!r} would leave the range of a double"
            raise ValueError(msg)
        for (slot,) in np.argwhere(~np.isfinite(weights).all(axis=1)):
            label = whole.classes.order[slot]
            msg = f"merged, the weight of class {label!r} would leave the range of a double"
            raise ValueError(msg)
        whole.table.put(cells, weights)
        return whole

    def _in_time(self, parts: Iterable[Moments]) -> list[MomentsState]:
        """The states of parts that are to be merged, the latest of their times being our own."""
        states = [part.state() for part in parts]
        for state in states:
            if self.fading is not None and state.newest is not None:
                self.fading.move(state.newest)
        return states

    def _at_landmark(self, state: MomentsState) -> MomentsState:
        """A state whose landmark is not after ours, brought to ours in place."""
        if self.fading is not None and state.newest is not None:
            landmark = state.newest // self.fading.half_life
            fading.fade(state.cells, state.weights, self.fading.landmark - landmark)
        return state

    def scale(self, exponent: int) -> Moments:
        """A copy whose weights and sums of squares are multiplied by 2**exponent.

        See `Statistic.scale`.
        """
        state = self.state()
        _tidy(state.cells)
        with np.errstate(over="ignore"):
            fading.fade(state.cells, state.weights, -exponent)
        if not (np.isfinite(state.cells).all() and np.isfinite(state.weights).all()):
            msg = f"scaled by 2**{exponent}, a statistic would leave the range of a double"
            raise ValueError(msg)
        scaled = self.with_state(state)
        gone = [] if self.fading else [y for y, w in scaled.weights().items() if w == 0.0]
        for label in gone:
            scaled = scaled.without(label)
        return scaled

    def without(self, label: Label | None) -> Moments:
        """A copy without what has no weight: features, and the class of that label.

        Without any class it is empty, and knows no time.
        """
        state = self.state()
        kept = [row for row, each in enumerate(state.labels) if each != label]
        labels = [state.labels[row] for row in kept]
        state = replace(
            state,
            labels=labels,
            weights=state.weights[kept],
            cells=state.cells[kept],
            newest=state.newest if labels else None,
        )
        return self.with_state(state)

    def weights(self) -> dict[Label, float]:
        """The weight that each class has seen, in canonical order."""
        heads = self.table.class_weights().sum(axis=1) * self.table.present()
        order = self.classes.order
        return {order[slot]: float(heads[slot]) for slot in self.classes.canonical()}

    def is_bounded(self) -> bool:
        """Whether all values, weights and sums are so small that no merge makes one infinite."""
        return self.table.is_bounded()

    def names(self) -> list[Name]:
        """The features that were seen, in canonical order."""
        seen = (self.table.cells()[:, 4] > 0).any(axis=0)
        return [self.features.order[slot] for slot in self.features.canonical() if seen[slot]]

    def means(self, label: Label) -> dict[Name, float]:
        """The mean of each feature that the class has seen."""
        return {name: float(cell[0] + cell[1]) for name, cell in self._seen(label)}

    def variances(self, label: Label) -> dict[Name, float]:
        """The sum of squared deviations over the weight, for each feature the class has seen."""
        return {name: _quotient(*cell[2:].tolist()) for name, cell in self._seen(label)}

    def _seen(self, label: Label) -> Iterator[tuple[Name, Floats]]:
        slot = self.classes.find(label)
        if slot is not None:
            cells = self.table.cells()[slot]
            for feature in self.features.canonical():
                if cells[4, feature] > 0:
                    yield self.features.order[feature], cells[:, feature]


def _tidy(cells: Floats) -> None:
    """Brings hi and lo together in place where they may be apart, which is in settled cells."""
    settled = cells[:, 4] >= SETTLED
    for hi, lo in ((0, 1), (2, 3)):
        a, b = cells[:, hi][settled], cells[:, lo][settled]
        s = a + b
        part = s - a
        cells[:, hi][settled] = s
        cells[:, lo][settled] = (a - (s - part)) + (b - part)


def _quotient(a: float, a_lo: float, b: float, b_lo: float) -> float:
    """(a + a_lo)/(b + b_lo), rounded once."""
    return float((Fraction(a) + Fraction(a_lo)) / (Fraction(b) + Fraction(b_lo)))
