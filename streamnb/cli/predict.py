"""`streamnb predict`: events in, predictions out."""

from __future__ import annotations

import sys
from typing import Any

import click
from click.core import ParameterSource

from streamnb import load
from streamnb.cli.flags import check_flat, event_flags, event_format, given, sources, stream_flags
from streamnb.cli.parameters import check_readings, set_flag
from streamnb.cli.progress import shown
from streamnb.cli.running import settings_checked, stopped_by_signals
from streamnb.cli.settings import Command, NamedPath, flag
from streamnb.stream.folder import StateFolder
from streamnb.stream.predictor import predict
from streamnb.stream.settings import DEFAULT_STATE, EventFormat, PredictSettings

__all__ = ["command"]

_MODELS = ("state", "model_file")


@click.command("predict", cls=Command)
@sources
@flag(
    "--state",
    metavar="DIR",
    type=NamedPath(),
    help="The state folder of learners; what they learn is taken in as they go.  "
    f"[default: ./{DEFAULT_STATE}]",
)
@flag(
    "--model-file",
    metavar="FILE",
    type=NamedPath(dir_okay=False),
    help="A model file, in place of a state folder.",
)
@set_flag("A reading of the model.")
@flag("--to", metavar="SINK", help="Where predictions go.  [default: standard output]")
@stream_flags(
    group="streamnb-predict-ID, by the id in job.json or the model file's digest",
    start="Where a group that has no position yet begins.  [default: earliest]",
    dead_letters="./streamnb-dead-letters/",
)
@event_flags
@click.pass_context
def command(
    ctx: click.Context, /, source: tuple[str, ...], parameters: dict[str, object], **values: Any
) -> None:
    """Predict the label of each event of each SOURCE, at least once.

    A prediction is one line of JSON, {"id": ..., "y": label, "p": {label: p}, "n": events the
    model has learned}; on Kafka with the key and headers of its event.
    """
    with stopped_by_signals() as stop:
        values = _one_model(ctx, values)
        with settings_checked():
            settings = PredictSettings(
                sources=source,
                readings=parameters,
                events=event_format(values),
                **given(
                    values,
                    "state",
                    "model_file",
                    "to",
                    "group",
                    "until_end",
                    "start",
                    "dead_letters",
                ),
            )
        _check(settings)

        # where the answers themselves are lines on the terminal, a bar would run into them
        as_lines = settings.to == "-" and sys.stdout.isatty()
        with shown("predicted", values["progress_every"], as_lines=as_lines) as report:
            predict(settings, stop=stop, report=report)


def _check(settings: PredictSettings) -> None:
    """Check what depends on the model; where no learner has begun yet there is none."""
    if settings.state is not None:
        job = StateFolder(settings.state).job()
        if job is not None:
            check_flat(settings.events, job.events)
            check_readings(job.model, settings.readings)
        return
    check_flat(settings.events, EventFormat())
    if settings.readings and settings.model_file is not None:
        check_readings(load(settings.model_file), settings.readings)


def _one_model(ctx: click.Context, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values with one model: of two from different sources the one that wins."""
    if all(values[each] is None for each in _MODELS):
        return {**values, "state": DEFAULT_STATE}
    for source in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT):
        here = [each for each in _MODELS if ctx.get_parameter_source(each) is source]
        if here:
            return {**values, **{each: None for each in _MODELS if each not in here}}
    return values
