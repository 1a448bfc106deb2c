"""Desired profiles in dispatching problems: enumeration of tiny problems, all solvers and searches, the check, bad input."""

import random
from dataclasses import replace
from itertools import combinations_with_replacement, product

import pytest
import schedlab as sl
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running, Schedule
from schedlab.models.profiles import Wish, daily, flat, power_cap, profile_of

ONE = Platform([NodeGroup("n", 2, {"cores": 4})])
TWO = Platform([NodeGroup("a", 1, {"cores": 4, "gpus": 1}), NodeGroup("b", 1, {"cores": 6})])
END = 24  # seconds that the enumeration looks at


def _random_problem(seed, machine, over_cost, objective="waiting"):
    """Return a problem of two or three small jobs beside a running one, with a profile of three steps."""
    draw = random.Random(seed)
    wishes = [Wish(0, "cores", 1.0), Wish(3, "cores", draw.choice([0.25, 0.5])), Wish(7, "cores", 1.0)]
    if machine is TWO:
        wishes += [Wish(0, "cores", draw.choice([0.5, 1.0]), nodes="b")]
    period = draw.choice([None, 10])
    jobs = [
        Job(f"j{k}", draw.randint(0, 3), draw.randint(2, 3), draw.randint(1, 2), {"cores": draw.randint(1, 3)}, "q")
        for k in range(3)
    ]
    before = Job("r", 0, 9, 1, {"cores": 2}, "q")
    running = [Running(before, 0, {machine.nodes[0]: 1}, draw.randint(1, 5))]
    profile = profile_of(machine, wishes, period)
    return Dispatch(machine, jobs, [Queue("q", 5)], objective, 0, running, desired=profile, over_cost=over_cost)


def _group(machine, node):
    return next(g.name for g in machine.groups if node in g.nodes)


def _best(problem):
    """Return the least objective of all schedules with starts before ``END`` - 3, second by second; None if there is none."""
    machine, profile = problem.platform, problem.desired
    nodes = machine.nodes
    capacity = [[machine.capacity[n][0]] * END for n in nodes]
    held = [[0] * END for _ in nodes]
    for r in problem.running:
        for n, units in r.nodes.items():
            for t in range(r.end):
                held[nodes.index(n)][t] += units * r.job.request["cores"]
    wish = [[profile.amount(_group(machine, n), "cores", t) for t in range(END)] for n in nodes]
    hard = problem.over_cost is None
    most = [
        [max(int(wish[n][t]), held[n][t]) if hard else capacity[n][t] for t in range(END)] for n in range(len(nodes))
    ]
    found = None

    def place(k, used, cost):
        nonlocal found
        if found is not None and cost >= found:
            return
        if k == len(problem.jobs):
            if not hard:
                for t in range(END):
                    over = sum(u[t] for u in used) - sum(w[t] for w in wish)
                    cost += problem.over_cost * max(0.0, over) / 3600
            found = cost if found is None else min(found, cost)
            return
        job = problem.jobs[k]
        for start, where in product(
            range(job.submit, END - 8), combinations_with_replacement(range(len(nodes)), job.units)
        ):
            new = [list(u) for u in used]
            for n in where:
                for t in range(start, start + job.walltime):
                    new[n][t] += job.request["cores"]
            if all(new[n][t] <= most[n][t] for n in where for t in range(start, start + job.walltime)):
                place(k + 1, new, cost + start - job.submit)

    place(0, held, 0.0)
    return found


@pytest.mark.parametrize("over_cost", [None, 900.0, 5000.0])
@pytest.mark.parametrize("machine", [ONE, TWO], ids=["one group", "two groups"])
def test_solvers_find_the_optimum_of_the_enumeration(machine, over_cost):
    for seed in (1,):
        problem = _random_problem(seed, machine, over_cost)
        best = _best(problem)
        for method in ("cpsat:counts", "cpsat:units", "highs:counts", "cpo:counts"):
            found = sl.solve(problem, method, time_limit=30)
            assert found.status == "optimal" and found.objective == pytest.approx(best), (seed, method)
            assert problem.verify(found.schedule) == []
        for method in ("cpsat:pool", "cpsat:classes"):
            found = sl.solve(problem, method, time_limit=10)
            assert found.bound <= best + 1e-6 and found.objective >= best - 1e-6
        for method in ("multi-search", "first-solution:est", "delay-search"):
            found = sl.solve(problem, method, time_limit=5)
            assert found.objective >= best - 1e-6 and problem.verify(found.schedule) == []


def test_lns_with_solver_windows_reaches_the_optimum():
    for over_cost in (None, 5000.0):
        problem = _random_problem(1, ONE, over_cost)
        found = sl.solve(problem, "lns@cpsat", rounds=40, warm_start=sl.solve(problem, "multi-search").schedule)
        assert found.objective == pytest.approx(_best(problem)) and problem.verify(found.schedule) == []


@pytest.mark.parametrize("over_cost", [None, 3.0])
def test_with_the_profile_at_capacity_results_are_those_without_one(over_cost):
    plain = sl.load("eurora_99").problem
    problem = plain.replace(desired=flat(plain.platform, 1.0, plain.platform.resources), over_cost=over_cost)
    assert problem.horizon == plain.horizon
    for method in ("first-solution:est", "multi-search"):
        a, b = sl.solve(plain, method), sl.solve(problem, method)
        assert a.objective == b.objective and a.schedule.start == b.schedule.start
        assert a.schedule.nodes == b.schedule.nodes


def test_solvers_with_the_profile_at_capacity():
    problem = _random_problem(1, TWO, None)
    plain = problem.replace(desired=None)
    full = problem.replace(desired=flat(TWO, 1.0, TWO.resources))
    for method in ("cpsat:counts", "cpsat:pool"):
        a, b, c = (sl.solve(p, method, threads=1) for p in (plain, full, full.replace(over_cost=9.0)))
        assert a.objective == b.objective == c.objective and a.bound == b.bound == c.bound


def test_the_check_names_node_time_and_amount_of_an_excess():
    profile = profile_of(ONE, [Wish(0, "cores", 1.0), Wish(10, "cores", 0.5)])
    jobs = [Job("a", 0, 20, 1, {"cores": 3}, "q"), Job("b", 0, 4, 1, {"cores": 3}, "q")]
    schedule = Schedule({"a": 0, "b": 8}, {"a": {"n-1": 1}, "b": {"n-2": 1}})
    free = Dispatch(ONE, jobs, [Queue("q", 5)], "waiting", desired=profile, over_cost=720.0)
    assert free.verify(schedule) == []
    assert free.value(schedule) == pytest.approx(8 + 720.0 * 2 * 2 / 3600)  # 6 cores for 2 s, 4 are desired
    shorter = [Job("a", 0, 9, 1, {"cores": 3}, "q"), jobs[1]]
    hard = Dispatch(ONE, shorter, [Queue("q", 5)], "waiting", desired=profile)
    assert [v.message for v in hard.verify(schedule)] == [
        "node 'n-2' at 10: 3 cores in use; the desired profile allows 2"
    ]
    assert hard.verify(schedule)[0].amount == 1


def test_beside_a_running_job_above_the_profile_nothing_starts_on_its_node():
    running = [Running(Job("r", 0, 9, 1, {"cores": 3}, "q"), 0, {"n-1": 1}, 6)]
    profile = profile_of(ONE, [Wish(2, "cores", 0.5)], end=20)
    problem = Dispatch(
        ONE, [Job("a", 0, 5, 2, {"cores": 1}, "q")], [Queue("q", 5)], "waiting", 0, running, desired=profile
    )
    for method in ("cpsat:counts", "highs:units", "first-solution:est"):
        assert sl.solve(problem, method).schedule.nodes["a"] == {"n-2": 2}
    wide = problem.replace(jobs=[Job("a", 0, 5, 3, {"cores": 1}, "q")])
    for method in ("cpsat:counts", "highs:units", "first-solution:est"):
        assert sl.solve(wide, method).schedule.start == {"a": 6}
    early = Schedule({"a": 0}, {"a": {"n-1": 1, "n-2": 2}})
    assert "of which running jobs use 3; the desired profile allows 2" in wide.verify(early)[0].message


def test_a_hard_power_of_the_machine():
    jobs = [Job(n, 0, 4, 1, {"cores": 1}, "q", power=p) for n, p in (("a", 70.5), ("b", 60.0), ("c", 29.5))]
    problem = Dispatch(ONE, jobs, [Queue("q", 5)], "waiting", desired=power_cap(ONE, 100))
    for method in ("cpsat:counts", "highs:counts", "cpo:units"):
        found = sl.solve(problem, method, time_limit=20)
        assert found.status == "optimal" and found.objective == 4 and problem.verify(found.schedule) == []
    together = Schedule({"a": 0, "b": 0, "c": 4}, {"a": {"n-1": 1}, "b": {"n-2": 1}, "c": {"n-1": 1}})
    assert [v.message for v in problem.verify(together)] == [
        "the machine at 0: 130.5 W in use; the desired profile allows 100"
    ]
    soft = problem.replace(over_cost=1800.0)  # all at once: 60 W above for 4 s cost 120
    assert sl.solve(soft, "cpsat:counts").objective == 4
    assert sl.solve(soft, "multi-search").objective == 120  # no list schedule delays a job
    with pytest.raises(sl.SchedlabError, match=r"cannot keep\s+to a desired power"):
        sl.solve(problem, "multi-search")


def test_rules_refuse_a_hard_profile_and_take_a_soft_one():
    problem = _random_problem(0, ONE, None)
    with pytest.raises(sl.SchedlabError, match="a rule looks at the present only"):
        sl.solve(problem, "rule:est")
    soft = problem.replace(over_cost=1.0)
    found = sl.solve(soft, "rule:est")
    assert found.objective == pytest.approx(soft.value(found.schedule)) and soft.verify(found.schedule) == []


def test_jobs_wait_for_the_night():
    """A job of 13 cores runs at night only; one of 11 h starts early enough to end in the morning."""
    machine = Platform([NodeGroup("n", 1, {"cores": 16})])
    night = daily(machine, {"08:00": 0.5, "20:00": 1.0})
    jobs = [Job("a", 9 * 3600, 3600, 1, {"cores": 13}, "q"), Job("b", 22 * 3600, 39600, 1, {"cores": 10}, "q")]
    problem = Dispatch(machine, jobs, [Queue("q", 5)], "waiting", desired=night)
    for method in ("first-solution:est", "cpsat:counts"):
        assert sl.solve(problem, method, time_limit=20).schedule.start == {"a": 20 * 3600, "b": 44 * 3600}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"desired": "night.csv"}, "expected a DesiredProfile"),
        ({"over_cost": 1.0}, "over_cost is given without a desired profile"),
        ({"desired": flat(ONE, 0.5), "over_cost": -1.0}, "over_cost is -1.0; expected the cost of an amount-hour"),
        ({"desired": flat(ONE, 0.5), "over_cost": float("nan")}, "expected the cost of an amount-hour"),
        ({"desired": flat(TWO, 0.5)}, "a profile of .*; expected one of"),
        ({"desired": flat(ONE, 0.5)}, "job 'a': 1 unit of .* for 20 s fit at no time within the desired profile"),
        ({"desired": power_cap(ONE, 10)}, "job 'a' has no power"),
        ({"desired": profile_of(ONE, [Wish(10**6, "cores", 0.9)])}, "after the end of the problem .* covers nothing"),
        (
            {"desired": profile_of(ONE, [Wish(0, "cores", 0.9)], end=5), "now": 9},
            "before the begin of the problem at 9 s",
        ),
    ],
)
def test_contradictions_are_reported(changes, words):
    problem = Dispatch(ONE, [Job("a", 0, 20, 1, {"cores": 3}, "q")], [Queue("q", 5)], "waiting")
    with pytest.raises(sl.SchedlabError, match=words):
        problem.replace(**changes)


def test_a_profit_problem_takes_no_profile():
    profit = sl.load("profit_small").problem
    batch = profit.dispatch.replace(desired=flat(profit.dispatch.platform, 1.0))
    with pytest.raises(sl.ProblemError, match="takes none"):
        replace(profit, dispatch=batch)
