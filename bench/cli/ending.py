"""How a command ends: its exit code, and one line for what a user can cause. Bugs keep their traceback."""

from __future__ import annotations

import errno
import io
import signal
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from typer import Abort, BadParameter

from ...backends import LoweringTooLarge, SolverUnavailable, UnknownName
from ...instances import InstanceError, UnknownInstance, UnknownScenario
from ...instances.files.own_files import ForeignFile
from ...instances.files.writing import NotReadable
from ...instances.formats.cooling_tables import UnknownCooling
from ...instances.workload import WorkloadError
from ...models import ProblemError
from ...models.excerpt import excerpt, shortened
from ..errors import WrongUse
from ..terminal import drop_output, open_streams, say

T = TypeVar("T")
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
DONE, FAILED, WRONG = 0, 1, 2
STOPPED = 128 + signal.SIGINT
UNREAD = 128 + signal.SIGPIPE  # the reader of the output has gone, as in "| head"; shells count so
WRONG_USE = (
    WrongUse,
    UnknownName,
    UnknownInstance,
    UnknownCooling,
    UnknownScenario,
    InstanceError,
    WorkloadError,
    NotReadable,
    ProblemError,
    LoweringTooLarge,
    SolverUnavailable,
    ForeignFile,
)
# the class of wrong words on the command line: click's, which new versions of Typer bring along under a name of their own
USAGE: Any = next(kind for kind in BadParameter.__mro__ if kind.__name__ == "ClickException")


class Carried(Exception):
    """An exception on its way through Typer, which would end the process for it: exit code 1 where nobody reads."""

    def __init__(self, fault: BaseException) -> None:
        super().__init__(str(fault))
        self.fault = fault


def carried(command: Callable[[], T]) -> T:
    """Carry out a command within Typer; Ctrl-C and faults of files are left to ``exit_code``."""
    try:
        return command()
    except (KeyboardInterrupt, OSError) as e:
        raise Carried(e) from e


def exit_code(command: Callable[[], object]) -> int:
    """Carry out a command, and print one line on the standard error if it cannot be done.

    Parameters
    ----------
    command
        Returns its exit code, or None if all is well.

    Returns
    -------
    int
        0 done, 1 a run failed or a check found something, 2 wrong use, or a file that cannot be read or written,
        130 stopped by Ctrl-C, 141 the reader of the output has gone.
    """
    open_streams()
    try:
        try:
            try:
                code = command()
            except Carried as e:
                raise e.fault from None
            sys.stdout.flush()
        except KeyboardInterrupt:
            say("\nstopped", error=True)
            return STOPPED
        except Abort:
            return FAILED
        except MemoryError:
            say("error: the machine has not enough memory for that", error=True)
            return WRONG
        except USAGE as e:
            said = io.StringIO()
            e.show(said)
            say(shortened(said.getvalue().rstrip("\n")), error=True)
            return WRONG
        except WRONG_USE as e:
            say(shortened(f"error: {e}"), error=True)
            return WRONG
        return code if isinstance(code, int) else DONE
    except BrokenPipeError:
        drop_output()
        return UNREAD
    except OSError as e:
        return _failed_at(e)


def _failed_at(fault: OSError) -> int:
    """Say which file cannot be read or written. Where files are written, their names are told: no name is that of the output."""
    what = " and ".join(excerpt(str(name)) for name in (fault.filename, fault.filename2) if name is not None)
    if not what and fault.errno in FULL:
        drop_output()
        what = "the standard output"
    why = fault.strerror or str(fault) or type(fault).__name__
    say(shortened(f"error: {what}: {why}" if what else f"error: {why}"), error=True)
    return WRONG
