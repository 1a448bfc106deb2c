"""What of an instance's problem is looked at: a snapshot, the first jobs, another objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..backends import UnknownName
from ..models.dispatch import DAY, OBJECTIVES, Dispatch
from ..models.eviction import Eviction
from ..models.problem import Problem
from .faults import WrongUse
from .replay import Replay

Durations = Literal["walltime", "runtime"]


@dataclass(frozen=True)
class View:
    """What of an instance's problem is run. ``at``: the snapshot of that second; ``first``: that many jobs by submit time.

    ``nodes_needed``: of an eviction problem.

    >>> View(at=43200, first=100).label
    'at 12:00, first 100'
    """

    at: int | None = None
    first: int | None = None
    durations: Durations = "walltime"
    objective: str | None = None
    nodes_needed: int | None = None

    @property
    def label(self) -> str:
        """For people: what is shown above a table."""
        if self.nodes_needed is not None:
            return f"{self.nodes_needed} nodes needed"
        parts = ["the whole instance"] if self.at is None and self.first is None else []
        if self.at is not None:
            parts.append(f"at {clock(self.at)}")
        if self.first is not None:
            parts.append(f"first {self.first}")
        if self.durations != "walltime":
            parts.append("durations are the runtimes")
        if self.objective is not None:
            parts.append(f"objective {self.objective}")
        return ", ".join(parts)

    def is_empty(self, problem: Problem) -> bool:
        """Whether no job was submitted by the moment that is shown."""
        at = self.at
        return at is not None and isinstance(problem, Dispatch) and all(j.submit > at for j in problem.jobs)

    def of(self, problem: Problem) -> Problem:
        """The problem that is meant. Raises WrongUse if the problem's kind has no such view."""
        if self == View():
            return problem
        if self.nodes_needed is not None:
            if not isinstance(problem, Eviction) or self != View(nodes_needed=self.nodes_needed):
                raise WrongUse(f"--nodes-needed alone is for eviction problems, not for {problem.kind} problems")
            return problem.replace(nodes_needed=self.nodes_needed)
        if not isinstance(problem, Dispatch):
            raise WrongUse(
                f"--at, --first, --durations and --objective are for dispatch problems, not for {problem.kind} problems"
            )
        aim = problem.aim if self.objective is None else self.objective
        if aim not in OBJECTIVES:
            raise UnknownName("objective", aim, list(OBJECTIVES))
        chosen = problem.replace(durations=self.durations, objective=aim)
        if self.at is not None:
            chosen = chosen.at(self.at, self.first)
        elif self.first is not None:
            chosen = chosen.replace(jobs=sorted(chosen.jobs, key=lambda j: j.submit)[: self.first])
        if not chosen.jobs:
            raise WrongUse(f"the view {self.label!r} has no jobs: none was submitted by then")
        return chosen


def replay_label(view: View, replay: Replay) -> str:
    """For people: what a dispatcher replays, and how."""
    whole = "replay" if replay.trace else "replay of the day"
    first = f"first {view.first}" if view.first is not None else ""
    aim = f"objective {view.objective}" if view.objective is not None else ""
    return ", ".join(part for part in (whole, first, aim, replay.label) if part)


def clock(seconds: int) -> str:
    """Seconds since midnight for people: 43200 is 12:00; a later day is told before it.

    >>> clock(43200), clock(86400 + 61)
    ('12:00', 'day 2 00:01:01')
    """
    day, left = divmod(seconds, DAY)
    text = f"{left // 3600:02d}:{left // 60 % 60:02d}" + (f":{left % 60:02d}" if left % 60 else "")
    return f"day {day + 1} {text}" if day else text


def parse_clock(text: str) -> int:
    """Seconds from "12:00", "12:00:30" or "43200". Raises WrongUse.

    >>> parse_clock("12:00")
    43200
    """
    parts = text.split(":")
    if not all(p.isdigit() for p in parts) or len(parts) > 3 or any(int(p) > 59 for p in parts[1:]):
        raise WrongUse(f"--at {text}: expected a time of day such as 12:00, or seconds such as 43200")
    if len(parts) == 1:
        return int(parts[0])
    return sum(int(p) * unit for p, unit in zip(parts, (3600, 60, 1), strict=False))
