"""The laws of `Statistic`, for moments, scatter, counts and categories alike, to the bit."""

import inspect
import random
from typing import Any

import numpy as np
import pytest

import streamnb
from streamnb.stats.base import Statistic
from streamnb.stats.counts import Counts
from streamnb.stats.fields import FieldCounts
from streamnb.stats.moments import Moments
from streamnb.stats.scatter import Scatter

MAKERS = {
    "moments": streamnb.GaussianNB,
    "moments of counts": streamnb.PoissonNB,
    "one scatter": streamnb.LDA,
    "a scatter a class": streamnb.QDA,
    "tokens": streamnb.MultinomialNB,
    "presence of tokens": streamnb.BernoulliNB,
    "categories": streamnb.CategoricalNB,
}
every_statistic = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
every_half_life = pytest.mark.parametrize("half_life", [None, 7.5], ids=["kept", "fading"])


def seen(make: Any, half_life: float | None, seed: int, n: int = 40) -> Any:
    """The statistic of some events, a few of them incomplete."""
    rng = random.Random(seed)
    model = make(half_life=half_life)
    for _ in range(n):
        names = ["x", "y", "z"] if rng.random() < 0.8 else rng.sample(["x", "y", "z"], 2)
        x = {name: float(rng.randrange(6)) for name in names}
        model.learn_one(x, rng.choice("ab"), rng.choice([1.0, 3.0]), rng.uniform(0, 60))
    return model.statistic


def plain(value: Any) -> Any:
    """A packed state that can be compared to the bit."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def same(a: Any, b: Any) -> None:
    assert plain(a.packed()) == plain(b.packed())


@pytest.mark.parametrize("kind", [Moments, Scatter, Counts, FieldCounts])
def test_each_statistic_has_every_verb(kind: type) -> None:
    """With the parameters that `Statistic` names, in its order."""
    for name, verb in inspect.getmembers(Statistic, inspect.isfunction):
        if not name.startswith("_"):
            found = inspect.signature(getattr(kind, name)).parameters
            assert list(found) == list(inspect.signature(verb).parameters), name


@every_statistic
@every_half_life
def test_what_is_packed_is_restored(make: Any, half_life: float | None) -> None:
    whole = seen(make, half_life, 1)
    same(whole.like().restored(whole.packed()), whole)


@every_statistic
@every_half_life
def test_the_empty_one_is_zero(make: Any, half_life: float | None) -> None:
    whole = seen(make, half_life, 2)
    for parts in ([whole.like(), whole], [whole, whole.like()], [whole]):
        same(whole.merged(parts), whole)
    assert whole.like().weights() == {}
    assert whole.merged([]).names() == []


@every_statistic
@every_half_life
def test_the_merge_commutes(make: Any, half_life: float | None) -> None:
    a, b = seen(make, half_life, 3), seen(make, half_life, 4)
    same(a.merged([a, b]), a.merged([b, a]))


@every_statistic
@every_half_life
@pytest.mark.parametrize("exponent", [-8, -7, 0, 3, 4])
def test_scale_distributes_over_the_merge(
    make: Any, half_life: float | None, exponent: int
) -> None:
    """Scaled by a power of two and merged is merged and scaled; back again is where it began.

    A scatter's merge takes the root of a weight, which is exact for a power of four.
    """
    a, b = seen(make, half_life, 5), seen(make, half_life, 6)
    merged, scaled = a.merged([a.scale(exponent), b.scale(exponent)]), a.merged([a, b])
    scaled = scaled.scale(exponent)
    if isinstance(a, Scatter) and exponent % 2:
        for one, other in zip(merged.states(), scaled.states(), strict=True):
            np.testing.assert_allclose(one.square, other.square, rtol=1e-13, atol=1e-13)
    else:
        same(merged, scaled)
    same(a.scale(exponent).scale(-exponent), a)


@every_statistic
def test_scaled_to_nothing(make: Any) -> None:
    """Below 2**-900 nothing is left but the classes of one that fades; too large is refused."""
    whole, fading = seen(make, None, 7), seen(make, 7.5, 7)
    assert whole.scale(-2000).weights() == {}
    assert whole.scale(-2000).names() == []
    assert set(fading.scale(-2000).weights().values()) == {0.0}
    assert fading.scale(-2000).names() == []
    with pytest.raises(ValueError, match="range"):
        whole.scale(1100)


@every_statistic
@every_half_life
def test_without_a_class(make: Any, half_life: float | None) -> None:
    """What is left are the others, to the bit as they were; without the last it is empty."""
    whole = seen(make, half_life, 8)
    rest = whole.without("a")
    assert list(rest.weights()) == ["b"]
    assert rest.weights()["b"] == whole.weights()["b"]
    same(rest.without("b"), whole.like())
    same(whole.without(None), whole)
