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
from streamnb.stats.counts_state import SparseRows
from streamnb.stats.fields import field_tokens
from streamnb.stats.index import Name
from streamnb.values import category

__all__ = [
    "hashed",
    "read_bags",
    "read_counts",
    "read_fields",
    "read_texts",
    "rows_of",
    "rows_of_fields",
    "thresholded",
]


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
        names: Sequence[Name] = table.names
        if columns is None and isinstance(X, np.ndarray):
            names = frames.Numbered(np.arange(len(names)))
        bounds, places, cells = survey.nonzero(table.values)
        return _named(bounds, places, cells, names)
    names = frames.read_names(X, columns)
    bounds, places, cells = sparse.indptr, sparse.indices, sparse.data
    if survey.survey(cells, 0.0, np.finfo(np.float64).max) == 0 and (cells > 0).all():
        return _named(bounds, places, cells, names)
    good = (cells > 0) & (cells < np.inf)
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
    used, ranked = survey.used(np.ascontiguousarray(places, dtype=np.int64), len(names))
    numbered = isinstance(names, frames.Numbered)
    return SparseRows(
        np.ascontiguousarray(bounds, dtype=np.int64),
        ranked,
        np.ascontiguousarray(cells, dtype=np.float64),
        frames.Numbered(used) if numbered else [names[place] for place in used.tolist()],
        used if numbered else None,
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
    if kept.all():
        return SparseRows(rows.bounds, rows.columns, np.ones(len(kept)), rows.names, rows.numbers)
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
        buckets = map(places.__getitem__, rows.columns[first:last].tolist())
        bags.append(hashing.added(zip(buckets, rows.values[first:last].tolist(), strict=True)))
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


def read_fields(X: Any, columns: Sequence[Name] | None = None) -> SparseRows:
    """Reads a table whose cells are categories: texts, numbers and bools.

    `X` and `columns` as for `streamnb.frames.read_table`.

    Raises
    ------
    TypeError, ValueError
        no table, names that do not fit, or a value that `learn_one` would refuse, naming its row.
    """
    names, cells = frames.read_cells(X, columns)
    return rows_of_fields(names, cells, X.shape[0])


def rows_of_fields(names: Sequence[Name], cells: Sequence[Any], n: int) -> SparseRows:
    """The features and values of n rows, columns of cells, as the tokens of `FieldCounts`."""
    tokens: list[Any] = []
    places = np.full((n, 2 * len(names)), -1, dtype=np.int64)
    refused: list[tuple[int, Exception]] = []
    for at, (name, column) in enumerate(zip(names, cells, strict=True)):
        try:
            codes, values = _coded(column, name)
        except _RefusedError as error:
            refused.append((error.row, error.why))
            continue
        if not values:
            continue
        first = len(tokens)
        tokens += [(name,), *(field_tokens(name, value)[1] for value in values)]
        there = codes >= 0
        places[there, 2 * at] = first
        places[there, 2 * at + 1] = codes[there] + first + 1
    if refused:
        row, why = min(refused, key=lambda one: one[0])
        kind = TypeError if isinstance(why, TypeError) else ValueError
        msg = f"row {row}: {why}"
        raise kind(msg)
    kept = places >= 0
    bounds = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(kept.sum(axis=1), out=bounds[1:])
    found = places[kept]
    return SparseRows(bounds, found, np.ones(len(found)), tokens)


class _RefusedError(Exception):
    """A cell that is no category."""

    def __init__(self, row: int, why: Exception) -> None:
        super().__init__(row, why)
        self.row = row
        self.why = why


def _coded(column: Any, name: Name) -> tuple[Any, list[tuple[str, Any]]]:
    """The place of each cell's value among those that are different, -1 where it is missing."""
    places: dict[tuple[str, Any], int] = {}
    if isinstance(column, np.ndarray):
        different, inverse = np.unique(column, return_inverse=True)
        of_value = np.empty(len(different), dtype=np.int64)
        for at, value in enumerate(different):
            try:
                of_value[at] = _code(value, name, places)
            except (TypeError, ValueError) as error:
                raise _RefusedError(int((inverse == at).argmax()), error) from error
        return of_value[inverse], list(places)
    codes = np.empty(len(column), dtype=np.int64)
    known: dict[type, dict[Any, int]] = {kind: {} for kind in (str, int, float, bool)}
    for row, value in enumerate(column):
        of_kind = known.get(type(value))
        code: int | None = None if of_kind is None else of_kind.get(value)
        if code is None:
            try:
                code = _code(value, name, places)
            except (TypeError, ValueError) as error:
                raise _RefusedError(row, error) from error
            if of_kind is not None:
                of_kind[value] = code
        codes[row] = code
    return codes, list(places)


def _code(value: Any, name: Name, places: dict[tuple[str, Any], int]) -> int:
    """The place of a value, a new one if need be; -1 where it is missing."""
    found = category(value, name)
    return -1 if found is None else places.setdefault(found, len(places))


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
    return read_bags(frames.read_column(X, field, columns), lambda text: bag({field: text}))


def read_bags(cells: Sequence[Any], bag: Callable[[Any], dict[Any, Any]]) -> SparseRows:
    """The rows of a column whose cells `bag` makes tokens and counts above 0 of.

    Raises
    ------
    TypeError, ValueError
        a cell that it refuses; names its row.
    """
    bags = []
    for row, cell in enumerate(cells):
        try:
            bags.append(bag(cell))
        except (TypeError, ValueError) as error:
            msg = f"row {row}: {error}"
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(msg) from None
    return rows_of(bags)
