"""The state folder: one `job.json`, and the newest shards of each partition.

    job.json
    shards/SOURCE/PARTITION/NEXT_OFFSET.ckpt
    dead-letters/SOURCE-PARTITION.jsonl

A shard file is written under a temporary name, made durable, and then linked in place: it is
whole or it is not there, it is never replaced, and of two writers of one name the first wins.
The newest shard of a partition is the one with the largest number. So a worker that was thought
dead can add an older file or the same one, never undo anything; nothing is locked or compared and
swapped.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, unquote

from streamnb import loads, merge
from streamnb.errors import CodecError, ConfigError
from streamnb.models import BayesClassifier
from streamnb.provenance import Counters, Provenance
from streamnb.stream.job import Job

__all__ = ["StateFolder", "file_name", "load_model"]

_SUFFIX = ".ckpt"
_TEMPORARY = ".tmp"
_KEPT = 2
_STALE_SECONDS = 600.0
_TRIES = 20
_LONGEST_NAME = 255
_CUT = "%-"  # which no percent-encoded text has

_log = logging.getLogger("streamnb")


def file_name(source: str, suffix: str = "") -> str:
    """Return a source's name as the name of a file: percent-encoded; a topic's stays as it is.

    Where that is longer than file systems allow, it is cut, and a digest follows.
    """
    name = quote(source, safe="")
    if len(name) + len(suffix) > _LONGEST_NAME:
        digest = f"{_CUT}{hashlib.sha256(source.encode()).hexdigest()[:32]}"
        name = name[: _LONGEST_NAME - len(suffix) - len(digest)] + digest
    return name + suffix


class StateFolder:
    """A folder with the state of one job. Nothing is made before something is written.

    Several processes may use one folder at once, on one machine or over a network file system
    with hard links.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def dead_letters(self) -> Path:
        """The folder of the dead letters, if they go nowhere else."""
        return self.path / "dead-letters"

    def job(self) -> Job | None:
        """Read `job.json`; `None` where there is none yet.

        Raises
        ------
        ConfigError
            it is damaged.
        """
        path = self.path / "job.json"
        try:
            return Job.from_json(path.read_text("utf-8"), str(path))
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            msg = f"{path} is damaged: {error}"
            raise ConfigError(msg) from error

    def settle_job(self, proposed: Job) -> Job:
        """Write `job.json` and return the job; another worker's, where one was first."""
        make_folder(self.path)
        link_in_place(self.path / "job.json", proposed.to_json().encode())
        job = self.job()
        return proposed if job is None else job

    def partitions(self) -> Iterator[tuple[str, int]]:
        """Yield the source and the number of each partition that has a shard, in order."""
        yield from sorted(
            (self._source(folder.parent.name), int(folder.name))
            for folder in (self.path / "shards").glob("*/*")
            if folder.name.isdecimal() and _numbers(folder)
        )

    def positions(self) -> dict[str, dict[int, int]]:
        """Return the newest `next_offset` of each partition, by source, as the files' names say."""
        positions: dict[str, dict[int, int]] = {}
        for source, partition in self.partitions():
            if numbers := _numbers(self._shards(source, partition)):
                positions.setdefault(source, {})[partition] = numbers[0]
        return positions

    def counters(self) -> Counters:
        """Return the counters of the newest shards, added up."""
        return load_model(self.path).provenance.counters or Counters()

    def fingerprint(self, source: str, partition: int) -> tuple[int, ...]:
        """Return what changes whenever the newest shard of a partition is another file."""
        folder = self._shards(source, partition)
        numbers = _numbers(folder)
        try:
            return (*numbers, *((folder / f"{each}{_SUFFIX}").stat().st_ino for each in numbers))
        except FileNotFoundError:
            return ()  # newer ones have come, and one was deleted

    def newest(self, source: str, partition: int) -> BayesClassifier | None:
        """Read the newest shard of a partition; `None` where there is none.

        A damaged shard is passed over, with a warning, for the one before.

        Raises
        ------
        CodecError
            there are shards, and all are damaged.
        """
        folder = self._shards(source, partition)
        for _ in range(_TRIES):
            numbers = _numbers(folder)
            error: CodecError | None = None
            try:
                for number in numbers:
                    path = folder / f"{number}{_SUFFIX}"
                    try:
                        return _read(path, source, partition, number)
                    except CodecError as damage:
                        error = error or damage
                        _log.warning("%s; passed over for the one before", damage)
            except FileNotFoundError:
                continue  # newer ones have come, and it was deleted
            if error is not None:
                msg = f"no shard of {source} [{partition}] can be read: {error}"
                raise CodecError(msg) from error
            return None
        msg = f"the shards of {source} [{partition}] change faster than they can be read"
        raise CodecError(msg)

    def store(self, source: str, partition: int, number: int, data: bytes) -> bool:
        """Put a shard in place, durably, and delete all but the two newest.

        Returns
        -------
        bool
            `False` if there is a shard of this number with other bytes: it stays, and the caller
            must go on from it. (Only after a gap can two shards of one number differ.)

        Raises
        ------
        OSError
            the folder cannot be written.
        """
        folder = self._shards(source, partition)
        make_folder(folder)
        path = folder / f"{number}{_SUFFIX}"
        while not link_in_place(path, data):
            try:
                if path.read_bytes() == data:
                    break
                _read(path, source, partition, number)
            except FileNotFoundError:
                continue
            except CodecError as error:
                _log.warning("%s; set aside", error)
                with suppress(FileNotFoundError):  # another worker was first
                    path.replace(path.with_suffix(".damaged"))
                continue
            return False
        for old in _numbers(folder)[_KEPT:]:
            (folder / f"{old}{_SUFFIX}").unlink(missing_ok=True)
        return True

    def claim(self, source: str) -> int:
        """Return a number that no partition of a source has yet, and that nobody else gets."""
        number = 0
        while True:
            make_folder(self._shards(source, number).parent)
            try:
                self._shards(source, number).mkdir()
            except FileExistsError:
                number += 1
            else:
                return number

    def sweep(self, source: str, partition: int) -> None:
        """Delete what killed writers of a partition left behind."""
        before = time.time() - _STALE_SECONDS
        for path in self._shards(source, partition).glob(f".*{_TEMPORARY}"):
            try:
                if path.stat().st_mtime < before:
                    path.unlink()
            except FileNotFoundError:
                continue

    def _source(self, name: str) -> str:
        """Return the source whose shards are in the folder of a name.

        Raises
        ------
        ConfigError
            the name was cut, and `job.json` has no such source.
        """
        if _CUT not in name:
            return unquote(name)
        job = self.job()
        for source in job.sources if job is not None else ():
            if file_name(source) == name:
                return source
        msg = f"{self.path}: job.json has no source whose shards are in {name}"
        raise ConfigError(msg)

    def _shards(self, source: str, partition: int) -> Path:
        return self.path / "shards" / file_name(source) / str(partition)


def load_model(path: Path | str) -> BayesClassifier:
    """Read the model of a state folder: its newest shards, merged in the order of partitions.

    Where nothing was learned yet it is the empty model of the job.

    Raises
    ------
    ConfigError
        this is not a state folder.
    CodecError
        a partition has no shard that can be read.
    """
    folder = StateFolder(Path(path))
    newest = (folder.newest(source, partition) for source, partition in folder.partitions())
    models = [model for model in newest if model is not None]
    if models:
        merged: BayesClassifier = merge(models)
        return merged
    job = folder.job()
    if job is None:
        msg = f"{path} is not a state folder: there is no job.json and no shard in it"
        raise ConfigError(msg)
    model = job.empty_model()
    model.provenance = Provenance((), Counters())
    return model


def make_folder(path: Path) -> None:
    """Make a folder and those above it, durably."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True)
    _make_durable(path.parent)


def link_in_place(path: Path, data: bytes) -> bool:
    """Write a file durably, if there is none of its name; tell whether there was none.

    Raises
    ------
    OSError
        the file cannot be written, or the file system has no hard links.
    """
    temporary = path.with_name(f".{uuid.uuid4().hex}{_TEMPORARY}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        path.hardlink_to(temporary)
    except FileExistsError:
        return False
    finally:
        temporary.unlink(missing_ok=True)
    _make_durable(path.parent)
    return True


def _make_durable(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _numbers(folder: Path) -> list[int]:
    """Return the numbers of the shards in a folder, the largest first."""
    try:
        names = [path.name for path in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    stems = (name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))
    return sorted((int(stem) for stem in stems if stem.isdecimal()), reverse=True)


def _read(path: Path, source: str, partition: int, number: int) -> BayesClassifier:
    """Read a shard, and check that it is the one that its name says.

    Raises
    ------
    CodecError
        it is damaged, or another one.
    """
    try:
        model: BayesClassifier = loads(path.read_bytes())
    except CodecError as error:
        msg = f"{path} is damaged: {error}"
        raise CodecError(msg) from error
    ranges = model.provenance.ranges
    held = {(each.source, each.partition) for each in ranges}
    if held != {(source, partition)} or model.provenance.next != number:
        msg = f"{path} is damaged: it holds {', '.join(map(str, ranges)) or 'no events'}"
        raise CodecError(msg)
    return model
