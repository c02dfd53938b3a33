"""The state folder: whole files or none, the first one wins, the newest counts."""

import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import streamnb
from streamnb import CodecError, ConfigError, GaussianNB
from streamnb.provenance import Counters, Provenance, Range
from streamnb.stream.folder import StateFolder, file_name, load_model
from streamnb.stream.job import Job, JobSource
from streamnb.stream.learner import learn
from streamnb.stream.settings import EventFormat, LearnSettings

SOURCE = "kafka:cluster:topic"


def shard(number: int, ok: int | None = None, source: str = "t", partition: int = 0) -> bytes:
    """The bytes of a shard that has learned up to a number, and each time something else."""
    model = GaussianNB()
    for value in range(ok or number):
        model.learn_one({"a": float(value)}, "spam")
    model.provenance = Provenance(
        (Range(source, partition, 0, number, SOURCE),), Counters(ok=ok or number)
    )
    return streamnb.dumps(model)


def names(folder: StateFolder) -> list[str]:
    return sorted(path.name for path in (folder.path / "shards" / "t" / "0").iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path / "state")


class TestShards:
    def test_the_two_newest_are_kept_by_number(self, folder: StateFolder) -> None:
        for number in (0, 9, 10, 100):
            assert folder.store("t", 0, number, shard(number))
        assert names(folder) == ["10.ckpt", "100.ckpt"]
        assert folder.positions() == {"t": {0: 100}}
        assert folder.newest("t", 0).provenance.counters.ok == 100

    def test_an_older_one_is_never_newest(self, folder: StateFolder) -> None:
        folder.store("t", 0, 10, shard(10))
        folder.store("t", 0, 20, shard(20))
        assert folder.store("t", 0, 15, shard(15))
        assert folder.store("t", 0, 5, shard(5))
        assert folder.positions() == {"t": {0: 20}}
        assert folder.newest("t", 0).provenance.counters.ok == 20

    def test_an_equal_one_is_in_place(self, folder: StateFolder) -> None:
        assert folder.store("t", 0, 10, shard(10))
        before = (folder.path / "shards/t/0/10.ckpt").stat()
        assert folder.store("t", 0, 10, shard(10))
        after = (folder.path / "shards/t/0/10.ckpt").stat()
        assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)

    def test_of_two_different_ones_the_first_stays(self, folder: StateFolder) -> None:
        assert folder.store("t", 0, 10, shard(10))
        assert not folder.store("t", 0, 10, shard(10, ok=7))
        assert folder.newest("t", 0).provenance.counters.ok == 10

    def test_a_damaged_one_is_passed_over_and_set_aside(
        self, folder: StateFolder, caplog: pytest.LogCaptureFixture
    ) -> None:
        folder.store("t", 0, 10, shard(10))
        folder.store("t", 0, 20, shard(20))
        newest = folder.path / "shards/t/0/20.ckpt"
        newest.write_bytes(shard(20)[:-1])
        assert folder.newest("t", 0).provenance.counters.ok == 10
        assert f"{newest} is damaged" in caplog.text
        assert folder.store("t", 0, 20, shard(20))
        assert folder.newest("t", 0).provenance.counters.ok == 20
        assert names(folder) == ["10.ckpt", "20.ckpt", "20.damaged"]

    def test_a_name_longer_than_file_systems_allow(self, tmp_path: Path) -> None:
        """Each of these signs is nine in percent-encoding; the two names differ at their ends."""
        files = [tmp_path / ("流" * 20) / ("量" * 60 + end) for end in "ab"]
        files[0].parent.mkdir()
        for number, file in enumerate(files):
            file.write_text("".join(f'{{"x": {{"a": {i}}}, "y": {number}}}\n' for i in range(5)))
        names = [str(each) for each in files]
        for _ in range(2):
            learn(LearnSettings(tuple(names), tmp_path / "state"), stop=Event(), report=print)
        assert load_model(tmp_path / "state").class_weight == {0: 5.0, 1: 5.0}
        assert list(StateFolder(tmp_path / "state").positions()) == sorted(names)
        assert all(len(file_name(each, "-10.jsonl")) == 255 for each in names)
        assert file_name("t" * 249) == "t" * 249

    def test_where_all_are_damaged_it_is_an_error_that_names_it(self, folder: StateFolder) -> None:
        folder.store("t", 0, 10, shard(10))
        (folder.path / "shards/t/0/10.ckpt").write_bytes(b"")
        with pytest.raises(CodecError, match=r"no shard of t \[0\].*10\.ckpt is damaged"):
            folder.newest("t", 0)
        with pytest.raises(CodecError):
            load_model(folder.path)

    @pytest.mark.parametrize(
        "other",
        [shard(9), shard(10, source="u"), shard(10, partition=1), streamnb.dumps(GaussianNB())],
    )
    def test_one_that_is_not_what_its_name_says_is_damaged(
        self, folder: StateFolder, other: bytes
    ) -> None:
        folder.store("t", 0, 10, other)
        with pytest.raises(CodecError, match=r"10\.ckpt is damaged: it holds"):
            folder.newest("t", 0)

    def test_what_killed_writers_left_is_swept(self, folder: StateFolder) -> None:
        folder.store("t", 0, 10, shard(10))
        place = folder.path / "shards/t/0"
        for name, age in (("old", 3600), ("new", 1)):
            path = place / f".{name}.tmp"
            path.write_bytes(b"half")
            os.utime(path, (time.time() - age,) * 2)
        folder.sweep("t", 0)
        assert names(folder) == [".new.tmp", "10.ckpt"]

    def test_writers_and_readers_at_once(self, folder: StateFolder) -> None:
        """Every reader sees a shard that is whole, and never an older one than before."""
        shards = {number: shard(number) for number in range(1, 60)}

        def write() -> None:
            assert all(folder.store("t", 0, number, data) for number, data in shards.items())

        def see() -> None:
            last = 0
            while last < max(shards):
                model = folder.newest("t", 0)
                if model is not None:
                    assert model.provenance.counters.ok >= last
                    last = model.provenance.counters.ok

        with ThreadPoolExecutor() as pool:
            for work in [pool.submit(each) for each in (write, write, see, see)]:
                work.result()
        assert names(folder) == ["58.ckpt", "59.ckpt"]


class TestModel:
    def test_is_the_merge_in_the_order_of_partitions(self, folder: StateFolder) -> None:
        for partition in (10, 9, 2):
            folder.store("t", partition, 5, shard(5, partition=partition))
        assert list(folder.partitions()) == [("t", 2), ("t", 9), ("t", 10)]
        model = load_model(folder.path)
        parts = [streamnb.loads(shard(5, partition=number)) for number in (2, 9, 10)]
        assert streamnb.dumps(model) == streamnb.dumps(streamnb.merge(parts))
        assert streamnb.load(folder.path) == model
        assert folder.counters() == Counters(ok=15)

    def test_without_shards_it_is_empty(self, folder: StateFolder) -> None:
        folder.settle_job(proposed(parameters={"var_smoothing": 0.5}))
        model = load_model(folder.path)
        assert (model.classes, model.var_smoothing) == ([], 0.5)
        assert model.provenance == Provenance((), Counters())

    def test_another_folder_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="is not a state folder"):
            load_model(tmp_path)


def proposed(**given: Any) -> Job:
    sources = {"t": JobSource(SOURCE, {0: 5, 1: 0})}
    return Job.proposed(LearnSettings(("kafka://host/t",), **given), sources)


class TestJob:
    def test_the_first_one_is_every_ones(self, folder: StateFolder) -> None:
        assert folder.job() is None
        first = folder.settle_job(proposed(parameters={"var_smoothing": 1e-6}, start="latest"))
        second = folder.settle_job(proposed(events=EventFormat(label="y")))
        assert second.id == first.id
        job = folder.job()
        assert job is not None
        assert (job.id, job.start, job.events) == (first.id, "latest", EventFormat())
        assert job.sources == {"t": JobSource(SOURCE, {0: 5, 1: 0})}
        assert job.empty_model().var_smoothing == 1e-6
        assert sorted(path.name for path in folder.path.iterdir()) == ["job.json"]

    def test_can_be_read_by_people(self, folder: StateFolder) -> None:
        folder.settle_job(proposed())
        document = json.loads((folder.path / "job.json").read_text())
        assert document["model"]["kind"] == "gaussian"
        assert document["model"]["parameters"]["smoothing"] == "feature"
        assert document["sources"]["t"] == {"identity": SOURCE, "start": {"0": 5, "1": 0}}

    @pytest.mark.parametrize(
        "text", ["", "{}", "[]", '{"format": 1}', '{"format": 2}', '{"format": 1, "id": "a"}']
    )
    def test_a_damaged_one_is_an_error_that_names_it(self, folder: StateFolder, text: str) -> None:
        folder.path.mkdir()
        (folder.path / "job.json").write_text(text)
        with pytest.raises(ConfigError, match=r"job\.json"):
            folder.job()

    def test_what_is_not_given_agrees(self) -> None:
        job = proposed(parameters={"var_smoothing": 0.5}, events=EventFormat(label="y"))
        for given in (
            {},
            {"model": "gaussian"},
            {"parameters": {"var_smoothing": 0.5}},
            {"events": EventFormat(label="y")},
            {"start": "earliest"},
            {"group": "g", "every": 1, "every_seconds": 1.0, "until_end": True, "on_gap": "skip"},
            {"dead_letters": "-", "session_timeout": 1.0},
        ):
            job.check(LearnSettings(("kafka://host/t",), **given), ["t"], "job.json")

    def test_every_difference_is_named(self) -> None:
        job = proposed(parameters={"var_smoothing": 0.5}, events=EventFormat(label="y"))
        given = LearnSettings(
            ("kafka://host/u",),
            parameters={"var_smoothing": 0.25, "ddof": 1},
            events=EventFormat(label="z", weight_field="w"),
            start="latest",
        )
        with pytest.raises(ConfigError) as caught:
            job.check(given, ["u"], "state/job.json")
        assert str(caught.value) == (
            "state/job.json was made with other settings: var_smoothing is 0.5 there, 0.25 was "
            "given; ddof is 0 there, 1 was given; label is 'y' there, 'z' was given; weight_field "
            "is not set there, 'w' was given; start is 'earliest' there, 'latest' was given; "
            "sources is ['t'] there, ['u'] was given"
        )

    def test_what_is_no_model_is_an_error(self) -> None:
        known = r"there is no model 'gausian'; there are bernoulli, .*gaussian, "
        with pytest.raises(ConfigError, match=known):
            proposed(model="gausian")
        with pytest.raises(ConfigError, match=r"does not take these parameters.*smoothin"):
            proposed(parameters={"smoothin": 1})
        with pytest.raises(ConfigError, match="does not take these parameters"):
            proposed(parameters={"var_smoothing": -1})


def test_names_of_files() -> None:
    assert file_name("my.topic_1-a") == "my.topic_1-a"
    assert file_name("/data/ä b.jsonl") == "%2Fdata%2F%C3%A4%20b.jsonl"


def test_each_claim_is_another_number(folder: StateFolder) -> None:
    claimed: list[int] = []
    threads = [threading.Thread(target=lambda: claimed.append(folder.claim("-"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(claimed) == list(range(8))
