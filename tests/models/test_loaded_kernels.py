"""Kernels that are loaded from the cache: what numba imports for it."""

import os
import subprocess
import sys

KERNELS = """
import sys
import numpy as np
from schedlab.models.compiled import compiled, watching

@compiled
def total(values):
    found = 0
    for v in values:
        found += v
    return found

@compiled
def solution(matrix, right):
    return np.linalg.solve(matrix, right)

def show(*calls):
    seen, results = [], []
    with watching(seen.append):
        for name in calls:
            if name == "total":
                results.append(int(total(np.arange(4))))
            else:
                results.extend(solution(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0])).tolist())
    print(results, len(seen), "scipy.linalg" in sys.modules)
"""


def shown(folder, *calls):
    (folder / "kernels.py").write_text(KERNELS)
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", f"import kernels; kernels.show(*{calls})"]
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True, timeout=120).stdout.strip()


def test_what_numba_needs_to_compile_is_imported_only_if_a_loaded_kernel_uses_it(tmp_path):
    assert shown(tmp_path, "total") == "[6] 1 True"
    assert shown(tmp_path, "total") == "[6] 0 False"
    assert shown(tmp_path, "total", "solution") == "[6, 1.0, 0.5] 1 True"
    assert shown(tmp_path, "solution") == "[1.0, 0.5] 0 True"
    assert shown(tmp_path, "total", "solution") == "[6, 1.0, 0.5] 0 True"
