# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Moments and scatter read as multivariate normal densities: discriminant analysis.

A covariance is used through the Cholesky factor of its scatter S, U'U = S with U above the
diagonal: distances are triangular systems, the determinant is that of U. While nothing but whole
events comes, the factor follows by one rotation of its rows an event (P. E. Gill, G. H. Golub,
W. Murray, M. A. Saunders, Methods for modifying matrix factorizations, 1974): first the factor of
the scatter without its block, then one event of the block after the other. So it is a function of
the state alone, and a loaded model answers with the bits of the one that was saved.

To integrate a feature out of a density is to leave its row and column out of the covariance; in the
factor its row is left out and taken into the rows below by the same rotation.
"""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels._oracle import cython

import math
from typing import Any

import numpy as np

from streamnb._kernels._pivots import PIVOT, SURE

if cython.compiled:
    from cython.cimports.libc.math import log, sqrt
else:
    from math import log, sqrt

    from streamnb._kernels._oracle.arrays import doubles_of, longs_of, onward
    from streamnb._kernels._oracle.products import add_rows, rotate_rows, solve_eight, sum_squares
    from streamnb._kernels._oracle.shares import log_shares

_PIVOT = cython.declare(cython.double, PIVOT)
_SURE = cython.declare(cython.double, SURE)
_LOG_TWO_PI = cython.declare(cython.double, 1.8378770664093453)
_PATTERNS = cython.declare(cython.Py_ssize_t, 16)  # sub-blocks that are kept


@cython.cclass
class Factor:
    """The upper Cholesky factor of a symmetric matrix of n rows."""

    n: cython.Py_ssize_t
    stride: cython.Py_ssize_t
    arrays: tuple[Any, ...]
    rows: cython.p_double
    _diagonal: cython.p_double  # of the matrix itself
    _inverse: cython.p_double  # 1 over the diagonal of the factor
    z: cython.p_double
    _coefficients: cython.p_double
    log_root: cython.double  # half the logarithm of the determinant
    precise: Any  # a `PreciseFactor` that answers in place of this one, or `None`

    def __init__(self, n: int) -> None:
        self.n = n
        self.precise = None
        self.stride = max(8, (n + 7) // 8 * 8)
        self.log_root = 0.0
        s: int = self.stride
        self.arrays = (aligned((max(n, 1), s)), np.zeros(s), np.zeros(s), aligned((s,)))
        self.arrays += (np.zeros(8),)
        self.rows = doubles_of(self.arrays[0])
        self._diagonal = doubles_of(self.arrays[1])
        self._inverse = doubles_of(self.arrays[2])
        self.z = doubles_of(self.arrays[3])
        self._coefficients = doubles_of(self.arrays[4])

    def upper(self) -> Any:
        """The factor, (n, n), a copy."""
        return np.triu(self.arrays[0][: self.n, : self.n])

    def factorize(self, matrix: Any) -> bool:
        """Whether a matrix (n, n) is accepted; then this is its factor.

        It is where each pivot is above 2**-40 of its diagonal entry.
        """
        self.arrays[0][: self.n, : self.n] = matrix
        return bool(self.factorize_rows())

    def is_sure(self) -> bool:
        """Whether the matrix would be accepted without any rounding too."""
        return bool(self.measure())

    def follow(self, precise: Any) -> None:
        """Takes the factor of a `PreciseFactor`, which answers from here on."""
        self.precise = precise
        self.arrays[0][: self.n, : self.n] = precise.upper()
        self.measure()
        self.log_root = precise.log_root()

    @cython.cfunc
    def factorize_rows(self) -> cython.bint:
        """`factorize` for the matrix that stands in the rows, on and above the diagonal."""
        n: cython.Py_ssize_t = self.n
        s: cython.Py_ssize_t = self.stride
        u = self.rows
        at: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        r: cython.Py_ssize_t
        end: cython.Py_ssize_t
        pivot: cython.double
        for i in range(n):
            self._diagonal[i] = u[i * s + i]
        for at in range(0, n, 16):
            end = min(at + 16, n)
            for r in range(0, at, 8):
                for i in range(at, end):
                    self._subtract(i, r, 8)
            for i in range(at, end):
                for r in range(at, i, 8):
                    self._subtract(i, r, min(8, i - r))
                pivot = u[i * s + i]
                if not pivot > _PIVOT * self._diagonal[i]:
                    return False
                pivot = sqrt(pivot)
                u[i * s + i] = pivot
                for j in range(i + 1, n):
                    u[i * s + j] = u[i * s + j] / pivot
        self.measure()
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    def _subtract(
        self, i: cython.Py_ssize_t, r: cython.Py_ssize_t, rows: cython.Py_ssize_t
    ) -> cython.void:
        """Takes the products of finished rows, from r on, out of row i."""
        s: cython.Py_ssize_t = self.stride
        first: cython.Py_ssize_t = i // 8 * 8
        j: cython.Py_ssize_t
        for j in range(rows):
            self._coefficients[j] = -self.rows[(r + j) * s + i]
        add_rows(
            onward(self.rows, i * s + first),
            onward(self.rows, r * s + first),
            s,
            self._coefficients,
            rows,
            s - first,
        )

    @cython.cfunc
    def measure(self) -> cython.bint:
        """Prepares for questions; whether each pivot is accepted, whatever rounding did to it.

        One that should be 0 has the rounding of the matrix, 2^-53, over the pivots before it: so
        where one of 2^-40 is nothing but that, it is not the only one below 2^-24.
        """
        n: cython.Py_ssize_t = self.n
        s: cython.Py_ssize_t = self.stride
        i: cython.Py_ssize_t
        accepted: cython.bint = True
        v: cython.double
        total: cython.double = 0.0
        product: cython.double = 1.0
        for i in range(n):
            v = self.rows[i * s + i]
            accepted = accepted and v * v > _SURE * self._diagonal[i]
            self._inverse[i] = 1.0 / v
            product *= v
            if not 1e-100 < product < 1e100:
                total += log(product)
                product = 1.0
        self.log_root = total + log(product)
        return accepted

    @cython.cfunc
    @cython.exceptval(check=False)
    def _rotate(self, first: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.void:
        """Takes z into the rows from `first` to n, so that z z' is added to the matrix."""
        s: cython.Py_ssize_t = self.stride
        u = self.rows
        z = self.z
        j: cython.Py_ssize_t
        start: cython.Py_ssize_t
        v: cython.double
        h: cython.double
        for j in range(first, n):
            if z[j] == 0.0:
                continue
            v = u[j * s + j]
            h = sqrt(v * v + z[j] * z[j])
            # Whole vectors: what stands before the diagonal means nothing.
            start = (j + 1) // 8 * 8
            rotate_rows(onward(u, j * s + start), onward(z, start), v / h, z[j] / h, s - start)
            u[j * s + j] = h

    def add(self, row: Any) -> None:
        """Adds z z' to the matrix, z being `row`."""
        self.arrays[3][: self.n] = row
        self.add_z(self.z, 0)
        self.measure()

    @cython.cfunc
    @cython.exceptval(check=False)
    def add_z(self, r: cython.p_double, rows: cython.Py_ssize_t) -> cython.void:
        """Adds z z' to the matrix; then puts U'^-1 x in the place of each row x of r.

        Eight rows are turned, then read for the systems while the cache has them.
        """
        n: cython.Py_ssize_t = self.n
        s: cython.Py_ssize_t = self.stride
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        m: cython.Py_ssize_t
        for i in range(n):
            self._diagonal[i] += self.z[i] * self.z[i]
        for j in range(0, n, 8):
            self._rotate(j, min(j + 8, n))
            if rows:
                for i in range(j, min(j + 8, n)):
                    self._inverse[i] = 1.0 / self.rows[i * s + i]
            for m in range(rows):
                self._solve_for(onward(r, m * s), j)

    @cython.cfunc
    @cython.exceptval(check=False)
    def solve_in_place(self, r: cython.p_double, rows: cython.Py_ssize_t) -> cython.void:
        """Puts U'^-1 x in the place of each row x of r, which are a stride apart."""
        j: cython.Py_ssize_t
        m: cython.Py_ssize_t
        for j in range(0, self.n, 8):
            for m in range(rows):
                self._solve_for(onward(r, m * self.stride), j)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _solve_for(self, x: cython.p_double, j: cython.Py_ssize_t) -> cython.void:
        """Solves for the eight unknowns from j on, and takes them out of the equations below."""
        n: cython.Py_ssize_t = self.n
        s: cython.Py_ssize_t = self.stride
        u = self.rows
        a = self._coefficients
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        v: cython.double
        if j + 8 <= n:
            solve_eight(onward(x, j), onward(u, j * s + j), s, onward(self._inverse, j), a)
            add_rows(onward(x, j + 8), onward(u, j * s + j + 8), s, a, 8, s - j - 8)
            return
        for i in range(j, n):
            v = x[i] * self._inverse[i]
            x[i] = v
            for k in range(i + 1, n):
                x[k] += -v * u[i * s + k]

    @cython.cfunc
    @cython.exceptval(check=False)
    def squares(self) -> cython.double:
        """The sum of the squares of z."""
        return sum_squares(self.z, self.n)

    def solve(self, vector: Any) -> Any:
        """U'^-1 times a vector (n,), an array."""
        self.arrays[3][: self.n] = vector
        self.solve_in_place(self.z, 1)
        return self.arrays[3][: self.n].copy()

    def solve_back(self, vector: Any) -> Any:
        """U^-1 times a vector (n,), an array."""
        result = np.array(vector, dtype=np.float64)
        upper = self.arrays[0]
        n: int = self.n
        for i in range(n - 1, -1, -1):
            result[i] /= upper[i, i]
            result[:i] -= result[i] * upper[:i, i]
        return result

    def without(self, missing: Any) -> Factor:
        """The factor of the matrix without some of its rows and columns.

        Parameters
        ----------
        missing
            the places of these, in order.
        """
        n: cython.Py_ssize_t = self.n
        if self.precise is not None:
            places = np.delete(np.arange(n), missing)
            precise = Factor(len(places))
            precise.follow(self.precise.part(places))
            return precise
        whole = Factor(n)
        whole.arrays[0][:] = self.arrays[0]
        whole.arrays[3][:] = 0.0
        s: cython.Py_ssize_t = self.stride
        j: cython.Py_ssize_t
        i: cython.Py_ssize_t
        kept = np.ones(n, dtype=bool)
        for gone in reversed(missing):
            j = gone
            for i in range(j + 1, n):
                whole.z[i] = whole.rows[j * s + i]
            whole._rotate(j + 1, n)
            kept[j] = False
            # a later rotation passes over what is gone
            whole.arrays[0][:j, j] = 0.0
            whole.arrays[0][j] = 0.0
            whole.arrays[0][j, j] = 1.0
        part = Factor(int(kept.sum()))
        at = np.flatnonzero(kept)
        part.arrays[0][: len(at), : len(at)] = whole.arrays[0][np.ix_(at, at)]
        part.measure()
        return part


@cython.cclass
class Follower:
    """The factor of a `ScatterTable`, brought up to date event by event.

    Parameters
    ----------
    group
        the table; read in place, never changed.
    evidence
        (d,) int64, the slots of the features that count, in the order of the factor.
    added
        (d,) float64, added to the diagonal of the scatter.
    """

    factor: Factor
    _accepted: cython.bint  # the scatter without its block
    _answer: cython.bint  # what the last `follow` answered
    _group: Any
    _added_array: Any
    _arrays: tuple[Any, ...]
    _clock: cython.p_longlong
    _evidence: cython.p_longlong
    _added: cython.p_double
    _known: cython.p_double
    _square: cython.p_double
    _weights: cython.p_double
    _rows: cython.p_double
    _factors: cython.p_double
    _stride: cython.Py_ssize_t
    _boundary: cython.longlong
    _done: cython.longlong

    def __init__(self, group: Any, evidence: Any, added: Any) -> None:
        self.factor = Factor(len(evidence))
        self._accepted = False
        self._answer = False
        self._group = group
        self._boundary = -1
        self._done = 0
        self._arrays = (_flat(evidence), _flat(added))
        self._point()

    @cython.cfunc
    def _point(self) -> None:
        """Points at the group's arrays as they are now."""
        group = self._group
        arrays: Any = (
            *self._arrays[:2],
            group.clock,
            group.known,
            group.square,
            group.weights,
            group.rows,
            group.factors,
        )
        self._arrays = arrays
        self._stride = group.rows.shape[1]
        self._evidence = longs_of(arrays[0])
        self._added = doubles_of(arrays[1])
        self._clock = longs_of(arrays[2])
        self._known = doubles_of(arrays[3])
        self._square = doubles_of(arrays[4])
        self._weights = doubles_of(arrays[5])
        self._rows = doubles_of(arrays[6])
        self._factors = doubles_of(arrays[7])

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def weight(self, k: cython.Py_ssize_t) -> cython.double:
        """The weight of the complete events of class k of the group."""
        return self._weights[2 * k] + self._weights[2 * k + 1]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def is_complete(self) -> cython.bint:
        """Whether all events that the group has learned were complete."""
        return self._clock[2] == 0

    @cython.cfunc
    def follow(self, r: cython.p_double, rows: cython.Py_ssize_t) -> cython.bint:
        """Brings the factor U up to date; whether it is surely accepted.

        Then U'^-1 x stands in the place of each row x of r, else nothing that means anything.
        """
        i: cython.Py_ssize_t
        q: cython.double
        factor: Factor = self.factor
        begun: cython.bint = False
        last: cython.bint
        if self._boundary != self._clock[0] or self._done > self._clock[1]:
            self._begin()
            begun = True
        if not self._accepted:
            return False
        if self._done == self._clock[1]:
            factor.solve_in_place(r, rows)
            if not begun:
                return self._answer
        while self._done < self._clock[1]:
            q = sqrt(self._factors[self._done])
            row = onward(self._rows, self._done * self._stride)
            for i in range(factor.n):
                factor.z[i] = q * row[self._evidence[i]]
            self._done += 1
            last = self._done == self._clock[1]
            factor.add_z(r, rows if last else 0)
        self._answer = factor.measure()
        return self._answer

    @cython.cfunc
    def _begin(self) -> None:
        """Factorizes the scatter without its block."""
        factor: Factor = self.factor
        n: cython.Py_ssize_t = factor.n
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        a: cython.longlong
        b: cython.longlong
        if self._group.rows is not self._arrays[6] or self._group.square is not self._arrays[4]:
            self._point()
        self._boundary = self._clock[0]
        self._done = 0
        self._accepted = False
        for i in range(n):
            a = self._evidence[i]
            if self._known[a] == 0.0:
                return
            row = onward(factor.rows, i * factor.stride)
            for j in range(i, n):
                b = self._evidence[j]
                row[j] = self._square[min(a, b) * self._stride + max(a, b)]
            row[i] += self._added[i]
        self._accepted = factor.factorize_rows()


@cython.cclass
class DiscriminantScorer:
    """Answers log p(y) + log p(x | y) from a `MomentsTable` and `ScatterTable`s.

    Parameters
    ----------
    table
        the moments; read in place, never changed.
    groups
        the scatter: of each class slot where the classes stand apart, else one, or none.
    apart
        whether each class has a covariance of its own.
    labels
        the classes in canonical order.
    classes
        (K,) int64, each label's slot in the table; -1 where it has learned nothing.
    features
        (D,) int64, the slots of the features in canonical order.
    plain
        whether covariances are scatter over weight, to whose diagonal `added` is added before.
    added
        (D,) float64, for the features in canonical order.
    ddof
        taken from the weight: of the class, or for each class of the group.
    log_prior
        (K,) float64 where the prior is given, else `None`.
    prior_counts
        (K,) float64, added to the weights where it is not.
    general
        answers the `Factor` of any group's covariance, as it is read: of the class with this place
        in `labels`, over those features, given by their places in `features`.
    """

    _labels: list[Any]
    _read: Any
    _followers: list[Any]  # by group; `None` where there is no scatter
    _apart: cython.bint
    _plain: cython.bint
    _general: Any
    _used: list[Any]  # by group: the factor that answers
    _patterns: dict[Any, Any]
    _arrays: tuple[Any, ...]
    _evidence_places: Any
    _cells: cython.p_double
    _heads: cython.p_double
    _values: cython.p_double
    _clock: cython.p_longlong
    _present: cython.p_double
    _classes: cython.p_longlong
    _evidence: cython.p_longlong  # slots, canonical order
    _idle: cython.p_longlong  # slots of features that were constant
    _prior_counts: cython.p_double
    _start: cython.p_double  # log prior, by class
    _means: cython.p_double  # class, (hi, lo), evidence
    _whitened: cython.p_double  # class, evidence: each mean less the first, through the factor
    _event: cython.p_double
    _divisors: cython.p_double  # by group
    _distances: cython.p_double
    _scores: cython.p_double
    _events: cython.p_double  # a batch of events
    _solved: cython.p_double  # those, through a factor
    _batch: cython.p_double  # their scores
    _version: cython.longlong
    _places: cython.longlong
    _k: cython.Py_ssize_t
    _d: cython.Py_ssize_t
    _idles: cython.Py_ssize_t
    _stride: cython.Py_ssize_t
    _capacity: cython.Py_ssize_t
    _ddof: cython.double
    _given: cython.bint
    _careful: cython.bint  # whether a factor is a precise one

    def __init__(
        self,
        table: Any,
        groups: list[Any],
        apart: cython.bint,
        labels: list[Any],
        classes: Any,
        features: Any,
        plain: cython.bint,
        added: Any,
        ddof: cython.double,
        log_prior: Any,
        prior_counts: Any,
        general: Any,
    ) -> None:
        cells, heads, values, clock = table.buffers()
        self._places = clock[1]  # at once: where it moves on, these are out of date
        self._labels = labels
        self._read = table.read
        self._apart = apart
        self._plain = plain
        self._general = general
        self._ddof = ddof
        self._careful = False
        self._given = log_prior is not None
        self._k = len(labels)
        self._capacity = cells.shape[2]
        held = [groups[k] if k >= 0 else None for k in classes] if apart else (groups[:1] or [None])
        n: int = len(held)
        self._used = [None] * n
        self._patterns = {}
        spread = has_spread(table, features)
        evidence = features[spread]
        idle = features[~spread]
        self._evidence_places = np.flatnonzero(spread)
        self._followers = [
            None if group is None else Follower(group, evidence, added[spread]) for group in held
        ]
        self._d = len(evidence)
        self._idles = len(idle)
        s: int = (self._d + 7) // 8 * 8
        self._stride = s
        start = np.zeros(max(self._k, 1))
        start[: self._k] = log_prior if self._given else 0.0
        self._arrays = (
            _flat(cells),
            _flat(heads),
            _flat(values),
            table.present(),
            _flat(prior_counts),
            start,
            np.zeros(max(2 * self._k * s, 1)),
            aligned((max(self._k * s, 8),)),
            np.zeros(max(s, 1)),
            np.zeros(max(n, 1)),
            np.zeros(max(self._k, 1)),
            np.zeros(max(self._k, 1)),
            _flat(clock),
            _flat(classes),
            _flat(evidence),
            _flat(idle),
            aligned((max(16 * s, 8),)),
            aligned((max(16 * s, 8),)),
            np.zeros(max(16 * self._k, 1)),
        )
        self._cells = doubles_of(self._arrays[0])
        self._heads = doubles_of(self._arrays[1])
        self._values = doubles_of(self._arrays[2])
        self._present = doubles_of(self._arrays[3])
        self._prior_counts = doubles_of(self._arrays[4])
        self._start = doubles_of(self._arrays[5])
        self._means = doubles_of(self._arrays[6])
        self._whitened = doubles_of(self._arrays[7])
        self._event = doubles_of(self._arrays[8])
        self._divisors = doubles_of(self._arrays[9])
        self._distances = doubles_of(self._arrays[10])
        self._scores = doubles_of(self._arrays[11])
        self._clock = longs_of(self._arrays[12])
        self._classes = longs_of(self._arrays[13])
        self._evidence = longs_of(self._arrays[14])
        self._idle = longs_of(self._arrays[15])
        self._events = doubles_of(self._arrays[16])
        self._solved = doubles_of(self._arrays[17])
        self._batch = doubles_of(self._arrays[18])
        self._version = self._clock[0] - 1

    @property
    def labels(self) -> list[Any]:
        """The classes in canonical order."""
        return self._labels

    @property
    def log_prior(self) -> list[Any]:
        """The logarithm of each class's prior probability."""
        if self._version != self._clock[0]:
            self._refresh()
        return [self._start[k] for k in range(self._k)]

    def scores(self, x: Any) -> list[Any] | None:
        """The joint log-likelihoods of an event; `None` where labels or features have changed."""
        if not self._ask(x):
            return None
        k: cython.Py_ssize_t
        answer: list[Any] = [0.0] * self._k
        for k in range(self._k):
            answer[k] = self._scores[k]
        return answer

    def distances(self, x: Any) -> list[Any] | None:
        """The Mahalanobis distance of an event from each class; `None` as in `scores`."""
        if not self._ask(x):
            return None
        return [sqrt(self._distances[k]) for k in range(self._k)]

    def readings(self) -> tuple[list[Any], Any, Any, Any] | None:
        """What answers are made of, or `None` where it is out of date.

        Returns
        -------
        For each group the factor of its covariance times the divisor; the divisors; each class's
        mean, (K, (hi, lo), E); the places of the E features that are evidence, among all.
        """
        if self._places != self._clock[1] or not self._is_current():
            return None
        means = self._arrays[6][: 2 * self._k * self._stride]
        means = means.reshape(self._k, 2, self._stride)[:, :, : self._d].copy()
        return self._used[:], self._arrays[9].copy(), means, self._evidence_places

    @cython.cfunc
    def _ask(self, x: Any) -> cython.bint:
        """Whether the event was scored; not where labels or features have changed."""
        i: cython.Py_ssize_t
        missing: cython.bint = False
        if self._places != self._clock[1] or not self._is_current():
            return False
        self._read(x)
        # From here on nothing runs Python, but where features are missing: no other thread comes
        # between the reading and the copy.
        if self._places != self._clock[1] or self._version != self._clock[0]:
            return False
        for i in range(self._d):
            self._event[i] = self._values[self._evidence[i]]
            missing = missing or self._event[i] != self._event[i]
        if missing:
            self._score_part()
        else:
            self._score()
        return True

    def scores_many(self, rows: Any, slots: Any) -> Any:
        """The joint log-likelihoods of the rows of a table, (n, K); `None` as in `scores`.

        Parameters
        ----------
        rows
            (n, d) float64, C-contiguous, NaN where missing.
        slots
            (d,) intp, the feature slot of each column, -1 where it has none.
        """
        if self._places != self._clock[1] or not self._is_current():
            return None
        answer = np.empty((rows.shape[0], self._k))
        column_array: Any = np.full(max(self._d, 1), -1, dtype=np.intp)
        places = {int(slot): place for place, slot in enumerate(slots) if slot >= 0}
        column_array[: self._d] = [
            places.get(int(slot), -1) for slot in self._arrays[14][: self._d]
        ]
        if not cython.compiled:
            rows, column_array = memoryview(rows), memoryview(column_array)
        data: cython.const[cython.double][:, ::1] = rows  # type: ignore[valid-type]
        column: cython.Py_ssize_t[::1] = column_array
        out: cython.double[:, ::1] = answer
        r: cython.Py_ssize_t
        at: cython.Py_ssize_t
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        missing: cython.bint
        n: cython.Py_ssize_t = rows.shape[0]
        last: cython.Py_ssize_t
        for r in range(0, n, 16):
            last = min(r + 16, n)
            missing = False
            for at in range(r, last):
                event = onward(self._events, (at - r) * self._stride)
                for i in range(self._d):
                    event[i] = data[at, column[i]] if column[i] >= 0 else float("nan")
                    missing = missing or event[i] != event[i]
            if not missing:
                self._score_batch(last - r)
                for at in range(r, last):
                    for k in range(self._k):
                        out[at, k] = self._batch[(at - r) * self._k + k]
                continue
            for at in range(r, last):
                missing = False
                for i in range(self._d):
                    self._event[i] = self._events[(at - r) * self._stride + i]
                    missing = missing or self._event[i] != self._event[i]
                if missing:
                    self._score_part()
                else:
                    self._score()
                for k in range(self._k):
                    out[at, k] = self._scores[k]
        return answer

    @cython.cfunc
    def _score_batch(self, n: cython.Py_ssize_t) -> None:
        """Scores n events, which lack nothing, to the bit as `_score` would each.

        A row of the factor is read once for all of them.
        """
        s: cython.Py_ssize_t = self._stride
        m: cython.Py_ssize_t
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        r: cython.Py_ssize_t
        v: cython.double
        total: cython.double
        factor: Factor
        x = self._events
        z = self._solved
        if self._careful:
            for r in range(n):
                for i in range(self._d):
                    self._event[i] = x[r * s + i]
                self._score_carefully()
                for k in range(self._k):
                    self._batch[r * self._k + k] = self._scores[k]
            return
        for k in range(self._k):
            factor = self._used[k if self._apart else 0]
            if self._apart or k == 0:
                m = 2 * k * s
                for r in range(n):
                    for i in range(self._d):
                        v = x[r * s + i] - self._means[m + i]
                        z[r * s + i] = v - self._means[m + s + i]
                if self._d:
                    factor.solve_in_place(z, n)
            for r in range(n):
                total = self._squares(onward(z, r * s), k)
                self._set_score(k, total, self._divisors[k if self._apart else 0], factor)
                self._batch[r * self._k + k] = self._scores[k]

    @cython.cfunc
    def _score(self) -> None:
        """Scores the event, which lacks nothing; of the event itself nothing may be left."""
        k: cython.Py_ssize_t
        factor: Factor
        if self._careful:
            self._score_carefully()
            return
        if self._apart:
            for k in range(self._k):
                factor = self._used[k]
                self._centre(k, self._d)
                factor.solve_in_place(factor.z, 1)
                self._set_score(k, factor.squares(), self._divisors[k], factor)
            return
        factor = self._used[0]
        if self._k:
            self._centre(0, self._d)
            factor.solve_in_place(factor.z, 1)
        for k in range(self._k):
            self._set_score(k, self._squares(factor.z, k), self._divisors[0], factor)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _squares(self, z: cython.p_double, k: cython.Py_ssize_t) -> cython.double:
        """The squared distance of class k from what the factor has solved."""
        i: cython.Py_ssize_t
        if self._apart or k == 0:
            return sum_squares(z, self._d)
        for i in range(self._d):
            self._event[i] = z[i] - self._whitened[k * self._stride + i]
        return sum_squares(self._event, self._d)

    @cython.cfunc
    def _score_carefully(self) -> None:
        """`_score`, where a factor is a precise one.

        That runs Python: what other threads may change is read before, and written after.
        """
        k: cython.Py_ssize_t
        g: cython.Py_ssize_t
        factor: Factor
        used = [self._used[k if self._apart else 0] for k in range(self._k)]
        squares: list[Any] = [0.0] * self._k
        event = self._arrays[8][: self._d].copy()
        means = self._arrays[6][: 2 * self._k * self._stride].copy()
        means = means.reshape(self._k, 2, self._stride)[:, :, : self._d]
        for k in range(self._k):
            factor = used[k]
            if factor.precise is None:
                self._centre(k, self._d)
                factor.solve_in_place(factor.z, 1)
                squares[k] = factor.squares()
        for k in range(self._k):
            factor = used[k]
            if factor.precise is not None:
                squares[k] = factor.precise.squares(event, means[k, 0], means[k, 1])
        for k in range(self._k):
            g = k if self._apart else 0
            self._set_score(k, squares[k], self._divisors[g], used[k])

    @cython.cfunc
    @cython.exceptval(check=False)
    def _centre(self, k: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.void:
        """Puts the event less the mean of class k where the class's factor solves."""
        factor: Factor = self._used[k if self._apart else 0]
        m: cython.Py_ssize_t = 2 * k * self._stride
        i: cython.Py_ssize_t
        for i in range(n):
            factor.z[i] = (self._event[i] - self._means[m + i]) - self._means[m + self._stride + i]

    @cython.cfunc
    @cython.exceptval(check=False)
    def _set_score(
        self,
        k: cython.Py_ssize_t,
        squares: cython.double,
        divisor: cython.double,
        factor: Factor,
    ) -> cython.void:
        """The score of class k, from the squared distance in the units of the factor."""
        n: cython.double = factor.n
        squares = squares * divisor
        if squares != squares:  # beyond doubles
            squares = float("inf")
        self._distances[k] = squares
        v: cython.double = squares + (2.0 * factor.log_root - n * log(divisor)) + n * _LOG_TWO_PI
        self._scores[k] = self._start[k] - 0.5 * v

    @cython.cfunc
    def _score_part(self) -> None:
        """Scores the event from the features that it has: the others are integrated out."""
        event = self._arrays[8][: self._d].copy()
        absent = np.isnan(event)
        key = absent.tobytes()
        missing = np.flatnonzero(absent).tolist()
        there = np.flatnonzero(~absent)
        factors: list[Any] | None = self._patterns.get(key)
        if factors is None:
            factors = [cython.cast(Factor, used).without(missing) for used in self._used]
            if len(self._patterns) >= _PATTERNS:
                self._patterns.clear()
            self._patterns[key] = factors
        means = self._arrays[6][: 2 * self._k * self._stride]
        means = means.reshape(self._k, 2, self._stride)
        k: cython.Py_ssize_t
        g: cython.Py_ssize_t
        factor: Factor
        squares: list[Any] = [0.0] * self._k
        for k in range(self._k):
            factor = factors[k if self._apart else 0]
            hi, lo = means[k, 0, there], means[k, 1, there]
            if factor.precise is not None:
                squares[k] = factor.precise.squares(event[there], hi, lo)
                continue
            factor.arrays[3][: factor.n] = (event[there] - hi) - lo
            factor.solve_in_place(factor.z, 1)
            squares[k] = factor.squares()
        for k in range(self._k):
            g = k if self._apart else 0
            self._set_score(k, squares[k], self._divisors[g], factors[g])

    # -- from statistics to factors --------------------------------------------------------

    @cython.cfunc
    def _is_current(self) -> cython.bint:
        """Whether answers are of the statistics as they are, perhaps after a `_refresh`."""
        return self._version == self._clock[0] or self._refresh()

    @cython.cfunc
    def _refresh(self) -> cython.bint:
        """Makes all anew that the statistics have changed; False where other features count."""
        version: cython.longlong = self._clock[0]
        i: cython.Py_ssize_t
        g: cython.Py_ssize_t
        k: cython.Py_ssize_t
        w: cython.double
        for i in range(self._idles):
            if self._varies(self._idle[i]):
                return False
        for i in range(self._d):  # unlearning may leave a feature constant
            if not self._varies(self._evidence[i]):
                return False
        if not self._given:
            for k in range(self._k):
                w = self._prior_counts[k] + self._weight(k)
                self._start[k] = min(w, 1.7976931348623157e308)
            log_shares(self._start, self._k)
        self._set_means()
        careful: cython.bint = False
        for g in range(len(self._used)):
            self._set_factor(g)
            careful = careful or cython.cast(Factor, self._used[g]).precise is not None
        self._careful = careful
        if self._patterns:
            self._patterns.clear()
        self._version = version
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _weight(self, k: cython.Py_ssize_t) -> cython.double:
        """The weight that the class has seen."""
        return 0.0 if self._classes[k] < 0 else self._heads[4 * self._classes[k]] * self._present[0]

    @cython.cfunc
    @cython.exceptval(check=False)
    def _varies(self, slot: cython.Py_ssize_t) -> cython.bint:
        """Whether a feature has had different values."""
        return _varies(self._cells, self._heads, self._capacity, self._classes, self._k, slot)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _feature_weight(self, k: cython.Py_ssize_t, slot: cython.Py_ssize_t) -> cython.double:
        """The weight of one feature in one class."""
        c: cython.longlong = self._classes[k]
        if c < 0:
            return 0.0
        if self._heads[4 * c + 2] != 0.0:
            return self._heads[4 * c]
        return self._cells[(6 * c + 4) * self._capacity + slot]

    @cython.cfunc
    def _set_means(self) -> None:
        """The mean of each class; over all classes, where it has not seen the feature."""
        s: cython.Py_ssize_t = self._stride
        c: cython.Py_ssize_t = self._capacity
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        m: cython.Py_ssize_t
        o: cython.Py_ssize_t
        lacking: cython.bint = False
        p = self._cells
        for k in range(self._k):
            o = 4 * self._classes[k]
            lacking = lacking or o < 0 or self._heads[o + 2] == 0.0 or self._heads[o] == 0.0
        for k in range(self._k):
            if self._classes[k] < 0:
                continue
            o = 2 * k * s
            m = 6 * self._classes[k] * c
            for i in range(self._d):
                self._means[o + i] = p[m + self._evidence[i]]
                self._means[o + s + i] = p[m + c + self._evidence[i]]
        if lacking:
            for i in range(self._d):
                self._set_lacking(i)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _set_lacking(self, i: cython.Py_ssize_t) -> cython.void:
        """The mean of a feature over all classes, for those that have not seen it."""
        s: cython.Py_ssize_t = self._stride
        slot: cython.Py_ssize_t = self._evidence[i]
        k: cython.Py_ssize_t
        first: cython.Py_ssize_t = -1
        w: cython.double
        d: cython.double
        total: cython.double = 0.0
        shift: cython.double = 0.0
        p = self._means
        for k in range(self._k):
            w = self._feature_weight(k, slot)
            if w > 0.0:
                first = k if first < 0 else first
                d = p[2 * k * s + i] - p[2 * first * s + i]
                d = d + (p[(2 * k + 1) * s + i] - p[(2 * first + 1) * s + i])
                total += w
                shift += (w / total) * (d - shift)
        for k in range(self._k):
            if self._feature_weight(k, slot) == 0.0:
                p[2 * k * s + i] = p[2 * first * s + i]
                p[(2 * k + 1) * s + i] = p[(2 * first + 1) * s + i] + shift

    @cython.cfunc
    def _set_factor(self, g: cython.Py_ssize_t) -> None:
        """The factor of a group, and what its covariance is divided by."""
        divisor: cython.double = self._divisor(g)
        follower: Follower
        factor: Factor
        others: cython.Py_ssize_t = 0 if self._apart else max(self._k - 1, 0)
        means = onward(self._whitened, self._stride if others else 0)
        if divisor > 0.0:
            follower = self._followers[g]
            self._set_means_apart(others)
            if follower.is_complete() and follower.follow(means, others):
                self._used[g] = follower.factor
                self._divisors[g] = divisor
                return
        factor = self._general(g if self._apart else -1, self._evidence_places)
        self._used[g] = factor
        self._divisors[g] = 1.0
        self._set_means_apart(others)
        factor.solve_in_place(means, others)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _set_means_apart(self, others: cython.Py_ssize_t) -> cython.void:
        """The means of so many classes after the first less that of the first, to be whitened."""
        s: cython.Py_ssize_t = self._stride
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        p = self._means
        for k in range(1, others + 1):
            m = onward(p, 2 * k * s)
            for i in range(self._d):
                self._whitened[k * s + i] = (m[i] - p[i]) + (m[s + i] - p[s + i])

    @cython.cfunc
    def _divisor(self, g: cython.Py_ssize_t) -> cython.double:
        """What the scatter of a group is divided by; 0 where it cannot be read so simply."""
        k: cython.Py_ssize_t
        w: cython.double
        total: cython.double = 0.0
        count: cython.double = 0.0
        if not self._plain or self._followers[g] is None:
            return 0.0
        follower: Follower = self._followers[g]
        if self._apart:
            if self._weight(g) < 2.0:
                return 0.0
            total = follower.weight(0)
            count = 1.0
        else:
            for k in range(self._k):
                w = follower.weight(self._classes[k]) if self._classes[k] >= 0 else 0.0
                total += w
                count += 1.0 if w > 0.0 else 0.0
        return total - count * self._ddof / self._present[0]


@cython.cfunc
@cython.exceptval(check=False)
def _varies(
    p: cython.p_double,
    heads: cython.p_double,
    c: cython.Py_ssize_t,
    classes: cython.p_longlong,
    n: cython.Py_ssize_t,
    slot: cython.Py_ssize_t,
) -> cython.bint:
    """Whether a feature has had different values in the classes."""
    k: cython.Py_ssize_t
    m: cython.Py_ssize_t
    first: cython.Py_ssize_t = -1
    w: cython.double
    for k in range(n):
        if classes[k] < 0:
            continue
        m = 6 * classes[k] * c + slot
        w = heads[4 * classes[k]] if heads[4 * classes[k] + 2] != 0.0 else p[m + 4 * c]
        if w == 0.0:
            continue
        if p[m + 2 * c] > 0.0:
            return True
        if first < 0:
            first = m
        elif p[m] != p[first] or p[m + c] != p[first + c]:
            return True
    return False


def has_spread(table: Any, features: Any) -> Any:
    """Which features have had different values, (D,) bool.

    Parameters
    ----------
    table
        a `MomentsTable`.
    features
        (D,) int64, their slots.
    """
    cells, heads, _, _ = table.buffers()
    all_classes = np.arange(len(heads), dtype=np.int64)
    i: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    c: cython.Py_ssize_t = cells.shape[2]
    n: cython.Py_ssize_t = len(heads)
    arrays = (_flat(cells), _flat(heads), _flat(all_classes))
    spread = np.zeros(len(features), dtype=bool)
    p: cython.p_double = doubles_of(arrays[0])
    h: cython.p_double = doubles_of(arrays[1])
    k: cython.p_longlong = longs_of(arrays[2])
    for i in range(len(features)):
        slot = features[i]
        spread[i] = _varies(p, h, c, k, n, slot)
    return spread


def aligned(shape: tuple[int, ...]) -> Any:
    """Zeros that begin where a vector of eight does."""
    n = math.prod(shape)
    room = np.zeros(n + 8)
    start = -room.ctypes.data // 8 % 8
    return room[start : start + n].reshape(shape)


@cython.cfunc
def _flat(array: Any) -> Any:
    """A view of an array as one row, at least one number long."""
    return array.reshape(-1) if array.size else np.zeros(1, dtype=array.dtype)
