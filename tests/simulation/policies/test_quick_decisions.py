"""How CP dispatchers keep decisions short: the stop of a search, nodes in the order of a relaxation."""

import time

import numpy as np
import pytest
import schedlab as sl
from schedlab.backends import Outcome
from schedlab.instances import Workload
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Schedule
from schedlab.models.language import Assignment
from schedlab.simulation import CPDispatcher
from schedlab.simulation.dispatchers.cp import control
from schedlab.simulation.dispatchers.cp.control import Control, search

DAY = sl.load("eurora_99").dispatch


class Improving:
    """A solver each of whose runs finds the next one of some values of the objective."""

    exactness = sl.compile(sl.Model("empty"), "cpsat").exactness

    def __init__(self, model, x, values):
        self.model, self.x, self.values, self.lengths = model, x, iter(values), []

    def run(self, watch, limits, warm=None):
        self.lengths.append(limits.time)
        found = Assignment(self.model)
        found.integer[self.x.index] = next(self.values)
        watch.solution(found)
        return Outcome("feasible")


@pytest.mark.parametrize(
    ("values", "steps"),
    [([10_000], 1), ([9_998, 9_000], 1), ([9_900, 9_899], 2), ([9_000, 8_000, 7_000, 7_000], 4)],
)
def test_a_search_ends_with_the_first_step_that_gains_next_to_nothing(values, steps):
    model = sl.Model("one integer")
    x = model.integer("x", 0, 10_000)
    model.minimize(x)
    start = Assignment(model)
    start.integer[x.index] = 10_000
    solver = Improving(model, x, values)
    found = search(solver, model, start, Control(1, 1000), 0, time.perf_counter() + 1000)
    assert solver.lengths == [2**k for k in range(steps)]
    assert found.ended == "no-gain"
    assert found.best.integer[x.index] == values[steps - 1]  # a small gain ends the search, and is kept


def pair(nodes=3, long=9):
    """The short job fits beside the wide one only if it goes before the long one; each unit takes a whole node."""
    jobs = [
        Job("long", 0, long, 2, {"cores": 4}, "q", runtime=long),
        Job("short", 0, 1, 2, {"cores": 4}, "q", runtime=1),
        Job("narrow", 0, long, 1, {"cores": 4}, "q", runtime=long),
    ]
    return Dispatch(Platform([NodeGroup("n", nodes, {"cores": 4})]), jobs, [Queue("q", 10)], "slowdown")


def placed_on(problem, tried):
    """The function that places the jobs one after the other on whole nodes, by hand."""

    def placed(order):
        tried.append(order.tolist())
        names = problem.platform.nodes
        free, start, nodes = dict.fromkeys(names, 0), {}, {}
        for k in order.tolist():
            job = problem.jobs[k]
            chosen = sorted(names, key=lambda n: free[n])[: job.units]
            start[job.id] = max(free[n] for n in chosen)
            nodes[job.id] = dict.fromkeys(chosen, 1)
            free |= dict.fromkeys(chosen, start[job.id] + job.walltime)
        return Schedule(start, nodes)

    return placed


def test_nodes_in_the_order_of_the_relaxation_are_optimal_where_units_take_whole_nodes():
    """By hand: short 0-1, narrow 0-9, long 1-10 has slowdown 1 + 1 + 10/9; the model of the nodes is never made."""
    problem, tried = pair(), []
    placed = placed_on(problem, tried)
    start = placed(np.arange(3))
    solver = control.Solver("cpsat", "counts", Control(1, 1e-9, deterministic=True, patience=9), False)
    roomy = control.Solver("cpsat", "counts", Control(0.5, 1, deterministic=True), False)
    found = roomy.solve_relaxed_first(problem, placed, lambda: start, 1, 0.0, 3)
    assert found.ended == "optimal"
    assert problem.value(found.schedule) == pytest.approx(3 + 1 / 9)
    assert tried == [[0, 1, 2], [1, 2, 0]]
    assert not found.relaxation
    assert found.gain > 0
    short = solver.solve_relaxed_first(
        problem, placed, lambda: start, 1, 0.0, 3
    )  # no time: the start, or the order found
    assert problem.value(short.schedule) <= problem.value(start)


def test_pcp_is_optimal_at_once_on_whole_nodes():
    """A replay of the same three jobs: the answer of the dispatcher is the known optimum, on nodes that do not overlap."""
    run = sl.simulate(pair(), dispatcher=CPDispatcher("pcp", 3, deterministic=1))
    assert run.violations == []
    assert dict(zip(run.workload.ids, run.start.tolist(), strict=True)) == {"long": 1, "short": 0, "narrow": 0}


def test_a_model_of_the_nodes_is_made_only_if_it_is_small_for_the_limit(monkeypatch):
    """Numbers of units are jobs times nodes: at most 3,000 for each unit of the limit."""
    made, modelled = [], control.modelled

    def noted(problem, formulation, *rest):
        if formulation == "counts":
            made.append((len(problem.jobs) - 5) * len(problem.platform.nodes))  # beside at most 5 urgent jobs
        return modelled(problem, formulation, *rest)

    control.warm_up("cpsat", "counts")
    monkeypatch.setattr(control, "modelled", noted)
    morning = Workload.of(DAY).first(60)
    sl.simulate(morning, DAY.platform, CPDispatcher("pcp", 3, deterministic=0.001))  # 3 numbers, 4 nodes
    assert made == []
    sl.simulate(morning, DAY.platform, CPDispatcher("pcp", 3, deterministic=0.01))
    assert 0 < max(made) <= control.VARIABLES * 0.01


def test_a_schedule_on_the_nodes_is_made_only_if_the_pooled_machine_gives_none_or_the_model_is_late(monkeypatch):
    problem, made = pair(), []
    placed = placed_on(problem, made)

    def start():
        return placed(np.arange(3))

    solver = control.Solver("cpsat", "pool", Control(0.5, 1, deterministic=True), False)
    on_pool = Schedule({"long": 0, "short": 10, "narrow": 10})
    found = solver.solve(problem, start, 1, 0.0, 3, lambda: on_pool)
    assert found.ended == "optimal" and problem.value(found.schedule) == pytest.approx(3 + 1 / 9)
    assert made == []
    solver.solve(problem, start, 1, 0.0, 3, lambda: None)
    assert made == [[0, 1, 2]]
    monkeypatch.setattr(control, "modelled", lambda *rest: None)
    late = solver.solve(problem, start, 1, 0.0, 3, lambda: on_pool)
    assert late.ended == "limit" and late.schedule.nodes
    assert len(made) == 2
