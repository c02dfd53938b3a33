# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Moments read as Poisson distributions: the joint log-likelihood of Poisson Naive Bayes.

The rate of each class and feature is kept as a record of (log(rate), rate), made anew from the
statistics at the first question after a change. Up to a value of 4096 the log-probability is taken
as it is written, x log(rate) - rate - log Gamma(x + 1). Beyond, its terms are large beside their
sum, and it is taken as C. Loader does (Fast and accurate computation of binomial probabilities,
2000):

    -(x log(x/rate) + rate - x) - (log Gamma(x + 1) - (x log x - x + log(2 pi x)/2)) - log(2 pi x)/2

Sums over features run in canonical order, so that a loaded model answers with the same bits as the
one that was saved. Gamma is our own: libraries differ in it.
"""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels._oracle import cython

import math
from typing import Any

import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import fabs, log
else:
    from math import fabs, log

    from streamnb._kernels._oracle.arrays import doubles_of, longs_of
    from streamnb._kernels._oracle.shares import log_shares

_LANES = cython.declare(cython.Py_ssize_t, 4)
_LARGEST = cython.declare(cython.double, 1.7976931348623157e308)
_LOG_TWO_PI = cython.declare(cython.double, 1.8378770664093453)
_PLAIN = cython.declare(cython.double, 4096.0)
_FACTORIALS = cython.declare(cython.double, 256.0)
_STIRLING = cython.declare(cython.double, 16.0)

# log(n!) for n below _FACTORIALS
_LOG_FACTORIALS = np.array([math.log(math.factorial(n)) for n in range(256)])


@cython.cclass
class PoissonScorer:
    """Answers log p(y) + log p(x | y) from a `MomentsTable` of values that are not negative.

    Parameters
    ----------
    table
        the statistics; read in place, never changed.
    labels
        the classes in canonical order.
    classes
        (K,) int64, each label's slot in the table; -1 where it has learned nothing.
    features
        (D,) int64, the slots of the features in canonical order.
    alpha
        as `streamnb.likelihoods.Poisson` explains.
    log_prior
        (K,) float64 where the prior is given, else `None`.
    prior_counts
        (K,) float64, added to the weights where it is not.
    """

    _labels: list[Any]
    _log_prior: list[Any]
    _read: Any
    _arrays: tuple[Any, ...]
    _cells: cython.p_double
    _heads: cython.p_double
    _values: cython.p_double
    _clock: cython.p_longlong
    _present: cython.p_double  # what weights are multiplied by
    _classes: cython.p_longlong
    _features: cython.p_longlong
    _prior_counts: cython.p_double
    _start: cython.p_double  # log prior, by class
    _records: cython.p_double  # feature, (log(rate), rate), class
    _varied: cython.p_double  # by feature: 0 where it was constant, and is no evidence
    _scores: cython.p_double
    _log_factorials: cython.p_double
    _version: cython.longlong
    _places: cython.longlong
    _k: cython.Py_ssize_t
    _lanes: cython.Py_ssize_t
    _d: cython.Py_ssize_t
    _capacity: cython.Py_ssize_t
    _alpha: cython.double
    _given: cython.bint

    def __init__(
        self,
        table: Any,
        labels: list[Any],
        classes: Any,
        features: Any,
        alpha: cython.double,
        log_prior: Any,
        prior_counts: Any,
    ) -> None:
        cells, heads, values, clock = table.buffers()
        self._places = clock[1]  # at once: where it moves on, these are out of date
        self._labels = labels
        self._log_prior = []
        self._read = table.read
        self._k = len(labels)
        self._lanes = (len(labels) + _LANES - 1) // _LANES * _LANES
        self._d = len(features)
        self._capacity = cells.shape[2]
        self._alpha = alpha
        self._given = log_prior is not None
        start = np.zeros(max(self._lanes, 1))
        start[: self._k] = log_prior if self._given else 0.0
        self._arrays = (
            _flat(cells),
            _flat(heads),
            _flat(values),
            _flat(clock),
            _flat(classes),
            _flat(features),
            _flat(prior_counts),
            start,
            np.zeros(max(2 * self._d * self._lanes, 1)),
            np.zeros(max(self._d, 1)),
            np.zeros(max(self._lanes, 1)),
            _LOG_FACTORIALS,
            table.present(),
        )
        self._cells = doubles_of(self._arrays[0])
        self._heads = doubles_of(self._arrays[1])
        self._values = doubles_of(self._arrays[2])
        self._clock = longs_of(self._arrays[3])
        self._classes = longs_of(self._arrays[4])
        self._features = longs_of(self._arrays[5])
        self._prior_counts = doubles_of(self._arrays[6])
        self._start = doubles_of(self._arrays[7])
        self._records = doubles_of(self._arrays[8])
        self._varied = doubles_of(self._arrays[9])
        self._scores = doubles_of(self._arrays[10])
        self._log_factorials = doubles_of(self._arrays[11])
        self._present = doubles_of(self._arrays[12])
        self._refresh()

    @property
    def labels(self) -> list[Any]:
        """The classes in canonical order."""
        return self._labels

    @property
    def log_prior(self) -> list[Any]:
        """The logarithm of each class's prior probability."""
        return self._log_prior

    def scores(self, x: Any) -> list[Any] | None:
        """The joint log-likelihoods of an event; `None` where labels or features have changed."""
        if self._places != self._clock[1]:
            return None
        if self._version != self._clock[0]:
            self._refresh()
        k: cython.Py_ssize_t
        answer: list[Any] = [0.0] * self._k
        self._read(x)
        # From here on nothing runs Python: no other thread comes between.
        if self._places != self._clock[1]:
            return None
        self._score()
        for k in range(self._k):
            answer[k] = self._scores[k]
        return answer

    def scores_many(self, rows: Any, slots: Any) -> Any:
        """The joint log-likelihoods of the rows of a table, (n, K); `None` as in `scores`.

        Parameters
        ----------
        rows
            (n, d) float64, C-contiguous, none negative, NaN where missing.
        slots
            (d,) intp, the feature slot of each column, -1 where it has none.
        """
        if self._places != self._clock[1]:
            return None
        if self._version != self._clock[0]:
            self._refresh()
        answer = np.empty((rows.shape[0], self._k))
        self._arrays[2][:] = np.nan
        if not cython.compiled:
            rows, slots = memoryview(rows), memoryview(slots)
        data: cython.const[cython.double][:, ::1] = rows  # type: ignore[valid-type]
        slot: cython.Py_ssize_t[::1] = slots
        out: cython.double[:, ::1] = answer
        r: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = rows.shape[0]
        d: cython.Py_ssize_t = rows.shape[1]
        values = self._values
        for r in range(n):
            for j in range(d):
                if slot[j] >= 0:
                    values[slot[j]] = data[r, j]
            self._score()
            for k in range(self._k):
                out[r, k] = self._scores[k]
        return answer

    @cython.cfunc
    def _score(self) -> None:
        """Scores the event in `values`."""
        n: cython.Py_ssize_t = self._lanes
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        o: cython.Py_ssize_t
        v: cython.double
        c: cython.double
        p = self._records
        s = self._scores
        for k in range(n):
            s[k] = self._start[k]
        for j in range(self._d):
            v = self._values[self._features[j]]
            if self._varied[j] == 0.0 or v != v:
                continue
            o = 2 * j * n
            if v == 0.0:  # 0 log(0) is 0
                for k in range(n):
                    s[k] = s[k] - p[o + n + k]
            elif v <= _PLAIN:
                c = self._log_gamma(v)
                for k in range(n):
                    s[k] = s[k] + ((v * p[o + k] - p[o + n + k]) - c)
            else:
                c = 0.5 * (_LOG_TWO_PI + log(v)) + _stirling_error(v)
                for k in range(self._k):
                    s[k] = s[k] - (_deviance(v, p[o + n + k]) + c)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _log_gamma(self, v: cython.double) -> cython.double:
        """The logarithm of Gamma(v + 1) for v from 0 to a few thousand."""
        n: cython.Py_ssize_t
        shift: cython.double = 1.0
        if v < _FACTORIALS:
            n = int(v)
            if n == v:
                return self._log_factorials[n]
        while v < _STIRLING:
            v = v + 1.0
            shift = shift * v
        return (v + 0.5) * log(v) - v + 0.5 * _LOG_TWO_PI + _stirling_error(v) - log(shift)

    # -- from statistics to records --------------------------------------------------------

    @cython.cfunc
    def _refresh(self) -> None:
        """Makes prior and records anew from the statistics as they are."""
        j: cython.Py_ssize_t
        if not self._given:
            self._weigh_classes()
        self._log_prior = [self._start[j] for j in range(self._k)]
        for j in range(self._d):
            self._varied[j] = 0.0 if self._is_constant(j) else 1.0
            if self._varied[j] != 0.0:
                self._record(j)
        self._version = self._clock[0]

    @cython.cfunc
    def _weigh_classes(self) -> None:
        """The prior that the weights and their pseudo-counts give."""
        k: cython.Py_ssize_t
        w: cython.double
        for k in range(self._k):
            w = self._prior_counts[k]
            if self._classes[k] >= 0:
                w = _bounded(w + self._heads[4 * self._classes[k]] * self._present[0])
            self._start[k] = w
        log_shares(self._start, self._k)

    @cython.cfunc
    @cython.inline
    def _weight(self, slot: cython.longlong, feature: cython.longlong) -> cython.double:
        """The weight of one feature in one class."""
        if slot < 0:
            return 0.0
        if self._heads[4 * slot + 2] != 0.0:
            return self._heads[4 * slot] * self._present[0]
        return self._cells[(6 * slot + 4) * self._capacity + feature] * self._present[0]

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_constant(self, j: cython.Py_ssize_t) -> cython.bint:
        """Whether a feature was the same in all that was seen, or was never seen."""
        c: cython.Py_ssize_t = self._capacity
        f: cython.longlong = self._features[j]
        k: cython.Py_ssize_t
        m: cython.Py_ssize_t
        first: cython.Py_ssize_t = -1
        p = self._cells
        for k in range(self._k):
            if self._weight(self._classes[k], f) == 0.0:
                continue
            m = 6 * self._classes[k] * c + f
            if first < 0:
                first = m
            if p[m] != p[first] or p[m + c] != p[first + c] or p[m + 2 * c] + p[m + 3 * c] != 0.0:
                return False
        return True

    @cython.cfunc
    def _record(self, j: cython.Py_ssize_t) -> None:
        """The records of feature j."""
        c: cython.Py_ssize_t = self._capacity
        n: cython.Py_ssize_t = self._lanes
        o: cython.Py_ssize_t = 2 * j * n
        f: cython.longlong = self._features[j]
        k: cython.Py_ssize_t
        m: cython.Py_ssize_t
        w: cython.double
        rate: cython.double
        total: cython.double = 0.0
        whole: cython.double = 0.0
        for k in range(self._k):
            total += self._weight(self._classes[k], f)
        total = _bounded(total)
        for k in range(self._k):
            w = self._weight(self._classes[k], f)
            if w > 0.0:
                m = 6 * self._classes[k] * c + f
                whole += (w / total) * (self._cells[m] + self._cells[m + c])
        whole = _bounded(whole)
        for k in range(self._k):
            w = self._weight(self._classes[k], f)
            rate = whole
            if w > 0.0:
                m = 6 * self._classes[k] * c + f
                total = _bounded(w + self._alpha)
                rate = (w / total) * (self._cells[m] + self._cells[m + c])
                rate = _bounded(rate + (self._alpha / total) * whole)
            self._records[o + k] = log(rate) if rate > 0.0 else float("-inf")
            self._records[o + n + k] = rate


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _stirling_error(v: cython.double) -> cython.double:
    """By how much log Gamma(v + 1) is more than Stirling's formula, for v from 16 on."""
    u: cython.double = 1.0 / v
    z: cython.double = u * u
    s: cython.double = 1.0 / 1680.0 - z * (1.0 / 1188.0 - z * (691.0 / 360360.0))
    return u * (1.0 / 12.0 - z * (1.0 / 360.0 - z * (1.0 / 1260.0 - z * s)))


@cython.cfunc
@cython.exceptval(check=False)
def _deviance(v: cython.double, rate: cython.double) -> cython.double:
    """Half the deviance, v log(v/rate) + rate - v, of a value above 0; never negative."""
    i: cython.Py_ssize_t
    d: cython.double = v - rate
    r: cython.double
    s: cython.double
    t: cython.double
    e: cython.double
    if rate == 0.0:
        return float("inf")
    if fabs(d) >= 0.1 * v + 0.1 * rate:
        r = v / rate
        r = log(v) - log(rate) if r > _LARGEST else log(r)
        return (v * r - v) + rate
    # by the series of log((1 + r)/(1 - r)), with r = (v - rate)/(v + rate)
    r = (0.5 * d) / (0.5 * v + 0.5 * rate)
    s = d * r
    e = 2.0 * (v * r)
    r = r * r
    for i in range(1, 1000):
        e = e * r
        t = s + e / (2 * i + 1)
        if t == s:
            break
        s = t
    return s


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _bounded(v: cython.double) -> cython.double:
    """The finite double next to v."""
    return min(max(v, -_LARGEST), _LARGEST)


@cython.cfunc
def _flat(array: Any) -> Any:
    """A view of an array as one row, at least one number long."""
    return array.reshape(-1) if array.size else np.zeros(1, dtype=array.dtype)
