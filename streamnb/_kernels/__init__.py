"""The hot loops, and the choice of the build that this CPU runs.

Every file NAME.py of this folder whose name has no leading underscore is a kernel: Cython in
pure-Python mode, compiled once for each CPU level (on x86-64 into the sub-packages `_x86_64`,
`_x86_64_v3` and `_x86_64_v4`, elsewhere into `_native`) and runnable as it stands. All forms give
the same bits. At import the best level that is built and that this CPU and operating system run
is chosen for all kernels at once; where none is, the files run uncompiled and one warning says so.
`from streamnb._kernels import NAME` gives the chosen form.

A kernel imports no other kernel: the levels must not mix.

The environment variable STREAMNB_KERNELS forces a level: "python" (uncompiled), "x86-64",
"x86-64-v3", "x86-64-v4" or, on other architectures, "native".
"""

import importlib.machinery
import importlib.util
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from streamnb.errors import ConfigError

__all__ = ["COMPILED", "LEVEL", "NAMES", "available", "load"]

_FOLDER = Path(__file__).parent
_X86_64 = ("x86-64", "x86-64-v3", "x86-64-v4")
_COMPILED_LEVELS = (*reversed(_X86_64), "native")

NAMES: tuple[str, ...] = tuple(
    sorted(path.stem for path in _FOLDER.glob("*.py") if not path.stem.startswith("_"))
)
"""The names of all kernels."""


def _package(level: str) -> str:
    """Name of the sub-package that holds the modules of a level."""
    return "_" + level.replace("-", "_")


def _is_built(level: str) -> bool:
    """Whether every kernel has an extension module of this level for this Python."""
    folder = _FOLDER / _package(level)
    return folder.is_dir() and all(
        any((folder / (name + end)).is_file() for end in importlib.machinery.EXTENSION_SUFFIXES)
        for name in NAMES
    )


def _cpu_runs() -> tuple[str, ...]:
    """Return the compiled levels that the CPU and the operating system run, whether built or not.

    The probe is compiled along with the levels above x86-64; without it those count as unknown,
    and unknown instructions are not tried.
    """
    try:
        from streamnb._kernels import _cpu  # noqa: PLC0415 - absent where nothing was compiled
    except ImportError:
        return ("x86-64", "native")
    return (*_X86_64[: _cpu.level() + 1], "native")


def available() -> tuple[str, ...]:
    """Return the levels that are built and that this machine runs, best first, "python" last."""
    runs = _cpu_runs()
    return (*(lv for lv in _COMPILED_LEVELS if lv in runs and _is_built(lv)), "python")


def load(name: str, level: str) -> ModuleType:
    """Return kernel `name` at `level`, loading it at the first call.

    The level "python" is the file uncompiled. Different levels are different modules, so they can
    be compared side by side. A level that this machine does not run must not be loaded: its first
    instruction may end the process. `available` lists the others.

    Raises
    ------
    ImportError
        Where the kernel or its build at this level does not exist.
    """
    full_name = f"{__name__}.{_package(level)}.{name}"
    if level != "python":
        return importlib.import_module(full_name)
    if full_name in sys.modules:
        return sys.modules[full_name]
    path = _FOLDER / f"{name}.py"
    spec = importlib.util.spec_from_file_location(full_name, path)
    if name not in NAMES or spec is None or spec.loader is None:
        raise ImportError(f"there is no kernel {name!r}; there are: {', '.join(NAMES)}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[full_name] = module
    spec.loader.exec_module(module)
    return module


def _choose(warn: Callable[[str], None]) -> tuple[str, dict[str, ModuleType]]:
    """Return the level to use and its modules by name.

    Raises
    ------
    ConfigError
        Where STREAMNB_KERNELS asks for a level that is unknown, not built or not run by the CPU.
    """
    levels = available()
    forced = os.environ.get("STREAMNB_KERNELS")
    if forced:
        if forced not in levels:
            raise ConfigError(
                f"STREAMNB_KERNELS={forced}: expected a level that is built and that this machine "
                f"runs: {', '.join(levels)}"
            )
        return forced, {name: load(name, forced) for name in NAMES}
    broken = ""
    for level in levels[:-1]:
        try:
            modules = {name: load(name, level) for name in NAMES}
        except ImportError as error:
            broken = broken or f" ({level} does not load: {error})"
            continue
        if broken:
            warn(f"streamnb: the kernels run at level {level}, slower than they could{broken}")
        return level, modules
    warn(
        "streamnb: the kernels run uncompiled, many times slower: no compiled ones are installed "
        f"for this Python and machine{broken}; install again where there is a C compiler"
    )
    return "python", {name: load(name, "python") for name in NAMES}


LEVEL, _modules = _choose(logging.getLogger("streamnb").warning)
"""The level in use: "x86-64", "x86-64-v3", "x86-64-v4", "native", or "python" for uncompiled."""

COMPILED: bool = LEVEL != "python"
"""Whether the kernels in use are compiled."""

# Both ways to import a kernel find the chosen form: the attribute serves
# `from streamnb._kernels import NAME`, the entry of sys.modules `import streamnb._kernels.NAME`.
for _name, _module in _modules.items():
    globals()[_name] = _module
    sys.modules[f"{__name__}.{_name}"] = _module
