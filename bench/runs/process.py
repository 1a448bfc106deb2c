"""Processes: the worker of a run, whose limits are enforced and which ends with the bench; memory and members of groups."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...models.words import how_many
from ..errors import WrongUse

if TYPE_CHECKING:
    from ...simulation.dispatchers.dardis.transport import Network


try:
    import psutil
except ImportError:  # on Linux, psutil itself imports resource
    psutil = None

UNREADABLE = "the memory of processes cannot be read on this system: memory limits are not enforced"
WORKER = (sys.executable, "-m", "schedlab.bench.runs.worker")
RANKS = "--ranks"  # before the run: other ranks of an MPI job have node managers of DARDIS, rank 0 is the worker
KILL_AFTER = 5.0  # seconds after its time limit at which a run is killed
Cause = Literal["timeout", "out of memory", "crash", "unavailable"]
START_LIMIT = 900.0  # seconds for a worker to begin to solve: imports, and the first compilation of all kernels
ASLEEP = 3.0  # longer pauses in seconds between two checks of a child show that this process itself was suspended
CHECK_LIMIT = 120.0  # seconds for the check of an answer, which is not part of the method's time
MEMORY_WORDS = ("MemoryError", "bad_alloc", "out of memory", "Out of memory", "Cannot allocate memory")
# The shell command that starts a worker. A background process waits for the end of the pipe on file descriptor 3 and then
# kills the process group.
LEASH = 'exec 3<&0; { cat; kill -KILL 0; } <&3 >/dev/null 2>&1 & exec "$@" </dev/null 3<&-'


class Child:
    """A worker process that runs ``command`` + [spec] and reports events as JSON lines on its standard output.

    It leads a session and process group of its own. Only the bench holds the writing end of a pipe, the "leash". When the
    bench ends, even by SIGKILL, a shell in the group of the worker reads the end of the pipe and kills the whole group,
    with the processes that a solver has started. Raises WrongUse on Windows, which has no process groups and no shell.

    Events: ``{"event": "begin"}`` when it begins to solve, ``incumbent``, ``progress``, ``solved``, and ``end`` with its
    result.

    Parameters
    ----------
    command
        Command of the worker.
    spec
        The run as JSON, its last argument.
    time_limit
        Seconds after which the method should end; it is killed ``KILL_AFTER`` seconds later.
    memory_gb
        Memory limit in GB of the process group, None for no limit.
    environment
        Environment variables of the process; None: those of this process.
    cwd
        Current folder of the process; None: that of this process.
    """

    def __init__(
        self,
        command: Sequence[str],
        spec: str,
        time_limit: float,
        memory_gb: float | None,
        environment: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> None:
        if os.name != "posix":
            raise WrongUse("bench run and bench simulate need a POSIX system (on Windows: WSL); sl.solve works here")
        self.time_limit = time_limit
        if memory_gb is None:
            self.memory = None
        else:
            self.memory = memory_gb * 2**30
        self.began: float | None = None
        self.solved: float | None = None
        self.events: list[dict[str, Any]] = []
        self.result: dict[str, Any] | None = None
        self.cause: Cause | None = None
        self.message = ""
        self.peak = 0
        self.started = self.checked = time.monotonic()
        self.grace = 0.0  # before this moment it is not killed for exceeding its time limit
        self._oom_kills = oom_kills()
        self._buffer = b""
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed by end)
        reading, self._leash = os.pipe()
        try:
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", LEASH, "leash", *command, spec],
                stdin=reading,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                start_new_session=True,
                env=environment,
                cwd=cwd,
            )
        finally:
            os.close(reading)
        assert self.process.stdout is not None
        self.out = self.process.stdout.fileno()
        os.set_blocking(self.out, False)

    def step(self) -> list[dict[str, Any]]:
        """Enforce the limits and return the events since the last call."""
        ended = self.process.poll() is not None
        news = self._read()
        for event in news:
            if event["event"] == "begin":
                self.began = time.monotonic()
            elif event["event"] == "solved":
                self.solved = time.monotonic()
            elif event["event"] == "end":
                self.result = event
        self.events.extend(news)
        if self.result is None and not ended:
            self._enforce()
        if self.result is None and ended and self.cause is None:
            self._explain()
        return news

    @property
    def over(self) -> bool:
        """Whether it has reported its result, exceeded a limit, or ended."""
        return self.result is not None or self.cause is not None

    def end(self) -> None:
        """Kill the remaining processes of the group and close its files."""
        kill_group(self.process.pid)
        self.process.wait()
        os.close(self._leash)
        self._stderr.close()
        assert self.process.stdout is not None
        self.process.stdout.close()

    @property
    def stderr(self) -> str:
        """The last lines of its standard error (at most 4,000 bytes)."""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - 4000))
        return self._stderr.read().decode(errors="replace").strip()

    def _read(self) -> list[dict[str, Any]]:
        while True:
            try:
                data = os.read(self.out, 1 << 20)
            except BlockingIOError:
                break
            if not data:
                break
            self._buffer += data
        *lines, self._buffer = self._buffer.split(b"\n")
        return [json.loads(line) for line in lines]

    def _enforce(self) -> None:
        now = time.monotonic()
        if (
            now > self.checked + ASLEEP
        ):  # the bench was suspended, and probably the child too: it may still end by itself
            self.grace = now + KILL_AFTER
        self.checked = now
        if now >= self.grace:
            self._enforce_time(now)
        if self.cause is None and self.memory is not None:
            used = group_memory(self.process.pid)
            self.peak = max(self.peak, used)
            if used > self.memory:
                self.cause = "out of memory"
                self.message = f"killed: it used {used / 2**30:.2f} GB, the limit is {self.memory / 2**30:.2f} GB"

    def _enforce_time(self, now: float) -> None:
        if self.began is None and now > self.started + START_LIMIT:
            self.cause = "timeout"
            self.message = f"killed: it had not begun to solve after {START_LIMIT:g} s"
        elif self.solved is not None and now > self.solved + CHECK_LIMIT:
            self.cause = "timeout"
            self.message = f"killed: its answer was not checked within {CHECK_LIMIT:g} s"
        elif self.began is not None and self.solved is None and now > self.began + self.time_limit + KILL_AFTER:
            self.cause = "timeout"
            asleep = ""
            if is_suspended(self.process.pid):
                asleep = "; it was suspended (SIGSTOP) when it was killed"
            self.message = (
                f"killed: still running {KILL_AFTER:g} s after its time limit of {self.time_limit:g} s{asleep}"
            )

    def _explain(self) -> None:
        """Set the cause and the message of an end without a result."""
        code = self.process.returncode
        how = f"exit code {code}"
        if code < 0:
            how = f"signal {-code} ({signal.Signals(-code).name})"
        printed = self.stderr
        killed_by_kernel = code in (-signal.SIGKILL, 137) and oom_kills() > self._oom_kills
        short = killed_by_kernel or any(word in printed for word in MEMORY_WORDS)
        if short:
            self.cause = "out of memory"
        else:
            self.cause = "crash"
        self.message = f"ended with {how} and no result" + (
            f"; its last output: ...{printed[-600:]}" if printed else ""
        )


# --- How replays of DARDIS over a network are started: the number of processes, the command of the worker, the ranks of MPI.


def check_processes(network: str, nodes: int) -> None:
    """Raise WrongUse if there are more processes of node managers than nodes."""
    from ...simulation.dispatchers.dardis.transport import Network

    if Network.parse(network).processes - 1 > nodes:
        raise WrongUse(
            f"--processes {Network.parse(network).processes}: expected at most {nodes + 1}, one for the task manager and one "
            f"for each of the {how_many(nodes, 'node')}"
        )


def worker_command(network: Network) -> Sequence[str]:
    """Return the command of a worker whose replays use a network; for MPI, it begins with mpiexec.

    Raises
    ------
    WrongUse
        If a package or mpiexec is not installed.
    """
    package = {"mpi": "mpi4py", "dask": "distributed"}.get(network.transport)
    if package is None:
        return WORKER
    if find_spec(package) is None:
        raise WrongUse(
            f"--transport {network.transport}: {package} is not installed: pip install 'schedlab[{network.transport}]'"
        )
    if network.transport != "mpi":
        return WORKER
    return (mpiexec(), "-n", str(network.processes), *WORKER, RANKS)


def mpiexec() -> str:
    """Return the path of mpiexec: beside Python, where pip installs that of MPICH, else in the search path."""
    beside = Path(sys.executable).with_name("mpiexec")
    if not beside.exists():
        program = shutil.which("mpiexec")
    else:
        program = str(beside)
    if program is None:
        raise WrongUse("--transport mpi: there is no mpiexec: pip install 'schedlab[mpi]'")
    return program


# --- Processes, by psutil: the members of a process group, their memory, their end; the memory of the machine.


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
    below = []
    if psutil is not None:
        below = _descendants(group)
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
