"""All errors derive from ``sl.SchedlabError`` and the built-in error that fits; star imports shadow no builtin."""

from __future__ import annotations

import ast
import builtins
import importlib
import pickle
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import schedlab as sl
from schedlab.instances import Fault
from schedlab.simulation import Decision, Moment, Start

ROOT = Path(sl.__file__).parent
TOPS = ("errors", "later", "models", "instances", "backends", "heuristics", "methods", "solve", "simulation", "bench")
MODULES = sorted(
    name
    for _, name, _ in pkgutil.walk_packages([str(ROOT)], "schedlab.")
    if name.split(".")[1] in TOPS and not name.endswith("__main__")
)
PACKAGES = [name for name in MODULES if hasattr(importlib.import_module(name), "__all__")]
# exceptions that end a computation inside a call and are caught there
CONTROL_FLOW = {
    "schedlab.backends.solver_thread.Interrupted",  # Ctrl-C, a KeyboardInterrupt
    "schedlab.bench.errors.WrappedError",  # carries an error through Typer
    "schedlab.heuristics.search_parts.KernelStopped",
    "schedlab.heuristics.lagrangian.DualStopped",
    "schedlab.heuristics.lns.control.Stopped",
    "schedlab.models.compiling.cache.Outdated",  # a function in the cache is compiled anew
    "schedlab.models.long_calls.OutOfTime",
}
# built-in errors that a protocol of Python asks for, or that cannot happen
PROTOCOLS = {
    ("bench/cli/instances.py", "KeyboardInterrupt"),  # Ctrl-C, passed on after the answer
    ("later.py", "AttributeError"),  # module.__getattr__
    ("backends/cpsat/expressions.py", "AttributeError"),  # CpModel.__getattr__
    ("bench/cli/app.py", "KeyError"),  # ImportedCommands is a mapping
    ("backends/conformance/planted.py", "RuntimeError"),  # a process of a developers' tool failed
    ("instances/files/reading.py", "RecursionError"),  # caught three lines below
    ("instances/registry.py", "AssertionError"),
    ("instances/formats/cooling_tables.py", "AssertionError"),
    ("instances/files/dispatch_folder.py", "AssertionError"),
    ("instances/files/eviction_folder.py", "AssertionError"),
    ("instances/files/project_folder.py", "AssertionError"),
}


def own_exceptions() -> dict[str, type[BaseException]]:
    """All classes of exceptions that the modules of schedlab define, by their full names."""
    return {
        f"{found.__module__}.{found.__qualname__}": found
        for module in map(importlib.import_module, MODULES)
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, BaseException) and found.__module__.startswith("schedlab.")
    }


def test_every_error_derives_from_the_base_class_and_a_builtin() -> None:
    found = own_exceptions()
    assert len(found) > 30
    assert set(found) >= CONTROL_FLOW, "remove the names that no longer exist"
    strange = {name for name, kind in found.items() if not issubclass(kind, sl.SchedlabError)}
    assert strange == CONTROL_FLOW
    errors = [kind for name, kind in found.items() if name not in CONTROL_FLOW and kind is not sl.SchedlabError]
    own = (BaseException, Exception, object)
    plain = [e for e in errors if not any(b.__module__ == "builtins" and b not in own for b in e.__mro__)]
    assert plain == []


# for constructors of their own: arguments that are not those of the message
def in_order(error: BaseException) -> list[str]:
    """Return the attributes of an error in the order of their names: notes come before or after what it has of its own."""
    return [f"{name} = {value!r}" for name, value in sorted(vars(error).items())]


OWN_ARGUMENTS: dict[str, Callable[[], tuple[object, ...]]] = {
    "LoweringTooLarge": lambda: (1, 2, 3, 4, "use a grid"),
    "UnknownName": lambda: ("backend", "cpsta", ["cpsat", "highs"]),
    "NotTaken": lambda: ("lns", "project", "supports only trees", ["cpsat"]),
    "NoSuchName": lambda: ("method", "lsn", ["lns", "auto"]),
    "TooManyLeft": lambda: (3,),
    "UnknownInstance": lambda: ("eurora_98",),
    "FormatError": lambda: (Path("a.txt"), 7, "a number", "x"),
    "InstanceError": lambda: (Path("a.json"), [Fault("a.json", 3, "jobs", "a list", "x")]),
    "UnknownCooling": lambda: ("cold",),
    "UnnamedReference": lambda: ("parts",),
    "TextError": lambda: ("a.swf", "runtime", "a number", "x", 3),
    "ConstraintBroken": lambda: ("pool", "it starts too late"),
    "LimitsBroken": lambda: (["2 jobs of ann", "3 of bob"],),
    "NoSchedule": lambda: (sl.load("eurora_99").problem, sl.load("eurora_99").problem.jobs[0]),
    "LeftWaiting": lambda: ("easy", sl.load("eurora_99").problem.jobs[0], "it has no node"),
    "UnknownObjective": lambda: ("it is not known", ["slowdown"]),
    "UnknownKind": lambda: ("despatch",),
    "NoSuchAttribute": lambda: (["easy", "fcfs"],),
    "SimulationError": lambda: ("job 7 does not start", "7", "n1", 12, None, {"7": "no node"}),
}


@pytest.mark.parametrize(
    "kind", [e for e in own_exceptions().values() if issubclass(e, sl.SchedlabError)], ids=lambda kind: kind.__name__
)
def test_every_error_can_be_pickled(kind: type[sl.SchedlabError]) -> None:
    """An error of a worker process reaches the caller with its type, text and attributes."""
    error = kind(*OWN_ARGUMENTS.get(kind.__name__, lambda: ("a message",))())
    error.add_note("in job 7")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert repr(again.args) == repr(error.args)
    assert in_order(again) == in_order(error)


class StartsNobody:
    """A dispatcher that starts a job that does not exist."""

    name = "nobody"

    def begin(self, platform: sl.Platform, queues: object, seed: int) -> None:
        """Nothing to prepare."""

    def decide(self, moment: Moment) -> Decision:
        """Start nobody's job."""
        return Decision([Start("nobody", {moment.platform.nodes[0]: 1})])


def test_an_error_of_a_replay_crosses_processes_with_the_replay_so_far() -> None:
    with pytest.raises(sl.SimulationError) as caught:
        sl.simulate("eurora_99", dispatcher=StartsNobody())
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.time, again.job) == (str(caught.value), caught.value.time, caught.value.job)


def test_no_builtin_error_is_raised_directly() -> None:
    found = set()
    classes = [name for name, value in vars(builtins).items() if isinstance(value, type)]
    raises_one = re.compile(rf"\braise ({'|'.join(classes)})\b")
    for file in [
        p for top in ("__init__", *TOPS) for p in (ROOT / f"{top}.py", *(ROOT / top).rglob("*.py")) if p.is_file()
    ]:
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if raises_one.search(text) else ():
            raised = node.exc if isinstance(node, ast.Raise) else None
            raised = raised.func if isinstance(raised, ast.Call) else raised
            if isinstance(raised, ast.Name) and isinstance(getattr(builtins, raised.id, None), type):
                found.add((file.relative_to(ROOT).as_posix(), raised.id))
    assert found == PROTOCOLS


@pytest.mark.parametrize(
    ("call", "builtin"),
    [
        (lambda: sl.Model("m").integer("x", 3, 0), ValueError),
        (lambda: sl.solve(sl.Model("m"), backend="cpsatt"), LookupError),
        (lambda: sl.load("eurora_98"), LookupError),
        (lambda: sl.read_swf("no.swf"), (ValueError, OSError)),
        (lambda: sl.simulate("eurora_99", dispatcher="fcfs", allocator="none"), LookupError),
        (lambda: sl.Schedule.from_json([]), ValueError),
        (lambda: sl.load("eurora_99").eviction, TypeError),
        (lambda: sl.delay_search(sl.load("eurora_99").problem, delay=0), ValueError),
        (lambda: sl.compile(sl.Model("m"), "highs", lowering="none"), ValueError),
        (lambda: sl.solve(sl.Model("m"), backend="cpsat")[sl.Model("n").integer("x", 0, 1)], ValueError),
    ],
)
def test_errors_of_calls_are_of_both_kinds(call: Callable[[], object], builtin: type[Exception]) -> None:
    with pytest.raises(sl.SchedlabError) as caught:
        call()
    assert isinstance(caught.value, builtin)


@pytest.mark.parametrize("package", ["schedlab", *PACKAGES])
def test_star_imports_shadow_no_builtin(package: str) -> None:
    names: dict[str, object] = {}
    exec(f"from {package} import *", names)
    assert {n for n in names if n in dir(builtins) and not n.startswith("__")} == set()
    assert len(names) > 1


def test_functions_with_the_names_of_builtins_are_attributes() -> None:
    from schedlab.models import language

    m = sl.Model("m")
    x = m.integer("x", 0, 3)
    for package in (sl, language):
        assert [repr(f([x, 1])) for f in (package.max, package.min, package.sum)] == ["max(x, 1)", "min(x, 1)", "x + 1"]
    assert sl.compile is sl.backends.compile
