# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Tokens as buckets: SipHash-2-4, the same on all machines.

J.-P. Aumasson, D. J. Bernstein, SipHash: a fast short-input PRF, 2012. The key is the 16 bytes
"streamnb-token-1".
"""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels._oracle import cython

from collections.abc import Callable, Iterable
from math import fsum, inf
from typing import Any

from streamnb.values import count

KEY = b"streamnb-token-1"

_MASK = (1 << 64) - 1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _turned(v: cython.ulonglong, by: cython.int) -> cython.ulonglong:
    """The 64 bits of v, turned to the left."""
    if cython.compiled:
        return (v << by) | (v >> (64 - by))
    else:  # noqa: RET505 - the compiler must not see it
        return ((v << by) | (v >> (64 - by))) & _MASK


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _sum(a: cython.ulonglong, b: cython.ulonglong) -> cython.ulonglong:
    """The sum of two numbers of 64 bits, without what does not fit."""
    if cython.compiled:
        return a + b
    else:  # noqa: RET505 - the same
        return (a + b) & _MASK


def siphash(key: bytes, data: bytes) -> int:
    """SipHash-2-4 of some bytes under a key of 16 bytes: a whole number below 2^64."""
    n: cython.Py_ssize_t = len(data)
    blocks: cython.Py_ssize_t = n // 8 + 1
    i: cython.Py_ssize_t
    r: cython.Py_ssize_t
    rounds: cython.Py_ssize_t
    m: cython.ulonglong
    k0: cython.ulonglong = int.from_bytes(key[:8], "little")
    k1: cython.ulonglong = int.from_bytes(key[8:], "little")
    v0: cython.ulonglong = k0 ^ 0x736F6D6570736575
    v1: cython.ulonglong = k1 ^ 0x646F72616E646F6D
    v2: cython.ulonglong = k0 ^ 0x6C7967656E657261
    v3: cython.ulonglong = k1 ^ 0x7465646279746573
    # the last block has the rest, and the length in its highest byte
    padded: bytes = data + bytes(8 * blocks - n - 1) + bytes([n & 255])
    if cython.compiled:
        p: cython.p_uchar = padded
    else:
        p = padded
    for i in range(blocks + 1):
        m = 0
        if i < blocks:
            for r in range(8):
                m |= cython.cast(cython.ulonglong, p[8 * i + r]) << (8 * r)
            rounds = 2
        else:
            v2 ^= 0xFF
            rounds = 4
        v3 ^= m
        for _ in range(rounds):
            v0 = _sum(v0, v1)
            v2 = _sum(v2, v3)
            v1 = _turned(v1, 13) ^ v0
            v3 = _turned(v3, 16) ^ v2
            v0 = _turned(v0, 32)
            v2 = _sum(v2, v1)
            v0 = _sum(v0, v3)
            v1 = _turned(v1, 17) ^ v2
            v3 = _turned(v3, 21) ^ v0
            v2 = _turned(v2, 32)
        v0 ^= m
    return int(v0 ^ v1 ^ v2 ^ v3)


def bucket(name: Any, width: int) -> int:
    """The bucket of a canonical token, from 0 to width - 1.

    The hash is that of the text in UTF-8; of a token that is no text, of its `repr` behind a zero
    byte.
    """
    data: bytes = name.encode() if isinstance(name, str) else b"\0" + repr(name).encode()
    return siphash(KEY, data) % width


def buckets(event: dict[Any, Any], width: int, canonical: Callable[[Any], Any]) -> dict[int, float]:
    """The counts of an event by bucket; those of tokens in one bucket add up.

    `canonical` makes of a token the one that it is kept as. Raises `TypeError` and `ValueError` as
    learning does, for tokens and their counts.
    """
    return added(
        (
            bucket(name if type(name) is str and name.isascii() else canonical(name), width),
            count(value, name),
        )
        for name, value in event.items()
    )


def added(counts: Iterable[tuple[int, float]]) -> dict[int, float]:
    """The sums of counts by bucket, each rounded once: their order does not show."""
    found: dict[int, float] = {}
    shared: dict[int, list[float]] = {}
    for at, c in counts:
        if at in found:
            shared.setdefault(at, [found[at]]).append(c)
        else:
            found[at] = c
    for at, several in shared.items():
        try:
            found[at] = fsum(several)
        except OverflowError:
            found[at] = inf
    return found
