# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Moments read as normal densities: the joint log-likelihood of Gaussian Naive Bayes.

The log-density of each class and feature, -(x - m)^2 / 2v - log(2 pi v)/2, is kept as a record of
(mean hi, mean lo, 1/2v, log(2 pi v)/2), made anew from the statistics at the first question after
a change. Sums over features run in canonical order, so that a loaded model answers with the same
bits as the one that was saved.
"""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels._oracle import cython

from typing import Any

import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import log
else:
    from math import log

    from streamnb._kernels._oracle.arrays import doubles_of, longs_of
    from streamnb._kernels._oracle.posterior import best_of, to_probabilities
    from streamnb._kernels._oracle.shares import log_shares
    from streamnb._kernels._oracle.walk import walk

# The quick way reads values of any size.
_SMALL = cython.declare(cython.double, 0.0)
_LANES = cython.declare(cython.Py_ssize_t, 4)
_LARGEST = cython.declare(cython.double, 1.7976931348623157e308)
_TWO_PI = cython.declare(cython.double, 6.283185307179586)

FEATURE = 0
GLOBAL = 1
ABSOLUTE = 2
_FEATURE = cython.declare(cython.int, FEATURE)
_GLOBAL = cython.declare(cython.int, GLOBAL)


@cython.cclass
class GaussianScorer:
    """Answers log p(y) + log p(x | y) from a `MomentsTable`.

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
    var_smoothing, smoothing, background, shared_variance, ddof
        as `streamnb.likelihoods.Gaussian` explains;
        smoothing is FEATURE, GLOBAL or ABSOLUTE.
    log_prior
        (K,) float64 where the prior is given, else `None`.
    prior_counts
        (K,) float64, added to the weights where it is not.
    """

    _labels: list[Any]
    _names: list[Any]  # of the features by slot, the objects that were read last
    _blank: dict[Any, Any]  # a number for each label, to be written over
    _log_prior: list[Any]
    _read: Any
    _arrays: tuple[Any, ...]
    _cells: cython.p_double
    _heads: cython.p_double
    _values: cython.p_double
    _clock: cython.p_longlong
    _present: cython.p_double
    _now: cython.double  # what weights and sums of squares are multiplied by
    _classes: cython.p_longlong
    _features: cython.p_longlong
    _prior_counts: cython.p_double
    _start: cython.p_double  # log prior, by class
    _records: cython.p_double  # feature, (mean hi, mean lo, 1/2v, log(2 pi v)/2), class
    _variances: cython.p_double  # over all classes, by feature; one with 0 is no evidence
    _scores: cython.p_double
    _version: cython.longlong
    _places: cython.longlong
    _k: cython.Py_ssize_t
    _lanes: cython.Py_ssize_t
    _d: cython.Py_ssize_t
    _capacity: cython.Py_ssize_t
    _smoothing: cython.int
    _var_smoothing: cython.double
    _background: cython.double
    _shared: cython.bint
    _ddof: cython.double
    _given: cython.bint

    def __init__(
        self,
        table: Any,
        labels: list[Any],
        classes: Any,
        features: Any,
        var_smoothing: cython.double,
        smoothing: cython.int,
        background: cython.double,
        shared_variance: cython.bint,
        ddof: cython.double,
        log_prior: Any,
        prior_counts: Any,
    ) -> None:
        cells, heads, values, clock = table.buffers()
        self._places = clock[1]  # at once: where it moves on, these are out of date
        self._labels = labels
        self._names = table.names()
        self._blank = dict.fromkeys(labels, 0.0)
        self._log_prior = []
        self._read = table.read
        self._k = len(labels)
        self._lanes = (len(labels) + _LANES - 1) // _LANES * _LANES
        self._d = len(features)
        self._capacity = cells.shape[2]
        self._smoothing = smoothing
        self._var_smoothing = var_smoothing
        self._background = background
        self._shared = shared_variance
        self._ddof = ddof
        self._given = log_prior is not None
        start = np.zeros(max(self._lanes, 1))
        start[: self._k] = log_prior if self._given else 0.0
        records = np.zeros(max(4 * self._d * self._lanes, 1))
        variances = np.zeros(max(self._d, 1))
        scores = np.zeros(max(self._lanes, 1))
        self._arrays = (
            _flat(cells),
            _flat(heads),
            _flat(values),
            _flat(clock),
            _flat(classes),
            _flat(features),
            _flat(prior_counts),
            start,
            records,
            variances,
            scores,
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
        self._variances = doubles_of(self._arrays[9])
        self._scores = doubles_of(self._arrays[10])
        self._present = doubles_of(self._arrays[11])
        self._refresh()

    @property
    def labels(self) -> list[Any]:
        """The classes in canonical order."""
        return self._labels

    @property
    def log_prior(self) -> list[Any]:
        """The logarithm of each class's prior probability."""
        return self._log_prior

    def records(self) -> Any:
        """The readings, (D, (mean hi, mean lo, 1/2v, log(2 pi v)/2), K), of labels and features.

        A copy, in canonical order; all is 0 where a feature is no evidence.
        """
        if self._version != self._clock[0]:
            self._refresh()
        records = self._arrays[8][: 4 * self._d * self._lanes].reshape(self._d, 4, self._lanes)
        evidence = self._arrays[9][: self._d, None, None] > 0.0
        return np.where(evidence, records[:, :, : self._k], 0.0)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _ask(self, x: Any) -> cython.int:
        """Scores an event: 1, or 0 where labels or features have changed.

        From the first value that is written on nothing runs Python: no other thread comes between.
        """
        if self._places != self._clock[1]:
            return 0
        if self._version != self._clock[0]:
            self._refresh()
        i: cython.Py_ssize_t = -1
        if type(x) is dict:
            i = walk(x, self._names, self._values, _SMALL, _LARGEST)
        if i < 0:
            self._read(x)
            if self._places != self._clock[1]:
                return 0
        else:
            while i < self._d:
                self._values[i] = float("nan")
                i += 1
        self._score()
        return 1

    def scores(self, x: Any) -> list[Any] | None:
        """The joint log-likelihoods of an event; `None` where labels or features have changed."""
        k: cython.Py_ssize_t
        answer: list[Any] = [0.0] * self._k
        if not self._ask(x):
            return None
        for k in range(self._k):
            answer[k] = self._scores[k]
        return answer

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def place(self, x: Any) -> cython.Py_ssize_t:
        """The place of the best label, K where no class is known, -1 where it is out of date."""
        if not self._ask(x):
            return -1
        k: cython.Py_ssize_t = best_of(self._scores, self._k)
        return k if k < self._k else best_of(self._start, self._k)

    @cython.cfunc
    def label(self, at: cython.Py_ssize_t) -> Any:
        """The label at a place, `None` at K."""
        return self._labels[at] if at < self._k else None

    @cython.cfunc
    def probabilities(self, x: Any) -> Any:
        """{label: probability} in canonical order; `None` where it is out of date."""
        result: dict[Any, Any] = self._blank.copy()
        labels: list[Any] = self._labels
        if not self._ask(x):
            return None
        s = self._scores
        p = s
        k: cython.Py_ssize_t = best_of(s, self._k)
        if k == self._k:
            p = self._start
            k = best_of(p, self._k)
        if k == self._k:
            return {}
        to_probabilities(p, s, self._k, p[k])
        for k in range(self._k):
            result[labels[k]] = s[k]
        return result

    def scores_many(self, rows: Any, slots: Any) -> Any:
        """The joint log-likelihoods of the rows of a table, (n, K); `None` as in `scores`.

        Parameters
        ----------
        rows
            (n, d) float64, C-contiguous, NaN where missing.
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
        """Scores the event in `values`, four classes at a time."""
        n: cython.Py_ssize_t = self._lanes
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        o: cython.Py_ssize_t
        v: cython.double
        d0: cython.double
        d1: cython.double
        d2: cython.double
        d3: cython.double
        s0: cython.double
        s1: cython.double
        s2: cython.double
        s3: cython.double
        p = self._records
        for k in range(0, n, 4):
            s0 = self._start[k]
            s1 = self._start[k + 1]
            s2 = self._start[k + 2]
            s3 = self._start[k + 3]
            for j in range(self._d):
                v = self._values[self._features[j]]
                if self._variances[j] == 0.0 or v != v:
                    continue
                o = 4 * j * n + k
                d0 = (v - p[o]) - p[o + n]
                d1 = (v - p[o + 1]) - p[o + n + 1]
                d2 = (v - p[o + 2]) - p[o + n + 2]
                d3 = (v - p[o + 3]) - p[o + n + 3]
                o += 2 * n
                s0 = s0 - (d0 * d0 * p[o] + p[o + n])
                s1 = s1 - (d1 * d1 * p[o + 1] + p[o + n + 1])
                s2 = s2 - (d2 * d2 * p[o + 2] + p[o + n + 2])
                s3 = s3 - (d3 * d3 * p[o + 3] + p[o + n + 3])
            self._scores[k] = s0
            self._scores[k + 1] = s1
            self._scores[k + 2] = s2
            self._scores[k + 3] = s3

    # -- from statistics to records --------------------------------------------------------

    @cython.cfunc
    def _refresh(self) -> None:
        """Makes prior and records anew from the statistics as they are."""
        j: cython.Py_ssize_t
        added: cython.double
        high: cython.double = 0.0
        self._now = self._present[0]
        if not self._given:
            self._weigh_classes()
        self._log_prior = [self._start[j] for j in range(self._k)]
        for j in range(self._d):
            self._variances[j] = self._overall(j)
            high = max(high, self._variances[j])
        for j in range(self._d):
            if self._variances[j] > 0.0:
                added = self._var_smoothing
                if self._smoothing == _FEATURE:
                    added = added * self._variances[j]
                elif self._smoothing == _GLOBAL:
                    added = added * high
                self._record(j, added)
        self._version = self._clock[0]

    @cython.cfunc
    def _weigh_classes(self) -> None:
        """The prior that the weights and their pseudo-counts give."""
        k: cython.Py_ssize_t
        w: cython.double
        for k in range(self._k):
            w = self._prior_counts[k]
            if self._classes[k] >= 0:
                w = _bounded(w + self._heads[4 * self._classes[k]] * self._now)
            self._start[k] = w
        log_shares(self._start, self._k)

    @cython.cfunc
    @cython.inline
    def _weight(self, slot: cython.longlong, feature: cython.longlong) -> cython.double:
        """The weight of one feature in one class."""
        if slot < 0:
            return 0.0
        if self._heads[4 * slot + 2] != 0.0:
            return self._heads[4 * slot] * self._now
        return self._cells[(6 * slot + 4) * self._capacity + feature] * self._now

    @cython.cfunc
    @cython.inline
    def _squares(self, m: cython.Py_ssize_t) -> cython.double:
        """The sum of squared deviations that is kept at m."""
        return (self._cells[m] + self._cells[m + self._capacity]) * self._now

    @cython.cfunc
    @cython.exceptval(check=False)
    def _overall(self, j: cython.Py_ssize_t) -> cython.double:
        """The variance of a feature over all classes, 0 where it is constant or was never seen.

        What `_record` needs besides is left in the feature's records: each class's mean as a
        distance from the overall mean, in the place of 1/2v, and the overall mean, in the last.
        """
        c: cython.Py_ssize_t = self._capacity
        n: cython.Py_ssize_t = self._lanes
        o: cython.Py_ssize_t = 4 * j * n
        f: cython.longlong = self._features[j]
        k: cython.Py_ssize_t
        m: cython.Py_ssize_t
        first: cython.Py_ssize_t = -1
        total: cython.double = 0.0
        shift: cython.double = 0.0
        spread: cython.double = 0.0
        w: cython.double
        d: cython.double
        base: cython.double = 0.0
        base_lo: cython.double = 0.0
        p = self._records
        for k in range(self._k):
            w = self._weight(self._classes[k], f)
            if w == 0.0:
                continue
            total += w
            m = 6 * self._classes[k] * c + f
            if first < 0:
                first = m
                base = self._cells[m]
                base_lo = self._cells[m + c]
            d = (self._cells[m] - base) + (self._cells[m + c] - base_lo)
            p[o + 2 * n + k] = _bounded(d)
        if first < 0:
            return 0.0
        total = _bounded(total)
        for k in range(self._k):
            w = self._weight(self._classes[k], f)
            if w > 0.0:
                shift += (w / total) * p[o + 2 * n + k]
        for k in range(self._k):
            w = self._weight(self._classes[k], f)
            if w > 0.0:
                m = (6 * self._classes[k] + 2) * c + f
                d = _bounded(p[o + 2 * n + k] - shift)
                p[o + 2 * n + k] = d
                spread += self._squares(m) / total + ((w / total) * d) * d
            # The overall mean, for a class that lacks the feature.
            p[o + k] = base
            p[o + n + k] = base_lo + shift
        return min(spread, _LARGEST)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _pooled(self, j: cython.Py_ssize_t) -> cython.double:
        """The variance of feature j within the classes, before smoothing, as `_record` needs it."""
        c: cython.Py_ssize_t = self._capacity
        o: cython.Py_ssize_t = (4 * j + 2) * self._lanes
        f: cython.longlong = self._features[j]
        k: cython.Py_ssize_t
        m: cython.Py_ssize_t
        w: cython.double
        d: cython.double
        v: cython.double
        b: cython.double = self._background
        whole: cython.double = self._variances[j]
        total: cython.double = 0.0
        spread: cython.double = 0.0
        for k in range(self._k):
            w = self._weight(self._classes[k], f)
            if w > 0.0:
                total += w + b
        if total <= self._ddof:
            return whole
        total = _bounded(total - self._ddof)
        for k in range(self._k):
            w = self._weight(self._classes[k], f)
            if w > 0.0:
                m = (6 * self._classes[k] + 2) * c + f
                d = self._records[o + k]
                v = self._squares(m)
                if b > 0.0:
                    v += b * whole + ((w * (b / (w + b))) * d) * d
                spread += _bounded(v) / total
        return min(spread, _LARGEST)

    @cython.cfunc
    def _record(self, j: cython.Py_ssize_t, added: cython.double) -> None:
        """The records of feature j, `added` being the smoothing; `_overall` has just been here."""
        c: cython.Py_ssize_t = self._capacity
        n: cython.Py_ssize_t = self._lanes
        o: cython.Py_ssize_t = 4 * j * n
        f: cython.longlong = self._features[j]
        k: cython.Py_ssize_t
        m: cython.Py_ssize_t
        w: cython.double
        v: cython.double
        d: cython.double
        b: cython.double = self._background
        whole: cython.double = self._variances[j]
        pooled: cython.double = self._pooled(j) if self._shared else 0.0
        p = self._records
        for k in range(self._k):
            w = self._weight(self._classes[k], f)
            v = pooled if self._shared else whole
            if w > 0.0:
                m = 6 * self._classes[k] * c + f
                d = p[o + 2 * n + k]
                p[o + k] = self._cells[m]
                p[o + n + k] = self._cells[m + c] - d * (b / (w + b))
                if w + b > self._ddof and not self._shared:
                    v = self._squares(m + 2 * c)
                    if b > 0.0:
                        v += b * whole + ((w * (b / (w + b))) * d) * d
                    v = _bounded(v) / _bounded(w + b - self._ddof)
            v += added
            if v == 0.0:
                v = 1e-18 * whole
            v = min(max(v, 2.5e-308), _LARGEST)
            p[o + 2 * n + k] = 0.5 / v
            p[o + 3 * n + k] = 0.5 * (log(_TWO_PI) + log(v))


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


def predict_one(self: Any, x: Any) -> Any:
    """The most probable label of an event.

    Parameters
    ----------
    x
        a mapping of feature names to values. Features that are absent, `None` or NaN, or that
        were never learned, are no evidence.

    Returns
    -------
    A label; `None` where no class is known. Ties go to the first in canonical order.

    Raises
    ------
    TypeError, ValueError
        a value that learning would refuse, naming the feature.
    """
    # `posterior.predict_one`, and its like below, without the call to the scorer.
    asked: Any = self._scorer
    if type(asked) is not GaussianScorer:
        asked = self._new_scorer()
    scorer: GaussianScorer = asked
    at: cython.Py_ssize_t = scorer.place(x)
    while at < 0:
        scorer = self._new_scorer()
        at = scorer.place(x)
    return scorer.label(at)


def predict_proba_one(self: Any, x: Any) -> dict[Any, float]:
    """The probability of each class given an event.

    Parameters
    ----------
    x
        as for `predict_one`.

    Returns
    -------
    {label: probability} in the order of `classes`; `{}` where no class is known.

    Raises
    ------
    TypeError, ValueError
        a value that learning would refuse, naming the feature.
    """
    asked: Any = self._scorer
    if type(asked) is not GaussianScorer:
        asked = self._new_scorer()
    scorer: GaussianScorer = asked
    result: dict[Any, float] | None = scorer.probabilities(x)
    while result is None:
        scorer = self._new_scorer()
        result = scorer.probabilities(x)
    return result
