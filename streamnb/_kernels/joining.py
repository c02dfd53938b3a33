# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Joins two tables of moments: what one table would hold had it learned the events of both.

The pairwise formula of T. F. Chan, G. H. Golub and R. J. LeVeque (Updating formulae and a
pairwise algorithm for computing sample variances, 1979), in double-double and written
symmetrically: a + b and b + a have the same bits, and what has no weight changes nothing.

    d = m_b - m_a;   m = m_a + d W_b/W;   S = S_a + S_b + d^2 W_a W_b/W;   W = W_a + W_b

with a the heavier side; where both weigh the same, m = m_a/2 + m_b/2.
"""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels._oracle import cython

from typing import Any

if not cython.compiled:
    from streamnb._kernels._oracle.fp import product_error, sum_error


def join_cells(cells: Any, classes: Any, features: Any, other: Any) -> None:
    """Adds the cells of `other` to `cells`.

    Parameters
    ----------
    cells
        (K, 6, D) float64, C-contiguous: mean, sum of squared deviations and weight of each
        class and feature, each hi and lo. Changed in place.
    classes
        (K2,) intp, the place in `cells` of each class of `other`.
    features
        (D2,) intp, the place in `cells` of each feature of `other`.
    other
        (K2, 6, D2) float64, C-contiguous.
    """
    if not cython.compiled:
        cells, other = memoryview(cells), memoryview(other)
        classes, features = memoryview(classes), memoryview(features)
    p: cython.double[:, :, ::1] = cells
    o: cython.double[:, :, ::1] = other
    to_class: cython.Py_ssize_t[::1] = classes
    to_feature: cython.Py_ssize_t[::1] = features
    j: cython.Py_ssize_t
    i: cython.Py_ssize_t
    for j in range(other.shape[0]):
        for i in range(other.shape[2]):
            _join_cell(p, to_class[j], to_feature[i], o, j, i)


def join_weights(weights: Any, classes: Any, other: Any) -> None:
    """Adds the weights of `other` (K2, (hi, lo)) to `weights` (K, (hi, lo)), in place."""
    if not cython.compiled:
        weights, classes, other = memoryview(weights), memoryview(classes), memoryview(other)
    p: cython.double[:, ::1] = weights
    o: cython.double[:, ::1] = other
    to_class: cython.Py_ssize_t[::1] = classes
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    s: cython.double
    e: cython.double
    for j in range(other.shape[0]):
        k = to_class[j]
        s = p[k, 0] + o[j, 0]
        e = sum_error(p[k, 0], o[j, 0], s) + (p[k, 1] + o[j, 1])
        p[k, 0] = s + e
        p[k, 1] = e - (p[k, 0] - s)


@cython.cfunc
@cython.exceptval(check=False)
def _join_cell(
    p: cython.double[:, :, ::1],
    k: cython.Py_ssize_t,
    m: cython.Py_ssize_t,
    o: cython.double[:, :, ::1],
    j: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
) -> cython.void:
    """Joins cell (j, n) of `o` into cell (k, m) of `p`."""
    s: cython.double
    s_lo: cython.double
    f: cython.double
    f_lo: cython.double
    g: cython.double
    q: cython.double
    q_lo: cython.double
    d: cython.double
    d_lo: cython.double
    e: cython.double
    u: cython.double
    i: cython.Py_ssize_t
    # The weights: a of the heavier side, b of the lighter, s of both.
    a: cython.double = p[k, 4, m]
    a_lo: cython.double = p[k, 5, m]
    b: cython.double = o[j, 4, n]
    b_lo: cython.double = o[j, 5, n]
    if b == 0.0:
        return
    if a == 0.0:
        for i in range(6):
            p[k, i, m] = o[j, i, n]
        return
    swap: cython.bint = a < b or (a == b and a_lo < b_lo)
    even: cython.bint = a == b and a_lo == b_lo
    if swap:
        a, b = b, a
        a_lo, b_lo = b_lo, a_lo
    e = a + b
    u = sum_error(a, b, e) + (a_lo + b_lo)
    s = e + u
    s_lo = u - (s - e)
    f = b / s
    g = f * s
    f_lo = (((b - g) - product_error(f, s, g)) + (b_lo - f * s_lo)) / s
    q = a * f
    q_lo = product_error(a, f, q) + (a * f_lo + a_lo * f)
    # d: from the heavier side's mean to the lighter's.
    x: cython.double = o[j, 0, n] if swap else p[k, 0, m]
    x_lo: cython.double = o[j, 1, n] if swap else p[k, 1, m]
    y: cython.double = p[k, 0, m] if swap else o[j, 0, n]
    y_lo: cython.double = p[k, 1, m] if swap else o[j, 1, n]
    # in settled cells hi and lo may be apart
    e = x + x_lo
    x_lo = sum_error(x, x_lo, e)
    x = e
    e = y + y_lo
    y_lo = sum_error(y, y_lo, e)
    y = e
    d = y - x
    e = d - y
    d_lo = ((y - (d - e)) - (x + e)) + (y_lo - x_lo)
    if even:
        a = 0.5 * x
        b = 0.5 * y
        e = a + b
        u = sum_error(a, b, e) + (0.5 * x_lo + 0.5 * y_lo)
    else:
        g = d * f
        e = x + g
        u = sum_error(x, g, e) + (x_lo + (product_error(d, f, g) + (d * f_lo + d_lo * f)))
    p[k, 0, m] = e
    p[k, 1, m] = u
    e = d * d
    u = product_error(d, d, e) + (d + d + d_lo) * d_lo
    g = e * q
    u = product_error(e, q, g) + (e * q_lo + u * q)
    # The sums of both sides first: their sum is the same either way round.
    a = p[k, 2, m] + p[k, 3, m]
    a_lo = sum_error(p[k, 2, m], p[k, 3, m], a)
    b = o[j, 2, n] + o[j, 3, n]
    b_lo = sum_error(o[j, 2, n], o[j, 3, n], b)
    e = a + b
    a_lo = sum_error(a, b, e) + (a_lo + b_lo)
    d = e + g
    p[k, 2, m] = d
    p[k, 3, m] = sum_error(e, g, d) + (a_lo + u)
    p[k, 4, m] = s
    p[k, 5, m] = s_lo
