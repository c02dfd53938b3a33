"""The covariances of the CS229 lecture notes, and their estimates, as contours.

    python examples/covariance_contours.py [covariance_contours.png]

In threes, as the notes draw them: first the size is varied, then the correlation, then its sign and
one of the variances (A. Ng, CS229 lecture notes, part IV). Each is a class of one QDA.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from streamnb import QDA

COLUMNS = ["x", "y"]
LEARNED = 500  # of each class
COVARIANCES = {
    "I": [[1.0, 0.0], [0.0, 1.0]],
    "0.6 I": [[0.6, 0.0], [0.0, 0.6]],
    "2 I": [[2.0, 0.0], [0.0, 2.0]],
    "[1, 0; 0, 1]": [[1.0, 0.0], [0.0, 1.0]],
    "[1, 0.5; 0.5, 1]": [[1.0, 0.5], [0.5, 1.0]],
    "[1, 0.8; 0.8, 1]": [[1.0, 0.8], [0.8, 1.0]],
    "[1, -0.5; -0.5, 1]": [[1.0, -0.5], [-0.5, 1.0]],
    "[1, -0.8; -0.8, 1]": [[1.0, -0.8], [-0.8, 1.0]],
    "[3, 0.8; 0.8, 1]": [[3.0, 0.8], [0.8, 1.0]],
}


def density(model, X):
    """The density in each class, {label: (n,)}."""
    joint = model.joint_log_likelihood_many(X, columns=COLUMNS) + np.log(len(model.classes))
    return dict(zip(model.classes, np.exp(joint).T, strict=True))


def draw_figure(truth, learned, samples, path):
    """A panel for each covariance: examples, the true density, and the learned one."""
    figure = Figure(figsize=(9.5, 10), layout="constrained")
    axes = figure.subplots(3, 3, sharex=True, sharey=True)
    side = np.linspace(-5.6, 5.6, 225)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    true, found = density(truth, grid), density(learned, grid)
    for ax, (label, covariance) in zip(axes.flat, COVARIANCES.items(), strict=True):
        # At 1, 2 and 3 standard deviations from the mean.
        levels = np.exp([-4.5, -2.0, -0.5]) / (2 * np.pi * np.sqrt(np.linalg.det(covariance)))
        ax.scatter(*samples[label].T, s=3, color="silver")
        for values, colour, style in ((true, "black", "-"), (found, "tab:red", "--")):
            values_here = values[label].reshape(len(side), len(side))
            ax.contour(side, side, values_here, levels, colors=colour, linestyles=style)
        ax.set(title=f"covariance {label}", aspect="equal", xlim=side[[0, -1]], ylim=side[[0, -1]])
    for at in range(3):
        axes[2, at].set_xlabel("x")
        axes[at, 0].set_ylabel("y")
    ax = axes[0, 0]
    ax.plot([], [], color="black", label="given")
    ax.plot([], [], "--", color="tab:red", label=f"from {LEARNED} examples")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    figure.savefig(path, dpi=110)


def main(path):
    """Return how far each estimate is off, in standard errors: {label: (2, 2)}."""
    rng = np.random.default_rng(229)
    samples = {
        label: rng.multivariate_normal([0.0, 0.0], covariance, LEARNED)
        for label, covariance in COVARIANCES.items()
    }
    learned = QDA()
    for label, X in samples.items():
        learned.learn_many(X, [label] * LEARNED, columns=COLUMNS)
    truth = QDA.from_parameters(
        means={label: {"x": 0.0, "y": 0.0} for label in COVARIANCES}, covariances=COVARIANCES
    )
    draw_figure(truth, learned, samples, path)
    off = {}
    for label, covariance in COVARIANCES.items():
        given = np.array(covariance)
        variances = given.diagonal()
        # The variance of an entry of the estimate (Wishart's distribution).
        error = np.sqrt((np.outer(variances, variances) + given**2) / LEARNED)
        off[label] = (learned.covariance(label) - given) / error
    return off


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else "covariance_contours.png"
    off = main(path)
    largest = max(np.abs(each).max() for each in off.values())
    print(f"{len(off)} covariances, each entry within {largest:.2f} standard errors; in {path}")
    assert largest < 3.5
    # Of 27 different entries about two thirds lie within one standard error.
    near = np.mean([np.abs(each[np.triu_indices(2)]) < 1 for each in off.values()])
    assert 0.4 < near < 0.95
