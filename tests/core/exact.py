"""Naive Bayes by its definition, in exact fractions, from the rows themselves.

Nothing here is incremental, weighted by tricks or rounded before the last step, so that it can
say what streamnb has to answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

Row = tuple[Mapping[Any, Any], Any, float]  # features, label, weight


@dataclass
class Moments:
    """The weight, mean and sum of squared deviations of weighted numbers, as fractions."""

    weight: Fraction
    mean: Fraction
    squares: Fraction

    @property
    def variance(self) -> Fraction:
        """Divided by the weight."""
        return self.squares / self.weight


def moments(values: Iterable[tuple[float, float]]) -> Moments | None:
    """The moments of (value, weight) pairs; None where there are none."""
    pairs = [(Fraction(x), Fraction(w)) for x, w in values]
    weight = sum((w for _, w in pairs), Fraction(0))
    if not weight:
        return None
    mean = sum((x * w for x, w in pairs), Fraction(0)) / weight
    squares = sum(((x - mean) ** 2 * w for x, w in pairs), Fraction(0))
    return Moments(weight, mean, squares)


def whole_moments(values: Sequence[float]) -> tuple[Fraction, Fraction]:
    """The exact mean and variance of many numbers, by integers: fast for 10^5 of them."""
    ratios = [float(x).as_integer_ratio() for x in values]
    scale = max(below for _, below in ratios)  # powers of two, so the largest is common to all
    whole = [above * (scale // below) for above, below in ratios]
    n, total = len(whole), sum(whole)
    squares = sum(x * x for x in whole)
    return Fraction(total, n * scale), Fraction(n * squares - total * total, (n * scale) ** 2)


def missing(value: Any) -> bool:
    """Whether a value counts as absent."""
    return value is None or (isinstance(value, float) and math.isnan(value))


@dataclass
class Definition:
    """What a model with these readings answers after these rows, by the definition."""

    rows: Sequence[Row]
    _: KW_ONLY
    prior: Any = "empirical"
    prior_count: float = 0.0
    classes: Sequence[Any] = ()
    _total: dict[Any, Moments] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = [(x, y, w) for x, y, w in self.rows if w > 0]
        known = [*self.classes, *(y for _, y, _ in self.rows)]
        self.classes = sorted(set(known), key=lambda y: (type(y).__name__, y))
        for name in {name for x, _, _ in self.rows for name, v in x.items() if not missing(v)}:
            seen = self.moments(name)
            assert seen is not None
            self._total[name] = seen

    def moments(self, name: Any, label: Any = None) -> Moments | None:
        """The moments of a feature in a class, or in all of them; None where it was not seen."""
        return moments(
            (x[name], w)
            for x, y, w in self.rows
            if (label is None or y == label) and not missing(x.get(name))
        )

    def log_prior(self) -> dict[Any, float]:
        """{label: log p(y)}."""
        if isinstance(self.prior, Mapping):
            shares = {y: Fraction(self.prior.get(y, 0)) for y in self.classes}
        elif self.prior == "uniform":
            shares = {y: Fraction(1) for y in self.classes}
        else:
            shares = {
                y: Fraction(self.prior_count) + sum(Fraction(w) for _, c, w in self.rows if c == y)
                for y in self.classes
            }
            if not any(shares.values()):
                shares = {y: Fraction(1) for y in self.classes}
        total = sum(shares.values())
        return {y: math.log(s / total) if s else -math.inf for y, s in shares.items()}

    def log_density(self, name: Any, label: Any, value: float) -> float:
        """log p(value | label) of a feature that was seen and was not constant."""
        raise NotImplementedError

    def joint(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """{label: log p(y) + log p(x | y)}."""
        joint = self.log_prior()
        for name, value in x.items():
            if missing(value) or name not in self._total or not self._total[name].squares:
                continue
            for label in joint:
                joint[label] += self.log_density(name, label, value)
        return joint

    def proba(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """{label: p(y | x)}; where every class is impossible, the prior."""
        joint = self.joint(x)
        if max(joint.values()) == -math.inf:
            joint = self.log_prior()
        top = max(joint.values())
        shares = {y: math.exp(j - top) for y, j in joint.items()}
        return {y: s / math.fsum(shares.values()) for y, s in shares.items()}


@dataclass
class Exact(Definition):
    """`GaussianNB`."""

    _: KW_ONLY
    smoothing: str = "feature"
    var_smoothing: float = 0.0
    background: float = 0.0
    shared_variance: bool = False
    ddof: float = 0

    def with_background(self, name: Any, label: Any) -> Moments | None:
        """The moments of a feature in a class, the pseudo-observations among them."""
        total, seen = self._total[name], self.moments(name, label)
        if seen is None:
            return None
        b = Fraction(self.background)
        n = seen.weight + b
        mean = (seen.weight * seen.mean + b * total.mean) / n
        between = seen.weight * b / n * (seen.mean - total.mean) ** 2
        return Moments(n, mean, seen.squares + b * total.variance + between)

    def normal(self, name: Any, label: Any) -> tuple[Fraction, Fraction]:
        """The mean and the variance that are read for a feature in a class."""
        total, own = self._total[name], self.with_background(name, label)
        mean = total.mean if own is None else own.mean
        parts = [own]
        if self.shared_variance:
            parts = [self.with_background(name, label) for label in self.classes]
        seen = [part for part in parts if part is not None]
        divisor = sum((part.weight for part in seen), -Fraction(self.ddof))
        variance = total.variance
        if seen and divisor > 0:
            variance = sum((part.squares for part in seen), Fraction(0)) / divisor
        scale = {
            "feature": total.variance,
            "global": max(m.variance for m in self._total.values()),
            "absolute": Fraction(1),
        }[self.smoothing]
        variance += Fraction(self.var_smoothing) * scale
        return mean, variance or Fraction(1, 10**18) * total.variance

    def log_density(self, name: Any, label: Any, value: float) -> float:
        """The normal density."""
        mean, variance = self.normal(name, label)
        distance = (Fraction(value) - mean) ** 2 / variance
        return -0.5 * (math.log(2 * math.pi) + log(variance) + float(distance))


@dataclass
class ExactPoisson(Definition):
    """`PoissonNB`."""

    _: KW_ONLY
    alpha: float = 0.0

    def rate(self, name: Any, label: Any) -> Fraction:
        """The rate that is read for a feature in a class."""
        whole, seen, alpha = self._total[name].mean, self.moments(name, label), Fraction(self.alpha)
        if seen is None:
            return whole
        return (seen.weight * seen.mean + alpha * whole) / (seen.weight + alpha)

    def log_density(self, name: Any, label: Any, value: float) -> float:
        """x log(rate) - rate - log Gamma(x + 1), in 60 digits."""
        rate = self.rate(name, label)
        if not value:
            return -float(rate)
        if not rate:
            return -math.inf
        with localcontext(prec=60):
            mean = Decimal(rate.numerator) / Decimal(rate.denominator)
            x = Decimal(float(value))
            return float(x * mean.ln() - mean - log_gamma(x))


def log_gamma(x: Decimal) -> Decimal:
    """The logarithm of Gamma(x + 1), in the digits of the context (60 at most).

    Stirling's series from 1000 on, with Bernoulli's numbers 1/6, -1/30, ...; below by
    Gamma(x + 1) = Gamma(x + 2)/(x + 1).
    """
    shift = Decimal(1)
    while x < 1000:
        x += 1
        shift *= x
    log_two_pi = (2 * PI).ln()
    series = sum(
        Decimal(above) / Decimal(below) / (2 * k * (2 * k - 1) * x ** (2 * k - 1))
        for k, (above, below) in enumerate(BERNOULLI, 1)
    )
    return (x + Decimal("0.5")) * x.ln() - x + log_two_pi / 2 + series - shift.ln()


PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620")
BERNOULLI = [
    (1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510),
]  # fmt: skip


def log(value: Fraction) -> float:
    """The logarithm of a fraction of any size."""
    return math.log(value.numerator) - math.log(value.denominator)
