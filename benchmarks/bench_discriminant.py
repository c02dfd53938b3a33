"""LDA and QDA beside plain refactoring, BLAS, River and scikit-learn, in one run.

Run with `python benchmarks/bench_discriminant.py`. Each figure is the best of several rounds, and
the rounds of what is compared alternate, so that a busy machine slows all; compare the ratios.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
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

CLASSES = (2, 3)
EVENTS = 400  # of a call: more than a block has rows, so that its sums and a factorization count


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


def one_by_one(kind: type[Any], X: Any, seed: int) -> None:
    """An event at a time: learning, asking, and both in turn."""
    d = X.shape[1]
    names = [f"f{i}" for i in range(d)]
    rows = X[:EVENTS].tolist()
    calls = linear_algebra(X)
    # so slow at many features that few events must do
    few = {10: 20, 50: 20, 200: 3}.get(d, 1)
    river = EmpiricalCovariance()
    event = dict(zip(names, rows[0], strict=True))
    calls["river"] = (lambda: [river.update(event) for _ in range(few)], few)
    for classes in CLASSES:
        y = labels(len(X), classes, seed)
        model = kind()
        model.learn_many(X, y, columns=names)
        model.predict_one(event)
        events = [
            (dict(zip(names, values, strict=True)), label)
            for values, label in zip(rows, y.tolist(), strict=False)
        ]
        calls |= {
            f"learn {classes}": (partial(learn, model, events), EVENTS),
            f"ask {classes}": (partial(ask, model, events), EVENTS),
            f"turn {classes}": (partial(in_turn, model, events), EVENTS),
        }
    times = best(calls)
    for classes in CLASSES:
        name = f"{kind.__name__}, {classes} classes"
        peers = {"River's covariance": times["river"]}
        row(f"{name}: learn_one, d={d}", times[f"learn {classes}"], peers)
        row(f"{name}: predict_one, d={d}", times[f"ask {classes}"], {})
        peers = {"bare update and solve": times["bare"], "refactoring": times["refactor"]}
        row(f"{name}: in turn, d={d}", times[f"turn {classes}"], peers)


def labels(n: int, classes: int, seed: int) -> Any:
    """A class for each row."""
    return np.random.default_rng(seed).integers(0, classes, n)


def learn(model: Any, events: list[Any]) -> None:
    """Learns each event."""
    for x, label in events:
        model.learn_one(x, label)


def ask(model: Any, events: list[Any]) -> None:
    """Predicts each event."""
    for x, _ in events:
        model.predict_one(x)


def in_turn(model: Any, events: list[Any]) -> None:
    """Learns each event, and asks after it."""
    for x, label in events:
        model.learn_one(x, label)
        model.predict_one(x)


def linear_algebra(X: Any) -> dict[str, tuple[Callable[[], Any], int]]:
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
        "bare": (
            lambda: [(factor.add(update), factor.solve(event)) for _ in range(EVENTS)],
            EVENTS,
        ),
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
    print(f"streamnb {streamnb.__version__}, kernels {_kernels.LEVEL}")
    rng = np.random.default_rng(0)
    for d in (10, 50, 200, 784):
        n = 20_000 if d < 500 else 5000
        X, y = rng.normal(size=(n, d)), labels(n, CLASSES[0], d)
        X[:, 0] += y
        # solved through a factor, as ours: its default works on the rows themselves
        for kind, peer in (
            (streamnb.LDA, LinearDiscriminantAnalysis(solver="lsqr")),
            (streamnb.QDA, QuadraticDiscriminantAnalysis()),
        ):
            one_by_one(kind, X, d)
            many(kind, peer, X, y)


if __name__ == "__main__":
    main()
