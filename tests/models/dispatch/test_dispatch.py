"""The dispatching problem: declaration, verification and objectives from the data alone, and its four formulations."""

import itertools
import random
from functools import cache

import pytest
import schedlab as sl
from draws import some_now
from hypothesis import given
from hypothesis import strategies as st
from schedlab.models import Dispatch, Job, NodeGroup, Platform, ProblemError, Queue, Running, Schedule
from schedlab.models.dispatch import impossible
from schedlab.models.dispatch.formulations import usable
from schedlab.models.dispatch.objectives import OBJECTIVES

EURORA_4 = Platform(
    [NodeGroup("gpu", 2, {"cores": 16, "gpus": 2}), NodeGroup("mic", 2, {"cores": 16, "gpus": 0, "mics": 2})]
)
PARALLEL = Queue("parallel", 18000)
NIGHT = Queue("np_longpar", 86400, daily=((64800, 115200),))


def job(name, units=1, walltime=10, submit=0, queue="parallel", **request):
    return Job(name, submit, walltime, units, request or {"cores": 16}, queue)


# Thesis 4.2.1, table 4.2: walltime and resources of the first motivational example; table 4.4 is its best schedule.
TEST_1 = [
    job("job1", units=2, walltime=600, cores=16, mics=2),
    job("job2", units=1, walltime=60, cores=1, gpus=2),
    job("job3", units=2, walltime=720, submit=5, cores=16, gpus=2),
    job("job4", units=2, walltime=600, submit=5, cores=16, gpus=1),
]
TABLE_4_4 = Schedule(
    {"job1": 0, "job2": 0, "job3": 660, "job4": 60},
    {
        "job1": {"mic-1": 1, "mic-2": 1},
        "job2": {"gpu-1": 1},
        "job3": {"gpu-1": 1, "gpu-2": 1},
        "job4": {"gpu-1": 1, "gpu-2": 1},
    },
)


def test_thesis_table_4_4_is_right_and_waits_as_stated():
    problem = Dispatch(EURORA_4, TEST_1, [PARALLEL], "waiting")
    assert problem.verify(TABLE_4_4) == []
    assert problem.value(TABLE_4_4) == 660 - 5 + 60 - 5


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"job4": 59}, "starts at 59|gpu-1"),
        ({"job3": 4}, "before its submit time, 5"),
    ],
)
def test_a_moved_start_is_found(change, complaint):
    problem = Dispatch(EURORA_4, TEST_1, [PARALLEL], "waiting")
    broken = Schedule({**TABLE_4_4.start, **change}, TABLE_4_4.nodes)
    text = " ".join(v.message for v in problem.verify(broken))
    assert any(part in text for part in complaint.split("|")), text


@pytest.mark.parametrize(
    ("nodes", "complaint"),
    [
        ({"mic-1": 1}, "has 1 unit on nodes, not 2"),
        ({"mic-1": 1, "mic-9": 1}, "'mic-9', which is not a node"),
        ({"mic-1": 2}, "32 cores in use, it has 16"),
        ({"mic-1": 3, "mic-2": -1}, "-1 units on 'mic-2'"),
        ({"gpu-1": 1, "mic-1": 1}, "mics in use, it has 0"),
    ],
)
def test_a_wrong_placing_is_found(nodes, complaint):
    problem = Dispatch(EURORA_4, TEST_1, [PARALLEL], "waiting")
    broken = Schedule(TABLE_4_4.start, {**TABLE_4_4.nodes, "job1": nodes})
    assert complaint in " ".join(v.message for v in problem.verify(broken))


def test_missing_and_unknown_jobs_are_found():
    problem = Dispatch(EURORA_4, TEST_1, [PARALLEL], "waiting")
    starts = {j: s for j, s in TABLE_4_4.start.items() if j != "job2"}
    text = " ".join(v.message for v in problem.verify(Schedule({**starts, "job9": 0}, TABLE_4_4.nodes)))
    assert "'job2' has no start" in text
    assert "'job9' is not one of the problem" in text


def test_running_jobs_hold_their_nodes_until_their_expected_end():
    running = [Running(job("r", cores=16), start=-50, nodes={"gpu-1": 1}, end=30)]
    problem = Dispatch(EURORA_4, [job("a", cores=16, gpus=1)], [PARALLEL], "waiting", running=running)
    assert "gpu-1" in problem.verify(Schedule({"a": 29}, {"a": {"gpu-1": 1}}))[0].message
    assert problem.verify(Schedule({"a": 30}, {"a": {"gpu-1": 1}})) == []


def test_night_jobs_start_between_six_in_the_evening_and_eight_in_the_morning():
    problem = Dispatch(EURORA_4, [job("n", submit=30000, queue="np_longpar")], [NIGHT], "waiting")
    placed = {"n": {"gpu-1": 1}}
    allowed = [t for t in range(30000, 200000, 600) if not problem.verify(Schedule({"n": t}, placed))]
    assert all(t % 86400 >= 64800 or t % 86400 <= 28800 for t in allowed)
    assert allowed[0] == 64800
    windows = problem.start_windows(problem.jobs[0], 200_000)
    assert windows[0] == (64800, 115200)
    assert all(any(lo <= t <= hi for lo, hi in windows) for t in allowed if t <= windows[-1][1])


def test_the_snapshot_of_a_time_has_the_jobs_submitted_by_then():
    jobs = [job(f"j{t}", submit=t) for t in (50, 10, 30, 90)]
    at = Dispatch(EURORA_4, jobs, [PARALLEL]).at(50, first=2)
    assert [j.id for j in at.jobs] == ["j10", "j30"]
    assert at.now == 50
    assert (
        "before now, 50"
        in at.verify(Schedule({"j10": 49, "j30": 50}, {"j10": {"gpu-1": 1}, "j30": {"gpu-2": 1}}))[0].message
    )


def test_objectives_by_hand():
    jobs = [job("a", submit=0, walltime=100), job("b", submit=10, walltime=50, queue="debug")]
    schedule = Schedule({"a": 0, "b": 7210}, {"a": {"gpu-1": 1}, "b": {"gpu-1": 1}})
    queues = [PARALLEL, Queue("debug", 3600)]
    by_hand = {
        "makespan": 7260,
        "waiting": 7200,
        "weighted-wait": 2.0,
        "weighted-tardiness": 1.0,
        "late-jobs": 1,
        "queue-priority-wait": 5 * 7200,
        "slowdown": 1 + (7200 + 50) / 50,
    }
    assert set(by_hand) == set(OBJECTIVES)
    for name, expected in by_hand.items():
        assert Dispatch(EURORA_4, jobs, queues, name).value(schedule) == pytest.approx(expected, rel=1e-12)


def test_the_clairvoyant_takes_the_runtimes():
    known = Job("a", 0, 100, 1, {"cores": 1}, "parallel", runtime=40)
    problem = Dispatch(EURORA_4, [known], [PARALLEL], "makespan", durations="runtime")
    assert problem.value(Schedule({"a": 0}, {"a": {"gpu-1": 1}})) == 40


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (job("big", units=3, gpus=2), "'big'.*gpus.*only 2"),
        (job("wide", cores=17), "'wide'.*no node has more than 16 cores"),
        (job("both", gpus=1, mics=1), "'both'.*together"),
        (job("lost", queue="nowhere"), "'lost'.*'nowhere'.*parallel"),
        (job("odd", tpus=1), "'odd'.*tpus"),
        (job("none", units=0), "'none'.*units"),
        (job("quick", walltime=0), "'quick'.*walltime"),
    ],
)
def test_contradictions_name_the_job(wrong, named):
    with pytest.raises(ProblemError, match=named):
        Dispatch(EURORA_4, [wrong], [PARALLEL])


def test_impossible_jobs_are_distinguished_from_possible_ones():
    jobs = [job("fits", units=4), job("not", units=5)]
    assert [j.id for j, _ in impossible(EURORA_4, jobs)] == ["not"]


def tiny(seed):
    """Make a problem of three short jobs on three small nodes of two classes, for complete enumeration."""
    rng = random.Random(seed)
    platform = Platform([NodeGroup("a", 2, {"cores": 4, "mem": 4}), NodeGroup("b", 1, {"cores": 2, "mem": 6})])
    jobs = []
    for k in range(3):
        request = {"cores": rng.randint(1, 4), "mem": rng.randint(0, 4)}
        units = rng.randint(1, 2)
        queue = rng.choice(["fast", "slow"])
        jobs.append(Job(f"j{k}", rng.randint(0, 2), rng.randint(1, 3), units, request, queue))
    return Dispatch(platform, jobs, [Queue("fast", 2), Queue("slow", 5)], rng.choice(OBJECTIVES), now=rng.randint(0, 1))


def enumerate_optimum(problem, latest=8):
    """Return the least objective over all starts up to ``latest`` and all allocations."""
    placings = []
    for j in problem.jobs:
        ways = itertools.product(range(j.units + 1), repeat=len(problem.platform.nodes))
        nodes = [dict(zip(problem.platform.nodes, w, strict=True)) for w in ways if sum(w) == j.units]
        alone = [n for n in nodes if not problem_of(problem, j).verify(Schedule({j.id: 20}, {j.id: n}))]
        placings.append(alone)
    names = [j.id for j in problem.jobs]
    best = None
    for starts in itertools.product(range(latest + 1), repeat=len(names)):
        start = dict(zip(names, starts, strict=True))
        value = problem.value(Schedule(start))
        if best is not None and value >= best:
            continue
        for chosen in itertools.product(*placings):
            if not problem.verify(Schedule(start, dict(zip(names, chosen, strict=True)))):
                best = value
                break
    return best


@cache
def optimum_of(seed):
    return enumerate_optimum(tiny(seed))


def problem_of(problem, one):
    return problem.replace(jobs=[one])


@pytest.mark.parametrize("seed", some_now(range(14), 5))
def test_formulations_against_complete_enumeration(seed):
    problem, optimum = tiny(seed), optimum_of(seed)
    for name in problem.formulations:
        result = sl.solve(problem, method=f"cpsat:{name}", threads=1)
        assert result.violations == [], name
        assert result.bound <= optimum + 1e-6 * max(1, abs(optimum)), name
        assert result.objective >= optimum - 1e-6 * max(1, abs(optimum)), name
        if name in ("units", "counts"):
            assert result.status == "optimal"
            assert result.objective == pytest.approx(optimum, rel=1e-6), name


@pytest.mark.parametrize("seed", some_now(range(14), 4))
@pytest.mark.parametrize("lowering", ["3s-energy", "1s..9s-energy", "3s-relax", "3s"])
def test_grids_against_complete_enumeration(seed, lowering):
    """Relaxed grids give lower bounds, restricted grids give none; schedules that are read back are always feasible."""
    problem, optimum = tiny(seed), optimum_of(seed)
    for name in ("classes", "pool"):
        result = sl.solve(problem, method=f"highs:{name}@{lowering}", threads=1)
        assert result.violations == []
        assert result.objective >= optimum - 1e-6 * max(1, abs(optimum)), name
        if lowering == "3s":
            assert result.bound is None
        else:
            assert result.bound <= optimum + 1e-6 * max(1, abs(optimum)), name


@pytest.mark.parametrize("name", ["units", "counts", "classes", "pool"])
def test_a_schedule_written_as_an_assignment_keeps_its_objective(name):
    for aim in OBJECTIVES:
        problem = Dispatch(EURORA_4, TEST_1, [PARALLEL], aim, running=[Running(job("r"), -5, {"mic-1": 1}, 0)])
        encoding = problem.formulations[name]()
        assignment = encoding.write(TABLE_4_4)
        assert encoding.model.check(assignment) == []
        value = encoding.model.value(encoding.model.objectives[0], assignment)
        assert value == pytest.approx(problem.value(TABLE_4_4), rel=1e-9)
        assert encoding.read(assignment).start == TABLE_4_4.start
        if not encoding.relaxation:
            assert encoding.read(assignment).nodes == TABLE_4_4.nodes


def test_jobs_running_until_the_same_end_are_one_interval():
    running = [Running(job(f"r{n}", cores=8), -5, {f"gpu-{n}": 1}, end) for n, end in ((1, 30), (2, 30), (1, 0))]
    running = [Running(job(f"r{k}", cores=8), r.start, r.nodes, r.end) for k, r in enumerate(running)]
    waiting = [job("a"), job("b", units=4, cores=16)]
    problem = Dispatch(EURORA_4, waiting, [PARALLEL], "waiting", running=running)
    for name in problem.formulations:
        names = [v.name for v in problem.formulations[name]().model.intervals if v.name.startswith("running")]
        assert names == ["running until 30"], name


@given(st.dictionaries(st.integers(1, 20), st.integers(1, 9), max_size=6), st.integers(0, 60), st.integers(1, 40))
def test_jobs_can_use_as_much_beside_the_capacity_that_counts_as_beside_all_of_it(held, capacity, most):
    """At each time the free amount is the same, up to the sum of all demands."""

    def free(capacity, held, t):
        return capacity - sum(amount for end, amount in held.items() if end > t)

    top, kept = usable(capacity, held, most)
    assert all(0 < amount <= held[end] for end, amount in kept.items())
    for t in range(22):
        assert free(top, kept, t) == min(free(capacity, held, t), most)


def test_running_jobs_whose_capacity_nobody_needs_are_not_in_the_model():
    """Four nodes of 16 cores are in use until 10, 20, 30 and 40; 20 cores are enough for all jobs."""
    running = [Running(job(f"r{k}", cores=16), 0, {node: 1}, 10 * k) for k, node in enumerate(EURORA_4.nodes, 1)]
    problem = Dispatch(EURORA_4, [job("a", cores=12), job("b", cores=8)], [PARALLEL], "waiting", running=running)
    model = problem.formulations["pool"]().model
    assert [v.name for v in model.intervals] == ["a", "b", "running until 10", "running until 20"]
    (cores,) = (c for name, c in model.constraints if name == "cores")
    assert cores.demands == (12, 8, 16, 4)
    assert cores.steps == ((0, 20),)


@pytest.mark.parametrize("name", ["units", "counts", "classes", "pool"])
def test_only_what_can_bind_is_constrained(name):
    """A job of one GPU runs on nodes with two, a job of two times 16 cores on nodes with 16; no job needs MICs."""
    problem = Dispatch(EURORA_4, [job("a", cores=16, gpus=1), job("b", cores=16)], [PARALLEL], "waiting")
    named = [n for n, _ in problem.formulations[name]().model.constraints if " of " in n and "units of" not in n]
    assert all(n.startswith(("cores of", "units above")) for n in named), named
    assert sl.solve(problem, method=f"cpsat:{name}", threads=1).objective == 0


def test_the_classes_bound_lies_between_the_pool_bound_and_the_optimum():
    """Units of 9 cores on nodes of 16: the pooled cores hold more of them at once than the nodes do."""
    platform = Platform([NodeGroup("n", 2, {"cores": 16})])
    jobs = [job(f"j{k}", walltime=10, cores=9) for k in range(4)]
    problem = Dispatch(platform, jobs, [PARALLEL], "waiting")
    bounds = {n: sl.solve(problem, method=f"cpsat:{n}", threads=1).bound for n in ("pool", "classes", "counts")}
    assert bounds["pool"] < bounds["classes"] == bounds["counts"] == 20


def test_the_horizon_follows_what_jobs_can_use_of_their_calendars():
    """Two jobs of 600 s in a queue of 6 h a day had a horizon of two days, and models as large."""
    queues = [sl.Queue("day", 3600, daily=((30_000, 51_600),)), sl.Queue("night", 60, daily=((64_800, 115_200),))]
    nodes = sl.Platform([sl.NodeGroup("n", 1, {"cores": 1})])
    jobs = [sl.Job(name, 0, 600, 1, {"cores": 1}, "day") for name in "ab"]
    assert sl.Dispatch(nodes, jobs, queues).horizon == 31_200
    assert sl.Dispatch(nodes, [*jobs, sl.Job("c", 0, 600, 1, {"cores": 1}, "night")], queues).horizon <= 4 * 86_400


@pytest.mark.parametrize("seed", some_now(range(12), 5))
def test_no_optimum_is_beyond_the_horizon_of_calendars(seed):
    r = random.Random(seed)

    def daily():
        begins = [r.randrange(0, 30_000), r.randrange(40_000, 80_000)][: r.randint(1, 2)]
        return tuple((lo, lo + r.randrange(0, 9_000)) for lo in begins)

    queues = [sl.Queue("a", 3600, daily=daily()), sl.Queue("b", 600, daily=daily()), sl.Queue("c", 60)]
    jobs = [
        sl.Job(str(k), r.randrange(0, 100_000), r.choice([1, 60, 4_000, 20_000]), 1, {"cores": 1}, r.choice("aabc"))
        for k in range(r.randint(1, 5))
    ]
    problem = sl.Dispatch(sl.Platform([sl.NodeGroup("n", 1, {"cores": 1})]), jobs, queues, "waiting", now=seed * 7_000)
    late = problem.replace()
    late.__dict__["horizon"] = problem.now + 100_000 + sum(j.walltime for j in jobs) + 86_400 * (len(jobs) + 1)
    assert problem.horizon <= late.horizon
    assert sl.solve(problem, "cpsat:counts").objective == sl.solve(late, "cpsat:counts").objective


def test_a_job_of_no_time_must_fit_its_nodes_too():
    """The models never put two such units on one node; the verifier accepted it."""
    nodes = sl.Platform([sl.NodeGroup("n", 2, {"cores": 4})])
    job = sl.Job("z", 0, 10, 2, {"cores": 3}, "q", runtime=0)
    problem = sl.Dispatch(nodes, [job], [sl.Queue("q", 60)], "makespan", durations="runtime")
    assert problem.verify(sl.Schedule({"z": 0}, {"z": {"n-1": 1, "n-2": 1}})) == []
    (broken,) = problem.verify(sl.Schedule({"z": 0}, {"z": {"n-1": 2}}))
    assert broken.message == "job 'z' asks for 6 cores of node 'n-1', which has 4"
    for method in ("cpsat:units", "cpsat:counts", "multi-search", "lns"):
        rounds = {"rounds": 20} if method == "lns" else {}  # else it searches until its limit
        found = sl.solve(problem, method, time_limit=60, **rounds)
        assert found.schedule.nodes == {"z": {"n-1": 1, "n-2": 1}} and found.objective == 0
