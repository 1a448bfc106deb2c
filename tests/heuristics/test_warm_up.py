"""After its warm-up a method compiles or loads no kernel, so that measured time is search time."""

import contextlib
import os
import subprocess
import sys

import pytest
from schedlab.heuristics import HEURISTICS, warm_up_for
from schedlab.instances import load
from schedlab.models import kind

WARMED = """
import sys
import schedlab as sl
from schedlab.heuristics import warm_up_for
from schedlab.methods import parse_method
from schedlab.models.compiling.cache import SharedCache

problem, method = sl.load(sys.argv[1]).problem, sys.argv[2]
warm_up_for(problem, parse_method(method, problem).heuristic)
used = []
load = SharedCache.load_overload
def record(self, sig, context):
    used.append(self._py_func.__qualname__)
    return load(self, sig, context)
SharedCache.load_overload = record
result = sl.solve(problem, method=method, time_limit=1)
assert result.schedule is not None, result.message
print(",".join(used))
"""


def test_a_second_process_compiles_what_the_solver_and_its_start_need_late(monkeypatch):
    places = []

    def second_process(late):
        places.extend(late)
        return contextlib.nullcontext()

    monkeypatch.setattr("schedlab.models.compiled.second_process", second_process)
    problem = load("eurora_99").problem
    solver = kind.find("dispatch").solver_warm_up_late
    warm_up_for(problem)
    assert places == [*solver] and all(callable(kind.resolve(place)) for place in places)
    places.clear()
    warm_up_for(problem, start="delay-search")
    assert places == [*HEURISTICS["delay-search"].warm_up_late(problem), *solver]


QUICK = [("eurora_99", "multi-search"), ("profit_small", "rule:est"), ("theta_24", "dp")]
OTHERS = [
    ("eurora_99", "first-solution:est"),
    ("eurora_99", "rule:est"),
    ("eurora_99", "delay-search"),
    ("eurora_99", "lns"),
    ("profit_small", "lns"),
    ("profit_small", "delay-search"),
    ("profit_small", "multi-search"),
    ("eurora_99", "relaxation-search"),
    ("eurora_99", "cpsat:counts+warm"),
    ("profit_small", "cpsat:counts+warm"),
    ("theta_24", "backtracking"),
]


@pytest.mark.parametrize(
    ("instance", "method"), [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in OTHERS)]
)
def test_nothing_is_compiled_after_the_warm_up(instance, method):
    done = subprocess.run(
        [sys.executable, "-c", WARMED, instance, method], capture_output=True, text=True, env=os.environ, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "\n"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["lagrangian", "branch-and-bound"])
def test_nothing_of_a_bound_is_compiled_after_the_warm_up(method):
    """The search over partial schedules begins although the relaxation of the problem of the warm-up is proved."""
    code = WARMED.replace("sl.load(sys.argv[1]).problem", "sl.load(sys.argv[1]).problem.at(43200, first=8)")
    done = subprocess.run(
        [sys.executable, "-c", code, "eurora_99", method], capture_output=True, text=True, env=os.environ, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "\n"


DIRECT = """
import sys
import schedlab as sl
from schedlab.heuristics import Incumbents
from schedlab.models.compiling.cache import SharedCache
from schedlab.models.kind import resolve

problem, search = sl.load(sys.argv[1]).problem, resolve(sys.argv[2])
used = []
load, begin = SharedCache.load_overload, Incumbents.__init__
def loaded(self, sig, context):
    used.append(self._py_func.__qualname__)
    return load(self, sig, context)
def begun(self, given, *args, **options):
    if given is problem:
        used.append("limit begins")
    begin(self, given, *args, **options)
SharedCache.load_overload, Incumbents.__init__ = loaded, begun
search(problem, time_limit=1)
print(",".join(name for name in used[used.index("limit begins"):] if name != "limit begins"))
"""


@pytest.mark.parametrize(
    ("instance", "search"),
    [
        ("eurora_99", "list_scheduling:multi_search"),
        ("eurora_99", "delays:delay_search"),
        ("profit_small", "lns.search:lns"),
        ("eurora_99", "lagrangian:lagrangian"),
        ("theta_24", "eviction:backtracking"),
        ("project_small", "project.bounds:project_bounds"),
        ("project_small", "project.lns:project_lns"),
    ],
)
@pytest.mark.slow
def test_the_limit_of_a_search_that_is_called_directly_begins_after_the_compilation(instance, search):
    command = [sys.executable, "-c", DIRECT, instance, f"schedlab.heuristics.{search}"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "\n"
