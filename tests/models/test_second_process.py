"""The second process that compiles kernels: what it has compiled is loaded; it ends with the block, or with the process."""

import os
import subprocess
import sys
import time

import numba
import psutil
import pytest
from schedlab.models.compiled import compiled, second_process

KERNELS = """
import os, sys, time
from pathlib import Path
from schedlab.models.compiled import compiled, second_process, watching

@compiled
def early(n):
    return n + 1

@compiled
def late(n):
    return n + 2

def compile_late():
    late(1)
    here = Path(__file__).parent
    (here / "new").write_text(str(os.getpid()))
    (here / "new").rename(here / "second")
    time.sleep(600)

def wait():
    while not (Path(__file__).parent / "second").exists():
        time.sleep(0.02)
"""
LOADED = """
import sys
from kernels import *
seen = []
with second_process(["kernels:compile_late"]), watching(seen.append):
    early(1)
    wait()
    assert late(1) == 3
print(len(seen))
"""
KILLED = """
from kernels import *
with second_process(["kernels:compile_late"]):
    early(1)
    wait()
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize(("script", "code", "output"), [(LOADED, 0, "1"), (KILLED, -9, "")])
@pytest.mark.slow
def test_it_compiles_beside_the_first_process_and_ends_with_it(tmp_path, script, code, output):
    (tmp_path / "kernels.py").write_text(KERNELS)
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (code, output, "")
    second = int((tmp_path / "second").read_text())
    end = time.monotonic() + 60
    while psutil.pid_exists(second) and psutil.Process(second).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < end, "the second process goes on"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("processors", "compiling", "places"), [(2, False, ["a:b"]), (1, True, ["a:b"]), (2, True, [])]
)
def test_there_is_none_without_need_or_processor(monkeypatch, tmp_path, processors, compiling, places):
    @compiled
    def double(n):
        return 2 * n

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a second process"))
    with second_process(places):
        assert not compiling or double(2) == 4
