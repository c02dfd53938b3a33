"""LDA and QDA beside plain refactoring, BLAS, River and scikit-learn, in one run.

Run with `python benchmarks/bench_discriminant.py`. Each figure is the best of several rounds, and
the rounds of what is compared alternate, so that a busy machine slows all; compare the ratios.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import timing
from river.covariance import EmpiricalCovariance
from scipy.linalg import blas, cho_factor, solve_triangular
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

import streamnb
from streamnb import _kernels
from streamnb._kernels.discriminant import Factor

CLASSES = 2


def best(calls: dict[str, tuple[Callable[[], Any], int]]) -> dict[str, float]:
    """The least time of each call, over its number of events, in microseconds."""
    times = timing.best(*(timing.call(call) for call, _ in calls.values()))
    events = (n for _, n in calls.values())
    return {name: t / n for name, t, n in zip(calls, times, events, strict=True)}


def row(name: str, value: float, peers: dict[str, float]) -> None:
    """A line of the table for each peer."""
    for peer, theirs in peers.items():
        timing.row(name, value, peer, theirs)
    if not peers:
        print(f"{name:<66} {value:>10.3f} us", flush=True)


def one_by_one(kind: type[Any], X: Any, y: Any) -> None:
    """An event at a time: learning, asking, and both in turn."""
    d = X.shape[1]
    names = [f"f{i}" for i in range(d)]
    events = [
        (dict(zip(names, values, strict=True)), label)
        for values, label in zip(X[: 400 if d < 500 else 50].tolist(), y.tolist(), strict=False)
    ]
    model = kind()
    model.learn_many(X, y, columns=names)
    model.predict_one(events[0][0])
    calls = {
        "learn": (lambda: [model.learn_one(x, label) for x, label in events], len(events)),
        "ask": (lambda: [model.predict_one(x) for x, _ in events], len(events)),
        "turn": (
            lambda: [(model.learn_one(x, label), model.predict_one(x)) for x, label in events],
            len(events),
        ),
        **linear_algebra(X, len(events)),
    }
    if d <= 50:
        river = EmpiricalCovariance()
        calls["river"] = (lambda: [river.update(x) for x, _ in events[:20]], 20)
    times = best(calls)
    name = kind.__name__
    peers = {"River's covariance": times["river"]} if d <= 50 else {}
    row(f"{name}.learn_one, d={d}", times["learn"], peers)
    row(f"{name}.predict_one, d={d}", times["ask"], {})
    peers = {"bare update and solve": times["bare"], "refactoring": times["refactor"]}
    row(f"{name} in turn, d={d}", times["turn"], peers)


def linear_algebra(X: Any, n: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """The bare rank-1 update and triangular system, and LAPACK's factorization each time."""
    d = X.shape[1]
    scatter, update, event = X.T @ X, X[0].copy(), X[1].copy()
    factor = Factor(d)
    factor.factorize(scatter)
    few = 20 if d < 500 else 3

    def refactor() -> None:
        whole = blas.dsyr(1.0, update, a=scatter, overwrite_a=0)
        solve_triangular(cho_factor(whole)[0], event, trans=1)

    return {
        "bare": (lambda: [(factor.add(update), factor.solve(event)) for _ in range(n)], n),
        "refactor": (lambda: [refactor() for _ in range(few)], few),
    }


def many(kind: type[Any], peer: Any, X: Any, y: Any) -> None:
    """From a NumPy table, microseconds a row."""
    n, d = X.shape
    columns = np.asfortranarray(X.T)
    model, part = kind(), X[:1000]
    model.learn_many(X, y)
    peer.fit(X, y)
    times = best(
        {
            "learn": (lambda: kind().learn_many(X, y), n),
            "dsyrk": (lambda: blas.dsyrk(1.0, columns), n),
            "fit": (lambda: peer.fit(X, y), n),
            "predict": (lambda: model.predict_proba_many(part), len(part)),
            "peer": (lambda: peer.predict_proba(part), len(part)),
        }
    )
    name = kind.__name__
    peers = {"dsyrk": times["dsyrk"], "scikit-learn": times["fit"]}
    row(f"{name}.learn_many, d={d}", times["learn"], peers)
    row(f"{name}.predict_proba_many, d={d}", times["predict"], {"scikit-learn": times["peer"]})


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    print(f"streamnb {streamnb.__version__}, kernels {_kernels.LEVEL}, {CLASSES} classes")
    rng = np.random.default_rng(0)
    for d in (10, 50, 200, 784):
        n = 20_000 if d < 500 else 5000
        X, y = rng.normal(size=(n, d)), rng.integers(0, CLASSES, n)
        X[:, 0] += y
        # solved through a factor, as ours: its default works on the rows themselves
        for kind, peer in (
            (streamnb.LDA, LinearDiscriminantAnalysis(solver="lsqr")),
            (streamnb.QDA, QuadraticDiscriminantAnalysis()),
        ):
            one_by_one(kind, X, y)
            many(kind, peer, X, y)


if __name__ == "__main__":
    main()
