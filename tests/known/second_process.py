"""The second process compiles the functions that the first one needs, for the same types; 15 s of compiling."""

import os
import subprocess
import sys

VERSIONS = """
import gc, sys
from importlib import import_module
from schedlab.heuristics import HEURISTICS
from schedlab.models.compiled import _Kernel
name = sys.argv[1]
for place in HEURISTICS[name].warm_up_late:
    module, _, function = place.partition(":")
    getattr(import_module(module), function)()
late = {d for d in gc.get_objects() if isinstance(d, _Kernel) and d.signatures}
HEURISTICS[name].warm_up()
for d in gc.get_objects():
    if isinstance(d, _Kernel) and d.signatures:
        print(d.py_func.__qualname__, len(d.signatures), d in late)
"""


def test_both_processes_compile_the_same_versions_of_functions(tmp_path):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}  # from the cache, functions without their callees are loaded
    command = [sys.executable, "-c", VERSIONS, "lns"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = {n: (int(versions), late) for n, versions, late in map(str.split, done.stdout.splitlines())}
    assert {n for n, (versions, _) in found.items() if versions > 1} == set()
    assert {"objective", "put", "take", "choose", "ruin_and_recreate"} <= {
        n for n, (_, late) in found.items() if late == "True"
    }
