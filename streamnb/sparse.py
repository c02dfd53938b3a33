"""Tables of counts: sparse where the caller's are, and read as events of tokens.

Beside `frames`, for the models whose features are the tokens of a bag. A cell that is 0 is the same
as one that is not there, so a dense table and a sparse one give the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from streamnb import frames
from streamnb._kernels import hashing, survey
from streamnb.stats.counts import SparseRows
from streamnb.stats.index import Name

__all__ = ["hashed", "read_counts", "read_texts", "rows_of", "thresholded"]


def read_counts(X: Any, columns: Sequence[Name] | None = None) -> SparseRows:
    """Reads a table of counts.

    Parameters
    ----------
    X, columns
        as for `streamnb.frames.read_table`; a SciPy sparse matrix, and a pandas table of sparse
        columns, stay sparse.

    Raises
    ------
    TypeError
        no table, or a value that is no number.
    ValueError
        a count that is negative, infinite or missing, two columns of one name, names that do not
        fit.
    """
    sparse = _sparse(X)
    if sparse is None:
        table = frames.read_table(X, columns)
        if table.found & survey.MISSING or (table.values < 0).any():
            bad_rows, bad_places = np.nonzero(~(table.values >= 0))
            _refuse(bad_rows, bad_places, table.values[bad_rows, bad_places], table.names)
        rows, places = np.nonzero(table.values)
        cells = table.values[rows, places]
        names: Sequence[Name] = table.names
        if columns is None and isinstance(X, np.ndarray):
            names = frames.Numbered(np.arange(len(names)))
    else:
        names = frames.read_names(X, columns)
        bounds, places, cells = sparse.indptr, sparse.indices, sparse.data
        good = (cells > 0) & (cells < np.inf)
        if good.all():
            return _named(bounds, places, cells, names)
        rows = np.repeat(np.arange(sparse.shape[0]), np.diff(bounds))
        bad = np.flatnonzero(~(good | (cells == 0)))
        if bad.size:
            _refuse(rows[bad], places[bad], cells[bad], names)
        rows, places, cells = rows[good], places[good], cells[good]
    bounds = np.zeros(X.shape[0] + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=X.shape[0]), out=bounds[1:])
    return _named(bounds, places, cells, names)


def _named(bounds: Any, places: Any, cells: Any, names: Sequence[Name]) -> SparseRows:
    """The rows of cells in these columns; columns without a cell are left out."""
    used = np.flatnonzero(np.bincount(places, minlength=1)) if len(places) else places
    columns = np.zeros(int(used[-1]) + 1 if len(used) else 1, dtype=np.int64)
    columns[used] = np.arange(len(used))
    numbered = isinstance(names, frames.Numbered)
    return SparseRows(
        np.ascontiguousarray(bounds, dtype=np.int64),
        columns[places],
        np.ascontiguousarray(cells, dtype=np.float64),
        frames.Numbered(used) if numbered else [names[place] for place in used.tolist()],
        used.astype(np.int64) if numbered else None,
    )


def _sparse(X: Any) -> Any:
    """A sparse table as a matrix of doubles in order of rows, each cell once; else `None`."""
    library = frames.library_of(X)
    if library == "pandas" and len(X.columns):
        if not all(getattr(kind, "fill_value", None) == 0 for kind in X.dtypes):
            return None  # only pandas' sparse types have a value for what they leave out
        X = X.sparse.to_coo()
    elif library != "scipy":
        return None
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        return None
    matrix = X.tocsr().astype(np.float64, copy=False)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _refuse(rows: Any, places: Any, cells: Any, names: Sequence[Name]) -> None:
    """Raises `ValueError` for the first of some cells that are no counts."""
    first = np.lexsort((places, rows))[0]
    row, place = int(rows[first]), int(places[first])
    said = f"a count is finite and not negative, not {cells[first]}"
    msg = f"row {row}: feature {names[place]!r}: {said}"
    raise ValueError(msg)


def thresholded(rows: SparseRows, threshold: float) -> SparseRows:
    """The rows with a 1 for each count above a threshold, and nothing else."""
    kept = rows.values > threshold
    row = np.repeat(np.arange(len(rows.bounds) - 1), np.diff(rows.bounds))[kept]
    bounds = np.zeros(len(rows.bounds), dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=len(bounds) - 1), out=bounds[1:])
    return SparseRows(
        bounds, rows.columns[kept], np.ones(int(kept.sum())), rows.names, rows.numbers
    )


def hashed(rows: SparseRows, width: int) -> SparseRows:
    """The rows with buckets for tokens; the counts of tokens in one bucket are added up."""
    places = [hashing.bucket(name, width) for name in rows.names]
    bags: list[dict[int, float]] = []
    for first, last in zip(rows.bounds[:-1].tolist(), rows.bounds[1:].tolist(), strict=True):
        bag: dict[int, float] = {}
        cells = zip(rows.columns[first:last].tolist(), rows.values[first:last], strict=True)
        for column, value in cells:
            bag[places[column]] = bag.get(places[column], 0.0) + float(value)
        bags.append(bag)
    return rows_of(bags)


def rows_of(bags: Sequence[dict[Any, Any]]) -> SparseRows:
    """The rows of events that are mappings of tokens to counts above 0."""
    places: dict[Any, int] = {}
    bounds = np.zeros(len(bags) + 1, dtype=np.int64)
    np.cumsum([len(bag) for bag in bags], out=bounds[1:])
    columns = [places.setdefault(token, len(places)) for bag in bags for token in bag]
    values = [float(value) for bag in bags for value in bag.values()]
    return SparseRows(
        bounds, np.array(columns, dtype=np.int64), np.array(values, dtype=np.float64), list(places)
    )


def read_texts(
    X: Any,
    field: str,
    bag: Callable[[dict[str, Any]], dict[str, int]],
    columns: Sequence[Name] | None = None,
) -> SparseRows:
    """Reads the column of a table that holds texts; other columns are not read.

    Parameters
    ----------
    X, columns
        as for `streamnb.frames.read_table`.
    field
        the column's name. A table without it has no words.
    bag
        makes the tokens and counts of `{field: text}`.

    Raises
    ------
    TypeError
        no table, or a value that is no text; names its row.
    """
    found = frames.read_column(X, field, columns)
    bags = []
    for row, text in enumerate(found):
        try:
            bags.append(bag({field: text}))
        except (TypeError, ValueError) as error:
            msg = f"row {row}: {error}"
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(msg) from None
    return rows_of(bags)
