"""``==`` and ``hash`` of objects: by their fields, or by identity; never "the truth value of an array"."""

import copy
import pickle
import pkgutil
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import schedlab as sl
from schedlab import methods
from schedlab.instances import Workload
from schedlab.models import hashable
from schedlab.simulation import NodeDecision, OnDemandJob, Preemption, Switching
from schedlab.simulation.records import OffIntervals

ROOT = Path(__file__).parent.parent
PARTS = ("backends", "composite", "explain", "heuristics", "instances", "methods", "models", "simulation", "solve")
ARRAYS = re.compile(r"\b(NDArray|ndarray|Ints|Floats|Bools|Mask)\b")
UNHASHABLE = re.compile(r"\b([dD]ict|Mapping|[lL]ist|[sS]et|Sequence|Any|object)\b\[?")


def classes() -> list[type]:
    """All dataclasses of the package that are no part of the bench."""
    seen: dict[str, type] = {}
    for _, name, _ in pkgutil.walk_packages([str(ROOT)], "schedlab."):
        if name.split(".")[1] in PARTS and not name.endswith("__main__"):
            found = vars(import_module(name)).values()
            seen |= {f"{c.__module__}.{c.__qualname__}": c for c in found if isinstance(c, type) and is_dataclass(c)}
    return [c for name, c in sorted(seen.items()) if name.startswith("schedlab.")]


def test_no_dataclass_compares_arrays_by_its_fields() -> None:
    every = classes()
    assert len(every) > 200
    wrong = [
        c.__qualname__
        for c in every
        if c.__eq__ is not object.__eq__ and any(ARRAYS.search(str(f.type)) for f in fields(c) if f.compare)
    ]
    assert not wrong, f"write @dataclass(eq=False): {wrong}"


def test_every_frozen_dataclass_has_a_hash_that_works() -> None:
    own = hashable.__globals__["_hash"]
    wrong = [
        c.__qualname__
        for c in classes()
        if c.__hash__ not in (None, own, object.__hash__)
        and "backends.linear" not in c.__module__  # tables of a lowering, which users do not meet
        and any(UNHASHABLE.search(str(f.type)) for f in fields(c) if f.compare)
    ]
    assert not wrong, f"write @hashable above @dataclass: {wrong}"


PLATFORM = sl.Platform([sl.NodeGroup("n", 2, {"cores": 4})])


def problem() -> sl.Dispatch:
    jobs = [sl.Job(f"j{k}", k, 20, 1, {"cores": 1}, "q", runtime=10) for k in range(3)]
    return sl.Dispatch(sl.Platform([sl.NodeGroup("n", 2, {"cores": 4})]), jobs, [sl.Queue("q", 60)])


def eviction() -> sl.Eviction:
    return sl.Eviction([sl.EvictionCandidate("a", 2, 10, 1, 2), sl.EvictionCandidate("b", 1, 5, 1, 2)], 1, 60)


def model() -> sl.Model:
    m = sl.Model("one", horizon=9)
    m.minimize(m.interval("a", size=3).end)
    return m


VALUES: list[Callable[[], Any]] = [
    lambda: sl.Job("a", 0, 20, 1, {"cores": 1}, "q", windows=((0, 5),)),
    lambda: sl.Queue("q", 60, ((0, 5),)),
    lambda: sl.NodeGroup("n", 2, {"cores": 4}),
    lambda: sl.Platform([sl.NodeGroup("n", 2, {"cores": 4})]),
    problem,
    lambda: sl.Running(sl.Job("a", 0, 20, 1, {"cores": 1}, "q"), 0, {"n-1": 1}, 20),
    lambda: sl.DesiredProfile(PLATFORM, {}),
    lambda: sl.StepFunction.constant(3.0, 0, 9),
    lambda: sl.Mode("m", 3, {"r": 1}),
    lambda: sl.Task.single("a", 3),
    lambda: sl.EvictionCandidate("a", 2, 10, 1, 2),
    eviction,
    lambda: sl.Policy("x"),
    lambda: sl.load("eurora_99"),
    lambda: methods.parse_method("cpsat:counts"),
    lambda: methods.Highs("pool", parameters={"presolve": "off"}),
    lambda: methods.Lns(rounds=4),
    lambda: Switching(boot=3),
    lambda: OnDemandJob("u", 3, 1, 0, 5),
    lambda: Preemption([OnDemandJob("u", 3, 1, 0, 5)], "kill"),
    lambda: sl.simulate(problem()).metrics.wait,
]
MUTABLE: list[Callable[[], Any]] = [
    lambda: sl.Schedule({"a": 0}, {"a": {"n-1": 1}}),
    lambda: sl.EvictionPlan({"a": "kill"}),
]
IDENTITY: list[Callable[[], Any]] = [
    lambda: Workload.of(problem()),
    lambda: sl.simulate(problem()),
    lambda: sl.simulate(problem(), dispatcher="hcp3@cpsat"),
    lambda: sl.simulate(problem()).placement,
    lambda: sl.simulate(problem()).decisions,
    lambda: sl.trade_off(eviction()),
    lambda: sl.solve(problem(), "multi-search"),
    model,
    lambda: NodeDecision(off=np.arange(2)),
    lambda: OffIntervals(*(np.zeros(2, np.int64) for _ in range(4))),
]


@pytest.mark.parametrize("make", VALUES)
def test_frozen_records_are_equal_by_their_fields_and_have_a_hash(make: Callable[[], Any]) -> None:
    one, other = make(), make()
    assert one == one and one == other and hash(one) == hash(other)
    assert one != 3 and one in {other} and {one: 1}[other] == 1


@pytest.mark.parametrize("make", MUTABLE)
def test_records_that_may_change_are_equal_by_their_fields_and_have_no_hash(make: Callable[[], Any]) -> None:
    one, other = make(), make()
    assert one == one and one == other and type(one).__hash__ is None


@pytest.mark.parametrize("make", IDENTITY)
def test_objects_that_hold_arrays_are_equal_to_themselves_alone(make: Callable[[], Any]) -> None:
    one, other = make(), make()
    assert one == one and one != other and one != 3
    assert copy.copy(one) != one and hash(one) == hash(one) and len({one, other, one}) == 2


def test_records_that_differ_are_not_equal() -> None:
    first, second = (sl.Job("a", 0, 20, 1, {"cores": cores}, "q") for cores in (1, 2))
    assert first != second and len({first, second}) == 2


def test_constraints_are_not_true_or_false() -> None:
    m = sl.Model("m", horizon=30)
    a, b = m.interval("a", size=3), m.interval("b", size=4, optional=True)
    constraints = [
        sl.no_overlap([a, b]), sl.alternative(a, [b]), sl.cumulative([a, b], [1, 1], 1), sl.synchronize(a, [b]),
        sl.end_before_start(a, b), sl.all_or_none([b]), sl.forbid_extent(a, [(2, 3)]), a.end <= 5, a.end == 5, a.end + 1,
    ]  # fmt: skip
    for each in constraints:
        with pytest.raises(sl.ModelError, match="not True or False"):
            bool(each)


def test_results_and_assignments_are_no_collections() -> None:
    solved, planned = sl.solve(model()), sl.solve(problem(), "multi-search")
    assert solved.assignment is not None
    for wrong in (
        lambda: list(solved), lambda: "a" in solved, lambda: list(planned), lambda: "a" in planned, lambda: len(solved),  # type: ignore
        lambda: list(solved.assignment), lambda: len(solved.assignment),  # type: ignore
    ):  # fmt: skip
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(TypeError, match=r"has no variables, and so no 'a'; its answer is result.schedule"):
        planned["a"]  # type: ignore[call-overload]


SAME: list[Callable[[], Any]] = [
    *VALUES, *MUTABLE, model, lambda: sl.solve(model()), lambda: sl.solve(problem(), "multi-search"), lambda: sl.explain(model()),
    lambda: sl.simulate(problem()), lambda: sl.trade_off(eviction()), lambda: Workload.of(problem()),
    lambda: sl.backends.backend("cpsat"),
]  # fmt: skip


@pytest.mark.parametrize("make", SAME)
def test_copies_and_pickles_are_the_same(make: Callable[[], Any]) -> None:
    one = make()
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert type(other) is type(one) and repr(other) == repr(one)
        if type(one).__eq__ is not object.__eq__:
            assert other == one


def test_an_encoding_says_what_to_pickle() -> None:
    encoding = problem().formulations["counts"]()
    assert copy.copy(encoding) == encoding
    for wrong in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="pickle the problem, and call its formulation again"):
            wrong(encoding)  # type: ignore[operator]
