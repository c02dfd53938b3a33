"""Gaussian discriminant analysis against logistic regression, by the number of examples.

    python examples/gda_against_logistic.py [gda_against_logistic.png]

Both have the same linear log-odds. Where the classes are normal with one covariance, discriminant
analysis knows more and needs fewer examples (B. Efron, 1975). Where they are not, logistic
regression assumes less, and wins: counts and waiting times have linear log-odds too, but their
spread grows with their mean. Neither is regularized.
"""

import sys
import warnings

import numpy as np
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from streamnb import LDA

FEATURES = 5
SIZES = [20, 30, 50, 100, 200, 400]
REPETITIONS = 40
LABELS = np.array(["a", "b"])


def normal(rng, y):
    """Normal features, all correlated by 0.5; the means lie from -0.8 to 1.2 apart."""
    covariance = np.full((FEATURES, FEATURES), 0.5) + 0.5 * np.eye(FEATURES)
    noise = rng.multivariate_normal(np.zeros(FEATURES), covariance, len(y))
    return noise + 0.8 * y[:, None] * np.linspace(-1, 1.5, FEATURES)


def counts(rng, y):
    """Poisson counts of mean 0.3 and 1.5."""
    return rng.poisson(np.where(y == 0, 0.3, 1.5)[:, None], (len(y), FEATURES)).astype(float)


def waiting_times(rng, y):
    """Exponential times of mean 1 and 4."""
    return rng.exponential(np.where(y == 0, 1.0, 4.0)[:, None], (len(y), FEATURES))


def logistic_regression(X, y, X_test):
    """What logistic regression without a penalty answers."""
    with warnings.catch_warnings():
        # Few examples may be separable: then there is no maximum, and any large weights will do.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LogisticRegression(C=np.inf, solver="newton-cholesky").fit(X, y).predict(X_test)


def discriminant_analysis(X, y, X_test):
    """What linear discriminant analysis answers."""
    model = LDA()
    model.learn_many(X, y)
    return model.predict_many(X_test)


def accuracies(draw, n):
    """The test accuracy of each method in each repetition, (repetitions, 2)."""
    found = []
    for repetition in range(REPETITIONS):
        rng = np.random.default_rng([repetition, n])
        y, y_test = np.arange(n) % 2, np.arange(2000) % 2
        X, X_test = draw(rng, y), draw(rng, y_test)
        answers = [
            method(X, LABELS[y], X_test) for method in (discriminant_analysis, logistic_regression)
        ]
        found.append([np.mean(answer == LABELS[y_test]) for answer in answers])
    return np.array(found)


def draw_figure(curves, path):
    """A panel for each kind of data; the bands are two standard errors."""
    figure = Figure(figsize=(11, 4), layout="constrained")
    axes = figure.subplots(1, len(curves))
    for ax, (title, found) in zip(axes, curves.items(), strict=True):
        mean = found.mean(axis=1)
        error = 2 * found.std(axis=1) / np.sqrt(REPETITIONS)
        names = ("LDA", "logistic regression")
        for name, middle, band, marker in zip(names, mean.T, error.T, "os", strict=True):
            ax.plot(SIZES, middle, marker=marker, markersize=4, label=name)
            ax.fill_between(SIZES, middle - band, middle + band, alpha=0.2)
        ax.set_xscale("log")
        ax.set_xticks(SIZES, SIZES)
        ax.minorticks_off()
        ax.set_title(title)
        ax.set_xlabel("examples learned")
        ax.grid(alpha=0.3)
    axes[0].set_ylabel(f"test accuracy, mean of {REPETITIONS}")
    axes[0].legend(loc="lower right")
    figure.savefig(path, dpi=120)


def main(path):
    """Return by how much the accuracy of LDA is higher: {data: (sizes,)}."""
    kinds = {"normal": normal, "Poisson counts": counts, "exponential times": waiting_times}
    curves = {
        title: np.array([accuracies(draw, n) for n in SIZES]) for title, draw in kinds.items()
    }
    draw_figure(curves, path)
    return {title: found[..., 0] - found[..., 1] for title, found in curves.items()}


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else "gda_against_logistic.png"
    leads = main(path)
    for title, lead in leads.items():
        mean, error = lead.mean(axis=1), lead.std(axis=1) / np.sqrt(REPETITIONS)
        print(title, *(f"{n}: {m:+.3f}" for n, m in zip(SIZES, mean, strict=True)))
        if title == "normal":
            assert (mean > 3 * error)[:2].all()
            assert (mean > -0.001).all()
        else:
            assert mean[-1] < -0.005
            assert (mean < -3 * error)[-2:].all()
    print(f"is LDA's lead over logistic regression, by the number of examples; drawn in {path}")
