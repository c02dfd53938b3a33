# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""One look at all values of a table, before they are learned or scored."""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels import _cython as cython

from typing import Any

MISSING = 1
LARGE = 2


def survey(values: Any, limit: cython.double) -> int:
    """What there is in an array of doubles of one dimension.

    Returns
    -------
    The sum of MISSING, if a value is NaN, and LARGE, if one is beyond -limit to limit.
    """
    if not cython.compiled:
        values = memoryview(values)
    v: cython.const[cython.double][::1] = values  # type: ignore[valid-type]
    n: cython.Py_ssize_t = values.shape[0]
    i: cython.Py_ssize_t
    missing: cython.longlong = 0
    large: cython.longlong = 0
    for i in range(n):
        missing |= v[i] != v[i]
        large |= v[i] > limit or v[i] < -limit
    return int((MISSING if missing else 0) + (LARGE if large else 0))
