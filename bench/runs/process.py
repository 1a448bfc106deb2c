"""A run's process: its own session, on a leash, with the cause of its end told apart."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from .selection import KILL_AFTER

Cause = Literal["timeout", "out of memory", "crash", "unavailable"]
START_LIMIT = (
    900.0  # seconds until a worker must have begun to solve: imports, and the first compilation of all kernels
)
ASLEEP = 3.0  # seconds between two looks at a child after which this process must have been suspended itself
CHECK_LIMIT = 120.0  # seconds that the check of an answer may take, which is no part of the method's time
MEMORY_WORDS = ("MemoryError", "bad_alloc", "out of memory", "Out of memory", "Cannot allocate memory")
LEASH = 'exec 3<&0; { cat; kill -KILL 0; } <&3 >/dev/null 2>&1 & exec "$@" </dev/null 3<&-'


class Child:
    """A worker that runs ``command`` + [spec] and tells by lines of JSON on its standard output.

    It leads a session of its own. The leash is a pipe whose writing end this process alone holds: when this process
    ends, even by SIGKILL, a shell in the worker's group reads the end of the pipe and kills the whole group, the solver's
    own processes too. Events: ``{"event": "begin"}`` when it begins to solve, ``incumbent``, and ``end`` with its result.
    """

    def __init__(self, command: Sequence[str], spec: str, time_limit: float, memory_gb: float | None) -> None:
        self.time_limit = time_limit
        self.memory = None if memory_gb is None else memory_gb * 2**30
        self.began: float | None = None
        self.solved: float | None = None
        self.events: list[dict[str, Any]] = []
        self.words: dict[str, Any] | None = None
        self.cause: Cause | None = None
        self.message = ""
        self.peak = 0
        self.started = self.looked = time.monotonic()
        self.grace = 0.0  # the moment until which it is not killed for its time
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
            )
        finally:
            os.close(reading)
        assert self.process.stdout is not None
        self.out = self.process.stdout.fileno()
        os.set_blocking(self.out, False)

    def step(self) -> list[dict[str, Any]]:
        """The events since the last call; enforces the limits."""
        ended = self.process.poll() is not None
        news = self._read()
        for event in news:
            if event["event"] == "begin":
                self.began = time.monotonic()
            elif event["event"] == "solved":
                self.solved = time.monotonic()
            elif event["event"] == "end":
                self.words = event
        self.events.extend(news)
        if self.words is None and not ended:
            self._enforce()
        if self.words is None and ended and self.cause is None:
            self._explain()
        return news

    @property
    def over(self) -> bool:
        """Whether there is nothing more to come: it told its result, was killed, or ended."""
        return self.words is not None or self.cause is not None

    def end(self) -> None:
        """Kill what is left of the group, and clean up."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._leash)
        self._stderr.close()
        assert self.process.stdout is not None
        self.process.stdout.close()

    @property
    def stderr(self) -> str:
        """The last lines that it wrote to its standard error."""
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
        if now > self.looked + ASLEEP:  # this process was suspended, and probably the child: it may end by itself
            self.grace = now + KILL_AFTER
        self.looked = now
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
            self.cause, self.message = "timeout", f"it had not begun to solve after {START_LIMIT:g} s"
        elif self.solved is not None and now > self.solved + CHECK_LIMIT:
            self.cause, self.message = "timeout", f"killed: its answer was not checked within {CHECK_LIMIT:g} s"
        elif self.began is not None and self.solved is None and now > self.began + self.time_limit + KILL_AFTER:
            self.cause = "timeout"
            asleep = "; it was suspended when it was killed" if is_suspended(self.process.pid) else ""
            self.message = (
                f"killed: it did not end within {KILL_AFTER:g} s of its limit of {self.time_limit:g} s{asleep}"
            )

    def _explain(self) -> None:
        """Why it ended without a result."""
        code = self.process.returncode
        how = f"exit code {code}"
        if code < 0:
            how = f"signal {-code} ({signal.Signals(-code).name})"
        said = self.stderr
        killed_by_kernel = code in (-signal.SIGKILL, 137) and oom_kills() > self._oom_kills
        short = killed_by_kernel or any(word in said for word in MEMORY_WORDS)
        self.cause = "out of memory" if short else "crash"
        self.message = f"ended with {how} and no result" + (f"; it said: ...{said[-600:]}" if said else "")


def is_suspended(group: int) -> bool:
    """Whether a process of the group was stopped (SIGSTOP); False where /proc does not tell."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group and fields[0] == "T":
                return True
    return False


def group_memory(group: int) -> int:
    """The resident memory of a process group in bytes; 0 where /proc does not tell."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                total += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    return total


def oom_kills() -> int:
    """How many processes the kernel has killed for want of memory since it started; 0 where it does not tell."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill":
                return int(count)
    return 0
