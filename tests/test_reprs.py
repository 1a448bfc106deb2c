"""The ``repr`` of every public object is one line of at most 120 characters, also if its contents are large."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import operator
import re
from typing import Any

import numpy as np
import pytest
import schedlab as sl
from schedlab import backends, heuristics, instances, models
from schedlab.models import language
from schedlab.models.registry import Registry

lns = importlib.import_module("schedlab.heuristics.lns")  # sl.heuristics.lns is the function
LONG = 120
NAME = "a long\nname \x1b[31m" * 30
LARGE = [
    NAME, list(range(5000)), (NAME, NAME), dict.fromkeys(range(5000)), {NAME: {NAME: [NAME]}}, np.zeros((300, 300)),
    10**5000, NAME * 99, frozenset(range(5000)), b"x" * 5000, None, 1 / 3, range(5000), [[[NAME] * 9] * 9] * 9,
]  # fmt: skip
INNER = ("schedlab.backends.linear", "schedlab.backends.cpsat")  # tables of lowerings, which users do not meet
UNREADABLE = ("native",)  # the object of the solver
NUMBERS = [1 / 3, 10**12, -1e-300, None, True]


def public_classes() -> dict[type, str]:
    """The classes, apart from errors and protocols, that a package exports."""
    found = {}
    for package in (sl, models, language, backends, heuristics, lns, instances):
        for name in package.__all__:
            value = getattr(package, name)
            if (
                inspect.isclass(value)
                and not issubclass(value, BaseException)
                and not getattr(value, "_is_protocol", 0)
            ):
                found[value] = name
    return found


def level_of(jobs: list[Any]) -> Any:
    """The level of many intervals."""
    return functools.reduce(operator.add, [sl.pulse(job, 1) for job in jobs[:50]])


def language_objects() -> list[Any]:
    """Variables, expressions, constraints and an assignment with long names and many entries."""
    m = sl.Model(NAME)
    jobs = [m.interval(f"{NAME} {k}", size=k + 1, optional=True) for k in range(500)]
    xs = [m.integer(f"{NAME} {k}", 0, 3) for k in range(500)]
    for c in (
        sl.alternative(jobs[0], jobs[1:]),
        sl.cumulative(jobs, xs, [(t, 3) for t in range(500)]),
        sl.no_overlap(jobs),
        sl.synchronize(jobs[0], jobs[1:]),
        sl.end_before_start(jobs[0], jobs[1]),
        sl.all_or_none(jobs),
        sl.forbid_extent(jobs[0], [(9 * t, 9 * t + 3) for t in range(500)]),
        sl.sum(xs) <= 3,
        sl.all_different(xs[:50]),
        sl.table(xs[:50], [tuple(k % 4 for _ in range(50)) for k in range(4)]),
        level_of(jobs) <= 9,
        sl.sequence(jobs).no_overlap([[9] * 500] * 500),
        sl.sequence(jobs).first(jobs[0]),
        sl.sequence(jobs).no_idle(),
        sl.state_function([sl.always_equal(v, 1) for v in jobs], [[0, 1], [2, 0]]),
        sl.same_sequence(sl.sequence(jobs), sl.sequence(jobs[::-1])),
        sl.span(jobs[0], jobs[1:]),
        sl.isomorphism(jobs[::2], jobs[1::2]),
        sl.intensity(jobs[0], 5, sl.breaks([(2 * k, 2 * k + 1) for k in range(500)])),
        sl.in_domain(sl.sum(xs), [3 * k for k in range(500)]),
        sl.cumulative(jobs, [1] * len(jobs), sl.sum(xs)),
        sl.end_before_start(jobs[0], jobs[1], sl.sum(xs)),
    ):
        m.add(c)
    functions = [
        sl.max(xs), sl.holds(sl.sum(xs) <= 3), sl.overlap(jobs[0], 0, 5), sl.element(range(500), sl.sum(xs)),
        sl.piecewise(xs[0], [(k, k) for k in range(500)]), sl.sequence(jobs).cost([[k] * 500 for k in range(500)]),
    ]  # fmt: skip
    m.maximize(functions)
    answer = sl.Assignment(m, {**dict.fromkeys(jobs, (0, 1)), **dict.fromkeys(xs, 0)})
    named = list(m.constraints)
    atoms = [a for f in functions for a in f.terms]
    violation = language.Violation(NAME, 1, NAME)
    return [
        m, jobs[0], xs[0], jobs[0].start, level_of(jobs), sl.sequence(jobs), *functions, *atoms, sl.sum(xs), answer, answer[jobs[0]], violation, *named,
        *(c.constraint for c in named),
    ]  # fmt: skip


CLASSES = public_classes()
RECORDS = [c for c in CLASSES if dataclasses.is_dataclass(c) or hasattr(c, "_make")]


def filled(kind: Any, value: object) -> Any:
    """An object whose fields all have this value, made without ``__init__``."""
    if hasattr(kind, "_make"):
        return kind._make([value] * len(kind._fields))
    made = object.__new__(kind)
    for field in dataclasses.fields(kind):
        object.__setattr__(made, field.name, value)
    return made


def check(value: object) -> None:
    text = repr(value)
    assert len(text) <= LONG, text
    assert text.isprintable(), text


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_records_with_large_contents(kind: type) -> None:
    if kind in (sl.Result, sl.Simulation, sl.Explanation) or issubclass(kind, sl.Schedule):
        return  # test_results
    types = getattr(kind, "__annotations__", {}).values()
    numeric = types and all(set(re.findall(r"[a-z]\w*", str(t))) <= {"int", "float", "bool"} for t in types)
    for value in NUMBERS if numeric else LARGE:
        check(filled(kind, value))


def test_models_expressions_and_constraints() -> None:
    found = language_objects()
    kinds = {type(value) for value in found}
    assert {c for c in CLASSES if c.__module__.startswith("schedlab.models.language")} - kinds == {
        language.Bounds, language.Evaluator, language.Expression, language.Stated,
    }  # fmt: skip
    for value in found:
        check(value)


def test_results() -> None:
    infeasible = sl.Model(NAME)
    infeasible.add(infeasible.integer(NAME, 0, 1) >= 2)
    noon = sl.load("eurora_330").problem.at(12 * 3600, first=20)
    check(sl.solve(infeasible, backend="cpsat"))
    check(sl.solve(noon, method="first-solution:est"))
    check(dataclasses.replace(sl.solve(infeasible, backend="cpsat"), message=NAME, solver=NAME))
    run = sl.simulate("eurora_99", dispatcher="fcfs")
    check(run)
    check(dataclasses.replace(run, dispatcher=NAME))
    check(sl.trade_off(sl.load("theta_24").problem))
    check(sl.Schedule(dict.fromkeys((f"{NAME} {k}" for k in range(500)), 3), {NAME: {NAME: 2}}))
    check(sl.solve("theta_24", "greedy").schedule)
    check(dataclasses.replace(sl.explain(infeasible), message=NAME))


@pytest.mark.parametrize("name", ["eurora_330", "theta_24", "profit_medium", "project_small"])
def test_shipped_instances(name: str) -> None:
    """The fields of an instance, of its problem and so on, down to jobs and nodes."""
    left, seen = [sl.load(name)], set()
    while left:
        value: Any = left.pop()
        if type(value) in seen:
            continue
        if type(value) in RECORDS:
            seen.add(type(value))
            check(value)
            left += (
                [getattr(value, f.name, None) for f in dataclasses.fields(value)]
                if dataclasses.is_dataclass(value)
                else value
            )
        elif isinstance(value, (list, tuple)):
            left += value[:3]
        elif isinstance(value, dict):
            left += list(value.values())[:3]
    assert len(seen) >= 4


def test_short_contents_are_shown() -> None:
    assert (
        repr(sl.NodeGroup("gpu", 2, {"cores": 16}))
        == "NodeGroup(name='gpu', count=2, capacity={'cores': 16}, features=())"
    )
    job = sl.Job("j1", submit=0, walltime=60, units=2, request={"cores": 8}, queue="debug", deadline=900)
    assert (
        repr(job)
        == "Job(id='j1', submit=0, walltime=60, units=2, request={'cores': 8}, queue='debug', deadline=900, ...)"
    )
    day = repr(sl.load("eurora_330").problem)
    assert day.startswith("Dispatch(platform=Platform(...), jobs=(330 Job)")


REGISTRIES = (
    "heuristics.method", "backends.base", "simulation.preemption",
    "simulation.users", "simulation.dispatchers.registry", "simulation.rankers",
    "simulation.node_policies", "simulation.forecasts", "bench.runs.executors",
)  # fmt: skip


def check_own(value: object) -> None:
    """Check an object of schedlab: the repr names its class, or the mathematics that it stands for, and no address."""
    check(value)
    assert " at 0x" not in repr(value), repr(value)
    assert type(value).__module__.startswith("schedlab.models.language") or type(value).__name__ in repr(value)


@pytest.mark.parametrize("module", REGISTRIES)
def test_registries_and_the_objects_in_them(module: str) -> None:
    found = [v for v in vars(importlib.import_module(f"schedlab.{module}")).values() if isinstance(v, Registry)]
    for registry in {id(v): v for v in found}.values():
        check_own(registry)
        for value in registry.values():
            if type(value).__module__.startswith("schedlab"):
                check_own(value)


@pytest.mark.parametrize(
    "name",
    [
        "easy", "easy+aging", "psp", "hcp3@cpsat", "mks+wt+nl@cpo", "cpmodel", "portfolio", "dardis:throughput", "hybrid:70",
        "planned",
    ],
)  # fmt: skip
def test_dispatchers(name: str) -> None:
    from schedlab.simulation import check_dispatcher

    check_own(check_dispatcher(name).make())


def test_predictors_forecasts_and_node_policies() -> None:
    from schedlab.simulation.forecasts import Learned, Perfect, Persistence, Weekly
    from schedlab.simulation.node_policies import AlwaysOn, Idle
    from schedlab.simulation.predictors import DataDriven, LastTwo, Real, Walltime

    for make in (Learned, Perfect, Persistence, Weekly, AlwaysOn, Idle, DataDriven, LastTwo, Real, Walltime):
        check_own(make())


def test_what_public_functions_return_and_all_that_it_holds() -> None:
    noon = sl.load("eurora_99").problem.at("12:00", first=10)
    model = noon.formulations["counts"]().model
    left: list[tuple[Any, int]] = [
        (value, 0)
        for value in (
            noon, sl.solve(noon, "multi-search"), sl.solve("theta_24", "dp"), sl.simulate("eurora_99", "easy"),
            sl.explain("project_small", objective_limit=5), sl.trade_off("theta_24"), *map(backends.backend, backends.names()),
            *(sl.load(name) for name in ("eurora_99", "theta_24", "profit_small", "project_small")),
            sl.compile(model, "cpsat"), sl.compile(model, "highs"),
        )
    ]  # fmt: skip
    kept, count = {}, 0
    while left:
        value, depth = left.pop()
        if id(value) in kept or depth > 5:
            continue
        kept[id(value)] = value
        if isinstance(value, (list, tuple)) and type(value).__module__ == "builtins":
            left += [(part, depth + 1) for part in value[:2]]
        elif type(value) is dict:
            left += [(part, depth + 1) for part in list(value.values())[:2]]
        elif type(value).__module__.startswith("schedlab") and not type(value).__module__.startswith(INNER):
            count += 1
            check_own(value)
            for name in (n for n in dir(value) if not n.startswith("_")):
                if name in UNREADABLE:
                    continue
                try:
                    part = getattr(value, name)
                except (sl.SchedlabError, AttributeError):
                    continue  # such as the dispatching problem of a project
                left += [] if callable(part) else [(part, depth + 1)]
    assert count > 100
