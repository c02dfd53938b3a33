"""What GaussianNB and QDA make of correlated features, beside the truth.

    python examples/density_and_posterior.py [density_and_posterior.png]

The classes are normal and their features correlated, in opposite directions. QDA estimates their
joint density. GaussianNB takes the features as independent: the ellipses of its densities stand
upright, and its posterior probability is wrong however much it learns.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from streamnb import QDA, GaussianNB

COLUMNS = ["x", "y"]
MEANS = {"a": {"x": 0.0, "y": 0.0}, "b": {"x": 1.5, "y": 1.5}}
COVARIANCES = {"a": [[1.0, 0.8], [0.8, 1.0]], "b": [[1.0, -0.5], [-0.5, 1.0]]}
LEARNED = 5_000  # of each class
SLICE = 1.5  # the y of the slice
SIDE = np.linspace(-3.0, 4.5, 151)


def draw(rng, n):
    """Examples of the true joint distribution, (2 n, 2), and their labels."""
    parts = [
        rng.multivariate_normal(list(MEANS[label].values()), COVARIANCES[label], n)
        for label in MEANS
    ]
    return np.concatenate(parts), np.repeat(list(MEANS), n)


def density(model, X):
    """The density of the features in each class, (n, 2): all classes are equally probable."""
    return 2 * np.exp(model.joint_log_likelihood_many(X, columns=COLUMNS))


def posterior(model, X):
    """The probability of class b, (n,)."""
    return model.predict_proba_many(X, columns=COLUMNS)[:, 1]


def draw_figure(models, path):
    """Densities above, posterior surfaces below, and a slice through these."""
    figure = Figure(figsize=(11, 11), layout="constrained")
    axes = figure.subplot_mosaic("012;345;666", height_ratios=[1, 1, 0.8])
    grid = np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2)
    line = np.stack([SIDE, np.full_like(SIDE, SLICE)], axis=-1)
    surface = None
    for at, (name, model) in enumerate(models.items()):
        above, below = axes[str(at)], axes[str(at + 3)]
        shape = (len(SIDE), len(SIDE))
        for values, colour in zip(density(model, grid).T, ("tab:blue", "tab:red"), strict=True):
            levels = values.max() * np.exp([-4.5, -2.0, -0.5])  # 3, 2 and 1 standard deviations
            above.contour(SIDE, SIDE, values.reshape(shape), levels, colors=colour)
        above.set_title(f"{name}: densities")
        p = posterior(model, grid).reshape(shape)
        surface = below.contourf(SIDE, SIDE, p, np.linspace(0, 1, 11), cmap="coolwarm")
        below.contour(SIDE, SIDE, p, [0.5], colors="black")
        below.axhline(SLICE, color="black", linestyle=":")
        below.set_title(f"{name}: probability of b")
        for ax in (above, below):
            ax.set(aspect="equal", xlabel="x", ylabel="y")
        style = "--" if name == "QDA" else "-"
        colour = "black" if name == "truth" else f"C{at}"
        axes["6"].plot(SIDE, posterior(model, line), style, color=colour, label=name)
    for label, colour, y in (("a", "tab:blue", -2.0), ("b", "tab:red", -2.6)):
        axes["0"].text(2.6, y, f"class {label}", color=colour)
    figure.colorbar(surface, ax=axes["5"], shrink=0.9)
    axes["6"].set(title=f"the slice y = {SLICE}", xlabel="x", ylabel="probability of b")
    axes["6"].set_xlim(SIDE[0], SIDE[-1])
    axes["6"].grid(alpha=0.3)
    axes["6"].legend()
    figure.savefig(path, dpi=110)


def main(path):
    """Return the mean absolute error of each model's posterior probability."""
    rng = np.random.default_rng(229)
    X, y = draw(rng, LEARNED)
    models = {
        "truth": QDA.from_parameters(means=MEANS, covariances=COVARIANCES),
        "QDA": QDA(),
        "GaussianNB": GaussianNB(),
    }
    for name in ("QDA", "GaussianNB"):
        models[name].learn_many(X, y, columns=COLUMNS)
    draw_figure(models, path)
    asked, _ = draw(rng, 10_000)
    true = posterior(models["truth"], asked)
    return {
        name: float(np.abs(posterior(model, asked) - true).mean()) for name, model in models.items()
    }


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else "density_and_posterior.png"
    error = main(path)
    for name in ("QDA", "GaussianNB"):
        print(f"{name}: the posterior probability is off by {error[name]:.4f} in the mean")
    print(f"drawn in {path}")
    assert error["QDA"] < 0.01
    assert error["GaussianNB"] > 0.05
