"""Imports go one way, heavy libraries enter in named files, only the command line prints.

The source is read, not run: an import counts wherever it stands, also inside a function.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import streamnb

PACKAGE = Path(streamnb.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# From the bottom up: each may import what stands before it.
ORDER = (
    "errors",
    "values",
    "_kernels",
    "stats",
    "parameters",
    "likelihoods",
    "bayes",
    "inspection",
)
BELOW = {layer: {*ORDER[:place]} for place, layer in enumerate(ORDER)}
UNDER_MODELS = {*ORDER, "provenance"}
# "" is `streamnb` itself: the public names.
ALLOWED: dict[str, set[str]] = BELOW | {
    "_version": set(),
    "provenance": {"errors"},
    "columns": UNDER_MODELS,
    "frames": UNDER_MODELS | {"columns"},
    "sparse": UNDER_MODELS | {"columns", "frames"},
    "models": UNDER_MODELS | {"columns", "frames", "sparse"},
    "codec": UNDER_MODELS | {"frames", "models"},
    "stream": {"", "codec", "errors", "models", "provenance"},
    "testing": {"", "errors", "provenance", "stream"},
    "": {"_version", "codec", "errors", "models", "provenance", "stream"},
    "cli": {"", "_kernels", "_version", "testing", "stream", "models", "codec", *UNDER_MODELS},
}

# Where a library may be imported: files, or folders (ending in "/").
PLACES = {
    "click": {"cli/"},
    "kafka": {"cli/demo/", "stream/kafka/", "testing/broker.py", "testing/driver.py"},
    "pandas": {"frames.py"},
    "polars": {"frames.py"},
    "scipy": {"frames.py"},
    "sklearn": set(),
    "tqdm": {"cli/"},
}
OPTIONAL = {"pandas", "polars", "scipy", "sklearn"}


def name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def layer_of_file(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def layer_of_module(module: str) -> str:
    """Return the layer of "streamnb.stats.moments" or of "streamnb.GaussianNB", a public name."""
    parts = module.split(".")
    if len(parts) == 1 or not (
        (PACKAGE / parts[1]).is_dir() or (PACKAGE / f"{parts[1]}.py").is_file()
    ):
        return ""
    return parts[1]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path, node: ast.AST | None = None) -> Iterator[str]:
    """Yield the full dotted name of each thing that is imported: "streamnb.stats.Moments"."""
    package = ["streamnb", *path.relative_to(PACKAGE).parts[:-1]]
    for found in ast.walk(node or tree(path)):
        if isinstance(found, ast.Import):
            yield from (alias.name for alias in found.names)
        elif isinstance(found, ast.ImportFrom):
            above = package[: len(package) + 1 - found.level] if found.level else []
            module = ".".join([*above, *([found.module] if found.module else [])])
            yield from (f"{module}.{alias.name}" for alias in found.names)


def is_at(path: Path, places: set[str]) -> bool:
    """Whether a file is one of these, or lies in one of these folders."""
    return any(f"/{name(path)}/".startswith(f"/{at.strip('/')}/") for at in places)


def ours(path: Path) -> Iterator[str]:
    return (module for module in imports(path) if module.split(".")[0] == "streamnb")


def test_imports_go_one_way() -> None:
    wrong = [
        f"{name(path)} imports {module}"
        for path in FILES
        for module in ours(path)
        if layer_of_module(module) not in {layer_of_file(path), *ALLOWED[layer_of_file(path)]}
    ]
    assert wrong == []


def test_private_names_stay_in_their_layer() -> None:
    # In the folder of kernels the underscore says "not a kernel".
    shared = {"_kernels", "_version", *(path.stem for path in (PACKAGE / "_kernels").glob("_*"))}
    wrong = [
        f"{name(path)} imports {module}"
        for path in FILES
        for module in ours(path)
        if layer_of_module(module) != layer_of_file(path)
        for part in module.split(".")
        if part.startswith("_") and part not in {*shared, "__version__"}
    ]
    assert wrong == []


def test_what_is_imported_from_the_top_is_public() -> None:
    wrong = [
        f"{name(path)} imports {module}"
        for path in FILES
        for module in ours(path)
        if module != "streamnb" and layer_of_module(module) == ""
        if module.split(".")[1] not in streamnb.__all__
    ]
    assert wrong == []


@pytest.mark.parametrize("folder", ["_kernels", "inspection"])
def test_files_of_equals_do_not_import_each_other(folder: str) -> None:
    """Kernels, as their levels must not mix, and what can be asked of a model."""
    equals = {path.stem for path in (PACKAGE / folder).glob("*.py") if path.stem[0] != "_"}
    wrong = [
        f"{name(path)} imports {module}"
        for path in (PACKAGE / folder).glob("*.py")
        if path.stem in equals
        for module in ours(path)
        if module.split(".")[1] == folder and module.split(".")[2] in equals
    ]
    assert wrong == []


def test_heavy_libraries_enter_in_named_files() -> None:
    wrong = [
        f"{name(path)} imports {module}"
        for path in FILES
        for module in imports(path)
        if module.split(".")[0] in PLACES
        if not is_at(path, PLACES[module.split(".")[0]])
    ]
    assert wrong == []


def test_optional_libraries_are_imported_where_they_are_used() -> None:
    """Not at the top of a file, where everyone would need them."""
    wrong = [
        f"{name(path)} imports {module}"
        for path in FILES
        for statement in tree(path).body
        if isinstance(statement, ast.Import | ast.ImportFrom)
        for module in imports(path, statement)
        if module.split(".")[0] in OPTIONAL
    ]
    assert wrong == []


def test_only_the_command_line_prints() -> None:
    """Nothing else calls print; other files use the standard streams where that is the task."""
    streams = {"cli/", "stream/sinks.py", "stream/sources.py", "testing/_supervisor.py"}
    wrong = []
    for path in FILES:
        for node in ast.walk(tree(path)):
            match node:
                case ast.Call(func=ast.Name(id="print" | "pprint")) if not is_at(path, {"cli/"}):
                    wrong.append(f"{name(path)} prints in line {node.lineno}")
                case ast.Attribute(
                    value=ast.Name(id="sys"), attr="stdin" | "stdout" | "stderr"
                ) if not is_at(path, streams):
                    wrong.append(f"{name(path)} uses a standard stream in line {node.lineno}")
    assert wrong == []


def imported_by(statement: str) -> set[str]:
    """Return the libraries of PLACES that a fresh Python has loaded after a statement."""
    ask = f"import sys; {statement}; print(*sys.modules)"
    run = [sys.executable, "-c", ask]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    return {module.split(".")[0] for module in done.stdout.split()} & PLACES.keys()


def test_import_streamnb_brings_in_no_heavy_library() -> None:
    assert imported_by("import streamnb") == set()
    # River's own base classes bring in none of them either; should that change, allow them here.
    assert imported_by("import river.base") == set()


def test_import_streamnb_writes_nothing() -> None:
    run = [sys.executable, "-W", "error", "-c", "import streamnb"]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("", "")
