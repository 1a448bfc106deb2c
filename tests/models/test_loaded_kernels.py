"""Kernels that are loaded from the cache: what numba imports for it."""

import os
import subprocess
import sys

import pytest

KERNELS = """
import numpy as np
from schedlab.models.compiled import compiled, watching

@compiled
def total(values):
    found = 0
    for v in values:
        found += v
    return found

@compiled
def hashed(word):
    return hash(word)

def show(*calls):
    seen, results = [], []
    with watching(seen.append):
        for name in calls:
            results.append(total(np.arange(4)) == 6 if name == "total" else hashed("node") == hash("node"))
    print(all(results), len(seen), end=" ")
"""


def shown(folder, call):
    (folder / "kernels.py").write_text(KERNELS)
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", f"import sys, kernels; {call}; print('numba.np.linalg' in sys.modules)"]
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True, timeout=120).stdout.strip()


@pytest.mark.slow
def test_what_numba_needs_to_compile_is_not_imported_for_loaded_kernels(tmp_path):
    assert shown(tmp_path, "kernels.show('total')") == "True 1 True"
    assert shown(tmp_path, "kernels.show('total')") == "True 0 False"
    assert shown(tmp_path, "kernels.show('total', 'hashed')") == "True 1 True"
    assert shown(tmp_path, "kernels.show('hashed', 'total')") == "True 0 False"


@pytest.mark.parametrize(("symbol", "imported"), [("PyErr_Clear", "False"), ("no_such_symbol", "True")])
@pytest.mark.slow
def test_it_is_imported_where_a_symbol_is_missing(symbol, imported, tmp_path):
    call = f"from schedlab.models.compiling.cache import External; External(('{symbol}',))()"
    assert shown(tmp_path, call) == imported
