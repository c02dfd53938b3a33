"""The command line as a whole: its commands, `--version`, `--help`."""

from __future__ import annotations

import click

import streamnb
from streamnb import _kernels
from streamnb.cli import demo, learn, merge, predict, show
from streamnb.cli.running import log_to_stderr
from streamnb.cli.settings import NamesTheNearest, nearest

__all__ = ["application"]


class _Group(NamesTheNearest, click.Group):
    """Lists its commands in the order in which they are used; names the nearest to a wrong one."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click has it
        """Return the commands' names."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first argument names."""
        if not args[0].startswith("-") and args[0] not in self.commands:
            near = nearest(args[0], self.commands)
            message = f"no such command: {args[0]} (the nearest is {near})"
            raise click.UsageError(message, ctx)
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, _: click.Parameter, asked: object) -> None:
    if asked:
        click.echo(f"streamnb {streamnb.__version__} (kernels: {_kernels.LEVEL})")
        ctx.exit()


@click.group(
    cls=_Group, no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and the kernels in use, and exit.",
)
def application() -> None:
    r"""Naive Bayes that learns from streams, and merges exactly.

    \b
    SOURCE and SINK are
      kafka://host:port[,host:port]/topic   a topic
      a path                                a file of JSON lines
      -                                     standard input or output
    """
    log_to_stderr()


for _module in (learn, predict, merge, show, demo):
    application.add_command(_module.command)
