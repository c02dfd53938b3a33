"""What the tests of the commands share: command lines, environments, events."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
Start = Callable[..., subprocess.Popen[str]]

SECONDS = 60.0


def command_line(*args: object) -> list[str]:
    return [sys.executable, "-m", "streamnb.cli", *map(str, args)]


def environment(more: dict[str, str] | None = None) -> dict[str, str]:
    """The environment without settings, which are what is tested here."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STREAMNB_")}
    return {**kept, **(more or {})}


def event(x: dict[str, Any], y: Any = None, **more: Any) -> str:
    return json.dumps({"x": x, **({} if y is None else {"y": y}), **more})


def write_events(path: Path, number: int, first: int = 0) -> Path:
    """A file of `number` events of two classes; `first` makes files differ."""
    events = (
        event({"a": i % 7 + 0.5, "b": i % 3}, "even" if i % 2 == 0 else "odd")
        for i in range(first, first + number)
    )
    path.write_text("".join(line + "\n" for line in events), encoding="utf-8")
    return path
