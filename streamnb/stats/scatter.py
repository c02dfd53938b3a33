"""How features vary together: the scatter of a group of classes, beside their moments.

`Moments` knows the labels, the names, the weights and each feature by itself; here is what
covariances take besides. Classes that share one covariance are a group: each class one of its own,
or all of them one. The arithmetic is in `streamnb._kernels.scatter`; here are the places of
classes and features, the state, merging, and what covariances are read from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import repair, scatter, survey
from streamnb.stats.index import CodedLabels, Label, Name, canonical_label
from streamnb.stats.moments import Moments
from streamnb.stats.moments_state import MomentsState, NumberRows
from streamnb.stats.scatter_state import GroupState

__all__ = ["Scatter", "Sums"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sums:
    """What a covariance is read from, for each pair of features in canonical order, (D, D).

    Attributes
    ----------
    products
        the sums of products of deviations from the class means.
    weights
        of the events that had both features.
    classes
        how many classes had such events.
    known
        (D,) whether any class of the group has seen the feature.
    """

    products: Floats
    weights: Floats
    classes: Floats
    known: NDArray[np.bool_]


class Scatter:
    """The moments of one block of features, and their scatter: a `Statistic`. Empty when made.

    Parameters
    ----------
    half_life
        in milliseconds; `None` where nothing fades.
    apart
        whether each class has a scatter of its own; else all share one.
    moments
        the weights and moments, and the places of labels and names; without, empty ones.
    """

    def __init__(
        self, half_life: int | None = None, *, apart: bool, moments: Moments | None = None
    ) -> None:
        moments = Moments(half_life) if moments is None else moments
        self.half_life = half_life
        self.moments = moments
        self.table = moments.table
        self.table.pool(not apart)
        self.apart = apart
        self.slots = moments.classes.slots
        self.groups: list[scatter.ScatterTable] = []
        self.landmark = 0 if moments.fading is None else moments.fading.landmark

    def follow(self) -> None:
        """Has room for all labels and names of the moments, and stands at their landmark."""
        self._reserve()
        fading = self.moments.fading
        if fading is not None and fading.landmark != self.landmark:
            self._fade(fading.landmark - self.landmark)
            self.landmark = fading.landmark

    def _reserve(self) -> None:
        classes, features = len(self.moments.classes.order), len(self.moments.features.order)
        wanted = classes if self.apart else min(classes, 1)
        while len(self.groups) < wanted:
            self.groups.append(scatter.ScatterTable(1, features, self._order))
        for group in self.groups:
            group.reserve(1 if self.apart else classes, features)

    def _order(self) -> list[int]:
        """The classes of a group in canonical order."""
        return [0] if self.apart else self.moments.classes.canonical()

    def _fade(self, shift: int) -> None:
        for group in self.groups:
            group.fade(shift)

    def like(self) -> Scatter:
        """An empty statistic that sees events as this one does."""
        return Scatter(self.half_life, apart=self.apart)

    def check_rows(
        self,
        rows: NumberRows,
        labels: CodedLabels,
        weights: Floats,
        times: Sequence[int] | None = None,
    ) -> tuple[bool, NDArray[np.int64] | None]:
        """Raises what `learn_rows` would, and changes nothing: see `Moments.check_rows`."""
        return self.moments.check_rows(rows, labels, weights, times)

    def learn_rows(
        self,
        rows: NumberRows,
        labels: CodedLabels,
        weights: Floats,
        times: Sequence[int] | None = None,
    ) -> None:
        """Learns the rows of a table: see `Statistic.learn_rows`."""
        moments = self.moments
        plain, at = self.check_rows(rows, labels, weights, times)
        pieces = [(0, len(weights), 0, weights)]
        if moments.fading is not None:
            pieces = moments.fading.pieces(at, weights)
        moments.try_rows(rows, labels, weights, times=at, plain=plain)
        places = [moments.classes.slots.get(label, -1) for label in labels.distinct]
        classes = np.array(places, dtype=np.intp)[labels.codes]
        self._reserve()
        known = moments.features.slots
        slots = np.array([known.get(name, -1) for name in rows.names], dtype=np.intp)
        whole = not rows.found & survey.MISSING
        for start, stop, shift, counted in pieces:
            if shift:
                self._fade(shift)
            part = slice(start, stop)
            scatter.learn_rows(
                self.groups,
                self.apart,
                rows.values[part],
                slots,
                classes[part],
                counted[part],
                whole,
            )
        if moments.fading is not None:
            self.landmark = moments.fading.landmark

    def unlearn(self, x: Floats, slot: int, w: float, *, trial: bool) -> str:
        """Takes back an event of a class; answers why it cannot have been learned, else "".

        Parameters
        ----------
        x
            (D,), by slot, NaN where missing.
        slot, w
            its class, and what it counts.
        trial
            whether to look only, and to change nothing.
        """
        self.follow()
        group, place = self.group_of(slot)
        reason: str = group.unlearn(x, place, w, trial=trial)
        return reason

    def without(self, label: Label | None) -> Scatter:
        """A copy without what has no weight, and without the class of that label."""
        return self._beside(self.moments.without(label))

    def scale(self, exponent: int) -> Scatter:
        """A copy whose weights and sums of products are multiplied by 2**exponent.

        See `Statistic.scale`.
        """
        moments = self.moments.scale(exponent)
        scaled = self.merged([self])
        scaled._fade(-exponent)
        return scaled._beside(moments)

    def _beside(self, moments: Moments) -> Scatter:
        """A copy of the scatter of the labels and names that `moments` have, beside these."""
        state = moments.state()
        groups = self._states_of(state) if state.labels else []
        return Scatter(self.half_life, apart=self.apart, moments=moments)._with(state, groups)

    def is_bounded(self) -> bool:
        """Whether so many like this can be merged as memory holds, and no statistic is infinite."""
        return self.moments.is_bounded()

    def weights(self) -> dict[Label, float]:
        """The weight that each class has seen, in canonical order."""
        return self.moments.weights()

    def names(self) -> list[Name]:
        """The features that were seen, in canonical order."""
        return self.moments.names()

    def group_of(self, slot: int) -> tuple[scatter.ScatterTable, int]:
        """The group of a class slot, and the class's place in it."""
        return (self.groups[slot], 0) if self.apart else (self.groups[0], slot)

    # -- the state -------------------------------------------------------------------------

    def states(self) -> list[GroupState]:
        """A copy of all that was seen: of each class, or of the one group, if there is any."""
        self.follow()
        return self._states_of(self.moments.state())

    def _states_of(self, state: MomentsState) -> list[GroupState]:
        """The same of these labels and names, which may be fewer than there are."""
        features = [self.moments.features.slots[name] for name in state.names]
        classes = [self.moments.classes.slots[label] for label in state.labels]
        if self.apart:
            return [_state(self.groups[slot], [0], features) for slot in classes]
        return [_state(group, classes, features) for group in self.groups]

    def packed(self) -> dict[str, Any]:
        """All that was seen, in canonical order: the moments, and `groups`, the scatter."""
        groups = [group.packed() for group in self.states()]
        return self.moments.packed() | {"groups": groups}

    def restored(self, packed: Mapping[str, Any]) -> Scatter:
        """A statistic like this that has seen what `packed` gave: see `Statistic.restored`."""
        own = dict(packed)
        groups = own.pop("groups")
        state = MomentsState.unpacked(own)
        classes, features = len(state.labels), len(state.names)
        if len(groups) != (classes if self.apart else min(classes, 1)):
            msg = f"the scatter of {len(groups)} groups, of {classes} classes"
            raise ValueError(msg)
        states = [
            GroupState.unpacked(group, 1 if self.apart else classes, features) for group in groups
        ]
        moments = self.moments.with_state(state)
        beside = Scatter(self.half_life, apart=self.apart, moments=moments)
        return beside._with(state, states)

    def _with(self, state: MomentsState, groups: Sequence[GroupState]) -> Scatter:
        """Takes groups of the labels and names of a state, having no scatter yet."""
        self.follow()
        for place, group in enumerate(groups):
            labels = state.labels[place : place + 1] if self.apart else state.labels
            self._put(self._table(labels, state.names, group), labels)
        return self

    def _put(self, table: scatter.ScatterTable, labels: Sequence[Label]) -> None:
        """Has a table in the place of the group of these labels."""
        if self.apart:
            self.groups[self.moments.classes.slots[labels[0]]] = table
        else:
            self.groups[0] = table

    def _table(
        self, labels: Sequence[Label], names: Sequence[Name], group: GroupState
    ) -> scatter.ScatterTable:
        """A group's state in the places that its labels and names have here."""
        moments = self.moments
        classes = [0] if self.apart else [moments.classes.slots[label] for label in labels]
        features = [moments.features.slots[name] for name in names]
        count = 1 if self.apart else len(moments.classes.order)
        table = scatter.ScatterTable(count, len(moments.features.order), self._order)
        table.known[features] = group.known
        table.changed(0)
        waiting = len(group.factors)
        table.weights[classes] = group.weights
        table.means[np.ix_(classes, [0, 1], features)] = group.means
        table.square[np.ix_(features, features)] = group.square
        table.rows[np.ix_(range(waiting), features)] = group.rows
        table.factors[:waiting] = group.factors
        if group.pairs is not None and group.products is not None:
            table.open_pairs()
            table.pairs[np.ix_(classes, range(3), features, features)] = group.pairs
            table.products[np.ix_(range(2), features, features)] = group.products
        table.changed(waiting)
        return table

    def merged(self, parts: Iterable[Scatter]) -> Scatter:
        """What one statistic like this would hold that had learned the events of all parts.

        See `Statistic.merged`.
        """
        parts = list(parts)
        moments = self.moments.merged([part.moments for part in parts])
        self._check_pooled(moments)
        whole = Scatter(self.half_life, apart=self.apart, moments=moments)
        whole.follow()
        found: dict[int, scatter.ScatterTable] = {}
        features = np.array(moments.features.canonical(), dtype=np.intp)
        for part in parts:
            part.follow()
            state = part.moments.state()
            for place, group in enumerate(part.states()):
                labels = state.labels[place : place + 1] if self.apart else state.labels
                if not group.known.any():
                    continue
                table = whole._table(labels, state.names, group)
                table.fade(whole.landmark - part.landmark)
                key = moments.classes.slots[labels[0]] if self.apart else 0
                if not table.known.any():
                    continue
                if key in found:
                    found[key].join(table, features)
                else:
                    found[key] = table
        for key, table in found.items():
            whole.groups[key] = table
        return whole

    def _check_pooled(self, moments: Moments) -> None:
        """Raises `ValueError` where classes share a scatter that would be infinite."""
        with np.errstate(over="ignore"):
            squares = moments.state().cells[:, 2].sum(axis=0)
        if not self.apart and not np.isfinite(squares).all():
            name = moments.names()[np.argmin(np.isfinite(squares))]
            msg = f"merged, the squares of feature {name!r} would leave the range of a double"
            raise ValueError(msg)

    # -- what covariances are read from ----------------------------------------------------

    def sums(self, label: Label | None = None) -> Sums:
        """The sums over the names of the moments, in canonical order.

        Parameters
        ----------
        label
            a class; where the classes share their scatter it does not matter.
        """
        self.follow()
        names = self.moments.names()
        features = [self.moments.features.slots[name] for name in names]
        group = self._group_of(label)
        if group is None:
            d = len(names)
            return Sums(np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d)), np.zeros(d, bool))
        return _sums(group, self._order(), features)

    def _group_of(self, label: Label | None) -> scatter.ScatterTable | None:
        """The group of a class, if it has one."""
        if not self.groups:
            return None
        slot = self.slots.get(canonical_label(label)) if self.apart else 0
        return None if slot is None else self.groups[slot]

    def precise_products(
        self, label: Label | None, chosen: NDArray[np.intp], units: Floats
    ) -> tuple[Floats, bool]:
        """The products of `sums`, with more digits where what is stored has them.

        Parameters
        ----------
        label
            as for `sums`.
        chosen
            (E,) the places of features among those of `sums`.
        units
            (E,) powers of two that these features are multiplied by.

        Returns
        -------
        ((hi, lo), E, E), on and above the diagonal; and whether they are sums that were rounded to
        doubles: they are not while all events of the group stand in its block.
        """
        group = self._group_of(label)
        if group is not None and group.pairs is None:
            waiting, names = group.waiting(), self.moments.names()
            slots = np.array([self.moments.features.slots[names[i]] for i in chosen], dtype=np.intp)
            rows, factors = group.rows[:waiting], group.factors[:waiting]
            products = repair.sums(group.square, rows, factors, slots, units)
            return products, bool(group.square.any())
        own = (self.sums(label).products[np.ix_(chosen, chosen)] * units) * units[:, None]
        return np.array([own, np.zeros_like(own)]), True


def _state(group: scatter.ScatterTable, classes: list[int], features: list[int]) -> GroupState:
    """A copy of what a group has seen, of these classes and features."""
    waiting = group.waiting()
    square = np.triu(group.square)
    square = square + np.triu(square, 1).T
    pairs = products = None
    if group.pairs is not None:
        pairs = group.pairs[np.ix_(classes, range(3), features, features)] + 0.0
        products = group.products[np.ix_(range(2), features, features)] + 0.0
    # A zero's sign depends on the way to it, and means nothing.
    return GroupState(
        group.known[features] + 0.0,
        group.weights[classes] + 0.0,
        group.means[np.ix_(classes, [0, 1], features)] + 0.0,
        square[np.ix_(features, features)] + 0.0,
        group.rows[np.ix_(range(waiting), features)] + 0.0,
        group.factors[:waiting] + 0.0,
        pairs,
        products,
    )


def _sums(group: scatter.ScatterTable, order: list[int], features: list[int]) -> Sums:
    """What the covariance of a group is read from."""
    at = np.ix_(features, features)
    known = group.known[features] > 0.0
    both = np.logical_and.outer(known, known)
    products = group.total()[at]
    weights = np.zeros(products.shape)
    classes = np.zeros(products.shape)
    if group.pairs is not None:
        products = products + (group.products[0][at] + group.products[1][at])
    for k in order:
        counted = np.where(both, group.weights[k].sum(), 0.0)
        if group.pairs is not None:
            pairs = group.pairs[k][:, features][:, :, features]
            means = group.means[k][:, features]
            d = (means[0][:, None] - pairs[1]) + (means[1][:, None] - pairs[2])
            total = counted + pairs[0]
            part = np.where(total > 0.0, counted / np.where(total > 0.0, total, 1.0), 0.0)
            products = products + (d * d.T) * (pairs[0] * part)
            counted = total
        weights = weights + counted
        classes = classes + (counted > 0.0)
    return Sums(products, weights, classes, known)
