"""Stands in for `import cython` where a kernel runs uncompiled and Cython is not installed.

The names that kernels use, inert: decorators return what they decorate, types can be subscripted
and called but mean nothing, context managers do nothing. The compiler never sees this file.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

compiled = False

_T = TypeVar("_T")


def _same(decorated: _T) -> _T:
    return decorated


def _switch(*_values: object) -> Callable[[_T], _T]:
    """Return the decorator of a compiler directive: `@cython.boundscheck(False)`."""
    return _same


def _typed(*_positional: object, **_types: object) -> Callable[[_T], _T]:
    """Return the decorator of declared types: `@cython.locals(i=cython.int)`."""
    return _same


cfunc = ccall = cclass = final = inline = _same
boundscheck = wraparound = cdivision = initializedcheck = _switch
binding = embedsignature = nonecheck = overflowcheck = profile = freelist = _switch
returns = exceptval = locals = _typed  # noqa: A001 - cython's own name


class Type:
    """A C type: `cython.double`, `cython.double[::1]`, `cython.pointer[cython.double]`."""

    def __getitem__(self, _shape: object) -> Type:
        return self

    def __call__(self, value: Any = 0) -> Any:
        """Return `value` as it is: a cast that a kernel's Python form does not need."""
        return value


bint = char = double = float = int = long = longlong = short = size_t = Py_ssize_t = Type()  # noqa: A001
uchar = uint = ulong = ulonglong = ushort = void = p_double = p_long = p_longlong = Type()
p_uchar = p_void = Type()
int8_t = int16_t = int32_t = int64_t = uint8_t = uint16_t = uint32_t = uint64_t = Type()
pointer = Type()

nogil = nullcontext()
gil = nullcontext()


def declare(_type: object = None, value: Any = None, **_types: object) -> Any:
    """Return the value that a declared variable begins with."""
    return value


def cast(_type: object, value: _T, **_options: object) -> _T:
    """Return `value` as it is."""
    return value
