"""The second process compiles the functions that the first one needs, for the same types; 15 s of compiling each."""

import os
import subprocess
import sys

import pytest

VERSIONS = """
import gc, sys
from schedlab import instances
from schedlab.heuristics import HEURISTICS
from schedlab.models import kind
from schedlab.models.compiling.cache import Kernel

def parts(name):
    if name in HEURISTICS:
        heuristic, problem = HEURISTICS[name], instances.load("eurora_99").problem
        return heuristic.warm_up_late(problem), [lambda: heuristic.warm_up(problem)]
    known = kind.find(name)
    return known.solver_warm_up_late, map(kind.resolve, known.solver_warm_up)

late, warm = parts(sys.argv[1])
for place in late:
    kind.resolve(place)()
compiled = {d for d in gc.get_objects() if isinstance(d, Kernel) and d.signatures}
for function in warm:
    function()
for d in gc.get_objects():
    if isinstance(d, Kernel) and d.signatures:
        print(d.py_func.__qualname__, len(d.signatures), d in compiled)
"""
LISTS = {"objective", "put", "take", "choose", "put_counted"}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("lns", LISTS | {"ruin_and_recreate"}),
        ("delay-search", LISTS | {"put_all"}),
        ("dispatch", LISTS | {"_improve"}),
    ],
)
def test_both_processes_compile_the_same_versions_of_functions(tmp_path, name, wanted):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}  # from the cache, functions without their callees are loaded
    command = [sys.executable, "-c", VERSIONS, name]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = {n: (int(versions), late) for n, versions, late in map(str.split, done.stdout.splitlines())}
    assert {n for n, (versions, _) in found.items() if versions > 1} == set()
    assert wanted <= {n for n, (_, late) in found.items() if late == "True"}
