"""The demo's events: ImageSegments, a part held out, the rest repeated with seeded noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray
from river.datasets import ImageSegments

__all__ = ["Events", "image_segments"]

SEED = 7
_COPIES = 109
_HELD_OUT_PART = 0.2
_NOISE = 0.05
"""The noise's standard deviation, in standard deviations of each feature."""

_encode = msgspec.json.Encoder().encode

Features = dict[str, float]


@dataclass(frozen=True)
class Events:
    """Labelled events in a fixed order, one row each."""

    names: tuple[str, ...]
    rows: NDArray[np.float64]
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[tuple[Features, str]]:
        for row, label in zip(self.rows, self.labels, strict=True):
            yield dict(zip(self.names, row.tolist(), strict=True)), label

    def encoded(self) -> Iterator[bytes]:
        """Yield the events as JSON, as they go through a topic or a file."""
        for x, y in self:
            yield _encode({"x": x, "y": y})

    def part(self, rows: NDArray[np.intp]) -> Events:
        """Return the events of these rows, in this order."""
        labels = tuple(self.labels[row] for row in rows)
        return Events(self.names, self.rows[rows], labels)


def image_segments() -> tuple[Events, Events]:
    """Return the events to learn, and those held out: the same on every machine and in every run.

    The held-out part is 462 of the 2,310 segments as they are; no copy of them is learned.
    """
    segments = list(ImageSegments())  # type: ignore[no-untyped-call]  # river has no types
    names = tuple(segments[0][0])
    rows = np.array([[float(x[name]) for name in names] for x, _ in segments])
    whole = Events(names, rows, tuple(str(y) for _, y in segments))

    random = np.random.default_rng(SEED)
    order = random.permutation(len(whole))
    cut = round(_HELD_OUT_PART * len(whole))
    copies = whole.part(random.permutation(np.tile(order[cut:], _COPIES)))
    noise = _NOISE * rows.std(axis=0) * random.standard_normal(copies.rows.shape)
    # rounded as sensors do: a short text in JSON, which every parser reads as the same number
    learned = Events(names, np.round(copies.rows + noise, 5), copies.labels)
    return learned, whole.part(order[:cut])
