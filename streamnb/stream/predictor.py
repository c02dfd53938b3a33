"""Predicting: events in, predictions out, while the model goes on learning."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event

from streamnb.provenance import Counters
from streamnb.stream.addresses import FileAddress, KafkaAddress
from streamnb.stream.deadline import Stopped, patiently
from streamnb.stream.folder import StateFolder
from streamnb.stream.live import FolderModel, ModelFile, ModelSource
from streamnb.stream.predictions import Respondent
from streamnb.stream.records import REFUSED, Letter, Question, Record, question_decoder
from streamnb.stream.settings import EventFormat, PartitionProgress, PredictSettings, Progress
from streamnb.stream.sinks import Answers, DeadLetters, open_answers, open_dead_letters
from streamnb.stream.sources import Batch, FileSource, LineSource, StandardInput
from streamnb.stream.tally import Tally

__all__ = ["Predictor", "predict"]

_DEAD_LETTERS = Path("streamnb-dead-letters")
_WAIT_SECONDS = 0.5

_log = logging.getLogger("streamnb")


def predict(settings: PredictSettings, *, stop: Event, report: Callable[[Progress], None]) -> None:
    """Predict the label of each event of the sources, until they end, or until `stop` is set.

    Each event is answered at least once: a topic's partitions go on at the offsets of the group,
    which are committed after the answers are durable; a file is answered from its beginning. Until
    the model knows a class nothing is read. Newer shards of a state folder are taken in as they
    come. `report` is called now and then, and at the end.

    Raises
    ------
    ConfigError
        the model has no such readings; the state folder is damaged; a sink is a source.
    SourceError
        a source is missing, unreachable or not the one it was.
    CodecError
        the model cannot be read.
    OSError
        the model cannot be read; the answers or the dead letters cannot be written.
    """
    try:
        with ExitStack() as stack:
            model, events = _model(settings, stop)
            answers = stack.enter_context(closing(open_answers(settings.to, stop)))
            letters = open_dead_letters(settings.dead_letters, _DEAD_LETTERS, stop)
            stack.enter_context(closing(letters))
            predictor = Predictor(
                model=model,
                decode=question_decoder(events, _log.warning),
                answers=answers,
                letters=letters,
                tally=Tally(events, report),
                respondent=_first(model, settings, stop),
            )
            topics = []
            for address in settings.addresses():
                if isinstance(address, KafkaAddress):
                    topics.append(address)
                elif isinstance(address, FileAddress):
                    _predict_lines(predictor, FileSource(address.path), settings, stop)
                else:
                    _predict_lines(predictor, StandardInput(), settings, stop)
            if topics:
                from streamnb.stream.topic_predictor import TopicPredictor  # noqa: PLC0415 - heavy

                TopicPredictor(predictor, topics, settings, stop).run()
    except Stopped as wait:
        _log.info("stopped while waiting for %s", wait)


@dataclass(kw_only=True)
class Predictor:
    """Answers records: `decode` makes a question of a value, `letters` takes what is none."""

    model: ModelSource
    decode: Callable[[bytes], Question]
    answers: Answers
    letters: DeadLetters
    tally: Tally
    respondent: Respondent

    def answer(self, source: str, partition: int, batch: Batch) -> None:
        """Answer the records of a batch from the model as it is now."""
        self.respondent = self.model.current() or self.respondent
        ok = tombstones = 0
        letters = []
        for record in batch.records:
            if record.value is None:
                tombstones += 1
                continue
            try:
                answer = self.respondent.answer(self.decode(record.value))
            except REFUSED as error:
                letters.append(Letter.of(record, error))
                continue
            self.answers.write(record, answer, partial(self._refuse, source, partition, record))
            ok += 1
        for letter in letters:
            self.letters.write(source, partition, letter)
        counted = Counters(ok=ok, bad=len(letters), tombstones=tombstones)
        self.tally.count(source, partition, counted, letters)

    def flush(self) -> None:
        """Make answers and dead letters durable; raises as `Sink.flush` does.

        In this order: an answer that is refused becomes a dead letter.
        """
        self.answers.flush()
        self.letters.flush()

    def _refuse(self, source: str, partition: int, record: Record, reason: str) -> None:
        """Make a dead letter of a record whose answer cannot be sent."""
        letter = Letter(record, reason)
        self.letters.write(source, partition, letter)
        self.tally.count(source, partition, Counters(ok=-1, bad=1), [letter])


def _predict_lines(
    predictor: Predictor, source: LineSource, settings: PredictSettings, stop: Event
) -> None:
    """Answer one source of lines, from its beginning to its end."""
    end = source.end()
    position = 0
    if settings.start == "latest" and isinstance(source, FileSource):
        position = source.last()
    for batch in source.read(position):
        if stop.is_set():
            break
        predictor.answer(source.name, 0, batch)
        patiently(predictor.flush, stop)
        position = batch.next
        predictor.tally.report([PartitionProgress(source.name, 0, position, end)])
    progress = PartitionProgress(source.name, 0, position, end)
    predictor.tally.report([progress], is_last=True)


def _model(settings: PredictSettings, stop: Event) -> tuple[ModelSource, EventFormat]:
    """Return the model to predict from, and how events are read.

    Raises
    ------
    Stopped
        `stop` was set before there was a state folder.
    """
    given = settings.events or EventFormat()
    if settings.model_file is not None:
        return ModelFile(settings.model_file, settings.readings), given
    folder = StateFolder(settings.state or Path())
    job = folder.job()
    if job is None:
        _log.info("waiting for a job in %s", folder.path)
    while job is None:
        if stop.wait(_WAIT_SECONDS):
            raise Stopped(folder.path)
        job = folder.job()
    events = EventFormat(**{**job.events.given(), **given.given()})
    return FolderModel(folder, settings.readings, job.id), events


def _first(model: ModelSource, settings: PredictSettings, stop: Event) -> Respondent:
    """Wait for a model that knows a class.

    Raises
    ------
    Stopped
        `stop` was set before there was one.
    """
    respondent = model.current()
    if respondent is None:
        _log.info("waiting for %s to learn something", settings.state)
    while respondent is None:
        if stop.wait(_WAIT_SECONDS):
            raise Stopped(settings.state)
        respondent = model.current()
    return respondent
