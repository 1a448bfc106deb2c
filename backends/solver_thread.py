"""Run a solver in a thread of its own, so that Ctrl-C and the time limit work whatever the solver does; and keep its log."""

from __future__ import annotations

import atexit
import math
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from ..errors import SchedlabError, SolverUnavailable
from ..models.language import Assignment
from ..models.words import how_many
from .base import Exactness, Limits, Outcome, Watch

# --- Ctrl-C during a call: the first one ends the call with the best solution so far, the second one is raised.

INTERRUPTED = "interrupted"  # message of an outcome or a result that was ended by Ctrl-C
_call = threading.local()


class Interrupted(KeyboardInterrupt):
    """Exception of a search in which Ctrl-C ended one of its solves."""


def new_call() -> None:
    """Begin a call that ends with the best solution so far at the first Ctrl-C."""
    _call.interrupted = False
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler) and threading.current_thread() is threading.main_thread():
        # OR-Tools, used directly, leaves the system's handler of SIGINT, which ends the process without a message
        signal.signal(signal.SIGINT, handler)


def catch_first(interrupt: KeyboardInterrupt) -> None:
    """Record the first Ctrl-C of the call; raise the second one again."""
    if getattr(_call, "interrupted", False) and not isinstance(interrupt, Interrupted):
        raise interrupt
    _call.interrupted = True


class NotCompiled:
    """Replacement of a compiled model whose lowering was ended by Ctrl-C or by the time limit.

    The warm start is then the best solution.
    """

    native = None
    exactness = Exactness()

    def __init__(self, why: str) -> None:
        self.why = why
        self.size: dict[str, int] = {}

    def run(self, watch: Watch, limits: Limits, warm: Assignment | None = None) -> Outcome:
        """Return an outcome without a solution, as no solver ran."""
        return Outcome("unknown", message=self.why)


INTERRUPTED_SECONDS = 0.7  # in which a solver has to stop after Ctrl-C, or after the watch ended the run
# in which it has to stop after its time limit: a call may exceed its limit by 5 % or 0.5 s, and checks the answer at its end
GRACE = 0.3
GRACE_SHARE = 0.04
LONGEST_GRACE = 3.0
POLL_SECONDS = 0.05
MAX_ABANDONED = 2  # abandoned runs beside which no other run begins: they hold memory and cores
WAIT_SHARE = 0.5  # of its time limit, for which a run waits for abandoned ones to end before it is refused
EXIT_SECONDS = 15.0  # greatest time for which the interpreter waits at its exit; Ctrl-C ends the wait
LATE = "the time limit was reached; the solver has not stopped yet"

_running: WeakKeyDictionary[object, ThreadedRun] = WeakKeyDictionary()
_abandoned: set[ThreadedRun] = set()
_lock = threading.Lock()


class StillRunning(SchedlabError, RuntimeError):
    """Error of a compiled model that is being solved: in another thread, or by a solver that has not stopped."""


class TooManyLeft(SolverUnavailable):
    """Error of a run that does not begin, because solvers of earlier calls have not stopped since their limits."""

    def __init__(self, left: int) -> None:
        super().__init__(
            f"{left} solvers of earlier calls have not stopped since their time limits, and hold memory and cores; wait "
            "until they end, or begin a new process"
        )


def run_in_thread(
    owner: object, work: Callable[[Watch], Outcome], halt: Callable[[], Any], watch: Watch, limits: Limits
) -> Outcome:
    """Run ``work(watch)`` in a thread and return its outcome.

    Parameters
    ----------
    owner : object
        The compiled model. Two runs cannot use it at the same time.
    work : callable
        Solves. It gets a `Watch` whose methods return False once the run is abandoned.
    halt : callable
        Makes the solver stop. It is called from any thread, possibly several times, and must return at once.
    watch : Watch
        Receives the solutions and bounds until the run is abandoned.
    limits : Limits
        Its ``time`` is the wall time in seconds after which the solver is stopped.

    Returns
    -------
    Outcome
        The outcome of ``work``. If the solver does not stop soon after its time limit (``GRACE``) or after Ctrl-C
        (``INTERRUPTED_SECONDS``), the status is "unknown" and ``running`` is True.

    Raises
    ------
    StillRunning
        If the owner is used by another run.
    TooManyLeft
        If there is a time limit, and too many abandoned runs go on.
    KeyboardInterrupt
        At the second Ctrl-C.
    """
    threaded = ThreadedRun(owner, work, halt, watch)
    if limits.time is None:
        ended = threaded.run(math.inf)
    else:
        ended = threaded.run(time.perf_counter() + limits.time, grace(limits.time))
    if ended and threaded.outcome is not None:
        outcome = threaded.outcome
    else:
        outcome = Outcome("unknown", message=LATE, running=True)
    if threaded.interrupted:
        outcome.message = INTERRUPTED
    return outcome


def grace(limit: float) -> float:
    """Return the seconds in which a solver has to stop after a time limit (s)."""
    return min(max(GRACE, GRACE_SHARE * limit), LONGEST_GRACE)


class ThreadedRun:
    """One run in its thread. It is also the `Watch` of the run, and calls the caller's until the run is abandoned."""

    def __init__(
        self, owner: object, work: Callable[[Watch], Outcome], halt: Callable[[], Any], watch: Watch | None = None
    ) -> None:
        self.outcome: Outcome | None = None
        self.interrupted = False
        self.abandoned = False
        self._owner = owner
        self._work = work
        self._halt = halt
        self._watch = watch
        self._failure: BaseException | None = None
        self._stopping = self._begun = False
        self._grace = GRACE
        self._done = threading.Event()
        self._calls = 0  # calls of the watch that have not returned: their time is not the solver's

    def run(self, deadline: float, grace: float = GRACE) -> bool:
        """Run, and return whether the run ended before ``deadline`` (of ``time.perf_counter``) plus ``grace`` seconds.

        An exception of the run is raised here.
        """
        self._grace = grace
        if deadline < math.inf:
            _wait_for_room(WAIT_SHARE * (deadline - time.perf_counter()))
        with _lock:
            if deadline < math.inf and len(_abandoned) >= MAX_ABANDONED:
                raise TooManyLeft(len(_abandoned))
            if self._owner in _running:
                raise StillRunning(
                    "this compiled model is being solved already, in another thread or by a solver that has not "
                    "stopped yet; compile the model again"
                )
            _running[self._owner] = self
        try:
            # not join(): an interrupted join marks the thread as ended
            while not self.abandoned and not self._done.is_set():
                try:
                    self._wait(deadline)
                except KeyboardInterrupt as e:
                    catch_first(e)
                    self.interrupted = self._stopping = True
                    self._halt()
        except BaseException:
            self._abandon()
            self._halt()
            raise
        if self._failure is not None and not self.abandoned:
            raise self._failure
        return not self.abandoned

    def solution(self, assignment: Assignment, bound: float | None = None) -> bool:
        """Report a solution to the caller's watch; return whether the solver should go on."""
        return self._forward(lambda watch: watch.solution(assignment, bound))

    def bound(self, value: float) -> bool:
        """Report a bound to the caller's watch; return whether the solver should go on."""
        return self._forward(lambda watch: watch.bound(value))

    def wait(self, seconds: float) -> bool:
        """Wait at most this number of seconds for the end of the run; return whether it ended."""
        return self._done.wait(seconds)

    def _forward(self, report: Callable[[Watch], bool]) -> bool:
        if self.abandoned or self._watch is None:
            return False
        self._calls += 1
        try:
            going = report(self._watch)
        except BaseException as e:  # raised by run(): an exception must not pass through the solver
            going, self._failure = False, e
        finally:
            self._calls -= 1
        self._stopping = self._stopping or not going
        return not self._stopping

    def _wait(self, deadline: float) -> None:
        """Wait until the run ends or is abandoned."""
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._run, name="schedlab solver", daemon=True).start()
        last = math.inf
        while not self._done.wait(min(POLL_SECONDS, max(0.0, deadline - time.perf_counter()) or POLL_SECONDS)):
            now = time.perf_counter()
            if self._calls and not self.interrupted:
                last = math.inf
            elif last == math.inf and (self._stopping or now >= deadline):
                self._halt()
                last = now + (INTERRUPTED_SECONDS if self._stopping else self._grace)
            elif now > last:
                self._abandon()
                return

    def _run(self) -> None:
        try:
            self.outcome = self._work(self)
        except BaseException as e:  # raised again in the calling thread
            self._failure = e
        finally:
            with _lock:
                _running.pop(self._owner, None)
                _abandoned.discard(self)
                self._done.set()

    def _abandon(self) -> None:
        with _lock:
            self.abandoned = not self._done.is_set()
            if self.abandoned:
                _abandoned.add(self)


def _wait_for_room(seconds: float) -> None:
    """Wait at most this number of seconds until fewer than ``MAX_ABANDONED`` abandoned runs go on."""
    latest = time.perf_counter() + seconds
    while len(_abandoned) >= MAX_ABANDONED and time.perf_counter() < latest:
        time.sleep(POLL_SECONDS)


@atexit.register
def _wait_for_all() -> None:
    """Wait for the abandoned runs: a thread that returns from a solver during the interpreter's exit crashes it."""
    deadline = time.monotonic() + EXIT_SECONDS
    try:
        for threaded in list(_abandoned):
            threaded.wait(max(0.0, deadline - time.monotonic()))
    except KeyboardInterrupt:
        return


# --- The log of a solver, bounded: of a long log the first and the last part are kept.


LOG_CHARACTERS = 200_000
"""Most characters of a log, half of them from its begin and half from its end; what lies between is left out."""


_LIVE: list[Callable[[str], object]] = []  # of the process: solvers write from threads of their own


@contextmanager
def live_log(follow: Callable[[str], object]) -> Iterator[None]:
    r"""Call ``follow`` with each text that a solver of this process writes to its log, from any thread, within the block.

    Parameters
    ----------
    follow : callable
        Takes a part of a log: lines, or parts of them.

    Examples
    --------
    >>> seen = []
    >>> with live_log(seen.append):
    ...     SolverLog().line("presolve")
    >>> seen
    ['presolve\n']
    """
    _LIVE.append(follow)
    try:
        yield
    finally:
        _LIVE.remove(follow)


class SolverLog:
    """A text that grows and stays bounded; solvers write to it as to a file, from any thread.

    Parameters
    ----------
    most : int
        The number of characters that are kept, without the line that says how many were left out.

    Examples
    --------
    >>> log = SolverLog(most=8)
    >>> _ = log.write("first, second, third")
    >>> print(log.text())
    firs
    ... 12 characters of the log left out ...
    hird
    """

    def __init__(self, most: int = LOG_CHARACTERS) -> None:
        self._half = most // 2
        self._head: list[str] = []
        self._head_size = 0
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._written = 0

    def write(self, text: str) -> int:
        """Append a text; return its length."""
        for follow in _LIVE:
            follow(text)
        self._written += len(text)
        room = self._half - self._head_size
        if room > 0:
            self._head.append(text[:room])
            self._head_size += len(self._head[-1])
        rest = text[max(room, 0) :][-self._half :]
        if rest:
            self._tail.append(rest)
            self._tail_size += len(rest)
            while self._tail_size - len(self._tail[0]) >= self._half:
                self._tail_size -= len(self._tail.popleft())
        return len(text)

    def line(self, text: str) -> None:
        """Append a line."""
        self.write(text + "\n")

    def flush(self) -> None:
        """Do nothing; files have this method."""

    def text(self) -> str:
        """Return the log; of a long one the first and the last part, with the number of characters left out."""
        head = "".join(self._head)
        tail = "".join(self._tail)[-self._half :]
        left = self._written - len(head) - len(tail)
        if not left:
            return head + tail
        return f"{head}\n... {how_many(left, 'character', ',')} of the log left out ...\n{tail}"


def joined(first: str, second: str) -> str:
    """Return two logs as one, bounded."""
    if len(first) + len(second) <= LOG_CHARACTERS:
        return first + second
    log = SolverLog()
    log.write(first + second)
    return log.text()
