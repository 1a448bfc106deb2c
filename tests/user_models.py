"""A formulation in a user's own code, on four backends: the code of ``docs/reference/own_code.md``, with its types."""

from __future__ import annotations

import schedlab as sl
from schedlab.backends import Compiled
from schedlab.models import Encoding
from schedlab.models.language import Interval


def small() -> sl.Dispatch:
    """Return three jobs on two nodes, as a problem."""
    machine = sl.Platform([sl.NodeGroup("n", 2, {"cores": 4})])
    work = [("a", 2, 3, 50), ("b", 1, 2, 30), ("c", 2, 1, 40)]  # units, cores of each, seconds
    jobs = [sl.Job(name, 0, seconds, units, {"cores": cores}, "q") for name, units, cores, seconds in work]
    return sl.Dispatch(machine, jobs, [sl.Queue("q", 600)], "waiting")


def prepared(problem: sl.Dispatch, formulation: str) -> tuple[Encoding, dict[str, Interval]]:
    """Return a formulation, and the intervals of its jobs."""
    encoding = problem.formulations[formulation]()
    return encoding, {v.name: v for v in encoding.model.intervals}


def with_cpsat(compiled: Compiled, a: Interval, b: Interval) -> sl.Assignment:
    """Let b start after a has ended, in CP-SAT."""
    from ortools.sat.python import cp_model

    compiled.native.add(compiled.var(b).start >= compiled.var(a).end)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = 20
    solver.solve(compiled.native)
    return compiled.assignment(solver)


def with_highs(compiled: Compiled, a: Interval, b: Interval) -> sl.Assignment:
    """The same in HiGHS: start of b - start of a >= size of a."""
    start = [compiled.var(v).start for v in (b, a)]
    compiled.native.addRow(float(a.size_lo), 1e30, 2, start, [1.0, -1.0])
    compiled.native.run()
    return compiled.assignment(compiled.native)


def with_cpo(compiled: Compiled, a: Interval, b: Interval) -> sl.Assignment:
    """The same in CP Optimizer."""
    from docplex.cp.model import end_before_start
    from schedlab.backends.cpo import find_engine

    compiled.native.add(end_before_start(compiled.var(a), compiled.var(b)))
    answer = compiled.native.solve(execfile=find_engine(), LogVerbosity="Quiet", TimeLimit=20)
    return compiled.assignment(answer)


def with_pyomo(compiled: Compiled, a: Interval, b: Interval) -> sl.Assignment:
    """The same in Pyomo."""
    from pyomo import environ

    rule = compiled.var(b).start >= compiled.var(a).start + a.size_lo
    compiled.native.own = environ.Constraint(expr=rule)
    environ.SolverFactory("appsi_highs").solve(compiled.native)
    return compiled.assignment(compiled.native)


SOLVE = {"cpsat": with_cpsat, "highs": with_highs, "pyomo": with_pyomo, "cpo": with_cpo}


def compiled(model: sl.Model, backend: str) -> Compiled:
    """Compile a model; in the linear backends, each interval has a variable of its start only with order variables."""
    if backend in ("highs", "pyomo"):
        return sl.compile(model, backend, lowering="pairwise")
    return sl.compile(model, backend)


def answer(problem: sl.Dispatch, backend: str) -> sl.Schedule:
    """Return a verified schedule of the problem in which b starts after a has ended."""
    encoding, job = prepared(problem, "counts")
    assignment = SOLVE[backend](compiled(encoding.model, backend), job["a"], job["b"])
    schedule = encoding.read(assignment)
    assert encoding.model.check(assignment) == [] and problem.verify(schedule) == []
    return schedule
