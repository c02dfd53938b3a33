# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""From joint log-likelihoods to a label or to probabilities: the end of Bayes' rule.

Where every class is impossible (all scores are -inf) the answer is the prior. Ties go to the
class that comes first, and classes come in canonical order.

The functions that take `self` are bound as methods by the models. There `self._scorer` answers
the scores of an event in the order of its `labels`, or `None` where it is out of date, and
`self._new_scorer()` makes one that is not: not yet, for reading an event may make room for it, and
another thread may learn.
"""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels._oracle import cython

from typing import Any

import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import exp
else:
    from math import exp

    from streamnb._kernels._oracle.posterior import to_probabilities


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=True)
def _best(scores: list[Any]) -> cython.Py_ssize_t:
    """The place of the first of the largest; the number of scores where all are -inf."""
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t = len(scores)
    at: cython.Py_ssize_t = n
    high: cython.double = float("-inf")
    v: cython.double
    for i in range(n):
        v = scores[i]
        if v > high:
            high = v
            at = i
    return at


def predict_one(self: Any, x: Any) -> Any:
    """The most probable label of an event.

    Parameters
    ----------
    x
        a mapping of feature names to values. Features that are absent, `None` or NaN, or that
        were never learned, are no evidence.

    Returns
    -------
    A label; `None` where no class is known. Ties go to the first in canonical order.

    Raises
    ------
    TypeError, ValueError
        a value that learning would refuse, naming the feature.
    """
    scorer = self._scorer
    scores = scorer.scores(x)
    while scores is None:
        scorer = self._new_scorer()
        scores = scorer.scores(x)
    at = _best(scores)
    labels: list[Any] = scorer.labels
    if at == len(labels):
        at = _best(scorer.log_prior)
        if at == len(labels):
            return None
    return labels[at]


def predict_proba_one(self: Any, x: Any) -> dict[Any, float]:
    """The probability of each class given an event.

    Parameters
    ----------
    x
        as for `predict_one`.

    Returns
    -------
    {label: probability} in the order of `classes`; `{}` where no class is known.

    Raises
    ------
    TypeError, ValueError
        a value that learning would refuse, naming the feature.
    """
    scorer = self._scorer
    scores: list[Any] = scorer.scores(x)
    while scores is None:
        scorer = self._new_scorer()
        scores = scorer.scores(x)
    labels: list[Any] = scorer.labels
    n: cython.Py_ssize_t = len(labels)
    at: cython.Py_ssize_t = _best(scores)
    if at == n:
        scores = scorer.log_prior
        at = _best(scores)
        if at == n:
            return {}
    i: cython.Py_ssize_t
    v: cython.double
    high: cython.double = scores[at]
    total: cython.double = 0.0
    for i in range(n):
        v = scores[i]
        total += exp(v - high)
    result: dict[Any, float] = {}
    for i in range(n):
        v = scores[i]
        result[labels[i]] = exp(v - high) / total
    return result


def joint_log_likelihood(self: Any, x: Any) -> dict[Any, float]:
    """The logarithm of p(y) p(x | y) for each class y.

    Parameters
    ----------
    x
        as for `predict_one`.

    Returns
    -------
    {label: natural logarithm} in the order of `classes`, -inf where a class is impossible;
    `{}` where no class is known.

    Raises
    ------
    TypeError, ValueError
        a value that learning would refuse, naming the feature.
    """
    scorer = self._scorer
    scores = scorer.scores(x)
    while scores is None:
        scorer = self._new_scorer()
        scores = scorer.scores(x)
    return dict(zip(scorer.labels, scores, strict=True))


def posteriors(scores: Any, log_prior: Any) -> None:
    """The rows' probabilities, to the bit as `predict_proba_one` gives them.

    Parameters
    ----------
    scores
        (n, K) float64, C-contiguous, K > 0; overwritten with the probabilities.
    log_prior
        (K,) float64.
    """
    s: cython.double[:, ::1] = scores
    prior: cython.double[::1] = log_prior
    n: cython.Py_ssize_t = scores.shape[0]
    m: cython.Py_ssize_t = scores.shape[1]
    r: cython.Py_ssize_t
    i: cython.Py_ssize_t
    high: cython.double
    for r in range(n):
        high = float("-inf")
        for i in range(m):
            high = max(high, s[r, i])
        if high == float("-inf"):
            for i in range(m):
                s[r, i] = prior[i]
                high = max(high, s[r, i])
        row = cython.address(s[r, 0]) if cython.compiled else s[r]
        to_probabilities(row, row, m, high)


def best(scores: Any, log_prior: Any) -> Any:
    """For each row of scores (n, K) the place of its first largest, as an intp array.

    Rows of nothing but -inf take that of `log_prior` (K,).
    """
    places = scores.argmax(axis=1)
    places[np.isneginf(scores).all(axis=1)] = log_prior.argmax()
    return places
