"""The scheduling cycle ``cpmodel`` and the portfolio, on hand-made moments and replays [Bridi2018, 4]."""

from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from schedlab import WrongArgument, WrongValue
from schedlab.models import Job, NodeEvent, NodeGroup, Platform, Queue, Running
from schedlab.models.dispatch.objectives import find_objective
from schedlab.models.reservations import Reserved
from schedlab.simulation import (
    POLICIES,
    CPModel,
    Decision,
    Moment,
    Portfolio,
    Start,
    dispatcher_names,
    parse_dispatcher,
)
from schedlab.simulation.dispatchers import production as checks
from schedlab.simulation.dispatchers.cp import NodeTimeline, Register, problem_of, requests_of, running_usage
from schedlab.simulation.dispatchers.cp.control import AdaptiveLimit
from schedlab.simulation.dispatchers.production import RETRY, end_of_schedule, first_plan

PLATFORM = Platform([NodeGroup("gpu", 1, {"cores": 4, "gpus": 2}), NodeGroup("cpu", 2, {"cores": 4})])
QUEUES = (Queue("fast", 100), Queue("slow", 1000))
UP = ("up",) * 3


def job(name, submit=0, walltime=10, units=1, cores=4, gpus=0, queue="fast"):
    return Job(name, submit, walltime, units, {"cores": cores, "gpus": gpus}, queue)


def runs(name, node, end, cores=4, start=0):
    return Running(job(name, walltime=max(1, end - start), cores=cores), start, {node: 1}, end)


def moment(waiting, running=(), now=50, states=UP):
    free = np.array(list(PLATFORM.capacity.values()), np.int64)
    names = list(PLATFORM.nodes)
    for r in running:
        for node, units in r.nodes.items():
            free[names.index(node)] -= [units * r.job.request.get(x, 0) for x in PLATFORM.resources]
    free[[state != "up" for state in states]] = 0
    expected = {j.id: j.walltime for j in waiting} | {r.job.id: r.end - r.start for r in running}
    may = np.ones(len(waiting), np.bool_)
    return Moment(now, PLATFORM, QUEUES, tuple(waiting), expected, may, tuple(running), free, states=states)


def begun(**options):
    made = CPModel(**{"deterministic": 1.0, **options})
    made.begin(PLATFORM, QUEUES, 1)
    return made


def names(decision):
    return sorted(s.job for s in decision.starts)


BUSY = [runs("r1", "gpu-1", 100), runs("r2", "cpu-1", 100)]


def test_the_wait_is_weighted_by_the_queue():
    """One node is free: 30 s of wait in the fast queue cost as much as 300 s in the slow one [Bridi2018, (4.2)]."""
    both = [job("slow", 0, 20, queue="slow"), job("fast", 0, 30, queue="fast")]
    found = begun().decide(moment(both, BUSY))
    assert (found.ended, names(found)) == ("optimal", ["fast"])
    assert found.jobs == 2 and found.requested["cores"] == 8


@pytest.mark.parametrize("formulation", ["counts", "units"])
@pytest.mark.parametrize("warm", [True, False])
def test_both_formulations_prove_the_same_decision(formulation, warm):
    three = [job("a", 0, 40), job("b", 20, 8, units=2, cores=2), job("c", 30, 12)]
    found = begun(formulation=formulation, warm_start=warm).decide(moment(three, BUSY))
    assert (found.ended, names(found)) == ("optimal", ["b"])


def test_a_job_past_its_walltime_keeps_its_resources():
    late = [runs("r1", "gpu-1", 20), runs("r2", "cpu-1", 100), runs("r3", "cpu-2", 100)]
    assert names(begun().decide(moment([job("a")], late))) == []
    assert names(begun().decide(moment([job("a"), job("b")], late[:2]))) == ["a"]


def test_jobs_that_do_not_fit_on_the_nodes_that_are_up_are_left_out():
    gpu = job("gpu", gpus=1, cores=1)
    m = moment([gpu, job("a"), job("b")], [BUSY[1]], states=("down", "up", "up"))
    assert checks.eligible(m, Register(PLATFORM, QUEUES).allowed(m), Register(PLATFORM, QUEUES).nodes).tolist() == [
        False, True, True,
    ]  # fmt: skip
    found = begun().decide(m)
    assert len(found.starts) == 1 and found.jobs == 2 and "gpu" not in names(found)


@pytest.mark.parametrize("formulation", ["counts", "units"])
@pytest.mark.parametrize("warm", [True, False])
def test_a_reservation_keeps_its_nodes_in_the_model(formulation, warm):
    """The model would like to exchange the nodes of the reservation, so that the job of the fast queue can start."""
    reserved = [Reserved("course", "slow", 60, 80, {"gpu-1": 1}, {"cores": 4})]
    both = [job("a", 0, 30, queue="slow"), job("g", 0, 30, gpus=1), job("b", 0, 30, queue="slow")]
    now = replace(moment(both, [runs("r2", "cpu-2", 100)]), reserved=reserved)
    made = begun(formulation=formulation, warm_start=warm)
    found = made.decide(now)
    (start,) = found.starts
    assert found.ended == "optimal" and start.job in ("a", "b") and start.nodes == {"cpu-1": 1}
    short = [replace(j, walltime=10) for j in both]
    in_time = replace(moment(short, [runs("r2", "cpu-2", 100)]), reserved=reserved)
    assert names(begun().decide(in_time)) == ["a", "g"]
    short = {j.id: 5 for j in both}  # what a predictor expects does not count beside reservations
    assert names(begun().decide(replace(now, expected={**now.expected, **short}))) in (["a"], ["b"])


def test_reservations_and_changed_jobs_begin_a_cycle():
    made, job_a = begun(), [job("a", 0, 30, units=2), job("b", 0, 30)]
    here = moment(job_a, [runs("r1", "gpu-1", 100)])
    assert made.decide(here).seconds.keys() > {"selection"}
    again = replace(here, waiting=[job_a[1]], running=[*here.running, runs("a", "cpu-1", 80, start=50)])
    reserved = [Reserved("course", "slow", 60, 80, {"cpu-2": 1}, {"cores": 4})]
    assert made.decide(again).seconds.keys() == {"update_jobs"}  # as the cycle before left it
    more = [
        made.decide(replace(again, reserved=reserved)), made.decide(replace(again, reserved=reserved, changed=["b"])),
        made.decide(replace(again, reserved=reserved)),
    ]  # fmt: skip
    assert [m.seconds.keys() > {"update_jobs"} for m in more] == [True, True, False]


def test_no_decision_while_a_node_holds_more_than_it_has():
    over = [runs("r1", "gpu-1", 100, cores=3), runs("r2", "gpu-1", 100, cores=2)]
    m = moment([job("a")], over)
    assert checks.overused(m, Register(PLATFORM, QUEUES).nodes) == ["gpu-1"]
    assert names(begun().decide(m)) == []
    down = moment([job("a")], [BUSY[1]], states=("up", "down", "up"))
    assert checks.overused(down, Register(PLATFORM, QUEUES).nodes) == ["cpu-1"]
    draining = moment([job("a")], [BUSY[1]], states=("up", "draining", "up"))
    assert checks.overused(draining, Register(PLATFORM, QUEUES).nodes) == []
    assert names(begun().decide(draining)) == ["a"]


def test_starts_of_a_solution_that_overuse_a_node_are_left_out():
    m = moment([job("a", cores=3), job("b", cores=2), job("c", cores=1)])
    waiting = Register(PLATFORM, QUEUES).allowed(m)
    starts = [Start(name, {"cpu-1": 1}) for name in "abc"]
    kept = checks.without_overuse(starts, waiting, m.free, PLATFORM.nodes)
    assert [s.job for s in kept] == ["a", "c"]


def test_a_cycle_begins_only_if_the_state_has_changed():
    dispatcher = begun()
    two = [job("a"), job("b")]
    first = dispatcher.decide(moment(two, BUSY))
    [started] = names(first)
    left = [j for j in two if j.id != started]
    now_running = [*BUSY, replace(runs(started, "cpu-2", 60, start=50), job=job(started))]
    same = dispatcher.decide(moment(left, now_running, now=55))
    assert "update_nodes" in first.seconds and list(same.seconds) == ["update_jobs"]
    for changed in (
        moment([*left, job("c", 55)], now_running, now=55),  # new job
        moment(left, now_running[1:], now=56),  # job ended
        moment(left, now_running[1:], now=56, states=("down", "up", "up")),  # node
    ):
        assert "update_nodes" in dispatcher.decide(changed).seconds


def test_without_a_solution_no_job_starts_and_a_cycle_of_its_own_follows():
    """With a limit that suffices for no presolve: half of the jobs next time, 60 s later, as no job runs."""
    four = [job(name, units=3) for name in "abcd"]
    control = AdaptiveLimit(k1=1e-9, attempts=1, longest=1e-9)
    dispatcher = begun(warm_start=False, control=control)
    found = dispatcher.decide(moment(four))
    assert (found.ended, names(found), found.wake, control.kept(4)) == ("nothing", [], 50 + RETRY, 2)
    again = dispatcher.decide(moment(four, now=50 + RETRY))
    assert "solve" in again.seconds and control.kept(4) == 1
    warm = begun(control=AdaptiveLimit(k1=1e-9, attempts=1, longest=1e-9)).decide(moment(four))
    assert len(warm.starts) == 1  # the warm start is a solution


def test_a_model_that_is_not_ready_in_time_is_replaced_by_the_first_solution():
    """The next model has half of the jobs; without a first solution no job starts."""
    four, control = [job(name, k, units=3) for k, name in enumerate("abcd")], AdaptiveLimit()
    found = begun(deterministic=None, limit=1e-9, control=control).decide(moment(four))
    assert (found.ended, names(found), "solve" in found.seconds, control.kept(4)) == ("limit", ["a"], False, 2)
    assert begun(deterministic=None, limit=1e-9, warm_start=False).decide(moment(four)).starts == []


@pytest.mark.parametrize("name", ["pcp3@cpsat", "hcp3@highs", "mks@cpsat"])
def test_cp_dispatchers_use_their_priorities_if_the_model_is_not_ready_in_time(name):
    four = [job(name, k, units=3) for k, name in enumerate("abcd")]
    dispatcher = parse_dispatcher(name).make(limit=1e-9)
    dispatcher.begin(PLATFORM, QUEUES, 1)
    found = dispatcher.decide(moment(four))
    assert (found.ended, len(found.starts), found.seconds["solve"]) == ("limit", 1, 0)


def test_halving_keeps_the_jobs_that_were_submitted_first():
    control = AdaptiveLimit()
    dispatcher = begun(control=control, warm_start=False)
    control.first_n = 2
    long = [runs("r1", "gpu-1", 1000), runs("r2", "cpu-1", 1000)]  # a job that starts second waits for the first
    found = dispatcher.decide(moment([job("a", 0, 90), job("b", 10, 50), job("c", 20, 5)], long))
    assert (found.jobs, names(found)) == (2, ["b"])


def test_with_a_plan_the_model_has_the_jobs_that_are_planned_first_and_the_others_come_after_them():
    """Of three jobs on one free node, the plan starts the shortest one first; the last one waits outside the model."""
    control = AdaptiveLimit()
    dispatcher = begun(control=control)
    control.first_n = 2
    long = [runs("r1", "gpu-1", 1000), runs("r2", "cpu-1", 1000)]
    three = [job("a", 0, 90), job("b", 10, 50), job("c", 20, 5)]
    found = dispatcher.decide(moment(three, long))
    assert (found.jobs, names(found)) == (2, ["c"])
    control.first_n = 1
    small = [job("a", 0, 90, cores=2), job("b", 10, 50, cores=2), job("c", 20, 5, cores=2)]
    dispatcher.begin(PLATFORM, QUEUES, 1)
    control.first_n = 1
    found = dispatcher.decide(moment(small, long))
    assert (found.jobs, names(found)) == (1, ["b", "c"])  # b starts outside the model


def test_the_plan_is_the_best_of_its_orders():
    """One node, weights 1 / ewt: the rule of Smith is optimal there; the order of submission is not."""
    long = [runs("r1", "gpu-1", 20_000), runs("r2", "cpu-1", 20_000)]
    m = moment([job("a", 0, 40, queue="slow"), job("b", 5, 30), job("c", 9, 20)], long)
    waiting = Register(PLATFORM, QUEUES).allowed(m)
    usage = running_usage(m, naive=False)
    windows = [((50, 10_000),)] * 3
    problem = problem_of(m, waiting, windows, usage.modelled, "weighted-wait")
    timeline = NodeTimeline(np.array(list(PLATFORM.capacity.values()), np.int64), 50, usage.expected)
    plan = first_plan(problem, waiting, requests_of(waiting, windows, 3), timeline)
    best = sl.solve(problem, "cpsat:counts")
    cost = find_objective("weighted-wait").costs_of(problem)
    starts = plan.allocation.start
    reached = cost.value(starts - waiting.submit, starts + waiting.duration)
    assert best.status == "optimal" and reached == pytest.approx(best.objective)
    first_order = first_plan(problem, waiting, requests_of(waiting, windows, 3), timeline, deadline=0.0)
    assert (first_order.order, plan.order != "submit") == ("submit", True)  # no time for a second order
    late = requests_of(waiting, [((50, 60),)] * 3, 3)
    assert first_plan(problem, waiting, late, timeline) is None  # some job finds no start


def test_the_horizon_of_the_thesis_is_long_enough():
    m = moment([job("a", walltime=10), job("b", walltime=20)], [runs("r", "gpu-1", 100)], now=50)
    register = Register(PLATFORM, QUEUES)
    usage = (np.array([0]), np.array([100]), np.array([[4, 0]]))
    assert end_of_schedule(m, register.allowed(m), usage) == 0 + 100 + 30  # min start + all durations
    late = moment([job("a", walltime=10)], [runs("r", "gpu-1", 20)], now=500)
    assert end_of_schedule(late, register.allowed(late), (usage[0], np.array([501]), usage[2])) == 511


@pytest.mark.parametrize("name", ["cpmodel@cpsat", "portfolio@cpsat"])
def test_a_morning_is_valid_and_reproducible_and_has_its_phases(name):
    day = sl.load("eurora_99")
    w = sl.Workload.of(day.dispatch).first(20)
    one, two = (sl.simulate(w, day.platform, parse_dispatcher(name).make(deterministic=0.05)) for _ in range(2))
    assert one.violations == [] and (one.start >= 0).all()
    assert one.start.tolist() == two.start.tolist()
    found = one.metrics.as_dict()
    for phase in ("update_jobs", "update_nodes", "check_jobs", "selection", "warm_start"):
        assert found[f"decisions_phases_{phase}"] > 0
    inside = sum(one.decisions.phases.values()) + sum(
        one.decisions.seconds[p].sum() for p in ("model", "solve", "allocate")
    )
    assert inside <= one.decisions.total_seconds
    assert found.get("decisions_used_cpmodel") == (one.decisions.made if "portfolio" in name else None)


def test_outages_and_charged_decisions_leave_a_valid_replay():
    day = sl.load("eurora_99")
    w = sl.Workload.of(day.dispatch).first(25)
    node = day.platform.nodes[0]
    outage = [NodeEvent(30_000, "node-down", (node,)), NodeEvent(60_000, "node-up", (node,))]
    run = sl.simulate(w, day.platform, CPModel(limit=0.2), events=outage, charge_decisions=True)
    assert run.violations == [] and (run.start >= 0).all()


@pytest.mark.parametrize("platform", ["eurora_99", "equal nodes"])
def test_above_the_threshold_the_portfolio_is_pbs_walltime(platform, monkeypatch):
    """Start by start the compiled policy, if the load never falls (24 h after the last submission it is 0)."""
    monkeypatch.setattr(Portfolio, "load", lambda self, moment: 1)
    day = sl.load("eurora_99")
    w = sl.Workload.of(day.dispatch)
    machine = day.platform
    if platform == "equal nodes":
        machine = Platform(
            [NodeGroup("n", 8, {r: max(v[k] for v in machine.classes) for k, r in enumerate(machine.resources)})]
        )
    heavy = sl.simulate(w, machine, Portfolio(threshold=0, deterministic=0.05))
    pbs = sl.simulate(w, machine, "pbs-walltime")
    assert heavy.start.tolist() == pbs.start.tolist() and heavy.violations == []
    assert heavy.decisions.used == {"pbs-walltime": heavy.decisions.made}


def test_below_the_threshold_the_portfolio_is_cpmodel():
    day = sl.load("eurora_99")
    w = sl.Workload.of(day.dispatch).first(20)
    light = sl.simulate(w, day.platform, Portfolio(deterministic=0.05))
    model = sl.simulate(w, day.platform, CPModel(deterministic=0.05))
    assert light.start.tolist() == model.start.tolist()


def test_the_portfolio_changes_with_the_load_and_stays_valid():
    day = sl.load("eurora_99")
    w = sl.Workload.of(day.dispatch)
    run = sl.simulate(w, day.platform, Portfolio(threshold=200, deterministic=0.02))
    assert run.violations == [] and (run.start >= 0).all()
    assert min(run.decisions.used.values()) > 5 and set(run.decisions.used) == {"cpmodel", "pbs-walltime"}


def test_the_load_counts_the_units_of_24_hours():
    portfolio = Portfolio()
    portfolio.begin(PLATFORM, QUEUES, 1)
    assert portfolio.load(moment([job("a", 0, units=2), job("b", 50, units=3)])) == 5 * 3
    assert portfolio.load(moment([job("a", 0, units=2), job("c", 90, units=1)], now=90)) == 6 * 3  # b has started
    assert portfolio.load(moment([], now=86_399)) == 6 * 3
    assert portfolio.load(moment([], now=86_400)) == 4 * 3
    assert portfolio.load(moment([job("a", 0, units=2)], now=86_490)) == 0


class Delegating:
    """Leaves each decision to a policy."""

    name, needs = "delegating", {"always"}

    def __init__(self, policy):
        self.policy = policy

    def begin(self, platform, queues, seed):
        pass

    def decide(self, moment):
        return Decision((), policy=self.policy, used="policy")


@pytest.mark.parametrize("name", ["fcfs", "easy", "easy++", "conservative", "rule:slowdown"])
def test_a_dispatcher_can_leave_its_decisions_to_any_policy(name):
    run = sl.simulate("eurora_99", dispatcher=Delegating(POLICIES[name]), predictor="data-driven")
    own = sl.simulate("eurora_99", dispatcher=POLICIES[name], predictor="data-driven")
    assert run.start.tolist() == own.start.tolist() and run.violations == []


def test_a_decision_cannot_name_something_else_as_policy():
    with pytest.raises(sl.SchedlabError, match=r"Decision\.policy is 'easy'"):
        sl.simulate("eurora_99", dispatcher=Delegating("easy"))


def test_names_and_wrong_options():
    assert {"cpmodel", "portfolio"} <= set(dispatcher_names())
    named = parse_dispatcher("cpmodel-d@highs:makespan")
    assert (named.dispatcher, named.backend, named.predictor) == ("cpmodel", "highs", "data-driven")
    assert named.make(deterministic=1).name == "cpmodel@highs:makespan"
    assert parse_dispatcher("portfolio").make(limit=1).name == "portfolio@cpsat"
    with pytest.raises(WrongValue, match="counts or units"):
        CPModel(formulation="pool")
    with pytest.raises(WrongArgument, match="max_stretch"):
        CPModel(max_stretch=50)
    with pytest.raises(WrongArgument, match="limit"):
        CPModel(limit=1, deterministic=1)
    with pytest.raises(WrongValue, match="threshold"):
        Portfolio(threshold=-1)


def test_wall_time_does_not_enter_a_deterministic_limit():
    """A proven decision: the time to its first solution is not known in units of the solver; k1 / k2 stands for it."""
    dispatcher = begun(deterministic=16.0)
    found = dispatcher.decide(moment([job("slow", 0, 20, queue="slow"), job("fast", 0, 30)], BUSY))
    assert (found.ended, dispatcher.control.limit.delta) == ("optimal", 1.5)
