"""Models of tokens as users call them, beside River and scikit-learn, in one run.

Run with `python benchmarks/bench_bags.py`. Events have 20, 100 or 1,000 tokens of a vocabulary that
was seen before, in two classes, 1,000 different events taking turns; `--one` asks and learns the
same event again and again, which no cache misses. River's questions go through its whole
vocabulary: they are asked once where that is long.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from bench_models import best, row
from river import naive_bayes as river
from sklearn import naive_bayes as sklearn

import streamnb
from streamnb import _kernels

NAMES = ("MultinomialNB", "BernoulliNB", "ComplementNB")
EVENTS = 1000


def taught(model: Any, vocabulary: int) -> Any:
    """A model that has seen each token once in each of two classes."""
    for first in range(0, vocabulary, 1000):
        tokens = {f"word{j}": 1 for j in range(first, min(first + 1000, vocabulary))}
        model.learn_one(tokens, "a")
        model.learn_one(tokens, "b")
    return model


def in_turn(verb: Callable[[Any], Any], events: Sequence[Any]) -> Callable[[], Any]:
    """A call that takes the next event each time."""
    endless = itertools.cycle(events)
    return lambda: verb(next(endless))


def once(call: Callable[[], Any]) -> float:
    """The time of one call in microseconds."""
    began = time.perf_counter()
    call()
    return 1e6 * (time.perf_counter() - began)


def one_by_one(name: str, vocabulary: int, tokens: int, events: int) -> None:
    """Learning, asking, and both in turn."""
    rng = np.random.default_rng(tokens)
    xs = [
        {f"word{j}": 1 for j in rng.choice(vocabulary, tokens, replace=False).tolist()}
        for _ in range(events)
    ]
    ours = taught(getattr(streamnb, name)(), vocabulary)
    theirs = taught(getattr(river, name)(), vocabulary)
    where = f"{tokens} of {vocabulary:.0e}"

    def turn(model: Any) -> Callable[[Any], None]:
        def both(x: Any) -> None:
            model.predict_proba_one(x)
            model.learn_one(x, "a")

        return both

    a, b = best(*(in_turn(lambda x, m=m: m.learn_one(x, "a"), xs) for m in (ours, theirs)))
    row(f"{name}.learn_one, {where}", a, "River", b)
    slow = vocabulary * tokens > 10**7 or (name != "MultinomialNB" and vocabulary > 10**4)
    for what, verb in (
        ("predict_proba_one", lambda m: m.predict_proba_one),
        ("both in turn", turn),
    ):
        if slow:
            (a,) = best(in_turn(verb(ours), xs))
            b = once(in_turn(verb(theirs), xs))
        else:
            a, b = best(in_turn(verb(ours), xs), in_turn(verb(theirs), xs))
        row(f"{name} {what}, {where}", a, "River", b)


def many(name: str, vocabulary: int, n: int = 2000, tokens: int = 100) -> None:
    """A sparse table of n rows, microseconds a row, by both."""
    rng = np.random.default_rng(n)
    columns = np.concatenate([rng.choice(vocabulary, tokens, replace=False) for _ in range(n)])
    bounds = np.arange(0, n * tokens + 1, tokens)
    X = sp.csr_matrix((np.ones(n * tokens), columns, bounds), shape=(n, vocabulary))
    X.sort_indices()
    y = np.arange(n) % 3
    ours, theirs = getattr(streamnb, name)(), getattr(sklearn, name)()
    ours.learn_many(X, y)
    theirs.partial_fit(X, y, classes=[0, 1, 2])
    calls = {
        "learn_many": (lambda: ours.learn_many(X, y), lambda: theirs.partial_fit(X, y)),
        "predict_many": (lambda: ours.predict_many(X), lambda: theirs.predict(X)),
        "predict_proba_many": (
            lambda: ours.predict_proba_many(X),
            lambda: theirs.predict_proba(X),
        ),
    }
    for verb, pair in calls.items():
        a, b = (each / n for each in best(*pair))
        row(f"{name}.{verb}, sparse, {vocabulary:.0e}, a row", a, "scikit-learn", b)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", action="store_true", help="one event instead of many")
    events = 1 if parser.parse_args().one else EVENTS
    print(f"streamnb {streamnb.__version__}, kernels {_kernels.LEVEL}, {events} events")
    for name, vocabulary in itertools.product(NAMES, (10**4, 10**5, 10**6)):
        for tokens in (20, 100, 1000) if vocabulary == 10**4 else (100,):
            one_by_one(name, vocabulary, tokens, events)
    for name, vocabulary in itertools.product(NAMES, (10**4, 10**5)):
        many(name, vocabulary)


if __name__ == "__main__":
    main()
