"""The defaults of GaussianNB and what docs/smoothing.md recommends, on the data they come from."""

from __future__ import annotations

import csv
import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

from streamnb import GaussianNB, dumps
from streamnb.likelihoods import Gaussian

ROOT = Path(__file__).parents[2]


def rows_of(name: str) -> list[list[str]]:
    """The rows of one of the sets that are not ours to ship."""
    path = Path(os.environ.get("STREAMNB_DATA", ROOT.parent / "shared" / "data"), name)
    if not path.is_file():
        pytest.skip(f"{name}: neither STREAMNB_DATA nor ../shared/data holds it")
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.reader(file))[1:]


def test_the_likelihood_has_the_defaults_of_the_model() -> None:
    """`Gaussian()` reads as `GaussianNB()` does."""
    for parameters in ({}, {"smoothing": "global"}, {"var_smoothing": 0.5}, {"background": 2.0}):
        for name, value in vars(Gaussian(**parameters)).items():
            assert getattr(GaussianNB(**parameters), name) == value, name


def learned(**parameters: Any) -> GaussianNB:
    model = GaussianNB(**parameters)
    for value, label in [(0.0, "a"), (1.0, "a"), (5.0, "b"), (8.0, "b")]:
        model.learn_one({"x": value}, label)
    return model


READINGS = {
    "var_smoothing": 0.25,
    "smoothing": "global",
    "background": 0.0,
    "shared_variance": True,
    "ddof": 1,
}


@pytest.mark.parametrize("name", READINGS)
def test_a_reading_set_later_is_the_one_given_at_the_start(name: str) -> None:
    """No default hangs on another parameter: the same bytes and answers, whichever is set."""
    given = {name: READINGS[name]}
    expected = learned(**given)
    later = learned()
    setattr(later, name, READINGS[name])
    assert dumps(later) == dumps(expected)
    assert later.predict_proba_one({"x": 2.0}) == expected.predict_proba_one({"x": 2.0})
    for other in READINGS.keys() - {name}:
        assert getattr(later, other) == getattr(GaussianNB(), other), other
    assert (GaussianNB().var_smoothing, GaussianNB().background) == (1e-9, 0.3)


@pytest.mark.parametrize("load", [datasets.load_digits, datasets.load_wine])
def test_the_default_is_worth_having(load: Any) -> None:
    """In ten folds at least as many right as scikit-learn's default; on digits 5 % more."""
    X, y = load(return_X_y=True)
    peer = cross_val_predict(SklearnGaussianNB(), X, y, cv=10)
    right = 0
    for fold in range(10):
        places = np.arange(len(y)) % 10 == fold
        model = GaussianNB()
        model.learn_many(X[~places], y[~places])
        right += int((model.predict_many(X[places]) == y[places]).sum())
    assert right >= (peer == y).sum()
    assert right >= 1.05 * (peer == y).sum() or load is not datasets.load_digits


@pytest.mark.parametrize(
    ("parameters", "least", "most"),
    [
        ({"smoothing": "absolute", "var_smoothing": 1e-9, "background": 0}, 0.5460, 0.5460),
        ({"smoothing": "absolute", "var_smoothing": 0.01, "background": 0}, 0.75, 1.0),
        ({"smoothing": "absolute", "var_smoothing": 0.01, "background": 0.3}, 0.75, 1.0),
        ({}, 0.60, 1.0),
    ],
    ids=str,
)
def test_mnist(parameters: dict[str, Any], least: float, most: float) -> None:
    """5000 and 2500 rows, pixels over 255: .5460 with 1e-9 added, as recommended over .75."""
    train, test = (
        np.array(rows_of(f"mnist_{name}.csv.gz"), dtype=float) for name in ("train5000", "test2500")
    )
    model = GaussianNB(**parameters)
    model.learn_many(train[:, 1:] / 255, train[:, 0].astype(int))
    right = (model.predict_many(test[:, 1:] / 255) == test[:, 0]).mean()
    assert least <= round(float(right), 4) <= most


def test_elec2() -> None:
    """Predict, then learn, 45,312 events in order: at least .7330 (River's GaussianNB: .7287)."""
    rows = rows_of("elec2.csv.gz")
    names = [str(place) for place in range(len(rows[0]) - 1)]
    model, right = GaussianNB(), 0
    for row in rows:
        x = dict(zip(names, map(float, row), strict=False))
        right += model.predict_one(x) == row[-1]
        model.learn_one(x, row[-1])
    assert len(rows) == 45_312
    assert right / len(rows) >= 0.7330


def test_the_comparison_runs() -> None:
    """benchmarks/smoothing.py: a line a rule, the default among them, best rank first."""
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "smoothing.py", "--sets", "iris", "wine"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    head, *lines = done.stdout.splitlines()
    assert head.split() == ["rank", "mean", "iris/b", "wine/b", "iris/p", "wine/p"]
    assert sum("(default)" in line for line in lines) == 1
    ranks = [float(line.split()[-6]) for line in lines]
    assert ranks == sorted(ranks)
    assert len(ranks) > 30
