"""The part of an instance that is run: a snapshot, the first n jobs, another objective, a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from ...backends import UnknownName
from ...instances import Instance
from ...models.dispatch.jobs import DAY, Job
from ...models.dispatch.objectives import objective_names
from ...models.dispatch.problem import Dispatch
from ...models.eviction.problem import Eviction
from ...models.problem import Problem
from ...models.profit.problem import Profit
from ..errors import WrongUse
from .replay_settings import ReplaySettings

Durations = Literal["walltime", "runtime"]
OF_SOME = ("nodes_needed", "scenario")  # fields of some kinds of problems only
ALL = "all"  # all scenarios


@dataclass(frozen=True)
class View:
    """The part of an instance that is run, and how.

    Parameters
    ----------
    at
        Second of the snapshot: only the jobs submitted by then, none of them started. None: all jobs.
    first
        Number of jobs, the first by submit time. None: all jobs.
    durations
        Durations of the jobs: "walltime" or "runtime".
    objective
        Name of the objective; None: that of the instance.
    nodes_needed
        Nodes to free; only for eviction problems.
    scenario
        Name of the scenario; only for profit problems.

    Examples
    --------
    >>> View(at=43200, first=100).label
    'at 12:00, first 100'
    """

    at: int | None = None
    first: int | None = None
    durations: Durations = "walltime"
    objective: str | None = None
    nodes_needed: int | None = None
    scenario: str | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The fields as in records and keys: those of other kinds of problems are left out if they are None."""
        return {name: v for name, v in asdict(self).items() if v is not None or name not in OF_SOME}

    @property
    def label(self) -> str:
        """The view as text, for the title of a table."""
        if self.nodes_needed is not None:
            return f"{self.nodes_needed} nodes needed"
        parts = [] if self.scenario is None else [self.scenario]
        if self.at is None and self.first is None and self.scenario is None:
            parts.append("the whole instance")
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
        """Return whether no job is submitted by the time of the snapshot."""
        at = self.at
        return at is not None and isinstance(problem, Dispatch) and all(j.submit > at for j in problem.jobs)

    def of(self, instance: Instance) -> Problem:
        """Return the problem of this view. Raises WrongUse if the kind of the problem has no such view, UnknownName."""
        problem = instance.problem
        if self == View():
            return problem
        if self.scenario is not None or isinstance(problem, Profit):
            return self._scenario(instance)
        if self.nodes_needed is not None:
            if not isinstance(problem, Eviction) or self != View(nodes_needed=self.nodes_needed):
                raise WrongUse(
                    f"--nodes-needed is for eviction problems, without other view options; this is a {problem.kind} problem"
                )
            return problem.replace(nodes_needed=self.nodes_needed)
        if not isinstance(problem, Dispatch):
            raise WrongUse(
                f"--at, --first, --durations and --objective are for dispatch problems; this is a {problem.kind} problem"
            )
        aim = problem.aim if self.objective is None else self.objective
        if aim not in objective_names():
            raise UnknownName("objective", aim, list(objective_names()))
        chosen = problem.replace(durations=self.durations, objective=aim)
        if self.at is not None:
            chosen = chosen.at(self.at, self.first)
        elif self.first is not None:
            chosen = chosen.replace(jobs=_first(chosen, self.first))
        if not chosen.jobs:
            raise WrongUse(f"the view {self.label!r} has no jobs: none is submitted by that time")
        return chosen

    def _scenario(self, instance: Instance) -> Profit:
        """Return the profit problem of the scenario, else of the default scenario; with ``first`` its horizon is unchanged."""
        problem = instance.problem
        if not isinstance(problem, Profit):
            raise WrongUse(f"--scenario is for profit problems; this is a {problem.kind} problem")
        if self != View(first=self.first, scenario=self.scenario):
            raise WrongUse("profit problems have only the view options --first and --scenario")
        if self.scenario is not None:
            chosen = instance.scenario(self.scenario)
            assert isinstance(chosen, Profit)
            problem = chosen
        if self.first is None:
            return problem
        return problem.replace(dispatch=problem.dispatch.replace(jobs=_first(problem.dispatch, self.first)))


def _first(problem: Dispatch, n: int) -> list[Job]:
    return sorted(problem.jobs, key=lambda j: j.submit)[:n]


def scenarios_of(instance: Instance, requested: Sequence[str]) -> list[str]:
    """Return the names of the requested scenarios.

    Each text is a full name, some words of it ("winter,cheap": all scenarios with these words), or "all". Raises WrongUse
    if the instance has no scenarios or none with all these words, and UnknownName for an unknown word.
    """
    if not instance.scenarios:
        raise WrongUse(f"--scenario: {instance.name} of kind {instance.kind} has no scenarios")
    known = dict.fromkeys(word for name in instance.scenarios for word in name.split(","))
    found: dict[str, None] = {}
    for text in requested:
        words = {w for part in text.split(",") if (w := part.strip()) != ALL}
        for word in words:
            if word not in known:
                raise UnknownName("scenario", word, [*known, ALL])
        fitting = [name for name in instance.scenarios if words <= set(name.split(","))]
        if not fitting:
            raise WrongUse(
                f"--scenario {text}: no scenario has all of these words; known are {'; '.join(instance.scenarios)}"
            )
        found.update(dict.fromkeys(fitting))
    return list(found)


def one_scenario(view: View, instance: Instance, requested: str | None) -> View:
    """Return the view with the requested scenario. Raises WrongUse if several scenarios match, UnknownName."""
    if requested is None:
        return view
    found = scenarios_of(instance, [requested])
    if len(found) > 1:
        raise WrongUse(f"--scenario {requested}: expected one scenario, such as {found[0]}")
    return replace(view, scenario=found[0])


def replay_label(view: View, replay: ReplaySettings) -> str:
    """Return a text about the view and the settings of a replay, for the title of a table."""
    whole = "replay" if replay.trace else "replay of the day"
    first = f"first {view.first}" if view.first is not None else ""
    aim = f"objective {view.objective}" if view.objective is not None else ""
    return ", ".join(part for part in (whole, first, aim, replay.label) if part)


def clock(seconds: int) -> str:
    """Return seconds since midnight as a time of day; times after the first day have the number of the day in front.

    Examples
    --------
    >>> clock(43200), clock(86400 + 61)
    ('12:00', 'day 2 00:01:01')
    """
    day, left = divmod(seconds, DAY)
    text = f"{left // 3600:02d}:{left // 60 % 60:02d}" + (f":{left % 60:02d}" if left % 60 else "")
    return f"day {day + 1} {text}" if day else text


def parse_clock(text: str) -> int:
    """Return the seconds of "12:00", "12:00:30" or "43200". Raises WrongUse.

    Examples
    --------
    >>> parse_clock("12:00")
    43200
    """
    parts = text.split(":")
    if not all(p.isdigit() for p in parts) or len(parts) > 3 or any(int(p) > 59 for p in parts[1:]):
        raise WrongUse(f"--at {text}: expected a time of day such as 12:00, or seconds such as 43200")
    if len(parts) == 1:
        return int(parts[0])
    return sum(int(p) * unit for p, unit in zip(parts, (3600, 60, 1), strict=False))
