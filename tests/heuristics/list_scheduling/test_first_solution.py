"""The compiled list scheduler against a textbook version in plain Python, and against [Bridi2018]."""

import random
from itertools import pairwise

import pytest
from draws import some_now
from schedlab.heuristics import (
    ORDERINGS,
    CriterionUnusable,
    ListScheduler,
    NoSchedule,
    UnknownOrder,
    first_solution,
    order_by,
)
from schedlab.heuristics.arrays import arrays
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running, Schedule

HOUR, DAY = 3600, 86400
QUEUE = Queue("q", 100)


def job(name, duration, units=1, *, submit=0, queue="q", deadline=None, windows=(), earliest=None, **request):
    return Job(name, submit, duration, units, request, queue, earliest, deadline, windows)


def cluster(nodes=1, cores=4):
    return Platform([NodeGroup("n", nodes, {"cores": cores})])


# --- the textbook scheduler -------------------------------------------------------------------------------------


class Textbook:
    """List scheduling in plain Python: tries every time at which a window opens or a job ends, node by node."""

    def __init__(self, problem):
        self.p = problem
        self.taken = [(r.start, r.end, n, u, r.job) for r in problem.running for n, u in r.nodes.items()]

    def free(self, node, t):
        amounts = dict(zip(self.p.platform.resources, self.p.platform.capacity[node], strict=True))
        for start, end, n, units, other in self.taken:
            if n == node and start <= t < end:
                for resource, amount in other.request.items():
                    amounts[resource] -= units * amount
        return amounts

    def units_on(self, node, job, start):
        end, fit = start + self.p.duration(job), job.units
        moments = [start, *(s for s, _, n, _, _ in self.taken if n == node and start < s < end)]
        for t in moments:
            amounts = self.free(node, t)
            for resource, asked in job.request.items():
                if asked:
                    fit = min(fit, max(0, amounts[resource] // asked))
        return fit

    def earliest(self, job):
        windows = self.p.start_windows(job)
        ends = [end for _, end, _, _, _ in self.taken]
        for t in sorted({lo for lo, _ in windows} | set(ends)):
            if any(lo <= t <= hi for lo, hi in windows):
                fits = {n: self.units_on(n, job, t) for n in self.p.platform.nodes}
                if self.p.duration(job) == 0 or sum(fits.values()) >= job.units:
                    return t
        return None

    def put(self, job, start, nodes):
        self.taken += [(start, start + self.p.duration(job), n, u, job) for n, u in nodes.items()]


def random_problem(seed):
    """Return a problem with two kinds of nodes, running jobs, calendars, windows, deadlines, zero runtimes."""
    rng = random.Random(seed)
    groups = [NodeGroup("cpu", rng.randint(1, 3), {"cores": 4, "mem": 8})]
    if rng.random() < 0.7:
        groups.append(NodeGroup("gpu", rng.randint(1, 2), {"cores": 4, "gpus": 2, "mem": 4}))
    platform = Platform(groups)
    now = rng.choice([0, 50, 70000])
    jobs = []
    for i in range(rng.randint(3, 14)):
        request = {"cores": rng.randint(0, 4), "mem": rng.choice([0, 1, 4])}
        if len(groups) > 1 and rng.random() < 0.3:
            request["gpus"] = rng.randint(1, 2)
        vector = [request.get(r, 0) for r in platform.resources]
        most = sum(platform.units_on(platform.capacity[n], vector) for n in platform.nodes)
        submit, runtime = rng.randint(0, 120), rng.choice([0, 7, 20, 33])
        windows = ((now + 10, now + 40), (now + 90, now + 2000)) if rng.random() < 0.2 else ()
        deadline = now + rng.randint(60, 400) if rng.random() < 0.2 else None
        queue = "night" if rng.random() < 0.2 else "q"
        units = rng.randint(1, max(1, min(6, most)))
        jobs.append(Job(f"j{i}", submit, max(1, runtime), units, request, queue, None, deadline, windows, runtime))
    held = job("held", 30, cores=2, mem=1)
    running = [Running(held, now - 10, {platform.nodes[0]: rng.randint(1, 2)}, now + rng.choice([-1, 0, 25]))]
    queues = [Queue("q", 100), Queue("night", 500, ((64800, 71000),))]
    durations = rng.choice(["walltime", "runtime"])
    return Dispatch(platform, jobs, queues, "waiting", now, running if rng.random() < 0.6 else (), durations)


@pytest.mark.parametrize("seed", some_now(range(250), 60))
def test_every_start_is_the_one_a_textbook_scheduler_finds(seed):
    problem = random_problem(seed)
    order = [j.id for j in problem.jobs]
    random.Random(seed).shuffle(order)
    jobs = {j.id: j for j in problem.jobs}
    try:
        found = first_solution(problem, order)
    except NoSchedule as failure:
        known = order[: order.index(failure.job)]
        found = first_solution(problem.replace(jobs=[jobs[i] for i in known]), known) if known else Schedule({})
        order = [*known, failure.job]
    textbook = Textbook(problem)
    for name in order:
        start = textbook.earliest(jobs[name])
        assert found.start.get(name) == start, f"job {name} after {order[: order.index(name)]}"
        if start is not None:
            textbook.put(jobs[name], start, found.nodes[name])
    if len(found.start) == len(jobs):
        assert problem.verify(found) == []


def test_a_crowded_day_is_the_same_in_any_company_of_knowledge():
    """Skipping hopeless times never changes a start: many equal and nested kinds of jobs."""
    rng = random.Random(5)
    jobs = [
        job(
            f"j{i}",
            rng.choice([10, 20, 40]),
            rng.choice([1, 2, 3]),
            submit=rng.randint(0, 50),
            cores=rng.choice([1, 2, 4]),
        )
        for i in range(60)
    ]
    problem = Dispatch(cluster(3), jobs, [QUEUE], "waiting")
    order = [j.id for j in jobs]
    found, textbook = first_solution(problem, order), Textbook(problem)
    for one in jobs:
        start = textbook.earliest(one)
        assert found.start[one.id] == start
        textbook.put(one, start, found.nodes[one.id])
    assert problem.verify(found) == []


# --- the thesis -------------------------------------------------------------------------------------------------

THESIS = Platform(
    [NodeGroup("gpu", 2, {"cores": 16, "gpus": 2, "mem": 16}), NodeGroup("mic", 2, {"cores": 16, "mics": 2, "mem": 16})]
)
TEST_1 = [  # [Bridi2018], table 4.2; cores, GPUs and MICs of a job are spread over its nodes
    job("1", 600, 2, cores=16, mics=2, mem=2),
    job("2", 60, 1, cores=1, gpus=2, mem=2),
    job("3", 720, 2, submit=5, cores=16, gpus=2, mem=2),
    job("4", 600, 2, submit=5, cores=16, gpus=1, mem=2),
]
TEST_2 = [  # [Bridi2018], table 4.6
    job("1", 70, 2, cores=16, mics=2, mem=2),
    job("2", 60, 1, cores=1, gpus=2, mem=2),
    job("3", 480, 2, submit=5, cores=16, mem=2),
    job("4", 600, 2, submit=5, cores=16, gpus=1, mem=2),
]


@pytest.mark.parametrize(
    ("jobs", "order", "starts", "last"),
    [
        (TEST_1, "1234", {"1": 0, "2": 0, "3": 60, "4": 780}, 1380),  # table 4.3, by GPUs; 4.5: 1380 s
        (TEST_1, "1243", {"1": 0, "2": 0, "3": 660, "4": 60}, 1380),  # table 4.4, by walltime
        (TEST_2, "1243", {"1": 0, "2": 0, "3": 70, "4": 60}, 660),  # table 4.7, by GPUs
        (TEST_2, "1234", {"1": 0, "2": 0, "3": 60, "4": 540}, 1140),  # table 4.8, by walltime
    ],
)
def test_motivating_examples_of_the_thesis(jobs, order, starts, last):
    problem = Dispatch(THESIS, jobs, [QUEUE], "makespan")
    found = first_solution(problem, list(order))
    assert problem.verify(found) == []
    assert found.start == starts
    assert problem.value(found) == last


# --- windows, deadlines, ties -----------------------------------------------------------------------------------


def test_a_calendar_holds_a_job_until_the_evening():
    night = Queue("night", 100, ((18 * HOUR, 32 * HOUR),))
    problem = Dispatch(cluster(), [job("a", HOUR, queue="night", cores=1)], [night], now=12 * HOUR)
    assert first_solution(problem).start == {"a": 18 * HOUR}
    early = Dispatch(cluster(), [job("a", HOUR, queue="night", cores=1)], [night], now=3 * HOUR)
    assert first_solution(early).start == {"a": 3 * HOUR}


def test_a_job_passes_a_night_that_is_full():
    night = Queue("night", 100, ((18 * HOUR, 32 * HOUR),))
    jobs = [job("long", 30 * HOUR, cores=4), job("a", HOUR, queue="night", cores=1)]
    problem = Dispatch(cluster(), jobs, [night, QUEUE], now=10 * HOUR)
    assert first_solution(problem, ["long", "a"]).start["a"] == 42 * HOUR  # 18:00 of the second day


def test_windows_that_cut_the_time_into_pieces_leave_room_after_them():
    short = [job(f"a{i}", 1, cores=4, windows=((100 * i, 100 * i),)) for i in range(1, 11)]
    problem = Dispatch(cluster(), [*short, job("b", 150, cores=4)], [QUEUE])
    assert first_solution(problem, [*(j.id for j in short), "b"]).start["b"] == 1001


def test_what_cannot_meet_its_deadline_is_named():
    jobs = [job("long", 100, cores=4), job("urgent", 10, cores=1, deadline=50)]
    problem = Dispatch(cluster(), jobs, [QUEUE])
    with pytest.raises(NoSchedule, match=r"'urgent'.*deadline 50.*\[0, 40\]") as failure:
        first_solution(problem, ["long", "urgent"])
    assert failure.value.job == "urgent"
    assert first_solution(problem, ["urgent", "long"]).start == {"urgent": 0, "long": 10}


def test_ends_come_before_starts():
    problem = Dispatch(cluster(), [job("a", 10, cores=4), job("b", 10, cores=4)], [QUEUE])
    assert first_solution(problem, "est").start == {"a": 0, "b": 10}


def test_a_gap_before_a_running_job_ends_is_used():
    held = Running(job("r", 50, cores=3), 0, {"n-1": 1}, 50)
    problem = Dispatch(cluster(), [job("wide", 10, cores=2), job("slim", 10, cores=1)], [QUEUE], now=20, running=[held])
    assert first_solution(problem, "est").start == {"wide": 50, "slim": 20}


def test_jobs_without_accelerators_leave_those_in_demand_alone():
    plain, gpu = job("plain", 10, cores=16), [job(f"g{i}", 10, cores=1, gpus=2) for i in range(4)]
    problem = Dispatch(THESIS, [plain, *gpu], [QUEUE])
    (node,) = first_solution(problem, "est").nodes["plain"]
    assert node.startswith("mic")


# --- orders -----------------------------------------------------------------------------------------------------

ORDERED = Dispatch(
    cluster(4, 8),
    [
        job("a", 30, 1, submit=3, cores=8),
        job("b", 10, 4, submit=2, cores=1, deadline=500),
        job("c", 20, 2, submit=1, cores=4, earliest=9),
        job("d", 20, 1, submit=0, cores=8),
    ],
    [QUEUE],
)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("est", "dbac"),
        ("-est", "cabd"),
        ("duration", "bdca"),  # c and d are equal: d was submitted first
        ("-duration", "adcb"),
        ("units", "dacb"),
        ("request", "bcda"),
        ("total", "bdca"),
        ("area", "bdca"),
        ("-area", "adcb"),
        ("node-area", "dacb"),  # 20, 30, 40, 40 unit-seconds
        ("weighted-area", "dacb"),  # one queue: equal weights
        ("submit-weighted-area", "dacb"),
        ("power", "dcba"),
        ("power-per-profit", "dcba"),
        ("power-per-profit.duration", "dcba"),
        ("power-per-profit.-duration", "dcab"),
        ("-power-per-profit.duration", "bacd"),
    ],
)
def test_criteria_order_jobs(order, expected):
    power, profit = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}, {"a": 2.0, "b": 1.5, "c": 2.0, "d": 2.0}
    prepared = arrays(ORDERED, power, profit)
    assert "".join(ORDERED.jobs[j].id for j in order_by(prepared, order)) == expected


def weighing(objective):
    """Return three jobs of 100, 50 and 60 unit-seconds on 4 nodes whose waits cost 1/100, 1/10 and 1/100 a second."""
    queues = [Queue("slow", 100), Queue("fast", 10)]
    jobs = [
        job("a", 50, 2, cores=4, queue="slow"),
        job("b", 50, 1, submit=30, cores=4, queue="fast"),
        job("c", 20, 3, submit=40, cores=4, queue="slow"),
    ]
    return arrays(Dispatch(cluster(4, 4), jobs, queues, objective))


@pytest.mark.parametrize(
    ("objective", "order", "expected"),
    [
        ("weighted-wait", "node-area", "bca"),
        ("weighted-wait", "weighted-area", "bca"),  # 10,000, 500, 6,000
        ("weighted-wait", "submit-weighted-area", "abc"),  # 19, 31, 51: 0.25 * 210 / 4 / 5,500 = 0.0024 s each
        ("makespan", "weighted-area", "bca"),  # weights 1: 100, 50, 60
        ("makespan", "submit-weighted-area", "abc"),
        ("weighted-tardiness", "submit-weighted-area", "bac"),  # waits cost from 100, 40 and 140 s on
    ],
)
def test_areas_are_weighted_by_the_declared_cost_of_waiting(objective, order, expected):
    prepared = weighing(objective)
    assert "".join(prepared.problem.jobs[j].id for j in order_by(prepared, order)) == expected


def test_latest_start_is_the_deadline_less_the_duration_or_the_horizon_less_it():
    problem = Dispatch(cluster(), [job("a", 30, cores=1), job("b", 10, cores=1, deadline=25)], [QUEUE])
    assert first_solution(problem, "lst").start.keys() == {"a", "b"}
    assert [problem.jobs[j].id for j in order_by(arrays(problem), "lst")] == ["a", "b"]  # 40 - 30 before 25 - 10
    assert [problem.jobs[j].id for j in order_by(arrays(problem), "-lst")] == ["b", "a"]


def test_there_are_fourteen_criteria_in_two_directions():
    assert len(ORDERINGS) == 28
    assert all(f"-{a}" == b for a, b in list(pairwise(ORDERINGS))[::2])


@pytest.mark.parametrize(
    ("order", "says"),
    [
        ("durations", "did you mean duration"),
        (["a", "b", "c"], "'d' is missing"),
        (["a", "b", "c", "c"], "'c' more than once"),
        (["a", "b", "c", "x"], "'x', which is not a job"),
    ],
)
def test_a_wrong_order_is_rejected(order, says):
    with pytest.raises(UnknownOrder, match=says):
        first_solution(ORDERED, order)


def test_a_criterion_says_what_it_lacks():
    with pytest.raises(CriterionUnusable, match="power of the jobs is not known"):
        first_solution(ORDERED, "-power")


@pytest.mark.parametrize("order", [[], "est"])
def test_no_jobs_no_work(order):
    assert first_solution(Dispatch(cluster(), [], [QUEUE]), order) == Schedule({}, {})


@pytest.mark.parametrize(
    "aim",
    ["makespan", "waiting", "weighted-wait", "weighted-tardiness", "late-jobs", "queue-priority-wait", "slowdown"],
)
def test_the_kernel_knows_every_objective(aim):
    for seed in range(20):
        problem = random_problem(seed).replace(objective=aim)
        problem = problem.replace(jobs=[j for j in problem.jobs if j.deadline is None and not j.windows])
        if not problem.jobs:
            continue
        scheduler = ListScheduler(problem)
        value, _ = scheduler.evaluate(scheduler.order("est"))
        assert value == pytest.approx(problem.value(first_solution(problem, "est")), rel=1e-9)
