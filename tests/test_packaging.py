"""What an installed streamnb says of itself, and what its kernels are built from."""

import importlib
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import streamnb
from streamnb import _kernels

ROOT = Path(__file__).parent.parent
METADATA = importlib.metadata.metadata("streamnb")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
REQUIRES = [Requirement(line) for line in importlib.metadata.requires("streamnb") or []]


def test_it_needs_six_libraries_and_no_more() -> None:
    hard = {requirement.name: requirement for requirement in REQUIRES if not requirement.marker}
    assert hard.keys() == {"numpy", "river", "kafka-python", "msgspec", "click", "tqdm"}
    assert hard["kafka-python"].extras == {"crc32c"}
    assert str(hard["kafka-python"].specifier) == "<4,>=3.0.9"


def test_every_library_that_is_imported_is_declared() -> None:
    declared = {requirement.name for requirement in REQUIRES if not requirement.marker}
    declared |= {"pandas", "polars", "scipy"}  # the extras, imported where they are used
    import_names = {"kafka": "kafka-python"}
    ours = {"streamnb", "cython", *sys.stdlib_module_names}
    for path in (ROOT / "streamnb").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for module in re.findall(
            r"^ *(?:from|import) (\w+)[\w.]*(?: import .*| as .*|)$", source, re.MULTILINE
        ):
            assert module in ours or import_names.get(module, module) in declared, path


def test_versions_agree() -> None:
    assert streamnb.__version__ == METADATA["Version"]
    assert str(Version(streamnb.__version__)) == streamnb.__version__


def test_licence() -> None:
    assert METADATA["License-Expression"] == "BSD-3-Clause"
    assert METADATA.get_all("License-File") == ["LICENSE"]
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert licence.startswith("BSD 3-Clause License")
    assert "The streamnb developers" in licence


def test_classifiers_name_the_pythons_that_are_allowed() -> None:
    assert METADATA["Requires-Python"] == ">=3.11"
    pythons = [c for c in METADATA.get_all("Classifier", []) if re.search(r":: 3\.\d+$", c)]
    assert pythons[0].endswith(":: 3.11")
    assert "Typing :: Typed" in METADATA.get_all("Classifier", [])


def test_extras_are_for_what_exists() -> None:
    extras = set(METADATA.get_all("Provides-Extra", []))
    assert extras == {"pandas", "polars", "sparse", "test", "dev"}


def test_the_console_script_is_the_command_line() -> None:
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="streamnb")
    assert script.value == "streamnb.cli:main"
    assert callable(script.load())


def test_data_files_lie_in_the_package() -> None:
    package = Path(streamnb.__file__).parent
    wanted = ["py.typed", "testing/kafka/pom.xml", "testing/kafka/server.properties"]
    assert all((package / name).is_file() for name in wanted)


def test_pinned_versions_are_allowed_ones() -> None:
    """The versions that the tests run with satisfy every requirement of ours."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    pins = dict(line.lower().split("==") for line in text.splitlines() if not line.startswith("#"))
    build = [Requirement(line) for line in PROJECT["build-system"]["requires"]]
    for requirement in REQUIRES + build:
        if requirement.name != "streamnb":
            assert pins[requirement.name.lower()] in requirement.specifier, requirement
    assert "://" not in text


# -- kernels -------------------------------------------------------------------------------------


def under(level: str | None, statement: str) -> subprocess.CompletedProcess[str]:
    """Run a statement in a fresh Python with STREAMNB_KERNELS set."""
    environment = {**os.environ, "STREAMNB_KERNELS": level or ""}
    run = [sys.executable, "-c", statement]
    return subprocess.run(
        run, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_every_kernel_has_been_compiled_at_every_level() -> None:
    folder = Path(_kernels.__file__).parent
    if "x86-64" not in _kernels.available():
        pytest.skip("levels are those of x86-64")
    for level in ("_x86_64", "_x86_64_v3", "_x86_64_v4"):
        built = {path.name.split(".")[0] for path in (folder / level).iterdir() if path.is_file()}
        assert set(_kernels.NAMES) <= built


def test_every_kernel_has_been_compiled() -> None:
    assert len(_kernels.available()) >= 2
    assert _kernels.COMPILED is (_kernels.LEVEL != "python")


@pytest.mark.parametrize("level", _kernels.available())
def test_a_level_can_be_forced(level: str) -> None:
    """Both ways to import a kernel give the form of that level."""
    name = _kernels.NAMES[0]
    ask = (
        f"from streamnb import _kernels; from streamnb._kernels import {name};"
        f"import streamnb._kernels.{name} as module;"
        f"print(_kernels.LEVEL, _kernels.COMPILED, module is {name}, module.__file__)"
    )
    done = under(level, ask)
    assert done.stderr == ""
    said = done.stdout.split()
    assert said[:3] == [level, str(level != "python"), "True"]
    assert said[3].endswith(".py") is (level == "python")


def test_the_best_level_is_chosen() -> None:
    done = under(None, "from streamnb import _kernels; print(_kernels.LEVEL)")
    assert (done.stdout.strip(), done.stderr) == (_kernels.available()[0], "")


@pytest.mark.parametrize("level", ["avx2", "x86-64-v2", "native!"])
def test_a_level_that_cannot_be_is_an_error(level: str) -> None:
    done = under(level, "import streamnb; streamnb.GaussianNB")
    wanted = f"ConfigError: STREAMNB_KERNELS={level}: expected a level that is built and that this "
    assert wanted in done.stderr
    assert done.returncode == 1


def test_without_compiled_kernels_it_runs_and_says_so_once(tmp_path: Path) -> None:
    """A copy without the extension modules, as a machine without a compiler installs it."""
    for path in Path(streamnb.__file__).parent.rglob("*.py"):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    ask = (
        "import streamnb; m = streamnb.GaussianNB(); m.learn_one({'a': 1}, 'x');"
        "import streamnb._kernels as k; print(m.predict_one({'a': 1}), k.LEVEL, k.available())"
    )
    environment = {key: value for key, value in os.environ.items() if key != "STREAMNB_KERNELS"}
    run = [sys.executable, "-c", ask]
    done = subprocess.run(
        run, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "x python ('python',)"
    assert done.stderr.count("run uncompiled") == 1


@pytest.mark.parametrize("name", _kernels.NAMES)
def test_a_kernel_is_one_module_at_each_level(name: str) -> None:
    forms = [_kernels.load(name, level) for level in _kernels.available()]
    assert all(isinstance(form, ModuleType) for form in forms)
    assert len({form.__name__ for form in forms}) == len(forms)
    assert _kernels.load(name, _kernels.LEVEL) is importlib.import_module(
        f"streamnb._kernels.{name}"
    )


def test_a_kernel_that_does_not_exist() -> None:
    for level in _kernels.available():
        with pytest.raises(ImportError, match="no_such"):
            _kernels.load("no_such", level)
