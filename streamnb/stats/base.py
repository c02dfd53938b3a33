"""What every statistic does: learn, merge, fade, forget, and give its state back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from streamnb.stats.index import CodedLabels, Label, Name

__all__ = ["Statistic"]


class Statistic(Protocol):
    """What was seen of one block of features, by class.

    `Moments` of numbers, `Scatter` of numbers that vary together, `Counts` of tokens and
    `FieldCounts` of categories are the statistics there are. Slots never show: all that leaves is
    in canonical order. What has no weight does not exist. Merging, fading by powers of two and the
    way to bytes are laws, tested for all of them: the merge commutes to the bit, the empty
    statistic is its zero, `scale` distributes over it, and `restored(packed())` is the same.

    With a `half_life`, in milliseconds, weights fade with the events' times: what is stored is of
    the landmark, the last multiple of the half-life before the newest event, what is answered of
    the time of that event.

    `table` is the kernel's: one event is learned by a compiled function that takes it.
    """

    half_life: int | None
    table: Any

    def like(self) -> Self:
        """An empty statistic that sees events as this one does."""

    def check_rows(
        self,
        rows: Any,
        labels: CodedLabels,
        weights: NDArray[np.float64],
        times: Sequence[int] | None = None,
    ) -> Any:
        """Raises what `learn_rows` would, and changes nothing."""

    def learn_rows(
        self,
        rows: Any,
        labels: CodedLabels,
        weights: NDArray[np.float64],
        times: Sequence[int] | None = None,
    ) -> None:
        """Learns the rows of a table in their order, or, where one is refused, none of them.

        Parameters
        ----------
        rows
            the table as the statistic takes it.
        labels
            of the rows.
        weights
            (n,), finite and not negative.
        times
            (n,) in milliseconds; needed with a half-life.

        Raises
        ------
        ValueError
            a row would make a statistic infinite, or has no time where one is needed; names its
            position.
        """

    def merged(self, parts: Iterable[Self]) -> Self:
        """What one statistic like this would hold that had learned the events of all parts.

        In their order; the parts stay as they are, and are joined at the latest of their
        landmarks. None at all, or empty ones, give an empty one.

        Raises
        ------
        ValueError
            a statistic would be infinite.
        """

    def scale(self, exponent: int) -> Self:
        """A copy whose weights, and all that grows with them, are multiplied by 2**exponent.

        Exact, but for what would leave the range of a double: below 2**-900 it is nothing, and
        its class stays only where there is a half-life.

        Raises
        ------
        ValueError
            a statistic would be infinite.
        """

    def without(self, label: Label | None) -> Self:
        """A copy without what has no weight, and without the class of that label.

        Without any class it is empty, and knows no time.
        """

    def is_bounded(self) -> bool:
        """Whether so many like this can be merged as memory holds, and no statistic is infinite."""

    def weights(self) -> dict[Label, float]:
        """The weight that each class has seen, in canonical order."""

    def names(self) -> list[Name]:
        """The features, or tokens, that were seen, in canonical order."""

    def packed(self) -> dict[str, Any]:
        """All that was seen, in canonical order, as plain data and arrays."""

    def restored(self, packed: Mapping[str, Any]) -> Self:
        """A statistic like this that has seen what `packed` gave. The arrays are copied.

        Raises
        ------
        ValueError
            it cannot have been learned, or not with this half-life.
        """
