"""`streamnb merge`: models in, their merge out."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import click

import streamnb
from streamnb.cli.parameters import set_flag, set_readings
from streamnb.cli.settings import Command, Lines, argument, flag

__all__ = ["command"]

_log = logging.getLogger("streamnb")


@click.command("merge", cls=Command)
@argument("input", type=Lines(), nargs=-1, required=True, metavar="INPUT...")
@flag(
    "--output",
    "-o",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="Where the merged model goes; a file that is there is replaced in one step.",
)
@set_flag("A reading of the merged model.")
def command(output: Path, parameters: dict[str, object], **values: Any) -> None:
    """Merge models into one: what one pass over all their events would have learned.

    INPUT is a model file, a checkpoint file or a state folder. Models that learned the same events
    are refused, and so are models whose parameters differ; a reading that differs can be set with
    --set.
    """
    models = [streamnb.load(path) for path in values["input"]]
    for model in models:
        set_readings(model, parameters)
    merged = streamnb.merge(models)
    streamnb.save(merged, output)
    _log.info("merged %d models of %d classes into %s", len(models), len(merged.classes), output)
