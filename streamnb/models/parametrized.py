"""A model's parameters: from declarations to its constructor, its documentation and its bytes."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from river.base import MiniBatchClassifier

from streamnb.parameters import Parameter, declared, document, own

__all__ = ["Parametrized", "reading"]


def reading(owner: type[Any]) -> Any:
    """A parameter of a model that its likelihood, or its class prior, declares."""
    return _OfAnother(owner)


class _OfAnother:
    def __init__(self, owner: type[Any]) -> None:
        self.owner = owner


class Parametrized(MiniBatchClassifier):
    """What a model says of its parameters, and what becomes of one that is set.

    A class's annotated attributes are its parameters where they are made by `parameter`, or by
    `reading`, for one that another class has declared. Readings are plain attributes that may be
    set at any time; state parameters shape what is stored, and are fixed once something was
    learned.
    """

    declarations: ClassVar[dict[str, Parameter]] = {}
    """The parameters by name, in the order of the constructor."""
    readings: ClassVar[tuple[str, ...]] = ()
    """Parameters that say how statistics are read."""
    state_parameters: ClassVar[tuple[str, ...]] = ()
    """Parameters that shape the statistics. They must be equal for a merge."""
    _declares: ClassVar[dict[str, Parameter]] = {}  # of one class, without those above it

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        declares: dict[str, Parameter] = {}
        for name in inspect.get_annotations(cls):
            value = cls.__dict__.get(name)
            if isinstance(value, _OfAnother):
                declares[name] = declared(value.owner)[name]
            elif "parameter" in getattr(value, "metadata", {}):
                declares[name] = value.metadata["parameter"]  # type: ignore[union-attr]
        for name, said in declares.items():
            setattr(cls, name, said.default)
        cls._declares = declares
        every: dict[str, Parameter] = {}
        for owner in cls.__mro__:
            every = every | {
                name: said
                for name, said in owner.__dict__.get("_declares", {}).items()
                if name not in every
            }
        if every:
            cls.declarations = every
            cls.state_parameters = tuple(name for name, said in every.items() if said.shapes)
            cls.readings = tuple(name for name, said in every.items() if not said.shapes)
        if every and "kind" in cls.__dict__:
            cls.__doc__ = document(cls.__doc__, every, "Parameters")
            cls.__init__ = _constructor(every)  # type: ignore[method-assign]

    # -- of the model ----------------------------------------------------------------------

    @abstractmethod
    def _begin(self) -> None:
        """Makes the model empty, once its parameters are set and before anything was learned."""

    @abstractmethod
    def _clear(self) -> None:
        """Makes the statistics empty."""

    @abstractmethod
    def _changed_reading(self) -> None:
        """Forgets what was made with other readings."""

    @abstractmethod
    def _has_learned(self) -> bool:
        """Whether anything was learned."""

    # -- checks ----------------------------------------------------------------------------

    def check(self) -> None:
        """Raises `ValueError` or `TypeError` where a parameter is out of range."""
        for name, said in self.declarations.items():
            said.check(getattr(self, name), name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets an attribute; a parameter is checked first, and a reading counts from now on."""
        if name in self.readings or name in self.state_parameters:
            before = self.__dict__.get(name, self)
            if before is not self and name in self.state_parameters:
                self._check_settable(name)
            super().__setattr__(name, own(value))
            if before is not self:
                self._changed_reading()
                try:
                    self.check()
                except (TypeError, ValueError):
                    super().__setattr__(name, before)
                    raise
                if name in self.state_parameters:
                    self._clear()
        else:
            super().__setattr__(name, value)

    def _check_settable(self, name: str) -> None:
        """Raises `ValueError` where something was learned, which a state parameter has shaped."""
        if self._has_learned():
            msg = f"{name} shapes what is stored: it cannot be set once something was learned"
            raise ValueError(msg)

    # -- forms -----------------------------------------------------------------------------

    def parameters(self) -> dict[str, Any]:
        """All parameters by name, state parameters first."""
        return {name: getattr(self, name) for name in (*self.state_parameters, *self.readings)}

    def canonical_parameters(self) -> dict[str, Any]:
        """All parameters, those that mean the same written the same.

        Numbers are floats, a mapping of labels is a list of pairs in canonical order, and so are
        known labels without the numbers.
        """
        return {
            name: self.declarations[name].canonical(value)
            for name, value in self.parameters().items()
        }

    @classmethod
    def from_canonical(cls, parameters: Mapping[str, Any]) -> Self:
        """An empty model with the parameters that `canonical_parameters` gave.

        Raises
        ------
        TypeError, ValueError
            they are not this model's.
        """
        if any(isinstance(value, np.ndarray | dict) for value in parameters.values()):
            msg = f"parameters of another kind: {', '.join(parameters)}"
            raise TypeError(msg)
        known = cls.declarations
        return cls(
            **{
                name: known[name].restored(value) if name in known else value
                for name, value in parameters.items()
            }
        )

    def description(self) -> dict[str, Any]:
        """The model's class and parameters as JSON has them: `{"model": ..., "parameters": ...}`.

        A mapping of labels is an object where all labels are texts, else a list of pairs.
        """
        parameters = {}
        for name, value in self.parameters().items():
            said = self.declarations[name]
            parameters[name] = said.plain(value, said.canonical(value))
        return {"model": type(self).__name__, "parameters": parameters}

    def differences(self, other: Self) -> tuple[list[str], list[str]]:
        """The state parameters and the readings that differ, each as "name (ours and theirs)"."""
        ours, theirs = self.canonical_parameters(), other.canonical_parameters()
        differ: tuple[list[str], list[str]] = ([], [])
        for name in ours:
            if repr(ours[name]) != repr(theirs[name]):
                said = f"{name} ({getattr(self, name)!r} and {getattr(other, name)!r})"
                differ[name not in self.state_parameters].append(said)
        return differ


def _constructor(parameters: Mapping[str, Parameter]) -> Any:
    """The constructor of a model that has these parameters."""

    def __init__(self: Any, *given: Any, **named: Any) -> None:  # noqa: N807 - it becomes that
        bound = signature.bind(self, *given, **named)
        bound.apply_defaults()
        for name in parameters:
            setattr(self, name, bound.arguments[name])
        self._begin()

    kinds = {True: inspect.Parameter.POSITIONAL_OR_KEYWORD, False: inspect.Parameter.KEYWORD_ONLY}
    signature = inspect.Signature(
        [
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *(
                inspect.Parameter(name, kinds[said.positional], default=said.default)
                for name, said in parameters.items()
            ),
        ]
    )
    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__
