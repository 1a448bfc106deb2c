"""Errors of wrong use, and the exit codes of the commands.

Errors that a user can cause are printed as one line; bugs keep their traceback.
"""

from __future__ import annotations

import errno
import io
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from typer import Abort, BadParameter

from ..backends import LoweringTooLarge, SolverUnavailable, UnknownName
from ..errors import SchedlabError
from ..instances import FormatError, InstanceError, UnknownInstance, UnknownScenario
from ..instances.files.reading import ForeignFile, WorkloadError
from ..instances.files.writing import NotReadable
from ..instances.formats.cooling_tables import UnknownCooling
from ..instances.sites import SiteError
from ..instances.sites.changes import WrongChange
from ..models import ProblemError
from ..models.plugins import PluginError
from ..models.registry import WrongOption
from ..models.words import excerpt, shortened, similar
from .terminal import drop_output, open_streams, say

# --- The error class for wrong use of the bench.


class WrongUse(SchedlabError, RuntimeError):
    """A wrong option, path or file given by the user.

    The message says what is wrong, where, and what to do. The command line prints it as one line, without a traceback,
    and ends with exit code 2.
    """


@contextmanager
def writing(path: Path, option: str = "--out") -> Iterator[None]:
    """Turn the error of a file or folder that cannot be written, which a user named with an option, into WrongUse."""
    try:
        yield
    except OSError as e:
        raise WrongUse(f"{option} {path}: cannot be written ({e.strerror})") from e


# --- Exit codes of the commands. Errors that a user can cause are printed as one line; bugs keep their traceback.

T = TypeVar("T")
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
DONE = 0
FAILED = 1
WRONG = 2
STOPPED = 128 + signal.SIGINT
UNREAD = (
    128 + 13
)  # SIGPIPE, which Windows does not have: the reader of the output has closed it, as in "| head"; the code that shells report
WRONG_USE = (
    WrongUse,
    UnknownName,
    UnknownInstance,
    UnknownCooling,
    UnknownScenario,
    InstanceError,
    SiteError,
    WrongChange,
    FormatError,
    WorkloadError,
    NotReadable,
    ProblemError,
    LoweringTooLarge,
    SolverUnavailable,
    ForeignFile,
    PluginError,
    WrongOption,
)
# click's class of errors on the command line; new versions of Typer contain a copy of click under another module name
USAGE: Any = next(kind for kind in BadParameter.__mro__ if kind.__name__ == "ClickException")


class WrappedError(Exception):
    """A wrapper that carries an exception through Typer, which would end the process itself (exit code 1 for a closed pipe)."""

    def __init__(self, fault: BaseException) -> None:
        super().__init__(str(fault))
        self.fault = fault


def wrap_errors(command: Callable[[], T]) -> T:
    """Run a command inside Typer; wrap Ctrl-C and file errors, so that ``exit_code`` handles them."""
    try:
        return command()
    except (KeyboardInterrupt, OSError) as e:
        raise WrappedError(e) from e


def exit_code(command: Callable[[], object]) -> int:
    """Run a command; if it fails, print one line on the standard error. Return its exit code.

    Parameters
    ----------
    command
        Function without arguments. It returns an exit code, or None for success.

    Returns
    -------
    int
        0 done, 1 a run failed or a check found a fault, 2 wrong use, or a file that cannot be read or written,
        130 stopped by Ctrl-C, 141 the reader of the output has closed it.
    """
    open_streams()
    try:
        try:
            try:
                code = command()
            except WrappedError as e:
                raise e.fault from None
            sys.stdout.flush()
        except KeyboardInterrupt:
            say("\nstopped", error=True)
            return STOPPED
        except Abort:
            return FAILED
        except MemoryError:
            say("error: not enough memory", error=True)
            return WRONG
        except USAGE as e:
            message = io.StringIO()
            e.show(message)
            say(shortened(message.getvalue().rstrip("\n")), error=True)
            return WRONG
        except WRONG_USE as e:
            say(shortened(f"error: {e}"), error=True)
            return WRONG
        if isinstance(code, int):
            return code
        return DONE
    except BrokenPipeError:
        drop_output()
        return UNREAD
    except OSError as e:
        return _failed_at(e)


def _failed_at(fault: OSError) -> int:
    """Print which file cannot be read or written; an error without a file name concerns the standard output."""
    names = " and ".join(excerpt(str(name)) for name in (fault.filename, fault.filename2) if name is not None)
    if not names and fault.errno in FULL:
        drop_output()
        names = "the standard output"
    reason = fault.strerror or str(fault) or type(fault).__name__
    say(shortened(f"error: {names}: {reason}" if names else f"error: {reason}"), error=True)
    return WRONG


# --- What is said of a file that is not there: the names of similar ones beside it.


SIMILAR = 0.6  # least similarity of a name that is proposed, 0 to 1
MOST = 10_000  # names of a folder that are looked at


def check_file(path: Path, option: str = "") -> None:
    """Raise WrongUse, with the names of similar files, if there is neither a file nor a folder of this name.

    Parameters
    ----------
    path
        The name.
    option
        The option that names it; "": an argument.
    """
    try:
        is_there = path.exists()
    except (OSError, ValueError):  # a name that no file can have
        is_there = False
    if not is_there:
        if option:
            at = f"{option} {path}"
        else:
            at = str(path)
        raise WrongUse(f"{at}: there is no such file or folder{question(path)}")


def question(path: Path) -> str:
    """Return what a message about a missing file says of similar ones; "" if there are none.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "site.toml").write_text("")
    ...     question(Path(folder, "site.tml")).replace(folder, "etc"), question(Path(folder, "x"))
    ('; did you mean etc/site.toml?', '')
    """
    near = near_files(path)
    if near:
        return f"; did you mean {' or '.join(map(str, near))}?"
    return ""


def near_files(path: Path) -> list[Path]:
    """Return the files and folders whose names differ little from one that is not there, the most similar one first."""
    try:
        missing = next((part for part in reversed([path, *path.parents]) if not part.exists()), path)
        beside = [entry.name for entry in islice(missing.parent.iterdir(), MOST)]
        found = [
            missing.parent / name / path.relative_to(missing) for name in similar(missing.name, beside, cutoff=SIMILAR)
        ]
        return [each for each in found if each.exists()]
    except (OSError, ValueError):
        return []
