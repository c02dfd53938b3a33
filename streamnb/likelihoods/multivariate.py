"""The multivariate normal distribution of all features within each class."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import discriminant, repair
from streamnb.likelihoods.base import Likelihood, documented
from streamnb.parameters import (
    check_flag,
    number_by_name,
    parameter,
    restored_by_name,
    share,
)
from streamnb.stats.index import Label, Name, canonical_name
from streamnb.stats.moments import Moments
from streamnb.stats.scatter import Scatter, Sums
from streamnb.values import check_parameter

__all__ = ["MultivariateGaussian", "oas_shrinkage", "total_variances"]

Floats = NDArray[np.float64]

_LEAST_POWER = 40  # of 2, the first share of the repair
_RANGE = np.finfo(np.float64)
_ULP = 2.0**-53


def _check_shrinkage(shrinkage: Any, name: str) -> None:
    if shrinkage != "oas" and (isinstance(shrinkage, str) or check_parameter(shrinkage, name) > 1):
        msg = f'{name} is a number from 0 to 1 or "oas", not {shrinkage!r}'
        raise ValueError(msg)


def _check_prior_scatter(prior_scatter: Any, name: str) -> None:
    if isinstance(prior_scatter, Mapping):
        for feature, value in prior_scatter.items():
            canonical_name(feature)
            check_parameter(value, f"the prior scatter of {feature!r}")
    elif prior_scatter is not None:
        check_parameter(prior_scatter, name)


@documented
@dataclass(frozen=True)
class MultivariateGaussian(Likelihood):
    """How scatter is read as a covariance C, and that as a normal density.

        C = (S + P)/(W - ddof);   (1 - s) C + s tr(C)/d I;   (1 - r) C + r I

    one after the other, with the scatter S and the weight W of a class, or, where the classes share
    C, of all of them (ddof then being taken once a class); P is `prior_scatter`, s `shrinkage`, r
    `reg_param`, d the number of features that the class has seen, constant ones among them. Where
    features are missing in some events, each entry of S has the weight of the events with both.

    Then, in this order:

    - a feature that the class has not seen has the variance over all classes, and covariances of 0;
    - a feature that was constant in all that was seen is no evidence, and is left out;
    - what the Cholesky factorization does not accept (each pivot above 2^-40 of its diagonal
      entry) is read as (1 - s) C + s diag(total variances), with the first s of 2^-40, 2^-39, ...,
      1 that is accepted; a class of weight under 2, where it has its own covariance, with s = 1.
      This is done in double-double, from the digits that the scatter has (see `docs/design.md`).

    Raises
    ------
    ValueError
        a parameter is out of range.
    TypeError
        a parameter is of the wrong kind.
    """

    shrinkage: float | str = parameter(
        default=0.0,
        doc='from 0 to 1, the share of tr(C)/d I in the covariance; or "oas", the oracle'
        " approximating shrinkage of Y. Chen, A. Wiesel, Y. C. Eldar, A. O. Hero (Shrinkage"
        " algorithms for MMSE covariance estimation, 2010), as scikit-learn has it.",
        check=_check_shrinkage,
    )
    reg_param: float = parameter(
        default=0.0,
        doc="from 0 to 1, the share of I in each covariance, as in scikit-learn (whose covariances"
        " were those of `ddof=1` before its version 1.9.1).",
        check=share,
    )
    prior_scatter: float | Mapping[Name, float] | None = parameter(
        default=None,
        doc="added to the diagonal of the scatter: a number, or {feature: number} (0 for the"
        " others). The covariance's Laplace smoothing, in units of a squared feature times a"
        " weight.",
        check=_check_prior_scatter,
        canonical=number_by_name,
        restored=restored_by_name,
    )
    ddof: float = parameter(
        default=0,
        doc="taken from the weight that divides the scatter, for a covariance of all classes once"
        " for each class. Where nothing is left, C is 0 before it is repaired. With 1 it is without"
        ' bias, as that of scikit-learn\'s solver "svd" before its version 1.9.1; its other'
        " solvers, and all of them since, have the one with 0.",
    )
    shared: bool = parameter(
        default=False, doc="whether all classes have one covariance.", check=check_flag
    )

    reads: ClassVar[str] = "scatter"

    def scorer(
        self,
        statistic: Scatter,
        labels: list[Label],
        log_prior: Floats | None,
        prior_counts: Floats,
    ) -> discriminant.DiscriminantScorer:
        """See `Likelihood.scorer`."""
        statistic.follow()
        moments = statistic.moments
        slots = moments.classes.slots
        added = self._added(_names(moments))
        plain = self.shrinkage == 0 and self.reg_param == 0
        if moments.fading is not None and added.any():
            plain = False
        return discriminant.DiscriminantScorer(
            moments.table,
            statistic.groups,
            not self.shared,
            labels,
            np.array([slots.get(label, -1) for label in labels], dtype=np.int64),
            np.array(moments.features.canonical(), dtype=np.int64),
            plain,
            added,
            float(self.ddof),
            log_prior,
            prior_counts,
            _General(self, statistic, labels),
        )

    def _added(self, names: list[Name]) -> Floats:
        """The prior scatter of each feature."""
        if isinstance(self.prior_scatter, Mapping):
            given = {canonical_name(name): value for name, value in self.prior_scatter.items()}
            return np.array([float(given.get(name, 0.0)) for name in names])
        return np.full(len(names), float(self.prior_scatter or 0.0))

    def covariance(self, sums: Sums, names: list[Name], now: float) -> Floats:
        """The covariance of the features that were seen, before any repair; (D, D), 0 elsewhere.

        Parameters
        ----------
        sums
            of the class, or of all.
        names
            of the features.
        now
            what stored weights are multiplied by.
        """
        covariance = raw_covariance(sums, self.ddof, now, self._added(names))
        seen = np.flatnonzero(sums.known)
        if not seen.size:
            return covariance
        own = covariance[np.ix_(seen, seen)]
        s, mean = self._shrinkage(own, sums, now)
        if s:
            own = (1.0 - s) * own
            own[np.diag_indices(seen.size)] += s * mean
        if self.reg_param:
            own = (1.0 - self.reg_param) * own
            own[np.diag_indices(seen.size)] += self.reg_param
        covariance[np.ix_(seen, seen)] = own
        return covariance

    def _shrinkage(self, own: Floats, sums: Sums, now: float) -> tuple[float, float]:
        """The share s of the shrinkage, and the mean variance, of the features that were seen."""
        mean = math.fsum(own.diagonal().tolist()) / len(own)
        if self.shrinkage == "oas":
            return oas_shrinkage(own, float(sums.weights.diagonal().max()) * now), mean
        return float(self.shrinkage), mean

    def shrinking(self, sums: Sums, names: list[Name], now: float) -> tuple[float, Floats]:
        """What S/(W - ddof) is multiplied by in `covariance`, and what is added to its diagonal.

        Parameters
        ----------
        sums, names, now
            as for `covariance`.

        Returns
        -------
        A number, and (D,) numbers, which mean nothing for features that were not seen.
        """
        added = self._added(names)
        weights = (sums.weights * now - self.ddof * sums.classes).diagonal()
        added = np.where(weights > 0.0, added / np.where(weights > 0.0, weights, 1.0), 0.0)
        seen = np.flatnonzero(sums.known)
        if not seen.size:
            return 1.0, added
        own = raw_covariance(sums, self.ddof, now, self._added(names))[np.ix_(seen, seen)]
        s, mean = self._shrinkage(own, sums, now)
        part = (1.0 - s) * (1.0 - self.reg_param)
        return part, part * added + ((1.0 - self.reg_param) * s * mean + self.reg_param)


class _General:
    """Reads the covariance of any group, whatever its statistics and readings are."""

    def __init__(
        self,
        likelihood: MultivariateGaussian,
        scatter: Scatter,
        labels: list[Label],
    ) -> None:
        self._likelihood = likelihood
        self._moments = scatter.moments
        self._scatter = scatter
        self._labels = labels
        self._version = -1
        self._facts: tuple[list[Name], NDArray[np.intp], Floats, dict[Label, float]]

    def __call__(self, place: int, evidence: NDArray[np.intp]) -> discriminant.Factor:
        """The factor of the covariance of the class at this place, -1 for that of all."""
        names, chosen, variances, weights = self._common(evidence)
        label = None if place < 0 else self._labels[place]
        factor = discriminant.Factor(len(chosen))
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is repaired
            if label is None or weights.get(label, 0.0) >= 2.0:
                sums = self._scatter.sums(label)
                covariance = self._likelihood.covariance(sums, names, self._now())
                lacking = ~sums.known
                covariance[lacking, lacking] = variances[lacking]
                if factor.factorize(covariance[np.ix_(chosen, chosen)]) and factor.is_sure():
                    return factor
                size = np.fmax(np.minimum(covariance.diagonal(), _RANGE.max), variances)
                units = np.ldexp(1.0, -(np.frexp(size)[1] // 2))
                scaled = variances * (units * units)
                precise = self._precise(label, sums, chosen, units, scaled)
                if np.isfinite(precise).all():
                    factor.follow(repaired(precise, scaled[chosen], units[chosen]))
                    return factor
        factor.factorize(np.diag(variances[chosen]))
        return factor

    def _common(
        self, evidence: NDArray[np.intp]
    ) -> tuple[list[Name], NDArray[np.intp], Floats, dict[Label, float]]:
        """What is the same for all classes, until something is learned.

        The names of the D features that have weight; (E,) the places of the evidence among them;
        (D,) their total variances, as far as there are doubles; the weights of the classes.
        """
        moments = self._moments
        version = int(moments.table.buffers()[3][0])
        if version != self._version:
            names, features = moments.names(), _names(moments)
            at = {name: i for i, name in enumerate(names)}
            chosen = np.array([at[features[i]] for i in evidence], dtype=np.intp)
            with np.errstate(over="ignore", invalid="ignore"):
                variances = total_variances(moments, self._now())
            # Differences have doubles, but not the squares of them all.
            variances = np.clip(variances, _RANGE.tiny, _RANGE.max)
            self._facts = names, chosen, variances, moments.weights()
            self._version = version
        return self._facts

    def _now(self) -> float:
        """What stored weights are multiplied by."""
        return float(self._moments.table.present()[0])

    def _precise(
        self,
        label: Label | None,
        sums: Sums,
        chosen: NDArray[np.intp],
        units: Floats,
        variances: Floats,
    ) -> Floats:
        """The covariance as it is read, in double-double, ((hi, lo), E, E).

        Parameters
        ----------
        label
            a class, or `None` for the classes that share a covariance.
        sums
            its sums, over the D features that have weight.
        chosen
            (E,) the places of the features that are evidence, among these.
        units
            (D,) powers of two that the features are multiplied by.
        variances
            (D,) the total variances, in these units.
        """
        likelihood, now = self._likelihood, self._now()
        weights = sums.weights - likelihood.ddof / now * sums.classes
        weights[~(sums.weights > 0.0)] = 0.0
        products, rounded = self._scatter.precise_products(label, chosen, units[chosen])
        covariance = repair.divided(products, np.ascontiguousarray(weights[np.ix_(chosen, chosen)]))
        if rounded and sums.weights.any():
            # Measured: less than 0.4 sqrt(n) roundings of n events or shards.
            events = min(float(sums.weights.max()) * now, 10_000.0)
            repair.level(covariance, (2.0 + 0.6 * math.sqrt(events)) * _ULP)
        part, added = likelihood.shrinking(sums, self._moments.names(), now)
        added = np.where(sums.known, added * (units * units), variances)
        return np.asarray(repair.shrunk(covariance, part, added[chosen]))


def _names(moments: Moments) -> list[Name]:
    """The names that have a slot, in canonical order."""
    return [moments.features.order[slot] for slot in moments.features.canonical()]


def repaired(covariance: Floats, variances: Floats, units: Floats) -> repair.PreciseFactor:
    """The factor of a covariance, moved towards the total variances until it is accepted.

    Accepted are all s from some number on: a pivot is a concave function of s, its diagonal entry a
    linear one, and 1 is accepted. So the first power of two is found in a few steps.

    Parameters
    ----------
    covariance
        ((hi, lo), E, E).
    variances
        (E,), all positive.
    units
        (E,) powers of two: both are of the features multiplied by them.
    """
    factor = repair.PreciseFactor(units)
    if factor.factorize(covariance):
        return factor
    refused, accepted = _LEAST_POWER + 1, 0
    step = 1
    while refused - accepted > 1:
        power = max(refused - step, (refused + accepted) // 2)
        if factor.mixed(covariance, variances, power):
            accepted, step = power, refused
        else:
            refused, step = power, 2 * step
    factor.mixed(covariance, variances, accepted)
    return factor


def raw_covariance(
    sums: Sums, ddof: float = 0.0, now: float = 1.0, added: Floats | None = None
) -> Floats:
    """(S + diag(added))/(W - ddof), (D, D); 0 where no event had both, or nothing is left of W."""
    weights = sums.weights * now - ddof * sums.classes
    products = sums.products * now
    if added is not None:
        products[np.diag_indices(len(products))] += np.where(sums.known, added, 0.0)
    there = (weights > 0.0) & (sums.weights > 0.0)
    covariance: Floats = np.where(there, products / np.where(there, weights, 1.0), 0.0)
    return covariance


def pooled_covariance(parts: Sequence[Sums]) -> Floats:
    """The covariance within all classes, from the sums of each: (D, D), 0 where none had both.

    It is a mean of theirs, so it has a double where the sum of their products has none.
    """
    weights = np.sum([part.weights for part in parts], axis=0)
    weights = np.where(weights > 0.0, weights, 1.0)
    pooled: Floats = np.sum([part.products / weights for part in parts], axis=0)
    return pooled


def oas_shrinkage(covariance: Floats, n: float) -> float:
    """The oracle approximating shrinkage of a covariance (d, d) from n events, from 0 to 1."""
    d = len(covariance)
    if d < 2:
        return 0.0
    alpha = math.fsum((covariance * covariance).ravel().tolist()) / d**2
    mean = math.fsum(covariance.diagonal().tolist()) / d
    rest = (n + 1.0) * (alpha - mean * mean / d)
    return 1.0 if rest <= 0.0 else min((alpha + mean * mean) / rest, 1.0)


def total_variances(moments: Moments, now: float = 1.0) -> Floats:
    """The variance of each feature over all that was seen, (D,), of `moments.names()`."""
    cells = moments.state().cells
    if not cells.size:
        return np.zeros(0)
    weights = (cells[:, 4] + cells[:, 5]) * now
    squares = (cells[:, 2] + cells[:, 3]) * now
    total = weights.sum(axis=0)
    first = np.argmax(weights > 0.0, axis=0)
    column = np.arange(len(total))
    d = (cells[:, 0] - cells[first, 0, column]) + (cells[:, 1] - cells[first, 1, column])
    share = weights / np.where(total > 0.0, total, 1.0)
    d = np.where(weights > 0.0, d, 0.0)
    d = d - (share * d).sum(axis=0)
    variances: Floats = (squares / np.where(total > 0.0, total, 1.0) + (share * d) * d).sum(axis=0)
    return variances
