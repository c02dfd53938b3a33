"""What can be merged with what: parameters, provenance, wrong arguments."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import streamnb
from streamnb import MergeError
from streamnb.provenance import Counters, Provenance, Range

from .models import MODELS, PRIORS, Model, name_of
from .verbs import same, state

every_model = pytest.mark.parametrize("kind", MODELS, ids=name_of)
every_prior_model = pytest.mark.parametrize("kind", PRIORS, ids=name_of)


def learned(kind: Model, x: float, label: str, **parameters: Any) -> Any:
    """A model of one example."""
    model = kind.make(**parameters)
    model.learn_one({"x": x}, label)
    return model


OTHER = [
    ("prior", "uniform"),
    ("prior", {"a": 0.5, "b": 0.5}),
    ("prior_count", 1.0),
    ("known_labels", ["a", "b"]),
]
OTHER_OWN = [
    ("GaussianNB", "ddof", 1),
    ("GaussianNB", "shared_variance", True),
    ("GaussianNB", "smoothing", "global"),
    ("GaussianNB", "var_smoothing", 0.125),
    ("GaussianNB", "background", 0.375),
    ("PoissonNB", "alpha", 0.5),
]


@every_prior_model
@pytest.mark.parametrize(("name", "value"), OTHER, ids=str)
def test_readings_must_be_equal(kind: Model, name: str, value: Any) -> None:
    """Readings that differ are a MergeError that names them, unless `like` says whose to take."""
    check_reading(kind, name, value)


@pytest.mark.parametrize(("model", "name", "value"), OTHER_OWN, ids=str)
def test_readings_of_their_own_must_be_equal(model: str, name: str, value: Any) -> None:
    """The same for what only one model reads."""
    (kind,) = [kind for kind in MODELS if kind.name == model]
    check_reading(kind, name, value)


def test_other_kinds_do_not_merge() -> None:
    """Models of two kinds are a MergeError that names both, whatever they have learned."""
    for a, b in itertools.permutations(MODELS, 2):
        with pytest.raises(MergeError, match="cannot be merged"):
            streamnb.merge([a.make(), learned(b, 1.0, "a")])


def check_reading(kind: Model, name: str, value: Any) -> None:
    a, b = learned(kind, 1.0, "a"), learned(kind, 2.0, "b", **{name: value})
    kept = state(a), state(b)
    for join in (lambda: a + b, lambda: b + a, lambda: streamnb.merge([a, b])):
        with pytest.raises(MergeError, match=name):
            join()
    with pytest.raises(MergeError, match=name):
        a += b
    assert (state(a), state(b)) == kept
    for like in (a, b):
        merged = streamnb.merge([a, b], like=like)
        assert getattr(merged, name) == getattr(like, name)
        assert merged.class_weight == {"a": 1.0, "b": 1.0}
        same(merged, streamnb.merge([b, a], like=like))
    assert (state(a), state(b)) == kept


@every_prior_model
def test_like_may_be_another_model(kind: Model) -> None:
    """`like` lends its parameters only: what it has learned is not merged in."""
    a, b = learned(kind, 1.0, "a"), learned(kind, 2.0, "b")
    like = learned(kind, 9.0, "z", prior="uniform")
    merged = streamnb.merge([a, b], like=like)
    assert merged.prior == "uniform"
    assert merged.class_weight == {"a": 1.0, "b": 1.0}


@every_model
def test_merge_takes_any_iterable(kind: Model) -> None:
    """A list, a tuple, a generator; one model gives a copy."""
    models = [learned(kind, float(i), "ab"[i % 2]) for i in range(5)]
    expected = streamnb.merge(models)
    same(streamnb.merge(tuple(models)), expected)
    same(streamnb.merge(model for model in models), expected)
    alone = streamnb.merge(models[:1])
    assert alone is not models[0]
    same(alone, models[0])


@every_prior_model
def test_merging_nothing(kind: Model) -> None:
    """No models: the empty model of `like`, and an error where nothing says which model."""
    like = learned(kind, 1.0, "a", prior="uniform")
    same(streamnb.merge([], like=like), kind.make(prior="uniform"))
    with pytest.raises((ValueError, MergeError)):
        streamnb.merge([])


@every_model
def test_what_is_no_model(kind: Model) -> None:
    """Only models merge: anything else is a TypeError."""
    model = learned(kind, 1.0, "a")
    for other in (3, None, "a", {"x": 1}, object()):
        with pytest.raises(TypeError):
            model + other
        with pytest.raises(TypeError):
            other + model
        with pytest.raises(TypeError):
            streamnb.merge([model, other])


def ranged(kind: Model, *ranges: Range, counters: Counters | None = None) -> Any:
    model = learned(kind, 1.0, "a")
    model.provenance = Provenance(ranges, counters)
    return model


@every_model
def test_provenance_is_kept_and_joined(kind: Model) -> None:
    """Ranges are in the bytes, neighbours join, counters add; a model of a program has none."""
    assert kind.make().provenance == Provenance()
    a = ranged(kind, Range("t", 0, 0, 10, "kafka:c:i"), counters=Counters(ok=9, bad=1))
    b = ranged(kind, Range("t", 0, 10, 25, "kafka:c:i"), counters=Counters(ok=13, gaps=2))
    c = ranged(kind, Range("t", 1, 5, 7, "kafka:c:i"), counters=Counters(ok=1, tombstones=1))
    back = streamnb.loads(state(a))
    assert back.provenance == a.provenance
    assert a != learned(kind, 1.0, "a")
    merged = streamnb.merge([c, b, a])
    assert merged.provenance == Provenance(
        (Range("t", 0, 0, 25, "kafka:c:i"), Range("t", 1, 5, 7, "kafka:c:i")),
        Counters(ok=23, bad=1, tombstones=1, gaps=2),
    )
    same(merged, streamnb.merge([a, b, c]))
    same(streamnb.loads(state(merged)), merged)
    assert merged.clone().provenance == Provenance()


@every_model
def test_the_same_events_do_not_merge_twice(kind: Model) -> None:
    """Overlapping ranges of one source are a MergeError that names them; operands stay."""
    a = ranged(kind, Range("t", 0, 0, 10, "kafka:c:i"))
    b = ranged(kind, Range("t", 0, 9, 12, "kafka:c:i"))
    kept = state(a), state(b)
    for join in (lambda: a + b, lambda: streamnb.merge([a, b]), lambda: a + a):
        with pytest.raises(MergeError, match="t"):
            join()
    with pytest.raises(MergeError):
        a += b
    assert (state(a), state(b)) == kept
    other = ranged(kind, Range("t", 0, 9, 12, "kafka:c:another"))
    assert (a + other).class_weight == {"a": 2.0}
    assert (a + learned(kind, 3.0, "a")).provenance == a.provenance


def test_a_range_without_events_overlaps_nothing() -> None:
    """A shard that began at 100 and learned nothing shares no event with one of 0 to 110."""
    whole = Range("t", 0, 0, 110, "k")
    for at in (0, 50, 100, 110):
        assert Provenance((Range("t", 0, at, at, "k"), whole)).ranges == (whole,)
    beyond = Range("t", 0, 120, 120, "k")
    assert Provenance((beyond, whole)).ranges == (whole, beyond)
