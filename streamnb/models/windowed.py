"""A model of the last so many seconds: one model a pane of time, merged when it is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Self

import numpy as np

from streamnb import frames
from streamnb._kernels import fading, moments
from streamnb.bayes import STALE, ClassPrior, Scorer
from streamnb.columns import read_labels, read_times, read_weights
from streamnb.models.base import BayesClassifier
from streamnb.models.naive_bayes import GaussianNB
from streamnb.stats.index import Label, Name
from streamnb.values import check_weight, duration, event_time, is_number

__all__ = ["Windowed"]


class Windowed(BayesClassifier):
    """Any model, of the last `length` seconds of event time.

    Time is cut into panes, aligned to the epoch; each pane has a model of its own, and what is
    asked is asked of the merge of those that are live: the newest `panes` up to the one of the
    newest event. As that one moves on, old panes are dropped whole; nothing is subtracted, so
    nothing is left behind. A window therefore holds between (panes - 1)/panes of its length and
    all of it. A pane's width is `length`/`panes` in whole milliseconds, half to even.

    An event older than the live panes is outside, and ignored, whenever it comes: shards merge
    pane by pane. An event without a time counts as one of the newest time; before there is any,
    of the epoch. What would make a statistic of the whole window infinite is refused.

    The readings of `model` are this model's too, and may be set at any time; whatever else
    `model` can be asked (`means`, ...) is answered of the window. An answer after an event costs
    one merge with the newest pane's, a merge of all panes where an older one has changed.

    Parameters
    ----------
    model
        a model whose parameters the panes have; it is cloned, and what it has learned is not
        taken.
    length
        seconds, or a `timedelta`.
    panes
        how many panes the window is cut into, at most one a millisecond.

    Raises
    ------
    ValueError, TypeError
        a parameter is out of range; `model` is no model, or itself a window.

    Examples
    --------
    >>> from streamnb import GaussianNB, Windowed
    >>> model = Windowed(GaussianNB(), length=60)
    >>> model.learn_one({"x": 1.0}, "old", t=0)
    >>> model.learn_one({"x": 1.0}, "new", t=100)
    >>> model.class_weight
    {'new': 1.0}
    """

    kind: ClassVar[str] = "windowed"
    state_parameters: ClassVar[tuple[str, ...]] = ("model", "length", "panes")
    derived: ClassVar[tuple[str, ...]] = (
        "_width",
        "_panes",
        "_newest",
        "_is_far",
        "_changes",
        "_older_changed",
        "_older",
        "_whole",
        "_asked",
    )

    model: BayesClassifier
    _panes: dict[int, Any]
    _newest: int | None
    _width: int
    _is_far: bool  # whether a pane holds numbers so large that a merge may fail
    # The number of changes, and the last of a pane before the newest. What was made of these panes,
    # and of all, and the scorer, stand beside the number that they were made at: where another
    # thread has changed panes meanwhile, they are out of date as soon as they are there.
    _changes: int
    _older_changed: int
    _older: tuple[int, Any]
    _whole: tuple[int, Any]
    _asked: tuple[int, Any]

    def __init__(self, model: BayesClassifier, length: float | timedelta, panes: int = 60) -> None:
        self.model = model
        self.length = length
        self.panes = panes
        self._begin()

    # -- parameters ------------------------------------------------------------------------

    @property
    def positive(self) -> bool:
        """Whether negative values are refused."""
        model = self.__dict__.get("model")
        return False if model is None else bool(model.positive)

    @property
    def readings(self) -> tuple[str, ...]:  # type: ignore[override]  # an instance's, as of model
        """The readings of the model in the window."""
        model = self.__dict__.get("model")
        return () if model is None else model.readings

    def __getattr__(self, name: str) -> Any:
        """A reading of the model, or what it can be asked besides, of the window."""
        model = self.__dict__.get("model")
        if model is None or name.startswith("_"):
            msg = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(msg)
        return getattr(model if name in model.readings else self._merged(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets an attribute; a reading is the model's, and counts from now on."""
        if name == "model":
            if not isinstance(value, BayesClassifier) or isinstance(value, Windowed):
                msg = f"the window is of a model, not of {value!r}"
                raise TypeError(msg)
            if not value.mergeable:
                msg = "a model of given parameters learns nothing, and has no window"
                raise TypeError(msg)
            value = value.clone()
        if name in self.readings:
            setattr(self.model, name, value)
        elif name in self._inner_state_parameters():
            self._check_settable(name)
            setattr(self.model, name, value)
            self._clear()
        else:
            super().__setattr__(name, value)

    def _inner_state_parameters(self) -> tuple[str, ...]:
        """The state parameters of the model in the window."""
        model = self.__dict__.get("model")
        return () if model is None else model.state_parameters

    def check(self) -> None:
        """Raises `ValueError` or `TypeError` where a parameter is out of range."""
        self.model.check()
        panes = self.panes
        if isinstance(panes, bool) or not is_number(panes):
            msg = f"panes is a whole number, not {panes!r}"
            raise TypeError(msg)
        length = duration(self.length, "length")
        if not 1 <= panes <= length or panes != int(panes):
            msg = f"panes is a whole number from 1 to {length}, one a millisecond, not {panes!r}"
            raise ValueError(msg)

    def is_bounded(self) -> bool:
        """Whether all values, weights and sums are so small that no merge makes one infinite."""
        return not self._is_far

    def parameters(self) -> dict[str, Any]:
        """The parameters of the window; those of its model are in the first."""
        return {name: getattr(self, name) for name in self.state_parameters}

    def canonical_parameters(self) -> dict[str, Any]:
        """All parameters, those that mean the same written the same; the model's are nested."""
        nested = {"kind": self.model.kind, "parameters": self.model.canonical_parameters()}
        return {
            "model": nested,
            "length": duration(self.length, "length") / 1000,
            "panes": float(self.panes),
        }

    def description(self) -> dict[str, Any]:
        """The model's class and parameters as JSON has them, those of its own model nested."""
        parameters = self.canonical_parameters() | {
            "model": self.model.description(),
            "panes": int(self.panes),
        }
        return {"model": type(self).__name__, "parameters": parameters}

    def differences(self, other: Self) -> tuple[list[str], list[str]]:
        """As for all models; the parameters of the model in the window count one by one."""
        if self.model.kind != other.model.kind:
            return [f"model ({self.model.kind} and {other.model.kind})"], []
        state, readings = self.model.differences(other.model)
        ours, theirs = self.canonical_parameters(), other.canonical_parameters()
        for name in ("length", "panes"):
            if ours[name] != theirs[name]:
                state.append(f"{name} ({ours[name]!r} and {theirs[name]!r})")
        return state, readings

    def _prior(self) -> ClassPrior:
        return self.model._prior()

    def clone(
        self,
        new_params: dict[str, Any] | None = None,
        include_attributes: bool = False,  # noqa: FBT001, FBT002 - River's signature
    ) -> Self:
        """A window with the same parameters; new ones may be the model's own, too."""
        new = dict(new_params or {})
        own = {name: new.pop(name) for name in self.model.parameters() if name in new}
        return super().clone({"model": self.model.clone(own)} | new, include_attributes)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": GaussianNB(), "length": 3600.0}

    # -- the panes -------------------------------------------------------------------------

    def _clear(self) -> None:
        self._width = self._pane_width()
        self._panes = {}
        self._newest = None
        self._is_far = False
        self._changes = vars(self).get("_changes", 0)
        self._changed(None)

    def _changed(self, mark: int | None) -> None:
        """Forgets what was made of the panes before the one at `mark` changed (`None`: all)."""
        own = vars(self)  # setting attributes looks for parameters among them
        own["_changes"] += 1
        if mark is None or mark != self._newest:
            own["_older_changed"] = own["_changes"]
            own["_older"] = _NOTHING
        own["_whole"] = own["_asked"] = _NOTHING

    def _pane_width(self) -> int:
        """The width of a pane in milliseconds."""
        width, rest = divmod(duration(self.length, "length"), int(self.panes))
        twice = 2 * rest
        return width + (twice > self.panes or (twice == self.panes and width % 2))

    def _mark(self, ms: int | None) -> int:
        """The number of the pane of a time: its widths since the epoch, rounded down."""
        if ms is None:
            return 0 if self._newest is None else self._newest
        if not -fading.LATEST <= ms <= fading.LATEST:
            msg = f"a time is within {fading.LATEST} milliseconds of the epoch, not {ms} from it"
            raise ValueError(msg)
        return ms // self._width

    def _advance(self, mark: int) -> None:
        """Makes a pane the newest where it is, and drops those that are then outside."""
        if self._newest is not None and mark <= self._newest:
            return
        self._newest = mark
        for old in [each for each in self._panes if each <= mark - int(self.panes)]:
            del self._panes[old]
        self._changed(None)

    def _put(self, panes: Mapping[int, Any], newest: int) -> None:
        """Puts panes in place, `newest` being in the window's time from now on.

        Raises
        ------
        ValueError
            a statistic of the whole window would be infinite; nothing was changed.
        """
        before = self._panes, self._newest
        self._panes = {**self._panes, **panes}
        self._advance(newest)
        self._changed(None)
        self._is_far = not all(pane.is_bounded() for pane in self._panes.values())
        if self._is_far:
            try:
                self._merged()
            except ValueError:
                self._panes, self._newest = before
                self._changed(None)
                raise

    def _is_outside(self, mark: int) -> bool:
        return self._newest is not None and mark <= self._newest - int(self.panes)

    def _joined(self, parts: Iterable[Any]) -> Any:
        joined = self.model.clone()
        joined.take(parts)
        return joined

    def _merged(self) -> Any:
        """The merge of the live panes, in their order, with the readings as they are."""
        changes = self._changes
        made, whole = self._whole
        if made != changes:
            panes, last = self._panes, self._newest
            marks = sorted(panes)
            made, older = self._older
            if made < self._older_changed:
                older = self._joined(panes[mark] for mark in marks if mark != last)
                vars(self)["_older"] = changes, older
            whole = self._joined([older, *(panes[mark] for mark in marks if mark == last)])
            vars(self)["_whole"] = changes, whole
        for name in self.model.readings:
            if getattr(whole, name) is not getattr(self.model, name):
                setattr(whole, name, getattr(self.model, name))
        return whole

    # -- learning --------------------------------------------------------------------------

    def learn_one(self, x: Any, y: Any, w: float = 1.0, t: Any = None) -> None:
        """Learns one event, into the pane of its time.

        Parameters
        ----------
        x, y, w
            as the model takes them.
        t
            the event's time: seconds since the epoch, or a `datetime` (a naive one is in UTC).
            Without, the event counts as one of the newest time.

        Raises
        ------
        TypeError, ValueError
            what the model raises, or a time out of range. Whatever is raised, nothing was
            learned.
        """
        mark = self._mark(None if t is None else event_time(t))
        weight = check_weight(w)
        counts = weight > 0 and not self._is_outside(mark)
        pane = self._panes.get(mark) if counts else None
        is_far = self._is_far or weight > moments.LARGE_WEIGHT or not _is_near(x)
        if pane is None or is_far:
            pane = self._joined([] if pane is None else [pane])
        pane.learn_one(x, y, w, t)
        if counts and is_far:
            self._put({mark: pane}, mark)
        elif counts:
            self._panes[mark] = pane
            self._advance(mark)
            self._changed(mark)

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
        X, y, w, columns
            as the model takes them.
        t
            the times: one a row, by position, or one for all; without, the newest time.

        Raises
        ------
        TypeError, ValueError
            what the model raises, naming the row's position from 0. Nothing was learned.
        """
        n = frames.height(X)
        labels = read_labels(y, n)
        weights = read_weights(w, n)
        times = read_times(t, n)
        marks = [self._mark(ms) for ms in times] if times else [self._mark(None)] * n
        counted = [mark for mark, weight in zip(marks, weights, strict=True) if weight > 0]
        newest = max([*counted, *([] if self._newest is None else [self._newest])], default=None)
        rows_of: dict[int | None, list[int]] = {}
        for row, (mark, weight) in enumerate(zip(marks, weights, strict=True)):
            inside = weight > 0 and newest is not None and mark > newest - int(self.panes)
            rows_of.setdefault(mark if inside else None, []).append(row)
        learned: dict[int | None, Any] = {}
        refused: list[tuple[int, TypeError | ValueError]] = []
        for at, rows in (rows_of or {None: []}).items():
            pane = None if at is None else self._panes.get(at)
            learned[at] = self._joined([] if pane is None else [pane])
            part = X if len(rows) == n else frames.take_rows(X, rows)
            try:
                learned[at].learn_many(
                    part,
                    [labels.distinct[labels.codes[row]] for row in rows],
                    weights[rows],
                    None if times is None else [times[row] / 1000 for row in rows],
                    columns=columns,
                )
            except (TypeError, ValueError) as error:
                refused.append(_at_row(error, rows))
        if refused:
            raise min(refused, key=lambda one: one[0])[1]
        if newest is not None:
            self._put({at: pane for at, pane in learned.items() if at is not None}, newest)

    def unlearn_one(self, x: Any, y: Any, w: float = 1.0, t: Any = None) -> None:
        """Takes back one event that was learned, from the pane of its time.

        The newest time stays as it is, unless nothing is left at all.

        Raises
        ------
        TypeError, ValueError
            what the model raises; or the event is not in the window. Nothing was changed.
        """
        mark = self._mark(None if t is None else event_time(t))
        pane = self._panes.get(mark)
        if pane is None:
            pane = self._joined([])
            if check_weight(w) > 0:
                msg = f"an event of t={t!r} cannot unlearn: the window holds nothing of its time"
                raise ValueError(msg)
        pane.unlearn_one(x, y, w, t)
        if mark in self._panes and not pane.class_weight:
            del self._panes[mark]
            if not self._panes:
                self._newest = None
        self._changed(mark)

    # -- what was seen, and answers --------------------------------------------------------

    @property
    def class_weight(self) -> dict[Label, float]:
        """The weight that each class has in the window, in canonical order."""
        weights: dict[Label, float] = self._merged().class_weight
        return weights

    @property
    def features(self) -> list[Name]:
        """The names of the features in the window, in canonical order."""
        names: list[Name] = self._merged().features
        return names

    # The scorer is kept where a reading that is set drops it, and is as old as what it was made of.
    @property
    def _scorer(self) -> Scorer:
        made, scorer = self._asked
        return scorer if made == self._changes and self.model._scorer is scorer else STALE

    @_scorer.setter
    def _scorer(self, scorer: Scorer) -> None:
        self.model._scorer = scorer

    def _make_scorer(self) -> Scorer:
        scorer: Scorer = self._merged()._make_scorer()
        return scorer

    def _new_scorer(self) -> Scorer:
        changes = self._changes
        scorer = self._make_scorer()
        self._scorer = scorer
        vars(self)["_asked"] = changes, scorer
        return scorer

    def _scores(self, X: Any, columns: Sequence[Name] | None) -> tuple[Any, Scorer]:
        scored: tuple[Any, Scorer] = self._merged()._scores(X, columns)
        return scored

    # -- state -----------------------------------------------------------------------------

    def take(self, parts: Iterable[Self]) -> None:
        """Takes the panes of the parts, those of one time joined in order, those outside left."""
        parts = list(parts)
        newest = max((part._newest for part in parts if part._newest is not None), default=None)
        panes: dict[int, list[Any]] = {}
        for part in parts:
            for mark, pane in part._panes.items():
                if newest is not None and mark > newest - int(self.panes):
                    panes.setdefault(mark, []).append(pane)
        joined = {mark: self._joined(panes[mark]) for mark in sorted(panes)}
        self._clear()
        if newest is not None:
            self._put(joined, newest)

    def state(self) -> dict[str, Any]:
        """The number of the newest pane, and each pane that holds anything: [number, state]."""
        panes = [[mark, self._panes[mark].state()] for mark in sorted(self._panes)]
        return {"newest": self._newest, "panes": panes}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Takes what `state` gave. Raises `ValueError` where it cannot have been learned."""
        newest = state["newest"]
        marks = [mark for mark, _ in state["panes"]]
        if any(
            type(mark) is not int or type(held) is not dict for mark, held in state["panes"]
        ) or (bool(marks) != (type(newest) is int)):
            msg = f"panes {marks!r} with {newest!r} as the newest"
            raise ValueError(msg)
        inside = all(newest - int(self.panes) < mark <= newest for mark in marks)
        if set(state) != {"newest", "panes"} or marks != sorted(set(marks)) or not inside:
            msg = f"a window of {', '.join(state)} up to pane {newest!r} with panes {marks!r}"
            raise ValueError(msg)
        panes = {}
        for mark, held in state["panes"]:
            panes[mark] = self._joined([])
            panes[mark].set_state(held)
            if not panes[mark].class_weight:
                msg = f"pane {mark} holds nothing"
                raise ValueError(msg)
        self._clear()
        if newest is not None:
            self._put(panes, newest)

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Makes the window anew; its model is its own, also in a shallow copy."""
        attributes = kept["attributes"]
        own = attributes | {"model": attributes["model"].clone()}
        super().__setstate__({"attributes": own, "state": kept["state"]})


_NOTHING = -1, None
"""What was never made."""


def _is_near(x: Any) -> bool:
    """Whether no number of an event is so large that statistics may become infinite by it."""
    return type(x) is dict and not any(
        (v > moments.LARGE_VALUE or v < -moments.LARGE_VALUE)
        if isinstance(v, int | float)
        else type(v) is not str and not _is_small(v)
        for v in x.values()
    )


def _is_small(value: Any) -> bool:
    """The same of a value that is neither a number of Python's nor a text."""
    if isinstance(value, Mapping):  # the tokens of a bag
        return _is_near(value)
    return not isinstance(value, np.longdouble)


def _at_row(
    error: TypeError | ValueError, rows: Sequence[int]
) -> tuple[int, TypeError | ValueError]:
    """The row of the whole table that an error is about, and the error with that row's number."""
    found = re.match(r"row (\d+)", str(error))
    if found is None or int(found[1]) >= len(rows):
        return -1, error
    row = rows[int(found[1])]
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return row, kind(f"row {row}{str(error)[found.end() :]}")
