"""Scripted streams for one form of the kernels; a program that prints what they leave.

Run with STREAMNB_KERNELS set to a level. Each line is a stream's number, the sha256 of the bytes
that are stored, and the answers to its questions, digit by digit.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

import streamnb

EXTREME = [
    0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-160, 1e-200, 1e139, -1e139, 1.1e140,
    1e150, -1e150, 1e153, 1e9, 1e9 + 1e-6, 1e15, 1.0, 1 + 2**-52, 1 - 2**-53, 0.1, 1 / 3, math.pi,
    math.nan, None, True, 3, 2**53 + 1, 134217729.0, 2.0**-480, 2.0**-481,
]  # fmt: skip
WEIGHTS = [1.0, 1.0, 1.0, 2.0, 0.5, 0.1, 1 / 3, 1e-9, 1e9, 3, 0.0, 5e-324, 1e-300, 1e19, 2.0**53]
COUNT = 60


def value(rng: random.Random, wild: bool) -> Any:
    """A number for a feature: from a normal distribution, or one of the extremes."""
    if wild and rng.random() < 0.5:
        return rng.choice(EXTREME)
    return rng.gauss(rng.choice([0.0, 1e9, -1e3]), rng.choice([1.0, 1e-3, 1e5]))


def stream(seed: int) -> Any:  # noqa: C901 - a script
    """The model after stream number `seed`: rows, batches, refusals, merges, unlearning."""
    rng = random.Random(seed)
    wild = seed % 3 == 0
    counts = seed % 4 >= 2
    names = [f"f{j}" for j in range(rng.choice([1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33]))]
    labels = rng.sample(["a", "b", 1, 2.5, True], rng.randint(1, 4))
    half_life = rng.choice([0.002, 1.0, 3600.0]) if seed % 5 == 1 else None

    def empty() -> Any:
        if counts:
            return streamnb.PoissonNB(alpha=0.5, half_life=half_life)
        return streamnb.GaussianNB(
            background=0.5, shared_variance=seed % 7 == 0, half_life=half_life
        )

    def event(kept: list[str]) -> dict[str, Any]:
        x = {name: value(rng, wild) for name in kept}
        return {name: abs(v) if counts and v is not None else v for name, v in x.items()}

    model = empty()
    for _ in range(rng.randint(1, 5)):
        rows = []
        for _ in range(rng.randint(1, 12)):
            kept = names if rng.random() < 0.7 else rng.sample(names, rng.randint(0, len(names)))
            rows.append(event(kept))
        ys = [rng.choice(labels) for _ in rows]
        ws = [rng.choice(WEIGHTS) if seed % 2 else 1.0 for _ in rows]
        verb = rng.choice(["one", "many", "merge"])
        ts = [rng.choice([rng.uniform(-9, 9), rng.gauss(0, 1e5)]) for _ in rows]
        shard = empty()
        target = shard if verb == "merge" else model
        try:
            if verb == "many":
                table = np.array(
                    [[np.nan if x.get(n) is None else float(x[n]) for n in names] for x in rows]
                )
                target.learn_many(table, ys, ws, ts, columns=names)
            else:
                for x, y, w, t in zip(rows, ys, ws, ts, strict=True):
                    target.learn_one(x, y, w, t)
            if verb == "merge":
                model += shard
            for place in rng.sample(range(len(rows)), rng.randint(0, len(rows))):
                model.unlearn_one(rows[place], ys[place], ws[place], ts[place])
        except ValueError:
            continue  # beyond the range of doubles: refused by every form alike
    return model, [event(names) for _ in range(5)]


def settled(seed: int) -> Any:
    """The model after so many events that its cells are settled, and then some of all kinds.

    A second one learned the same with other cuts, and by way of its bytes.
    """
    rng = random.Random(seed)
    d = (1, 4, 5, 8, 9)[seed % 5]
    names = [f"f{j}" for j in range(d)]
    kind = streamnb.PoissonNB if seed % 3 == 2 else streamnb.GaussianNB
    models = [kind(), kind()]
    rows = np.array([[abs(rng.gauss(3.0, 1.0)) for _ in names] for _ in range(1050)])
    models[0].learn_many(rows, ["a"] * len(rows), columns=names)
    for start, stop in itertools.pairwise([0, 7, 1020, 1024, 1025, 1050]):
        models[1].learn_many(rows[start:stop], ["a"] * (stop - start), columns=names)
    events = []
    for _ in range(80):
        x = {n: abs(rng.gauss(3.0, 1.0)) for n in names}
        if rng.random() < 0.3:
            x[rng.choice(names)] = rng.choice([0.0, 1e6, 3.0, math.nan, 2.0**-480])
        events.append((x, rng.choice([1.0, 1.0, 1.0, 1.0, 2.0, 0.5])))
    for x, w in events:
        models[0].learn_one(x, "a", w)
    for start in range(0, 80, 16):
        part = events[start : start + 16]
        table = np.array([[x[n] for n in names] for x, _ in part])
        models[1].learn_many(table, ["a"] * 16, [w for _, w in part], columns=names)
        models[1] = streamnb.loads(streamnb.dumps(models[1]))
    assert streamnb.dumps(models[0]) == streamnb.dumps(models[1])
    model = models[0]
    for x, w in events[::3]:
        model.unlearn_one(x, "a", w)
    model += models[1]
    return model, [dict.fromkeys(names, 3.0)]


def words(rng: random.Random, number: int) -> dict[Any, float]:
    """A bag of tokens: some often, most seldom; whole counts, or any."""
    tokens = [f"wörd{int(rng.paretovariate(0.7)) % 300}" for _ in range(number)]
    return {token: rng.choice([1.0, 1.0, 2, 3.0, 0.25, 1 / 3]) for token in tokens}


def bags(seed: int, half_life: float | None = None) -> str:
    """What a stream of tokens leaves of the models that count them, hashed and not."""
    rng = random.Random(seed)
    parts = []
    width = seed or None
    for make in (streamnb.MultinomialNB, streamnb.BernoulliNB, streamnb.ComplementNB):
        model, shard = (make(width=width, half_life=half_life) for _ in range(2))
        for _ in range(60):
            x, y = words(rng, rng.randint(0, 30)), rng.choice("abc")
            w = rng.choice(WEIGHTS[:9]) if seed % 2 else float(rng.randint(1, 3))
            rng.choice([model, shard]).learn_one(x, y, w, rng.choice([rng.uniform(0, 9), 3e3]))
        model += shard
        rows = [words(rng, 20) for _ in range(5)]
        names = sorted({name for x in rows for name in x})
        table = np.array([[x.get(name, 0.0) for name in names] for x in rows])
        model.learn_many(table, list("abcab"), t=[1.0, 5e3, 7.0, 5e3, 9e4], columns=names)
        parts.append(hashlib.sha256(streamnb.dumps(model)).hexdigest())
        parts.append(model.joint_log_likelihood_many(table, columns=names).tobytes().hex())
        parts += [p.hex() for x in rows for p in model.predict_proba_one(x).values()]
    return f"bags {seed} {half_life} {' '.join(parts)}"


CATEGORIES = ["red", "rôt", "", True, False, 1, 1.0, -0.0, 2.5, 2**53 + 1, "1", None, math.nan]


def categories(seed: int) -> str:
    """What a stream of categories leaves, learned by rows, tables and merges."""
    rng = random.Random(seed)
    names = [f"f{j}" for j in range(rng.randint(1, 40))]
    half_life = rng.choice([0.01, 60.0]) if seed % 3 == 1 else None
    model = streamnb.CategoricalNB(alpha=rng.choice([0.0, 0.5, 1.0]), half_life=half_life)
    for _ in range(8):
        kept = rng.sample(names, rng.randint(0, len(names)))
        rows = [{n: rng.choice(CATEGORIES) for n in kept} for _ in range(rng.randint(1, 9))]
        ys = [rng.choice("abc") for _ in rows]
        ws = [rng.choice(WEIGHTS[:10]) for _ in rows]
        ts = [rng.choice([rng.uniform(-9, 9), rng.gauss(0, 1e3)]) for _ in rows]
        shard = streamnb.CategoricalNB(alpha=model.alpha, half_life=half_life)
        table = np.array([list(x.values()) for x in rows], dtype=object).reshape(len(rows), -1)
        if rng.random() < 0.5:
            shard.learn_many(table, ys, ws, ts, columns=kept)
            model += shard
        else:
            for x, y, w, t in zip(rows, ys, ws, ts, strict=True):
                model.learn_one(x, y, w, t)
    many = model.joint_log_likelihood_many(table, columns=kept)
    answers = [p.hex() for x in rows for p in model.predict_proba_one(x).values()]
    digest = hashlib.sha256(streamnb.dumps(model)).hexdigest()
    return f"categories {seed} {digest} {many.tobytes().hex()} {answers}"


def discriminants(seed: int) -> str:
    """What a stream leaves of LDA and QDA: rows and tables, gaps, blocks, merges, unlearning.

    They are asked between, so that factors are updated as well as made.
    """
    rng = random.Random(seed)
    names = [f"f{j}" for j in range(rng.choice([1, 2, 7, 8, 9, 15, 17, 33, 40]))]
    gaps = rng.choice([0.0, 0.0, 0.02, 0.3])
    half_life = 3600.0 if seed % 3 == 1 else None
    readings: list[dict[str, Any]] = [
        {}, {}, {"prior_scatter": 0.5}, {"shrinkage": 0.1}, {"shrinkage": "oas", "ddof": 1},
    ]  # fmt: skip
    read = rng.choice(readings)
    parts = [f"discriminants {seed}"]

    def event() -> dict[str, float]:
        common = rng.gauss(rng.choice([0.0, 1e6]), 1.0)
        kept = [name for name in names if rng.random() >= gaps]
        return {name: common + rng.gauss(0, 0.3) for name in kept}

    def learn(model: Any, n: int) -> list[Any]:
        learned = []
        for _ in range(n):
            row = (event(), rng.choice("abc"), rng.choice(WEIGHTS[:7]), rng.uniform(0, 9e3))
            model.learn_one(*row)
            learned.append(row)
            if rng.random() < 0.3:
                parts.extend(p.hex() for p in model.joint_log_likelihood(event()).values())
        return learned

    for make in (streamnb.LDA, streamnb.QDA):
        model, shard = (make(half_life=half_life, **read) for _ in range(2))
        rows = learn(model, 30 + len(names))
        learn(shard, rng.randint(0, 20))
        model += shard
        table = np.array([[event().get(name, np.nan) for name in names] for _ in range(40)])
        times = [rng.uniform(0, 9e3) for _ in range(40)]
        model.learn_many(table, ["a", "b"] * 20, t=times, columns=names)
        for row in rng.sample(rows, 5):
            model.unlearn_one(*row)
        learn(model, 20)
        parts.append(hashlib.sha256(streamnb.dumps(model)).hexdigest())
        parts.append(model.joint_log_likelihood_many(table[:9], columns=names).tobytes().hex())
        parts += [d.hex() for d in model.mahalanobis_one(event()).values()]
        parts.append(hashlib.sha256(model.precision("a").tobytes()).hexdigest())
        if make is streamnb.LDA:
            parts.append(model.coef.tobytes().hex())
    return " ".join(parts)


def lines() -> Iterator[str]:
    """What all streams leave."""
    yield from (line(seed, *stream(seed)) for seed in range(COUNT))
    yield from (line(seed, *settled(seed)) for seed in range(6))
    yield from (bags(seed) for seed in (0, 7, 64, 1001))
    yield from (bags(seed, half_life) for seed, half_life in ((0, 3.0), (1001, 2.5), (64, 1e4)))
    yield from map(categories, range(12))
    yield from map(discriminants, range(16))


def line(seed: int, model: Any, queries: list[dict[str, Any]]) -> str:
    """What one stream of numbers leaves: a model, and what it answers."""
    answers = [[p.hex() for p in model.predict_proba_one(x).values()] for x in queries]
    table = np.array([[np.nan if v is None else float(v) for v in x.values()] for x in queries])
    many = model.predict_proba_many(table, columns=list(queries[0]))
    joint = model.joint_log_likelihood_many(table, columns=list(queries[0]))
    digest = hashlib.sha256(streamnb.dumps(model)).hexdigest()
    return f"{seed} {digest} {answers} {many.tobytes().hex()} {joint.tobytes().hex()}"


if __name__ == "__main__":
    for each in lines():
        print(each)  # noqa: T201 - the program's result
