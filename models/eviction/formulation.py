"""Formulations of the eviction problem: ``serial`` and ``shared``, both exact.

Data: ``N`` nodes are needed within ``D`` steps. Job j has ``n[j]`` nodes and the loss ``l[j]`` in node-seconds if it is
killed. Its checkpoint of kind c (app: application-level, sys: system-level) ends ``t[j,c]`` steps from now at the
earliest and writes for ``w[j,c]`` steps. Checkpoints with ``t[j,c] > D`` are left out. A step has ``h`` seconds.

``serial``: checkpoints are written one after another (a knapsack problem with choices)::

    x[j,kill], x[j,c] in {0, 1}
    x[j,kill] + sum_c x[j,c] <= 1                                  for each job j
    sum_j n[j] * (x[j,kill] + sum_c x[j,c]) >= N
    T = sum_j,c t[j,c] * x[j,c] <= D

``shared``: checkpoints are written in parallel within the bandwidth ``B`` of the file system; job j needs ``b[j]``::

    v[j,c]      optional interval of size w[j,c] with start in [t[j,c] - w[j,c], D - w[j,c]]; x[j,c] is its presence
    cumulative(v[j,c], demand b[j]) <= B
    T = max_j,c v[j,c].end

and the first two constraints of ``serial``. Objectives of both, in lexicographic order (minimized)::

    sum_j l[j] * x[j,kill],     h * T,     -sum_j x[j,app]
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

MOST_UNITS = 2**31 - 1  # the greatest capacity that every solver accepts


@dataclass
class StrategyVariables:
    """The variables of each job: a 0/1 variable or an optional interval per strategy.

    Parameters
    ----------
    problem : Eviction
        The problem.
    model : Model
        The model.
    choices : dict
        {job: {"kill", "app" or "sys": variable}}. Checkpoints that end after the deadline have no variable.
    """

    problem: Eviction
    model: Model
    choices: dict[str, dict[str, Integer | Interval]] = field(default_factory=dict)

    def add(self, job: str) -> None:
        """Declare the variables of one job, of which at most one is chosen."""
        choices: dict[str, Integer | Interval] = {"kill": self.model.boolean(f"kill {job}")}
        for what, steps in self.problem.checkpoint_steps[job].items():
            if steps > self.problem.steps:
                continue
            name = f"{what} checkpoint of {job}"
            if self.problem.shared_bandwidth:
                writing = self.problem.writing_steps[job][what]
                window = (steps - writing, self.problem.steps - writing)
                choices[what] = self.model.interval(name, writing, window, optional=True)
            else:
                choices[what] = self.model.boolean(name)
        self.choices[job] = choices
        if len(choices) > 1:
            self.model.add(sl.sum(map(_taken, choices.values())) <= 1, f"one strategy for {job}")

    def total(self, amount: dict[tuple[str, str], int]) -> Linear:
        """Return the sum of an amount {(job, strategy): number} over the chosen strategies."""
        chosen = [(self.choices[job][what], n) for (job, what), n in amount.items() if what in self.choices[job]]
        return sl.sum([_taken(v) for v, _ in chosen], weights=[n for _, n in chosen])

    @property
    def checkpoints(self) -> list[tuple[str, str, Integer | Interval]]:
        """The variables of all checkpoints, as (job, kind, variable)."""
        return [
            (job, what, v) for job, choices in self.choices.items() for what, v in choices.items() if what != "kill"
        ]

    def read(self, assignment: Assignment) -> EvictionPlan:
        """Return the plan of an assignment, without superfluous evictions.

        A job is kept if enough nodes are free without it. Only application-level checkpoints are never dropped: the last
        objective asks for as many as possible.
        """
        strategy = dict.fromkeys(self.choices, "keep")
        start = {}
        for job, choices in self.choices.items():
            for what, v in choices.items():
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
        """Return the assignment of a feasible plan."""
        a = Assignment(self.model)
        for job, what in schedule.strategy.items() if isinstance(schedule, EvictionPlan) else ():
            v = self.choices[job].get(what)
            if isinstance(v, Interval):
                start = -(-schedule.start[job] // self.problem.step_s)
                a.set(v, start, start + v.size_lo)
            elif v is not None:
                a.integer[v.index] = 1
        return a


def _taken(v: Integer | Interval) -> sl.Expression:
    return v if isinstance(v, Integer) else v.presence


def _strategy_variables(problem: Eviction) -> StrategyVariables:
    name = f"{problem.nodes_needed} nodes from {len(problem.candidates)} jobs in {problem.deadline_s} s"
    made = StrategyVariables(problem, Model(name, horizon=problem.steps))
    for c in problem.candidates:
        made.add(c.id)
    freed = {(c.id, what): c.nodes for c in problem.candidates for what in made.choices[c.id]}
    made.model.add(made.total(freed) >= problem.nodes_needed, "nodes needed")
    return made


def _objectives(made: StrategyVariables, time: Linear) -> list[Linear]:
    loss = made.total({(c.id, "kill"): c.loss for c in made.problem.candidates})
    application = made.total({(c.id, "app"): 1 for c in made.problem.candidates})
    return [loss, time, -application]


def serial(problem: Eviction) -> Encoding:
    """Make the formulation in which checkpoints are written one after another."""
    made = _strategy_variables(problem)
    steps = {(job, what): problem.checkpoint_steps[job][what] for job, what, _ in made.checkpoints}
    time = made.total(steps)
    made.model.add(time <= problem.steps, "deadline")
    loss, time, application = _objectives(made, time)
    made.model.minimize([loss, problem.step_s * time, application])
    return Encoding(made.model, made.read, made.write, ties=1)


def shared(problem: Eviction) -> Encoding:
    """Make the formulation in which checkpoints are written in parallel, within the bandwidth of the file system."""
    made = _strategy_variables(problem)
    intervals = [(job, v) for job, _, v in made.checkpoints if isinstance(v, Interval)]
    demands, capacity = _whole_units(problem)
    if sum(demands[job] for job in {job for job, _ in intervals}) > capacity:
        made.model.add(
            sl.cumulative([v for _, v in intervals], [demands[j] for j, _ in intervals], capacity), "bandwidth"
        )
    last = sl.max([v.end for _, v in intervals]) if intervals else sl.sum([])
    loss, last, application = _objectives(made, last.linear())
    made.model.minimize([loss, problem.step_s * last, application])
    return Encoding(made.model, made.read, made.write, ties=1)


def _whole_units(problem: Eviction) -> tuple[dict[str, int], int]:
    """Return the bandwidth of each job and of the file system as the smallest integers that need no rounding.

    If these are greater than solvers accept, they are rounded such that every solution stays feasible.
    """
    draws = {c.id: Fraction(str(c.mb_s or 0)) for c in problem.candidates}
    total = Fraction(str(problem.file_system_mb_s or 0))
    scale = Fraction(lcm(total.denominator, *(d.denominator for d in draws.values())))
    scale /= gcd(int(total * scale), *(int(d * scale) for d in draws.values())) or 1
    scale = min(scale, MOST_UNITS / total) if total else scale
    return {job: -int(-d * scale // 1) for job, d in draws.items()}, int(total * scale)
