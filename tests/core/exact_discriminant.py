"""Discriminant analysis by the definition, in fractions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .exact import Definition, Moments, Row, log, missing, moments

Matrix = list[list[Fraction]]
PIVOT = Fraction(1, 2**40)


def canonical(names: Any) -> list[Any]:
    """Features or labels in the one order that shows."""
    return sorted(set(names), key=lambda name: (type(name).__name__, name))


@dataclass
class Pair:
    """Of the events of a class that had both of two features: W and the sum of products."""

    weight: Fraction
    products: Fraction


def pair(rows: Sequence[Row], one: Any, other: Any) -> Pair:
    """The pair of these rows, deviations being from the means over these events."""
    both = [
        (Fraction(x[one]), Fraction(x[other]), Fraction(w))
        for x, _, w in rows
        if not missing(x.get(one)) and not missing(x.get(other))
    ]
    weight = sum((w for *_, w in both), Fraction(0))
    if not weight:
        return Pair(weight, weight)
    a, b, products = (
        sum((f(u, v) * w for u, v, w in both), Fraction(0))
        for f in (lambda u, _: u, lambda _, v: v, lambda u, v: u * v)
    )
    return Pair(weight, products - a * b / weight)


def pivots(matrix: Matrix) -> tuple[Matrix, list[Fraction]] | None:
    """L (unit diagonal) and D of L D L' = matrix; `None` where a pivot is not accepted."""
    n = len(matrix)
    lower = [[Fraction(i == j) for j in range(n)] for i in range(n)]
    found: list[Fraction] = []
    for i in range(n):
        for j in range(i):
            rest = sum((lower[i][k] * lower[j][k] * found[k] for k in range(j)), Fraction(0))
            lower[i][j] = (matrix[i][j] - rest) / found[j]
        pivot = matrix[i][i] - sum((lower[i][k] ** 2 * found[k] for k in range(i)), Fraction(0))
        if not pivot > PIVOT * matrix[i][i]:
            return None
        found.append(pivot)
    return lower, found


def mixed(matrix: Matrix, variances: Sequence[Fraction], s: Fraction) -> Matrix:
    """(1 - s) C + s diag(variances)."""
    return [
        [(1 - s) * c + (s * variances[i] if i == j else 0) for j, c in enumerate(row)]
        for i, row in enumerate(matrix)
    ]


def repaired(matrix: Matrix, variances: Sequence[Fraction], *, light: bool) -> Matrix:
    """A covariance that the factorization accepts."""
    if not light and pivots(matrix) is not None:
        return matrix
    for power in range(0 if light else 40, -1, -1):
        other = mixed(matrix, variances, Fraction(1, 2**power))
        if pivots(other) is not None:
            return other
    raise AssertionError


def squared_distance(matrix: Matrix, rest: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """r' C^-1 r and the determinant of C."""
    n = len(rest)
    lower = [[Fraction(i == j) for j in range(n)] for i in range(n)]
    found: list[Fraction] = []
    z: list[Fraction] = []
    total, determinant = Fraction(0), Fraction(1)
    for i in range(n):
        for j in range(i):
            part = sum((lower[i][k] * lower[j][k] * found[k] for k in range(j)), Fraction(0))
            lower[i][j] = (matrix[i][j] - part) / found[j]
        found.append(
            matrix[i][i] - sum((lower[i][k] ** 2 * found[k] for k in range(i)), Fraction(0))
        )
        z.append(rest[i] - sum((lower[i][k] * z[k] for k in range(i)), Fraction(0)))
        total += z[i] ** 2 / found[i]
        determinant *= found[i]
    return total, determinant


def oas(matrix: Matrix, n: Fraction) -> Fraction:
    """The oracle approximating shrinkage, of Chen, Wiesel, Eldar and Hero 2010."""
    d = len(matrix)
    alpha = sum((c * c for row in matrix for c in row), Fraction(0)) / d**2
    mean = sum((matrix[i][i] for i in range(d)), Fraction(0)) / d
    rest = (n + 1) * (alpha - mean**2 / d)
    return Fraction(1) if rest <= 0 else min(Fraction(1), (alpha + mean**2) / rest)


@dataclass
class ExactDiscriminant(Definition):
    """`LDA` where `shared`, else `QDA`."""

    _: KW_ONLY
    shared: bool = True
    shrinkage: float | str = 0.0
    reg_param: float = 0.0
    prior_scatter: float | Mapping[Any, float] | None = None
    ddof: float = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.names = canonical(self._total)
        self._covariances: dict[Any, Matrix] = {}

    def of(self, label: Any) -> list[list[Row]]:
        """The rows of each class whose covariance that of the label is."""
        labels = self.classes if self.shared or label is None else [label]
        return [[row for row in self.rows if row[1] == each] for each in labels]

    def scatter(self, label: Any, one: Any, other: Any) -> tuple[Fraction, Fraction, int]:
        """The sum of products, the weight, and how many classes it is of."""
        pairs = [pair(rows, one, other) for rows in self.of(label)]
        return (
            sum((each.products for each in pairs), Fraction(0)),
            sum((each.weight for each in pairs), Fraction(0)),
            sum(each.weight > 0 for each in pairs),
        )

    def raw(self, label: Any = None, ddof: float = 0, added: Any = None) -> Matrix:
        """(S + P)/(W - ddof), 0 where that is nothing."""
        found = []
        for one in self.names:
            row = []
            for other in self.names:
                products, weight, classes = self.scatter(label, one, other)
                if one == other and added is not None:
                    given = added.get(one, 0) if isinstance(added, Mapping) else added
                    products += Fraction(given)
                left = weight - Fraction(ddof) * classes
                row.append(products / left if weight > 0 and left > 0 else Fraction(0))
            found.append(row)
        return found

    def read(self, label: Any) -> Matrix:
        """The covariance over `names`, before any repair; 0 where the class has not seen them."""
        matrix = self.raw(label, self.ddof, self.prior_scatter)
        seen = [i for i, name in enumerate(self.names) if self.scatter(label, name, name)[1]]
        if seen:
            part = [[matrix[i][j] for j in seen] for i in seen]
            mean = sum((part[i][i] for i in range(len(seen))), Fraction(0)) / len(seen)
            if self.shrinkage == "oas":
                n = max(self.scatter(label, self.names[i], self.names[i])[1] for i in seen)
                s = oas(part, n) if len(seen) > 1 else Fraction(0)
            else:
                s = Fraction(self.shrinkage)
            part = mixed(part, [mean] * len(seen), s)
            part = mixed(part, [Fraction(1)] * len(seen), Fraction(self.reg_param))
            for i, row in zip(seen, part, strict=True):
                for j, c in zip(seen, row, strict=True):
                    matrix[i][j] = c
        for i, name in enumerate(self.names):
            if i not in seen:
                matrix[i][i] = self._total[name].variance
        return matrix

    @property
    def evidence(self) -> list[Any]:
        """The features that were not constant."""
        return [name for name in self.names if self._total[name].squares]

    def covariance(self, label: Any) -> Matrix:
        """The covariance over `evidence`, repaired."""
        key = None if self.shared else label
        if key not in self._covariances:
            at = [self.names.index(name) for name in self.evidence]
            matrix = self.read(key)
            weight = sum((Fraction(w) for _, y, w in self.rows if y == label), Fraction(0))
            self._covariances[key] = repaired(
                [[matrix[i][j] for j in at] for i in at],
                [self._total[name].variance for name in self.evidence],
                light=not self.shared and weight < 2,
            )
        return self._covariances[key]

    def mean(self, name: Any, label: Any) -> Fraction:
        """Of the class, or of all where it has not seen the feature."""
        return (self.moments(name, label) or self._total[name]).mean

    def distance(self, x: Mapping[Any, Any], label: Any) -> tuple[Fraction, Fraction, int]:
        """(x - m)' C^-1 (x - m), the determinant of C, and the number of features there are."""
        evidence = self.evidence
        there = [i for i, name in enumerate(evidence) if not missing(x.get(name))]
        rest = [Fraction(x[evidence[i]]) - self.mean(evidence[i], label) for i in there]
        matrix = self.covariance(label)
        return *squared_distance([[matrix[i][j] for j in there] for i in there], rest), len(there)

    def joint(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """{label: log p(y) + log p(x | y)}."""
        joint = self.log_prior()
        for label in joint:
            squares, determinant, d = self.distance(x, label)
            joint[label] -= 0.5 * (float(squares) + log(determinant) + d * math.log(2 * math.pi))
        return joint


def whole_scatter(table: np.ndarray) -> tuple[list[Fraction], Matrix]:
    """The exact means and sums of products of many rows (n, d): by integers."""
    columns = []
    for column in table.T.tolist():
        ratios = [x.as_integer_ratio() for x in column]
        scale = max(below for _, below in ratios)  # powers of two
        columns.append((scale, [above * (scale // below) for above, below in ratios]))
    n, d = table.shape
    sums = [sum(whole) for _, whole in columns]
    means = [Fraction(total, n * scale) for total, (scale, _) in zip(sums, columns, strict=True)]
    products = [[Fraction(0)] * d for _ in range(d)]
    for i, (scale, one) in enumerate(columns):
        for j, (other_scale, other) in enumerate(columns[: i + 1]):
            total = n * sum(map(int.__mul__, one, other)) - sums[i] * sums[j]
            products[i][j] = products[j][i] = Fraction(total, n * scale * other_scale)
    return means, products


__all__ = ["ExactDiscriminant", "Moments", "moments", "whole_scatter"]
