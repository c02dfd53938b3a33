"""`streamnb demo`."""

import click

from streamnb.cli.settings import Command

__all__ = ["command"]


@click.command("demo", cls=Command)
def command() -> None:
    """Show it all."""
