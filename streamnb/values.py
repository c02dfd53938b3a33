"""What a single value, weight or time means: the slow, exact reading of an input.

The kernels read plain floats and ints by themselves and hand everything else to these functions,
so that `learn_one`, `learn_many` and the predicting verbs agree on what they take and refuse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = [
    "as_event",
    "category",
    "check_parameter",
    "check_weight",
    "count",
    "duration",
    "event_time",
    "is_missing",
    "is_number",
    "number",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_missing(value: object) -> bool:
    """Whether a value stands for one that is not there: `None`, NaN, pandas' `NA`."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


def is_number(value: object) -> bool:
    """Whether a value is an int, float or bool, or NumPy's (whose timedelta64 is an integer)."""
    return isinstance(value, int | float | np.integer | np.floating | np.bool_) and not isinstance(
        value, np.timedelta64
    )


def as_event(x: Any) -> dict[Any, Any]:
    """An event's features as a dict.

    Raises
    ------
    TypeError
        it is no mapping.
    """
    if not isinstance(x, Mapping):
        msg = f"an event is a mapping of names to values, not {x!r} ({type(x).__name__})"
        raise TypeError(msg)
    return dict(x)


def number(value: Any, name: object, *, positive: bool = False) -> float:
    """The value of a numeric feature as a double; NaN where it is missing.

    Raises
    ------
    TypeError
        it is no number (int, float, bool or NumPy's).
    ValueError
        it is infinite, also as a double; or negative, where `positive` forbids it.
    """
    if is_missing(value):
        return math.nan
    if not is_number(value):
        msg = f"feature {name!r}: a number is wanted, not {value!r} ({type(value).__name__})"
        raise TypeError(msg)
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if math.isinf(result):
        msg = f"feature {name!r}: a finite number is wanted, not {value!r}"
        raise ValueError(msg)
    if positive and result < 0.0:
        msg = f"feature {name!r}: a number that is not negative is wanted, not {value!r}"
        raise ValueError(msg)
    return result


def category(value: Any, name: object) -> tuple[str, Any] | None:
    """The kind ("bool", "number" or "text") and value of a category; `None` where it is missing.

    A number is a float, or an int where no float equals it: 1, 1.0 and NumPy's are one, and all
    digits of a long whole number count.

    Raises
    ------
    TypeError
        it is no text, number or bool.
    ValueError
        it is infinite, also as a double, or a text with lone surrogates.
    """
    if is_missing(value):
        return None
    if isinstance(value, str):
        try:
            return "text", str(value.encode(), "utf-8")
        except UnicodeEncodeError as error:
            msg = f"feature {name!r}: a text that UTF-8 cannot write: {value!r}"
            raise ValueError(msg) from error
    if isinstance(value, bool | np.bool_):
        return "bool", bool(value)
    if not is_number(value):
        msg = (
            f"feature {name!r}: a text, a number or a bool is wanted, "
            f"not {value!r} ({type(value).__name__})"
        )
        raise TypeError(msg)
    result = number(value, name) + 0.0
    whole = int(value) if isinstance(value, int | np.integer) else None
    return "number", result if whole is None or whole == result else whole


def count(value: Any, name: object) -> float:
    """The count of a token as a double.

    Raises
    ------
    TypeError
        it is no number (int, float, bool or NumPy's).
    ValueError
        it is missing (`None`, NaN), infinite or negative.
    """
    result = number(value, name)
    if not result >= 0.0:
        msg = f"feature {name!r}: a count is finite and not negative, not {value!r}"
        raise ValueError(msg)
    return result


def check_weight(w: Any) -> float:
    """A weight as a double.

    Raises
    ------
    TypeError
        it is no number.
    ValueError
        it is negative, NaN or infinite.
    """
    if not is_number(w):
        msg = f"a weight is a number, not {w!r} ({type(w).__name__})"
        raise TypeError(msg)
    try:
        result = float(w)
    except OverflowError:
        result = math.inf
    if not 0.0 <= result < math.inf:
        msg = f"a weight is finite and not negative, not {w!r}"
        raise ValueError(msg)
    return result


def check_parameter(value: Any, name: str) -> float:
    """A model's number as a double.

    Raises
    ------
    TypeError
        it is no number.
    ValueError
        it is negative, NaN or infinite, also as a double.
    """
    if isinstance(value, bool | np.bool_) or not is_number(value):
        msg = f"{name} is a number, not {value!r}"
        raise TypeError(msg)
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not 0.0 <= result < math.inf:
        msg = f"{name} is finite and not negative, not {result}"
        raise ValueError(msg)
    return result


def event_time(t: Any) -> int:
    """An event's time in whole milliseconds since the epoch, half to even.

    Parameters
    ----------
    t
        seconds since the epoch (a number), or a `datetime`; a naive one is in UTC.

    Raises
    ------
    TypeError
        it is neither.
    ValueError
        it is NaN or infinite.
    """
    if type(t) is float and -1e300 < t < 1e300:
        return round(t * 1000.0)
    if isinstance(t, np.datetime64):
        t = t.astype("datetime64[us]").item()
    if t is None or (isinstance(t, datetime) and t != t):  # NumPy's and pandas' NaT
        msg = "a time is missing"
        raise ValueError(msg)
    if isinstance(t, datetime):
        since = (t if t.tzinfo else t.replace(tzinfo=UTC)) - _EPOCH
        microseconds = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
        return round(Fraction(microseconds, 1000))
    if isinstance(t, bool | np.bool_) or not is_number(t):
        msg = f"a time is a number of seconds or a datetime, not {t!r} ({type(t).__name__})"
        raise TypeError(msg)
    if isinstance(t, int | np.integer):
        return int(t) * 1000
    if not math.isfinite(float(t) * 1000.0):
        msg = f"a time is a finite number of seconds, not {t!r}"
        raise ValueError(msg)
    return round(float(t) * 1000.0)


def needed_time(t: Any) -> int:
    """`event_time` where weights fade; raises `ValueError` where there is no time."""
    if t is None:
        msg = "with a half_life each event needs its time t"
        raise ValueError(msg)
    return event_time(t)


def duration(value: Any, name: str) -> int:
    """A length of time in whole milliseconds, half to even, from 1 to 2**53.

    Parameters
    ----------
    value
        seconds (a number), or a `timedelta`.
    name
        what it is, for errors.

    Raises
    ------
    TypeError
        it is neither.
    ValueError
        it is NaN, or out of range.
    """
    if isinstance(value, timedelta):
        milliseconds = Fraction(value // timedelta(microseconds=1), 1000)
    elif isinstance(value, bool | np.bool_) or not is_number(value):
        msg = f"{name} is a number of seconds or a timedelta, not {value!r}"
        raise TypeError(msg)
    elif not math.isfinite(value):
        msg = f"{name} is a finite number of seconds, not {value!r}"
        raise ValueError(msg)
    else:
        milliseconds = Fraction(value) * 1000
    result = round(milliseconds)
    if not 1 <= result <= 2**53:
        msg = f"{name} is from a millisecond to {2**53 // 1000} seconds, not {value!r}"
        raise ValueError(msg)
    return result
