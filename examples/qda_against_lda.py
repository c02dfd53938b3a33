"""Quadratic against linear discriminant analysis, on round and on elongated clusters.

    python examples/qda_against_lda.py [qda_against_lda.png]

Round clusters of one size share a covariance: a line is the best there is, and LDA finds it. Where
each cluster is elongated in its own direction, the best border is curved, and only QDA has it.
"""

import sys

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from scipy.stats import norm

from streamnb import LDA, QDA

LEARNED, ASKED = 200, 20_000
LABELS = np.array(["a", "b"])
COLOURS = ["tab:blue", "tab:orange"]
MEANS = {"a": {"x": -1.0, "y": 0.0}, "b": {"x": 1.0, "y": 0.0}}
ROUND = {"a": [[1.0, 0.0], [0.0, 1.0]], "b": [[1.0, 0.0], [0.0, 1.0]]}
ELONGATED = {"a": [[2.0, 1.8], [1.8, 2.0]], "b": [[2.0, -1.8], [-1.8, 2.0]]}


def draw(rng, covariances, n):
    """Examples of both classes in turn, (n, 2), and their labels."""
    X = np.empty((n, 2))
    for at, label in enumerate(LABELS):
        mean = list(MEANS[label].values())
        X[at::2] = rng.multivariate_normal(mean, covariances[label], len(X[at::2]))
    return X, LABELS[np.arange(n) % 2]


def draw_panel(ax, model, X, y):
    """The regions of a model's answers, and the examples that it learned."""
    side = np.linspace(-5, 5, 301)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    found = (model.predict_many(grid, columns=["x", "y"]) == "b").reshape(len(side), len(side))
    ax.contourf(side, side, found, levels=1, cmap=ListedColormap(COLOURS), alpha=0.2)
    ax.contour(side, side, found, levels=[0.5], colors="black", linewidths=1)
    for label, colour in zip(LABELS, COLOURS, strict=True):
        ax.scatter(*X[y == label].T, s=8, color=colour, label=f"class {label}")
    ax.set(xlim=(-5, 5), ylim=(-5, 5), aspect="equal")


def main(path):
    """Return {clusters: {model: accuracy}}; the best is that of the true densities."""
    rng = np.random.default_rng(229)
    figure = Figure(figsize=(8, 8), layout="constrained")
    rows = figure.subplots(2, 2, sharex=True, sharey=True)
    accuracies = {}
    for row, (clusters, covariances) in zip(
        rows, {"round": ROUND, "elongated": ELONGATED}.items(), strict=True
    ):
        X, y = draw(rng, covariances, LEARNED)
        X_test, y_test = draw(rng, covariances, ASKED)
        models = {"LDA": LDA(), "QDA": QDA()}
        models["best"] = QDA.from_parameters(means=MEANS, covariances=covariances)
        found = accuracies[clusters] = {}
        for name, model in models.items():
            if name != "best":
                model.learn_many(X, y, columns=["x", "y"])
            answers = model.predict_many(X_test, columns=["x", "y"])
            found[name] = float(np.mean(answers == y_test))
        for ax, name in zip(row, ("LDA", "QDA"), strict=True):
            draw_panel(ax, models[name], X, y)
            ax.set_title(f"{name}, {clusters}: {found[name]:.3f} (best {found['best']:.3f})")
        row[0].set_ylabel("y")
    for ax in rows[1]:
        ax.set_xlabel("x")
    rows[0, 0].legend(loc="upper left")
    figure.suptitle(f"{LEARNED} examples learned; accuracy on {ASKED:,} others")
    figure.savefig(path, dpi=120)
    return accuracies


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else "qda_against_lda.png"
    found = main(path)
    for clusters, accuracies in found.items():
        print(clusters, *(f"{name}: {accuracy:.4f}" for name, accuracy in accuracies.items()))
    print(f"is the accuracy; drawn in {path}")
    # Round clusters 2 apart: the best accuracy is that of the standard normal distribution at 1.
    assert abs(found["round"]["best"] - norm.cdf(1)) < 0.01
    assert abs(found["round"]["LDA"] - found["round"]["best"]) < 0.01
    assert abs(found["round"]["QDA"] - found["round"]["best"]) < 0.01
    assert found["elongated"]["QDA"] > found["elongated"]["best"] - 0.01
    assert found["elongated"]["LDA"] < found["elongated"]["QDA"] - 0.1
