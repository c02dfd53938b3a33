"""Learning, merging, unlearning, copying in any order: the definition's answers, in fractions.

What a model of tokens, categories or mixed features has to say is computed here from the rows that
are left, whatever way they came in; and where all weights are whole, so are its bytes.
"""

from __future__ import annotations

import copy
import math
import pickle
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

import streamnb
from streamnb import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    MixedNB,
    MultinomialNB,
    Windowed,
)
from streamnb.likelihoods import Categorical, Gaussian, Poisson

from .exact import Exact, ExactPoisson, Row, log, missing
from .verbs import numpy_table, pandas_table, same

LABELS = ["a", "b", "1", 1, True, 2.5, False, 0]
NAMES = ["x", "z", 7, ("x", "z"), "é"]
COUNTS = [0, 1, 2, 3, 0.5, 1.0]
VALUES = ["u", "v", "1", True, False, 1, 1.0, 0, 2.5, None, math.nan, "é"]
MIXED = {"x": [0, 1, 2.5, True, 7], "z": [0, 1, 2, 3.5], 7: VALUES, "é": VALUES, ("x", "z"): VALUES}

Logs = dict[Any, float]


def weight(pairs: Iterable[tuple[Any, Any]]) -> Fraction:
    """The sum of value times weight."""
    return sum((Fraction(value) * Fraction(w) for value, w in pairs), Fraction(0))


def log_of(above: Fraction, below: Fraction) -> float:
    """The logarithm of a share; what never came is impossible, also of nothing."""
    return log(above / below) if above else -math.inf


def log_prior(rows: list[Row], parameters: Mapping[str, Any]) -> Logs:
    """{label: log p(y)}, the classes in their order, shown as the highest kind that was seen."""
    prior = parameters.get("prior", "empirical")
    known = [*(parameters.get("known_labels") or ()), *(prior if isinstance(prior, dict) else ())]
    kinds = [bool, int, float, str]
    shown: dict[Any, Any] = {}
    for label in [*(y for _, y, _ in rows), *known]:
        if kinds.index(type(label)) >= kinds.index(type(shown.get(label, False))):
            shown[label] = label
    labels = sorted(shown.values(), key=lambda y: (type(y).__name__, y))
    shares = {y: Fraction(parameters.get("prior_count", 0)) for y in labels}
    for _, y, w in rows:
        shares[y] += Fraction(w)
    if isinstance(prior, dict):
        shares = {y: Fraction(prior.get(y, 0)) for y in labels}
    elif prior == "uniform" or not any(shares.values()):
        shares = dict.fromkeys(labels, Fraction(1))
    return {y: log_of(share, sum(shares.values(), Fraction(0))) for y, share in shares.items()}


def multinomial(rows: list[Row], query: Any, alpha: float, size: int | None, y: Any) -> float:
    """The sum over tokens of n log((c + alpha)/(T + alpha V))."""
    seen = {token for x, _, _ in rows for token, n in x.items() if n > 0}
    own = [(x, w) for x, label, w in rows if label == y]
    below = weight((sum(map(Fraction, x.values())), w) for x, w in own)
    below += Fraction(alpha) * (len(seen) if size is None else size)
    return sum(
        n * log_of(weight((x.get(token, 0), w) for x, w in own) + Fraction(alpha), below)
        for token, n in query.items()
        if token in seen and n > 0
    )


def bernoulli(rows: list[Row], query: Any, alpha: float, threshold: float, y: Any) -> float:
    """The sum over the vocabulary of log p or log(1 - p), p = (c + alpha)/(N + 2 alpha)."""
    seen = {token for x, _, _ in rows for token, n in x.items() if n > threshold}
    own = [(x, w) for x, label, w in rows if label == y]
    below = weight((1, w) for _, w in own) + 2 * Fraction(alpha)
    total = 0.0
    for token in seen:
        there = weight((x.get(token, 0) > threshold, w) for x, w in own) + Fraction(alpha)
        is_there = query.get(token, 0) > threshold
        if below:
            total += log_of(there if is_there else below - there, below)
        elif is_there:
            total = -math.inf
    return total


def complement(rows: list[Row], query: Any, alpha: float, y: Any) -> float:
    """Minus the sum over tokens of n log((C + alpha)/(T + alpha V)) of the other classes."""
    others = [(x, "others" if label != y else "own", w) for x, label, w in rows]
    seen = {token for x, _, _ in rows for token, n in x.items() if n > 0}
    return -multinomial(others, query, alpha, len(seen), "others")


def kind(value: Any) -> tuple[str, Any]:
    return type(value).__name__.replace("int", "float"), value


def categorical(rows: list[Row], query: Any, alpha: float, y: Any) -> float:
    """The sum over features of log((c + alpha)/(N + alpha S))."""
    total = 0.0
    for name, value in query.items():
        found = [(kind(x[name]), label, w) for x, label, w in rows if not missing(x.get(name))]
        values = {each for each, _, _ in found}
        if missing(value) or kind(value) not in values or len(values) < 2:
            continue
        own = [(each, w) for each, label, w in found if label == y]
        own = own or [(each, w) for each, _, w in found]
        below = weight((1, w) for _, w in own) + Fraction(alpha) * len(values)
        total += log_of(
            weight((each == kind(value), w) for each, w in own) + Fraction(alpha), below
        )
    return total


def numbers(definition: Any, rows: list[Row], query: Any, name: Any, y: Any, **read: Any) -> float:
    """log p(x | y) of one feature that is a number."""
    exact = definition([({name: x.get(name)}, label, w) for x, label, w in rows], **read)
    value, total = query.get(name), exact.moments(name)
    if missing(value) or total is None or not total.squares:
        return 0.0
    return float(exact.log_density(name, y, value))


def blocks(rows: list[Row], query: Any, y: Any) -> float:
    """Of `MIXED`: x a count, z a number, the others categories."""
    fields = [({n: x.get(n) for n in (7, "é", ("x", "z"))}, label, w) for x, label, w in rows]
    asked = {n: query.get(n) for n in (7, "é", ("x", "z"))}
    return (
        numbers(ExactPoisson, rows, query, "x", y, alpha=1.0)
        + numbers(Exact, rows, query, "z", y, background=0.5)
        + categorical(fields, asked, 0.5, y)
    )


@dataclass
class Kind:
    """A model, values of its features, and the log of p(x | y) by its definition."""

    make: Callable[..., Any]
    values: Any
    log_density: Callable[..., float]
    alphas: tuple[float, ...] = (1.0, 0.5, 1e-3, 0.0, 3.0)


KINDS = {
    "multinomial": Kind(MultinomialNB, COUNTS, lambda r, q, a, y: multinomial(r, q, a, None, y)),
    "vocabulary": Kind(
        lambda **p: MultinomialNB(vocabulary_size=50, **p),
        COUNTS,
        lambda r, q, a, y: multinomial(r, q, a, 50, y),
    ),
    "bernoulli": Kind(BernoulliNB, COUNTS, lambda r, q, a, y: bernoulli(r, q, a, 0.0, y)),
    "threshold": Kind(
        lambda **p: BernoulliNB(threshold=1.0, **p),
        COUNTS,
        lambda r, q, a, y: bernoulli(r, q, a, 1.0, y),
    ),
    "complement": Kind(ComplementNB, COUNTS, complement, (1.0, 0.5, 3.0)),
    "categorical": Kind(CategoricalNB, VALUES, categorical),
    "mixed": Kind(
        lambda alpha, **p: MixedNB(  # noqa: ARG005 - each block has its own
            {
                "x": Poisson(),
                "z": Gaussian(var_smoothing=0.0, background=0.5),
                **dict.fromkeys([7, "é", ("x", "z")], Categorical(alpha=0.5)),
            },
            **p,
        ),
        MIXED,
        lambda r, q, a, y: blocks(r, q, y),  # noqa: ARG005 - the same
    ),
}


@dataclass
class Course:
    """Random steps of a model, and the rows that are left of them."""

    name: str
    windowed: bool
    rng: random.Random

    def __post_init__(self) -> None:
        rng, self.kind = self.rng, KINDS[self.name]
        self.parameters: dict[str, Any] = {"alpha": rng.choice(self.kind.alphas)}
        if self.name != "complement":
            self.parameters["prior"] = rng.choice(["empirical", "uniform", {"a": 0.25, "b": 0.75}])
            self.parameters["prior_count"] = rng.choice([0, 0, 1, 0.5])
            self.parameters["known_labels"] = rng.choice([None, ["zz", "b"], [1, "1"]])
        self.whole = rng.random() < 0.5
        self.labels = LABELS[: rng.choice([2, 8])]
        self.model = self.make()
        self.rows: list[Row] = []
        self.unlearned = False
        steps = [self.one, self.many, self.merge, self.unlearn, self.copy, self.ask]
        for _ in range(rng.randint(1, 8)):
            rng.choice(steps)()

    def make(self) -> Any:
        """An empty model."""
        model = self.kind.make(**self.parameters)
        return Windowed(model, 3600) if self.windowed else model

    def event(self) -> dict[Any, Any]:
        """Values of some of the features."""
        values = self.kind.values
        if not isinstance(values, dict):
            values = dict.fromkeys(NAMES, values)
        return {n: self.rng.choice(each) for n, each in values.items() if self.rng.random() < 0.7}

    def some(self) -> list[Row]:
        """Rows, none or a few."""
        weights = [1, 2, 3, 0] if self.whole else [1, 0.5, 0.25, 2, 0]
        choice = self.rng.choice
        n = self.rng.randint(0, 4)
        return [(self.event(), choice(self.labels), choice(weights)) for _ in range(n)]

    def learned(self, model: Any, rows: list[Row]) -> Any:
        """The model, when it has learned these rows one by one."""
        for x, y, w in rows:
            model.learn_one(x, y, w)
        return model

    def one(self) -> None:
        """Learns some rows one by one."""
        rows = self.some()
        self.learned(self.model, rows)
        self.rows += rows

    def many(self) -> None:
        """Learns a table."""
        rows = self.some()
        if self.kind.values is COUNTS:
            rows = [({n: x.get(n, 0) for n in NAMES}, y, w) for x, y, w in rows]
        xs, ys, ws = ([row[i] for row in rows] for i in range(3))
        columns = list(dict.fromkeys(n for x in xs for n in x))
        if self.rng.random() < 0.5:
            self.model.learn_many(pandas_table(xs), ys, ws)
        else:
            self.model.learn_many(numpy_table(xs), ys, ws, columns=columns)
        self.rows += rows

    def merge(self) -> None:
        """Merges with another that has learned some rows."""
        rows, model = self.some(), self.model
        other = self.learned(self.make(), rows)
        merged = (model + other, other + model, streamnb.merge([model, other]))
        self.model = self.rng.choice(merged)
        self.rows += rows

    def unlearn(self) -> None:
        """Takes a row back, where that is exact."""
        places = [place for place, (*_, w) in enumerate(self.rows) if w]
        if places and self.name != "mixed":
            self.model.unlearn_one(*self.rows.pop(self.rng.choice(places)))
            self.unlearned = True

    def copy(self) -> None:
        """Goes on with a copy."""
        ways = (
            copy.copy,
            copy.deepcopy,
            lambda model: pickle.loads(pickle.dumps(model)),  # noqa: S301
            lambda model: streamnb.loads(streamnb.dumps(model)),
            lambda model: model.clone(include_attributes=True),
        )
        self.model = self.rng.choice(ways)(self.model)

    def ask(self) -> None:
        """Asks, so that there is something to be out of date."""
        self.model.predict_proba_one(self.event())


@pytest.mark.seeds(60)
@pytest.mark.parametrize("windowed", [False, True], ids=["", "windowed"])
@pytest.mark.parametrize("name", KINDS)
def test_any_steps_give_the_definition(name: str, windowed: bool, seed: int) -> None:
    """Joint log-likelihoods to 1e-9, weights of the classes, and the bytes of one pass."""
    course = Course(name, windowed, random.Random(f"{name} {windowed} {seed}"))
    model, query = course.model, course.event()
    rows = [row for row in course.rows if row[2] > 0]
    alpha = course.parameters["alpha"]
    expected = {
        y: (0.0 if name == "complement" else p) + course.kind.log_density(rows, query, alpha, y)
        for y, p in log_prior(rows, course.parameters).items()
    }
    joint = model.joint_log_likelihood(query)
    if not course.unlearned:  # how an equal label was given is not taken back
        assert list(map(repr, joint)) == list(map(repr, expected))
    assert joint == pytest.approx(expected, rel=1e-9, abs=1e-9)
    (row,) = model.joint_log_likelihood_many(pandas_table([query])).to_numpy().tolist()
    assert row == pytest.approx(list(joint.values()), rel=1e-12, abs=1e-12)
    weights = {y: float(sum(w for _, label, w in rows if label == y)) for _, y, _ in rows}
    assert model.class_weight == weights
    if course.whole and not windowed and name != "mixed":
        one = course.learned(course.make(), rows)
        if list(map(repr, one.class_weight)) == list(map(repr, model.class_weight)):
            same(model, one)
