"""Ctrl-C during a call: the first one ends it with the best so far, the second one is raised."""

from __future__ import annotations

import signal
import threading

from ..models.language import Assignment
from .base import Exactness, Limits, Outcome, Watch

INTERRUPTED = "interrupted"  # the message of an outcome and of a result that Ctrl-C ended
_call = threading.local()


class Interrupted(KeyboardInterrupt):
    """Raised by a search inside which Ctrl-C ended a solve."""


def new_call() -> None:
    """Begin a call that ends with the best so far at the first Ctrl-C."""
    _call.interrupted = False
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler) and threading.current_thread() is threading.main_thread():
        # OR-Tools, used directly, leaves the system's handler behind, which ends the process without a word
        signal.signal(signal.SIGINT, handler)


def catch_first(interrupt: KeyboardInterrupt) -> None:
    """Note the first Ctrl-C of the call; raise a second one again."""
    if getattr(_call, "interrupted", False) and not isinstance(interrupt, Interrupted):
        raise interrupt
    _call.interrupted = True


class NotCompiled:
    """Stands for a model whose lowering Ctrl-C or the time limit ended: the start is the best so far."""

    native = None
    exactness = Exactness()

    def __init__(self, why: str) -> None:
        self.why = why
        self.size: dict[str, int] = {}

    def run(self, watch: Watch, limits: Limits, warm: Assignment | None = None) -> Outcome:
        """What is known without a solver."""
        return Outcome("unknown", message=self.why)
