"""Lower bounds of projects: never above the optimum, known values, what each of them proves."""

import itertools

import numpy as np
import pytest
import schedlab as sl
from draws import some_now
from schedlab.heuristics import Clock, project_bounds
from schedlab.heuristics.project.bounds import MakespanBounds, warm_up
from schedlab.models import Deadline, Mode, Project, Resource, Task

from .small import job_shop, random_project


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    warm_up()


def by_enumeration(project: Project) -> int:
    """Return the least makespan: all modes, all orders, each task at its earliest start."""
    best = project.horizon + 1
    for modes in itertools.product(*(project.possible(t) for t in project.tasks)):
        for order in itertools.permutations(range(len(modes))):
            starts: dict[str, int] = {}
            for k in order:
                task = project.tasks[k].name
                links = [(b, d) for b, a, d in project.precedences if a == task]
                if any(b not in starts for b, _ in links):
                    break
                ends = {
                    t.name: starts[t.name] + m.duration
                    for t, m in zip(project.tasks, modes, strict=True)
                    if t.name in starts
                }
                start = max([0, *(ends[b] + d for b, d in links)])
                while not _fits(project, modes, {**starts, task: start}):
                    start += 1
                starts[task] = start
            else:
                best = min(best, max(starts[t.name] + m.duration for t, m in zip(project.tasks, modes, strict=True)))
    return best


def _fits(project: Project, modes: tuple[Mode, ...], starts: dict[str, int]) -> bool:
    running = [(starts[t.name], m) for t, m in zip(project.tasks, modes, strict=True) if t.name in starts]
    return all(
        sum(m.demands.get(r.name, 0) for s, m in running if s <= at < s + m.duration) <= r.capacity
        for r in project.resources
        for at, _ in running
    )


@pytest.mark.parametrize("seed", some_now(range(25), 8))
def test_no_bound_is_above_the_optimum_by_enumeration(seed: int) -> None:
    project = random_project(seed, tasks=4, budget=(99, 99))
    optimum = by_enumeration(project)
    bounds = MakespanBounds(project, Clock()).compute(10**6)
    assert set(bounds) == {"critical path", "energy", "heads and tails", "energetic reasoning"}
    assert list(bounds.values()) == sorted(bounds.values()) and bounds["energetic reasoning"] <= optimum
    assert project_bounds(project).bound <= optimum


@pytest.mark.parametrize("seed", some_now(range(40), 12))
def test_no_bound_is_above_the_optimum_of_cpsat(seed: int) -> None:
    project = job_shop(seed, jobs=5) if seed % 2 else random_project(seed, tasks=9, share=0.2)
    exact = sl.solve(project, backend="cpsat", threads=1, time_limit=30)
    if exact.status == "optimal":
        found = project_bounds(project)
        assert max(found.details.values()) == found.bound <= exact.objective
        bounds = MakespanBounds(project, Clock())
        bounds.compute(10**6)
        names = bounds.arrays.net.names  # heads and tails hold in the optimal schedule
        durations = {t.name: {mode.name: mode.duration for mode in t.modes} for t in project.tasks}
        chosen = {name: next(iter(modes)) for name, modes in exact.schedule.nodes.items()}
        ends = {name: start + durations[name][chosen[name]] for name, start in exact.schedule.start.items()}
        starts = np.array([exact.schedule.start[name] for name in names])
        assert (bounds.heads <= starts).all()
        assert (bounds.tails <= exact.objective - np.array([ends[name] for name in names])).all()


def test_one_machine_is_the_preemptive_schedule_of_jackson() -> None:
    """Heads 0, 13, 11, 20, 30, tails 26, 24, 21, 8, 0 and durations 6 on one machine: the preemptive schedule by hand."""
    data = {
        "a": (0, 6, 8),
        "b": (10, 5, 7),
        "c": (13, 6, 26),
        "d": (11, 7, 24),
        "e": (20, 4, 21),
        "f": (30, 3, 8),
        "g": (30, 2, 0),
    }
    tasks = [Task.single(name, p, {"m": 1}) for name, (_, p, _) in data.items()]
    tasks += [Task.single(f"head {name}", r) for name, (r, _, _) in data.items()]
    tasks += [Task.single(f"tail {name}", q) for name, (_, _, q) in data.items()]
    links = [pair for name in data for pair in ((f"head {name}", name), (name, f"tail {name}"))]
    project = Project(tasks, [Resource("m", 1)], links)
    assert MakespanBounds(project, Clock()).quick() == {"critical path": 45, "energy": 49}
    assert jackson(data) == 49


def jackson(data: dict[str, tuple[int, int, int]]) -> int:
    """Return the makespan of the preemptive schedule of one machine: at each time the task with the greatest tail runs."""
    left = {name: p for name, (_, p, _) in data.items()}
    now = last = 0
    while left:
        ready = [name for name in left if data[name][0] <= now]
        if ready:
            name = max(ready, key=lambda name: data[name][2])
            left[name] -= 1
            if not left[name]:
                del left[name]
                last = max(last, now + 1 + data[name][2])
        now += 1
    return last


@pytest.mark.parametrize("seed", some_now(range(20), 8))
def test_a_machine_has_the_bound_of_its_preemptive_schedule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = {f"t{k}": tuple(int(x) for x in rng.integers((0, 1, 0), (20, 8, 20))) for k in range(7)}
    tasks, links = [], []
    for name, (r, p, q) in data.items():
        tasks += [Task.single(name, p, {"m": 1}), Task.single(f"r{name}", r), Task.single(f"q{name}", q)]
        links += [(f"r{name}", name), (name, f"q{name}")]
    found = MakespanBounds(Project(tasks, [Resource("m", 1)], links), Clock()).quick()
    assert found["energy"] == jackson(data)


def test_machines_among_which_tasks_choose_share_their_work() -> None:
    """Five tasks of 3 on two machines: no machine alone has a bound, both together 15 / 2."""
    modes = tuple(Mode(m, 3, {m: 1}) for m in "xy")
    project = Project([Task(n, modes) for n in "abcde"], [Resource("x", 1), Resource("y", 1)])
    found = project_bounds(project)
    assert found.details["energy"] == 8 and (found.bound, found.objective) == (8, 9)


def test_heads_and_tails_join_the_work_before_and_after_a_task() -> None:
    """Three tasks of 2 on a crew of one, a task of 5 alone, and again three tasks of 2."""
    first, last = [f"a{k}" for k in range(3)], [f"b{k}" for k in range(3)]
    tasks = [*(Task.single(name, 2, {"crew": 1}) for name in (*first, *last)), Task.single("alone", 5)]
    links = [*((name, "alone") for name in first), *(("alone", name) for name in last)]
    bounds = MakespanBounds(Project(tasks, [Resource("crew", 1)], links), Clock()).compute(100)
    assert bounds == {"critical path": 9, "energy": 13, "heads and tails": 17, "energetic reasoning": 17}


def test_energetic_reasoning_counts_what_must_run_in_an_interval() -> None:
    """Four tasks of 4 x 2 between heads and tails of 2, and two of 8 x 1, on a crew of 4.

    With a makespan T, between 2 and T - 2 the four need 32, and the two need 6 each: 44 <= 4 (T - 4) from T = 15 on.
    """
    tasks = [Task.single("head", 2), Task.single("tail", 2), *(Task.single(f"long {k}", 8, {"crew": 1}) for k in "xy")]
    tasks += [Task.single(name, 4, {"crew": 2}) for name in "abcd"]
    links = [*(("head", name) for name in "abcd"), *((name, "tail") for name in "abcd")]
    bounds = MakespanBounds(Project(tasks, [Resource("crew", 4)], links), Clock()).compute(100)
    assert bounds == {"critical path": 8, "energy": 12, "heads and tails": 12, "energetic reasoning": 15}


def test_tasks_that_exclude_each_other_run_one_after_another() -> None:
    """Tasks of 4 with demands 2 of a capacity of 3."""
    project = Project([Task.single(n, 4, {"crew": 2}) for n in "abc"], [Resource("crew", 3)])
    assert project_bounds(project).bound == 12
    empty = project_bounds(Project([], []))
    assert (empty.status, empty.bound) == ("optimal", 0)


@pytest.mark.slow
def test_it_is_a_method_and_a_step_of_auto() -> None:
    project = job_shop(2, jobs=6, machines=4)
    start = sl.solve(project, method="cpsat:modes", time_limit=60, threads=1).schedule
    found = sl.solve(project, method="bounds+warm=lns/rounds=5")
    assert found.bound <= found.objective and found.solver == "bounds+warm=lns/rounds=5"
    again = sl.solve(project, method="bounds", warm_start=start)
    assert again.objective == project.value(start)
    assert sl.solve(project, method="bounds", time_limit=0).details.keys() == {"critical path"}
    auto = sl.solve(project, method="auto", time_limit=20, threads=2)
    assert auto.status == "optimal" and auto.details["steps"][1].method == "bounds"


def test_numbers_beyond_64_bits_are_left_to_the_longest_path() -> None:
    huge = Project([Task.single(n, 2**40, {"r": 2**30}) for n in "ab"], [Resource("r", 2**30)])
    assert project_bounds(huge).details == {"critical path": 2**40}


def test_the_time_limit_ends_the_energetic_reasoning() -> None:
    """On 500 tasks a test of one makespan takes seconds, and there are many: without the limit this takes minutes."""
    small, project = (random_project(1, tasks=n, share=0.01, budget=(10**6, 10**6)) for n in (5, 500))
    with Clock() as clock:
        MakespanBounds(small, clock).compute(10**6)  # loads or compiles the kernels
    with Clock(Deadline(1.0)) as clock:
        bounds = MakespanBounds(project, clock).compute(10**6)
    assert clock.over and bounds["energy"] > 0
