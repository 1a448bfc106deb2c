"""A solver's run in a thread of its own, so that Ctrl-C and the time limit reach the caller whatever the solver does.

A solver that does not stop in time is left behind: its thread goes on until the solver looks at its interrupt, and what
it still finds is ignored. The thread keeps all that it uses alive. What was compiled cannot be solved again until then,
and the interpreter waits for it at its end, for a while.
"""

from __future__ import annotations

import atexit
import math
import threading
import time
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from ..models.language import Assignment
from .base import Limits, Outcome, Watch
from .interrupts import INTERRUPTED, catch_first

GRACE = 0.7  # seconds that a solver has to stop, from Ctrl-C or from the end of its time
POLL_SECONDS = 0.05
MOST_LEFT = 2  # runs that are left behind at a time for their limits: they hold memory and cores
EXIT_SECONDS = 15.0  # for which the interpreter waits at its end; Ctrl-C ends that, too
LATE = "the time limit was reached; the solver has not stopped yet"

_at_work: WeakKeyDictionary[object, Apart] = WeakKeyDictionary()
_left: set[Apart] = set()
_lock = threading.Lock()


class StillRunning(RuntimeError):
    """What was compiled is being solved already: in another thread, or by a solver that has not stopped yet."""


def run_apart(
    owner: object, work: Callable[[Watch], Outcome], halt: Callable[[], Any], watch: Watch, limits: Limits
) -> Outcome:
    """The outcome of ``work(watch)``, or ``unknown`` if it does not end: soon after its time limit, or after Ctrl-C.

    Parameters
    ----------
    owner
        The compiled model, which is not used by two runs at a time.
    work
        The run; it gets a watch that says stop once nobody waits for the run any more.
    halt
        Asks the solver to stop, from any thread, more than once; it must return at once.

    Raises
    ------
    StillRunning
        If the owner is used by another run.
    KeyboardInterrupt
        At the second Ctrl-C.
    """
    apart = Apart(owner, work, halt, watch)
    ended = apart.run(math.inf if limits.time is None else time.perf_counter() + limits.time)
    if ended and apart.outcome is not None:
        outcome = apart.outcome
    else:
        outcome = Outcome("unknown", message=LATE, running=True)
    if apart.interrupted:
        outcome.message = INTERRUPTED
    return outcome


class Apart:
    """One run in its thread, and a watch that hands on to the caller's until the run is left behind."""

    def __init__(
        self, owner: object, work: Callable[[Watch], Outcome], halt: Callable[[], Any], watch: Watch | None = None
    ) -> None:
        self.outcome: Outcome | None = None
        self.interrupted = False
        self.left = False
        self._owner, self._work, self._halt, self._watch = owner, work, halt, watch
        self._failure: BaseException | None = None
        self._stopping = self._begun = False
        self._done = threading.Event()
        self._calls = 0  # of the watch that have not returned: not the solver's time

    def run(self, deadline: float) -> bool:
        """Whether the run ended by the deadline (of ``perf_counter``) and a grace; what it raises is raised here."""
        with _lock:
            if self._owner in _at_work:
                raise StillRunning(
                    "this compiled model is being solved already, in another thread or by a solver that has not "
                    "stopped yet; compile the model again"
                )
            _at_work[self._owner] = self
        try:
            while not self.left and not self._done.is_set():  # not join(): interrupted, it takes the thread for ended
                try:
                    self._wait(deadline)
                except KeyboardInterrupt as e:
                    catch_first(e)
                    self.interrupted = self._stopping = True
                    self._halt()
        except BaseException:
            self._leave()
            self._halt()
            raise
        if self._failure is not None and not self.left:
            raise self._failure
        return not self.left

    def solution(self, assignment: Assignment, bound: float | None = None) -> bool:
        """As a ``Watch``."""
        return self._tell(lambda watch: watch.solution(assignment, bound))

    def bound(self, value: float) -> bool:
        """As a ``Watch``."""
        return self._tell(lambda watch: watch.bound(value))

    def wait(self, seconds: float) -> bool:
        """Whether the run ended within so many seconds."""
        return self._done.wait(seconds)

    def _tell(self, call: Callable[[Watch], bool]) -> bool:
        if self.left or self._watch is None:
            return False
        self._calls += 1
        try:
            going = call(self._watch)
        except BaseException as e:  # not through the solver
            going, self._failure = False, e
        finally:
            self._calls -= 1
        self._stopping = self._stopping or not going
        return not self._stopping

    def _wait(self, deadline: float) -> None:
        """Until the run ends, or is left behind."""
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._run, name="schedlab solver", daemon=True).start()
        last = math.inf
        while not self._done.wait(POLL_SECONDS):
            now = time.perf_counter()
            if self._calls and not self.interrupted:
                last = math.inf
            elif last == math.inf and (self._stopping or now > deadline):
                self._halt()
                last = now + GRACE
            elif now > last and (self.interrupted or len(_left) < MOST_LEFT):
                self._leave()
                return

    def _run(self) -> None:
        try:
            self.outcome = self._work(self)
        except BaseException as e:  # raised again in the calling thread
            self._failure = e
        finally:
            with _lock:
                _at_work.pop(self._owner, None)
                _left.discard(self)
                self._done.set()

    def _leave(self) -> None:
        with _lock:
            self.left = not self._done.is_set()
            if self.left:
                _left.add(self)


@atexit.register
def _wait_for_all() -> None:
    """A thread that comes back from a solver while the interpreter is taken down would take the process down with it."""
    until = time.monotonic() + EXIT_SECONDS
    try:
        for apart in list(_left):
            apart.wait(max(0.0, until - time.monotonic()))
    except KeyboardInterrupt:
        return
