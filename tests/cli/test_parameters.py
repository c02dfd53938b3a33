"""`--set`, `STREAMNB_SET` and `[model]`: what a parameter's value is, and which one wins."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

import streamnb
from streamnb.cli.parameters import check_parameters, set_flag, set_readings
from streamnb.cli.running import run
from streamnb.cli.settings import Command

Parameters = Callable[..., Any]


@pytest.fixture
def parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Parameters:
    """Runs a command that has `--set`, and returns the parameters that it was given."""

    def parameters(*assignments: str, variable: str | None = None, file: str | None = None) -> Any:
        given: dict[str, Any] = {}

        @click.command("make", cls=Command)
        @set_flag("A parameter.")
        def make(parameters: dict[str, object]) -> None:
            given.update(parameters)

        args = [word for each in assignments for word in ("--set", each)]
        if variable is not None:
            monkeypatch.setenv("STREAMNB_SET", variable)
        if file is not None:
            (tmp_path / "settings.toml").write_text(file, encoding="utf-8")
            args += ["--config", str(tmp_path / "settings.toml")]
        status = run(click.Group(commands=[make]), ["make", *args])
        return given if status == 0 else status

    return parameters


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1e-6", 1e-6),
        ("3", 3),
        ("true", True),
        ("null", None),
        ("uniform", "uniform"),
        ('"3"', "3"),
        ("", ""),
        ("a=b", "a=b"),
        ("NaN", "NaN"),
        ("[1, 2]", [1, 2]),
        ('{"spam": 0.2, "1": 0.8}', {"spam": 0.2, "1": 0.8}),
        ("[[0, 0.2], [1, 0.8]]", {0: 0.2, 1: 0.8}),
        ('[["a", 0.2], [true, 0.8]]', {"a": 0.2, True: 0.8}),
        ("[[1, 2, 3]]", [[1, 2, 3]]),
        ("[[[1], 2]]", [[[1], 2]]),
        ("[]", []),
    ],
)
def test_a_value_is_json_else_text_and_pairs_are_a_mapping(
    parameters: Parameters, written: str, value: object
) -> None:
    found = parameters(f"name={written}")["name"]
    assert found == value
    assert type(found) is type(value)


def test_the_same_values_come_from_a_variable_and_a_file(parameters: Parameters) -> None:
    pairs = {0: 0.2, 1: 0.8}
    assert parameters(variable="a=1\nprior=[[0, 0.2], [1, 0.8]]") == {"a": 1, "prior": pairs}
    text = json.dumps({"a": 1, "prior": [[0, 0.2], [1, 0.8]]})
    assert parameters(variable=text) == {"a": 1, "prior": pairs}
    file = '[model]\na = 1\nb = "text"\nprior = [[0, 0.2], [1, 0.8]]\nother = {x = 0.5}'
    monkey = parameters(variable="", file=file)
    assert monkey == {"a": 1, "b": "text", "prior": pairs, "other": {"x": 0.5}}
    assert parameters(file='set = ["a=1", "b=text"]') == {"a": 1, "b": "text"}
    assert parameters(file="[make]\nset = 'a=1'\n[make.model]\nb = 2") == {"a": 1, "b": 2}


def test_all_sources_add_up_and_the_flag_beats_the_variable_beats_the_file(
    parameters: Parameters,
) -> None:
    file = "[model]\na = 1\nb = 1\nc = 1\nd = 1\n[make.model]\nb = 2\nc = 2\nd = 2"
    found = parameters("d=4", variable="c=3\nd=3", file=file)
    assert found == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert parameters("a=1", "a=2", variable="") == {"a": 2}


@pytest.mark.parametrize(
    ("assignments", "variable", "file", "message"),
    [
        (["a"], None, None, "--set: expected NAME=VALUE, not 'a'"),
        (["=1"], None, None, "--set: expected NAME=VALUE, not '=1'"),
        ([], "a", None, "STREAMNB_SET: expected NAME=VALUE, not 'a'"),
        ([], "{a", None, "STREAMNB_SET: neither NAME=VALUE lines nor a JSON object: '{a'"),
        ([], f'{{"p": {"[" * 10**5}', None, "STREAMNB_SET: neither NAME=VALUE lines nor a JSON"),
        ([], None, "set = 1", "set: expected a list of NAME=VALUE, or the table [model]; not 1"),
        (["p=[[1, 2], [1, 3]]"], None, None, "--set p: a key is given twice in [[1, 2], [1, 3]]"),
        (["p=[[1, 2], [true, 3]]"], None, None, "--set p: a key is given twice in "),
    ],
)
def test_what_assigns_nothing_is_wrong_usage(  # noqa: PLR0917 - two fixtures and a table
    parameters: Parameters,
    capsys: pytest.CaptureFixture[str],
    assignments: list[str],
    variable: str | None,
    file: str | None,
    message: str,
) -> None:
    assert parameters(*assignments, variable=variable, file=file) == 2
    assert f"streamnb: error: {message}" in capsys.readouterr().err


def test_an_unknown_kind_names_the_nearest() -> None:
    check_parameters("gaussian", {})
    with pytest.raises(click.UsageError, match=r"no such model: 'gausian' .* 'gaussian'"):
        check_parameters("gausian", {})


def test_an_unknown_parameter_names_the_nearest() -> None:
    check_parameters("gaussian", {"var_smoothing": 1e-6, "prior": {0: 0.5, 1: 0.5}})
    with pytest.raises(click.UsageError, match=r"var_smothing: GaussianNB .* var_smoothing"):
        check_parameters("gaussian", {"var_smothing": 1e-6})


def test_a_value_that_the_model_refuses_is_wrong_usage() -> None:
    with pytest.raises(click.UsageError, match="prior"):
        check_parameters("gaussian", {"prior": {"a": 0.5, "b": 0.6}})
    with pytest.raises(click.UsageError, match="var_smoothing"):
        check_parameters("gaussian", {"var_smoothing": "much"})


def test_readings_are_set_and_wrong_ones_are_wrong_usage() -> None:
    model = streamnb.GaussianNB()
    set_readings(model, {"prior": "uniform", "var_smoothing": 1e-3})
    assert (model.prior, model.var_smoothing) == ("uniform", 1e-3)
    with pytest.raises(click.UsageError, match=r"prior_cuont: GaussianNB .* prior_count"):
        set_readings(model, {"prior_cuont": 1})
    with pytest.raises(click.UsageError, match="smoothing"):
        set_readings(model, {"smoothing": "globall"})
