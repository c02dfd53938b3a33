"""A model that goes on learning answers as the one that is loaded from its bytes."""

from __future__ import annotations

import copy
import pickle
import random
import stat
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pandas.core.generic import NDFrame

import streamnb
from streamnb import LDA, GaussianNB

from .models import MODELS, Model, name_of

if TYPE_CHECKING:
    from pathlib import Path

every_model = pytest.mark.parametrize("kind", MODELS, ids=name_of)
QUESTION = {"0": 4.0, "1": -50.0, "n": 1.0}


def check_live(model: Any) -> None:
    """Assert that a model and its copy from bytes answer alike, in the order of `classes`."""
    loaded = streamnb.loads(streamnb.dumps(model))
    question = {name: abs(v) for name, v in QUESTION.items()} if model.positive else QUESTION
    assert model.joint_log_likelihood(question) == loaded.joint_log_likelihood(question)
    assert list(map(repr, model.predict_proba_one(question))) == list(map(repr, model.classes))


def test_features_and_classes_that_tables_bring() -> None:
    """After a question, a table's new features, classes and kinds of labels count at once."""
    model = GaussianNB()
    model.learn_many(np.array([[0.0], [1.0], [10.0], [11.0]]), list("aabb"))
    model.predict_one({"0": 1.0})
    model.learn_many(np.array([[0.0, 50], [1.0, 51], [10.0, -50], [11.0, -51]]), list("aabb"))
    check_live(model)
    for number in range(20):
        model.learn_many(np.array([[99.0], [99.5]]), [number, number])
        check_live(model)
        model.learn_many(np.array([[99.0]]), [float(number)])
        check_live(model)


@every_model
@pytest.mark.seeds(20)
def test_any_steps(kind: Model, seed: int) -> None:
    """Whatever was learned how, the live model answers with the bits of the loaded one."""
    rng = random.Random(seed)
    model = kind.make()
    for _ in range(40):
        label = rng.choice(["a", "b", 1, True, 1.0, rng.randint(0, 9)])
        names = rng.sample(["0", "1", "2", "n", 7, ("t", 1)], rng.randint(0, 4))
        x = kind.event({name: rng.gauss(0, 1) for name in names})
        step = rng.choice(["one", "many", "merge", "ask"])
        if step == "one":
            model.learn_one(x, label)
        elif step == "many":
            model.learn_many(pd.DataFrame([x, x]), [label, label])
        elif step == "merge":
            other = kind.make()
            other.learn_one(x, label)
            model += other
        check_live(model)


@every_model
def test_threads_may_ask_one_model(kind: Model) -> None:
    """Each thread gets the answers to its own events, also where values take the long way."""
    model = kind.make()
    rng = np.random.default_rng(1)
    for row in kind.array(rng.normal(size=(30, 10))):
        model.learn_one({f"f{j}": float(v) for j, v in enumerate(row)}, "ab"[int(row[0] > 0.5)])
    wrong: list[Any] = []

    def ask(offset: int) -> None:
        x = {f"f{j}": np.float32(offset + j) for j in range(10)}
        expected = answers[offset]
        wrong.extend(offset for _ in range(20_000) if model.joint_log_likelihood(x) != expected)

    answers = {
        k: model.joint_log_likelihood({f"f{j}": float(np.float32(k + j)) for j in range(10)})
        for k in range(4)
    }
    threads = [threading.Thread(target=ask, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@every_model
def test_threads_may_ask_a_model_that_was_just_loaded(kind: Model) -> None:
    """The first questions of a model, of growing size, from several threads at once."""
    sizes = (3, 50, 900, 5000) if kind.bag else (3, 10, 20, 40)
    base = kind.make()
    for k, label in enumerate("ab"):
        base.learn_one({f"t{i}": float(i % 3 + k) for i in range(sizes[-1])}, label)
    state = streamnb.dumps(base)
    events = [dict.fromkeys((f"t{i}" for i in range(size)), 1.0) for size in sizes]
    expected = [base.joint_log_likelihood(x) for x in events]
    wrong: list[Any] = []
    for _ in range(20):
        model = streamnb.loads(state)
        start = threading.Barrier(4)

        def ask(k: int, model: Any = model, start: Any = start) -> None:
            start.wait()
            order = [*range(k, len(events)), *range(k)]
            wrong.extend(
                at for at in order if model.joint_log_likelihood(events[at]) != expected[at]
            )

        threads = [threading.Thread(target=ask, args=(k % len(events),)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def answers_of(model: Any, x: dict[Any, Any], table: Any, other: Any) -> dict[str, Any]:
    """What each verb that changes nothing answers, as plain data."""
    part = {name: value for name, value in x.items() if name != "f1"}
    found: dict[str, Any] = {
        "bytes": streamnb.dumps(model),
        "copy": streamnb.dumps(copy.copy(model)),
        "merge": streamnb.dumps(model + other),
        "features": model.features,
        "classes": model.classes,
        "class_weight": model.class_weight,
        "label": model.predict_one(x),
        "joint": model.joint_log_likelihood(x),
        "part": model.joint_log_likelihood(part),
        "proba": model.predict_proba_one(x),
        "labels": model.predict_many(table),
        "rows": model.predict_proba_many(table),
    }
    for verb in ("means", "variances", "covariance", "precision", "counts"):
        if hasattr(model, verb):
            found[verb] = getattr(model, verb)("a")
    if hasattr(model, "mahalanobis_one"):
        found["distance"] = model.mahalanobis_one(x)
    if isinstance(model, LDA):
        found["linear"] = [model.coef, model.intercept, model.fisher_directions(2)]
    return {verb: plain(value) for verb, value in found.items()}


def plain(value: Any) -> Any:
    """A table, an array or a list of these as lists."""
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return np.asarray(value).tolist() if isinstance(value, np.ndarray | NDFrame) else value


@pytest.mark.parametrize("collinear", [False, True])
@every_model
def test_threads_may_ask_everything(kind: Model, collinear: bool) -> None:
    """While none learns, threads that ask get what one alone would, the first question too."""
    rng = np.random.default_rng(3)
    numbers = rng.normal(size=(40, 4))
    if collinear:
        numbers[:, 2] = 3 * numbers[:, 0] + numbers[:, 3]
    rows = [{f"f{j}": float(v) for j, v in enumerate(row)} for row in kind.array(numbers)]
    model, other = kind.make(), kind.make()
    for i, row in enumerate(rows):
        model.learn_one(kind.event(row), "abc"[i % 3])
    other.learn_one(kind.event(rows[0]), "d")
    data, more = streamnb.dumps(model), streamnb.dumps(other)
    questions = [kind.event(row) for row in rows[:4]]
    tables = [pd.DataFrame([x, *questions]) for x in questions]
    alone = [
        answers_of(streamnb.loads(data), x, table, streamnb.loads(more))
        for x, table in zip(questions, tables, strict=True)
    ]
    wrong: list[Any] = []
    for _ in range(5):
        shared, added, start = streamnb.loads(data), streamnb.loads(more), threading.Barrier(4)

        def ask(at: int, shared: Any = shared, added: Any = added, start: Any = start) -> None:
            start.wait()
            for _ in range(3):
                found = answers_of(shared, questions[at], tables[at], added)
                if found != alone[at]:
                    wrong.extend(verb for verb in found if found[verb] != alone[at][verb])

        in_threads(ask)
    assert wrong == []


@every_model
def test_a_lock_is_enough(kind: Model) -> None:
    """One thread learns, others ask, all with one lock: each answer is that of a moment."""
    rng = np.random.default_rng(4)
    rows = [
        kind.event({f"f{j}": float(v) for j, v in enumerate(row)})
        for row in kind.array(rng.normal(size=(60, 3)))
    ]
    labels = [f"c{i // 10}" if i % 3 else "a" for i in range(len(rows))]
    model, lock, moments = kind.make(), threading.Lock(), [streamnb.dumps(kind.make())]
    answers: list[tuple[bytes, Any]] = []

    def work(at: int) -> None:
        for i, (x, y) in enumerate(zip(rows, labels, strict=True)):
            with lock:
                if at == 0:
                    model.learn_one(x, y)
                    moments.append(streamnb.dumps(model))
                else:
                    answers.append((streamnb.dumps(model), model.predict_proba_one(rows[i])))

    in_threads(work)
    whole = kind.make()
    for x, y in zip(rows, labels, strict=True):
        whole.learn_one(x, y)
    assert model == whole
    assert {data for data, _ in answers} <= set(moments)
    for data, proba in answers[::20]:
        assert list(proba) == streamnb.loads(data).classes


def in_threads(work: Callable[[int], None]) -> None:
    """Runs `work` of 0, 1, 2 and 3 at once; raises what one of them has raised."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            for _ in pool.map(work, range(4)):
                pass
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize(
    "labels", [[-1, 2**63], ["x", "x\0"], [2, 2**200], [True, 2], ["a", 1]], ids=repr
)
def test_answers_are_labels_as_they_are(labels: list[Any]) -> None:
    """NumPy would make floats of wide whole numbers and drop a text's last zeros."""
    model = GaussianNB()
    X = np.array([[0.0], [9.0]])
    model.learn_many(X, labels)
    for table in (X, pd.DataFrame(X, columns=["0"]), pl.DataFrame({"0": X[:, 0]})):
        found = list(model.predict_many(table))
        assert found == labels
        assert [type(label) for label in found] == [
            type(label) if isinstance(label, str) else type(found[at])
            for at, label in enumerate(labels)
        ]


X = np.array([[0.0], [1.0]])
TIMES = np.array(["2020-01-01", "2021-01-01"], "datetime64[ns]")


@pytest.mark.parametrize(
    ("y", "w", "t"),
    [
        (TIMES, None, None),
        (TIMES - TIMES[0], None, None),
        (["a", "b"], TIMES - TIMES[0], None),
        (["a", "b"], None, TIMES - TIMES[0]),
        (["a", "b"], None, [pd.NaT, 0.0]),
        (["a", "\ud800"], None, None),
        (np.ma.masked_array([1, 2], mask=[0, 1]), None, None),
        (pd.DataFrame({"y": ["a", "b"]}), None, None),
        (np.array([["a"], ["b"]]), None, None),
        (None, None, None),
        (1, None, None),
        ("ab", None, None),
        pytest.param({"a", "b"}, None, None, id="a set"),
        (["a", "b"], {1.0, 2.0}, None),
        (["a", "b"], None, "01"),
    ],
    ids=repr,
)
def test_columns_that_are_none(y: Any, w: Any, t: Any) -> None:
    """What is no column of labels, weights or times is refused, and nothing is learned."""
    model = GaussianNB()
    with pytest.raises((TypeError, ValueError), match=r"row|column"):
        model.learn_many(X, y, w, t)
    assert model == GaussianNB()


def test_masked_cells_are_missing() -> None:
    """The value behind a mask is not learned."""
    model = GaussianNB()
    table = np.ma.masked_array([[1, 2], [3, 999], [5, 6]], mask=[[0, 0], [0, 1], [0, 0]])
    model.learn_many(table, ["a", "a", "b"])
    assert model.means("a") == {"0": 2.0, "1": 2.0}


def test_what_was_refused_leaves_no_features() -> None:
    """A thousand refused events with names of their own leave the model as fast as it was."""
    model = GaussianNB()
    model.learn_one({"x": 1e200}, "a")
    for number in range(1000):
        with pytest.raises(ValueError, match="infinite"):
            model.learn_one({"x": -1e200, f"n{number}": 1.0}, "a")
    assert model.statistic.features.order == ["x"]


def test_copies_keep_all_attributes() -> None:
    """Subclasses and attributes of one's own come through pickle and copy."""
    model = GaussianNB(known_labels=("a",))
    model.learn_one({"x": 1.0}, "b")
    model.tag = "mine"  # type: ignore[attr-defined]
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        assert other == model
        assert other.tag == "mine"


def test_save_keeps_permissions_and_links(tmp_path: Path) -> None:
    """A private file stays private, and a link leads where it led."""
    model = GaussianNB()
    private, link = tmp_path / "private.nb", tmp_path / "link.nb"
    streamnb.save(model, private)
    private.chmod(0o600)
    link.symlink_to(private)
    model.learn_one({"x": 1.0}, "a")
    streamnb.save(model, link)
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert link.is_symlink()
    assert streamnb.load(private) == model


def test_parameters_that_mean_the_same() -> None:
    """No known labels is none; -0.0 is 0; and a parameter changed in place is never written."""
    assert GaussianNB(known_labels=[]) == GaussianNB()
    assert GaussianNB(background=-0.0) == GaussianNB(background=0)
    with pytest.raises(streamnb.MergeError):
        streamnb.merge([GaussianNB(known_labels=[1]), GaussianNB(known_labels=[True])])
    model = GaussianNB(prior={"a": 1.0})
    model.prior["a"] = 5  # type: ignore[index]
    with pytest.raises(ValueError, match="prior"):
        streamnb.dumps(model)


def test_columns_of_classes_are_all_different() -> None:
    """1, "1" and "int:1" are three columns."""
    model = GaussianNB()
    model.learn_many(np.array([[0.0], [1.0], [2.0]]), [1, "1", "int:1"])
    table = model.predict_proba_many(pl.DataFrame({"0": [0.5]}))
    assert table.shape == (1, 3)


def test_a_weight_and_a_count_beyond_doubles() -> None:
    """Their sum is bounded: the probabilities are still those of two classes."""
    model = GaussianNB(prior_count=1e308)
    model.learn_one({"x": 1.0}, "a", w=1.7e308)
    model.learn_one({"x": 1.0}, "b")
    assert sum(model.predict_proba_one({"x": 1.0}).values()) == pytest.approx(1.0)
