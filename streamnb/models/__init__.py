"""The models that users make."""

from streamnb.models.base import BayesClassifier, merge
from streamnb.models.naive_bayes import GaussianNB

__all__ = ["KINDS", "BayesClassifier", "GaussianNB", "merge"]

KINDS: dict[str, type[BayesClassifier]] = {model.kind: model for model in (GaussianNB,)}
"""The models by their names on the command line and in files."""
