"""Builds the kernels: streamnb/_kernels/NAME.py, without a leading underscore, for each CPU level.

All else about the package is in pyproject.toml. Cython turns a kernel into C once for each level,
under the name of that level's sub-package, because the full module name is part of the C file.
What Cython's typed memoryviews need at run time is compiled once, into `_shared`: it is half of the
time that a kernel takes to build.

The installation succeeds without a C compiler: the kernels then run uncompiled, and say so when
they are imported. With STREAMNB_REQUIRE_KERNELS=1 in the environment a failed build is an error.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError
from setuptools.modified import newer_group

FOLDER = Path("streamnb", "_kernels")
KERNELS = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("_"))
REQUIRED = os.environ.get("STREAMNB_REQUIRE_KERNELS") == "1"

# The bits must not depend on the CPU: no contraction into fused multiply-add, no -ffast-math.
# Without trapping maths and errno the selects and square roots become vector instructions.
FLAGS = ["-O3", "-g0", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"]
# gcc gives up vectorising, silently, where it would have to compare more pairs of pointers; and it
# forgets `restrict` where it inlines a loop's function into its only caller.
GCC_FLAGS = [
    "--param=vect-max-version-for-alias-checks=64",
    "-fno-inline-functions-called-once",
]
X86_64_LEVELS = {
    "_x86_64": ["-march=x86-64"],
    "_x86_64_v3": ["-march=x86-64-v3"],
    "_x86_64_v4": ["-march=x86-64-v4", "-mprefer-vector-width=512"],
}


def is_x86_64() -> bool:
    """Whether the extensions are for x86-64 (a 32-bit Python on such a machine is not)."""
    return platform.machine().lower() in ("x86_64", "amd64") and sys.maxsize > 2**32


CYTHON = [sys.executable, "-m", "cython"]
SHARED_MODULE = "streamnb._kernels._shared"


def sources(path: Path) -> list[str]:
    """Return a file and what it includes, directly or not: a change of any builds it anew."""
    found = [str(path)]
    for name in re.findall(
        r'(?:include|extern from|cimport) "?(\w+\.(?:h|pxd))"', path.read_text()
    ):
        found += sources(FOLDER / name)
    return found


def extension(level: str, kernel: Path) -> Extension:
    own = kernel.with_suffix(".pxd")
    return Extension(
        f"streamnb._kernels.{level}.{kernel.stem}",
        [kernel.as_posix()],
        include_dirs=[str(FOLDER)],
        depends=[str(kernel), *(sources(own) if own.exists() else []), __file__],
        optional=not REQUIRED,
    )


def extensions() -> list[Extension]:
    """Return each kernel at each level, what they share, and on x86-64 the probe of the CPU."""
    levels = X86_64_LEVELS if is_x86_64() else {"_native": []}
    # First the one that takes longest; its C file is made by Cython alone.
    modules = [Extension(SHARED_MODULE, [], depends=[__file__], optional=not REQUIRED)]
    modules += [extension(level, kernel) for level in levels for kernel in KERNELS]
    if is_x86_64():
        probe = (FOLDER / "_cpu.c").as_posix()
        modules.append(Extension("streamnb._kernels._cpu", [probe], optional=not REQUIRED))
    return modules


class BuildKernels(build_ext):
    """build_ext that knows the levels, and runs Cython in the compiler's parallel jobs."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count() or 1

    def run(self) -> None:
        """Build; for use in place where the last build in place left its files, whoever asks.

        An editable installation would use a temporary folder, and build everything anew.
        """
        if self.inplace:
            tag = f"{self.plat_name}-{sys.implementation.cache_tag}"
            self.build_lib = str(Path("build", f"lib.{tag}"))
            self.build_temp = str(Path("build", f"temp.{tag}"))
        super().run()

    def build_extensions(self) -> None:
        """Build what the compiler can build; say what is left out."""
        if self.compiler.compiler_type == "msvc":
            # /fp:precise, its default, neither contracts nor reorders; it has no such levels.
            self._keep({"_x86_64", "_native", "_shared"})
        elif not self._compiles([]):
            self._refuse("no C compiler, or no headers of Python")
            self.extensions = []
        else:
            common = [flag for flag in FLAGS + GCC_FLAGS if self._compiles([flag])]
            levels = X86_64_LEVELS if is_x86_64() else {"_native": []}
            flags = {level: common + own for level, own in levels.items() if self._compiles(own)}
            for level in levels.keys() - flags.keys():
                self._refuse(f"the C compiler does not know {' '.join(levels[level])}")
            self._keep({*flags, "_shared", "_cpu"})
            for ext in self.extensions:
                ext.extra_compile_args = flags.get(self._level(ext), ["-O2", "-g0"])
        super().build_extensions()

    def copy_extensions_to_source(self) -> None:
        """Make the levels' folders in the source tree, then fill them."""
        for ext in self.extensions:
            Path(*ext.name.split(".")[:-1]).mkdir(exist_ok=True)
        super().copy_extensions_to_source()

    def build_extension(self, ext: Extension) -> None:
        """Translate to C, then compile; nothing where the module is newer than its sources."""
        target = self.get_ext_fullpath(ext.name)
        if not (self.force or newer_group([*ext.sources, *ext.depends], target, "newer")):
            return
        if ext.name == SHARED_MODULE:
            ext.sources = [self._generate_shared()]
        elif ext.sources[0].endswith(".py"):
            ext.sources = [self._translate(ext, Path(ext.sources[0]))]
        super().build_extension(ext)

    def _generate_shared(self) -> str:
        """Write the C file of what the kernels share."""
        output = Path(self.build_temp, "shared", "streamnb", "_kernels", "_shared.c")
        output.parent.mkdir(parents=True, exist_ok=True)
        for package in output.parents[:2]:
            (package / "__init__.py").touch()
        subprocess.run([*CYTHON, f"--generate-shared={output}"], check=True)
        return str(output)

    def _translate(self, ext: Extension, kernel: Path) -> str:
        """Write the C file of a kernel under its full name, from a copy where that name leads."""
        root = Path(self.build_temp, self._level(ext)[1:])
        folder = root.joinpath(*ext.name.split(".")[:-1])
        folder.mkdir(parents=True, exist_ok=True)
        for package in (folder, *folder.parents[:2]):
            (package / "__init__.py").touch()
        copy = folder / kernel.name
        shutil.copyfile(kernel, copy)
        for pxd in FOLDER.glob("*.pxd"):
            # For the kernel's own declarations, and for `cimport` by the full name.
            shutil.copyfile(pxd, folder / pxd.name)
            shutil.copyfile(pxd, folder.parent / pxd.name)
        output = folder / f"{kernel.stem}.c"
        command = [*CYTHON, "-3", "--module-name", ext.name, "--shared", SHARED_MODULE]
        subprocess.run([*command, "-I", str(root), "-o", str(output), str(copy)], check=True)
        return str(output)

    def _level(self, ext: Extension) -> str:
        """Return the level's sub-package, or the name of a module that has no level."""
        return ext.name.split(".")[2]

    def _keep(self, wanted: set[str]) -> None:
        self.extensions = [ext for ext in self.extensions if self._level(ext) in wanted]

    def _refuse(self, reason: str) -> None:
        """Say that something is not built, or raise where it must be."""
        if REQUIRED:
            raise CompileError(f"{reason}, and STREAMNB_REQUIRE_KERNELS=1 wants every kernel")
        self.warn(f"{reason}: the kernels will run slower, or uncompiled")

    def _compiles(self, flags: list[str]) -> bool:
        """Whether the C compiler is there, finds Python.h and takes these flags."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "probe.c")
            source.write_text("#include <Python.h>\n", encoding="utf-8")
            include = [f"-I{path}" for path in {*self.include_dirs, sysconfig.get_path("include")}]
            command = [*self.compiler.compiler_so, *include, *flags, "-c", str(source)]
            try:
                done = subprocess.run(
                    [*command, "-o", str(source.with_suffix(".o"))],
                    capture_output=True,
                    check=False,
                )
            except OSError:
                return False
            return done.returncode == 0


setup(ext_modules=extensions(), cmdclass={"build_ext": BuildKernels})
