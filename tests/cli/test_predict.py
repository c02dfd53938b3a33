"""`streamnb predict` over files and pipes."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

import streamnb

from .commands import Refused, Run, Start, command_line, environment, event, write_events


@pytest.fixture
def learned(run: Run, tmp_path: Path) -> streamnb.GaussianNB:
    """A state folder `s` and a model file `m.nb` of the same model."""
    write_events(tmp_path / "a.jsonl", 40)
    assert run("learn", "a.jsonl", "--state", "s").returncode == 0
    assert run("merge", "s", "-o", "m.nb").returncode == 0
    model = streamnb.load(tmp_path / "m.nb")
    assert isinstance(model, streamnb.GaussianNB)
    return model


def test_a_prediction_is_one_line_of_json(run: Run, learned: streamnb.GaussianNB) -> None:
    x = {"a": 1.5, "b": 2}
    for model in (("--state", "s"), ("--model-file", "m.nb")):
        done = run("predict", "-", *model, stdin=event(x, id=[7]) + "\n" + event({}) + "\n")
        assert done.returncode == 0, done.stderr
        first, second = map(json.loads, done.stdout.splitlines())
        assert first == {
            "id": [7],
            "y": learned.predict_one(x),
            "p": learned.predict_proba_one(x),
            "n": 40,
        }
        assert (second["id"], second["y"]) == (None, learned.predict_one({}))


@pytest.mark.usefixtures("learned")
def test_without_a_model_it_is_the_state_folder_that_learn_makes(run: Run) -> None:
    assert run("learn", "a.jsonl").returncode == 0
    done = run("predict", "a.jsonl")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 40)


@pytest.mark.usefixtures("learned")
def test_predictions_go_to_a_file_and_bad_events_to_dead_letters(run: Run, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(event({"a": 1.0}) + "\n{\n" + event({"a": "text"}) + "\n")
    sinks = ("--to", "out.jsonl", "--dead-letters", "bad.jsonl")
    done = run("predict", "q.jsonl", "--state", "s", *sinks)
    assert (done.returncode, done.stdout) == (0, "")
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 1
    assert len((tmp_path / "bad.jsonl").read_text().splitlines()) == 2


@pytest.mark.usefixtures("learned")
def test_readings_can_be_set(run: Run) -> None:
    for model in (("--state", "s"), ("--model-file", "m.nb")):
        prior = 'prior={"even": 1, "odd": 0}'
        done = run("predict", "-", *model, "--set", prior, stdin=event({"a": 1.0}))
        assert json.loads(done.stdout)["p"] == {"even": 1.0, "odd": 0.0}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model file `m.nb` and a state folder `s`."""
    folder = tmp_path_factory.mktemp("models")
    write_events(folder / "a.jsonl", 4)
    learn = command_line("learn", "a.jsonl", "--state", "s")
    subprocess.run(learn, cwd=folder, env=environment(), check=True, capture_output=True)
    streamnb.save(streamnb.load(folder / "s"), folder / "m.nb")
    return folder


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("--state {s} --weight-field y", "weight_field: fields of flat events, which need --label"),
        ("--model-file {m} --id-field y", "id_field: fields of flat events, which need --label"),
        ("--state {s} --model-file {m}", "a state folder or a model file"),
        ("--state {s} --sate x", "no such flag: --sate (the nearest is --state)"),
        ("--state {s} --every 3", "no such flag: --every (the nearest is"),
        ("--state {s} --set pior=uniform", "(the nearest is prior)"),
        ("--state {s} --set prior=unifrm", "--set: "),
        ("--model-file {m} --set pior=uniform", "(the nearest is prior)"),
        ("--model-file {m} --set prior=unifrm", "--set: "),
        ("--state {s} --to ftp://x/y", "neither kafka://host:port/topic nor a file"),
    ],
)
def test_wrong_usage_ends_with_status_2(
    refused: Refused, models: Path, args: str, message: str
) -> None:
    places = {"s": models / "s", "m": models / "m.nb"}
    assert message in refused("predict", "-", *args.format(**places).split())


@pytest.mark.usefixtures("learned")
def test_of_two_models_the_one_from_the_stronger_source_is_taken(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('state = "nowhere"')
    done = run("predict", "-", "--model-file", "m.nb", "--config", "s.toml", stdin=event({}))
    assert done.returncode == 0, done.stderr
    done = run("predict", "-", "--state", "s", STREAMNB_MODEL_FILE="none.nb", stdin=event({}))
    assert done.returncode == 0, done.stderr
    both = ("--config", "s.toml")
    (tmp_path / "s.toml").write_text('state = "s"\nmodel_file = "m.nb"')
    assert run("predict", "-", *both, stdin=event({})).returncode == 2


@pytest.mark.usefixtures("learned")
def test_a_missing_or_damaged_model_is_a_failure(run: Run, tmp_path: Path) -> None:
    data = bytearray((tmp_path / "m.nb").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "bad.nb").write_bytes(data)
    for path in ("none.nb", "bad.nb"):
        done = run("predict", "-", "--model-file", path, stdin=event({}))
        assert (done.returncode, done.stdout) == (1, "")
        assert path in done.stderr
        assert "Traceback" not in done.stderr


def test_it_waits_for_a_model_and_answers_each_line_as_it_comes(
    run: Run, start: Start, tmp_path: Path
) -> None:
    predictor = start("predict", "-", "--state", "s")
    assert predictor.stdin is not None
    assert predictor.stdout is not None
    predictor.stdin.write(event({"a": 1.0}) + "\n")
    predictor.stdin.flush()
    write_events(tmp_path / "a.jsonl", 40)
    assert run("learn", "a.jsonl", "--state", "s").returncode == 0
    first = json.loads(predictor.stdout.readline())
    assert first["y"] in {"even", "odd"}
    predictor.stdin.write(event({"a": 2.0}, id=2) + "\n")
    predictor.stdin.flush()
    assert json.loads(predictor.stdout.readline())["id"] == 2
    predictor.stdin.close()
    assert predictor.wait(20) == 0


@pytest.mark.usefixtures("learned")
def test_a_reader_that_does_not_read_does_not_keep_it_from_stopping(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "q.jsonl").write_text((event({"a": 1.0}) + "\n") * 50_000)
    predictor = start("predict", "q.jsonl", "--state", "s", stdin=subprocess.DEVNULL)
    assert predictor.stdout is not None
    assert predictor.stderr is not None
    predictor.stdout.readline()
    time.sleep(0.5)
    began = time.monotonic()
    predictor.send_signal(signal.SIGTERM)
    assert predictor.wait(20) == 0
    assert time.monotonic() - began < 1.0
    assert "Traceback" not in predictor.stderr.read()


@pytest.mark.usefixtures("learned")
@pytest.mark.parametrize("sink", ["/dev/stdout", "/dev/null"])
def test_a_device_can_be_a_sink(run: Run, sink: str) -> None:
    done = run("predict", "-", "--state", "s", "--to", sink, "--dead-letters", sink, stdin="{\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == (sink == "/dev/stdout")


@pytest.mark.usefixtures("learned")
def test_a_reader_that_goes_away_ends_it_without_a_word(start: Start, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text((event({"a": 1.0}) + "\n") * 50_000)
    predictor = start("predict", "q.jsonl", "--state", "s", stdin=subprocess.DEVNULL)
    assert predictor.stdout is not None
    assert predictor.stderr is not None
    predictor.stdout.readline()
    predictor.stdout.close()
    assert predictor.wait(20) == 1
    assert "error" not in predictor.stderr.read()
