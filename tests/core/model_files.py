"""Writes the files of `tests/files`: models of every kind, and what each has to answer.

    python -m tests.core.model_files NAME...

They are kept so that every later version reads them (see `test_files`). One that is there is not
written again: a new kind, or a new part of a state, is a new file. The answers are those of the
definition, in fractions, and are written only where the model agrees with them.

Beside NAME.snb stands NAME.json:

    rows       [[[feature, value]...], label, weight, time]...: what the model has learned
    weights    [label, weight]...
    features   in their order
    questions  [[[feature, value]...], [[label, joint log-likelihood]...]]...

A feature that is a tuple is written as a list. The answers of `complement` are its scores.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import streamnb
from streamnb.likelihoods import Categorical, Gaussian, Poisson
from streamnb.provenance import Counters, Provenance, Range

from .exact import Exact, ExactPoisson, Row
from .exact_discriminant import ExactDiscriminant
from .test_definitions import (
    MIXED,
    bernoulli,
    blocks,
    categorical,
    complement,
    log_prior,
    multinomial,
)

FOLDER = Path(__file__).parents[1] / "files"
LABELS = ["a", "1", 1, 2.5]
NAMES = ["x", "z", 7, ("x", "z")]
HALF_LIFE, LENGTH, PANES = 60.0, 100.0, 5

Event = Mapping[Any, Any]
Joint = dict[Any, float]


@dataclass(frozen=True)
class Kind:
    """A model; its events; and what it has to answer after the rows that count."""

    make: Callable[[], Any]
    event: Callable[[random.Random], dict[Any, Any]]
    joint: Callable[[list[Row], Event], Joint]
    count: Callable[[Sequence[Row], Sequence[float]], list[Row]] = lambda rows, _: list(rows)


def numbers(rng: random.Random) -> dict[Any, Any]:
    """Numbers that go together, of all features."""
    common = rng.gauss(0, 1)
    return {name: common + rng.gauss(0, 0.5) for name in NAMES}


def gaps(rng: random.Random) -> dict[Any, Any]:
    """The same, a feature missing now and then."""
    return {name: value for name, value in numbers(rng).items() if rng.random() < 0.8}


def counts(rng: random.Random) -> dict[Any, Any]:
    """Small counts of some of the features."""
    return {name: rng.randint(0, 4) for name in NAMES if rng.random() < 0.8}


def text(rng: random.Random) -> dict[Any, Any]:
    """A text of a few words."""
    return {"body": " ".join(rng.choice(["spam", "ham", "Über", "eggs"]) for _ in range(5))}


def values(rng: random.Random) -> dict[Any, Any]:
    """Texts, bools and numbers."""
    choice = ["u", "1", True, False, 1, 0, 2.5, 2**53 + 1, "é"]
    return {name: rng.choice(choice) for name in NAMES if rng.random() < 0.8}


def mixed(rng: random.Random) -> dict[Any, Any]:
    """A value of each block's kind."""
    return {name: rng.choice(choice) for name, choice in MIXED.items() if rng.random() < 0.8}


def words(x: Event) -> dict[str, int]:
    """The tokens of a text, in lower case."""
    found = str(x["body"]).lower().split()
    return {word: found.count(word) for word in found}


def with_prior(density: Callable[[list[Row], Event, Any], float], **prior: Any) -> Any:
    """{label: log p(y) + log p(x | y)}."""
    return lambda rows, x: {y: p + density(rows, x, y) for y, p in log_prior(rows, prior).items()}


def faded(rows: Sequence[Row], times: Sequence[float]) -> list[Row]:
    """The rows with the weights that they have at the newest time."""
    newest = max(times)
    return [
        (x, y, w * 2.0 ** ((t - newest) / HALF_LIFE))
        for (x, y, w), t in zip(rows, times, strict=True)
    ]


def live(rows: Sequence[Row], times: Sequence[float]) -> list[Row]:
    """The rows of the live panes."""
    width = LENGTH / PANES
    oldest = math.floor(max(times) / width) - PANES + 1
    return [row for row, t in zip(rows, times, strict=True) if math.floor(t / width) >= oldest]


def by_numbers(definition: Any, **read: Any) -> Any:
    """The joint log-likelihoods by one of the definitions of numbers."""
    return lambda rows, x: definition(rows, **read).joint(x)


def texts(rows: list[Row], x: Event) -> Joint:
    """Multinomial, of the tokens."""
    tokens = [(words(event), y, w) for event, y, w in rows]
    return with_prior(lambda r, q, y: multinomial(r, q, 0.5, None, y))(tokens, words(x))


def scores(rows: list[Row], x: Event) -> Joint:
    """Of Complement, which has no prior."""
    return {y: complement(rows, x, 1.0, y) for y in log_prior(rows, {})}


PRIOR = {"prior": {"a": 0.5, "1": 0.25, 1: 0.125, 2.5: 0.125}}
NORMAL = {"var_smoothing": 1e-6, "background": 0.5}
BLOCKS = {
    "x": Poisson(),
    "z": Gaussian(var_smoothing=0.0, background=0.5),
    **dict.fromkeys([7, "é", ("x", "z")], Categorical(alpha=0.5)),
}
KINDS = {
    "gaussian": Kind(
        lambda: streamnb.GaussianNB(**NORMAL, **PRIOR), gaps, by_numbers(Exact, **NORMAL, **PRIOR)
    ),
    "gaussian-half-life": Kind(
        lambda: streamnb.GaussianNB(**NORMAL, half_life=HALF_LIFE),
        numbers,
        by_numbers(Exact, **NORMAL),
        faded,
    ),
    "poisson": Kind(
        lambda: streamnb.PoissonNB(alpha=0.5), counts, by_numbers(ExactPoisson, alpha=0.5)
    ),
    "multinomial": Kind(
        lambda: streamnb.MultinomialNB(alpha=0.5, **PRIOR),
        counts,
        with_prior(lambda r, q, y: multinomial(r, q, 0.5, None, y), **PRIOR),
    ),
    "multinomial-text": Kind(lambda: streamnb.MultinomialNB(alpha=0.5, text="body"), text, texts),
    "bernoulli": Kind(
        lambda: streamnb.BernoulliNB(threshold=1.0),
        counts,
        with_prior(lambda r, q, y: bernoulli(r, q, 1.0, 1.0, y)),
    ),
    "complement": Kind(streamnb.ComplementNB, counts, scores),
    "categorical": Kind(
        lambda: streamnb.CategoricalNB(alpha=0.5, prior_count=2),
        values,
        with_prior(lambda r, q, y: categorical(r, q, 0.5, y), prior_count=2),
    ),
    "mixed": Kind(
        lambda: streamnb.MixedNB(BLOCKS),
        mixed,
        with_prior(blocks),
    ),
    "multinomial-half-life": Kind(
        lambda: streamnb.MultinomialNB(alpha=0.5, half_life=HALF_LIFE),
        counts,
        with_prior(lambda r, q, y: multinomial(r, q, 0.5, None, y)),
        faded,
    ),
    "categorical-half-life": Kind(
        lambda: streamnb.CategoricalNB(alpha=0.5, half_life=HALF_LIFE),
        values,
        with_prior(lambda r, q, y: categorical(r, q, 0.5, y)),
        faded,
    ),
    "mixed-half-life": Kind(
        lambda: streamnb.MixedNB(BLOCKS, half_life=HALF_LIFE), mixed, with_prior(blocks), faded
    ),
    "windowed": Kind(
        lambda: streamnb.Windowed(streamnb.GaussianNB(**NORMAL), LENGTH, PANES),
        gaps,
        by_numbers(Exact, **NORMAL),
        live,
    ),
    "lda": Kind(
        lambda: streamnb.LDA(prior_scatter={"x": 0.5, 7: 1.0}),
        numbers,
        by_numbers(ExactDiscriminant, shared=True, prior_scatter={"x": 0.5, 7: 1.0}),
    ),
    "lda-gaps": Kind(
        lambda: streamnb.LDA(shrinkage="oas"),
        gaps,
        by_numbers(ExactDiscriminant, shared=True, shrinkage="oas"),
    ),
    "qda": Kind(
        lambda: streamnb.QDA(reg_param=0.1, ddof=1),
        numbers,
        by_numbers(ExactDiscriminant, shared=False, reg_param=0.1, ddof=1),
    ),
    "qda-half-life": Kind(
        lambda: streamnb.QDA(shrinkage=0.1, half_life=HALF_LIFE),
        gaps,
        by_numbers(ExactDiscriminant, shared=False, shrinkage=0.1),
        faded,
    ),
}


def written(x: Event) -> list[list[Any]]:
    """An event as JSON has it."""
    return [[list(name) if isinstance(name, tuple) else name, value] for name, value in x.items()]


def read(pairs: list[list[Any]]) -> dict[Any, Any]:
    """An event that was written."""
    return {tuple(name) if isinstance(name, list) else name: value for name, value in pairs}


def learned(name: str, rows: Sequence[Row], times: Sequence[float]) -> Any:
    """The model of a file."""
    kind, model = KINDS[name], KINDS[name].make()
    for (x, y, w), t in zip(rows, times, strict=True):
        timed = kind.count in (faded, live)
        model.learn_one(x, y, w, t if timed else None)
    if name == "gaussian":
        ranges = (Range("topic", 0, 0, 31, "cluster/id"), Range("topic", 3, 5, 9, "cluster/id"))
        model.provenance = Provenance(ranges, Counters(30, 3, 1, 1))
    return model


def write(name: str) -> None:
    """Writes a model and its answers."""
    kind, rng = KINDS[name], random.Random(name)
    rows: list[Row] = []
    for i in range(40):
        place = i % 4 if i < 8 else rng.randrange(4)
        x = kind.event(rng)
        if kind.event in (numbers, gaps):
            x = {name: value + place for name, value in x.items()}
        rows.append((x, LABELS[place], rng.choice([1.0, 2.0, 0.5])))
    times = sorted(rng.randint(0, 300_000) / 1000 for _ in rows)
    model, counted = learned(name, rows, times), kind.count(rows, times)
    questions = []
    for _ in range(5):
        x = kind.event(rng)
        joint = kind.joint(counted, x)
        assert model.joint_log_likelihood(x) == pytest.approx(joint, rel=1e-11, abs=1e-11)
        questions.append([written(x), [list(pair) for pair in joint.items()]])
    answers = {
        "rows": [[written(x), y, w, t] for (x, y, w), t in zip(rows, times, strict=True)],
        "weights": [[y, math.fsum(w for _, c, w in counted if c == y)] for y in model.classes],
        "features": [each for each, _ in written(dict.fromkeys(model.features))],
        "questions": questions,
    }
    assert model.class_weight == pytest.approx(dict(answers["weights"]), rel=1e-14, abs=0)
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.snb").open("xb") as file:
        file.write(streamnb.dumps(model))
    lines = [f'"{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in answers.items()]
    (FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    for each in sys.argv[1:]:
        write(each)
