"""A backend: CP-SAT on one thread, however many the user allows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from schedlab.backends import Limits, Outcome, Watch
from schedlab.backends.cpsat import CpSat
from schedlab.models.language import Assignment, Model


class CpSatOneThread(CpSat):
    """CP-SAT on one thread."""

    name = "cpsat-one-thread"

    def compile(self, model: Model) -> Any:
        """Lower a model as CP-SAT does."""
        return OneThread(super().compile(model))


class OneThread:
    """A compiled model that is solved on one thread; everything else is as in ``compiled``."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiled, name)

    def run(self, watch: Watch, limits: Limits, warm: Assignment | None = None) -> Outcome:
        """Solve the model on one thread."""
        found: Outcome = self._compiled.run(watch, replace(limits, threads=1), warm)
        return found
