"""What a single value means, on the functions that all models and verbs read it with.

The tests of `test_input_*` ask by each model, verb and table; the quick run asks there with one of
the values. Here each of them is asked in every run.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from streamnb import values

from .test_input_table import INFINITE, MISSING, WRONG_KINDS

readers = pytest.mark.parametrize("read", [values.number, values.count, values.category])


@pytest.mark.parametrize("nothing", MISSING.values(), ids=MISSING)
def test_missing(nothing: Any) -> None:
    """None, NaN and pd.NA are no value; of a token they are no count."""
    assert values.is_missing(nothing)
    assert math.isnan(values.number(nothing, "x"))
    assert values.category(nothing, "x") is None
    with pytest.raises(ValueError, match="'x'"):
        values.count(nothing, "x")


@readers
@pytest.mark.parametrize("value", INFINITE.values(), ids=INFINITE)
def test_infinity(read: Any, value: Any) -> None:
    """Infinity is a ValueError that names the feature."""
    with pytest.raises(ValueError, match="'x'"):
        read(value, "x")


@readers
@pytest.mark.parametrize("value", WRONG_KINDS.values(), ids=WRONG_KINDS)
def test_wrong_kinds(read: Any, value: Any) -> None:
    """What is no number is a TypeError that names the feature; a text is a category."""
    if read is values.category and isinstance(value, str):
        assert read(value, "x") == ("text", str(value))
        return
    with pytest.raises(TypeError, match="'x'"):
        read(value, "x")


@pytest.mark.parametrize(
    ("value", "double"),
    [
        (3, 3.0),
        (-(2**40), -(2.0**40)),
        (2**53 + 1, 2.0**53),
        (10**300, 1e300),
        (True, 1.0),
        (np.float32(0.1), 13421773 / 2**27),  # the fraction of 24 bits nearest to 0.1
        (np.float16(0.1), 1638 / 2**14),  # of 11 bits
        (np.int8(-7), -7.0),
        (np.uint64(2**63), 2.0**63),
        (np.bool_(False), 0.0),
        (5e-324, 5e-324),
    ],
)
def test_numbers(value: Any, double: float) -> None:
    """int, bool and NumPy's numbers are the double of the same value; a count is not below 0."""
    found = values.number(value, "x")
    assert (found, type(found)) == (double, float)
    if double >= 0:
        assert values.count(value, "x") == double
    else:
        with pytest.raises(ValueError, match="'x'"):
            values.count(value, "x")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (True, ("bool", True)),
        (np.bool_(True), ("bool", True)),
        (1, ("number", 1.0)),
        (np.float32(0.5), ("number", 0.5)),
        (2**53 + 1, ("number", 2**53 + 1)),
        (-0.0, ("number", 0.0)),
        (np.str_("1"), ("text", "1")),
        ("", ("text", "")),
    ],
)
def test_categories(value: Any, found: tuple[str, Any]) -> None:
    """A text, a number and a bool are three kinds; of a whole number all digits count."""
    kind, read = values.category(value, "x") or ("", None)
    assert (kind, read, type(read)) == (*found, type(found[1]))
    assert math.copysign(1.0, read) == 1.0 if kind == "number" else True


@pytest.mark.parametrize("text", ["\ud800", "a\udfff"])
def test_texts_that_are_no_unicode(text: str) -> None:
    with pytest.raises(ValueError, match="'x'"):
        values.category(text, "x")


@pytest.mark.parametrize("w", [0, 3, 3.0, np.int64(3), np.float32(0.5), True, 5e-324, 1.7e308])
def test_weights(w: Any) -> None:
    assert values.check_weight(w) == float(w)


@pytest.mark.parametrize(
    "w", [-1.0, -5e-324, math.nan, math.inf, -math.inf, np.float32("nan"), 10**400]
)
def test_bad_weights(w: Any) -> None:
    with pytest.raises(ValueError, match="weight"):
        values.check_weight(w)


@pytest.mark.parametrize(
    "w", ["1", [1.0], 1j, {}, dt.timedelta(1), Decimal(1), Fraction(1, 2), np.array(1.0), pd.NA]
)
def test_weights_of_a_wrong_kind(w: Any) -> None:
    with pytest.raises(TypeError, match="weight"):
        values.check_weight(w)


@pytest.mark.parametrize(
    ("t", "milliseconds"),
    [
        (0, 0),
        (1_700_000_000.1235, 1_700_000_000_124),  # 123.5 goes to the even one
        (-5.5, -5500),
        (np.int64(3), 3000),
        (dt.datetime(1970, 1, 2), 86_400_000),  # noqa: DTZ001 - a naive one is UTC
        (dt.datetime(1970, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=-7))), 111_600_000),
        (pd.Timestamp("1970-01-01 00:00:01.5"), 1500),
    ],
)
def test_times(t: Any, milliseconds: int) -> None:
    assert values.event_time(t) == milliseconds


@pytest.mark.parametrize(
    "t", ["2024-05-01", b"0", [0.0], {}, 1j, math.nan, math.inf, -math.inf, None, pd.NaT, True]
)
def test_times_of_a_wrong_kind(t: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="time"):
        values.event_time(t)
