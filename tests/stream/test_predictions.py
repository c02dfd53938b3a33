"""Predictions as JSON, from files, from models that grow."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import streamnb
from streamnb import ConfigError, GaussianNB
from streamnb.provenance import Counters, Provenance, Range
from streamnb.stream.folder import StateFolder
from streamnb.stream.live import FolderModel
from streamnb.stream.predictions import Respondent, label_keys
from streamnb.stream.records import Question
from streamnb.stream.settings import EventFormat, LearnSettings, PredictSettings
from streamnb.testing.driver import events, eventually, one_pass

from .running import Running, run


def model_of(*labels: Any) -> GaussianNB:
    model = GaussianNB()
    for value, label in enumerate(labels):
        model.learn_one({"a": float(value)}, label)
        model.learn_one({"a": value + 0.5}, label)
    return model


class TestLabelsAsKeys:
    def test_texts_are_themselves_and_others_their_json(self) -> None:
        assert label_keys([True, 2, 1.5, "spam", "ä"]) == {
            True: "true",
            2: "2",
            1.5: "1.5",
            "spam": "spam",
            "ä": "ä",
        }

    def test_a_text_that_reads_the_same_wins(self) -> None:
        assert label_keys([1, "1"]) == {1: "int:1", "1": "1"}
        assert label_keys([True, "true", 0.5, "0.5", 7]) == {
            True: "bool:true",
            "true": "true",
            0.5: "float:0.5",
            "0.5": "0.5",
            7: "7",
        }

    def test_in_an_answer(self) -> None:
        answer = json.loads(Respondent(model_of(2, "2")).answer(Question({"a": 0.2})))
        assert list(answer["p"]) == ["int:2", "2"]
        assert answer["y"] == 2


class TestFiles:
    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.chdir(tmp_path)
        return tmp_path

    def test_each_line_is_answered(self, folder: Path) -> None:
        model = model_of("a", "b")
        streamnb.save(model, folder / "model")
        (folder / "asked").write_bytes(b'{"x": {"a": 1}, "id": 7}\n\n{\n{"x": {"a": null}}\n')
        given = PredictSettings(("asked",), model_file=folder / "model", to="answers")
        for _ in range(2):
            progress = run(given)
            assert (progress.ok, progress.bad) == (2, 1)
        answers = [json.loads(each) for each in (folder / "answers").read_bytes().splitlines()]
        assert (
            answers
            == [
                {"id": 7, "y": "b", "p": model.predict_proba_one({"a": 1}), "n": 4.0},
                {"id": None, "y": "a", "p": model.predict_proba_one({}), "n": 4.0},
            ]
            * 2
        )
        letters = (
            folder
            / "streamnb-dead-letters"
            / f"%2F{str(folder)[1:].replace('/', '%2F')}%2Fasked-0.jsonl"
        )
        assert len(letters.read_bytes().splitlines()) == 2

    def test_readings_are_set(self, folder: Path) -> None:
        streamnb.save(model_of("a", "a", "b"), folder / "model")
        (folder / "asked").write_bytes(b'{"x": {}}')
        given: dict[str, Any] = {"model_file": folder / "model", "to": "answers"}
        run(PredictSettings(("asked",), readings={"prior": "uniform"}, **given))
        assert json.loads((folder / "answers").read_bytes())["p"] == {"a": 0.5, "b": 0.5}
        with pytest.raises(
            ConfigError, match="'priors' is no reading of gaussian; its readings are"
        ):
            run(PredictSettings(("asked",), readings={"priors": 1}, **given))
        with pytest.raises(ConfigError, match="prior does not take"):
            run(PredictSettings(("asked",), readings={"prior": 1}, **given))

    def test_reads_events_as_the_job_says_unless_told(self, folder: Path) -> None:
        (folder / "events").write_bytes(
            b'{"kind": "a", "v": 1, "n": 2}\n{"kind": "a", "v": 2}\n{"kind": "b", "v": 9}'
        )
        names = EventFormat(label="kind", weight_field="n")
        run(LearnSettings(("events",), Path("state"), events=names))
        (folder / "asked").write_bytes(b'{"v": 9, "kind": "a", "n": "?", "key": 5}')
        run(PredictSettings(("asked",), state=Path("state"), to="answers"))
        run(
            PredictSettings(
                ("asked",), state=Path("state"), to="answers", events=EventFormat(id_field="key")
            )
        )
        first, second = map(json.loads, (folder / "answers").read_bytes().splitlines())
        assert (first["y"], first["id"], first["n"]) == ("b", None, 3)
        assert (second["y"], second["id"]) == ("b", 5)

    def test_waits_for_a_model_until_stopped(self, folder: Path) -> None:
        (folder / "asked").write_bytes(b'{"x": {}}')
        for state in ("none", "empty"):
            (folder / "events").write_bytes(b"")
            if state == "empty":
                run(LearnSettings(("events",), Path(state)))
            running = Running(PredictSettings(("asked",), state=Path(state), to="answers"))
            time.sleep(0.3)
            assert running.end() < 1.0
            assert not (folder / "answers").exists()

    def test_standard_input_is_answered_at_once(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        streamnb.save(model_of("a", "b"), folder / "model")
        reading, writing = os.pipe()
        monkeypatch.setattr(sys, "stdin", os.fdopen(reading))
        running = Running(PredictSettings(("-",), model_file=Path("model"), to="answers"))
        for number in (1, 2):
            os.write(writing, b'{"x": {"a": 1}}\n')
            eventually(running.has_learned(number))
            eventually(lambda n=number: (folder / "answers").read_bytes().count(b"\n") == n)
        os.close(writing)
        running.end()


class TestGrowingModels:
    def shard(self, partition: int, number: int) -> bytes:
        model = one_pass(
            GaussianNB(), events(number, seed=partition, labels="abcd"[: partition + 1])
        )
        ranges = (Range("t", partition, 0, number, "kafka:c:t"),)
        model.provenance = Provenance(ranges, Counters(ok=number))
        return streamnb.dumps(model)

    def test_newer_shards_are_taken_in(self, tmp_path: Path) -> None:
        folder = StateFolder(tmp_path)
        live = FolderModel(folder, {"prior": "uniform"}, "id")
        assert live.current() is None
        for partition, number in ((1, 50), (0, 20), (1, 80), (3, 40)):
            folder.store("t", partition, number, self.shard(partition, number))
            began = time.monotonic()
            whole = streamnb.load(tmp_path)
            whole.prior = "uniform"
            eventually(
                lambda whole=whole: (
                    live.current() is not None
                    and json.loads(live.current().answer(Question({"f0": 1.0})))["p"]
                    == whole.predict_proba_one({"f0": 1.0})
                )
            )
            assert time.monotonic() - began < 2.0

    def test_a_shard_that_was_damaged_is_taken_in_when_it_is_whole_again(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        folder = StateFolder(tmp_path)
        for number in (10, 20):
            folder.store("t", 0, number, self.shard(0, number))
        (tmp_path / "shards/t/0/20.ckpt").write_bytes(b"half")
        live = FolderModel(folder, {}, "id")

        def learned() -> int:
            time.sleep(0.6)
            return int(json.loads(live.current().answer(Question({})))["n"])

        assert learned() == learned() == 10
        assert len(caplog.messages) == 1
        folder.store("t", 0, 20, self.shard(0, 20))
        assert learned() == 20
        (tmp_path / "shards/t/0/20.ckpt").rename(tmp_path / "lost")
        assert learned() == 20
