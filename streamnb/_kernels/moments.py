# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Weights, means and sums of squared deviations of K classes by D features, learned in place.

Every number is kept as an unevaluated sum hi + lo of two doubles. One event of weight w moves a
cell of weight W, mean m and sum S by Welford's update in its weighted form (D. H. D. West,
Updating mean and variance estimates, 1979):

    d = x - m;   m += d w/(W + w);   S += d^2 w W/(W + w);   W += w

Sums are compensated (D. E. Knuth's TwoSum), and d, its square and that times w W/(W + w) are
carried in double-double (T. J. Dekker, 1971): no single event, however large, leaves more than its
share of one rounding in S. Where w > W the mean is taken from the other side, x - d W/(W + w), so
that the heavier side is never cancelled (`joining` does the same for two tables).

A cell whose weight is a whole number from 1024 on is settled. Its hi parts stay as they are
while events of weight 1 come that are calm, d^2 <= S/64: of each the share in S is so small that
it may be rounded, and is added to the lo parts alone, in a third of the time. An event that is not
calm, or of another weight, and each that finds a multiple of 4, first brings hi and lo together
again (`calm.h`). So what the lo parts round is their own size, a few shares of a sum of 1024 and
more. All of this goes by the cell and the event, so that it gives the same bits by any cut of the
stream. Where weights fade no cell is settled.

While all events of a class carried all features, the features' weights are the class's own, and
what depends on weights alone is computed once an event (`_learn_whole`); the general loop
(`_learn_part`) does the same arithmetic for each feature and gives the same bits.
"""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels._oracle import cython

from threading import Lock
from typing import Any

import numpy as np

from streamnb.values import as_event, check_weight, event_time, needed_time, number

if not cython.compiled:
    from streamnb._kernels._oracle.arrays import doubles_of, longs_of, onward
    from streamnb._kernels._oracle.calm import (
        are_calm,
        are_calm_together,
        calm_stage,
        calm_stages,
        is_calm,
        take_calm,
    )
    from streamnb._kernels._oracle.fp import (
        Apart,
        Given,
        fused_sum,
        one,
        plain_product_error,
        product_error,
        sum_error,
    )
    from streamnb._kernels._oracle.walk import walk

# The six rows of a class: mean, sum of squared deviations and weight, each hi and lo.
ROWS = 6
_ROWS = cython.declare(cython.Py_ssize_t, ROWS)

_CHUNK = cython.declare(cython.Py_ssize_t, 512)  # so many rows are prepared at once
_BEYOND = cython.declare(cython.double, 1e300)

# So many labels are looked at, as objects, before a hash is.
_NEAR = cython.declare(cython.Py_ssize_t, 8)

# While |x| (or it is 0) and the weights stay within these, no statistic can leave the range of a
# double, and the error of no product can underflow.
SMALL_VALUE = 1e-120
LARGE_VALUE = 1e140
SMALL_WEIGHT = 1e-15
LARGE_WEIGHT = 1e15
_LEAST = cython.declare(cython.double, 1e-290)
_SMALL_VALUE = cython.declare(cython.double, SMALL_VALUE)
_LARGE_VALUE = cython.declare(cython.double, LARGE_VALUE)
_SMALL_WEIGHT = cython.declare(cython.double, SMALL_WEIGHT)
_LARGE_WEIGHT = cython.declare(cython.double, LARGE_WEIGHT)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_ordinary(v: cython.double) -> cython.bint:
    """Whether the size of a value asks for no care."""
    return -_LARGE_VALUE <= v <= _LARGE_VALUE and (
        v >= _SMALL_VALUE or v <= -_SMALL_VALUE or v == 0.0
    )


@cython.cfunc
@cython.exceptval(check=False)
def _steps(
    n: cython.Py_ssize_t,
    weight: Given,
    old: Given,
    old_lo: Given,
    part: Apart,
    product: Apart,
    product_lo: Apart,
    heavy: Apart,
) -> cython.void:
    """What depends on weights alone when each weight w comes to the weight W = old + old_lo.

    That is the lighter side's part of the new weight, w W/(W + w) (hi and lo), and whether w is
    the heavier side, as 1 or 0. Weights are ordinary ones; where either side is 0 the answers
    mean nothing.
    """
    i: cython.Py_ssize_t
    light: cython.bint
    w: cython.double
    s: cython.double
    s_lo: cython.double
    a: cython.double
    a_lo: cython.double
    b: cython.double
    b_lo: cython.double
    f: cython.double
    f_lo: cython.double
    g: cython.double
    q: cython.double
    for i in range(n):
        w = weight[i]
        a = old[i]
        a_lo = old_lo[i]
        light = w <= a
        s = a + w
        s_lo = sum_error(a, w, s) + a_lo
        s = max(s, _LEAST)
        b = a if light else w
        b_lo = a_lo if light else 0.0
        a = w if light else a
        a_lo = 0.0 if light else a_lo
        f = a / s
        g = f * s
        f_lo = ((a - g) - plain_product_error(f, s, g)) + (a_lo - f * s_lo)
        f_lo = f_lo * (1.0 / s)  # a division beside the other one, not after it
        q = b * f
        part[i] = f
        product[i] = q
        product_lo[i] = plain_product_error(b, f, q) + (b * f_lo + b_lo * f)
        heavy[i] = 0.0 if light else 1.0


@cython.cfunc
@cython.exceptval(check=False)
def _take(
    p: cython.p_double,
    m: cython.Py_ssize_t,
    c: cython.Py_ssize_t,
    x: Given,
    n: cython.Py_ssize_t,
    f: cython.double,
    q: cython.double,
    q_lo: cython.double,
    heavy: cython.double,
    stage: cython.double,
    d: cython.p_double,
) -> cython.void:
    """Takes ordinary values x into the n cells at m, whose rows are c apart, all of one weight.

    n is a multiple of 4; d has room for n numbers.
    """
    i: cython.Py_ssize_t
    e: cython.double
    unit: cython.double = one()
    p = onward(p, m)
    lo = onward(p, c)
    squares = onward(p, 2 * c)
    squares_lo = onward(p, 3 * c)
    if stage >= 2.0:
        if (
            are_calm(p, lo, squares, x, n, d)
            if stage == 2.0
            else are_calm_together(p, lo, squares, squares_lo, x, n, d)
        ):
            take_calm(lo, squares_lo, d, n, f, q)
            return
        for i in range(n):
            e = d[i]
            if is_calm(e, squares[i]):
                lo[i] = lo[i] + e * f
                squares_lo[i] = squares_lo[i] + (e * e) * q
            else:
                d[0] = x[i]  # what was there has been used
                mean_i = onward(p, i)
                lo_i = onward(lo, i)
                squares_i = onward(squares, i)
                squares_lo_i = onward(squares_lo, i)
                if stage == 2.0:
                    _tidy(mean_i, lo_i, squares_i, squares_lo_i, 1)
                _take_whole(
                    mean_i, lo_i, squares_i, squares_lo_i, d, 1, f, q, q_lo, heavy != 0.0, unit
                )
        return
    if stage == 1.0:
        _tidy(p, lo, squares, squares_lo, n)
    _take_whole(p, lo, squares, squares_lo, x, n, f, q, q_lo, heavy != 0.0, unit)


@cython.cfunc
@cython.exceptval(check=False)
def _tidy(
    mean: Apart, mean_lo: Apart, squares: Apart, squares_lo: Apart, n: cython.Py_ssize_t
) -> cython.void:
    """Brings the hi and lo parts of n settled cells together again."""
    i: cython.Py_ssize_t
    s: cython.double
    for i in range(n):
        s = mean[i] + mean_lo[i]
        mean_lo[i] = sum_error(mean[i], mean_lo[i], s)
        mean[i] = s
        s = squares[i] + squares_lo[i]
        squares_lo[i] = sum_error(squares[i], squares_lo[i], s)
        squares[i] = s


@cython.cfunc
@cython.exceptval(check=False)
def _take_whole(
    mean: Apart,
    mean_lo: Apart,
    squares: Apart,
    squares_lo: Apart,
    x: Given,
    n: cython.Py_ssize_t,
    f: cython.double,
    q: cython.double,
    q_lo: cython.double,
    heavy: cython.bint,
    unit: cython.double,
) -> cython.void:
    """Takes ordinary values x into n cells of one weight, which is not 0, each with all its digits.

    There are three times as many sums here as products. Some processors add and multiply in
    different units, so a third of the sums is made where the products are (`fused_sum`).
    """
    i: cython.Py_ssize_t
    d: cython.double
    d_lo: cython.double
    e: cython.double
    g: cython.double
    u: cython.double
    y: cython.double
    for i in range(n):
        # the difference d from the mean
        y = x[i]
        u = mean[i]
        d = y - u
        e = d - y
        d_lo = ((y - (d - e)) - (u + e)) - mean_lo[i]
        # m + d f, or x - d f
        e = -((d + d_lo) * f) if heavy else (d + d_lo) * f
        y = y if heavy else u
        u = 0.0 if heavy else mean_lo[i]
        g = y + e
        mean[i] = g
        mean_lo[i] = sum_error(y, e, g) + u
        # S + d^2 q
        e = d * d
        u = plain_product_error(d, d, e) + (d + d + d_lo) * d_lo
        g = e * q
        u = fused_sum(plain_product_error(e, q, g), fused_sum(e * q_lo, u * q, unit), unit)
        y = squares[i]
        e = fused_sum(y, g, unit)
        squares[i] = e
        d = fused_sum(e, -y, unit)
        d_lo = fused_sum(e, -d, unit)
        d = fused_sum(g, -d, unit)
        d_lo = fused_sum(y, -d_lo, unit)
        u = fused_sum(fused_sum(d_lo, d, unit), u, unit)
        squares_lo[i] = squares_lo[i] + u


def _aligned(n: int) -> Any:
    """Zeros, n of them, from where a line of the cache begins: no vector lies across two."""
    array = np.zeros(n + 7)
    first = -(array.ctypes.data // 8) % 8
    return array[first : first + n]


@cython.cclass
class MomentsTable:
    """The cells of all classes and features, and the reading of one event.

    `classes` and `features` are the indexes that give labels and names their slots (see
    `streamnb.stats.index`). Slots are given in order of arrival and never taken back; a slot
    without weight is the same as none. Where `positive`, `read` refuses negative values.

    `fading`, a `streamnb._kernels.fading.Fading`, and `fade`, the function beside it, are given
    where weights fade with the events' times.
    """

    _classes: Any
    _features: Any
    _labels: dict[Any, Any]
    _shown: list[Any]
    _names: dict[Any, Any]
    _order: list[Any]
    _walked: list[Any]  # the names in their order, as the objects that were read last
    _walked_at: cython.longlong  # the clock's second number when they were copied
    _met: list[Any]  # the labels, as the objects that were learned last
    _met_at: cython.longlong
    _cells_array: Any
    _heads_array: Any
    _values_array: Any
    _cells: cython.p_double  # class, row, feature
    _heads: cython.p_double  # class, (weight hi, weight lo, is whole, is tame)
    _values: cython.p_double  # the event that was read, by feature slot
    _deviations_array: Any
    _deviations: cython.p_double  # room for those of an event
    _class_capacity: cython.Py_ssize_t
    _capacity: cython.Py_ssize_t
    _present: cython.Py_ssize_t
    _wild: cython.bint
    _positive: cython.bint
    _pooled: cython.bint
    _lock: Any
    _refusal: str
    _factors_array: Any
    _factors: cython.p_double  # four numbers of `_steps` for one event, and its weight
    _clock_array: Any
    _clock: cython.p_longlong
    _fading: Any
    _fade: Any

    def __init__(
        self,
        classes: Any,
        features: Any,
        positive: cython.bint,
        fading: Any = None,
        fade: Any = None,
    ) -> None:
        self._fading = fading
        self._fade = fade
        self._classes = classes
        self._features = features
        self._labels = classes.slots
        self._shown = classes.order
        self._names = features.slots
        self._order = features.order
        self._walked = []
        self._walked_at = -1
        self._met = []
        self._met_at = -1
        self._class_capacity = 0
        self._capacity = 0
        self._present = 0
        self._wild = False
        self._positive = positive
        self._pooled = False
        self._lock = Lock()
        self._refusal = ""
        self._clock_array = np.zeros(2, dtype=np.int64)
        self._factors_array = np.zeros(5)
        self._factors = doubles_of(self._factors_array)
        self._clock = longs_of(self._clock_array)
        self._cells_array = np.zeros((0, ROWS, 0))
        self._heads_array = np.zeros((0, 4))
        self._values_array = np.zeros(0)
        self.reserve(max(1, len(self._shown)), max(1, len(self._order)))

    # -- storage ---------------------------------------------------------------------------

    @cython.ccall
    def reserve(self, classes: cython.Py_ssize_t, features: cython.Py_ssize_t) -> None:
        """Makes room for so many classes and features; what is there stays.

        To be called whenever the indexes have grown.
        """
        k: cython.Py_ssize_t = self._class_capacity
        c: cython.Py_ssize_t = self._capacity
        if classes <= k and features <= c:
            return
        if classes > k:
            k = max(classes, k + k // 2)
        if features > c:
            c = (max(features, c + c // 2) + 7) // 8 * 8
        cells = _aligned(k * ROWS * c).reshape(k, ROWS, c)
        cells[: self._class_capacity, :, : self._capacity] = self._cells_array
        heads = np.zeros((k, 4))
        heads[:, 2:] = 1.0
        heads[: self._class_capacity] = self._heads_array
        self._cells_array = cells
        self._heads_array = heads
        values = _aligned(c)
        values[: self._capacity] = self._values_array
        self._values_array = values
        self._deviations_array = _aligned(c)
        self._class_capacity = k
        self._capacity = c
        self._clock[1] += 1
        flat = cells.reshape(-1)
        flat_heads = heads.reshape(-1)
        self._cells = doubles_of(flat)
        self._heads = doubles_of(flat_heads)
        self._values = doubles_of(self._values_array)
        self._deviations = doubles_of(self._deviations_array)

    def cells(self) -> Any:
        """The cells as an array (class slot, row, feature slot) of float64: a view, not a copy."""
        cells = self._cells_array[: len(self._shown), :, : len(self._order)]
        heads = self._heads_array[: len(self._shown)]
        whole = heads[:, 2] == 1.0
        cells[whole, 4:] = heads[whole, :2, None]
        return cells

    def class_weights(self) -> Any:
        """The weight of each class slot as an array (class slot, (hi, lo)): a view."""
        return self._heads_array[: len(self._shown), :2]

    def buffers(self) -> Any:
        """What a scorer reads in place, until the second number of the clock changes.

        Returns
        -------
        cells, (K, 6, D) with room to spare, the weights only where a class is not whole;
        heads, (K, 4): weight hi and lo, whether whole, whether tame;
        values, (D,): the event that `read` has read, NaN where a feature is missing;
        clock, (2,) int64: changes of the statistics, and those of labels, features or places.
        """
        return self._cells_array, self._heads_array, self._values_array, self._clock_array

    def is_tame(self) -> bool:
        """Whether an event of ordinary size needs no care in any class."""
        k: cython.Py_ssize_t
        tame: cython.bint = True
        for k in range(len(self._shown)):
            tame = tame and self._heads[4 * k + 3] == 1.0
        return bool(tame)

    def is_bounded(self) -> bool:
        """Whether no event of ordinary size can make any statistic infinite."""
        k: cython.Py_ssize_t
        bounded: cython.bint = True
        for k in range(len(self._shown)):
            bounded = bounded and self._heads[4 * k + 3] != 0.0
        return bool(bounded)

    def put(self, cells: Any, weights: Any) -> None:
        """Puts cells (K, 6, D) and class weights (K, 2) in place of those that are there."""
        self._cells_array[: cells.shape[0], :, : cells.shape[2]] = cells
        self._heads_array[: cells.shape[0], :2] = weights
        k: cython.Py_ssize_t
        for k in range(cells.shape[0]):
            self._describe(k)
        self._clock[0] += 1
        self._clock[1] += 1

    def settle(self, k: int) -> None:
        """Says that the numbers of class slot k, in `buffers`, were changed in place.

        Each feature's weight has been written, also where the class was whole.
        """
        self._describe(k)
        self._clock[0] += 1

    @cython.cfunc
    def _describe(self, k: cython.Py_ssize_t) -> None:
        """Writes into the head of a class whether it is whole, and whether it is tame.

        Whole: each feature has the class's own weight. Tame: no event of ordinary size can make
        a statistic infinite (1/2 then), nor the error of a product underflow (1).
        """
        c: cython.Py_ssize_t = self._capacity
        m: cython.Py_ssize_t = k * _ROWS * c
        i: cython.Py_ssize_t
        p = self._cells
        w: cython.double = self._heads[4 * k]
        w_lo: cython.double = self._heads[4 * k + 1]
        whole: cython.bint = True
        tame: cython.bint = w <= _LARGE_WEIGHT
        light: cython.bint = 0.0 < w < _SMALL_WEIGHT
        for i in range(len(self._order)):
            whole = whole and p[m + 4 * c + i] == w and p[m + 5 * c + i] == w_lo
            tame = tame and _is_ordinary(p[m + i]) and p[m + 2 * c + i] <= 1e300
        self._heads[4 * k + 2] = 1.0 if whole else 0.0
        self._heads[4 * k + 3] = (0.5 if light else 1.0) if tame else 0.0

    def find(self, y: Any) -> Any:
        """The slot of a class, `None` where it has none; raises where y is no label."""
        return self._classes.find(y)

    def width(self) -> int:
        """The number of feature slots."""
        return len(self._order)

    def name(self, i: int) -> Any:
        """The name of a feature slot."""
        return self._order[i]

    def names(self) -> list[Any]:
        """The names of the feature slots, as a list of its own."""
        return list(self._order)

    def label(self, k: int) -> Any:
        """The label of a class slot."""
        return self._shown[k]

    # -- reading one event -----------------------------------------------------------------

    def read(self, x: Any) -> Any:
        """Reads an event's features into `values`, and checks all of them.

        Answers the list of the names that have values and no slot, `None` where there are none.
        All that may run Python comes before the first value is written, so that threads which ask
        one model do not read each other's events.
        """
        return self._read(x)

    @cython.cfunc
    def _read(self, x: Any) -> Any:
        event: dict[Any, Any] = x if type(x) is dict else as_event(x)
        n: cython.Py_ssize_t = len(self._order)
        if self._walked_at != self._clock[1]:
            self._walked = list(self._order)
            self._walked_at = self._clock[1]
        i: cython.Py_ssize_t = walk(event, self._walked, self._values, _SMALL_VALUE, _LARGE_VALUE)
        if i < 0 or (self._positive and self._is_negative(i)):
            return self._read_any(event)
        self._present = i
        self._wild = False
        while i < n:
            self._values[i] = float("nan")
            i += 1
        return None

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_negative(self, n: cython.Py_ssize_t) -> cython.bint:
        """Whether any of the first n values is below 0."""
        i: cython.Py_ssize_t
        low: cython.double = 0.0
        for i in range(n):
            low = min(low, self._values[i])
        return low < 0.0

    @cython.cfunc
    def _read_any(self, event: dict[Any, Any]) -> Any:
        """`read` for features in any order and of any kind, missing and new ones among them."""
        v: cython.double
        wild: cython.bint = False
        slots: list[Any] = []
        numbers: list[Any] = []
        new: list[Any] = []
        for name, value in event.items():
            slot = self._names.get(name) if type(name) is str else None
            if slot is None:
                slot = self._features.find(name)
            v = value if type(value) is float else _number(value, name)
            if v < 0.0 and self._positive:
                number(value, name, positive=True)
            if not _is_ordinary(v):
                v = number(value, name)
                wild = wild or v == v
            if v != v:
                continue
            if slot is None:
                new.append(name)
            else:
                slots.append(slot)
                numbers.append(v + 0.0)
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        values = self._values
        for i in range(len(self._order)):
            values[i] = float("nan")
        for i in range(len(slots)):
            at = slots[i]
            values[at] = numbers[i]
        self._present = len(slots)
        self._wild = wild
        return new or None

    # -- learning --------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def _slot(self, y: Any) -> cython.Py_ssize_t:
        """The slot of a class, -1 where it has none; raises where y is no label."""
        k: cython.Py_ssize_t
        if self._met_at == self._clock[1]:
            for k in range(min(len(self._met), _NEAR)):
                if y is self._met[k]:
                    return k
        slot = self._labels.get(y) if type(y) is str or type(y) is int else None
        if slot is None or type(y) is not type(self._shown[slot]):
            slot = self._classes.find(y)
        if slot is None:
            return -1
        k = slot
        if self._met_at != self._clock[1]:
            self._met = list(self._shown)
            self._met_at = self._clock[1]
        if k < len(self._met) and type(y) is type(self._shown[k]):
            self._met[k] = y
        return k

    @cython.cfunc
    def learn(self, x: Any, y: Any, w: Any, t: Any) -> None:
        """Learns one event; raises and changes nothing where any part of it is refused."""
        k: cython.Py_ssize_t
        weight: cython.double = w if type(w) is float else -1.0
        if not 0.0 <= weight <= _LARGE_WEIGHT:
            weight = check_weight(w)
        if t is not None and not _is_time(t):
            event_time(t)
        k = self._slot(y)
        new = self._read(x)
        if self._fading is not None:
            self._learn_fading(x, y, weight, t, k, new)
            return
        if weight == 0.0:
            return
        is_new: cython.bint = k < 0
        if is_new or new is not None:
            k = self._admit(y, new or [])
            self._read(x)  # again, now that each name has its slot
        if (
            self._wild
            or not _SMALL_WEIGHT <= weight <= _LARGE_WEIGHT
            or self._heads[4 * k + 3] != 1.0
        ):
            if not self._try_row(k, weight):
                refusal = self._refusal
                self._dismiss(y if is_new else None, new or [])
                raise ValueError(refusal)
        else:
            self._learn_row(k, weight)
        self._clock[0] += 1
        if type(y) is not type(self._shown[k]):
            self._show(y, k)

    @cython.cfunc
    def _learn_fading(
        self,
        x: Any,
        y: Any,
        weight: cython.double,
        t: Any,
        k: cython.Py_ssize_t,
        new: Any,
    ) -> None:
        """The rest of `learn` where weights fade: the landmark moves before the event counts.

        An event that has faded to nothing makes its class, and else changes nothing.
        """
        ms = needed_time(t)
        shift = self._fading.shift(ms)
        faded: cython.double = self._fading.weigh(weight, ms)
        if weight == 0.0:
            return
        names: list[Any] = new if new is not None and faded > 0.0 else []
        is_new: cython.bint = k < 0
        if is_new or names:
            k = self._admit(y, names)
        before: Any = (self._cells_array.copy(), self._heads_array.copy()) if shift else None
        if shift:
            self.fade(shift)
        if faded > 0.0:
            self._read(x)  # again, now that each name has its slot
            if (
                self._wild
                or not _SMALL_WEIGHT <= faded <= _LARGE_WEIGHT
                or self._heads[4 * k + 3] != 1.0
            ):
                if not self._try_row(k, faded):
                    refusal = self._refusal
                    if shift:
                        self._cells_array[:], self._heads_array[:] = before
                    self._dismiss(y if is_new else None, names)
                    raise ValueError(refusal)
            else:
                self._learn_row(k, faded)
        self._fading.move(ms)
        self._clock[0] += 1
        if type(y) is not type(self._shown[k]):
            self._show(y, k)

    def fade(self, shift: int) -> None:
        """Moves what was seen to a landmark that is so many half-lives later."""
        cells, weights = self.cells(), self.class_weights()
        self._fade(cells, weights, shift)
        self.put(cells, weights)

    def fading(self) -> Any:
        """What weights fade by; `None` where they do not."""
        return self._fading

    def present(self) -> Any:
        """What stored weights are multiplied by to be those of the newest time, (1,), in place."""
        return np.ones(1) if self._fading is None else self._fading.present()

    def learn_event(self, x: Any, y: Any) -> None:
        """Learns one event of weight 1."""
        self.learn(x, y, 1.0, None)

    def _show(self, y: Any, k: int) -> None:
        """Lets a class be shown as y where that is a higher kind than before."""
        before = self._shown[k]
        self._classes.add(y)
        if self._shown[k] is not before:
            self._clock[1] += 1

    def _admit(self, y: Any, names: list[Any]) -> int:
        """Gives a label and new names their slots; answers the label's.

        There is room before there is a slot, also while another thread reads.
        """
        with self._lock:
            self.reserve(len(self._shown) + 1, len(self._order) + len(names))
            if names:
                self.spread()
            for name in names:
                self._features.add(name)
            slot = self._classes.find(y)
            if slot is None:
                slot = self._classes.add(y)
            self._clock[1] += 1
        return int(slot)

    def _dismiss(self, y: Any, names: list[Any]) -> None:
        """Takes back what `_admit` gave; y is `None` where the label had a slot before."""
        with self._lock:
            self._features.drop(names)
            if y is not None:
                self._classes.drop([y])
            self._clock[1] += 1

    def changed(self) -> None:
        """Says that labels or features have come from elsewhere: what is derived is out of date."""
        self._clock[1] += 1

    def spread(self) -> None:
        """Lets features have other weights than their class: to be called before new ones come."""
        k: cython.Py_ssize_t
        for k in range(len(self._shown)):
            self._spread_weight(k)

    @cython.cfunc
    def _spread_weight(self, k: cython.Py_ssize_t) -> None:
        """Writes a whole class's weight to each of its features: from here on they may differ."""
        i: cython.Py_ssize_t
        o: cython.Py_ssize_t = k * _ROWS * self._capacity
        p = self._cells
        h = self._heads
        if h[4 * k + 2] == 0.0 or h[4 * k] == 0.0:
            return
        h[4 * k + 2] = 0.0
        for i in range(len(self._order)):
            p[o + 4 * self._capacity + i] = h[4 * k]
            p[o + 5 * self._capacity + i] = h[4 * k + 1]

    @cython.cfunc
    def _try_row(self, k: cython.Py_ssize_t, w: cython.double) -> cython.bint:
        """`_learn_row` with care, undone (False) where a statistic is not finite afterwards."""
        cells = self._cells_array[k].copy()
        heads = self._heads_array[k].copy()
        self._spread_weight(k)
        self._learn_part(k, w)
        _add_weight(self._heads, 4 * k, w)
        finite = np.isfinite(self._cells_array[k]).all(axis=0)
        if self._pooled:
            with np.errstate(over="ignore", invalid="ignore"):
                finite &= np.isfinite(self._cells_array[:, 2].sum(axis=0))
        bad = np.flatnonzero(~finite)
        label = self._shown[k]
        if not np.isfinite(self._heads_array[k]).all():
            what = f"the weight with w={w!r}"
        elif bad.size:
            what = f"feature {self._order[bad[0]]!r} with the value {self._values[bad[0]]!r}"
        else:
            self._describe(k)
            return True
        self._refusal = f"{what} would make statistics of class {label!r} infinite"
        self._cells_array[k] = cells
        self._heads_array[k] = heads
        return False

    def pool(self, pooled: cython.bint) -> None:
        """Whether to refuse, too, what makes a feature's squares in all classes infinite."""
        self._pooled = pooled

    def is_pooled(self) -> bool:
        """Whether it does."""
        return bool(self._pooled)

    def refusal(self) -> str:
        """Why the last row that was not learned was not."""
        return self._refusal

    @cython.cfunc
    @cython.inline
    def _learn_row(self, k: cython.Py_ssize_t, w: cython.double) -> None:
        """Takes the event in `values` into class k with weight w > 0."""
        h = self._heads
        if self._present == len(self._order) and h[4 * k + 2] != 0.0:
            self._learn_whole(k, w)
        else:
            self._spread_weight(k)
            if h[4 * k] == 0.0:
                h[4 * k + 2] = 0.0
            self._learn_part(k, w)
        _add_weight(h, 4 * k, w)

    @cython.cfunc
    def _learn_whole(self, k: cython.Py_ssize_t, w: cython.double) -> None:
        """Takes the event in `values` into class k, all of whose features have its weight."""
        h = self._heads
        x = self._values
        c: cython.Py_ssize_t = self._capacity
        m: cython.Py_ssize_t = k * _ROWS * c
        n: cython.Py_ssize_t = len(self._order)
        i: cython.Py_ssize_t
        if h[4 * k] == 0.0:
            for i in range(n):
                self._cells[m + i] = x[i]
            return
        while n & 3:
            x[n] = 0.0
            n += 1
        f = self._factors
        f[4] = w
        h = onward(h, 4 * k)
        _steps(1, onward(f, 4), h, onward(h, 1), f, onward(f, 1), onward(f, 2), onward(f, 3))
        stage: cython.double = 0.0 if self._fading is not None else calm_stage(w, h[0], h[1])
        _take(self._cells, m, c, x, n, f[0], f[1], f[2], f[3], stage, self._deviations)

    @cython.cfunc
    def _learn_part(self, k: cython.Py_ssize_t, w: cython.double) -> None:
        """One event, each feature with a weight of its own; a missing feature stays as it is."""
        p = self._cells
        x = self._values
        n: cython.Py_ssize_t = len(self._order)
        c: cython.Py_ssize_t = self._capacity
        m: cython.Py_ssize_t = k * _ROWS * c
        i: cython.Py_ssize_t
        there: cython.bint
        light: cython.bint
        first: cython.bint
        calm: cython.bint
        apart: cython.bint
        lasting: cython.bint = self._fading is None
        stage: cython.double
        hi: cython.double
        lo: cython.double
        old: cython.double
        old_lo: cython.double
        mean: cython.double
        mean_lo: cython.double
        squares: cython.double
        squares_lo: cython.double
        s: cython.double
        s_lo: cython.double
        a: cython.double
        b: cython.double
        f: cython.double
        f_lo: cython.double
        q: cython.double
        q_lo: cython.double
        d: cython.double
        d_lo: cython.double
        e: cython.double
        g: cython.double
        u: cython.double
        y: cython.double
        for i in range(n):
            y = x[i]
            there = y == y
            old = p[m + 4 * c + i]
            old_lo = p[m + 5 * c + i]
            light = w <= old
            first = old == 0.0
            s = old + w
            s_lo = sum_error(old, w, s) + old_lo
            a = w if light else old
            b = old if light else w
            f = a / s
            g = f * s
            e = (0.0 if light else old_lo) - f * s_lo
            f_lo = (((a - g) - product_error(f, s, g)) + e) * (1.0 / max(s, _LEAST))
            q = b * f
            q_lo = product_error(b, f, q) + (b * f_lo + (old_lo if light else 0.0) * f)
            mean = p[m + i]
            mean_lo = p[m + c + i]
            squares = p[m + 2 * c + i]
            squares_lo = p[m + 3 * c + i]
            stage = calm_stage(w, old, old_lo) if lasting else 0.0
            # hi and lo together, and as the event finds them
            g = mean + mean_lo
            u = sum_error(mean, mean_lo, g)
            e = squares + squares_lo
            d = sum_error(squares, squares_lo, e)
            apart = stage == 2.0
            hi = mean if apart else g
            lo = mean_lo if apart else u
            a = squares if apart else e
            b = squares_lo if apart else d
            mean = g if stage > 0.0 else mean
            mean_lo = u if stage > 0.0 else mean_lo
            squares = e if stage > 0.0 else squares
            squares_lo = d if stage > 0.0 else squares_lo
            d = (y - hi) - lo
            calm = (stage >= 2.0) & is_calm(d, a)
            lo = lo + d * f
            b = b + (d * d) * q
            d = y - mean
            e = d - y
            d_lo = ((y - (d - e)) - (mean + e)) - mean_lo
            d = 0.0 if first else d
            d_lo = 0.0 if first else d_lo
            e = (d + d_lo) * f if light else -((d + d_lo) * f)
            y = mean if light else y
            u = mean_lo if light else 0.0
            g = y + e
            u = sum_error(y, e, g) + u
            g = hi if calm else g
            u = lo if calm else u
            p[m + i] = g if there else p[m + i]
            p[m + c + i] = u if there else p[m + c + i]
            e = d * d
            u = product_error(d, d, e) + (d + d + d_lo) * d_lo
            g = e * q
            u = product_error(e, q, g) + (e * q_lo + u * q)
            e = squares + g
            u = squares_lo + (sum_error(squares, g, e) + u)
            e = a if calm else e
            u = b if calm else u
            p[m + 2 * c + i] = e if there else p[m + 2 * c + i]
            p[m + 3 * c + i] = u if there else p[m + 3 * c + i]
            g = s + s_lo
            u = s_lo - (g - s)
            p[m + 4 * c + i] = g if there else old
            p[m + 5 * c + i] = u if there else old_lo

    # -- learning many events --------------------------------------------------------------

    @cython.cfunc
    def _learn_plain(self, rows: Any, classes: Any, weights: Any) -> None:
        """Learns rows of ordinary values, all features there, in classes that are whole.

        What depends on weights alone comes first, so that the rows themselves are nothing but
        vector instructions. These run four cells at a time, beyond the last feature too: there they
        take what follows the row in memory, into cells that find all of it calm and are made 0
        again at the end.
        """
        data: cython.const[cython.double][:, ::1] = rows  # type: ignore[valid-type]
        k: cython.Py_ssize_t[::1] = classes
        w: cython.double[::1] = weights
        n: cython.Py_ssize_t = rows.shape[0]
        d: cython.Py_ssize_t = rows.shape[1]
        c: cython.Py_ssize_t = self._capacity
        wide: cython.Py_ssize_t = (d + 3) // 4 * 4
        r: cython.Py_ssize_t
        j: cython.Py_ssize_t
        i: cython.Py_ssize_t
        m: cython.Py_ssize_t
        first: cython.Py_ssize_t
        size: cython.Py_ssize_t
        apart: cython.Py_ssize_t = _ROWS * c
        inside: cython.Py_ssize_t = n - 1 - (wide - 1) // d  # the last row with `wide` numbers
        lasting: cython.bint = self._fading is None
        chunk: cython.Py_ssize_t = min(n, _CHUNK)
        array = np.empty(8 * chunk)
        # of each row of a chunk: its class's weight before it, what `_steps` says, its stage
        if cython.compiled:
            view: cython.double[::1] = array
            old: cython.p_double = cython.address(view[0])
        else:
            old = memoryview(array.data)
        old_lo = onward(old, chunk)
        f = onward(old, 2 * chunk)
        q = onward(old, 3 * chunk)
        q_lo = onward(old, 4 * chunk)
        heavy = onward(old, 5 * chunk)
        stage = onward(old, 6 * chunk)
        weight = onward(old, 7 * chunk)
        deviations = self._deviations
        h = self._heads
        p = self._cells
        x = self._values
        for j in range(len(self._shown)):
            for i in range(d, wide):
                p[(j * _ROWS + 2) * c + i] = _BEYOND
        for first in range(0, n, chunk):
            size = min(chunk, n - first)
            for r in range(size):
                j = 4 * k[first + r]
                old[r] = h[j]
                old_lo[r] = h[j + 1]
                weight[r] = w[first + r]
                stage[r] = 0.0
                _add_weight(h, j, weight[r])
            all_calm = lasting and calm_stages(size, weight, old, old_lo, stage, f, q)
            if not all_calm:
                _steps(size, weight, old, old_lo, f, q, q_lo, heavy)
            for r in range(size):
                j = first + r
                m = k[j] * apart
                if q[r] == 0.0:  # the row has no weight, or the class had none before it
                    for i in range(d if weight[r] > 0.0 else 0):
                        p[m + i] = data[j, i] + 0.0
                    continue
                row: Given = x
                if cython.compiled and j <= inside:
                    row = cython.address(data[j, 0])
                else:
                    for i in range(wide):
                        x[i] = data[j, i] if i < d else 0.0
                cell = onward(p, m)
                lo = onward(cell, c)
                s = onward(lo, c)
                # as `_take` does, without the call to it
                if stage[r] >= 2.0 and (
                    are_calm(cell, lo, s, row, wide, deviations)
                    if stage[r] == 2.0
                    else are_calm_together(cell, lo, s, onward(s, c), row, wide, deviations)
                ):
                    take_calm(lo, onward(s, c), deviations, wide, f[r], q[r])
                    continue
                if all_calm:
                    f_r = onward(f, r)
                    q_r = onward(q, r)
                    weight_r = onward(weight, r)
                    old_r = onward(old, r)
                    old_lo_r = onward(old_lo, r)
                    _steps(
                        1, weight_r, old_r, old_lo_r, f_r, q_r, onward(q_lo, r), onward(heavy, r)
                    )
                _take(p, m, c, row, wide, f[r], q[r], q_lo[r], heavy[r], stage[r], deviations)
        for j in range(len(self._shown)):
            for i in range(d, wide):
                for r in range(_ROWS):
                    p[(j * _ROWS + r) * c + i] = 0.0

    def learn_rows(
        self, rows: Any, slots: Any, classes: Any, weights: Any, plain: cython.bint
    ) -> int:
        """Learns the rows of a table, one after the other, as `learn` would.

        Parameters
        ----------
        rows
            (n, d) float64, C-contiguous, NaN where missing, finite else.
        slots
            (d,) intp, the feature slot of each column.
        classes
            (n,) intp, the class slot of each row.
        weights
            (n,) float64, finite and not negative; rows of weight 0 are passed over.
        plain
            whether the table is tame, no value is missing, and all values and weights are of
            ordinary size (SMALL_VALUE to LARGE_VALUE, SMALL_WEIGHT to LARGE_WEIGHT, or 0).

        Returns
        -------
        -1, or the position of the first row that would make a statistic infinite; then the
        rows before it have been learned. It is -1 for certain where all but missing values is
        plain.
        """
        straight: cython.bint = True
        if not cython.compiled:
            rows, slots = memoryview(rows), memoryview(slots)
            classes, weights = memoryview(classes), memoryview(weights)
        data: cython.const[cython.double][:, ::1] = rows  # type: ignore[valid-type]
        slot: cython.Py_ssize_t[::1] = slots
        k: cython.Py_ssize_t[::1] = classes
        w: cython.double[::1] = weights
        values = self._values
        heads = self._heads
        n: cython.Py_ssize_t = rows.shape[0]
        d: cython.Py_ssize_t = rows.shape[1]
        r: cython.Py_ssize_t
        j: cython.Py_ssize_t
        present: cython.Py_ssize_t
        wild: cython.Py_ssize_t
        v: cython.double
        for j in range(d):
            straight = straight and slot[j] == j
        plain = plain and straight and 0 < d == len(self._order)
        for j in range(len(self._shown)):
            plain = plain and heads[4 * j + 2] != 0.0
        if plain:
            self._learn_plain(rows, classes, weights)
            self._clock[0] += 1
            return -1
        self._values_array[:] = np.nan
        for r in range(n):
            if w[r] == 0.0:
                continue
            present = 0
            wild = 0
            for j in range(d):
                v = data[r, j]
                present += v == v
                wild += v == v and not _is_ordinary(v)
            if straight:
                for j in range(d):
                    values[j] = data[r, j] + 0.0
            else:
                for j in range(d):
                    values[slot[j]] = data[r, j] + 0.0
            self._present = present
            if wild or not _SMALL_WEIGHT <= w[r] <= _LARGE_WEIGHT or heads[4 * k[r] + 3] != 1.0:
                if not self._try_row(k[r], w[r]):
                    return int(r)
            else:
                self._learn_row(k[r], w[r])
        self._clock[0] += 1
        return -1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _add_weight(h: cython.p_double, i: cython.Py_ssize_t, w: cython.double) -> cython.void:
    """Adds w to the weight h[i] + h[i + 1], which stays normalised."""
    s: cython.double = h[i] + w
    e: cython.double = sum_error(h[i], w, s) + h[i + 1]
    if e == 0.0:  # whole weights: the next row need not wait for the error
        h[i] = s
        h[i + 1] = 0.0
    else:
        h[i] = s + e
        h[i + 1] = e - (h[i] - s)


@cython.cfunc
@cython.inline
def _is_time(t: object) -> cython.bint:
    """Whether t is a plain number of seconds that is surely a time."""
    return type(t) is float and -1e15 <= cython.cast(float, t) <= 1e15


@cython.cfunc
@cython.inline
@cython.exceptval(-1.0, check=True)
def _number(value: object, name: object) -> cython.double:
    """`number` with a short way for whole numbers."""
    v: cython.double
    if type(value) is int:
        try:
            v = value
        except OverflowError:
            return number(value, name)
        return v
    return number(value, name)


def learn_one(self: Any, x: Any, y: Any, w: Any = 1.0, t: Any = None) -> None:
    """Learns one event; bound as a method by the models whose `_table` is a `MomentsTable`.

    Parameters
    ----------
    x
        a mapping of feature names (str, int or tuples of them) to numbers. A feature that is
        absent, `None` or NaN is missing: not learned.
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
    table: MomentsTable = self._table
    table.learn(x, y, w, t)
