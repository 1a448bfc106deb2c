"""schedlab without the modules and files of Linux: fcntl, resource, pwd and /proc are blocked in processes of their own."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from schedlab.bench import UNREADABLE, WrongUse
from schedlab.bench.records import read
from schedlab.bench.runs import process
from schedlab.bench.runs.process import Child

# Python runs it at the start of each process, workers of the bench included.
BLOCK = """
import sys
for name in ("fcntl", "resource", "pwd"):
    sys.modules[name] = None
def refuse(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and str(arguments[0]).startswith("/proc"):
        raise FileNotFoundError(2, "there is no /proc", arguments[0])
sys.addaudithook(refuse)
"""
# Names that Windows does not have either. The libraries below are imported before, in their form for this system.
AS_ON_WINDOWS = """
import os, signal, asyncio, multiprocessing, subprocess, filelock
for module, names in ((signal, "SIGKILL SIGPIPE SIGHUP SIGSTOP"), (os, "killpg getpgid sched_getaffinity fork mkfifo")):
    for name in names.split():
        delattr(module, name)
"""
WALK = """
import importlib, pkgutil, schedlab
skipped = ("schedlab.tests",)
names = [n for _, n, _ in pkgutil.walk_packages(schedlab.__path__, "schedlab.") if not n.startswith(skipped)]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names))
"""
SOLVE = """
import schedlab as sl
m = sl.Model("two jobs")
a, b = m.interval("a", size=3), m.interval("b", size=4)
m.add(sl.no_overlap([a, b]))
m.minimize(sl.max([a.end, b.end]))
for backend in ("cpsat", "highs"):
    r = sl.solve(m, backend=backend, time_limit=20, threads=1)
    print(backend, r.status, r.objective)
p = sl.load("eurora_99").problem.at(12 * 3600, first=12)
r = sl.solve(p, method="multi-search")
print(r.status, p.verify(r.schedule))
"""


@pytest.fixture
def blocked(tmp_path):
    """Return the environment of processes in which these modules and files are blocked."""
    place = tmp_path / "site"
    place.mkdir()
    (place / "sitecustomize.py").write_text(BLOCK)
    return {**os.environ, "PYTHONPATH": str(place)}


def run(environment, script, cwd=None):
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_block_blocks(blocked):
    script = """
    import io, os
    for name in ("fcntl", "resource", "pwd"):
        try: __import__(name)
        except ImportError: print(name)
    for read in (open, io.open, lambda p: os.open(p, os.O_RDONLY), os.listdir, os.scandir):
        try: read("/proc/self" if read in (os.listdir, os.scandir) else "/proc/self/stat")
        except FileNotFoundError: print("file")
    """
    assert run(blocked, script) == ["fcntl", "resource", "pwd", *["file"] * 5]


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("", id="no fcntl, no /proc", marks=pytest.mark.slow),
        pytest.param(AS_ON_WINDOWS, id="names of Windows"),
    ],
)
def test_every_module_is_imported(blocked, before):
    assert int(run(blocked, before + WALK)[-1]) > 250


def test_models_and_problems_are_declared_and_solved(blocked):
    assert run(blocked, SOLVE) == ["cpsat optimal 7", "highs optimal 7", "feasible []"]


def test_bench_run_says_once_that_memory_limits_are_not_enforced(blocked, tmp_path):
    command = [sys.executable, "-m", "schedlab.bench.cli.app", "run", "eurora_99", "--at", "12:00", "--first", "4"]
    options = [
        "--methods",
        "multi-search,cpsat:pool",
        "--time-limit",
        "5",
        "--memory",
        "1",
        "--out",
        str(tmp_path / "out"),
    ]
    done = subprocess.run([*command, *options], capture_output=True, text=True, env=blocked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert " ".join(done.stderr.split()).count(UNREADABLE) == 1 and "Warning" not in done.stderr
    found = [read(path) for path in sorted((tmp_path / "out").glob("*.json"))]
    assert [(r["method"], r["verified"]) for r in found] == [("cpsat:pool", True), ("multi-search", True)]


def test_without_proc_alone_memory_is_unknown(blocked):
    place = blocked["PYTHONPATH"]
    Path(place, "sitecustomize.py").write_text(BLOCK.replace('"fcntl", "resource", "pwd"', ""))
    script = """
    import os
    from schedlab.bench.runs import process as p
    p.psutil.Process
    print(p.is_memory_readable(), p.machine_memory(), p.group_memory(os.getpgrp()), p.is_suspended(os.getpgrp()), p.oom_kills())
    """
    assert run(blocked, script) == ["False None 0 False 0"]


HOLD = """
import pathlib, time
from schedlab.bench.records.store import Store
with Store(pathlib.Path("out")):
    print("locked", flush=True)
    time.sleep(60)
"""
ENTER = """
import pathlib
from schedlab.bench.errors import WrongUse
from schedlab.bench.records.store import Store
try:
    with Store(pathlib.Path("out")):
        print("entered")
except WrongUse as e:
    print(e)
"""


@pytest.mark.parametrize("system", ["with flock", "without flock"])
def test_the_lock_of_a_folder_ends_with_its_process(blocked, tmp_path, system):
    environment = blocked if system == "without flock" else dict(os.environ)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path
    )
    try:
        assert holder.stdout.readline() == "locked\n"
        (refused,) = run(environment, ENTER, tmp_path)
        assert f"another bench (process {holder.pid}) writes there" in refused
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    assert run(environment, ENTER, tmp_path) == ["entered"]


def test_a_system_without_process_groups_is_a_sentence(monkeypatch):
    monkeypatch.setattr(process, "os", type("Windows", (), {"name": "nt"}))
    with pytest.raises(WrongUse, match="need a POSIX system"):
        Child(["worker"], "{}", 1.0, None)


LATER = (
    "numba", "ortools", "highspy", "docplex", "pyomo", "pandas", "matplotlib", "sklearn", "networkx", "rich", "typer", "scipy",
    "psutil", "filelock",
)  # fmt: skip


def test_importing_schedlab_imports_no_solver_and_no_library_that_is_needed_later():
    script = f"""
    import json, sys
    import schedlab as sl
    print(json.dumps([name for name in {LATER!r} if name in sys.modules]))
    m = sl.Model("one job")
    m.minimize(m.interval("a", size=3).end)
    print(json.dumps([name for name in {LATER!r} if name in sys.modules]))
    """
    assert [json.loads(line) for line in run(dict(os.environ), script)] == [[], []]


def test_the_command_line_starts_without_a_solver_and_without_numba():
    heavy = tuple(name for name in LATER if name not in ("rich", "typer", "psutil", "filelock"))
    script = f"""
    import json, sys
    import schedlab.bench.cli.app
    print(json.dumps([name for name in {heavy!r} if name in sys.modules]))
    """
    assert run(dict(os.environ), script) == ["[]"]
