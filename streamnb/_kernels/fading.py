# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Fading: forward decay in the events' own time.

An event of weight w and time t counts w 2**((t - L)/h), with the half-life h and a landmark L that
is a multiple of it (G. Cormode, V. Shkapenyuk, D. Srivastava, B. Xu, Forward decay, 2009). Times
are whole milliseconds, so (t - L)/h is a whole number and a fraction r/h that does not depend on
the landmark: wherever the landmark stands, an event counts the same digits, times a power of two.
When a later event moves the landmark, what is stored is multiplied by a power of two, which is
exact. So shards that fade merge as others do.

2**x is our own, of sums, products and quotients alone: libm's differs from machine to machine.
"""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels._oracle import cython

from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from streamnb.values import needed_time

if cython.compiled:
    from cython.cimports.libc.math import ldexp
else:
    from math import ldexp

FADED = 2.0**-900
"""A weight below this has faded to nothing. All digits of one above it are normal doubles."""

LATEST = 2**61
"""No time, in milliseconds, is further from the epoch."""

_FADED = cython.declare(cython.double, FADED)
_NEVER = cython.declare(cython.longlong, -4611686018427387904)  # -2**62


def _roots() -> Any:
    """2**(i/32) for i below 32, each as hi + lo."""
    roots = np.empty((32, 2))
    for i in range(32):
        root = 1 << (i + 32 * 160)
        for _ in range(5):
            root = isqrt(root)
        exact = Fraction(root, 1 << 160)
        roots[i, 0] = float(exact)
        roots[i, 1] = float(exact - Fraction(roots[i, 0]))
    return roots


_ROOTS = _roots()


@cython.cfunc
@cython.exceptval(check=False)
def _power(roots: cython.p_double, r: cython.longlong, h: cython.longlong) -> cython.double:
    """2**(r/h) for whole numbers 0 <= r < h <= 2**53, to 0.6 units in the last place.

    2**(i/32) from the table times 2**f, f < 1/32, by Taylor's series with the powers of log 2.
    """
    i: cython.longlong = (32 * r) // h
    top: cython.double = 32 * r - i * h
    below: cython.double = h
    f: cython.double = top / (32.0 * below)
    p: cython.double = 1.5252733804059841e-05
    p = 0.0001540353039338161 + f * p
    p = 0.0013333558146428443 + f * p
    p = 0.009618129107628477 + f * p
    p = 0.055504108664821576 + f * p
    p = 0.2402265069591007 + f * p
    p = 0.6931471805599453 + f * p
    return roots[2 * i] + (roots[2 * i] * (f * p) + roots[2 * i + 1])


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _mark(ms: cython.longlong, h: cython.longlong) -> cython.longlong:
    """How many half-lives after the epoch a time is, rounded down."""
    return ms // h if ms >= 0 else -((h - 1 - ms) // h)


@cython.cclass
class Fading:
    """The half-life of a statistic, its landmark, and the time of the newest learned event.

    Parameters
    ----------
    half_life
        in milliseconds, from 1 to 2**53.
    """

    _half_life: cython.longlong
    _landmark: cython.longlong  # in half-lives after the epoch
    _newest: cython.longlong
    _known: cython.bint
    _present_array: Any
    _roots: cython.p_double

    def __init__(self, half_life: cython.longlong) -> None:
        self._half_life = half_life
        self._landmark = 0
        self._newest = _NEVER
        self._known = False
        self._present_array = np.ones(1)
        if cython.compiled:
            view: cython.double[::1] = _ROOTS.reshape(-1)
            self._roots = cython.address(view[0])
        else:
            self._roots = memoryview(_ROOTS.reshape(-1))

    @property
    def half_life(self) -> int:
        """In milliseconds."""
        return int(self._half_life)

    @property
    def newest(self) -> int | None:
        """The time of the newest learned event in milliseconds; `None` before there is one."""
        return int(self._newest) if self._known else None

    @property
    def landmark(self) -> int:
        """The time that the stored weights are of, in half-lives after the epoch."""
        return int(self._landmark)

    @property
    def least(self) -> float:
        """A weight or a count below this has faded to nothing."""
        return FADED

    def times(self, times: Any, n: int) -> Any:
        """The times of n rows in milliseconds, (n,) int64.

        Raises
        ------
        ValueError
            there are none, or one is out of range; names its row.
        """
        if times is None:
            needed_time(None)
        for row, time in enumerate(times):
            if not -LATEST <= time <= LATEST:
                msg = f"row {row}: the time {time} in milliseconds is out of range"
                raise ValueError(msg)
        return np.fromiter(times, np.int64, n)

    def present(self) -> Any:
        """What a stored weight is multiplied by to be that of the newest time, (1,) float64.

        From 1 down to 1/2. It changes in place.
        """
        return self._present_array

    def shift(self, ms: Any) -> int:
        """How many half-lives later the landmark is, once an event of this time is learned.

        Raises
        ------
        ValueError
            the time is out of range.
        """
        t: cython.longlong = _checked(ms)
        if not self._known or t <= self._newest:
            return 0
        return int(_mark(t, self._half_life) - self._landmark)

    def weigh(self, w: cython.double, ms: Any) -> float:
        """What an event counts on the landmark as it is once the event is learned.

        0 where it has faded to nothing.

        Raises
        ------
        ValueError
            the time is out of range, or what it counts.
        """
        t: cython.longlong = _checked(ms)
        mark: cython.longlong = _mark(t, self._half_life)
        if self._known:
            mark = max(mark, self._landmark)
        faded: float = self._faded(w, t, mark)
        if faded == float("inf"):
            msg = f"the weight {w!r} at its time would leave the range of a double"
            raise ValueError(msg)
        return faded

    @cython.cfunc
    def _faded(self, w: cython.double, t: cython.longlong, mark: cython.longlong) -> cython.double:
        """What the weight w of time t counts where the landmark is `mark`, not before t's own."""
        n: cython.longlong = _mark(t, self._half_life)
        faded: cython.double = w * _power(self._roots, t - n * self._half_life, self._half_life)
        n = max(n - mark, -3000)
        if faded < float("inf"):
            faded = ldexp(faded, n)
        return faded if faded >= _FADED else 0.0

    def move(self, ms: Any) -> None:
        """Makes a time the newest, and its half-life the landmark, unless a later one is."""
        t: cython.longlong = _checked(ms)
        if self._known and t <= self._newest:
            return
        h: cython.longlong = self._half_life
        self._newest = t
        self._known = True
        self._landmark = _mark(t, h)
        t -= self._landmark * h
        self._present_array[0] = 0.5 * _power(self._roots, h - t, h) if t > 0 else 1.0

    def pieces(self, times: Any, weights: Any) -> list[tuple[int, int, int, Any]]:
        """Cuts the rows of a table where the landmark moves.

        Parameters
        ----------
        times
            (n,) int64 in milliseconds, within LATEST.
        weights
            (n,) float64, finite and not negative; a row of weight 0 moves nothing.

        Returns
        -------
        For each piece, its first row and the one after its last, by how many half-lives the
        landmark moves before it, and what its rows count, (n,) as a view of all.
        """
        n: cython.Py_ssize_t = len(times)
        faded = np.empty(n)
        marks = np.empty(n, dtype=np.int64)
        if not cython.compiled:
            times, weights = memoryview(times), memoryview(weights)
        t: cython.longlong[::1] = times
        w: cython.double[::1] = weights
        if cython.compiled:
            out: cython.double[::1] = faded
            mark: cython.longlong[::1] = marks
        else:
            out, mark = memoryview(faded.data), memoryview(marks.data)
        i: cython.Py_ssize_t
        last: cython.longlong = self._landmark if self._known else _NEVER
        for i in range(n):
            if w[i] > 0.0:
                last = max(last, _mark(t[i], self._half_life))
                out[i] = self._faded(w[i], t[i], last)
            else:
                out[i] = 0.0
            mark[i] = last
        if n == 0:
            return []
        starts = [0, *(np.flatnonzero(np.diff(marks)) + 1).tolist()]
        landmark = int(self._landmark) if self._known else None
        found = []
        for start, stop in zip(starts, [*starts[1:], n], strict=True):
            reached = int(marks[start])
            if reached != _NEVER:
                shift = 0 if landmark is None else reached - landmark
                found.append((start, stop, shift, faded))
                landmark = reached
        return found


@cython.cfunc
@cython.exceptval(-9223372036854775807, check=True)
def _checked(ms: Any) -> cython.longlong:
    """A time in milliseconds, within range."""
    if not -LATEST <= ms <= LATEST:
        msg = f"a time is within {LATEST} milliseconds of the epoch, not {ms} from it"
        raise ValueError(msg)
    t: cython.longlong = ms
    return t


def checked_newest(newest: Any) -> int:
    """The newest time of a state. Raises `ValueError` where it is none."""
    if type(newest) is not int or not -LATEST <= newest <= LATEST:
        msg = f"the newest time {newest!r}"
        raise ValueError(msg)
    return newest


def fade(cells: Any, weights: Any, shift: int) -> None:
    """Multiplies the weights of moments, and their sums of squares, by 2**-shift, in place.

    Parameters
    ----------
    cells
        (K, 6, D): mean, sum of squared deviations and weight, each hi and lo.
    weights
        (K, (hi, lo)) of the classes.
    shift
        how many half-lives later the landmark is; negative where it goes back.

    What falls below `FADED` is nothing: its cells are 0, and the class stays.
    """
    left: cython.int = min(max(shift, -3000), 3000)
    step: cython.int
    while left != 0:
        step = min(max(left, -1000), 1000)
        factor = ldexp(1.0, -step)
        cells[:, 2:] *= factor
        weights *= factor
        left -= step
    cells.transpose(0, 2, 1)[cells[:, 4] < FADED] = 0.0
    weights[weights[:, 0] < FADED] = 0.0
