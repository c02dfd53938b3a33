# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Counts of categories read as evidence: Naive Bayes for features that are one value of several.

With the count c of a value in a class, the weight N of the events of the class that had the feature
at all, and S values of the feature seen in any class, a value says

    log((c + alpha)/(N + alpha S))

of the class (C. D. Manning, P. Raghavan, H. Schuetze, Introduction to Information Retrieval, 2008,
chapter 13, where a feature is a position and its values are words). A class that has never seen the
feature takes c and N over all classes. Where weights fade, c and N are read at the newest time, and
a value that has faded to nothing in all classes is none of the S.

In a `CountsTable` the feature itself is one token, (name,), whose counts are N, and each of its
values another, (name, kind, value), which the first owns. `FieldReader` makes these of an event.

Sums run over features in canonical order, whatever the order in which they come in an event.
"""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels._oracle import cython

from typing import Any

import numpy as np

from streamnb.values import as_event, category

if cython.compiled:
    from cython.cimports.libc.math import log
else:
    from math import log

    from streamnb._kernels._oracle.arrays import doubles_of, longs_of
    from streamnb._kernels._oracle.shares import log_shares

_SHIFT = cython.declare(cython.longlong, 20)  # a word of a table's `places`
_NUMBERS = cython.declare(cython.longlong, (1 << 20) - 1)
_HEAD = cython.declare(cython.Py_ssize_t, 6)  # numbers of a class in a `CountsTable`
_LARGEST = cython.declare(cython.double, 1.7976931348623157e308)
_LONG = cython.declare(cython.double, 2.0**53)  # beyond, whole numbers are no doubles
_MINUS_INFINITY = cython.declare(cython.double, float("-inf"))


@cython.cclass
class FieldReader:
    """Makes the tokens of an event whose values are categories; called with the event.

    `canonical` makes a name as it is kept, and raises where it is none.
    """

    _canonical: Any

    def __init__(self, canonical: Any) -> None:
        self._canonical = canonical

    def __call__(self, x: Any) -> dict[Any, Any]:
        event: dict[Any, Any] = x if type(x) is dict else as_event(x)
        tokens: dict[Any, Any] = {}
        v: cython.double
        for name, value in event.items():
            if type(name) is not str or not name.isascii():
                name = self._canonical(name)  # noqa: PLW2901 - the same name
            kind: object = None
            if type(value) is str:
                if value.isascii():
                    kind = "text"
            elif type(value) is bool:
                kind = "bool"
            elif type(value) is float:
                v = value
                if -_LONG <= v <= _LONG:
                    kind = "number"
            elif type(value) is int and -9007199254740992 <= value <= 9007199254740992:
                kind = "number"
            if kind is None:
                found = category(value, name)
                if found is None:
                    continue
                kind, value = found  # noqa: PLW2901 - the same value
            tokens[(name,)] = 1.0
            tokens[(name, kind, value)] = 1.0
        return tokens


@cython.cclass
class CategoryScorer:
    """Answers log p(y) + log p(x | y) from a `CountsTable` of features and their values.

    Parameters
    ----------
    table
        the statistics; read in place, never changed.
    labels
        the classes in canonical order.
    classes
        (K,) int64, each label's slot in the table; -1 where it has learned nothing.
    features
        answers the slots of the features in canonical order, int64; `None` where there are as many
        as it is called with.
    alpha
        pseudo-count of each value.
    log_prior
        (K,) float64 where the prior is given, else `None`.
    prior_counts
        (K,) float64, added to the weights where it is not.
    """

    _labels: list[Any]
    _log_prior: list[Any]
    _read: Any
    _arrays: tuple[Any, ...]
    _heads: cython.p_double
    _places: cython.p_longlong
    _cells: cython.p_double
    _slots: cython.p_longlong
    _present: cython.p_double  # what stored weights are multiplied by
    _clock: cython.p_longlong
    _groups: cython.p_longlong
    _classes: cython.p_longlong
    _prior_counts: cython.p_double
    _start: cython.p_double  # log prior, by class
    _counts: cython.p_double  # of one value, by class
    _seen: cython.p_double  # of its feature
    _scores: cython.p_double
    _ranks: cython.p_longlong  # class slot: its place among the labels
    _orders: cython.p_longlong  # token: a feature's place in canonical order
    _features: Any
    _known: cython.Py_ssize_t  # features of which `_orders` knows
    _version: cython.longlong
    _layout: cython.longlong
    _k: cython.Py_ssize_t
    _alpha: cython.double
    _given: cython.bint
    _now: cython.double

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
        heads, places, cells, slots, _, _, clock = table.buffers()
        self._layout = clock[1]  # at once: where it moves on, these are out of date
        k: cython.Py_ssize_t = len(labels)
        self._labels = labels
        self._log_prior = []
        self._read = table.read
        self._features = features
        self._known = -1
        self._k = k
        self._alpha = alpha
        self._given = log_prior is not None
        start = np.zeros(k + 1)
        start[:k] = log_prior if self._given else 0.0
        ranks = np.zeros(max(1, len(heads) // 6), dtype=np.int64)
        for rank, slot in enumerate(classes):
            if slot >= 0:
                ranks[slot] = rank
        self._arrays = (
            heads,
            places,
            cells,
            slots,
            clock,
            table.groups(),
            np.append(classes, -1),
            np.append(prior_counts, 0.0),
            start,
            *(np.zeros(k + 1) for _ in range(3)),
            ranks,
            np.zeros(len(places), dtype=np.int64),
            table.present(),
        )
        a = self._arrays
        self._heads = doubles_of(a[0])
        self._places = longs_of(a[1])
        self._cells = doubles_of(a[2])
        self._slots = longs_of(a[3])
        self._clock = longs_of(a[4])
        self._groups = longs_of(a[5])
        self._classes = longs_of(a[6])
        self._prior_counts = doubles_of(a[7])
        self._start = doubles_of(a[8])
        self._counts = doubles_of(a[9])
        self._seen = doubles_of(a[10])
        self._scores = doubles_of(a[11])
        self._ranks = longs_of(a[12])
        self._orders = longs_of(a[13])
        self._present = doubles_of(a[14])
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
        """The joint log-likelihoods of an event; `None` where labels or places have changed."""
        if self._layout != self._clock[1]:
            return None
        if self._version != self._clock[0]:
            self._refresh()
        k: cython.Py_ssize_t
        answer: list[Any] = [0.0] * self._k
        n: cython.Py_ssize_t = self._read(x)
        # From here on nothing runs Python: no other thread comes between.
        if self._layout != self._clock[1]:
            return None
        self._score(self._slots, n)
        for k in range(self._k):
            answer[k] = self._scores[k]
        return answer

    def scores_many(self, bounds: Any, columns: Any, tokens: Any) -> Any:
        """The joint log-likelihoods of the rows of a sparse table, (n, K); `None` as in `scores`.

        Parameters
        ----------
        bounds
            (n + 1,) int64: row r has the cells bounds[r] to bounds[r + 1].
        columns
            (m,) int64, the column of each cell: a feature, or a value.
        tokens
            (U,) int64, the token slot of each column, -1 where it has none.
        """
        if self._layout != self._clock[1]:
            return None
        if self._version != self._clock[0]:
            self._refresh()
        answer = np.empty((bounds.shape[0] - 1, self._k))
        b: cython.longlong[::1] = bounds
        u: cython.longlong[::1] = columns
        t: cython.longlong[::1] = tokens
        out: cython.double[:, ::1] = answer
        r: cython.Py_ssize_t
        k: cython.Py_ssize_t
        i: cython.longlong
        n: cython.Py_ssize_t
        slots = np.zeros(int(np.diff(bounds).max(initial=0)) + 1, dtype=np.int64)
        if cython.compiled:
            slots_view: cython.longlong[::1] = slots
            row: cython.p_longlong = cython.address(slots_view[0])
        else:
            row = memoryview(slots.data)
        for r in range(bounds.shape[0] - 1):
            n = 0
            for i in range(b[r], b[r + 1]):
                if t[u[i]] >= 0:
                    row[n] = t[u[i]]
                    n += 1
            self._score(row, n)
            for k in range(self._k):
                out[r, k] = self._scores[k]
        return answer

    @cython.cfunc
    def _score(self, tokens: cython.p_longlong, n: cython.Py_ssize_t) -> None:
        """Scores the values among n tokens, which are put in order."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        m: cython.Py_ssize_t = 0
        gap: cython.Py_ssize_t
        token: cython.longlong
        order: cython.longlong
        for i in range(n):
            if self._groups[2 * tokens[i]] >= 0:
                tokens[m] = tokens[i]
                m += 1
        # D. L. Shell's sort: nothing to do where the event is in order, as most are
        gap = m // 2
        while gap > 0:
            for i in range(gap, m):
                token = tokens[i]
                order = self._orders[self._groups[2 * token]]
                j = i
                while j >= gap and self._orders[self._groups[2 * tokens[j - gap]]] > order:
                    tokens[j] = tokens[j - gap]
                    j -= gap
                tokens[j] = token
            gap //= 2
        for k in range(self._k):
            self._scores[k] = self._start[k]
        for i in range(m):
            self._hear(tokens[i])

    @cython.cfunc
    def _hear(self, token: cython.longlong) -> None:
        """What one value says; one that no class has any more says nothing."""
        owner: cython.longlong = self._groups[2 * token]
        k: cython.Py_ssize_t
        smoothing: cython.double
        c: cython.double = 0.0
        n: cython.double = 0.0
        whole: cython.double
        # Where there is no other value, this one was certain.
        if self._places[2 * token] & _NUMBERS == 0 or self._groups[2 * owner + 1] < 2:
            return
        self._gather(token, self._counts)
        self._gather(owner, self._seen)
        for k in range(self._k):  # in the order of the labels, not of their coming
            c += self._counts[k]
            n += self._seen[k]
        smoothing = self._alpha * self._groups[2 * owner + 1]
        whole = log(_bounded(c + self._alpha)) - log(_bounded(n + smoothing))
        for k in range(self._k):
            if self._seen[k] == 0.0:
                self._scores[k] += whole
                continue
            c = _bounded(self._counts[k] + self._alpha)
            if c > 0.0:
                self._scores[k] += log(c) - log(_bounded(self._seen[k] + smoothing))
            else:
                self._scores[k] = _MINUS_INFINITY

    @cython.cfunc
    def _gather(self, token: cython.longlong, to: cython.p_double) -> None:
        """Puts the counts of a token by class, as they are at the newest time."""
        k: cython.Py_ssize_t
        i: cython.longlong
        start: cython.longlong = self._places[2 * token] >> _SHIFT
        for k in range(self._k):
            to[k] = 0.0
        for i in range(start, start + (self._places[2 * token] & _NUMBERS)):
            to[self._ranks[_index(self._cells[2 * i + 1])]] = self._cells[2 * i] * self._now

    @cython.cfunc
    def _refresh(self) -> None:
        """Makes the prior anew from the weights as they are, and the order of the features."""
        k: cython.Py_ssize_t
        self._now = self._present[0]
        slots = self._features(self._known)
        if slots is not None:
            self._arrays[13][slots] = np.arange(len(slots))
            self._known = len(slots)
        n: cython.double
        if not self._given:
            for k in range(self._k):
                n = self._prior_counts[k]
                if self._classes[k] >= 0:
                    n += self._heads[self._classes[k] * _HEAD] * self._now
                self._start[k] = _bounded(n)
            log_shares(self._start, self._k)
        self._log_prior = [self._start[k] for k in range(self._k)]
        self._version = self._clock[0]


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _bounded(v: cython.double) -> cython.double:
    """The finite double next to v."""
    return min(v, _LARGEST)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _index(v: cython.double) -> cython.longlong:
    """A whole number that is kept among doubles."""
    if cython.compiled:
        return cython.cast(cython.longlong, v)
    else:  # noqa: RET505 - the compiler must not see it
        return int(v)


def learn_one(self: Any, x: Any, y: Any, w: Any = 1.0, t: Any = None) -> None:
    """Learns one event; bound as a method by the models whose `_table` holds categories.

    Parameters
    ----------
    x
        a mapping of feature names (str, int or tuples of them) to texts, numbers or bools, which
        are different values: True is not 1, and "1" is neither; 1 and 1.0 are one. A feature that
        is absent, `None` or NaN is missing: not learned.
    y
        the label: a str, int, bool or float. A label that was never seen is a new class.
    w
        the event's weight, finite and not negative. 0 changes nothing.
    t
        the event's time: seconds since the epoch, or a `datetime` (a naive one is in UTC); needed
        with a half-life.

    Raises
    ------
    TypeError
        something is of the wrong kind.
    ValueError
        a value is infinite; a weight is out of range, or a statistic would be; with a half-life
        there is no time. Whatever is raised, nothing was learned.
    """
    self._table.learn_event(x, y, w, t)
