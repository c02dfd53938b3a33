"""`streamnb show`: for people a table, for programs one JSON object."""

from __future__ import annotations

import json
from pathlib import Path

import streamnb
from streamnb.provenance import Counters, Provenance, Range

from .commands import Run, event, write_events


def test_json_of_a_folder_and_of_its_merge_is_the_same(run: Run, tmp_path: Path) -> None:
    path = write_events(tmp_path / "a.jsonl", 30)
    path.write_text(path.read_text() + "{\n")
    assert run("learn", "a.jsonl", "--state", "s", "--set", "var_smoothing=1e-3").returncode == 0
    assert run("merge", "s", "-o", "m.nb").returncode == 0
    end = path.stat().st_size
    for place in ("s", "m.nb", max((tmp_path / "s").glob("shards/*/0/*.ckpt"))):
        done = run("show", place, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("\n") == 1
        shown = json.loads(done.stdout)
        parameters = shown.pop("parameters")
        assert parameters["var_smoothing"] == 1e-3
        assert shown == {
            "model": "GaussianNB",
            "classes": ["even", "odd"],
            "class_weight": {"even": 15.0, "odd": 15.0},
            "features": 2,
            "positions": {str(path): {"0": end}},
            "counters": {"ok": 30, "bad": 1, "tombstones": 0, "gaps": 0},
            "provenance": [[str(path), 0, 0, end]],
        }


def test_a_folder_without_shards_answers_zeros(run: Run, tmp_path: Path) -> None:
    write_events(tmp_path / "a.jsonl", 3)
    assert run("learn", "a.jsonl", "--state", "s").returncode == 0
    for checkpoint in (tmp_path / "s").glob("shards/*/*/*.ckpt"):
        checkpoint.unlink()
    shown = json.loads(run("show", "s", "--json").stdout)
    assert shown["counters"] == {"ok": 0, "bad": 0, "tombstones": 0, "gaps": 0}
    assert (shown["classes"], shown["positions"], shown["provenance"]) == ([], {}, [])
    assert run("show", "s").returncode == 0


def test_labels_keep_their_types_in_json(run: Run, tmp_path: Path) -> None:
    model = streamnb.GaussianNB()
    for label in (1, "1", "a", 2.5, "true"):
        model.learn_one({"x": 1.0}, label)
    streamnb.save(model, tmp_path / "m.nb")
    shown = json.loads(run("show", "m.nb", "--json").stdout)
    assert shown["classes"] == model.classes
    assert shown["class_weight"] == {"int:1": 1.0, "1": 1.0, "a": 1.0, "2.5": 1.0, "true": 1.0}
    assert (shown["counters"], shown["positions"]) == (None, {})


def test_people_see_classes_parameters_and_events(run: Run, tmp_path: Path) -> None:
    path = write_events(tmp_path / "a.jsonl", 30)
    assert run("learn", "a.jsonl", "--state", "s").returncode == 0
    done = run("show", "s")
    assert (done.returncode, done.stderr) == (0, "")
    text = done.stdout
    assert text.startswith("GaussianNB: 2 classes, 2 features\n")
    assert "30 learned, 0 bad, 0 tombstones, 0 lost in gaps" in text
    assert "var_smoothing" in text
    assert str(path) in text
    assert "hole" not in text


def test_holes_are_shown(run: Run, tmp_path: Path) -> None:
    model = streamnb.GaussianNB()
    model.learn_one({"x": 1.0}, "a")
    ranges = (Range("t", 0, 5, 10, "i"), Range("t", 0, 12, 20, "i"), Range("t", 1, 0, 3, "i"))
    model.provenance = Provenance(ranges, Counters(ok=14, gaps=2))
    streamnb.save(model, tmp_path / "m.nb")
    text = run("show", "m.nb").stdout
    assert "hole" in text
    assert [line.split() for line in text.splitlines() if line.strip().startswith("t ")] == [
        ["t", "0", "5", "10"],
        ["t", "0", "10", "12", "hole"],
        ["t", "0", "12", "20"],
        ["t", "1", "0", "3"],
    ]
    shown = json.loads(run("show", "m.nb", "--json").stdout)
    assert shown["positions"] == {"t": {"0": 20, "1": 3}}
    assert shown["provenance"] == [["t", 0, 5, 10], ["t", 0, 12, 20], ["t", 1, 0, 3]]


def test_readings_can_be_set(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(event({"x": 1.0}, "a") + "\n")
    assert run("learn", "a.jsonl", "--state", "s").returncode == 0
    done = run("show", "s", "--json", "--set", "prior=uniform")
    assert json.loads(done.stdout)["parameters"]["prior"] == "uniform"
    done = run("show", "s", "--set", "pior=uniform")
    assert done.returncode == 2
    assert "(the nearest is prior)" in done.stderr


def test_what_is_no_model_is_a_failure(run: Run, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no model")
    for place in ("none.nb", "text", "."):
        done = run("show", place)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("streamnb: error: ")
    assert run("show").returncode == 2
    assert run("show", "a", "b").returncode == 2
