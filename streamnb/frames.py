"""Tables of other libraries, in and out: pandas, polars, NumPy, SciPy sparse.

None of these libraries (but NumPy) is imported unless the caller has handed over one of its
tables. Values mean in a table what they mean in an event: `None`, NaN and `pd.NA` are missing, and
what `learn_one` refuses is refused here, with the row's position.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import moments, survey
from streamnb.columns import kind_of_error
from streamnb.stats.index import (
    Label,
    Name,
    canonical_name,
    label_texts,
)
from streamnb.values import is_missing, number

__all__ = [
    "Numbered",
    "Table",
    "height",
    "numbers_of",
    "read_cells",
    "read_column",
    "read_names",
    "read_table",
    "take_rows",
    "to_answers",
    "to_columns",
]

Floats = NDArray[np.float64]

# The numbers of polars that NumPy has too: not those of 128 bits, nor decimals.
_POLARS_PLAIN = frozenset(
    [*(f"{sign}nt{8 << power}" for sign in ("I", "UI") for power in range(4)), "Float32", "Float64"]
)


@dataclass(frozen=True)
class Table:
    """The columns of a table of numbers.

    Attributes
    ----------
    names
        of the columns.
    values
        (n, d), C-contiguous, finite or, where missing, NaN.
    found
        what `streamnb._kernels.survey` says of the values.
    """

    names: list[Name]
    values: Floats
    found: int


def read_table(X: Any, columns: Sequence[Name] | None = None, *, positive: bool = False) -> Table:
    """Reads a table of numbers.

    Parameters
    ----------
    X
        a pandas or polars DataFrame, a two-dimensional NumPy array or SciPy sparse matrix.
    columns
        names for the columns of an array or a sparse matrix; "0", "1", ... without.
        A cell that a sparse matrix leaves out is 0; the matrix is made dense.
    positive
        whether negative values are refused.

    Raises
    ------
    TypeError
        no table, or a value that is no number.
    ValueError
        an infinite value, a negative one where they are refused, two columns of one name, names
        that do not fit.
    """
    return _positive(_read_table(X, columns)) if positive else _read_table(X, columns)


def _positive(table: Table) -> Table:
    """The table, no value of which may be negative."""
    if (table.values < 0.0).any():
        row, place = (int(at) for at in np.argwhere(table.values < 0.0)[0])
        value = table.values[row, place]
        name = table.names[place]
        msg = f"row {row}: feature {name!r}: a number that is not negative is wanted, not {value}"
        raise ValueError(msg)
    return table


def _read_table(X: Any, columns: Sequence[Name] | None) -> Table:
    library = _known_library(X)
    if library in ("pandas", "polars"):
        return _read_columns(X, list(read_names(X, columns)), library)
    array = X.toarray() if library == "scipy" else X
    if isinstance(array, np.ma.MaskedArray):
        plain = np.float64 if array.dtype.kind in "fiub" else object
        array = np.ma.filled(array.astype(plain), np.nan)
    if array.ndim != 2:
        msg = f"a table has two dimensions, not {array.ndim}"
        raise ValueError(msg)
    d = array.shape[1]
    names = [*_numbered(d)] if columns is None else _checked(columns, d)
    if array.dtype.kind in "fiub":
        return _finite(np.ascontiguousarray(array, dtype=np.float64), names)
    return _finite(_by_cell([list(array[:, place]) for place in range(len(names))], names), names)


@functools.lru_cache(maxsize=16)
def _numbered(d: int) -> tuple[Name, ...]:
    """The names of the columns of an array."""
    return tuple(map(str, range(d)))


class Numbered(Sequence[Name]):
    """The names "0", "1", ... of some columns of a matrix, made when they are asked for."""

    def __init__(self, numbers: NDArray[Any]) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, place: Any) -> Any:
        return str(self._numbers[place])


def read_names(X: Any, columns: Sequence[Name] | None = None) -> Sequence[Name]:
    """The names of the columns of a table: a frame's own, those that are given, or "0", "1", ...

    Raises
    ------
    TypeError, ValueError
        names for a table that has its own, another number of them, or one that is twice there.
    """
    library = library_of(X)
    if library in ("pandas", "polars"):
        if columns is not None:
            msg = f"columns= names the columns of an array; a {library} table has its own"
            raise TypeError(msg)
        return _checked(X.columns, X.shape[1])
    return Numbered(np.arange(X.shape[1])) if columns is None else _checked(columns, X.shape[1])


def read_column(X: Any, name: Name, columns: Sequence[Name] | None = None) -> list[Any]:
    """The cells of one column of a table, `None` each where it has no such column.

    Raises
    ------
    TypeError, ValueError
        no table, or names that do not fit.
    """
    library = library_of(X)
    if library not in ("pandas", "polars") and not (library == "numpy" and X.ndim == 2):
        msg = f"a table with a column {name!r} is wanted, not {type(X).__name__}"
        raise TypeError(msg)
    names = list(read_names(X, columns))
    if name not in names:
        return [None] * len(X)
    place = names.index(name)
    if library == "polars":
        return list(X.to_series(place).to_list())
    cells = list(X.iloc[:, place]) if library == "pandas" else list(X[:, place])
    return [None if is_missing(cell) else cell for cell in cells]


def read_cells(
    X: Any, columns: Sequence[Name] | None = None
) -> tuple[list[Name], list[NDArray[Any] | list[Any]]]:
    """The columns of a table whose cells may be anything: their names, and their cells.

    A column is an array where it is one of numbers or bools, all of them there, else a list.
    `X` and `columns` as for `read_table`.

    Raises
    ------
    TypeError, ValueError
        no table, two columns of one name, names that do not fit.
    """
    height(X)
    library = library_of(X)
    if library in ("pandas", "polars"):
        names = list(read_names(X, columns))
        series = X.to_series if library == "polars" else lambda place: X.iloc[:, place]
        return names, [_cells(series(place), library) for place in range(len(names))]
    array = X.toarray() if library == "scipy" else X
    if array.ndim != 2:
        msg = f"a table has two dimensions, not {array.ndim}"
        raise ValueError(msg)
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(object), None)
    names = list(read_names(array, columns))
    plain = array.dtype.kind in "fiub"
    return names, [
        array[:, place] if plain else list(array[:, place]) for place in range(len(names))
    ]


def numbers_of(
    names: list[Name], columns: Sequence[Any], n: int, *, positive: bool = False
) -> Table:
    """The table of n rows whose columns `read_cells` has read, as far as they are numbers.

    Raises
    ------
    TypeError, ValueError
        a value that is no number, infinite, or, where these are refused, negative; names its row.
    """
    table = _finite(_by_cell(columns, names) if names else np.empty((n, 0)), names)
    return _positive(table) if positive else table


def _cells(column: Any, library: str) -> NDArray[Any] | list[Any]:
    """The cells of a column of pandas or polars."""
    if library == "polars":
        plain = str(column.dtype) in _POLARS_PLAIN and not column.null_count()
        return column.to_numpy() if plain else list(column.to_list())
    plain = isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiub"
    return column.to_numpy() if plain else list(column)


def _read_columns(X: Any, names: list[Name], library: str) -> Table:
    if library == "pandas" and all(
        isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in X.dtypes
    ):
        return _finite(np.ascontiguousarray(X.to_numpy(np.float64)), names)
    read = _pandas_column if library == "pandas" else _polars_column
    columns = [read(X, place) for place in range(len(names))]
    values = _by_cell(columns, names) if columns else np.empty((len(X), 0))
    return _finite(values, names)


def _pandas_column(X: Any, place: int) -> Floats | list[Any]:
    """A column as doubles where its type is numeric, else as a list."""
    column = X.iloc[:, place]
    if getattr(column.dtype, "kind", "O") not in "fiub":
        return list(column)
    if hasattr(column.dtype, "na_value") and not hasattr(column.dtype, "fill_value"):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        values = np.asarray(column, dtype=np.float64)
    return np.asarray(values, dtype=np.float64)


def _polars_column(X: Any, place: int) -> Floats | list[Any]:
    """A column as doubles where its type is numeric, else as a list."""
    import polars as pl

    column = X.to_series(place)
    is_plain = column.dtype.is_numeric() and not column.dtype.is_decimal()
    if is_plain or column.dtype == pl.Boolean:
        return np.asarray(column.cast(pl.Float64).to_numpy(), dtype=np.float64)
    return list(column.to_list())


def _by_cell(columns: Sequence[Floats | list[Any]], names: list[Name]) -> Floats:
    """The columns side by side; cells of lists are read as `learn_one` reads a value.

    Raises
    ------
    TypeError, ValueError
        what the first row of those that are refused is refused for.
    """
    values = np.empty((len(columns[0]), len(columns))) if columns else np.empty((0, 0))
    refused: list[tuple[int, str, type[TypeError | ValueError]]] = []
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        row = 0
        try:
            if isinstance(column, list):
                for row, value in enumerate(column):
                    values[row, place] = number(value, name)
            else:
                values[:, place] = column
                row = int(np.isinf(column).argmax()) if len(column) else 0
                number(column[row] if len(column) else 0.0, name)
        except (TypeError, ValueError) as error:
            refused.append((row, str(error), kind_of_error(error)))
    if refused:
        row, said, kind = min(refused, key=lambda one: one[0])
        msg = f"row {row}: {said}"
        raise kind(msg)
    return values


def _finite(values: Floats, names: list[Name]) -> Table:
    """The table of these values, none of which may be infinite."""
    found = survey.survey(values.reshape(-1), moments.SMALL_VALUE, moments.LARGE_VALUE)
    infinite = np.isinf(values) if found & survey.UNUSUAL else None
    if infinite is not None and infinite.any():
        row, place = (int(at) for at in np.argwhere(infinite)[0])
        value = values[row, place]
        msg = f"row {row}: feature {names[place]!r}: a finite number is wanted, not {value}"
        raise ValueError(msg)
    return Table(names, values, found)


def _checked(columns: Iterable[Any], n: int) -> list[Name]:
    """The names of n columns, each of them once."""
    if isinstance(columns, str):
        msg = f"columns= is a list of names, not {columns!r}"
        raise TypeError(msg)
    names = [canonical_name(name) for name in columns]
    if len(names) != n:
        msg = f"{len(names)} names for {n} columns"
        raise ValueError(msg)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        msg = f"two columns are called {twice[0]!r}"
        raise ValueError(msg)
    return names


def library_of(X: Any) -> str | None:
    """The library of a table: "pandas", "polars", "scipy", "numpy", or `None`."""
    if type(X) is np.ndarray:
        return "numpy"
    library = type(X).__module__.partition(".")[0]
    if library in ("pandas", "polars") and type(X).__name__ == "DataFrame":
        return library
    if library == "scipy" and hasattr(X, "toarray"):
        return library
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        return "pandas"
    return "numpy" if isinstance(X, np.ndarray) else None


def height(X: Any) -> int:
    """The number of rows of a table. Raises `TypeError` where it is none."""
    _known_library(X)
    return int(X.shape[0])


def _known_library(X: Any) -> str:
    """The library of a table. Raises `TypeError` where it is none."""
    library = library_of(X)
    if library is None:
        msg = f"a DataFrame, a NumPy array or a sparse matrix is wanted, not {type(X).__name__}"
        raise TypeError(msg)
    return library


def take_rows(X: Any, rows: Sequence[int]) -> Any:
    """A table of some of the rows of a table, of the same library, in the order given."""
    library = library_of(X)
    if library == "pandas":
        return X.iloc[list(rows)]
    return X.tocsr()[list(rows)] if library == "scipy" else X[list(rows)]


def to_answers(places: NDArray[np.intp] | None, labels: list[Label], X: Any) -> Any:
    """One label a row, as a Series of the library of `X` or an array.

    Parameters
    ----------
    places
        of the rows' labels in `labels`; without, each row's answer is `None`.
    labels
        all classes.
    X
        the table that was asked about.
    """
    choices = np.array(labels) if len({type(label) for label in labels}) == 1 else None
    # NumPy makes floats of wide whole numbers, and drops a text's last zeros.
    one_kind = choices is not None and choices.dtype != object and choices.tolist() == labels
    if choices is None or not one_kind:
        choices = np.empty(len(labels), dtype=object)
        choices[:] = labels
    values = np.full(X.shape[0], None, dtype=object) if places is None else choices[places]
    library = library_of(X)
    if library == "pandas":
        import pandas as pd

        return pd.Series(values.tolist(), index=X.index, dtype=None if one_kind else object)
    if library == "polars":
        import polars as pl

        return pl.Series(values.tolist(), dtype=None if one_kind else pl.Object)
    return values


def to_columns(values: Floats, labels: list[Label], X: Any) -> Any:
    """One column a class, as a DataFrame of the library of `X` or an array."""
    library = library_of(X)
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame(values, index=X.index, columns=pd.Index(labels, dtype=object))
    if library == "polars":
        import polars as pl

        names = label_texts(labels)
        return pl.DataFrame({name: values[:, place] for place, name in enumerate(names)})
    return values
