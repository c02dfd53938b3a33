# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Takes one event back out of a table of moments: Welford's update, run backwards.

With W, m, S what is there and w, x what goes, W' = W - w is what stays, and

    m' = m - (x - m) w/W';   S' = S - (x - m')^2 w W'/W

Where w <= W' the step of the mean is found as learning rounds it, e = (x - m') w/W with m' = m - e,
so that the event that came last mostly goes without a trace; where w is the heavier side, learning
has kept m = x - (x - m') W'/W, and that is solved for m'. All else is in double-double, as in
learning.
"""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels._oracle import cython

from typing import Any

import numpy as np

from streamnb.values import check_weight, event_time, needed_time

if cython.compiled:
    from cython.cimports.libc.math import fabs, sqrt
else:
    from math import fabs, sqrt

    from streamnb._kernels._oracle.fp import product_error, sum_error

# What is smaller than this part of what is taken away is rounding: of a weight, of a sum of
# squares; and how far a value may be from one that is there to be that one.
_WEIGHT_NOISE = cython.declare(cython.double, 1e-9)
_SQUARES_NOISE = cython.declare(cython.double, 1e-10)
_VALUE_NOISE = cython.declare(cython.double, 1e-9)
_ULP = cython.declare(cython.double, 2.220446049250313e-16)

# What becomes of a feature: see `_take_back`.
_KEPT = cython.declare(cython.int, 0)
_GONE = cython.declare(cython.int, 1)
_TOO_LIGHT = cython.declare(cython.int, 2)
_ANOTHER = cython.declare(cython.int, 3)
_NEGATIVE = cython.declare(cython.int, 4)
_BELOW = cython.declare(cython.int, 5)


@cython.cfunc
@cython.exceptval(check=False)
def _without(
    pair: cython.double[::1], old: cython.double, old_lo: cython.double, w: cython.double
) -> cython.bint:
    """Writes what is left of a weight into `pair`, hi and lo; whether as much was there.

    What is within rounding of nothing is nothing.
    """
    s: cython.double = old - w
    e: cython.double = sum_error(old, -w, s) + old_lo
    left: cython.double = s + e
    pair[0] = left
    pair[1] = e - (left - s)
    if left > _WEIGHT_NOISE * w:
        return True
    pair[0] = 0.0
    pair[1] = 0.0
    return left >= -_WEIGHT_NOISE * w


@cython.cfunc
@cython.exceptval(check=False)
def _is_there(
    cells: cython.double[:, :, ::1],
    heads: cython.double[:, ::1],
    classes: cython.Py_ssize_t,
    k: cython.Py_ssize_t,
    i: cython.Py_ssize_t,
    x: cython.double,
    faded: cython.double,
) -> cython.bint:
    """Whether x is the mean of cell (k, i), within what rounding may have left there.

    That is a part of the value itself, or of 1, the larger the more the value has `faded` against
    those that moved the mean; and in a cell that shows traces of values which
    have come and gone, a part of the size that the feature has in other classes, and as much as
    the standard deviation that is there, which should be 0.
    """
    j: cython.Py_ssize_t
    weight: cython.double
    mean: cython.double = cells[k, 0, i]
    size: cython.double = max(fabs(x), fabs(mean), 1.0)
    distance: cython.double = fabs((x - mean) - cells[k, 1, i])
    if distance <= max(_VALUE_NOISE, 4.0 * _ULP * faded) * size:
        return True
    if cells[k, 1, i] == 0.0 and cells[k, 2, i] == 0.0 and cells[k, 3, i] == 0.0:
        return False
    for j in range(classes):
        weight = heads[j, 0] if heads[j, 2] != 0.0 else cells[j, 4, i]
        if weight > 0.0 and j != k:
            size = max(size, fabs(cells[j, 0, i]) + sqrt(cells[j, 2, i] / weight))
    weight = heads[k, 0] if heads[k, 2] != 0.0 else cells[k, 4, i]
    return distance <= max(_VALUE_NOISE * size, sqrt(cells[k, 2, i] / weight))


@cython.cfunc
@cython.exceptval(check=False)
def _take_back(
    cells: cython.double[:, :, ::1],
    heads: cython.double[:, ::1],
    classes: cython.Py_ssize_t,
    k: cython.Py_ssize_t,
    i: cython.Py_ssize_t,
    x: cython.double,
    w: cython.double,
    fresh: cython.double,
    pair: cython.double[::1],
    out: cython.double[:, ::1],
) -> cython.int:
    """Writes into column i of `out` what cell (k, i) is without the value x of weight w.

    An event of the newest time would count `fresh`. Squares are rounded as they were learned, when
    the value may have counted so much, and at a distance d made up d^2 `fresh` of them.

    Returns
    -------
    _KEPT, or _GONE where nothing is left; or why it cannot have been learned: _TOO_LIGHT,
    _ANOTHER (the last value is not x), _NEGATIVE (the sum of squares would be).
    """
    whole: cython.bint = heads[k, 2] != 0.0
    old: cython.double = heads[k, 0] if whole else cells[k, 4, i]
    old_lo: cython.double = heads[k, 1] if whole else cells[k, 5, i]
    # in settled cells hi and lo may be apart
    mean: cython.double = cells[k, 0, i] + cells[k, 1, i]
    mean_lo: cython.double = sum_error(cells[k, 0, i], cells[k, 1, i], mean)
    squares: cython.double = cells[k, 2, i] + cells[k, 3, i]
    squares_lo: cython.double = sum_error(cells[k, 2, i], cells[k, 3, i], squares)
    j: cython.Py_ssize_t
    a: cython.double
    a_lo: cython.double
    f: cython.double
    f_lo: cython.double
    q: cython.double
    q_lo: cython.double
    d: cython.double
    d_lo: cython.double
    e: cython.double
    g: cython.double
    u: cython.double
    if not (old > 0.0 and _without(pair, old, old_lo, w)):
        return _TOO_LIGHT
    left: cython.double = pair[0]
    left_lo: cython.double = pair[1]
    if left == 0.0:
        for j in range(6):
            out[j, i] = 0.0
        return _GONE if _is_there(cells, heads, classes, k, i, x, fresh / w) else _ANOTHER
    light: cython.bint = w <= left
    # f: the lighter side's part of the old weight; q = w W'/W
    a = w if light else left
    a_lo = 0.0 if light else left_lo
    f = a / old
    g = f * old
    f_lo = (((a - g) - product_error(f, old, g)) + (a_lo - f * old_lo)) / old
    a = left if light else w
    a_lo = left_lo if light else 0.0
    q = a * f
    q_lo = product_error(a, f, q) + (a * f_lo + a_lo * f)
    # d: from the mean that stays to x
    if light:
        e = ((x - mean) - mean_lo) * (w / left)
        for _ in range(3):
            g = mean - e
            u = sum_error(mean, -e, g) + mean_lo
            d = x - g
            d_lo = sum_error(x, -g, d) - u
            e = (d + d_lo) * f
        g = mean - e
        u = sum_error(mean, -e, g) + mean_lo
        d = x - g
        d_lo = sum_error(x, -g, d) - u
    else:
        e = x - mean
        u = sum_error(x, -mean, e) - mean_lo
        d = e / f
        g = d * f
        d_lo = (((e - g) - product_error(d, f, g)) + (u - d * f_lo)) / f
        g = x - d
        u = sum_error(x, -d, g) - d_lo
    out[0, i] = g + u
    out[1, i] = u - (out[0, i] - g)
    # S - d^2 q
    e = d * d
    u = product_error(d, d, e) + (d + d + d_lo) * d_lo
    g = e * q
    u = product_error(e, q, g) + (e * q_lo + u * q)
    e = squares - g
    u = squares_lo + (sum_error(squares, -g, e) - u)
    out[2, i] = e + u
    out[3, i] = u - (out[2, i] - e)
    out[4, i] = left
    out[5, i] = left_lo
    if not out[2, i] >= 0.0:
        # also where a difference is beyond doubles, and all this is no number
        g = _SQUARES_NOISE * max(squares, d * d * max(old, fresh))
        if not (
            -out[2, i] <= g < float("inf") or _is_there(cells, heads, classes, k, i, x, fresh / w)
        ):
            return _NEGATIVE
        out[2, i] = 0.0
        out[3, i] = 0.0
        # One value is left, and is 0 where that is within the rounding of the step.
        if fabs(out[0, i]) <= _ULP * fabs(d * f if light else d):
            out[0, i] = 0.0
            out[1, i] = 0.0
    return _KEPT if fabs(out[0, i]) < float("inf") else _NEGATIVE


def unlearn_one(self: Any, x: Any, y: Any, w: Any = 1.0, t: Any = None) -> None:
    """Takes back one event that was learned, as if it had never been.

    Bound as a method by the models whose `_table` is a `MomentsTable`.

    Weights are exact where they are whole numbers. Means and variances are those of the other
    events to 1e-12 n/(n - m) of the spread of all n, when m of them are taken back.

    What was far from all others leaves the rounding of what it did: an outlier at a distance D
    from n others leaves up to 5e-16 D/n in the mean and 2e-16 D^2/n in the variance (D = 1e12:
    5e-4/n and 2e8/n), and mostly nothing where it was the event that came last. So take a wrong
    number back at once, or learn the others anew. Where values differ by many powers of ten, what
    the largest left can be more than the small ones are, and one of these is refused.

    Parameters
    ----------
    x, y, w
        the event as it was learned. A feature that is absent, `None` or NaN is left as it is.
    t
        the event's time, as it was learned; needed with a half-life. An event that has faded to
        nothing is not there to be taken back: nothing changes. The newest time stays as it is.

    Raises
    ------
    TypeError
        something is of the wrong kind.
    ValueError
        this cannot have been learned: the class or a feature is unknown, a weight would become
        negative, or a class's weight less than a feature's in it; a sum of squares would become
        negative by more than 1e-10 of what it was, or of what the event was of it while neither had
        faded, or the mean of counts; the last value of a
        feature is another one.
        What is smaller is rounding, and read as 0, as is a weight within 1e-9 of the one that is
        taken away. Whatever is raised, nothing was changed.
    """
    table = self._table
    weight: cython.double = check_weight(w)
    fading = table.fading()
    ms: Any = None
    if fading is not None:
        ms = needed_time(t)
    elif t is not None:
        event_time(t)
    slot = table.find(y)
    new = table.read(x)
    if fading is not None:
        if weight > 0.0 and (fading.newest is None or ms > fading.newest):
            msg = f"an event of t={t!r} cannot unlearn: it is later than all that was learned"
            raise ValueError(msg)
        faded: cython.double = fading.weigh(weight, ms)
    else:
        faded = weight
    if weight == 0.0:
        return
    if slot is None:
        msg = f"class {y!r} cannot unlearn: it has learned nothing"
        raise ValueError(msg)
    if faded == 0.0:
        return
    fresh: cython.double = weight if fading is None else fading.weigh(weight, fading.newest)
    weight = faded
    if new is not None:
        msg = f"class {y!r} cannot unlearn feature {new[0]!r}: it was never learned"
        raise ValueError(msg)
    cells_array, heads_array, values_array, _ = table.buffers()
    n: cython.Py_ssize_t = table.width()
    k: cython.Py_ssize_t = slot
    scratch: Any = np.empty((6, cells_array.shape[2]))
    scratch_pair: Any = np.empty(2)
    if cython.compiled:
        cells: cython.double[:, :, ::1] = cells_array
        heads: cython.double[:, ::1] = heads_array
        values: cython.double[::1] = values_array
        out: cython.double[:, ::1] = scratch
    else:
        cells, heads = memoryview(cells_array), memoryview(heads_array)
        values, out = memoryview(values_array), memoryview(scratch)
    pair: cython.double[::1] = scratch_pair if cython.compiled else memoryview(scratch_pair)
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    code: cython.int
    whole: cython.bint = heads[k, 2] != 0.0
    gone: cython.bint = False
    positive: cython.bint = self.positive
    for i in range(n):
        if values[i] == values[i]:
            code = _take_back(
                cells, heads, heads.shape[0], k, i, values[i], weight, fresh, pair, out
            )
            if code > _GONE:
                raise ValueError(_refusal(table, k, i, code, values[i], w))
            gone = gone or code == _GONE
            if positive and out[0, i] < 0.0:  # rounding, where no value is negative
                if out[0, i] < -_WEIGHT_NOISE * max(1.0, values[i]):
                    raise ValueError(_refusal(table, k, i, _BELOW, values[i], w))
                out[0, i] = 0.0
                out[1, i] = 0.0
        else:
            for j in range(6):
                out[j, i] = heads[k, j - 4] if whole and j >= 4 else cells[k, j, i]
    if not _without(pair, heads[k, 0], heads[k, 1], weight):
        msg = f"class {y!r} cannot unlearn the weight {w!r}: it has learned {heads[k, 0]!r}"
        raise ValueError(msg)
    for i in range(n):
        if (out[4, i] - pair[0]) + (out[5, i] - pair[1]) > _WEIGHT_NOISE * weight:
            name = table.name(i)
            msg = f"class {y!r} would have less weight than its feature {name!r} with w={w!r} gone"
            raise ValueError(msg)
    last: cython.bint = pair[0] == 0.0
    for j in range(6):
        for i in range(n):
            cells[k, j, i] = 0.0 if last else out[j, i]
    heads[k, 0] = pair[0]
    heads[k, 1] = pair[1]
    table.settle(k)
    if last or gone:
        self._forget(y if last else None)


def _refusal(table: Any, k: int, i: int, code: int, value: float, w: float) -> str:
    """Why a class cannot have learned a feature's value."""
    what = f"class {table.label(k)!r} cannot unlearn feature {table.name(i)!r}"
    if code == _TOO_LIGHT:
        return f"{what} with w={w!r}: it has less weight there"
    if code == _ANOTHER:
        return f"{what} with the value {value!r}: the last one there is another"
    if code == _BELOW:
        return f"{what} with the value {value!r}: the mean would be negative"
    return f"{what} with the value {value!r}: the sum of squares would be negative"
