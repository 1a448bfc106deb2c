"""Projects with dates, setups, breaks and shop rules: optima by enumeration on each backend, verification, faults."""

import random
import re
from dataclasses import replace

import numpy as np
import pytest
import random_shops as shops
import schedlab as sl
from draws import some_now
from schedlab.backends import backend
from schedlab.models import Mode, ProblemError, Project, ProjectMax, Resource, Schedule, Task
from schedlab.models.project import OBJECTIVES

OF_DATES = (
    "makespan",
    "weighted-tardiness",
    "weighted-tardiness+weighted-earliness",
    "flow-time",
    "late-jobs",
    "makespan + 2*late-jobs",
)
OF_SETUPS = ("makespan", "total-setup", "total-setup+3*late-jobs", "flow-time")
SETUPS_OF_POINTS = ("total-setup", "total-setup+makespan", "2*total-setup+weighted-tardiness")
RULES = (
    ("no wait",),
    ("blocking",),
    ("no idle",),
    ("permutation",),
    ("blocking", "permutation"),
    ("no wait", "permutation"),
)
CASES = [
    *((f"dates {k}", shops.dates(k, objective), 14) for k, objective in enumerate(OF_DATES)),
    *((f"setups {k}", shops.setups(k, objective), 11) for k, objective in enumerate(OF_SETUPS)),
    *((f"points {k}", shops.points(k, objective), 9) for k, objective in enumerate(OF_DATES)),
    *((f"setups of points {k}", shops.points(k, objective), 9) for k, objective in enumerate(SETUPS_OF_POINTS * 2)),
    *((f"breaks {k}", shops.breaks(k, OF_DATES[k]), 13) for k in range(3)),
    *(
        (f"{' and '.join(rules)}", shops.shop(k, OF_DATES[k % 6], rules), 8)
        for k, rules in zip((1, 2, 3, 4, 6, 7), RULES, strict=True)
    ),
]


OPTIMA = {
    "dates": (6, 0, 0, 13, 0, 6),
    "setups": (7, 0, 0, 20),
    "points": (4, 2, 4, 8, 1, 4),
    "setups of points": (1, 3, 4, 0, 2, 2),
    "breaks": (3, 0, 0),
    "no wait": (2,),
    "blocking": (3,),
    "no idle": (26,),
    "permutation": (1,),
    "blocking and permutation": (5,),
    "no wait and permutation": (2,),
}
"""The least costs of all schedules of the cases of each kind."""


def optimum(case: str) -> int:
    """Return the optimum of a case."""
    kind = case.rstrip("0123456789 ")
    return OPTIMA[kind][int(case.removeprefix(kind) or 0)]


NAMES = [name for name, _, _ in CASES]


@pytest.mark.parametrize("name", some_now(sorted(NAMES, key=lambda name: NAMES.index(name) % 5), 7))
def test_the_optima_are_those_of_all_schedules(name: str) -> None:
    """No schedule of a lower cost has a start after the last one that is tried."""
    _, project, last = CASES[NAMES.index(name)]
    assert shops.optimum(project, last) == optimum(name)


@pytest.mark.parametrize("solver", ["cpsat", "highs", "cpo"])
@pytest.mark.parametrize(("name", "project"), [case[:2] for case in CASES], ids=[case[0] for case in CASES])
def test_the_optimum_is_that_of_all_schedules(solver: str, name: str, project: Project) -> None:
    if not backend(solver).availability().ok:
        pytest.skip(f"{solver} is not available")
    found = sl.solve(project, backend=solver, threads=1, time_limit=300)
    assert (found.status, found.objective) == ("optimal", optimum(name))
    assert found.schedule is not None
    assert shops.feasible(project, found.schedule) and shops.cost(project, found.schedule) == found.objective


@pytest.mark.parametrize("seed", range(8))
def test_verification_agrees_with_a_look_at_each_unit_of_time(seed: int) -> None:
    rng = random.Random(seed)
    for project in (
        shops.dates(seed, OF_DATES[seed % 6]),
        shops.setups(seed, OF_SETUPS[seed % 4]),
        shops.points(seed, OF_DATES[seed % 6]),
        shops.points(seed, SETUPS_OF_POINTS[seed % 3]),
        shops.breaks(seed),
        shops.shop(seed, rules=RULES[seed % 6]),
    ):
        seen = set()
        for _ in range(400):
            done = [t for t in project.tasks if t.penalty is None or rng.random() < 0.5]
            start = {t.name: rng.randint(0, 9) for t in done}
            schedule = Schedule(start, {t.name: {rng.choice(t.modes).name: 1} for t in done})
            good = shops.feasible(project, schedule)
            assert (not project.verify(schedule)) == good, schedule.as_json()
            if good:
                assert project.value(schedule) == shops.cost(project, schedule)
            seen.add(good)
        assert False in seen


@pytest.mark.parametrize("seed", range(6))
def test_a_schedule_is_written_into_the_model_and_read_back(seed: int) -> None:
    for project in (
        shops.dates(seed),
        shops.setups(seed),
        shops.points(seed),
        shops.points(seed, SETUPS_OF_POINTS[seed % 3]),
        shops.breaks(seed),
        shops.shop(seed, rules=("blocking",)),
    ):
        schedule = next(s for s in shops.schedules(project, 14) if shops.feasible(project, s))
        encoding = project.formulations["modes"]()
        assignment = encoding.write(schedule)
        assert encoding.model.check(assignment) == []
        assert encoding.read(assignment).as_json() == schedule.as_json()
        assert encoding.model.value(encoding.model.objectives[0], assignment) == project.value(schedule)


@pytest.mark.parametrize("method", ["cpsat:modes", "highs:modes", "multi-sgs", "lns"])
@pytest.mark.parametrize(("objective", "expected"), [("total-setup", 3), ("total-setup+makespan", 6)])
def test_setups_of_all_pairs_count_between_tasks_that_take_no_time(method: str, objective: str, expected: int) -> None:
    runway = Resource("runway", 1, setups={("a", "b"): 3, ("b", "a"): 5}, all_pairs=True)
    project = Project([Task.single(name, 0, {"runway": 1}) for name in "ab"], [runway], objective=objective)
    found = sl.solve(project, method, threads=1, time_limit=60, **({"rounds": 5} if method == "lns" else {}))
    assert found.objective == expected


@pytest.mark.parametrize("method", ["cpsat:modes", "highs:modes", "serial-sgs:lft", "multi-sgs", "lns"])
@pytest.mark.parametrize("all_pairs", [False, True])
def test_a_task_that_takes_no_time_may_be_within_a_break(method: str, all_pairs: bool) -> None:
    saw = Resource("m", 1, breaks=((0, 5),), setups={("a", "b"): 1}, all_pairs=all_pairs)
    project = of([on_m("a", 0, release=2), on_m("b", 0, release=1)], [saw])
    found = sl.solve(project, method, threads=1, time_limit=60, **({"rounds": 5} if method == "lns" else {}))
    assert found.objective == 2


@pytest.mark.parametrize("solver", ["cpsat", "highs"])
@pytest.mark.parametrize(
    ("all_pairs", "objective", "expected"),
    [(False, "makespan", 3), (True, "makespan", 6), (False, "total-setup", 0), (True, "total-setup", 3)],
)
def test_a_task_that_takes_no_time_and_blocks_has_setups_of_all_pairs_alone(
    solver: str, all_pairs: bool, objective: str, expected: int
) -> None:
    tasks = [on_m("a", 0, deadline=0), Task.single("b", 1, {"o": 1}, release=2), on_m("c", 1)]
    machines = [Resource("m", 1, setups={("a", "c"): 3}, all_pairs=all_pairs), Resource("o", 1)]
    link = [("a", "b")]  # a keeps m from 0 to 2
    project = of(tasks, machines, precedences=link, blocking=link, objective=objective)
    found = sl.solve(project, f"{solver}:modes", threads=1, time_limit=60)
    assert found.objective == expected == shops.optimum(project, 7)
    assert project.verify(Schedule({"a": 0, "b": 2, "c": 1})) != []
    assert (project.verify(Schedule({"a": 0, "b": 2, "c": 2})) == []) is not all_pairs


# --- Each field by an example that a reader can compute.


def of(tasks: list[Task], resources: list[Resource] | None = None, **rest: object) -> Project:
    return Project(tasks, resources or [Resource("m", 1)], **rest)  # type: ignore[arg-type]


def on_m(name: str, duration: int, **rest: object) -> Task:
    return Task.single(name, duration, {"m": 1}, **rest)  # type: ignore[arg-type]


AB = Schedule({"a": 0, "b": 3})


@pytest.mark.parametrize(
    ("project", "schedule", "message"),
    [
        (of([on_m("a", 2, release=1)]), Schedule({"a": 0}), "task 'a' starts at 0, before its release date 1"),
        (of([on_m("a", 2, deadline=4)]), Schedule({"a": 3}), "task 'a' ends at 5, its deadline is 4"),
        (
            of([on_m("a", 2), on_m("b", 2)], [Resource("m", 1, setups={("a", "b"): 3})]),
            AB,
            "resource 'm': 1 between 'a' and 'b', the setup takes 3",
        ),
        (
            of([on_m("a", 4), on_m("b", 0)], [Resource("m", 1, setups={("a", "b"): 3}, all_pairs=True)]),
            AB,
            "resource 'm': 'b' is within 'a', which takes it from 0 to 4",
        ),
        (
            of([on_m("a", 0), on_m("b", 0)], [Resource("m", 1, setups={("a", "b"): 4, ("b", "a"): 5}, all_pairs=True)]),
            AB,
            "resource 'm': 3 between 'a' and 'b', the setup takes 4",
        ),
        (
            of(
                [on_m("a", 0), on_m("b", 0), on_m("c", 0)],
                [Resource("m", 1, setups={("a", "c"): 4, ("b", "a"): 5, ("c", "b"): 1}, all_pairs=True)],
            ),
            Schedule({"a": 1, "b": 1, "c": 1}),
            "resource 'm' at 1: the setups allow no order of 'a', 'b', 'c'",
        ),
        (
            of([on_m("a", 2), on_m("b", 2)], [Resource("m", 1, no_idle=True)]),
            AB,
            "resource 'm' is idle for 1 between 'a' and 'b'",
        ),
        (
            of([on_m("a", 2)], [Resource("m", 1, breaks=((1, 3),))]),
            Schedule({"a": 0}),
            "task 'a' runs from 0 to 2, over the break of 'm' from 1 to 3",
        ),
        (
            of([on_m("a", 2)], [Resource("m", 1, breaks=((1, 3),), suspends=True)]),
            Schedule({"a": 2}),
            "task 'a' starts at 2, in the break of 'm' from 1 to 3",
        ),
        (
            of([on_m("a", 2), on_m("b", 2)], precedences=[("a", "b")], no_wait=[("a", "b")]),
            AB,
            "task 'b' starts at 3, 1 too late, as it must not wait: 'a' ends at 2",
        ),
        (
            of(
                [on_m("a", 2), Task.single("b", 2), on_m("c", 1)],
                precedences=[("a", "b")],
                blocking=[("a", "b")],
            ),
            Schedule({"a": 0, "b": 3, "c": 2}),
            "resource 'm' at 2: 2 in use, it has 1 (task 'c' starts)",
        ),
    ],
)
def test_what_breaks_a_rule_is_named(project: Project, schedule: Schedule, message: str) -> None:
    assert [v.message for v in project.verify(schedule)] == [message]


def test_jobs_overtake_where_there_is_no_permutation() -> None:
    tasks = [Task.single(f"{j}{m}", 1, {m: 1}, job=j) for j in "xy" for m in "mn"]
    free = Project(tasks, [Resource("m", 1), Resource("n", 1)], [("xm", "xn"), ("ym", "yn")])
    schedule = Schedule({"xm": 0, "ym": 1, "yn": 2, "xn": 3})
    assert free.verify(schedule) == []
    kept = replace(free, permutation=("m", "n"))
    assert [v.message for v in kept.verify(schedule)] == ["job 'x' is before job 'y' on 'm', but not on 'n'"]


def test_a_task_that_breaks_suspend_ends_later_and_the_rest_of_the_package_knows_it() -> None:
    crew = Resource("crew", 1, breaks=((2, 4), (5, 6)), suspends=True)
    project = Project([Task.single("a", 4, {"crew": 1})], [crew])
    assert project.value(Schedule({"a": 0})) == 7
    found = sl.solve(project, "cpsat:modes", threads=1, time_limit=60)
    assert found.objective == 7 and found.to_pandas()["end"].tolist() == [7]


def test_the_objectives_of_one_schedule() -> None:
    tasks = [
        on_m("a", 3, release=1, due=3, weight=2),
        on_m("b", 2, due=9, weight=5, earliness_weight=3),
        on_m("c", 4, penalty=7),
    ]
    project = of(tasks, [Resource("m", 1, setups={("a", "b"): 1})])
    schedule = Schedule({"a": 1, "b": 5})
    expected = {
        "makespan": 7,
        "weighted-tardiness": 2,
        "weighted-earliness": 6,
        "flow-time": 2 * 3 + 5 * 7,
        "late-jobs": 2,
        "total-setup": 1,
    }
    assert expected.keys() == OBJECTIVES.keys()
    for name, value in expected.items():
        assert replace(project, objective=name).value(schedule) == value + 7  # the penalty of c
    assert replace(project, objective="makespan + 10*late-jobs").value(schedule) == 7 + 20 + 7


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        ("0*makespan", "'0*makespan'; the factor of 'makespan' is 0"),
        ("makespan+makespan", "'makespan' is in it twice"),
        ("flow-time + 2*makespan + 3*flow-time", "'flow-time' is in it twice"),
    ],
)
def test_a_term_of_an_objective_counts_once(objective: str, message: str) -> None:
    with pytest.raises(sl.WrongValue, match=re.escape(message)):
        of([on_m("a", 1)], objective=objective)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tasks": [on_m("a", 1, release=-1)]}, "task 'a': release is -1; at least 0 is expected"),
        ({"tasks": [on_m("a", 1, due=2.5)]}, "task 'a': due is 2.5; a whole number, or None, is expected"),
        ({"tasks": [on_m("a", 1, release=5, deadline=3)]}, "task 'a': the deadline 3 is before the release 5"),
        ({"tasks": [on_m("a", 1, weight=-2)]}, "task 'a': weight is -2; at least 0 is expected"),
        ({"objective": "late-jobs"}, "the objective 'late-jobs' needs due dates, and no task has one"),
        ({"objective": "total-setup"}, "the objective 'total-setup' needs setups, and no resource has one"),
        (
            {"resources": [Resource("m", 2, setups={("a", "b"): 1})]},
            "'m' has setups; this needs a renewable resource of",
        ),
        (
            {"resources": [Resource("m", 1, setups={("a", "x"): 1})]},
            "resource 'm': a setup has 'x'; the families are a, b",
        ),
        ({"resources": [Resource("m", 1, setups={("a", "b"): -1})]}, "the setup 'a' -> 'b' is -1; at least 0"),
        ({"resources": [Resource("m", 1, setups={("a", "b"): 1}, no_idle=True)]}, "both setups and no idle time"),
        ({"resources": [Resource("m", 1, breaks=((3, 3),))]}, "resource 'm': the break from 3 to 3 is empty"),
        ({"resources": [Resource("m", 9, renewable=False, breaks=((3, 4),))]}, "is not renewable, and has breaks"),
        ({"no_wait": [("b", "a")]}, "no_wait 'b' -> 'a': there is no precedence of these tasks"),
        ({"blocking": [("a", "b"), ("a", "b")]}, "blocking 'a' -> 'b' is listed 2 times"),
        ({"permutation": ["m"]}, "permutation: task 'a' needs a job"),
        ({"permutation": ["x"]}, "permutation: there is no renewable resource 'x' of capacity 1"),
    ],
)
def test_contradictions_raise_with_the_names(change: dict[str, object], message: str) -> None:
    data = {"tasks": [on_m("a", 1), on_m("b", 2)], "resources": [Resource("m", 1)], "precedences": [("a", "b")]}
    if "tasks" in change:
        data["precedences"] = []
    with pytest.raises(ProblemError, match=re.escape(message)):
        Project(**{**data, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["renewable", "all_pairs", "suspends", "no_idle"])
def test_flags_of_resources_are_true_or_false(field: str) -> None:
    message = f"resource 'm': {field} is 'no'; True or False is expected"
    with pytest.raises(ProblemError, match=f"^{re.escape(message)}$"):
        Project([on_m("a", 1)], [Resource("m", 1, **{field: "no"})])  # type: ignore[arg-type]
    project = Project([on_m("a", 1)], [Resource("m", 1, **{field: np.bool_(True)})])  # type: ignore[arg-type]
    assert getattr(project.resources[0], field) is True


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        ("tardines", "there is no objective of project problems 'tardines' in 'tardines'"),
        ("makespan+", "there is no objective of project problems '' in 'makespan+'"),
        (3, "objective of Project is 3; expected a text such as 'makespan'"),
        (["makespan"], "objective of Project is ['makespan']; expected a text such as 'makespan'"),
        (
            "0.5*late-jobs",
            "objective of Project is '0.5*late-jobs'; the factor of 'late-jobs' is '0.5'; expected a whole number of at most "
            "12 digits, as in '10*late-jobs'",
        ),
        ("2*", "there is no objective of project problems '2*' in '2*'"),
    ],
)
def test_unknown_objectives_are_refused(objective: object, message: str) -> None:
    with pytest.raises(sl.SchedlabError, match=re.escape(message)):
        of([on_m("a", 1)], objective=objective)


def test_a_project_that_cannot_keep_its_deadlines_is_infeasible_and_explained() -> None:
    project = of([on_m("a", 3, deadline=4), on_m("b", 3, deadline=4)])
    assert sl.solve(project, "cpsat:modes", threads=1, time_limit=60).status == "infeasible"
    why = sl.explain(project, time_limit=60)
    assert {e.kind for e in why.elements} == {"resource", "task", "deadline"}
    alone = of([on_m("a", 3, release=2, deadline=4)])
    assert sl.solve(alone, "cpsat:modes", threads=1, time_limit=60).status == "infeasible"


# --- Heuristics: what they make is feasible and no better than the optimum, and what they do not support is refused.


@pytest.mark.parametrize("seed", range(6))
def test_priority_rules_keep_dates_setups_and_breaks(seed: int) -> None:
    for project in (
        shops.dates(seed, OF_DATES[seed]),
        shops.setups(seed, OF_SETUPS[seed % 4]),
        shops.points(seed, OF_DATES[seed]),
        shops.points(seed, SETUPS_OF_POINTS[seed % 3]),
        shops.breaks(seed, OF_DATES[seed]),
    ):
        exact = sl.solve(project, backend="cpsat", threads=1, time_limit=60).objective
        for rule in ("lft", "edd", "wspt"):
            try:
                found = sl.solve(project, f"serial-sgs:{rule}")
            except sl.SchedlabError as e:
                assert "after its deadline" in str(e)
                continue
            assert found.schedule is not None and shops.feasible(project, found.schedule)
            assert found.objective == shops.cost(project, found.schedule) >= exact


@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_the_makespan_hold_with_more_rules(seed: int) -> None:
    plain = replace(shops.dates(seed), tasks=tuple(replace(t, penalty=None) for t in shops.dates(seed).tasks))
    for project in (plain, shops.breaks(seed), shops.shop(seed, rules=RULES[seed])):
        if any(t.optional for t in project.tasks):
            continue
        exact = sl.solve(project, backend="cpsat", threads=1, time_limit=60)
        if exact.schedule is None:
            continue
        found = sl.solve(project, "bounds", warm_start=exact.schedule)
        assert found.bound is not None and found.bound <= exact.objective == found.objective


def test_a_task_is_left_out_where_it_costs_more_than_its_penalty() -> None:
    tasks = [on_m("a", 2, due=2), on_m("b", 5, due=2, weight=3, penalty=4), on_m("c", 1, due=3, penalty=9)]
    found = sl.solve(of(tasks, objective="weighted-tardiness"), "multi-sgs")
    assert found.schedule is not None and set(found.schedule.start) == {"a", "c"} and found.objective == 4


@pytest.mark.parametrize(
    ("method", "change", "words"),
    [
        (
            "lns",
            {"resources": [Resource("m", 1, setups={("b", "a"): 1})], "blocking": [("a", "b")]},
            "supports only .*; this one has blocking beside setups",
        ),
        (
            "lns",
            {"resources": [Resource("m", 1, no_idle=True)], "blocking": [("a", "b")]},
            "this one has no-idle resources beside blocking",
        ),
        (
            "lns",
            {"resources": [Resource("m", 1, breaks=((1, 2),), suspends=True)], "no_wait": [("a", "b")]},
            "this one has precedences without a wait beside breaks that suspend tasks",
        ),
        (
            "lns",
            {"resources": [Resource("m", 1, setups={("b", "a"): 1})], "no_wait": [("a", "b")]},
            "this one has precedences without a wait beside setups",
        ),
        (
            "lns",
            {"resources": [Resource("m", 2)], "precedences": [("a", "b", -1)], "no_wait": [("a", "b")]},
            "this one has precedences without a wait with negative delays",
        ),
        (
            "lns",
            {"tasks": [on_m("a", 1), on_m("b", 2, penalty=1)], "no_wait": [("a", "b")]},
            "this one has precedences without a wait of tasks that may be left out",
        ),
        (
            "lns",
            {"resources": [Resource("m", 1, no_idle=True), Resource("n", 2)]},
            "the method 'lns' does not take this project problem: it supports only projects whose rules can be together; "
            "this one has no-idle resources beside resources of capacity above 1; ",
        ),
        (
            "lns",
            {"objective": f"{10**11}*flow-time", "tasks": [on_m("a", 10**5, weight=10**5)], "precedences": []},
            "below",
        ),
        (
            "bounds",
            {"objective": "flow-time"},
            "the method 'bounds' does not take this project problem: it supports only projects that minimize the makespan "
            "and whose tasks must all be done; this one has the objective flow-time; ",
        ),
        (
            "bounds",
            {"tasks": [on_m("a", 1, penalty=2)], "precedences": []},
            "this one has tasks that may be left out; lns, serial-sgs, multi-sgs, cpsat",
        ),
        (
            "bounds",
            {"resources": [Resource("m", 1, setups={("b", "a"): 1})], "no_wait": [("a", "b")]},
            "bounds needs a start, as .*; this one has precedences without a wait beside setups",
        ),
        (
            "multi-sgs",
            {"resources": [Resource("m", 2)], "precedences": [("a", "b", -1)], "no_wait": [("a", "b")]},
            "supports only .*; this one has precedences without a wait with negative delays",
        ),
        (
            "serial-sgs:lft",
            {"resources": [Resource("m", 1, breaks=((1, 2),), suspends=True)], "blocking": [("a", "b")]},
            "this one has blocking beside breaks that suspend tasks",
        ),
    ],
)
def test_what_a_search_does_not_support_is_refused(method: str, change: dict[str, object], words: str) -> None:
    data = {"tasks": [on_m("a", 1), on_m("b", 2)], "resources": [Resource("m", 1)], "precedences": [("a", "b")]}
    project = Project(**{**data, **change})  # type: ignore[arg-type]
    with pytest.raises(sl.SchedlabError, match=words):
        sl.solve(project, method, time_limit=60)
    assert sl.solve(project, "auto", threads=1, time_limit=60).status == "optimal"


def test_chains_that_precede_each_other_are_refused_by_lns() -> None:
    tasks = [on_m(name, 1) for name in "abcd"]
    links = [("a", "b"), ("c", "d"), ("a", "d"), ("c", "b")]
    project = Project(tasks, [Resource("m", 2)], links, no_wait=[("a", "b"), ("c", "d")])
    with pytest.raises(sl.SchedlabError, match="chains of precedences without a wait that precede each other"):
        sl.solve(project, "lns", time_limit=60)
    jobs = [Task.single(name, 1, {name[0]: 1}, job=name[1]) for name in ("m1", "n1", "m2", "n2")]
    project = Project(jobs, [Resource("m", 1), Resource("n", 1)], [("m1", "n2")], permutation=["m", "n"])
    with pytest.raises(sl.SchedlabError, match="a permutation of jobs with precedences between them"):
        sl.solve(project, "lns", time_limit=60)
    several = Project(tasks, [Resource("m", 1)], [("a", "b"), ("a", "c")], no_wait=[("a", "b"), ("a", "c")])
    with pytest.raises(sl.SchedlabError, match="precedences without a wait of which one task has several"):
        sl.solve(several, "lns", time_limit=60)


def test_a_mode_that_cannot_keep_the_deadline_is_left_out() -> None:
    task = Task("a", (Mode("slow", 9), Mode("fast", 2)), deadline=5)
    project = Project([task], [])
    assert len(project.formulations["modes"]().model.intervals) == 1
    assert sl.solve(project, "cpsat:modes", threads=1, time_limit=60).objective == 2


def test_projects_with_maximal_lags_have_the_same_fields() -> None:
    tasks = [on_m("a", 2, due=2), on_m("b", 1, due=1, weight=3), Task.single("c", 1)]
    project = ProjectMax(tasks, [Resource("m", 1)], [("a", "c")], [("a", "c", 4)], "weighted-tardiness")
    found = sl.solve(project, "cpsat:modes", threads=1, time_limit=60)
    assert (found.status, found.objective) == ("optimal", 1)
    assert replace(project, objective="flow-time").lags == project.lags


@pytest.mark.parametrize("chained", [False, True])
def test_the_load_of_machines_is_posted_only_where_it_may_bound_the_makespan(chained: bool) -> None:
    modes = [Mode(machine, 4, {machine: 1}) for machine in "ab"]
    tasks = [Task(f"t{k}", modes) for k in range(5)]
    chain = [(f"t{k}", f"t{k + 1}") for k in range(4)] if chained else []
    project = Project(tasks, [Resource("a", 1), Resource("b", 1)], chain)
    names = [c.name for c in project.formulations["modes"]().model.constraints]
    assert [name for name in names if name.startswith("load")] == ([] if chained else ["load of a", "load of b"])
    assert sl.solve(project, "cpsat:modes", threads=1).objective == (20 if chained else 12)
