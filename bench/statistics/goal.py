"""What the times of a comparison count to, and how: to the proof or to a gap, with or without building and lowering."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from ..errors import WrongUse
from .measures import SHIFT, Measure, seconds, seconds_to
from .sample import Outcome, Problem


@dataclass(frozen=True)
class Goal:
    """What the times of a comparison count to; formulas: docs/statistics.md.

    Attributes
    ----------
    target
        The gap to the best objective known that a schedule must have; None: the proof.
    solver_alone
        Whether the seconds of building and lowering the model are taken off each time.
    shift
        Seconds that are added to times before their geometric mean.
    floor
        Times below it count as it, in seconds: the noise of shorter ones would be large in ratios.

    Raises
    ------
    WrongUse
        The target is no gap from 0 to 1.
    """

    target: float | None = None
    solver_alone: bool = False
    shift: float = SHIFT
    floor: float = 0.0

    def __post_init__(self) -> None:
        if self.target is not None and not 0 <= self.target < 1:
            raise WrongUse(f"--target {self.target:g}: expected a gap from 0 to 1, such as 0.01")

    @property
    def measure(self) -> Measure:
        """The measure of seconds; infinity for a run that does not reach the goal."""
        reached = seconds if self.target is None else seconds_to(self.target)

        def measured(problem: Problem, run: Outcome) -> float:
            time = reached(problem, run)
            if time == inf:
                return inf
            return max(self.floor, time - (run.building if self.solver_alone else 0.0))

        return measured

    @property
    def until(self) -> str:
        """What is reached: "the proof", "a gap of 1 %"."""
        return "the proof" if self.target is None else f"a gap of {100 * self.target:g} %"

    @property
    def text(self) -> str:
        """The measure in words, as the label of an axis has it.

        Examples
        --------
        >>> Goal(0.01, solver_alone=True, floor=0.1).text
        'seconds to a gap of 1 %, without building and lowering, at least 0.1 s'
        """
        parts = [f"seconds to {self.until}"]
        parts += ["without building and lowering"] if self.solver_alone else []
        parts += [f"at least {self.floor:g} s"] if self.floor else []
        return ", ".join(parts)


PROOF = Goal()
