"""Naive Bayes over features of different kinds: numbers, categories, bags of tokens, texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamnb import frames
from streamnb.bayes import STALE, BlockScorer, Scorer
from streamnb.likelihoods.table import likelihoods_of, plain
from streamnb.models.blocks import Block, NumberBlock, make_blocks
from streamnb.models.kinds import BOOLEANS, NUMBERS, check_bool, kind_of, split_column
from streamnb.models.tables import TableClassifier
from streamnb.stats.index import CodedLabels, Label, Name, canonical_name, order_key
from streamnb.values import as_event, check_weight, is_missing, needed_time

__all__ = ["MixedNB"]


class MixedNB(TableClassifier):
    """Naive Bayes for features of different kinds, each read by a likelihood of its own.

    The joint log-likelihood of a class is its log prior, which counts once, plus the sum of what
    the likelihoods say.

    A feature that `blocks` does not name goes by the kind of each of its values: a bool to
    `Boolean`, a number to `Gaussian`, a text to `Categorical`, with their defaults. A feature
    whose values are of several kinds is several features, so that shards of a stream cannot take
    it for different things, and one odd event does not spoil what the others taught.

    Parameters
    ----------
    blocks
        {feature: likelihood}: `Gaussian`, `Poisson`, `Categorical`, `Boolean`, `Bag` (the value is
        a mapping of tokens to counts) or `Text` of `streamnb.likelihoods`. A likelihood may also be
        given by its name ("boolean"), or as {"likelihood": "boolean", "alpha": 0.5}. It shapes what
        is stored, and is fixed once something was learned, the readings in it (such as `alpha`)
        too: to change one, set `blocks` before anything is learned, or make another model.
    prior, prior_count, known_labels, half_life
        as for `GaussianNB`. All that the blocks have seen fades alike.

    Raises
    ------
    ValueError, TypeError
        a parameter is out of range, here or where it is set later.

    Examples
    --------
    >>> from streamnb import MixedNB
    >>> from streamnb.likelihoods import Text
    >>> model = MixedNB({"subject": Text("subject")})
    >>> model.learn_one({"subject": "win money", "size": 1.2, "known": False}, "spam")
    >>> model.learn_one({"subject": "lunch", "size": 0.3, "known": True}, "ham")
    >>> model.predict_one({"subject": "money", "known": False})
    'spam'
    """

    kind: ClassVar[str] = "mixed"
    readings: ClassVar[tuple[str, ...]] = ("prior", "prior_count", "known_labels")
    state_parameters: ClassVar[tuple[str, ...]] = ("blocks", "half_life")

    derived: ClassVar[tuple[str, ...]] = ("_scorer", "_blocks", "_places")

    _blocks: list[Block]
    _places: dict[Name, int]

    def __init__(
        self,
        blocks: Mapping[Name, Any] | None = None,
        *,
        prior: str | Mapping[Label, float] = "empirical",
        prior_count: float | Mapping[Label, float] = 0,
        known_labels: Iterable[Label] | None = None,
        half_life: float | timedelta | None = None,
    ) -> None:
        self.half_life = half_life
        self.blocks = blocks
        self.prior = prior
        self.prior_count = prior_count
        self.known_labels = known_labels
        super().__init__()

    def learn_one(self, x: Any, y: Any, w: float = 1.0, t: Any = None) -> None:
        """Learns one event.

        Parameters
        ----------
        x
            a mapping of feature names (str, int or tuples of them) to numbers, texts, bools or,
            where `blocks` says so, mappings of tokens to counts. A feature that is absent, `None`
            or NaN is missing: not learned. A bag or a text that is missing has no tokens.
        y
            the label: a str, int, bool or float. A label that was never seen is a new class.
        w
            the event's weight, finite and not negative. 0 changes nothing.
        t
            the event's time: seconds since the epoch, or a `datetime` (a naive one is in UTC);
            needed with a half-life.

        Raises
        ------
        TypeError
            something is of the wrong kind.
        ValueError
            a value or weight is out of range, or a statistic would be; with a half-life there is no
            time. Whatever is raised, nothing was learned.
        """
        parts = self._parts(x)
        weight = check_weight(w)
        if self.half_life is not None:
            needed_time(t)
        for block, part in zip(self._blocks[1:], parts[1:], strict=True):
            if part is not None:
                block.check_event(part, y, weight, t)
        # What is left to refuse is refused by the first: the others have nothing against it.
        for block, part in zip(self._blocks, parts, strict=True):
            block.learn({} if part is None and not block.whole else part, y, weight, t)

    def unlearn_one(self, x: Any, y: Any, w: float = 1.0, t: Any = None) -> None:
        """Takes back one event that was learned, as the models of one kind do; costs a copy of all.

        Raises `ValueError`, and changes nothing, where any block cannot have learned its part.
        """
        parts = zip(self._blocks, self._parts(x), strict=True)
        trial = self.clone()
        trial.hold(
            [
                block.unlearned({} if part is None and not block.whole else part, y, w, t)
                for block, part in parts
            ]
        )
        trial.set_state(trial.state())  # one weight of each class for all blocks
        self.hold(trial.statistic)

    def _read(self, X: Any, columns: Sequence[Name] | None) -> tuple[int, list[Any]]:
        tables = self._tables(X, columns)
        return X.shape[0], tables

    def _learn_rows(
        self,
        rows: list[Any],
        labels: CodedLabels,
        weights: NDArray[np.float64],
        times: list[int] | None,
    ) -> None:
        for block, table in zip(self._blocks, rows, strict=True):
            block.check_rows(table, labels, weights, times)
        for block, table in zip(self._blocks, rows, strict=True):
            block.learn_rows(table, labels, weights, times)

    def _parts(self, x: Any) -> list[Any]:
        """The part of an event that belongs to each block, `None` where there is nothing of it."""
        event: Mapping[Any, Any] = x if type(x) is dict else as_event(x)
        parts: list[Any] = [None] * len(self._blocks)
        parts[0] = {}
        for name, value in event.items():
            if type(name) is not str:
                canonical_name(name)
            place = self._places.get(name)
            if place is None:
                place = kind_of(value)
            elif self._blocks[place].whole:
                parts[place] = None if is_missing(value) else value
                continue
            elif self._blocks[place].bools:
                check_bool(value, name)
            part = parts[place]
            if part is None:
                parts[place] = {name: value}
            else:
                part[name] = value
        return parts

    def _tables(self, X: Any, columns: Sequence[Name] | None) -> list[Any]:
        """The part of a table that belongs to each block."""
        parts: list[dict[Name, Any]] = [{} for _ in self._blocks]
        for name, column in zip(*frames.read_cells(X, columns), strict=True):
            place = self._places.get(name)
            if place is not None:
                parts[place][name] = column
            elif isinstance(column, np.ndarray):
                parts[BOOLEANS if column.dtype.kind == "b" else NUMBERS][name] = column
            else:
                for at, cells in split_column(column).items():
                    parts[at][name] = cells
        return [
            block.read(part, X.shape[0]) for block, part in zip(self._blocks, parts, strict=True)
        ]

    @property
    def statistic(self) -> list[Block]:
        """What was seen, by blocks."""
        return self._blocks

    def counts(self, label: Label) -> dict[Name, dict[Any, float]]:
        """The counts that the class has seen, {feature: {value: count}}, in canonical order.

        Of features that are categories or bools, of bags and texts; see `CategoricalNB.counts`.
        `{}` for a known class that has learned nothing; `KeyError` for a label that is no class.
        """
        self._check_class(label)
        found: dict[Name, dict[Any, float]] = {}
        for block in self._blocks:
            for name, values in block.of(label).items():
                found[name] = found.get(name, {}) | values
        return {name: found[name] for name in sorted(found, key=order_key)}

    def means(self, label: Label) -> dict[Name, float]:
        """The mean of each feature that the class has seen numbers of, in canonical order.

        `{}` for a known class that has learned nothing; `KeyError` for a label that is no class.
        """
        return self._numbers("means", label)

    def variances(self, label: Label) -> dict[Name, float]:
        """The variance of each of these features: divided by the weight, unsmoothed."""
        return self._numbers("variances", label)

    def _numbers(self, what: str, label: Label) -> dict[Name, float]:
        self._check_class(label)
        found: dict[Name, float] = {}
        for block in self._blocks:
            if isinstance(block, NumberBlock):
                found |= getattr(block.statistic, what)(label)
        return {name: found[name] for name in sorted(found, key=order_key)}

    @property
    def class_weight(self) -> dict[Label, float]:
        """The weight that each learned class has seen, in canonical order."""
        weights: dict[Label, float] = self._blocks[0].statistic.weights()
        return weights

    @property
    def features(self) -> list[Name]:
        """The names of the learned features, in canonical order."""
        names = {name for block in self._blocks for name in block.names()}
        return sorted(names, key=order_key)

    def check(self) -> None:
        """Raises `ValueError` or `TypeError` where a parameter is out of range."""
        likelihoods_of(self.blocks)
        self._prior()
        self._half_life()

    def _clear(self) -> None:
        blocks, self._places = make_blocks(likelihoods_of(self.blocks), self._half_life())
        self.hold(blocks)

    def hold(self, blocks: list[Block]) -> None:
        """Takes blocks in place of its own."""
        self._blocks = blocks
        self._scorer = STALE

    def is_bounded(self) -> bool:
        """Whether all values, weights and sums are so small that no merge makes one infinite."""
        return all(block.statistic.is_bounded() for block in self._blocks)

    def _make_scorer(self) -> Scorer:
        prior, labels = self._prior(), self.classes
        zeros = np.zeros(len(labels))
        first, *others = self._blocks
        return BlockScorer(
            [
                first.scorer(labels, prior.given(labels), prior.counts(labels)),
                *(block.scorer(labels, zeros, zeros) for block in others),
            ],
            self._parts,
            [block.always for block in self._blocks],
        )

    def _scores(self, X: Any, columns: Sequence[Name] | None) -> tuple[Any, Scorer]:
        tables = [
            block.cells(table)
            for block, table in zip(self._blocks, self._tables(X, columns), strict=True)
        ]
        scores = self._scorer.scores_many(*tables)
        if scores is None:
            scores = self._new_scorer().scores_many(*tables)
        return scores, self._scorer

    def take(self, parts: Iterable[Self]) -> None:
        """Takes the statistics of the parts, joined in order, in place of its own."""
        statistics = [part.statistic for part in parts]
        self.hold(
            [
                block.merged([blocks[place] for blocks in statistics])
                for place, block in enumerate(self._blocks)
            ]
        )

    def state(self) -> dict[str, Any]:
        """The statistics of the blocks, in their order; what all share once.

        That is the classes and, with a half-life, the time of the newest event.
        """
        states = [block.state() for block in self._blocks]
        shared = {key: states[0][key] for key in _SHARED if key in states[0]}
        own = [{key: state[key] for key in state if key not in _SHARED} for state in states]
        return {**shared, "blocks": own}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Takes what `state` gave. Raises `ValueError` where it cannot have been learned."""
        shared = {key: state[key] for key in _SHARED if key in state}
        if {*state, "newest"} != {*_SHARED, "blocks"} or any(
            {*_SHARED} & {*own} for own in state["blocks"]
        ):
            msg = f"a state of {', '.join(state)}"
            raise ValueError(msg)
        if "_blocks" not in self.__dict__:
            self._clear()
        own = zip(self._blocks, state["blocks"], strict=True)
        self.hold([block.with_state({**part, **shared}) for block, part in own])

    @classmethod
    def from_canonical(cls, parameters: Mapping[str, Any]) -> Self:
        """An empty model with the parameters that `canonical_parameters` gave."""
        model = super().from_canonical({**parameters, "blocks": None})
        model.blocks = likelihoods_of(parameters["blocks"]) or None
        return model

    def _canonical(self, name: str, value: Any) -> Any:
        """The canonical form of one parameter; `blocks` is a list of pairs."""
        if name == "blocks":
            likelihoods = likelihoods_of(value)
            return [
                [feature, [list(pair) for pair in plain(likelihoods[feature]).items()]]
                for feature in sorted(likelihoods, key=order_key)
            ] or None
        return super()._canonical(name, value)

    def _plain(self, name: str, value: Any) -> Any:
        """One parameter as JSON has it."""
        if name == "blocks":
            blocks = [
                [feature, dict(given)] for feature, given in self._canonical(name, value) or []
            ]
            is_text = all(isinstance(feature, str) for feature, _ in blocks)
            return (dict(blocks) if is_text else blocks) or None
        return super()._plain(name, value)


_SHARED = ("labels", "weights", "newest")
