"""The elements of projects: breaks, setups, rules of shops, and limits of all objectives."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest
import random_shops
import schedlab as sl
from draws import some_now
from schedlab.backends import Limits, run
from schedlab.explain import elements_of

BOOTH = sl.Resource("booth", 1, setups={("white", "black"): 1, ("black", "white"): 3}, breaks=((6, 8),), suspends=True)
DOORS = [
    sl.Task.single("door 1", 2, {"booth": 1}, family="white", due=2),
    sl.Task.single("door 2", 4, {"booth": 1}, family="black", due=6, weight=2),
    sl.Task.single("door 3", 2, {"booth": 1}, family="white", due=5, penalty=9),
]
TIMES = {"a": (5, 1, 4), "b": (4, 5, 1), "c": (2, 4, 4), "d": (3, 6, 2)}


def flow_shop(**rules):
    """Return four jobs on three machines, with rules for their chain of precedences."""
    steps = [
        sl.Task.single(f"{job} on m{m}", duration, {f"m{m}": 1}, job=job)
        for job, row in TIMES.items()
        for m, duration in enumerate(row, 1)
    ]
    chain = [(f"{job} on m{m}", f"{job} on m{m + 1}") for job in TIMES for m in (1, 2)]
    given = {rule: chain if value is True else value for rule, value in rules.items()}
    return sl.Project(steps, [sl.Resource(f"m{m}", 1) for m in (1, 2, 3)], chain, **given)


def names(found, kind):
    return [e.name for e in found.elements if e.kind == kind]


def optimum(problem):
    """Return the least value of the objective; None if there is no schedule."""
    encoding = problem.formulations["modes"]()
    found = run(encoding.model, "cpsat", Limits(time=60, threads=1), conflict=False)
    if found.status == "infeasible":
        return None
    assert found.status == "optimal"
    schedule = encoding.read(found.assignment)
    assert problem.verify(schedule) == []
    return problem.value(schedule)


def test_setups_breaks_and_tasks_are_named():
    found = sl.explain(sl.Project(DOORS, [BOOTH], objective="weighted-tardiness"), objective_limit=9, threads=1)
    assert (found.status, found.minimal) == ("infeasible", True)
    assert names(found, "setups") == names(found, "resource") == ["booth"]
    assert sorted(names(found, "task")) == ["door 1", "door 2", "door 3"]
    assert "break: the break of booth from 6 to 8 suspends its tasks" in str(found)
    assert "setups: booth needs setups of up to 3 between neighbouring tasks" in str(found)


def test_of_several_breaks_the_one_in_the_way_is_named():
    oven = sl.Resource("oven", 2, breaks=((3, 4), (20, 30)))
    found = sl.explain(sl.Project([sl.Task.single("bake", 3, {"oven": 1}, release=1, deadline=6)], [oven]), threads=1)
    assert {(e.kind, e.name) for e in found.elements} == {
        ("task", "bake"),
        ("break", "oven from 3 to 4"),
        ("deadline", "bake"),
        ("release", "bake"),
    }
    assert "the break of oven from 3 to 4 has no task" in found.message


@pytest.mark.parametrize(
    ("rules", "kind", "limit", "words"),
    [
        ({"permutation": ["m1", "m2", "m3"]}, "permutation", 19, "the jobs have the same order on m1, m2 and m3"),
        ({"blocking": True}, "blocking", 20, "keeps its resources until"),
        ({"no_wait": True}, "no wait", 21, "starts exactly at the end of"),
    ],
)
def test_rules_of_shops_are_named(rules, kind, limit, words):
    problem = flow_shop(**rules)
    assert optimum(problem) == limit + 1
    found = sl.explain(problem, objective_limit=limit, threads=1)
    assert (found.status, found.minimal) == ("infeasible", True)
    assert words in str(found)
    assert optimum(found.parts.part(found.elements)) > limit
    without = [e for e in found.elements if e.kind != kind]
    assert optimum(found.parts.part(without)) <= limit


def test_a_resource_without_idle_time_is_named():
    tasks = [sl.Task.single("a", 2, {"m": 1}, deadline=2), sl.Task.single("b", 2, {"m": 1}, release=3)]
    found = sl.explain(sl.Project(tasks, [sl.Resource("m", 1, no_idle=True)]), threads=1)
    assert {e.kind for e in found.elements} == {"resource", "no idle time", "task", "deadline", "release"}
    assert "each task on m starts when the one before it ends" in found.message


def test_a_task_that_makes_a_setup_shorter_is_not_blamed():
    # from a to c directly 9, by way of b 3: without b, the rest would take longer than the whole
    setups = {("a", "c"): 9, ("c", "a"): 9, ("a", "b"): 1, ("b", "c"): 1, ("b", "a"): 1, ("c", "b"): 1}
    tasks = [sl.Task.single(name, 1, {"m": 1}) for name in "abc"]
    problem = sl.Project(tasks, [sl.Resource("m", 1, setups=setups)])
    assert optimum(problem) == 5
    parts = elements_of(problem)
    without = parts.part([e for e in parts.all if (e.kind, e.name) != ("task", "b")])
    assert optimum(without) == 5
    found = sl.explain(problem, objective_limit=4, threads=1)
    assert set(names(found, "task")) == {"a", "c"} and found.minimal


OBJECTIVES = (
    "makespan",
    "weighted-tardiness",
    "weighted-earliness",
    "flow-time",
    "late-jobs",
    "total-setup",
    "flow-time+3*late-jobs",
    "makespan+2*weighted-tardiness",
)
KINDS = (random_shops.dates, random_shops.setups, random_shops.points, random_shops.breaks, random_shops.shop)


def random_project(seed):
    """Return a random project of one kind with one objective, at times with a release date and a break more."""
    rng = random.Random(seed)
    make = KINDS[seed % len(KINDS)]
    objective = OBJECTIVES[seed // len(KINDS) % len(OBJECTIVES)]
    if objective == "total-setup" and make not in (random_shops.setups, random_shops.points):
        objective = "flow-time"
    if make is not random_shops.shop:
        return make(seed, objective)
    rules = ("no idle", "no wait", "blocking", "permutation")
    p = make(seed, objective, tuple(rule for rule in rules if rng.random() < 0.5))
    tasks = [replace(p.tasks[0], release=rng.randint(0, 3)), *p.tasks[1:]]
    resources = [replace(p.resources[0], breaks=((2, 4),), suspends=rng.random() < 0.5), *p.resources[1:]]
    return sl.Project(tasks, resources, p.precedences, p.objective, p.no_wait, p.blocking, p.permutation)


@pytest.mark.parametrize("seed", some_now(range(0, 80, 2), 20))
def test_no_removal_makes_the_objective_worse(seed):
    problem = random_project(seed)
    parts = elements_of(problem)
    kept = list(parts.all)
    least = optimum(problem)
    assert optimum(parts.part(kept)) == least
    for e in random.Random(seed).sample(kept, len(kept)):
        kept.remove(e)
        value = optimum(parts.part(kept))
        assert least is None or value <= least, e
        least = value
    assert least == 0


@pytest.mark.parametrize("seed", some_now(range(1, 80, 2), 20))
def test_limits_of_all_objectives(seed):
    problem = random_project(seed)
    least = optimum(problem)
    if least is None:
        assert sl.explain(problem, threads=1).status == "infeasible"
        return
    assert sl.explain(problem, objective_limit=least, threads=1).status == "feasible"
    found = sl.explain(problem, objective_limit=least - 1, threads=1)
    assert (found.status, found.minimal, found.elements[-1].kind) == ("infeasible", True, "limit")
    others = found.elements[:-1]
    assert optimum(found.parts.part(others)) >= least
    for e in others:
        value = optimum(found.parts.part([other for other in others if other is not e]))
        assert value < least, e


def elements(found):
    return {(e.kind, e.name) for e in found.elements}


def test_a_task_that_may_be_left_out_needs_nothing():
    tasks = [sl.Task.single("a", 1, {"n": 2}), sl.Task.single("b", 1, {"n": 2}, penalty=5)]
    problem = sl.Project(tasks, [sl.Resource("n", 3, renewable=False)])
    assert optimum(problem) == 6
    assert sl.explain(problem, threads=1).status == "feasible"
    found = sl.explain(problem, objective_limit=4, threads=1)
    assert found.minimal and [e.kind for e in found.elements] == ["resource", "task", "task", "limit"]


@pytest.mark.parametrize("rule", ["no idle", "no wait"])
def test_a_break_that_suspends_is_named_beside_a_rule_of_other_tasks(rule):
    tasks = [sl.Task.single("a", 2, {"r": 1}, deadline=2), sl.Task.single("b", 1, {"s": 1}), sl.Task.single("c", 1)]
    resources = [sl.Resource("r", 1, breaks=((1, 2),), suspends=True), sl.Resource("s", 1, no_idle=rule == "no idle")]
    problem = sl.Project(tasks, resources, [("b", "c")], no_wait=[("b", "c")] if rule == "no wait" else [])
    found = sl.explain(problem, threads=1)
    assert found.minimal
    assert elements(found) == {("task", "a"), ("break", "r from 1 to 2"), ("deadline", "a")}


def test_breaks_that_suspend_are_named_with_a_rule_that_depends_on_them():
    # a from 0 to 3 over the first break, b from 3 to 9 over the second one
    tasks = [sl.Task.single("a", 2, {"r": 1}), sl.Task.single("b", 2, {"r": 1})]
    resource = sl.Resource("r", 1, breaks=((1, 2), (4, 8)), suspends=True)
    problem = sl.Project(tasks, [resource], [("a", "b")], no_wait=[("a", "b")])
    assert optimum(problem) == 9
    found = sl.explain(problem, objective_limit=8, threads=1)
    assert found.minimal and ("break", "r") in elements(found)
    assert "the 2 breaks of r suspend its tasks" in found.message


def test_a_total_need_is_found_beside_a_resource_without_idle_time():
    tasks = [sl.Task.single(name, 1, {"r": 1, "n": 1}) for name in "ab"]
    resources = [sl.Resource("r", 1, no_idle=True), sl.Resource("n", 1, renewable=False)]
    found = sl.explain(sl.Project(tasks, resources), threads=1)
    assert found.minimal and elements(found) == {("resource", "n"), ("task", "a"), ("task", "b")}


@pytest.mark.parametrize(
    ("names_of_tasks", "said"),
    [("a", "a takes 3, but the makespan is at most 2"), ("ab", "a and b follow one another and take 6 in all, but ")],
)
def test_one_task_takes_its_time_and_several_follow_one_another(names_of_tasks, said):
    tasks = [sl.Task.single(name, 3) for name in names_of_tasks]
    project = sl.Project(tasks, [], list(pairwise(names_of_tasks)))
    assert said in sl.explain(project, objective_limit=3 * len(tasks) - 1).message
