# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""One look at all values of a table, before they are learned or scored."""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels import _cython as cython

from typing import Any

if cython.compiled:
    from cython.cimports.libc.math import fabs
else:
    from math import fabs

MISSING = 1
UNUSUAL = 2


def survey(values: Any, small: cython.double, large: cython.double) -> int:
    """What there is in an array of doubles of one dimension.

    Returns
    -------
    The sum of MISSING, if a value is NaN, and UNUSUAL, if the size of one is neither 0 nor from
    `small` to `large`.
    """
    if not cython.compiled:
        values = memoryview(values)
    v: cython.const[cython.double][::1] = values  # type: ignore[valid-type]
    n: cython.Py_ssize_t = values.shape[0]
    i: cython.Py_ssize_t
    size: cython.double
    missing: cython.longlong = 0
    unusual: cython.longlong = 0
    for i in range(n):
        size = fabs(v[i])
        missing |= size != size
        unusual |= (size > large) | ((size < small) & (size != 0.0))
    return int((MISSING if missing else 0) + (UNUSUAL if unusual else 0))
