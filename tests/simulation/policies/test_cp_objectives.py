"""The objectives of the CP dispatchers: every objective of the offline problem, online; and the limits of a decision."""

import itertools

import numpy as np
import pytest
import schedlab as sl
from schedlab.backends import UnknownName
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running, Schedule
from schedlab.models.dispatch.objectives import OBJECTIVES
from schedlab.simulation import CPDispatcher, Moment, parse_dispatcher


def make(name, backend="cpsat", **options):
    """Return a dispatcher that solves models by a backend."""
    return parse_dispatcher(f"{name}@{backend}").make(**options)


NODE = Platform([NodeGroup("n", 1, {"cores": 4})])
QUEUES = [Queue("fast", 5), Queue("slow", 40)]


def line(aim, seed):
    """Five jobs of one node, known at once, of which one runs at a time: online, an optimal plan can be followed."""
    rng = np.random.default_rng(seed)
    jobs = [
        Job(f"j{k}", 0, int(d), 1, {"cores": 3}, str(queue), runtime=int(d))
        for k, (d, queue) in enumerate(zip(rng.integers(1, 25, 5), rng.choice(["fast", "slow"], 5), strict=True))
    ]
    return Dispatch(NODE, jobs, QUEUES, aim)


def values_of_all_orders(problem):
    """The objective of each order of the jobs, one behind the other, computed by the verifier."""
    found = []
    for order in itertools.permutations(problem.jobs):
        ends = itertools.accumulate([0, *(j.walltime for j in order)])
        schedule = Schedule(
            {j.id: start for j, start in zip(order, ends, strict=False)}, {j.id: {"n-1": 1} for j in order}
        )
        found.append(problem.value(schedule))
    return found


@pytest.mark.parametrize("family", ["hcp3", "pcp3"])
@pytest.mark.parametrize("aim", OBJECTIVES)
def test_a_replay_of_a_line_reaches_the_optimum_of_every_objective(aim, family):
    differing = 0
    for seed in range(3):
        problem = line(aim, seed)
        values = values_of_all_orders(problem)
        differing += max(values) > min(values)
        replay = sl.simulate(problem, dispatcher=make(family, deterministic=5, max_stretch=None, objective=aim))
        assert replay.violations == []
        start = dict(zip(replay.workload.ids, replay.start.tolist(), strict=True))
        assert problem.value(Schedule(start)) == pytest.approx(min(values), rel=1e-9)
    assert differing == (0 if aim == "makespan" else 3)  # the makespan of a line is the sum of the durations


def moment(waiting, running=(), now=0, platform=NODE):
    free = np.array(list(platform.capacity.values()), np.int64)
    for r in running:
        for node, units in r.nodes.items():
            free[list(platform.nodes).index(node), 0] -= units * r.job.request["cores"]
    expected = {j.id: j.walltime for j in waiting} | {r.job.id: r.end - r.start for r in running}
    allowed = np.ones(len(waiting), np.bool_)
    return Moment(now, platform, tuple(QUEUES), tuple(waiting), expected, allowed, tuple(running), free)


def starts(dispatcher, m):
    dispatcher.begin(m.platform, m.queues, 1)
    return sorted(s.job for s in dispatcher.decide(m).starts)


def wide(name, walltime, cores, submit=0, queue="slow"):
    return Job(name, submit, walltime, 1, {"cores": cores}, queue)


TWO = Platform([NodeGroup("n", 2, {"cores": 4})])


def test_the_makespan_starts_the_job_first_that_ends_last():
    """Long job first: it ends at 60. Short jobs first, as the slowdown wants it: it ends at 70."""
    jobs = [wide("long", 60, 4), *(wide(f"short{k}", 10, 4) for k in range(3))]
    assert "long" not in starts(make("pcp3", deterministic=5, max_stretch=None), moment(jobs, platform=TWO))
    by_makespan = make("pcp3", deterministic=5, max_stretch=None, objective="makespan")
    assert starts(by_makespan, moment(jobs, platform=TWO)) == ["long", "short0"]


@pytest.mark.parametrize("name", ["hcp3", "pcp3", "pcp1"])
@pytest.mark.parametrize("aim", ["late-jobs", "makespan", "weighted-tardiness"])
def test_a_job_is_not_postponed_only_because_it_costs_nothing(name, aim):
    """The running job ends the day; no order of the small jobs changes the objective, and they start now."""
    day = Running(wide("day", 1000, 4), 0, {"n-2": 1}, 1000)
    jobs = [wide("a", 3, 3), wide("b", 4, 3, queue="slow"), wide("c", 2, 1)]
    found = starts(make(name, deterministic=5, objective=aim, max_stretch=None), moment(jobs, [day], 1, TWO))
    assert len(found) == 2 and "c" in found


def test_the_gain_of_the_makespan_is_measured_from_now():
    """A million seconds after the epoch, a plan that ends 10 s earlier, in 60 instead of 70 s, is no gain of 0.001 %."""
    from schedlab.backends import compile as compile_model
    from schedlab.simulation.dispatchers.cp import origin_of
    from schedlab.simulation.dispatchers.cp.control import Control, search

    now = 1_000_000
    jobs = [wide("long", 60, 4, now), *(wide(f"short{k}", 10, 4, now) for k in range(2))]
    problem = Dispatch(TWO, jobs, QUEUES, "makespan", now)
    encoding = problem.formulations["counts"]()
    late = Schedule(
        {"short0": now, "short1": now, "long": now + 10},
        {"short0": {"n-1": 1}, "short1": {"n-2": 1}, "long": {"n-1": 1}},
    )
    found = search(
        compile_model(encoding.model, "cpsat"), encoding.model, encoding.write(late), Control(5, 5, deterministic=True),
        1, 0.0, origin=origin_of(problem),
    )  # fmt: skip
    assert found.gain == pytest.approx(10 / 70)
    assert origin_of(problem.replace(objective="waiting")) == 0


@pytest.mark.parametrize(
    ("name", "aim"),
    [*(("hcp3@cpsat", aim) for aim in OBJECTIVES), ("pcp3@cpsat", "makespan"), ("pcp1-d@cpsat", "late-jobs")],
)
def test_every_objective_replays_a_morning_by_name_twice_the_same(name, aim):
    morning = sl.Workload.of(sl.load("eurora_99").dispatch).first(20)
    platform = sl.load("eurora_99").platform
    named = parse_dispatcher(f"{name}:{aim}")
    one, two = (sl.simulate(morning, platform, named.make(deterministic=0.005)) for _ in range(2))
    assert one.violations == [] and (one.start >= 0).all() and one.decisions.ended.keys() - {"trivial"}
    assert one.start.tolist() == two.start.tolist()
    assert [a.tolist() for a in one.placement] == [a.tolist() for a in two.placement]


def test_the_objective_of_the_version_by_name_changes_nothing():
    day = sl.load("eurora_99")
    w = sl.Workload.of(day.dispatch).first(30)
    for name in ("hcp3", "pcp1"):
        usual = "slowdown" if name == "hcp3" else "weighted-tardiness"
        one, two = (
            sl.simulate(w, day.platform, make(name, deterministic=0.01, objective=aim)) for aim in (None, usual)
        )
        assert one.decisions.ended.keys() - {"trivial"}, "no decision used the solver"
        assert one.start.tolist() == two.start.tolist()


def test_the_warm_start_is_not_worse_than_multi_search_and_than_the_priority():
    """With hardly any limit the answer is the warm start; the gain over it is 0 or unknown."""
    from schedlab.heuristics import multi_search
    from schedlab.simulation.dispatchers.cp import best_start

    noon = sl.load("eurora_330").problem.at(12 * 3600, first=40)
    for aim in OBJECTIVES:
        problem = noon.replace(objective=aim)
        searched = multi_search(problem)
        worst = sl.heuristics.first_solution(problem, "-area")
        for start in (None, worst, searched.schedule):
            best = best_start(problem, start, None)
            assert problem.verify(best) == [] and problem.value(best) == searched.objective


def test_the_time_of_a_decision_is_kept():
    """A limit of 0.1 s for the model and the solver together; the first step, which begins in any case, adds little."""
    day = sl.load("eurora_99")
    w = sl.Workload.of(day.dispatch).first(40)
    run = sl.simulate(w, day.platform, make("hcp3", limit=0.1, objective="weighted-wait"))
    seconds = run.decisions.seconds
    assert run.violations == [] and run.decisions.ended.keys() - {"trivial"}
    assert np.median((seconds["model"] + seconds["solve"])[seconds["solve"] > 0]) < 0.4


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"limit": 0}, ValueError, "limit is 0"),
        ({"deterministic": -1}, ValueError, "deterministic is -1"),
        ({"deterministic": True}, ValueError, "deterministic is True"),
        ({"limit": 1, "deterministic": 1}, TypeError, "give one"),
        ({"objective": "weighted-wai"}, sl.SchedlabError, "weighted-wait"),
    ],
)
def test_a_wrong_limit_or_objective_is_an_error(options, error, words):
    with pytest.raises(error, match=words):
        CPDispatcher("hcp", 3, **options)


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("pcp3@cpsat:weigted-wait", "weighted-wait"),
        ("pcp3@cpsat:", "known are makespan"),
        ("pcp3@cpsa:waiting", "cpsat"),
        ("pcp3:waiting", "pcp3@cpsat:waiting"),
        ("hcp3-d:late-jobs", "hcp3-d@cpsat:late-jobs"),
        ("easy@cpsat:waiting", "easy"),
    ],
)
def test_unknown_names_have_near_names(text, near):
    with pytest.raises(UnknownName, match=near):
        parse_dispatcher(text)
