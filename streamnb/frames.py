"""Tables of other libraries, in and out: pandas, polars, NumPy, SciPy sparse.

None of these libraries (but NumPy) is imported unless the caller has handed over one of its
tables. Values mean in a table what they mean in an event: `None`, NaN and `pd.NA` are missing, and
what `learn_one` refuses is refused here, with the row's position.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import moments, survey
from streamnb._kernels._values import check_weight, event_time, is_missing, is_number, number
from streamnb.stats.index import (
    CodedLabels,
    Label,
    Name,
    canonical_label,
    canonical_name,
    label_texts,
)

__all__ = [
    "Numbered",
    "Table",
    "height",
    "numbers_of",
    "read_cells",
    "read_column",
    "read_labels",
    "read_names",
    "read_table",
    "read_times",
    "read_weights",
    "take_rows",
    "to_answers",
    "to_columns",
]

Floats = NDArray[np.float64]

_OWN_NAMES = "columns= names the columns of an array; a {} table has its own"


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
    height(X)
    library = library_of(X)
    if library in ("pandas", "polars"):
        if columns is not None:
            raise TypeError(_OWN_NAMES.format(library))
        return _read_columns(X, _checked(X.columns, X.shape[1]), library)
    array = X.toarray() if library == "scipy" else X
    if isinstance(array, np.ma.MaskedArray):
        plain = np.float64 if array.dtype.kind in "fiub" else object
        array = np.ma.filled(array.astype(plain), np.nan)
    if array.ndim != 2:
        msg = f"a table has two dimensions, not {array.ndim}"
        raise ValueError(msg)
    d = array.shape[1]
    names: list[Name] = [*map(str, range(d))] if columns is None else _checked(columns, d)
    if array.dtype.kind in "fiub":
        return _finite(np.ascontiguousarray(array, dtype=np.float64), names)
    return _finite(_by_cell([list(array[:, place]) for place in range(len(names))], names), names)


class Numbered(Sequence[Name]):
    """The names "0", "1", ... of some columns of a matrix, made when they are asked for."""

    def __init__(self, numbers: NDArray[Any]) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, place: Any) -> Any:
        return str(self._numbers[place])


def read_names(X: Any, columns: Sequence[Name] | None = None) -> Sequence[Name]:
    """The names of the columns of a table; raises as `read_table`."""
    if library_of(X) == "pandas":
        if columns is not None:
            raise TypeError(_OWN_NAMES.format("pandas"))
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
    if library in ("pandas", "polars"):
        names = _checked(X.columns, X.shape[1])
        if columns is not None:
            raise TypeError(_OWN_NAMES.format(library))
    elif library == "numpy" and X.ndim == 2:
        names = list(read_names(X, columns))
    else:
        msg = f"a table with a column {name!r} is wanted, not {type(X).__name__}"
        raise TypeError(msg)
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
        if columns is not None:
            raise TypeError(_OWN_NAMES.format(library))
        names = _checked(X.columns, X.shape[1])
        series = X.to_series if library == "polars" else lambda place: X.iloc[:, place]
        return names, [_cells(series(place), library) for place in range(len(names))]
    array = X.toarray() if library == "scipy" else X
    if array.ndim != 2:
        msg = f"a table has two dimensions, not {array.ndim}"
        raise ValueError(msg)
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(object), None)
    names = (
        list(map(str, range(array.shape[1]))) if columns is None else _checked(columns, X.shape[1])
    )
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
        plain = column.dtype.is_numeric() and not column.dtype.is_decimal()
        return column.to_numpy() if plain and not column.null_count() else list(column.to_list())
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
            refused.append((row, str(error), _kind(error)))
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
    if library_of(X) is None:
        msg = f"a DataFrame, a NumPy array or a sparse matrix is wanted, not {type(X).__name__}"
        raise TypeError(msg)
    return int(X.shape[0])


def take_rows(X: Any, rows: Sequence[int]) -> Any:
    """A table of some of the rows of a table, of the same library, in the order given."""
    library = library_of(X)
    if library == "pandas":
        return X.iloc[list(rows)]
    return X.tocsr()[list(rows)] if library == "scipy" else X[list(rows)]


def read_labels(y: Any, n: int) -> CodedLabels:
    """The labels of n rows, by position.

    Raises
    ------
    TypeError, ValueError
        another number of labels, or one that is none; names its position.
    """
    array = y.to_numpy() if type(y).__name__ == "Series" else y
    if type(array) is np.ndarray and array.dtype.kind in "iub" and array.shape == (n,):
        coded = _small_numbers(array)
        if coded is not None:
            return coded
    labels = _items(y, n, "labels")
    kinds = set(map(type, labels))
    if not (kinds <= {int, bool} or (kinds == {str} and _is_ascii(labels))):
        labels = _each(labels, canonical_label)
        kinds = set(map(type, labels))
    keys: list[Any] = labels
    if len(kinds) > 1:  # 1 and True are equal, and both are to be seen
        keys = list(zip(map(type, labels), labels, strict=True))
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    codes = np.fromiter(map(places.__getitem__, keys), np.intp, n)
    return CodedLabels([key[1] if len(kinds) > 1 else key for key in places], codes)


def _small_numbers(y: NDArray[Any]) -> CodedLabels | None:
    """Whole numbers or bools that lie close together, coded in a kernel; else `None`."""
    if not y.size or (y.dtype.kind == "u" and y.dtype.itemsize == 8):
        return None
    coded = survey.code(np.ascontiguousarray(y, dtype=np.intp))
    if coded is None:
        return None
    different, codes = coded
    return CodedLabels(list(map(bool if y.dtype.kind == "b" else int, different)), codes)


def _is_ascii(texts: Iterable[str]) -> bool:
    return all(map(str.isascii, set(texts)))


def read_times(t: Any, n: int) -> list[int] | None:
    """The times of n rows in milliseconds, by position, or one for all; `None` without.

    Raises
    ------
    TypeError, ValueError
        another number of times, or one that is none; names its position.
    """
    if t is None:
        return None
    if is_number(t) or isinstance(t, datetime | np.datetime64):
        return [event_time(t)] * n
    if isinstance(t, np.ndarray) and t.dtype.kind == "M":
        t = list(t)
    return _each(_items(t, n, "times"), event_time)


def read_weights(w: Any, n: int) -> Floats:
    """The weights of n rows, by position; 1 for each where there are none, or one for all.

    Raises
    ------
    TypeError, ValueError
        another number of weights, or one that is none; names its position.
    """
    if w is None:
        return np.ones(n)
    if is_number(w):
        return np.full(n, check_weight(w))
    return np.array(_each(_items(w, n, "weights"), check_weight), dtype=np.float64)


def _items(values: Any, n: int, what: str) -> list[Any]:
    """The items of a column of n, in Python's own types where the column has these.

    Raises
    ------
    TypeError
        it is no column: a text, a set, a mapping, a table, or nothing to go through.
    ValueError
        it has another length.
    """
    flat = getattr(values, "ndim", 1) == 1
    if (
        not flat
        or isinstance(values, str | bytes | Mapping | AbstractSet)
        or not isinstance(values, Iterable)
    ):
        msg = f"{what}: a column of {n} is wanted, not {type(values).__name__}"
        raise TypeError(msg)
    is_time = isinstance(values, np.ndarray) and values.dtype.kind in "mM"
    items = values.tolist() if hasattr(values, "tolist") and not is_time else values
    items = list(items)
    if len(items) != n:
        msg = f"{len(items)} {what} for {n} rows"
        raise ValueError(msg)
    return items


def _each(items: list[Any], read: Callable[[Any], Any]) -> list[Any]:
    """What `read` makes of each item; its errors name the position."""
    for row, item in enumerate(items):
        try:
            items[row] = read(item)
        except (TypeError, ValueError) as error:
            msg = f"row {row}: {error}"
            raise _kind(error)(msg) from None
    return items


def _kind(error: Exception) -> type[TypeError | ValueError]:
    """The type of error to raise again with more to say."""
    return TypeError if isinstance(error, TypeError) else ValueError


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
