"""Machine code of our kernels that a wheel contains (``make wheel``), loaded where it fits instead of being compiled.

The folder ``prebuilt`` of an installed package has the files of numba's cache, in the folders of the modules, and
``about.json``: what the machine code was made for. It is used on a machine with the same runtime (Python, numba,
llvmlite, operating system) whose processor has all features that the machine code may use. Each function is also checked
as in numba's cache: its source file, its types, and the files of the functions that it contains (``cache.Source``).
"""

from __future__ import annotations

import json
import platform
import sysconfig
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba
from llvmlite import binding as llvm
from numba.core import config
from numba.core.caching import IndexDataCacheFile
from numba.core.codegen import get_host_cpu_features

NUMBA: Any = config
host_features: Callable[[], str] = get_host_cpu_features
PACKAGE = Path(__file__).parents[2]
FOLDER, ABOUT = "prebuilt", "about.json"


class Processor(NamedTuple):
    """A processor for which LLVM makes code: its name in LLVM, and the features that the code may use."""

    name: str
    features: tuple[str, ...] = ()


V3 = (  # x86-64-v3 of the x86-64 psABI, in the names of LLVM; sse and sse2 belong to all x86-64
    "avx", "avx2", "bmi", "bmi2", "crc32", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf",
    "sse3", "sse4.1", "sse4.2", "ssse3", "xsave",
)  # fmt: skip
COMMON = {"x86_64": Processor("x86-64-v3", V3)}
"""The processor for which wheels are built, by machine; "generic" on others."""


def common_processor(machine: str | None = None) -> Processor:
    """Return the processor for which a wheel is built on a machine such as "x86_64"; default: this one."""
    name = (machine or platform.machine()).lower()
    return COMMON.get({"amd64": "x86_64"}.get(name, name), Processor("generic"))


def runtime() -> dict[str, Any]:
    """Return what machine code depends on besides the processor; equal when it is made and when it is loaded."""
    return {
        "python": sysconfig.get_config_var("SOABI") or sysconfig.get_config_var("EXT_SUFFIX"),
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "system": llvm.get_process_triple(),
        "svml": bool(NUMBA.USING_SVML),  # Intel's vector functions, which the code then calls
    }


class Prebuilt(NamedTuple):
    """A folder of machine code, and what it was made for.

    Parameters
    ----------
    folder : Path
        The folder, with a folder for each folder of the package.
    runtime : dict
        See ``runtime``.
    processor : Processor
        The processor.
    """

    folder: Path
    runtime: Mapping[str, Any]
    processor: Processor

    def about(self) -> str:
        """Return the text of ``about.json``."""
        return json.dumps({"runtime": self.runtime, "processor": self.processor._asdict()}, indent=2) + "\n"

    @staticmethod
    def read(folder: Path) -> Prebuilt | None:
        """Return what a folder contains; None if there is no folder, or it cannot be read."""
        try:
            about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
            made_for = Processor(str(about["processor"]["name"]), tuple(about["processor"]["features"]))
            return Prebuilt(folder, dict(about["runtime"]), made_for)
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def misfit(self) -> str | None:
        """Return why the machine code is not used here; None if it is used."""
        if NUMBA.CPU_NAME is not None or NUMBA.CPU_FEATURES is not None:
            return "NUMBA_CPU_NAME or NUMBA_CPU_FEATURES is set"
        here = runtime()
        if self.runtime != here:
            differing = [name for name in here if self.runtime.get(name) != here[name]]
            return ", ".join(f"{name} is {here[name]}, not {self.runtime.get(name)}" for name in differing)
        present = host_features().split(",")  # "+avx2,-avx512f,..."; NUMBA_ENABLE_AVX=0 is obeyed
        lacking = [name for name in self.processor.features if f"+{name}" not in present]
        return f"the processor lacks {', '.join(lacking)}" if lacking else None

    def magic_tuple(self) -> tuple[str, str, str]:
        """Return numba's description of the machine code in the keys of its cache."""
        return self.runtime["system"], self.processor.name, flags(self.processor)

    def file_of(self, source: Path, base: str, stamp: object) -> IndexDataCacheFile | None:
        """Return the file of a function's machine code, which may not exist; None: the function is not of the package.

        Parameters
        ----------
        source
            The file of the function.
        base, stamp
            Names of its files in numba's cache; numba's hash of its source file.
        """
        if not source.is_relative_to(PACKAGE):
            return None
        place = self.folder / source.parent.relative_to(PACKAGE)
        return IndexDataCacheFile(str(place), base, stamp)  # type: ignore[no-untyped-call]


def flags(processor: Processor) -> str:
    """Return the features of a processor as numba's ``NUMBA_CPU_FEATURES`` takes them."""
    return ",".join(f"+{name}" for name in processor.features)


@cache
def installed() -> Prebuilt | None:
    """Return the machine code of the installed package; None if it has none, or that does not fit."""
    found = Prebuilt.read(PACKAGE / FOLDER)
    return found if found is not None and found.misfit() is None else None


def described() -> str:
    """Return in a line where the machine code of the kernels comes from."""
    found = Prebuilt.read(PACKAGE / FOLDER)
    if found is None:
        return "compiled at the first use of a method"
    reason = found.misfit()
    if reason is None:
        return f"in the installed wheel, for {found.processor.name}"
    return f"compiled at the first use of a method; those in the installed wheel do not fit: {reason}"
