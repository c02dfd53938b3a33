"""LDA and QDA of given numbers, in windows, and beside parameters that are out of range."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import streamnb
from streamnb import LDA, QDA, MergeError, Windowed

from .discriminants import every_make, some_rows
from .states import learn
from .verbs import same, state

MEANS = {"a": {"x": 0.0, "z": 1.0}, "b": {"x": 2.0, "z": 3.0}, 3: {"x": -1.0, "z": 5.0}}
OWN = {
    "a": [[2.0, 0.5], [0.5, 1.0]],
    "b": [[1.0, -0.3], [-0.3, 0.25]],
    3: [[1e-2, 0.0], [0.0, 1e3]],
}


def nested(matrix: list[list[float]], names: str = "xz") -> dict[str, dict[str, float]]:
    """{feature: {feature: number}}."""
    return {a: dict(zip(names, row, strict=True)) for a, row in zip(names, matrix, strict=True)}


@pytest.mark.parametrize("form", [np.array, nested, lambda m: m], ids=["array", "nested", "lists"])
@pytest.mark.parametrize("prior", [None, {"a": 0.5, "b": 0.25, 3: 0.25}])
@every_make
def test_given_numbers(make: Any, prior: Any, form: Any) -> None:
    """SciPy's densities of them, whole and in part; an array in the order of the first label."""
    own = OWN if make is QDA else dict.fromkeys(MEANS, OWN["a"])
    given = {y: form(m) for y, m in own.items()} if make is QDA else form(OWN["a"])
    model = make.from_parameters(means=MEANS, covariances=given, prior=prior)
    assert model.classes == [3, "a", "b"]
    assert model.class_weight == {}
    assert model.features == ["x", "z"]
    for x in [(0.5, 0.5), (3.0, -1.0), (-1.0, 5.5)]:
        joint = model.joint_log_likelihood(dict(zip("xz", x, strict=True)))
        part = model.joint_log_likelihood({"z": x[1]})
        for y, means in MEANS.items():
            log_prior = math.log(prior[y] if prior else 1 / 3)
            density = multivariate_normal(list(means.values()), own[y]).logpdf(x)
            assert joint[y] == pytest.approx(log_prior + density, rel=1e-11, abs=1e-11)
            alone = multivariate_normal(means["z"], own[y][1][1]).logpdf(x[1])
            assert part[y] == pytest.approx(log_prior + alone, rel=1e-11, abs=1e-11)
    for y, means in MEANS.items():
        assert model.means(y) == means
        np.testing.assert_allclose(model.covariance(y), own[y], rtol=1e-15)


def test_an_array_goes_by_the_order_of_the_means() -> None:
    """Not by the canonical one: z before x."""
    means = {y: {"z": m["z"], "x": m["x"]} for y, m in MEANS.items()}
    turned = {y: np.array(m)[::-1, ::-1] for y, m in OWN.items()}
    model = QDA.from_parameters(means=means, covariances=turned)
    other = QDA.from_parameters(means=MEANS, covariances=OWN)
    x = {"x": 0.3, "z": 0.7}
    assert model.joint_log_likelihood(x) == other.joint_log_likelihood(x)


def test_two_classes_of_one_covariance() -> None:
    """CS229: log-odds x' C^-1 (m_a - m_b) - (m_a' C^-1 m_a - m_b' C^-1 m_b)/2 + log(.6/.4).

    With C = [[2, 1], [1, 1]], C^-1 = [[1, -1], [-1, 2]]; m_a = (1, 0), m_b = (0, 2):
    weights (3, -5), and the means say (1 - 8)/2.
    """
    model = LDA.from_parameters(
        means={"a": {"x": 1, "y": 0}, "b": {"x": 0, "y": 2}},
        covariances=[[2, 1], [1, 1]],
        prior={"a": 0.6, "b": 0.4},
    )
    weights, bias = model.linear_log_odds("a", "b")
    assert weights == pytest.approx({"x": 3.0, "y": -5.0}, rel=1e-14)
    assert bias == pytest.approx(3.5 + math.log(1.5), rel=1e-14)
    assert model.mahalanobis_one({"x": 1, "y": 1}) == pytest.approx(
        {"a": math.sqrt(2.0), "b": math.sqrt(5.0)}, rel=1e-14
    )
    # C^-1 (m_a - m_b) is the only direction, its variance 13
    direction = model.fisher_directions(1)[:, 0]
    np.testing.assert_allclose(direction, np.array([-3.0, 5.0]) / math.sqrt(13.0), rtol=1e-13)


def test_given_models_neither_learn_nor_merge() -> None:
    """Nor are they written; they clone, and take readings."""
    for model in (
        LDA.from_parameters(means=MEANS, covariances=OWN["a"]),
        QDA.from_parameters(means=MEANS, covariances=OWN),
    ):
        for verb in (
            lambda m: m.learn_one({"x": 1.0}, "a"),
            lambda m: m.learn_many(np.ones((1, 2)), ["a"]),
            lambda m: m.unlearn_one({"x": 1.0}, "a"),
        ):
            with pytest.raises(TypeError, match="predicts"):
                verb(model)
        with pytest.raises(MergeError):
            streamnb.merge([model, model])
        x = {"x": 1.0, "z": 2.0}
        assert model.clone().joint_log_likelihood(x) == model.joint_log_likelihood(x)
        model.prior = {"a": 1.0, "b": 0.0, 3: 0.0}
        assert model.predict_proba_one(x) == {3: 0.0, "a": 1.0, "b": 0.0}


BAD: list[Any] = [
    None,
    5.0,
    "text",
    [[1.0]],
    [[1.0, 0.0]],
    [[1.0, 0.5], [0.4, 1.0]],
    [[1.0, 2.0], [2.0, 1.0]],
    [[1.0, 1.0], [1.0, 1.0]],
    [[0.0, 0.0], [0.0, 1.0]],
    [[-1.0, 0.0], [0.0, 1.0]],
    [[math.nan, 0.0], [0.0, 1.0]],
    [[math.inf, 0.0], [0.0, 1.0]],
    [["a", 0.0], [0.0, 1.0]],
    nested([[1.0, 0.0], [0.0, 1.0]], "xy"),
    {"x": {"x": 1.0}, "z": {"z": 1.0}},
    {"x": 1.0, "z": 1.0},
    {"x": {"x": 1.0, "z": None}, "z": {"x": None, "z": 1.0}},
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_covariances_that_are_none(bad: Any) -> None:
    """Of another shape, not symmetric, not positive definite, of other features, no numbers."""
    with pytest.raises((ValueError, TypeError)):
        LDA.from_parameters(means=MEANS, covariances=bad)
    with pytest.raises((ValueError, TypeError)):
        QDA.from_parameters(means=MEANS, covariances=OWN | {"b": bad})
    for others in (bad, {"a": OWN["a"]}, OWN | {"c": OWN["a"]}):
        with pytest.raises((ValueError, TypeError)):
            QDA.from_parameters(means=MEANS, covariances=others)


@pytest.mark.parametrize("bad", [None, {}, [1.0], "a", {"a": 1.0}, {"a": {"x": None}}], ids=str)
@every_make
def test_means_that_are_none(make: Any, bad: Any) -> None:
    covariances = [[1.0]] if make is LDA else {"a": [[1.0]]}
    with pytest.raises((ValueError, TypeError)):
        make.from_parameters(means=bad, covariances=covariances)


PARAMETERS: list[tuple[str, Any, type[Exception]]] = [
    ("shrinkage", -0.1, ValueError),
    ("shrinkage", 1.5, ValueError),
    ("shrinkage", math.nan, ValueError),
    ("shrinkage", "auto", ValueError),
    ("shrinkage", None, TypeError),
    ("prior_scatter", -1.0, ValueError),
    ("prior_scatter", math.inf, ValueError),
    ("prior_scatter", "much", TypeError),
    ("prior_scatter", {"x": -1.0}, ValueError),
    ("prior_scatter", {"x": None}, TypeError),
    ("prior_scatter", {1.5: 1.0}, TypeError),
    ("ddof", -1, ValueError),
    ("ddof", None, TypeError),
    ("half_life", 0, ValueError),
    ("prior", {"a": 0.9, "b": 0.9}, ValueError),
    ("prior", {"a": -0.5, "b": 1.5}, ValueError),
    ("reg_param", 1.5, ValueError),
    ("reg_param", -0.5, ValueError),
    ("reg_param", "much", TypeError),
]


@pytest.mark.parametrize(("name", "value", "error"), PARAMETERS, ids=str)
@every_make
def test_parameters_out_of_range(make: Any, name: str, value: Any, error: type[Exception]) -> None:
    """Refused where they are given, and where they are set later, which changes nothing."""
    if name == "reg_param" and make is LDA:
        with pytest.raises(TypeError, match="reg_param"):
            LDA(reg_param=0.1)  # type: ignore[call-arg]
        return
    with pytest.raises(error):
        make(**{name: value})
    model = make(prior_count=1)
    model.learn_one({"x": 1.0}, "a")
    before = state(model)
    with pytest.raises(error):
        setattr(model, name, value)
    assert state(model) == before


@pytest.mark.parametrize("gaps", [0.0, 0.3], ids=["complete", "gaps"])
@every_make
def test_windows(make: Any, gaps: float) -> None:
    """What the live panes have learned, whatever came before: their merge, and its answers."""
    rng = random.Random(1)
    rows = [(row, 1000.0 * i / 120) for i, row in enumerate(some_rows(rng, 120, gaps))]
    window = Windowed(make(shrinkage=0.1), 250, 5)
    shards = [Windowed(make(shrinkage=0.1), 250, 5) for _ in range(3)]
    for (x, y, w), t in rows:
        window.learn_one(x, y, w, t)
        if rng.random() < 0.2:
            window.predict_one(x)
        rng.choice(shards).learn_one(x, y, w, t)
    newest = int(rows[-1][1] // 50)
    panes = [
        learn(make(shrinkage=0.1), [row for row, t in rows if int(t // 50) == pane])
        for pane in range(newest - 4, newest + 1)
    ]
    merged = streamnb.merge(panes)
    assert window.class_weight == merged.class_weight
    assert streamnb.merge(shards).class_weight == merged.class_weight
    for x, _, _ in some_rows(rng, 8, 0.2):
        expected = merged.joint_log_likelihood(x)
        assert window.joint_log_likelihood(x) == expected
        assert streamnb.loads(state(window)).joint_log_likelihood(x) == expected
        found = streamnb.merge(shards).joint_log_likelihood(x)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    same(shards[0] + shards[1], shards[1] + shards[0])
    (x, y, w), t = rows[-1]
    window.unlearn_one(x, y, w, t)
    rest = streamnb.merge(
        [
            learn(make(shrinkage=0.1), [row for row, t in rows[:-1] if int(t // 50) == pane])
            for pane in range(newest - 4, newest + 1)
        ]
    )
    assert window.joint_log_likelihood(x) == pytest.approx(
        rest.joint_log_likelihood(x), rel=1e-9, abs=1e-9
    )


@every_make
def test_state_parameters_and_readings_in_a_merge(make: Any) -> None:
    """half_life must be equal; readings too, or `like` says whose."""
    rows = some_rows(random.Random(2), 20)
    one, other = learn(make(shrinkage=0.5), rows), learn(make(prior_scatter={"x": 2.0}), rows)
    with pytest.raises(MergeError, match="shrinkage"):
        _ = one + other
    merged = streamnb.merge([one, other], like=other)
    assert merged.prior_scatter == {"x": 2.0}
    assert merged.shrinkage == 0.0
    same(merged, streamnb.loads(state(merged)))
    with pytest.raises(MergeError, match="half_life"):
        streamnb.merge([make(), make(half_life=3.0)], like=one)
    with pytest.raises(MergeError):
        streamnb.merge([LDA(), QDA()])
