# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""One look at all values or labels of a table, before they are learned or scored."""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels._oracle import cython

from typing import Any

import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import fabs
else:
    from math import fabs

    from streamnb._kernels._oracle.survey import any_unusual

MISSING = 1
UNUSUAL = 2


def survey(values: Any, small: cython.double, large: cython.double) -> int:
    """What there is in an array of doubles of one dimension.

    Returns
    -------
    The sum of MISSING, if a value is NaN, and UNUSUAL, if the size of one is neither 0 nor from
    `small` to `large`.
    """
    n: cython.Py_ssize_t = values.shape[0]
    i: cython.Py_ssize_t
    if n == 0:
        return 0
    v: cython.const[cython.double][::1] = values if cython.compiled else memoryview(values)  # type: ignore[valid-type]
    if not any_unusual(cython.address(v[0]) if cython.compiled else v, n, small, large):
        return 0
    size: cython.double
    missing: cython.longlong = 0
    unusual: cython.longlong = 0
    for i in range(n):
        size = fabs(v[i])
        missing |= size != size
        unusual |= (size > large) | ((size < small) & (size != 0.0))
    return int((MISSING if missing else 0) + (UNUSUAL if unusual else 0))


def least(values: Any) -> float:
    """The least of an array of doubles of one dimension, none of them NaN; infinity of none."""
    v: cython.double[::1] = values if cython.compiled else memoryview(values)
    i: cython.Py_ssize_t
    low: cython.double = float("inf")
    for i in range(v.shape[0]):
        low = min(low, v[i])
    return float(low)


def code(numbers: Any) -> Any:
    """Whole numbers that lie close together, by their places among those that are different.

    Parameters
    ----------
    numbers
        (n,) intp, at least one.

    Returns
    -------
    The different numbers, a list in order, and each one's place in it, (n,) intp; `None` where
    they lie further apart than a table of all that lie between is worth.
    """
    n: cython.Py_ssize_t = numbers.shape[0]
    i: cython.Py_ssize_t
    at: cython.Py_ssize_t
    codes_array: Any = np.empty(n, dtype=np.intp)
    if cython.compiled:
        v: cython.const[cython.Py_ssize_t][::1] = numbers  # type: ignore[valid-type]
        codes: cython.Py_ssize_t[::1] = codes_array
    else:
        v, codes = memoryview(numbers), memoryview(codes_array)
    low: cython.Py_ssize_t = v[0]
    high: cython.Py_ssize_t = low
    for i in range(n):
        low = min(low, v[i])
        high = max(high, v[i])
    if int(high) - int(low) > 2 * n + 1000:
        return None
    places_array: Any = np.zeros(high - low + 1, dtype=np.intp)
    if cython.compiled:
        places: cython.Py_ssize_t[::1] = places_array
    else:
        places = memoryview(places_array)
    for i in range(n):
        places[v[i] - low] = 1
    different = []
    at = 0
    for i in range(high - low + 1):
        if places[i]:
            different.append(low + i)
            places[i] = at
            at += 1
    for i in range(n):
        codes[i] = places[v[i] - low]
    return different, codes_array


def used(places: Any, d: int) -> Any:
    """The columns of a sparse table that have cells, and the cells' places among these.

    Parameters
    ----------
    places
        (m,) int64, the column of each cell.
    d
        the number of columns.

    Returns
    -------
    The columns in order, (U,) int64, and (m,) int64; this is `places` where all are used.

    Raises
    ------
    ValueError
        a column out of range, as SciPy does not look at them.
    """
    ranks_array: Any = np.zeros(d, dtype=np.int64)
    if cython.compiled:
        p: cython.const[cython.longlong][::1] = places  # type: ignore[valid-type]
        ranks: cython.longlong[::1] = ranks_array
    else:
        p, ranks = memoryview(places), memoryview(ranks_array)
    i: cython.Py_ssize_t
    at: cython.longlong
    for i in range(places.shape[0]):
        at = p[i]
        if not 0 <= at < ranks.shape[0]:
            msg = f"a cell in column {at} of a table with {d} columns"
            raise ValueError(msg)
        ranks[at] = 1
    columns: Any = np.flatnonzero(ranks_array).astype(np.int64, copy=False)
    if len(columns) == d:
        return columns, places
    ranks_array[columns] = np.arange(len(columns))
    ranked: Any = np.empty(places.shape[0], dtype=np.int64)
    if cython.compiled:
        out: cython.longlong[::1] = ranked
    else:
        out = memoryview(ranked)
    for i in range(places.shape[0]):
        out[i] = ranks[p[i]]
    return columns, ranked


def nonzero(values: Any) -> Any:
    """The cells of a table that are not 0, in order of rows.

    Parameters
    ----------
    values
        (n, d) float64, C-contiguous.

    Returns
    -------
    (n + 1,) int64, row r having the cells from the r-th to the next; (m,) int64, the column of each
    cell; (m,) float64, the cells.
    """
    bounds_array: Any = np.zeros(values.shape[0] + 1, dtype=np.int64)
    m: cython.Py_ssize_t = np.count_nonzero(values)
    places_array: Any = np.empty(m, dtype=np.int64)
    cells_array: Any = np.empty(m)
    if cython.compiled:
        v: cython.const[cython.double][:, ::1] = values  # type: ignore[valid-type]
        bounds: cython.longlong[::1] = bounds_array
        places: cython.longlong[::1] = places_array
        cells: cython.double[::1] = cells_array
    else:
        v, bounds = memoryview(values), memoryview(bounds_array)
        places, cells = memoryview(places_array), memoryview(cells_array)
    at: cython.Py_ssize_t = 0
    r: cython.Py_ssize_t
    i: cython.Py_ssize_t
    for r in range(values.shape[0]):
        for i in range(values.shape[1]):
            if v[r, i] != 0.0:
                places[at] = i
                cells[at] = v[r, i]
                at += 1
        bounds[r + 1] = at
    return bounds_array, places_array, cells_array
