"""``python -m benchmarks.wheel``: build a wheel that contains the machine code of the kernels, for a processor that most machines of today have.

The wheel that ``pip wheel`` makes is unpacked, and all first uses of ``uses`` are run with the package in it, so that
numba compiles their kernels for the common processor. The files of numba's cache are moved to the folder ``prebuilt`` of
the package (``models.compiling.cache``), and the wheel is packed again, with the tag of this Python and system.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from schedlab.bench.terminal import say
from schedlab.errors import MissingPackage, SchedlabError
from schedlab.instances.files.writing import write_whole
from schedlab.models.compiling.cache import ABOUT, FOLDER, Prebuilt, Processor, common_processor, flags, runtime

from .uses import USES

NOT_COPIED = (".*", "__pycache__", "*.egg-info")
OUTPUTS = ("build", "dist", "results")  # at the root; setuptools packs what an old build left
PATIENCE = 3600.0  # seconds for one command; all kernels take two minutes of a processor


class NotBuilt(SchedlabError, RuntimeError):
    """A command of the build failed; the message has its output."""


def build(source: Path, out: Path) -> Path:
    """Build the wheel.

    Parameters
    ----------
    source
        The folder with ``pyproject.toml``.
    out
        The folder for the wheel; it is made if needed.

    Returns
    -------
    Path
        The wheel, such as ``schedlab-0.1.0-cp311-cp311-linux_x86_64.whl``.

    Raises
    ------
    MissingPackage
        If the package ``wheel`` is not installed.
    NotBuilt
        If pip cannot build the plain wheel, or a first use fails.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy = shutil.copytree(source, folder / "source", ignore=_not_copied(source))
        _run("-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, copy)
        unpacked = _unpacked(folder)
        compile_into(unpacked / "schedlab", list(USES.values()), common_processor())
        _retag(next(unpacked.glob("*.dist-info")) / "WHEEL", tag())
        out.mkdir(parents=True, exist_ok=True)
        _run("-m", "wheel", "pack", unpacked, "--dest-dir", folder)
        made = next(folder.glob(f"*-{tag()}.whl"))
        write_whole(out / made.name, made.read_bytes())
    return out / made.name


def _not_copied(source: Path) -> Callable[[str, list[str]], set[str]]:
    """Return the function for ``shutil.copytree`` that leaves out caches everywhere and outputs at the root."""
    anywhere = shutil.ignore_patterns(*NOT_COPIED)
    at_root = shutil.ignore_patterns(*NOT_COPIED, *OUTPUTS)
    return lambda folder, names: (at_root if Path(folder) == source else anywhere)(folder, names)


def compile_into(package: Path, codes: Sequence[str], processor: Processor) -> None:
    """Run Python code with a copy of the package; keep in the copy the machine code that numba makes.

    Several processes run at the same time, and share the work (``SharedCache``).

    Parameters
    ----------
    package
        The folder ``schedlab`` of the copy.
    codes
        Python code that uses kernels, for a process each.
    processor
        The processor that the machine code is made for.
    """
    made = Prebuilt(package / FOLDER, runtime(), processor)
    own = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    chosen = {"NUMBA_CPU_NAME": processor.name, "NUMBA_CPU_FEATURES": flags(processor)}
    environment = {**own, **chosen, "PYTHONPATH": str(package.parent)}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda code: _run("-P", "-c", code, environment=environment), codes))
    for cached in list(package.rglob("__pycache__")):
        place = made.folder / cached.parent.relative_to(package)
        place.mkdir(parents=True, exist_ok=True)
        for file in [*cached.glob("*.nbi"), *cached.glob("*.nbc")]:
            file.rename(place / file.name)
        shutil.rmtree(cached)
    write_whole(made.folder / ABOUT, made.about())


def tag() -> str:
    """Return the tag of wheels for this Python and system, such as "cp311-cp311-linux_x86_64"."""
    try:
        from packaging.tags import cpython_tags
    except ImportError:
        raise MissingPackage("make wheel needs the packages of its extra: pip install 'schedlab[wheel]'") from None
    return str(next(cpython_tags(platforms=[sysconfig.get_platform().replace("-", "_").replace(".", "_")])))


def _unpacked(folder: Path) -> Path:
    plain = next(folder.glob("*.whl"))
    _run("-m", "wheel", "unpack", plain, "--dest", folder / "unpacked")
    return next((folder / "unpacked").iterdir())


def _retag(file: Path, name: str) -> None:
    """Let a wheel's ``WHEEL`` file say that the wheel is for one Python and system."""
    kept = [
        line for line in file.read_text().splitlines() if line and not line.startswith(("Tag:", "Root-Is-Purelib:"))
    ]
    write_whole(file, "\n".join([*kept, "Root-Is-Purelib: false", f"Tag: {name}", ""]))


def _run(*words: str | Path, environment: Mapping[str, str] | None = None) -> None:
    """Run this Python with these arguments; raise NotBuilt if it fails."""
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        raise NotBuilt(f"python {' '.join(command[1:4])} ... failed:\n{done.stderr.strip()[-2000:]}")


def main() -> int:
    """Build the wheel, and print its name; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.wheel", description="Build a wheel with the machine code of the kernels."
    )
    parser.add_argument("--source", type=Path, default=Path(), help="the repository; default: the current folder")
    parser.add_argument("--out", type=Path, default=Path("dist"), help="the folder for the wheel; default: dist")
    arguments = parser.parse_args()
    if not (arguments.source / "pyproject.toml").is_file():
        say(
            f"error: {arguments.source.absolute()} has no pyproject.toml; run this at the root of the repository",
            error=True,
        )
        return 2
    try:
        say(str(build(arguments.source.absolute(), arguments.out)))
    except (SchedlabError, OSError) as e:
        say(f"error: {e}", error=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
