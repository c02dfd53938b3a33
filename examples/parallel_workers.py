"""Learn the parts of a data set in as many processes, and merge what they learned.

    python examples/parallel_workers.py

What the workers send back is bytes of a documented format, not pickles. The merge is what one
pass over all parts would have learned: every count to the last bit, every mean and variance to
fourteen digits and more.
"""

import itertools
from concurrent.futures import ProcessPoolExecutor

from river import datasets

import streamnb

WORKERS = 4


def learn_part(number: int) -> bytes:
    """Learn every fourth event, from this number on."""
    model = streamnb.GaussianNB()
    for x, y in itertools.islice(datasets.ImageSegments(), number, None, WORKERS):
        model.learn_one(x, y)
    return streamnb.dumps(model)


def main() -> tuple[streamnb.GaussianNB, float]:
    """Return the merged model, and the largest relative difference of its means to one pass."""
    with ProcessPoolExecutor(WORKERS) as pool:
        merged = streamnb.merge(map(streamnb.loads, pool.map(learn_part, range(WORKERS))))

    one_pass = streamnb.GaussianNB()
    for x, y in datasets.ImageSegments():
        one_pass.learn_one(x, y)
    assert merged.class_weight == one_pass.class_weight
    difference = max(
        abs(mean - one_pass.means(label)[name]) / abs(mean)
        for label in merged.classes
        for name, mean in merged.means(label).items()
        if mean != 0.0
    )
    return merged, difference


if __name__ == "__main__":
    model, difference = main()
    events = sum(model.class_weight.values())
    print(f"{events:.0f} events of {len(model.classes)} classes from {WORKERS} workers")
    print(f"means equal to those of one pass to within {difference:g} of their size")
    assert events == 2310
    assert difference <= 1e-14
