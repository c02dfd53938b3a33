"""`streamnb merge`: models in, their merge out."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import click

from streamnb import dumps, load, merge, save
from streamnb.cli.parameters import set_flag, set_readings
from streamnb.cli.progress import counted
from streamnb.cli.settings import Command, Lines, NamedPath, argument, flag

__all__ = ["command"]

_log = logging.getLogger("streamnb")


@click.command("merge", cls=Command)
@argument("input", type=Lines(), nargs=-1, required=True, metavar="INPUT...")
@flag(
    "--output",
    "-o",
    metavar="FILE",
    type=NamedPath(dir_okay=False),
    required=True,
    help="Where the merged model goes: a file, which is replaced in one step, or - for standard "
    "output.",
)
@set_flag("A reading of the merged model.")
def command(output: Path, parameters: dict[str, object], **values: Any) -> None:
    """Merge models into one: what one pass over all their events would have learned.

    INPUT is a model file, a checkpoint file or a state folder. Models that learned the same events
    are refused, and so are models whose parameters differ; a reading that differs can be set with
    --set.
    """
    models = [load(path) for path in values["input"]]
    for model in models:
        set_readings(model, parameters)
    merged = merge(models)
    is_stdout = output == Path("-")
    if is_stdout:
        sys.stdout.buffer.write(dumps(merged))
    else:
        save(merged, output)
    what = f"{counted(len(models), 'model')} of {len(merged.classes):,} classes"
    _log.info("merged %s into %s", what, "standard output" if is_stdout else output)
