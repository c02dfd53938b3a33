"""Learning and predicting as users call them, beside River and scikit-learn, in one run.

Run with `python benchmarks/bench_models.py`. Each figure is the best of several rounds, and the
rounds of the two sides alternate, so that a busy machine slows both; compare the ratios.
"""

from __future__ import annotations

import argparse
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
from river import naive_bayes
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

import streamnb
from streamnb import _kernels

ROUNDS = 15
CLASSES = ["a", "b", "c"]


def best(*calls: Callable[[], Any], seconds: float = 0.02) -> list[float]:
    """The least time of each call in microseconds, its rounds taking turns with the others'."""
    timers = [timeit.Timer(call) for call in calls]
    counts = [max(1, int(seconds / max(timer.timeit(3) / 3, 1e-9))) for timer in timers]
    least = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for at, (timer, count) in enumerate(zip(timers, counts, strict=True)):
            least[at] = min(least[at], timer.timeit(count) / count)
    return [1e6 * time for time in least]


def row(name: str, ours: float, peer: str, theirs: float) -> None:
    """One line of the table."""
    print(f"{name:<44} {ours:>9.3f} us   {peer:<26} {theirs:>9.2f} us   {theirs / ours:>7.1f}x")


def one_by_one(d: int) -> None:
    """GaussianNB with d features and three classes, one event at a time."""
    rng = np.random.default_rng(d)
    events = [{f"f{j}": float(v) for j, v in enumerate(rng.normal(size=d))} for _ in range(300)]
    ours, river = streamnb.GaussianNB(), naive_bayes.GaussianNB()
    for at, x in enumerate(events):
        ours.learn_one(x, CLASSES[at % 3])
        river.learn_one(x, CLASSES[at % 3])
    x = events[7]
    for verb in ("predict_one", "predict_proba_one"):
        a, b = getattr(ours, verb), getattr(river, verb)
        row(f"GaussianNB.{verb}, d={d}", *_pair(best(lambda a=a: a(x), lambda b=b: b(x)), "River"))
    a, b = ours.learn_one, river.learn_one
    row(f"GaussianNB.learn_one, d={d}", *_pair(best(lambda: a(x, "b"), lambda: b(x, "b")), "River"))

    def turn(model: Any) -> None:
        model.predict_proba_one(x)
        model.learn_one(x, "b")

    times = best(lambda: turn(ours), lambda: turn(river))
    row(f"predict_proba_one and learn_one in turn, d={d}", *_pair(times, "River"))


def many(d: int, n: int = 10_000) -> None:
    """GaussianNB from a NumPy table of n rows, microseconds a row."""
    rng = np.random.default_rng(d)
    X, y = rng.normal(size=(n, d)), np.arange(n) % 3
    ours, theirs = streamnb.GaussianNB(), SklearnGaussianNB()
    ours.learn_many(X, y)
    theirs.partial_fit(X, y, classes=[0, 1, 2])
    pairs = {
        "learn_many": (lambda: ours.learn_many(X, y), lambda: theirs.partial_fit(X, y)),
        "predict_many": (lambda: ours.predict_many(X), lambda: theirs.predict(X)),
        "predict_proba_many": (
            lambda: ours.predict_proba_many(X),
            lambda: theirs.predict_proba(X),
        ),
    }
    for verb, calls in pairs.items():
        times = [time / n for time in best(*calls)]
        row(f"GaussianNB.{verb}, NumPy, d={d}, a row", *_pair(times, "scikit-learn"))


def _pair(times: list[float], peer: str) -> tuple[float, str, float]:
    return times[0], peer, times[1]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    print(f"streamnb {streamnb.__version__}, kernels {_kernels.LEVEL}")
    for d in (4, 10, 50):
        one_by_one(d)
    for d in (10, 50, 784):
        many(d, 10_000 if d < 100 else 2_000)


if __name__ == "__main__":
    main()
