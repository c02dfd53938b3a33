"""`streamnb show`."""

import click

from streamnb.cli.settings import Command

__all__ = ["command"]


@click.command("show", cls=Command)
def command() -> None:
    """Show it all."""
