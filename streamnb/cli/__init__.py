"""The command line: `streamnb learn | predict | merge | show | demo`.

One file a command; what they share is in `settings` (flags, variables, TOML), `parameters`
(`--set`), `flags`, `progress` and `running` (logs, signals, exit status), and `application` puts
them together. Kafka's client is imported where topics are.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from streamnb.errors import ConfigError

__all__ = ["main"]

_STOPPABLE = ("learn", "predict")


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line `args` (`sys.argv` if `None`), and exit with its status.

    What takes time to import comes after this has begun to listen to signals: a worker that is
    stopped before it has done anything has ended well, too.
    """
    _open_what_was_closed()
    given = sys.argv[1:] if args is None else args
    if any(argument in _STOPPABLE for argument in given[:1]):
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, _end)
    try:
        from streamnb.cli.application import application  # noqa: PLC0415 - slow to import
        from streamnb.cli.running import run  # noqa: PLC0415 - the same
    except KeyboardInterrupt:
        sys.exit(130)
    except ConfigError as error:  # kernels that cannot be
        sys.stderr.write(f"streamnb: error: {error}\n")
        sys.exit(2)
    sys.exit(run(application, args))


def _open_what_was_closed() -> None:
    """Give the standard streams that the process was started without a file that keeps nothing."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123


def _end(_: int, __: FrameType | None) -> None:
    """End the process: there is nothing to bring to an end."""
    os._exit(0)
