"""`streamnb demo`: the whole promise, seen to hold on a broker of its own."""

from __future__ import annotations

import click

from streamnb.cli.settings import Command

__all__ = ["command"]


@click.command("demo", cls=Command)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Watch two workers learn one topic, one of them be killed, and nothing be lost.

    Starts Apache Kafka on loopback, produces labelled events (River's ImageSegments, repeated with
    noise), kills a worker with SIGKILL, starts another, and compares the merged model with one
    pass over all events. The exit status is 1 if a count differs, or if a mean or a variance
    shares fewer than 14 digits with one pass. Where neither Java with Maven nor Docker is there,
    four files take the topic's place. Under two minutes after downloads; nothing is left behind.
    """
    from streamnb.cli.demo.play import play  # noqa: PLC0415 - imports Kafka and data

    if not play():
        ctx.exit(1)
