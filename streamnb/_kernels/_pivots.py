"""Which pivots of a Cholesky factorization are accepted, and which are certain."""

from __future__ import annotations

__all__ = ["PIVOT", "SURE"]

PIVOT = 2.0**-40
"""A pivot is accepted above this part of its diagonal entry."""

SURE = 2.0**-24
"""Above this part a pivot in doubles is no rounding, nor is the one after it."""
