"""Models of tokens as users call them, beside River and scikit-learn, in one run.

Run with `python benchmarks/bench_bags.py`. Events have 20, 100 or 1,000 tokens of a vocabulary that
was seen before, in two classes, 1,000 different events taking turns; `--one` asks and learns the
same event again and again, which no cache misses. River's questions go through its whole
vocabulary: they are asked once where that is long.
"""

from __future__ import annotations

import argparse
import itertools
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from river import naive_bayes as river
from sklearn import naive_bayes as sklearn
from timing import best, call, once, row

import streamnb
from streamnb import _kernels

NAMES = ("MultinomialNB", "BernoulliNB", "ComplementNB")
VOCABULARIES = (10**4, 10**5, 10**6)
TOKENS = (20, 100, 1000)
EVENTS = 1000
TURN = "x = event(); model.predict_proba_one(x); model.learn_one(x, 'a')"


def taught(model: Any, vocabulary: int) -> Any:
    """A model that has seen each token once in each of two classes."""
    for first in range(0, vocabulary, 1000):
        tokens = {f"word{j}": 1 for j in range(first, min(first + 1000, vocabulary))}
        model.learn_one(tokens, "a")
        model.learn_one(tokens, "b")
    return model


def drawn(words: Any, tokens: int, events: int, p: Any = None) -> list[dict[str, int]]:
    """Events of so many different tokens, drawn evenly or by p."""
    rng = np.random.default_rng(tokens)
    if p is None:
        draws = (rng.choice(words, tokens, replace=False) for _ in range(events))
    else:
        draws = (dict.fromkeys(rng.choice(words, 8 * tokens, p=p).tolist()) for _ in range(events))
    return [{f"word{j}": 1 for j in itertools.islice(draw, tokens)} for draw in draws]


def in_turn(events: Sequence[Any]) -> Callable[[], Any]:
    """Answers the next event each time."""
    return itertools.cycle(events).__next__


def one_by_one(name: str, vocabulary: int, events: int) -> None:
    """Learning, asking, and both in turn."""
    ours = taught(getattr(streamnb, name)(), vocabulary)
    theirs = taught(getattr(river, name)(), vocabulary)
    for tokens in TOKENS:
        slow = name != "MultinomialNB" and max(vocabulary, 100 * tokens) > 10**4
        xs = drawn(vocabulary, tokens, events)
        for what, statement in {
            "learn_one": "model.learn_one(event(), 'a')",
            "predict_one": "model.predict_one(event())",
            "predict_proba_one": "model.predict_proba_one(event())",
            "predict_proba_one, learn_one in turn": TURN,
        }.items():
            calls = [call(statement, model=m, event=in_turn(xs)) for m in (ours, theirs)]
            if slow and what != "learn_one":
                if tokens != 100 or what == "predict_one":
                    continue  # it is the vocabulary that River's time goes by
                times = [*best(calls[0]), once(lambda calls=calls: calls[1].timeit(1))]
            else:
                times = best(*calls, seconds=0.01)
            row(f"{name}.{what}, {tokens} of {vocabulary:.0e}", times[0], "River", times[1])


def growth(name: str) -> None:
    """Asking and learning in turn, as the vocabulary grows, for weights that are whole."""
    small, large = (taught(getattr(streamnb, name)(), size) for size in (10**4, 10**6))
    hot = np.random.default_rng(1).choice(10**6, 10**4, replace=False)

    def zipf(size: int) -> Any:
        p = 1.0 / np.arange(1, size + 1)
        return p / p.sum()

    pairs = {
        "as often as words of a text": (
            drawn(10**4, 100, EVENTS, zipf(10**4)),
            drawn(10**6, 100, EVENTS, zipf(10**6)),
        ),
        "10^4 of them, evenly": (drawn(10**4, 100, EVENTS), drawn(hot, 100, EVENTS)),
        "all, evenly": (drawn(10**4, 100, EVENTS), drawn(10**6, 100, EVENTS)),
    }
    for what, (few, many_) in pairs.items():
        times = best(
            call(TURN, model=large, event=in_turn(many_)),
            call(TURN, model=small, event=in_turn(few)),
        )
        tokens = len(set().union(*few)), len(set().union(*many_))
        where = f"{tokens[0]:,} and {tokens[1]:,} different tokens"
        print(
            f"{name} in turn, vocabulary 10^6 to 10^4, {what} ({where}): "
            f"{times[0]:.1f} to {times[1]:.1f} us, {times[0] / times[1]:.2f} times"
        )


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
        times = best(*map(call, pair))
        ours_time, theirs_time = (each / n for each in times)
        row(f"{name}.{verb}, {vocabulary:.0e}, a row", ours_time, "scikit-learn", theirs_time)


def size(vocabulary: int = 10**6) -> None:
    """What so many tokens of two classes take in memory, and as bytes."""
    tracemalloc.start()
    model = taught(streamnb.MultinomialNB(), vocabulary)
    memory = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    print(
        f"MultinomialNB, {vocabulary:.0e} tokens of two classes: {memory / 1e6:.0f} MB in memory, "
        f"{len(streamnb.dumps(model)) / 1e6:.0f} MB as bytes"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", action="store_true", help="one event instead of many")
    events = 1 if parser.parse_args().one else EVENTS
    print(f"streamnb {streamnb.__version__}, kernels {_kernels.LEVEL}, {events} events")
    for name, vocabulary in itertools.product(NAMES, VOCABULARIES):
        one_by_one(name, vocabulary, events)
    for name in ("BernoulliNB", "ComplementNB"):
        growth(name)
    for name, vocabulary in itertools.product(NAMES, (10**4, 10**5)):
        many(name, vocabulary)
    size()


if __name__ == "__main__":
    main()
