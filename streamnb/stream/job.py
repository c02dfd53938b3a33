"""What a state folder is for: `job.json`, written once and the same for every worker."""

from __future__ import annotations

import json
import uuid
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from streamnb import dumps, loads
from streamnb.errors import ConfigError, StreamNBError
from streamnb.models import KINDS, BayesClassifier
from streamnb.stream.settings import DEFAULT_MODEL, EventFormat, LearnSettings

__all__ = ["Job", "JobSource", "is_another"]

_FORMAT = 1


@dataclass(frozen=True)
class JobSource:
    """A source of a job: what makes it the same, and where its partitions begin.

    A partition that is not in `start` has come later, and begins where its log does. Standard
    input has no identity (`""`): each run is another source.
    """

    identity: str
    start: Mapping[int, int]


@dataclass(frozen=True)
class Job:
    """What is fixed for the life of a state folder.

    `model` is empty and has all parameters; `start` is `"earliest"` or `"latest"`, as it was
    asked for; `sources` are by name.
    """

    id: str
    model: BayesClassifier
    events: EventFormat
    start: str
    sources: Mapping[str, JobSource]

    @classmethod
    def proposed(cls, settings: LearnSettings, sources: Mapping[str, JobSource]) -> Job:
        """Make the job that settings ask for, with the defaults for what they leave open.

        Raises
        ------
        ConfigError
            there is no such model, or it does not take these parameters.
        """
        return cls(
            id=uuid.uuid4().hex[:12],
            model=_model(settings.model or DEFAULT_MODEL, settings.parameters),
            events=settings.events or EventFormat(),
            start=settings.start or "earliest",
            sources=sources,
        )

    def empty_model(self) -> BayesClassifier:
        """Return a model with the job's parameters that has learned nothing."""
        return self.model.clone()

    def to_json(self) -> str:
        """Return the text of `job.json`."""
        document = {
            "format": _FORMAT,
            "id": self.id,
            "model": {
                "kind": self.model.kind,
                **self.model.description(),
                "bytes": b64encode(dumps(self.model)).decode(),
            },
            "events": asdict(self.events),
            "start": self.start,
            "sources": {name: asdict(source) for name, source in self.sources.items()},
        }
        return json.dumps(document, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str, where: str) -> Job:
        """Read `job.json`; `where` it is goes into the errors.

        Raises
        ------
        ConfigError
            it is damaged, or of a format that this version does not know.
        """
        try:
            document = json.loads(text)
            number = document["format"]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            msg = f"{where} is damaged: {error!r}"
            raise ConfigError(msg) from error
        if number != _FORMAT:
            msg = f"{where} has format {number!r}; this version reads {_FORMAT}"
            raise ConfigError(msg)
        try:
            return cls(
                id=document["id"],
                model=loads(b64decode(document["model"]["bytes"], validate=True)),
                events=EventFormat(**document["events"]),
                start=document["start"],
                sources={
                    name: JobSource(
                        source["identity"],
                        {int(partition): start for partition, start in source["start"].items()},
                    )
                    for name, source in document["sources"].items()
                },
            )
        except (ValueError, TypeError, KeyError, AttributeError, StreamNBError) as error:
            msg = f"{where} is damaged: {error!r}"
            raise ConfigError(msg) from error

    def check(self, settings: LearnSettings, sources: Iterable[str], where: str) -> None:
        """Check that what the settings give agrees with the job; what they leave open does.

        Raises
        ------
        ConfigError
            something differs; the error names each.
        """
        differences = [*self._differences(settings)]
        if set(sources) != set(self.sources):
            differences.append(_differs("sources", sorted(self.sources), sorted(sources)))
        if differences:
            msg = f"{where} was made with other settings: {'; '.join(differences)}"
            raise ConfigError(msg)

    def _differences(self, settings: LearnSettings) -> Iterable[str]:
        kind = settings.model or self.model.kind
        if kind != self.model.kind:
            yield _differs("model", self.model.kind, kind)
        elif settings.parameters:
            given = _model(kind, settings.parameters).description()["parameters"]
            fixed = self.model.description()["parameters"]
            for name in settings.parameters:
                if given[name] != fixed[name]:
                    yield _differs(name, fixed[name], given[name])
        if settings.events is not None:
            for name, field in settings.events.given().items():
                if field != getattr(self.events, name):
                    yield _differs(name, getattr(self.events, name), field)
        if settings.start not in (None, self.start):
            yield _differs("start", self.start, settings.start)


def _model(kind: str, parameters: Mapping[str, object]) -> BayesClassifier:
    if kind not in KINDS:
        msg = f"there is no model {kind!r}; there are {', '.join(sorted(KINDS))}"
        raise ConfigError(msg)
    try:
        return KINDS[kind](**dict[str, Any](parameters))
    except (TypeError, ValueError) as error:
        msg = f"the model {kind!r} does not take these parameters: {error}"
        raise ConfigError(msg) from error


def _differs(name: str, fixed: object, given: object) -> str:
    there = "not set" if fixed is None else repr(fixed)
    return f"{name} is {there} there, {given!r} was given"


def is_another(name: str, known: str, found: str) -> str:
    """Say that a source is not the one of its name that was learned."""
    return f"{name} is not the one that was learned: that was {known}, this is {found}"
