"""Settings are checked when they are made."""

import os
from pathlib import Path
from typing import Any

import pytest

from streamnb import ConfigError
from streamnb.stream.addresses import FileAddress, KafkaAddress, StandardAddress, parse_address
from streamnb.stream.settings import EventFormat, LearnSettings, PredictSettings


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("kafka://host:9/topic", KafkaAddress(("host:9",), "topic")),
        ("kafka://a:1,b.c:2/my.topic_1-x", KafkaAddress(("a:1", "b.c:2"), "my.topic_1-x")),
        ("kafka://host/topic", KafkaAddress(("host:9092",), "topic")),
        ("kafka://[::1]:9/t", KafkaAddress(("[::1]:9",), "t")),
        ("-", StandardAddress()),
        ("/a/b.jsonl", FileAddress(Path("/a/b.jsonl"))),
        ("b.jsonl", FileAddress(Path("b.jsonl").absolute())),
    ],
)
def test_addresses(text: str, address: object) -> None:
    assert parse_address(text) == address
    assert parse_address(str(address)) == address


def test_a_file_has_one_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "a").touch()
    (tmp_path / "link").symlink_to("a")
    for name in ("sub/../a", "link", str(tmp_path / "a")):
        assert parse_address(name) == FileAddress(tmp_path / "a")
        with pytest.raises(ConfigError, match="is given 2 times"):
            LearnSettings(("a", name))
        with pytest.raises(ConfigError, match="source are the same"):
            LearnSettings(("a",), dead_letters=name)
        with pytest.raises(ConfigError, match="source are the same"):
            PredictSettings((name,), model_file=Path("m"), to="a")


def test_a_source_whose_name_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        LearnSettings((name,))


def test_a_pipe_keeps_its_path() -> None:
    reading, writing = os.pipe()
    path = Path(f"/dev/fd/{writing}")
    assert parse_address(str(path)) == FileAddress(path)
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kafka://",
        "kafka://host:9",
        "kafka://host:9/",
        "kafka://host:9/a/b",
        "kafka://host:9/..",
        "kafka://host:9/a b",
        "kafka:///topic",
        "kafka://host:0/topic",
        "kafka://host:99999/topic",
        "kafka://host:x/topic",
        "kafka://a:1,/topic",
        "kafka://user:secret@host:9/topic",
        "http://host/topic",
    ],
)
def test_no_addresses(text: str) -> None:
    with pytest.raises(ConfigError, match=r"expected kafka|neither kafka"):
        parse_address(text)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"sources": ()}, "no source given"),
        ({"sources": ("a", "./a")}, "is given 2 times"),
        ({"sources": ("kafka://a/t", "kafka://b/u")}, "of one cluster"),
        ({"every": 0}, "every is a number above 0, not 0"),
        ({"every_seconds": float("nan")}, "every_seconds is a number above 0"),
        ({"session_timeout": 0.001}, "session_timeout is 0.01 to 2,000,000 seconds, not 0.001"),
        ({"session_timeout": 3e6}, "session_timeout is 0.01 to 2,000,000 seconds, not 3000000.0"),
        ({"start": "now"}, "start is 'earliest' or 'latest', not 'now'"),
        ({"on_gap": "stop"}, "on_gap is 'fail' or 'skip', not 'stop'"),
        ({"group": ""}, "group's name is empty"),
        ({"dead_letters": "http://a"}, "neither kafka"),
        ({"dead_letters": "./a"}, "dead_letters and a source are the same"),
        ({"sources": ("kafka://a/t",), "dead_letters": "kafka://a/t"}, "source are the same"),
    ],
)
def test_what_can_never_be_right(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        LearnSettings(**{"sources": ("a",), **given})


def test_predictions_come_from_one_model() -> None:
    for both in ({}, {"state": Path("a"), "model_file": Path("b")}):
        with pytest.raises(ConfigError, match="a state folder or a model file"):
            PredictSettings(("a",), **both)


def test_one_field_is_one_thing() -> None:
    with pytest.raises(ConfigError, match="label and id_field name the same field, 'a'"):
        EventFormat(label="a", weight_field="b", id_field="a")
    with pytest.raises(ConfigError, match="label names no field"):
        EventFormat(label="")
