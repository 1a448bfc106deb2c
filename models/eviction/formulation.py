"""An eviction problem put into the language.

serial   0/1 variables per job: killed, checkpoint of the application, of the system; at most one of them is 1
shared   the checkpoints are optional intervals on the steps of time, cumulative over the file system's bandwidth
both     freed nodes >= the nodes needed; objectives in order: loss, checkpoint time, most application-level checkpoints
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING

from .. import language as sl
from ..language import Assignment, Integer, Interval, Linear, Model
from ..problem import Encoding, Schedule
from .plan import EvictionPlan

if TYPE_CHECKING:
    from .problem import Eviction

MOST_UNITS = 2**31 - 1  # that a capacity may have for every solver


@dataclass
class StrategyVariables:
    """Per job the ways to go: a 0/1 variable or an optional interval per strategy. Checkpoints beyond the deadline have none."""

    problem: Eviction
    model: Model
    ways: dict[str, dict[str, Integer | Interval]] = field(default_factory=dict)

    def add(self, job: str) -> None:
        """Declare the ways of one job."""
        ways: dict[str, Integer | Interval] = {"kill": self.model.boolean(f"kill {job}")}
        for what, steps in self.problem.checkpoint_steps[job].items():
            if steps > self.problem.steps:
                continue
            name = f"{what} checkpoint of {job}"
            if self.problem.shared_bandwidth:
                writing = self.problem.writing_steps[job][what]
                window = (steps - writing, self.problem.steps - writing)
                ways[what] = self.model.interval(name, writing, window, optional=True)
            else:
                ways[what] = self.model.boolean(name)
        self.ways[job] = ways
        if len(ways) > 1:
            self.model.add(sl.sum(map(_taken, ways.values())) <= 1, f"one strategy for {job}")

    def total(self, amount: dict[tuple[str, str], int]) -> Linear:
        """The sum of an amount {(job, strategy): number} over what is done."""
        chosen = [(self.ways[job][what], n) for (job, what), n in amount.items() if what in self.ways[job]]
        return sl.sum([_taken(v) for v, _ in chosen], weights=[n for _, n in chosen])

    @property
    def checkpoints(self) -> list[tuple[str, str, Integer | Interval]]:
        """Every checkpoint that there is a variable for: job, kind, variable."""
        return [(job, what, v) for job, ways in self.ways.items() for what, v in ways.items() if what != "kill"]

    def read(self, assignment: Assignment) -> EvictionPlan:
        """The plan of an assignment; nobody goes in vain: where enough nodes are free without it, a job is kept.

        Only application-level checkpoints stay, which are wanted as such.
        """
        strategy = dict.fromkeys(self.ways, "keep")
        start = {}
        for job, ways in self.ways.items():
            for what, v in ways.items():
                if isinstance(v, Interval) and assignment.present[v.index]:
                    strategy[job], start[job] = what, assignment.start[v.index] * self.problem.step_s
                elif isinstance(v, Integer) and assignment.integer[v.index]:
                    strategy[job] = what
        nodes = {c.id: c.nodes for c in self.problem.candidates}
        spare = sum(nodes[job] for job, what in strategy.items() if what != "keep") - self.problem.nodes_needed
        for job, what in strategy.items():
            if what in ("kill", "sys") and nodes[job] <= spare:
                strategy[job] = "keep"
                start.pop(job, None)
                spare -= nodes[job]
        return EvictionPlan(strategy, start)

    def write(self, schedule: Schedule) -> Assignment:
        """The assignment of a plan that holds."""
        a = Assignment(self.model)
        for job, what in schedule.strategy.items() if isinstance(schedule, EvictionPlan) else ():
            v = self.ways[job].get(what)
            if isinstance(v, Interval):
                start = -(-schedule.start[job] // self.problem.step_s)
                a.set(v, start, start + v.size_lo)
            elif v is not None:
                a.integer[v.index] = 1
        return a


def _taken(v: Integer | Interval) -> sl.Expression:
    return v if isinstance(v, Integer) else v.presence


def _choices(problem: Eviction) -> StrategyVariables:
    name = f"{problem.nodes_needed} nodes from {len(problem.candidates)} jobs in {problem.deadline_s} s"
    made = StrategyVariables(problem, Model(name, horizon=problem.steps))
    for c in problem.candidates:
        made.add(c.id)
    freed = {(c.id, what): c.nodes for c in problem.candidates for what in made.ways[c.id]}
    made.model.add(made.total(freed) >= problem.nodes_needed, "nodes needed")
    return made


def _aims(made: StrategyVariables, time: Linear) -> list[Linear]:
    loss = made.total({(c.id, "kill"): c.loss for c in made.problem.candidates})
    application = made.total({(c.id, "app"): 1 for c in made.problem.candidates})
    return [loss, time, -application]


def serial(problem: Eviction) -> Encoding:
    """Checkpoints one after another: a knapsack with choices."""
    made = _choices(problem)
    steps = {(job, what): problem.checkpoint_steps[job][what] for job, what, _ in made.checkpoints}
    time = made.total(steps)
    made.model.add(time <= problem.steps, "deadline")
    loss, time, application = _aims(made, time)
    made.model.minimize([loss, problem.step_s * time, application])
    return Encoding(made.model, made.read, made.write)


def shared(problem: Eviction) -> Encoding:
    """Checkpoints side by side within the file system's bandwidth; their windows end at the deadline."""
    made = _choices(problem)
    intervals = [(job, v) for job, _, v in made.checkpoints if isinstance(v, Interval)]
    demands, capacity = _whole_units(problem)
    if sum(demands[job] for job in {job for job, _ in intervals}) > capacity:
        made.model.add(
            sl.cumulative([v for _, v in intervals], [demands[j] for j, _ in intervals], capacity), "bandwidth"
        )
    last = sl.max([v.end for _, v in intervals]) if intervals else sl.sum([])
    loss, last, application = _aims(made, last.linear())
    made.model.minimize([loss, problem.step_s * last, application])
    return Encoding(made.model, made.read, made.write)


def _whole_units(problem: Eviction) -> tuple[dict[str, int], int]:
    """What the jobs draw and what the file system has, in whole units, as small as they can be without rounding.

    Where that is beyond what solvers take, it is rounded so that every answer holds.
    """
    draws = {c.id: Fraction(str(c.mb_s or 0)) for c in problem.candidates}
    total = Fraction(str(problem.file_system_mb_s or 0))
    scale = Fraction(lcm(total.denominator, *(d.denominator for d in draws.values())))
    scale /= gcd(int(total * scale), *(int(d * scale) for d in draws.values())) or 1
    scale = min(scale, MOST_UNITS / total) if total else scale
    return {job: -int(-d * scale // 1) for job, d in draws.items()}, int(total * scale)
