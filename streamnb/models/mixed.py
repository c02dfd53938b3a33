"""Naive Bayes over features of different kinds: numbers, categories, bags of tokens, texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from streamnb import frames
from streamnb.bayes import BlockScorer, Scorer
from streamnb.likelihoods.base import Likelihood
from streamnb.likelihoods.table import likelihoods_of, plain
from streamnb.models.blocks import Block, NumberBlock, make_blocks
from streamnb.models.kinds import BOOLEANS, NUMBERS, check_bool, kind_of, split_column
from streamnb.models.model import ModelWithPrior, NumberModel
from streamnb.parameters import parameter
from streamnb.stats.index import Label, Name, canonical_name, order_key
from streamnb.values import as_event, check_weight, is_missing, needed_time

__all__ = ["MixedNB"]


def _canonical_blocks(blocks: Any) -> Any:
    """`blocks` as a list of pairs, in canonical order."""
    likelihoods = likelihoods_of(blocks)
    return [
        [feature, [list(pair) for pair in plain(likelihoods[feature]).items()]]
        for feature in sorted(likelihoods, key=order_key)
    ] or None


def _plain_blocks(_: Any, form: Any) -> Any:
    """`blocks` as JSON has them."""
    blocks = [[feature, dict(given)] for feature, given in form or []]
    is_text = all(isinstance(feature, str) for feature, _ in blocks)
    return (dict(blocks) if is_text else blocks) or None


class MixedNB(NumberModel):
    """Naive Bayes for features of different kinds, each read by a likelihood of its own.

    The joint log-likelihood of a class is its log prior, which counts once, plus the sum of what
    the likelihoods say.

    A feature that `blocks` does not name goes by the kind of each of its values: a bool to
    `Boolean`, a number to `Gaussian`, a text to `Categorical`, with their defaults. A feature
    whose values are of several kinds is several features, so that shards of a stream cannot take
    it for different things, and one odd event does not spoil what the others taught.

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
    likelihood: ClassVar[Any] = Likelihood
    derived: ClassVar[tuple[str, ...]] = (*ModelWithPrior.derived, "_places")

    blocks: Mapping[Name, Any] | None = parameter(
        default=None,
        doc="{feature: likelihood}: `Gaussian`, `Poisson`, `Categorical`, `Boolean`, `Bag` (the"
        " value is a mapping of tokens to counts) or `Text` of `streamnb.likelihoods`. A likelihood"
        ' may also be given by its name ("boolean"), or as {"likelihood": "boolean", "alpha":'
        " 0.5}. It shapes what is stored, and is fixed once something was learned, the readings in"
        " it (such as `alpha`) too: to change one, set `blocks` before anything is learned, or make"
        " another model.",
        check=lambda blocks, _: likelihoods_of(blocks),
        shapes=True,
        canonical=_canonical_blocks,
        restored=lambda blocks: likelihoods_of(blocks) or None,
        plain=_plain_blocks,
        positional=True,
    )

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
        self.hold(trial._blocks)

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

    def _read(self, X: Any, columns: Sequence[Name] | None) -> tuple[int, list[Any]]:
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
        n = X.shape[0]
        return n, [block.read(part, n) for block, part in zip(self._blocks, parts, strict=True)]

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

    def _numbers(self, what: str, label: Label) -> dict[Name, float]:
        self._check_class(label)
        found: dict[Name, float] = {}
        for block in self._blocks:
            if isinstance(block, NumberBlock):
                found |= getattr(block.statistic, what)(label)
        return {name: found[name] for name in sorted(found, key=order_key)}

    @property
    def features(self) -> list[Name]:
        """The names of the learned features, in canonical order."""
        names = {name for block in self._blocks for name in block.names()}
        return sorted(names, key=order_key)

    def _make_blocks(self) -> list[Block]:
        blocks, self._places = make_blocks(likelihoods_of(self.blocks), self._half_life())
        return blocks

    def _make_scorer(self) -> Scorer:
        prior, labels = self._prior(), self.classes
        zeros = np.zeros(len(labels))
        first, *others = self._blocks
        given = prior.given(labels), prior.counts(labels)
        return BlockScorer(
            [
                first.scorer(first.likelihood, labels, *given),
                *(block.scorer(block.likelihood, labels, zeros, zeros) for block in others),
            ],
            self._parts,
            [block.always for block in self._blocks],
        )

    def state(self) -> dict[str, Any]:
        """The statistics of the blocks, in their order; what all share once.

        That is the classes and, with a half-life, the time of the newest event.
        """
        states = [block.statistic.packed() for block in self._blocks]
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
        self.hold(
            [
                block.with_statistic(block.statistic.restored({**part, **shared}))
                for block, part in own
            ]
        )


_SHARED = ("labels", "weights", "newest")
