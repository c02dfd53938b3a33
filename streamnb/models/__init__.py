"""The models that users make."""

from streamnb.models.bags import BernoulliNB, ComplementNB, MultinomialNB
from streamnb.models.base import BayesClassifier, merge
from streamnb.models.categorical import CategoricalNB
from streamnb.models.discriminant_analysis import LDA, QDA
from streamnb.models.mixed import MixedNB
from streamnb.models.naive_bayes import GaussianNB, PoissonNB
from streamnb.models.windowed import Windowed
from streamnb.stats.index import label_texts

__all__ = [
    "KINDS",
    "KINDS_IN_FILES",
    "LDA",
    "QDA",
    "BayesClassifier",
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "MixedNB",
    "MultinomialNB",
    "PoissonNB",
    "Windowed",
    "label_texts",
    "merge",
]

KINDS: dict[str, type[BayesClassifier]] = {
    model.kind: model
    for model in (
        GaussianNB,
        MultinomialNB,
        BernoulliNB,
        ComplementNB,
        CategoricalNB,
        PoissonNB,
        MixedNB,
        LDA,
        QDA,
    )
}
"""The models by their names on the command line and in files."""

KINDS_IN_FILES: dict[str, type[BayesClassifier]] = KINDS | {Windowed.kind: Windowed}
"""Those, and what is made of one of them."""
