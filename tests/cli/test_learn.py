"""`streamnb learn` over files: what it learns, fixes, refuses, and how it ends."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import streamnb
from streamnb.models import KINDS
from streamnb.provenance import Counters

from .commands import Refused, Run, event, write_events


def test_it_learns_files_and_goes_on_where_it_stopped(run: Run, tmp_path: Path) -> None:
    write_events(tmp_path / "a.jsonl", 60)
    write_events(tmp_path / "b.jsonl", 40, first=7)
    done = run("learn", "a.jsonl", "b.jsonl", "--every", 7)
    assert (done.returncode, done.stdout) == (0, "")
    assert "streamnb: learned 100 events" in done.stderr
    model = streamnb.load(tmp_path / "streamnb-state")
    assert model.class_weight == {"even": 50.0, "odd": 50.0}

    again = run("learn", "a.jsonl", "b.jsonl")
    assert again.returncode == 0
    assert streamnb.dumps(streamnb.load(tmp_path / "streamnb-state")) == streamnb.dumps(model)


def test_it_learns_what_one_pass_learns(run: Run, tmp_path: Path) -> None:
    path = write_events(tmp_path / "a.jsonl", 50)
    assert run("learn", path, "--state", "s", "--set", "var_smoothing=1e-3").returncode == 0
    one_pass = streamnb.GaussianNB(var_smoothing=1e-3)
    for line in path.read_text().splitlines():
        one_pass.learn_one(json.loads(line)["x"], json.loads(line)["y"])
    learned = streamnb.load(tmp_path / "s")
    learned.provenance = one_pass.provenance
    assert streamnb.dumps(learned) == streamnb.dumps(one_pass)


def test_another_model(run: Run, tmp_path: Path) -> None:
    """`--model poisson`: counts are learned, one below 0 is a dead letter that says so."""
    lines = [event({"a": 1}, "x"), event({"a": -2}, "x"), event({"a": 4.0}, "y")]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    flags = ("--model", "poisson", "--set", "alpha=0.5", "--dead-letters", "bad.jsonl")
    assert run("learn", "a.jsonl", *flags).returncode == 0
    one_pass = streamnb.PoissonNB(alpha=0.5)
    one_pass.learn_one({"a": 1}, "x")
    one_pass.learn_one({"a": 4}, "y")
    learned = streamnb.load(tmp_path / "streamnb-state")
    assert learned.provenance.counters.bad == 1
    learned.provenance = one_pass.provenance
    assert learned == one_pass
    (letter,) = (tmp_path / "bad.jsonl").read_text().splitlines()
    assert "feature 'a': a number that is not negative is wanted" in json.loads(letter)["reason"]


def test_bad_events_are_dead_letters_and_counted(run: Run, tmp_path: Path) -> None:
    lines = [event({"a": 1.0}, "x"), "{", event({"a": 2.0}), event({"a": [1]}, "x")]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, event({"a": 3.0}, "y")]))
    done = run("learn", "a.jsonl", "--dead-letters", "bad.jsonl")
    assert done.returncode == 0
    assert "learned 2 events (3 bad)" in done.stderr
    letters = [json.loads(line) for line in (tmp_path / "bad.jsonl").read_text().splitlines()]
    assert len(letters) == 3
    assert set(letters[0]) == {"topic", "partition", "offset", "reason", "key", "value"}


def test_flat_events_are_read_by_the_flags_and_later_by_the_folder(
    run: Run, tmp_path: Path
) -> None:
    rows = [{"kind": "x", "a": 1.0, "n": 2}, {"kind": "y", "a": 3.0, "n": 1}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    flags = ("--label", "kind", "--weight-field", "n")
    assert run("learn", "a.jsonl", *flags).returncode == 0
    assert run("learn", "a.jsonl").returncode == 0
    model = streamnb.load(tmp_path / "streamnb-state")
    assert model.class_weight == {"x": 2.0, "y": 1.0}
    assert model.features == ["a"]


def test_settings_come_from_a_file_and_variables_too(run: Run, tmp_path: Path) -> None:
    write_events(tmp_path / "a.jsonl", 10)
    (tmp_path / "s.toml").write_text(
        'source = "a.jsonl"\nmodel = "gaussian"\nto = "elsewhere"\n'
        '[learn]\nstate = "from-file"\n[learn.model]\nprior = "uniform"\nvar_smoothing = 1e-3\n'
    )
    set_ = "prior=[[1, 0.5], [0, 0.5]]"
    done = run("learn", "--config", "s.toml", STREAMNB_SET=set_, STREAMNB_STATE="from-variable")
    assert done.returncode == 0, done.stderr
    model = streamnb.load(tmp_path / "from-variable")
    assert isinstance(model, streamnb.GaussianNB)
    assert (model.prior, model.var_smoothing) == ({1: 0.5, 0: 0.5}, 1e-3)


def test_other_settings_than_the_folders_are_refused_with_status_1(
    run: Run, tmp_path: Path
) -> None:
    write_events(tmp_path / "a.jsonl", 10)
    write_events(tmp_path / "b.jsonl", 10)
    assert run("learn", "a.jsonl", "--set", "var_smoothing=1e-3").returncode == 0
    for args, named in [
        (("a.jsonl", "--set", "var_smoothing=1e-4"), "var_smoothing"),
        (("a.jsonl", "--label", "kind"), "label"),
        (("b.jsonl",), "sources"),
        (("a.jsonl", "--start", "latest"), "start"),
    ]:
        done = run("learn", *args)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("streamnb: error: ")
        assert named in done.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "missing argument SOURCE..."),
        (("a.jsonl", "--evry", "3"), "no such flag: --evry (the nearest is --every)"),
        (("a.jsonl", "--model", "gausian"), "no such model: 'gausian' (the nearest is 'gaussian')"),
        (("a.jsonl", "--set", "var_smothing=1"), "(the nearest is var_smoothing)"),
        (("a.jsonl", "--set", "var_smoothing=much"), "--set: "),
        (("a.jsonl", "--set", "var_smoothing"), "expected NAME=VALUE"),
        (("a.jsonl", "--every", "0"), "every is a number above 0, not 0"),
        (("a.jsonl", "--every-seconds", "nan"), "every_seconds is a number above 0, not nan"),
        (("a.jsonl", "--session-timeout", "-1"), "session_timeout is 0.01 to 2,000,000 seconds"),
        (("a.jsonl", "--progress-every", "-1"), "--progress-every"),
        (("a.jsonl", "--progress-every", "nan"), "--progress-every: nan is no number of seconds"),
        (("a.jsonl", "--state", ""), "--state: the path is empty"),
        (("a.jsonl", "--on-gap", "stop"), "'stop' is not one of 'fail', 'skip'"),
        (("a.jsonl", "--start", "now"), "'now' is not one of 'earliest', 'latest'"),
        (("a.jsonl", "a.jsonl"), "is given 2 times"),
        (("kafka://localhost:9092",), "names no topic"),
        (("http://localhost/a",), "neither kafka://host:port/topic nor a file"),
        (("kafka://a:1/t", "kafka://b:1/t"), "of one cluster"),
        (("a.jsonl", "--label", "y", "--id-field", "y"), "label and id_field name the same field"),
        (("a.jsonl", "--id-field", "n"), "id_field: fields of flat events, which need --label"),
        (("a.jsonl", "--config", "none.toml"), "the settings in none.toml cannot be read"),
    ],
)
def test_wrong_usage_ends_with_status_2(
    refused: Refused, tmp_path: Path, args: tuple[str, ...], message: str
) -> None:
    write_events(tmp_path / "a.jsonl", 3)
    assert message in refused("learn", *args)
    assert not (tmp_path / "streamnb-state").exists()


def test_a_file_that_is_not_there_is_a_failure(run: Run) -> None:
    done = run("learn", "no.jsonl")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no.jsonl" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_variable_is_a_warning(run: Run, tmp_path: Path) -> None:
    write_events(tmp_path / "a.jsonl", 3)
    done = run("learn", "a.jsonl", STREAMNB_EVRY="3", STREAMNB_DATA="x")
    assert done.returncode == 0
    warning = "warning: unknown variable STREAMNB_EVRY (the nearest is STREAMNB_EVERY)\n"
    assert done.stderr.startswith(f"streamnb: {warning}")
    assert "STREAMNB_DATA" not in done.stderr


def test_texts_are_learned_with_no_more_than_a_field(run: Run, tmp_path: Path) -> None:
    """`--text` makes the model multinomial and reads one field, of flat events and of others."""
    mails = [("win money now", "spam"), ("meeting at noon", "ham"), ("a meeting", "ham")]
    flat = [json.dumps({"text": text, "label": label, "n": 3}) for text, label in mails]
    nested = [event({"text": text}, label) for text, label in mails]
    for name, lines, flags in (
        ("flat", [*flat, '{"text": 5, "label": "ham"}'], ("--label", "label")),
        ("nested", [*nested, event({"text": True}, "ham")], ()),
    ):
        (tmp_path / f"{name}.jsonl").write_text("".join(line + "\n" for line in lines))
        done = run("learn", f"{name}.jsonl", *flags, "--text", "text", "--state", name)
        assert done.returncode == 0, done.stderr
        assert "feature 'text': a text is wanted" in done.stderr
        learned = streamnb.load(tmp_path / name)
        assert isinstance(learned, streamnb.MultinomialNB)
        assert learned.counts("ham") == {"at": 1.0, "meeting": 2.0, "noon": 1.0}
        assert learned.provenance.counters == Counters(ok=3, bad=1)
        again = run("learn", f"{name}.jsonl", "--state", name)
        assert (again.returncode, "learned 0 events" in again.stderr) == (0, True)
        other = run("learn", f"{name}.jsonl", "--text", "body", "--state", name)
        assert (other.returncode, "made with other settings: text" in other.stderr) == (1, True)
    done = run("predict", "-", "--state", "flat", stdin='{"text": "money meeting"}\n')
    assert json.loads(done.stdout)["p"] == streamnb.load(tmp_path / "flat").predict_proba_one(
        {"text": "money meeting"}
    )


FISH: list[tuple[dict[str, Any], str]] = [
    ({"cm": 12, "fresh": True, "caught": "net", "note": "small and quick"}, "trout"),
    ({"cm": 16.5, "fresh": True, "caught": "rod", "note": None}, "trout"),
    ({"cm": 44, "fresh": False, "caught": "net", "note": "very big"}, "pike"),
    ({"cm": "long", "fresh": True, "caught": 7}, "pike"),
]
BLOCKS = {"note": "text", "fresh": {"likelihood": "boolean", "alpha": 2}}


@pytest.mark.one_of("form")
@pytest.mark.parametrize("form", ["nested", "flat"])
@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("categorical", {}),
        ("categorical", {"alpha": 0.5}),
        ("mixed", {}),
        ("mixed", {"blocks": BLOCKS}),
    ],
    ids=str,
)
def test_values_of_every_kind_are_learned_from_files(
    run: Run, tmp_path: Path, form: str, kind: str, parameters: dict[str, Any]
) -> None:
    """Numbers, bools and texts in two shards are what one model learns; what it refuses is bad."""
    refused = [({"fresh": 1}, "pike"), ({"note": False}, "pike")] if "blocks" in parameters else []
    expected = KINDS[kind](**parameters)
    for x, y in FISH:
        expected.learn_one(x, y)
    for name, rows in (("a.jsonl", FISH[:2]), ("b.jsonl", FISH[2:] + refused)):
        lines = [event(x, y) if form == "nested" else json.dumps({**x, "y": y}) for x, y in rows]
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    flags = [f"--set={name}={json.dumps(value)}" for name, value in parameters.items()]
    flags += ["--label", "y"] if form == "flat" else []
    done = run("learn", "a.jsonl", "b.jsonl", "--model", kind, *flags)
    assert done.returncode == 0, done.stderr
    learned = streamnb.load(tmp_path / "streamnb-state")
    assert learned.provenance.counters == Counters(ok=4, bad=len(refused))
    again = run("learn", "a.jsonl", "b.jsonl")
    assert (again.returncode, "learned 0 events" in again.stderr) == (0, True), again.stderr
    query = {"cm": 40, "fresh": False, "note": "big"}
    question = json.dumps({"x": query} if form == "nested" else query)
    done = run("predict", "-", "--state", "streamnb-state", stdin=question + "\n")
    assert json.loads(done.stdout)["p"] == expected.predict_proba_one(query)
    shown = json.loads(run("show", "streamnb-state", "--json").stdout)
    assert shown["parameters"] == expected.description()["parameters"]
    learned.provenance = expected.provenance
    assert streamnb.dumps(learned) == streamnb.dumps(expected)


@pytest.mark.parametrize("kind", ["lda", "qda"])
def test_covariances_are_learned_from_files(run: Run, tmp_path: Path, kind: str) -> None:
    """Two shards are the merge of two models; readings are set for a prediction; a text is bad."""
    source = random.Random(kind)
    parameters = {"prior_scatter": {"f0": 0.5}, "ddof": 1}
    models = [KINDS[kind](**parameters) for _ in range(2)]
    for name, model in zip(("a.jsonl", "b.jsonl"), models, strict=True):
        lines = [event({"f0": "text"}, "x")]
        for _ in range(40):
            f0, y = source.gauss(0, 1), source.choice("xy")
            x = {"f0": f0, "f1": f0 + source.gauss(0, 1), "f2": source.gauss(2, 1)}
            x = {name: value for name, value in x.items() if source.random() < 0.9}
            model.learn_one(x, y)
            lines.append(event(x, y))
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    expected = models[0] + models[1]
    flags = [f"--set={name}={json.dumps(value)}" for name, value in parameters.items()]
    done = run("learn", "a.jsonl", "b.jsonl", "--model", kind, *flags)
    assert done.returncode == 0, done.stderr
    learned = streamnb.load(tmp_path / "streamnb-state")
    assert learned.provenance.counters == Counters(ok=80, bad=2)
    learned.provenance = expected.provenance
    assert streamnb.dumps(learned) == streamnb.dumps(expected)
    shown = json.loads(run("show", "streamnb-state", "--json").stdout)
    assert shown["model"] == kind.upper()
    assert shown["parameters"] == expected.description()["parameters"]
    assert run("merge", "streamnb-state", "-o", "merged.snb").returncode == 0
    query = {"f0": 1.0, "f2": 0.5}
    question = json.dumps({"x": query}) + "\n"
    for shrinkage in (0.0, 0.25, "oas"):
        expected.shrinkage = shrinkage
        for flags in (["--state", "streamnb-state"], ["--model-file", "merged.snb"]):
            done = run("predict", "-", *flags, "--set", f"shrinkage={shrinkage}", stdin=question)
            assert json.loads(done.stdout)["p"] == expected.predict_proba_one(query)
    wrong = run("predict", "-", *flags, "--set", "shrinkage=auto", stdin=question)
    assert wrong.returncode == 2
    assert "shrinkage" in wrong.stderr


def test_blocks_that_are_none_end_with_status_2(refused: Refused, tmp_path: Path) -> None:
    write_events(tmp_path / "a.jsonl", 3)
    for blocks, message in (
        ('{"f": "poison"}', "no such likelihood: 'poison'"),
        ("7", "blocks is"),
    ):
        assert message in refused("learn", "a.jsonl", "--model=mixed", f"--set=blocks={blocks}")


@pytest.mark.one_of("kind")
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_half_life_of_every_model(run: Run, tmp_path: Path, kind: str) -> None:
    """Each kind of model takes one; an event without a time is bad then."""
    lines = [event({"a": 1}, "x", t=0), event({"a": 2}, "y", t=3600), event({"a": 3}, "x")]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    done = run("learn", "a.jsonl", "--model", kind, "--set", "half_life=3600")
    assert done.returncode == 0, done.stderr
    assert "learned 2 events (1 bad)" in done.stderr
    shown = json.loads(run("show", "streamnb-state", "--json").stdout)
    assert shown["class_weight"] == {"x": 0.5, "y": 1.0}


def test_a_half_life_is_set_and_kept(run: Run, tmp_path: Path) -> None:
    """`--set half_life=3600`: the times of the events count, and later runs know it."""
    lines = [event({"a": 1.0}, "x", t=0), event({"a": 2.0}, "y", t=3600), event({"a": 3.0}, "x")]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    done = run("learn", "a.jsonl", "--set", "half_life=3600")
    assert done.returncode == 0, done.stderr
    assert "learned 2 events (1 bad)" in done.stderr
    shown = json.loads(run("show", "streamnb-state", "--json").stdout)
    assert shown["class_weight"] == {"x": 0.5, "y": 1.0}
    assert shown["parameters"]["half_life"] == 3600
    assert run("learn", "a.jsonl").returncode == 0
    refused = run("learn", "a.jsonl", "--set", "half_life=60")
    assert refused.returncode == 1
    assert "half_life" in refused.stderr
    for value in ("0", "-1", "soon"):
        wrong = run("learn", "a.jsonl", "--state", "other", "--set", f"half_life={value}")
        assert wrong.returncode == 2
        assert "half_life" in wrong.stderr
    set_later = run("show", "streamnb-state", "--set", "half_life=60")
    assert set_later.returncode == 2
    assert "fixed when learning begins" in " ".join(set_later.stderr.split())
