"""How features vary together: the scatter of a group of classes, beside their moments.

`Moments` knows the labels, the names, the weights and each feature by itself; here is what it takes
besides for covariances. Classes that share one covariance are a group: each class one of its own,
or all of them one. The arithmetic is in `streamnb._kernels.scatter`; here are the places of
classes and features, the state, merging, and what covariances are read from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import repair, scatter
from streamnb.stats.index import Label, Name, canonical_label
from streamnb.stats.moments import Moments
from streamnb.stats.moments_state import MomentsState
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
    """The scatter of the classes whose moments stand in `moments`. Empty when made.

    Parameters
    ----------
    moments
        the weights and moments, and the places of labels and names.
    apart
        whether each class has a scatter of its own; else all share one.
    """

    def __init__(self, moments: Moments, *, apart: bool) -> None:
        self.moments = moments
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

    def learn_rows(
        self,
        names: Sequence[Name],
        values: Floats,
        classes: NDArray[np.intp],
        pieces: Sequence[tuple[int, int, int, Floats]],
        *,
        whole: bool,
    ) -> None:
        """Learns the rows of a table in their order; the moments have learned them already.

        Parameters
        ----------
        names
            of the columns.
        values
            (n, d), C-contiguous, NaN where missing, finite else.
        classes
            (n,) the class slot of each row, -1 where its class has none.
        pieces
            of the rows: the first, the one after the last, by how many half-lives the landmark
            moves before them, and (n,) what each row counts (see `fading.Fading.pieces`).
        whole
            whether no value is missing.
        """
        self._reserve()
        known = self.moments.features.slots
        slots = np.array([known.get(name, -1) for name in names], dtype=np.intp)
        for start, stop, shift, weights in pieces:
            if shift:
                self._fade(shift)
            part = slice(start, stop)
            scatter.learn_rows(
                self.groups, self.apart, values[part], slots, classes[part], weights[part], whole
            )
        if self.moments.fading is not None:
            self.landmark = self.moments.fading.landmark

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

    def without(self, moments: Moments, label: Label | None) -> Scatter:
        """The scatter without a class, beside moments that are without it already."""
        old, new = self.moments.state(), moments.state()
        kept = [place for place, each in enumerate(old.labels) if each != label]
        groups = self.states()
        if self.apart:
            groups = [groups[place] for place in kept]
        elif not kept:
            groups = []
        elif len(kept) < len(old.labels):
            whole = groups[0]
            pairs = None if whole.pairs is None else whole.pairs[kept]
            groups = [
                replace(whole, weights=whole.weights[kept], means=whole.means[kept], pairs=pairs)
            ]
        return Scatter.from_states(moments, new, groups, apart=self.apart)

    def group_of(self, slot: int) -> tuple[scatter.ScatterTable, int]:
        """The group of a class slot, and the class's place in it."""
        return (self.groups[slot], 0) if self.apart else (self.groups[0], slot)

    # -- the state -------------------------------------------------------------------------

    def states(self) -> list[GroupState]:
        """A copy of all that was seen: of each class, or of the one group, if there is any."""
        self.follow()
        moments = self.moments.state()
        features = [self.moments.features.slots[name] for name in moments.names]
        classes = [self.moments.classes.slots[label] for label in moments.labels]
        if self.apart:
            return [_state(self.groups[slot], [0], features) for slot in classes]
        return [_state(group, classes, features) for group in self.groups]

    @classmethod
    def from_states(
        cls, moments: Moments, state: MomentsState, groups: Sequence[GroupState], *, apart: bool
    ) -> Scatter:
        """The scatter that had these states, beside moments that had that one."""
        self = cls(moments, apart=apart)
        self.follow()
        for place, group in enumerate(groups):
            labels = state.labels[place : place + 1] if apart else state.labels
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

    @classmethod
    def merged(cls, moments: Moments, parts: Sequence[Scatter], *, apart: bool) -> Scatter:
        """What one scatter would hold that had learned the events of all parts, in order.

        `moments` are the parts' moments, merged already.
        """
        self = cls(moments, apart=apart)
        self.follow()
        found: dict[int, scatter.ScatterTable] = {}
        features = np.array(moments.features.canonical(), dtype=np.intp)
        for part in parts:
            part.follow()
            state = part.moments.state()
            for place, group in enumerate(part.states()):
                labels = state.labels[place : place + 1] if apart else state.labels
                if not group.known.any():
                    continue
                table = self._table(labels, state.names, group)
                table.fade(self.landmark - part.landmark)
                key = moments.classes.slots[labels[0]] if apart else 0
                if not table.known.any():
                    continue
                if key in found:
                    found[key].join(table, features)
                else:
                    found[key] = table
        for key, table in found.items():
            self.groups[key] = table
        return self

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
