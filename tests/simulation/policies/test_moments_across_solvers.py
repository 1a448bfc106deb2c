"""All solvers prove the same optimum of the dispatch problem of a moment, and complete enumeration agrees."""

import itertools
import random
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import schedlab as sl
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running, Schedule
from schedlab.simulation import Moment
from schedlab.simulation.dispatchers.cp import Register, problem_of, running_usage

QUEUES = (Queue("debug", 2), Queue("parallel", 5), Queue("long", 11))
RESOURCES = ("cores", "memory", "gpus")
NOW = 40
SAME = 1e-6  # relative


@dataclass(frozen=True)
class Case:
    """The options of a random moment.

    ``late``: a job runs longer than expected; ``naive``: the model omits it; ``chunks``: every second job has two chunks.
    """

    seed: int
    aim: str
    formulation: str
    resources: int
    jobs: int = 4
    late: bool = False
    naive: bool = False
    calendar: bool = False
    chunks: bool = False

    def __str__(self) -> str:
        marks = [m for m in ("late", "naive", "calendar", "chunks") if getattr(self, m)]
        return "-".join([self.formulation, self.aim, f"{self.resources}r", *marks])


CASES = (
    Case(1, "slowdown", "pool", 1, jobs=5),
    Case(2, "queue-priority-wait", "pool", 2, jobs=5, late=True, calendar=True),
    Case(3, "weighted-tardiness", "pool", 3, jobs=5, late=True, naive=True),
    Case(4, "slowdown", "counts", 2, late=True),
    Case(5, "queue-priority-wait", "counts", 3, calendar=True),
    Case(16, "weighted-tardiness", "counts", 2, late=True, naive=True),
    Case(7, "slowdown", "units", 3, late=True, calendar=True),
    Case(18, "weighted-tardiness", "units", 1),
    Case(21, "slowdown", "pool", 2, jobs=5, chunks=True),
    Case(22, "queue-priority-wait", "counts", 2, late=True, chunks=True),
    Case(23, "slowdown", "units", 2, chunks=True),
)
TINY = (
    Case(11, "slowdown", "counts", 2, jobs=3, late=True),
    Case(12, "weighted-tardiness", "units", 1, jobs=3),
    Case(24, "slowdown", "counts", 1, jobs=3, chunks=True),
)


def moment_of(case: Case) -> Moment:
    """Draw small jobs, two or three of them running, on two nodes of one class and one node of another."""
    draw = random.Random(case.seed)
    names = RESOURCES[: case.resources]
    kinds = ({"cores": 4, "memory": 6, "gpus": 2}, {"cores": 6, "memory": 4, "gpus": 0})
    groups = [NodeGroup(n, k, {r: c[r] for r in names}) for n, k, c in zip("ab", (2, 1), kinds, strict=True)]
    platform = Platform(groups)
    highest = {"cores": 4, "memory": 4, "gpus": 1}

    def job(name: str) -> Job:
        request = {r: draw.randint(int(r == "cores"), highest[r]) for r in names}
        units = draw.randint(1, 2)
        made = Job(name, draw.randint(NOW - 12, NOW), draw.randint(1, 5), units, request, draw.choice(QUEUES).name)
        if not case.chunks or int(name[1:]) % 2:
            return made
        chunks = [(units, request), (1, {r: draw.randint(int(r == "cores"), 2) for r in names})]
        return Job.of_chunks(name, made.submit, made.walltime, chunks, made.queue)

    free = np.array(list(platform.capacity.values()), np.int64)
    running = []
    for k, node in enumerate(platform.nodes[: 2 + case.seed % 2]):
        one = Job(f"r{k}", 0, 50, 1, {"cores": draw.randint(2, 4)}, "long")
        end = NOW - draw.randint(1, 3) if case.late and not k else NOW + draw.randint(1, 4)
        running.append(Running(one, NOW - 9, {node: 1}, end))
        free[k, 0] -= one.request["cores"]
    waiting = tuple(job(f"j{k}") for k in range(case.jobs))
    expected = {j.id: j.walltime for j in waiting} | {r.job.id: r.end - r.start for r in running}
    return Moment(NOW, platform, QUEUES, waiting, expected, np.ones(case.jobs, np.bool_), tuple(running), free)


def problem_at(case: Case) -> Dispatch:
    """Return the problem of a CP dispatcher; with ``calendar``, odd jobs may not start from NOW + 3 to NOW + 6."""
    moment = moment_of(case)
    jobs = Register(moment.platform, moment.queues).allowed(moment)
    usage = running_usage(moment, case.naive).modelled
    last = max([NOW, *usage[1].tolist()]) + int(jobs.duration.sum())
    always, pause = ((NOW, last),), ((NOW, NOW + 2), (NOW + 7, last))
    windows = [pause if case.calendar and k % 2 else always for k in range(case.jobs)]
    return problem_of(moment, jobs, windows, usage, case.aim)


@cache
def proven(case: Case, backend: str, lowering: str = "") -> float | None:
    """Return the proven optimum of the model; None if this edition of the solver does not accept the model."""
    encoding = problem_at(case).formulations[case.formulation]()
    options = {"grid": {"grid": 1}, "pairwise": {"lowering": "pairwise"}, "": {}}[lowering]
    found = sl.solve(encoding.model, backend=backend, threads=1, time_limit=60, **options)
    if found.status == "unavailable":
        return None
    assert (found.status, found.violations, found.exactness.kind) == ("optimal", [], "exact"), found.message
    if not encoding.relaxation:
        schedule = encoding.read(found.assignment)
        assert problem_at(case).verify(schedule) == []
        assert problem_at(case).value(schedule) == pytest.approx(found.objective, rel=SAME)
    return float(found.objective)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_moments_are_not_trivial(case):
    """At least one job must wait: the optimum is worse than the value of all jobs starting now."""
    problem = problem_at(case)
    at_once = problem.value(Schedule({j.id: NOW for j in problem.jobs}))
    assert proven(case, "cpsat") > at_once * (1 + SAME)


@pytest.mark.parametrize("lowering", ["pairwise", "grid"])
@pytest.mark.parametrize("case", [*CASES, *TINY], ids=str)
def test_cpsat_and_highs_prove_the_same_optimum(case, lowering):
    assert proven(case, "highs", lowering) == pytest.approx(proven(case, "cpsat"), rel=SAME)


def test_cp_optimizer_proves_the_same_optimum_of_what_its_edition_takes():
    here = sl.backends.available()["cpo"]
    if not here.ok:
        pytest.skip(here.reason)
    taken = {case: value for case in (*CASES, *TINY) if (value := proven(case, "cpo")) is not None}
    assert len(taken) >= 9, "the moments are too large for the community edition"
    for case, value in taken.items():
        assert value == pytest.approx(proven(case, "cpsat"), rel=SAME), str(case)


@pytest.mark.parametrize("case", TINY, ids=str)
def test_no_schedule_of_a_tiny_moment_is_better(case):
    assert best_of_all(problem_at(case)) == pytest.approx(proven(case, "cpsat"), rel=SAME)


def best_of_all(problem: Dispatch) -> float:
    """Return the smallest objective of all starts and allocations that ``verify`` accepts."""
    names = [j.id for j in problem.jobs]
    choices = [
        [t for lo, hi in problem.start_windows(j) for t in range(lo, min(hi, NOW + 13) + 1)] for j in problem.jobs
    ]
    parts = [part.id for j in problem.jobs for part in j.parts]
    alone = [allocations(problem, part) for j in problem.jobs for part in j.parts]
    valued = [
        (problem.value(Schedule(start)), start)
        for start in (dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*choices))
    ]
    for value, start in sorted(valued, key=lambda pair: pair[0]):
        for allocation in itertools.product(*alone):
            if not problem.verify(Schedule(start, dict(zip(parts, allocation, strict=True)))):
                return value
    raise AssertionError("no schedule is feasible")


def allocations(problem: Dispatch, job: Job) -> list[dict[str, int]]:
    """Return all allocations of the job on the empty machine."""
    counts = itertools.product(range(job.units + 1), repeat=len(problem.platform.nodes))
    nodes = [dict(zip(problem.platform.nodes, w, strict=True)) for w in counts if sum(w) == job.units]
    idle = problem.replace(jobs=[job], running=())
    return [n for n in nodes if not idle.verify(Schedule({job.id: NOW}, {job.id: n}))]
