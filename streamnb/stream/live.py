"""The model that a predictor answers from: a file's, or a state folder's as it grows."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from streamnb import loads, merge
from streamnb.errors import CodecError, ConfigError
from streamnb.models import BayesClassifier
from streamnb.stream.folder import StateFolder
from streamnb.stream.predictions import Respondent

__all__ = ["FolderModel", "ModelFile", "ModelSource"]

_LOOK_SECONDS = 0.5


class ModelSource(Protocol):
    """A model that may change. `id` is its own, and stays."""

    id: str

    def current(self) -> Respondent | None:
        """Return what answers now; `None` while the model knows no class.

        Raises
        ------
        CodecError
            the model cannot be read.
        ConfigError
            the model has no such readings.
        """


class ModelFile:
    """The model of a file, as it is now. Its id is the file's digest.

    Raises
    ------
    CodecError
        the file holds no model.
    ConfigError
        the model has no such readings.
    OSError
        the file cannot be read.
    """

    def __init__(self, path: Path, readings: Mapping[str, object]) -> None:
        data = path.read_bytes()
        try:
            model = _with_readings(loads(data), readings)
        except CodecError as error:
            msg = f"{path}: {error}"
            raise CodecError(msg) from error
        self.id = hashlib.sha256(data).hexdigest()[:12]
        self._respondent = Respondent(model)

    def current(self) -> Respondent:
        """Return what answers, always the same."""
        return self._respondent


class FolderModel:
    """The merge of the newest shards of a state folder. Its id is the job's.

    Newer shards are looked for every half second; less often only where taking them in takes
    longer than that.
    """

    def __init__(self, folder: StateFolder, readings: Mapping[str, object], id: str) -> None:  # noqa: A002 - it is called so in job.json
        self.id = id
        self._folder = folder
        self._readings = readings
        self._shards: dict[tuple[str, int], BayesClassifier] = {}
        self._seen: dict[tuple[str, int], tuple[int, ...]] = {}
        self._look_at = 0.0
        self._respondent: Respondent | None = None

    def current(self) -> Respondent | None:
        """Return what answers now, with newer shards if there are some and it is time to look."""
        began = time.monotonic()
        if began < self._look_at:
            return self._respondent
        if self._take_in():
            model = merge([shard for _, shard in sorted(self._shards.items())])
            if model.classes:
                self._respondent = Respondent(_with_readings(model, self._readings))
        now = time.monotonic()
        self._look_at = now + max(_LOOK_SECONDS, now - began)
        return self._respondent

    def _take_in(self) -> bool:
        """Read newer shards; tell whether there were some."""
        has_news = False
        for place in self._folder.partitions():
            newest = self._folder.fingerprint(*place)
            if newest == self._seen.get(place):
                continue
            self._seen[place] = newest
            model = self._folder.newest(*place)
            if model is not None and self._is_newer(place, model):
                self._shards[place] = model
                has_news = True
        return has_news

    def _is_newer(self, place: tuple[str, int], model: BayesClassifier) -> bool:
        known = self._shards.get(place)
        return known is None or model.provenance.next > known.provenance.next


def _with_readings(model: BayesClassifier, readings: Mapping[str, object]) -> BayesClassifier:
    """Set readings of a model, and return it; raises `ConfigError` for what is none."""
    for name, value in readings.items():
        if name not in model.readings:
            known = ", ".join(model.readings)
            msg = f"{name!r} is no reading of {model.kind}; its readings are {known}"
            raise ConfigError(msg)
        try:
            setattr(model, name, value)
        except (TypeError, ValueError) as error:
            msg = f"{name} does not take {value!r}: {error}"
            raise ConfigError(msg) from error
    return model
