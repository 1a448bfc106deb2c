"""Compilation of kernels: versions, calls from Python, progress, and processes that share the work."""

import gc
import io
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from schedlab.models.compiled import compiled, internal, native, progress_line, watching
from schedlab.models.compiling import plain as versions

own_linker = pytest.mark.skipif(
    not versions.is_known(numba.__version__), reason=f"numba {numba.__version__} compiles by its own means"
)


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

@compiled
def odd(n):
    return squares(2 * n) - 4 * squares(n)

def main(order, pause):
    print("ready", flush=True)
    sys.stdin.readline()
    seen = []

    def on_compile(number):
        seen.append(number)
        if pause:
            print("compiling", flush=True)
            sys.stdin.readline()

    with watching(on_compile):
        for name in order.split():
            assert globals()[name](4) == {"cubes": 56, "odd": 84}[name]
            print(name, flush=True)
    print(len(seen), flush=True)
"""


def workers(folder, *calls):
    """Start processes that have imported the kernels and wait for a line before their calls of kernels.

    One whose calls end in "!" also waits for a line, after the line "compiling", before it compiles each function.
    """
    (folder / "kernels.py").write_text(KERNELS)
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", f"import kernels; kernels.main({names.strip('!')!r}, {names.endswith('!')})"],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for names in calls
    ]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    return started


def go_on(process):
    """Let a process read a line."""
    process.stdin.write("\n")
    process.stdin.flush()


def compiled_by(processes):
    """Let all processes begin at once; return how many functions each has compiled."""
    for process in processes:
        go_on(process)
    return [int(process.communicate(timeout=120)[0].split()[-1]) for process in processes]


@pytest.mark.slow
@own_linker
def test_processes_that_begin_together_compile_each_function_once(tmp_path):
    assert sorted(compiled_by(workers(tmp_path, "cubes", "cubes", "cubes"))) == [0, 0, 2]


@own_linker
@pytest.mark.slow
def test_while_one_process_compiles_a_function_another_one_compiles_others(tmp_path):
    first, second = workers(tmp_path, "cubes odd!", "odd cubes")
    go_on(first)
    assert first.stdout.readline() == "compiling\n"  # it has the lock of cubes
    go_on(second)
    assert second.stdout.readline() == "odd\n"  # with squares, which cubes calls
    go_on(first)
    assert first.communicate(timeout=120)[0].split() == ["cubes", "odd", "1"]
    assert second.communicate(timeout=120)[0].split() == ["cubes", "2"]


@pytest.mark.slow
def test_the_lock_of_a_killed_process_is_free(tmp_path):
    first, second = workers(tmp_path, "cubes!", "cubes")
    go_on(first)
    assert first.stdout.readline() == "compiling\n"
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


@own_linker
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


FILES = {
    "parts.py": """
from schedlab.models.compiled import internal, native

@internal
def part(n):
    if n < 0:
        raise ValueError("negative")
    return n + 1

@native
def whole(values):
    total = 0
    for v in values:
        total += part(v)
    return total
""",
    "callers.py": """
import numpy as np
from parts import part, whole
from schedlab.models.compiled import compiled, internal, watching

@internal
def between(values):
    return whole(values)

@compiled
def first(values):
    return between(values) + whole(values[1:])

@compiled
def second(n):
    return part(n)

def main():
    seen = []
    with watching(seen.append):
        print(first(np.arange(4)), second(4), end=" ")
        try:
            first(np.arange(-2, 1))
        except ValueError as e:
            print(e, end=" ")
    print(len(seen))
""",
}


def results_in_a_new_process(folder):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", "import callers; callers.main()"]
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True, timeout=120).stdout.split()


@pytest.mark.slow
@own_linker
def test_functions_are_compiled_anew_if_code_that_they_call_changes_in_another_file(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    assert results_in_a_new_process(tmp_path) == ["19", "5", "negative", "5"]
    assert results_in_a_new_process(tmp_path) == ["19", "5", "negative", "0"]
    (tmp_path / "parts.py").write_text(FILES["parts.py"].replace("n + 1", "n + 10"))
    assert results_in_a_new_process(tmp_path) == ["82", "14", "negative", "5"]
    assert results_in_a_new_process(tmp_path) == ["82", "14", "negative", "0"]


CONSTANTS = "import numpy as np\nSIZE, NAMES, TABLE = 3, ('a', 'b'), np.array([1, 2])\n"
OF_CONSTANTS = """
import constants
from constants import NAMES, TABLE
from schedlab.models.compiled import compiled, internal, watching

@internal
def inner(n):
    return n * constants.SIZE + len(NAMES)

@compiled
def outer(n):
    return inner(n) + TABLE[0]

def main():
    seen = []
    with watching(seen.append):
        print(outer(10), len(seen))
"""


@own_linker
@pytest.mark.parametrize(
    ("old", "new", "value"),
    [("= 3", "= 4", "43"), ("'b')", "'b', 'c')", "34"), ("[1, 2]", "[5, 2]", "37")],
    ids=["of a module", "tuple", "array"],
)
@pytest.mark.slow
def test_functions_are_compiled_anew_if_a_constant_of_another_file_changes(tmp_path, old, new, value):
    (tmp_path / "callers.py").write_text(OF_CONSTANTS)
    (tmp_path / "constants.py").write_text(CONSTANTS)
    assert results_in_a_new_process(tmp_path) == ["33", "2"]
    assert results_in_a_new_process(tmp_path) == ["33", "0"]
    (tmp_path / "constants.py").write_text(CONSTANTS.replace(old, new))
    assert results_in_a_new_process(tmp_path) == [value, "2"]
    assert results_in_a_new_process(tmp_path) == [value, "0"]


ROW = """
from typing import NamedTuple

class Row(NamedTuple):
    a: int
    b: int

KIND = Row
"""

USER = """
import rows
from schedlab.models.compiled import compiled, watching

@compiled
def total(row):
    return row.a + row.b

def main():
    seen = []
    with watching(seen.append):
        print(total(rows.KIND(2, 3)), len(seen))
"""


@own_linker
@pytest.mark.slow
def test_a_class_that_no_longer_exists_in_the_cache_is_no_error(tmp_path):
    (tmp_path / "rows.py").write_text(ROW)
    (tmp_path / "callers.py").write_text(USER)
    assert results_in_a_new_process(tmp_path) == ["5", "1"]
    (tmp_path / "rows.py").write_text(ROW.replace("Row", "Pair"))
    assert results_in_a_new_process(tmp_path) == ["5", "1"]
    assert results_in_a_new_process(tmp_path) == ["5", "0"]


def test_native_functions_are_functions_of_a_module():
    with pytest.raises(TypeError, match="local_function is a local function; native functions are those of a module"):

        @native
        def local_function(n):
            return n


def test_the_garbage_collector_runs_again_after_compiling(empty_cache):
    @compiled
    def halved(n):
        return n / 0.0 if n < 0 else gc_free(n)

    @internal
    def gc_free(n):
        return n / 2

    assert halved(np.float32(3)) == 1.5
    assert gc.isenabled()


def test_versions_of_numba_that_are_not_known_use_its_own_means_and_say_so(monkeypatch, caplog):
    monkeypatch.setattr(versions, "version", lambda _: "0.99.1")
    monkeypatch.delenv(versions.SAID, raising=False)
    assert not versions.use_own_linker()
    assert "numba 0.99.1: kernels are compiled by its own means" in caplog.text
    caplog.clear()
    assert not versions.use_own_linker()
    assert caplog.text == ""


UNKNOWN = """
import importlib.metadata
import multiprocessing
import subprocess
import sys
known = importlib.metadata.version
importlib.metadata.version = lambda name: "0.99.1" if name == "numba" else known(name)

def work(_):
    import schedlab.models.compiled

if __name__ == "__main__":
    import schedlab.models.compiled
    if len(sys.argv) == 1:
        subprocess.run([sys.executable, __file__, "worker"], check=True)
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            pool.map(work, range(2))
"""


@pytest.mark.parametrize(("rank", "lines"), [("", 1), ("0", 1), ("1", 0)])
@pytest.mark.slow
def test_worker_processes_do_not_repeat_the_line(tmp_path, rank, lines):
    """It is written once per command, under mpiexec by the first process."""
    (tmp_path / "unknown.py").write_text(UNKNOWN)
    env = {name: value for name, value in os.environ.items() if name != versions.SAID}
    env |= {"OMPI_COMM_WORLD_RANK": rank} if rank else {}
    done = subprocess.run([sys.executable, "unknown.py"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("kernels are compiled by its own means") == lines


def test_the_installed_version_of_numba_is_known():
    assert versions.is_known(numba.__version__), "make versions tries others"


PLAIN = """
import numba
from schedlab.models.compiling import plain as versions
versions.use_own_linker = lambda: False
import schedlab as sl
from schedlab.models import compiled
assert compiled.make_kernel.__module__.endswith("plain"), compiled.make_kernel.__module__
import numpy as np

@compiled.internal
def square(n):
    return n * n

@compiled.native
def cube(n):
    return square(n) * n

@compiled.compiled
def total(values):
    s = 0
    for v in values:
        s += cube(v)
    return s

seen = []
with compiled.watching(seen.append):
    print(total(np.arange(4)))
try:
    square(3)
except TypeError as e:
    print(str(e).partition(" ")[0])
print(seen == list(range(1, len(seen) + 1)) and len(seen) > 0)
"""


@pytest.mark.slow
def test_kernels_work_without_our_linker(tmp_path):
    (tmp_path / "plain.py").write_text(PLAIN)
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "plain.py"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.stdout.split() == ["36", "square", "True"], done.stderr


def test_closures_and_operations_on_arrays_are_compiled(empty_cache):
    @compiled
    def halves(values):
        return np.array([k * values[0] for k in range(3)]) + (values[1:] - values[0]) / 2

    assert halves(np.arange(2.0, 6.0)).tolist() == [0.5, 3.0, 5.5]


SORTS = """
import itertools
import sys
import numba.core.bytecode

# the number at which the functions begin that this process compiles: those of the two processes have the same numbers then
numba.core.bytecode.FunctionIdentity._unique_ids = itertools.count(int(sys.argv[1]))

import numpy as np
from schedlab.models.compiled import compiled

@compiled
def in_order(x):
    y = x.copy()
    y.sort()
    return y

@compiled
def places(x):
    return np.argsort(x)

def main(names):
    for name in names:
        print(globals()[name](np.array([30, 10, 20, 5])).tolist())
"""


@pytest.mark.parametrize("both", [("in_order", "places"), ("places", "in_order")])
@pytest.mark.slow
def test_functions_of_two_processes_are_not_taken_for_each_other(tmp_path, both):
    (tmp_path / "sorts.py").write_text(SORTS)

    def run(first, *names):
        code = f"import sorts; sorts.main({names!r})"
        command = [sys.executable, "-c", code, str(first)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()

    results = {"in_order": "[5, 10, 20, 30]", "places": "[3, 1, 2, 0]"}
    run(1, "in_order")
    run(3, "places")
    assert run(1, *both) == [results[name] for name in both]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.slow
def test_a_forked_process_numbers_its_functions_anew():
    code = """
import os
from numba.core.bytecode import FunctionIdentity
from schedlab.models.compiling import plain
def function(): pass
read, write = os.pipe()
if not os.fork():
    os.write(write, str(FunctionIdentity.from_function(function).unique_id).encode())
    os._exit(0)
other = int(os.read(read, 100))
assert abs(FunctionIdentity.from_function(function).unique_id - other) > 1_000_000
"""
    subprocess.run([sys.executable, "-c", code], check=True)
