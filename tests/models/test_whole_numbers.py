"""Times, units and capacities that are no whole numbers are refused with a name, in problems and schedules."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from schedlab.instances import Workload, WorkloadError
from schedlab.models import (
    BatchJob,
    Cooling,
    Dispatch,
    Eviction,
    EvictionCandidate,
    EvictionPlan,
    Job,
    Mode,
    NodeGroup,
    Platform,
    ProblemError,
    Profit,
    Project,
    Queue,
    Resource,
    Running,
    Schedule,
    StepFunction,
    Task,
)
from schedlab.models.dispatch import whole_jobs

WRONG = [10.9, 10.0, 0.5, None, math.nan, math.inf, -math.inf, True, "5", np.float64(3), np.bool_(True), [1]]
MACHINE = Platform([NodeGroup("n", 2, {"cores": 4})])
QUEUES = [Queue("q", 60)]
JOB = Job("a", 0, 10, 1, {"cores": 2}, "q", runtime=10)
FLAT = Cooling("flat", (0, 40), (0, 1000), ((0, 500), (0, 500)))


def dispatch(*jobs, **more):
    return Dispatch(MACHINE, jobs or [JOB], QUEUES, **more)


def profit(**more):
    job = replace(JOB, power=100.0)
    values = {"price": 0.1, "energy_price": 0.5, "horizon_end": 7200, **more}
    return Profit(dispatch(job), StepFunction.constant(20, 0, 7200), FLAT, **values)


def workload(**columns):
    return replace(Workload.of(dispatch(JOB, replace(JOB, id="b"))), **columns)


MADE = {
    "job 'a': submit": lambda v: dispatch(replace(JOB, submit=v)),
    "job 'a': walltime": lambda v: dispatch(replace(JOB, walltime=v)),
    "job 'a': units": lambda v: dispatch(replace(JOB, units=v)),
    "job 'a': request of 'cores'": lambda v: dispatch(replace(JOB, request={"cores": v})),
    "job 'a': windows": lambda v: dispatch(replace(JOB, windows=((0, v),))),
    "running job 'r': walltime": lambda v: dispatch(
        running=[Running(replace(JOB, id="r", walltime=v), 0, {"n-1": 1}, 9)]
    ),
    "running job 'a': start": lambda v: dispatch(replace(JOB, id="b"), running=[Running(JOB, v, {"n-1": 1}, 9)]),
    "running job 'a': end": lambda v: dispatch(replace(JOB, id="b"), running=[Running(JOB, 0, {"n-1": 1}, v)]),
    "running job 'a': nodes of 'n-1'": lambda v: dispatch(
        replace(JOB, id="b"), running=[Running(JOB, 0, {"n-1": v}, 9)]
    ),
    "now": lambda v: dispatch(now=v),
    "queue 'q': ewt": lambda v: Queue("q", v),
    "queue 'q': daily": lambda v: Queue("q", 60, ((0, v),)),
    "node group 'n': count": lambda v: Platform([NodeGroup("n", v, {"cores": 4})]),
    "node group 'n': capacity of 'cores'": lambda v: Platform([NodeGroup("n", 1, {"cores": v})]),
    "resource 'saw': capacity": lambda v: Project([Task.single("cut", 3)], [Resource("saw", v)]),
    "task 'cut', mode 'fast': duration": lambda v: Project([Task("cut", (Mode("fast", v),))], []),
    "task 'cut', mode '1': demands of 'saw'": lambda v: Project(
        [Task.single("cut", 3, {"saw": v})], [Resource("saw", 9)]
    ),
    "precedence 'x' -> 'y': the delay": lambda v: Project(
        [Task.single("x", 3), Task.single("y", 3)], [], [("x", "y", v)]
    ),
    "nodes_needed": lambda v: Eviction([EvictionCandidate("a", 9, 1, 1, 1)], v, 900),
    "deadline_s": lambda v: Eviction([EvictionCandidate("a", 9, 1, 1, 1)], 1, v),
    "step_s": lambda v: Eviction([EvictionCandidate("a", 9, 1, 1, 1)], 1, 900, step_s=v),
    "job 'a': nodes": lambda v: Eviction([EvictionCandidate("a", v, 1, 1, 1)], 0, 900),
    "job 'a': loss": lambda v: Eviction([EvictionCandidate("a", 9, v, 1, 1)], 1, 900),
    "job 'a': start": lambda v: Eviction(
        [BatchJob("a", 1, v, None, None, 5, 0.5)], 0, 900, file_system_mb_s=1, node_mb_s=1
    ),
    "horizon_end": lambda v: profit(horizon_end=v),
    "a time of a step function": lambda v: StepFunction([0, 1], [5, 5], v),
    "job 'a': its start": lambda v: Schedule({"a": v}),
    "job 'a': its number of units on 'n-1'": lambda v: Schedule({"a": 0}, {"a": {"n-1": v}}),
    "job 'b': its start": lambda v: EvictionPlan({"b": "app"}, {"b": v}),
}
OPTIONAL = {
    "job 'a': earliest_start": lambda v: dispatch(replace(JOB, earliest_start=v)),
    "job 'a': deadline": lambda v: dispatch(replace(JOB, deadline=v)),
    "job 'a': runtime": lambda v: dispatch(replace(JOB, runtime=v)),
    "job 'a': next_checkpoint": lambda v: Eviction(
        [BatchJob("a", 1, 0, None, v, 5, 0.5)], 0, 900, file_system_mb_s=1, node_mb_s=1
    ),
}
NUMBERS = {
    "the price": lambda v: profit(price=v),
    "the energy price": lambda v: profit(energy_price=v),
    "job 'a': its power": lambda v: Profit(
        dispatch(replace(JOB, power=v)), StepFunction.constant(20, 0, 7200), FLAT, 0.1, 0.5, 7200
    ),
    "cooling 'x'": lambda v: Cooling("x", (0,), (0, 1), ((0, v),)),
    "a step function has the value": lambda v: StepFunction([0], [v], 5),
    "job 'a': application_share": lambda v: Eviction(
        [BatchJob("a", 1, 0, None, None, 5, v)], 0, 900, file_system_mb_s=1, node_mb_s=1
    ),
    "file_system_mb_s": lambda v: Eviction([EvictionCandidate("a", 9, 1, 1, 1)], 1, 900, file_system_mb_s=v),
    "job 'a': system_s": lambda v: Eviction([EvictionCandidate("a", 9, 1, v, 1)], 1, 900),
}


@pytest.mark.parametrize("where", MADE)
def test_what_is_no_whole_number_is_refused_with_its_place(where):
    for value in WRONG:
        with pytest.raises(ProblemError) as caught:
            MADE[where](value)
        assert str(caught.value).startswith(where)
        assert "whole number" in str(caught.value)


@pytest.mark.parametrize("where", OPTIONAL)
def test_optional_numbers_may_be_none_but_nothing_else(where):
    OPTIONAL[where](None)
    for value in [v for v in WRONG if v is not None]:
        with pytest.raises(ProblemError, match=where):
            OPTIONAL[where](value)


@pytest.mark.parametrize("where", NUMBERS)
def test_what_may_be_a_fraction_is_a_finite_number(where):
    NUMBERS[where](0.5)
    for value in (math.nan, math.inf, True, "5", [1]):
        with pytest.raises(ProblemError, match=where):
            NUMBERS[where](value)


def test_numpys_integers_become_pythons():
    k = np.int32
    job = Job("a", k(0), k(10), k(1), {"cores": k(2)}, "q", k(0), k(99), ((k(0), k(9)),), k(10))
    machine = Platform([NodeGroup("n", k(2), {"cores": k(4)})])
    p = Dispatch(machine, [job], [Queue("q", k(60), ((k(0), k(9)),))], now=k(0))
    made = p.jobs[0]
    numbers = [made.submit, made.walltime, made.units, *made.request.values(), made.earliest_start, made.deadline]
    numbers += [*made.windows[0], made.runtime, p.now, p.queues[0].ewt, *p.queues[0].daily[0], machine.groups[0].count]
    schedule = Schedule({"a": k(3)}, {"a": {"n-1": k(1)}})
    project = Project([Task.single("t", k(3), {"r": k(1)})], [Resource("r", k(1))])
    numbers += [*schedule.start.values(), schedule.nodes["a"]["n-1"], project.tasks[0].longest, project.capacity["r"]]
    eviction = Eviction([EvictionCandidate("a", k(9), k(1), 1, 1)], k(1), k(900))
    numbers += [eviction.candidates[0].nodes, eviction.candidates[0].loss, eviction.deadline_s]
    assert {type(n) for n in numbers} == {int}
    assert type(job.submit) is k  # what was given stays as it is
    assert p.verify(schedule) == []


def test_a_float_that_is_whole_is_refused_with_the_right_form():
    with pytest.raises(ProblemError, match=r"walltime is 10\.0, a float; a whole number is expected: write 10"):
        dispatch(replace(JOB, walltime=10.0))


def test_all_jobs_are_reported_up_to_ten():
    with pytest.raises(ProblemError) as caught:
        dispatch(*(replace(JOB, id=f"j{k}", units=0.5) for k in range(12)))
    assert str(caught.value).count("units is 0.5") == 10
    assert str(caught.value).endswith("... and 2 more")


@pytest.mark.parametrize("value", [v for v in WRONG if v is not None])
def test_a_schedule_changed_later_is_not_valid(value):
    jobs, project = dispatch(), Project([Task.single("a", 3)], [])
    eviction = Eviction(
        [EvictionCandidate("a", 9, 1, 60, 60, mb_s=1)], 1, 900, file_system_mb_s=1, shared_bandwidth=True
    )
    for problem, schedule in (
        (jobs, Schedule({"a": 0}, {"a": {"n-1": 1}})),
        (profit(), Schedule({"a": 0}, {"a": {"n-1": 1}})),
        (project, Schedule({"a": 0}, {})),
        (eviction, EvictionPlan({"a": "sys"}, {"a": 0})),
    ):
        assert problem.verify(schedule) == []
        schedule.start["a"] = value
        (found,) = problem.verify(schedule)
        assert "job 'a': its start is" in found.message


def test_units_of_a_schedule_changed_later_are_not_valid():
    schedule = Schedule({"a": 0}, {"a": {"n-1": 1}})
    schedule.nodes["a"]["n-1"] = 1.0
    assert "units on 'n-1' is 1.0" in dispatch().verify(schedule)[0].message


@pytest.mark.parametrize("columns", ["submit", "runtime", "walltime", "units", "release", "recorded_start", "request"])
def test_a_workload_names_the_job(columns):
    known = getattr(workload(), columns)
    for value in (10.9, 10.0, math.nan, math.inf):
        changed = known.astype(float)
        changed[1] = value
        name = "a" if value == 10.0 else "b"  # in floats that are all whole, the first job
        with pytest.raises(WorkloadError, match=rf"job '{name}': {columns} is"):
            workload(**{columns: changed})
    for value in (None, True, "x"):
        changed = known.astype(object)
        changed[1] = value
        with pytest.raises(WorkloadError, match=rf"job 'b': {columns} is"):
            workload(**{columns: changed})
    assert (
        getattr(workload(**{columns: known.astype(np.uint8) if columns != "recorded_start" else known}), columns).dtype
        == np.int64
    )


def test_windows_of_a_workload_are_whole():
    with pytest.raises(WorkloadError, match="job 'b': windows"):
        workload(windows={1: ((0, 0.5),)})


def test_the_period_of_a_replay_is_whole():
    for period in (1.5, 10.0, math.nan, True, "5"):
        with pytest.raises(ValueError, match="period"):
            sl.simulate(workload(), MACHINE, "fcfs", period=period)


@pytest.mark.parametrize("live", [False, True])
def test_predicted_durations_are_whole(live):
    class Half:
        name, notes = "half", ()

        def begin(self, jobs):
            return None if live else jobs.walltime / 2

        def predict(self, job):
            return 7.5

        def learn(self, job, runtime):
            return ()

    with pytest.raises(sl.SimulationError, match=r"predictor half: the duration of job 'a' is"):
        sl.simulate(workload(), MACHINE, "fcfs", predictor=Half())


def test_the_check_is_a_small_part_of_making_a_problem():
    jobs = [replace(JOB, id=f"j{k}") for k in range(5000)]

    def seconds(made):
        took = []
        for _ in range(5):
            begin = time.perf_counter()
            made()
            took.append(time.perf_counter() - begin)
        return min(took)

    assert seconds(lambda: whole_jobs(tuple(jobs), (), 0)) < 0.5 * seconds(lambda: dispatch(*jobs))
