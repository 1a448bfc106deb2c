"""Jobs that a model or a search leaves out: one rule gives them starts and nodes, compiled or not."""

import random

import pytest
import schedlab as sl
from draws import some_now
from schedlab.heuristics import schedule_by_rule
from schedlab.models import (
    Cooling,
    Dispatch,
    Flat,
    Job,
    NodeGroup,
    Platform,
    Profit,
    Queue,
    Running,
    Schedule,
    StepFunction,
)
from schedlab.models.profit import formulations as left_out
from schedlab.models.profit import with_rest

FLAT = Cooling("flat", (0, 40), (0, 10_000), ((0, 1), (0, 1)))
END = 50  # horizon_end


@pytest.fixture(params=["plain", "compiled"])
def loop(request, monkeypatch):
    """Both forms of the loop."""
    if request.param == "compiled":
        left_out.warm_up()
        monkeypatch.setattr(left_out, "PLAIN", 0)
    else:
        monkeypatch.setattr(left_out, "_compiled", None)  # would fail if it were called
        monkeypatch.setattr(left_out, "_is_loaded", lambda: False)
        monkeypatch.setattr(left_out, "PLAIN", 10**9)


def problem_of(jobs, groups=(("n", 1, {"cores": 4}),), **options):
    platform = Platform([NodeGroup(*g) for g in groups])
    dispatch = Dispatch(platform, jobs, [Queue("q", 60), Queue("nights", 60, daily=((60, 90),))], **options)
    return Profit(dispatch, StepFunction.constant(20.0, 0, 10**6), FLAT, 1.0, 0.1, END, watts_per_core=1.0)


def job(name, submit=0, walltime=10, units=1, cores=1, queue="q", **other):
    return Job(name, submit, walltime, units, {"cores": cores, **other}, queue)


def test_they_start_in_order_of_release_and_a_job_that_does_not_fit_is_skipped(loop):
    jobs = [job("runs", walltime=60, cores=2), job("wide", 2, 10, cores=4), job("slim", 3, 30), job("first", 1, 20)]
    found = with_rest(problem_of(jobs), Schedule({"runs": 0}, {"runs": {"n-1": 1}}))
    assert found.start == {"runs": 0, "first": END, "slim": END, "wide": 80}


def test_they_follow_the_jobs_that_must_start_after_the_horizon(loop):
    jobs = [job("night", walltime=20, cores=1, queue="nights"), job("later"), job("last", submit=95)]
    found = with_rest(problem_of(jobs), Schedule({"night": 60}, {"night": {"n-1": 1}}))
    assert found.start == {"night": 60, "later": 80, "last": 95}


def test_units_go_to_the_nodes_with_the_least_free(loop):
    groups = [("a", 2, {"cores": 8}), ("b", 1, {"cores": 8})]
    jobs = [job("runs", walltime=90, cores=3), job("x", 1, units=3, cores=2)]
    found = with_rest(problem_of(jobs, groups), Schedule({"runs": 0}, {"runs": {"b-1": 1}}))
    assert found.nodes["x"] == {"b-1": 2, "a-1": 1}


def random_problem(seed):
    """With odd seeds every unit needs more than half of a node, and all nodes are equal: rules then count nodes."""
    rng = random.Random(seed)
    least, groups = 0, [("a", 2, {"cores": 8, "mem": 8}), ("b", 2, {"cores": 4, "mem": 16})]
    if seed % 2:
        least, groups = 3, [("a", 4, {"cores": 4, "mem": 8})]
    jobs = []
    for k in range(30):
        request = {"cores": rng.randint(least, 4), "mem": rng.randint(0, 6)}
        jobs.append(job(f"j{k}", rng.randint(0, 90), rng.randint(1, 40), rng.randint(1, 4), **request))
    return problem_of(jobs, groups)


@pytest.mark.parametrize("seed", some_now(range(40), 12))
def test_the_rule_is_est(loop, seed):
    """The same starts and nodes as ``rule:est`` from the horizon on, with the scheduled jobs as running jobs."""
    problem, rng = random_problem(seed), random.Random(seed)
    whole = sl.first_solution(problem, rng.choice(["est", "-duration", "area"]))
    kept = {j.id for j in problem.jobs if whole.start[j.id] < END and rng.random() < 0.6}
    some = Schedule({j: whole.start[j] for j in kept}, {j: whole.nodes[j] for j in kept})
    found = with_rest(problem, some)
    assert problem.verify(found) == []
    ends = [(j, some.start[j.id] + j.walltime) for j in problem.jobs if j.id in kept]
    running = [Running(j, some.start[j.id], some.nodes[j.id], end) for j, end in ends if end > END]
    rest = problem.dispatch.replace(jobs=[j for j in problem.jobs if j.id not in kept], now=END, running=running)
    expected = schedule_by_rule(rest, "est")
    assert {j: found.start[j] for j in expected.start} == expected.start
    assert {j: found.nodes[j] for j in expected.nodes} == expected.nodes
    assert {j: found.start[j] for j in kept} == some.start


def test_models_and_searches_give_the_same_schedule():
    """``cpsat:counts`` reads an assignment, a search its arrays: the jobs left out start at the same times."""
    problem = random_problem(2)
    schedule = sl.first_solution(problem, "-area")
    encoding = problem.formulations["counts"]()
    by_model = encoding.read(encoding.write(schedule))
    flat = Flat(problem)
    assert any(s >= END for s in schedule.start.values())
    assert by_model == flat.schedule(flat.placed(schedule)) == schedule


def test_starts_of_a_relaxation_have_no_nodes():
    found = with_rest(problem_of([job("a"), job("b", submit=70)]), Schedule({}), with_nodes=False)
    assert (found.start, found.nodes) == ({"a": END, "b": 70}, {})


def test_a_schedule_of_all_jobs_is_returned_unchanged():
    schedule = Schedule({"a": 0}, {"a": {"n-1": 1}})
    assert with_rest(problem_of([job("a")]), schedule) is schedule
