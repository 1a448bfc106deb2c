"""Compilation of kernels: versions, calls from Python, progress, and processes that share the work."""

import io
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from schedlab.models.compiled import compiled, internal, progress_line, watching


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """The functions of the test are not in the cache, although an earlier run has compiled them."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))


KERNELS = """
import sys
from schedlab.models.compiled import compiled, internal, watching

@internal
def squares(n):
    total = 0
    for k in range(n):
        total += k * k
    return total

@compiled
def cubes(n):
    return squares(n) * n

def main():
    print("ready", flush=True)
    sys.stdin.readline()
    seen = []
    with watching(seen.append):
        assert cubes(4) == 56
    print(len(seen), flush=True)
"""


def workers(folder, number):
    """Start processes that have imported the kernels and wait for a line before the first call."""
    (folder / "kernels.py").write_text(KERNELS)
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", "import kernels; kernels.main()"]
    started = [
        subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(number)
    ]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    return started


def compiled_by(processes):
    """Let all processes begin at once; return how many functions each has compiled."""
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    return [int(process.communicate(timeout=120)[0]) for process in processes]


def test_processes_that_begin_together_compile_each_function_once(tmp_path):
    assert sorted(compiled_by(workers(tmp_path, 3))) == [0, 0, 2]


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    first, second = workers(tmp_path, 2)
    first.stdin.write("\n")
    first.stdin.flush()
    first.kill()
    first.wait()
    assert compiled_by([second]) == [2]


def test_an_internal_function_cannot_be_called_from_python():
    @internal
    def twice(n):
        return 2 * n

    @compiled
    def four_times(n):
        return twice(twice(n))

    assert four_times(3) == 12
    with pytest.raises(TypeError, match="twice can be called from compiled functions only"):
        twice(3)


def test_constants_and_variables_share_one_version():
    @internal
    def add(array, n):
        return array[0] + n

    @compiled
    def both(array, n):
        return add(array, 1) + add(array, n) + add(array, -1)

    assert both(np.array([5]), 7) == 22
    assert len(add.signatures) == 1


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_progress_is_shown_on_a_terminal_only(kind, monkeypatch, empty_cache):
    @compiled
    def double(n):
        return 2 * n

    monkeypatch.setattr(sys, "stderr", kind())
    with progress_line():
        double(np.float32(1))
    text = sys.stderr.getvalue()
    assert ("compiling kernels (once after installation): 1" in text) == (kind is Terminal)
    with progress_line():
        double(np.float32(2))
    assert sys.stderr.getvalue() == text


def test_only_functions_of_the_package_are_counted(empty_cache):
    @compiled
    def ordered(values):
        return np.sort(values)[0]  # numba compiles a sort as well

    seen = []
    with watching(seen.append):
        ordered(np.array([3, 1, 2], np.int16))
    assert seen == [1]
