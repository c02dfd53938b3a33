"""The blocks of a model: a likelihood, what it has seen, and how events and tables come to it.

Every block learns every event, if only its label and weight, so that each knows the classes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamnb import frames, sparse
from streamnb._kernels import categories, counts, moments, unlearning
from streamnb.bayes import Scorer
from streamnb.likelihoods import Bag, Boolean, Categorical, Gaussian, Poisson, Text
from streamnb.models.kinds import check_bool
from streamnb.stats.counts import Counts
from streamnb.stats.counts_state import CountsState
from streamnb.stats.fields import FieldCounts
from streamnb.stats.index import (
    CodedLabels,
    Label,
    Name,
    canonical_label,
    canonical_name,
    order_key,
)
from streamnb.stats.moments import Moments
from streamnb.stats.moments_state import MomentsState
from streamnb.values import count, is_missing, needed_time, number

__all__ = ["Block", "make_blocks"]

Floats = NDArray[np.float64]


class Block(ABC):
    """Features that one likelihood reads, and their statistic, with its half-life in milliseconds.

    The blocks of a model learn the same events, so that all have the same landmark.
    """

    always: bool = False
    """Whether an event that has nothing of the block says something all the same."""
    whole: ClassVar[bool] = False
    """Whether the block is one feature, whose value is all that it learns of an event."""
    bools: ClassVar[bool] = False
    """Whether its values must be bools."""

    likelihood: Any
    statistic: Any
    _table: Any

    def __init__(self, likelihood: Any, half_life: int | None, statistic: Any) -> None:
        self.likelihood = likelihood
        self.half_life = half_life
        self.statistic = statistic
        self._table = statistic.table

    @abstractmethod
    def learn(self, x: Any, y: Any, w: float, t: Any = None) -> None:
        """Learns the block's part of an event, as `learn_one` would."""

    def check_event(self, x: Any, y: Any, w: float, t: Any = None) -> None:
        """Raises what `learn` would, and changes nothing."""
        self._table.check_event(x, y, w, t)

    @abstractmethod
    def unlearn(self, x: Any, y: Any, w: float, t: Any = None) -> None:
        """Takes back the block's part of an event, as `unlearn_one` would."""

    def unlearned(self, x: Any, y: Any, w: float, t: Any = None) -> Self:
        """A copy that has taken back the block's part of an event; raises as `unlearn_one`."""
        block = self.merged([self])
        block.unlearn(x, y, w, t)
        return block

    def _forget(self, label: Label | None) -> None:
        """Leaves out what has no weight left: a class, where one is named."""
        self.statistic = self.statistic.without(None if label is None else canonical_label(label))
        self._table = self.statistic.table

    @abstractmethod
    def read(self, columns: Mapping[Name, Any], n: int) -> Any:
        """The block's columns of a table of n rows as its statistic takes them; raises by row."""

    def check_rows(
        self, rows: Any, labels: CodedLabels, weights: Floats, times: list[int] | None
    ) -> None:
        """Raises what `learn_rows` would, and changes nothing."""
        self.statistic.check_rows(rows, labels, weights, times)

    def learn_rows(
        self, rows: Any, labels: CodedLabels, weights: Floats, times: list[int] | None
    ) -> None:
        """Learns rows that `read` has read."""
        self.statistic.learn_rows(rows, labels, weights, times)

    def scorer(self, labels: list[Label], log_prior: Floats | None, counts: Floats) -> Scorer:
        """As `streamnb.likelihoods.Gaussian.scorer`."""
        scorer: Scorer = self.likelihood.scorer(self.statistic, labels, log_prior, counts)
        return scorer

    @abstractmethod
    def cells(self, rows: Any) -> tuple[Any, ...]:
        """What the scorer's `scores_many` takes of rows that `read` has read."""

    @abstractmethod
    def names(self) -> list[Name]:
        """The features that were seen."""

    @abstractmethod
    def of(self, label: Label) -> dict[Name, dict[Any, float]]:
        """The counts of a class by feature; `{}` where the block counts nothing."""

    @abstractmethod
    def merged(self, parts: Iterable[Block]) -> Self:
        """A block like this of what one would have learned that had the events of all."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """The statistic as plain data."""

    @abstractmethod
    def with_state(self, state: Mapping[str, Any]) -> Self:
        """A block like this of the statistic that gave `state`; raises `ValueError`."""


class NumberBlock(Block):
    """Features that are numbers."""

    statistic: Moments
    learn = moments.learn_one
    unlearn = unlearning.unlearn_one

    def __init__(
        self,
        likelihood: Gaussian | Poisson,
        half_life: int | None = None,
        statistic: Moments | None = None,
    ) -> None:
        self.positive = isinstance(likelihood, Poisson)
        empty = Moments(half_life, positive=self.positive)
        super().__init__(likelihood, half_life, empty if statistic is None else statistic)

    def check_event(self, x: Any, y: Any, w: float, t: Any = None) -> None:
        """Raises what `learn` would, and changes nothing."""
        self._table.read(x)
        given = w
        if self.statistic.fading is not None:
            w = self.statistic.fading.weigh(w, needed_time(t))
        sizes = (abs(number(value, name)) for name, value in x.items())
        ordinary = moments.SMALL_WEIGHT <= w <= moments.LARGE_WEIGHT and self._table.is_bounded()
        if not ordinary or not all(
            math.isnan(v) or v == 0.0 or moments.SMALL_VALUE <= v <= moments.LARGE_VALUE
            for v in sizes
        ):
            NumberBlock(self.likelihood, self.half_life, self._copy()).learn(x, y, given, t)

    def _copy(self) -> Moments:
        return Moments.from_state(self.statistic.state(), self.half_life, positive=self.positive)

    def read(self, columns: Mapping[Name, Any], n: int) -> frames.Table:
        """The columns as numbers."""
        names, cells = list(columns), list(columns.values())
        return frames.numbers_of(names, cells, n, positive=self.positive)

    def check_rows(
        self, rows: frames.Table, labels: CodedLabels, weights: Floats, times: list[int] | None
    ) -> None:
        """Raises what `learn_rows` would, and changes nothing."""
        cells = rows.names, rows.values, labels, weights, rows.found
        self.statistic.check_rows(*cells, times=times)

    def learn_rows(
        self, rows: frames.Table, labels: CodedLabels, weights: Floats, times: list[int] | None
    ) -> None:
        """Learns rows that `read` has read."""
        cells = rows.names, rows.values, labels, weights, rows.found
        self.statistic.learn_rows(*cells, times=times)

    def cells(self, rows: frames.Table) -> tuple[Any, ...]:
        """The values, and the slots of the columns."""
        known = self.statistic.features.slots
        return rows.values, np.array([known.get(name, -1) for name in rows.names], dtype=np.intp)

    def names(self) -> list[Name]:
        """The features that were seen."""
        return self.statistic.names()

    def of(self, label: Label) -> dict[Name, dict[Any, float]]:  # noqa: ARG002 - nothing is counted
        """`{}`."""
        return {}

    def merged(self, parts: Iterable[Block]) -> Self:
        """A block of what one would have learned that had the events of all."""
        statistics = (part.statistic for part in parts)
        whole = Moments.merged(statistics, self.half_life, positive=self.positive)
        return type(self)(self.likelihood, self.half_life, whole)

    def state(self) -> dict[str, Any]:
        """The statistic as plain data."""
        return self.statistic.state().packed()

    def with_state(self, state: Mapping[str, Any]) -> Self:
        """A block of the statistic that gave `state`."""
        unpacked = MomentsState.unpacked(state)
        taken = Moments.from_state(unpacked, self.half_life, positive=self.positive)
        return type(self)(self.likelihood, self.half_life, taken)


class CategoryBlock(Block):
    """Features that are one value of several."""

    statistic: FieldCounts
    learn = categories.learn_one
    unlearn = counts.unlearn_one

    def __init__(
        self,
        likelihood: Categorical,
        half_life: int | None = None,
        statistic: FieldCounts | None = None,
    ) -> None:
        empty = FieldCounts(half_life)
        super().__init__(likelihood, half_life, empty if statistic is None else statistic)

    def read(self, columns: Mapping[Name, Any], n: int) -> Any:
        """The columns as tokens of features and values."""
        return sparse.rows_of_fields(list(columns), list(columns.values()), n)

    def cells(self, rows: Any) -> tuple[Any, ...]:
        """The rows, and the slots of their tokens."""
        return rows.bounds, rows.columns, self.statistic.slots_of(rows)

    def names(self) -> list[Name]:
        """The features that were seen."""
        return self.statistic.names()

    def of(self, label: Label) -> dict[Name, dict[Any, float]]:
        """The counts of a class by feature and value."""
        return self.statistic.values(label)

    def merged(self, parts: Iterable[Block]) -> Self:
        """A block of what one would have learned that had the events of all."""
        statistics = [part.statistic for part in parts]
        return type(self)(self.likelihood, self.half_life, self.statistic.merged(statistics))

    def state(self) -> dict[str, Any]:
        """The statistic as plain data."""
        return self.statistic.packed()

    def with_state(self, state: Mapping[str, Any]) -> Self:
        """A block of the statistic that gave `state`."""
        taken = FieldCounts.unpacked(state, self.half_life)
        return type(self)(self.likelihood, self.half_life, taken)


class BooleanBlock(CategoryBlock):
    """Features that are `True` or `False`."""

    bools: ClassVar[bool] = True

    def read(self, columns: Mapping[Name, Any], n: int) -> Any:
        """The columns as tokens, where they are bools."""
        for name, column in columns.items():
            for row, value in enumerate(column):
                try:
                    check_bool(value, name)
                except TypeError as error:
                    msg = f"row {row}: {error}"
                    raise TypeError(msg) from None
        return super().read(columns, n)


class BagBlock(Block):
    """One feature whose values are bags of tokens, or texts; absent, it has no tokens."""

    whole: ClassVar[bool] = True
    statistic: Counts
    learn = counts.learn_one
    unlearn = counts.unlearn_one

    def __init__(
        self,
        name: Name,
        likelihood: Bag | Text,
        half_life: int | None = None,
        statistic: Counts | None = None,
    ) -> None:
        self.name = name
        self.always = likelihood.event == "bernoulli"
        threshold = likelihood.threshold if isinstance(likelihood, Bag) else 0.0
        self._bag = _reader(name, likelihood)
        empty = Counts(
            self._bag, binary=self.always, threshold=float(threshold), half_life=half_life
        )
        super().__init__(likelihood, half_life, empty if statistic is None else statistic)

    def read(self, columns: Mapping[Name, Any], n: int) -> Any:
        """The column as tokens and counts."""
        rows = sparse.read_bags(columns.get(self.name, [None] * n), self._bag)
        if self.statistic.binary:
            rows = sparse.thresholded(rows, self.statistic.threshold)
        return rows

    def cells(self, rows: Any) -> tuple[Any, ...]:
        """The rows, and the slots of their tokens."""
        return rows.bounds, rows.columns, rows.values, self.statistic.slots_of(rows)

    def names(self) -> list[Name]:
        """The feature, where tokens of it were seen."""
        return [self.name] if self.statistic.table.vocabulary() else []

    def of(self, label: Label) -> dict[Name, dict[Any, float]]:
        """The counts of a class by token."""
        found: dict[Any, float] = self.statistic.of(label)
        return {self.name: found} if found else {}

    def merged(self, parts: Iterable[Block]) -> Self:
        """A block of what one would have learned that had the events of all."""
        whole = self.statistic.merged([part.statistic for part in parts])
        return type(self)(self.name, self.likelihood, self.half_life, whole)

    def state(self) -> dict[str, Any]:
        """The statistic as plain data."""
        return self.statistic.state().packed()

    def with_state(self, state: Mapping[str, Any]) -> Self:
        """A block of the statistic that gave `state`."""
        taken = self.statistic.with_state(CountsState.unpacked(state))
        return type(self)(self.name, self.likelihood, self.half_life, taken)


def _reader(name: Name, likelihood: Bag | Text) -> Any:
    """What makes canonical tokens and counts above 0 of a value; `None` has none."""
    if isinstance(likelihood, Text):
        field = likelihood.field
        return lambda value: likelihood.bag({field: None if is_missing(value) else value})

    def bag(value: Any) -> dict[Name, float]:
        if is_missing(value):
            return {}
        if not isinstance(value, Mapping):
            msg = (
                f"feature {name!r}: a mapping of tokens to counts is wanted, "
                f"not {value!r} ({type(value).__name__})"
            )
            raise TypeError(msg)
        found = {canonical_name(token): count(n, (name, token)) for token, n in value.items()}
        return {token: n for token, n in found.items() if n > 0.0}

    return bag


def make_blocks(
    likelihoods: Mapping[Name, Any], half_life: int | None
) -> tuple[list[Block], dict[Name, int]]:
    """Empty blocks, and the place among them of each feature that is named.

    First those of the features that are not named, by `kind_of`; then those that are named, in
    canonical order. Features whose likelihoods are equal share a block, those of bags and texts
    do not: a vocabulary is one feature's own.
    """
    blocks: list[Block] = [
        NumberBlock(Gaussian(), half_life),
        BooleanBlock(Boolean(), half_life),
        CategoryBlock(Categorical(), half_life),
    ]
    known = {block.likelihood: place for place, block in enumerate(blocks)}
    places: dict[Name, int] = {}
    for name in sorted(likelihoods, key=order_key):
        likelihood = likelihoods[name]
        make = _BLOCKS.get(type(likelihood))
        if make is None:
            blocks.append(BagBlock(name, likelihood, half_life))
            places[name] = len(blocks) - 1
            continue
        if likelihood not in known:
            known[likelihood] = len(blocks)
            blocks.append(make(likelihood, half_life))
        places[name] = known[likelihood]
    return blocks, places


_BLOCKS: dict[type[Any], Any] = {
    Gaussian: NumberBlock,
    Poisson: NumberBlock,
    Boolean: BooleanBlock,
    Categorical: CategoryBlock,
}
