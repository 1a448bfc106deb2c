"""Compiled functions by numba's own ``njit`` and cache, for versions of numba whose private interfaces are not known."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from enum import Enum, auto
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from itertools import count
from pathlib import Path
from secrets import randbits
from tempfile import gettempdir
from typing import Any, NoReturn

import numba
from numba.core import config
from numba.core.bytecode import FunctionIdentity
from numba.core.registry import CPUDispatcher

from ...errors import WrongArgument

# --- Names of compiled functions, which tell them apart in the cache.
#
# numba numbers the functions that it compiles, in each process from 1 on, and a number is part of a name. Functions in the
# cache come from several processes. ``np.sort`` and ``np.argsort`` have closures of one name and of the same types; with the
# same number, the first one in memory was taken for both, and one of the two returned what the other one should.


def number_functions() -> None:
    """Begin the numbers of the functions that numba compiles from now on at a random one, another one in each process."""
    identity: Any = FunctionIdentity
    identity._unique_ids = count(randbits(60))


number_functions()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=number_functions)

# --- Who calls a compiled function, and how.


class Kind(Enum):
    """Who calls a compiled function, and how; see the functions of ``models.compiled``."""

    ENTRY = auto()
    VECTORIZED = auto()
    INTERNAL = auto()
    NATIVE = auto()


# --- The versions of numba whose private interfaces our cache and linker know; others compile by numba's own means.

KNOWN = (
    "0.68",
)  # held by tests/models/test_compiled.py; make versions runs the suite's kernels with older and newer ones


def is_known(numba_version: str) -> bool:
    """Return whether the private interfaces of a version of numba such as "0.68.1" are known."""
    return ".".join(numba_version.split(".")[:2]) in KNOWN


SAID = "SCHEDLAB_SAID"  # environment variable: the notes that this process or one that started it has written
RANKS = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")  # the number of this process among those of mpiexec


def say_once(note: str, text: str, *values: object) -> None:
    """Write a line on the logger ``schedlab``, once per command: processes that this one starts do not repeat it.

    Parameters
    ----------
    note : str
        A word that stands for the line.
    text : str
        The line, as a format of ``logging``.
    *values : object
        The values in it.
    """
    said = os.environ.get(SAID, "").split()
    first = next((os.environ[name] for name in RANKS if name in os.environ), "0")
    if note in said or first != "0":
        return
    os.environ[SAID] = " ".join([*said, note])
    logging.getLogger("schedlab").warning(text, *values)


def use_own_linker() -> bool:
    """Return whether our own cache and linker are used; if not, say so on the logger."""
    installed = version("numba")
    if is_known(installed):
        return True
    say_once(
        "numba",
        "numba %s: kernels are compiled by its own means, which takes a minute or two once after the installation; with "
        "numba %s it takes 5 to 30 s (docs/installation.md)",
        installed,
        KNOWN[-1],
    )
    return False


# --- Compiled functions by numba's own ``njit`` and cache: for versions of numba whose private interfaces are not known.
#
# The results are the same. The first use takes longer, as each function is compiled again for each of its callers.
# numba's cache sees changes of a function's own file only, so the folder of the cache is named after all our sources.

PACKAGE = Path(__file__).parents[2]
COMPILED = ("models", "heuristics", "simulation")  # the folders that have compiled functions
SETTINGS: Any = config
if tuple(map(int, numba.__version__.split(".")[:2])) < (0, 62):
    # LLVM 15, of numba 0.61, makes wrong code of a loop over arrays that are kept in a tuple, and then refuses it
    SETTINGS.LOOP_VECTORIZE = 0
njit: Any = numba.njit  # its types lack no_cpython_wrapper
_kernels: set[int] = set()  # the ids of our dispatchers, which live as long as their modules


class Internal(CPUDispatcher):
    """A compiled function without a wrapper for calls from Python, with which numba would end the process."""

    def __call__(self, *args: object) -> NoReturn:
        """Raise WrongArgument: the function is not for Python."""
        raise WrongArgument(f"{self.py_func.__qualname__} can be called from compiled functions only")


@cache
def cache_folder() -> str:
    """Return the folder of the cache: another one for each version of numba and each state of our sources."""
    digest = sha256(f"{numba.__version__} numbered at random".encode())
    for file in sorted(file for top in COMPILED for file in (PACKAGE / top).rglob("*.py")):
        digest.update(file.read_bytes())
    try:
        home = Path.home() / ".cache"
    except RuntimeError:  # no home folder
        home = Path(gettempdir())
    return str(home / "schedlab" / f"kernels-{digest.hexdigest()[:16]}")


def make_kernel(function: Callable[..., object], counting: bool, kind: Kind) -> Any:
    """Return a function compiled by ``njit``; ``counting`` and ``kind`` say what our own linker would do, and change no result."""
    options: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": kind in (Kind.INTERNAL, Kind.NATIVE)}
    kept = SETTINGS.CACHE_DIR
    if not kept:  # a folder that the user has chosen (NUMBA_CACHE_DIR) stays
        SETTINGS.CACHE_DIR = cache_folder()
    try:
        kernel = njit(cache=True, **options)(function)
    except RuntimeError:  # no directory for the cache: compile in every process
        kernel = njit(**options)(function)
    finally:
        SETTINGS.CACHE_DIR = kept
    if options["no_cpython_wrapper"]:
        kernel.__class__ = Internal
    _kernels.add(id(kernel))
    return kernel


def is_kernel(dispatcher: object) -> bool:
    """Return whether a function that numba compiles is one of ours."""
    return id(dispatcher) in _kernels
