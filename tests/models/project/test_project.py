"""Projects: data, verification, windows and formulation, without a solver and with CP-SAT on small ones."""

import itertools
import random

import pytest
import schedlab as sl
from schedlab.models import Mode, ProblemError, Project, Resource, Schedule, Task
from schedlab.models.project import exclusive_sets
from schedlab.models.project import formulations as cliques


@pytest.fixture
def workshop() -> Project:
    """Make a project: cut, then paint quickly with much paint or slowly with little; pack at the same bench as cut."""
    paint = Task("paint", (Mode("fast", 2, {"paint": 5, "hands": 2}), Mode("slow", 6, {"paint": 1, "hands": 1})))
    tasks = [Task.single("cut", 3, {"bench": 1, "hands": 1}), paint, Task.single("pack", 4, {"bench": 1, "hands": 1})]
    resources = [Resource("bench", 1), Resource("hands", 2), Resource("paint", 6, renewable=False)]
    return Project(tasks, resources, [("cut", "paint", 1)])


GOOD = Schedule({"cut": 0, "paint": 7, "pack": 3}, {"paint": {"fast": 1}})


def test_a_schedule_that_keeps_everything(workshop: Project) -> None:
    assert workshop.verify(GOOD) == []
    assert workshop.value(GOOD) == 9


@pytest.mark.parametrize(
    ("start", "modes", "message"),
    [
        ({"pack": 2}, {}, r"resource 'bench' at 2: 2 in use, it has 1 \(task 'pack' starts\)"),
        ({"paint": 5}, {}, "resource 'hands' at 5: 3 in use, it has 2"),
        ({"paint": 3, "pack": 7}, {}, "task 'paint' starts at 3, 1 too early: 'cut' ends at 3, the delay is 1"),
        ({"cut": -1}, {}, "task 'cut' starts at -1, before 0"),
        ({}, {"paint": {"fast": 1, "slow": 1}}, "task 'paint' must run in one of"),
        ({}, {"paint": {}}, "task 'paint' must run in one of"),
        ({"varnish": 4}, {}, "task 'varnish' is not one of the problem"),
    ],
)
def test_what_a_schedule_breaks_is_reported(
    workshop: Project, start: dict[str, int], modes: dict, message: str
) -> None:  # type: ignore[type-arg]
    found = workshop.verify(Schedule({**GOOD.start, **start}, {**GOOD.nodes, **modes}))
    assert len(found) == 1 and found[0].amount >= 1
    assert pytest.importorskip("re").search(message, found[0].message)


def test_missing_tasks_and_used_up_resources_are_reported(workshop: Project) -> None:
    start = {t: s for t, s in GOOD.start.items() if t != "cut"}
    assert [v.message for v in workshop.verify(Schedule(start, GOOD.nodes))] == ["task 'cut' has no start"]
    less = Project(workshop.tasks, [*workshop.resources[:2], Resource("paint", 4, renewable=False)])
    assert [v.message for v in less.verify(GOOD)] == ["resource 'paint': 5 used in all, it has 4"]


def test_ends_come_before_starts_and_empty_tasks_occupy_nothing() -> None:
    tasks = [Task.single(n, d, {"crew": 1}) for n, d in (("a", 2), ("b", 3), ("milestone", 0))]
    project = Project(tasks, [Resource("crew", 1)])
    assert project.verify(Schedule({"a": 3, "b": 0, "milestone": 1})) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"precedences": [("a", "b"), ("b", "c"), ("c", "a")]}, "cycle: a -> b -> c -> a"),
        ({"precedences": [("a", "x")]}, "precedence 'a' -> 'x': there is no task 'x'"),
        ({"tasks": [Task.single("a", 1), Task.single("a", 2)]}, "task 'a' is listed 2 times"),
        ({"tasks": [Task("a", ())]}, "task 'a' has no mode"),
        ({"tasks": [Task.single("a", -1)]}, "task 'a', mode '1': the duration is -1"),
        ({"tasks": [Task.single("a", 1, {"crane": 1})]}, "there is no resource 'crane'; known are crew"),
        ({"tasks": [Task.single("a", 1, {"crew": -1})]}, "the demand of crew is -1"),
        ({"tasks": [Task.single("a", 1, {"crew": 3})]}, "task 'a' can never run: mode '1' asks for 3 of 'crew'"),
        ({"resources": [Resource("crew", -2)]}, "resource 'crew': the capacity is -2"),
    ],
)
def test_contradictions_raise_with_the_names(change: dict, message: str) -> None:  # type: ignore[type-arg]
    data = {"tasks": [Task.single(n, 1) for n in "abc"], "resources": [Resource("crew", 2)], "precedences": []}
    with pytest.raises(ProblemError, match=message.replace("(", r"\(")):
        Project(**({**data, **change} if "tasks" not in change else {**data, **change, "precedences": []}))


def test_windows_by_longest_paths(workshop: Project) -> None:
    assert workshop.heads == {"cut": 0, "paint": 4, "pack": 0}
    assert workshop.tails == {"cut": 3, "paint": 0, "pack": 0}
    assert workshop.horizon == 3 + 6 + 4 + 1
    assert workshop.start_window(workshop.tasks[0], 3) == (0, 14 - 3 - 3)


def test_a_schedule_written_into_the_model_satisfies_it_and_is_read_back(workshop: Project) -> None:
    encoding = workshop.formulations["modes"]()
    assignment = encoding.write(GOOD)
    assert encoding.model.check(assignment) == []
    assert encoding.model.value(encoding.model.objectives[0], assignment) == 9
    again = encoding.read(assignment)
    assert again.start == GOOD.start
    assert again.nodes == {"cut": {"1": 1}, "paint": {"fast": 1}, "pack": {"1": 1}}


def test_one_task_after_another_is_within_the_windows(workshop: Project) -> None:
    """A schedule of one task after another satisfies the model: its windows and horizon are wide enough."""
    slow = Schedule({"cut": 0, "paint": 4, "pack": 10}, {"paint": {"slow": 1}})
    encoding = workshop.formulations["modes"]()
    assert workshop.verify(slow) == []
    assert encoding.model.check(encoding.write(slow)) == []


def random_project(seed: int) -> Project:
    rng = random.Random(seed)
    tasks = []
    for k in range(4):
        modes = [
            Mode(str(m), rng.randint(0, 3), {"r": rng.randint(0, 2), "n": rng.randint(0, 2)})
            for m in range(rng.randint(1, 2))
        ]
        tasks.append(Task(f"t{k}", tuple(modes)))
    links = [
        (f"t{a}", f"t{b}", rng.choice((0, 0, 1, -1)))
        for a, b in itertools.combinations(range(4), 2)
        if rng.random() < 0.3
    ]
    return Project(tasks, [Resource("r", 2), Resource("n", rng.randint(2, 6), renewable=False)], links)


def least_makespan(project: Project) -> int | None:
    """Return the least makespan over all modes and starts that ``verify`` accepts."""
    best = None
    for modes in itertools.product(*(t.modes for t in project.tasks)):
        nodes = {t.name: {m.name: 1} for t, m in zip(project.tasks, modes, strict=True)}
        for starts in itertools.product(range(7), repeat=len(project.tasks)):
            makespan = max(s + m.duration for s, m in zip(starts, modes, strict=True))
            if best is None or makespan < best:
                schedule = Schedule({t.name: s for t, s in zip(project.tasks, starts, strict=True)}, nodes)
                if not project.verify(schedule):
                    best = makespan
    return best


@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_is_that_of_enumeration(seed: int) -> None:
    project = random_project(seed)
    encoding = project.formulations["modes"]()
    result = sl.solve(encoding.model, backend="cpsat", threads=1, time_limit=20)
    expected = least_makespan(project)
    if expected is None:
        assert result.status == "infeasible"
    else:
        assert (result.status, result.objective) == ("optimal", expected)
        schedule = encoding.read(result.assignment)
        assert project.verify(schedule) == [] and project.value(schedule) == expected


def test_exclusive_sets_cover_every_pair_that_a_resource_keeps_apart() -> None:
    rng = random.Random(5)
    tasks = [
        Task.single(f"t{k}", rng.randint(1, 5), {"r": rng.randint(0, 4), "s": rng.randint(0, 4)}) for k in range(20)
    ]
    links = [(f"t{k}", f"t{k + 5}") for k in range(15)]
    project = Project(tasks, [Resource("r", 5), Resource("s", 5)], links)
    covered = {frozenset(p) for found in exclusive_sets(project) for p in itertools.combinations(found, 2)}
    apart = {
        frozenset((a.name, b.name))
        for a, b in itertools.combinations(tasks, 2)
        if any(a.modes[0].demands[r] + b.modes[0].demands[r] > 5 for r in "rs")
    }
    ordered = {frozenset((f"t{a}", f"t{b}")) for a in range(20) for b in range(a + 5, 20, 5)}
    assert apart - ordered <= covered <= apart | ordered


def crowded(count: int) -> Project:
    """Return a project in which most tasks exclude each other, by resources or by their order."""
    rng = random.Random(count)
    tasks = [
        Task.single(f"t{k}", rng.randint(0, 5), {"r": rng.randint(0, 6), "s": rng.randint(0, 4)}) for k in range(count)
    ]
    links = [(f"t{rng.randrange(max(0, k - 20), k)}", f"t{k}") for k in range(1, count, 2)]
    return Project(tasks, [Resource("r", 6), Resource("s", 5)], links)


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 130])  # rows of bits have words of 64
def test_large_projects_have_the_same_exclusive_sets_as_small_ones(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    project = crowded(count)
    small = list(exclusive_sets(project))
    monkeypatch.setattr(cliques, "PLAIN", 0)
    assert list(exclusive_sets(project)) == small and (count < 60 or len(small) > 5)


def test_the_number_of_members_of_exclusive_sets_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    project = crowded(130)
    whole = list(exclusive_sets(project))
    monkeypatch.setattr(cliques, "PLAIN", 0)
    monkeypatch.setattr(cliques, "MOST_MEMBERS", 300)
    some = list(exclusive_sets(project))
    assert some == whole[: len(some)] and sum(map(len, some[:-1])) < 300 <= sum(map(len, some))
    assert sum(map(len, whole)) > 600


def test_a_mode_that_no_resource_can_hold_is_impossible_also_if_it_takes_no_time():
    """The model left it out, and the verifier accepted it: "optimal 4" beside a schedule of 0."""
    task = sl.Task("a", (sl.Mode("now", 0, {"r": 5}), sl.Mode("slow", 4, {"r": 1})))
    problem = sl.Project([task], [sl.Resource("r", 2)])
    (broken,) = problem.verify(sl.Schedule({"a": 0}, {"a": {"now": 1}}))
    assert broken.message == "task 'a': mode 'now' asks for 5 of 'r', which has 2"
    for method in ("cpsat:modes", "multi-sgs", "bounds"):
        found = sl.solve(problem, method)
        assert (found.status, found.objective, found.bound) == ("optimal", 4, 4)
        assert problem.verify(found.schedule) == []
    with pytest.raises(ProblemError, match="task 'a' can never run: mode 'now' asks for 5 of 'r', which has 2"):
        sl.Project([sl.Task("a", task.modes[:1])], [sl.Resource("r", 2)])
