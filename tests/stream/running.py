"""Learners and predictors in this process: to their end, or in a thread until they are stopped."""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

from streamnb.stream.learner import learn
from streamnb.stream.predictor import predict
from streamnb.stream.settings import LearnSettings, PredictSettings, Progress
from streamnb.testing import Broker


class Running:
    """A learner or a predictor in a thread."""

    def __init__(self, settings: LearnSettings | PredictSettings) -> None:
        self.stop = Event()
        self.progress = Progress()
        self.error: BaseException | None = None
        self._settings = settings
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            if isinstance(self._settings, LearnSettings):
                learn(self._settings, stop=self.stop, report=self._keep)
            else:
                predict(self._settings, stop=self.stop, report=self._keep)
        except BaseException as error:  # noqa: BLE001 - it is raised again in the test
            self.error = error

    def _keep(self, progress: Progress) -> None:
        self.progress = progress

    def has_learned(self, number: int) -> Callable[[], bool]:
        """Whether it has learned, or answered, so many events."""
        return lambda: self.progress.ok >= number

    def owns(self, number: int) -> Callable[[], bool]:
        """Whether it owns so many partitions."""
        return lambda: len(self.progress.partitions) == number

    def end(self, seconds: float = 30.0) -> float:
        """Stop it, and return how many seconds that took."""
        began = time.monotonic()
        self.stop.set()
        self._thread.join(seconds)
        assert not self._thread.is_alive()
        if self.error is not None:
            raise self.error
        return time.monotonic() - began


def run(settings: LearnSettings | PredictSettings) -> Progress:
    """Learn or predict to the end, and return what was reported last."""
    last = [Progress()]
    verb: Any = learn if isinstance(settings, LearnSettings) else predict
    verb(settings, stop=Event(), report=last.append)
    return last[-1]


def learning(kafka: Broker, topic: str, state: Path, **others: Any) -> LearnSettings:
    """Settings for learning a topic to its end, as a member that is missed soon."""
    others = {"session_timeout": 2.0, "until_end": True, **others}
    return LearnSettings((f"kafka://{kafka.bootstrap}/{topic}",), state, **others)
