"""Windowed: the last so many seconds, in panes that are dropped whole and merge one by one."""

from __future__ import annotations

import itertools
import math
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import streamnb
from streamnb import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MergeError,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    Windowed,
)
from streamnb.likelihoods import Bag

from .states import ANY, DENSE, WHOLE, WIDE, close
from .verbs import pandas_table, same, state

Timed = tuple[dict[Any, Any], Any, float, float | None]

TIMES = st.one_of(
    st.integers(-30, 30).map(float),
    st.integers(-30_000, 30_000).map(lambda ms: ms / 1000),
    st.sampled_from([0.0, 90.0, -1e9]),
)
SHAPES = st.sampled_from([(10, 5), (20, 1), (6.5, 13), (timedelta(seconds=12), 4), (50, 10)])


def timed(weights: st.SearchStrategy[float], size: int = 10) -> st.SearchStrategy[list[Timed]]:
    return st.one_of(
        *(
            st.lists(
                st.tuples(events, st.sampled_from(labels), weights, TIMES),
                min_size=least,
                max_size=size,
            )
            for events, labels, least in (DENSE, WIDE)
        )
    )


def window(shape: Any, **parameters: Any) -> Windowed:
    length, panes = shape
    return Windowed(GaussianNB(**parameters), length, panes)


def learn(model: Any, rows: list[Timed]) -> Any:
    for x, y, w, t in rows:
        model.learn_one(x, y, w, t)
    return model


def inside(rows: list[Timed], shape: Any) -> list[Timed]:
    """Those in the newest panes, by the definition: panes begin at multiples of their width."""
    length, panes = shape
    seconds = length.total_seconds() if isinstance(length, timedelta) else length
    width = round(seconds * 1000) // panes
    marks = [math.floor(round(t * 1000) / width) for *_, t in rows]
    newest = max((mark for mark, (_, _, w, _) in zip(marks, rows, strict=True) if w > 0), default=0)
    return [row for mark, row in zip(marks, rows, strict=True) if mark > newest - panes]


@given(timed(WHOLE), SHAPES)
def test_the_definition(rows: list[Timed], shape: Any) -> None:
    """In any order of the events, the window is one pass over those in the newest panes."""
    plain = GaussianNB()
    for x, y, w, _ in inside(rows, shape):
        plain.learn_one(x, y, w)
    close(learn(window(shape), rows), plain)


@given(timed(ANY), timed(ANY), timed(ANY), SHAPES)
def test_shards_merge_pane_by_pane(
    a: list[Timed], b: list[Timed], c: list[Timed], shape: Any
) -> None:
    """Commutes to the bit; the empty window is a zero; what is outside in one is so in all."""
    one, other, third = (learn(window(shape), rows) for rows in (a, b, c))
    kept = [state(model) for model in (one, other, third)]
    same(one + other, other + one)
    same(one + window(shape), one)
    same(window(shape) + one, one)
    left, right = (one + other) + third, other + (third + one)
    assert [mark for mark, _ in left.state()["panes"]] == [
        mark for mark, _ in right.state()["panes"]
    ]
    assert left.state()["newest"] == right.state()["newest"]
    assert left.class_weight == pytest.approx(right.class_weight, rel=1e-14, abs=0)
    assert left.features == right.features
    assert [state(model) for model in (one, other, third)] == kept
    whole = one
    whole += other
    same(whole, other + streamnb.loads(kept[0]))


@given(timed(WHOLE), SHAPES, st.randoms(use_true_random=False))
def test_shards_in_any_order_give_the_same_bytes(
    rows: list[Timed], shape: Any, rng: random.Random
) -> None:
    """One shard a pane and class: whatever their order, and that of the merges, the same bytes."""
    shards: dict[Any, list[Timed]] = {}
    for row in rows:
        shards.setdefault((row[3], row[1]), []).append(row)
    models = [learn(window(shape), part) for part in shards.values()] or [window(shape)]
    expected = state(streamnb.merge(models))
    for _ in range(3):
        first, *others = rng.sample(models, len(models))
        for other in others:
            first = first + other if rng.random() < 0.5 else other + first
        length = (
            timedelta(seconds=1) * shape[0] if not isinstance(shape[0], timedelta) else shape[0]
        )
        pane = length.total_seconds() / shape[1]
        alone = len({(math.floor(t / pane), y) for _, y, _, t in rows}) == len(rows)
        if alone:
            assert state(first) == expected
        assert first.state()["newest"] == streamnb.loads(expected).state()["newest"]
        close(first, streamnb.loads(expected))


@given(timed(ANY, 12), st.lists(st.integers(0, 12), max_size=4), SHAPES, st.booleans())
def test_any_cut_gives_the_same_bytes(
    rows: list[Timed], cuts: list[int], shape: Any, in_tables: bool
) -> None:
    """learn_many is learn_one row by row, wherever the window moves; bytes go back and forth."""
    expected = learn(window(shape), rows)
    model = window(shape)
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    for start, stop in itertools.pairwise(edges):
        piece = rows[start:stop]
        if in_tables or start % 2:
            xs, ys, ws, ts = zip(*piece, strict=True) if piece else ((), (), (), ())
            model.learn_many(pandas_table(xs), list(ys), list(ws), list(ts))
        else:
            learn(model, piece)
        model = streamnb.loads(state(model))
    same(model, expected)


@pytest.mark.parametrize("library", ["pandas", "polars", "numpy", "scipy"])
def test_tables_that_span_panes(library: str) -> None:
    """Rows of all libraries go to the panes of their times."""
    rng = np.random.default_rng(1)
    X, y, t = rng.normal(size=(40, 3)), list("abcd") * 10, rng.uniform(0, 30, 40)
    table: Any = {
        "pandas": pd.DataFrame(X, columns=["0", "1", "2"], index=range(100, 140)),
        "polars": pl.DataFrame({str(j): X[:, j] for j in range(3)}),
        "numpy": X,
        "scipy": scipy.sparse.coo_matrix(X),
    }[library]
    model, expected = window((12, 6)), window((12, 6))
    model.learn_many(table, y, t=t)
    for row, label, time in zip(X, y, t, strict=True):
        expected.learn_one({str(j): float(v) for j, v in enumerate(row)}, label, t=time)
    same(model, expected)
    assert sum(model.class_weight.values()) < 30
    given_columns = window((12, 6))
    if library in ("numpy", "scipy"):
        given_columns.learn_many(table, y, t=t, columns=["0", "1", "2"])
        same(given_columns, expected)


def test_panes_are_dropped_whole() -> None:
    """Panes of 2 s: the one from 0 on is live until an event of 10 s, before the epoch too."""
    for start in (0.0, -20.0, 1e9):
        model = window((10, 5))
        for label, t in (("a", 0.0), ("b", 1.999), ("c", 2.0), ("d", 9.999)):
            model.learn_one({"x": 1.0}, label, t=start + t)
        assert model.classes == ["a", "b", "c", "d"]
        model.learn_one({"x": 1.0}, "e", t=start + 10.0)
        assert model.classes == ["c", "d", "e"]
        model.learn_one({"x": 1.0}, "late", t=start + 1.0)
        model.learn_many(np.ones((2, 1)), ["late", "f"], t=[start + 1.999, start + 2.0])
        assert model.classes == ["c", "d", "e", "f"]
        model.learn_one({"x": 1.0}, "g", t=start + 1e6)
        assert model.classes == ["g"]
        assert model.features == ["x"]


@pytest.mark.parametrize(
    ("length", "panes", "width"), [(1, 60, 17), (1, 400, 2), (10, 4, 2500), (0.009, 2, 4)]
)
def test_the_width_of_a_pane(length: float, panes: int, width: int) -> None:
    """Length over panes in whole milliseconds, half to even: 16.7, 2.5, 2500 and 4.5."""
    model = Windowed(GaussianNB(), length, panes)
    model.learn_one({}, "first", t=(width - 1) / 1000)
    assert model.state()["newest"] == 0
    model.learn_one({}, "second", t=width / 1000)
    assert model.state()["newest"] == 1


def test_events_without_a_time() -> None:
    """They count as of the newest time, before any as of the epoch."""
    model, expected = window((10, 5)), window((10, 5))
    for t, said in ((None, 0), (1.0, 1.0), (None, 1.0), (99.0, 99.0), (None, 99.0)):
        model.learn_one({"x": 1.0}, "a", t=t)
        model.learn_many(np.ones((1, 1)), ["b"], t=t, columns=["x"])
        expected.learn_one({"x": 1.0}, "a", t=said)
        expected.learn_one({"x": 1.0}, "b", t=said)
        same(model, expected)
    assert model.class_weight == {"a": 2.0, "b": 2.0}


def test_times_of_every_kind() -> None:
    moment = datetime(2026, 3, 1, 12, tzinfo=UTC)
    model, other = window((60, 6)), window((60, 6))
    model.learn_one({"x": 1.0}, "a", t=moment)
    model.learn_many(np.ones((1, 1)), ["a"], t=moment, columns=["x"])
    for t in (moment.timestamp(), np.float64(moment.timestamp())):
        other.learn_one({"x": 1.0}, "a", t=t)
    same(model, other)
    before = state(model)
    for t in (math.nan, math.inf, 1e300, "noon"):
        with pytest.raises((TypeError, ValueError), match="time"):
            model.learn_one({"x": 1.0}, "a", t=t)
    assert state(model) == before


def test_weight_0_and_late_events_are_checked_and_change_nothing() -> None:
    model = learn(window((10, 5)), [({"x": 1.0}, "a", 1.0, 100.0)])
    before = state(model)
    for w, t in ((0.0, 1e6), (1.0, 0.0)):
        model.learn_one({"x": 1.0, "n": 2.0}, "b", w, t)
        model.learn_many(np.ones((1, 1)), ["b"], [w], [t])
        with pytest.raises(TypeError, match="number"):
            model.learn_one({"x": "1"}, "b", w, t)
        with pytest.raises(TypeError, match="row 0"):
            model.learn_many(pd.DataFrame({"x": ["1"]}), ["b"], [w], [t])
        assert state(model) == before
    model.learn_many(np.ones((0, 1)), [])
    assert state(model) == before
    with pytest.raises(TypeError, match="sparse"):
        model.learn_many([[1.0]], ["a"])


def test_errors_name_the_row_of_the_table() -> None:
    """Also where the row is in another pane than those before it; then nothing was learned."""
    model = window((10, 5))
    model.learn_one({"x": 1e200}, "a", t=3.0)
    before = state(model)
    table = pd.DataFrame({"x": [1.0, 1e200, -1e200, 4.0, -1e200]})
    with pytest.raises(ValueError, match="row 2: feature 'x'"):
        model.learn_many(table, list("aaaaa"), t=[9.0, 3.0, 3.0, 9.0, 3.0])
    assert state(model) == before
    table = pd.DataFrame({"x": [1.0, 2.0, "?", 4.0, "?"]}, dtype=object)
    with pytest.raises(TypeError, match="row 2: "):
        model.learn_many(table, list("aaaaa"), t=[0.0, 9.0, 5.0, 9.0, 3.0])
    with pytest.raises(ValueError, match="row 1: "):
        model.learn_many(table[:2], ["a", math.nan], t=[0.0, 9.0])
    assert state(model) == before


def test_a_live_window_answers_as_the_loaded_one() -> None:
    """What is kept between questions never shows: also late events, merges, readings."""
    rng = random.Random(8)
    model = window((10, 5), background=0.5)
    for n in range(150):
        x = {name: rng.gauss(0, 1) for name in rng.sample(["x", "y", "z"], 2)}
        step = rng.random()
        t = n / 3 - rng.choice([0, 0, 0, 1, 4, 9])
        if step < 0.7:
            model.learn_one(x, rng.choice("ab"), t=t)
        elif step < 0.8:
            model += learn(window((10, 5), background=0.5), [(x, "c", 1.0, t)])
        elif step < 0.9:
            model.learn_many(pd.DataFrame([x, x]), ["a", "b"], t=[t, t + 1])
        loaded = streamnb.loads(state(model))
        question = {"x": 0.3, "y": -1.0}
        assert model.joint_log_likelihood(question) == loaded.joint_log_likelihood(question)
        assert model.predict_proba_many(pd.DataFrame([question])).to_numpy().tolist() == [
            list(model.predict_proba_one(question).values())
        ]
        assert model.class_weight == loaded.class_weight


def test_readings_are_the_models() -> None:
    """Set after learning they count at the next question, at the window or at its model."""
    rows = [({"x": float(i)}, "ab"[i % 2], 1.0, float(i)) for i in range(20)]
    model = learn(window((10, 5)), rows)
    plain = GaussianNB()
    for x, y, _, _ in inside(rows, (10, 5)):
        plain.learn_one(x, y)
    assert model.means("a") == pytest.approx(plain.means("a"))
    for setting in ({"prior": {"a": 0.9, "b": 0.1}}, {"var_smoothing": 0.5, "background": 2.0}):
        for name, value in setting.items():
            setattr(plain, name, value)
            setattr(model if name != "background" else model.model, name, value)
        assert getattr(model, name) == value
        assert model.predict_proba_one({"x": 15.5}) == pytest.approx(
            plain.predict_proba_one({"x": 15.5}), rel=1e-9
        )
    assert streamnb.loads(state(model)).prior == {"a": 0.9, "b": 0.1}
    with pytest.raises(ValueError, match="var_smoothing"):
        model.var_smoothing = -1
    assert model.var_smoothing == 0.5
    with pytest.raises(AttributeError, match="no_such"):
        model.no_such  # noqa: B018 - asking is the test


def test_merging_asks_for_equal_parameters() -> None:
    """Length, panes and the model's half-life always; its readings unless `like` says whose."""
    one = learn(window((10, 5)), [({"x": 1.0}, "a", 1.0, 0.0)])
    same(one, learn(window((timedelta(seconds=10), 5)), [({"x": 1.0}, "a", 1.0, 0.0)]))
    for other, name in (
        (window((20, 5)), "length"),
        (window((10, 10)), "panes"),
        (window((10, 5), half_life=3), "half_life"),
    ):
        for join in (lambda o: one + o, lambda o: streamnb.merge([one, o], like=one)):
            with pytest.raises(MergeError, match=name):
                join(other)
    read = learn(window((10, 5), prior="uniform"), [({"x": 2.0}, "b", 1.0, 1.0)])
    with pytest.raises(MergeError, match=r"prior .*like="):
        one + read
    merged = streamnb.merge([one, read], like=read)
    assert merged.prior == "uniform"
    assert merged.class_weight == {"a": 1.0, "b": 1.0}
    with pytest.raises(MergeError, match="cannot be merged"):
        one + GaussianNB()


def test_what_a_window_can_be_of() -> None:
    learned = GaussianNB(prior="uniform")
    learned.learn_one({"x": 1.0}, "a")
    model = Windowed(learned, 10)
    assert (model.classes, model.prior, model.panes) == ([], "uniform", 60)
    learned.prior = "empirical"
    assert model.prior == "uniform"
    given_model = GaussianNB.from_parameters(means={"a": {}}, variances={"a": {}})
    for bad in (3, GaussianNB, None, model, given_model):
        with pytest.raises(TypeError, match="window"):
            Windowed(bad, 10)  # type: ignore[arg-type]
    for length, panes in ((0, 1), (-1, 1), (math.nan, 1), (10, 0), (10, 2.5), (0.05, 60)):
        with pytest.raises(ValueError, match=r"length|panes"):
            Windowed(GaussianNB(), length, panes)  # type: ignore[arg-type]
    for length, panes in (("10", 1), (True, 1), (10, "5"), (10, True)):
        with pytest.raises(TypeError, match=r"length|panes"):
            Windowed(GaussianNB(), length, panes)  # type: ignore[arg-type]
    learn(model, [({"x": 1.0}, "a", 1.0, 0.0)])
    with pytest.raises(ValueError, match="panes shapes what is stored"):
        model.panes = 5
    clone = model.clone({"prior": "empirical", "panes": 5})
    assert (clone.prior, clone.panes, clone.length, clone.classes) == ("empirical", 5, 10, [])
    clone.length = 20
    learn(clone, [({"x": 1.0}, "a", 1.0, 0.0), ({"x": 1.0}, "b", 1.0, 19.0)])
    assert clone.classes == ["a", "b"]
    assert model.description() == {
        "model": "Windowed",
        "parameters": {"model": learned.description(), "length": 10.0, "panes": 60}
        | {"model": GaussianNB(prior="uniform").description()},
    }


def test_unlearning_in_a_window() -> None:
    """An event is taken back from the pane of its time; what has left the window is not there."""
    rows = [({"x": float(i), "z": 1.0}, "ab"[i % 2], 1.0, float(i)) for i in range(12)]
    model = learn(window((10, 5)), rows)
    before = state(model)
    for x, y, t in (({"x": 0.0}, "a", 0.0), ({"x": 4.0}, "c", 4.0), ({"x": 4.0}, "a", 1e6)):
        with pytest.raises(ValueError, match="cannot unlearn"):
            model.unlearn_one(x, y, t=t)
    assert state(model) == before
    model.predict_one({"x": 1.0})
    model.unlearn_one(*rows[10])
    model.unlearn_one(*rows[11])
    assert model.class_weight == {"a": 4.0, "b": 4.0}
    assert model.state()["newest"] == 5
    model.learn_one({"x": 1.0}, "late", t=1.0)
    assert model.classes == ["a", "b"]
    for row in rows[2:10]:
        model.unlearn_one(*row)
    same(model, window((10, 5)))


def test_a_window_of_a_model_that_fades() -> None:
    """Inside the window the weights fade; all panes are read at the newest time."""
    model = window((20, 4), half_life=5)
    rows = [({"x": 1.0}, "a", 1.0, t) for t in (0.0, 10.0, 15.0, 20.0)]
    learn(model, rows)
    assert model.class_weight["a"] == pytest.approx(1 / 4 + 1 / 2 + 1, rel=1e-15)
    with pytest.raises(ValueError, match="needs its time"):
        model.learn_one({"x": 1.0}, "a")
    many = window((20, 4), half_life=5)
    many.learn_many(np.ones((4, 1)), ["a"] * 4, t=[0.0, 10.0, 15.0, 20.0], columns=["x"])
    same(many, model)


def test_states_that_cannot_be() -> None:
    good = learn(window((10, 5)), [({"x": 1.0}, "a", 1.0, t) for t in (0.0, 5.0)]).state()
    (first, one), (second, other) = good["panes"]
    for bad in (
        {"newest": None},
        {"newest": "2"},
        {"newest": True},
        {"newest": 1},
        {"newest": 5},
        {"panes": [[second, other], [first, one]]},
        {"panes": [[first, one], [first, one]]},
        {"panes": [[1.0, one]]},
        {"panes": []},
        {"panes": [[first, GaussianNB().state()], [second, other]]},
        {"more": 1},
    ):
        with pytest.raises(ValueError, match=r"\w"):
            window((10, 5)).set_state(good | bad)
    model = window((10, 5))
    model.set_state(good)
    assert model.class_weight == {"a": 2.0}


def test_saved_and_loaded(tmp_path: Any) -> None:
    """Its bytes hold the model in it, a window of one kind or another is told apart."""
    model = learn(window((10, 5), prior_count=0.5), [({"x": 1.0}, "a", 1.0, 3.0)])
    streamnb.save(model, tmp_path / "window.nb")
    same(streamnb.load(tmp_path / "window.nb"), model)
    assert model != learn(window((10, 5)), [({"x": 1.0}, "a", 1.0, 3.0)])
    assert model != learn(window((10, 5), prior_count=0.5), [({"x": 1.0}, "a", 1.0, 4.0)])


def test_what_the_whole_window_cannot_hold() -> None:
    """Panes that no merge could join: refused where it is learned, merged or read, unchanged."""
    model = learn(window((10, 5)), [({"x": 1e200}, "a", 1.0, 3.0), ({"x": 1.0}, "b", 1.0, 4.0)])
    before = state(model)
    model.predict_one({"x": 1.0})
    for x in ({"x": -1e200}, {"x": 2.0}, {"x": 2.0, "new": np.float64(-1e200)}):
        with pytest.raises(ValueError, match=r"range"):
            model.learn_one(x, "a", t=9.0)
        assert state(model) == before
        with pytest.raises(ValueError, match=r"range"):
            model.learn_many(pd.DataFrame([{"x": 1.0}, x]), ["b", "a"], t=[5.0, 9.0])
        assert state(model) == before
    heavy = learn(window((10, 5)), [({"x": 1.0}, "a", 1.7e308, 3.0)])
    with pytest.raises(ValueError, match=r"weight of class 'a' would leave the range"):
        heavy.learn_one({}, "a", 1.7e308, t=9.0)
    assert heavy.class_weight == {"a": 1.7e308}
    other = learn(window((10, 5)), [({"x": -1e200}, "a", 1.0, 9.0)])
    for join in (lambda: model + other, lambda: other + model):
        with pytest.raises(ValueError, match=r"range"):
            join()
    held = model.state()
    with pytest.raises(ValueError, match=r"range"):
        window((10, 5)).set_state({"newest": 4, "panes": [*held["panes"], *other.state()["panes"]]})
    model.learn_one({"x": 5.0}, "b", t=9.0)
    model.learn_one({"x": 1e200}, "a", t=9.0)
    assert model.class_weight == {"a": 2.0, "b": 2.0}
    model.learn_one({"x": -1e200}, "c", t=20.0)
    model.learn_one({"x": -1.0}, "a", t=21.0)
    assert model.means("a") == {"x": -1.0}


KINDS = [
    GaussianNB, PoissonNB, MultinomialNB, BernoulliNB, ComplementNB, CategoricalNB, MixedNB
]  # fmt: skip


@pytest.mark.parametrize("make", KINDS)
def test_weights_that_the_whole_window_cannot_hold(make: Any) -> None:
    """Two panes of weight 1.7e308 each, of any model: the second is refused, unchanged."""
    for verb in ("one", "many"):
        model = Windowed(make(), length=10, panes=5)
        model.learn_one({"x": 1}, "a", 1.7e308, t=3)
        before = state(model)
        table = pd.DataFrame({"x": [1, 1]}), ["b", "a"], [1, 1.7e308], [9, 9]
        learn = model.learn_one if verb == "one" else model.learn_many
        with pytest.raises(ValueError, match="range"):
            learn(*(({"x": 1}, "a", 1.7e308, 9) if verb == "one" else table))
        assert state(model) == before
        assert model.predict_one({"x": 1}) == "a"
        model.learn_one({"x": 1}, "a", 1.7e308, t=30)
        assert model.class_weight == {"a": 1.7e308}


def bags() -> list[tuple[Any, Any]]:
    """Models that add counts up, and an event with a count near the largest double."""
    return [
        (MultinomialNB(), {"u": 1.7e308}),
        (ComplementNB(), {"u": np.longdouble(1.7e308)}),
        (MixedNB({"words": Bag()}), {"words": {"u": 1.7e308}}),
        (MixedNB({"words": Bag()}), {"words": {"u": np.longdouble(1.7e308)}}),
        (GaussianNB(), {"u": np.longdouble(1.7e308)}),
        (PoissonNB(), {"u": np.longdouble(1.7e308)}),
    ]


@pytest.mark.parametrize("place", range(len(bags())))
def test_counts_that_the_whole_window_cannot_hold(place: int) -> None:
    """Panes with counts (or squares) that no merge could add up: refused, and nothing changes."""
    inner, x = bags()[place]
    model = Windowed(inner, length=10, panes=5)
    model.learn_one(x, "a", t=3)
    before = state(model)
    other = {"u": 1.0} if isinstance(inner, GaussianNB | PoissonNB) else x
    with pytest.raises(ValueError, match="range"):
        model.learn_one(other, "a", t=9)
    assert state(model) == before
    assert model.predict_one(x) == "a"


def test_what_shapes_the_states_of_panes() -> None:
    """State parameters of the model may be set while nothing is learned, by their names."""
    model = Windowed(BernoulliNB(), length=10)
    model.threshold = 1.5
    model.learn_one({"u": 1, "v": 2}, "a", t=0)
    assert model.counts("a") == {"v": 1.0}
    assert (model.threshold, model.model.threshold) == (1.5, 1.5)
    same(model, learn(Windowed(BernoulliNB(threshold=1.5), 10), [({"v": 2}, "a", 1.0, 0.0)]))
    with pytest.raises(ValueError, match="threshold shapes"):
        model.threshold = 0.5
    assert model.threshold == 1.5
    empty = Windowed(BernoulliNB(), length=10)
    with pytest.raises(ValueError, match="threshold"):
        empty.threshold = -1
    same(empty, Windowed(BernoulliNB(), length=10))


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("t", [1.0, 3.0, 5.0])
def test_an_answer_while_another_thread_learns(make: Any, t: float) -> None:
    """What was learned while an answer was made is in the next one: in an older pane, or a new."""
    model, plain = Windowed(make(), 10, 5), make()
    joined = model._joined

    def learn_between(parts: Any) -> Any:
        """Another thread's `learn_one`, at the moment at which the panes have been joined."""
        found = joined(parts)
        if "_joined" in vars(model):
            del vars(model)["_joined"]
            model.learn_one({"x": 2}, "c", t=t)
        return found

    for x, y, at in [(1, "a", 1.0), (2, "b", 3.0)]:
        model.learn_one({"x": x}, y, t=at)
        plain.learn_one({"x": x}, y)
    plain.learn_one({"x": 2}, "c")
    vars(model)["_joined"] = learn_between
    model.predict_proba_one({"x": 2})
    assert model.class_weight == plain.class_weight
    assert model.predict_proba_one({"x": 2}) == pytest.approx(plain.predict_proba_one({"x": 2}))
    assert model.predict_many(np.array([[2.0]])) == plain.predict_many(np.array([[2.0]]))


def test_a_window_of_texts() -> None:
    """Models of tokens in a window: the last hour is what a model of the last hour has learned."""
    window = Windowed(MultinomialNB(text="text"), length=3600)
    plain = MultinomialNB(text="text")
    events = [(f"w{i % 7} w{i % 5} w{i % 3}", "ab"[i % 2], 600.0 * i) for i in range(30)]
    for text, label, t in events:
        window.learn_one({"text": text}, label, t=t)
    for text, label, t in events:
        if t > 600 * 29 - 3600:
            plain.learn_one({"text": text}, label)
    for label in "ab":
        assert window.counts(label) == plain.counts(label)
    assert window.predict_proba_one({"text": "w1 w4"}) == plain.predict_proba_one({"text": "w1 w4"})
    same(streamnb.loads(state(window)), window)
    assert window._tags == plain._tags
