"""The parameters of a model as users write them: `--set`, `STREAMNB_SET`, `[model]`.

`--set NAME=VALUE` takes JSON, else text: `--set var_smoothing=1e-6`, `--set prior=uniform`,
`--set 'prior={"spam": 0.2, "ham": 0.8}'`. JSON has only texts as keys, so a mapping whose labels
are not is written as pairs: `--set 'prior=[[0, 0.2], [1, 0.8]]'`. `STREAMNB_SET` is one
`NAME=VALUE` a line, or one JSON object. The three add up; a parameter given twice is taken from
the flag before the variable, from the variable before the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeVar

import click

from streamnb.cli.settings import MODEL_TABLE, PREFIX, Lines, file_tables, nearest
from streamnb.models import KINDS, BayesClassifier

__all__ = ["check_parameters", "check_readings", "set_flag", "set_readings"]

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])


def set_flag(what: str) -> Callable[[_Decorated], _Decorated]:
    """Add the flag `--set`, the command's mapping `parameters`; `what` it sets is for its help."""
    return click.option(
        "--set",
        "parameters",
        metavar="NAME=VALUE",
        multiple=True,
        callback=_collect,
        help=f"{what} VALUE is JSON, else text. May be given several times.",
    )


def check_parameters(kind: str, parameters: Mapping[str, object]) -> None:
    """Check that there is a model of this kind, with these parameters, that takes their values.

    Raises
    ------
    click.UsageError
        There is no such model or it has no such parameter (the error names the nearest), or it
        refuses a value.
    """
    if kind not in KINDS:
        message = f"no such model: {kind!r} (the nearest is {nearest(kind, KINDS)!r})"
        raise click.UsageError(message)
    _check_names(KINDS[kind](), parameters)
    try:
        KINDS[kind](**parameters)
    except (TypeError, ValueError) as error:
        raise click.UsageError(f"--set: {error}") from error


def check_readings(model: BayesClassifier, parameters: Mapping[str, object]) -> None:
    """Check that these are readings of the model, and values that it takes; it is not changed.

    Raises
    ------
    click.UsageError
        A parameter that the model does not have, one that shapes what it has
        stored, or a value that it refuses.
    """
    set_readings(model.clone(), parameters)


def set_readings(model: BayesClassifier, parameters: Mapping[str, object]) -> None:
    """Set readings of the model.

    Raises
    ------
    click.UsageError
        As `check_readings`.
    """
    _check_names(model, parameters)
    for name, value in parameters.items():
        if name not in model.readings:
            message = (
                f"--set {name}: it shapes what the model has stored, and is fixed when learning "
                f"begins; only readings can be set here: {', '.join(model.readings)}"
            )
            raise click.UsageError(message)
        try:
            setattr(model, name, value)
        except (TypeError, ValueError) as error:
            raise click.UsageError(f"--set: {error}") from error


def _check_names(model: BayesClassifier, parameters: Mapping[str, object]) -> None:
    known = (*model.readings, *model.state_parameters)
    for name in parameters:
        if name not in known:
            near = nearest(name, known)
            kind = type(model).__name__
            message = f"--set {name}: {kind} has no such parameter (the nearest is {near})"
            raise click.UsageError(message)


def _collect(
    ctx: click.Context, _: click.Parameter, assignments: tuple[str, ...]
) -> dict[str, object]:
    """Return the parameters of all three sources, by name."""
    variable = PREFIX + "SET"
    parameters: dict[str, object] = {}
    for table in file_tables(ctx):
        parameters |= _in_file(table)
    parameters |= _in_variable(os.environ.get(variable, ""), variable)
    return parameters | _assigned(assignments, "--set")


def _in_file(table: Mapping[str, Any]) -> dict[str, object]:
    """Return what `[model]` gives, and `set = ["NAME=VALUE"]`."""
    model = table.get(MODEL_TABLE)
    lines = table.get("set", [])
    lines = [lines] if isinstance(lines, str) else lines
    if not (isinstance(lines, list) and all(isinstance(line, str) for line in lines)):
        message = f"set: expected a list of NAME=VALUE, or the table [model]; not {lines!r}"
        raise click.UsageError(message)
    named = _pairs_read(model) if isinstance(model, dict) else {}
    return named | _assigned(lines, "set")


def _in_variable(text: str, variable: str) -> dict[str, object]:
    if not text.lstrip().startswith("{"):
        return _assigned(Lines().split_envvar_value(text), variable)
    try:
        assigned = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        message = f"{variable}: neither NAME=VALUE lines nor a JSON object: {text!r}"
        raise click.UsageError(message) from error
    return _pairs_read(assigned)


def _pairs_read(parameters: Mapping[str, object]) -> dict[str, object]:
    return {name: _mapping_of_pairs(value, name) for name, value in parameters.items()}


def _assigned(assignments: Iterable[str], source: str) -> dict[str, object]:
    parameters: dict[str, object] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        name = name.strip()
        if not (name and equals):
            message = f"{source}: expected NAME=VALUE, not {assignment!r}"
            raise click.UsageError(message)
        parameters[name] = _mapping_of_pairs(_json_else_text(value), name)
    return parameters


def _json_else_text(value: str) -> object:
    try:
        return json.loads(value, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _mapping_of_pairs(value: object, name: str) -> object:
    """Return the mapping that a list of pairs stands for; anything else as it is."""
    if not (isinstance(value, list) and value):
        return value
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
        return value
    keys = [key for key, _ in value]
    if any(isinstance(key, (list, dict)) for key in keys):
        return value
    if len(set(keys)) < len(keys):
        message = f"--set {name}: a key is given twice in {value!r}"
        raise click.UsageError(message)
    return dict(value)
