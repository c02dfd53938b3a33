"""A flag beats a variable, a variable beats the file, the file beats the default."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from streamnb.cli.running import run
from streamnb.cli.settings import Command, Lines, argument, flag, nearest

Walk = Callable[..., dict[str, Any]]


@pytest.fixture
def walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Walk:
    """Runs `walk`, which takes flags of every sort, and returns what it was given."""

    def walk(*args: str, env: dict[str, str] | None = None, file: str | None = None) -> Any:
        given: dict[str, Any] = {}

        @click.command("walk", cls=Command)
        @argument("place", type=Lines(), nargs=-1, required=True)
        @flag("--steps", type=int, default=1)
        @flag("--step-length", type=float)
        @flag("--back/--no-back", default=None)
        @flag("--model")
        def walk(**values: Any) -> None:
            given.update(values)

        @click.command("sit", cls=Command)
        @flag("--chair")
        def sit(**_: Any) -> None:
            raise AssertionError

        for name, value in (env or {}).items():
            monkeypatch.setenv(name, value)
        config = tmp_path / "settings.toml"
        if file is not None:
            config.write_text(file, encoding="utf-8")
            args = (*args, "--config", str(config))
        status = run(click.Group(commands=[walk, sit]), ["walk", *args])
        return given if status == 0 else status

    return walk


def test_a_flag_beats_a_variable_beats_a_file_beats_the_default(walk: Walk) -> None:
    file = "steps = 2\nstep_length = 0.5\n[walk]\nsteps = 3"
    variable = {"STREAMNB_STEPS": "4"}
    assert walk("home")["steps"] == 1
    assert walk("home", file="steps = 2")["steps"] == 2
    assert walk("home", file=file)["steps"] == 3
    assert walk("home", file=file, env=variable)["steps"] == 4
    assert walk("home", "--steps", "5", file=file, env=variable)["steps"] == 5
    assert walk("home", "--steps", "5", file=file, env=variable)["step_length"] == 0.5


def test_a_switch_can_be_given_and_taken_back_everywhere(walk: Walk) -> None:
    assert walk("home")["back"] is None
    assert walk("home", file="back = true")["back"] is True
    assert walk("home", file="back = true", env={"STREAMNB_BACK": "0"})["back"] is False
    assert walk("home", "--back", file="back = false")["back"] is True
    assert walk("home", "--no-back", env={"STREAMNB_BACK": "true"})["back"] is False


def test_what_is_given_several_times_is_a_list_in_a_file_and_lines_in_a_variable(
    walk: Walk,
) -> None:
    assert walk("home", "the sea")["place"] == ("home", "the sea")
    assert walk(file='place = "the sea"')["place"] == ("the sea",)
    assert walk(file='place = ["home", "the sea"]')["place"] == ("home", "the sea")
    lines = {"STREAMNB_PLACE": "home\nthe sea\n"}
    assert walk(env=lines, file='place = "nowhere"')["place"] == ("home", "the sea")
    assert walk("here", env=lines)["place"] == ("here",)


def test_an_empty_variable_is_none(walk: Walk) -> None:
    assert walk("home", env={"STREAMNB_STEPS": ""}, file="steps = 2")["steps"] == 2


def test_the_file_itself_can_be_named_by_a_variable(walk: Walk, tmp_path: Path) -> None:
    path = tmp_path / "other.toml"
    path.write_text("steps = 7", encoding="utf-8")
    assert walk("home", env={"STREAMNB_CONFIG": str(path)})["steps"] == 7


def test_keys_and_tables_of_other_commands_are_allowed(walk: Walk) -> None:
    file = 'chair = "soft"\nsteps = 2\n[sit]\nchair = "hard"'
    assert walk("home", file=file)["steps"] == 2


def test_a_model_is_a_flag_as_a_text_and_no_flag_as_a_table(walk: Walk) -> None:
    assert walk("home", file='model = "gaussian"')["model"] == "gaussian"
    assert walk("home", file="[model]\nvar_smoothing = 1e-6")["model"] is None
    assert walk("home", file='[model]\na = 1\n[walk]\nmodel = "poisson"')["model"] == "poisson"


@pytest.mark.parametrize(
    ("args", "env", "file", "message"),
    [
        (("home", "--stepps", "3"), {}, None, "no such flag: --stepps (the nearest is --steps)"),
        (("home", "--stepps=3"), {}, None, "no such flag: --stepps (the nearest is --steps)"),
        (("home", "-q"), {}, None, "no such flag: -q (the nearest is --"),
        ((), {}, None, "missing argument PLACE"),
        (("home", "--steps", "two"), {}, None, "value for --steps: 'two' is not a valid integer"),
        (("home",), {"STREAMNB_STEPS": "two"}, None, "value for STREAMNB_STEPS: 'two' is not"),
        (("home",), {}, "steps = 'two'", "value for steps in {file}: 'two' is not"),
        (("home",), {}, "steps = true", "steps in {file} is a value, not True"),
        (("home",), {}, "steps = 2.5", "value for steps in {file}: '2.5' is not"),
        (("home",), {}, "steps = [2]", "steps in {file} is a value, not [2]"),
        (("home",), {}, "back = 'no'", "back in {file} is true or false, not 'no'"),
        ((), {}, "place = 1", "place in {file} is a text or a list of texts, not 1"),
        ((), {}, "place = ['a', 1]", "place in {file} is a text or a list of texts, not ['a', 1]"),
        (
            ("home",),
            {},
            "step-length = 1",
            "unknown key 'step-length' at the top of {file} (the nearest is 'step_length')",
        ),
        (
            ("home",),
            {},
            "[walk]\nchair = 1",
            "unknown key 'chair' in [walk] of {file} (the nearest is",
        ),
        (("home",), {}, "[sit]\nchiar = 1", "unknown key 'chiar' in [sit] of {file} (the nearest"),
        (("home",), {}, "[wlak]\nsteps = 1", "unknown key 'wlak' at the top of {file} (the"),
        (("home",), {}, "walk = 3", "walk in {file} is a table of settings, not 3"),
        (
            ("home",),
            {},
            "config = 'x'",
            "unknown key 'config' at the top of {file} (the nearest is",
        ),
        (("home",), {}, "steps = ", "the settings in {file} cannot be read: "),
        (("home", "--config", "no.toml"), {}, None, "the settings in no.toml cannot be read: No"),
    ],
)
def test_a_wrong_setting_is_wrong_usage_and_says_where_and_what_is_nearest(  # noqa: PLR0917 - a table
    walk: Walk,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    args: tuple[str, ...],
    env: dict[str, str],
    file: str | None,
    message: str,
) -> None:
    assert walk(*args, env=env, file=file) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("streamnb: error: ")
    assert message.replace("{file}", str(tmp_path / "settings.toml")) in err
    assert "Traceback" not in err


def test_an_unknown_variable_is_a_warning_that_names_the_nearest(
    walk: Walk, caplog: pytest.LogCaptureFixture
) -> None:
    known = {"STREAMNB_CHAIR": "x", "STREAMNB_DATA": "x", "STREAMNB_KERNELS": "python"}
    assert walk("home", env={**known, "STREAMNB_STEPPS": "3"})["steps"] == 1
    expected = ["unknown variable STREAMNB_STEPPS (the nearest is STREAMNB_STEPS)"]
    assert caplog.messages == expected


def test_the_nearest_is_the_most_alike_and_of_equals_the_first() -> None:
    assert nearest("--evry", ["--state", "--every-seconds", "--every"]) == "--every"
    assert nearest("x", ["c", "b"]) == "b"
