"""How often each value of each feature was seen in each class, as a statistic.

A `Counts` whose tokens are the features, (name,), and their values, (name, kind, value): the count
of the first is the weight of the events that had the feature, that of the second of those that had
the value. Names and values may be anything: the forms of their tokens keep them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from streamnb._kernels import categories
from streamnb.stats.counts import Counts
from streamnb.stats.counts_state import CountsState
from streamnb.stats.index import (
    Label,
    Name,
    TokenIndex,
    as_name,
    canonical_name,
    order_key,
)
from streamnb.values import category

__all__ = ["FieldCounts", "FieldIndex", "field_tokens"]

Token = tuple[Any, ...]


def field_tokens(name: Name, value: tuple[str, Any]) -> tuple[Token, Token]:
    """The tokens of a feature and of its value, (kind, value) as `category` gives it."""
    return (name,), (name, *value)


class FieldIndex(TokenIndex):
    """The slots of features and values. `owners` lists, by slot, the slot of a value's feature.

    A feature comes before its values; it has -1 itself.
    """

    slots: dict[Any, int]

    def __init__(self) -> None:
        super().__init__()
        self.owners: list[int] = []
        self._features: list[Token] = []

    def find(self, name: Any) -> int | None:
        """The slot of a token, `None` where it has none."""
        return self.slots.get(name)

    def add(self, name: Any) -> int:
        """The slot of a canonical token, a new one if need be; one number may have two types."""
        slot = self.slots.get(name)
        if slot is not None:
            return slot
        owner = -1
        if _is_feature(name):
            self._features.append(name)
        else:
            owner = self.slots[name[:1]]
            if name[1] == "number" and float(name[2]) == name[2]:
                name = (*name[:2], float(name[2]) + 0.0)
        self.owners.append(owner)
        return self.slots.setdefault(name, len(self.slots))

    def features(self, known: int) -> NDArray[np.int64] | None:
        """The slots of the features in canonical order; `None` where there are `known` of them."""
        if len(self._features) == known:
            return None
        ordered = sorted(self._features, key=order_key)
        return np.array([self.slots[token] for token in ordered], dtype=np.int64)


class FieldCounts(Counts):
    """The counts of one block of features whose values are categories, by class.

    With a `half_life`, in milliseconds, they fade as in `Counts`. A feature's count is the sum of
    its values': where a value has faded to nothing, of those that are left.
    """

    tokens: FieldIndex

    def __init__(self, half_life: int | None = None) -> None:
        reader = categories.FieldReader(canonical_name)
        super().__init__(reader, tokens=FieldIndex(), half_life=half_life)

    def like(self) -> FieldCounts:
        """An empty statistic that sees events as this one does."""
        return FieldCounts(self.half_life)

    def merged(self, parts: Iterable[Counts]) -> FieldCounts:
        """What one statistic like this would hold that had learned the events of all parts."""
        return cast("FieldCounts", super().merged(parts))

    def scale(self, exponent: int) -> FieldCounts:
        """A copy whose weights and counts are multiplied by 2**exponent: see `Statistic.scale`."""
        return cast("FieldCounts", super().scale(exponent))

    def without(self, label: Label | None) -> FieldCounts:
        """A copy without the class of that label. Without any it is empty, and knows no time."""
        return cast("FieldCounts", super().without(label))

    def names(self) -> list[Name]:
        """The features that were seen, in canonical order."""
        tokens: list[Any] = super().names()
        return [token[0] for token in tokens if _is_feature(token)]

    def values(self, label: Label) -> dict[Name, dict[Any, float]]:
        """The count of each value that the class has seen, by feature, in canonical order.

        Whole numbers are ints where doubles are exact. Where a feature has had both a bool and the
        number that Python takes for its equal, the bool is shown as the text "bool:True" (and
        another "bool:" before it, where the feature has had that text).
        """
        found: dict[Name, dict[Any, float]] = {}
        counts: dict[Any, float] = self.of(label)
        for token, count in counts.items():
            if _is_feature(token):
                found[token[0]] = {}
                continue
            values, value = found[token[0]], token[2]
            if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53:
                value = int(value)
            if token[1] == "number" and value in values:
                text = f"bool:{bool(value)}"
                while (token[0], "text", text) in counts:
                    text = f"bool:{text}"
                values[text] = values.pop(value)
            values[value] = count
        return found

    def packed(self) -> dict[str, Any]:
        """All that was seen: `CountsState`, with names and values in place of the tokens."""
        packed = self.state().packed()
        tokens: list[Token] = packed.pop("tokens")
        del packed["sums"]
        packed["names"] = [token[0] for token in tokens if _is_feature(token)]
        values: list[list[Any]] = []
        for token in tokens:
            if _is_feature(token):
                values.append([])
            else:
                values[-1].append(token[2])
        return {**packed, "values": values}

    def restored(self, packed: Mapping[str, Any]) -> FieldCounts:
        """A statistic like this that has seen what `packed` gave: see `Statistic.restored`."""
        kept = {key: value for key, value in packed.items() if key != "sums"}
        tokens: list[Token] = []
        for name, values in zip(kept.pop("names"), kept.pop("values"), strict=True):
            tokens.append((as_name(name),))
            for value in values:
                kind = category(value, name)
                if kind is None:
                    msg = f"feature {name!r}: a value that is missing"
                    raise ValueError(msg)
                tokens.append(field_tokens(as_name(name), kind)[1])
        kept["sums"] = np.zeros((len(kept["labels"]), 2))
        state = CountsState.of_tokens(tokens, kept)
        _check(state)
        return cast("FieldCounts", self.with_state(state))


def _is_feature(token: Any) -> bool:
    return len(token) == 1


def _check(state: CountsState) -> None:
    """Raises `ValueError` where a feature's counts are not the sums of its values'."""
    if any(_is_feature(a) and _is_feature(b) for a, b in pairwise([*state.tokens, (None,)])):
        msg = "a feature without values"
        raise ValueError(msg)
    kinds = np.array([_is_feature(token) for token in state.tokens], dtype=bool)
    feature = np.cumsum(kinds) - 1
    rows = np.repeat(np.arange(len(state.tokens)), state.sizes)
    sums = np.zeros((2, int(kinds.sum()), len(state.labels)))
    np.add.at(sums, (kinds[rows].astype(int), feature[rows], state.owners), state.counts)
    if not np.allclose(sums[0], sums[1], rtol=1e-6, atol=0.0):
        msg = "counts of a feature that are not those of its values"
        raise ValueError(msg)
