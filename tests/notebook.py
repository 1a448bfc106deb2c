"""A watch that keeps what it is told, for tests that run a compiled model themselves."""

from __future__ import annotations

import schedlab as sl


class Notebook:
    """A watch that keeps what it is told and stops after a number of solutions."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.answers: list[sl.Assignment] = []
        self.bounds: list[float] = []
        self.stop_after = stop_after

    def solution(self, assignment: sl.Assignment, bound: float | None = None) -> bool:
        self.answers.append(assignment)
        return self.stop_after is None or len(self.answers) < self.stop_after

    def bound(self, value: float) -> bool:
        self.bounds.append(value)
        return True
