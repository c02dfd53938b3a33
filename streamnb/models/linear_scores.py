"""The linear form of a model whose classes share one covariance."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import discriminant
from streamnb.models.discriminants import DiscriminantAnalysis
from streamnb.stats.index import (
    Label,
    Name,
    canonical_label,
)

__all__ = ["LinearScores"]

Floats = NDArray[np.float64]


class LinearScores(DiscriminantAnalysis):
    """Weights and constants of classes that share one covariance."""

    @property
    def coef(self) -> Floats:
        """The weights of the linear scores, (K, D), in the order of `classes` and `features`.

        The score of a class, `coef @ x + intercept`, is its joint log-likelihood but for what all
        classes have in common. The weights are C^-1 (m - M) with the class's mean m and the mean M
        over all classes, as scikit-learn's solver "svd" has them; 0 for a feature that is no
        evidence.

        Raises
        ------
        ValueError
            a number is beyond the range of a double.
        """
        return self._linear()[0]

    @property
    def intercept(self) -> Floats:
        """The constant of each class's linear score, (K,): see `coef`."""
        return self._linear()[1]

    def linear_log_odds(self, label: Label, versus: Label) -> tuple[dict[Name, float], float]:
        """The log-odds of two classes as a linear function of an event that lacks no feature.

        log(p(label | x)/p(versus | x)) = bias + sum of weight times value, over all features.

        Parameters
        ----------
        label, versus
            two classes.

        Returns
        -------
        `({feature: weight}, bias)`, the features in canonical order. A feature that is no
        evidence, because it was constant, has weight 0. The bias is infinite where one of the
        two has prior probability 0.

        Raises
        ------
        ValueError
            both have prior probability 0; or a weight is beyond the range of a double.
        KeyError
            a label is no class.
        """
        self._check_class(label)
        self._check_class(versus)
        scorer = self._discriminant_scorer()
        labels = self.classes
        one, other = (labels.index(canonical_label(each)) for each in (label, versus))
        prior, against = scorer.log_prior[one], scorer.log_prior[other]
        if prior == against == -math.inf:
            msg = f"{label!r} and {versus!r} both have prior probability 0"
            raise ValueError(msg)
        factors, divisors, centres, places = scorer.readings()
        apart = (centres[one, 0] - centres[other, 0]) + (centres[one, 1] - centres[other, 1])
        weights = _weights(factors[0], divisors[0], apart)
        # Far from 0 the bias is large: it is the exact one for these weights.
        bias = Fraction(0)
        for weight, m in zip(weights.tolist(), centres[[one, other]].sum(axis=0).T, strict=True):
            bias -= Fraction(weight) * (Fraction(m[0]) + Fraction(m[1])) / 2
        if math.isinf(prior - against):
            intercept = prior - against
        else:
            intercept = _double(bias + Fraction(prior) - Fraction(against))
        return dict(zip(self.features, self._spread_out(weights, places), strict=True)), intercept

    def fisher_directions(self, n: int = 2) -> Floats:
        """The directions in which the means of the classes lie furthest apart (R. A. Fisher, 1936).

        The eigenvectors of C^-1 B with the largest eigenvalues, where C is the covariance as it is
        read and B the covariance of the class means, each with its class's weight. In each
        direction the variance within the classes is 1, and different directions do not covary. The
        largest number of each is positive. Of K classes at most K - 1 directions separate anything.

        Parameters
        ----------
        n
            how many.

        Returns
        -------
        (D, n), in the order of `features`; a feature that is no evidence has 0.

        Raises
        ------
        ValueError
            there are fewer features that are evidence than `n`, or `n` is below 1.
        """
        scorer = self._discriminant_scorer()
        factors, divisors, centres, places = scorer.readings()
        if not 1 <= n <= len(places):
            msg = f"there are {len(places)} features that are evidence, so no {n} directions"
            raise ValueError(msg)
        share = self._shares()
        means = (centres[:, 0] - centres[0, 0]) + (centres[:, 1] - centres[0, 1])
        apart = (means - share @ means) * np.sqrt(share)[:, None]
        white = np.array([factors[0].solve(row) for row in apart]) * math.sqrt(divisors[0])
        _, vectors = np.linalg.eigh(white.T @ white)
        found = []
        for vector in vectors[:, ::-1][:, :n].T:
            direction = factors[0].solve_back(vector) * math.sqrt(divisors[0])
            sign = math.copysign(1.0, direction[np.argmax(np.abs(direction))])
            found.append(self._spread_out(sign * direction, places))
        return np.array(found).T

    def _linear(self) -> tuple[Floats, Floats]:
        """The weights (K, D) and constants (K,) of the linear scores."""
        scorer = self._discriminant_scorer()
        factors, divisors, centres, places = scorer.readings()
        share = self._shares()
        apart = (centres[:, 0] - centres[:1, 0]) + (centres[:, 1] - centres[:1, 1])
        apart -= share @ apart
        rows, constants = [], []
        for prior, centre, d in zip(scorer.log_prior, centres, apart, strict=True):
            weights = _weights(factors[0], divisors[0], d)
            rows.append(self._spread_out(weights, places))
            middle = zip(weights.tolist(), *centre.tolist(), d.tolist(), strict=True)
            constant = sum(
                (
                    Fraction(w) * (Fraction(hi) + Fraction(lo) - Fraction(half) / 2)
                    for w, hi, lo, half in middle
                ),
                Fraction(0),
            )
            constants.append(prior - _double(constant))
        return np.array(rows).reshape(len(rows), len(self.features)), np.array(constants)

    def _shares(self) -> Floats:
        """The share of each class in all that was seen; the same for all where nothing was."""
        weights = np.array([self.class_weight.get(label, 0.0) for label in self.classes])
        total = weights.sum()
        return weights / total if total > 0.0 else np.full(len(weights), 1.0 / max(len(weights), 1))

    def _spread_out(self, numbers: Floats, places: NDArray[np.intp]) -> list[float]:
        """Numbers of the features that are evidence, and 0 for the others, of `features`."""
        order = self.statistic.moments.features
        names = [order.order[slot] for slot in order.canonical()]
        by_name = dict(zip([names[place] for place in places], numbers.tolist(), strict=True))
        return [by_name.get(name, 0.0) for name in self.features]


def _weights(factor: discriminant.Factor, divisor: float, apart: Floats) -> Floats:
    """C^-1 times a difference of means. Raises `ValueError` where it is beyond doubles."""
    with np.errstate(over="ignore", invalid="ignore"):
        weights: Floats = factor.solve_back(factor.solve(apart)) * divisor
    if not np.isfinite(weights).all():
        msg = "a weight of the linear scores is beyond the range of a double"
        raise ValueError(msg)
    return weights


def _double(constant: Fraction) -> float:
    """The nearest double. Raises `ValueError` where there is none."""
    try:
        return float(constant)
    except OverflowError:
        msg = "a constant of the linear scores is beyond the range of a double"
        raise ValueError(msg) from None
