"""Where the value of a flag comes from: the command line, `STREAMNB_*`, a TOML file, its default.

The first of these that has the flag wins. Every flag and argument has one key, its name with
underscores: `--every-seconds` is `every_seconds` in a TOML file and `STREAMNB_EVERY_SECONDS` in the
environment. In a file a key stands at the top, where it is for every command that has it, or in a
table with a command's name. What can be given several times is a list in a file, and has one value
a line in a variable. `[model]` is `--set` (see `streamnb.cli.parameters`).
"""

from __future__ import annotations

import logging
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

__all__ = [
    "Argument",
    "Command",
    "Flag",
    "Lines",
    "NamedPath",
    "NamesTheNearest",
    "argument",
    "file_tables",
    "flag",
    "key_of",
    "nearest",
]

PREFIX = "STREAMNB_"
MODEL_TABLE = "model"

_NOT_FLAGS = frozenset({"CACHE", "DATA", "KERNELS", "REQUIRE_KERNELS"})
"""Variables of the project that are no flags: tests' data, downloads, the choice of kernels."""

_FILE = "streamnb.cli.file"
_TABLES = "streamnb.cli.tables"

_log = logging.getLogger("streamnb")

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the one of `names` that looks most like `name`; of equals the first in order."""
    return max(sorted(names), key=lambda each: SequenceMatcher(None, name, each).ratio())


def key_of(parameter: click.Parameter) -> str:
    """Return the key of a flag or an argument: `every_seconds` for `--every-seconds`."""
    return max(parameter.opts, key=len).lstrip("-").replace("-", "_").lower()


class _FromSettings(click.Parameter):
    """A parameter that is also read from `STREAMNB_*`, and whose errors say where it was given."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.envvar = PREFIX + key_of(self).upper()

    def get_error_hint(self, ctx: click.Context | None) -> str:
        """Name the flag, the variable or the key of the file, whichever gave the value."""
        source = None if ctx is None else ctx.get_parameter_source(self.name or "")
        if source is ParameterSource.ENVIRONMENT:
            return str(self.envvar)
        if ctx is not None and source is ParameterSource.DEFAULT_MAP:
            return f"{key_of(self)} in {ctx.meta[_FILE]}"
        return max(self.opts, key=len) if isinstance(self, Flag) else self.human_readable_name


class Flag(_FromSettings, click.Option):
    """A flag."""


class Argument(_FromSettings, click.Argument):
    """What stands on the command line without a flag."""


def flag(*names: str, **attributes: Any) -> Callable[[_Decorated], _Decorated]:
    """`click.option` with the settings of this module."""
    return click.option(*names, cls=Flag, **attributes)


def argument(*names: str, **attributes: Any) -> Callable[[_Decorated], _Decorated]:
    """`click.argument` with the settings of this module."""
    return click.argument(*names, cls=Argument, **attributes)


class Lines(click.types.StringParamType):
    """A text; several of them in one variable stand one a line."""

    name = "text"

    def split_envvar_value(self, rv: str) -> list[str]:
        """Return the lines of a variable, without those that are empty."""
        return [line.strip() for line in rv.splitlines() if line.strip()]


class NamedPath(click.Path):
    """A path; an empty text is none (of which `Path` makes the working folder)."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(path_type=Path, **attributes)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        if value == "":
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


class NamesTheNearest(click.Command):
    """A command whose error about an unknown flag names the nearest."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            names = [name for each in self.get_params(ctx) for name in each.opts]
            near = nearest(error.option_name, (name for name in names if name.startswith("--")))
            message = f"no such flag: {error.option_name} (the nearest is {near})"
            raise click.UsageError(message, ctx) from error


class Command(NamesTheNearest):
    """A command whose flags come from the sources of this module, with a flag `--config`."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        config = Flag(
            ["--config"],
            metavar="FILE",
            type=NamedPath(),
            is_eager=True,
            expose_value=False,
            callback=_read_file,
            help="A TOML file with settings; a flag or a STREAMNB_* variable beats it.",
        )
        self.params.append(config)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, after a warning of each variable that is no setting of any command."""
        keys = _command_keys(ctx.find_root().command, ctx)
        _warn_of_unknown_variables(frozenset().union(*keys.values()))
        return super().invoke(ctx)


def file_tables(ctx: click.Context) -> Sequence[Mapping[str, Any]]:
    """Return the tables of the TOML file that hold for the command, the stronger one last."""
    tables: Sequence[Mapping[str, Any]] = ctx.meta.get(_TABLES, ())
    return tables


def _command_keys(group: click.Command, ctx: click.Context) -> dict[str, frozenset[str]]:
    """Return the keys of each command of a group, by the command's name."""
    if not isinstance(group, click.Group):
        return {}
    commands = {name: group.get_command(ctx, name) for name in group.list_commands(ctx)}
    return {
        name: frozenset(key_of(each) for each in command.params)
        for name, command in commands.items()
        if command is not None
    }


def _warn_of_unknown_variables(keys: Iterable[str]) -> None:
    """Warn of every `STREAMNB_*` variable that no flag of any command has."""
    known = {key.upper() for key in keys} | _NOT_FLAGS
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in known:
            near = PREFIX + nearest(name.removeprefix(PREFIX), known)
            _log.warning("unknown variable %s (the nearest is %s)", name, near)


def _read_file(ctx: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Make the settings of the file at `path` the defaults of the command."""
    if path is None:
        return
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        message = f"the settings in {path} cannot be read: {reason}"
        raise click.UsageError(message, ctx) from error
    ctx.meta[_FILE] = path
    keys = _command_keys(ctx.find_root().command, ctx)
    name = ctx.command.name or ""
    top = {key: value for key, value in document.items() if key not in keys}
    _check_keys(top, frozenset().union(*keys.values(), keys), f"at the top of {path}", ctx)
    for command in keys.keys() & document.keys():
        where = f"in [{command}] of {path}"
        if not isinstance(document[command], dict):
            message = f"{command} in {path} is a table of settings, not {document[command]!r}"
            raise click.UsageError(message, ctx)
        _check_keys(document[command], keys[command], where, ctx)
    own = document.get(name, {})
    ctx.meta[_TABLES] = (top, own)
    given = _without_model_table(top) | _without_model_table(own)
    ctx.default_map = {
        each.name: _as_typed(given[key_of(each)], each, ctx)
        for each in ctx.command.params
        if isinstance(each, _FromSettings) and each.name is not None and key_of(each) in given
    }


def _check_keys(
    table: Mapping[str, object], known: frozenset[str], where: str, ctx: click.Context
) -> None:
    for key in table:
        if key not in (known | {MODEL_TABLE}) - {"config"}:
            near = nearest(key, (known | {MODEL_TABLE}) - {"config"})
            message = f"unknown key {key!r} {where} (the nearest is {near!r})"
            raise click.UsageError(message, ctx)


def _without_model_table(table: Mapping[str, object]) -> dict[str, object]:
    """Return the flags: `model = "gaussian"` is `--model`, the table `[model]` is `--set`."""
    return {
        key: value
        for key, value in table.items()
        if not (key == MODEL_TABLE and isinstance(value, dict))
    }


def _as_typed(value: object, parameter: click.Parameter, ctx: click.Context) -> object:
    """Return a value of the file as one would type it, to be checked as one that was typed.

    Raises
    ------
    click.UsageError
        A value of a kind that no command line can give.
    """
    many = parameter.nargs != 1 or parameter.multiple
    if many and isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    if many and isinstance(value, str):
        return [value]
    flag_is_switch = isinstance(parameter, click.Option) and parameter.is_flag
    if isinstance(value, bool) and flag_is_switch:
        return value
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (many or flag_is_switch) and (numeric or isinstance(value, str)):
        return str(value)
    wanted = (
        "a text or a list of texts" if many else "true or false" if flag_is_switch else "a value"
    )
    message = f"{key_of(parameter)} in {ctx.meta[_FILE]} is {wanted}, not {value!r}"
    raise click.UsageError(message, ctx)
