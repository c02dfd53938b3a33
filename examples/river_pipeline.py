"""Predict, then learn, one event at a time, in a pipeline of River.

    python examples/river_pipeline.py

The model is a River classifier like any other: it goes where one goes.
"""

from river import datasets, metrics
from river.preprocessing import StandardScaler

from streamnb import GaussianNB


def main() -> float:
    """Return the accuracy of the predictions that were made before each label was known."""
    model = StandardScaler() | GaussianNB()
    accuracy = metrics.Accuracy()
    for x, y in datasets.ImageSegments():
        predicted = model.predict_one(x)
        if predicted is not None:
            accuracy.update(y, predicted)
        model.learn_one(x, y)
    return accuracy.get()


if __name__ == "__main__":
    accuracy = main()
    print(f"accuracy {accuracy:.4f}")
    assert abs(accuracy - 0.7887) < 0.0001
