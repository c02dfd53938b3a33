"""The rules that keep GaussianNB's variances from 0, compared by accuracy.

Run with `python benchmarks/smoothing.py`. Each rule (`smoothing` with some `var_smoothing`, or
`background`, or both) answers for each set of data in two ways:

batch        learned from one part, asked about another: the folds of a stratified ten-fold split,
             or, where there is an order or a split of its own, the first part (70 %) and the rest
progressive  each event is asked about, then learned, in the order of the stream; what has no order
             is shuffled once

The rules come in the order of their mean rank: 1 would be the best everywhere. MNIST and Elec2 are
read from the folder that STREAMNB_DATA names, and left out without it.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from river import datasets as river_sets
from scipy.stats import rankdata
from sklearn import datasets as sklearn_sets
from sklearn.model_selection import StratifiedKFold

import streamnb

FOLDS = 10


@dataclass(frozen=True)
class Rule:
    """One setting of GaussianNB's readings."""

    smoothing: str
    var_smoothing: float
    background: float = 0.0

    def __str__(self) -> str:
        pseudo = f", background {self.background:g}" if self.background else ""
        default = " (default)" if self.model() == streamnb.GaussianNB() else ""
        return f"{self.smoothing} {self.var_smoothing:g}{pseudo}{default}"

    def model(self) -> streamnb.GaussianNB:
        """An empty model that is read so."""
        return streamnb.GaussianNB(
            smoothing=self.smoothing,
            var_smoothing=self.var_smoothing,
            background=self.background,
        )


@dataclass(frozen=True)
class Set:
    """Examples in the order of their stream, and how many come before the split.

    Without a split they are cut into folds.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    split: int | None = None

    def parts(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The places to learn and the places to ask about."""
        if self.split is not None:
            places = np.arange(len(self.y))
            yield places[: self.split], places[self.split :]
        else:
            folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
            yield from folds.split(self.X, self.y)


def rules() -> list[Rule]:
    """All that are compared."""
    tiny = [1e-12, 1e-9, 1e-6, 1e-4, 1e-3]
    shares = [*tiny, 3e-3, 0.01, 0.03, 0.1, 0.3]
    return [
        *(Rule("feature", value) for value in shares),
        *(Rule("global", value) for value in shares),
        *(Rule("absolute", value) for value in (*tiny, 0.01, 0.1, 1.0)),
        *(Rule("feature", 1e-9, count) for count in (0.01, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0)),
        *(Rule("feature", value, 1.0) for value in (1e-3, 0.01, 0.03)),
        *(Rule("feature", value, 0.3) for value in (1e-4, 1e-3, 0.01, 0.03)),
    ]


def shipped() -> Iterator[Set]:
    """The sets that come with scikit-learn and River."""
    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y = getattr(sklearn_sets, f"load_{name}")(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(y))
        yield Set(name, X[order].astype(float), y[order])
    for stream in (river_sets.Phishing(), river_sets.ImageSegments(), river_sets.Bananas()):
        rows = list(stream)
        names = list(rows[0][0])
        X = np.array([[float(x[name]) for name in names] for x, _ in rows])
        order = np.random.default_rng(0).permutation(len(rows))
        yield Set(type(stream).__name__, X[order], np.array([y for _, y in rows])[order])


def table(path: Path) -> list[list[str]]:
    """The rows below the head of a compressed file of comma-separated values."""
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.reader(file))[1:]


def downloaded(folder: Path) -> Iterator[Set]:
    """MNIST, as shares of full ink, and Elec2, where their files are there."""
    files = [folder / "mnist_train5000.csv.gz", folder / "mnist_test2500.csv.gz"]
    if all(path.is_file() for path in files):
        parts = [np.array(table(path), dtype=float) for path in files]
        both = np.concatenate(parts)
        yield Set("MNIST", both[:, 1:] / 255, both[:, 0].astype(int), len(parts[0]))
    path = folder / "elec2.csv.gz"
    if path.is_file():
        rows = table(path)
        X = np.array([[float(value) for value in row[:-1]] for row in rows])
        yield Set("Elec2", X, np.array([row[-1] for row in rows]), int(0.7 * len(rows)))


def batch(rule: Rule, data: Set) -> float:
    """The share of answers that are right, asked about what was not learned."""
    right = 0
    asked = 0
    for learned, others in data.parts():
        model = rule.model()
        model.learn_many(data.X[learned], data.y[learned])
        right += int((model.predict_many(data.X[others]) == data.y[others]).sum())
        asked += len(others)
    return right / asked


def progressive(rule: Rule, data: Set) -> float:
    """The share of answers that are right, each event asked about before it is learned."""
    model = rule.model()
    names = [str(place) for place in range(data.X.shape[1])]
    right = 0
    for row, y in zip(data.X.tolist(), data.y.tolist(), strict=True):
        x = dict(zip(names, row, strict=True))
        right += model.predict_one(x) == y
        model.learn_one(x, y)
    return right / len(data.y)


def print_table(found: dict[Rule, list[float]], columns: Sequence[str]) -> None:
    """One line a rule, best first, with its rank, its mean accuracy and that of each column."""
    accuracy = np.array(list(found.values()))
    ranks = rankdata(-accuracy, axis=0).mean(axis=1)
    width = max(map(len, map(str, found)))
    print(f"{'':<{width}}  {'rank':>5} {'mean':>6}  " + " ".join(f"{c:>9}" for c in columns))
    for place in np.argsort(ranks, kind="stable"):
        line = " ".join(f"{value:>9.4f}" for value in accuracy[place])
        rule = list(found)[place]
        print(f"{rule!s:<{width}}  {ranks[place]:>5.1f} {accuracy[place].mean():>6.4f}  {line}")


def main() -> None:
    """Compare, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="*", metavar="NAME", help="only these sets of data")
    parser.add_argument(
        "--ways", nargs="*", choices=["batch", "progressive"], default=["batch", "progressive"]
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("STREAMNB_DATA"),
        help="the folder of MNIST and Elec2 (default: STREAMNB_DATA)",
    )
    options = parser.parse_args()
    sets = [*shipped(), *([] if options.data is None else downloaded(options.data))]
    chosen = [data for data in sets if not options.sets or data.name in options.sets]
    ways: dict[str, Callable[[Rule, Set], float]] = {"batch": batch, "progressive": progressive}
    found: dict[Rule, list[float]] = {rule: [] for rule in rules()}
    columns: list[Any] = []
    for way in options.ways:
        for data in chosen:
            columns.append(f"{data.name[:7]}/{way[0]}")
            for rule, scores in found.items():
                scores.append(ways[way](rule, data))
    print_table(found, columns)


if __name__ == "__main__":
    main()
