# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Counts of tokens read as evidence: multinomial, Bernoulli and complement Naive Bayes.

With the count c of a token in a class, the sum T of the class's counts, its weight N and V tokens
in all, an event with the counts v says

    multinomial   sum of v log((c + alpha)/(T + alpha V))
    Bernoulli     sum of log p over tokens that are there and log(1 - p) over those that are not,
                  p = (c + alpha)/(N + 2 alpha)
    complement    sum of -v log((C - c + alpha)/(sum of the other classes' T + alpha V)),
                  C the token's count in all classes

of the class (C. D. Manning, P. Raghavan, H. Schuetze, Introduction to Information Retrieval, 2008,
chapter 13; J. Rennie et al., Tackling the poor assumptions of naive Bayes text classifiers, 2003).
Only cells that were seen are visited: what all other tokens and classes have in common is taken
out of the sums. Where weights fade, c, T and N are read at the newest time.
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
    from streamnb._kernels._oracle.shares import log_shares

MULTINOMIAL = 0
BERNOULLI = 1
COMPLEMENT = 2
_MULTINOMIAL = cython.declare(cython.int, MULTINOMIAL)
_BERNOULLI = cython.declare(cython.int, BERNOULLI)
_HEAD = cython.declare(cython.Py_ssize_t, 6)  # numbers of a class in a `CountsTable`
_LOGS = cython.declare(cython.Py_ssize_t, 1024)
_SHIFT = cython.declare(cython.longlong, 20)  # a word of a table's `places`
_NUMBERS = cython.declare(cython.longlong, (1 << 20) - 1)
_MINUS_INFINITY = cython.declare(cython.double, float("-inf"))


@cython.cclass
class BagScorer:
    """Answers log p(y) + log p(x | y), or the scores of the complement, from a `CountsTable`.

    Parameters
    ----------
    table
        the statistics; read in place, never changed.
    labels
        the classes in canonical order.
    classes
        (K,) int64, each label's slot in the table; -1 where it has learned nothing.
    event
        MULTINOMIAL, BERNOULLI or COMPLEMENT.
    alpha
        pseudo-count of each token.
    vocabulary
        V; negative for the tokens that were seen.
    log_prior
        (K,) float64 where the prior is given, else `None`.
    prior_counts
        (K,) float64, added to the weights where it is not.
    """

    _labels: list[Any]
    _log_prior: list[Any]
    _read: Any
    _vocabulary: Any
    _arrays: tuple[Any, ...]
    _heads: cython.p_double
    _places: cython.p_longlong
    _cells: cython.p_double
    _slots: cython.p_longlong
    _values: cython.p_double
    _spread: cython.p_double
    _present: cython.p_double  # what stored weights are multiplied by
    _clock: cython.p_longlong
    _classes: cython.p_longlong
    _prior_counts: cython.p_double
    _start: cython.p_double  # log prior, by class
    _base: cython.p_double  # what each token says for all cells, by class
    _absent: cython.p_double  # what all tokens say where none is there, by class
    _always: cython.p_double  # tokens in every event of a class, counted where alpha is 0
    _hits: cython.p_double  # tokens of the event that the class has seen
    _full: cython.p_double  # those of them that were in every event of the class
    _scores: cython.p_double
    _ranks: cython.p_longlong  # class slot: its place among the labels
    _logs: (
        cython.p_double
    )  # log(c + alpha) for whole counts c below _LOGS; NaN till it is asked for
    _version: cython.longlong
    _layout: cython.longlong
    _k: cython.Py_ssize_t
    _tokens: cython.Py_ssize_t
    _width: cython.Py_ssize_t
    _event: cython.int
    _alpha: cython.double
    _log_alpha: cython.double
    _given: cython.bint
    _given_vocabulary: cython.double
    _now: cython.double

    def __init__(
        self,
        table: Any,
        labels: list[Any],
        classes: Any,
        event: cython.int,
        alpha: cython.double,
        vocabulary: cython.double,
        log_prior: Any,
        prior_counts: Any,
    ) -> None:
        heads, places, cells, slots, values, spread, clock = table.buffers()
        self._layout = clock[1]  # at once: where it moves on, these are out of date
        k: cython.Py_ssize_t = len(labels)
        self._labels = labels
        self._log_prior = []
        self._read = table.read
        self._vocabulary = table.vocabulary
        self._k = k
        self._tokens = len(places) // 2
        self._width = len(spread) // max(1, len(heads) // 6) // 2
        self._event = event
        self._alpha = alpha
        self._log_alpha = log(alpha) if alpha > 0.0 else 0.0
        self._given = log_prior is not None
        self._given_vocabulary = vocabulary
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
            values,
            spread if len(spread) else np.zeros(1),
            clock,
            np.append(classes, -1),
            np.append(prior_counts, 0.0),
            start,
            *(np.zeros(k + 1) for _ in range(6)),
            ranks,
            table.present(),
            np.full(_LOGS, np.nan),
        )
        a = self._arrays
        self._heads = doubles_of(a[0])
        self._places = longs_of(a[1])
        self._cells = doubles_of(a[2])
        self._slots = longs_of(a[3])
        self._values = doubles_of(a[4])
        self._spread = doubles_of(a[5])
        self._clock = longs_of(a[6])
        self._classes = longs_of(a[7])
        self._prior_counts = doubles_of(a[8])
        self._start = doubles_of(a[9])
        self._base = doubles_of(a[10])
        self._absent = doubles_of(a[11])
        self._always = doubles_of(a[12])
        self._hits = doubles_of(a[13])
        self._full = doubles_of(a[14])
        self._scores = doubles_of(a[15])
        self._ranks = longs_of(a[16])
        self._present = doubles_of(a[17])
        self._logs = doubles_of(a[18])
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
        self._score(n)
        for k in range(self._k):
            answer[k] = self._scores[k]
        return answer

    def scores_many(self, bounds: Any, columns: Any, values: Any, tokens: Any) -> Any:
        """The joint log-likelihoods of the rows of a sparse table, (n, K); `None` as in `scores`.

        What a column says of each class is computed once, where that is less work.

        Parameters
        ----------
        bounds
            (n + 1,) int64: row r has the cells bounds[r] to bounds[r + 1].
        columns
            (m,) int64, the column of each cell.
        values
            (m,) float64, the counts above the threshold; 1 for Bernoulli.
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
        v: cython.double[::1] = values
        t: cython.longlong[::1] = tokens
        out: cython.double[:, ::1] = answer
        r: cython.Py_ssize_t
        k: cython.Py_ssize_t
        i: cython.longlong
        n: cython.Py_ssize_t = self._k
        dense: cython.bint = self._alpha > 0.0 and tokens.shape[0] * n <= 4 * columns.shape[0]
        wide: cython.Py_ssize_t = (n + 4) // 4 * 4
        array = np.zeros((tokens.shape[0], wide) if dense else (1, wide))
        said: cython.double[:, ::1] = array
        sums_array = np.zeros(wide)
        sums: cython.double[::1] = sums_array
        s = self._scores
        if dense:
            for i in range(tokens.shape[0]):
                if t[i] >= 0:
                    self._begin()
                    self._hear(t[i], 1.0)
                    for k in range(n):
                        said[i, k] = s[k]
                    said[i, n] = self._hits[n]  # whether any class has seen it
        for r in range(bounds.shape[0] - 1):
            self._begin()
            if dense:
                _add_up(sums, said, u, v, b[r], b[r + 1])
                for k in range(n + 1):
                    s[k] = sums[k]
                self._hits[n] = s[n]  # 0 where it is; else it counts for Bernoulli alone
            else:
                for i in range(b[r], b[r + 1]):
                    if t[u[i]] >= 0:
                        self._hear(t[u[i]], v[i])
            self._end()
            for k in range(n):
                out[r, k] = s[k]
        return answer

    @cython.cfunc
    def _score(self, n: cython.Py_ssize_t) -> None:
        """Scores the n tokens that were read."""
        i: cython.Py_ssize_t
        self._begin()
        for i in range(n):
            self._hear(self._slots[i], self._values[i])
        self._end()

    @cython.cfunc
    def _begin(self) -> None:
        k: cython.Py_ssize_t
        for k in range(self._k + 1):  # the last is for all tokens: their number, their sum
            self._scores[k] = 0.0
            self._hits[k] = 0.0
            self._full[k] = 0.0

    @cython.cfunc
    def _hear(self, token: cython.longlong, v: cython.double) -> None:
        """What one token of the event says."""
        start: cython.longlong = self._places[2 * token] >> _SHIFT
        n: cython.longlong = self._places[2 * token] & _NUMBERS
        i: cython.longlong
        r: cython.longlong
        k: cython.Py_ssize_t
        c: cython.double
        rest: cython.double
        total: cython.double = 0.0
        s = self._scores
        if n == 0:  # it is in no class any more
            return
        self._hits[self._k] += 1.0
        s[self._k] += v
        if self._event == _MULTINOMIAL:
            for i in range(start, start + n):
                r = self._ranks[_index(self._cells[2 * i + 1])]
                s[r] += v * (self._log(self._cells[2 * i] * self._now) - self._log_alpha)
                self._hits[r] += 1.0
        elif self._event == _BERNOULLI:
            for i in range(start, start + n):
                r = self._ranks[_index(self._cells[2 * i + 1])]
                c = self._cells[2 * i]
                rest = max(self._heads[self._classes[r] * _HEAD] - c, 0.0) * self._now
                self._hits[r] += 1.0
                if rest + self._alpha == 0.0:
                    self._full[r] += 1.0
                else:
                    s[r] += self._log(c * self._now) - self._log(rest) - self._base[r]
        else:
            counts = self._full
            for i in range(start, start + n):
                r = self._ranks[_index(self._cells[2 * i + 1])]
                counts[r] = self._cells[2 * i]
            for k in range(self._k):
                total += counts[k]
            for k in range(self._k):
                rest = max(total - counts[k], 0.0) * self._now
                counts[k] = 0.0
                if rest + self._alpha == 0.0:  # it is nowhere else: certainty, counted apart
                    self._hits[k] += 1.0
                else:
                    s[k] -= v * (self._log(rest) - self._base[k])

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _log(self, c: cython.double) -> cython.double:
        """log(c + alpha), which is not 0, of a count."""
        i: cython.Py_ssize_t
        v: cython.double
        if not 0.0 <= c < _LOGS:
            return log(c + self._alpha)
        i = _index(c)
        if i != c:
            return log(c + self._alpha)
        v = self._logs[i]
        if v != v:
            v = log(c + self._alpha)
            self._logs[i] = v
        return v

    @cython.cfunc
    def _end(self) -> None:
        """Adds what the tokens have in common, and the prior."""
        k: cython.Py_ssize_t
        s = self._scores
        number: cython.double = self._hits[self._k]
        total: cython.double = s[self._k]
        certain: cython.double = 0.0
        for k in range(self._k):
            if self._event == _MULTINOMIAL:
                if number > 0.0:
                    s[k] += total * (self._log_alpha + self._base[k])
                if self._alpha == 0.0 and self._hits[k] < number:
                    s[k] = _MINUS_INFINITY
                s[k] += self._start[k]
            elif self._event == _BERNOULLI:
                s[k] += number * self._base[k] + self._absent[k]
                if self._alpha == 0.0 and (
                    self._hits[k] < number or self._full[k] < self._always[k]
                ):
                    s[k] = _MINUS_INFINITY
                s[k] += self._start[k]
            else:
                certain = max(certain, self._hits[k])
        if certain > 0.0:
            for k in range(self._k):
                s[k] = 0.0 if self._hits[k] == certain else _MINUS_INFINITY

    # -- from statistics to what all events have in common ------------------------------------

    @cython.cfunc
    def _refresh(self) -> None:
        """Makes prior and sums anew from the statistics as they are."""
        k: cython.Py_ssize_t
        a: cython.double = self._alpha
        n: cython.double
        total: cython.double = 0.0
        seen: cython.double
        words: cython.double = self._vocabulary()
        size: cython.double = words
        self._now = self._present[0]
        if self._given_vocabulary >= 0.0:
            size = self._given_vocabulary
        if not self._given:
            for k in range(self._k):
                n = self._prior_counts[k]
                if self._classes[k] >= 0:
                    n += self._heads[self._classes[k] * _HEAD] * self._now
                self._start[k] = n
            log_shares(self._start, self._k)
        self._log_prior = [self._start[k] for k in range(self._k)]
        for k in range(self._k):
            total += self._of(k, 2) + self._of(k, 3)
        for k in range(self._k):
            seen = self._of(k, 2) + self._of(k, 3)
            if self._event == _MULTINOMIAL:
                n = seen * self._now + a * size
                self._base[k] = -log(n) if n > 0.0 else _MINUS_INFINITY
            elif self._event == _BERNOULLI:
                n = self._of(k, 0) * self._now
                self._base[k] = self._log_alpha - log(n + a) if a > 0.0 else 0.0
                self._always[k] = 0.0
                # what tokens say that are absent and were never seen in this class
                self._absent[k] = 0.0
                if n + a > 0.0:
                    seen = words - self._of(k, 4)
                    self._absent[k] = seen * (log(n + a) - log(n + 2.0 * a))
            else:
                n = (total - seen) * self._now + a * size
                self._base[k] = log(n) if n > 0.0 else 0.0
        if self._event == _BERNOULLI:
            self._sum_absent()
        self._version = self._clock[0]

    @cython.cfunc
    @cython.inline
    def _of(self, k: cython.Py_ssize_t, number: cython.Py_ssize_t) -> cython.double:
        """One of the numbers of a class; sums of weights as they are stored."""
        if self._classes[k] < 0:
            return 0.0
        return self._heads[self._classes[k] * _HEAD + number]

    @cython.cfunc
    def _sum_absent(self) -> None:
        """Adds what all seen tokens say where they are absent.

        By the spread of the counts where it is kept; else by all cells, in compensated sums,
        because these stand in the order of their arrival.
        """
        k: cython.Py_ssize_t
        i: cython.longlong
        j: cython.longlong
        start: cython.longlong
        o: cython.Py_ssize_t
        v: cython.double
        e: cython.double
        s: cython.double
        c: cython.double
        lo = self._hits
        whole = self._scores
        for k in range(self._k):
            v = self._of(k, 0) * self._now + 2.0 * self._alpha
            whole[k] = log(v) if v > 0.0 else 0.0
        if self._width > 0:
            for k in range(self._k):
                o = 2 * self._classes[k] * self._width
                for i in range(_index(self._of(k, 5))):
                    v = self._missing(k, self._spread[o + 2 * i], whole[k])
                    if v > 0.0:
                        self._always[k] += self._spread[o + 2 * i + 1]
                    else:
                        self._absent[k] += self._spread[o + 2 * i + 1] * v
            return
        for k in range(self._k):
            lo[k] = 0.0
        for i in range(self._tokens):
            start = self._places[2 * i] >> _SHIFT
            for j in range(start, start + (self._places[2 * i] & _NUMBERS)):
                k = self._ranks[_index(self._cells[2 * j + 1])]
                v = self._missing(k, self._cells[2 * j], whole[k])
                if v > 0.0:
                    self._always[k] += 1.0
                    continue
                s = self._absent[k]
                e = s + v
                c = e - s
                lo[k] += (s - (e - c)) + (v - c)
                self._absent[k] = e
        for k in range(self._k):
            self._absent[k] += lo[k]

    @cython.cfunc
    @cython.inline
    def _missing(
        self, k: cython.Py_ssize_t, c: cython.double, whole: cython.double
    ) -> cython.double:
        """log(1 - p) of a token with the count c; `whole` is log(N + 2 alpha). 1 where p is 1."""
        rest: cython.double = max(self._of(k, 0) - c, 0.0) * self._now + self._alpha
        return log(rest) - whole if rest > 0.0 else 1.0


@cython.cfunc
@cython.exceptval(check=False)
def _add_up(
    sums: cython.double[::1],
    said: cython.double[:, ::1],
    u: cython.longlong[::1],
    v: cython.double[::1],
    first: cython.longlong,
    last: cython.longlong,
) -> cython.void:
    """The sums of what the columns u say, times their counts v."""
    i: cython.longlong
    j: cython.longlong
    k: cython.Py_ssize_t
    wide: cython.Py_ssize_t = said.shape[1]
    c: cython.double
    s0: cython.double
    s1: cython.double
    s2: cython.double
    s3: cython.double
    for k in range(0, wide, 4):
        s0 = s1 = s2 = s3 = 0.0
        for i in range(first, last):
            j = u[i]
            c = v[i]
            s0 += c * said[j, k]
            s1 += c * said[j, k + 1]
            s2 += c * said[j, k + 2]
            s3 += c * said[j, k + 3]
        sums[k] = s0
        sums[k + 1] = s1
        sums[k + 2] = s2
        sums[k + 3] = s3


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _index(v: cython.double) -> cython.longlong:
    """A whole number that is kept among doubles."""
    if cython.compiled:
        return cython.cast(cython.longlong, v)
    else:  # noqa: RET505 - the compiler must not see it
        return int(v)
