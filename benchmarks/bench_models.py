"""Learning and predicting as users call them, beside River and scikit-learn, in one run.

Run with `python benchmarks/bench_models.py`. Each figure is the best of several rounds, and the
rounds of the two sides alternate, so that a busy machine slows both; compare the ratios. Models of
many tokens are in `bench_bags.py`.
"""

from __future__ import annotations

import argparse
import itertools
import pickle
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from bench_kafka import decode_rates, made
from river import naive_bayes as river
from sklearn import naive_bayes as sklearn
from timing import best, call, row

import streamnb
from streamnb import _kernels

CLASSES = ["a", "b", "c"]
VERBS = ("learn_many", "predict_many", "predict_proba_many")


def one_by_one(d: int) -> None:
    """GaussianNB with d features and three classes, one event at a time."""
    rng = np.random.default_rng(d)
    events = [{f"f{j}": float(v) for j, v in enumerate(rng.normal(size=d))} for _ in range(300)]
    models = streamnb.GaussianNB(), river.GaussianNB()
    for model in models:
        for at, x in enumerate(events):
            model.learn_one(x, CLASSES[at % 3])
    turn = "model.predict_proba_one(x); model.learn_one(x, 'b')"
    for name, statement in {
        "predict_one": "model.predict_one(x)",
        "predict_proba_one": "model.predict_proba_one(x)",
        "learn_one": "model.learn_one(x, 'b')",
        "predict_proba_one, learn_one in turn": turn,
    }.items():
        times = best(*(call(statement, model=model, x=events[7]) for model in models))
        row(f"GaussianNB.{name}, d={d}", times[0], "River", times[1])


def tables(what: str, ours: Any, X: Any, peer: str, theirs: Sequence[Callable[..., Any]]) -> None:
    """A table of three classes, learned and asked by both; microseconds a row.

    `theirs` are the peer's calls: one that learns given labels, one each for labels and
    probabilities.
    """
    n = len(X)
    y = np.arange(n) % 3
    learn, *ask = theirs
    ours.learn_many(X, y)
    learn(y)
    statements = ("ours.learn_many(X, y)", "ours.predict_many(X)", "ours.predict_proba_many(X)")
    others = (lambda: learn(y), *ask)
    for verb, statement, other in zip(VERBS, statements, others, strict=True):
        times = best(call(statement, ours=ours, X=X, y=y), call(other))
        row(f"{what}.{verb}, a row", times[0] / n, peer, times[1] / n)


def beside(name: str, X: Any, **parameters: Any) -> None:
    """A model and scikit-learn's of the same name."""
    theirs = getattr(sklearn, name)(**parameters)
    theirs.partial_fit(X[:3], [0, 1, 2], classes=[0, 1, 2])
    tables(
        f"{name}, d={X.shape[1]}, {len(X):,} rows",
        getattr(streamnb, name)(),
        X,
        "scikit-learn",
        (
            lambda y: theirs.partial_fit(X, y),
            lambda: theirs.predict(X),
            lambda: theirs.predict_proba(X),
        ),
    )


def fresh(X: Any) -> None:
    """A new model learns a table of fewer than 1,024 events of a class: no cell is settled."""
    y = np.arange(len(X)) % 3
    times = best(
        call(lambda: streamnb.GaussianNB().learn_many(X, y)),
        call(lambda: sklearn.GaussianNB().partial_fit(X, y, classes=[0, 1, 2])),
    )
    ours, theirs = (each / len(X) for each in times)
    name = f"GaussianNB, d={X.shape[1]}, {len(X):,} rows.learn_many, a new model, a row"
    row(name, ours, "scikit-learn", theirs)


def all_tables() -> None:
    """Every model that takes a table, from NumPy arrays."""
    rng = np.random.default_rng(1)
    for d, rows in itertools.product((10, 50, 784), (100, 1_000, 10_000)):
        beside("GaussianNB", rng.normal(size=(rows, d)))
    for d in (10, 50, 784):
        fresh(rng.normal(size=(1_000, d)))
    counts = rng.poisson(1.0, size=(5_000, 50)).astype(float)
    for name in ("MultinomialNB", "BernoulliNB", "ComplementNB"):
        beside(name, counts)
    codes = rng.integers(0, 5, size=(5_000, 10))
    beside("CategoricalNB", codes, min_categories=5)

    gaussian = streamnb.GaussianNB()  # scikit-learn has no Poisson distribution
    tables(
        "PoissonNB, d=50",
        streamnb.PoissonNB(),
        counts,
        "our GaussianNB",
        (
            lambda y: gaussian.learn_many(counts, y),
            lambda: gaussian.predict_many(counts),
            lambda: gaussian.predict_proba_many(counts),
        ),
    )

    # ... and no mixed features: its two models take five columns each, and their answers are
    # added up by hand.
    mixed = np.hstack([rng.normal(size=(5_000, 5)), codes[:, 5:]]).astype(object)
    numbers, kinds = mixed[:, :5].astype(float), codes[:, 5:]
    of_numbers, of_kinds = sklearn.GaussianNB(), sklearn.CategoricalNB(min_categories=5)

    def both(y: Any) -> None:
        of_numbers.partial_fit(numbers, y, classes=[0, 1, 2])
        of_kinds.partial_fit(kinds, y, classes=[0, 1, 2])

    def scores() -> Any:
        joint = of_numbers.predict_joint_log_proba(numbers)
        return joint + of_kinds.predict_joint_log_proba(kinds) - np.log(of_numbers.class_prior_)

    def probabilities() -> Any:
        joint = np.exp(scores() - scores().max(axis=1, keepdims=True))
        return joint / joint.sum(axis=1, keepdims=True)

    categorical = streamnb.likelihoods.Categorical()
    tables(
        "MixedNB, 5 numbers, 5 categories",
        streamnb.MixedNB({str(column): categorical for column in range(5, 10)}),
        mixed,
        "scikit-learn, two models",
        (both, lambda: scores().argmax(axis=1), probabilities),
    )


def sizes(d: int = 784) -> None:
    """A Gaussian model for each class and feature: as bytes, and in memory."""
    rng = np.random.default_rng(d)
    events = [{f"f{j}": float(v) for j, v in enumerate(rng.normal(size=d))} for _ in range(30)]
    found = []
    for kind, packed in ((streamnb.GaussianNB, streamnb.dumps), (river.GaussianNB, pickle.dumps)):
        tracemalloc.start()
        model = kind()
        for at, x in enumerate(events):
            model.learn_one(x, CLASSES[at % 3])
        memory = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        found.append([size / (3 * d) for size in (len(packed(model)), memory)])
    (packed_size, memory), (pickled, theirs) = found
    row(
        f"GaussianNB, d={d}, bytes of a class and feature",
        packed_size,
        "River, pickle",
        pickled,
        "B",
    )
    row(f"GaussianNB, d={d}, memory of a class and feature", memory, "River", theirs, "B")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    print(f"streamnb {streamnb.__version__}, kernels {_kernels.LEVEL}")
    for d in (4, 10, 50, 784):
        one_by_one(d)
    all_tables()
    rates = decode_rates(made(20_000))
    row(
        "decoding and learning JSON, d=10",
        1e6 / rates["our decoding and learning"],
        "orjson, decoding alone",
        1e6 / rates["orjson, decoding alone"],
    )
    sizes()


if __name__ == "__main__":
    main()
