"""The blocks of a model: a likelihood, what it has seen, and how events and tables come to it.

Most models are one block, which reads whole events and tables; `MixedNB` has several, each with a
part of them. Every block learns every event, if only its label and weight, so that each knows the
classes.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamnb import frames, sparse
from streamnb._kernels import categories, counts, moments, scatter, unlearning
from streamnb.bayes import Scorer
from streamnb.likelihoods import Bag, Boolean, Categorical, Gaussian, Text
from streamnb.likelihoods.base import Likelihood
from streamnb.models.kinds import check_bool
from streamnb.stats.base import Statistic
from streamnb.stats.counts import Counts
from streamnb.stats.counts_state import SparseRows
from streamnb.stats.fields import FieldCounts
from streamnb.stats.index import Label, Name, canonical_label, canonical_name, order_key
from streamnb.stats.moments import Moments
from streamnb.stats.scatter import Scatter
from streamnb.values import check_weight, count, event_time, is_missing, needed_time, number

__all__ = ["BLOCKS", "BagBlock", "Block", "NumberBlock", "TokenBlock", "make_blocks"]

Floats = NDArray[np.float64]


class Block(ABC):
    """Features that one likelihood reads, and their statistic.

    The blocks of a model learn the same events, so that all have the same landmark.
    """

    always: bool = False
    """Whether an event that has nothing of the block says something all the same."""
    whole: ClassVar[bool] = False
    """Whether the block is one feature, whose value is all that it learns of an event."""
    bools: ClassVar[bool] = False
    """Whether its values must be bools."""

    statistic: Any
    _table: Any

    def __init__(self, likelihood: Likelihood, statistic: Statistic) -> None:
        self.likelihood = likelihood
        self._take(statistic)

    def _take(self, statistic: Any) -> None:
        self.statistic = statistic
        self._table = statistic.table

    def with_statistic(self, statistic: Any) -> Self:
        """A block like this that has seen something else."""
        block = copy.copy(self)
        block._take(statistic)
        return block

    def merged(self, parts: Iterable[Block]) -> Self:
        """A block like this of what one would have learned that had the events of all."""
        return self.with_statistic(self.statistic.merged([part.statistic for part in parts]))

    @property
    def positive(self) -> bool:
        """Whether negative values are refused."""
        return self.likelihood.nonnegative

    # -- one event -------------------------------------------------------------------------

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
        self._take(self.statistic.without(None if label is None else canonical_label(label)))

    # -- tables: a block that can be a model's only one has `read_table`, the number of rows and
    # -- these as the statistic takes them; one that can be one of several has `read`, of columns.

    @abstractmethod
    def cells(self, rows: Any) -> tuple[Any, ...]:
        """What the scorer's `scores_many` takes of rows that were read."""

    # -- answers ---------------------------------------------------------------------------

    def scorer(
        self, likelihood: Any, labels: list[Label], log_prior: Floats | None, counts: Floats
    ) -> Scorer:
        """As `Likelihood.scorer`, of what the block has seen."""
        scorer: Scorer = likelihood.scorer(self.statistic, labels, log_prior, counts)
        return scorer

    def names(self) -> list[Name]:
        """The features that were seen, in canonical order."""
        names: list[Name] = self.statistic.names()
        return names

    def of(self, label: Label) -> dict[Name, dict[Any, float]]:  # noqa: ARG002 - some count nothing
        """The counts of a class by feature; `{}` where the block counts nothing."""
        return {}


class NumberBlock(Block):
    """Features that are numbers."""

    statistic: Moments
    learn = moments.learn_one
    unlearn = unlearning.unlearn_one

    def __init__(self, likelihood: Likelihood, half_life: int | None) -> None:
        super().__init__(likelihood, Moments(half_life, positive=likelihood.nonnegative))

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
            self.merged([self]).learn(x, y, given, t)

    def read_table(self, X: Any, columns: Sequence[Name] | None) -> tuple[int, frames.Table]:
        """The rows as numbers."""
        table = frames.read_table(X, columns, positive=self.positive)
        return len(table.values), table

    def read(self, columns: Mapping[Name, Any], n: int) -> frames.Table:
        """The columns as numbers."""
        names, cells = list(columns), list(columns.values())
        return frames.numbers_of(names, cells, n, positive=self.positive)

    def cells(self, rows: frames.Table) -> tuple[Any, ...]:
        """The values, and the slots of the columns."""
        return rows.values, _slots(self.statistic, rows)


class ScatterBlock(Block):
    """Features that are numbers and vary together."""

    statistic: Scatter

    def __init__(self, likelihood: Any, half_life: int | None) -> None:
        super().__init__(likelihood, Scatter(half_life, apart=not likelihood.shared))

    learn_moments = moments.learn_one
    learn = scatter.learn_one
    _dropped: list[Label | None]

    @property
    def _scatter(self) -> Scatter:
        return self.statistic

    def unlearn(self, x: Any, y: Any, w: float, t: Any = None) -> None:
        """Takes back the block's part of an event, as `unlearn_one` would."""
        weight = check_weight(w)
        fading = self.statistic.moments.fading
        slot = self._table.find(y)
        new = self._table.read(x)
        values = self._table.buffers()[2].copy()
        counted = weight
        if fading is not None and t is not None:
            counted = fading.weigh(weight, event_time(t))
        known = slot is not None and new is None and counted > 0.0
        reason = self.statistic.unlearn(values, slot, counted, trial=True) if known else ""
        if reason:
            msg = f"class {y!r} cannot unlearn the event with w={w!r}: {reason}"
            raise ValueError(msg)
        self._dropped = list[Label | None]()
        unlearning.unlearn_one(self, x, y, w, t)
        if known:
            self.statistic.unlearn(values, slot, counted, trial=False)
        for label in self._dropped:
            super()._forget(label)

    def _forget(self, label: Label | None) -> None:
        """Notes what is to be left out, once the scatter has unlearned too."""
        self._dropped = [label]

    read_table = NumberBlock.read_table
    read = NumberBlock.read

    def cells(self, rows: frames.Table) -> tuple[Any, ...]:
        """The values, and the slots of the columns."""
        return rows.values, _slots(self.statistic.moments, rows)


class CategoryBlock(Block):
    """Features that are one value of several."""

    statistic: FieldCounts
    learn = categories.learn_one
    unlearn = counts.unlearn_one

    def __init__(self, likelihood: Likelihood, half_life: int | None) -> None:
        super().__init__(likelihood, FieldCounts(half_life))

    def read_table(self, X: Any, columns: Sequence[Name] | None) -> tuple[int, SparseRows]:
        """The rows as tokens of features and values."""
        rows = sparse.read_fields(X, columns)
        return len(rows.bounds) - 1, rows

    def read(self, columns: Mapping[Name, Any], n: int) -> SparseRows:
        """The columns as tokens of features and values."""
        return sparse.rows_of_fields(list(columns), list(columns.values()), n)

    def cells(self, rows: SparseRows) -> tuple[Any, ...]:
        """The rows, and the slots of their tokens."""
        return rows.bounds, rows.columns, self.statistic.slots_of(rows)

    def of(self, label: Label) -> dict[Name, dict[Any, float]]:
        """The counts of a class by feature and value."""
        return self.statistic.values(label)


class BooleanBlock(CategoryBlock):
    """Features that are `True` or `False`."""

    bools: ClassVar[bool] = True

    def read(self, columns: Mapping[Name, Any], n: int) -> SparseRows:
        """The columns as tokens, where they are bools."""
        for name, column in columns.items():
            for row, value in enumerate(column):
                try:
                    check_bool(value, name)
                except TypeError as error:
                    msg = f"row {row}: {error}"
                    raise TypeError(msg) from None
        return super().read(columns, n)


class TokenBlock(Block):
    """Tokens and their counts: whole events, unless `field` names the text that is read.

    Parameters
    ----------
    likelihood, half_life
        as of all blocks.
    bag
        makes tokens and counts of an event; `None` where the event is that.
    field
        the feature whose text is read.
    width
        into so many buckets tokens are hashed; `None` keeps them apart.
    """

    statistic: Counts
    learn = counts.learn_one
    unlearn = counts.unlearn_one

    def __init__(
        self,
        likelihood: Any,
        half_life: int | None,
        bag: Callable[[Any], dict[Any, Any]] | None = None,
        field: str | None = None,
        width: int | None = None,
    ) -> None:
        self._bag: Any = bag
        self._field, self._width = field, width
        self.always = getattr(likelihood, "event", "") == "bernoulli"
        threshold = float(getattr(likelihood, "threshold", 0.0))
        empty = Counts(bag, binary=self.always, threshold=threshold, half_life=half_life)
        super().__init__(likelihood, empty)

    def read_table(self, X: Any, columns: Sequence[Name] | None) -> tuple[int, SparseRows]:
        """The rows as tokens and counts."""
        if self._field is not None:
            rows = sparse.read_texts(X, self._field, self._bag, columns)
        else:
            rows = sparse.read_counts(X, columns)
            if self._width is not None:
                rows = sparse.hashed(rows, self._width)
        return len(rows.bounds) - 1, self._above_threshold(rows)

    def _above_threshold(self, rows: SparseRows) -> SparseRows:
        if self.statistic.binary:
            rows = sparse.thresholded(rows, self.statistic.threshold)
        return rows

    def cells(self, rows: SparseRows) -> tuple[Any, ...]:
        """The rows, and the slots of their tokens."""
        return rows.bounds, rows.columns, rows.values, self.statistic.slots_of(rows)


class BagBlock(TokenBlock):
    """One feature whose values are bags of tokens, or texts; absent, it has no tokens."""

    whole: ClassVar[bool] = True

    def __init__(self, name: Name, likelihood: Bag | Text, half_life: int | None = None) -> None:
        self.name = name
        super().__init__(likelihood, half_life, _reader(name, likelihood))

    def read(self, columns: Mapping[Name, Any], n: int) -> SparseRows:
        """The column as tokens and counts."""
        rows = sparse.read_bags(columns.get(self.name, [None] * n), self._bag)
        return self._above_threshold(rows)

    def names(self) -> list[Name]:
        """The feature, where tokens of it were seen."""
        return [self.name] if self.statistic.table.vocabulary() else []

    def of(self, label: Label) -> dict[Name, dict[Any, float]]:
        """The counts of a class by token."""
        found: dict[Any, float] = self.statistic.of(label)
        return {self.name: found} if found else {}


def _slots(statistic: Moments, rows: frames.Table) -> NDArray[np.intp]:
    """The feature slot of each column, -1 where it has none."""
    known = statistic.features.slots
    return np.array([known.get(name, -1) for name in rows.names], dtype=np.intp)


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
        make = BLOCKS[likelihood.reads]
        if make is TokenBlock:
            blocks.append(BagBlock(name, likelihood, half_life))
            places[name] = len(blocks) - 1
            continue
        if likelihood not in known:
            known[likelihood] = len(blocks)
            blocks.append(make(likelihood, half_life))
        places[name] = known[likelihood]
    return blocks, places


BLOCKS: dict[str, Any] = {
    "numbers": NumberBlock,
    "scatter": ScatterBlock,
    "categories": CategoryBlock,
    "booleans": BooleanBlock,
    "tokens": TokenBlock,
}
"""The block for what a likelihood reads, `Likelihood.reads`."""
