# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Covariances that have to be repaired, in double-double: made, factorized and solved.

The repair of a singular covariance leaves pivots of 2^-40 of the diagonal. In doubles these would
have 12 bits; here a number is the sum of two doubles, hi + lo. A feature stands in units of a power
of two near its standard deviation, so that nothing leaves the range where products have errors.
"""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels._oracle import cython

from typing import Any

import numpy as np

from streamnb._kernels._pivots import PIVOT, SURE

if cython.compiled:
    from cython.cimports.libc.math import fabs, log, sqrt
else:
    from math import fabs, log, sqrt

    from streamnb._kernels._oracle.arrays import doubles_of, onward
    from streamnb._kernels._oracle.fp import product_error, sum_error
    from streamnb._kernels._oracle.twofold import subtract_multiple

_PIVOT = cython.declare(cython.double, PIVOT)
_SURE = cython.declare(cython.double, SURE)
_FAR = cython.declare(cython.double, 2.0**300)
_BEYOND = cython.declare(cython.double, 2.0**600)


@cython.cfunc
@cython.exceptval(check=False)
def _add(p: cython.p_double, q: cython.p_double, x: cython.double) -> cython.void:
    """Adds x to the number p[0] + q[0]."""
    s: cython.double = p[0] + x
    t: cython.double = q[0] + sum_error(p[0], x, s)
    p[0] = s + t
    q[0] = t - (p[0] - s)


@cython.cfunc
@cython.exceptval(check=False)
def _divide(
    p: cython.p_double, q: cython.p_double, b: cython.double, b_lo: cython.double
) -> cython.void:
    """Divides the number p[0] + q[0] by b + b_lo."""
    v: cython.double = p[0] / b
    x: cython.double = v * b
    t: cython.double = (((p[0] - x) - product_error(v, b, x)) + (q[0] - v * b_lo)) / b
    p[0] = v + t
    q[0] = t - (p[0] - v)


def sums(square: Any, rows: Any, factors: Any, slots: Any, units: Any) -> Any:
    """The scatter of a group's complete events, ((hi, lo), d, d), on and above the diagonal.

    Parameters
    ----------
    square, rows, factors
        of a `ScatterTable`: the scatter without the block, and the block's n rows.
    slots
        (d,) where the features stand in them.
    units
        (d,) powers of two that the features are multiplied by.
    """
    n: cython.Py_ssize_t = len(factors)
    d: cython.Py_ssize_t = len(slots)
    factors = np.ascontiguousarray(factors)
    i: cython.Py_ssize_t
    r: cython.Py_ssize_t
    j: cython.Py_ssize_t
    upper = np.triu(square)
    upper = (upper + np.triu(upper, 1).T)[np.ix_(slots, slots)]
    result: Any = np.zeros((2, d, d))
    result[0] = (upper * units) * units[:, None]
    scaled = np.ascontiguousarray(rows[:, slots] * units)
    weighted = np.zeros((2, max(n, 1), d))
    if n == 0 or d == 0:
        return result
    hi: cython.p_double = doubles_of(result[0])
    lo: cython.p_double = doubles_of(result[1])
    x: cython.p_double = doubles_of(scaled)
    f: cython.p_double = doubles_of(factors)
    t: cython.p_double = doubles_of(weighted[0])
    t_lo: cython.p_double = doubles_of(weighted[1])
    for r in range(n):
        for j in range(d):
            t[r * d + j] = x[r * d + j] * f[r]
            t_lo[r * d + j] = product_error(x[r * d + j], f[r], t[r * d + j])
    for i in range(d):
        for r in range(n):
            subtract_multiple(
                onward(hi, i * d + i),
                onward(lo, i * d + i),
                onward(t, r * d + i),
                onward(t_lo, r * d + i),
                -x[r * d + i],
                0.0,
                d - i,
            )
    return result


def level(covariance: Any, noise: cython.double) -> None:
    """Makes zeros of pivots that are rounding: the rank of a covariance of rounded sums.

    Where one feature is a combination of the others, the rounding of their scatter leaves a
    pivot near 2^-52, where the rows had none; a repair by 2^-40 would show that in its fourth
    digit. So what is within the rounding of the entries, carried along through the elimination by
    larger pivots, becomes 0 in the row of such a pivot. A small pivot eliminates nothing: it would
    make much of little rounding.

    Parameters
    ----------
    covariance
        C, ((hi, lo), d, d), on and above the diagonal; changed in place.
    noise
        the rounding of an entry, as a part of sqrt(C_ii C_jj).
    """
    d: cython.Py_ssize_t = covariance.shape[1]
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    rest: Any = covariance.copy()
    errors: Any = np.zeros((d, d))
    multiple: Any = np.zeros(2)
    if d == 0:
        return
    s: cython.p_double = doubles_of(covariance[0])
    s_lo: cython.p_double = doubles_of(covariance[1])
    p: cython.p_double = doubles_of(rest[0])
    p_lo: cython.p_double = doubles_of(rest[1])
    e: cython.p_double = doubles_of(errors)
    q: cython.p_double = doubles_of(multiple)
    m: cython.double
    for i in range(d):
        for j in range(i, d):
            e[i * d + j] = noise * (sqrt(fabs(s[i * d + i])) * sqrt(fabs(s[j * d + j])))
    for k in range(d):
        if not p[k * d + k] > _SURE * s[k * d + k]:
            for j in range(k, d):
                if fabs(p[k * d + j]) <= e[k * d + j]:
                    _add(onward(s, k * d + j), onward(s_lo, k * d + j), -p[k * d + j])
                    _add(onward(s, k * d + j), onward(s_lo, k * d + j), -p_lo[k * d + j])
            continue
        for i in range(k + 1, d):
            q[0] = p[k * d + i]
            q[1] = p_lo[k * d + i]
            _divide(q, onward(q, 1), p[k * d + k], p_lo[k * d + k])
            m = fabs(q[0])
            subtract_multiple(
                onward(p, i * d + i),
                onward(p_lo, i * d + i),
                onward(p, k * d + i),
                onward(p_lo, k * d + i),
                q[0],
                q[1],
                d - i,
            )
            for j in range(i, d):
                e[i * d + j] += m * e[k * d + j] + fabs(p[k * d + j] / p[k * d + k]) * (
                    e[k * d + i] + m * e[k * d + k]
                )


def divided(scatter: Any, weights: Any) -> Any:
    """S / weights, entry by entry, ((hi, lo), d, d), on and above the diagonal.

    Parameters
    ----------
    scatter
        S, ((hi, lo), d, d).
    weights
        (d, d), C-contiguous; an entry whose weight is not positive is 0.
    """
    d: cython.Py_ssize_t = scatter.shape[1]
    at: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    result: Any = scatter.copy()
    if d == 0:
        return result
    p: cython.p_double = doubles_of(result[0])
    q: cython.p_double = doubles_of(result[1])
    w: cython.p_double = doubles_of(weights)
    for i in range(d):
        for j in range(i, d):
            at = i * d + j
            if w[at] > 0.0:
                _divide(onward(p, at), onward(q, at), w[at], 0.0)
            else:
                p[at] = 0.0
                q[at] = 0.0
    return result


def shrunk(covariance: Any, part: cython.double, added: Any) -> Any:
    """Part C + diag(added), ((hi, lo), d, d), on and above the diagonal.

    Parameters
    ----------
    covariance
        C, ((hi, lo), d, d).
    part
        from 0 to 1.
    added
        (d,).
    """
    d: cython.Py_ssize_t = covariance.shape[1]
    at: cython.Py_ssize_t
    i: cython.Py_ssize_t
    v: cython.double
    result: Any = covariance.copy()
    if d == 0:
        return result
    p: cython.p_double = doubles_of(result[0])
    q: cython.p_double = doubles_of(result[1])
    a: cython.p_double = doubles_of(added)
    if part != 1.0:
        for at in range(d * d):
            v = p[at] * part
            q[at] = product_error(p[at], part, v) + q[at] * part
            p[at] = v
    for i in range(d):
        _add(onward(p, i * d + i), onward(q, i * d + i), a[i])
    return result


@cython.cclass
class PreciseFactor:
    """L and D of L D L' = A in double-double, L being a lower triangle with 1 on its diagonal.

    Parameters
    ----------
    units
        (n,) powers of two; A is the covariance of the features multiplied by them.
    """

    n: cython.Py_ssize_t
    _arrays: tuple[Any, ...]
    _matrix: Any  # A, ((hi, lo), n, n), on and above the diagonal
    _hi: cython.p_double  # row k: D_k, and to its right column k of L
    _lo: cython.p_double
    _units: cython.p_double
    _z: cython.p_double
    _z_lo: cython.p_double
    _pair: cython.p_double

    def __init__(self, units: Any) -> None:
        self.n = len(units)
        n: int = max(self.n, 1)
        self._matrix = np.zeros((2, self.n, self.n))
        self._arrays = (np.zeros((n, n)), np.zeros((n, n)), np.ones(n))
        self._arrays += (np.zeros(n), np.zeros(n), np.zeros(2))
        self._arrays[2][: self.n] = units
        self._hi = doubles_of(self._arrays[0])
        self._lo = doubles_of(self._arrays[1])
        self._units = doubles_of(self._arrays[2])
        self._z = doubles_of(self._arrays[3])
        self._z_lo = doubles_of(self._arrays[4])
        self._pair = doubles_of(self._arrays[5])

    def factorize(self, matrix: Any) -> bool:
        """Whether A, ((hi, lo), n, n), is accepted: each pivot above 2^-40 of its diagonal entry.

        Then this is its factor.
        """
        n: cython.Py_ssize_t = self.n
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        self._matrix = matrix
        self._arrays[0][:n, :n] = matrix[0]
        self._arrays[1][:n, :n] = matrix[1]
        self._arrays[3][:n] = matrix[0].diagonal()
        p = self._hi
        q = self._lo
        pair = self._pair
        for k in range(n):
            # Powers of two: the products are exact.
            if not (p[k * n + k] - _PIVOT * self._z[k]) + q[k * n + k] > 0.0:
                return False
            for i in range(k + 1, n):
                pair[0] = p[k * n + i]
                pair[1] = q[k * n + i]
                _divide(pair, onward(pair, 1), p[k * n + k], q[k * n + k])
                subtract_multiple(
                    onward(p, i * n + i),
                    onward(q, i * n + i),
                    onward(p, k * n + i),
                    onward(q, k * n + i),
                    pair[0],
                    pair[1],
                    n - i,
                )
            for i in range(k + 1, n):
                _divide(onward(p, k * n + i), onward(q, k * n + i), p[k * n + k], q[k * n + k])
        return True

    def mixed(self, covariance: Any, variances: Any, power: int) -> bool:
        """`factorize` for (1 - s) C + s diag(variances), s = 2^-power.

        Parameters
        ----------
        covariance
            C, ((hi, lo), n, n).
        variances
            (n,), positive.
        power
            at least 0.
        """
        n: cython.Py_ssize_t = self.n
        i: cython.Py_ssize_t
        s: cython.double = 2.0**-power
        matrix: Any = np.zeros((2, self.n, self.n))
        if power > 0:
            less = -s * covariance
            total = covariance[0] + less[0]
            c = total - covariance[0]
            error = (covariance[0] - (total - c)) + (less[0] - c)
            error += covariance[1] + less[1]
            matrix[0] = total + error
            matrix[1] = error - (matrix[0] - total)
        diagonal: Any = np.ascontiguousarray(matrix[:, range(n), range(n)])
        if n == 0:
            return True
        p: cython.p_double = doubles_of(diagonal[0])
        q: cython.p_double = doubles_of(diagonal[1])
        v: cython.p_double = doubles_of(variances)
        for i in range(n):
            _add(onward(p, i), onward(q, i), s * v[i])
        matrix[:, range(n), range(n)] = diagonal
        return bool(self.factorize(matrix))

    def part(self, places: Any) -> PreciseFactor:
        """The factor of some rows and columns of A, given by their places."""
        part = PreciseFactor(self._arrays[2][: self.n][places])
        part.factorize(np.ascontiguousarray(self._matrix[:, places][:, :, places]))
        return part

    def upper(self) -> Any:
        """The upper Cholesky factor of the covariance itself, (n, n), rounded."""
        n: int = self.n
        rows = self._arrays[0][:n, :n]
        pivots = rows.diagonal().copy()
        upper = np.triu(rows, 1)
        upper[range(n), range(n)] = 1.0
        return (upper * np.sqrt(pivots)[:, None]) / self._arrays[2][:n]

    def log_root(self) -> float:
        """Half the logarithm of the determinant of the covariance."""
        n: cython.Py_ssize_t = self.n
        i: cython.Py_ssize_t
        total: cython.double = 0.0
        for i in range(n):
            total += 0.5 * log(self._hi[i * n + i]) - log(self._units[i])
        return float(total)

    def squares(self, x: Any, mean: Any, mean_lo: Any) -> float:
        """(x - m)' C^-1 (x - m) for the event x and the mean m = mean + mean_lo, each (n,)."""
        n: cython.Py_ssize_t = self.n
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        if not cython.compiled:
            x, mean, mean_lo = memoryview(x), memoryview(mean), memoryview(mean_lo)
        a: cython.double[::1] = x
        b: cython.double[::1] = mean
        b_lo: cython.double[::1] = mean_lo
        v: cython.double
        t: cython.double
        far: cython.double = 0.0
        total: cython.double = 0.0
        z = self._z
        z_lo = self._z_lo
        for i in range(n):
            v = a[i] - b[i]
            t = sum_error(a[i], -b[i], v) - b_lo[i]
            z[i] = (v + t) * self._units[i]
            z_lo[i] = sum_error(v, t, v + t) * self._units[i]
            if not fabs(z[i]) < _BEYOND:
                return float("inf")
            far = max(far, fabs(z[i]))
        if far > _FAR:
            for i in range(n):
                z[i] = z[i] / _FAR
                z_lo[i] = z_lo[i] / _FAR
        for k in range(n):
            if k + 1 < n:
                subtract_multiple(
                    onward(z, k + 1),
                    onward(z_lo, k + 1),
                    onward(self._hi, k * n + k + 1),
                    onward(self._lo, k * n + k + 1),
                    z[k],
                    z_lo[k],
                    n - k - 1,
                )
            total += z[k] * z[k] / self._hi[k * n + k]
        return float(total * _FAR * _FAR if far > _FAR else total)
