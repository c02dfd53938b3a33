"""A model over blocks: what is written once for all likelihoods.

A model is a class prior and blocks of features, each read by a likelihood. Most have one block, and
then `learn_one` is the compiled function of its statistic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Self, dataclass_transform

from streamnb.bayes import STALE, ClassPrior, Scorer
from streamnb.columns import read_labels, read_times, read_weights
from streamnb.models.base import BayesClassifier
from streamnb.models.blocks import BLOCKS, Block
from streamnb.models.parametrized import reading
from streamnb.parameters import declared, parameter
from streamnb.stats.index import Label, Name
from streamnb.values import duration

__all__ = ["FadingModel", "Model", "ModelWithPrior", "NumberModel"]


def _check_half_life(half_life: Any, name: str) -> None:
    if half_life is not None:
        duration(half_life, name)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter,))
class Model(BayesClassifier):
    """A classifier over blocks of features.

    A model names its `likelihood` and, where that has fields which are no parameters of the model,
    their values (`fixed`). Its annotated class attributes are its parameters: see `Parametrized`.
    """

    likelihood: ClassVar[Any]
    fixed: ClassVar[Mapping[str, Any]] = {}
    derived: ClassVar[tuple[str, ...]] = ("_scorer", "_blocks", "_table")

    _blocks: list[Any]
    _table: Any

    # -- blocks ----------------------------------------------------------------------------

    def _make_blocks(self) -> list[Block]:
        """Empty blocks, as the parameters say."""
        likelihood = self._likelihood()
        return [BLOCKS[likelihood.reads](likelihood, self._half_life())]

    def _likelihood(self) -> Any:
        """The likelihood of the readings as they are. Raises where one is out of range."""
        known = declared(self.likelihood)
        given = {name: getattr(self, name) for name in self.declarations if name in known}
        return self.likelihood(**given, **self.fixed)

    def hold(self, blocks: list[Any]) -> None:
        """Takes blocks in place of its own."""
        self._blocks = blocks
        self._table = blocks[0].statistic.table
        self._scorer = STALE

    def _hold_statistic(self, statistic: Any) -> None:
        """Takes a statistic in place of the one of its one block."""
        self.hold([self._blocks[0].with_statistic(statistic)])

    def _clear(self) -> None:
        self.hold(self._make_blocks())

    @property
    def positive(self) -> bool:
        """Whether negative values are refused."""
        return bool(self.likelihood.nonnegative)

    @property
    def statistic(self) -> Any:
        """What was seen, by the first block: see `streamnb.stats`."""
        return self._blocks[0].statistic

    def _half_life(self) -> int | None:
        """The half-life in whole milliseconds, `None` where nothing fades."""
        half_life: Any = getattr(self, "half_life", None)
        return None if half_life is None else duration(half_life, "half_life")

    def _prior(self) -> ClassPrior:
        """The class prior: where a model has none, the classes are those that have learned."""
        given = {
            name: getattr(self, name) for name in declared(ClassPrior) if name in self.declarations
        }
        return ClassPrior(**given) if given else ClassPrior("uniform")

    # -- learning --------------------------------------------------------------------------

    def learn_many(
        self,
        X: Any,
        y: Any,
        w: Any = None,
        t: Any = None,
        *,
        columns: Sequence[Name] | None = None,
    ) -> None:
        """Learns the rows of a table, to the bit as `learn_one` would row by row, or none.

        Parameters
        ----------
        X
            a pandas or polars DataFrame, a two-dimensional array or a SciPy sparse matrix. A cell
            that a sparse matrix leaves out is 0; tables of tokens stay sparse. Where a model reads
            a text, only that column is read.
        y
            the labels, one a row, by position.
        w
            the weights: one a row, by position, or a number for all.
        t
            the times: one a row, by position, or one for all; needed with a half-life.
        columns
            names for the columns of an array; "0", "1", ... without.

        Raises
        ------
        TypeError, ValueError
            a row that `learn_one` would refuse, naming its position from
            0; or `y`, `w`, `t` of another length than `X`. Nothing was learned.
        """
        n, tables = self._read(X, columns)
        rows = read_labels(y, n), read_weights(w, n), read_times(t, n)
        if len(tables) > 1:
            for block, table in zip(self._blocks, tables, strict=True):
                block.statistic.check_rows(table, *rows)
        for block, table in zip(self._blocks, tables, strict=True):
            block.statistic.learn_rows(table, *rows)

    def _read(self, X: Any, columns: Sequence[Name] | None) -> tuple[int, list[Any]]:
        """The number of a table's rows, and the part of it that belongs to each block.

        Raises `TypeError` or `ValueError` for a value that `learn_one` would refuse.
        """
        n, rows = self._blocks[0].read_table(X, columns)
        return n, [rows]

    def unlearn_one(self, x: Any, y: Any, w: float = 1.0, t: Any = None) -> None:
        """Takes back one event that was learned, as if it had never been.

        Weights are exact where they are whole numbers, and so are counts. Means, variances and
        covariances are those of the other events to 1e-12 n/(n - m) of the spread of all n, when m
        of them are taken back. What was far from all others leaves the rounding of what it did:
        docs/design.md says how much. What has no weight left is gone: a feature, a class that is
        not a known label, and after the last event everything.

        Parameters
        ----------
        x, y, w
            the event as it was learned. A feature that is absent, `None` or NaN is left as it is.
        t
            the event's time, as it was learned; needed with a half-life. An event that has faded to
            nothing is not there to be taken back: nothing changes. The newest time stays as it is.

        Raises
        ------
        TypeError
            something is of the wrong kind.
        ValueError
            this cannot have been learned: the class, a feature or a token is unknown; a weight or a
            count would become negative, or a class's weight less than a feature's in it; a sum of
            squares negative by more than 1e-10 of what it was, or of what the event was of it while
            neither had faded; the last value of a feature is another one. What is smaller is
            rounding, and read as 0, as is a weight within 1e-9 of the one that is taken away.
            Whatever is raised, nothing was changed.
        """
        (block,) = self._blocks
        before = block.statistic
        block.unlearn(x, y, w, t)
        if block.statistic is not before:
            self.hold([block])

    # -- answers ---------------------------------------------------------------------------

    def _make_scorer(self) -> Scorer:
        prior, labels = self._prior(), self.classes
        scorer: Scorer = self._blocks[0].scorer(
            self._likelihood(), labels, prior.given(labels), prior.counts(labels)
        )
        return scorer

    def _scores(self, X: Any, columns: Sequence[Name] | None) -> tuple[Any, Scorer]:
        _, tables = self._read(X, columns)
        cells = [block.cells(rows) for block, rows in zip(self._blocks, tables, strict=True)]
        arguments = cells[0] if len(cells) == 1 else cells
        scores = self._scorer.scores_many(*arguments)
        if scores is None:
            scores = self._new_scorer().scores_many(*arguments)
        return scores, self._scorer

    # -- what was seen ---------------------------------------------------------------------

    @property
    def class_weight(self) -> dict[Label, float]:
        """The weight that each learned class has seen, in canonical order."""
        weights: dict[Label, float] = self._blocks[0].statistic.weights()
        return weights

    @property
    def features(self) -> list[Name]:
        """The features, or tokens, that were seen, in canonical order; with `width` the buckets."""
        names: list[Name] = self._blocks[0].names()
        return names

    def is_bounded(self) -> bool:
        """Whether all values, weights and sums are so small that no merge makes one infinite."""
        return all(block.statistic.is_bounded() for block in self._blocks)

    # -- state -----------------------------------------------------------------------------

    def take(self, parts: Iterable[Self]) -> None:
        """Takes the statistics of the parts, joined in order, in place of its own."""
        theirs = [part._blocks for part in parts]
        self.hold(
            [
                block.merged([blocks[place] for blocks in theirs])
                for place, block in enumerate(self._blocks)
            ]
        )

    def state(self) -> dict[str, Any]:
        """The statistics in canonical order, as plain data: see docs/format.md."""
        packed: dict[str, Any] = self._blocks[0].statistic.packed()
        return packed

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Takes what `state` gave. Raises `ValueError` where it cannot have been learned."""
        if "_blocks" not in self.__dict__:
            self._clear()
        self._hold_statistic(self._blocks[0].statistic.restored(state))


class FadingModel(Model):
    """A model that can forget by time."""

    half_life: float | timedelta | None = parameter(
        default=None,
        doc="seconds, or a `timedelta`, in which what was learned comes to weigh half as much; kept"
        " in whole milliseconds. `None`: nothing fades. With it each event needs its time `t`, and"
        " all weights are read at the time of the newest learned event.",
        check=_check_half_life,
        shapes=True,
    )


class ModelWithPrior(FadingModel):
    """A model with a class prior; `ComplementNB` has none."""

    prior: str | Mapping[Label, float] = reading(ClassPrior)
    prior_count: float | Mapping[Label, float] = reading(ClassPrior)
    known_labels: Iterable[Label] | None = reading(ClassPrior)


class NumberModel(ModelWithPrior):
    """A model of features that are numbers."""

    def means(self, label: Label) -> dict[Name, float]:
        """The mean of each feature that the class has seen, in canonical order.

        `{}` for a known class that has learned nothing; `KeyError` for a label that is no class.
        """
        return self._numbers("means", label)

    def variances(self, label: Label) -> dict[Name, float]:
        """The variance of each feature that the class has seen: divided by the weight, unsmoothed.

        `{}` for a known class that has learned nothing; `KeyError` for a label that is no class.
        """
        return self._numbers("variances", label)

    def _numbers(self, what: str, label: Label) -> dict[Name, float]:
        self._check_class(label)
        found: dict[Name, float] = getattr(self.statistic, what)(label)
        return found
