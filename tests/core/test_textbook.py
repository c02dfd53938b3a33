"""Examples of textbooks, papers and lecture notes, worked by hand in fractions.

Others stand with their models: Chinese Beijing Chinese (test_bags.py), Quinlan's Saturdays
(test_categorical.py), two normal densities and a threshold between them (test_given.py).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from streamnb import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MixedNB,
    MultinomialNB,
)
from streamnb.likelihoods import Boolean

from .verbs import LEARN, PREDICT

every_learn = pytest.mark.parametrize("learn", LEARN.values(), ids=LEARN)
every_predict = pytest.mark.parametrize("predict", PREDICT.values(), ids=PREDICT)

# Manning, Raghavan, Schuetze, Introduction to Information Retrieval, table 13.1: each word once,
# as scikit-learn's test of Complement has it.
CHINA = [
    ({"Beijing": 1, "Chinese": 1}, "China"),
    ({"Chinese": 1, "Shanghai": 1}, "China"),
    ({"Chinese": 1, "Macao": 1}, "China"),
    ({"Chinese": 1, "Japan": 1, "Tokyo": 1}, "Japan"),
]

# Of each class the others' tokens: the one document of Japan has 3, those of China have 6.
COMPLEMENT = {
    "Beijing": {"China": Fraction(0 + 1, 3 + 6), "Japan": Fraction(1 + 1, 6 + 6)},
    "Chinese": {"China": Fraction(1 + 1, 3 + 6), "Japan": Fraction(3 + 1, 6 + 6)},
    "Japan": {"China": Fraction(1 + 1, 3 + 6), "Japan": Fraction(0 + 1, 6 + 6)},
    "Macao": {"China": Fraction(0 + 1, 3 + 6), "Japan": Fraction(1 + 1, 6 + 6)},
    "Shanghai": {"China": Fraction(0 + 1, 3 + 6), "Japan": Fraction(1 + 1, 6 + 6)},
    "Tokyo": {"China": Fraction(1 + 1, 3 + 6), "Japan": Fraction(0 + 1, 6 + 6)},
}


def shares(joint: dict[Any, Fraction]) -> dict[Any, float]:
    return {label: float(p / sum(joint.values())) for label, p in joint.items()}


@every_learn
@pytest.mark.parametrize("word", COMPLEMENT)
def test_complement_weights(learn: Any, word: str) -> None:
    """Rennie, Shih, Teevan and Karger 2003, table 4, steps 4 to 6: minus the log of each share."""
    model = ComplementNB()
    for x, y in CHINA:
        learn(model, x, y)
    for n in (1, 2):
        expected = {y: -n * math.log(p) for y, p in COMPLEMENT[word].items()}
        assert model.joint_log_likelihood({word: n}) == pytest.approx(expected, rel=1e-15, abs=0)


@every_predict
def test_complement_of_a_document(predict: Any) -> None:
    """Chinese 3, Tokyo, Japan: 1/(2/9 ^ 5) to 1/(4/12 ^ 3 1/12 ^ 2): Japan; once each: Japan."""
    model = ComplementNB()
    for x, y in CHINA:
        model.learn_one(x, y)
    for n in (3, 1):
        joint = {
            "China": 1 / (Fraction(2, 9) ** n * Fraction(2, 9) ** 2),
            "Japan": 1 / (Fraction(4, 12) ** n * Fraction(1, 12) ** 2),
        }
        proba = predict(model, {"Chinese": n, "Tokyo": 1, "Japan": 1})
        assert proba == pytest.approx(shares(joint), rel=1e-14, abs=0)
        assert proba["Japan"] > proba["China"]


@pytest.mark.parametrize(
    ("mail", "p"),
    [
        ({"win": 1}, Fraction(6, 1200)),
        ({"free": 1}, Fraction(1, 1200)),
        ({"win": 2, "free": 1}, Fraction(6, 1200) ** 2 * Fraction(1, 1200)),
    ],
    ids=str,
)
def test_laplace_over_a_thousand_words(mail: dict[str, int], p: Fraction) -> None:
    """V = 1000 and 200 words of spam: 5 times is (5 + 1)/(200 + 1000), never is 1/1200."""
    model = MultinomialNB(vocabulary_size=1000, prior={"spam": 1.0, "ham": 0.0})
    model.learn_one({"win": 5, "other": 195}, "spam")
    model.learn_one({"free": 3}, "ham")
    assert model.joint_log_likelihood(mail)["spam"] == pytest.approx(math.log(p), rel=1e-15)


def test_two_event_models_of_one_mail() -> None:
    """Win 5 times and free 3 times: 5 log .05 + 3 log .03 = -25.498, log(.7 x .6) = -0.8675.

    The multinomial counts each time a word comes, the Bernoulli model only whether it does.
    """
    mail = {"win": 5, "free": 3}
    words = MultinomialNB.from_parameters(probabilities={"spam": {"win": 0.05, "free": 0.03}})
    (joint,) = words.joint_log_likelihood(mail).values()
    assert joint == pytest.approx(5 * math.log(0.05) + 3 * math.log(0.03), rel=1e-15)
    assert joint == pytest.approx(-25.498, abs=5e-4)
    there = BernoulliNB.from_parameters(probabilities={"spam": {"win": 0.7, "free": 0.6}})
    (joint,) = there.joint_log_likelihood(mail).values()
    assert joint == pytest.approx(math.log(0.42), rel=1e-14)
    assert joint == pytest.approx(-0.8675, abs=5e-5)
    assert there.joint_log_likelihood({"win": 1, "free": 1}) == there.joint_log_likelihood(mail)


@every_learn
@every_predict
def test_two_classes_of_one_spread(learn: Any, predict: Any) -> None:
    """1, 2, 3 and 5, 6, 7: means 2 and 6, standard deviations sqrt(2/3) twice; in the middle 1/2.

    At 3 the log-odds are (9 - 1)/(2 x 2/3) = 6; a straight line with slope -4/(2/3) = -6.
    """
    model = GaussianNB(var_smoothing=0.0, background=0.0)
    for label, numbers in {"low": (1.0, 2.0, 3.0), "high": (5.0, 6.0, 7.0)}.items():
        for x in numbers:
            learn(model, {"x": x}, label)
    assert (model.means("low"), model.means("high")) == ({"x": 2.0}, {"x": 6.0})
    for label in ("low", "high"):
        deviation = math.sqrt(model.variances(label)["x"])
        assert deviation == pytest.approx(math.sqrt(2 / 3), rel=3e-16, abs=0)
    assert predict(model, {"x": 4.0}) == pytest.approx({"high": 0.5, "low": 0.5}, rel=1e-15)
    low = 1 / (1 + math.exp(-6))
    assert predict(model, {"x": 3.0}) == pytest.approx({"high": 1 - low, "low": low}, rel=1e-13)
    model.shared_variance = True
    slope, bias = model.linear_log_odds("low", "high")
    assert slope["x"] == pytest.approx(-6.0, rel=1e-15)
    assert bias == pytest.approx(24.0, rel=1e-15)


# A disease of one in a thousand, a test that is right of 99 % of the ill and of the healthy.
ILL = Fraction(1, 1000)
RIGHT = Fraction(99, 100)
POSITIVE = shares({"healthy": (1 - ILL) * (1 - RIGHT), "ill": ILL * RIGHT})
NEGATIVE = shares({"healthy": (1 - ILL) * RIGHT, "ill": ILL * (1 - RIGHT)})


def diseases() -> dict[str, Any]:
    """Models of a rare disease by given numbers, and by a hundred thousand people."""
    prior = {"ill": 0.001, "healthy": 0.999}
    learned = {
        "categories": CategoricalNB(alpha=0),
        "tokens": BernoulliNB(alpha=0),
        "bools": MixedNB({"test": Boolean(alpha=0)}),
    }
    people = {(True, "ill"): 99, (False, "ill"): 1, (True, "healthy"): 999}
    for model in learned.values():
        for (test, label), n in {**people, (False, "healthy"): 98901}.items():
            model.learn_one({"test": test}, label, w=n)
    return {
        **learned,
        "given categories": CategoricalNB.from_parameters(
            prior=prior,
            probabilities={
                "ill": {"test": {True: 0.99, False: 0.01}},
                "healthy": {"test": {True: 0.01, False: 0.99}},
            },
        ),
        "given tokens": BernoulliNB.from_parameters(
            prior=prior, probabilities={"ill": {"test": 0.99}, "healthy": {"test": 0.01}}
        ),
    }


@every_predict
@pytest.mark.parametrize("name", diseases())
def test_a_rare_disease(predict: Any, name: str) -> None:
    """.001 x .99 to .999 x .01, 99 to 999: a positive test leaves 11/122, about .09.

    A negative one 1 to 98901.
    """
    assert POSITIVE["ill"] == float(Fraction(11, 122)) == pytest.approx(0.09, abs=5e-4)
    model = diseases()[name]
    assert predict(model, {"test": True}) == pytest.approx(POSITIVE, rel=1e-13, abs=0)
    assert predict(model, {"test": False}) == pytest.approx(NEGATIVE, rel=1e-11, abs=0)
