"""The models that users make."""

from streamnb.models.base import BayesClassifier, merge
from streamnb.models.naive_bayes import GaussianNB, PoissonNB
from streamnb.stats.index import label_texts

__all__ = ["KINDS", "BayesClassifier", "GaussianNB", "PoissonNB", "label_texts", "merge"]

KINDS: dict[str, type[BayesClassifier]] = {model.kind: model for model in (GaussianNB, PoissonNB)}
"""The models by their names on the command line and in files."""
