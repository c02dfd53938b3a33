"""`streamnb learn`: events in, checkpoints of a model out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from streamnb.cli.flags import check_flat, event_flags, event_format, given, sources, stream_flags
from streamnb.cli.parameters import check_parameters, set_flag
from streamnb.cli.progress import shown
from streamnb.cli.running import settings_checked, stopped_by_signals
from streamnb.cli.settings import Command, NamedPath, flag
from streamnb.stream.folder import StateFolder
from streamnb.stream.learner import learn
from streamnb.stream.settings import DEFAULT_MODEL, DEFAULT_STATE, EventFormat, LearnSettings

__all__ = ["command"]


@click.command("learn", cls=Command)
@sources
@flag("--model", metavar="KIND", help=f"The kind of model.  [default: {DEFAULT_MODEL}]")
@set_flag("A parameter of the model, fixed for the life of the state folder.")
@flag(
    "--state",
    metavar="DIR",
    type=NamedPath(),
    help=f"The state folder.  [default: ./{DEFAULT_STATE}]",
)
@flag(
    "--every",
    metavar="EVENTS",
    type=int,
    help=f"Events of a partition between two checkpoints.  [default: {LearnSettings.every}]",
)
@flag(
    "--every-seconds",
    metavar="SECONDS",
    type=float,
    help=f"Seconds between two checkpoints.  [default: {LearnSettings.every_seconds}]",
)
@flag(
    "--on-gap",
    type=click.Choice(["fail", "skip"]),
    help="What to do where a topic has lost events that were not learned yet.  "
    f"[default: {LearnSettings.on_gap}]",
)
@flag(
    "--session-timeout",
    metavar="SECONDS",
    type=float,
    help="Seconds after which the group takes a silent worker's partitions away.  "
    f"[default: {LearnSettings.session_timeout}]",
)
@stream_flags(
    group="streamnb-ID, by the id in job.json",
    start="Where the partitions of a new state folder begin.  [default: earliest]",
    dead_letters="DIR/dead-letters/SOURCE-PARTITION.jsonl",
)
@event_flags
@flag(
    "--text",
    metavar="NAME",
    help="The field whose text is learned, word by word; the model is then multinomial by default.",
)
def command(source: tuple[str, ...], parameters: dict[str, object], **values: Any) -> None:
    """Learn from the events of each SOURCE, and go on where an earlier run stopped.

    The state folder holds what was learned from each partition. Any number of workers may share
    it; start and stop them as you like. What shapes the model and the reading of events is fixed
    when the folder is made, and may be left out afterwards.
    """
    if values["text"] is not None:
        parameters = {**parameters, "text": values["text"]}
    with stopped_by_signals() as stop:
        values["model"] = _model(values)
        with settings_checked():
            settings = LearnSettings(
                sources=source,
                parameters=parameters,
                events=event_format(values),
                **given(
                    values,
                    "model",
                    "state",
                    "group",
                    "every",
                    "every_seconds",
                    "until_end",
                    "dead_letters",
                    "start",
                    "on_gap",
                    "session_timeout",
                ),
            )
        job = StateFolder(settings.state).job()
        if job is None:
            check_flat(settings.events, EventFormat())
        check_parameters(settings.model or (job.model.kind if job else DEFAULT_MODEL), parameters)

        with shown("learned", values["progress_every"]) as report:
            learn(settings, stop=stop, report=report)


def _model(values: Mapping[str, Any]) -> str | None:
    """Return the kind of model that is asked for; `None` where none is, or a job says it."""
    kind: str | None = values["model"]
    state: Path = values["state"] or DEFAULT_STATE
    if kind is None and values["text"] is not None and StateFolder(state).job() is None:
        return "multinomial"
    return kind
