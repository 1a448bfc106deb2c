"""Processes, by psutil: the members of a process group, their memory, their end; the memory of the machine.

Where it cannot be read (on Linux without /proc or without the module resource), memory is unknown, which is no error.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import psutil
except ImportError:  # on Linux, psutil itself imports resource
    psutil = None

UNREADABLE = "the memory of processes cannot be read on this system: memory limits are not enforced"


def seconds_since_start() -> float:
    """Return the seconds since this process was started; its processor time if the system does not say."""
    if psutil is not None:
        with contextlib.suppress(psutil.Error, OSError):
            return float(time.time() - psutil.Process().create_time())
    return time.process_time()


def members(group: int) -> Iterator[Any]:
    """Yield the processes of a process group, and the descendants of its first process in groups of their own.

    There are none if the system does not list its processes. mpiexec of MPICH starts each rank in a session of its own.

    Parameters
    ----------
    group
        The id of the group, which is that of its first process.

    Yields
    ------
    psutil.Process
        A process; it may end at any time.
    """
    if psutil is None:
        return
    pids = set()
    with contextlib.suppress(psutil.Error, OSError):
        for number in psutil.pids():
            with contextlib.suppress(psutil.Error, OSError):  # the process ended meanwhile
                if os.getpgid(number) == group:
                    pids.add(number)
                    yield psutil.Process(number)
    for number in _descendants(group):
        with contextlib.suppress(psutil.Error, OSError):
            if number not in pids:
                yield psutil.Process(number)


def _descendants(process: int) -> list[int]:
    """Return the ids of the descendants of a process.

    Linux lists the children of a process in /proc, in 0.1 ms; psutil reads the parents of all processes, in some ms.
    """
    pids: list[int] = []
    try:
        above = [process]
        while above:
            number = above.pop()
            for task in Path(f"/proc/{number}/task").iterdir():
                below = [int(child) for child in (task / "children").read_text().split()]
                above += below
                pids += below
    except OSError:  # not Linux, a kernel without these files, or a process that ended meanwhile
        with contextlib.suppress(psutil.Error, OSError):
            pids += [p.pid for p in psutil.Process(process).children(recursive=True)]
    return list(dict.fromkeys(pids))


def group_memory(group: int) -> int:
    """Return the resident memory of a process group in bytes; 0 if it cannot be read."""
    return sum(map(_resident, members(group)))


def tree_memory(process: int) -> int:
    """Return the resident memory of a process and all its descendants in bytes; 0 if it cannot be read."""
    if psutil is None:
        return 0
    try:
        first = psutil.Process(process)
        return sum(map(_resident, (first, *first.children(recursive=True))))
    except (psutil.Error, OSError):
        return 0


def _resident(process: Any) -> int:
    try:
        return int(process.memory_info().rss)
    except (psutil.Error, OSError):  # the process ended meanwhile
        return 0


def is_memory_readable() -> bool:
    """Return whether the memory of processes can be read, so that memory limits can be enforced."""
    return tree_memory(os.getpid()) > 0


def is_suspended(group: int) -> bool:
    """Return whether a process of the group is stopped (SIGSTOP); False if it cannot be read."""
    for process in members(group):
        with contextlib.suppress(psutil.Error, OSError):
            if process.status() == psutil.STATUS_STOPPED:
                return True
    return False


def kill_group(group: int) -> None:
    """Kill all processes of a process group, and the descendants of its first process in groups of their own."""
    below = _descendants(group) if psutil is not None else []
    apart = [number for number in below if _group_of(number) not in (None, group)]
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    for number in apart:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(number, signal.SIGKILL)


def _group_of(process: int) -> int | None:
    """Return the process group of a process, None if it has ended."""
    try:
        return os.getpgid(process)
    except OSError:
        return None


def machine_memory() -> int | None:
    """Return the memory of the machine in bytes, None if it cannot be read."""
    if psutil is None:
        return None
    try:
        return int(psutil.virtual_memory().total)
    except (psutil.Error, OSError):
        return None


def oom_kills() -> int:
    """Return how many processes the kernel has killed for lack of memory since it started; 0 if unknown (not on Linux)."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill":
                return int(count)
    return 0


def cores() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1
