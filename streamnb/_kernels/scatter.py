# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The scatter of classes that share a covariance, learned in place: one matrix for all of them.

One event x of weight w moves a class of weight W and mean m by Welford's update,

    d = x - m;   m += d w/(W + w);   S += d d' w W/(W + w);   W += w

What is added to S waits in a block: the deviation d and its factor w W/(W + w), a row an event.
When the block is full its rows are summed from zero, in their order, and their sum is added to S.
So S has the same bits by any cut of the stream, and few roundings. The factor stands apart from
the deviation, so that fading, which multiplies it by a power of two, is exact.

Means are compensated (hi + lo), as in `moments`. An event that lacks a feature of its group is
counted pair by pair (`_take_pairs`), in a table that exists only where there is such an event.
"""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels._oracle import cython

import math
from typing import Any

import numpy as np

from streamnb.values import check_weight, event_time

if cython.compiled:
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

    from streamnb._kernels._oracle.arrays import doubles_of, longs_of, onward
    from streamnb._kernels._oracle.fp import sum_error
    from streamnb._kernels._oracle.scatter import add_products, deviate, pack_row

LEAST_BLOCK = 16
"""A block has this many rows, or half as many as there are features, where that is more."""

FADED = 2.0**-900
"""A weight below this has faded to nothing, as in `fading`."""

_NOISE = 1e-9  # a weight within this part of what is taken away is rounding


def block_size(features: int) -> int:
    """How many rows a block of so many features has."""
    return max(LEAST_BLOCK, (features + 1) // 2)


@cython.cclass
class ScatterTable:
    """Weights and means of K classes, and the scatter around these means of all together.

    Features stand in the slots of the model; `order()` answers the classes in canonical order, in
    which sums over classes are made. `known` marks those that belong to the group, which
    any of its classes has seen; an event with all of them is complete.

    Attributes
    ----------
    known
        (D,), 1 or 0.
    weights
        (K, (hi, lo)), of complete events.
    means
        (K, (hi, lo), D), of complete events.
    square
        (D, D), the scatter of complete events but those of the block; above the diagonal only.
    rows, factors
        (B, D) and (B,), of which the first `waiting` are the block.
    clock
        (3,) int64: a number that changes with `square`, `known` or `pairs`; the rows of the block;
        1 where there are pairs, else 0.
    pairs
        `None`, or (K, (weight, mean, mean lo), D, D) of incomplete events: entry (i, j) is of the
        events with both, and its mean that of feature i.
    products
        `None`, or ((hi, lo), D, D), the sums of products of deviations of incomplete events.

    All arrays have room to spare.
    """

    known: Any = cython.declare(object, visibility="public")
    weights: Any = cython.declare(object, visibility="public")
    means: Any = cython.declare(object, visibility="public")
    square: Any = cython.declare(object, visibility="public")
    rows: Any = cython.declare(object, visibility="public")
    factors: Any = cython.declare(object, visibility="public")
    pairs: Any = cython.declare(object, visibility="public")
    products: Any = cython.declare(object, visibility="public")
    _order: Any
    _scratch: Any
    clock: Any = cython.declare(object, visibility="public")
    _clock: cython.p_longlong
    _width: cython.Py_ssize_t
    _capacity: cython.Py_ssize_t
    _size: cython.Py_ssize_t
    is_full: cython.bint  # every feature of the model is known
    _known: cython.p_double
    _weights: cython.p_double
    _means: cython.p_double
    _square: cython.p_double
    _rows: cython.p_double
    _factors: cython.p_double
    _values: cython.p_double
    _filled: cython.p_double  # an event with 0 for what does not belong to the group
    _packed: cython.p_double  # the rows of a full block, each times the root of its factor

    def __init__(self, classes: int, features: int, order: Any) -> None:
        self._order = order
        self.clock = np.zeros(3, dtype=np.int64)
        self._clock = longs_of(self.clock)
        self._width = 0
        self._capacity = 0
        self._size = 0
        self.known = np.zeros(0)
        self.weights = np.zeros((0, 2))
        self.means = np.zeros((0, 2, 0))
        self.square = np.zeros((0, 0))
        self.rows = np.zeros((0, 0))
        self.factors = np.zeros(0)
        self.pairs = None
        self.products = None
        self._scratch = None
        self.reserve(classes, features)

    # -- storage ---------------------------------------------------------------------------

    def reserve(self, classes: int, features: int) -> None:
        """Has at least so many classes and features from here on; what is there stays."""
        old: int = self._capacity
        held: int = len(self.weights)
        c: int = max(old, (features + 7) // 8 * 8, 8)
        k: int = max(held, classes, 1)
        self._width = max(self._width, features)
        size: int = block_size(int(self.known.sum()))
        if c > old:
            self.known = _padded(self.known, (c,))
            self.square = _padded(self.square, (c, c))
        if c > old or k > held:
            self.weights = _padded(self.weights, (k, 2))
            self.means = _padded(self.means, (k, 2, c))
            if self.pairs is not None:
                self.pairs = _padded(self.pairs, (k, 3, c, c))
                self.products = _padded(self.products, (2, c, c))
        if c > old or size != self._size:
            self.rows = _padded(self.rows[: self._clock[1]], (size, c))
            self.factors = _padded(self.factors[: self._clock[1]], (size,))
        self._capacity = c
        self._size = size
        self.is_full = bool(self.known[: self._width].all())
        event = self._scratch[0] if self._scratch is not None else np.zeros(0)
        event = event if c == old else _padded(event, (c,))
        self._scratch = (event, np.zeros(c), _aligned((size, c)))
        arrays = (
            self.known,
            self.weights,
            self.means,
            self.square,
            self.rows,
            self.factors,
            *self._scratch,
        )
        self._known = doubles_of(arrays[0])
        self._weights = doubles_of(arrays[1])
        self._means = doubles_of(arrays[2])
        self._square = doubles_of(arrays[3])
        self._rows = doubles_of(arrays[4])
        self._factors = doubles_of(arrays[5])
        self._values = doubles_of(arrays[6])
        self._filled = doubles_of(arrays[7])
        self._packed = doubles_of(arrays[8])

    def width(self) -> int:
        """The number of the model's features that have a slot here."""
        return int(self._width)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def has_room(self, k: cython.Py_ssize_t, features: cython.Py_ssize_t) -> cython.bint:
        """Whether there is room for class k and so many features."""
        return k < len(self.weights) and self._width == features

    def total(self) -> Any:
        """The scatter of all complete events, those of the block too, (D, D) and symmetric."""
        whole = self.square.copy()
        self._add_block(doubles_of(whole) if cython.compiled else memoryview(whole.reshape(-1)))
        return _mirrored(whole)

    def waiting(self) -> int:
        """The number of rows in the block."""
        return int(self._clock[1])

    def changed(self, waiting: int) -> None:
        """Says that the arrays were written to from outside, and how many rows the block has."""
        self._clock[0] += 1
        self._clock[1] = waiting
        self.reserve(0, 0)

    # -- learning --------------------------------------------------------------------------

    @cython.ccall
    def learn(self, values: Any, k: cython.Py_ssize_t, w: cython.double) -> None:
        """Learns an event of weight w > 0 in class k; `values` are by slot, NaN where missing."""
        if not cython.compiled:
            values = memoryview(values)
        x: cython.double[::1] = values
        i: cython.Py_ssize_t
        for i in range(self._width):
            self._values[i] = x[i]
        self.learn_event(k, w)

    @cython.cfunc
    def empty_event(self) -> None:
        """Has no value in the event that is learned next."""
        i: cython.Py_ssize_t
        for i in range(self._width):
            self._values[i] = float("nan")

    @cython.cfunc
    @cython.exceptval(check=False)
    def set_event(
        self,
        data: cython.const[cython.double][:, ::1],  # type: ignore[valid-type]
        r: cython.Py_ssize_t,
        slot: cython.Py_ssize_t[::1],
    ) -> cython.void:
        """Has row r of a table as the event that is learned next, in the slots of its columns."""
        j: cython.Py_ssize_t
        for j in range(data.shape[1]):
            if slot[j] >= 0:
                self._values[slot[j]] = data[r, j]

    @cython.cfunc
    def learn_event(self, k: cython.Py_ssize_t, w: cython.double) -> None:
        """Learns the event in `values`."""
        i: cython.Py_ssize_t
        x = self._values
        known = self._known
        there: cython.longlong
        present: cython.longlong = 0
        lacks: cython.longlong = 0
        new: cython.longlong = 0
        for i in range(self._width):
            there = x[i] == x[i]
            present |= there
            new |= there & (known[i] == 0.0)
            lacks |= (1 - there) & (known[i] != 0.0)
        if not present:
            return
        if new:
            self._admit()
        if lacks:
            self._take_pairs(k, w)
            return
        if not self.is_full:
            for i in range(self._width):
                self._filled[i] = x[i] if x[i] == x[i] else 0.0
            x = self._filled
        self.take(x, k, w)

    def _admit(self) -> None:
        """Takes the features of the event in `values` into the group.

        What was complete is not any more.
        """
        i: cython.Py_ssize_t
        self.spread()
        for i in range(self._width):
            if self._values[i] == self._values[i]:
                self._known[i] = 1.0
        self.changed(0)

    @cython.cfunc
    def take(self, x: cython.p_double, k: cython.Py_ssize_t, w: cython.double) -> None:
        """Takes the complete event x into class k: its deviation into the block.

        x is 0 for a feature that does not belong to the group.
        """
        h = self._weights
        old: cython.double = h[2 * k]
        old_lo: cython.double = h[2 * k + 1]
        light: cython.bint = w <= old
        s: cython.double = old + w
        s_lo: cython.double = sum_error(old, w, s) + old_lo
        f: cython.double = (w if light else old) / s
        m: cython.Py_ssize_t = 2 * k * self._capacity
        o: cython.Py_ssize_t = m + self._capacity
        i: cython.Py_ssize_t
        h[2 * k] = s + s_lo
        h[2 * k + 1] = s_lo - (h[2 * k] - s)
        if old == 0.0:
            for i in range(self._width):
                self._means[m + i] = x[i] + 0.0
                self._means[o + i] = 0.0
            return
        deviate(
            onward(self._rows, self._clock[1] * self._capacity),
            x,
            onward(self._means, m),
            onward(self._means, o),
            f,
            light,
            self._width,
        )
        self._factors[self._clock[1]] = f * (old if light else w)
        self._clock[1] += 1
        if self._clock[1] == self._size:
            self.fold()

    @cython.ccall
    def fold(self) -> None:
        """Adds the rows of the block to the scatter, summed from zero."""
        if self._clock[1] > 0:
            self._add_block(self._square)
            self._clock[1] = 0
            self._clock[0] += 1

    @cython.cfunc
    def _add_block(self, square: cython.p_double) -> None:
        """Adds the sum of the rows of the block to a matrix like `square`."""
        c: cython.Py_ssize_t = self._capacity
        d: cython.Py_ssize_t = (self._width + 7) // 8 * 8
        n: cython.Py_ssize_t = self._clock[1]
        r: cython.Py_ssize_t
        if n == 0:
            return
        for r in range(n):
            row = onward(self._rows, r * c)
            pack_row(onward(self._packed, 8 * r), 8 * n, row, sqrt(self._factors[r]), d)
        add_products(square, c, self._packed, n, d)

    # -- incomplete events -----------------------------------------------------------------

    def open_pairs(self) -> None:
        """Has a table of pairs from here on."""
        if self.pairs is None:
            c = self._capacity
            self.pairs = np.zeros((len(self.weights), 3, c, c))
            self.products = np.zeros((2, c, c))
            self._clock[2] = 1

    @cython.cfunc
    def _take_pairs(self, k: cython.Py_ssize_t, w: cython.double) -> None:
        """Takes an incomplete event into class k: into each pair of features that it has."""
        self.open_pairs()
        self._clock[0] += 1
        if cython.compiled:
            table: cython.double[:, :, ::1] = self.pairs[k]
            sums: cython.double[:, :, ::1] = self.products
        else:
            table, sums = memoryview(self.pairs[k]), memoryview(self.products)
        x = self._values
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        light: cython.bint
        old: cython.double
        s: cython.double
        f: cython.double
        q: cython.double
        d: cython.double
        e: cython.double
        for i in range(self._width):
            if x[i] != x[i]:
                continue
            for j in range(i, self._width):
                if x[j] != x[j]:
                    continue
                old = table[0, i, j]
                s = old + w
                table[0, i, j] = s
                table[0, j, i] = s
                if old == 0.0:
                    table[1, i, j] = x[i]
                    table[1, j, i] = x[j]
                    continue
                light = w <= old
                f = (w if light else old) / s
                q = f * (old if light else w)
                d = (x[i] - table[1, i, j]) - table[2, i, j]
                e = (x[j] - table[1, j, i]) - table[2, j, i]
                _step(table, i, j, x[i], d * f, light)
                if i != j:
                    _step(table, j, i, x[j], e * f, light)
                e = (d * e) * q
                d = sums[0, i, j]
                s = d + e
                e = sums[1, i, j] + sum_error(d, e, s)
                sums[0, i, j] = s
                sums[0, j, i] = s
                sums[1, i, j] = e
                sums[1, j, i] = e

    def spread(self) -> None:
        """Counts what was complete pair by pair, as if it had come with a feature missing."""
        if not self.weights.any():
            return
        self.fold()
        self.open_pairs()
        self.products[0], error = _sum(self.products[0], _mirrored(self.square))
        self.products[1] += error
        known = self.known > 0.0
        for k in self._order():
            if self.weights[k, 0] > 0.0:
                join_pairs(
                    self.pairs[k], self.products, _as_pairs(self.weights[k], self.means[k], known)
                )
        self.weights[:] = 0.0
        self.means[:] = 0.0
        self.square[:] = 0.0
        self._clock[0] += 1

    def join(self, other: Any, features: Any) -> None:
        """Takes in another `ScatterTable` of the same classes and features, which is changed.

        Parameters
        ----------
        other
            the table.
        features
            (D,) intp, the slots in canonical order.
        """
        known = np.maximum(self.known, other.known)
        for table in (self, other):
            if (table.known != known).any():
                table.spread()
        common = int(((self.weights[:, 0] > 0.0) & (other.weights[:, 0] > 0.0)).sum())
        waiting: int = self.clock[1]
        more: int = other.waiting()
        keeps: bool = waiting + more + common < self._size
        if keeps:
            self.rows[waiting : waiting + more] = other.rows[:more]
            self.factors[waiting : waiting + more] = other.factors[:more]
            waiting += more
        else:
            waiting = 0
            for table in (self, other):
                table.fold()
        self.known[:] = known
        self.square += other.square
        if other.pairs is not None:
            self.open_pairs()
            self.products[0], error = _sum(self.products[0], other.products[0])
            self.products[1] = (self.products[1] + other.products[1]) + error
        for k in self._order():
            if other.weights[k, 0] > 0.0:
                d, f = self._join_class(k, other.weights[k], other.means[k])
                if f > 0.0 and keeps:
                    self.rows[waiting] = d
                    self.factors[waiting] = f
                    waiting += 1
                elif f > 0.0:
                    z = np.sqrt(f) * d
                    self.square += np.multiply.outer(z, z)
            if other.pairs is not None:
                join_pairs(self.pairs[k], self.products, other.pairs[k])
        self._arrange(waiting, features)
        self.changed(waiting)

    def _arrange(self, waiting: int, features: Any) -> None:
        """Brings the rows of the block in an order, and signs, that do not tell where they were."""
        rows = self.rows[:waiting][:, features]
        first = (rows != 0.0).argmax(axis=1) if rows.size else np.zeros(waiting, dtype=np.intp)
        sign = np.where(rows[range(waiting), first] < 0.0, -1.0, 1.0) if rows.size else 1.0
        rows = (rows.T * sign).T
        order = np.lexsort((self.factors[:waiting], *rows.T[::-1]))
        self.rows[np.ix_(range(waiting), features)] = rows[order]
        self.factors[:waiting] = self.factors[:waiting][order]

    def _join_class(self, k: int, weight: Any, means: Any) -> tuple[Any, float]:
        """Takes complete events of class k in; what lies between the means, and its factor."""
        if not self.weights[k, 0] > 0.0:
            self.weights[k], self.means[k] = weight, means
            return means[0], 0.0
        ours, our_means = self.weights[k].copy(), self.means[k].copy()
        d = (means[0] - our_means[0]) + (means[1] - our_means[1])
        s, error = _sum(ours[0], weight[0])
        error += ours[1] + weight[1]
        self.weights[k] = s + error, error - ((s + error) - s)
        swap = bool(ours[0] < weight[0])
        heavy, light = (weight, ours) if swap else (ours, weight)
        f = light[0] / (s + error)
        if heavy[0] == light[0]:
            moved, lost = _sum(0.5 * means[0], 0.5 * our_means[0])
            self.means[k] = moved, lost + (0.5 * means[1] + 0.5 * our_means[1])
        else:
            start = means if swap else our_means
            moved, lost = _sum(start[0], -d * f if swap else d * f)
            self.means[k] = moved, start[1] + lost
        return d, heavy[0] * f

    # -- fading and unlearning -------------------------------------------------------------

    def fade(self, shift: int) -> None:
        """Multiplies all that counts by 2**-shift; what falls below `FADED` is nothing."""
        left: int = min(max(shift, -3000), 3000)
        counted = [self.weights, self.square, self.factors]
        if self.pairs is not None:
            counted += [self.pairs[:, 0], self.products]
        while left != 0:
            step: int = min(max(left, -1000), 1000)
            for array in counted:
                np.multiply(array, 2.0**-step, out=array)
            left -= step
        faded = self.weights[:, 0] < FADED
        self.weights[faded] = 0.0
        self.means[faded] = 0.0
        if faded.all():
            self.square[:] = 0.0
            self._clock[1] = 0
        if self.pairs is not None:
            gone = self.pairs[:, 0] < FADED
            self.pairs.transpose(0, 2, 3, 1)[gone] = 0.0
            self.products[:, gone.all(axis=0)] = 0.0
        self.settle()

    def settle(self) -> None:
        """Leaves out features without weight, and the table of pairs where it has none."""
        known = np.zeros(self._capacity)
        if (self.weights[:, 0] > 0.0).any():
            known[:] = self.known
        if self.pairs is not None:
            weights = self.pairs[:, 0].diagonal(axis1=1, axis2=2)
            known[(weights > 0.0).any(axis=0)] = 1.0
            if not (weights > 0.0).any():
                self.pairs = self.products = None
                self._clock[2] = 0
        self.known[:] = known
        self.changed(self._clock[1])

    def unlearn(self, x: Any, k: int, w: float, *, trial: bool) -> str:
        """Takes an event back out of class k; answers why it cannot have been learned, else "".

        Parameters
        ----------
        x
            (D,), by slot, NaN where missing.
        k, w
            its class and weight, as it was learned.
        trial
            whether to look only, and to change nothing.
        """
        x = x[: self._width]
        there = np.flatnonzero(~np.isnan(x))
        if there.size == 0:
            return ""
        known = self.known[: self._width] > 0.0
        if not known[there].all():
            return "it has less weight there"
        complete = there.size == int(known.sum())
        if self.pairs is None:
            if not complete or self.weights[k, 0] < w * (1.0 - _NOISE):
                return "it has less weight there"
            return self._give(x, there, k, w, trial)
        # A complete event may have come when it was not, or in a shard where it was not.
        weight = self.weights[k, 0] if complete else 0.0
        if (self.pairs[k, 0][np.ix_(there, there)] + weight < w * (1.0 - _NOISE)).any():
            return "it has less weight there"
        if trial:
            return ""
        if complete:
            self.spread()
        return self._give_pairs(x, there, k, w)

    def _give(self, x: Any, there: Any, k: int, w: float, trial: bool) -> str:  # noqa: FBT001
        """Takes back a complete event."""
        weight, weight_lo = self.weights[k].tolist()
        left = (weight - w) + weight_lo
        last = left <= _NOISE * w
        if trial:
            return ""
        self.fold()
        if last:
            self.weights[k] = 0.0
            self.means[k] = 0.0
            if not self.weights.any():
                self.square[:] = 0.0
            self.settle()
            return ""
        part = weight - w
        self.weights[k] = left, (_error(weight, -w, part) + weight_lo) - (left - part)
        mean, mean_lo = self.means[k, :, there].T
        step = ((x[there] - mean) - mean_lo) * (w / left)
        moved = mean - step
        self.means[k, 1, there] = _error(mean, -step, moved) + mean_lo
        self.means[k, 0, there] = moved
        z = ((x[there] - moved) - self.means[k, 1, there]) * np.sqrt(w * (left / weight))
        self.square[np.ix_(there, there)] -= np.multiply.outer(z, z)
        below = self.square.diagonal() <= 0.0
        self.square[below] = 0.0
        self.square[:, below] = 0.0
        self.settle()
        return ""

    def _give_pairs(self, x: Any, there: Any, k: int, w: float) -> str:
        """Takes back an event from each pair of features that it has."""
        at = np.ix_(there, there)
        old = self.pairs[k, 0][at]
        left = old - w
        last = left <= _NOISE * w
        left = np.where(last, 0.0, left)
        some = np.where(last, 1.0, left)
        value = np.repeat(x[there][:, None], there.size, axis=1)
        mean, mean_lo = self.pairs[k, 1][at], self.pairs[k, 2][at]
        step = ((value - mean) - mean_lo) * (w / some)
        moved = mean - step
        moved_lo = _error(mean, -step, moved) + mean_lo
        d = (value - moved) - moved_lo
        lost = np.where(last, 0.0, (d * d.T) * (w * (left / np.where(old > 0.0, old, 1.0))))
        self.pairs[k, 0][at] = left
        self.pairs[k, 1][at] = np.where(last, 0.0, moved)
        self.pairs[k, 2][at] = np.where(last, 0.0, moved_lo)
        sums, error = _sum(self.products[0][at], -lost)
        sums, sums_lo = _sum(sums, self.products[1][at] + error)
        gone = ~(self.pairs[:, 0] > 0.0).any(axis=0)
        self.products[0][at] = sums
        self.products[1][at] = sums_lo
        below = self.products[0].diagonal() <= 0.0
        self.products[:, below] = 0.0
        self.products[:, :, below] = 0.0
        self.products[:, gone] = 0.0
        self.settle()
        return ""


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _step(
    table: cython.double[:, :, ::1],
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    x: cython.double,
    step: cython.double,
    light: cython.bint,
) -> cython.void:
    """Moves the mean of feature i, over the events with j, towards x, or from x towards it."""
    y: cython.double = table[1, i, j] if light else x
    u: cython.double = table[2, i, j] if light else 0.0
    e: cython.double = step if light else -step
    g: cython.double = y + e
    table[1, i, j] = g
    table[2, i, j] = sum_error(y, e, g) + u


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _row(
    data: cython.const[cython.double][:, ::1],  # type: ignore[valid-type]
    r: cython.Py_ssize_t,
) -> cython.p_double:
    """Row r of a table."""
    if cython.compiled:
        return cython.cast(cython.p_double, cython.address(data[r, 0]))
    else:  # noqa: RET505 - the compiler must not see it
        return memoryview(data.obj[r])


def _aligned(shape: tuple[int, ...]) -> Any:
    """Zeros that begin where a vector of eight does."""
    n = math.prod(shape)
    room = np.zeros(n + 8)
    start = -room.ctypes.data // 8 % 8
    return room[start : start + n].reshape(shape)


def _padded(array: Any, shape: tuple[int, ...]) -> Any:
    """A copy of an array with zeros behind it."""
    larger = _aligned(shape)
    larger[tuple(slice(n) for n in array.shape)] = array
    return larger


def _mirrored(square: Any) -> Any:
    """A symmetric matrix of what stands above its diagonal."""
    upper = np.triu(square)
    return upper + np.triu(upper, 1).T


def _error(a: Any, b: Any, s: Any) -> Any:
    """The rounding error of the sum `s = a + b`, of arrays."""
    c = s - a
    return (a - (s - c)) + (b - c)


def _sum(a: Any, b: Any) -> tuple[Any, Any]:
    """The sum of two arrays, and its rounding error."""
    s = a + b
    return s, _error(a, b, s)


def _as_pairs(weight: Any, means: Any, known: Any) -> Any:
    """What complete events are, counted pair by pair: (weight, mean, mean lo), each (D, D)."""
    both = np.logical_and.outer(known, known)
    pairs = np.zeros((3, len(known), len(known)))
    pairs[0] = np.where(both, weight[0], 0.0)
    pairs[1] = np.where(both, means[0][:, None], 0.0)
    pairs[2] = np.where(both, means[1][:, None], 0.0)
    return pairs


def join_pairs(pairs: Any, products: Any, other: Any) -> None:
    """Adds pairs of a class to those of another shard, and what lies between their means.

    The formula of `joining`, in double-double where numbers are large against their differences,
    and symmetric: whichever is added to the other, the bits are the same.

    Parameters
    ----------
    pairs, other
        ((weight, mean, mean lo), D, D); the first is changed in place.
    products
        ((hi, lo), D, D): changed in place.
    """
    a, b = pairs[0], other[0]
    swap, even = a < b, a == b
    heavy, light = np.where(swap, other, pairs), np.where(swap, pairs, other)
    total = heavy[0] + light[0]
    f = light[0] / np.where(total > 0.0, total, 1.0)
    d = (other[1] - pairs[1]) + (other[2] - pairs[2])
    # one product for each pair, of the deviations of both its features
    sums, lost = _sum(products[0], (d * d.T) * (heavy[0] * f))
    mean, error = _sum(heavy[1], np.where(swap, -d, d) * f)
    middle, rest = _sum(0.5 * pairs[1], 0.5 * other[1])
    error = heavy[2] + error
    rest += 0.5 * pairs[2] + 0.5 * other[2]
    products[0] = sums
    products[1] += lost
    pairs[0] = total
    pairs[1] = np.where(even, middle, mean)
    pairs[2] = np.where(even, rest, error)


def learn_rows(
    groups: list[Any],
    apart: cython.bint,
    rows: Any,
    slots: Any,
    classes: Any,
    weights: Any,
    whole: cython.bint,
) -> None:
    """Learns the rows of a table, one after the other, as `ScatterTable.learn` would.

    Parameters
    ----------
    groups
        the `ScatterTable`s, with room for all of it: of each class, or one.
    apart
        whether each class has a group of its own.
    rows
        (n, d) float64, C-contiguous, NaN where missing.
    slots
        (d,) intp, the slot of each column; a column with -1 is passed over.
    classes
        (n,) intp, the class of each row; a row with -1 is passed over.
    weights
        (n,) float64; a row of weight 0 is passed over.
    whole
        whether no value is missing.
    """
    width: cython.Py_ssize_t = groups[0].width() if groups else 0
    group: ScatterTable
    for group in groups:
        group.empty_event()
    straight: cython.bint = len(slots) == width and bool((slots == np.arange(width)).all())
    if not cython.compiled:
        rows, slots = memoryview(rows), memoryview(slots)
        classes, weights = memoryview(classes), memoryview(weights)
    data: cython.const[cython.double][:, ::1] = rows  # type: ignore[valid-type]
    slot: cython.Py_ssize_t[::1] = slots
    k: cython.const[cython.Py_ssize_t][::1] = classes  # type: ignore[valid-type]
    w: cython.const[cython.double][::1] = weights  # type: ignore[valid-type]
    r: cython.Py_ssize_t
    whole = whole and straight and width > 0
    for r in range(data.shape[0]):
        if w[r] == 0.0 or k[r] < 0:
            continue
        group = groups[k[r] if apart else 0]
        if whole and group.is_full:
            group.take(_row(data, r), 0 if apart else k[r], w[r])
        else:
            group.set_event(data, r, slot)
            group.learn_event(0 if apart else k[r], w[r])


def learn_one(self: Any, x: Any, y: Any, w: Any = 1.0, t: Any = None) -> None:
    """Learns one event; bound as a method by the models whose `_scatter` is a `Scatter`.

    Parameters
    ----------
    x
        a mapping of feature names (str, int or tuples of them) to numbers. A feature that is
        absent, `None` or NaN is missing: the event counts for the pairs of features that it has.
    y
        the label: a str, int, bool or float. A label that was never seen is a new class.
    w
        the event's weight, finite and not negative. 0 changes nothing.
    t
        the event's time: seconds since the epoch, or a `datetime` (a naive one is in UTC).
        Needed with a half-life.

    Raises
    ------
    TypeError
        something is of the wrong kind.
    ValueError
        a time is missing; a value or weight is out of range, or a statistic would be.
        Whatever is raised, nothing was learned.
    """
    weight: cython.double = w if type(w) is float else check_weight(w)
    ms: Any = None if t is None else event_time(t)
    # From here on nothing runs Python: no other thread reads an event in between.
    self.learn_moments(x, y, w, t)
    if not weight > 0.0:
        return
    table = self._table
    scatter = self._scatter
    found = scatter.slots.get(y) if type(y) is str or type(y) is int else None
    slot: cython.Py_ssize_t = table.find(y) if found is None else found
    values = table.buffers()[2]
    apart: cython.bint = scatter.apart
    at: cython.Py_ssize_t = slot if apart else 0
    groups: list[Any] = scatter.groups
    fading = table.fading()
    if fading is not None:
        weight = fading.weigh(weight, ms)
    if (
        at >= len(groups)
        or not cython.cast(ScatterTable, groups[at]).has_room(0 if apart else slot, table.width())
        or (fading is not None and fading.landmark != scatter.landmark)
    ):
        values = values.copy()
        scatter.follow()
    if weight > 0.0:
        group: ScatterTable = groups[at]
        group.learn(values, 0 if apart else slot, weight)
