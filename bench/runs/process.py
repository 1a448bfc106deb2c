"""The worker process of a run: its limits are enforced, it ends with the bench, and the cause of its end is found."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ..errors import WrongUse
from ..processes import group_memory, is_suspended, kill_group, oom_kills
from .selection import KILL_AFTER

WORKER = (sys.executable, "-m", "schedlab.bench.runs.worker")
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
        self.memory = None if memory_gb is None else memory_gb * 2**30
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
            asleep = "; it was suspended (SIGSTOP) when it was killed" if is_suspended(self.process.pid) else ""
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
        self.cause = "out of memory" if short else "crash"
        self.message = f"ended with {how} and no result" + (
            f"; its last output: ...{printed[-600:]}" if printed else ""
        )
