"""Options of one alternative on one resource: CP-SAT gets their master, with the demand of the chosen option."""

from __future__ import annotations

import random
import re

import pytest
import schedlab as sl
from draws import some_now
from schedlab.backends import Limits
from schedlab.backends.conformance import Contender, brute_force, fixed, judge
from schedlab.models import Mode, Project, Resource, Task

LIMIT = 0.05  # CP-SAT's deterministic time: about a second; with one interval per mode there is no proof in 0.15


def project_with_modes(seed: int) -> Project:
    """Return tasks like those of MMLIB, with three modes: the longer a mode, the less it takes of the resources."""
    rng = random.Random(seed)
    tasks = []
    for k in range(20):
        durations = sorted(rng.sample(range(1, 11), 3))
        demands = [sorted((rng.randint(1, 10) for _ in range(3)), reverse=True) for _ in range(3)]
        modes = (
            Mode(str(i + 1), durations[i], {"R1": demands[0][i], "R2": demands[1][i], "N": demands[2][i]})
            for i in range(3)
        )
        tasks.append(Task(f"t{k}", tuple(modes)))
    names = [t.name for t in tasks]
    links = [(names[max(0, k - rng.randint(1, 2))], names[k]) for k in range(1, len(names))]
    stock = Resource("N", sum(sorted(m.demands["N"] for m in t.modes)[1] for t in tasks) * 9 // 10, renewable=False)
    return Project(tasks, [Resource("R1", 16), Resource("R2", 16), stock], links)


def drawn(seed: int) -> sl.Model:
    """Return two tasks with options, and resources that some of the options share with another interval."""
    rng = random.Random(seed)
    m = sl.Model(f"options {seed}")
    options: list[sl.Interval] = []
    for k in range(2):
        sizes = [rng.choice([0, 1, 2, 3, 3]) for _ in range(rng.randint(2, 3))]
        a = m.interval(f"a{k}", (min(sizes), max(sizes)), start=(0, 2), optional=rng.random() < 0.4)
        windows = [(rng.randint(0, 1), 2) for _ in sizes]
        on = [m.interval(f"a{k}.{i}", sizes[i], start=windows[i], optional=True) for i in range(len(sizes))]
        m.add(sl.alternative(a, on, count=rng.choice([1, 1, 1, 2])))
        options.extend(on)
        m.add(a.start + 2 * on[0].presence >= rng.randint(0, 2))
    other = m.interval("other", rng.randint(2, 4), start=(0, 3))
    for r in range(2):
        used = [o for o in options if rng.random() < 0.8]
        demands = [rng.randint(0, 3) for _ in used]
        m.add(sl.cumulative([*used, other], [*demands, 2], rng.randint(2, 4)), f"resource {r}")
    if rng.random() < 0.4:
        m.add(sl.no_overlap([*rng.sample(options, 3), other]))
    gain = sl.sum([o.presence for o in options], weights=[rng.randint(-2, 6) for _ in options])
    m.minimize(sl.max([o.end for o in (*options, other)]) + other.start - gain)
    return m


@pytest.mark.parametrize("seed", some_now(range(40), 14))
def test_options_that_share_resources_have_the_optimum_of_enumeration(seed: int) -> None:
    m = drawn(seed)
    truth = brute_force(m)
    assert judge(m, truth, sl.solve(m, backend="cpsat", threads=1)) == []
    if truth.first is not None:
        assert fixed(m, truth.first, Contender("cpsat"), Limits(threads=1)) == []


def test_options_that_share_resources_are_drawn_with_and_without_a_solution() -> None:
    feasible = [brute_force(drawn(seed)).feasible for seed in range(40)]
    assert 20 <= sum(feasible) < 40


@pytest.mark.parametrize("shared", [3, 2])
def test_a_resource_has_one_interval_for_all_options_of_a_task(shared: int) -> None:
    m = sl.Model("modes")
    for k in range(5):
        a = m.interval(f"a{k}", (1, 3), start=(0, 20))
        modes = [m.interval(f"a{k} in {size}", size, start=(0, 20), optional=True) for size in (1, 2, 3)]
        m.add(sl.alternative(a, modes))
        for r in range(2):
            m.add(sl.cumulative([*modes[:shared], m.interval(f"b{k}{r}", 2)], [*[4, 3, 1][:shared], 2], 5))
    text = str(sl.compile(m, "cpsat").native.proto)
    intervals = re.findall(r"^ *interval \{", text, re.MULTILINE)
    assert len(intervals) == 5 + 2 * 5  # one per task for both resources, and those of b


def test_options_of_one_size_with_one_demand_need_no_variable_demand() -> None:
    m = sl.Model("machines")
    a = m.interval("a", 3, start=(0, 20))
    on = [m.interval(f"a on {n}", 3, start=(0, 20), optional=True) for n in range(8)]
    m.add(sl.alternative(a, on))
    m.add(sl.cumulative(on, [2] * 8, 3))
    compiled = sl.compile(m, "cpsat")
    assert (compiled.size["variables"], compiled.size["constraints"]) == (1 + 8, 1 + 1 + 1)


def test_a_project_with_modes_is_proven() -> None:
    project = project_with_modes(3)
    result = sl.solve(project, backend="cpsat", threads=1, seed=1, deterministic_limit=LIMIT)
    assert (result.status, result.objective) == ("optimal", 66)
    assert project.verify(result.schedule) == []


def test_an_option_of_size_zero_occupies_nothing() -> None:
    m = sl.Model("mark")
    a, other = m.interval("a", (0, 3), start=2), m.interval("other", 5, start=(0, 9))
    on = [m.interval(f"a in {size}", size, start=2, optional=True) for size in (0, 2, 3)]
    m.add(sl.alternative(a, on))
    m.add(sl.cumulative([*on, other], [1, 2, 1, 3], 3))
    m.add(sl.no_overlap([*on, other]))
    m.minimize(a.size + other.end)
    assert sl.solve(m, backend="cpsat", threads=1).objective == 5


def test_an_option_with_the_fixed_start_of_its_master_has_its_size_too():
    m = sl.Model("fixed starts")
    task = m.interval("task", size=0, start=3)
    same = m.interval("same", size=0, start=3, optional=True)
    longer = m.interval("longer", size=(1, 2), start=3, optional=True)
    m.add(sl.alternative(task, [same, longer]))
    m.maximize(longer.presence)
    assert sl.solve(m, backend="cpsat", threads=1).objective == 0
