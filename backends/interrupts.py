"""Ctrl-C during a call: the first one ends the call with the best solution so far, the second one is raised."""

from __future__ import annotations

import signal
import threading

from ..models.language import Assignment
from .base import Exactness, Limits, Outcome, Watch

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
