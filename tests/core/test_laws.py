"""The laws of docs/design.md, on states made by operations: what merges, merges exactly."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamnb

from .exact import moments
from .models import MODELS, MOMENTS, Model, name_of
from .states import (
    ANY,
    WHOLE,
    Row,
    build,
    close,
    close_moments,
    learn,
    learn_batch,
    parts,
    row_lists,
    rows_of,
    shards,
)
from .verbs import same, state

every_model = pytest.mark.parametrize("kind", MODELS, ids=name_of)
whole_shards = parts(WHOLE)
any_shards = parts(ANY)


@every_model
@given(any_shards)
def test_merge_commutes_to_the_bit(kind: Model, parts: Any) -> None:
    """a + b and b + a have the same bytes, for weights of every kind."""
    a, b = build(kind, parts[0]), build(kind, parts[1])
    same(a + b, b + a)
    same(streamnb.merge([a, b]), streamnb.merge([b, a]))
    same(a + b, streamnb.merge([a, b]))


@every_model
@given(whole_shards)
def test_merge_is_associative(kind: Model, parts: Any) -> None:
    """(a + b) + c and a + (b + c): counts to the bit for whole weights, moments to 1e-14."""
    models = [build(kind, part) for part in parts]
    a, b, *rest = models
    c = streamnb.merge(rest) if rest else kind.make()
    close((a + b) + c, a + (b + c))
    close((a + b) + c, b + (a + c))
    close(streamnb.merge(models), streamnb.merge(models[::-1]))


@every_model
@given(any_shards)
def test_merge_is_associative_for_any_weights(kind: Model, parts: Any) -> None:
    """Weights that are not whole: sums of weights round, and all else with them: 1e-13."""
    models = [build(kind, part) for part in parts]
    a, b, *rest = models
    c = streamnb.merge(rest) if rest else kind.make()
    left, right = (a + b) + c, a + (b + c)
    assert list(left.classes) == list(right.classes)
    assert left.class_weight == pytest.approx(right.class_weight, rel=1e-14, abs=0)
    close_moments(left, right, 1e-13)


def check_merge_is_one_pass(kind: Model, parts: Any) -> None:
    """The law itself, apart from its examples, so that a planted fault can be shown to break it."""
    merged = streamnb.merge([build(kind, part) for part in parts])
    close(merged, learn(kind.make(), [row for part in parts for row in rows_of(kind, part)]))


@every_model
@given(whole_shards)
def test_merge_is_one_pass(kind: Model, parts: Any) -> None:
    """The merge of shards is one pass over all: counts to the bit, moments to 1e-14."""
    check_merge_is_one_pass(kind, parts)


def check_merge_is_the_definition(kind: Model, parts: Any) -> None:
    """The law itself, apart from its examples."""
    merged = streamnb.merge([build(kind, part) for part in parts])
    rows = [row for part in parts for row in rows_of(kind, part)]
    for label in merged.class_weight:
        assert merged.class_weight[label] == sum(w for _, y, w in rows if y == label)
        for name, mean in merged.means(label).items():
            exact = moments(
                (x[name], w)
                for x, y, w in rows
                if y == label and x.get(name) is not None and not math.isnan(x[name])
            )
            assert exact is not None
            variance = float(exact.variance)
            scale = max(abs(float(exact.mean)), math.sqrt(variance))
            assert abs(mean - float(exact.mean)) <= 1e-14 * scale
            assert merged.variances(label)[name] == pytest.approx(variance, rel=1e-14, abs=0)


@pytest.mark.parametrize("kind", MOMENTS, ids=name_of)
@given(whole_shards)
def test_merge_is_the_definition(kind: Model, parts: Any) -> None:
    """The merge of shards has the moments of all their rows, as exact fractions give them."""
    check_merge_is_the_definition(kind, parts)


@every_model
@given(shards(ANY))
def test_the_empty_model_is_an_exact_zero(kind: Model, part: Any) -> None:
    """m + 0 and 0 + m are m, to the bit; 0 + 0 is 0."""
    model, empty = build(kind, part), kind.make()
    same(model + empty, model)
    same(empty + model, model)
    same(streamnb.merge([empty, model, empty]), model)
    same(empty + kind.make(), empty)
    model += empty
    same(model, build(kind, part))


@every_model
@given(shards(ANY), row_lists(ANY))
def test_round_trip(kind: Model, part: Any, more: list[Row]) -> None:
    """dumps and loads give the model back: its bytes, its answers, and how it learns on."""
    model, more = build(kind, part), kind.rows(more)
    back = streamnb.loads(state(model))
    same(back, model)
    for x, _, _ in more:
        assert back.predict_proba_one(x) == model.predict_proba_one(x)
        assert back.joint_log_likelihood(x) == model.joint_log_likelihood(x)
    same(learn(back, more), learn(model, more))
    for other in (copy.deepcopy(model), copy.copy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        same(other, model)


@every_model
@given(any_shards, row_lists(WHOLE, 3))
def test_operands_are_untouched_and_unaliased(kind: Model, parts: Any, more: list[Row]) -> None:
    """+ and merge change no operand, and what learns afterwards changes no other model."""
    models, more = [build(kind, part) for part in parts], kind.rows(more)
    before = [state(model) for model in models]
    a, b = models[0], models[1]
    merged, summed = streamnb.merge(models), a + b
    assert [state(model) for model in models] == before
    kept = state(summed)
    learn(merged, more)
    assert [state(model) for model in models] == before
    assert state(summed) == kept
    learn(summed, more)
    assert [state(model) for model in models] == before
    for model in models:
        learn(model, more)
    assert state(summed) == state(learn(build(kind, parts[0]) + build(kind, parts[1]), more))
    alone = streamnb.merge([a])
    learn(alone, [({"x": 1.0}, "a", 1.0)])
    assert state(a) == state(learn(build(kind, parts[0]), more))


@every_model
@given(any_shards)
def test_merging_in_place(kind: Model, parts: Any) -> None:
    """`a += b` is `a = a + b` on the same object; b is untouched, also where b is a."""
    a, b = build(kind, parts[0]), build(kind, parts[1])
    expected, doubled, kept = a + b, a + a, state(b)
    itself = a
    a += b
    assert a is itself
    same(a, expected)
    assert state(b) == kept
    twice = build(kind, parts[0])
    twice += twice
    same(twice, doubled)


@every_model
@given(row_lists(ANY, 12), st.lists(st.integers(0, 12), max_size=4), st.data())
def test_any_cut_gives_the_same_bytes(
    kind: Model, rows: list[Row], cuts: list[int], data: st.DataObject
) -> None:
    """learn_many is learn_one row by row, whatever the cut and the table's library."""
    rows = kind.rows(rows)
    expected = learn(kind.make(), rows)
    model = kind.make()
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    for start, stop in itertools.pairwise(edges):
        piece = rows[start:stop]
        texts = all(isinstance(name, str) for x, _, _ in piece for name in x)
        library = data.draw(
            st.sampled_from(
                ["one", "pandas", "numpy", "polars"] if texts else ["one", "pandas", "numpy"]
            )
        )
        if library == "one":
            learn(model, piece)
        else:
            learn_batch(model, piece, library)
    same(model, expected)


@every_model
@given(row_lists(ANY, 8), st.randoms(use_true_random=False))
def test_the_order_of_features_does_not_show(kind: Model, rows: list[Row], random: Any) -> None:
    """Neither the order of an event's features nor that of their first coming is in the bytes."""
    rows, shuffled = kind.rows(rows), []
    for x, y, w in rows:
        names = list(x)
        random.shuffle(names)
        shuffled.append(({name: x[name] for name in names}, y, w))
    same(learn(kind.make(), rows), learn(kind.make(), shuffled))


@every_model
@given(shards(ANY), row_lists(ANY))
def test_clone(kind: Model, part: Any, rows: list[Row]) -> None:
    """A clone has the parameters and nothing learned, and shares nothing."""
    model, rows = build(kind, part), kind.rows(rows)
    kept = state(model)
    clone = model.clone()
    same(clone, kind.make())
    same(learn(clone, rows), learn(kind.make(), rows))
    assert state(model) == kept


@every_model
@given(shards(ANY), shards(ANY))
def test_equal_means_equal_bytes(kind: Model, one: Any, other: Any) -> None:
    """m == n exactly where dumps(m) == dumps(n); nothing else equals a model."""
    a, b = build(kind, one), build(kind, other)
    assert (a == b) == (state(a) == state(b))
    assert a == build(kind, one)
    assert a != state(a)
    assert a != "a"


@pytest.mark.parametrize("kind", MOMENTS, ids=name_of)
@given(any_shards)
def test_variances_are_never_negative(kind: Model, parts: Any) -> None:
    """A sum of squares is never below 0, merged or not."""
    models = [build(kind, part) for part in parts]
    for model in (*models, streamnb.merge(models)):
        for label in model.class_weight:
            assert all(v >= 0 for v in model.variances(label).values())
