"""Runs beside the program that wants a broker, and cleans up after it whatever becomes of it.

It makes the broker's folder, starts and signals the broker's process, and ends when its standard
input does or when its parent is gone: then it kills the broker and removes the folder. A program
killed by SIGKILL closes the pipe too, so nothing outlives it.

Standard input carries one request a line, standard output one answer a line, both JSON:

    ["start", [command, ...]]   -> the process id; its output goes to the folder's `log`
    ["signal", number]          -> null; nothing where the process has ended
    ["poll"]                    -> null while the process runs, else its exit status

The first line of the output is the folder. The file imports the standard library only and is run
as a script, so that it is up in a moment.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_LOOK_AT_PARENT_EVERY = 0.5  # seconds; other holders of the pipe's end may keep it open


def _die_with_parent() -> None:
    """Ask Linux to kill this process when the supervisor itself is killed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class _Supervisor:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.child: subprocess.Popen[bytes] | None = None

    def answer(self, verb: str, argument: Any = None) -> Any:
        child = self.child
        if verb == "start":
            with (self.folder / "log").open("ab") as log:
                self.child = subprocess.Popen(
                    argument,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    # Safe here: this process has one thread.
                    preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509
                )
            return self.child.pid
        if verb == "signal" and child is not None:
            child.send_signal(argument)
            return None
        return child.poll() if child is not None else None

    def close(self) -> None:
        if self.child is not None and self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _say(answer: Any) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _serve(parent: int) -> None:
    supervisor = _Supervisor(Path(tempfile.mkdtemp(prefix="streamnb-kafka-")))
    try:
        _say(str(supervisor.folder))
        while os.getppid() == parent:
            if select.select([sys.stdin], [], [], _LOOK_AT_PARENT_EVERY)[0]:
                # The asker waits for each answer, so there is never more than this line.
                request = sys.stdin.readline()
                if not request:
                    break
                _say(supervisor.answer(*json.loads(request)))
    except BrokenPipeError:
        pass  # the parent is gone, and nobody reads the answer
    finally:
        supervisor.close()


if __name__ == "__main__":
    for _number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(_number, lambda number, _frame: sys.exit(128 + number))
    _serve(parent=int(sys.argv[1]))
